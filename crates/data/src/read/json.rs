//! Tables in JSON: an object a row, one behind the other (JSON lines), or all in one array; or one
//! object, as pandas writes it ([`Orient`]).
//!
//! The keys of the first [`LOOKED_AT`] objects are the names of the columns. A string is text as it
//! stands there, a number what it is, however numbers are written in text, a truth value what JSON
//! writes, null and a key that an object lacks are empty cells, and lists and objects are their JSON. The rows are handed on as comma-separated text, so that they are
//! read by the rules of text.

mod orient;

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

use self::orient::Orient;

/// The number of bytes of CSV that are made at a time.
const PIECE: usize = 1 << 16;
/// The most white space before the first sign of a file that is looked through.
const LONGEST_BLANK: u64 = 1 << 10;

/// The number of rows whose keys are the columns.
const LOOKED_AT: usize = 1000;

/// An object of JSON: keys and values, in the order in which they stand there.
struct Entries<V>(Vec<(String, V)>);

/// A row of a table in JSON.
type Object = Entries<Value>;

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Entries<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Entries<V>, D::Error> {
        struct Keys<V>(PhantomData<V>);

        impl<'de, V: Deserialize<'de>> Visitor<'de> for Keys<V> {
            type Value = Entries<V>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object with a key for each column")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries<V>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }

        deserializer.deserialize_map(Keys(PhantomData))
    }
}

/// Returns whether a file of text that begins with `start` is JSON.
pub(crate) fn is_json(start: &[u8]) -> bool {
    let start = start.strip_prefix("\u{feff}".as_bytes()).unwrap_or(start);
    let mut start = start.trim_ascii_start().iter();
    match start.next() {
        Some(b'{') => {
            let rest = start.as_slice().trim_ascii_start();
            rest.is_empty() || rest.starts_with(b"\"") || rest.starts_with(b"}")
        }
        Some(b'[') => {
            let rest = start.as_slice().trim_ascii_start();
            let begins = |byte: &u8| matches!(byte, b'{' | b'[' | b']');
            rest.first().is_none_or(begins)
        }
        _ => false,
    }
}

/// Returns `text` as comma-separated text if it is JSON, and whether it is: numbers have the mark
/// `decimal` before their decimals. Keys that are no column are passed over where `ignores` says so.
///
/// # Errors
/// When its beginning cannot be read.
pub(super) fn as_csv(
    mut text: Box<dyn Read + Send>,
    (ignores, decimal): (bool, char),
) -> io::Result<(Box<dyn Read + Send>, bool)> {
    let mut start = Vec::new();
    text.by_ref().take(LONGEST_BLANK).read_to_end(&mut start)?;
    let is_json = is_json(&start);
    let whole = Box::new(Cursor::new(start).chain(text));
    Ok(match is_json {
        false => (whole, false),
        true => (Box::new(Rows::new(whole, (ignores, decimal))?), true),
    })
}

/// The rows of a table in JSON as comma-separated text.
struct Rows {
    objects: Objects,
    /// The objects that were looked at, and are yet to be handed on.
    ahead: VecDeque<Object>,
    /// The names of the columns; none before the first row.
    names: Vec<String>,
    /// Whether keys that are no column are passed over.
    ignores: bool,
    /// The mark before the decimals of a number.
    decimal: char,
    /// The number of rows so far.
    row: u64,
    /// The text that is yet to be read, and how much of it was.
    text: Vec<u8>,
    taken: usize,
}

/// Where the objects come from.
enum Objects {
    /// A file of objects: each line is one.
    Lines(Box<dyn BufRead + Send>),
    /// The objects of an array.
    Array(std::vec::IntoIter<Object>),
}

fn invalid(problem: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem)
}

/// The number of digits from which on a whole number may be beyond 64 bits.
const MANY_DIGITS: usize = 19;

/// Refuses an object that holds a whole number which `text`, the JSON of it, writes with more digits
/// than 64 bits hold: it is rounded, and ids that differ would be one.
fn expect_exact(Entries(entries): &Object, text: &[u8], row: u64) -> io::Result<()> {
    // 2^63, from which on whole numbers below zero are rounded; those above it from 2^64 on.
    const FIRST: f64 = 9_223_372_036_854_775_808.0;
    let is_rounded = |value: &Value| {
        let number = value.as_number().filter(|number| number.is_f64());
        number.is_some_and(|number| number.as_f64().is_some_and(|it| it.abs() >= FIRST))
    };
    let Some((name, _)) = entries.iter().find(|(_, value)| is_rounded(value)) else {
        return Ok(());
    };
    let is_long = |digits: &[u8]| digits.iter().all(u8::is_ascii_digit);
    match text.windows(MANY_DIGITS).any(is_long) {
        true => Err(invalid(format!(
            "row {row} has a whole number beyond 64 bits in '{name}', which would be rounded; write it as a string"
        ))),
        false => Ok(()),
    }
}

