//! `probity demo`: a census in which some groups are planted to be treated otherwise.

use std::path::Path;

use super::demonstration::Demonstration;
use crate::cli::output::Output;
use crate::cli::render::count;
use anyhow::Context;
use probity::data::builtin;
use probity::data::synthetic::{planted_share, synthetic_census, write_csv};
use probity::fairness::audit::AuditSpecification;
use probity::nn::train::TrainSpecification;
use probity::nn::train::options::{Categories, Learning, NetworkOptions};
use probity::run::run_directory::write_with;

/// People in the census unless told otherwise.
pub(super) const PEOPLE: u32 = 30_000;

/// Makes the census of `rows` people in the file `data`.
pub(super) fn make(
    data: &Path,
    rows: u32,
    seed: u64,
    output: &Output,
) -> anyhow::Result<Demonstration> {
    let schema = builtin::schema("synthetic-census")?.context("the built-in schema is missing")?;
    let people = count(rows.into());
    output.remark(&format!("Making a synthetic census of {people} people …"));
    let census = synthetic_census(&schema, rows as usize, seed);
    write_with(data, |writer| write_csv(writer, &schema, &census))?;
    let mut training = TrainSpecification::of_table(data, "synthetic-census");
    let network = training.network.insert(NetworkOptions::default());
    // Origin and household have no order.
    network.categories = Categories::OneHot;
    // That of the ADF paper.
    network.hidden = vec![64, 32, 16, 8, 4];
    training.training = Learning {
        seed,
        // The rule is exact: there is no noise to hold against.
        epochs: Some(30),
        batch: Some(256),
        learning_rate: Some(0.003),
        weight_decay: Some(0.0),
        validation: Some(0.1),
        ..Learning::default()
    };
    let mut audit = AuditSpecification::default();
    audit.search.local = 100;
    Ok(Demonstration {
        command: "demo",
        training,
        audit,
        planted: Box::new(move |protected| {
            let positions = protected.iter().map(|name| schema.index_of(name));
            let positions: Vec<usize> = positions.collect::<Result<_, _>>()?;
            Ok(planted_share(&schema, &positions))
        }),
        next_audit: "--protected sex --fail-above 0.05",
        own_data: "probity schema infer YOUR.csv --label-column COLUMN --protected COLUMN,COLUMN --out your.toml\n  \
                   probity train --data YOUR.csv --schema your.toml",
    })
}
