//! How good a model is, as people read it.

use super::shares::four_digits;
use super::terms;
use crate::document::{Block, Part, Table};
use crate::model::Quality;
use crate::text::{Text, count, counted, number, percent};

/// Classes of which each has a column at most: more would not stand beside each other.
const MATRIX: usize = 6;

impl Quality {
    /// The figure as people read it.
    pub fn shown(&self) -> String {
        match self {
            Quality::Classes(of) => percent(of.accuracy),
            Quality::Numbers(errors) => four_digits(errors.r_squared),
        }
    }

    /// The names of its columns in a table.
    pub fn header(&self) -> &'static [&'static str] {
        match self {
            Quality::Classes(_) => &[
                "Accuracy",
                "Majority class",
                "Balanced accuracy",
                "AUC",
                "F1",
            ],
            Quality::Numbers(_) => &["R²", "Mean absolute error", "Root mean squared error"],
        }
    }

    /// The cells of these columns.
    pub fn row(&self) -> Vec<String> {
        match self {
            Quality::Classes(of) => vec![
                percent(of.accuracy),
                percent(of.majority_share),
                percent(of.balanced_accuracy),
                four_digits(of.auc),
                four_digits(of.f1),
            ],
            Quality::Numbers(errors) => vec![
                four_digits(errors.r_squared),
                number(errors.mean_absolute),
                number(errors.root_mean_squared),
            ],
        }
    }
}

/// Returns how good a model is on rows, which are those `of` something: ` of the test part,`.
pub(super) fn sentence(quality: &Quality, of: &str) -> Option<Text> {
    let rows = match quality.rows() {
        0 => return None,
        1 => "one row".to_owned(),
        rows => counted(rows, "row", "rows"),
    };
    let figures = match quality {
        Quality::Classes(of) => format!(
            "{} are classified right; always saying the most frequent class would be right for {} of them",
            percent(of.accuracy),
            percent(of.majority_share)
        ),
        Quality::Numbers(errors) => format!(
            "predictions are off by {} on average, and R² is {}",
            number(errors.mean_absolute),
            errors
                .r_squared
                .map_or("not defined".to_owned(), |of| format!("{of:.4}"))
        ),
    };
    Some(Text::new(format!("Of the {rows}{of} {figures}.")))
}

/// Quality in each of `parts`, each with its name, and which rows of the last one are in which of
/// `classes`.
pub(super) fn part(parts: &[(&str, &Quality)], classes: &[String]) -> Part {
    let is_number = parts
        .iter()
        .any(|(_, of)| matches!(of, Quality::Numbers(_)));
    let mut header = vec!["Part", "Rows"];
    header.extend(parts.first().map_or(&[][..], |(_, of)| of.header()));
    if is_number {
        header.extend(["Mean label", "Mean prediction"]);
    }
    let rows = parts.iter().map(|(name, quality)| {
        let mut row = vec![(*name).to_owned(), count(quality.rows())];
        row.extend(quality.row());
        if let Quality::Numbers(errors) = quality {
            row.extend([errors.mean_label, errors.mean_prediction].map(number));
        }
        row
    });
    let table = Table::new("Quality part by part.", &header, rows.collect());
    let mut part = Part::new("Quality").with_essential(Block::Table(table));
    for sentence in undefined(parts, classes) {
        part = part.with_essential(Block::Paragraph(sentence.into()));
    }
    if let Some((name, Quality::Classes(of))) = parts.last()
        && !of.confusion.is_empty()
    {
        part = part.with_essential(Block::Table(confusion(name, classes, &of.confusion)));
    }
    part.with(match is_number {
        false => terms::explained(&terms::QUALITY),
        true => terms::explained(&terms::ERRORS),
    })
}

/// `the test part`, `all rows`.
fn called(part: &str) -> String {
    match part {
        "all" => "all rows".to_owned(),
        part => format!("the {part} part"),
    }
}

/// `Rows of the test part`, `All rows`.
fn rows_of(part: &str) -> String {
    match part {
        "all" => "All rows".to_owned(),
        part => format!("Rows of the {part} part"),
    }
}

