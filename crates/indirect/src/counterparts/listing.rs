//! The file of all pairs of members and counterparts.

use std::io::{self, Write};
use std::path::Path;

use super::flips::{Flip, Outcomes};
use super::matching::Pair;
use crate::people::People;
use probity_run::run_directory::{RunError, write_with};
use probity_run::spreadsheet::safe;

/// The name of the file in the run directory.
pub const FILE: &str = "pairs.csv";

/// The names of the columns.
const HEADER: [&str; 8] = [
    "group",
    "row",
    "decision",
    "counterpart",
    "counterpart_decision",
    "share",
    "distance",
    "worse_off",
];

/// The pairs of a group.
pub struct GroupPairs<'a> {
    /// The group's name.
    pub name: String,
    /// The pairs.
    pub pairs: &'a [Pair],
    /// The people who are the counterparts: the same ones, unless others were given or drawn.
    pub counterparts: &'a People,
    /// What the people and their counterparts get.
    pub outcomes: Outcomes<'a>,
}

/// Writes the pairs of `groups` of `people` to `file`, of which nothing is left if that fails.
///
/// # Errors
/// When it cannot be written.
pub fn write(file: &Path, people: &People, groups: &[GroupPairs<'_>]) -> Result<(), RunError> {
    write_with(file, |out| write_to(out, people, groups))
}

fn write_to(out: &mut dyn Write, people: &People, groups: &[GroupPairs<'_>]) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(HEADER)?;
    for group in groups {
        let counterparts = group.counterparts;
        for pair in group.pairs {
            let (member, counterpart) = (pair.member as usize, pair.counterpart as usize);
            let worse_off = match group.outcomes.flip(pair) {
                None => "nobody",
                Some(Flip::Against) => "member",
                Some(Flip::Favouring) => "counterpart",
            };
            let record = [
                safe(&group.name).into_owned(),
                people.file_row(member).to_string(),
                safe(&people.decisions.name(member)).into_owned(),
                counterparts.file_row(counterpart).to_string(),
                safe(&counterparts.decisions.name(counterpart)).into_owned(),
                pair.share.to_string(),
                pair.distance.to_string(),
                worse_off.to_owned(),
            ];
            writer.write_record(&record)?;
        }
    }
    writer.flush()
}
