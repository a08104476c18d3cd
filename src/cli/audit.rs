//! `probity audit`

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use serde_json::Value;

use super::exit_code::ExitCode;
use super::fields::Fields;
use super::inputs::{Hardware, unfinished};
use super::output::Output;
use super::predictor::SearchArgs;
use super::run::{At, Performed};
use super::sentence;
use probity::fairness::audit::{Audit, AuditSpecification};
use probity::fairness::modality::{
    Modality, ModalityName, TableCase, TableDetails, TextCase, TextDetails,
};
use probity::fairness::search::Ending;
use probity::run::specification::{Checked, Specification};
use probity::tensor::device::ComputeDevice;

/// Arguments of `probity audit`.
#[derive(Debug, Args)]
#[command(
    after_help = "With --fail-above the exit code is 0 only when the whole 95 % interval is at or below the bound."
)]
pub(super) struct AuditArgs {
    #[command(flatten)]
    fields: Fields<AuditSpecification>,
    /// File that the seeds come from: a text a line (.txt), or a table with --text-column
    #[arg(
        long,
        conflicts_with_all = ["data", "resume"],
        value_name = "FILE",
        help_heading = "Text"
    )]
    texts: Option<PathBuf>,
    /// Examine this one text: how the score moves under each replacement of a protected term
    #[arg(long, conflicts_with_all = ["data", "texts", "resume", "out", "refresh"], help_heading = "Text")]
    text: Option<String>,
    #[command(flatten)]
    search: SearchArgs,
    /// Run directory [default: the next free runs/audit-N]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Go on with the unfinished run in --out; all options but the limits of time come from there
    #[arg(long, requires = "out")]
    resume: bool,
    #[command(flatten)]
    hardware: Hardware,
}

/// What `--text` takes besides.
const OF_ONE_TEXT: [&str; 4] = ["model", "protected", "text.lexicon", "text.preset"];

/// Runs `probity audit`.
pub(super) fn run(mut args: AuditArgs, output: &Output) -> anyhow::Result<ExitCode> {
    if let Some(text) = &args.text {
        let given = |path: &str| args.fields.is_given(path) && !OF_ONE_TEXT.contains(&path);
        let fields = AuditSpecification::fields();
        if let Some(field) = fields.iter().find(|field| given(&field.path)) {
            let flag = field.flag().unwrap_or_else(|| field.path.clone());
            bail!("--{flag} cannot be given with --text");
        }
        args.fields.set("modality", "text");
        args.fields.set("data", "-");
        let specification = args.fields.specification()?;
        return sentence::run(&specification, text, &args.hardware, output);
    }
    if args.resume {
        // Without another budget the run goes on to its end.
        for budget in ["budget.time", "budget.max_calls"] {
            if !args.fields.is_given(budget) {
                args.fields.set(budget, Value::Null);
            }
        }
        let (specification, place) = unfinished(args.out, &args.fields)?;
        return AuditSpecification::perform_at(
            specification,
            At::whole(place, &args.hardware, output),
        );
    }
    if let Some(texts) = &args.texts {
        args.fields.set_texts(texts)?;
    }
    args.search.set(&mut args.fields)?;
    let specification = args.fields.specification()?;
    AuditSpecification::perform_at(specification, At::new(args.out, &args.hardware, output))
}

/// What only the audits of one modality have.
pub(super) trait Seeded {
    /// Why there are only that many seeds.
    fn only(seeds: u64) -> String;
}

impl Seeded for TableDetails {
    fn only(seeds: u64) -> String {
        format!("the data have {seeds} rows")
    }
}

impl Seeded for TextDetails {
    fn only(seeds: u64) -> String {
        format!("{seeds} texts hold a protected term")
    }
}

impl Performed for AuditSpecification {
    fn perform_at(specification: Checked<Self>, at: At<'_>) -> anyhow::Result<ExitCode> {
        let device = at.device(|name| specification.predictor.device(name))?;
        at.place.expect_device(device.name(), None)?;
        match specification.modality {
            ModalityName::Table => audit::<TableCase>(specification, at, &device),
            ModalityName::Text => audit::<TextCase>(specification, at, &device),
        }
    }

    /// A declared bound has to be shown to hold.
    fn passes(summary: &Value) -> bool {
        let bound = &summary["fail_above"];
        bound.is_null() || bound["verdict"] == "within"
    }
}

fn audit<M: Modality>(
    specification: Checked<AuditSpecification>,
    at: At<'_>,
    device: &ComputeDevice,
) -> anyhow::Result<ExitCode>
where
    M::Details: Seeded,
{
    let output = at.output;
    let auditing = format!("auditing {}", specification.name_of("model"));
    let wanted = specification.search.seeds as u64;
    let open = || Audit::<M>::open(specification, device);
    let audit = output.while_reading(M::NAME, open);
    let audit = audit.with_context(|| auditing.clone())?;
    at.perform(audit, &auditing, |directory, summary| {
        let found = summary.global.seeds;
        if found < wanted {
            output.remark(&format!(
                "note: {}, so there are {found} seeds, not {wanted}",
                M::Details::only(found)
            ));
        }
        Ok(what_next(summary.ending, directory.path()))
    })
}

/// Where the run is and what to do with it.
fn what_next(ending: Ending, directory: &Path) -> String {
    let path = directory.display();
    let go_on = match ending {
        Ending::Complete | Ending::MaxFound => String::new(),
        Ending::Time => format!(
            "Go on with: probity audit --resume --out {path} --time LONGER \
             (counted from the beginning), or without --time to the end.\n"
        ),
        Ending::MaxCalls => format!(
            "Go on with: probity audit --resume --out {path} --max-calls MORE \
             (counted from the beginning), or without --max-calls to the end.\n"
        ),
        Ending::Interrupted => format!("Go on with: probity audit --resume --out {path}\n"),
    };
    format!(
        "{go_on}Run: {path}\nNext: probity verify {path}\n      probity report {path} --out report.html\n"
    )
}
