//! `probity reproduce adf`: the text tables of the ADF paper.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::bail;
use clap::{Args, ValueEnum};
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};
use tempfile::TempDir;

use super::adf_repair::{self, RepairTable};
use super::adf_text_repair::{self, TextRepairTable};
use super::{DataFolders, not_found};
use crate::cli::inputs::{Hardware, absolute};
use crate::cli::interrupt::Interrupt;
use crate::cli::output::Output;
use crate::cli::render::{count, table};
use crate::device::ComputeDevice;
use crate::fairness::samples::SamplesFormat;
use crate::fairness::search::Ending;
use crate::fairness::text::audit::{PreparedTextAudit, audit_texts};
use crate::fairness::text::options::TextAuditOptions;
use crate::fairness::text::paper::{
    ATTRIBUTES, LABEL_COLUMN, TEXT_COLUMN, VALIDITY, effectiveness, find, seconds,
};
use crate::fairness::text::protected::open_lexicon;
use crate::fairness::text::strategy::TextStrategyName;
use crate::fairness::text::summary::TextAuditSummary;
use crate::nn::Objective;
use crate::nn::recurrent::network::CellKind;
use crate::nn::text_train_options::TextTrainOptions;
use crate::nn::text_training_run::{
    COMMON_WORDS, TextSet, TextTrainingRun, embeddings_sha256, run_text_training,
};
use crate::report::run_directory::{RunDirectory, file_sha256};

/// The strategies of Table VIII, in its order.
const STRATEGIES: [TextStrategyName; 5] = [
    TextStrategyName::Rp,
    TextStrategyName::Asc,
    TextStrategyName::AdfAsc,
    TextStrategyName::Hf,
    TextStrategyName::AdfHf,
];
const PAPER: &str = "Zhang et al.: Automatic Fairness Testing of Neural Classifiers through Adversarial Sampling. TSE 2021";

/// Arguments of `probity reproduce adf`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: probity reproduce adf --table VIII --data-dir data --repeats 5\n\
                  Looked for: toxic_wikipedia/ with the labelled comments and glove/ with 50-dimensional GloVe vectors."
)]
pub(in crate::cli) struct AdfArgs {
    /// Table
    #[arg(long, value_enum, ignore_case = true)]
    table: TextTable,
    #[command(flatten)]
    data: DataFolders,
    /// Only these cells
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [CellKind::Lstm, CellKind::Gru])]
    models: Vec<CellKind>,
    /// Only these attributes: country, ethnicity, race, religion; of table XII these rows: census-sex, bank-age …
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    only: Vec<String>,
    /// Seeds of the global phase at most
    #[arg(long, default_value_t = 1000)]
    seeds: usize,
    /// Local trials from each text that the global phase finds
    #[arg(long, default_value_t = 1000)]
    local: u32,
    /// Networks trained and searched, with the seeds from --seed on; of table XII, networks repaired; figures are means [default: 1; XII and XIII: 5]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100))]
    repeats: Option<u32>,
    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    hardware: Hardware,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TextTable {
    /// Texts found by each strategy
    #[value(name = "VIII", alias = "8")]
    Effectiveness,
    /// Validity of the texts found
    #[value(name = "IX", alias = "9")]
    Validity,
    /// Seconds to 5,000 texts
    #[value(name = "XI", alias = "11")]
    Seconds,
    /// Discrimination on tables before and after a repair
    #[value(name = "XII", alias = "12")]
    Repair,
    /// Discriminatory texts that a repair mends
    #[value(name = "XIII", alias = "13")]
    TextRepair,
}

/// Figures of one network and attribute, one entry a repeat.
#[derive(Serialize)]
struct ReproducedRow {
    model: CellKind,
    attribute: String,
    runs: Vec<RepeatFigures>,
}

/// What one network gave.
#[derive(Default, Serialize)]
struct RepeatFigures {
    seeds: u64,
    raw: u64,
    /// By the strategies that the table compares, in its order.
    global: Vec<u64>,
    /// Texts found in the local phase, by rp and adf-asc.
    local: Vec<u64>,
    /// Share of the generated ones.
    local_success: Vec<f64>,
    /// Mean validity of the global phase, by strategy.
    validity: Vec<[f64; 5]>,
    /// Search seconds to 5,000 texts by rp and adf-asc; more texts may not have been found.
    seconds: Vec<f64>,
    found: Vec<u64>,
}

