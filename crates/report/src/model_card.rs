//! A fragment of a model card in Markdown: what the runs can say of a model, and blanks for what
//! only its owner knows.
//!
//! The fields are those of M. Mitchell et al., *Model Cards for Model Reporting* (FAT* 2019),
//! section 4.

use super::evidence::caveats;
use super::evidence::measures::measures;
use super::markdown::{code_block, escaped, grid};
use super::model::{Findings, Report, Role, RunReport};
use super::text::{Text, count};

impl Report {
    /// The fragment, of the runs that speak of models: audits, groups, certificates and repairs.
    pub fn to_model_card(&self) -> String {
        let mut card = String::from(
            "<!-- Fragment of a model card. Lines with TO BE FILLED IN are for the owner of the model. -->\n",
        );
        card.push_str("\n## Model details\n\n");
        for run in &self.runs {
            card.push_str(&details(run));
        }
        card.push_str("- Developed by, licence, contact: TO BE FILLED IN\n");
        card.push_str("\n## Intended use\n\n- Primary uses: TO BE FILLED IN\n- Uses out of scope: TO BE FILLED IN\n");
        card.push_str("\n## Factors\n\n");
        card.push_str(&factors(&self.runs));
        card.push_str("\n## Metrics\n\n");
        let metrics: String = self.runs.iter().map(metrics).collect();
        card.push_str(if metrics.is_empty() {
            "None of the runs measures a model.\n"
        } else {
            &metrics
        });
        card.push_str("\n## Evaluation data\n\n");
        for run in &self.runs {
            card.push_str(&data(run));
        }
        card.push_str("\n## Training data\n\n- TO BE FILLED IN\n");
        card.push_str("\n## Ethical considerations\n\n- TO BE FILLED IN\n");
        card.push_str("\n## Caveats and recommendations\n\n");
        for caveat in caveats(&self.runs) {
            card.push_str(&format!("- {caveat}\n"));
        }
        for run in &self.runs {
            if let Some(command) = &run.reproduce {
                card.push_str(&format!(
                    "\nTo repeat {}:\n\n{}",
                    escaped(&Text::value(run.shown_name())),
                    code_block(&command.as_str().into())
                ));
            }
        }
        card
    }
}

fn details(run: &RunReport) -> String {
    let mut text = String::new();
    for fact in &run.subject {
        if fact.is_of(&[Role::Model, Role::Predictor, Role::ModelHash]) {
            text.push_str(&format!(
                "- {}: {}\n",
                fact.name,
                escaped(&Text::value(&fact.value))
            ));
        }
    }
    let date = run.ended.as_deref().map(|ended| format!(", {ended}"));
    text.push_str(&format!(
        "- Examined by probity {} ({}){}\n",
        run.command,
        escaped(&Text::value(run.shown_name())),
        escaped(&date.unwrap_or_default().into())
    ));
    text
}

fn factors(runs: &[RunReport]) -> String {
    let mut names: Vec<String> = Vec::new();
    for run in runs {
        let protected = run
            .subject
            .iter()
            .filter(|fact| fact.is_of(&[Role::Protected]));
        for fact in protected.flat_map(|fact| fact.value.split(", ")) {
            if !names.iter().any(|name| name == fact) {
                names.push(fact.to_owned());
            }
        }
    }
    match names.is_empty() {
        true => "- Protected attributes: TO BE FILLED IN\n".to_owned(),
        false => format!(
            "- Protected attributes examined: {}\n- Other relevant factors: TO BE FILLED IN\n",
            escaped(&names.join(", ").into())
        ),
    }
}

/// What a run measures of a model, as a table; nothing if it measures none.
fn metrics(run: &RunReport) -> String {
    let measures = measures(run);
    if measures.is_empty() {
        return String::new();
    }
    let header = ["Metric", "Value", "95\u{a0}% interval", "Inputs"].map(str::to_owned);
    let rows = measures.iter().map(|measure| {
        let interval = measure.shown_interval();
        let cells = [
            measure.name(),
            measure.shown(),
            interval,
            count(measure.inputs),
        ];
        let cells = cells.iter();
        cells.map(|cell| escaped(&Text::value(cell))).collect()
    });
    format!(
        "{}:\n\n{}\n",
        escaped(&Text::value(run.shown_name())),
        grid(&header, rows)
    )
}

fn data(run: &RunReport) -> String {
    let mut text = String::new();
    let roles = [
        Role::Data,
        Role::Texts,
        Role::Part,
        Role::DataHash,
        Role::TextsHash,
    ];
    for fact in &run.subject {
        if fact.is_of(&roles) {
            text.push_str(&format!(
                "- {}: {}\n",
                fact.name,
                escaped(&Text::value(&fact.value))
            ));
        }
    }
    if let Findings::Audit(audit) = &run.findings {
        if let Some(data) = &audit.summary.data {
            text.push_str(&format!(
                "- Rows read: {}, left out: {}\n",
                count(data.rows),
                count(data.skipped_rows)
            ));
        }
        if let Some(texts) = &audit.summary.texts {
            text.push_str(&format!(
                "- Texts: {}, with a protected term: {}, not English: {}, without a word: {}, cut to the model's length: {}\n",
                count(texts.texts),
                count(texts.with_protected_term),
                count(texts.foreign),
                count(texts.blank),
                count(texts.truncated)
            ));
        }
    }
    text
}
