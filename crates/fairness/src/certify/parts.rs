//! Parts of the data: what a model was trained on, and what it never saw.

use std::fmt;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use probity_data::read::{ReadError, RowNumbers};
use probity_data::schema::Schema;
use probity_data::table::{Labels, Table};
use probity_nn::provenance::{PROVENANCE, Provenance};
use probity_nn::train::{Split, TrainSpecification};
use probity_run::pipe::expect_rereadable;
use probity_text::corpus::{CorpusError, TextColumns, read_texts_hashed};

/// A part of the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// All of it
    #[default]
    All,
    /// What the model was trained on
    Train,
    /// What the model was validated on
    Validation,
    /// What the model never saw
    Test,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Part::All => "all",
            Part::Train => "train",
            Part::Validation => "validation",
            Part::Test => "test",
        })
    }
}

/// A reason why a part cannot be told.
#[derive(Debug, Error)]
pub enum PartError {
    /// The model does not say which part of the data it was trained on.
    #[error(
        "{} does not say which part of the data the model was trained on ({problem}); leave the part out, or name a model \
         that probity train made",
        file.display()
    )]
    Unknown {
        /// The file where it would be said.
        file: PathBuf,
        /// The problem with that file.
        problem: String,
    },
    /// The data are not those that the model was trained on.
    #[error(
        "{} is not the file that the model was trained on, so its parts are unknown; leave the part out", file.display()
    )]
    OtherData {
        /// The file.
        file: PathBuf,
    },
    /// The file cannot be read as the training read it.
    #[error("{0}")]
    Read(#[from] Box<ReadError>),
    /// The texts cannot be read as the training read them.
    #[error("{0}")]
    Texts(#[from] Box<CorpusError>),
}

/// A model that may say how its parts were dealt: its directory and its SHA-256.
pub type Dealer<'a> = (&'a Path, &'a str);

/// A file of inputs, and its SHA-256.
pub type Inputs<'a> = (&'a Path, &'a str);

/// The positions of `part` among the `count` texts in `file`, as the training of `model` dealt them.
///
/// # Errors
/// When the model does not say, what it says is of another model, or it was trained on another
/// file.
pub fn positions_of(
    part: Part,
    model: Dealer<'_>,
    file: Inputs<'_>,
    count: usize,
) -> Result<Vec<u32>, PartError> {
    if part == Part::All {
        return Ok((0..count as u32).collect());
    }
    let mut chosen = part_of(training_of(model, file)?.split(count), part);
    chosen.sort_unstable();
    Ok(chosen)
}

/// The positions of `part` among texts that have the numbers `rows` in `file`, `count` of them, as the
/// training of `model`, whose classes are given, dealt them. Whether they were read with labels or not, a
/// training deals the texts that have one. Of these, texts that are not among `rows` are in no part.
///
/// # Errors
/// See [`positions_of`]; and when the file cannot be read as the training read it.
pub fn texts_of(
    part: Part,
    (model, classes): (Dealer<'_>, &[String]),
    (file, sha256): Inputs<'_>,
    (rows, count): (&RowNumbers, usize),
) -> Result<Vec<u32>, PartError> {
    if part == Part::All {
        return Ok((0..count as u32).collect());
    }
    let trained = training_of(model, (file, sha256))?;
    if !trained.skip_bad_rows {
        // The training kept all texts.
        return positions_of(part, model, (file, sha256), count);
    }
    expect_rereadable(file).map_err(|source| {
        Box::new(ReadError::Io {
            file: file.to_owned(),
            source,
        })
    })?;
    let columns = TextColumns {
        text: trained.text_column.clone(),
        label: trained.label_column.clone(),
        label_threshold: trained.label_threshold,
        skip_bad_rows: true,
        classes: classes.to_vec(),
    };
    let read = read_texts_hashed(file, &columns).map_err(Box::new)?;
    if read.sha256 != sha256 {
        return Err(PartError::OtherData {
            file: file.to_owned(),
        });
    }
    let kept = read.value;
    let place = |row: u32| {
        let place = rows.index_of(kept.rows.number(row as usize));
        u32::try_from(place.filter(|&place| place < count)?).ok()
    };
    let dealt = part_of(trained.split(kept.texts.len()), part);
    let mut chosen: Vec<u32> = dealt.into_iter().filter_map(place).collect();
    chosen.sort_unstable();
    Ok(chosen)
}

/// The positions of `part` among the rows of `table`, which was read from `file`, as the training of
/// `model`, whose schema is given, dealt them. However `table` was read, a training deals the rows
/// that it keeps itself: those with an outcome, by the model's own policies. Of these, rows that are
/// not in `table` are in no part.
///
/// # Errors
/// See [`positions_of`]; and when the file cannot be read by the model's schema.
pub fn rows_of(
    part: Part,
    (model, schema): (Dealer<'_>, &Schema),
    file: Inputs<'_>,
    table: &Table,
) -> Result<Vec<u32>, PartError> {
    if part == Part::All {
        return Ok((0..table.rows() as u32).collect());
    }
    let split = split_of(&training_of(model, file)?, schema, file, table)?;
    let mut chosen = part_of(split, part);
    chosen.sort_unstable();
    Ok(chosen)
}

/// All parts of the rows of `table`, as [`rows_of`] tells each of them, in the order in which a
/// training by the specification `trained` dealt them.
///
/// # Errors
/// When the file cannot be read by the schema, or is another one by now.
pub fn split_of(
    trained: &TrainSpecification,
    schema: &Schema,
    file: Inputs<'_>,
    table: &Table,
) -> Result<Split, PartError> {
    let kept = kept_rows(trained, schema, file, table)?;
    let place = |row: u32| {
        let place = table.numbers().index_of(kept[row as usize])?;
        u32::try_from(place).ok()
    };
    let places = |rows: Vec<u32>| rows.into_iter().filter_map(place).collect();
    let dealt = trained.split(kept.len());
    Ok(Split {
        train: places(dealt.train),
        validation: places(dealt.validation),
        test: places(dealt.test),
    })
}

/// The numbers of the rows of the file that a training keeps.
fn kept_rows(
    trained: &TrainSpecification,
    schema: &Schema,
    (file, sha256): Inputs<'_>,
    table: &Table,
) -> Result<Vec<u64>, PartError> {
    let counts = &table.counts;
    if counts.mapped_values == 0 && counts.skipped_rows == 0 && counts.bad_rows.is_empty() {
        // No policy had anything to act on, so that any other keeps the same rows.
        let labelled = (0..table.rows()).filter(|&row| table.has_label(row));
        return Ok(labelled.map(|row| table.numbers().number(row)).collect());
    }
    let once = |source| {
        Box::new(ReadError::Io {
            file: file.to_owned(),
            source,
        })
    };
    expect_rereadable(file).map_err(once)?;
    let mut schema = schema.clone();
    if let Some(outside) = trained.out_of_domain {
        schema = schema.with_outside(outside);
    }
    let read = Table::read_hashed(file, &schema, Labels::Required).map_err(Box::new)?;
    if read.sha256 != sha256 {
        return Err(PartError::OtherData {
            file: file.to_owned(),
        });
    }
    let kept = read.value;
    let numbers = (0..kept.rows()).map(|row| kept.numbers().number(row));
    Ok(numbers.collect())
}

/// The specification by which `model` was trained, if it was on `file`.
fn training_of(
    (model, model_sha256): Dealer<'_>,
    (file, sha256): Inputs<'_>,
) -> Result<TrainSpecification, PartError> {
    let unknown = |problem: String| PartError::Unknown {
        file: model.join(PROVENANCE),
        problem,
    };
    let trained =
        Provenance::read(model, model_sha256).map_err(|error| unknown(error.to_string()))?;
    let trained = trained.ok_or_else(|| unknown("there is no such file".to_owned()))?;
    match trained.data_sha256() == sha256 {
        true => Ok(trained.specification),
        false => Err(PartError::OtherData {
            file: file.to_owned(),
        }),
    }
}

/// The inputs of `part`, in no order.
fn part_of(split: Split, part: Part) -> Vec<u32> {
    match part {
        Part::All => [split.train, split.validation, split.test].concat(),
        Part::Train => split.train,
        Part::Validation => split.validation,
        Part::Test => split.test,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use probity_data::schema::OutOfDomain;
    use std::collections::BTreeMap;
    use std::fs;

    const SCHEMA: &str = r#"
        name = "small"
        [label]
        name = "class"
        classes = ["no", "yes"]
        missing = "?"
        [[attribute]]
        name = "wage"
        kind = "integer"
        min = 1
        max = 30
        outside = "OUTSIDE"
    "#;

    /// The rows of a data set in which every fifth row has no outcome, and every seventh lies
    /// outside the domain where some do.
    fn rows(some_outside: bool) -> Vec<(i64, &'static str)> {
        let row = |number: i64| {
            let is_outside = some_outside && number % 7 == 0;
            let wage = if is_outside { 100 } else { number % 30 + 1 };
            let class = if number % 3 == 0 { "no" } else { "yes" };
            (wage, if number % 5 == 0 { "?" } else { class })
        };
        (0..120).map(row).collect()
    }

    /// However a file is read, its parts are those of the training: against the rows that it kept,
    /// told from the file itself.
    #[test]
    fn parts_are_of_the_rows_that_the_training_kept() {
        let policies = [
            ("clip", OutOfDomain::Clip),
            ("skip", OutOfDomain::Skip),
            ("level", OutOfDomain::Level),
        ];
        for some_outside in [false, true] {
            for policy in policies {
                expect_parts(&rows(some_outside), policy, &policies);
            }
        }
    }

    /// Texts without a label were dealt to no part, and are in none where labels are not read.
    #[test]
    fn parts_are_of_the_texts_that_the_training_kept() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("small.csv");
        let label = |row: usize| match row % 5 {
            0 => "NA",
            1 => "",
            _ => ["no", "yes"][row % 2],
        };
        let mut text = "text,class\n".to_owned();
        for row in 0..100 {
            text += &format!("text {row},{}\n", label(row));
        }
        fs::write(&file, text).unwrap();
        let mut specification = TrainSpecification::of_texts(&file, "class");
        specification.text_column = Some("text".to_owned());
        specification.skip_bad_rows = true;
        let unlabelled = TextColumns {
            text: Some("text".to_owned()),
            ..TextColumns::default()
        };
        let read = read_texts_hashed(&file, &unlabelled).unwrap();
        let kept: Vec<usize> = (0..100).filter(|row| row % 5 > 1).collect();
        let split = specification.split(kept.len());
        let provenance = Provenance {
            model_sha256: "model".into(),
            sha256: BTreeMap::from([("data".to_owned(), read.sha256.clone())]),
            specification,
        };
        provenance.write(folder.path()).unwrap();
        let classes = ["no", "yes"].map(str::to_owned);
        let model = ((folder.path(), "model"), classes.as_slice());
        let texts = (&read.value.rows, read.value.texts.len());
        for (part, dealt) in [(Part::Train, &split.train), (Part::Test, &split.test)] {
            let dealt = dealt.iter().map(|&row| kept[row as usize] as u32);
            let mut expected: Vec<u32> = dealt.collect();
            expected.sort_unstable();
            let of = (file.as_path(), read.sha256.as_str());
            assert_eq!(
                texts_of(part, model, of, texts).unwrap(),
                expected,
                "{part}"
            );
        }
    }

    /// Checks the parts of a training on `rows` by the policy `own`, read by each of `policies`.
    fn expect_parts(
        rows: &[(i64, &str)],
        (own, policy): (&str, OutOfDomain),
        policies: &[(&str, OutOfDomain)],
    ) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("small.csv");
        let mut text = "wage,class\n".to_owned();
        for (wage, class) in rows {
            text += &format!("{wage},{class}\n");
        }
        fs::write(&file, text).unwrap();
        let schema = Schema::from_toml(&SCHEMA.replace("OUTSIDE", own)).unwrap();
        let mut specification = TrainSpecification::of_table(&file, "small");
        specification.training.validation = Some(0.2);
        let is_kept = |row: usize, policy| policy != OutOfDomain::Skip || rows[row].0 != 100;
        let kept: Vec<usize> = (0..rows.len())
            .filter(|&row| rows[row].1 != "?" && is_kept(row, policy))
            .collect();
        let split = specification.split(kept.len());
        let trained = Table::read_hashed(&file, &schema, Labels::Required).unwrap();
        assert_eq!(trained.value.rows(), kept.len());
        let provenance = Provenance {
            model_sha256: "model".into(),
            sha256: BTreeMap::from([("data".to_owned(), trained.sha256.clone())]),
            specification,
        };
        provenance.write(folder.path()).unwrap();
        let model = (folder.path(), "model");
        for &(_, reading) in policies {
            let read = schema.clone().with_outside(reading);
            let table = Table::read(&file, &read, Labels::Optional).unwrap();
            for (part, dealt) in [
                (Part::Train, &split.train),
                (Part::Validation, &split.validation),
                (Part::Test, &split.test),
            ] {
                let dealt = dealt.iter().map(|&row| kept[row as usize]);
                let dealt = dealt.filter(|&row| is_kept(row, reading));
                let mut expected: Vec<u64> = dealt.map(|row| row as u64 + 1).collect();
                expected.sort_unstable();
                let of = (file.as_path(), trained.sha256.as_str());
                let found = rows_of(part, (model, &schema), of, &table).unwrap();
                let found = found.into_iter();
                let found: Vec<u64> = found
                    .map(|row| table.numbers().number(row as usize))
                    .collect();
                assert_eq!(found, expected, "{own} {reading:?} {part}");
            }
            let changed = rows_of(Part::Test, (model, &schema), (&file, "other"), &table);
            assert!(matches!(changed, Err(PartError::OtherData { .. })));
        }
    }
}
