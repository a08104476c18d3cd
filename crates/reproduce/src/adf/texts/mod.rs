//! The tables on texts: VIII, IX and XI.

pub mod paper;
mod render;
pub mod training;

use std::path::Path;

use serde::Serialize;
use tempfile::TempDir;

use super::args::{AdfArgs, AdfTable};
use crate::interrupt::{Interrupt, Interrupted};
use crate::output::Output;
use crate::reproduction::Asked;
use paper::{ATTRIBUTES, COMMENTS, TEXT_COLUMN};
use probity_fairness::audit::{Audit, AuditSpecification, AuditSummary};
use probity_fairness::modality::{ModalityName, TextCase, TextDetails};
use probity_fairness::search::Ending;
use probity_fairness::statistics::Mean;
use probity_fairness::strategies::StrategyName;
use probity_fairness::text::preset::Preset;
use probity_nn::recurrent::network::CellKind;
use probity_run::run_directory::RunDirectory;
use probity_run::specification::Specification;
use probity_tensor::device::ComputeDevice;
use training::Comments;

/// The strategies of Table VIII, in its order.
const STRATEGIES: [StrategyName; 5] = [
    StrategyName::Rp,
    StrategyName::Asc,
    StrategyName::AdfAsc,
    StrategyName::Hf,
    StrategyName::AdfHf,
];

/// The figures of one network and attribute, with one entry for each repeat.
#[derive(Serialize)]
pub struct ReproducedRow {
    pub model: CellKind,
    pub attribute: &'static str,
    pub runs: Vec<RepeatFigures>,
}

/// The figures of one network in one repeat.
#[derive(Default, Serialize)]
pub struct RepeatFigures {
    pub seeds: u64,
    pub raw: u64,
    /// The texts found in the global phase, by the strategies that the table compares, in its
    /// order.
    pub global: Vec<u64>,
    /// The texts found in the local phase, by rp and adf-asc.
    pub local: Vec<u64>,
    /// The share of the texts generated in the local phase that are discriminatory, by rp and
    /// adf-asc.
    pub local_success: Vec<f64>,
    /// The mean validity of the global phase, by strategy.
    pub validity: Vec<[f64; 5]>,
    /// The search seconds to 5,000 texts, by rp and adf-asc; more texts may not have been found.
    pub seconds: Vec<f64>,
    pub found: Vec<u64>,
}

/// What stands before the rows.
#[derive(Serialize)]
pub struct Heading {
    #[serde(flatten)]
    pub asked: Asked<String>,
    /// The relative differences of the numbers of texts found in total, by repeat: adf-asc over
    /// asc, adf-hf over hf, and the lesser of the two over rp.
    pub differences: Vec<Difference>,
}

/// How much more texts one strategy finds than another.
#[derive(Serialize)]
pub struct Difference {
    pub of: &'static str,
    pub mean: f64,
    /// The interval by Student's t over the repeats; absent for a single one.
    pub ci95: Option<[f64; 2]>,
}

/// Prints the table that `args` ask for.
pub fn run(args: &AdfArgs, output: &Output) -> anyhow::Result<()> {
    let device = args.hardware.open()?;
    let attributes = args.attributes()?;
    let interrupt = Interrupt::listen()?;
    let heading = Heading {
        asked: args.asked(),
        differences: Vec::new(),
    };
    let mut found = args.reproduction(heading);
    found.over(&[COMMENTS], |_, files, rows| {
        let experiment = Experiment {
            args,
            comments: Comments::new(files)?,
            device: &device,
            interrupt: &interrupt,
            output,
        };
        experiment.fill(&attributes, rows)
    })?;
    found.heading.differences = differences(&found.rows, args.repeats as usize);
    found.print(render::render(args, &found), output)
}

/// The arguments and files that all runs share.
pub struct Experiment<'a> {
    pub args: &'a AdfArgs,
    pub comments: Comments,
    pub device: &'a ComputeDevice,
    pub interrupt: &'a Interrupt,
    pub output: &'a Output,
}