#[derive(Serialize)]
struct ReproduceSummary {
    schema_version: u32,
    command: &'static str,
    paper: &'static str,
    table: String,
    seed: u64,
    finished: bool,
    rows: Vec<ReproducedRow>,
    /// Differences of the texts found in total, by repeat: adf-asc over asc, adf-hf over hf, and the
    /// lesser of the two over rp.
    differences: Vec<Difference>,
    not_found: Vec<String>,
}

#[derive(Serialize)]
struct Difference {
    of: &'static str,
    mean: f64,
    /// Student's t over the repeats; absent for a single one.
    ci95: Option<[f64; 2]>,
}

/// A trained network in a folder of its own.
struct TrainedModel {
    folder: TempDir,
    sha256: String,
}

/// Runs `probity reproduce adf`.
pub(super) fn run(args: AdfArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let device = args.hardware.open(output)?;
    let folders = args.data.folders();
    if args.table == TextTable::Repair {
        let made_with = RepairTable {
            folders: &folders,
            only: &args.only,
            seeds: args.seeds,
            local: args.local,
            repeats: args.repeats.unwrap_or(5),
            seed: args.seed,
            device: &device,
        };
        adf_repair::run(&made_with, PAPER, output)?;
        return Ok(ExitCode::SUCCESS);
    }
    let attributes = args.attributes()?;
    if args.table == TextTable::TextRepair {
        let made_with = TextRepairTable {
            folders: &folders,
            cells: &args.models,
            attributes: &attributes,
            seeds: args.seeds,
            local: args.local,
            repeats: args.repeats.unwrap_or(5),
            seed: args.seed,
        };
        adf_text_repair::run(&made_with, PAPER, output)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut summary = ReproduceSummary {
        schema_version: 1,
        command: "reproduce adf",
        paper: PAPER,
        table: args
            .table
            .to_possible_value()
            .map_or(String::new(), |v| v.get_name().to_owned()),
        seed: args.seed,
        finished: true,
        rows: Vec::new(),
        differences: Vec::new(),
        not_found: Vec::new(),
    };
    match find(&folders) {
        Err(missing) => summary.not_found = missing,
        Ok((texts, vectors)) => {
            let bench = Bench {
                args: &args,
                texts: absolute(&texts),
                texts_sha256: file_sha256(&texts)?,
                vectors: absolute(&vectors),
                device,
                interrupt: Interrupt::listen()?,
            };
            summary.finished = bench.fill(&attributes, &mut summary.rows, output)?;
            summary.differences = differences(&summary.rows, args.repeats() as usize);
        }
    }
    let text = render(&args, &summary, &folders);
    output.result(&summary, &text)?;
    Ok(ExitCode::SUCCESS)
}

impl AdfArgs {
    /// Positions in [`ATTRIBUTES`] of those asked for.
    fn attributes(&self) -> anyhow::Result<Vec<usize>> {
        if let Some(other) = self
            .only
            .iter()
            .find(|name| !ATTRIBUTES.contains(&name.as_str()))
        {
            bail!(
                "the paper has no attribute '{other}'; it has {}",
                ATTRIBUTES.join(", ")
            );
        }
        let all = 0..ATTRIBUTES.len();
        let wanted = |&place: &usize| {
            self.only.is_empty() || self.only.iter().any(|name| name == ATTRIBUTES[place])
        };
        // Table IX is about race alone.
        let of_table =
            |&place: &usize| self.table != TextTable::Validity || ATTRIBUTES[place] == "race";
        Ok(all.filter(wanted).filter(of_table).collect())
    }

    fn repeats(&self) -> u32 {
        self.repeats.unwrap_or(1)
    }

    fn cells(&self) -> Vec<CellKind> {
        match self.table {
            TextTable::Validity => vec![CellKind::Lstm],
            _ => self.models.clone(),
        }
    }
}

/// The training of the paper's network: comments with their SHA-256, and word vectors.
pub(super) fn training(
    (texts, texts_sha256, vectors): (&PathBuf, &str, &PathBuf),
    cell: CellKind,
    seed: u64,
) -> anyhow::Result<TextTrainingRun> {
    Ok(TextTrainingRun {
        command: "train".to_owned(),
        probity_version: env!("CARGO_PKG_VERSION").to_owned(),
        texts: texts.clone(),
        texts_sha256: texts_sha256.to_owned(),
        text_column: Some(TEXT_COLUMN.to_owned()),
        label_column: LABEL_COLUMN.to_owned(),
        embeddings_sha256: embeddings_sha256(vectors)?,
        embeddings: vectors.clone(),
        common_words: COMMON_WORDS,
        options: TextTrainOptions {
            cell,
            seed,
            ..TextTrainOptions::default()
        },
    })
}

/// What all runs share.
struct Bench<'a> {
    args: &'a AdfArgs,
    texts: PathBuf,
    texts_sha256: String,
    vectors: PathBuf,
    device: ComputeDevice,
    interrupt: Interrupt,
}

