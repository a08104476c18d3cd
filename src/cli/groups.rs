//! `probity groups`

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;

use super::fields::Fields;
use super::inputs::Hardware;
use super::output::Output;
use super::predictor::started_here;
use super::render::{count, counted, percent, read_counts, table};
use super::render_text_groups::text_groups;
use super::run::{At, Left, Performed};
use probity::fairness::group::grouping::{DeclaredBins, GroupedBy};
use probity::fairness::group::impact::{ImpactRate, ImpactReport, ImpactSet};
use probity::fairness::group::run::{
    GroupMeasurement, GroupRunSummary, GroupsSpecification, MeasuredGroups, Part,
};
use probity::fairness::group::{GroupReport, GroupSet, Rate};
use probity::run::specification::Checked;

/// Arguments of `probity groups`.
#[derive(Debug, Args)]
pub(super) struct GroupsArgs {
    #[command(flatten)]
    fields: Fields<GroupsSpecification>,
    /// Labelled texts that are measured: a table with --text-column and --label-column
    #[arg(
        long,
        conflicts_with = "data",
        value_name = "FILE",
        help_heading = "Text"
    )]
    texts: Option<PathBuf>,
    /// Inner edges of the groups of a numeric attribute, such as age=25,45,65; may be given for
    /// several
    #[arg(long, value_name = "COLUMN=EDGE,…", help_heading = "Groups")]
    edges: Vec<DeclaredBins>,
    /// Directory for run.toml and summary.json [default: none is written]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    hardware: Hardware,
}

/// Runs `probity groups`.
pub(super) fn run(mut args: GroupsArgs, output: &Output) -> anyhow::Result<ExitCode> {
    if let Some(texts) = &args.texts {
        args.fields.set_texts(texts)?;
    }
    if !args.edges.is_empty() {
        let edges: Vec<String> = args.edges.into_iter().map(String::from).collect();
        args.fields.set("groups.edges", edges);
    }
    started_here(&mut args.fields)?;
    let specification = args.fields.specification()?;
    GroupsSpecification::perform_at(specification, At::new(args.out, &args.hardware, output))
}

impl Performed for GroupsSpecification {
    fn perform_at(specification: Checked<Self>, at: At<'_>) -> anyhow::Result<ExitCode> {
        let device = at.device(|name| specification.predictor.device(name))?;
        let output = at.output;
        let name = specification.predictor.name_or(&specification.model);
        let measuring = format!("measuring {name}");
        let measurement = GroupMeasurement::open(specification, &device);
        let measurement = measurement.with_context(|| measuring.clone())?;
        let (directory, summary) = match at.perform(measurement, &measuring)? {
            Left::Ended { directory, summary } => (directory, summary),
            Left::Said(code) => return Ok(code),
        };
        let mut text = render_run(&summary);
        if let Some(directory) = directory {
            text.push_str(&format!("Run: {}\n", directory.path().display()));
        }
        output.result(&summary, &text)
    }
}

fn render_run(summary: &GroupRunSummary) -> String {
    let part = match summary.part {
        Part::All => String::new(),
        part => format!(" of the {part} part"),
    };
    let left_out = summary.data.as_ref().map_or_else(String::new, read_counts);
    left_out
        + &match &summary.report {
            MeasuredGroups::Table(report) => row_groups(report, &part),
            MeasuredGroups::Text(report) => text_groups(report, &part),
        }
}

fn row_groups(report: &GroupReport, part: &str) -> String {
    let mut text = format!("{} rows{part}. {}", count(report.rows), choices(report));
    if report.rows_with_outcome < report.rows {
        let known = match report.rows_with_outcome {
            0 => "not defined: no outcomes".to_owned(),
            known => format!("of the {} rows that have one", count(known)),
        };
        text.push_str(&format!(
            "Of {} no outcome is known. Shares predicted so are of all rows; true and false positive rates, accuracy and \
             calibration errors are {known}.\n",
            counted(report.rows - report.rows_with_outcome, "row", "rows")
        ));
    }
    for set in &report.sets {
        text.push_str(&format!("\nBy {}\n", set.protected.join(" × ")));
        text.push_str(&groups_table(set));
        text.push_str(&sizes(set, report.min_group));
        text.push_str(&gaps_table(set));
        text.push_str(&reasons(set));
    }
    text.push_str(
        "\nIntervals hold with 95 % probability, each by itself: those of shares and calibration errors for any number of rows, \
         those of other gaps, by the bootstrap, the better the more rows there are. Of few rows, a calibration error itself \
         comes out too large.\n",
    );
    if let Some(impact) = &report.impact {
        text.push_str(&impact_ratios(impact));
    }
    text
}

