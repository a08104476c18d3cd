//! The layout of a file, as far as nobody says it: what separates its fields, what escapes its
//! quotes, how its text is encoded, and how its numbers are written.
//!
//! The separator is the one that the first line says (`sep=;`), or that cuts the first lines into most
//! fields, as many in each as in the first. Lines before the header that begin with a `#` are passed
//! over. A backslash escapes quotes where these fit with it alone. Text that is no UTF-8 is Windows-1252, if it can be. Where
//! all rows have a field more than the header and the first ones differ, these are names of rows, unless
//! commas or blanks separate. Of the forms of numbers ([`NumberForm`]) that is taken by which most columns hold numbers. Where two forms read a cell as
//! two numbers, as 12.5 and 12500, and no other column excludes one of them, the user is asked;
//! only where commas separate the fields of a text decimals stand behind points, which is said.

use std::io::Read;
use std::path::Path;

use super::comments::Comments;
use super::error::{Ambiguous, InferError};
use super::escape::is_escaped;
use super::note::{Note, Way};
use super::options::InferOptions;
use super::spread;
use crate::encoding::{Encoding, decoded, is_windows_1252, marked, unmarked};
use crate::number_form::{NumberForm, currency_of, has_minus_behind, unit_of};
use crate::read::{
    OfRow, ReadError, Records, first_records, has_row_names, is_json, said_separator,
};
use crate::schema::{DECIMALS, Format, SchemaError, THOUSANDS, is_missing};
use crate::source::{Content, DataFile};
use crate::unicode;

/// The name under which notes on the whole file stand.
pub(super) const WHOLE_FILE: &str = "[format]";
/// The characters that may separate fields, apart from what a user says.
const SEPARATORS: [char; 4] = [',', ';', '\t', '|'];
/// The number of bytes at the beginning of a file by which its separator is found.
const BEGINNING: u64 = 1 << 16;
/// The least share of records, in percent, that have as many fields as the first.
const ALIKE: usize = 90;

/// The layout that was found.
pub(super) struct Layout {
    /// The layout.
    pub format: Format,
    /// The notes on the layout for a person.
    pub notes: Vec<Note>,
    /// Whether each column holds numbers, of any form.
    numbers: Vec<bool>,
    /// The note on each column whose numbers count different things.
    mixed: Vec<Option<String>>,
}

impl Layout {
    /// Returns a note on why the numbers of the column `name` at `position` are on no one scale, if
    /// they are on none.
    pub fn mixed(&self, position: usize, name: &str) -> Option<Note> {
        let said = self.mixed.get(position)?.as_ref()?;
        Some(Note::new(name, said).or(Way::of_all("ignore", [name], "leaves it out")))
    }

    /// Returns the cell of the column `name` at `position` as programs write it, if it is a number
    /// of a column of numbers and written in another way.
    ///
    /// # Errors
    /// [`InferError::OtherForm`] when it is a number for programs alone.
    pub fn plain(
        &self,
        position: usize,
        name: &str,
        cell: &str,
    ) -> Result<Option<String>, InferError> {
        let form = self.format.number_form();
        let is_number = self.numbers.get(position).copied().unwrap_or_default();
        let is_plain = || cell.parse().is_ok_and(f64::is_finite);
        if !is_number || (form == NumberForm::PLAIN && is_plain()) {
            return Ok(None);
        }
        match form.plain(cell) {
            None if is_plain() => Err(InferError::OtherForm {
                column: name.to_owned(),
                cell: cell.to_owned(),
                decimal: form.decimal,
            }),
            plain => Ok(plain),
        }
    }
}

/// Finds the layout of the text in `file`: `format`, with the separator of its first lines where
/// `finds_separator` says so, and with its encoding where none is said.
///
/// # Errors
/// When it cannot be read.
pub fn text_layout(
    file: &Path,
    format: &Format,
    finds_separator: bool,
) -> Result<Format, ReadError> {
    let mut format = format.clone();
    lay_out(
        &DataFile::open_rereadable(file)?,
        &mut format,
        finds_separator,
        &mut |_| (),
    )?;
    Ok(format)
}

