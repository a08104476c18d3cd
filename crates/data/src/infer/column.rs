//! The inference of one column: its kind and domain, or why it is left out.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::error::InferError;
use super::note::{Note, Way};
use super::odd;
use super::options::InferOptions;
use super::truths::truths;
use crate::bins::{Cut, MOST_BINS, values};
use crate::schema::{Attribute, Kind, Missing, OutOfDomain, is_missing};
use crate::spelling::{merged, with_zeros_behind};
use crate::unicode;
use crate::words::quoted;

/// The number of rows from which on values that all differ are taken for names of rows.
pub(super) const MANY: usize = 20;
/// The largest number of different whole numbers that may be codes of a list.
pub(super) const MOST_CODES: usize = 32;
/// The least number of rows for each different code, on average: a sample of few rows misses
/// numbers of a range without gaps as well.
const ROWS_PER_CODE: usize = 10;
/// The least number of times that three in four of the codes stand in the file. The far values of a
/// count, of which the file holds some by chance, are rarer.
const CODE_ROWS: usize = 5;
/// The largest number of different whole numbers of a protected column that may be codes although they
/// leave little of their range out: ages have more.
const MOST_PROTECTED_CODES: usize = 12;
/// The least number of rows for each of these, on average: in a few rows there are few ages as well.
const ROWS_PER_PROTECTED_CODE: usize = 3;
/// The least number of digits of a whole number that 64 bits may not tell from the next one.
const LONG: usize = 16;
/// The multiple of all other numbers from which on one leaves nothing of their differences.
const BEYOND: f64 = 1e9;
/// The largest number of different words that may stand beside many numbers.
const MOST_WORDS_BESIDE: usize = 5;

/// The knowledge about a column so far.
pub(super) struct Column {
    name: String,
    /// The different words, in order of first appearance, as long as they are few.
    order: Vec<String>,
    /// The number of cells that hold each word.
    known: HashMap<String, u64>,
    too_many_words: bool,
    /// The hashes of the words beyond these.
    hashes: HashSet<u64>,
    /// The marks of missing values in order of first appearance, each with its cells.
    missing: Vec<(String, u64)>,
    /// The number of cells that hold a value.
    values: usize,
    /// The number of these that hold a number.
    numeric: usize,
    /// Hashes of the digits of whole numbers that may have neighbours which 64 bits do not tell from
    /// them, by these bits.
    long: HashMap<u64, u64>,
    /// The different words that are no numbers, as long as they are few, and numbers that a person
    /// says to be levels, and how many cells hold them.
    beside: Vec<(String, u64)>,
    /// The levels beside the numbers of a column of numbers.
    named: Vec<(String, u64)>,
    is_words: bool,
    not_whole: bool,
    /// The first cell that is a number or a name, such as 12E1.
    ten_to: Option<String>,
    is_dates: bool,
    /// The numbers in the order of the file, as long as the column is not of words.
    numbers: Vec<f64>,
    /// The marks of missing values that a person named for the column, if any.
    given: Option<Vec<String>>,
    levels: Vec<String>,
    /// Whether words of the column are other ones than the cells of the file.
    is_respelt: bool,
    is_label: bool,
    is_protected: bool,
    is_merged: bool,
    /// Whether the table is in memory, where a model may know each spelling as a value of its own.
    is_in_memory: bool,
    /// The notes on what was decided on the way.
    notes: Vec<Note>,
}

/// Classes, other spellings of them, and what a person should know.
type Classes = (Vec<String>, BTreeMap<String, String>, Vec<Note>);

/// The result of the inference of a column.
pub(super) enum Made {
    /// An attribute, and what a person should know of it.
    Kept(Attribute, Vec<Note>),
    /// The column is left out, for this reason.
    LeftOut(String),
    /// The column needs a decision by a person.
    Unplaced(Note),
}

impl Column {
    pub fn new(name: &str, options: &InferOptions) -> Column {
        Column {
            name: name.to_owned(),
            order: Vec::new(),
            known: HashMap::new(),
            too_many_words: false,
            hashes: HashSet::new(),
            missing: Vec::new(),
            values: 0,
            numeric: 0,
            long: HashMap::new(),
            beside: Vec::new(),
            named: Vec::new(),
            is_words: false,
            not_whole: false,
            ten_to: None,
            is_dates: true,
            numbers: Vec::new(),
            given: options.missing.get(name).cloned(),
            levels: options.level.get(name).cloned().unwrap_or_default(),
            is_respelt: false,
            is_label: options.label == name,
            is_protected: options.protected.iter().any(|have| have == name),
            is_merged: options.merge.iter().any(|have| have == name),
            is_in_memory: false,
            notes: Vec::new(),
        }
    }

    /// Returns whether `cell` is a mark of a missing value.
    fn is_mark(&self, cell: &str) -> bool {
        let is_level = || self.levels.iter().any(|level| level == cell);
        match &self.given {
            _ if cell.is_empty() => true,
            Some(marks) => marks.iter().any(|mark| mark == cell),
            None if is_missing(cell) => !is_level(),
            // Classes may be + and -, and what is missing there is told by `is_missing` wherever
            // labels are read.
            None => !self.is_label && odd::is_blank_sign(cell) && !is_level(),
        }
    }

    /// Returns whether a person said something of what `cell` holds.
    pub fn is_said_of(&self, cell: &str) -> bool {
        let mut said = self.given.iter().flatten().chain(&self.levels);
        said.any(|said| said == cell)
    }

    /// Takes one cell into account that says a number, `plain`, in another form than programs do.
    pub fn look_at_number(&mut self, plain: &str, options: &InferOptions) {
        self.is_respelt = true;
        self.look(plain, options);
    }

