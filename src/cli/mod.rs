//! The command line: one file a subcommand. Each takes arguments, calls into the library, renders.
//!
//! Exit codes: 0 done; 1 ran, and a declared bound failed; 2 bad usage or input; 3 cannot run here
//! (no such device, the device failed, a predictor ended or was too slow). A closed pipe (`| head`)
//! is no error and changes no exit code.

mod audit;
mod certify;
mod compare;
mod counterparts;
mod data;
mod deletion;
mod demo;
mod devices;
mod embeddings;
mod evaluate;
mod examples;
mod exit_code;
mod explain;
mod export;
mod fields;
mod gate;
mod groups;
mod help;
mod import;
mod inputs;
mod interrupt;
mod invocation;
mod kmeans;
mod knn;
mod lexicon;
mod numbers;
#[cfg(feature = "onnx")]
mod onnx_worker;
mod option_names;
mod out;
mod outliers;
mod output;
mod predict;
mod predictor;
mod progress;
mod prove;
mod proxies;
mod render;
mod repair;
mod report;
mod run;
mod schema;
mod seal;
mod sentence;
#[cfg(feature = "serve")]
mod serve;
mod shard_script;
mod shards;
mod shell;
mod situations;
mod spn;
mod supervision;
mod train;
mod verify;
#[cfg(feature = "serve")]
mod work;
mod written;

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use exit_code::ExitCode;
use option_names::OptionNames;
use output::{Output, Reporting};
use probity::failure;
use probity::run::pause;
use probity::run::program::Program;
use supervision::Supervision;

/// Find and measure individual discrimination in classifiers.
#[derive(Debug, Parser)]
#[command(name = "probity", version, propagate_version = true)]
#[command(
    after_help = "Start with `probity demo`. Exit codes: 0 done, 1 a declared bound failed, \
                        2 bad usage or input, 3 cannot run here."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    reporting: Reporting,
    #[command(flatten)]
    supervision: Supervision,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Train and audit a classifier of made data with planted discrimination: a census, or comments (demo text)
    Demo(demo::DemoArgs),
    /// Describe tables: infer, check, list or show schemas
    Schema(schema::SchemaArgs),
    /// Fetch published data sets, generate made-up ones
    Data(data::DataArgs),
    /// Protected terms in texts: check, list or show lexica
    Lexicon(lexicon::LexiconArgs),
    /// Word vectors: fit them to texts, look at neighbours
    Embeddings(Box<embeddings::EmbeddingsArgs>),
    /// Train a classifier of tables or texts
    Train(train::TrainArgs),
    /// Bring a network for tables or texts from a safetensors, PyTorch or NumPy file
    Import(import::ImportArgs),
    /// Write a transformer as Hugging Face keeps it
    Export(export::ExportArgs),
    /// Search a classifier for individual discrimination
    Audit(Box<audit::AuditArgs>),
    /// Compare search strategies on one model under the same conditions
    Compare(Box<compare::CompareArgs>),
    /// Do what a specification says, or repeat a run
    Run(run::RunArgs),
    /// Put the shards of a run together
    Merge(run::MergeArgs),
    /// Hand the shards of a run to many machines
    Shard(shard_script::ShardArgs),
    /// Turn runs into a page to look at
    Report(report::ReportArgs),
    /// Hold models against the bounds that a file declares
    Gate(gate::GateArgs),
    /// Sign what the files of a run are
    Seal(seal::SealArgs),
    /// Re-check every pair of an audit, the boxes of a proof, or every removal set of a k-NN run, and
    /// the seals of runs
    Verify(verify::VerifyArgs),
    /// Prove inputs fair: no substitution of protected values can change their class
    Certify(certify::CertifyArgs),
    /// Prove for what share of a whole domain a network is fair, and for what share it is not
    Prove(Box<prove::ProveArgs>),
    /// Compare what a classifier does with groups of people
    Groups(groups::GroupsArgs),
    /// Match everybody of a group with somebody outside of it, and compare what was decided, whatever
    /// the model sees
    Counterparts(Box<counterparts::CounterpartsArgs>),
    /// Find how well the other columns tell a protected attribute, and how unequal decisions by them
    /// can be
    Proxies(Box<proxies::ProxiesArgs>),
    /// Compare each person with the people most like them in and outside of a group, whatever the
    /// model sees
    Situations(Box<situations::SituationsArgs>),
    /// Classify rows or texts: class, probabilities and logits of each
    Predict(predict::PredictArgs),
    /// Explain one decision: every protected variant, and the smallest change that undoes a flip
    Explain(Box<explain::ExplainArgs>),
    /// Say how well a classifier does on labelled rows or texts
    Evaluate(evaluate::EvaluateArgs),
    /// Retrain a classifier on what audits found in it
    Repair(Box<repair::RepairArgs>),
    /// Decide whether a few poisoned rows can change k-NN predictions
    Knn(Box<knn::KnnArgs>),
    /// Cluster rows so that any of them can be deleted exactly
    Kmeans(kmeans::KMeansArgs),
    /// Say something about outliers under differential privacy
    Outliers(outliers::OutliersArgs),
    /// Learn sum-product networks whose training rows can be deleted exactly
    Spn(spn::SpnArgs),
    /// Serve audits: pages for people, a JSON API for programs
    #[cfg(feature = "serve")]
    Serve(Box<serve::ServeArgs>),
    /// Run the jobs of a service on this machine
    #[cfg(feature = "serve")]
    Work(work::WorkArgs),
    /// Say which devices answer
    Devices(devices::DevicesArgs),
    /// Print shell completions
    Completions(shell::CompletionsArgs),
    /// Print the manual page
    Man(shell::ManArgs),
}

