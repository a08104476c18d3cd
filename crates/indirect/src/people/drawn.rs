//! What the members of a group might have been outside of it, drawn from a density of those who are.
//!
//! The density is a sum-product network that is learnt from the people with whom the members are
//! compared, protected attributes and all. What the user declares unaffected, and the protected
//! attributes by which the group is not told, a counterpart has from the person; everything else is
//! drawn, given that, from the density:
//!
//! x' ~ P(X | U = u, outside of the group),
//!
//! with U what is kept and u what the person has of it. Draws of people who are in the group still, which
//! smoothing allows, are made again. A code that stands for a range of numbers becomes the number of
//! one of the others in that range.
//!
//! The counterpart is one of many that could be drawn, and an answer to what people with the same u are
//! like outside of the group. That it is what this person would have been is what declaring U
//! unaffected by the group, and everything that it leaves open to be like those others', says; no data
//! can show it.
//!
//! ```text
//! others ──► density ─┐
//! members, kept ──────┴─► codes ──► texts ──► table in memory ──► the reader: decisions, numbers
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rand::RngExt;
use rayon::prelude::*;
use serde::Serialize;

use super::{People, PeopleReader, ProtectedGroup, named};
use crate::error::IndirectError;
use probity_data::memory::register_texts;
use probity_data::schema::{Kind, Schema};
use probity_fairness::population::{Cell, Density};
use probity_run::run_directory::{RunError, write_with};
use probity_run::specification::FieldError;
use probity_run::spreadsheet::safe;
use probity_run::stream::{Purpose, stream};
use probity_tensor::device::ComputeDevice;

/// The name of the file of everybody who was drawn, in the run directory.
pub(crate) const FILE: &str = "drawn.csv";

/// How counterparts are drawn.
#[derive(Debug, Clone, Copy)]
pub struct Drawing<'a> {
    /// The attributes that stay as they are, beside the protected ones by which a group is not told.
    pub unaffected: &'a [String],
    /// The seed.
    pub seed: u64,
}

impl Drawing<'_> {
    /// Checks `unaffected`, which has a meaning only where counterparts `are_drawn`.
    ///
    /// # Errors
    /// When it is given though none are.
    pub fn rules(unaffected: &[String], are_drawn: bool) -> Result<(), FieldError> {
        if !are_drawn && !unaffected.is_empty() {
            let expected = "left out: nothing is drawn without counterpart density";
            return Err(FieldError::new(
                "unaffected",
                unaffected.join(","),
                expected,
            ));
        }
        probity_fairness::specification::rules::named_once("unaffected", unaffected)
    }
}

/// How the counterparts of a run were drawn.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Drawn {
    /// The attributes that were declared unaffected.
    pub unaffected: Vec<String>,
    /// The seed.
    pub seed: u64,
}

impl From<Drawing<'_>> for Drawn {
    fn from(drawing: Drawing<'_>) -> Drawn {
        Drawn {
            unaffected: drawing.unaffected.to_vec(),
            seed: drawing.seed,
        }
    }
}

/// People, in the place of some of whom stands a counterpart who was drawn.
pub struct DrawnPeople {
    /// The people.
    pub people: People,
    /// Members of whom something that is kept, each attribute by itself, nobody on the other side has.
    pub(super) unmet: u64,
    /// The places of what is kept.
    pub(super) kept: Vec<usize>,
}

/// Tables that were drawn in this process: their names in memory differ.
static DRAWN: AtomicU64 = AtomicU64::new(0);