/// Why figures of a part are not defined.
fn undefined(parts: &[(&str, &Quality)], classes: &[String]) -> Vec<String> {
    let mut said = Vec::new();
    for (name, quality) in parts {
        match quality {
            Quality::Classes(of) => {
                if of.undecided > 0 {
                    let rows = counted(of.undecided, "row", "rows");
                    said.push(format!("Of {rows} of {} nothing is decided.", called(name)));
                }
                if of.auc.is_none() {
                    said.push(format!(
                        "AUC is not defined for {}: a class has no row in it.",
                        called(name)
                    ));
                }
                if let (None, Some(last)) = (of.f1, classes.last()) {
                    said.push(format!(
                        "F1 is not defined for {}: no row is ‘{}’ or predicted so.",
                        called(name),
                        Text::value(last)
                    ));
                }
            }
            Quality::Numbers(errors) => {
                if errors.r_squared.is_none() {
                    said.push(format!(
                        "R² is not defined for {}: all labels are one number.",
                        called(name)
                    ));
                }
            }
        }
    }
    said
}

/// Rows of the part called `name` by their class and the predicted one; of many classes, how many rows of
/// each are predicted right, and what they are most often taken for.
fn confusion(name: &str, classes: &[String], confusion: &[Vec<u64>]) -> Table {
    let called = |class: &str| Text::value(class).to_string();
    if classes.len() > MATRIX {
        let rows = classes.iter().zip(confusion).enumerate();
        let rows = rows.map(|(place, (class, row))| {
            let all: u64 = row.iter().sum();
            let right = row.get(place).copied().unwrap_or_default();
            let others = row.iter().zip(classes).enumerate();
            let others = others.filter(|(other, (rows, _))| *other != place && **rows > 0);
            // The first of those that are as frequent.
            let most = others.rev().max_by_key(|(_, (rows, _))| **rows);
            vec![
                called(class),
                count(all),
                match all {
                    0 => "–".to_owned(),
                    all => percent(right as f64 / all as f64),
                },
                most.map_or("–".to_owned(), |(_, (rows, other))| {
                    format!("{} ({})", called(other), count(*rows))
                }),
            ]
        });
        let header = ["Class", "Rows", "Predicted right", "Most often taken for"];
        let caption = format!("{}, class by class.", rows_of(name));
        return Table::new(caption, &header, rows.collect());
    }
    let mut header = vec!["Actual".to_owned()];
    header.extend(
        classes
            .iter()
            .map(|class| format!("Predicted {}", called(class))),
    );
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let rows = classes.iter().zip(confusion).map(|(class, row)| {
        let mut cells = vec![called(class)];
        cells.extend(row.iter().map(|&rows| count(rows)));
        cells
    });
    Table::new(
        format!(
            "{} by their class and the one that the model predicts.",
            rows_of(name)
        ),
        &header,
        rows.collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cells of the rows that `table` has.
    fn cells(table: &Table) -> Vec<Vec<String>> {
        let row = |row: &Vec<Text>| row.iter().map(Text::to_string).collect();
        table.rows.iter().map(row).collect()
    }

    #[test]
    fn many_classes_are_told_one_by_one() {
        let classes: Vec<String> = (0..7).map(|class| format!("c{class}")).collect();
        let mut rows = vec![vec![0; 7]; 7];
        // Of the first, which two others are as often taken for; of the second one is right, and so on.
        rows[0] = vec![4, 0, 2, 0, 2, 0, 0];
        rows[1][1] = 3;
        rows[2][6] = 1;
        let shown = cells(&confusion("test", &classes, &rows));
        assert_eq!(shown[0], ["c0", "8", "50.00\u{a0}%", "c2 (2)"]);
        assert_eq!(shown[1], ["c1", "3", "100.00\u{a0}%", "–"]);
        assert_eq!(shown[2], ["c2", "1", "0.00\u{a0}%", "c6 (1)"]);
        assert_eq!(shown[3], ["c3", "0", "–", "–"]);
        // Of few, all cells stand beside each other.
        let few = cells(&confusion("all", &classes[..2], &rows));
        assert_eq!(few[0][..3], ["c0", "4", "0"]);
    }

    #[test]
    fn a_regressor_without_a_variance_has_no_r_squared() {
        let errors = serde_json::json!({
            "rows": 1, "mean_label": 2.0, "mean_prediction": 3.0, "mean_absolute": 1.0,
            "root_mean_squared": 1.0, "r_squared": null
        });
        let quality: Quality = serde_json::from_value(errors).unwrap();
        let said = sentence(&quality, ",").unwrap();
        assert_eq!(
            said.as_str(),
            "Of the one row, predictions are off by 1 on average, and R² is not defined."
        );
        assert!(undefined(&[("all", &quality)], &[])[0].contains("all labels are one number"));
    }
}
