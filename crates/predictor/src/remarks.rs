//! What users are to know of a predictor's answers before they trust a figure of them.

use super::own_numbers::{ClassesByOrder, Predictor};
use super::probabilities::RoundedRows;
use probity_data::schema::Label;
use probity_data::table::Table;
use probity_nn::predicted_class;
use probity_run::number::{count, percent};

/// The fewest rows with an outcome that can speak against an order of classes.
const FEWEST_ROWS: u64 = 20;

/// Returns remarks on the answers `logits`, row-major `[rows, classes]`, that `predictor` gives for
/// the rows of a table with `label`, of which `rounded` are divided by their sum.
pub fn remarks(
    predictor: &dyn Predictor,
    label: &Label,
    (table, logits): (&Table, &[f32]),
    rounded: Option<RoundedRows>,
) -> Vec<String> {
    let mut remarks = Vec::new();
    if let Some(RoundedRows { rows, divided }) = rounded {
        remarks.push(format!(
            "note: of {} rows of the data, the predictor's probabilities of {} do not sum to 1 and were divided by their sum",
            count(rows),
            count(divided)
        ));
    }
    let words = predictor.words_by_place();
    if !words.is_empty() {
        remarks.push(format!(
            "note: words enter the graph by their places in the schema ({}); if it was trained on others, put the schema's levels into its order",
            words.join("; ")
        ));
    }
    let columns = predictor.spread_matrix();
    if !columns.is_empty() {
        remarks.push(format!(
            "note: the columns of the matrix that the graph takes are {}, in this order; if it was trained on another one, export it with an input for each column",
            columns.join(", ")
        ));
    }
    if predictor.decides_by_votes() {
        remarks.push(
            "WARNING: the graph's support vector machine decides by votes, and its probabilities, which are asked for, may say otherwise; of a model in Python its own decisions are asked for".to_owned(),
        );
    }
    if let Some(taken) = predictor.classes_by_order() {
        let right = right(table, logits, label.classes.len());
        remarks.push(in_order(&taken, right));
    }
    remarks
}

/// The number of rows of `table` that have an outcome and an answer, and of those that are answered
/// by it; there are `classes` of them.
fn right(table: &Table, logits: &[f32], classes: usize) -> [u64; 2] {
    let answers = logits.chunks_exact(classes.max(1)).enumerate();
    let known = answers.filter_map(|(row, logits)| Some((table.known_label(row)?, logits)));
    known.fold([0, 0], |[rows, right], (label, logits)| {
        [
            rows + 1,
            right + u64::from(predicted_class(logits) == label),
        ]
    })
}

/// That the classes of a model that does not name them are taken in some order, and whether
/// outcomes speak against that: of two classes, if the other order would be right of more rows.
fn in_order(taken: &ClassesByOrder, [rows, right]: [u64; 2]) -> String {
    let ClassesByOrder { classes, remedy } = taken;
    let counted: Vec<String> = classes
        .iter()
        .enumerate()
        .map(|(number, class)| format!("{number} is '{class}'"))
        .collect();
    let said = format!(
        "the model does not name its classes, which are taken in this order: {}",
        counted.join(", ")
    );
    match classes.len() == 2 && rows >= FEWEST_ROWS && 2 * right < rows {
        false => format!("note: {said}; if that is not so, {remedy}"),
        true => {
            let share = right as f64 / rows as f64;
            format!(
                "WARNING: {said}. So it is right of {} of {} rows with an outcome, and would be of {} the other way round; {remedy}",
                percent(share),
                count(rows),
                percent(1.0 - share)
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_doubted_where_the_other_one_is_right_of_more_rows() {
        let taken = |classes: &[&str]| ClassesByOrder {
            classes: classes.iter().map(|&class| class.to_owned()).collect(),
            remedy: "give classes",
        };
        for (rows, right, is_doubted) in [(20, 9, true), (20, 10, false), (19, 0, false)] {
            let said = in_order(&taken(&["yes", "no"]), [rows, right]);
            assert!(said.contains("0 is 'yes', 1 is 'no'"), "{said}");
            assert_eq!(said.starts_with("WARNING"), is_doubted, "{said}");
        }
        assert!(in_order(&taken(&["a", "b", "c"]), [100, 0]).starts_with("note"));
    }
}
