//! The parser of records of text, and the first records of a text.

use super::quotes::WatchedText;
use crate::schema::Format;

/// Returns the records of `text`, which is the beginning of a file; the first broken record ends
/// them.
pub(crate) fn first_records(text: &[u8], format: &Format) -> Vec<csv::ByteRecord> {
    let mut reader = builder(format).from_reader(WatchedText::new(text, format).0);
    reader.byte_records().map_while(Result::ok).collect()
}

/// Returns a reader of text that is laid out as `format` says.
pub(super) fn builder(format: &Format) -> csv::ReaderBuilder {
    let mut builder = csv::ReaderBuilder::new();
    builder
        .delimiter(format.separator as u8)
        .quote(format.quote as u8)
        .escape(format.escape.map(|c| c as u8))
        .comment(format.comment.map(|c| c as u8))
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All);
    builder
}
