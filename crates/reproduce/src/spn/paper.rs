//! The data sets and the figures of Tables 2 and 3, for a comparison side by side.
//!
//! As in the paper, all numbers are Gaussian and all else is categorical. Bounds and bins are
//! declared here: those of Abalone follow its documentation, those of Wine are round numbers for
//! such measurements, and Adult is read by the built-in schema `census`. MSNBC is the validation
//! part of the density estimation benchmarks, whose training part is not to be had; Plants is their
//! training part, with 69 columns, where the paper counts 71.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::published::find;
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

/// A time in seconds as the paper states it: mean and standard deviation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PaperSeconds {
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub deviation: f64,
}

/// One data set with what the paper reports.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PaperCase {
    /// The name of the data set, in lower case.
    pub name: &'static str,
    /// Table 2: seconds to learn again 100 times.
    pub retraining: PaperSeconds,
    /// Table 2: seconds to unlearn 100 rows.
    pub unlearning: PaperSeconds,
    /// Table 3: seconds to learn once without state.
    pub original: PaperSeconds,
    /// Table 3: seconds to learn once with state.
    pub modified: PaperSeconds,
    file: &'static str,
}

const fn case(name: &'static str, file: &'static str, figures: [(f64, f64); 4]) -> PaperCase {
    const fn seconds((mean, deviation): (f64, f64)) -> PaperSeconds {
        PaperSeconds { mean, deviation }
    }
    PaperCase {
        name,
        file,
        retraining: seconds(figures[0]),
        unlearning: seconds(figures[1]),
        original: seconds(figures[2]),
        modified: seconds(figures[3]),
    }
}

/// The data sets of both tables.
pub const CASES: [PaperCase; 5] = [
    case(
        "abalone",
        "abalone/abalone.data",
        [
            (152.45, 10.217),
            (111.54, 5.725),
            (1.463, 0.138),
            (2.378, 0.247),
        ],
    ),
    case(
        "adult",
        "adult/adult.data",
        [
            (529.35, 64.865),
            (466.95, 45.061),
            (4.7838, 0.783),
            (6.238, 0.881),
        ],
    ),
    case(
        "msnbc",
        "debd/msnbc.valid.data",
        [
            (71.898, 19.101),
            (55.636, 8.381),
            (0.995, 0.171),
            (1.578, 0.547),
        ],
    ),
    case(
        "plants",
        "debd/plants.train.data",
        [
            (6880.89, 605.628),
            (6159.86, 609.329),
            (68.107, 7.927),
            (71.312, 10.349),
        ],
    ),
    case(
        "wine",
        "wine/wine.data",
        [
            (0.249, 0.012),
            (0.105, 0.003),
            (0.311, 0.013),
            (0.0054, 0.001),
        ],
    ),
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
    /// The path of the file, plain, `.gz` or `.xz`, in the first of `folders` that has it.
    pub fn find(&self, folders: &[PathBuf]) -> Option<PathBuf> {
        find(&[self.file], folders).ok()?.pop()
    }

    /// The name of the file inside a folder of data sets.
    pub fn file(&self) -> &'static str {
        self.file
    }

    /// Reads all rows of `file`.
    ///
    /// # Errors
    /// When the file is not what it should be.
    pub fn read(&self, file: &Path) -> Result<Pool, TableError> {
        let (data, _) = self.options()?.read(file)?.value;
        Ok(Pool::new(&data))
    }

    /// The options by which the file is read.
    ///
    /// # Errors
    /// None in a released version: a test makes every one of them.
    pub fn options(&self) -> Result<TableOptions, TableError> {
        let schema = match self.name {
            "abalone" => numbers(self.name, ("sex", &["M", "F", "I"]), &ABALONE),
            "wine" => numbers(self.name, ("cultivar", &["1", "2", "3"]), &WINE),
            "msnbc" => binary(self.name, 17),
            "plants" => binary(self.name, 69),
            _ => builtin::schema("census").and_then(|schema| {
                schema.ok_or_else(|| SchemaError::Format("there is no census schema".to_owned()))
            }),
        };
        let schema = schema.map_err(|error| SpnError::Domain {
            column: self.name.to_owned(),
            problem: error.to_string(),
        })?;
        let integers = schema
            .attributes
            .iter()
            .filter(|attribute| matches!(attribute.kind, Kind::Integer { .. }));
        let leaves = integers
            .map(|attribute| (attribute.name.clone(), LeafFamily::Gaussian))
            .collect();
        let mut options = TableOptions::new(schema);
        options.leaves = leaves;
        Ok(options)
    }
}

/// The schema of a class column, then columns of numbers between bounds.
fn numbers(
    name: &str,
    (class, classes): (&str, &[&str]),
    columns: &[(&str, f64, f64)],
) -> Result<Schema, SchemaError> {
    let attributes = columns.iter().map(|&(name, min, max)| {
        let edge = |at| min + (max - min) * f64::from(at) / f64::from(BINS);
        attribute(
            name,
            Kind::Numeric {
                bins: (0..BINS).map(edge).chain([max]).collect(),
                values: None,
            },
        )
    });
    let names = [class]
        .into_iter()
        .chain(columns.iter().map(|column| column.0));
    schema(
        name,
        names.map(str::to_owned).collect(),
        label(class, classes),
        attributes.collect(),
    )
}

/// The schema of columns of 0 and 1, the last of them the label.
fn binary(name: &str, columns: usize) -> Result<Schema, SchemaError> {
    let names: Vec<String> = (1..=columns).map(|at| format!("v{at}")).collect();
    let attributes = names[..columns - 1].iter().map(|name| {
        attribute(
            name,
            Kind::Categorical {
                levels: vec!["0".to_owned(), "1".to_owned()],
                ordered: false,
            },
        )
    });
    let attributes = attributes.collect();
    let label = label(&names[columns - 1], &["0", "1"]);
    schema(name, names, label, attributes)
}

fn attribute(name: &str, kind: Kind) -> Attribute {
    Attribute {
        named: Vec::new(),
        name: name.to_owned(),
        kind,
        protected: false,
        missing: Missing::default(),
        merge: BTreeMap::new(),
        outside: OutOfDomain::Reject,
    }
}

fn label(name: &str, classes: &[&str]) -> Label {
    Label::of_classes(
        name,
        classes.iter().map(|&class| class.to_owned()).collect(),
    )
}

fn schema(
    name: &str,
    columns: Vec<String>,
    label: Label,
    attributes: Vec<Attribute>,
) -> Result<Schema, SchemaError> {
    let schema = Schema {
        name: name.to_owned(),
        format: Format {
            header: false,
            columns,
            ..Format::default()
        },
        label,
        attributes,
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
