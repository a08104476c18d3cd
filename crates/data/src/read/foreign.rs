//! Texts that hold tables in a form that is not read, and what to do with them.

/// The beginnings of such texts, in any case, and what a text is that begins so.
const OTHERS: [(&str, &str); 5] = [
    ("@relation", ARFF),
    ("<!doctype html", HTML),
    ("<html", HTML),
    ("<table", HTML),
    (
        "<?xml",
        "an XML file; save the table as CSV or Parquet first, such as by a spreadsheet or pandas.read_xml",
    ),
];
const ARFF: &str = "an ARFF file (.arff); save the table as CSV or Parquet first, or put one line with the names of its columns in place of all lines up to @data";
const HTML: &str = "a page of HTML, which some programs call .xls; save the table as CSV or Parquet first, such as by a spreadsheet or pandas.read_html";

/// Returns what the text is that begins with `start`, and what to do with it, if its form is not read.
pub(super) fn foreign(start: &[u8]) -> Option<String> {
    let mut lines = start.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    // Those that begin with a percent sign are comments of ARFF.
    let first = lines.find(|line| !line.is_empty() && !line.starts_with(b"%"))?;
    let begins = |with: &str| {
        let beginning = first.get(..with.len());
        beginning.is_some_and(|beginning| beginning.eq_ignore_ascii_case(with.as_bytes()))
    };
    let (_, what) = OTHERS.iter().find(|(with, _)| begins(with))?;
    Some(format!("it is {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_in_other_texts_are_called_by_their_names() {
        for (text, expected) in [
            (
                "@RELATION credit\n@attribute age numeric\n",
                "it is an ARFF file",
            ),
            (
                "% Source: a bank\r\n%\r\n\r\n@relation credit\r\n",
                "it is an ARFF file",
            ),
            ("\n <!DOCTYPE HTML PUBLIC>\n", "it is a page of HTML"),
            ("<table border=1>\n", "it is a page of HTML"),
            ("<?xml version=\"1.0\"?>\n", "it is an XML file"),
        ] {
            let found = foreign(text.as_bytes()).unwrap_or_default();
            assert!(found.starts_with(expected), "{text:?}: {found}");
        }
        for text in ["age,sex\n", "% by hand\nage,sex\n", "", "<b>,y\n", "%\n"] {
            assert_eq!(foreign(text.as_bytes()), None, "{text:?}");
        }
    }
}
