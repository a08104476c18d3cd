//! `probity import`

use std::path::PathBuf;

use clap::Args;

use super::exit_code::ExitCode;
use super::fields::Fields;
use super::inputs::Hardware;
use super::output::Output;
use super::render::{alike, without_outcome};
use super::run::{At, Left, Performed};
use probity::data::specification::located_schema;
use probity::nn::import_run::{Found, Import, ImportSpecification, ImportSummary};
use probity::nn::import_text::TextImportReport;
use probity::nn::modality::ModalityName;
use probity::nn::recurrent::network::Shape;
use probity::nn::transformer::shape::Shape as TransformerShape;
use probity::nn::transformer_model::HuggingFaceReport;
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
        let output = at.output;
        let import = Import::open(specification)?;
        let format = import.format().to_owned();
        let (directory, summary) = match at.perform(import, "importing")? {
            Left::Ended { directory, summary } => (directory, summary),
            Left::Said(code) => return Ok(code),
        };
        let path = directory.path().display();
        let next = match &summary.found {
            Found::Transformer { classes, .. } if classes.is_empty() => {
                format!("train --texts TEXTS --label-column LABEL --encoder {path}")
            }
            _ => format!("audit --model {path} {inputs}"),
        };
        let text = format!(
            "{}Model: {path}\nNext: probity {next}\n",
            render(&summary, &format)
        );
        output.result(&summary, &text)
    }
}

fn render(summary: &ImportSummary, format: &str) -> String {
    let (matched, unused) = match &summary.found {
        Found::Table(report) => (&report.matched, &report.unused),
        Found::Text { report, .. } => (&report.matched, &report.unused),
        Found::Transformer { report, .. } => (&report.matched, &report.unused),
    };
    let inputs = match summary.modality {
        ModalityName::Table => "random inputs that it was tried on",
        ModalityName::Text => "texts of random words that it was tried on",
    };
    let mut text = alike(
        summary.decides_alike.as_ref(),
        inputs,
        "See whether it does so on inputs of yours before you believe that it is fair.",
    );
    text.push_str(&format!(
        "{format}: {} tensors matched, {} unused; {} parameters.\n",
        matched.len(),
        unused.len(),
        summary.parameters
    ));
    if let Some(agreement) = &summary.reference {
        let inputs = agreement.inputs;
        text.push_str(&format!(
            "The original gives the same answers to {inputs} inputs.\n"
        ));
        text.push_str(&without_outcome(agreement.without_outcome));
    }
    for (name, shape) in matched {
        text.push_str(&format!("  matched {name} {shape:?}\n"));
    }
    for name in unused {
        text.push_str(&format!("  unused  {name}\n"));
    }
    match &summary.found {
        Found::Table(_) => {}
        Found::Text {
            network,
            classes,
            report,
        } => text.push_str(&render_text(network, classes, report)),
        Found::Transformer {
            network,
            classes,
            max_length,
            masked,
            report,
        } => {
            let rendered = render_transformer(network, classes, *max_length, report);
            text.push_str(&rendered);
            if masked.is_some() {
                text.push_str(
                    "It has the head of a masked language model, which measures fluency in audits \
                     with --fluency-model.\n",
                );
            }
        }
    }
    text
}

fn render_transformer(
    shape: &TransformerShape,
    classes: &[String],
    max_length: usize,
    report: &HuggingFaceReport,
) -> String {
    let mut text = String::new();
    for name in &report.missing {
        text.push_str(&format!("  missing {name}\n"));
    }
    text.push_str(&format!(
        "{}, {} layers of {} units and {} heads; {} pieces, of which texts have at most \
         {max_length}; ",
        report.architecture, shape.layers, shape.units, shape.heads, shape.vocabulary,
    ));
    text.push_str(&match classes {
        [] => "an encoder without classes.\n".to_owned(),
        classes => format!("classes {}.\n", classes.join(", ")),
    });
    text
}

fn render_text(shape: &Shape, classes: &[String], report: &TextImportReport) -> String {
    let mut text = format!(
        "{}, {} layers of {} units{}; {} words of {} numbers; classes {}.\n",
        format!("{:?}", shape.cell).to_uppercase(),
        shape.layers,
        shape.units,
        if shape.bidirectional {
            " in both directions"
        } else {
            ""
        },
        report.words,
        shape.inputs,
        classes.join(", ")
    );
    if let Some(positive) = classes.get(1).filter(|_| report.single_output) {
        text.push_str(&format!(
            "The single output is the log-odds of class '{positive}'.\n"
        ));
    }
    for (row, what) in [
        (report.unknown_row, "stands for unknown words"),
        (report.padding_row, "pads texts"),
    ] {
        if let Some(row) = row {
            text.push_str(&format!("Row {row} of the table {what}.\n"));
        }
    }
    if report.unreachable_words > 0 {
        text.push_str(&format!(
            "{} words cannot occur in a text as it is split: {}{}\n",
            report.unreachable_words,
            report.unreachable_examples.join(" "),
            if report.unreachable_words > report.unreachable_examples.len() {
                " …"
            } else {
                ""
            }
        ));
    }
    text
}
