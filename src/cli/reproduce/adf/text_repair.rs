//! `probity reproduce adf --table XIII`: discriminatory texts that retraining and certified training
//! mend.

use std::path::PathBuf;
use std::process::ExitCode;

use serde::Serialize;
use tempfile::TempDir;

use super::super::not_found;
use super::texts::training;
use super::{AdfArgs, PAPER};
use crate::cli::inputs::absolute;
use crate::cli::interrupt::Interrupt;
use crate::cli::output::Output;
use crate::cli::render::table;
use crate::cli::repair_texts::mean;
use crate::device::use_threads;
use crate::fairness::repair::options::RepairMethod;
use crate::fairness::text::paper::{ATTRIBUTES, find, repaired};
use crate::fairness::text::protected::open_lexicon;
use crate::fairness::text::repair::{
    PreparedTextRepair, TextRepairOptions, TextRepairSummary, repair_texts,
};
use crate::fairness::text::strategy::TextStrategyName;
use crate::nn::Objective;
use crate::nn::recurrent::network::CellKind;
use crate::nn::text_train::Course;
use crate::nn::text_training_run::{TextSet, TextTrainingRun, run_text_training};
use crate::report::run_directory::{RunDirectory, file_sha256};

/// Texts that a search finds at most. The paper's independent sets have 155,690 on average.
const MAX_FOUND: u64 = 20_000;

#[derive(Serialize)]
struct TextRepairTableSummary {
    schema_version: u32,
    command: &'static str,
    paper: &'static str,
    table: &'static str,
    seed: u64,
    finished: bool,
    rows: Vec<ReproducedTextRepair>,
    not_found: Vec<String>,
}

/// One network and attribute.
#[derive(Serialize)]
struct ReproducedTextRepair {
    model: CellKind,
    attribute: &'static str,
    /// Percent, augmented and certified.
    paper: [f64; 2],
    augmented: TextRepairSummary,
    certified: TextRepairSummary,
}

/// The network that is repaired, in a folder of its own.
struct Original {
    folder: TempDir,
    sha256: String,
    training: TextTrainingRun,
}

/// Prints table XIII.
pub(super) fn run(args: &AdfArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let attributes = args.attributes()?;
    use_threads(args.hardware.threads.map(usize::from))?;
    let folders = args.data.folders();
    let mut summary = TextRepairTableSummary {
        schema_version: 1,
        command: "reproduce adf",
        paper: PAPER,
        table: "XIII",
        seed: args.seed,
        finished: true,
        rows: Vec::new(),
        not_found: Vec::new(),
    };
    match find(&folders) {
        Err(missing) => summary.not_found = missing,
        Ok((texts, vectors)) => {
            let interrupt = Interrupt::listen()?;
            let files = (absolute(&texts), absolute(&vectors));
            let rows = &mut summary.rows;
            summary.finished = fill(args, &attributes, &files, &interrupt, rows, output)?;
        }
    }
    let text = render(&summary, &folders);
    output.result(&summary, &text)?;
    Ok(ExitCode::SUCCESS)
}

/// The kinds of cell asked for; both without any.
fn cells(args: &AdfArgs) -> Vec<CellKind> {
    if args.models.is_empty() {
        vec![CellKind::Lstm, CellKind::Gru]
    } else {
        args.models.clone()
    }
}