impl Objects {
    /// Returns the next object; `row` is its number.
    fn next(&mut self, row: u64) -> io::Result<Option<Object>> {
        let lines = match self {
            Objects::Array(objects) => return Ok(objects.next()),
            Objects::Lines(lines) => lines,
        };
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line)? > 0 {
            if !line.trim_ascii().is_empty() {
                let object = serde_json::from_slice(&line);
                let problem = |error| {
                    let hint = match line.windows(3).any(|word| word == b"NaN") {
                        true => "; JSON has no NaN: write null",
                        false => "",
                    };
                    format!("row {row} is no JSON object in one line: {error}{hint}")
                };
                let object = object.map_err(|error| invalid(problem(error)))?;
                expect_exact(&object, &line, row)?;
                return Ok(Some(object));
            }
            line.clear();
        }
        Ok(None)
    }
}

/// Returns the rows of a table that is one object, if `first`, the first line of the file, and `rest`
/// are such a table. Where the line does not end an object, all of the rest is behind it afterwards.
fn of_one_object(first: &mut Vec<u8>, rest: &mut dyn BufRead) -> io::Result<Option<Vec<Object>>> {
    let line: Result<Object, _> = serde_json::from_slice(first);
    let orient = match line {
        Ok(object) => Orient::of(&object),
        Err(error) if error.is_eof() => {
            rest.read_to_end(first)?;
            let whole: Option<Object> = serde_json::from_slice(first).ok();
            whole.and_then(|object| Orient::of(&object))
        }
        Err(_) => None,
    };
    let Some(orient) = orient else {
        return Ok(None);
    };
    // Another object behind it is another row.
    loop {
        let text = rest.fill_buf()?;
        if text.is_empty() {
            return orient.rows(first).map(Some);
        }
        if !text.trim_ascii_start().is_empty() {
            return Ok(None);
        }
        let blank = text.len();
        rest.consume(blank);
    }
}

impl Rows {
    fn new(text: impl Read + Send + 'static, (ignores, decimal): (bool, char)) -> io::Result<Rows> {
        let mut text: Box<dyn BufRead + Send> = Box::new(BufReader::with_capacity(PIECE, text));
        loop {
            let start = text.fill_buf()?;
            let passed = start.len() - start.trim_ascii_start().len();
            let mark = "\u{feff}".as_bytes();
            match start.get(passed) {
                None if start.is_empty() => break,
                None => text.consume(passed),
                Some(_) if start[passed..].starts_with(mark) => {
                    text.consume(passed + mark.len());
                }
                Some(_) => {
                    text.consume(passed);
                    break;
                }
            }
        }
        let objects = match text.fill_buf()?.first() {
            Some(b'[') => {
                let mut whole = Vec::new();
                text.read_to_end(&mut whole)?;
                if whole[1..].trim_ascii_start().starts_with(b"[") {
                    let problem = "it holds rows without the names of their columns, as pandas writes by orient=\"values\"; write it by to_json(orient=\"records\")";
                    return Err(invalid(problem.to_owned()));
                }
                let all: Result<Vec<Object>, _> = serde_json::from_slice(&whole);
                let problem = |error| format!("it is no JSON array of objects: {error}");
                let all = all.map_err(|error| invalid(problem(error)))?;
                for (row, object) in (1..).zip(&all) {
                    expect_exact(object, &whole, row)?;
                }
                Objects::Array(all.into_iter())
            }
            _ => {
                let mut first = Vec::new();
                text.read_until(b'\n', &mut first)?;
                match of_one_object(&mut first, &mut text)? {
                    Some(rows) => Objects::Array(rows.into_iter()),
                    None => Objects::Lines(Box::new(Cursor::new(first).chain(text))),
                }
            }
        };
        Ok(Rows {
            objects,
            ahead: VecDeque::new(),
            names: Vec::new(),
            ignores,
            decimal,
            row: 0,
            text: Vec::new(),
            taken: 0,
        })
    }

    /// Looks at the first rows for the names of the columns.
    fn look_ahead(&mut self) -> io::Result<()> {
        while self.ahead.len() < LOOKED_AT {
            let row = self.ahead.len() as u64 + 1;
            let Some(object) = self.objects.next(row)? else {
                break;
            };
            let Entries(entries) = &object;
            for (name, _) in entries {
                if !self.names.contains(name) || row == 1 {
                    self.names.push(name.clone());
                }
            }
            self.ahead.push_back(object);
        }
        match self.names.is_empty() && !self.ahead.is_empty() {
            true => Err(invalid("its first rows have no keys".to_owned())),
            false => Ok(()),
        }
    }