    /// Takes one cell into account.
    pub fn look(&mut self, cell: &str, options: &InferOptions) {
        if self.is_mark(cell) {
            return count(&mut self.missing, cell, 1);
        }
        self.values += 1;
        self.is_dates = self.is_dates && is_date(cell);
        let is_level = self.levels.iter().any(|level| level == cell);
        // 02139 is no number: it would come back as 2139.
        let is_name = has_leading_zero(cell) || self.has_twin(cell);
        match cell.parse::<f64>() {
            Ok(value) if value.is_finite() && !is_name && !is_level => {
                self.not_whole |= !is_whole(value);
                self.numeric += 1;
                if self.ten_to.is_none() && is_ten_to(cell) {
                    self.ten_to = Some(cell.to_owned());
                }
                if !self.is_words {
                    self.numbers.push(value);
                }
            }
            _ if self.is_words => {}
            _ => {
                count(&mut self.beside, cell, 1);
                let most = MOST_WORDS_BESIDE + self.levels.len();
                self.is_words = is_name || self.beside.len() > most;
                if self.is_words {
                    self.numbers = Vec::new();
                }
            }
        }
        self.add(cell, 1, options);
    }

    /// Returns whether `cell` is digits that 64 bits do not tell from other digits of the column: these are
    /// names, such as of accounts. Long numbers that differ are numbers like others.
    fn has_twin(&mut self, cell: &str) -> bool {
        let is_long = cell.len() >= LONG && cell.bytes().all(|byte| byte.is_ascii_digit());
        let Some(number) = cell.parse::<f64>().ok().filter(|_| is_long) else {
            return false;
        };
        *self
            .long
            .entry(number.to_bits())
            .or_insert_with(|| hash_of(cell))
            != hash_of(cell)
    }

    /// Counts `cells` cells that hold `word`.
    fn add(&mut self, word: &str, cells: u64, options: &InferOptions) {
        if let Some(known) = self.known.get_mut(word) {
            *known += cells;
            return;
        }
        if self.order.len() < options.max_words {
            self.known.insert(word.to_owned(), cells);
            self.order.push(word.to_owned());
            return;
        }
        self.too_many_words = true;
        if self.is_words || !self.beside.is_empty() {
            self.hashes.insert(hash_of(word));
        }
    }

    /// Completes the column when all of it was seen: whether it is of words, and what is missing.
    /// In a table in memory (`in_memory`) nulls are missing, and words that look like marks are
    /// words.
    pub fn decided(mut self, options: &InferOptions, in_memory: bool) -> Column {
        self.is_in_memory = in_memory;
        self.take_dashes_back(options);
        self.decide_on_ten_to();
        let numbers: HashSet<u64> = self.numbers.iter().map(|number| number.to_bits()).collect();
        let others: u64 = self.beside.iter().map(|(_, cells)| cells).sum();
        let is_of_numbers = numbers.len() > MANY && self.numbers.len() as u64 > others;
        if !self.beside.is_empty() && !self.is_words && !self.is_label {
            match is_of_numbers {
                true => self.name_beside(),
                false => self.is_words = true,
            }
        }
        let has_null = self.missing.iter().any(|(mark, _)| mark.is_empty());
        let keeps_words = in_memory && !has_null && !self.is_label && self.given.is_none();
        if keeps_words && (self.is_words || self.order.is_empty()) {
            let is_word = |mark: &str| may_be_word(mark);
            let (words, marks): (Vec<_>, Vec<_>) = std::mem::take(&mut self.missing)
                .into_iter()
                .partition(|(mark, _)| is_word(mark));
            self.missing = marks;
            for (word, cells) in words {
                let said = format!(
                    "'{word}' ({cells} cells) is a level, as the table has nulls for what is missing and the column holds none"
                );
                let effect = "if it says that the value is missing";
                let way = Way::of_column("missing", &self.name, [&word], effect);
                self.notes.push(Note::new(&self.name, said).or(way));
                self.values += cells as usize;
                self.is_words = true;
                self.is_dates = false;
                self.add(&word, cells, options);
            }
        }
        // Where there is an empty cell, that is what is written: a null to whoever knows nulls.
        self.missing.sort_by_key(|(mark, _)| !mark.is_empty());
        self
    }

    /// Makes values of dashes that were taken for missing where they say something: where the column
    /// holds a plus, too, or one other value alone, such as `x`.
    fn take_dashes_back(&mut self, options: &InferOptions) {
        let is_plus = |word: &String| word.bytes().all(|byte| byte == b'+');
        let reason = match &self.order[..] {
            _ if self.given.is_some() || self.is_label => return,
            words if words.iter().any(is_plus) => "as the column holds a plus, too",
            [_] => "as the column holds one other value alone",
            _ => return,
        };
        let (dashes, marks): (Vec<_>, Vec<_>) = std::mem::take(&mut self.missing)
            .into_iter()
            .partition(|(mark, _)| odd::is_dash(mark));
        self.missing = marks;
        for (dash, cells) in dashes {
            let said = format!("'{dash}' ({cells} cells) is a level, {reason}");
            let marks = self.missing.iter().map(|(mark, _)| mark).chain([&dash]);
            let effect = "if it says that the value is missing";
            let way = Way::of_column("missing", &self.name, marks, effect);
            self.notes.push(Note::new(&self.name, said).or(way));
            self.values += cells as usize;
            self.is_dates = false;
            count(&mut self.beside, &dash, cells);
            self.add(&dash, cells, options);
        }
    }

    /// Makes words of a column that holds such as 12E1 and few other values, or is protected: these are
    /// names of classes and flats rather than powers of ten. Of any other column it notes how they are
    /// read.
    fn decide_on_ten_to(&mut self) {
        // Whoever says that one is a level says what they all are.
        if self.levels.iter().any(|level| is_ten_to(level)) && !self.is_label {
            self.is_words = true;
            self.numbers = Vec::new();
        }
        let Some(example) = self
            .ten_to
            .take()
            .filter(|_| !self.is_words && !self.is_label)
        else {
            return;
        };
        let number: f64 = example.parse().unwrap_or_default();
        let are_few = self.order.len() <= MOST_CODES || self.is_protected;
        // Words that never come again would be left out.
        let come_again = self.order.len() < self.values || self.values < MANY;
        self.is_words = are_few && come_again && !self.too_many_words;
        let note = match self.is_words {
            true => {
                self.numbers = Vec::new();
                let said = format!(
                    "'{example}' is taken for a name, not for {number}, and so are the numbers beside it; write it as {number} if it is one"
                );
                Note::new(&self.name, said)
            }
            false => {
                let said = format!("'{example}' is read as {number}");
                let note = Note::new(&self.name, said);
                let effect = "makes levels of them all, if that is a name";
                note.or(Way::of_column("level", &self.name, [&example], effect))
            }
        };
        self.notes.push(note);
    }

