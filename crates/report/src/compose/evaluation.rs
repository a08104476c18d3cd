//! What is said of an evaluation: the quality of a model, and of its probabilities.

use super::super::document::{Block, Part, Table};
use super::super::model::{EvaluationFindings, Mean, ProbabilityFigures};
use super::super::text::{Text, count, counted};
use super::{left_out, quality};

/// The verdict and the parts.
pub(super) fn parts(evaluation: &EvaluationFindings) -> (Vec<Text>, Vec<Part>) {
    let part = evaluation.part.as_str();
    let of = match part {
        "all" => ",".to_owned(),
        part => format!(" of the {part} part,"),
    };
    let mut verdict: Vec<Text> = quality::sentence(&evaluation.quality, &of)
        .into_iter()
        .collect();
    let read = evaluation
        .data
        .as_ref()
        .map_or_else(Vec::new, left_out::rows);
    verdict.extend(read.into_iter().map(Text::from));
    if evaluation.rows_without_outcome > 0 {
        let rows = counted(evaluation.rows_without_outcome, "row", "rows");
        verdict.push(Text::new(format!("{rows} without an outcome left out.")));
    }
    let measured = [(part, &evaluation.quality)];
    let mut parts = vec![quality::part(&measured, &evaluation.classes)];
    parts.extend(evaluation.probabilities.as_ref().map(probabilities));
    (verdict, parts)
}

fn probabilities(figures: &ProbabilityFigures) -> Part {
    let mean = |mean: &Mean| match mean.ci95 {
        Some([low, high]) => format!("{:.4} (95 % interval {low:.4} – {high:.4})", mean.mean),
        None => format!("{:.4}", mean.mean),
    };
    let facts = [
        ("Log loss", mean(&figures.log_loss)),
        ("Brier score", mean(&figures.brier_score)),
    ];
    let facts = facts.map(|(name, value)| (name.into(), value.into()));
    let rows = figures.by_class.iter().map(|of| {
        let [low, high] = of.ci95;
        vec![
            Text::value(&of.class).to_string(),
            count(of.inputs),
            format!("{:.4}", of.calibration_error),
            format!("{low:.4} – {high:.4}"),
        ]
    });
    let header = ["Class", "Actual", "Calibration error", "95 % interval"];
    let caption = "How far the probability of each class lies from how often it comes true.";
    Part::new("Probabilities")
        .with_essential(Block::Facts(facts.into()))
        .with_essential(Block::Table(Table::new(caption, &header, rows.collect())))
}
