//! Table XII as text, the paper's figures beside ours.

use std::path::PathBuf;

use super::retrain::{PROTOCOLS, RepairTableSummary};
use crate::options::not_found;
use crate::output::{interval, table};
use probity_fairness::statistics::Mean;

pub fn render(summary: &RepairTableSummary, folders: &[PathBuf]) -> String {
    let mut cells = Vec::new();
    for row in &summary.rows {
        let fall = 100.0 * (1.0 - row.paper.after[2] / row.paper.before);
        cells.push(vec![
            format!("{} {}, paper", row.data.name(), row.paper.attribute),
            "5 %".to_owned(),
            format!("{:.2}", row.paper.before),
            "-".to_owned(),
            format!("{:.2}", row.paper.after[2]),
            format!("{fall:.1}"),
            "-".to_owned(),
        ]);
        for ours in &row.ours {
            let percent = |share: f64| format!("{:.2}", 100.0 * share);
            let mean = |mean: &Mean| interval(mean, percent);
            cells.push(vec![
                format!("{} {}", row.data.name(), row.paper.attribute),
                format!("{} %", 100.0 * ours.protocol.share),
                percent(ours.before.mean),
                percent(ours.control.mean),
                mean(&ours.after),
                format!("{:.1}", 100.0 * ours.reduction),
                format!(
                    "{} → {}",
                    percent(ours.accuracy_before.mean),
                    mean(&ours.accuracy_after)
                ),
            ]);
        }
    }
    let mut text = String::new();
    if !cells.is_empty() {
        text.push_str(&table(
            &[
                "data, attribute",
                "share",
                "before, %",
                "retrained without, %",
                "after, %",
                "reduction, %",
                "accuracy held out, %",
            ],
            &cells,
        ));
        for (number, protocol) in PROTOCOLS.iter().enumerate() {
            let ours: Vec<f64> = summary
                .rows
                .iter()
                .filter_map(|row| row.ours.get(number))
                .map(|ours| 100.0 * ours.reduction)
                .collect();
            if !ours.is_empty() {
                text.push_str(&format!(
                    "Mean reduction with a share of {} %: {:.1} % (paper, 5 %: 57.2 %).\n",
                    100.0 * protocol.share,
                    ours.iter().sum::<f64>() / ours.len() as f64
                ));
            }
        }
        text.push_str(
            "Shares are of uniform random inputs that no training saw; accuracy is on a fifth of the rows, held out. The paper's \
             networks are its own.\n",
        );
    }
    text.push_str(&not_found(&summary.not_found, folders));
    if !summary.finished {
        text.push_str("Interrupted: this is what was complete by then.\n");
    }
    text
}