    /// Turns the words beside the numbers of the column into levels of their own.
    fn name_beside(&mut self) {
        self.named = std::mem::take(&mut self.beside);
        self.order
            .retain(|word| !self.named.iter().any(|(other, _)| other == word));
        let is_new = |(word, _): &&(String, u64)| !self.levels.contains(word);
        let new: Vec<(String, u64)> = self.named.iter().filter(is_new).cloned().collect();
        if new.is_empty() {
            return;
        }
        let said = format!(
            "a column of numbers, beside which {} are levels of their own",
            listed(&new)
        );
        let marks = self.missing.iter().chain(&new).map(|(mark, _)| mark);
        let effect = "if they say that the value is missing";
        let way = Way::of_column("missing", &self.name, marks, effect);
        self.notes.push(Note::new(&self.name, said).or(way));
    }

    /// Returns whether every cell of the column is a whole number.
    pub fn holds_whole_numbers(&self) -> bool {
        let has_others = self.is_words || self.not_whole || !self.named.is_empty();
        !self.numbers.is_empty() && self.missing.is_empty() && !has_others
    }

    /// Returns whether the column is of words, as far as was decided.
    pub fn is_of_words(&self) -> bool {
        self.is_words
    }

    /// Refuses levels that no cell holds.
    ///
    /// # Errors
    /// [`InferError::NoSuchCell`].
    pub fn check(&self) -> Result<(), InferError> {
        let is_unknown = |level: &&String| !self.too_many_words && !self.known.contains_key(*level);
        match self.levels.iter().find(is_unknown) {
            Some(level) => Err(InferError::NoSuchCell {
                column: self.name.clone(),
                cell: level.clone(),
            }),
            None => Ok(()),
        }
    }

    /// Returns the marks of missing values: those that cells hold, and those that a person named.
    pub fn marks(&self) -> Missing {
        let held = self.missing.iter().map(|(mark, _)| mark.as_str());
        held.chain(self.not_held()).collect()
    }

    /// Returns whether any cell is missing.
    pub fn has_missing(&self) -> bool {
        !self.missing.is_empty()
    }