/// Completes the `format` of the text in `file`, and says what was found. Other files are no text,
/// and need none.
fn lay_out(
    file: &DataFile,
    format: &mut Format,
    finds_separator: bool,
    note: &mut dyn FnMut(String),
) -> Result<bool, ReadError> {
    let Some(start) = beginning(file)? else {
        return Ok(false);
    };
    if is_json(&start) {
        return Ok(false);
    }
    let shown = match format.encoding {
        Some(_) => None,
        None => unmarked(&start),
    };
    if let Some(encoding) = marked(&start).or(shown) {
        note(format!("the text is in {encoding}"));
    } else if format.encoding.is_none()
        && let Content::Stream(text) = file.content()?
        && is_windows_1252(text).map_err(|source| ReadError::io(file.path(), source))?
    {
        format.encoding = Some(Encoding::WINDOWS_1252);
        note(format!(
            "the text is no UTF-8 and is read as {}; --encoding says another",
            Encoding::WINDOWS_1252
        ));
    }
    file.rewind()?;
    let beginning = Beginning::of(start, format);
    if let Some(said) = beginning.said {
        format.separator = said;
        let said = match said {
            '\t' => "a tab".to_owned(),
            other => format!("'{other}'"),
        };
        note(format!(
            "the first line says that {said} separates fields, and is no row"
        ));
    }
    let finds_separator = finds_separator && beginning.said.is_none();
    let said = [format.separator];
    let separators = match finds_separator {
        true => &SEPARATORS[..],
        false => &said,
    };
    if format.comment.is_none()
        && let Content::Stream(text) = file.content()?
    {
        let comments = decoded(text, format.encoding)
            .and_then(said_separator)
            .and_then(|(_, text)| Comments::find(text, separators));
        let comments = comments.map_err(|source| ReadError::io(file.path(), source))?;
        if let Some(Comments { sign, lines }) = comments {
            format.comment = Some(sign);
            let said = match lines {
                1 => "line begins".to_owned(),
                lines => format!("{lines} lines begin"),
            };
            note(format!(
                "the first {said} with '{sign}', and lines that do are passed over; comment under [format] says so"
            ));
        }
    }
    file.rewind()?;
    if format.escape.is_none()
        && let Content::Stream(text) = file.content()?
    {
        let escaped = decoded(text, format.encoding)
            .and_then(|text| is_escaped(text, format.quote, separators));
        if escaped.map_err(|source| ReadError::io(file.path(), source))? {
            format.escape = Some('\\');
            let said = "quotes within quoted fields stand behind a backslash; escape under [format] says so";
            note(said.to_owned());
        }
    }
    file.rewind()?;
    if finds_separator {
        format.separator = beginning.separator(format);
        let said = match format.separator {
            ',' => return Ok(true),
            '\t' => "tabs".to_owned(),
            other => format!("'{other}'"),
        };
        note(format!(
            "fields are separated by {said}; --separator says another"
        ));
    }
    if !format.row_names && has_row_names(&beginning.records(format), format) {
        format.row_names = true;
        let said = "the rows have one field more than the header has names: the first field, which differs from row to row, is the name of the row and left out; row_names under [format] says so";
        note(said.to_owned());
    }
    Ok(true)
}

/// Finds the layout of `file`, which is gone over several times.
///
/// # Errors
/// When it cannot be read, or its numbers may be read in two ways.
pub(super) fn found(file: &DataFile, options: &InferOptions) -> Result<Layout, InferError> {
    let mut format = options.format.clone();
    // A column may stand there twice.
    format.ignore_other_columns = true;
    let mut notes = Vec::new();
    let mut note = |said: String| notes.push(Note::new(WHOLE_FILE, said));
    let forms = forms();
    let allowed = allowed(&forms, &format)?;
    let is_text = lay_out(file, &mut format, options.finds_separator, &mut note)?;
    let (spread, said_of_spread) = spread::found(file, &format, options)?;
    format.spread = spread;
    let survey = match seen(file, &format, &forms) {
        // Whoever reads the rows says what is wrong, and where.
        Err(ReadError::Utf8 { .. }) => Vec::new(),
        survey => survey?,
    };
    file.rewind()?;
    let is_asked = |column: &&Seen| {
        let is_column = |ignored: &String| unicode::same(ignored, &column.name);
        column.is_marked() && !options.ignore.iter().any(is_column)
    };
    let columns: Vec<&Seen> = survey.iter().filter(is_asked).collect();
    let has_commas = is_text && format.separator == ',';
    let (at, guessed) = chosen(&columns, &forms, allowed, has_commas)?;
    let form = forms[at];
    if form.decimal != NumberForm::PLAIN.decimal {
        format.decimal = Some(form.decimal);
    }
    format.thousands = form.thousands;
    if form != NumberForm::PLAIN
        && let Some(column) = columns.iter().find(|column| column.reads(at))
    {
        let thousands = match form.thousands {
            Some(' ') => " and blanks between thousands".to_owned(),
            Some(mark) => format!(" and '{mark}' between thousands"),
            None => String::new(),
        };
        note(format!(
            "numbers are written with '{}' before decimals{thousands}, such as '{}' in '{}'; --decimal and --thousands say otherwise",
            form.decimal, column.example, column.name
        ));
    }
    for column in columns {
        notes.extend(column.said_of_minus(form));
        let example = &column.example;
        let said = match form.plain(example) {
            // Between commas it may be a list.
            None if format.separator != ',' && column.is_of_numbers() => {
                return Err(InferError::OtherForm {
                    column: column.name.clone(),
                    cell: example.clone(),
                    decimal: form.decimal,
                });
            }
            None => format!(
                "'{example}' is no number as the others of the file are written, and is taken for a word; write them alike if it is one"
            ),
            Some(plain) if NumberForm::PLAIN.number(example) != plain.parse().ok() => {
                format!("'{example}' is read as {plain}")
            }
            Some(plain) if example.parse::<f64>().is_err() && *example != column.minus_behind => {
                format!("signs of what it counts are left out: '{example}' is {plain}")
            }
            Some(_) => continue,
        };
        notes.push(Note::new(&column.name, said));
    }
    for column in guessed {
        let said = match form.thousands {
            Some(_) => {
                "the comma in its numbers is taken for one between thousands; --decimal , says that it stands before decimals"
            }
            None => {
                "the point in its numbers is taken for one before decimals; --thousands . says that it stands between thousands"
            }
        };
        notes.push(Note::new(&column.name, said));
    }
    notes.extend(said_of_spread);
    Ok(Layout {
        numbers: survey.iter().map(Seen::is_marked).collect(),
        mixed: survey.iter().map(Seen::mixed).collect(),
        format,
        notes,
    })
}

