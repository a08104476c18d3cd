//! The data sets and the figures of Tables 2 and 3, for a comparison side by side.
//!
//! As in the paper, all numbers are Gaussian and all else is categorical. Bounds and bins are
//! declared here: those of Abalone follow its documentation, those of Wine are round numbers for
//! such measurements, and Adult is read by the built-in schema `census`. MSNBC is the validation
//! part of the density estimation benchmarks, whose training part is not to be had; Plants is their
//! training part, with 69 columns, where the paper counts 71.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::published::{Case, Printed, Source};
use probity_data::builtin;
use probity_data::schema::{
    Attribute, Format, Kind, Label, Missing, OutOfDomain, Schema, SchemaError,
};
use probity_unlearning::spn::benchmark::{Pool, Protocol};
use probity_unlearning::spn::table::{TableError, TableOptions};
use probity_unlearning::spn::{LeafFamily, SpnError};

/// The protocol of the paper's measurements.
pub const PROTOCOL: Protocol = Protocol {
    rows: 1000,
    deletions: 100,
    repeats: 10,
};

/// The number of bins of every column of numbers, between its declared bounds.
const BINS: u32 = 64;

/// A data set with what the paper reports.
pub type PaperCase = Case<PaperTimes>;

/// The seconds that the paper reports for a data set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PaperTimes {
    /// Table 2: to learn again 100 times, and to unlearn 100 rows.
    pub table_2: [Printed; 2],
    /// Table 3: to learn once without state, and with state.
    pub table_3: [Printed; 2],
}

/// The data sets of both tables.
pub const CASES: [PaperCase; 5] = [
    Case {
        name: "abalone",
        source: Source::Files(&["abalone/abalone.data"]),
        paper: PaperTimes {
            table_2: [(152.45, 10.217), (111.54, 5.725)],
            table_3: [(1.463, 0.138), (2.378, 0.247)],
        },
    },
    Case {
        name: "adult",
        source: Source::Files(&["adult/adult.data"]),
        paper: PaperTimes {
            table_2: [(529.35, 64.865), (466.95, 45.061)],
            table_3: [(4.7838, 0.783), (6.238, 0.881)],
        },
    },
    Case {
        name: "msnbc",
        source: Source::Files(&["debd/msnbc.valid.data"]),
        paper: PaperTimes {
            table_2: [(71.898, 19.101), (55.636, 8.381)],
            table_3: [(0.995, 0.171), (1.578, 0.547)],
        },
    },
    Case {
        name: "plants",
        source: Source::Files(&["debd/plants.train.data"]),
        paper: PaperTimes {
            table_2: [(6880.89, 605.628), (6159.86, 609.329)],
            table_3: [(68.107, 7.927), (71.312, 10.349)],
        },
    },
    Case {
        name: "wine",
        source: Source::Files(&["wine/wine.data"]),
        paper: PaperTimes {
            table_2: [(0.249, 0.012), (0.105, 0.003)],
            table_3: [(0.311, 0.013), (0.0054, 0.001)],
        },
    },
];

const ABALONE: [(&str, f64, f64); 8] = [
    ("length", 0.075, 0.815),
    ("diameter", 0.055, 0.65),
    ("height", 0.0, 1.13),
    ("whole", 0.002, 2.8255),
    ("shucked", 0.001, 1.488),
    ("viscera", 0.0005, 0.76),
    ("shell", 0.0015, 1.005),
    ("rings", 1.0, 29.0),
];

const WINE: [(&str, f64, f64); 13] = [
    ("alcohol", 10.0, 16.0),
    ("malic_acid", 0.0, 7.0),
    ("ash", 1.0, 4.0),
    ("alcalinity", 5.0, 35.0),
    ("magnesium", 60.0, 180.0),
    ("phenols", 0.0, 5.0),
    ("flavanoids", 0.0, 6.0),
    ("nonflavanoid_phenols", 0.0, 1.0),
    ("proanthocyanins", 0.0, 5.0),
    ("colour", 0.0, 15.0),
    ("hue", 0.0, 2.0),
    ("od280_od315", 1.0, 5.0),
    ("proline", 200.0, 2000.0),
];

