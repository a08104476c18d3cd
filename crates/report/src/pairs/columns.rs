//! Pairs of an audit of a table.

use std::collections::HashMap;
use std::path::Path;

use super::findings::{Difference, FoundRows, Pair, PairFindings, Searched, ShownInputs};
use super::gather::{Gather, PairFile};
use super::sources::{Nearness, Sources};
use crate::error::PageError;
use probity_data::read::{Record, Records};

/// Where the columns of a samples file stand.
pub(super) struct Layout {
    /// Names of the attributes.
    pub attributes: Vec<String>,
    /// Names of the classes; none of a regressor, of which there are numbers in place of logits.
    classes: Vec<String>,
    /// Whether pairs have a plausibility.
    is_graded: bool,
}

/// Columns before the attributes: `seed`, `phase`, `step`.
pub(super) const BEFORE: usize = 3;

/// Strategies whose seeds are rows of the data; the others begin at random inputs.
const FROM_ROWS: [&str; 7] = [
    "frontier",
    "frontier-zero-order",
    "adf",
    "eidig",
    "adf-zero-order",
    "sg",
    "random-walk",
];

/// The phase in which seeds are moved.
const GLOBAL: &str = "global";

/// Changes of what the local phase found: more than any walk of the global phase makes.
const LOCAL: u64 = 1 << 32;

impl Layout {
    /// What the names of the columns say: `seed`, `phase`, `step`, `x_…`, `other_…`, `label_x`,
    /// `label_other`, `logit_x_…`, `logit_other_…` or `number_x`, `number_other`, `changed` and, where it was asked for,
    /// `plausibility`.
    pub fn from_names(names: &[String], file: &Path) -> Result<Layout, PageError> {
        let wrong = |problem: &str| PageError::Columns {
            file: file.to_owned(),
            problem: problem.to_owned(),
        };
        // Names of attributes and classes begin with a prefix, so no other column is called this.
        let labels = names
            .iter()
            .position(|name| name == "label_x")
            .filter(|&labels| labels >= BEFORE && (labels - BEFORE).is_multiple_of(2))
            .ok_or_else(|| wrong("there is no column 'label_x' after the attributes"))?;
        let number = (labels - BEFORE) / 2;
        let stripped =
            |from: usize, count: usize, prefix: &str| -> Result<Vec<String>, PageError> {
                let names = names.get(from..from + count).unwrap_or_default().iter();
                let names = names.map(|name| name.strip_prefix(prefix).map(str::to_owned));
                let names = names
                    .collect::<Option<Vec<String>>>()
                    .filter(|names| names.len() == count);
                names.ok_or_else(|| wrong(&format!("columns called '{prefix}…' are missing")))
            };
        let is_graded = names.last().is_some_and(|name| name == "plausibility");
        let after = labels + 3 + usize::from(is_graded);
        let classes = names.len().saturating_sub(after) / 2;
        let attributes = stripped(BEFORE, number, "x_")?;
        if stripped(BEFORE + number, number, "other_")? != attributes {
            return Err(wrong("the columns of both sides differ"));
        }
        if names.get(labels + 2).is_some_and(|name| name == "number_x") {
            return match names
                .get(labels + 3)
                .is_some_and(|name| name == "number_other")
            {
                true => Ok(Layout {
                    attributes,
                    classes: Vec::new(),
                    is_graded,
                }),
                false => Err(wrong("there is no column 'number_other' after 'number_x'")),
            };
        }
        let names = stripped(labels + 2, classes, "logit_x_")?;
        if stripped(labels + 2 + classes, classes, "logit_other_")? != names {
            return Err(wrong("the logits of both sides differ"));
        }
        Ok(Layout {
            attributes,
            classes: names,
            is_graded,
        })
    }

    fn label(&self) -> usize {
        BEFORE + 2 * self.attributes.len()
    }

    /// The cells of `record` from place `from` on, one for each attribute.
    fn row(&self, record: &Record<'_>, from: usize) -> Result<Vec<String>, PageError> {
        let places = from..from + self.attributes.len();
        let cells = places.map(|place| record.cell(place).map(str::to_owned));
        Ok(cells.collect::<Result<_, _>>()?)
    }

    /// Numbers that a pair has of each side.
    fn answers(&self) -> usize {
        self.classes.len().max(1)
    }
}