/// Returns all forms of numbers, the simplest first.
fn forms() -> Vec<NumberForm> {
    let marks = std::iter::once(None).chain(THOUSANDS.map(Some));
    let forms =
        marks.flat_map(|thousands| DECIMALS.map(|decimal| NumberForm { decimal, thousands }));
    forms
        .filter(|form| form.thousands != Some(form.decimal))
        .collect()
}

/// Returns the places of those of `forms` that `format` leaves open.
fn allowed(forms: &[NumberForm], format: &Format) -> Result<Vec<usize>, SchemaError> {
    let is_allowed = |&at: &usize| {
        let form = forms[at];
        format.decimal.is_none_or(|said| said == form.decimal)
            && (format.thousands.is_none() || format.thousands == form.thousands)
    };
    let allowed: Vec<usize> = (0..forms.len()).filter(is_allowed).collect();
    match allowed.is_empty() {
        true => Err(SchemaError::Format(
            "decimal is '.' or ',', and thousands the other one of these, a blank or an apostrophe"
                .to_owned(),
        )),
        false => Ok(allowed),
    }
}

/// Returns the first bytes of a file of text, as they stand there.
fn beginning(file: &DataFile) -> Result<Option<Vec<u8>>, ReadError> {
    let start = match file.content()? {
        Content::Stream(text) => {
            let mut start = Vec::new();
            let read = text.take(BEGINNING).read_to_end(&mut start);
            read.map_err(|source| ReadError::io(file.path(), source))?;
            Some(start)
        }
        Content::Memory(_) | Content::Parquet(_) => None,
    };
    file.rewind()?;
    Ok(start)
}

/// The first lines of a text.
struct Beginning {
    /// The separator that the first of them says, which is no longer among them.
    said: Option<char>,
    text: Vec<u8>,
    /// Whether the text goes on, so that the last record may be cut off.
    is_cut: bool,
}

impl Beginning {
    /// Returns the first lines of a text that begins with the bytes `start`.
    fn of(start: Vec<u8>, format: &Format) -> Beginning {
        let is_cut = start.len() as u64 == BEGINNING;
        let (mut said, mut text) = (None, Vec::new());
        // What cannot be decoded is refused by whoever reads the rows.
        let decoded = decoded(Box::new(std::io::Cursor::new(start)), format.encoding);
        if let Ok((separator, mut decoded)) = decoded.and_then(said_separator) {
            said = separator;
            let _ = decoded.read_to_end(&mut text);
        }
        Beginning { said, text, is_cut }
    }

    /// Returns the records that are whole.
    fn records(&self, format: &Format) -> Vec<csv::ByteRecord> {
        let mut records = first_records(&self.text, format);
        if self.is_cut {
            records.pop();
        }
        records
    }

