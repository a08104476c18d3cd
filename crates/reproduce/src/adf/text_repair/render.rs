//! Tables XIII and XIV as text, the paper's figures beside ours.

use super::{RemedySummary, ReproducedTextRepair};
use crate::output::{interval, table};
use crate::reproduction::{Asked, Reproduction};
use probity_fairness::repair::change::Figures;
use probity_fairness::repair::specification::RepairMethod;
use probity_fairness::repair::summary::NetworkFigures;
use probity_fairness::repair::text::TextFigures;
use probity_fairness::statistics::Mean;

/// Renders the table.
pub fn render(found: &Reproduction<Asked<String>, ReproducedTextRepair>) -> String {
    let mut text = format!(
        "Table {} of {}. Percent of an independent set that is no longer discriminatory, paper / ours (means, 95 % interval):\n",
        found.heading.table, found.paper
    );
    if let Some(first) = found.rows.first() {
        let names: Vec<String> = first.ours.iter().map(name).collect();
        let header = format!(
            "network, attribute | {} | retrained without | accuracy, {} | test texts certified, last",
            names.join(" | "),
            names.join(" | accuracy, ")
        );
        text.push_str(&table(&header, found.rows.iter().map(line)));
        text.push_str(&means(&found.rows));
        text.push_str("Paper: its own comments and terms; ours: 11,170 of the Jigsaw comments.\n");
    }
    text
}

/// The title of a remedy's column.
fn name(remedy: &RemedySummary) -> String {
    match remedy.method {
        RepairMethod::Samples => format!("samples of {}", remedy.strategy.name()),
        RepairMethod::Certified => "certified".to_owned(),
    }
}

/// The networks that were trained with a remedy.
fn networks(remedy: &RemedySummary) -> &[NetworkFigures<TextFigures>] {
    let point = remedy.summary.chosen_point();
    point.map_or(&[][..], |point| &point.networks)
}

/// The mean of a figure over `networks`.
fn average(networks: &[NetworkFigures<TextFigures>], figure: fn(&TextFigures) -> f64) -> f64 {
    let all = networks.iter().map(|network| figure(&network.figures));
    all.sum::<f64>() / networks.len().max(1) as f64
}

/// The mean of a figure over `networks` in percent, with its interval where there is one.
fn mean(networks: &[NetworkFigures<TextFigures>], figure: fn(&TextFigures) -> f64) -> String {
    if networks.is_empty() {
        return "-".to_owned();
    }
    let all = networks.iter().map(|network| figure(&network.figures));
    interval(&Mean::of_shares(&all.collect::<Vec<_>>()), |share| {
        format!("{:.2}", 100.0 * share)
    })
}

fn line(row: &ReproducedTextRepair) -> Vec<String> {
    let mut cells = vec![format!("{:?} {}", row.model, row.attribute)];
    for (paper, ours) in row.paper.iter().zip(&row.ours) {
        let ours = mean(networks(ours), |figures| figures.repaired.share);
        cells.push(format!("{paper:.1} / {ours}"));
    }
    let control = row.ours.first().map(|remedy| &remedy.summary.control);
    cells.push(mean(control.map_or(&[][..], Vec::as_slice), |figures| {
        figures.repaired.share
    }));
    for ours in &row.ours {
        cells.push(format!("{:+.2}", 100.0 * gain(ours)));
    }
    let last = row.ours.last().map_or(&[][..], networks);
    cells.push(mean(last, |figures| figures.certified.share));
    cells
}

/// The gain in accuracy by a repair, on average over its networks.
fn gain(remedy: &RemedySummary) -> f64 {
    let after = average(networks(remedy), |figures| figures.accuracy());
    after - remedy.summary.before.accuracy()
}

/// A line with the means over the rows.
fn means(rows: &[ReproducedTextRepair]) -> String {
    let repaired = |figures: &TextFigures| figures.repaired.share;
    let mean = |figure: &dyn Fn(&RemedySummary) -> f64| -> f64 {
        let first = rows.iter().filter_map(|row| row.ours.first());
        let values: Vec<f64> = first.map(figure).collect();
        100.0 * values.iter().sum::<f64>() / values.len().max(1) as f64
    };
    format!(
        "Means of the rows, samples of adf-asc: {:.1} % repaired, retrained without {:.1} %, accuracy {:+.2} points.\n",
        mean(&|first| average(networks(first), repaired)),
        mean(&|first| average(&first.summary.control, repaired)),
        mean(&gain)
    )
}