    /// Makes the next piece of text, which is empty at the end.
    fn refill(&mut self) -> io::Result<()> {
        self.text.clear();
        self.taken = 0;
        let mut writer = csv::Writer::from_writer(std::mem::take(&mut self.text));
        while writer.get_ref().len() < PIECE {
            if self.row == 0 {
                self.look_ahead()?;
            }
            self.row += 1;
            let next = match self.ahead.pop_front() {
                Some(object) => Some(object),
                None => self.objects.next(self.row)?,
            };
            let Some(Entries(entries)) = next else {
                break;
            };
            if self.row == 1 {
                writer.write_record(&self.names)?;
            }
            writer.write_record(self.cells(entries)?)?;
            writer.flush()?;
        }
        self.text = writer.into_inner().map_err(|error| error.into_error())?;
        Ok(())
    }

    /// Returns the cells of a row.
    fn cells(&self, entries: Vec<(String, Value)>) -> io::Result<Vec<String>> {
        let mut cells = vec![String::new(); self.names.len()];
        for (at, (name, value)) in entries.into_iter().enumerate() {
            // Most rows have the keys in the order of the first.
            let place = match self.names.get(at) {
                Some(own) if *own == name => Some(at),
                _ => self.names.iter().position(|own| *own == name),
            };
            match place {
                Some(place) => {
                    cells[place] = match value {
                        Value::Null => String::new(),
                        Value::String(text) => text,
                        Value::Number(number) if self.decimal != '.' => {
                            number.to_string().replace('.', &self.decimal.to_string())
                        }
                        other => other.to_string(),
                    };
                }
                None if self.ignores => {}
                None => {
                    return Err(invalid(format!(
                        "row {} has the key '{name}', which the first {LOOKED_AT} rows lack; give the first row every key",
                        self.row
                    )));
                }
            }
        }
        Ok(cells)
    }
}