impl Experiment<'_> {
    /// Trains and searches everything, and adds the rows.
    pub fn fill(&self, attributes: &[usize], rows: &mut Vec<ReproducedRow>) -> anyhow::Result<()> {
        for model in self.args.cells() {
            rows.extend(attributes.iter().map(|&place| ReproducedRow {
                model,
                attribute: ATTRIBUTES[place],
                runs: Vec::new(),
            }));
        }
        for repeat in 0..u64::from(self.args.repeats) {
            let seed = self.args.seed + repeat;
            for cell in self.args.cells() {
                let remark = |what: &str| {
                    self.output
                        .remark(&format!("{cell:?}, seed {seed}: {what}"));
                };
                remark("training");
                let trained = self.comments.train(cell, seed, self.interrupt)?;
                for row in rows.iter_mut().filter(|row| row.model == cell) {
                    Interrupted::unless(!self.interrupt.is_asked())?;
                    remark(row.attribute);
                    let figures = self.repeat(&trained.model, row.attribute, seed)?;
                    row.runs.push(figures);
                }
            }
        }
        Ok(())
    }

    /// Searches the network in `model` by an attribute, and returns the figures.
    fn repeat(&self, model: &Path, attribute: &str, seed: u64) -> anyhow::Result<RepeatFigures> {
        let mut figures = RepeatFigures::default();
        let trials = self.args.trials();
        let search = |strategies: (StrategyName, StrategyName), local: u32, most: Option<u64>| {
            self.search((model, attribute, seed), strategies, local, most)
        };
        match self.args.table {
            AdfTable::TextSeconds => {
                for strategy in [StrategyName::Rp, StrategyName::AdfAsc] {
                    let found = search((strategy, strategy), trials, Some(5000))?;
                    figures.seconds.push(found.total.seconds);
                    figures.found.push(found.total.discriminatory);
                }
            }
            AdfTable::Validity => {
                for &strategy in &STRATEGIES[1..] {
                    let found = search((strategy, strategy), 0, None)?;
                    figures.global.push(found.global.discriminatory);
                    let validity = found.details.pairs.validity.global.means();
                    figures.validity.push(validity);
                }
            }
            _ => {
                for strategy in STRATEGIES {
                    let found = search((strategy, strategy), 0, None)?;
                    figures.seeds = found.global.seeds;
                    figures.raw = found.details.pairs.raw_discriminatory;
                    figures.global.push(found.global.discriminatory);
                }
                for local in [StrategyName::Rp, StrategyName::AdfAsc] {
                    let found = search((StrategyName::AdfAsc, local), trials, None)?.local;
                    figures.local.push(found.discriminatory);
                    let success = found.discriminatory as f64 / found.generated.max(1) as f64;
                    figures.local_success.push(success);
                }
            }
        }
        Ok(figures)
    }

    fn search(
        &self,
        (model, attribute, seed): (&Path, &str, u64),
        (strategy, local_strategy): (StrategyName, StrategyName),
        local: u32,
        max_found: Option<u64>,
    ) -> anyhow::Result<AuditSummary<TextDetails>> {
        let mut specification = AuditSpecification::default();
        specification.modality = ModalityName::Text;
        specification.model = Some(model.to_owned());
        specification.data.clone_from(&self.comments.texts);
        specification.protected = vec![attribute.to_owned()];
        specification.strategy = Some(strategy);
        specification.seed = seed;
        // These tables do not contain the share.
        specification.estimate = Some(1);
        specification.text.preset = Preset::Paper;
        specification.text.column = Some(TEXT_COLUMN.to_owned());
        specification.text.local_strategy = Some(local_strategy);
        specification.search.seeds = self.args.seeds;
        specification.search.local = local;
        specification.budget.max_found = max_found;
        let audit = Audit::<TextCase>::open(specification.check()?, self.device)?;
        let folder = TempDir::new()?;
        let run = RunDirectory::create(&folder.path().join("audit"))?;
        let summary = audit.run(&run, false, &mut |_| self.interrupt.flow())?;
        Interrupted::unless(summary.ending != Ending::Interrupted)?;
        Ok(summary)
    }
}

/// Computes how much more one strategy finds than another, over the repeats.
pub fn differences(rows: &[ReproducedRow], repeats: usize) -> Vec<Difference> {
    let is_whole = |row: &ReproducedRow| {
        row.runs.len() >= repeats && row.runs.iter().all(|run| run.global.len() >= 5)
    };
    if rows.is_empty() || !rows.iter().all(is_whole) {
        return Vec::new();
    }
    let total = |repeat: usize, strategy: usize| -> f64 {
        let found = rows.iter().map(|row| row.runs[repeat].global[strategy]);
        found.map(|found| found as f64).sum()
    };
    let over = |of: &'static str, difference: &dyn Fn(usize) -> f64| -> Difference {
        let values: Vec<f64> = (0..repeats).map(difference).collect();
        let Mean { mean, ci95 } = Mean::new(&values);
        Difference { of, mean, ci95 }
    };
    vec![
        over("adf-asc over asc", &|at| total(at, 2) - total(at, 1)),
        over("adf-hf over hf", &|at| total(at, 4) - total(at, 3)),
        over("the lesser of both over rp", &|at| {
            total(at, 2).min(total(at, 4)) - total(at, 0)
        }),
    ]
}
