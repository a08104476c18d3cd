//! k-NN runs: the summary, and which inputs were falsified by which rows.

use super::files::RunFiles;
use crate::error::PageError;
use crate::model::{FalsifiedInput, KnnFindings, KnnSummary};
use probity_data::read::{ReadError, Records};

/// Falsified inputs that are listed.
const LISTED: usize = 200;

/// Reads the run in `files`.
pub(super) fn read(files: &RunFiles) -> Result<KnnFindings, PageError> {
    let summary: KnnSummary = files.parse()?;
    // A name from the file must not lead out of the directory.
    let name = match summary.verdicts_file.as_str() {
        "verdicts.csv" => "verdicts.csv",
        _ => "verdicts.parquet",
    };
    let (falsified_inputs, all_falsified) = falsified(files, name)?;
    let counted: u64 = summary.sweep.iter().map(|figures| figures.falsified).sum();
    if counted != all_falsified {
        let problem =
            format!("it counts {counted} falsified inputs, but {name} holds {all_falsified}");
        return Err(files.foreign(&problem));
    }
    Ok(KnnFindings {
        summary,
        falsified_inputs,
        all_falsified,
    })
}

fn falsified(files: &RunFiles, name: &str) -> Result<(Vec<FalsifiedInput>, u64), PageError> {
    let file = files.unchanged(name)?;
    let mut records = match Records::of_result(&file) {
        Err(ReadError::Empty { .. }) => return Ok((Vec::new(), 0)),
        other => other?,
    };
    let names = [
        "verdict",
        "poison",
        "row",
        "actual",
        "label",
        "removal_label",
        "k",
        "removal_k",
        "removal",
    ];
    let mut places = [0; 9];
    for (place, name) in places.iter_mut().zip(names) {
        *place = records.require(name)?;
    }
    let (mut listed, mut all) = (Vec::new(), 0);
    while let Some(record) = records.advance()? {
        let cell = |number: usize| record.cell(places[number]).map(str::to_owned);
        if cell(0)? != "falsified" {
            continue;
        }
        all += 1;
        if listed.len() == LISTED {
            continue;
        }
        let number = |place: usize| -> Result<u64, PageError> {
            let value = cell(place)?;
            let said = (names[place], value.as_str());
            let wrong = |_| PageError::cell(&file, &record, said, "a whole number");
            value.parse().map_err(wrong)
        };
        listed.push(FalsifiedInput {
            poison: number(1)?,
            row: number(2)?,
            actual: cell(3)?,
            label: cell(4)?,
            removal_label: cell(5)?,
            k: [cell(6)?, cell(7)?],
            removal: cell(8)?,
        });
    }
    Ok((listed, all))
}
