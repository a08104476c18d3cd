//! The samples that a repair may learn from: the distinct individuals of one or more audits,
//! without those found from held-out rows.
//!
//! A sample keeps the number of the seed whose walk found it. The seeds of an audit are rows of its
//! table in an order that its `run.toml` determines, so the class of that row is known where the
//! table has labels: the *truth* of the sample. If the row is one that the model is measured or
//! chosen on, the sample is left out: its neighbourhood, and by its truth its very label, would
//! leak.

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::Path;

use super::baseline::Baseline;
use crate::audit::AuditSpecification;
use crate::domain::{Domain, TabularDomain};
use crate::modality::{ModalityName, TableInputs};
use crate::opened::open_table;
use crate::repair::error::RepairError;
use crate::repair::pool::Pool;
use crate::repair::specification::RepairSpecification;
use crate::samples::read_samples;
use crate::seeds::clustered_seeds;
use crate::table_model::reading_schema;
use probity_data::table::{Labels, Table};
use probity_nn::decision::Decision;
use probity_run::run_directory::{RunDirectory, SUMMARY};
use probity_run::specification::file::Record;

/// A discriminatory individual.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// Codes of the row that was found first.
    pub row: Vec<i32>,
    /// Label of the row whose walk found it, where that is known.
    pub truth: Option<RowLabel>,
}

/// The label that the data give to a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RowLabel {
    /// A class, by number.
    Class(u32),
    /// A number.
    Number(f64),
}

impl RowLabel {
    /// The label of row `row` of `table`, if it has one.
    pub fn read(table: &Table, row: usize) -> Option<RowLabel> {
        let class = table.known_label(row).map(RowLabel::Class);
        class.or_else(|| table.known_target(row).map(RowLabel::Number))
    }

    /// The class, where it is one.
    pub fn class(self) -> Option<u32> {
        match self {
            RowLabel::Class(class) => Some(class),
            RowLabel::Number(_) => None,
        }
    }
}

/// The finds of one audit.
#[derive(Debug, Clone)]
pub(super) struct FoundRun {
    /// Distinct individuals, in the order of the samples file.
    pub pool: Pool<Sample>,
    /// The domain, which knows which rows are variants of each other.
    pub domain: TabularDomain,
    /// The rule by which decisions were made.
    pub decision: Decision,
}

/// The protected attributes of the audit in `directory`.
///
/// # Errors
/// When there is none.
pub fn protected_of(directory: &Path) -> Result<Vec<String>, RepairError> {
    Ok(open_audit(directory)?.1.protected)
}

/// The audit of a table in `directory`: of a network, which can be trained.
fn open_audit(directory: &Path) -> Result<(RunDirectory, AuditSpecification, Record), RepairError> {
    let opened = RunDirectory::open_specified::<AuditSpecification>(directory)?;
    if opened.1.modality == ModalityName::Text {
        return Err(RepairError::OtherModality {
            run: directory.to_owned(),
            searched: "texts",
            classified: "tables",
        });
    }
    match &opened.1.predictor.source {
        None => Ok(opened),
        Some(predictor) => Err(RepairError::PredictorRun {
            run: directory.to_owned(),
            predictor: predictor.to_string(),
        }),
    }
}

