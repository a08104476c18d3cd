//! Which pairs of an audit an earlier one had not found.
//!
//! A pair is the same whichever of its sides comes first, whatever was decided about it. Pairs are
//! known by their hash, since there may be millions.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use serde::Serialize;

use super::columns::{BEFORE, Layout};
use super::findings::Difference;
use crate::error::PageError;
use crate::text::Text;
use probity_data::read::{ReadError, Record, Records};

/// New pairs that are shown.
const SHOWN: usize = 12;

/// The pairs of two audits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct PairChanges {
    /// Pairs of the later audit that the earlier one had not found.
    pub new: u64,
    /// Pairs that both found.
    pub kept: u64,
    /// Pairs of the earlier audit that the later one did not find.
    pub gone: u64,
    /// Some of the new ones: of each row or text that the search began at one, as long as there are
    /// any.
    pub shown: Vec<NewPair>,
}

/// A pair that was not found before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NewPair {
    /// The number of the pair in the samples file, from 1.
    pub number: u64,
    /// What is decided of x and of the other.
    pub labels: [String; 2],
    /// What differs.
    pub differences: Vec<Difference>,
    /// Names and values of x; of a text the text, without a name.
    pub input: Vec<(String, String)>,
}

/// The pairs of the samples file `after` beside those of `before`; nothing where the two are about
/// different columns, so that no pair of the one can be one of the other.
///
/// # Errors
/// When one of them cannot be read, or is no samples file.
pub fn pair_changes(before: &Path, after: &Path) -> Result<Option<PairChanges>, PageError> {
    let (mut old, mut new) = (Samples::open(before)?, Samples::open(after)?);
    if let (Some(old), Some(new)) = (&old, &new)
        && old.columns.names != new.columns.names
    {
        return Ok(None);
    }
    let mut known = match &mut old {
        Some(old) => old.keys()?,
        None => HashMap::new(),
    };
    let mut changes = PairChanges::default();
    if let Some(new) = &mut new {
        new.compare(&mut known, &mut changes)?;
    }
    changes.kept = known.values().filter(|is_seen| **is_seen).count() as u64;
    changes.gone = known.len() as u64 - changes.kept;
    Ok(Some(changes))
}

/// What a pair is known by: the hashes of its sides, the smaller one first.
type Key = [u64; 2];

/// A samples file that is being read.
struct Samples {
    records: Records,
    columns: Columns,
}

/// Where its columns stand.
struct Columns {
    /// Names of the columns of a side; an empty one for a text.
    names: Vec<String>,
    /// Where the sides begin.
    sides: [usize; 2],
    /// Where that stands which is decided of them.
    labels: [usize; 2],
    /// The row or text that the search began at.
    source: usize,
    /// Attribute and terms of the exchange in a text.
    exchange: Option<[usize; 3]>,
}

impl Samples {
    /// Opens `file`; nothing where it has no pair, so that it need not say of what one would be.
    fn open(file: &Path) -> Result<Option<Samples>, PageError> {
        let records = match Records::of_result(file) {
            Err(ReadError::Empty { .. }) => return Ok(None),
            other => other?,
        };
        let columns = Columns::find(&records, file)?;
        Ok(Some(Samples { records, columns }))
    }

    /// All pairs, none of which is seen yet.
    fn keys(&mut self) -> Result<HashMap<Key, bool>, PageError> {
        let mut keys = HashMap::new();
        while let Some(record) = self.records.advance()? {
            keys.insert(self.columns.key(&record)?, false);
        }
        Ok(keys)
    }

    /// Marks the pairs of `known` that are here, and notes the others.
    fn compare(
        &mut self,
        known: &mut HashMap<Key, bool>,
        changes: &mut PairChanges,
    ) -> Result<(), PageError> {
        let mut fresh: HashSet<Key> = HashSet::new();
        let mut sources: HashSet<String> = HashSet::new();
        let mut number = 0;
        while let Some(record) = self.records.advance()? {
            number += 1;
            let key = self.columns.key(&record)?;
            match known.get_mut(&key) {
                Some(is_seen) => *is_seen = true,
                None => {
                    let is_new = fresh.insert(key) && changes.shown.len() < SHOWN;
                    let source = record.cell(self.columns.source)?;
                    if is_new && sources.insert(source.to_owned()) {
                        changes.shown.push(self.columns.pair(&record, number)?);
                    }
                }
            }
        }
        changes.new = fresh.len() as u64;
        Ok(())
    }
}

impl Columns {
    fn find(records: &Records, file: &Path) -> Result<Columns, PageError> {
        let place = |name: &str| {
            records.position(name).ok_or_else(|| PageError::Columns {
                file: file.to_owned(),
                problem: format!("there is no column '{name}'"),
            })
        };
        let labels = [place("label_x")?, place("label_other")?];
        // Names of attributes have a prefix, so no column of a table is called this.
        if let Some(x) = records.position("x") {
            return Ok(Columns {
                names: vec![String::new()],
                sides: [x, place("other")?],
                labels,
                source: place("source_row")?,
                exchange: Some([place("attribute")?, place("from")?, place("to")?]),
            });
        }
        let names = Layout::from_names(records.names(), file)?.attributes;
        Ok(Columns {
            sides: [BEFORE, BEFORE + names.len()],
            names,
            labels,
            source: 0,
            exchange: None,
        })
    }

