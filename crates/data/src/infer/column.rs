//! What is made of one column: its kind and domain, or why it is left out.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::error::InferError;
use super::options::InferOptions;
use crate::bins::{Cut, MOST_BINS, values};
use crate::schema::{Attribute, Kind, OutOfDomain};
use crate::spelling::merged;

/// Rows from which on values that all differ are taken for names of rows.
const MANY: usize = 20;
/// Different whole numbers that may be codes of a list, at most.
const MOST_CODES: usize = 32;
/// Rows for each different code, on average, at least: a sample of few rows misses numbers of a
/// range without gaps as well.
const ROWS_PER_CODE: usize = 10;
/// How often three in four of the codes stand in the file at least. The far values of a count, of
/// which the file holds some by chance, are rarer.
const CODE_ROWS: usize = 5;

/// What is known of a column so far.
pub(super) struct Column {
    /// Different words, in order of first appearance, as long as they are few.
    order: Vec<String>,
    known: HashSet<String>,
    too_many_words: bool,
    /// Hashes of the words beyond these.
    hashes: HashSet<u64>,
    missing: Option<String>,
    /// Cells that hold a value.
    values: usize,
    not_a_number: bool,
    not_whole: bool,
    is_dates: bool,
    /// In the order of the file.
    numbers: Vec<f64>,
}

/// What is made of a column.
pub(super) enum Made {
    /// An attribute, and what a person should know of it.
    Kept(Attribute, Option<String>),
    /// Nothing, and why.
    LeftOut(String),
}

impl Column {
    pub fn new() -> Column {
        Column {
            order: Vec::new(),
            known: HashSet::new(),
            too_many_words: false,
            hashes: HashSet::new(),
            missing: None,
            values: 0,
            not_a_number: false,
            not_whole: false,
            is_dates: true,
            numbers: Vec::new(),
        }
    }

    /// Takes one cell of the column `name`.
    ///
    /// # Errors
    /// When it spells "missing" in another way than a cell before.
    pub fn look(
        &mut self,
        cell: &str,
        name: &str,
        options: &InferOptions,
    ) -> Result<(), InferError> {
        if is_missing(cell) && *name != options.label {
            if let Some(first) = self.missing.as_ref().filter(|first| *first != cell) {
                return Err(InferError::TwoMarkers {
                    column: name.to_owned(),
                    first: first.clone(),
                    second: cell.to_owned(),
                });
            }
            self.missing = Some(cell.to_owned());
            return Ok(());
        }
        self.values += 1;
        self.is_dates = self.is_dates && is_date(cell);
        match cell.parse::<f64>() {
            // 02139 is no number: it would come back as 2139.
            Ok(value) if value.is_finite() && !has_leading_zero(cell) => {
                self.not_whole |= value.fract() != 0.0 || value.abs() > f64::from(i32::MAX);
                if !self.not_a_number {
                    self.numbers.push(value);
                }
            }
            _ => {
                self.not_a_number = true;
                self.numbers = Vec::new();
            }
        }
        if self.known.contains(cell) {
            return Ok(());
        }
        if self.order.len() < options.max_words {
            self.known.insert(cell.to_owned());
            self.order.push(cell.to_owned());
            return Ok(());
        }
        self.too_many_words = true;
        if self.not_a_number {
            let mut hasher = DefaultHasher::new();
            cell.hash(&mut hasher);
            self.hashes.insert(hasher.finish());
        }
        Ok(())
    }

    /// The words of a label, in order of first appearance.
    ///
    /// # Errors
    /// When they are too many.
    pub fn classes(self, name: &str, options: &InferOptions) -> Result<Vec<String>, InferError> {
        match self.too_many_words {
            true => Err(self.too_many(name, options.max_words)),
            false => Ok(self.order),
        }
    }

    fn too_many(mut self, name: &str, limit: usize) -> InferError {
        InferError::TooManyWords {
            column: name.to_owned(),
            limit,
            example: self.order.swap_remove(0),
        }
    }

