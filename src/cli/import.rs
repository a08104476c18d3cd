//! `probity import`

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use serde::Serialize;

use super::inputs::{OutsideArg, absolute, new_run, schema, with_outside};
use super::output::Output;
use crate::nn::import::{ImportConfig, ImportReport};
use crate::nn::model::Model;
use crate::nn::weights::read_weights;
use crate::report::run_directory::{RUN, SUMMARY, file_sha256};

/// The configuration of the ADF paper's network, also available by name.
const ADF_FNN: &str = include_str!("../../models/adf-fnn.toml");

/// Arguments of `probity import`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: probity import --weights census.safetensors --config adf-fnn --schema adf-census --out models/adf"
)]
pub(super) struct ImportArgs {
    /// Weight file: safetensors, PyTorch state dictionary (.pt, .pth) or NumPy .npz
    #[arg(long)]
    weights: PathBuf,
    /// TOML that names layers, tensors and activations, or `adf-fnn`, which is built in
    #[arg(long)]
    config: String,
    /// Schema file, or the name of a built-in schema
    #[arg(long)]
    schema: String,
    /// Directory for the model [default: the next free runs/import-N]
    #[arg(long)]
    out: Option<PathBuf>,
    /// Missing and outside values, where the schema expects any
    #[arg(long, value_enum)]
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
    let config_file = PathBuf::from(&args.config);
    let config_text = if args.config == "adf-fnn" && !config_file.is_file() {
        ADF_FNN.to_owned()
    } else {
        fs::read_to_string(&config_file).with_context(|| format!("cannot read {}", args.config))?
    };
    let config = ImportConfig::from_toml(&config_text).with_context(|| args.config.clone())?;
    let mut schema = schema(&args.schema)?;
    if let Some(outside) = args.outside {
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
    directory.write_json(SUMMARY, &summary)?;
    let path = directory.path().display();
    let text = format!(
        "{}Model: {path}\nNext: probity audit --model {path} --data DATA\n",
        render(&summary, &weights.format.to_string())
    );
    output.result(&summary, &text)?;
    Ok(ExitCode::SUCCESS)
}

fn render(summary: &ImportSummary, format: &str) -> String {
    let mut text = format!(
        "{format}: {} tensors matched, {} unused; {} parameters.\n",
        summary.report.matched.len(),
        summary.report.unused.len(),
        summary.parameters
    );
    for (name, shape) in &summary.report.matched {
        text.push_str(&format!("  matched {name} {shape:?}\n"));
    }
    for name in &summary.report.unused {
        text.push_str(&format!("  unused  {name}\n"));
    }
    text
}