    /// Returns those of `words` that say in the column that a value is missing, whether cells hold them or
    /// not.
    pub fn marks_among<'w>(&self, words: impl Iterator<Item = &'w String>) -> Vec<&'w String> {
        // A dash may have been taken back.
        let is_value = |word: &String| self.known.contains_key(word);
        words
            .filter(|word| self.is_mark(word) && !is_value(word))
            .collect()
    }

    /// Returns the marks that a person named and that no cell holds.
    fn not_held(&self) -> impl Iterator<Item = &str> {
        let is_held = |mark: &str| self.missing.iter().any(|(held, _)| held == mark);
        let given = self.given.iter().flatten().map(String::as_str);
        given.filter(move |mark| !is_held(mark))
    }

    /// Returns the note on marks that no cell holds, if there are any.
    pub fn said_of_marks(&self) -> Option<Note> {
        let marks: Vec<String> = self.not_held().map(|mark| format!("'{mark}'")).collect();
        (!marks.is_empty()).then(|| {
            let marks = marks.join(", ");
            Note::new(
                &self.name,
                format!("no cell holds {marks}, which is said to mean a missing value"),
            )
        })
    }

    /// Returns the note on outcomes that are missing, if there are any.
    pub fn said_of_outcomes(&self, rows: usize, options: &InferOptions) -> Option<Note> {
        (!self.missing.is_empty()).then(|| {
            let said = format!(
                "{} of the {rows} outcomes count as missing, and are no class: {}",
                cells(&self.missing),
                listed(&self.missing)
            );
            let words = self.missing.iter().map(|(mark, _)| mark);
            let words: Vec<&String> = words.filter(|mark| !mark.is_empty()).collect();
            let note = Note::new(&self.name, said);
            match words.is_empty() || options.label_holds_numbers() {
                true => note,
                false => note.or(Way::of_column(
                    "level",
                    &self.name,
                    words,
                    "if they are classes",
                )),
            }
        })
    }

    /// Returns the words of a label in order of first appearance, other spellings of them where
    /// these are merged, and what a person should know of both.
    ///
    /// # Errors
    /// A note on what to do where they are too many, or numbers of which some are fractions.
    pub fn classes(mut self, options: &InferOptions) -> Result<Classes, Note> {
        let fraction = self.order.iter().find(|word| {
            let number: Result<f64, _> = word.parse();
            number.is_ok_and(|number| number.fract() != 0.0)
        });
        if let Some(example) = fraction
            && !self.is_words
            && self.beside.is_empty()
            && self.order.len() > 2
        {
            let said = format!("it holds many numbers, such as {example}, which are no classes");
            let number = Way::of_all::<&str>("number", [], "predicts the number");
            return Err(Note::new(&self.name, said)
                .or(self.two_classes())
                .or(number));
        }
        if self.too_many_words {
            return Err(self.too_many(options));
        }
        let (mut classes, mut aliases) = (std::mem::take(&mut self.order), BTreeMap::new());
        if !self.join_truths(&mut classes, &mut aliases, "class") {
            self.join_alike(&mut classes, &mut aliases, "classes");
        }
        self.notes.extend(self.said_of_rare_classes(&classes));
        Ok((classes, aliases, self.notes))
    }

    /// Returns the note on classes of one row each, where there are many rows and other classes: such a row
    /// may be a second line of names.
    fn said_of_rare_classes(&self, classes: &[String]) -> Option<Note> {
        let is_rare = |class: &&String| self.known.get(*class) == Some(&1);
        let rare: Vec<String> = classes.iter().filter(is_rare).cloned().collect();
        let are_few = classes.len() >= rare.len() + 2 && self.values >= MANY;
        (!rare.is_empty() && are_few).then(|| {
            let said = match rare.len() {
                1 => "stands in one row alone; if that row is no case, such as a second line of names, remove it",
                _ => "stand in one row each; remove those that are no cases, such as a second line of names",
            };
            let said = format!("{} {said}", quoted(&rare));
            Note::new(&self.name, said)
        })
    }

    /// Returns a way to make two classes of the numbers of a label, in the middle of their range.
    fn two_classes(&self) -> Way {
        let (least, most) = self.range();
        let middle = ((least + most) * 500.0).round() / 1000.0;
        let effect = "makes two classes of them, for example";
        Way::of_all("label_threshold", [middle.to_string()], effect)
    }

    /// Returns the least and the greatest of the column's numbers.
    fn range(&self) -> (f64, f64) {
        let ends = (f64::INFINITY, f64::NEG_INFINITY);
        let numbers = self.numbers.iter();
        numbers.fold(ends, |(least, most), number| {
            (least.min(*number), most.max(*number))
        })
    }

    /// Returns a note that all numbers of a label lie on one side of `threshold`, if they do.
    pub fn one_side(&self, threshold: f64) -> Option<Note> {
        let (least, most) = self.range();
        let is_empty = self.numbers.is_empty() || (least < threshold && threshold <= most);
        (!is_empty).then(|| {
            let said = format!(
                "its numbers, from {least} to {most}, lie on one side of {threshold}, which makes no two classes of them"
            );
            Note::new(&self.name, said).or(self.two_classes())
        })
    }

    /// Returns a note that the words are more than a category may have.
    fn too_many(&self, options: &InferOptions) -> Note {
        let limit = options.max_words;
        let (what, number) = match self.hashes.len() {
            0 => (format!("more than {limit}"), 2 * limit),
            more => (
                (self.order.len() + more).to_string(),
                self.order.len() + more,
            ),
        };
        let said = format!(
            "it holds {what} different words (such as '{}')",
            self.order[0]
        );
        let note = Note::new(&self.name, said);
        let effect = "makes a category of so many";
        let note = match self.is_label || self.is_protected {
            true => note,
            false => note.or(Way::of_all("ignore", [&self.name], "leaves it out")),
        };
        let note = note.or(Way::of_all("max_words", [number.to_string()], effect));
        if self.given.is_none() || self.beside.len() > MOST_WORDS_BESIDE {
            return note;
        }
        let words = self.missing.iter().chain(&self.beside);
        let effect = "leaves numbers, if these are marks of missing values";
        let words = words.map(|(word, _)| word);
        note.or(Way::of_column("missing", &self.name, words, effect))
    }

    /// Infers an attribute from the column, which has `rows` rows.
    pub fn made(mut self, rows: usize, options: &InferOptions) -> Made {
        if let Some(why) = self.why_left_out(rows) {
            return Made::LeftOut(why);
        }
        if self.is_words && self.too_many_words {
            return Made::Unplaced(self.too_many(options));
        }
        let mut merge = BTreeMap::new();
        let (kind, note) = match self.is_words {
            true => self.of_words(&mut merge),
            false => {
                let mut numbers = std::mem::take(&mut self.numbers);
                numbers.sort_by(f64::total_cmp);
                let words = std::mem::take(&mut self.order);
                self.notes.extend(self.said_of_zeros(&words));
                let (far, kept) = match self.given {
                    None => odd::apart(numbers.clone()),
                    Some(_) => (Vec::new(), numbers.clone()),
                };
                // Codes such as 8888 are levels of a list, and marks beside a range.
                let is_list = |sorted: &[f64]| {
                    is_list_of(sorted) || self.is_protected && is_list_with_gaps(sorted)
                };
                let is_range = !far.is_empty() && !is_list(&kept);
                let is_list = is_list(&numbers);
                match of_list(&numbers, words, self.not_whole || !is_list) {
                    Some((kind, said)) if !is_range => (kind, Some(said)),
                    _ => {
                        numbers = kept;
                        self.name_far(&far, [numbers[0], numbers[numbers.len() - 1]]);
                        self.not_whole = !numbers.iter().copied().all(is_whole);
                        self.notes.extend(self.said_of_codes(&numbers));
                        self.notes.extend(self.said_of_weights());
                        self.notes.extend(self.said_of_extremes(&numbers));
                        of_numbers(&numbers, self.not_whole, options)
                    }
                }
            }
        };
        self.notes
            .extend(note.map(|said| Note::new(&self.name, said)));
        self.notes.extend(self.said_of_missing(rows));
        let attribute = Attribute {
            kind,
            named: self.named.iter().map(|(level, _)| level.clone()).collect(),
            merge,
            protected: self.is_protected,
            outside: match self.missing.is_empty() {
                true => OutOfDomain::Reject,
                false => OutOfDomain::Level,
            },
            missing: self.marks(),
            name: self.name,
        };
        Made::Kept(attribute, self.notes)
    }

    /// Returns the reason why the column says nothing of what shall be predicted; `None` if it may.
    fn why_left_out(&self, rows: usize) -> Option<String> {
        if self.order.is_empty() {
            return Some("it holds no value".to_owned());
        }
        if self.order.len() == 1
            && self.values > 1
            && !self.too_many_words
            && self.missing.is_empty()
        {
            return Some(format!("it holds '{}' in every row", self.order[0]));
        }
        if self.is_dates {
            return Some(
                "it holds dates; derive a number from them, such as a year or an age, if they count"
                    .to_owned(),
            );
        }
        if self.is_words {
            let different = self.hashes.len() + self.order.len();
            let is_text = self.too_many_words && 2 * different > self.values;
            let mut others = self.beside.iter().map(|(word, _)| word);
            let are_codes = others.any(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
            if is_text && 2 * self.numeric > self.values && !are_codes {
                let others = self.beside.iter().take(3).map(|(word, _)| word);
                return Some(format!(
                    "{} of its {} cells are numbers, and others are none, such as {}; correct these, or declare them as missing",
                    self.numeric,
                    self.values,
                    quoted(&others.collect::<Vec<_>>())
                ));
            }
            if different == self.values && self.values >= MANY {
                return Some("every row has another value: a name, or free text".to_owned());
            }
            return is_text.then(|| {
                format!(
                    "it has {different} different values in {} rows: names, or free text",
                    self.values
                )
            });
        }
        let first = *self.numbers.first()?;
        let counts = |(place, value): (usize, &f64)| *value == first + place as f64;
        if rows >= MANY && self.numbers.len() == rows && self.numbers.iter().enumerate().all(counts)
        {
            return Some("it counts the rows".to_owned());
        }
        let has_fractions = self.numbers.iter().any(|number| number.fract() != 0.0);
        if has_fractions || !names_rows(&self.name) {
            return None;
        }
        let different = different(&self.numbers);
        is_identifier(&self.name, different, self.numbers.len()).then(|| match different == self.numbers.len() {
            true => "every row has another number, and its name is that of an identifier".to_owned(),
            false => format!(
                "it has {different} different numbers in {} rows, and its name is that of an identifier",
                self.numbers.len()
            ),
        })
    }

    /// Returns the kind of a column of words, some of which `merge` may make others.
    fn of_words(&mut self, merge: &mut BTreeMap<String, String>) -> (Kind, Option<String>) {
        let mut words = std::mem::take(&mut self.order);
        if self.join_truths(&mut words, merge, "level") {
            let (levels, ordered) = (words, false);
            return (Kind::Categorical { levels, ordered }, None);
        }
        let (mut levels, left) = merged(words.clone(), &self.levels);
        let are_apart = with_zeros_behind(&levels).is_some();
        let note = self.said_of_zeros(&words).filter(|_| !are_apart);
        let is_said = |left: &String| {
            let said = note.as_ref().map(|note| &note.said);
            said.is_some_and(|said| said.contains(&quoted(&[left])))
        };
        let left = left.filter(|left| !is_said(left));
        self.notes.extend(note);
        self.join_alike(&mut levels, merge, "levels");
        let (levels, ordered) = match odd::ranges(&levels) {
            Some(found) => self.in_order(found),
            None => (levels, false),
        };
        let kind = Kind::Categorical { levels, ordered };
        (kind, left.map(|left| one_level(&left)))
    }

    /// Joins the spellings of each truth where `words` are nothing else and stand in a file, unless a
    /// person named some, and records those that are left out in `merge`. Returns whether it did. `what`
    /// says what a word is.
    fn join_truths(
        &mut self,
        words: &mut Vec<String>,
        merge: &mut BTreeMap<String, String>,
        what: &str,
    ) -> bool {
        let are_kept = self.is_in_memory || words.iter().any(|word| self.levels.contains(word));
        let Some(spellings) = truths(words).filter(|_| !are_kept) else {
            return false;
        };
        let groups = spellings.map(|spellings| self.most_frequent_first(spellings));
        let said = format!(
            "it holds nothing but truths, of which all spellings are one {what}: {}",
            grouped(&groups)
        );
        let way = Way::of_column("level", &self.name, &*words, "keeps them apart");
        self.notes.push(Note::new(&self.name, said).or(way));
        for group in &groups {
            let others = group[1..].iter();
            merge.extend(others.map(|(other, _)| (other.clone(), group[0].0.clone())));
        }
        words.retain(|word| !merge.contains_key(word));
        true
    }

    /// Returns `words` with their cells.
    fn most_frequent_first(&self, words: Vec<String>) -> Vec<(String, u64)> {
        let cells = |word: String| {
            let cells = self.known.get(&word).copied().unwrap_or_default();
            (word, cells)
        };
        let mut words: Vec<_> = words.into_iter().map(cells).collect();
        words.sort_by_key(|(_, cells)| std::cmp::Reverse(*cells));
        words
    }

    /// Joins those of `words` that people take for one, and records their other spellings in
    /// `merge`, where that was asked for; else notes that there are such words. `what` says what
    /// the words are.
    fn join_alike(
        &mut self,
        words: &mut Vec<String>,
        merge: &mut BTreeMap<String, String>,
        what: &str,
    ) {
        let groups = self.alike(words);
        if self.is_merged {
            for group in &groups {
                let others = group[1..].iter();
                merge.extend(others.map(|(other, _)| (other.clone(), group[0].0.clone())));
            }
            words.retain(|word| !merge.contains_key(word));
            let said = match groups.is_empty() {
                true => format!(
                    "its {what} differ in more than how they are written, so none were merged"
                ),
                false => format!(
                    "of these {what} one each, as was asked for: {}",
                    grouped(&groups)
                ),
            };
            self.notes.push(Note::new(&self.name, said));
        } else if !groups.is_empty() {
            let said = format!(
                "{what} that differ only in case, blanks, characters that nobody sees, Unicode form, a full stop at the end or the order of joined values: {}",
                grouped(&groups)
            );
            let way = Way::of_all("merge", [&self.name], "makes one of each");
            self.notes.push(Note::new(&self.name, said).or(way));
        }
    }

    /// Returns the levels of a column of ranges, and whether their order means something.
    fn in_order(&mut self, found: odd::Ranges) -> (Vec<String>, bool) {
        let odd::Ranges {
            mut ranges,
            numbers,
            words,
        } = found;
        let is_asked =
            self.given.is_some() || numbers.iter().any(|number| self.levels.contains(number));
        let (marks, others) = match is_asked {
            true => (Vec::new(), [numbers, words].concat()),
            false => (numbers, words),
        };
        for number in &marks {
            let cells = self.known.get(number).copied().unwrap_or_default();
            count(&mut self.missing, number, cells);
        }
        if !marks.is_empty() {
            let said = format!(
                "{} lies far from all ranges, and is taken for missing",
                quoted(&marks)
            );
            let effect = "if that is a value like the others";
            let way = Way::of_column("level", &self.name, &marks, effect);
            self.notes.push(Note::new(&self.name, said).or(way));
        }
        let ordered = others.is_empty();
        let (said, way) = match ordered {
            true => ("its ranges are ordered levels".to_owned(), None),
            false => {
                let missing = self.missing.iter().map(|(mark, _)| mark).chain(&others);
                let effect = "makes ordered levels of the others";
                (
                    format!(
                        "its ranges would be ordered levels but for {}",
                        quoted(&others)
                    ),
                    Some(Way::of_column("missing", &self.name, missing, effect)),
                )
            }
        };
        let mut note = Note::new(&self.name, said);
        note.ways.extend(way);
        self.notes.push(note);
        ranges.extend(others);
        (ranges, ordered)
    }

    /// Returns the groups of levels that people take for one, the most frequent of each first, with
    /// their cells.
    fn alike(&self, levels: &[String]) -> Vec<Vec<(String, u64)>> {
        let mut groups: Vec<Vec<String>> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        for level in levels {
            let place = *places.entry(unicode::key(level)).or_insert_with(|| {
                groups.push(Vec::new());
                groups.len() - 1
            });
            groups[place].push(level.clone());
        }
        groups.retain(|group| group.len() > 1);
        let groups = groups.into_iter();
        groups
            .map(|group| self.most_frequent_first(group))
            .collect()
    }

    /// Turns numbers that lie far from all others, each with its cells, into levels of their own.
    fn name_far(&mut self, far: &[(f64, u64)], [min, max]: [f64; 2]) {
        if far.is_empty() {
            return;
        }
        let far: Vec<(String, u64)> = far
            .iter()
            .map(|(number, cells)| (number.to_string(), *cells))
            .collect();
        let said = format!(
            "{} come again and again, apart from all other numbers ({min} to {max}), and are levels of their own",
            listed(&far)
        );
        let missing =
            |marks: Vec<&String>, effect| Way::of_column("missing", &self.name, marks, effect);
        let marks = self.missing.iter().map(|(mark, _)| mark);
        let with_far = marks.clone().chain(far.iter().map(|(mark, _)| mark));
        let note = Note::new(&self.name, said)
            .or(missing(
                with_far.collect(),
                "if they say that the value is missing",
            ))
            .or(missing(
                marks.collect(),
                "if they are numbers like the others",
            ));
        self.notes.push(note);
        self.named.extend(far);
    }

    /// Returns the note on numbers of `words`, all of the column or the first ones, that differ in zeros
    /// behind their decimals alone: 1.1 and 1.10 may be two codes.
    fn said_of_zeros(&self, words: &[String]) -> Option<Note> {
        let [short, long] = with_zeros_behind(words)?;
        let said = format!("'{short}' and '{long}' are taken for one number");
        let note = Note::new(&self.name, said);
        let effect = "makes levels of them all, if they are codes";
        let way = || Way::of_column("level", &self.name, words, effect);
        Some(match self.too_many_words || self.is_respelt {
            true => note,
            false => note.or(way()),
        })
    }

    /// Returns the note on many whole numbers in a column whose name suggests codes, such as those
    /// of places: their order means nothing.
    fn said_of_codes(&self, numbers: &[f64]) -> Option<Note> {
        let is_code = numbers.iter().all(|number| number.fract() == 0.0) && names_codes(&self.name);
        (is_code && different(numbers) > MOST_CODES).then(|| {
            let said = "its name is that of a code, such as of places, of which a larger number means nothing, but it is taken for numbers";
            Note::new(&self.name, said).or(Way::of_all("ignore", [&self.name], "leaves it out"))
        })
    }

    /// Returns the note on numbers in a column whose name is that of the weights of a survey.
    fn said_of_weights(&self) -> Option<Note> {
        (names_weights(&self.name) && !self.is_protected).then(|| {
            let said = "its name is that of the weights of a survey, which say how many people a row stands for, but it is an input like the others";
            let effect = "leaves it out, if it is such";
            Note::new(&self.name, said).or(Way::of_all("ignore", [&self.name], effect))
        })
    }

    /// Returns the note on a number of `sorted` that is so far beyond all others that nothing is left of
    /// their differences beside it: one that programs write where there is none.
    fn said_of_extremes(&self, sorted: &[f64]) -> Option<Note> {
        let (first, last) = (*sorted.first()?, *sorted.last()?);
        let inner = sorted
            .iter()
            .filter(|number| **number != first && **number != last);
        let most = inner.map(|number| number.abs()).reduce(f64::max)?;
        let is_beyond = |number: &f64| number.abs() > BEYOND * most.max(1.0);
        let beyond: Vec<f64> = [first, last].into_iter().filter(is_beyond).collect();
        let spelt = |number: &f64| {
            let words = self.known.keys();
            let words = words.filter(|word| word.parse::<f64>().is_ok_and(|it| it == *number));
            words.min().cloned().unwrap_or_else(|| number.to_string())
        };
        let beyond: Vec<String> = beyond.iter().map(spelt).collect();
        (!beyond.is_empty()).then(|| {
            let said = format!(
                "{} lies so far beyond all other numbers (at most {most}) that these count as alike beside it",
                quoted(&beyond)
            );
            let marks = self.missing.iter().map(|(mark, _)| mark).chain(&beyond);
            let effect = "if it says that the value is missing";
            Note::new(&self.name, said).or(Way::of_column("missing", &self.name, marks, effect))
        })
    }

    /// Returns the note on missing values, in `rows` rows.
    pub fn said_of_missing(&self, rows: usize) -> Option<Note> {
        if self.missing.is_empty() {
            return None;
        }
        let mut said = format!(
            "{} of its {rows} cells count as missing: {}",
            cells(&self.missing),
            listed(&self.missing)
        );
        let marks = self.missing.iter().map(|(mark, _)| mark);
        let words: Vec<&String> = marks.clone().filter(|mark| may_be_word(mark)).collect();
        let signs: Vec<&String> = marks.filter(|mark| odd::is_blank_sign(mark)).collect();
        // What was said by a person is not asked.
        if self.given.is_some() || (signs.is_empty() && (!self.is_words || words.is_empty())) {
            return Some(Note::new(&self.name, said));
        }
        if !self.is_words || words.is_empty() {
            let way = Way::of_column("level", &self.name, signs, "if that is a level");
            return Some(Note::new(&self.name, said).or(way));
        }
        let name = &self.name;
        if self.is_protected {
            let what = quoted(&words);
            said += &format!("; {what} may be a group of people, which is for you to decide");
        }
        let none: [&str; 0] = [];
        let mut note = Note::new(name, said)
            .or(Way::of_column("level", name, &words, "if that is a level"))
            .or(Way::of_column(
                "missing",
                name,
                none,
                "if nothing but a blank is missing",
            ));
        if self.is_protected {
            let marks = self.missing.iter().map(|(mark, _)| mark);
            note = note.or(Way::of_column("missing", name, marks, "if it is missing"));
        }
        Some(note)
    }
}