    /// What is made of the column `name` of `rows` rows.
    ///
    /// # Errors
    /// When it has more words than a category may have.
    pub fn made(self, name: &str, rows: usize, options: &InferOptions) -> Result<Made, InferError> {
        if let Some(why) = self.why_left_out(name, rows) {
            return Ok(Made::LeftOut(why));
        }
        if self.not_a_number && self.too_many_words {
            return Err(self.too_many(name, options.max_words));
        }
        let (kind, note) = match self.not_a_number {
            true => {
                let (levels, left) = merged(self.order);
                let kind = Kind::Categorical {
                    levels,
                    ordered: false,
                };
                (kind, left.map(|left| one_level(&left)))
            }
            false => of_numbers(self.numbers, self.order, self.not_whole, options),
        };
        let attribute = Attribute {
            name: name.to_owned(),
            kind,
            protected: options.protected.iter().any(|have| have == name),
            outside: match self.missing {
                Some(_) => OutOfDomain::Level,
                None => OutOfDomain::Reject,
            },
            missing: self.missing,
        };
        Ok(Made::Kept(attribute, note))
    }

    /// Why the column says nothing of what shall be predicted; `None` if it may.
    fn why_left_out(&self, name: &str, rows: usize) -> Option<String> {
        if self.order.is_empty() {
            return Some("it holds no value".to_owned());
        }
        if self.order.len() == 1
            && self.values > 1
            && !self.too_many_words
            && self.missing.is_none()
        {
            return Some(format!("it holds '{}' in every row", self.order[0]));
        }
        if self.is_dates {
            return Some(
                "it holds dates; derive a number from them, such as a year or an age, if they count"
                    .to_owned(),
            );
        }
        if self.not_a_number {
            let all_differ = self.hashes.len() + self.order.len() == self.values;
            let is_text = all_differ && self.values >= MANY;
            return is_text.then(|| "every row has another value: a name, or free text".to_owned());
        }
        let first = self.numbers[0];
        let counts = |(place, value): (usize, &f64)| *value == first + place as f64;
        if rows >= MANY && self.numbers.len() == rows && self.numbers.iter().enumerate().all(counts)
        {
            return Some("it counts the rows".to_owned());
        }
        let is_identifier = !self.not_whole && all_differ(&self.numbers) && names_rows(name);
        is_identifier.then(|| {
            "every row has another number, and its name is that of an identifier".to_owned()
        })
    }
}

/// The kind of a column of `numbers`, which `words` spell as long as these are few.
fn of_numbers(
    mut numbers: Vec<f64>,
    words: Vec<String>,
    not_whole: bool,
    options: &InferOptions,
) -> (Kind, Option<String>) {
    numbers.sort_by(f64::total_cmp);
    let (min, max) = (numbers[0], numbers[numbers.len() - 1]);
    let runs: Vec<usize> = numbers.chunk_by(|a, b| a == b).map(<[f64]>::len).collect();
    // Two spellings of a number, such as 1 and 1.0, are no two levels.
    let (mut levels, left) = merged(words);
    let is_complete = levels.len() == runs.len();
    if !not_whole && is_complete && runs.len() > 1 && is_list(&runs, max - min) {
        let value = |word: &String| word.parse::<f64>().unwrap_or_default();
        levels.sort_by(|a, b| value(a).total_cmp(&value(b)));
        let steps: HashSet<u64> = levels
            .windows(2)
            .map(|pair| (value(&pair[1]) - value(&pair[0])).to_bits())
            .collect();
        let ordered = levels.len() > 2 && steps.len() == 1;
        let note = match levels.len() {
            2 => "its two numbers are the levels of a category".to_owned(),
            count => format!(
                "its {count} numbers, from {min} to {max}, leave most of that range out, so they are the levels of a category; {}",
                match ordered {
                    true => "being evenly spaced they are ordered",
                    false => "set ordered = true if neighbours are alike",
                }
            ),
        };
        let note = match left {
            Some(left) => format!("{note}; {}", one_level(&left)),
            None => note,
        };
        return (Kind::Categorical { levels, ordered }, Some(note));
    }
    let note = (!not_whole && all_differ(&numbers))
        .then(|| "every row has another number; leave it out if it names the rows".to_owned());
    if !not_whole && max - min < options.max_integer_span as f64 {
        let (min, max) = (min as i32, max as i32);
        return (Kind::Integer { min, max }, note);
    }
    let bins = options.bins.edges(&numbers);
    let is_cut = options.bins == Cut::Exact && runs.len() > MOST_BINS;
    let note = match is_cut {
        true => Some(format!(
            "its {} different numbers are more than {MOST_BINS}, so they share bins",
            runs.len()
        )),
        false => note,
    };
    let values = Some(values(&bins, &numbers));
    (Kind::Numeric { bins, values }, note)
}

