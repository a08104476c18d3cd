//! `probity certify`

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;

use super::fields::Fields;
use super::inputs::{Hardware, Threads, directory_of};
use super::output::{Output, verdict};
use super::render::{alike, count, interval, percent, read_counts, table};
use super::run::{At, Performed};
use probity::fairness::certify::run::{
    Certifiable, Certification, CertifySpecification, CertifySummary,
};
use probity::fairness::certify::table::CertifiableTable;
use probity::fairness::certify::text::CertifiableTexts;
use probity::fairness::modality::ModalityName;
use probity::fairness::statistics::Share;
use probity::run::place::Place;
use probity::run::specification::Checked;

/// Arguments of `probity certify`.
#[derive(Debug, Args)]
#[command(
    after_help = "An input without a certificate need not be unfair; --exhaustive counts the fair ones."
)]
pub(super) struct CertifyArgs {
    #[command(flatten)]
    fields: Fields<CertifySpecification>,
    /// Texts that are certified: a text a line (.txt), or a table with --text-column
    #[arg(
        long,
        conflicts_with = "data",
        value_name = "FILE",
        help_heading = "Text"
    )]
    texts: Option<PathBuf>,
    /// Run directory [default: the next free runs/certify-N]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    threads: Threads,
}

/// Runs `probity certify`.
pub(super) fn run(mut args: CertifyArgs, output: &Output) -> anyhow::Result<ExitCode> {
    if let Some(texts) = &args.texts {
        args.fields.set_texts(texts)?;
    }
    let hardware = Hardware::cpu(args.threads);
    let at = At::new(args.out, &hardware, output);
    CertifySpecification::perform(args.fields.specification()?, at)
}

impl Performed for CertifySpecification {
    fn perform(specification: Checked<Self>, at: At<'_>) -> anyhow::Result<ExitCode> {
        at.hardware.threads.apply()?;
        match specification.modality {
            ModalityName::Table => certify::<CertifiableTable>(specification, at.place, at.output),
            ModalityName::Text => certify::<CertifiableTexts>(specification, at.place, at.output),
        }
    }
}

fn certify<M: Certifiable>(
    specification: Checked<CertifySpecification>,
    place: Place,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    // Everything that can be wrong with the input is found before anything is written.
    let certification = Certification::<M>::open(specification)?;
    let (directory, _) = directory_of(place, "certify")?;
    let bar = output.progress(0, "certify {spinner} {msg}, {elapsed}");
    let observe = &mut |set| {
        bar.set_message(format!("set {}", set + 1));
        bar.tick();
    };
    let model = &certification.specification().model;
    let summary = certification
        .run(&directory, observe)
        .with_context(|| format!("certifying with {}", model.display()))?;
    bar.finish_and_clear();
    let mut text = render(&summary);
    text.push_str(&format!("Run: {}\n", directory.path().display()));
    output.result(&summary, &text)?;
    let refuted: u64 = summary.sets.iter().filter_map(|set| set.refuted).sum();
    if refuted > 0 {
        bail!("{refuted} certificates are false; please report this as a defect of probity");
    }
    let joint = summary.sets.last().map_or(0.0, |set| set.certified.share);
    let failed = summary.fail_below.is_some_and(|bound| joint < bound);
    Ok(verdict(!failed))
}

fn share(share: &Share) -> String {
    format!("{} ({})", count(share.count), percent(share.share))
}

fn render(summary: &CertifySummary) -> String {
    let is_tried = summary.sets.iter().any(|set| set.calls.is_some());
    let mut names = vec![
        "protected",
        "inputs",
        "certified by one box",
        "certified",
        "95 % interval",
        "fair",
        "seconds",
    ];
    if is_tried {
        names.splice(6..6, ["not fair", "undecided", "model calls"]);
    }
    let rows = summary.sets.iter().map(|set| {
        let number = |of: Option<u64>| of.map_or_else(String::new, count);
        let mut row = vec![
            set.protected.join(" + "),
            count(set.inputs),
            share(&set.one_box),
            share(&set.certified),
            interval(set.certified.ci95),
            set.fair.as_ref().map_or("not counted".to_owned(), share),
            format!(
                "{:.2}",
                set.seconds + set.exhaustive_seconds.unwrap_or_default()
            ),
        ];
        if is_tried {
            row.splice(6..6, [set.unfair, set.undecided, set.calls].map(number));
        }
        row
    });
    let rows: Vec<Vec<String>> = rows.collect();
    let inputs = match summary.modality {
        ModalityName::Table => "rows",
        ModalityName::Text => "texts",
    };
    let mut text = alike(
        summary.decides_alike.as_ref(),
        inputs,
        "Whatever is decided alike is certified: that says nothing of fairness.",
    );
    text.push_str(&summary.data.as_ref().map_or_else(String::new, read_counts));
    text.push_str(&table(&names, &rows));
    let undecided: u64 = summary.sets.iter().filter_map(|set| set.undecided).sum();
    if undecided > 0 {
        text.push_str("Undecided inputs were not reached before --max-calls were spent.\n");
    }
    text
}