/// Returns whether a mark of missing values may be a word of the column, such as `NA` of a group.
fn may_be_word(mark: &str) -> bool {
    mark.chars().any(char::is_alphabetic) && !odd::is_blank_sign(mark)
}

/// Adds `cells` to the count of cells that hold `word`.
fn count(words: &mut Vec<(String, u64)>, word: &str, cells: u64) {
    match words.iter_mut().find(|(known, _)| known == word) {
        Some((_, known)) => *known += cells,
        None => words.push((word.to_owned(), cells)),
    }
}

/// Returns the number of cells that hold any of `words`.
fn cells(words: &[(String, u64)]) -> u64 {
    words.iter().map(|(_, cells)| cells).sum()
}

/// Lists words with their cells: `'NA' (80), blank (3)`.
fn listed(words: &[(String, u64)]) -> String {
    let said = |(word, cells): &(String, u64)| match word.is_empty() {
        true => format!("blank ({cells})"),
        false => format!("'{}' ({cells})", unicode::shown(word)),
    };
    words.iter().map(said).collect::<Vec<_>>().join(", ")
}

/// Lists groups of words with their cells: `'White' (80) and 'white' (2); …`.
fn grouped(groups: &[Vec<(String, u64)>]) -> String {
    let groups = groups.iter().map(|group| listed(group));
    groups.collect::<Vec<_>>().join("; ")
}

