//! What is said of an evaluation: the quality of a model, and of its probabilities.

use super::super::document::{Block, Part, Table};
use super::super::model::{EvaluationFindings, Mean, ProbabilityFigures, Quality};
use super::super::text::{Text, count, counted};
use super::{left_out, quality};

/// The verdict and the parts.
pub(super) fn parts(evaluation: &EvaluationFindings) -> (Vec<Text>, Vec<Part>) {
    let part = match evaluation.part.as_str() {
        "train" => "training",
        part => part,
    };
    let mut verdict: Vec<Text> = quality::sentence(&evaluation.quality, part)
        .into_iter()
        .collect();
    verdict.extend(alike(&evaluation.quality, &evaluation.classes));
    if let Some(learnt) = evaluation.learnt_from.filter(|&of| of > 0 && part == "all") {
        verdict.push(Text::new(format!(
            "The model has learnt from {} of them, so that these figures flatter it; --part test measures it on others.",
            count(learnt)
        )));
    }
    let read = evaluation
        .data
        .as_ref()
        .map_or_else(Vec::new, left_out::rows);
    verdict.extend(read.into_iter().map(Text::from));
    if evaluation.rows_without_outcome > 0 {
        verdict.push(Text::new(format!(
            "{} left out.",
            counted(
                evaluation.rows_without_outcome,
                "row without an outcome was",
                "rows without an outcome were"
            )
        )));
    }
    let measured = [(part, &evaluation.quality)];
    let mut parts = vec![quality::part(&measured, &evaluation.classes)];
    parts.extend(evaluation.probabilities.as_ref().map(probabilities));
    (verdict, parts)
}

/// That one class is predicted for all rows, where these are of several.
fn alike(quality: &Quality, classes: &[String]) -> Option<Text> {
    let Quality::Classes(of) = quality else {
        return None;
    };
    let is_of_several = of.accuracy < 1.0 && of.undecided == 0;
    let predicted = |class: &usize| of.confusion.iter().any(|row| row.get(*class) > Some(&0));
    let predicted: Vec<usize> = (0..classes.len()).filter(predicted).collect();
    match predicted[..] {
        [class] if is_of_several => Some(Text::new(format!(
            "The model predicts ‘{}’ for all of them.",
            Text::value(&classes[class])
        ))),
        _ => None,
    }
}

fn probabilities(figures: &ProbabilityFigures) -> Part {
    let mean = |mean: &Mean| match mean.ci95 {
        Some([low, high]) => format!("{:.4} (95\u{a0}% interval {low:.4} – {high:.4})", mean.mean),
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
    let header = ["Class", "Actual", "Calibration error", "95\u{a0}% interval"];
    let caption = "How far the probability of each class lies from how often it comes true.";
    Part::new("Probabilities")
        .with_essential(Block::Facts(facts.into()))
        .with_essential(Block::Table(Table::new(caption, &header, rows.collect())))
}
