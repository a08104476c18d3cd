//! `probity audit --text`: one text, examined whole.

use serde::Serialize;

use super::exit_code::ExitCode;
use super::inputs::Hardware;
use super::output::Output;
use super::render::{percent, table};
use probity::fairness::audit::AuditSpecification;
use probity::fairness::opened::{open_protected, open_text_model};
use probity::fairness::text::sentence::{Examination, Swap, examine};
use probity::report::text::Text;

/// Changed texts that are printed.
const SHOWN: usize = 10;

/// What `probity audit --text --json` prints.
#[derive(Serialize)]
struct ExaminationSummary {
    #[serde(flatten)]
    result: Examination,
}

/// Examines `text` by the model and the protected terms of `specification`.
pub(super) fn run(
    specification: &AuditSpecification,
    text: &str,
    hardware: &Hardware,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let device = hardware.open(output)?;
    let model = open_text_model(specification.model()?)?.value;
    let text_rules = &specification.text;
    let protected = open_protected(
        text_rules.lexicon.as_deref(),
        &specification.protected,
        &model.reader,
        text_rules.preset,
    )?
    .value;
    let result = examine(&model, &protected, specification.deciding(), text, &device)?;
    let text = render(&result);
    let summary = ExaminationSummary { result };
    output.summary("audit --text", &summary, &text)
}

fn render(result: &Examination) -> String {
    let mut text = format!(
        "Predicted: {} with {}.\n",
        result.label,
        percent(f64::from(result.probability))
    );
    if result.truncated {
        text.push_str("The text was cut to the model's length limit.\n");
    }
    let rows: Vec<Vec<String>> = result
        .swaps
        .iter()
        .map(|swap| {
            vec![
                format!("{} ({})", swap.from, swap.attribute),
                swap.to.clone(),
                swap.label.clone(),
                percent(f64::from(swap.probability)),
                format!("{:+.2}", 100.0 * swap.change),
                if swap.flips {
                    "FLIPS".into()
                } else {
                    String::new()
                },
            ]
        })
        .collect();
    let probability = format!("p({})", result.label);
    text.push_str(&table(
        &[
            "term",
            "replaced by",
            "predicted",
            &probability,
            "change in points",
            "",
        ],
        &rows,
    ));
    let mut texts: Vec<&Swap> = result.swaps.iter().collect();
    texts.sort_by(|a, b| {
        let order = b.flips.cmp(&a.flips);
        order.then(b.change.abs().total_cmp(&a.change.abs()))
    });
    text.push_str("\nThe texts whose score moves most, those that flip first:\n");
    for swap in texts.into_iter().take(SHOWN) {
        text.push_str(&format!("  {}: {}\n", swap.label, Text::new(&swap.text)));
    }
    text.push('\n');
    let flips = result.swaps.iter().filter(|swap| swap.flips).count();
    text.push_str(&if flips > 0 {
        format!(
            "Discriminatory: {flips} of {} replacements change the prediction.\n",
            result.swaps.len()
        )
    } else {
        format!(
            "Not discriminatory: none of {} replacements changes the prediction.\n",
            result.swaps.len()
        )
    });
    text
}