/// Returns whether a number is a whole one of 32 bits.
fn is_whole(number: f64) -> bool {
    number.fract() == 0.0 && number.abs() <= f64::from(i32::MAX)
}

/// Returns the category that a column of `sorted` numbers is, which `words` spell as long as these
/// are few; `None` where it is none (`is_no_list`).
fn of_list(sorted: &[f64], words: Vec<String>, is_no_list: bool) -> Option<(Kind, String)> {
    let (min, max) = (*sorted.first()?, *sorted.last()?);
    let runs = sorted.chunk_by(|a, b| a == b).count();
    // Two spellings of a number, such as 1 and 1.0, are no two levels.
    let (mut levels, left) = merged(words, &[]);
    let is_complete = levels.len() == runs;
    if is_no_list || !is_complete || runs < 2 {
        return None;
    }
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
            "its {count} numbers, from {min} to {max}, leave {}, so they are the levels of a category; {}",
            match is_list_of(sorted) {
                true => "most of that range out",
                false =>
                    "some of that range out, and no change of a protected attribute is to make people who have these",
            },
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
    Some((Kind::Categorical { levels, ordered }, note))
}

/// Returns the kind of a column of `sorted` numbers that is no category.
fn of_numbers(sorted: &[f64], not_whole: bool, options: &InferOptions) -> (Kind, Option<String>) {
    let (min, max) = (sorted[0], sorted[sorted.len() - 1]);
    let note = (!not_whole && sorted.len() >= MANY && different(sorted) == sorted.len())
        .then(|| "every row has another number; leave it out if it names the rows".to_owned());
    if !not_whole && max - min < options.max_integer_span as f64 {
        let (min, max) = (min as i32, max as i32);
        return (Kind::Integer { min, max }, note);
    }
    let bins = options.bins.edges(sorted);
    let runs = different(sorted);
    let note = match options.bins == Cut::Exact && runs > MOST_BINS {
        true => Some(format!(
            "its {runs} different numbers are more than {MOST_BINS}, so they share bins"
        )),
        false => note,
    };
    let values = Some(values(&bins, sorted));
    (Kind::Numeric { bins, values }, note)
}

