//! `probity prove`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde_json::Value;

use super::fields::Fields;
use super::inputs::{Hardware, Threads, in_directory, unfinished};
use super::output::{Output, verdict};
use super::render::{count, interval, percent, table};
use super::run::{At, Left, Performed};
use probity::fairness::estimate::Verdict;
use probity::fairness::prove::run::{Proof, ProveSpecification};
use probity::fairness::prove::summary::{Place as Region, ProofEnding, ProveSummary};
use probity::run::place::Place;
use probity::run::specification::Checked;
use probity::tensor::device::DeviceName;

/// Regions that are shown.
const SHOWN: usize = 5;

/// Arguments of `probity prove`.
#[derive(Debug, Args)]
#[command(
    after_help = "With --fail-above the exit code is 0 only when it is proven that the share is at or below the bound."
)]
pub(super) struct ProveArgs {
    #[command(flatten)]
    fields: Fields<ProveSpecification>,
    /// Run directory [default: the next free runs/prove-N]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Go on with the unfinished run in --out; all options but the limits come from there
    #[arg(long, requires = "out")]
    resume: bool,
    #[command(flatten)]
    threads: Threads,
}

/// Runs `probity prove`.
pub(super) fn run(mut args: ProveArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let (specification, place) = match args.resume {
        true => {
            // Without another limit the run goes on to its end.
            if !args.fields.is_given("time") {
                args.fields.set("time", Value::Null);
            }
            unfinished(args.out, &args.fields)?
        }
        false => (args.fields.specification()?, Place::New(args.out)),
    };
    let hardware = Hardware::cpu(args.threads);
    ProveSpecification::perform_at(specification, At::whole(place, &hardware, output))
}

impl Performed for ProveSpecification {
    fn perform_at(specification: Checked<Self>, at: At<'_>) -> anyhow::Result<ExitCode> {
        at.hardware.threads.apply()?;
        at.place.expect_device(DeviceName::Flex, None)?;
        let output = at.output;
        let model = specification.model.clone();
        let proof = Proof::open(specification, at.place.began())?;
        let doing = format!("proving {}", model.display());
        let (directory, summary) = match at.perform(proof, &doing)? {
            Left::Ended { directory, summary } => (in_directory(directory)?, summary),
            Left::Said(code) => return Ok(code),
        };
        let text = render(&summary) + &what_next(&model, &summary, directory.path());
        output.result(&summary, &text)?;
        // A declared bound has to be shown to hold.
        let bound = summary.fail_above;
        Ok(verdict(
            bound.is_none_or(|bound| bound.verdict == Verdict::Within),
        ))
    }
}

/// A whole number in decimal digits, in groups of three; beyond 10¹² by its power.
fn points(digits: &str) -> String {
    match digits.parse::<u64>() {
        Ok(number) if number < 1_000_000_000_000 => count(number),
        _ => {
            let (first, rest) = digits.split_at(1);
            format!("{first}.{} · 10^{}", &rest[..1], rest.len())
        }
    }
}

fn render(summary: &ProveSummary) -> String {
    let of = match (&summary.population, summary.is_weighted) {
        (Some(_), _) => "people drawn from the population".to_owned(),
        (None, true) => "people drawn by the marginals".to_owned(),
        (None, false) => format!("{} combinations", points(&summary.points)),
    };
    let mut text = format!(
        "Proven: fair {}, discriminatory {}, undecided {} of {of}.\n",
        percent(summary.fair.share),
        percent(summary.discriminatory.share),
        percent(summary.undecided.share),
    );
    if let Some(population) = &summary.population {
        text.push_str(&format!(
            "The population is a mixture of {} products; {} of what it gives lies in the domain \
             that is decided.\n",
            count(population.components),
            percent(population.inside)
        ));
    }
    let rows = [
        ("fair", &summary.fair),
        ("discriminatory", &summary.discriminatory),
        ("undecided", &summary.undecided),
    ];
    let rows = rows.map(|(name, share)| {
        let points = share.points.clone().unwrap_or_default();
        vec![name.to_owned(), points, format!("{:.6}", share.share)]
    });
    text.push_str(&table(&["proven", "combinations", "share"], &rows));
    let protected = summary.protected.join(" + ");
    text.push_str(&format!(
        "Another decision by {protected} ({} combinations, all compared): proven {}",
        count(summary.combinations),
        interval(summary.bounds)
    ));
    match &summary.estimate {
        Some(estimate) => text.push_str(&format!(
            "; estimated {} (95 % interval {}, from {} points of undecided boxes).\n",
            percent(estimate.rate),
            interval(estimate.ci95),
            count(estimate.sampled)
        )),
        None => text.push_str(".\n"),
    }
    if let Some(search) = &summary.search {
        text.push_str(&format!(
            "A search from {} points of undecided boxes found {} discriminatory individuals among \
             {}; {} pairs of them are in {}.\n",
            count(search.seeds),
            count(search.discriminatory),
            count(search.generated),
            count(search.pairs),
            summary.samples_file
        ));
    }
    if !summary.largest.is_empty() {
        text.push_str("Where most of it is:\n");
    }
    for region in summary.largest.iter().take(SHOWN) {
        text.push_str(&format!("  {}\n", in_words(region)));
    }
    if !summary.deciding.is_empty() {
        let names = summary.deciding.iter().take(SHOWN);
        let names = names.map(|of| format!("{} ({})", of.attribute, percent(of.share)));
        let names: Vec<String> = names.collect();
        text.push_str(&format!("Boxes were split at {}.\n", names.join(", ")));
    }
    text
}

fn in_words(region: &Region) -> String {
    let conditions = region.conditions.iter();
    let conditions = conditions.map(|is| format!("{} {}", is.attribute, is.values));
    let conditions: Vec<String> = conditions.collect();
    let who = match conditions.is_empty() {
        true => "the whole domain".to_owned(),
        false => conditions.join("; "),
    };
    let share = match region.discriminatory >= 1.0 {
        true => "every one of them".to_owned(),
        false => format!("at least {} of them", percent(region.discriminatory)),
    };
    format!("{who}: {share} ({} of the domain)", percent(region.share))
}

/// Where the run is and what to do with it.
fn what_next(model: &Path, summary: &ProveSummary, directory: &Path) -> String {
    let path = directory.display();
    let go_on = match summary.ending {
        ProofEnding::Decided => String::new(),
        ProofEnding::Time => format!(
            "Go on with: probity prove --resume --out {path} --time LONGER \
             (counted from the beginning), or without --time to the end.\n"
        ),
        ProofEnding::MaxBoxes => {
            format!("Go on with: probity prove --resume --out {path} --max-boxes MORE\n")
        }
        ProofEnding::Interrupted => format!("Go on with: probity prove --resume --out {path}\n"),
    };
    let search = summary.undecided_file.as_ref().map(|file| {
        format!(
            "      probity audit --model {} --data {path}/{file} --protected {}\n",
            model.display(),
            summary.protected.join(",")
        )
    });
    format!(
        "{go_on}Run: {path}\nNext: probity verify {path}\n      probity report {path} --out report.html\n{}",
        search.unwrap_or_default()
    )
}
