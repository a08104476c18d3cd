//! `probity demo`: the whole main job on data whose discrimination is known.

mod demonstration;
mod hidden;
mod table;
mod text;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::Serialize;

use self::demonstration::Demonstration;
use super::exit_code::ExitCode;
use super::fields::absolute;
use super::inputs::{Hardware, new_run};
use super::numbers::{MOST_ROWS, seed, whole};
use super::output::{Output, Summary};
use super::progress::{Failed, Watch};
use super::written::Written;
use probity::fairness::audit::{Audit, AuditSummary};
use probity::fairness::estimate::Estimate;
use probity::fairness::modality::{Modality, ModalityName, TableCase, TextCase};
use probity::nn::train::run::{Trainable, Training, TrainingSummary};
use probity::nn::train::table_set::TableSet;
use probity::nn::train::text_set::TextSet;
use probity::run::run_directory::RunDirectory;
use probity::run::runner::{Observer, OpenedRun, Target};
use probity::run::specification::Specification;
use probity::tensor::device::ComputeDevice;

/// Arguments of `probity demo`.
#[derive(Debug, Args)]
pub(super) struct DemoArgs {
    /// What is classified
    #[arg(value_enum, default_value_t)]
    kind: DemoKind,
    /// Directory for data, model and audit [default: the next free runs/demo-N]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// People in the synthetic census [default: 30000], generated comments [default: 20000], or
    /// hidden people [default: 2000]
    #[arg(long, value_name = "N", value_parser = whole::<u32>(100..=MOST_ROWS), allow_hyphen_values = true)]
    rows: Option<u32>,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = seed(), allow_hyphen_values = true)]
    seed: u64,
    #[command(flatten)]
    hardware: Hardware,
}

/// What a demonstration classifies.
#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum DemoKind {
    /// People of a synthetic census
    #[default]
    Table,
    /// Generated comments with identity terms
    Text,
    /// People who are hired without their sex being seen, which yet moves what is seen
    Hidden,
}

/// What was planted and what the audit says, for one protected set.
#[derive(Serialize)]
struct Recovery {
    protected: Vec<String>,
    planted: f64,
    estimated: f64,
    ci95: [f64; 2],
    recovered: bool,
}

impl Recovery {
    /// Compares a `planted` share with an estimate.
    fn new(planted: f64, estimate: &Estimate) -> Recovery {
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
struct DemoSummary<D> {
    recovery: Vec<Recovery>,
    training: TrainingSummary,
    audit: AuditSummary<D>,
}

/// Runs `probity demo`.
pub(super) fn run(args: DemoArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let device = args.hardware.open(output)?;
    let directory = new_run(args.out.clone(), "demo")?;
    let rows = |usual: u32| args.rows.unwrap_or(usual);
    match args.kind {
        DemoKind::Table => {
            let data = absolute(&directory.file("people.csv"));
            let demonstration = table::make(&data, rows(table::PEOPLE), args.seed, output)?;
            show::<TableSet, TableCase>(demonstration, &directory, [&device; 2], output)
        }
        DemoKind::Text => {
            let data = absolute(&directory.file("comments.csv"));
            let demonstration = text::make(&data, rows(text::COMMENTS), args.seed, output)?;
            let devices = [&ComputeDevice::flex(), &device];
            show::<TextSet, TextCase>(demonstration, &directory, devices, output)
        }
        DemoKind::Hidden => {
            let people = (rows(hidden::PEOPLE), args.seed);
            hidden::run(&directory, people, &device, output)
        }
    }
}

/// Trains on the first device, searches on the second, and compares with what was planted.
fn show<T: Trainable, M: Modality>(
    demonstration: Demonstration,
    directory: &RunDirectory,
    devices: [&ComputeDevice; 2],
    output: &Output,
) -> anyhow::Result<ExitCode> {
    output.remark("Training a classifier on it …");
    let model = RunDirectory::create(&directory.file("model"))?;
    let training = demonstration.training.clone().check()?;
    let (data, seed) = (training.data.clone(), training.training.seed);
    let training = Training::<T>::open(training, devices[0])?;
    let watch = Watch::new(output);
    watch.begin(None).map_err(Failed)?;
    let trained = training.whole(Target::new(&model), &watch);
    watch.clear();
    let trained = trained.map_err(Failed)?;
    if !trained.finished {
        output.remark(&format!(
            "Interrupted; what there is so far is in {}.",
            directory.path().display()
        ));
        return output.run(&trained, &Written::kept(model), "");
    }

    output.remark("Searching it for individual discrimination …");
    let mut audit = demonstration.audit.clone();
    (audit.model, audit.data, audit.seed) = (Some(absolute(model.path())), data, seed);
    let run = RunDirectory::create(&directory.file("audit"))?;
    let audit = Audit::<M>::open(audit.check()?, devices[1])?;
    let audited = audit.whole(Target::new(&run), &watch);
    watch.clear();
    let audited = audited.map_err(Failed)?;
    let recovery = audited.fairness.iter().map(|estimate| {
        let planted = (demonstration.planted)(&estimate.protected)?;
        Ok(Recovery::new(planted, estimate))
    });
    let recovery: Vec<Recovery> = recovery.collect::<anyhow::Result<_>>()?;
    let figures = DemoSummary {
        recovery,
        training: trained,
        audit: audited,
    };
    let summary = Summary::new(demonstration.command, figures);
    directory.write_summary(&summary)?;
    let next = what_next(&demonstration, directory);
    output.run(&summary, &Written::kept(directory.clone()), &next)
}

/// What was made, and what to do with it.
fn what_next(demonstration: &Demonstration, directory: &RunDirectory) -> String {
    let path = directory.path().display();
    let data = demonstration.training.data.file_name().unwrap_or_default();
    let data = data.to_string_lossy();
    // A single text needs no data.
    let given = match demonstration.audit.modality {
        ModalityName::Table => format!(" --data {path}/{data}"),
        ModalityName::Text => String::new(),
    };
    format!(
        "Files: {path} ({data}, model/, audit/)\n\
         Next:\n  \
         probity verify {path}/audit\n  \
         probity report {path} --out report.html\n  \
         probity audit --model {path}/model{given} {}\n  \
         {}\n",
        demonstration.next_audit, demonstration.own_data,
    )
}
