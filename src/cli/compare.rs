//! `probity compare`

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;

use super::fields::Fields;
use super::inputs::{Hardware, directory_of, unfinished};
use super::output::Output;
use super::predictor::{
    SearchArgs, device_for, interrupt_with, remark_on_bins, remark_on_instability,
    remark_on_rounding,
};
use super::progress::AuditBar;
use super::render::{self, count, percent, table};
use super::run::{At, Performed};
use super::shards;
use probity::fairness::compare::{CompareSpecification, Comparison, StrategyFigures};
use probity::fairness::modality::{Modality, ModalityName, TableCase, TextCase};
use probity::fairness::session::AuditProgress;
use probity::fairness::statistics::Mean;
use probity::fairness::strategies::StrategyName;
use probity::run::run_directory::write_atomically;
use probity::run::shards::{Part, merged, work};
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
        return CompareSpecification::perform(
            specification,
            At::whole(place, &args.hardware, output),
        );
    }
    if let Some(texts) = &args.texts {
        args.fields.set_texts(texts)?;
    }
    args.search.set(&mut args.fields)?;
    let specification = args.fields.specification()?;
    CompareSpecification::perform(specification, At::new(args.out, &args.hardware, output))
}

impl Performed for CompareSpecification {
    fn perform(specification: Checked<Self>, at: At<'_>) -> anyhow::Result<ExitCode> {
        let device = device_for(&specification.predictor, at.hardware, at.output)?;
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
    let At {
        place,
        part,
        output,
        ..
    } = at;
    place.expect_device(device.name(), Some(TABLE))?;
    let name = specification.name();
    // Everything that can be wrong with the input is found before anything is written.
    let comparison = Comparison::<M>::open(specification, device)
        .with_context(|| format!("comparing on {name}"))?;
    if let Some(began) = place.began() {
        comparison.expect_unchanged(began)?;
    }
    remark_on_instability(comparison.case().instability(), output);
    remark_on_bins(comparison.case().bin_effect(), output);
    remark_on_rounding(comparison.case().rounded_rows(), output);
    let mut bar = AuditBar::new(output, interrupt_with(comparison.case().ender())?);
    let mut under_way = None;
    let repeats = comparison.specification().repeats;
    let observe = &mut |strategy: StrategyName, repeat, progress: AuditProgress<'_>| {
        if under_way.replace((strategy, repeat)) != Some((strategy, repeat)) {
            let name = strategy.name();
            output.detail(&format!("{name}, repeat {} of {repeats}", repeat + 1));
        }
        bar.observe(progress)
    };
    let (directory, summary) = match part {
        Part::Shard { folder, shard } => {
            let folder = comparison.shard_folder(&folder)?;
            let mut searches = comparison.searches(observe);
            let worked = work::<_, anyhow::Error>(&mut searches, &folder, shard);
            bar.clear();
            return shards::worked(worked?, shard, &folder, output);
        }
        Part::Merge { folder } => {
            let folder = comparison.shard_folder(&folder)?;
            let out = place.new_directory();
            let before =
                shards::merged_before::<CompareSpecification>(&folder, out, |_| true, output)?;
            if let Some(said) = before {
                return Ok(said);
            }
            let searches = merged(&comparison.searches(observe), &folder)?;
            let directory = shards::directory::<CompareSpecification>(&folder, out, "compare")?;
            let summary = comparison.merge(searches, &directory)?;
            (directory, summary)
        }
        Part::Whole => {
            let (directory, resume) = directory_of(place, "compare")?;
            let summary = comparison.run(&directory, resume, observe).with_context(|| {
                let path = directory.path().display();
                format!(
                    "comparing on {name} (searches that are done are kept; go on with: probity compare --resume --out {path})"
                )
            })?;
            (directory, summary)
        }
    };
    bar.clear();
    let path = directory.path().display();
    let plots = render::plots(&directory)?;
    let mut markdown = markdown(&summary.strategies);
    markdown.push('\n');
    markdown.push_str(&finds(&summary.strategies));
    write_atomically(&directory.file(TABLE), markdown.as_bytes())?;
    let go_on = match summary.finished {
        true => String::new(),
        false => format!("Go on with: probity compare --resume --out {path}\n"),
    };
    let next = format!("{go_on}{plots}Run: {path}, with {TABLE}\n");
    output.run(&summary, directory.path(), &next)
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