impl PaperCase {
    /// Reads all rows of `files`.
    ///
    /// # Errors
    /// When a file is not what it should be.
    pub fn read(&self, files: &[PathBuf]) -> Result<Pool, TableError> {
        let file = files.first().map_or(Path::new(""), PathBuf::as_path);
        let (data, _) = self.options()?.read(file)?.value;
        Ok(Pool::new(&data))
    }

    /// The options by which the file is read.
    ///
    /// # Errors
    /// None in a released version: a test makes every one of them.
    pub fn options(&self) -> Result<TableOptions, TableError> {
        let schema = match self.name {
            "abalone" => schema("abalone", 0, ("sex", &["M", "F", "I"]), numbers(&ABALONE)),
            "wine" => schema("wine", 0, ("cultivar", &["1", "2", "3"]), numbers(&WINE)),
            "msnbc" => schema("msnbc", 16, ("v17", &["0", "1"]), bits(16)),
            "plants" => schema("plants", 68, ("v69", &["0", "1"]), bits(68)),
            _ => builtin::schema("census").and_then(|schema| {
                schema.ok_or_else(|| SchemaError::Format("there is no census schema".to_owned()))
            }),
        };
        let schema = schema.map_err(|error| SpnError::Domain {
            column: self.name.to_owned(),
            problem: error.to_string(),
        })?;
        let integers = schema.attributes.iter();
        let integers = integers.filter(|it| matches!(it.kind, Kind::Integer { .. }));
        let leaves = integers.map(|it| (it.name.clone(), LeafFamily::Gaussian));
        let leaves = leaves.collect();
        let mut options = TableOptions::new(schema);
        options.leaves = leaves;
        Ok(options)
    }
}

/// Columns of numbers, in bins of equal width between their bounds.
fn numbers(columns: &[(&str, f64, f64)]) -> Vec<(String, Kind)> {
    let kind = |min: f64, max: f64| {
        let edge = |at: u32| min + (max - min) * f64::from(at) / f64::from(BINS);
        Kind::Numeric {
            bins: (0..BINS).map(edge).chain([max]).collect(),
            values: None,
        }
    };
    let columns = columns.iter();
    columns
        .map(|&(name, min, max)| (name.to_owned(), kind(min, max)))
        .collect()
}

/// So many columns of 0 and 1.
fn bits(columns: usize) -> Vec<(String, Kind)> {
    let kind = Kind::Categorical {
        levels: vec!["0".to_owned(), "1".to_owned()],
        ordered: false,
    };
    let columns = 1..=columns;
    columns.map(|at| (format!("v{at}"), kind.clone())).collect()
}

/// The schema of a file without a header, whose label is the column `place`.
fn schema(
    name: &str,
    place: usize,
    (label, classes): (&str, &[&str]),
    attributes: Vec<(String, Kind)>,
) -> Result<Schema, SchemaError> {
    let mut columns: Vec<String> = attributes.iter().map(|(name, _)| name.clone()).collect();
    columns.insert(place, label.to_owned());
    let attribute = |(name, kind): (String, Kind)| Attribute {
        named: Vec::new(),
        name,
        kind,
        protected: false,
        missing: Missing::default(),
        merge: BTreeMap::new(),
        outside: OutOfDomain::Reject,
    };
    let classes = classes.iter().map(|&class| class.to_owned());
    let schema = Schema {
        name: name.to_owned(),
        format: Format {
            header: false,
            columns,
            ..Format::default()
        },
        label: Label::of_classes(label, classes.collect()),
        attributes: attributes.into_iter().map(attribute).collect(),
    };
    schema.check()?;
    Ok(schema)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_has_the_variables_of_table_1() {
        let widths = [9, 15, 17, 69, 14];
        for (case, width) in CASES.iter().zip(widths) {
            let variables = case.options().unwrap().variables().unwrap();
            assert_eq!(variables.len(), width, "{}", case.name);
            let known = [LeafFamily::Categorical, LeafFamily::Gaussian];
            assert!(variables.iter().all(|v| known.contains(&v.family())));
        }
    }
}
