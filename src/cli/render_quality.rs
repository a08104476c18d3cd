//! The quality of models for people.

use super::render::{count, counted, percent, table};
use probity::nn::metrics::{Errors, Metrics, Quality};

/// Quality of a model on several parts of its data.
pub(super) fn quality(parts: &[(&str, &Quality)], classes: &[String]) -> String {
    let of_classes = parts.iter();
    let of_classes: Vec<(&str, &Metrics)> = of_classes
        .filter_map(|(name, quality)| Some((*name, quality.metrics()?)))
        .collect();
    let of_numbers: Vec<(&str, &Errors)> = parts
        .iter()
        .filter_map(|(name, quality)| match quality {
            Quality::Classes(_) => None,
            Quality::Numbers(errors) => Some((*name, errors)),
        })
        .collect();
    match of_numbers.is_empty() {
        true => metrics(&of_classes, classes),
        false => errors(&of_numbers),
    }
}

/// Errors of a regressor on several parts of its data.
fn errors(parts: &[(&str, &Errors)]) -> String {
    let rows: Vec<Vec<String>> = parts
        .iter()
        .map(|(name, errors)| {
            vec![
                (*name).to_owned(),
                count(errors.rows as u64),
                defined(errors.r_squared),
                amount(errors.mean_absolute),
                amount(errors.root_mean_squared),
                amount(errors.mean_label),
                amount(errors.mean_prediction),
            ]
        })
        .collect();
    let head = [
        "part",
        "rows",
        "R²",
        "mean absolute error",
        "root mean squared error",
        "mean label",
        "mean prediction",
    ];
    let mut text = table(&head, &rows);
    for (name, errors) in parts {
        if errors.r_squared.is_none() {
            text.push_str(&format!(
                "R² is not defined for the {name} part: all its labels are one number.\n"
            ));
        }
    }
    text
}

/// A figure in four digits behind the point, where there is one.
fn defined(figure: Option<f64>) -> String {
    figure.map_or("not defined".to_owned(), |figure| format!("{figure:.4}"))
}

/// Why figures of a classifier are not defined for one part of its data.
fn undefined((name, metrics): &(&str, &Metrics), classes: &[String]) -> String {
    let mut text = String::new();
    if metrics.auc.is_none() {
        text.push_str(&format!(
            "AUC is not defined for the {name} part: a class has no row in it.\n"
        ));
    }
    if let (None, Some(last)) = (metrics.f1, classes.last()) {
        text.push_str(&format!(
            "F1 is not defined for the {name} part: no row in it is '{last}' or predicted so.\n"
        ));
    }
    text
}

/// A number in the unit of a label, in four digits that count, and never fewer than all before the
/// point.
pub(super) fn amount(number: f64) -> String {
    let before = match number == 0.0 || !number.is_finite() {
        true => 1,
        false => number.abs().log10().floor() as i32 + 1,
    };
    format!("{number:.*}", (4 - before).clamp(0, 12) as usize)
}

/// Quality of a classifier on several parts of its data.
fn metrics(parts: &[(&str, &Metrics)], classes: &[String]) -> String {
    let rows: Vec<Vec<String>> = parts
        .iter()
        .map(|(name, metrics)| {
            vec![
                (*name).to_owned(),
                count(metrics.rows as u64),
                percent(metrics.accuracy),
                percent(metrics.majority_share),
                percent(metrics.balanced_accuracy),
                defined(metrics.auc),
                defined(metrics.f1),
            ]
        })
        .collect();
    let mut text = table(
        &[
            "part",
            "rows",
            "accuracy",
            "majority class",
            "balanced",
            "AUC",
            "F1",
        ],
        &rows,
    );
    for part in parts {
        text.push_str(&undefined(part, classes));
    }
    if let Some((name, metrics)) = parts.last() {
        let mut header = vec!["actual".to_owned()];
        header.extend(classes.iter().map(|class| format!("predicted {class}")));
        let rows: Vec<Vec<String>> = classes
            .iter()
            .zip(&metrics.confusion)
            .map(|(class, row)| {
                let mut cells = vec![class.clone()];
                cells.extend(row.iter().map(|&rows| count(rows)));
                cells
            })
            .collect();
        if metrics.undecided > 0 {
            let rows = counted(metrics.undecided, "row", "rows");
            text.push_str(&format!(
                "Of {rows} of the {name} part nothing is decided.\n"
            ));
        }
        text.push_str(&format!("Confusion matrix, {name} part:\n"));
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        text.push_str(&table(&header, &rows));
    }
    text
}