impl Bench<'_> {
    /// Trains and searches everything; whether it was not interrupted.
    fn fill(
        &self,
        attributes: &[usize],
        rows: &mut Vec<ReproducedRow>,
        output: &Output,
    ) -> anyhow::Result<bool> {
        for model in self.args.cells() {
            for &attribute in attributes {
                rows.push(ReproducedRow {
                    model,
                    attribute: ATTRIBUTES[attribute].to_owned(),
                    runs: Vec::new(),
                });
            }
        }
        for repeat in 0..u64::from(self.args.repeats()) {
            let seed = self.args.seed + repeat;
            for cell in self.args.cells() {
                output.remark(&format!("{cell:?}, seed {seed}: training"));
                let model = self.train(cell, seed)?;
                for row in rows.iter_mut().filter(|row| row.model == cell) {
                    if self.interrupt.flow().is_break() {
                        return Ok(false);
                    }
                    output.remark(&format!("{cell:?}, seed {seed}: {}", row.attribute));
                    let Some(run) = self.repeat(&model, &row.attribute, seed)? else {
                        return Ok(false);
                    };
                    row.runs.push(run);
                }
            }
        }
        Ok(true)
    }

    fn train(&self, cell: CellKind, seed: u64) -> anyhow::Result<TrainedModel> {
        let files = (&self.texts, self.texts_sha256.as_str(), &self.vectors);
        let training = training(files, cell, seed)?;
        let folder = TempDir::new()?;
        let run = RunDirectory::create(&folder.path().join("model"))?;
        let set = TextSet::read(&training)?;
        let trained =
            run_text_training(&training, &set, &run, false, &mut |_| self.interrupt.flow())?;
        Ok(TrainedModel {
            folder,
            sha256: trained.model_sha256,
        })
    }

    /// One network's figures for an attribute; `None` when interrupted.
    fn repeat(
        &self,
        model: &TrainedModel,
        attribute: &str,
        seed: u64,
    ) -> anyhow::Result<Option<RepeatFigures>> {
        let mut figures = RepeatFigures::default();
        let search = |strategy, local_strategy, local, max_found| {
            self.search(
                model,
                attribute,
                seed,
                (strategy, local_strategy),
                (local, max_found),
            )
        };
        match self.args.table {
            TextTable::Seconds => {
                for strategy in [TextStrategyName::Rp, TextStrategyName::AdfAsc] {
                    let Some(found) = search(strategy, strategy, self.args.local, Some(5000))?
                    else {
                        return Ok(None);
                    };
                    figures.seconds.push(found.total.seconds);
                    figures.found.push(found.total.discriminatory);
                }
            }
            TextTable::Validity => {
                for strategy in &STRATEGIES[1..] {
                    let Some(found) = search(*strategy, *strategy, 0, None)? else {
                        return Ok(None);
                    };
                    figures.global.push(found.global.discriminatory);
                    figures.validity.push(found.validity.global.means());
                }
            }
            // Not of texts: see `adf_repair`.
            TextTable::Repair | TextTable::TextRepair => return Ok(None),
            TextTable::Effectiveness => {
                for strategy in STRATEGIES {
                    let Some(found) = search(strategy, strategy, 0, None)? else {
                        return Ok(None);
                    };
                    figures.seeds = found.global.seeds;
                    figures.raw = found.raw_discriminatory;
                    figures.global.push(found.global.discriminatory);
                }
                for local in [TextStrategyName::Rp, TextStrategyName::AdfAsc] {
                    let trials = self.args.local;
                    let Some(found) = search(TextStrategyName::AdfAsc, local, trials, None)? else {
                        return Ok(None);
                    };
                    figures.local.push(found.local.discriminatory);
                    let generated = found.local.generated.max(1) as f64;
                    figures
                        .local_success
                        .push(found.local.discriminatory as f64 / generated);
                }
            }
        }
        Ok(Some(figures))
    }

    fn search(
        &self,
        model: &TrainedModel,
        attribute: &str,
        seed: u64,
        (strategy, local_strategy): (TextStrategyName, TextStrategyName),
        (local, max_found): (u32, Option<u64>),
    ) -> anyhow::Result<Option<TextAuditSummary>> {
        let (_, lexicon_sha256) = open_lexicon(None)?;
        let options = TextAuditOptions {
            command: "audit".to_owned(),
            probity_version: env!("CARGO_PKG_VERSION").to_owned(),
            model: model.folder.path().join("model"),
            model_sha256: model.sha256.clone(),
            texts: self.texts.clone(),
            texts_sha256: self.texts_sha256.clone(),
            text_column: Some(TEXT_COLUMN.to_owned()),
            lexicon: None,
            lexicon_sha256,
            encoder: None,
            encoder_sha256: None,
            protected: vec![attribute.to_owned()],
            strategy,
            local_strategy,
            objective: Objective::Loss,
            neighbours: 10,
            seeds: self.args.seeds,
            clusters: 4,
            max_iter: 10,
            local,
            max_l0: None,
            min_similarity: None,
            // The share is no part of these tables.
            estimate: 1,
            time_seconds: None,
            max_found,
            fail_above: None,
            batch: 4096,
            samples_format: SamplesFormat::Parquet,
            seed,
            device: self.device.name(),
            hardware: self.device.hardware(),
        };
        let prepared = PreparedTextAudit::new(options, &self.device)?;
        let folder = TempDir::new()?;
        let run = RunDirectory::create(Path::new(&folder.path().join("audit")))?;
        let summary = audit_texts(&prepared, &run, false, &mut |_| self.interrupt.flow())?;
        Ok((summary.ending != Ending::Interrupted).then_some(summary))
    }
}

