//! `probity certify`

use std::path::PathBuf;

use anyhow::bail;
use clap::Args;

use super::exit_code::ExitCode;
use super::fields::Fields;
use super::inputs::{Hardware, Threads};
use super::output::{Output, verdict};
use super::run::{At, Left, Performed};
use probity::fairness::certify::run::{Certifiable, Certification, CertifySpecification};
use probity::fairness::certify::table::CertifiableTable;
use probity::fairness::certify::text::CertifiableTexts;
use probity::fairness::modality::ModalityName;
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
    CertifySpecification::perform_at(args.fields.specification()?, at)
}

impl Performed for CertifySpecification {
    fn perform_at(specification: Checked<Self>, at: At<'_>) -> anyhow::Result<ExitCode> {
        at.hardware.threads.apply()?;
        match specification.modality {
            ModalityName::Table => {
                certify(Certification::<CertifiableTable>::open(specification)?, at)
            }
            ModalityName::Text => {
                certify(Certification::<CertifiableTexts>::open(specification)?, at)
            }
        }
    }
}

fn certify<M: Certifiable>(
    certification: Certification<M>,
    at: At<'_>,
) -> anyhow::Result<ExitCode> {
    let output = at.output;
    let model = &certification.specification().model;
    let doing = format!("certifying with {}", model.display());
    let (directory, summary) = match at.end(certification, &doing)? {
        Left::Ended { directory, summary } => (directory, summary),
        Left::Said(code) => return Ok(code),
    };
    let next = format!("Run: {}\n", directory.path().display());
    output.run(&summary, &directory, &next)?;
    let refuted: u64 = summary.sets.iter().filter_map(|set| set.refuted).sum();
    if refuted > 0 {
        bail!("{refuted} certificates are false; please report this as a defect of probity");
    }
    let joint = summary.sets.last().map_or(0.0, |set| set.certified.share);
    let failed = summary.fail_below.is_some_and(|bound| joint < bound);
    Ok(verdict(!failed))
}
