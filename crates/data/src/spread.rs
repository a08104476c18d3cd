//! Attributes that a table spreads over several columns, each of which says of one level whether a row
//! has it: `race_White` and `race_Black`, as dummies are called.

use serde::{Deserialize, Serialize};

use super::attribute::Missing;
use super::number_form::NumberForm;
use super::spelling::{number, written_truth};
use super::words;

/// The columns over which a table spreads one attribute: a row has the level whose column says yes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = SpreadColumns))]
#[serde(deny_unknown_fields)]
pub struct Spread {
    /// The columns, in the order in which models know them. Each holds 1 or 0, true or false, yes or
    /// no.
    pub columns: Vec<String>,
    /// The level that each column is about, or a mark of missing values, as `nan` of `race_nan`.
    #[serde(deserialize_with = "words::deserialize")]
    pub levels: Vec<String>,
    /// The level of rows in which no column says yes, or a mark of missing values; without one such rows
    /// are refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub base: Option<String>,
    /// The words for no and for yes that models know in the columns; without them 0 and 1.
    #[serde(
        default,
        deserialize_with = "words::deserialize",
        skip_serializing_if = "Vec::is_empty"
    )]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub answers: Vec<String>,
}

impl Spread {
    /// Returns all levels: those of the columns, and last that of rows in which none says yes.
    pub fn all_levels(&self) -> impl Iterator<Item = &String> {
        self.levels.iter().chain(&self.base)
    }

    /// Returns what each column says of a row that has `level`; `None` where that is no level, so that
    /// nothing is known.
    pub fn said_of(&self, level: &str) -> Option<Vec<bool>> {
        let is_level = self.all_levels().any(|known| known == level);
        is_level.then(|| self.levels.iter().map(|own| own == level).collect())
    }

    /// Returns the first of the marks of missing values that is a level here, if one is: it says in the
    /// columns that the value is not known.
    pub fn mark<'m>(&self, missing: &'m Missing) -> Option<&'m str> {
        let is_level = |mark: &&String| self.all_levels().any(|level| level == *mark);
        missing.marks().iter().find(is_level).map(String::as_str)
    }

    /// Checks the columns for an attribute of the levels `expected`, none of which is there twice, and of
    /// the marks of missing values `missing`, which may have columns as well, and returns the problem if
    /// there is one.
    ///
    /// # Errors
    /// In words.
    pub(crate) fn check(&self, expected: &[String], missing: &Missing) -> Result<(), String> {
        let [columns, levels] = [&self.columns, &self.levels].map(Vec::len);
        if columns != levels {
            return Err(format!(
                "'columns' names {columns} and 'levels' {levels}; each column has its level"
            ));
        }
        if columns == 0 {
            return Err("'columns' names none".to_owned());
        }
        self.check_answers()?;
        let is_mark = |level: &&String| missing.marks().contains(level);
        let (mut marks, mut own): (Vec<&String>, Vec<&String>) =
            self.all_levels().partition(is_mark);
        marks.sort();
        if let Some(twice) = marks.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(format!("'levels' and 'base' name '{}' twice", twice[0]));
        }
        let mut all: Vec<&String> = expected.iter().collect();
        own.sort();
        all.sort();
        match own == all {
            true => Ok(()),
            false => Err(format!(
                "'levels' and 'base' are {}, but those of the attribute {}; they must be the same, but for marks of missing values",
                self.all_levels().cloned().collect::<Vec<_>>().join(", "),
                expected.join(", ")
            )),
        }
    }

    /// Checks the words of the columns, and returns the problem if there is one.
    fn check_answers(&self) -> Result<(), String> {
        let said: Vec<Option<bool>> = self
            .answers
            .iter()
            .map(|word| written_truth(word))
            .collect();
        let is_number = |word: &String| number(word).is_some();
        match said[..] {
            [] => Ok(()),
            [Some(false), Some(true)] if !self.answers.iter().any(is_number) => Ok(()),
            _ => Err(
                "'answers' are a word for no and one for yes, such as [\"no\", \"yes\"]; numbers are not named"
                    .to_owned(),
            ),
        }
    }
}

