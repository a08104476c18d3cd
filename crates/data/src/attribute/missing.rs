//! The marks of values that are not known.

use crate::words;
use serde::{Deserialize, Serialize};

/// The marks that stand for "not known" in a column, compared with the whole trimmed cell. Where
/// there is one, an empty cell says the same.
///
/// Written as a string where it is one mark, else as a list. The first mark is written where such a
/// value must be written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = MissingMarks))]
#[serde(from = "Written", into = "Written")]
pub struct Missing(Vec<String>);

/// Returns whether a cell says by a usual mark that its value is not known: it is empty, or `?`, or
/// such as `NA`.
pub fn is_missing(cell: &str) -> bool {
    matches!(
        cell.to_ascii_lowercase().as_str(),
        "" | "?" | "na" | "n/a" | "null" | "nan"
    )
}

/// The marks as a schema has them.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    One(#[serde(deserialize_with = "words::one")] String),
    Several(#[serde(deserialize_with = "words::deserialize")] Vec<String>),
}

impl From<Written> for Missing {
    fn from(written: Written) -> Missing {
        match written {
            Written::One(mark) => Missing(vec![mark]),
            Written::Several(marks) => Missing(marks),
        }
    }
}

impl From<Missing> for Written {
    fn from(Missing(mut marks): Missing) -> Written {
        match marks.pop() {
            Some(mark) if marks.is_empty() => Written::One(mark),
            last => {
                marks.extend(last);
                Written::Several(marks)
            }
        }
    }
}

impl<T: Into<String>> FromIterator<T> for Missing {
    fn from_iter<I: IntoIterator<Item = T>>(marks: I) -> Missing {
        Missing(marks.into_iter().map(Into::into).collect())
    }
}

impl Missing {
    /// Returns whether there is no mark.
    pub fn is_none(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns all marks; the first is the one that is written.
    pub fn marks(&self) -> &[String] {
        &self.0
    }

    /// Returns the mark that is written.
    pub fn first(&self) -> Option<&str> {
        self.0.first().map(String::as_str)
    }

    /// Returns whether `cell` is one of the marks, or empty where there are any.
    pub fn holds(&self, cell: &str) -> bool {
        !self.is_none() && (cell.is_empty() || self.0.iter().any(|mark| mark == cell))
    }

    /// Checks the marks, none of which may be a value according to `is_value`, and returns the
    /// problem if there is one.
    ///
    /// # Errors
    /// In words.
    pub(crate) fn check(&self, is_value: impl Fn(&str) -> bool) -> Result<(), String> {
        for (at, mark) in self.0.iter().enumerate() {
            if mark.trim() != mark {
                return Err(format!(
                    "the missing marker '{mark}' has blanks around it; cells are trimmed, so it would never match"
                ));
            }
            if self.0[..at].contains(mark) {
                return Err(format!("the missing marker '{mark}' is listed twice"));
            }
            if is_value(mark) {
                return Err(format!(
                    "the missing marker '{mark}' is a value of the domain"
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Column {
        #[serde(default, skip_serializing_if = "Missing::is_none")]
        missing: Missing,
    }

    #[test]
    fn one_mark_is_a_string_and_several_are_a_list() {
        for (text, marks) in [
            ("", &[][..]),
            ("missing = \"?\"\n", &["?"]),
            ("missing = \"\"\n", &[""]),
            ("missing = [\"\", \"NA\"]\n", &["", "NA"]),
        ] {
            let column: Column = toml::from_str(text).unwrap();
            assert_eq!(column.missing.marks(), marks);
            assert_eq!(toml::to_string(&column).unwrap(), text);
        }
        let one: Column = toml::from_str("missing = [\"?\"]").unwrap();
        assert_eq!(toml::to_string(&one).unwrap(), "missing = \"?\"\n");
        assert_eq!(one.missing.first(), Some("?"));
    }

    #[test]
    fn an_empty_cell_is_missing_where_anything_is() {
        let marks: Missing = ["NA", "?"].into_iter().collect();
        assert!(["", "NA", "?"].iter().all(|cell| marks.holds(cell)));
        assert!(!marks.holds("na") && !Missing::default().holds(""));
    }

    #[test]
    fn marks_differ_and_are_no_values() {
        let of = |marks: &[&str]| marks.iter().copied().collect::<Missing>();
        for (marks, needle) in [
            (&["?", "?"][..], "twice"),
            (&["? "], "blanks"),
            (&["NA", "7"], "'7' is a value"),
        ] {
            let error = of(marks).check(|mark| mark == "7").unwrap_err();
            assert!(error.contains(needle), "{error}");
        }
        of(&["", "NA"]).check(|_| false).unwrap();
    }
}