    fn key(&self, record: &Record<'_>) -> Result<Key, PageError> {
        let mut key = Key::default();
        for (hash, from) in key.iter_mut().zip(self.sides) {
            let mut hasher = DefaultHasher::new();
            for place in from..from + self.names.len() {
                record.cell(place)?.hash(&mut hasher);
            }
            *hash = hasher.finish();
        }
        key.sort_unstable();
        Ok(key)
    }

    fn pair(&self, record: &Record<'_>, number: u64) -> Result<NewPair, PageError> {
        let shown = |place: usize| -> Result<String, PageError> {
            Ok(Text::value(record.cell(place)?).to_string())
        };
        let [x, other] = self.sides;
        let mut input = Vec::with_capacity(self.names.len());
        let mut differences = Vec::new();
        if let Some([attribute, from, to]) = self.exchange {
            differences.push(Difference {
                attribute: shown(attribute)?,
                from: shown(from)?,
                to: shown(to)?,
            });
        }
        for (place, name) in self.names.iter().enumerate() {
            let (from, to) = (shown(x + place)?, shown(other + place)?);
            if self.exchange.is_none() && from != to {
                differences.push(Difference {
                    attribute: name.clone(),
                    from: from.clone(),
                    to,
                });
            }
            input.push((name.clone(), from));
        }
        Ok(NewPair {
            number,
            labels: [shown(self.labels[0])?, shown(self.labels[1])?],
            differences,
            input,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const HEAD: &str = "seed,phase,step,x_age,x_sex,other_age,other_sex,label_x,label_other,logit_x_no,logit_x_yes,logit_other_no,logit_other_yes,changed\n";

    fn row(seed: u32, age: u32, [x, other]: [&str; 2]) -> String {
        format!("{seed},global,0,{age},{x},{age},{other},no,yes,1,0,0,1,sex: {x} -> {other}\n")
    }

    #[test]
    fn a_pair_is_known_by_its_sides() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: String| {
            let file = folder.path().join(name);
            fs::write(&file, text).unwrap();
            file
        };
        let (there, back) = (["f", "m"], ["m", "f"]);
        let old = write(
            "old.csv",
            HEAD.to_owned() + &row(1, 30, there) + &row(2, 40, there),
        );
        let new = write(
            "new.csv",
            HEAD.to_owned()
                + &row(9, 30, back)
                + &row(3, 50, there)
                + &row(3, 50, back)
                + &row(3, 51, there)
                + &row(4, 52, there),
        );
        let changes = pair_changes(&old, &new).unwrap().unwrap();
        assert_eq!((changes.new, changes.kept, changes.gone), (3, 1, 1));
        // One of each source is shown.
        let numbers: Vec<u64> = changes.shown.iter().map(|pair| pair.number).collect();
        assert_eq!(numbers, [2, 5]);
        let shown = &changes.shown[0];
        assert_eq!(shown.labels, ["no", "yes"]);
        assert_eq!(shown.input[0], ("age".to_owned(), "50".to_owned()));
        assert_eq!(
            shown.differences,
            [Difference {
                attribute: "sex".to_owned(),
                from: "f".to_owned(),
                to: "m".to_owned(),
            }]
        );
        let none = write("none.csv", HEAD.to_owned());
        let counts = |before: &Path, after: &Path| {
            let changes = pair_changes(before, after).unwrap().unwrap();
            [changes.new, changes.kept, changes.gone]
        };
        assert_eq!(counts(&none, &new), [4, 0, 0]);
        assert_eq!(counts(&new, &none), [0, 0, 4]);
        assert_eq!(counts(&none, &none), [0, 0, 0]);
        let other = write(
            "other.csv",
            HEAD.replace("age", "years") + &row(1, 30, there),
        );
        assert_eq!(pair_changes(&old, &other).unwrap(), None);
        let foreign = write("foreign.csv", "a,b\n1,2\n".to_owned());
        pair_changes(&old, &foreign).unwrap_err();
    }

    #[test]
    fn texts_are_told_apart_by_their_words() {
        let folder = tempfile::tempdir().unwrap();
        let head = "source_row,label_x,label_other,x,other,attribute,from,to\n";
        let write = |name: &str, rows: &str| {
            let file = folder.path().join(name);
            fs::write(&file, format!("{head}{rows}")).unwrap();
            file
        };
        let old = write("old.csv", "1,good,bad,he came,she came,gender,he,she\n");
        let new = write(
            "new.csv",
            "1,good,bad,he came,she came,gender,he,she\n2,good,bad,he left,she left,gender,he,she\n",
        );
        let changes = pair_changes(&old, &new).unwrap().unwrap();
        assert_eq!((changes.new, changes.kept, changes.gone), (1, 1, 0));
        let shown = &changes.shown[0];
        assert_eq!(shown.input, [(String::new(), "he left".to_owned())]);
        assert_eq!(shown.differences[0].attribute, "gender");
    }
}
