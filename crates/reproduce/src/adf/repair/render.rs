//! Table XII as text, the paper's figures beside ours.

use super::{ReproducedRepair, SHARES};
use crate::output::{interval, table};

/// Renders the rows of the table.
pub fn render(rows: &[ReproducedRepair]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut text = table(
        "data, attribute | share | before, % | retrained without, % | after, % | reduction, % | accuracy held out, %",
        rows.iter().flat_map(lines),
    );
    for (number, share) in SHARES.into_iter().enumerate() {
        let ours = rows.iter().filter_map(|row| row.ours.get(number));
        let ours: Vec<f64> = ours.map(|ours| 100.0 * ours.reduction).collect();
        if !ours.is_empty() {
            text.push_str(&format!(
                "Mean reduction with a share of {} %: {:.1} % (paper, 5 %: 57.2 %).\n",
                100.0 * share,
                ours.iter().sum::<f64>() / ours.len() as f64
            ));
        }
    }
    text.push_str(
        "Shares are of uniform random inputs that no training saw; accuracy is on a fifth of the rows, held out. The paper's \
         networks are its own.\n",
    );
    text
}

/// The cells of a row of the table: a line for the paper, and one for each of our shares.
fn lines(row: &ReproducedRepair) -> Vec<Vec<String>> {
    let name = format!("{} {}", row.data, row.paper.attribute);
    let fall = 100.0 * (1.0 - row.paper.after[2] / row.paper.before);
    let mut lines = vec![vec![
        format!("{name}, paper"),
        "5 %".to_owned(),
        format!("{:.2}", row.paper.before),
        "-".to_owned(),
        format!("{:.2}", row.paper.after[2]),
        format!("{fall:.1}"),
        "-".to_owned(),
    ]];
    for ours in &row.ours {
        let percent = |share: f64| format!("{:.2}", 100.0 * share);
        let before = percent(ours.accuracy_before.mean);
        let after = interval(&ours.accuracy_after, percent);
        lines.push(vec![
            name.clone(),
            format!("{} %", 100.0 * ours.share),
            percent(ours.before.mean),
            percent(ours.control.mean),
            interval(&ours.after, percent),
            format!("{:.1}", 100.0 * ours.reduction),
            format!("{before} → {after}"),
        ]);
    }
    lines
}
