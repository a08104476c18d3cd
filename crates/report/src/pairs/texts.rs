//! Pairs of an audit of texts. A search makes many texts of one, and two walks may come to the same
//! text: of equal texts the first counts, with the source that it was found from.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::str::FromStr;

use super::findings::{Difference, FoundTexts, Pair, PairFindings, Searched, ShownInputs};
use super::gather::{Gather, PairFile};
use super::sources::{Nearness, Sources};
use crate::error::PageError;
use probity_data::read::{Record, Records};

/// Words that are listed as replaced.
const WORDS: usize = 15;
/// Words that are counted: where a corpus has more, later ones count as others.
const COUNTED: usize = 100_000;

/// Reads the pairs of `records`.
pub(super) fn read(records: &mut Records, from: &PairFile<'_>) -> Result<PairFindings, PageError> {
    let file = from.file;
    let place = |name: &str| {
        records.position(name).ok_or_else(|| PageError::Columns {
            file: file.to_owned(),
            problem: format!("there is no column '{name}'"),
        })
    };
    let names = [
        "x",
        "other",
        "attribute",
        "from",
        "to",
        "changed",
        "label_x",
        "label_other",
        "text",
        "source_row",
        "l0",
        "similarity",
    ];
    let places = names
        .iter()
        .map(|name| place(name))
        .collect::<Result<Vec<_>, _>>()?;
    let of_side = |prefix: &str| -> Vec<(String, usize)> {
        let names = records.names().iter().enumerate();
        names
            .filter_map(|(place, name)| Some((name.strip_prefix(prefix)?.to_owned(), place)))
            .collect()
    };
    let sides = [of_side("p_x_"), of_side("p_other_")];
    let classes: Vec<String> = sides[0].iter().map(|(class, _)| class.clone()).collect();
    if sides[1].iter().map(|(class, _)| class).ne(&classes) {
        return Err(PageError::Columns {
            file: file.to_owned(),
            problem: "the probabilities of both sides differ".to_owned(),
        });
    }
    let mut gather = Gather::new(from, &classes);
    let mut words = Words::default();
    let mut sources = Sources::new(from.are_ranked);
    // Texts that were found, by their hash: there may be millions.
    let mut texts = HashSet::new();
    while let Some(record) = records.advance()? {
        let cell = |number: usize| record.cell(places[number]).map(str::to_owned);
        let labels = [cell(6)?, cell(7)?];
        let probabilities = |side: &[(String, usize)]| -> Result<Vec<f64>, PageError> {
            let places = side.iter();
            places
                .map(|(_, place)| number(&record, file, ("p", *place)))
                .collect()
        };
        let [x, other] = [probabilities(&sides[0])?, probabilities(&sides[1])?];
        let class = from.scored(&record, &classes, &labels, [&x, &other])?;
        let scores = [x[class], other[class]];
        let changed = cell(5)?;
        words.see(&changed);
        let l0: u64 = number(&record, file, ("l0", places[10]))?;
        let nearness = Nearness {
            // What was replaced by itself is no change.
            changes: if changed.is_empty() { 0 } else { l0.max(1) },
            closeness: number(&record, file, ("similarity", places[11]))?,
        };
        let (key, text) = (hash(record.cell(places[8])?), hash(record.cell(places[0])?));
        let pair = gather.count(Pair {
            labels,
            scores,
            differences: vec![Difference {
                attribute: cell(2)?,
                from: cell(3)?,
                to: cell(4)?,
            }],
            inputs: ShownInputs::Texts {
                x: cell(0)?,
                other: cell(1)?,
                changed,
                source: cell(8)?,
                source_row: number(&record, file, ("source_row", places[9]))?,
            },
        });
        if texts.insert(text) {
            sources.see(key, pair, nearness);
        }
    }
    let (nearest, unmodified) = sources.finish();
    let found = FoundTexts {
        texts: texts.len() as u64,
        sources: nearest.len() as u64,
        unmodified,
    };
    gather.offer(nearest);
    Ok(PairFindings {
        searched: words.finish(),
        texts: Some(found),
        ..gather.finish()
    })
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// The number in the column `name` at `place`.
fn number<N: FromStr>(
    record: &Record<'_>,
    file: &Path,
    (name, place): (&str, usize),
) -> Result<N, PageError> {
    let cell = record.cell(place)?;
    cell.parse()
        .map_err(|_| PageError::cell(file, record, (name, cell), "a number"))
}

/// Which words of the seeds were replaced, each counted once for a pair.
#[derive(Default)]
struct Words {
    compared: u64,
    counts: HashMap<String, u64>,
    others: u64,
}

impl Words {
    /// `changed` is a list such as `4: good -> great; 7: bad -> poor`.
    fn see(&mut self, changed: &str) {
        self.compared += 1;
        let words: BTreeSet<&str> = replacements(changed).map(|(from, _)| from).collect();
        for from in words {
            let kinds = self.counts.len();
            match self.counts.get_mut(from) {
                Some(count) => *count += 1,
                None if kinds < COUNTED => {
                    self.counts.insert(from.to_owned(), 1);
                }
                None => self.others += 1,
            }
        }
    }

    fn finish(self) -> Option<Searched> {
        let mut changed: Vec<(String, u64)> = self.counts.into_iter().collect();
        changed.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let rest = changed.split_off(changed.len().min(WORDS));
        let rest: u64 = rest.iter().map(|(_, count)| count).sum();
        (self.compared > 0).then_some(Searched {
            compared: self.compared,
            changed,
            others: self.others + rest,
        })
    }
}

/// The words replaced and what replaced them.
pub(crate) fn replacements(changed: &str) -> impl Iterator<Item = (&str, &str)> {
    changed.split("; ").filter_map(|change| {
        let (place, change) = change.split_once(": ")?;
        place.parse::<u64>().ok()?;
        change.split_once(" -> ")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replacements_are_read_and_oddities_left_out() {
        let all = |text| replacements(text).collect::<Vec<_>>();
        assert_eq!(
            all("4: good -> great; 7: bad -> poor"),
            [("good", "great"), ("bad", "poor")]
        );
        assert_eq!(all(""), []);
        assert_eq!(all("4: ; -> ,; x: a -> b"), []);
    }
}
