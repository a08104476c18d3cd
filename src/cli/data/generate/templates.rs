//! Test sets from templates.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;

use super::args::GenerateArgs;
use crate::cli::exit_code::ExitCode;
use crate::cli::output::Output;
use crate::cli::render::{count, table};
use probity::text::templates::{TemplateSet, template_texts};

const COLUMNS: [&str; 6] = ["text", "label", "attribute", "value", "term", "template"];

#[derive(Serialize)]
struct TemplatesSummary {
    name: &'static str,
    texts: u64,
    toxic: u64,
    attributes: Vec<AttributeCounts>,
    left_out: u64,
    terms_left_out: Vec<String>,
    file: PathBuf,
}

/// Texts of one attribute.
#[derive(Serialize)]
struct AttributeCounts {
    attribute: String,
    texts: u64,
    /// The number of texts of the value with the fewest, and with the most.
    of_a_value: [u64; 2],
}

pub(super) fn run(args: &GenerateArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let set = template_texts(&args.lexicon()?, &args.protected)?;
    let written = args.write(|out| {
        let mut csv = csv::Writer::from_writer(out);
        csv.write_record(COLUMNS)?;
        for text in &set.texts {
            let label = if text.is_toxic { "1" } else { "0" };
            csv.write_record([
                text.text.as_str(),
                label,
                &text.attribute,
                &text.value,
                &text.term,
                &text.template,
            ])?;
        }
        csv.flush()
    })?;
    let Some(file) = written else {
        return Ok(ExitCode::SUCCESS);
    };
    let summary = TemplatesSummary {
        name: "templates",
        texts: set.texts.len() as u64,
        toxic: set.texts.iter().filter(|text| text.is_toxic).count() as u64,
        attributes: attributes(&set),
        left_out: set.left_out,
        terms_left_out: set.terms_left_out,
        file: file.clone(),
    };
    output.summary("data generate", &summary, &render(&summary))
}

fn attributes(set: &TemplateSet) -> Vec<AttributeCounts> {
    let mut names: Vec<&str> = set.texts.iter().map(|it| it.attribute.as_str()).collect();
    names.dedup();
    names
        .into_iter()
        .map(|name| {
            let mut of_value: BTreeMap<&str, u64> = BTreeMap::new();
            for text in set.texts.iter().filter(|text| text.attribute == name) {
                *of_value.entry(&text.value).or_default() += 1;
            }
            let counts = || of_value.values().copied();
            AttributeCounts {
                attribute: name.to_owned(),
                texts: counts().sum(),
                of_a_value: [
                    counts().min().unwrap_or_default(),
                    counts().max().unwrap_or_default(),
                ],
            }
        })
        .collect()
}

fn render(summary: &TemplatesSummary) -> String {
    let mut text = format!(
        "{} texts, {} of them rude: {}\n",
        count(summary.texts),
        count(summary.toxic),
        summary.file.display()
    );
    let rows: Vec<Vec<String>> = summary
        .attributes
        .iter()
        .map(|it| {
            let [fewest, most] = it.of_a_value.map(count);
            vec![it.attribute.clone(), count(it.texts), fewest, most]
        })
        .collect();
    let head = ["attribute", "texts", "fewest of a value", "most of a value"];
    text.push_str(&table(&head, &rows));
    if summary.left_out > 0 {
        text.push_str(&format!(
            "Left out, as they do not name their value by the senses of the lexicon: {} texts.\n",
            count(summary.left_out)
        ));
    }
    if !summary.terms_left_out.is_empty() {
        text.push_str(&format!(
            "Terms without a text: {}.\n",
            summary.terms_left_out.join(", ")
        ));
    }
    text
}