/// The categories of a bias audit, as `probity report --format ll144` publishes them.
fn impact_ratios(impact: &ImpactReport) -> String {
    let counted = match (impact.rate, impact.median) {
        (ImpactRate::Scoring, Some(median)) => {
            format!("counted is whose score is above the median, {median}")
        }
        _ => "counted is who is predicted as the favourable class".to_owned(),
    };
    let mut text = format!("\nImpact ratios: {counted}.\n");
    for set in &impact.sets {
        text.push_str(&format!("\nBy {}\n", set.attributes.join(" × ")));
        text.push_str(&impact_table(set));
        if set.unknown > 0 {
            let unknown = count(set.unknown);
            text.push_str(&format!("Of unknown category: {unknown} rows.\n"));
        }
    }
    if impact.exclusion_reason.is_none() {
        text.push_str(
            "\nNo category is left out of the ratios; with --exclusion-reason those below 2 % of the rows are.\n",
        );
    }
    text
}

fn impact_table(set: &ImpactSet) -> String {
    let none = || "-".to_owned();
    let rows: Vec<Vec<String>> = set
        .categories
        .iter()
        .map(|category| {
            vec![
                category.values.join(", "),
                count(category.rows),
                percent(category.share),
                count(category.counted),
                category.rate.map_or_else(none, shown),
                match category.impact_ratio {
                    Some(ratio) => format!("{ratio:.3}"),
                    None if category.excluded => "excluded".to_owned(),
                    None => none(),
                },
            ]
        })
        .collect();
    table(
        &["category", "rows", "of all", "counted", "rate", "ratio"],
        &rows,
    )
}

/// What was chosen: the favourable class and the groups.
fn choices(report: &GroupReport) -> String {
    let why = match report.is_favourable_given {
        true => "",
        false => ", the last class of the schema (--favourable chooses another)",
    };
    let mut text = format!("Favourable: {}{why}.", report.favourable);
    for note in &report.groupings {
        let how = match note.by {
            GroupedBy::Values => "by value".to_owned(),
            GroupedBy::DeclaredBins => format!("in the bins {}", note.groups.join(", ")),
            GroupedBy::EqualBins => format!(
                "in {} equal bins of its domain, {} (choose others with --edges)",
                note.groups.len(),
                note.groups.join(", ")
            ),
        };
        text.push_str(&format!(" {}: {how}.", note.attribute));
    }
    text.push('\n');
    text
}

/// What stands for a figure of which nothing can be said.
const NOT_DEFINED: &str = "not defined";

/// Why figures of a set are not defined, each reason with the groups, or the gaps, that it is about.
fn reasons(set: &GroupSet) -> String {
    let mut of: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for group in &set.groups {
        for &reason in group.not_defined.values() {
            of.entry(reason)
                .or_default()
                .insert(group.values.join(", "));
        }
    }
    for (name, &reason) in &set.not_defined {
        of.entry(reason).or_default().insert(name.replace('_', " "));
    }
    let said = of.into_iter().map(|(reason, of)| {
        let of: Vec<String> = of.into_iter().collect();
        format!("Not defined ({reason}): {}.\n", of.join("; "))
    });
    said.collect()
}

fn groups_table(set: &GroupSet) -> String {
    let rows: Vec<Vec<String>> = set
        .groups
        .iter()
        .map(|group| {
            let mut cells = vec![
                group.values.join(", "),
                count(group.rows),
                group.favourable_rows.map_or(NOT_DEFINED.to_owned(), count),
            ];
            let rates = [
                ("selection_rate", group.selection_rate),
                ("true_positive_rate", group.true_positive_rate),
                ("false_positive_rate", group.false_positive_rate),
                ("accuracy", group.accuracy),
                ("calibration_error", group.calibration_error),
            ];
            cells.extend(rates.map(|(name, rate)| match rate {
                Some(rate) => shown(rate),
                None if group.not_defined.contains_key(name) => NOT_DEFINED.to_owned(),
                None => "too small".to_owned(),
            }));
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

fn gaps_table(set: &GroupSet) -> String {
    let is_undefined = |name: &str| {
        let name = name.replace(' ', "_");
        set.not_defined.contains_key(name.as_str())
    };
    let rows: Vec<Vec<String>> = set
        .gaps
        .named()
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
                match is_undefined(name) {
                    true => NOT_DEFINED.to_owned(),
                    false => "too few groups".to_owned(),
                },
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
