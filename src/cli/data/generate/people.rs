//! People of the synthetic census, as `probity demo` classifies them.

use std::path::PathBuf;

use anyhow::Context;
use serde::Serialize;

use super::args::GenerateArgs;
use crate::cli::exit_code::ExitCode;
use crate::cli::output::Output;
use crate::cli::render::{count, percent, table};
use probity::data::builtin;
use probity::data::schema::Schema;
use probity::data::synthetic::{planted_share, synthetic_census, write_csv};

#[derive(Serialize)]
struct PeopleSummary {
    name: &'static str,
    rows: u32,
    seed: u64,
    high: u64,
    planted: Vec<Planted>,
    file: PathBuf,
}

/// The share of all inputs that the rule discriminates.
#[derive(Serialize)]
struct Planted {
    protected: Vec<String>,
    share: f64,
}

pub(super) fn run(args: &GenerateArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let schema = builtin::schema("synthetic-census")?.context("the built-in schema is missing")?;
    let census = synthetic_census(&schema, args.rows() as usize, args.seed());
    let Some(file) = args.write(|out| write_csv(out, &schema, &census))? else {
        return Ok(ExitCode::SUCCESS);
    };
    let summary = PeopleSummary {
        name: "people",
        rows: args.rows(),
        seed: args.seed(),
        high: census.labels().iter().map(|&label| u64::from(label)).sum(),
        planted: planted(&schema),
        file: file.clone(),
    };
    output.summary("data generate", &summary, &render(&summary))
}

/// What is planted by each protected attribute, and by all of them jointly.
fn planted(schema: &Schema) -> Vec<Planted> {
    let protected: Vec<usize> = (0..schema.attributes.len())
        .filter(|&at| schema.attributes[at].protected)
        .collect();
    let alone = protected.iter().map(|&at| vec![at]);
    alone
        .chain([protected.clone()])
        .map(|attributes| Planted {
            share: planted_share(schema, &attributes),
            protected: attributes
                .iter()
                .map(|&at| schema.attributes[at].name.clone())
                .collect(),
        })
        .collect()
}

fn render(summary: &PeopleSummary) -> String {
    let rows: Vec<Vec<String>> = summary
        .planted
        .iter()
        .map(|planted| vec![planted.protected.join(" × "), percent(planted.share)])
        .collect();
    format!(
        "{} people, {} of them with a high income: {}\n{}",
        count(summary.rows.into()),
        count(summary.high),
        summary.file.display(),
        table(&["protected", "planted"], &rows)
    )
}