/// Reads the pairs of `records`.
pub(super) fn read(records: &mut Records, from: &PairFile<'_>) -> Result<PairFindings, PageError> {
    let file = from.file;
    let layout = Layout::from_names(records.names(), file)?;
    let number = layout.attributes.len();
    let gather = Gather::new(from, &layout.classes);
    let mut gather = match layout.classes.is_empty() {
        true => gather.of_numbers(),
        false => gather,
    };
    let mut search = Search::new(&layout.attributes, from.protected);
    if from.are_ranked {
        // What was changed is told by where walks began, which may stand behind what they found.
        let mut records = Records::of_result(file)?;
        while let Some(record) = records.advance()? {
            if record.cell(1)? == GLOBAL {
                search.begin(
                    whole(&record, file, (0, "seed"))?,
                    layout.row(&record, BEFORE)?,
                );
            }
        }
    }
    let mut sources = Sources::new(from.are_ranked);
    while let Some(record) = records.advance()? {
        let row = layout.row(&record, BEFORE)?;
        let other = layout.row(&record, BEFORE + number)?;
        let differences = layout
            .attributes
            .iter()
            .zip(row.iter().zip(&other))
            .filter(|(_, (from, to))| from != to)
            .map(|(attribute, (from, to))| Difference {
                attribute: attribute.clone(),
                from: from.clone(),
                to: to.clone(),
            })
            .collect();
        let labels = [
            record.cell(layout.label())?,
            record.cell(layout.label() + 1)?,
        ]
        .map(str::to_owned);
        let sides = answers(&layout, &record, file)?;
        let scores = match layout.classes.is_empty() {
            true => sides.map(|side| side[0]),
            false => {
                let sides = sides.map(|logits| softmax(&logits));
                let both = [sides[0].as_slice(), sides[1].as_slice()];
                let class = from.scored(&record, &layout.classes, &labels, both)?;
                sides.map(|side| side[class])
            }
        };
        let seed = whole(&record, file, (0, "seed"))?;
        let step = whole(&record, file, (2, "step"))?;
        let is_global = record.cell(1)? == GLOBAL;
        match is_global {
            true if from.are_ranked => {}
            true => search.begin(seed, row.clone()),
            false => search.compare(seed, &row),
        }
        let mut pair = gather.count(Pair {
            labels,
            scores,
            differences,
            inputs: ShownInputs::Values(row),
        });
        if layout.is_graded {
            let name = "plausibility";
            let cell = record.cell(layout.label() + 3 + 2 * layout.answers())?;
            let share = cell
                .parse()
                .map_err(|_| PageError::cell(file, &record, (name, cell), "a number"))?;
            pair.plausibility = Some(share);
        }
        let nearness = Nearness {
            changes: match is_global {
                true => step,
                false => LOCAL.saturating_add(step),
            },
            closeness: pair.gap,
        };
        sources.see(seed, pair, nearness);
    }
    let searched = search.finish();
    let (mut nearest, unmodified) = sources.finish();
    let are_rows = FROM_ROWS.contains(&from.strategy);
    let rows = are_rows.then_some(FoundRows {
        rows: nearest.len() as u64,
        unmodified,
    });
    for pair in &mut nearest {
        pair.is_unmodified &= are_rows;
    }
    gather.offer(nearest);
    Ok(PairFindings {
        columns: layout.attributes,
        searched,
        rows,
        ..gather.finish()
    })
}

/// The whole number in the column `name` at `place`.
fn whole(record: &Record<'_>, file: &Path, (place, name): (usize, &str)) -> Result<u64, PageError> {
    let cell = record.cell(place)?;
    let wrong = |_| PageError::cell(file, record, (name, cell), "a whole number");
    cell.parse().map_err(wrong)
}

/// Logits of the classes, or the number, on both sides.
fn answers(layout: &Layout, record: &Record<'_>, file: &Path) -> Result<[Vec<f64>; 2], PageError> {
    let number = layout.answers();
    let mut sides = [Vec::with_capacity(number), Vec::with_capacity(number)];
    for (side, logits) in sides.iter_mut().enumerate() {
        let from = layout.label() + 2 + side * number;
        for place in from..from + number {
            let cell = record.cell(place)?;
            let logit: f64 = cell
                .parse()
                .map_err(|_| PageError::cell(file, record, ("answer", cell), "a number"))?;
            logits.push(logit);
        }
    }
    Ok(sides)
}

fn softmax(logits: &[f64]) -> Vec<f64> {
    let largest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let shares = logits.iter().map(|logit| (logit - largest).exp());
    let total: f64 = shares.clone().sum();
    shares.map(|share| share / total).collect()
}

/// What the local phase changed: each of its individuals beside the one that the global phase found
/// from the same seed. A seed that the global phase found several from is left out, since the file
/// does not say which of them a walk began at.
struct Search<'a> {
    attributes: &'a [String],
    free: Vec<usize>,
    starts: HashMap<u64, Option<Vec<String>>>,
    compared: u64,
    changed: Vec<u64>,
}

impl<'a> Search<'a> {
    fn new(attributes: &'a [String], protected: &[String]) -> Search<'a> {
        let is_free = |place: &usize| !protected.contains(&attributes[*place]);
        Search {
            free: (0..attributes.len()).filter(is_free).collect(),
            changed: vec![0; attributes.len()],
            attributes,
            starts: HashMap::new(),
            compared: 0,
        }
    }

    /// Takes in what the global phase found from a seed.
    fn begin(&mut self, seed: u64, row: Vec<String>) {
        let start = self.starts.entry(seed);
        start.and_modify(|start| *start = None).or_insert(Some(row));
    }

    /// Compares what the local phase found with it.
    fn compare(&mut self, seed: u64, row: &[String]) {
        let Some(Some(start)) = self.starts.get(&seed) else {
            return;
        };
        self.compared += 1;
        for &place in &self.free {
            self.changed[place] += u64::from(start[place] != row[place]);
        }
    }

    fn finish(self) -> Option<Searched> {
        let attributes = self.attributes;
        let free = self.free.iter();
        let mut changed: Vec<(String, u64)> = free
            .map(|&place| (attributes[place].clone(), self.changed[place]))
            .collect();
        changed.sort_by_key(|&(_, pairs)| std::cmp::Reverse(pairs));
        (self.compared > 0).then_some(Searched {
            compared: self.compared,
            changed,
            others: 0,
        })
    }
}