/// How much more one strategy finds than another, over the repeats.
fn differences(rows: &[ReproducedRow], repeats: usize) -> Vec<Difference> {
    if rows.is_empty()
        || rows
            .iter()
            .any(|row| row.runs.len() < repeats || row.runs[0].global.len() < 5)
    {
        return Vec::new();
    }
    let total = |repeat: usize, strategy: usize| -> f64 {
        rows.iter()
            .map(|row| row.runs[repeat].global[strategy] as f64)
            .sum()
    };
    let of = |name, difference: &dyn Fn(usize) -> f64| {
        let values: Vec<f64> = (0..repeats).map(difference).collect();
        let (mean, half) = mean_and_half_width(&values);
        Difference {
            of: name,
            mean,
            ci95: half.map(|half| [mean - half, mean + half]),
        }
    };
    vec![
        of("adf-asc over asc", &|repeat| {
            total(repeat, 2) - total(repeat, 1)
        }),
        of("adf-hf over hf", &|repeat| {
            total(repeat, 4) - total(repeat, 3)
        }),
        of("the lesser of both over rp", &|repeat| {
            total(repeat, 2).min(total(repeat, 4)) - total(repeat, 0)
        }),
    ]
}

/// The mean, and half the width of its 95 % interval by Student's t where there are two values.
fn mean_and_half_width(values: &[f64]) -> (f64, Option<f64>) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count.max(1.0);
    if values.len() < 2 {
        return (mean, None);
    }
    let variance = values
        .iter()
        .map(|value| (value - mean).powi(2))
        .sum::<f64>()
        / (count - 1.0);
    let half = StudentsT::new(0.0, 1.0, count - 1.0)
        .ok()
        .map(|t| t.inverse_cdf(0.975) * (variance / count).sqrt());
    (mean, half)
}

/// The mean over the repeats of one figure.
fn mean(runs: &[RepeatFigures], of: impl Fn(&RepeatFigures) -> f64) -> f64 {
    runs.iter().map(of).sum::<f64>() / runs.len().max(1) as f64
}

