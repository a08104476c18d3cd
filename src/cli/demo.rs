//! `probity demo`: the whole main job on data whose discrimination is known.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::demo_text;
use super::inputs::{Hardware, absolute, new_run};
use super::output::Output;
use super::progress::AuditBar;
use super::render::{self, count, interval, percent, table};
use super::train::{TrainingBar, render_summary};
use probity::data::builtin;
use probity::data::schema::Schema;
use probity::data::synthetic::{planted_share, synthetic_census};
use probity::data::table::Table;
use probity::fairness::audit::{Audit, AuditSpecification, AuditSummary};
use probity::fairness::estimate::Estimate;
use probity::fairness::modality::{TableCase, TableDetails};
use probity::nn::train::TrainSpecification;
use probity::nn::train::options::{Categories, Learning, NetworkOptions};
use probity::nn::train::run::{Training, TrainingSummary};
use probity::nn::train::table_set::TableSet;
use probity::run::run_directory::{RunDirectory, write_with};
use probity::run::specification::Specification;

/// Arguments of `probity demo`.
#[derive(Debug, Args)]
pub(super) struct DemoArgs {
    /// What is classified
    #[arg(value_enum, default_value_t)]
    kind: DemoKind,
    /// Directory for data, model and audit [default: the next free runs/demo-N]
    #[arg(long)]
    pub(super) out: Option<PathBuf>,
    /// People in the synthetic census [default: 30000], or generated comments [default: 20000]
    #[arg(long, value_parser = clap::value_parser!(u32).range(100..=10_000_000))]
    pub(super) rows: Option<u32>,
    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    pub(super) seed: u64,
    #[command(flatten)]
    pub(super) hardware: Hardware,
}

/// What a demonstration classifies.
#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum DemoKind {
    /// People of a synthetic census
    #[default]
    Table,
    /// Generated comments with identity terms
    Text,
}

/// People in the synthetic census unless told otherwise.
const PEOPLE: u32 = 30_000;

/// What was planted and what the audit says, for one protected set.
#[derive(Serialize)]
pub(super) struct Recovery {
    protected: Vec<String>,
    planted: f64,
    estimated: f64,
    ci95: [f64; 2],
    recovered: bool,
}

impl Recovery {
    /// Compares a `planted` share with an estimate.
    pub(super) fn new(planted: f64, estimate: &Estimate) -> Recovery {
        Recovery {
            protected: estimate.protected.clone(),
            planted,
            estimated: estimate.rate,
            ci95: estimate.ci95,
            recovered: estimate.ci95[0] <= planted && planted <= estimate.ci95[1],
        }
    }
}

#[derive(Serialize)]
struct DemoSummary {
    schema_version: u32,
    command: &'static str,
    recovery: Vec<Recovery>,
    training: TrainingSummary,
    audit: AuditSummary<TableDetails>,
}

/// Runs `probity demo`.
pub(super) fn run(args: DemoArgs, output: &Output) -> anyhow::Result<ExitCode> {
    if let DemoKind::Text = args.kind {
        return demo_text::run(&args, output);
    }
    let rows = args.rows.unwrap_or(PEOPLE);
    let device = args.hardware.open(output)?;
    let Some(schema) = builtin::schema("synthetic-census")? else {
        anyhow::bail!("the built-in schema is missing");
    };
    let directory = new_run(args.out.as_ref(), "demo")?;
    let data = absolute(&directory.file("people.csv"));
    output.remark(&format!(
        "Making a synthetic census of {} people …",
        count(rows.into())
    ));
    write_csv(
        &data,
        &schema,
        &synthetic_census(&schema, rows as usize, args.seed),
    )?;
    let mut training = TrainSpecification::of_table(&data, "synthetic-census");
    training.network = Some(NetworkOptions {
        // Origin and household have no order.
        categories: Categories::OneHot,
        ..NetworkOptions::default()
    });
    training.training = Learning {
        seed: args.seed,
        // The rule is exact: there is no noise to hold against.
        batch: Some(256),
        learning_rate: 0.003,
        weight_decay: 0.0,
        ..Learning::default()
    };
    output.remark("Training a classifier on it …");
    let bar = TrainingBar::new(training.epochs(), output)?;
    let model = RunDirectory::create(&directory.file("model"))?;
    let training = Training::<TableSet>::open(training.check()?, &device)?;
    let trained = training.run(&model, false, &mut |report| bar.observe(report))?;
    let interrupt = bar.into_interrupt();
    if !trained.finished {
        output.remark(&format!(
            "Interrupted; what there is so far is in {}.",
            directory.path().display()
        ));
        output.result(&trained, &render_summary(&trained))?;
        return Ok(ExitCode::SUCCESS);
    }

    output.remark("Searching it for individual discrimination …");
    let mut specification = AuditSpecification::default();
    specification.model = Some(absolute(model.path()));
    specification.data = data;
    specification.seed = args.seed;
    specification.search.local = 100;
    let run = RunDirectory::create(&directory.file("audit"))?;
    let mut bar = AuditBar::new(output, interrupt);
    let audit = Audit::<TableCase>::open(specification.check()?, &device)?;
    let audited = audit.run(&run, false, &mut |progress| bar.observe(progress))?;
    let recovery = recovery(&schema, &audited)?;
    let text = render(&trained, &audited, &recovery, &directory);
    let summary = DemoSummary {
        schema_version: 1,
        command: "demo",
        recovery,
        training: trained,
        audit: audited,
    };
    directory.write_summary(&summary)?;
    output.result(&summary, &text)?;
    Ok(ExitCode::SUCCESS)
}

