//! `probity groups`

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;

use super::inputs::{Hardware, OutsideArg, absolute, with_outside};
use super::output::Output;
use super::render::{count, percent, table};
use probity::data::schema::Schema;
use probity::fairness::group::gaps::{Gap, Gaps};
use probity::fairness::group::grouping::{DeclaredBins, GroupedBy};
use probity::fairness::group::run::{GroupRun, GroupRunSummary, Part, run_groups};
use probity::fairness::group::{GroupOptions, GroupReport, GroupSet, Rate};
use probity::nn::model::Model;
use probity::nn::text_model::is_text_model;
use probity::run::run_directory::{RUN, RunDirectory, file_sha256};

/// Arguments of `probity groups`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: probity groups --model models/people --data people.csv --protected sex,age --bins age=30,50"
)]
pub(super) struct GroupsArgs {
    /// Model directory, as `probity train` or `probity import` writes it
    #[arg(long)]
    model: PathBuf,
    /// Labelled table; read by the model's schema
    #[arg(long)]
    data: PathBuf,
    /// Protected attributes [default: those marked in the model's schema]
    #[arg(long, value_delimiter = ',')]
    protected: Vec<String>,
    /// Which rows: all, or a part of those that the model was trained with
    #[arg(long, value_enum, default_value_t)]
    part: Part,
    /// Missing and outside values, where the model's schema expects any
    #[arg(long, value_enum)]
    outside: Option<OutsideArg>,
    /// Seed of the bootstrap
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Directory for run.toml and summary.json [default: none is written]
    #[arg(long)]
    out: Option<PathBuf>,
    #[command(flatten)]
    groups: GroupArgs,
    #[command(flatten)]
    hardware: Hardware,
}

/// How groups are made and judged.
#[derive(Debug, Args)]
#[command(next_help_heading = "Groups")]
pub(super) struct GroupArgs {
    /// The class that is good to get [default: the last one of the schema]
    #[arg(long, value_name = "CLASS")]
    favourable: Option<String>,
    /// Inner edges of the groups of a numeric attribute, such as age=25,45,65; may be given for several
    #[arg(long, value_name = "NAME=EDGES", value_parser = declared_bins)]
    bins: Vec<DeclaredBins>,
    /// Rows that a rate must be a share of to be judged
    #[arg(long, value_name = "ROWS", default_value_t = 30)]
    min_group: u64,
    /// Bins of the calibration error
    #[arg(long, value_name = "N", default_value_t = 10)]
    calibration_bins: u32,
    /// Bootstrap samples
    #[arg(long, value_name = "N", default_value_t = 1000)]
    resamples: u32,
}

fn declared_bins(text: &str) -> Result<DeclaredBins, String> {
    let wrong =
        || "an attribute and ascending numbers such as age=25,45,65 are expected".to_owned();
    let (attribute, edges) = text.split_once('=').ok_or_else(wrong)?;
    let edges = edges
        .split(',')
        .map(|edge| {
            edge.trim()
                .parse::<f64>()
                .ok()
                .filter(|edge| edge.is_finite())
        })
        .collect::<Option<Vec<f64>>>()
        .ok_or_else(wrong)?;
    Ok(DeclaredBins {
        attribute: attribute.trim().to_owned(),
        edges,
    })
}

impl GroupArgs {
    /// The options for the attributes `protected` of `schema`.
    pub(super) fn options(
        &self,
        schema: &Schema,
        protected: Vec<String>,
        seed: u64,
    ) -> GroupOptions {
        let usual = GroupOptions::usual(schema, protected, seed);
        GroupOptions {
            favourable: self.favourable.clone().unwrap_or(usual.favourable),
            bins: self.bins.clone(),
            min_group: self.min_group,
            calibration_bins: self.calibration_bins,
            resamples: self.resamples,
            protected: usual.protected,
            seed,
        }
    }
}

/// The attributes named, else those that `schema` marks as protected.
pub(super) fn protected_names(named: &[String], schema: &Schema) -> Vec<String> {
    if !named.is_empty() {
        return named.to_vec();
    }
    let marked = schema.protected().into_iter();
    marked
        .map(|attribute| schema.attributes[attribute].name.clone())
        .collect()
}

/// Runs `probity groups`.
pub(super) fn run(args: GroupsArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let device = args.hardware.open(output)?;
    if is_text_model(&args.model) {
        bail!(
            "{} classifies texts; groups are measured of tables",
            args.model.display()
        );
    }
    let model = Model::load(&args.model)?;
    if let Some(outside) = args.outside {
        with_outside(model.schema.clone(), outside)?;
    }
    let protected = protected_names(&args.protected, &model.schema);
    let run = GroupRun {
        command: "groups".to_owned(),
        probity_version: env!("CARGO_PKG_VERSION").to_owned(),
        model: absolute(&args.model),
        model_sha256: model.sha256(),
        data: absolute(&args.data),
        data_sha256: file_sha256(&args.data)?,
        outside: args.outside.map(Into::into),
        part: args.part,
        device: device.name(),
        hardware: device.hardware(),
        options: args.groups.options(&model.schema, protected, args.seed),
    };
    let summary = run_groups(&run, &model, &device)
        .with_context(|| format!("measuring {}", run.model.display()))?;
    let mut text = render_run(&summary);
    if let Some(out) = &args.out {
        let directory = RunDirectory::create(out)?;
        directory.write_toml(RUN, &run)?;
        directory.write_summary(&summary)?;
        text.push_str(&format!("Run: {}\n", directory.path().display()));
    }
    output.result(&summary, &text)?;
    Ok(ExitCode::SUCCESS)
}