/// Repairs every network by both methods; whether it was not interrupted.
fn fill(
    args: &AdfArgs,
    attributes: &[usize],
    (texts, vectors): &(PathBuf, PathBuf),
    interrupt: &Interrupt,
    rows: &mut Vec<ReproducedTextRepair>,
    output: &Output,
) -> anyhow::Result<bool> {
    let sha256 = file_sha256(texts)?;
    for cell in cells(args) {
        output.remark(&format!("{cell:?}: training"));
        let training = training((texts, &sha256, vectors), cell, args.seed)?;
        let original = train(training, interrupt)?;
        for &attribute in attributes {
            let mut summaries = Vec::new();
            for method in [RepairMethod::Samples, RepairMethod::Certified] {
                if interrupt.flow().is_break() {
                    return Ok(false);
                }
                output.remark(&format!("{cell:?}, {}: {method:?}", ATTRIBUTES[attribute]));
                let options = options(args, &original, ATTRIBUTES[attribute], method)?;
                let prepared = PreparedTextRepair::new(options)?;
                let folder = TempDir::new()?;
                let run = RunDirectory::create(&folder.path().join("repair"))?;
                let summary = repair_texts(&prepared, &run, &mut |_| interrupt.flow())?;
                if !summary.finished {
                    return Ok(false);
                }
                summaries.push(summary);
            }
            if let [augmented, certified] = &summaries[..] {
                rows.push(ReproducedTextRepair {
                    model: cell,
                    attribute: ATTRIBUTES[attribute],
                    paper: repaired(cell)[attribute],
                    augmented: augmented.clone(),
                    certified: certified.clone(),
                });
            }
        }
    }
    Ok(true)
}

fn train(training: TextTrainingRun, interrupt: &Interrupt) -> anyhow::Result<Original> {
    let folder = TempDir::new()?;
    let run = RunDirectory::create(&folder.path().join("model"))?;
    let set = TextSet::read(&training)?;
    let trained = run_text_training(&training, &set, &run, false, &mut |_| interrupt.flow())?;
    Ok(Original {
        folder,
        sha256: trained.model_sha256,
        training,
    })
}

fn options(
    args: &AdfArgs,
    original: &Original,
    attribute: &str,
    method: RepairMethod,
) -> anyhow::Result<TextRepairOptions> {
    let (_, lexicon_sha256) = open_lexicon(None)?;
    Ok(TextRepairOptions {
        command: "repair".to_owned(),
        probity_version: env!("CARGO_PKG_VERSION").to_owned(),
        method,
        model: original.folder.path().join("model"),
        model_sha256: original.sha256.clone(),
        texts_sha256: original.training.texts_sha256.clone(),
        lexicon: None,
        lexicon_sha256,
        protected: vec![attribute.to_owned()],
        strategy: TextStrategyName::AdfAsc,
        objective: Objective::Loss,
        seeds: args.seeds,
        max_iter: 10,
        local: args.trials(),
        max_found: MAX_FOUND,
        share: 0.05,
        repeats: args.repeats,
        max_accuracy_loss: 0.02,
        course: Course::default(),
        splits: 64,
        seed: args.seed,
        training: original.training.clone(),
    })
}

fn render(summary: &TextRepairTableSummary, folders: &[PathBuf]) -> String {
    let mut text = format!(
        "Table XIII of {}. Percent of an independent set that is no longer discriminatory, paper / ours (means, 95 % interval):\n",
        summary.paper
    );
    let cells = summary.rows.iter().map(|row| {
        let points = |repaired: &TextRepairSummary| {
            let after = TextRepairSummary::mean(&repaired.repaired, |network| network.accuracy);
            format!("{:+.2}", 100.0 * (after - repaired.before.accuracy))
        };
        vec![
            format!("{:?} {}", row.model, row.attribute),
            format!(
                "{:.1} / {}",
                row.paper[0],
                mean(&row.augmented.repaired, |network| network.repaired.share)
            ),
            format!(
                "{:.1} / {}",
                row.paper[1],
                mean(&row.certified.repaired, |network| network.repaired.share)
            ),
            mean(&row.augmented.control, |network| network.repaired.share),
            points(&row.augmented),
            points(&row.certified),
            mean(&row.certified.repaired, |network| network.certified.share),
        ]
    });
    text.push_str(&table(
        &[
            "network, attribute",
            "augmented",
            "certified",
            "retrained without",
            "accuracy, augmented",
            "accuracy, certified",
            "test texts certified",
        ],
        &cells.collect::<Vec<_>>(),
    ));
    text.push_str(&not_found(&summary.not_found, folders));
    if !summary.finished {
        text.push_str("Interrupted: this is what was found by then.\n");
    }
    text
}
