//! The tables on tabular data: IV to VII and X.
//!
//! Table VI: in the paper the global phases of AEQUITAS and SG generate 1,000 samples, one for each
//! seed, and that of ADF moves each seed up to ten times. Two comparisons are made here: the
//! paper's, and one in which all strategies have as many tries for each seed.

pub mod paper;
mod render;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use serde::Serialize;

use super::args::{AdfArgs, AdfTable};
use crate::interrupt::{Interrupt, Interrupted};
use crate::output::Output;
use paper::{PaperRow, PaperSet, ROWS, SETS, network, schema_name};
use probity_data::builtin;
use probity_data::schema::Schema;
use probity_data::table::{Labels, Table};
use probity_fairness::modality::{Method, TableCase};
use probity_fairness::model_under_test::ModelUnderTest;
use probity_fairness::opened::{Opened, open_table};
use probity_fairness::search::{Ending, SearchOptions};
use probity_fairness::specification::{SearchSpecification, TextSpecification};
use probity_fairness::statistics::Mean;
use probity_fairness::strategies::StrategyName;
use probity_fairness::strategies::tuning::Tuning;
use probity_fairness::trial::{Begin, Trial, TrialFigures, TrialOutcome};
use probity_nn::fnn::Network;
use probity_nn::import::ImportConfig;
use probity_nn::train::options::TableOptions;
use probity_nn::train::table::train;
use probity_nn::weights::read_weights;
use probity_tensor::device::ComputeDevice;

const ADF_FNN: &str = include_str!("../../../../nn/models/adf-fnn.toml");
/// The search time of table V unless the user says otherwise; the paper's is 500 seconds.
const TIME: Duration = Duration::from_secs(20);
/// The number of discriminatory individuals whose search time table X states.
pub const ENOUGH: u64 = 1000;
/// The greatest number of moves of a seed in the paper (Table II).
const MAX_ITER: u32 = 10;

/// The figures of one strategy on one row of the table; means over the repeats.
#[derive(Serialize)]
pub struct Cell {
    pub strategy: StrategyName,
    /// The greatest number of moves of a seed in the global phase.
    pub max_iter: u32,
    pub generated: Mean,
    pub discriminatory: Mean,
    /// Discriminatory individuals, for each start of the local phase (table VII).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub for_each_start: Option<Mean>,
    pub seconds: Mean,
    pub discriminatory_per_second: Mean,
    pub model_rows: Mean,
    pub model_gradients: Mean,
}

/// One row of the table: the paper's figures and ours.
#[derive(Serialize)]
pub struct Row {
    pub paper: PaperRow,
    pub cells: Vec<Cell>,
}

/// Prints the table that `args` ask for.
pub fn run(args: &AdfArgs, output: &Output) -> anyhow::Result<()> {
    let sets = args.data_sets(&SETS)?;
    let experiment = Experiment {
        args,
        device: args.hardware.open()?,
        interrupt: Interrupt::listen()?,
        output,
    };
    let mut found = args.reproduction(args.asked());
    found.over(&sets, |set, files, rows| {
        experiment.data_set(set, files, rows)
    })?;
    found.print(render::render(args, &found), output)
}

/// The arguments and devices that all searches share.
pub struct Experiment<'a> {
    pub args: &'a AdfArgs,
    pub device: ComputeDevice,
    pub interrupt: Interrupt,
    pub output: &'a Output,
}

