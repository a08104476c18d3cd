//! `probity export`

use std::path::PathBuf;

use anyhow::{Context, ensure};
use clap::Args;
use serde::Serialize;

use super::exit_code::ExitCode;
use super::output::Output;
use probity::nn::transformer_model::{TransformerModel, export};

/// Arguments of `probity export`.
#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    /// Model directory of a transformer, as `probity import`, `train` or `repair` writes it
    #[arg(long, value_name = "DIR")]
    model: PathBuf,
    /// New directory for config.json, model.safetensors and tokenizer.json of Hugging Face
    #[arg(long, value_name = "DIR")]
    hf: PathBuf,
}

#[derive(Serialize)]
struct ExportSummary {
    model_sha256: String,
    files: Vec<PathBuf>,
}

/// Runs `probity export`.
pub(super) fn run(args: &ExportArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let model = TransformerModel::load(&args.model)?;
    let directory = args.hf.display();
    ensure!(
        !args.hf.exists(),
        "{directory} is there already; name a new directory"
    );
    let files =
        export(&model, &args.hf).with_context(|| format!("exporting {}", args.model.display()))?;
    let summary = ExportSummary {
        model_sha256: model.sha256(),
        files,
    };
    let text = format!("Written to {directory}: load it with transformers' from_pretrained.\n");
    output.result(&summary, &text)
}