/// Reads the audit in `directory`, which must be one of the model of `baseline`.
///
/// # Errors
/// See [`RepairError`]: another model, an unfinished run, no samples, a table that is gone.
pub(super) fn read_run(
    directory: &Path,
    specification: &RepairSpecification,
    baseline: &Baseline,
) -> Result<FoundRun, RepairError> {
    let (run, options, record) = open_audit(directory)?;
    let searched = record.sha256_of("model");
    if searched != baseline.model_sha256 {
        return Err(RepairError::OtherModel {
            run: directory.to_owned(),
            model: specification.model.clone(),
            searched: searched.to_owned(),
            own: baseline.model_sha256.clone(),
        });
    }
    if !run.file(SUMMARY).is_file() {
        return Err(RepairError::Unfinished {
            run: directory.to_owned(),
        });
    }
    let protected = options
        .protected
        .iter()
        .map(|name| baseline.model.schema.index_of(name))
        .collect::<Result<Vec<_>, _>>()?;
    let layout = &baseline.model.network.layout;
    let domain = TabularDomain::new(&baseline.model.schema, layout, &protected)?;
    let seeds = Seeds::read(
        directory,
        (&options, &record),
        &specification.data,
        baseline,
    )?;
    let mut individuals = HashSet::new();
    let mut samples = Vec::new();
    let mut held_out = 0;
    let file = run.unchanged(options.samples_format.file_name())?;
    let inputs = TableInputs::new(&baseline.model.schema);
    read_samples(&file, &inputs, |pair| {
        if !individuals.insert(domain.individual_key(&pair.row)) {
            return Ok(());
        }
        match seeds.origin(pair.seed) {
            SeedRow::HeldOut => held_out += 1,
            SeedRow::Usable { truth } => samples.push(Sample {
                row: pair.row,
                truth,
            }),
        }
        Ok::<(), RepairError>(())
    })?;
    if samples.is_empty() {
        return Err(RepairError::NoSamples {
            run: directory.to_owned(),
            held_out,
        });
    }
    let schema = &baseline.model.schema;
    let classes = &schema.label.classes;
    let favourable = options.population.favourable_of(classes)?;
    Ok(FoundRun {
        decision: options
            .deciding()
            .among(classes, favourable, Some(schema))?,
        pool: Pool {
            run: Some(directory.to_owned()),
            protected: options.protected,
            samples,
            held_out,
        },
        domain,
    })
}

/// The knowledge about the row that a walk began at.
enum SeedRow {
    /// The model is measured or chosen on the row.
    HeldOut,
    /// The model is not, as far as can be known.
    Usable { truth: Option<RowLabel> },
}

/// The rows that an audit began at, in order.
struct Seeds {
    rows: Vec<u32>,
    /// Labels of all rows of that table, where they have one.
    labels: Vec<Option<RowLabel>>,
    /// Rows of the table that are held out; empty when it is not the table of the training.
    held_out: HashSet<u32>,
}

impl Seeds {
    fn read(
        run: &Path,
        (options, record): (&AuditSpecification, &Record),
        data: &Path,
        baseline: &Baseline,
    ) -> Result<Seeds, RepairError> {
        if !options.strategy().takes_seeds() {
            return Ok(Seeds {
                rows: Vec::new(),
                labels: Vec::new(),
                held_out: HashSet::new(),
            });
        }
        let then = record.sha256_of("data");
        let is_training_data = then == baseline.data_sha256;
        let file = if is_training_data {
            data
        } else {
            &options.data
        };
        let gone = |problem: String| RepairError::RunData {
            run: run.to_owned(),
            data: file.to_owned(),
            problem,
        };
        let reading = options.reading();
        let schema = reading_schema(&baseline.model.schema, reading)?;
        // An audit keeps rows without an outcome, which a training leaves out.
        let counts = &baseline.table.counts;
        let is_whole = counts.unlabelled_rows == 0 && counts.bad_rows.is_empty();
        let table = match is_training_data && is_whole && schema == baseline.reading {
            true => Cow::Borrowed(&baseline.table),
            false => {
                let opened = open_table(file, &schema, Labels::Unneeded);
                let opened = opened.map_err(|error| gone(error.to_string()))?;
                if opened.sha256 != then {
                    return Err(gone(format!("SHA-256 {}, was {then}", opened.sha256)));
                }
                Cow::Owned(opened.value)
            }
        };
        let own = |&row: &u32| {
            let number = baseline.table.numbers().number(row as usize);
            let place = table.numbers().index_of(number)?;
            u32::try_from(place).ok()
        };
        let split = &baseline.split;
        let held_out = match is_training_data {
            true => split
                .test
                .iter()
                .chain(&split.validation)
                .filter_map(own)
                .collect(),
            false => HashSet::new(),
        };
        Ok(Seeds {
            rows: clustered_seeds(
                &table,
                options.search.clusters,
                options.search.seeds,
                options.seed,
            ),
            labels: (0..table.rows())
                .map(|row| RowLabel::read(&table, row))
                .collect(),
            held_out,
        })
    }

    fn origin(&self, seed: u64) -> SeedRow {
        let row = usize::try_from(seed)
            .ok()
            .and_then(|seed| self.rows.get(seed));
        match row {
            Some(row) if self.held_out.contains(row) => SeedRow::HeldOut,
            Some(&row) => SeedRow::Usable {
                truth: self.labels.get(row as usize).copied().flatten(),
            },
            None => SeedRow::Usable { truth: None },
        }
    }
}
