//! The file of all members that were compared.

use std::io::{self, Write};
use std::path::Path;

use super::compare::{Situation, Surroundings, Tested};
use crate::people::People;
use probity_run::run_directory::{RunError, write_with};
use probity_run::spreadsheet::safe;

/// The name of the file in the run directory.
pub const FILE: &str = "persons.csv";

/// The names of the columns.
const HEADER: [&str; 16] = [
    "group",
    "row",
    "decision",
    "own_unfavourable",
    "own",
    "others_unfavourable",
    "others",
    "own_distance",
    "others_distance",
    "difference",
    "against_p",
    "against_q",
    "against",
    "for_p",
    "for_q",
    "for",
];

/// The situations of a group's members, with the group's name.
pub type GroupPersons = (String, Vec<Situation>);

/// Writes the situations of `groups` to `file`, of which nothing is left if that fails.
///
/// # Errors
/// When it cannot be written.
pub fn write(file: &Path, people: &People, groups: &[GroupPersons]) -> Result<(), RunError> {
    write_with(file, |out| write_to(out, people, groups))
}

fn write_to(out: &mut dyn Write, people: &People, groups: &[GroupPersons]) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(HEADER)?;
    for (group, situations) in groups {
        for situation in situations {
            let row = situation.row as usize;
            let Surroundings { own, others, .. } = situation.around;
            let mut record = vec![
                safe(group).into_owned(),
                people.file_row(row).to_string(),
                safe(&people.decisions.name(row)).into_owned(),
                own.unfavourable.to_string(),
                own.of.to_string(),
                others.unfavourable.to_string(),
                others.of.to_string(),
                own.distance.to_string(),
                others.distance.to_string(),
                situation.difference.to_string(),
            ];
            record.extend(cells(&situation.negative));
            record.extend(cells(&situation.positive));
            writer.write_record(&record)?;
        }
    }
    writer.flush()
}

/// The cells of the test of one direction: p, q, and whether it is a discovery.
fn cells(tested: &Tested) -> [String; 3] {
    [
        tested.p.to_string(),
        tested.q.to_string(),
        tested.is_discovery.to_string(),
    ]
}
