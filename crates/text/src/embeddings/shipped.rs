//! The small table of word vectors that ships with Probity, fitted to generated comments (see
//! `embeddings/README.md`).

use std::io::{Cursor, Read};
use std::path::Path;

use super::table::{EmbeddingError, EmbeddingTable};
use probity_data::compressed;
use probity_data::read::ReadError;

/// The name of the table that ships, where a file of vectors is expected.
pub const SHIPPED: &str = "shipped";

/// The contents of `embeddings/comments.50d.txt.xz`.
const TABLE: &[u8] = include_bytes!("../../embeddings/comments.50d.txt.xz");

/// Returns the table that ships: 50 numbers for each word of the generated comments
/// ([`crate::comments`]), the words of the terms that they can hold among them
/// ([`crate::comments::terms`]).
///
/// # Errors
/// None in practice: the table is part of the program.
pub fn shipped() -> Result<EmbeddingTable, EmbeddingError> {
    let file = Path::new(SHIPPED);
    let failed = |source| ReadError::Io {
        file: file.to_owned(),
        source,
    };
    let mut text = Vec::new();
    let mut input = compressed::decompress(Cursor::new(TABLE)).map_err(failed)?;
    input.read_to_end(&mut text).map_err(failed)?;
    EmbeddingTable::from_text(file, &text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comments::{CommentGenerator, group_words, terms};
    use crate::tokenizer::Tokenizer;

    #[test]
    fn it_has_the_words_of_the_comments() {
        let table = shipped().unwrap();
        assert_eq!(table.width(), 50);
        assert!(TABLE.len() <= 500_000, "{} bytes", TABLE.len());
        for word in group_words() {
            let word = word.to_lowercase();
            assert!(table.words().id(&word).is_some(), "{word}");
        }
        let tokenizer = Tokenizer::new(table.words().iter()).unwrap();
        for term in terms() {
            for token in tokenizer.tokens(&term).unwrap() {
                assert!(token.id != tokenizer.unknown(), "{term}: {}", token.text);
            }
        }
        let generator = CommentGenerator::new(77);
        for item in 0..3000 {
            let comment = generator.comment(item);
            let tokens = tokenizer.tokens(&comment.text).unwrap();
            let unknown = tokens.iter().find(|token| token.id == tokenizer.unknown());
            assert!(unknown.is_none(), "{}: {unknown:?}", comment.text);
        }
    }
}
