//! What a schema is inferred by: the roles of columns, and the limits of what is guessed.

use crate::bins::Cut;
use crate::schema::Format;

/// What to look for.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct InferOptions {
    /// File layout.
    pub format: Format,
    /// Name of the column to predict.
    pub label: String,
    /// The classes, where the file has no such column: what a model says of the rows.
    pub classes: Vec<String>,
    /// Whether the column to predict holds numbers, rather than classes.
    pub number: bool,
    /// Names of the protected columns.
    pub protected: Vec<String>,
    /// Names of the columns to leave out.
    pub ignore: Vec<String>,
    /// The class that is good to get, which becomes the last one; where none is named, the words
    /// of the classes or their order decide, and a note says so.
    pub favourable: Option<String>,
    /// Whole numbers spread over more values than this get bins.
    pub max_integer_span: i64,
    /// How numbers are cut into bins.
    pub bins: Cut,
    /// The most different words a category may have.
    pub max_words: usize,
    /// Name of the data set.
    pub name: String,
}

impl Default for InferOptions {
    fn default() -> InferOptions {
        InferOptions {
            format: Format::default(),
            label: "label".to_owned(),
            classes: Vec::new(),
            number: false,
            protected: Vec::new(),
            ignore: Vec::new(),
            favourable: None,
            max_integer_span: 200,
            bins: Cut::default(),
            max_words: 100,
            name: "table".to_owned(),
        }
    }
}
