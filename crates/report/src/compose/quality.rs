//! How good a model is, as people read it.

use super::shares::four_digits;
use super::terms;
use crate::document::{Block, Part, Table};
use crate::model::{ClassQuality, Errors, Quality};
use crate::text::{Text, count, counted, in_column, listed, number, percent};

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

/// Returns how good a model is on the rows of the part called `part`, or on `all`.
pub(super) fn sentence(quality: &Quality, part: &str) -> Option<Text> {
    let learnt = match part {
        "training" => " of the training part, which it has learnt from",
        "validation" => " of the validation part, by which its best epoch was chosen",
        "test" => " of the test part, which it has not learnt from",
        _ => "",
    };
    let rows = match quality.rows() {
        0 => return None,
        1 => "one row".to_owned(),
        rows => counted(rows, "row", "rows"),
    };
    let figures = match quality {
        Quality::Classes(of) if of.undecided > 0 => {
            let decided = of.rows.saturating_sub(of.undecided);
            let right = (of.accuracy * of.rows as f64).round();
            let share = match decided {
                0 => String::new(),
                decided => format!(" ({})", percent(right / decided as f64)),
            };
            format!(
                "nothing is decided about {}; of the other {}, {} are classified right{share}",
                count(of.undecided),
                count(decided),
                count(right as u64)
            )
        }
        Quality::Classes(of) => format!(
            "{} are classified right; always saying their most frequent class would be right for {} of them",
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
    Some(Text::new(format!("Of the {rows}{learnt}, {figures}.")))
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
    let errors = parts.iter().filter_map(|(_, quality)| match quality {
        Quality::Numbers(errors) => Some(errors),
        Quality::Classes(_) => None,
    });
    let errors: Vec<&Errors> = errors.collect();
    let column = |of: fn(&Errors) -> f64| {
        let values: Vec<f64> = errors.iter().map(|&errors| of(errors)).collect();
        in_column(&values).into_iter()
    };
    let mut columns = [
        column(|of| of.mean_absolute),
        column(|of| of.root_mean_squared),
        column(|of| of.mean_label),
        column(|of| of.mean_prediction),
    ];
    let rows = parts.iter().map(|(name, quality)| {
        let mut row = vec![(*name).to_owned(), count(quality.rows())];
        match quality {
            Quality::Classes(_) => row.extend(quality.row()),
            Quality::Numbers(errors) => {
                row.push(four_digits(errors.r_squared));
                row.extend(columns.iter_mut().filter_map(Iterator::next));
            }
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
        let rows = rows_of(name, of.undecided > 0);
        part = part.with_essential(Block::Table(confusion(&rows, classes, &of.confusion)));
    }
    part.with(match (is_number, classes.len()) {
        (true, _) => terms::explained(&terms::ERRORS),
        (false, ..=2) => terms::explained(&terms::QUALITY),
        (false, _) => terms::explained(&terms::QUALITY_OF_MANY),
    })
}

/// `the test part`, `all rows`.
fn called(part: &str) -> String {
    match part {
        "all" => "all rows".to_owned(),
        part => format!("the {part} part"),
    }
}

/// `Rows of the test part`, `All rows`; where nothing is decided about some, those that are decided.
fn rows_of(part: &str, are_some_undecided: bool) -> String {
    match (part, are_some_undecided) {
        ("all", false) => "All rows".to_owned(),
        ("all", true) => "All rows that are decided".to_owned(),
        (part, false) => format!("Rows of the {part} part"),
        (part, true) => format!("Rows of the {part} part that are decided"),
    }
}

/// The names of the classes that no row has, as far as a confusion matrix tells.
fn absent(of: &ClassQuality, classes: &[String]) -> Vec<String> {
    let rows = of.confusion.iter().zip(classes);
    let without = rows.filter(|(row, _)| row.iter().all(|&rows| rows == 0));
    without
        .map(|(_, class)| format!("‘{}’", Text::value(class)))
        .collect()
}

/// Why figures of a part are not defined.
fn undefined(parts: &[(&str, &Quality)], classes: &[String]) -> Vec<String> {
    let mut said = Vec::new();
    for (name, quality) in parts {
        match quality {
            Quality::Classes(of) => {
                if of.undecided > 0 {
                    said.push(format!(
                        "Nothing is decided about {} of {}: accuracy, balanced accuracy and F1 count them as not right.",
                        counted(of.undecided, "row", "rows"),
                        called(name)
                    ));
                }
                if of.auc.is_none() {
                    let of_part = match *name {
                        "all" => String::new(),
                        name => format!(" of the {name} part"),
                    };
                    said.push(format!(
                        "No row{of_part} is {}: AUC is not defined, and balanced accuracy is of the other classes.",
                        match &absent(of, classes)[..] {
                            // Rows about which nothing is decided stand in no cell.
                            classes if of.undecided == 0 && !classes.is_empty() => {
                                listed(classes, "or")
                            }
                            _ => "of some class".to_owned(),
                        }
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

/// What `rows_of` names by their class and the predicted one; of many classes, how many of each are predicted right,
/// and what they are most often taken for.
fn confusion(rows_of: &str, classes: &[String], confusion: &[Vec<u64>]) -> Table {
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
        let caption = format!("{rows_of}, class by class.");
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
        format!("{rows_of} by their class and the one that the model predicts."),
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
        let shown = cells(&confusion("Rows of the test part", &classes, &rows));
        assert_eq!(shown[0], ["c0", "8", "50.00\u{a0}%", "c2 (2)"]);
        assert_eq!(shown[1], ["c1", "3", "100.00\u{a0}%", "–"]);
        assert_eq!(shown[2], ["c2", "1", "0.00\u{a0}%", "c6 (1)"]);
        assert_eq!(shown[3], ["c3", "0", "–", "–"]);
        // Of few, all cells stand beside each other.
        let few = cells(&confusion("All rows", &classes[..2], &rows));
        assert_eq!(few[0][..3], ["c0", "4", "0"]);
    }

    #[test]
    fn what_is_not_decided_is_not_called_wrong() {
        let metrics = serde_json::json!({
            "rows": 400, "accuracy": 0.0225, "majority_share": 0.515, "balanced_accuracy": 0.0218,
            "auc": null, "f1": 0.2, "confusion": [[9, 8], [0, 0]], "undecided": 383
        });
        let quality: Quality = serde_json::from_value(metrics).unwrap();
        let said = sentence(&quality, "all").unwrap().to_string();
        let said = said.replace('\u{a0}', " ");
        let decided =
            "nothing is decided about 383; of the other 17, 9 are classified right (52.94 %)";
        assert_eq!(said, format!("Of the 400 rows, {decided}."));
        let classes = ["no", "yes"].map(str::to_owned);
        let said = undefined(&[("all", &quality)], &classes).concat();
        assert!(said.contains("No row is of some class: AUC"), "{said}");
        let part = part(&[("all", &quality)], &classes);
        let captions = part.blocks.iter().filter_map(|block| match block {
            Block::Table(table) => Some(table.caption.to_string()),
            _ => None,
        });
        let captions: Vec<String> = captions.collect();
        assert!(captions[1].starts_with("All rows that are decided by their class"));
    }

    #[test]
    fn a_regressor_without_a_variance_has_no_r_squared() {
        let errors = serde_json::json!({
            "rows": 1, "mean_label": 2.0, "mean_prediction": 3.0, "mean_absolute": 1.0,
            "root_mean_squared": 1.0, "r_squared": null
        });
        let quality: Quality = serde_json::from_value(errors).unwrap();
        let said = sentence(&quality, "all").unwrap();
        assert_eq!(
            said.as_str(),
            "Of the one row, predictions are off by 1 on average, and R² is not defined."
        );
        assert!(undefined(&[("all", &quality)], &[])[0].contains("all labels are one number"));
    }
}