impl PeopleReader {
    /// Returns `people` with counterparts, drawn as `drawing` says, in the place of the members of `group`;
    /// the model's decisions about them are computed on `device`.
    ///
    /// # Errors
    /// When an unaffected attribute does not exist or tells the group, no density can be learnt, it gives
    /// no counterpart of somebody, or the model reads a column that the people's schema does not describe.
    pub fn draw(
        &self,
        people: &People,
        group: &ProtectedGroup,
        drawing: Drawing<'_>,
        device: &ComputeDevice,
    ) -> Result<DrawnPeople, IndirectError> {
        let schema = self.schema();
        let kept = kept(schema, group, drawing.unaffected, &self.protected_places())?;
        self.expect_all_described()?;
        let all: Vec<usize> = (0..schema.attributes.len()).collect();
        let others: Vec<&[i32]> = group
            .others
            .iter()
            .map(|&row| people.table.row(row as usize))
            .collect();
        let met: Vec<BTreeSet<i32>> = kept
            .iter()
            .map(|&place| others.iter().map(|row| row[place]).collect())
            .collect();
        let is_unmet = |row: &&u32| {
            let codes = people.table.row(**row as usize);
            let mut each = kept.iter().zip(&met);
            each.any(|(&place, met)| !met.contains(&codes[place]))
        };
        let unmet = group.members.iter().filter(is_unmet).count() as u64;
        let density = Density::learnt(schema, &all, &others, drawing.seed)?;
        let is_outside = |cells: &[Cell]| match group.reference.is_empty() {
            true => !self.meets(&group.conditions, cells),
            false => self.meets(&group.reference, cells),
        };
        let drawn: Vec<Vec<Cell>> = group
            .members
            .par_iter()
            .map(|&row| {
                let codes = people.table.row(row as usize);
                let known: Vec<Cell> = kept.iter().map(|&place| (place, codes[place])).collect();
                let key = (drawing.seed, people.file_row(row as usize));
                let cells = density.draw(&known, key, is_outside);
                cells.ok_or_else(|| IndirectError::Undrawable {
                    row: people.file_row(row as usize),
                    group: group.name(),
                })
            })
            .collect::<Result<_, _>>()?;
        let numbers = Numbers::new(people, &group.others);
        // A table in memory is read as the files are, with the same mark before decimals.
        let decimal = schema.format.number_form().decimal.to_string();
        let text = |place: usize, code: i32, number: Option<f64>| {
            let attribute = &schema.attributes[place];
            match attribute.kind {
                Kind::Numeric { .. } if attribute.are_ordered(&[code]) => number
                    .map_or_else(|| attribute.decode(code), |number| number.to_string())
                    .replace('.', &decimal),
                _ => attribute.decode(code),
            }
        };
        let texts = |place: usize| -> Vec<String> {
            let own = |row: usize| {
                let code = people.table.row(row)[place];
                text(place, code, people.number(place, row))
            };
            let mut texts: Vec<String> = (0..people.rows()).map(own).collect();
            if !kept.contains(&place) {
                for (&row, cells) in group.members.iter().zip(&drawn) {
                    let row = row as usize;
                    let item = people.file_row(row);
                    let number = numbers.drawn(cells[place], (drawing.seed, item));
                    texts[row] = text(place, cells[place].1, number);
                }
            }
            texts
        };
        let columns = schema.attributes.iter().zip(0..);
        let columns: Vec<(&str, Vec<String>)> = columns
            .map(|(attribute, place)| (attribute.name.as_str(), texts(place)))
            .collect();
        let name = format!("drawn {}", DRAWN.fetch_add(1, Ordering::Relaxed));
        let table = register_texts(&name, &columns).map_err(IndirectError::Table)?;
        let read = self.read_drawn(table.path(), people, device)?;
        for (&row, cells) in group.members.iter().zip(&drawn) {
            let row = row as usize;
            let read = read.table.row(row);
            if let Some(&(place, code)) = cells.iter().find(|(place, code)| read[*place] != *code) {
                return Err(IndirectError::Unwritable {
                    attribute: schema.attributes[place].name.clone(),
                    value: schema.attributes[place].decode(code),
                });
            }
        }
        Ok(DrawnPeople {
            people: read,
            unmet,
            kept,
        })
    }
}

/// The places of the attributes that the counterparts of the members of `group` have from them.
fn kept(
    schema: &Schema,
    group: &ProtectedGroup,
    unaffected: &[String],
    protected: &[usize],
) -> Result<Vec<usize>, IndirectError> {
    let tells = |name: &str| group.conditions.iter().any(|it| it.attribute == name);
    let mut kept = Vec::new();
    for name in unaffected {
        let place = schema.index_of(name)?;
        if tells(name) {
            let expected = format!(
                "attributes by which {} is not told",
                named(&group.conditions)
            );
            return Err(FieldError::new("unaffected", name, expected).into());
        }
        kept.push(place);
    }
    for (place, attribute) in schema.attributes.iter().enumerate() {
        let is_protected = attribute.protected || protected.contains(&place);
        if is_protected && !tells(&attribute.name) && !kept.contains(&place) {
            kept.push(place);
        }
    }
    Ok(kept)
}

/// The numbers that people have, by the code that stands for them.
struct Numbers(BTreeMap<Cell, Vec<f64>>);

impl Numbers {
    fn new(people: &People, rows: &[u32]) -> Numbers {
        let mut numbers: BTreeMap<Cell, Vec<f64>> = BTreeMap::new();
        for (place, attribute) in people.schema.attributes.iter().enumerate() {
            if !matches!(attribute.kind, Kind::Numeric { .. }) {
                continue;
            }
            for &row in rows {
                if let Some(number) = people.number(place, row as usize) {
                    let code = people.table.row(row as usize)[place];
                    numbers.entry((place, code)).or_default().push(number);
                }
            }
        }
        Numbers(numbers)
    }

    /// A number that `cell` stands for, of one of those who have it; nothing where nobody does, or it
    /// stands for no numbers. The draw is that of the `(seed, item)`.
    fn drawn(&self, cell: Cell, (seed, item): (u64, u64)) -> Option<f64> {
        let numbers = self.0.get(&cell)?;
        let mut stream = stream(seed, Purpose::CounterpartNumber, item, cell.0 as u64);
        numbers.get(stream.random_range(0..numbers.len())).copied()
    }
}

/// Writes the counterparts of the members of each of `groups`, who stand in their place in one of `drawn`,
/// to `file`, of which nothing is left if that fails.
///
/// # Errors
/// When it cannot be written.
pub fn write(
    file: &Path,
    groups: &[ProtectedGroup],
    drawn: &[DrawnPeople],
) -> Result<(), RunError> {
    write_with(file, |out| write_to(out, groups, drawn))
}

fn write_to(
    out: &mut dyn Write,
    groups: &[ProtectedGroup],
    drawn: &[DrawnPeople],
) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    let first = drawn.iter().take(1);
    let attributes = first.flat_map(|it| &it.people.schema.attributes);
    let header = ["group", "row"].into_iter().map(str::to_owned);
    let header = header.chain(attributes.map(|it| safe(&it.name).into_owned()));
    writer.write_record(header)?;
    for (group, DrawnPeople { people, .. }) in groups.iter().zip(drawn) {
        for &row in &group.members {
            let row = row as usize;
            let beginning = [group.name(), people.file_row(row).to_string()];
            let values = people.described(row).into_iter().map(|it| it.value);
            let record = beginning.into_iter().chain(values);
            writer.write_record(record.map(|text| safe(&text).into_owned()))?;
        }
    }
    writer.flush()
}