fn render(args: &AdfArgs, summary: &ReproduceSummary, folders: &[PathBuf]) -> String {
    let mut text = format!(
        "Table {} of {}. Paper / ours{}:\n",
        summary.table,
        summary.paper,
        if args.repeats() > 1 {
            format!(" (means of {})", args.repeats())
        } else {
            String::new()
        }
    );
    let rows: Vec<&ReproducedRow> = summary
        .rows
        .iter()
        .filter(|row| !row.runs.is_empty())
        .collect();
    match args.table {
        TextTable::Effectiveness => text.push_str(&effectiveness_table(&rows)),
        TextTable::Validity => text.push_str(&validity_table(&rows)),
        TextTable::Seconds => text.push_str(&seconds_table(&rows)),
        // Not of texts: see `adf_repair`.
        TextTable::Repair | TextTable::TextRepair => {}
    }
    for difference in &summary.differences {
        let interval = difference.ci95.map_or(String::new(), |[low, high]| {
            format!(" (95 % interval {low:+.1} to {high:+.1})")
        });
        text.push_str(&format!(
            "Globally found in all rows, {}: {:+.1}{interval}\n",
            difference.of, difference.mean
        ));
    }
    if !rows.is_empty() {
        text.push_str(
            "Paper: 313,000 Jigsaw comments (Table IX: Wikipedia comments), its own terms. Ours: 11,170 of the Jigsaw comments.\n",
        );
    }
    text.push_str(&not_found(&summary.not_found, folders));
    if !summary.finished {
        text.push_str("Interrupted: this is what was found by then.\n");
    }
    text
}

fn place(attribute: &str) -> usize {
    ATTRIBUTES
        .iter()
        .position(|name| *name == attribute)
        .unwrap_or(0)
}

fn effectiveness_table(rows: &[&ReproducedRow]) -> String {
    let cells = rows.iter().map(|row| {
        let paper = effectiveness(row.model)[place(&row.attribute)];
        let of = |paper: u32, ours: f64| format!("{} / {ours:.0}", count(paper.into()));
        let mut cells = vec![
            format!("{:?} {}", row.model, row.attribute),
            of(paper.seeds, mean(&row.runs, |run| run.seeds as f64)),
            of(paper.raw, mean(&row.runs, |run| run.raw as f64)),
        ];
        for strategy in 0..5 {
            let ours = mean(&row.runs, |run| run.global[strategy] as f64);
            cells.push(of(paper.global[strategy], ours));
        }
        for local in 0..2 {
            let ours = mean(&row.runs, |run| run.local[local] as f64);
            let success = 100.0 * mean(&row.runs, |run| run.local_success[local]);
            cells.push(format!(
                "{} ({:.1} %) / {} ({success:.1} %)",
                count(paper.local[local].into()),
                paper.local_success[local],
                count(ours.round() as u64)
            ));
        }
        cells
    });
    table(
        &[
            "network, attribute",
            "seeds",
            "raw",
            "rp",
            "asc",
            "adf-asc",
            "hf",
            "adf-hf",
            "local rp",
            "local adf",
        ],
        &cells.collect::<Vec<_>>(),
    )
}

fn validity_table(rows: &[&ReproducedRow]) -> String {
    let names = ["L0", "L2", "Jaccard", "BLEU", "similarity"];
    let cells = rows.iter().flat_map(|row| {
        names.iter().enumerate().map(|(metric, name)| {
            let mut cells = vec![(*name).to_owned()];
            for (strategy, paper) in VALIDITY.iter().enumerate() {
                let ours = mean(&row.runs, |run| run.validity[strategy][metric]);
                cells.push(format!("{:.4} / {ours:.4}", paper[metric]));
            }
            cells
        })
    });
    table(
        &["Lstm, race", "asc", "adf-asc", "hf", "adf-hf"],
        &cells.collect::<Vec<_>>(),
    )
}

fn seconds_table(rows: &[&ReproducedRow]) -> String {
    let cells = rows.iter().map(|row| {
        let paper = seconds(row.model)[place(&row.attribute)];
        let mut cells = vec![format!("{:?} {}", row.model, row.attribute)];
        for (strategy, paper) in paper.iter().enumerate() {
            let ours = mean(&row.runs, |run| run.seconds[strategy]);
            let found = mean(&row.runs, |run| run.found[strategy] as f64);
            let short = if found < 5000.0 {
                format!(" ({found:.0} found)")
            } else {
                String::new()
            };
            cells.push(format!("{paper:.1} / {ours:.2}{short}"));
        }
        cells
    });
    table(
        &[
            "network, attribute",
            "rp, seconds to 5,000",
            "adf-asc, seconds to 5,000",
        ],
        &cells.collect::<Vec<_>>(),
    )
}