/// Says that a number is spelt in several ways, such as `left`.
fn one_level(left: &str) -> String {
    format!("other spellings of a number, such as '{left}', are the same level")
}

/// Returns whether `sorted` whole numbers are a list of codes.
fn is_list_of(sorted: &[f64]) -> bool {
    let runs: Vec<usize> = sorted.chunk_by(|a, b| a == b).map(<[f64]>::len).collect();
    let span = match sorted {
        [first, .., last] => last - first,
        _ => 0.0,
    };
    is_list(&runs, span)
}

/// Returns whether `sorted` whole numbers of a protected column are codes: few, with a number between
/// them that nobody has. As a range they would be changed into that number, too.
fn is_list_with_gaps(sorted: &[f64]) -> bool {
    let [first, .., last] = sorted else {
        return false;
    };
    let codes = different(sorted);
    (codes as f64) < last - first + 1.0
        && codes <= MOST_PROTECTED_CODES
        && sorted.len() >= ROWS_PER_PROTECTED_CODE * codes
}

/// Returns whether whole numbers that stand in the file so often (`runs`, by value) over a range of
/// `span` are a list of codes, between which there is nothing: two neighbours, or few over a wide
/// range each of which comes again and again.
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

/// Returns how many of the numbers are different.
fn different(numbers: &[f64]) -> usize {
    let bits: HashSet<u64> = numbers.iter().map(|number| number.to_bits()).collect();
    bits.len()
}