impl Read for Rows {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.text.len() {
            self.refill()?;
        }
        let rest = &self.text[self.taken..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.taken += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn csv_of(text: &str, ignores: bool) -> Result<String, String> {
        let text: Box<dyn Read + Send> = Box::new(Cursor::new(text.as_bytes().to_vec()));
        let read = || {
            let (mut text, is_json) = as_csv(text, (ignores, '.'))?;
            assert!(is_json);
            let mut csv = String::new();
            text.read_to_string(&mut csv)?;
            io::Result::Ok(csv)
        };
        read().map_err(|error| error.to_string())
    }

    #[test]
    fn whole_numbers_beyond_64_bits_are_refused() {
        let id = "100000000000000000001";
        for text in [
            format!("{{\"a\": 1, \"id\": {id}}}\n"),
            format!("[{{\"a\": 1}}, {{\"id\": -{id}, \"a\": 2}}]"),
        ] {
            let error = csv_of(&text, true).unwrap_err();
            assert!(error.contains("'id', which would be rounded"), "{error}");
        }
        for (text, expected) in [
            (format!("{{\"id\": \"{id}\"}}\n"), format!("id\n{id}\n")),
            ("{\"id\": 1e20}\n".to_owned(), "id\n1e+20\n".to_owned()),
            (
                "{\"id\": 18446744073709551615}\n".to_owned(),
                "id\n18446744073709551615\n".to_owned(),
            ),
        ] {
            assert_eq!(csv_of(&text, true).unwrap(), expected);
        }
    }

    #[test]
    fn objects_are_rows_in_lines_and_in_an_array() {
        let rows = [
            "{\"text\": \"a \\\"b\\\",\\nc\", \"label\": 1, \"more\": [1, {\"x\": null}]}",
            "{\"label\": 2.5, \"text\": null, \"more\": true}",
            "{\"text\": \"\"}",
        ];
        let expected =
            "text,label,more\n\"a \"\"b\"\",\nc\",1,\"[1,{\"\"x\"\":null}]\"\n,2.5,true\n,,\n";
        let lines = format!("\u{feff} \n{}\r\n\n{}\n{}", rows[0], rows[1], rows[2]);
        let array = format!("[{}]", rows.join(",\n"));
        for text in [lines, array] {
            assert_eq!(csv_of(&text, false).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn keys_of_the_first_rows_are_columns_and_later_ones_are_named_or_passed_over() {
        let first = "{\"a\": 1}\n{\"a\": 2, \"b\": 3}\n";
        assert_eq!(csv_of(first, false).as_deref(), Ok("a,b\n1,\n2,3\n"));
        let text = format!("{}{{\"c\": 4}}\n", first.repeat(LOOKED_AT / 2));
        let csv = csv_of(&text, true).unwrap();
        assert!(csv.ends_with("2,3\n,\n"), "{csv}");
        let error = csv_of(&text, false).unwrap_err();
        assert!(error.starts_with("row 1001 has the key 'c'"), "{error}");
    }

    #[test]
    fn numbers_are_what_they_are_however_text_writes_them() {
        let text = "{\"a\": 1.234, \"b\": \"1.234\"}\n";
        let text: Box<dyn Read + Send> = Box::new(Cursor::new(text.as_bytes().to_vec()));
        let mut csv = String::new();
        as_csv(text, (false, ','))
            .unwrap()
            .0
            .read_to_string(&mut csv)
            .unwrap();
        assert_eq!(csv, "a,b\n\"1,234\",1.234\n");
    }

    #[test]
    fn what_is_no_object_is_named() {
        for (text, expected) in [
            ("{\"a\": 1}\n[2]\n", "row 2 is no JSON object in one line"),
            ("{\"a\": 1\n}\n", "row 1 is no JSON object in one line"),
            ("[{\"a\": 1}, 2]", "it is no JSON array of objects"),
            ("{\"a\": NaN}\n", "row 1 is no JSON object in one line"),
            ("[[1, 2]]", "it holds rows without the names"),
            (
                "{\"a\": {\"x\": 1}, \"b\": {\"x\": 2}}",
                "it is one object of objects, as pandas writes by orient=\"columns\" or \"index\"",
            ),
            ("{\"0\": {\"0\": 1}}", "it is one object of objects"),
            (
                "{\"a\": {\"0\": 1}, \"b\": {\"1\": 2}}",
                "its columns have other rows, such as 'b'",
            ),
            (
                "{\"columns\": [\"a\"], \"data\": [[1], [1, 2]]}",
                "row 2 has 2 values where there are 1 columns",
            ),
            (
                "{\"columns\": [[\"a\", \"b\"]], \"data\": [[1]]}",
                "its columns have names that are no words, such as [\"a\",\"b\"]",
            ),
            (
                "{\"columns\": [\"a\"], \"data\": [1]}",
                "it is no table of pandas",
            ),
            ("{}\n", "its first rows have no keys"),
        ] {
            let error = csv_of(text, false).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn one_object_of_pandas_is_a_table() {
        let expected = "b,a\n1.5,\"x, y\"\n,z\n";
        let split = r#"{"columns":["b","a"],"index":[7,3],"data":[[1.5,"x, y"],[null,"z"]]}"#;
        let columns = r#"{"b":{"10":1.5,"9":null},"a":{"10":"x, y","9":"z"}}"#;
        let index = r#"{"10":{"b":1.5,"a":"x, y"},"9":{"b":null,"a":"z"}}"#;
        let table = r#"{"schema":{"fields":[],"primaryKey":["index"],"pandas_version":"1.4.0"},
            "data":[{"index":0,"b":1.5,"a":"x, y"},
            {"index":1,"b":null,"a":"z"}]}"#;
        for text in [split, columns, index, table] {
            for text in [format!("\u{feff}{text}"), format!("{text}\n \n")] {
                assert_eq!(csv_of(&text, false).as_deref(), Ok(expected));
            }
        }
        let indented = split.replace("\"data\"", "\n  \"data\"");
        assert_eq!(csv_of(&indented, false).as_deref(), Ok(expected));
        // An index with a name is a column; more objects are rows of objects.
        let named = r#"{"schema":{"primaryKey":["id"]},"data":[{"id":5,"a":1}]}"#;
        assert_eq!(csv_of(named, false).as_deref(), Ok("id,a\n5,1\n"));
        let rows = "{\"a\": {\"0\": 1}}\n{\"a\": {\"0\": 2}}\n";
        let expected = "a\n\"{\"\"0\"\":1}\"\n\"{\"\"0\"\":2}\"\n";
        assert_eq!(csv_of(rows, false).as_deref(), Ok(expected));
        let long = r#"{"id":{"0":100000000000000000001}}"#;
        let error = csv_of(long, false).unwrap_err();
        assert!(error.contains("'id', which would be rounded"), "{error}");
    }

    #[test]
    fn other_text_is_left_alone() {
        for text in ["a,b\n1,2\n", "", "[x],y\n1,2\n", "{x},y\n"] {
            let boxed: Box<dyn Read + Send> = Box::new(Cursor::new(text.as_bytes().to_vec()));
            let (mut read, is_json) = as_csv(boxed, (false, '.')).unwrap();
            let mut whole = String::new();
            read.read_to_string(&mut whole).unwrap();
            assert_eq!((whole.as_str(), is_json), (text, false));
        }
    }
}
