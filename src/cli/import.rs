//! `probity import`

use std::path::PathBuf;

use clap::Args;

use super::exit_code::ExitCode;
use super::fields::Fields;
use super::inputs::Hardware;
use super::output::Output;
use super::run::{At, Performed};
use probity::data::specification::located_schema;
use probity::nn::import_run::{Found, Import, ImportSpecification};
use probity::nn::modality::ModalityName;
use probity::run::specification::{Checked, Specification};
use probity::text::tokenizer::Splitting;

/// Arguments of `probity import`.
#[derive(Debug, Args)]
pub(super) struct ImportArgs {
    #[command(flatten)]
    fields: Fields<ImportSpecification>,
    /// Directory for the model [default: the next free runs/import-N]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Runs `probity import`.
pub(super) fn run(mut args: ImportArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let of_texts = [
        "text.vocabulary",
        "text.embeddings",
        "text.tokenizer",
        "hugging_face.directory",
    ];
    let modality = match of_texts.iter().any(|field| args.fields.is_given(field)) {
        true => ModalityName::Text,
        false => ModalityName::Table,
    };
    args.fields.set("modality", modality.name());
    let mut specification = args.fields.specification()?.into_inner();
    for name in [&mut specification.config, &mut specification.schema] {
        *name = name.as_deref().map(located_schema);
    }
    if let Some(text) = &mut specification.text {
        let embeddings = text.embeddings.as_ref();
        text.embeddings = embeddings.map(|file| located_schema(&file.display().to_string()).into());
        if let Some(tokenizer) = &mut text.tokenizer
            && Splitting::named(tokenizer)?.is_none()
        {
            *tokenizer = located_schema(tokenizer);
        }
    }
    let hardware = Hardware::default();
    let at = At::new(args.out, &hardware, output);
    ImportSpecification::perform_at(specification.check()?, at)
}

impl Performed for ImportSpecification {
    fn perform_at(specification: Checked<Self>, at: At<'_>) -> anyhow::Result<ExitCode> {
        let inputs = match specification.modality {
            ModalityName::Table => "--data DATA",
            ModalityName::Text => "--texts TEXTS",
        };
        let import = Import::open(specification)?;
        at.perform(import, "importing", |directory, summary| {
            let path = directory.path().display();
            let next = match &summary.found {
                Found::Transformer { classes, .. } if classes.is_empty() => {
                    format!("train --texts TEXTS --label-column LABEL --encoder {path}")
                }
                _ => format!("audit --model {path} {inputs}"),
            };
            Ok(format!("Model: {path}\nNext: probity {next}\n"))
        })
    }
}
