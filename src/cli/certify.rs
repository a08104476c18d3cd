//! `probity certify`

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;

use super::fields::Fields;
use super::inputs::{Hardware, Threads, directory_of};
use super::output::{Output, verdict};
use super::run::{At, Performed};
use probity::fairness::certify::run::{Certifiable, Certification, CertifySpecification};
use probity::fairness::certify::table::CertifiableTable;
use probity::fairness::certify::text::CertifiableTexts;
use probity::fairness::modality::ModalityName;
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
    let next = format!("Run: {}\n", directory.path().display());
    output.run(&summary, directory.path(), &next)?;
    let refuted: u64 = summary.sets.iter().filter_map(|set| set.refuted).sum();
    if refuted > 0 {
        bail!("{refuted} certificates are false; please report this as a defect of probity");
    }
    let joint = summary.sets.last().map_or(0.0, |set| set.certified.share);
    let failed = summary.fail_below.is_some_and(|bound| joint < bound);
    Ok(verdict(!failed))
}