fn render_run(summary: &GroupRunSummary) -> String {
    let report = &summary.report;
    let rows = match summary.part {
        Part::All => String::new(),
        part => format!(" of the {part} part"),
    };
    let mut text = format!("{} rows{rows}. {}", count(report.rows), choices(report));
    for set in &report.sets {
        text.push_str(&format!("\nBy {}\n", set.protected.join(" × ")));
        text.push_str(&groups_table(set));
        text.push_str(&sizes(set, report.min_group));
        text.push_str(&gaps_table(&set.gaps));
    }
    text.push_str(
        "\nIntervals hold with 95 % probability: exact ones of shares, bootstrap ones of differences, ratios and calibration \
         errors.\n",
    );
    text
}

/// What was chosen: the favourable class and the groups.
fn choices(report: &GroupReport) -> String {
    let mut text = format!("Favourable: {}.", report.favourable);
    for note in &report.groupings {
        let how = match note.by {
            GroupedBy::Values => "by value".to_owned(),
            GroupedBy::DeclaredBins => format!("in the bins {}", note.groups.join(", ")),
            GroupedBy::EqualBins => format!(
                "in {} equal bins of its domain, {} (choose others with --bins)",
                note.groups.len(),
                note.groups.join(", ")
            ),
        };
        text.push_str(&format!(" {}: {how}.", note.attribute));
    }
    text.push('\n');
    text
}

fn groups_table(set: &GroupSet) -> String {
    let rows: Vec<Vec<String>> = set
        .groups
        .iter()
        .map(|group| {
            let mut cells = vec![
                group.values.join(", "),
                count(group.rows),
                count(group.favourable_rows),
            ];
            let rates = [
                group.selection_rate,
                group.true_positive_rate,
                group.false_positive_rate,
                group.accuracy,
                group.calibration_error,
            ];
            let too_small = if group.too_small { "too small" } else { "-" };
            cells.extend(rates.map(|rate| rate.map_or(too_small.to_owned(), shown)));
            cells
        })
        .collect();
    table(
        &[
            "group",
            "rows",
            "favourable",
            "predicted so",
            "true positive",
            "false positive",
            "accuracy",
            "calibration error",
        ],
        &rows,
    )
}

fn shown(rate: Rate) -> String {
    format!("{} ({})", percent(rate.value), interval(rate.ci95))
}

fn interval([low, high]: [f64; 2]) -> String {
    format!("{:.1}–{:.1}", 100.0 * low, 100.0 * high)
}

/// Which groups are not judged.
fn sizes(set: &GroupSet, min_group: u64) -> String {
    let small = set.groups.iter().filter(|group| group.too_small).count();
    let mut text = String::new();
    if small > 0 {
        text.push_str(&format!(
            "{small} of {} groups have fewer than {min_group} rows and are not judged (--min-group).\n",
            set.groups.len()
        ));
    }
    if set.absent > 0 {
        text.push_str(&format!(
            "{} combinations have no row.\n",
            count(set.absent)
        ));
    }
    text
}

fn gaps_table(gaps: &Gaps) -> String {
    let rows: Vec<Vec<String>> = named_gaps(gaps)
        .into_iter()
        .map(|(name, gap)| match gap {
            Some(gap) => vec![
                name.to_owned(),
                format!("{:.4}", gap.value),
                format!("{:.4} – {:.4}", gap.ci95[0], gap.ci95[1]),
                gap.lowest.join(", "),
                gap.highest.join(", "),
            ],
            None => vec![
                name.to_owned(),
                "-".into(),
                "too few groups".into(),
                "-".into(),
                "-".into(),
            ],
        })
        .collect();
    table(
        &["gap", "value", "95 % interval", "lowest", "highest"],
        &rows,
    )
}

/// The gaps with their names.
pub(super) fn named_gaps(gaps: &Gaps) -> [(&'static str, Option<&Gap>); 6] {
    [
        (
            "demographic parity difference",
            gaps.demographic_parity_difference.as_ref(),
        ),
        (
            "demographic parity ratio",
            gaps.demographic_parity_ratio.as_ref(),
        ),
        (
            "equalised odds difference",
            gaps.equalised_odds_difference.as_ref(),
        ),
        (
            "equal opportunity difference",
            gaps.equal_opportunity_difference.as_ref(),
        ),
        ("accuracy difference", gaps.accuracy_difference.as_ref()),
        (
            "calibration difference",
            gaps.calibration_difference.as_ref(),
        ),
    ]
}