/// Returns whether a column of this name usually holds codes, such as those of places.
fn names_codes(name: &str) -> bool {
    let codes = [
        "code", "codes", "fips", "geoid", "msa", "postcode", "postal", "plz", "tract", "zip",
        "zipcode",
    ];
    unicode::parts(name)
        .iter()
        .any(|part| codes.contains(&part.as_str()))
}

/// Returns whether a column of this name usually holds the weights of a survey: `fnlwgt`, `weight`,
/// `sample_weight`, but not `birth_weight`.
fn names_weights(name: &str) -> bool {
    let whole = [
        "asecwt",
        "finalwgt",
        "fnlwgt",
        "hhwt",
        "hwtfinl",
        "perwt",
        "pweight",
        "pwgt",
        "pwgtp",
        "sampleweight",
        "sampweight",
        "wgtp",
        "wtfinl",
    ];
    let weights = ["weight", "weights", "wgt", "wgts", "wt", "wts"];
    let of_surveys = [
        "analysis",
        "case",
        "design",
        "final",
        "hh",
        "household",
        "inverse",
        "ipw",
        "obs",
        "observation",
        "person",
        "population",
        "post",
        "probability",
        "replicate",
        "respondent",
        "row",
        "sample",
        "sampling",
        "stratification",
        "survey",
        "svy",
    ];
    let parts = unicode::parts(name);
    let mut words = parts
        .iter()
        .map(|part| part.trim_end_matches(|c: char| c.is_ascii_digit()));
    match &parts[..] {
        [_] => words.all(|word| whole.contains(&word) || weights.contains(&word)),
        _ => {
            words.clone().any(|word| weights.contains(&word))
                && words.all(|word| {
                    word.is_empty() || weights.contains(&word) || of_surveys.contains(&word)
                })
        }
    }
}

/// Returns whether a column of whole numbers identifies its rows: by its name, and by `different`
/// numbers in so many `rows`.
pub fn is_identifier(name: &str, different: usize, rows: usize) -> bool {
    rows >= MANY && 2 * different > rows && names_rows(name)
}

/// Returns whether a column of this name usually names the rows.
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

/// Returns whether `cell` is digits around an E, such as 12E1: few programs write a power of ten so,
/// without a point and a sign, and people write names so.
pub(super) fn is_ten_to(cell: &str) -> bool {
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    cell.split_once('E')
        .is_some_and(|(digits, power)| is_digits(digits) && is_digits(power))
}

pub(super) fn has_leading_zero(cell: &str) -> bool {
    let digits = cell.trim_start_matches(['-', '+']).as_bytes();
    digits.len() > 1 && digits[0] == b'0' && digits[1].is_ascii_digit()
}

fn hash_of(word: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    word.hash(&mut hasher);
    hasher.finish()
}

/// The months as databases and people write them in English, by their first three letters.
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Returns whether `cell` is a date whose month is a word, such as 13-Feb-2023, 13FEB23 or February 13,
/// 2023, and perhaps a time.
fn is_named_date(cell: &str) -> bool {
    let is_sign = |c: char| [' ', '-', ',', '/', '.'].contains(&c);
    let mut rest = cell;
    let parts: [&str; 3] = std::array::from_fn(|_| {
        let text = rest.trim_start_matches(is_sign);
        let is_digit = text.starts_with(|c: char| c.is_ascii_digit());
        let is_other = |c: char| !c.is_ascii_alphanumeric() || c.is_ascii_digit() != is_digit;
        let (part, behind) = text.split_at(text.find(is_other).unwrap_or(text.len()));
        rest = behind;
        part
    });
    let is_month = |word: &str| {
        let word = word.to_ascii_lowercase();
        let is_short =
            |month: &&str| month.starts_with(&word) && (word.len() == 3 || word == "sept");
        MONTHS.iter().any(|month| *month == word || is_short(month))
    };
    let is_day = |day: &str| day.len() < 3 && day.parse().is_ok_and(|day| (1..=31).contains(&day));
    let is_year = |year: &str| matches!(year.len(), 2 | 4) && year.parse::<u32>().is_ok();
    let [first, second, third] = parts;
    let is_day_and_year = match (is_month(first), is_month(second)) {
        (true, _) => is_day(second) && is_year(third),
        (_, true) => {
            is_day(first) && is_year(third) || first.len() == 4 && is_year(first) && is_day(third)
        }
        _ => false,
    };
    is_day_and_year && (rest.is_empty() || rest.starts_with([' ', ':', ',', 'T']))
}

/// Returns whether `cell` is a date: three groups of digits, a month among them, and perhaps a
/// time; or one whose month is a word.
fn is_date(cell: &str) -> bool {
    if cell.bytes().any(|byte| byte.is_ascii_alphabetic()) && is_named_date(cell) {
        return true;
    }
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
            "13-Feb-2023",
            "13-FEB-23 10.11.12 AM",
            "13Feb2023:10:11:12",
            "February 13, 2023",
            "13 Sept. 2023",
            "2023-May-01",
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
            "Feb",
            "May 13",
            "13 men 2023",
            "45-Feb-2023",
            "13-Feb-2023x",
            "Mar 1, 20231",
        ] {
            assert!(!is_date(other), "{other}");
        }
    }

    #[test]
    fn weights_of_surveys_are_told_by_their_names() {
        for name in [
            "weight",
            "wgt",
            "fnlwgt",
            "PWGTP12",
            "sample_weight",
            "sampleWeight",
            "Survey Wt",
            "person_weight_2",
        ] {
            assert!(names_weights(name), "{name}");
        }
        for name in [
            "birth_weight",
            "weight_kg",
            "height",
            "wait",
            "sample",
            "",
            "12",
        ] {
            assert!(!names_weights(name), "{name}");
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
