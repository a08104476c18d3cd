//! `probity spn bench`

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use super::inputs::LeafArgs;
use crate::cli::fields::Fields;
use crate::cli::inputs::Hardware;
use crate::cli::interrupt::Interrupt;
use crate::cli::output::{Output, Summary};
use crate::cli::run::{At, Performed};
use crate::cli::shards::Cut;
use probity::data::read::LeftOut;
use probity::data::specification::record_schema;
use probity::run::place::new_run_in;
use probity::run::run_directory::RunDirectory;
use probity::run::specification::Checked;
use probity::run::specification::file::Record;
use probity::tensor::proposer::Proposer;
use probity::unlearning::spn::SpnParameters;
use probity::unlearning::spn::benchmark::{
    BenchmarkFigures, Pool, Protocol, Repeat, Repeats, figures, run as measure,
};
use probity::unlearning::spn::specification::BenchSpecification;

/// Arguments of `probity spn bench`.
#[derive(Debug, Args)]
#[command(
    after_help = "All but the choice of a threshold runs on one thread. Without --out nothing is written."
)]
pub(super) struct BenchArgs {
    #[command(flatten)]
    fields: Fields<BenchSpecification>,
    #[command(flatten)]
    leaves: LeafArgs,
    #[command(flatten)]
    hardware: Hardware,
    /// Directory for run.toml and summary.json [default: none is written]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

#[derive(Serialize)]
struct BenchSummary {
    probity_version: &'static str,
    data: PathBuf,
    data_sha256: String,
    parameters: SpnParameters,
    protocol: Protocol,
    #[serde(flatten)]
    left_out: LeftOut,
    finished: bool,
    #[serde(flatten)]
    figures: BenchmarkFigures,
}

/// Runs `probity spn bench`.
pub(super) fn run(mut args: BenchArgs, output: &Output) -> anyhow::Result<ExitCode> {
    args.leaves.set(&mut args.fields)?;
    let specification = args.fields.specification()?;
    BenchSpecification::perform(specification, At::new(args.out, &args.hardware, output))
}

impl Performed for BenchSpecification {
    fn perform(specification: Checked<Self>, at: At<'_>) -> anyhow::Result<ExitCode> {
        let At {
            place,
            part,
            hardware,
            output,
        } = at;
        let out = place.new_directory();
        let device = hardware.open(output)?;
        let specification = specification.into_inner().located();
        let parameters = specification.learning.parameters();
        let protocol = specification.protocol;
        let table = specification.table.options(&specification.schema)?;
        let rows = table.read(&specification.data)?;
        let (data, left_out) = rows.value;
        let data = data.on(&Proposer::of(&device));
        anyhow::ensure!(
            data.rows() > 1,
            "at least two rows are needed, so that one can be deleted"
        );
        let record = Record {
            device: Some(device.name().to_string()),
            hardware: Some(device.hardware()),
            ..Record::new().opened("data", rows.sha256.clone())
        };
        let record = record_schema(record, Some(&specification.schema))?;
        let interrupt = Interrupt::listen()?;
        let stop = interrupt.flag();
        let bar = output.progress(
            protocol.repeats as u64,
            "[{bar:28}] {pos}/{len} repeats, {eta} left",
        );
        let mut done = 0;
        let pool = Pool::new(&data);
        let go_on = &mut |repeats: usize| {
            done = repeats;
            bar.set_position(repeats as u64);
            !stop.load(std::sync::atomic::Ordering::Relaxed)
        };
        let (directory, figures) = match Cut::of(&part, &specification, &record, out)? {
            None => {
                let directory = out.map(new_run_in).transpose()?;
                (directory, measure(parameters, &pool, protocol, go_on)?)
            }
            Some(cut) => {
                let items = Repeats {
                    parameters,
                    pool: &pool,
                    protocol,
                    go_on,
                };
                let outcomes = match cut.work_or_merge(items, |_| true, &bar, output)? {
                    ControlFlow::Continue(outcomes) => outcomes,
                    ControlFlow::Break(said) => return Ok(said),
                };
                let repeats = outcomes.collect::<Result<Vec<Repeat>, _>>()?;
                done = repeats.len();
                let directory = out.is_some().then(|| cut.directory("spn")).transpose()?;
                (directory, figures(&pool, protocol, &repeats))
            }
        };
        bar.finish_and_clear();
        let summary = Summary::of(
            "spn bench",
            BenchSummary {
                probity_version: env!("CARGO_PKG_VERSION"),
                data: specification.data.clone(),
                data_sha256: rows.sha256,
                parameters,
                protocol,
                left_out,
                finished: done == protocol.repeats,
                figures,
            },
        );
        let write = |directory: &RunDirectory| -> anyhow::Result<()> {
            directory.write_run(&specification, &record)?;
            Ok(directory.write_summary(&summary)?)
        };
        match directory {
            Some(directory) => {
                write(&directory)?;
                let next = format!("Run: {}\n", directory.path().display());
                output.run(&summary, directory.path(), &next)
            }
            None => output.passing_run(&summary, write),
        }
    }
}
