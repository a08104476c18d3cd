//! `probity compare`

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;

use super::exit_code::ExitCode;
use super::fields::Fields;
use super::inputs::{Hardware, unfinished};
use super::output::Output;
use super::predictor::SearchArgs;
use super::render::{self, count, percent, table};
use super::run::{At, Performed};
use probity::fairness::compare::{CompareSpecification, Comparison, StrategyFigures};
use probity::fairness::modality::{Modality, ModalityName, TableCase, TextCase};
use probity::fairness::statistics::Mean;
use probity::run::run_directory::write_atomically;
use probity::run::specification::Checked;
use probity::tensor::device::ComputeDevice;

/// Name of the table in the run directory, the last file of a run.
const TABLE: &str = "table.md";

/// Arguments of `probity compare`.
#[derive(Debug, Args)]
#[command(
    after_help = "In a repeat every search gets the same seeds, options, checks and counting; repeats differ in their seeds. With --time the figures depend on the machine. An interrupted comparison keeps the searches that were done."
)]
pub(super) struct CompareArgs {
    #[command(flatten)]
    fields: Fields<CompareSpecification>,
    /// File that the seeds come from: a text a line (.txt), or a table with --text-column
    #[arg(
        long,
        conflicts_with_all = ["data", "resume"],
        value_name = "FILE",
        help_heading = "Text"
    )]
    texts: Option<PathBuf>,
    #[command(flatten)]
    search: SearchArgs,
    /// Run directory [default: the next free runs/compare-N]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Go on with the unfinished comparison in --out; all options but the limits of a predictor
    /// come from there
    #[arg(long, requires = "out")]
    resume: bool,
    #[command(flatten)]
    hardware: Hardware,
}

/// Runs `probity compare`.
pub(super) fn run(mut args: CompareArgs, output: &Output) -> anyhow::Result<ExitCode> {
    if args.resume {
        let (specification, place) = unfinished(args.out, &args.fields)?;
        return CompareSpecification::perform_at(
            specification,
            At::whole(place, &args.hardware, output),
        );
    }
    if let Some(texts) = &args.texts {
        args.fields.set_texts(texts)?;
    }
    args.search.set(&mut args.fields)?;
    let specification = args.fields.specification()?;
    CompareSpecification::perform_at(specification, At::new(args.out, &args.hardware, output))
}

impl Performed for CompareSpecification {
    fn perform_at(specification: Checked<Self>, at: At<'_>) -> anyhow::Result<ExitCode> {
        let device = at.device(|name| specification.predictor.device(name))?;
        at.place.expect_device(device.name(), Some(TABLE))?;
        match specification.modality {
            ModalityName::Table => compare::<TableCase>(specification, at, &device),
            ModalityName::Text => compare::<TextCase>(specification, at, &device),
        }
    }
}

fn compare<M: Modality>(
    specification: Checked<CompareSpecification>,
    at: At<'_>,
    device: &ComputeDevice,
) -> anyhow::Result<ExitCode> {
    let output = at.output;
    let comparing = format!("comparing on {}", specification.name());
    let open = || Comparison::<M>::open(specification, device);
    let comparison = output.while_reading(M::NAME, open);
    let comparison = comparison.with_context(|| comparing.clone())?;
    at.perform(comparison, &comparing, |directory, summary| {
        let path = directory.path().display();
        let plots = render::plots(directory.run())?;
        let mut markdown = markdown(&summary.strategies);
        markdown.push('\n');
        markdown.push_str(&finds(&summary.strategies));
        write_atomically(&directory.run().file(TABLE), markdown.as_bytes())?;
        let go_on = match summary.finished {
            true => String::new(),
            false => format!("Go on with: probity compare --resume --out {path}\n"),
        };
        Ok(format!("{go_on}{plots}Run: {path}, with {TABLE}\n"))
    })
}

/// What the strategies found, as a whole, as a Markdown table.
fn finds(strategies: &[StrategyFigures]) -> String {
    let searched = || strategies.iter().filter(|figures| !figures.runs.is_empty());
    let is_graded = searched().any(|figures| figures.finds.plausibility.is_some());
    // Words have no width.
    let has_l1 = searched().any(|figures| figures.finds.l1.is_some());
    let decimals =
        |mean: &Mean, decimals: usize| with_interval(mean, |value| format!("{value:.decimals$}"));
    let rows = searched().map(|figures| {
        let of = &figures.finds;
        let mut row = vec![
            figures.strategy.name().to_owned(),
            with_interval(&of.reached, percent),
            decimals(&figures.found_per_seed, 1),
            decimals(&figures.found_per_thousand_passes, 1),
            decimals(&of.hamming, 3),
        ];
        row.extend(of.l1.iter().map(|mean| decimals(mean, 3)));
        row.extend([
            whole(&of.cells),
            format!("{} of {}", decimals(&of.clusters, 1), of.data_clusters),
        ]);
        if is_graded {
            let grade = of.plausibility.as_ref();
            row.push(grade.map_or("-".to_owned(), |mean| with_interval(mean, percent)));
        }
        row
    });
    let mut header = vec![
        "strategy",
        "seeds reached",
        "found a seed",
        "found in 1,000 passes",
        "Hamming",
    ];
    header.extend(has_l1.then_some("L1"));
    header.extend(["cells", "clusters"]);
    header.extend(is_graded.then_some("plausibility"));
    table(&header, &rows.collect::<Vec<_>>())
}

/// The strategies as a Markdown table, in the order asked for.
pub(super) fn markdown(strategies: &[StrategyFigures]) -> String {
    let rows: Vec<Vec<String>> = strategies
        .iter()
        .filter(|figures| !figures.runs.is_empty())
        .map(|figures| {
            vec![
                figures.strategy.name().to_owned(),
                whole(&figures.global),
                whole(&figures.local),
                whole(&figures.found),
                figures.found_range.map(count).join(" – "),
                percent(figures.success_rate.mean),
                format!("{:.2}", figures.seconds.mean),
                whole(&figures.found_per_second),
                with_interval(&figures.found_per_thousand_calls, |value| {
                    format!("{value:.1}")
                }),
            ]
        })
        .collect();
    table(
        &[
            "strategy",
            "found, global",
            "found, local",
            "found",
            "least – most",
            "success",
            "seconds",
            "found a second",
            "found in 1,000 calls",
        ],
        &rows,
    )
}

fn whole(mean: &Mean) -> String {
    with_interval(mean, |value| count(value.round() as u64))
}

fn with_interval(mean: &Mean, format: impl Fn(f64) -> String) -> String {
    match mean.ci95 {
        Some([low, high]) => {
            format!("{} ({} – {})", format(mean.mean), format(low), format(high))
        }
        None => format(mean.mean),
    }
}