/// That a number is spelt in several ways, such as `left`.
fn one_level(left: &str) -> String {
    format!("other spellings of a number, such as '{left}', are the same level")
}

/// Whether whole numbers that stand in the file so often (`runs`, by value) over a range of `span`
/// are a list of codes, between which there is nothing: two neighbours, or few over a wide range
/// each of which comes again and again.
fn is_list(runs: &[usize], span: f64) -> bool {
    if runs.len() == 2 && span == 1.0 {
        return true;
    }
    let rows: usize = runs.iter().sum();
    let frequent = runs.iter().filter(|&&run| run >= CODE_ROWS).count();
    runs.len() <= MOST_CODES
        && 2.0 * (runs.len() as f64) < span + 1.0
        && rows >= ROWS_PER_CODE * runs.len()
        && 4 * frequent >= 3 * runs.len()
}

/// Whether many numbers are all different.
fn all_differ(numbers: &[f64]) -> bool {
    let bits: HashSet<u64> = numbers.iter().map(|number| number.to_bits()).collect();
    numbers.len() >= MANY && bits.len() == numbers.len()
}

/// Whether a column of this name usually names the rows.
fn names_rows(name: &str) -> bool {
    let lower = name.trim().to_ascii_lowercase();
    let is_camel = name.ends_with("Id") || name.ends_with("ID");
    let parts: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).collect();
    let is_part = |part: &&str| {
        [
            "id", "uid", "uuid", "guid", "key", "index", "number", "no", "nr",
        ]
        .contains(part)
    };
    lower.is_empty() || is_camel || parts.iter().any(is_part) || lower.starts_with("unnamed")
}

/// Whether a cell says that its value is not known: empty, or a usual mark such as `?` or `NA`.
pub fn is_missing(cell: &str) -> bool {
    matches!(
        cell.to_ascii_lowercase().as_str(),
        "" | "?" | "na" | "n/a" | "null" | "nan"
    )
}

fn has_leading_zero(cell: &str) -> bool {
    let digits = cell.trim_start_matches(['-', '+']).as_bytes();
    digits.len() > 1 && digits[0] == b'0' && digits[1].is_ascii_digit()
}

/// Whether `cell` is a date: three groups of digits, a month among them, and perhaps a time.
fn is_date(cell: &str) -> bool {
    let day = cell.split(['T', ' ']).next().unwrap_or_default();
    let Some(separator) = day.chars().find(|c| ['-', '/', '.'].contains(c)) else {
        return false;
    };
    let groups: Vec<&str> = day.split(separator).collect();
    let is_digits = |group: &&str| group.bytes().all(|b| b.is_ascii_digit());
    if groups.len() != 3 || !groups.iter().all(is_digits) {
        return false;
    }
    let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    let is_at = |place: usize, most: u32| {
        let number = groups[place].parse::<u32>();
        number.is_ok_and(|number| (1..=most).contains(&number))
    };
    match lengths[..] {
        [4, 1 | 2, 1 | 2] => is_at(1, 12) && is_at(2, 31),
        [1 | 2, 1 | 2, 2 | 4] => (is_at(0, 12) && is_at(1, 31)) || (is_at(0, 31) && is_at(1, 12)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_told_from_numbers_and_versions() {
        for date in [
            "2019-03-04",
            "3/4/2019",
            "31.12.99",
            "2019-03-04T10:11:12Z",
            "2019/1/2 10:00",
        ] {
            assert!(is_date(date), "{date}");
        }
        for other in [
            "2019",
            "1.5",
            "10-12",
            "2019-13-04",
            "1.2.3",
            "192.168.1.1",
            "a-b-c",
            "45-99-2019",
            "",
        ] {
            assert!(!is_date(other), "{other}");
        }
    }

    #[test]
    fn few_numbers_over_a_wide_range_that_come_again_are_a_list() {
        assert!(is_list(&[50; 8], 110.0), "eight codes over a span of 111");
        assert!(is_list(&[3, 4], 1.0), "0 and 1");
        assert!(!is_list(&[50; 8], 7.0), "all of a range");
        assert!(!is_list(&[1; 25], 60.0), "a small sample of ages");
        let tail: Vec<usize> = [900, 50, 20].into_iter().chain([1; 20]).collect();
        assert!(!is_list(&tail, 75.0), "the tail of a count");
        assert!(!is_list(&[50; 40], 4000.0), "amounts");
    }
}
