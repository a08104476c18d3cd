//! Options for inferring a schema: the roles of columns, and the limits of what is guessed.

use std::collections::BTreeMap;

use crate::bins::Cut;
use crate::schema::Format;

/// Options for inferring a schema.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct InferOptions {
    /// The file layout. The encoding of the text and the form of numbers are found in the file
    /// where the layout does not say them.
    pub format: Format,
    /// Whether the separator is found in the file, too, rather than taken from `format`.
    pub finds_separator: bool,
    /// The name of the column to predict.
    pub label: String,
    /// The classes, where the file has no column to predict: what a model says of the rows.
    pub classes: Vec<String>,
    /// Whether the column to predict holds numbers, rather than classes.
    pub number: bool,
    /// The least number that belongs to the second class, where the column to predict holds numbers
    /// that stand for two classes.
    pub label_threshold: Option<f64>,
    /// The names of the protected columns, and of protected attributes whose values have a column each.
    pub protected: Vec<String>,
    /// The names of the columns to leave out: all columns of such a name.
    pub ignore: Vec<String>,
    /// The marks of missing values, by column name. For a column without marks here, the usual ones
    /// are looked for; empty cells are always missing.
    pub missing: BTreeMap<String, Vec<String>>,
    /// The words that are levels, or classes, although they look like marks of missing values, by
    /// column name.
    pub level: BTreeMap<String, Vec<String>>,
    /// The names of columns of which levels, or classes, that differ only in case, blanks, characters
    /// that nobody sees, Unicode form, a full stop at the end or the order of joined values are one.
    pub merge: Vec<String>,
    /// The class that is good to get, which becomes the last one; where none is named, the words
    /// of the classes or their order decide, and a note says so.
    pub favourable: Option<String>,
    /// The largest number of values that whole numbers may spread over without bins.
    pub max_integer_span: i64,
    /// The way in which numbers are cut into bins.
    pub bins: Cut,
    /// The largest number of different words that a category may have.
    pub max_words: usize,
    /// The name of the data set.
    pub name: String,
}

impl Default for InferOptions {
    fn default() -> InferOptions {
        InferOptions {
            format: Format::default(),
            finds_separator: true,
            label: "label".to_owned(),
            classes: Vec::new(),
            number: false,
            label_threshold: None,
            protected: Vec::new(),
            ignore: Vec::new(),
            missing: BTreeMap::new(),
            level: BTreeMap::new(),
            merge: Vec::new(),
            favourable: None,
            max_integer_span: 200,
            bins: Cut::default(),
            max_words: 100,
            name: "table".to_owned(),
        }
    }
}
