//! `probity import`: classifiers of tables; those of texts are in [`super::import_text`].

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use serde::Serialize;

use super::import_text::{self, TextArgs};
use super::inputs::{OutsideArg, absolute, new_run, schema, with_outside};
use super::output::Output;
use probity::nn::import::{ImportConfig, ImportReport};
use probity::nn::model::Model;
use probity::nn::weights::read_weights;
use probity::run::run_directory::{RUN, file_sha256};

/// The configuration of the ADF paper's network, also available by name.
const ADF_FNN: &str = include_str!("../../models/adf-fnn.toml");

/// Arguments of `probity import`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples: probity import --weights census.safetensors --config adf-fnn --schema adf-census --out models/adf\n\
                  \x20         probity import --weights toxic.pt --vocabulary words.txt --unknown-row 1 --padding-row 0 --classes fine,toxic --out models/toxic"
)]
pub(super) struct ImportArgs {
    /// Weight file: safetensors, PyTorch state dictionary (.pt, .pth) or NumPy .npz
    #[arg(long)]
    pub(super) weights: PathBuf,
    /// Directory for the model [default: the next free runs/import-N]
    #[arg(long)]
    pub(super) out: Option<PathBuf>,
    #[command(flatten)]
    table: TableArgs,
    #[command(flatten)]
    pub(super) text: TextArgs,
}

/// A fully connected network for tables.
#[derive(Debug, Args)]
#[command(next_help_heading = "Classifiers of tables")]
struct TableArgs {
    /// TOML that names layers, tensors and activations, or `adf-fnn`, which is built in
    #[arg(long, required_unless_present_any = ["vocabulary", "embeddings"], conflicts_with_all = ["vocabulary", "embeddings"])]
    config: Option<String>,
    /// Schema file, or the name of a built-in schema
    #[arg(long, required_unless_present_any = ["vocabulary", "embeddings"], conflicts_with_all = ["vocabulary", "embeddings"])]
    schema: Option<String>,
    /// Missing and outside values, where the schema expects any
    #[arg(long, value_enum, conflicts_with_all = ["vocabulary", "embeddings"])]
    outside: Option<OutsideArg>,
}

#[derive(Serialize)]
struct ImportRun {
    command: String,
    probity_version: String,
    weights: PathBuf,
    weights_sha256: String,
    config: String,
}

#[derive(Serialize)]
struct ImportSummary {
    schema_version: u32,
    command: String,
    probity_version: String,
    weights_sha256: String,
    model_sha256: String,
    parameters: usize,
    #[serde(flatten)]
    report: ImportReport,
}

/// Runs `probity import`.
pub(super) fn run(args: ImportArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let (Some(config_name), Some(schema_name)) = (&args.table.config, &args.table.schema) else {
        return import_text::run(&args, output);
    };
    let config_file = PathBuf::from(config_name);
    let config_text = if config_name == "adf-fnn" && !config_file.is_file() {
        ADF_FNN.to_owned()
    } else {
        fs::read_to_string(&config_file).with_context(|| format!("cannot read {config_name}"))?
    };
    let config = ImportConfig::from_toml(&config_text).with_context(|| config_name.clone())?;
    let mut schema = schema(schema_name)?;
    if let Some(outside) = args.table.outside {
        schema = with_outside(schema, outside)?;
    }
    let weights = read_weights(&args.weights)?;
    let (network, report) = config
        .network(&weights, &schema)
        .with_context(|| args.weights.display().to_string())?;
    let model = Model { schema, network };
    let weights_sha256 = file_sha256(&args.weights)?;
    let directory = new_run(args.out.as_ref(), "import")?;
    let version = env!("CARGO_PKG_VERSION").to_owned();
    directory.write_toml(
        RUN,
        &ImportRun {
            command: "import".to_owned(),
            probity_version: version.clone(),
            weights: absolute(&args.weights),
            weights_sha256: weights_sha256.clone(),
            config: config_text,
        },
    )?;
    model.save(directory.path())?;
    let summary = ImportSummary {
        schema_version: 1,
        command: "import".to_owned(),
        probity_version: version,
        weights_sha256,
        model_sha256: model.sha256(),
        parameters: model.network.parameters(),
        report,
    };
    directory.write_summary(&summary)?;
    let path = directory.path().display();
    let text = format!(
        "{}Model: {path}\nNext: probity audit --model {path} --data DATA\n",
        render(&summary, &weights.format.to_string())
    );
    output.result(&summary, &text)?;
    Ok(ExitCode::SUCCESS)
}

fn render(summary: &ImportSummary, format: &str) -> String {
    let (report, parameters) = (&summary.report, summary.parameters);
    render_tensors(format, &report.matched, &report.unused, parameters)
}

/// What became of the tensors of a file.
pub(super) fn render_tensors(
    format: &str,
    matched: &[(String, Vec<usize>)],
    unused: &[String],
    parameters: usize,
) -> String {
    let mut text = format!(
        "{format}: {} tensors matched, {} unused; {parameters} parameters.\n",
        matched.len(),
        unused.len(),
    );
    for (name, shape) in matched {
        text.push_str(&format!("  matched {name} {shape:?}\n"));
    }
    for name in unused {
        text.push_str(&format!("  unused  {name}\n"));
    }
    text
}