    /// Returns the separator of the fields.
    fn separator(&self, format: &Format) -> char {
        let fields = |separator: char| {
            let format = Format {
                separator,
                ..format.clone()
            };
            let records = self.records(&format);
            let expected = match format.columns.len() {
                0 => records
                    .first()
                    .map(csv::ByteRecord::len)
                    .unwrap_or_default(),
                columns => columns,
            };
            // Rows may have a field that the header does not name.
            let alike = [0, 1].map(|more| {
                let is_alike = |record: &&csv::ByteRecord| record.len() == expected + more;
                records.iter().skip(more).filter(is_alike).count() + more
            });
            let is_alike = alike
                .into_iter()
                .any(|alike| 100 * alike >= ALIKE * records.len());
            (expected > 1 && is_alike).then_some(expected)
        };
        let mut best = (Format::default().separator, 1);
        for separator in SEPARATORS {
            match fields(separator) {
                Some(fields) if fields > best.1 => best = (separator, fields),
                _ => {}
            }
        }
        best.0
    }
}

/// Returns the summaries of the columns of all rows; bad rows are passed over.
fn seen(file: &DataFile, format: &Format, forms: &[NumberForm]) -> Result<Vec<Seen>, ReadError> {
    file.rewind()?;
    let mut records = Records::from_file(file, format)?;
    let names = records.names().iter();
    let mut columns: Vec<Seen> = names.map(|name| Seen::new(name, forms.len())).collect();
    loop {
        let record = match records.advance() {
            Ok(None) => return Ok(columns),
            Ok(Some(record)) => record,
            Err(error) if error.reason().is_some() => continue,
            Err(error) => return Err(error),
        };
        for (position, column) in columns.iter_mut().enumerate() {
            match record.written(position) {
                Ok(Some(cell)) => column.look(cell, forms),
                Ok(None) | Err(ReadError::ColumnType { .. }) => {}
                Err(ReadError::Utf8 { .. }) if format.skip_bad_rows => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// A summary of the cells of one column.
struct Seen {
    name: String,
    /// The number of cells that hold something.
    cells: u64,
    /// The number of cells that say the same number in all forms.
    alike: u64,
    /// The number of the other cells that are numbers in each form, and the sum of these, which
    /// tells whether two forms read the same.
    counts: Vec<u64>,
    sums: Vec<f64>,
    /// The first of the other cells that is a number in any form.
    example: String,
    /// The first of the numbers that have a minus behind them.
    minus_behind: String,
    /// Whether a cell has a plus behind digits, or a minus between them, as marks of schools and bands
    /// have.
    has_marks: bool,
    /// The units that the column's numbers count, each with how many do and the first of them:
    /// nothing, percent, or a currency. 0 is 0 of any unit.
    units: Vec<(Option<&'static str>, u64, String)>,
}

impl Seen {
    fn new(name: &str, forms: usize) -> Seen {
        Seen {
            name: name.to_owned(),
            cells: 0,
            alike: 0,
            counts: vec![0; forms],
            sums: vec![0.0; forms],
            example: String::new(),
            minus_behind: String::new(),
            has_marks: false,
            units: Vec::new(),
        }
    }

    fn look(&mut self, cell: &str, forms: &[NumberForm]) {
        if is_missing(cell) {
            return;
        }
        self.cells += 1;
        let digits = cell.strip_prefix('-').unwrap_or(cell);
        if digits.bytes().all(|byte| byte.is_ascii_digit()) {
            self.alike += u64::from(!digits.is_empty());
            return self.count(cell);
        }
        let mut is_number = false;
        for (at, form) in forms.iter().enumerate() {
            if let Some(number) = form.number(cell).filter(|number| number.is_finite()) {
                self.counts[at] += 1;
                self.sums[at] += number;
                is_number = true;
            }
        }
        self.has_marks |= is_mark(cell);
        if is_number {
            self.count(cell);
        }
        if is_number && self.example.is_empty() {
            self.example = cell.to_owned();
        }
        if is_number && self.minus_behind.is_empty() && has_minus_behind(cell) {
            self.minus_behind = cell.to_owned();
        }
    }

    /// Counts a number by its unit.
    fn count(&mut self, cell: &str) {
        if !cell.bytes().any(|byte| (b'1'..=b'9').contains(&byte)) {
            return;
        }
        let unit = unit_of(cell).map(currency_of);
        match self.units.iter_mut().find(|(known, ..)| *known == unit) {
            Some((_, cells, _)) => *cells += 1,
            None => self.units.push((unit, 1, cell.to_owned())),
        }
    }

    /// Returns the reason why the column's numbers are on no one scale: percent beside what is
    /// none, or two currencies. An amount without its currency is one like the others.
    fn mixed(&self) -> Option<String> {
        let is_percent = |unit: Option<&str>| unit == Some("%");
        let is_mixed = self.units.iter().enumerate().any(|(at, (unit, ..))| {
            let others = self.units[..at].iter();
            let mut others = others.map(|(other, ..)| *other);
            others.any(|other| {
                is_percent(other) != is_percent(*unit) || (other.is_some() && unit.is_some())
            })
        });
        (is_mixed && self.is_marked()).then(|| {
            let units = self.units.iter();
            let shown = units.map(|(_, cells, example)| format!("'{example}' ({cells} cells)"));
            let shown: Vec<String> = shown.collect();
            format!(
                "its numbers count different things, such as {}; write them on one scale in the file",
                shown.join(", ")
            )
        })
    }

    fn most(&self) -> u64 {
        self.counts.iter().copied().max().unwrap_or_default()
    }

    /// Returns the note on numbers that have a minus behind them and are read in `form`, if there are
    /// any.
    fn said_of_minus(&self, form: NumberForm) -> Option<Note> {
        let plain = form.plain(&self.minus_behind)?;
        let said = format!(
            "a minus behind a number is its sign: '{}' is {plain}",
            self.minus_behind
        );
        Some(Note::new(&self.name, said))
    }

    /// Returns whether the column holds numbers, some of which say how they are written. Where some
    /// have a minus behind them, and others a plus or a second number, they are marks, as of schools,
    /// or bands.
    fn is_marked(&self) -> bool {
        let are_marks = self.has_marks && !self.minus_behind.is_empty();
        !are_marks && self.most() > 0 && 2 * (self.alike + self.most()) >= self.cells
    }

    /// Returns whether the column holds nothing else than numbers.
    fn is_of_numbers(&self) -> bool {
        self.alike + self.most() == self.cells
    }

    /// Returns whether no other form reads more of the column as numbers than the form at `at`.
    fn reads(&self, at: usize) -> bool {
        self.counts[at] == self.most()
    }
}

/// Returns whether `cell` has a plus behind digits, or a minus between them.
fn is_mark(cell: &str) -> bool {
    let ends = |amount: &str| amount.ends_with(|last: char| last.is_ascii_digit());
    let begins = |amount: &str| amount.starts_with(|first: char| first.is_ascii_digit());
    let mut minus = cell.match_indices('-');
    cell.strip_suffix('+').is_some_and(ends)
        || minus.any(|(at, sign)| ends(&cell[..at]) && begins(&cell[at + sign.len()..]))
}

/// Returns the place among `forms` of the form in which `columns`, which are marked, are written:
/// one of those that are `open`. Returns also the columns that another form reads otherwise, where
/// only commas between fields (`has_commas`) decide.
fn chosen<'c>(
    columns: &[&'c Seen],
    forms: &[NumberForm],
    mut open: Vec<usize>,
    has_commas: bool,
) -> Result<(usize, Vec<&'c Seen>), InferError> {
    let reads = |at: usize| columns.iter().filter(|column| column.reads(at)).count();
    let most = open.iter().map(|&at| reads(at)).max().unwrap_or_default();
    open.retain(|&at| reads(at) == most);
    let is_open = |column: &Seen, open: &[usize]| {
        let mut sums = open.iter().filter(|&&at| column.reads(at));
        let first = sums.next().map(|&at| column.sums[at]);
        sums.any(|&at| Some(column.sums[at]) != first)
    };
    let undecided = |open: &[usize]| -> Vec<&'c Seen> {
        let columns = columns.iter().copied();
        columns.filter(|column| is_open(column, open)).collect()
    };
    // Nobody who separates fields by commas writes decimals behind one, or points between thousands.
    let is_point = |at: &usize| forms[*at].decimal == '.';
    let mut guessed = Vec::new();
    if has_commas && open.iter().any(is_point) {
        guessed = undecided(&open);
        open.retain(is_point);
    }
    let asked: Vec<Ambiguous> = undecided(&open)
        .into_iter()
        .map(|column| {
            let read = open.iter().filter(|&&at| column.reads(at));
            let mut numbers: Vec<f64> = read
                .filter_map(|&at| forms[at].number(&column.example))
                .collect();
            numbers.sort_by(f64::total_cmp);
            numbers.dedup();
            Ambiguous {
                column: column.name.clone(),
                example: column.example.clone(),
                numbers,
            }
        })
        .collect();
    match asked.is_empty() {
        true => Ok((open.first().copied().unwrap_or_default(), guessed)),
        false => Err(InferError::AmbiguousNumbers(asked)),
    }
}