impl Experiment<'_> {
    /// Adds the rows of a data set to `rows`.
    pub fn data_set(
        &self,
        set: &PaperSet,
        files: &[PathBuf],
        rows: &mut Vec<Row>,
    ) -> anyhow::Result<()> {
        let network = self.network(set, files)?;
        for paper in ROWS.iter().filter(|row| row.data == set.name) {
            let note = format!("{}, {}: searching", set.name, paper.attribute);
            self.output.remark(&note);
            let case = self.case(set, &files[0], &network, paper.attribute)?;
            let cells = self.cells(set, &case)?;
            rows.push(Row {
                paper: *paper,
                cells,
            });
        }
        Ok(())
    }

    /// Returns the published network, or trains one.
    fn network(&self, set: &PaperSet, files: &[PathBuf]) -> anyhow::Result<Network> {
        let schema = schema(set)?;
        let Some(learning) = set.paper.training(self.args.seed) else {
            let weights = read_weights(&files[1])?;
            let (network, _) = ImportConfig::from_toml(ADF_FNN)?.network(&weights, &schema)?;
            return Ok(network);
        };
        self.output.remark(&format!("{}: training", set.name));
        let table = Table::read(&files[0], &schema, Labels::Required)?;
        let mut options = TableOptions::default();
        (options.network, options.learning) = (network(), learning);
        let trained = train(
            &table,
            &schema,
            &options,
            &self.device,
            None,
            &mut |_, _| self.interrupt.flow(),
        )?;
        Interrupted::unless(trained.finished)?;
        Ok(trained.network)
    }

    fn case(
        &self,
        set: &PaperSet,
        file: &Path,
        network: &Network,
        attribute: &str,
    ) -> anyhow::Result<TableCase<'static>> {
        let schema = schema(set)?;
        let model = Opened::unnamed(ModelUnderTest::network(network, &self.device));
        let table = open_table(file, &schema, Labels::Optional)?.map(Cow::Owned);
        let inputs = (schema, network.layout.clone());
        let protected = vec![attribute.to_owned()];
        Ok(TableCase::new(inputs, model, table, protected)?)
    }

    /// Searches by each strategy of the table, and returns the figures.
    fn cells(&self, set: &PaperSet, case: &TableCase<'_>) -> anyhow::Result<Vec<Cell>> {
        let searches = searches(self.args.table);
        let mut runs: Vec<Vec<(TrialFigures, usize)>> = vec![Vec::new(); searches.len()];
        for repeat in 0..u64::from(self.args.repeats) {
            let seed = self.args.seed + repeat;
            let starts: Option<Vec<Vec<i32>>> = match self.args.table {
                AdfTable::Local => Some(self.starts(set, case, seed)?),
                _ => None,
            };
            for (&(strategy, max_iter), runs) in searches.iter().zip(&mut runs) {
                let begin = match &starts {
                    Some(starts) => Begin::At(starts),
                    None => self.seeds(set),
                };
                let options = SearchOptions {
                    max_iter,
                    ..self.options()
                };
                let outcome = self.search(case, strategy, begin, options, seed)?;
                let count = starts.as_ref().map_or(0, Vec::len);
                runs.push((outcome.figures, count));
            }
        }
        let cells = searches.iter().zip(runs);
        Ok(cells
            .map(|(&search, runs)| self.cell(search, &runs))
            .collect())
    }

    fn seeds(&self, set: &PaperSet) -> Begin<'static> {
        Begin::Seeds {
            clusters: 4,
            count: self.args.seeds.min(set.paper.most_seeds),
        }
    }

    /// The individuals that ADF finds in its global phase: all searches of table VII start at them.
    fn starts(
        &self,
        set: &PaperSet,
        case: &TableCase<'_>,
        seed: u64,
    ) -> anyhow::Result<Vec<Vec<i32>>> {
        let options = SearchOptions {
            local: 0,
            ..self.options()
        };
        let outcome = self.search(case, StrategyName::Adf, self.seeds(set), options, seed)?;
        Ok(outcome.pairs.iter().map(|pair| pair.row.to_vec()).collect())
    }

    fn options(&self) -> SearchOptions {
        let table = self.args.table;
        SearchOptions {
            max_iter: MAX_ITER,
            local: match table {
                AdfTable::Global => 0,
                AdfTable::InTime => (1 << 31) - 1,
                _ => self.args.trials(),
            },
            max_found: (table == AdfTable::Seconds).then_some(ENOUGH),
            time: (table == AdfTable::InTime).then(|| self.args.time.unwrap_or(TIME)),
            ..SearchOptions::default()
        }
    }

    fn search(
        &self,
        case: &TableCase<'_>,
        strategy: StrategyName,
        begin: Begin<'_>,
        options: SearchOptions,
        seed: u64,
    ) -> anyhow::Result<TrialOutcome> {
        let trial = Trial {
            case,
            method: Method {
                strategy,
                search: &SearchSpecification::default(),
                tuning: &Tuning::default(),
                text: &TextSpecification::default(),
                rank: None,
                seed,
            },
            begin,
            options,
        };
        let outcome = trial
            .run(&mut |_| self.interrupt.flow())
            .with_context(|| format!("searching by {}", strategy.name()))?;
        Interrupted::unless(outcome.figures.ending != Ending::Interrupted)?;
        Ok(outcome)
    }

    fn cell(
        &self,
        (strategy, max_iter): (StrategyName, u32),
        runs: &[(TrialFigures, usize)],
    ) -> Cell {
        let mean = |figure: &dyn Fn(&TrialFigures) -> f64| {
            let values: Vec<f64> = runs.iter().map(|(run, _)| figure(run)).collect();
            Mean::new(&values)
        };
        let is_local = self.args.table == AdfTable::Local;
        let for_each = |(run, starts): &(TrialFigures, usize)| {
            run.local.discriminatory as f64 / (*starts).max(1) as f64
        };
        Cell {
            strategy,
            max_iter,
            generated: mean(&|run| match is_local {
                true => run.local.generated as f64,
                false => run.total.generated as f64,
            }),
            discriminatory: mean(&|run| match is_local {
                true => run.local.discriminatory as f64,
                false => run.total.discriminatory as f64,
            }),
            for_each_start: is_local
                .then(|| Mean::new(&runs.iter().map(for_each).collect::<Vec<f64>>())),
            seconds: mean(&|run| run.total.seconds),
            discriminatory_per_second: mean(&TrialFigures::found_per_second),
            model_rows: mean(&|run| run.total.model_rows as f64),
            model_gradients: mean(&|run| run.total.model_gradients as f64),
        }
    }
}

fn schema(set: &PaperSet) -> anyhow::Result<Schema> {
    builtin::schema(&schema_name(set.name))?.context("the paper's schemas are built in")
}

/// The searches of a table, in the order of its columns: the strategy, and the greatest number of
/// moves of a seed.
fn searches(table: AdfTable) -> &'static [(StrategyName, u32)] {
    use StrategyName::{Adf, AequitasFully, Sg};
    match table {
        AdfTable::Overall => &[(AequitasFully, MAX_ITER), (Adf, MAX_ITER)],
        AdfTable::InTime => &[(Sg, MAX_ITER), (Adf, MAX_ITER)],
        AdfTable::Global => &[
            (AequitasFully, 0),
            (Sg, 0),
            (Adf, MAX_ITER),
            (AequitasFully, MAX_ITER),
            (Sg, MAX_ITER),
        ],
        // The starts are discriminatory: they need no move.
        AdfTable::Local => &[(AequitasFully, 0), (Sg, 0), (Adf, 0)],
        _ => &[(AequitasFully, MAX_ITER), (Sg, MAX_ITER), (Adf, MAX_ITER)],
    }
}