/// Returns what a cell says, whose number is written in `form`: 1, `true` and `yes`, or 0, `false` and
/// `no`.
pub(crate) fn answer(cell: &str, form: NumberForm) -> Option<bool> {
    let of_number = || {
        let said = match form == NumberForm::PLAIN {
            true => number(cell),
            false => number(&form.plain(cell)?),
        };
        match said? {
            0.0 => Some(false),
            1.0 => Some(true),
            _ => None,
        }
    };
    let of_word = || written_truth(cell).filter(|_| number(cell).is_none());
    of_word().or_else(of_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_say_yes_or_no_or_nothing() {
        let comma = NumberForm {
            decimal: ',',
            thousands: None,
        };
        for (cell, plain, with_comma) in [
            ("1", Some(true), Some(true)),
            ("0", Some(false), Some(false)),
            ("1.0", Some(true), None),
            ("0,0", None, Some(false)),
            ("TRUE", Some(true), Some(true)),
            ("No", Some(false), Some(false)),
            ("T", Some(true), Some(true)),
            ("2", None, None),
            ("", None, None),
        ] {
            let found = [NumberForm::PLAIN, comma].map(|form| answer(cell, form));
            assert_eq!(found, [plain, with_comma], "{cell}");
        }
    }

    #[test]
    fn a_level_says_yes_in_its_column_alone() {
        let spread = Spread {
            columns: vec!["race_a".into(), "race_b".into()],
            levels: vec!["a".into(), "b".into()],
            base: Some("other".into()),
            answers: Vec::new(),
        };
        assert_eq!(spread.said_of("b"), Some(vec![false, true]));
        assert_eq!(spread.said_of("other"), Some(vec![false, false]));
        assert_eq!(spread.said_of(""), None);
    }

    #[test]
    fn answers_are_words_for_no_and_yes() {
        let of = |answers: &[&str]| {
            let spread = Spread {
                columns: vec!["is_a".into()],
                levels: vec!["a".into()],
                base: Some("b".into()),
                answers: answers.iter().map(|&word| word.to_owned()).collect(),
            };
            spread.check(&["a".to_owned(), "b".to_owned()], &Missing::default())
        };
        for words in [&[][..], &["no", "yes"], &["N", "Y"], &["False", "True"]] {
            of(words).unwrap();
        }
        for words in [&["yes", "no"][..], &["0", "1"], &["no"], &["nein", "ja"]] {
            assert!(of(words).unwrap_err().contains("'answers'"), "{words:?}");
        }
    }

    #[test]
    fn a_column_may_be_about_what_is_missing() {
        let spread = |levels: [&str; 2], base: Option<&str>| Spread {
            columns: vec!["race_a".into(), "race_nan".into()],
            levels: levels.map(str::to_owned).to_vec(),
            base: base.map(str::to_owned),
            answers: Vec::new(),
        };
        let missing: Missing = ["", "nan", "?"].into_iter().collect();
        let of = |one: &Spread| one.check(&["a".to_owned()], &missing);
        let known = spread(["a", "nan"], None);
        of(&known).unwrap();
        assert_eq!(known.mark(&missing), Some("nan"));
        assert_eq!(known.mark(&["?"].into_iter().collect()), None);
        let by_none = spread(["a", "nan"], Some("?"));
        of(&by_none).unwrap();
        assert_eq!(by_none.said_of("?"), Some(vec![false, false]));
        let problem = of(&spread(["a", "nan"], Some("nan"))).unwrap_err();
        assert!(problem.contains("'nan' twice"), "{problem}");
        let problem = known.check(&["a".to_owned()], &Missing::default());
        assert!(problem.unwrap_err().contains("must be the same"));
        let problem = known.check(&["a".to_owned(), "nan".to_owned()], &missing);
        assert!(problem.unwrap_err().contains("must be the same"));
    }
}