/// The definition of the whole command.
fn definition() -> clap::Command {
    help::grouped(help::usual_first(examples::shown(Cli::command(), "")))
}

/// Refuses `arguments` that are not UTF-8, as what run.toml and JSON say of them has to be: before
/// anything is done, not when it is written down.
fn expect_utf8(arguments: &[OsString]) {
    let is_foreign = |argument: &&OsString| argument.to_str().is_none();
    if let Some(foreign) = arguments.iter().find(is_foreign) {
        let foreign = foreign.display();
        let message =
            format!("the argument '{foreign}' is not in UTF-8; rename the file, or link it");
        definition().error(ErrorKind::InvalidUtf8, message).exit();
    }
}

/// Runs the command line `arguments`, the first of which is the name of the program, and returns the
/// exit code; or ends the process with it, where there is nothing more to do. A process has one
/// command line: a second call in it would take the arguments of the first for its own.
///
/// Jobs of the service, checks of a gate and graphs of ONNX files have processes of their own, in
/// which `program` runs the command once more. Where there is none, the first two are refused, and
/// graphs are computed here.
pub fn main(arguments: impl IntoIterator<Item = OsString>, program: Option<Program>) -> u8 {
    invocation::begin(arguments.into_iter().collect(), program);
    run_command_line().into()
}

fn run_command_line() -> ExitCode {
    #[cfg(feature = "onnx")]
    if let Some(code) = onnx_worker::begin() {
        return code;
    }
    let arguments = invocation::arguments();
    expect_utf8(arguments);
    let matches = definition().get_matches_from(arguments);
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let output = Output::new(&cli.reporting, &cli.supervision);
    let outcome = numbers::expect_threads_of_environment()
        .and_then(|()| pause::check().map_err(anyhow::Error::msg))
        .and_then(|()| cli.supervision.begin())
        .and_then(|_supervised| run(cli.command, &output));
    match outcome {
        Ok(code) => code,
        Err(error) => {
            output.error(&error, &OptionNames::new(definition(), &matches));
            ExitCode::from(code_of(&error))
        }
    }
}

fn run(command: Command, output: &Output) -> anyhow::Result<ExitCode> {
    match command {
        Command::Demo(args) => demo::run(args, output),
        Command::Schema(args) => schema::run(args, output),
        Command::Data(args) => data::run(args, output),
        Command::Lexicon(args) => lexicon::run(args, output),
        Command::Embeddings(args) => embeddings::run(*args, output),
        Command::Train(args) => train::run(args, output),
        Command::Import(args) => import::run(args, output),
        Command::Export(args) => export::run(&args, output),
        Command::Audit(args) => audit::run(*args, output),
        Command::Compare(args) => compare::run(*args, output),
        Command::Run(args) => run::run(args, output),
        Command::Merge(args) => run::merge(args, output),
        Command::Shard(args) => shard_script::run(args, output),
        Command::Report(args) => report::run(args, output),
        Command::Gate(args) => gate::run(&args, output),
        Command::Seal(args) => seal::run(&args, output),
        Command::Verify(args) => verify::run(args, output),
        Command::Certify(args) => certify::run(args, output),
        Command::Prove(args) => prove::run(*args, output),
        Command::Groups(args) => groups::run(args, output),
        Command::Counterparts(args) => counterparts::run(*args, output),
        Command::Proxies(args) => proxies::run(*args, output),
        Command::Situations(args) => situations::run(*args, output),
        Command::Predict(args) => predict::run(args, output),
        Command::Explain(args) => explain::run(*args, output),
        Command::Evaluate(args) => evaluate::run(args, output),
        Command::Repair(args) => repair::run(*args, output),
        Command::Knn(args) => knn::run(*args, output),
        Command::Kmeans(args) => kmeans::run(args, output),
        Command::Outliers(args) => outliers::run(args, output),
        Command::Spn(args) => spn::run(args, output),
        #[cfg(feature = "serve")]
        Command::Serve(args) => serve::run(*args, output),
        #[cfg(feature = "serve")]
        Command::Work(args) => work::run(args, output),
        Command::Devices(args) => devices::run(args, output),
        Command::Completions(args) => shell::completions(args, definition(), output),
        Command::Man(args) => shell::man(args, definition(), output),
    }
}

/// 3 when this machine is the problem, else 2.
fn code_of(error: &anyhow::Error) -> u8 {
    if failure::is_of_machine(error.as_ref()) {
        3
    } else {
        2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definitions_are_consistent() {
        definition().debug_assert();
    }
}