fn recovery(
    schema: &Schema,
    audited: &AuditSummary<TableDetails>,
) -> anyhow::Result<Vec<Recovery>> {
    audited
        .fairness
        .iter()
        .map(|estimate| {
            let protected = estimate
                .protected
                .iter()
                .map(|name| schema.index_of(name))
                .collect::<Result<Vec<_>, _>>()?;
            Ok(Recovery::new(planted_share(schema, &protected), estimate))
        })
        .collect()
}

fn render(
    trained: &TrainingSummary,
    audited: &AuditSummary<TableDetails>,
    recovery: &[Recovery],
    directory: &RunDirectory,
) -> String {
    let path = directory.path().display();
    let mut text = String::from("\nThe classifier\n");
    text.push_str(&render_summary(trained));
    text.push_str("\nThe search\n");
    text.push_str(&render::audit(audited));
    text.push_str("\nPlanted in the data, and found in the classifier\n");
    text.push_str(&recovery_table(recovery));
    if recovery.iter().any(|recovery| !recovery.recovered) {
        text.push_str(
            "The interval speaks of the trained classifier. Where the planted share is outside, the \
             classifier\nlearned the rule imperfectly (more --rows help) or the sample is one of the \
             5 in 100 that miss.\n",
        );
    }
    // Writing to a String cannot fail.
    let _ = write!(
        text,
        "\nFiles: {path} (people.csv, model/, audit/)\n\
         Next:\n  \
         probity verify {path}/audit\n  \
         probity audit --model {path}/model --data {path}/people.csv --protected sex --fail-above 0.05\n  \
         probity schema infer YOUR.csv --label COLUMN --protected COLUMN,COLUMN --out your.toml\n  \
         probity train --data YOUR.csv --schema your.toml\n"
    );
    text
}

/// Planted and found shares side by side.
pub(super) fn recovery_table(recovery: &[Recovery]) -> String {
    let rows: Vec<Vec<String>> = recovery
        .iter()
        .map(|recovery| {
            vec![
                recovery.protected.join(" × "),
                percent(recovery.planted),
                percent(recovery.estimated),
                interval(recovery.ci95),
                if recovery.recovered { "yes" } else { "no" }.to_owned(),
            ]
        })
        .collect();
    table(
        &[
            "protected",
            "planted",
            "found",
            "95 % interval",
            "planted inside",
        ],
        &rows,
    )
}

fn write_csv(file: &std::path::Path, schema: &Schema, table: &Table) -> anyhow::Result<()> {
    write_with(file, |writer| {
        let mut csv = csv::Writer::from_writer(writer);
        let names = schema
            .attributes
            .iter()
            .map(|attribute| attribute.name.as_str());
        csv.write_record(names.chain([schema.label.name.as_str()]))?;
        for (row, &label) in table.labels().iter().enumerate() {
            let mut record: Vec<String> = schema
                .attributes
                .iter()
                .zip(table.row(row))
                .map(|(attribute, &code)| attribute.decode(code))
                .collect();
            record.push(schema.label.classes[label as usize].clone());
            csv.write_record(&record)?;
        }
        csv.flush()
    })?;
    Ok(())
}
