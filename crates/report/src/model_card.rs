//! A fragment of a model card in Markdown: what the runs can say of a model, and blanks for what
//! only its owner knows.
//!
//! The fields are those of M. Mitchell et al., *Model Cards for Model Reporting* (FAT* 2019),
//! section 4.

use super::markdown::{code_block, escaped, grid};
use super::model::{
    AuditFindings, CertifyFindings, Findings, GroupReport, Quality, Rate, Report, RunReport, Share,
    TextGroupFindings,
};
use super::text::{Text, count, counted, interval, percent};

/// Runs whose hash of the model and of the inputs a fragment states.
const HASHES: [&str; 3] = [
    "SHA-256 of the model",
    "SHA-256 of the data",
    "SHA-256 of the texts",
];

impl Report {
    /// The fragment, of the runs that speak of models: audits, groups, certificates and repairs.
    pub fn to_model_card(&self) -> String {
        let mut card = String::from(
            "<!-- Fragment of a model card. Lines with TO BE FILLED IN are for the owner of the model. -->\n",
        );
        card.push_str("\n## Model details\n\n");
        for run in &self.runs {
            card.push_str(&details(run));
        }
        card.push_str("- Developed by, licence, contact: TO BE FILLED IN\n");
        card.push_str("\n## Intended use\n\n- Primary uses: TO BE FILLED IN\n- Uses out of scope: TO BE FILLED IN\n");
        card.push_str("\n## Factors\n\n");
        card.push_str(&factors(&self.runs));
        card.push_str("\n## Metrics\n\n");
        let metrics: String = self.runs.iter().map(metrics).collect();
        card.push_str(if metrics.is_empty() {
            "None of the runs measures a model.\n"
        } else {
            &metrics
        });
        card.push_str("\n## Evaluation data\n\n");
        for run in &self.runs {
            card.push_str(&data(run));
        }
        card.push_str("\n## Training data\n\n- TO BE FILLED IN\n");
        card.push_str("\n## Ethical considerations\n\n- TO BE FILLED IN\n");
        card.push_str("\n## Caveats and recommendations\n\n");
        for caveat in CAVEATS {
            card.push_str(&format!("- {caveat}\n"));
        }
        for run in &self.runs {
            if let Some(command) = &run.reproduce {
                card.push_str(&format!(
                    "\nTo repeat {}:\n\n{}",
                    escaped(&Text::value(&run.name)),
                    code_block(&command.as_str().into())
                ));
            }
        }
        card
    }
}

const CAVEATS: [&str; 4] = [
    "A discriminatory share is of the given rows or texts, or of random inputs (tables), not of the people that the model will decide about.",
    "Only the protected attributes named were examined, by changing them; discrimination through attributes that go along with them is not seen.",
    "A search that finds nothing proves nothing. Certificates are proofs, each of one input.",
    "Intervals cover chance in drawing inputs, not what was left out.",
];

fn details(run: &RunReport) -> String {
    let mut text = String::new();
    for fact in &run.subject {
        if fact.name == "Model" || fact.name == "Predictor" || fact.name == HASHES[0] {
            text.push_str(&format!(
                "- {}: {}\n",
                fact.name,
                escaped(&Text::value(&fact.value))
            ));
        }
    }
    let date = run.ended.as_deref().unwrap_or("at a time not recorded");
    text.push_str(&format!(
        "- Examined by probity {} ({}), {}\n",
        run.command,
        escaped(&Text::value(&run.name)),
        escaped(&date.into())
    ));
    text
}

fn factors(runs: &[RunReport]) -> String {
    let mut names: Vec<String> = Vec::new();
    for run in runs {
        let protected = run.subject.iter().filter(|fact| fact.name == "Protected");
        for fact in protected.flat_map(|fact| fact.value.split(", ")) {
            if !names.iter().any(|name| name == fact) {
                names.push(fact.to_owned());
            }
        }
    }
    match names.is_empty() {
        true => "- Protected attributes: TO BE FILLED IN\n".to_owned(),
        false => format!(
            "- Protected attributes examined: {}\n- Other relevant factors: TO BE FILLED IN\n",
            escaped(&names.join(", ").into())
        ),
    }
}

/// The rows of a table of metrics: what, value, interval.
struct Metrics(Vec<Vec<String>>);

impl Metrics {
    fn shares(&mut self, what: &str, shares: &[Share]) {
        for share in shares {
            let name = format!("{what} by {}", share.protected.join(" × "));
            self.estimate(&name, share.rate, share.ci95, share.sampled);
        }
    }

    fn quality(&mut self, when: &str, quality: &Quality) {
        let rows = count(quality.rows);
        self.push(
            &format!("Accuracy{when}"),
            percent(quality.accuracy),
            None,
            rows.clone(),
        );
        self.push(
            &format!("Balanced accuracy{when}"),
            percent(quality.balanced_accuracy),
            None,
            rows,
        );
    }

    fn groups(&mut self, when: &str, report: &GroupReport) {
        for set in &report.sets {
            let by = set.protected.join(" × ");
            let gaps = [
                (
                    "Demographic parity",
                    &set.gaps.demographic_parity_difference,
                ),
                ("Equalised odds", &set.gaps.equalised_odds_difference),
            ];
            for (name, gap) in gaps {
                if let Some(gap) = gap {
                    let name = format!("{name} difference by {by}{when}");
                    self.estimate(&name, gap.value, gap.ci95, report.rows);
                }
            }
        }
    }

    fn area(&mut self, what: &str, area: &Rate, inputs: u64) {
        let [low, high] = area.ci95;
        let cells = [
            what.to_owned(),
            format!("{:.3}", area.value),
            format!("{low:.3} – {high:.3}"),
            count(inputs),
        ];
        self.0.push(cells.to_vec());
    }

    fn estimate(&mut self, what: &str, share: f64, ci95: [f64; 2], inputs: u64) {
        self.push(what, percent(share), Some(ci95), count(inputs));
    }

    fn push(&mut self, what: &str, value: String, ci95: Option<[f64; 2]>, inputs: String) {
        let ends = ci95.map_or("–".to_owned(), interval);
        let cells = [what.to_owned(), value, ends, inputs];
        self.0.push(
            cells
                .iter()
                .map(|cell| escaped(&Text::value(cell)))
                .collect(),
        );
    }
}

/// What a run measures of a model, as a table; nothing if it measures none.
fn metrics(run: &RunReport) -> String {
    let mut rows = Metrics(Vec::new());
    match &run.findings {
        Findings::Audit(audit) => of_audit(&mut rows, audit),
        Findings::Repair(repair) => {
            rows.quality(" before", &repair.before.held_out);
            rows.quality(" after", &repair.chosen.figures.held_out);
            rows.shares("Discriminatory share before", &repair.before.discrimination);
            rows.shares(
                "Discriminatory share after",
                &repair.chosen.figures.discrimination,
            );
            rows.groups(" before", &repair.groups_before);
            rows.groups(" after", &repair.groups_after);
        }
        Findings::TextRepair(repair) => {
            rows.quality(" before", &repair.before.held_out);
            rows.quality(" after", &repair.chosen.figures.held_out);
            let after = &repair.chosen.figures;
            for (when, network) in [("before", &repair.before), ("after", after)] {
                for (what, part) in [
                    ("Fair texts", &network.fair),
                    ("Texts proved fair", &network.certified),
                ] {
                    let name = format!("{what} {when}");
                    rows.estimate(&name, part.share, part.ci95, repair.test_texts);
                }
            }
        }
        Findings::Groups(groups) => rows.groups("", &groups.report),
        Findings::TextGroups(groups) => of_text_groups(&mut rows, groups),
        Findings::Certify(certify) => of_certificates(&mut rows, certify),
        Findings::Compare(_)
        | Findings::Knn(_)
        | Findings::KMeans(_)
        | Findings::Spn(_)
        | Findings::OutlierCount(_)
        | Findings::OutlierSubspaces(_) => {}
    }
    if rows.0.is_empty() {
        return String::new();
    }
    let header = ["Metric", "Value", "95 % interval", "Inputs"].map(str::to_owned);
    format!(
        "{}:\n\n{}\n",
        escaped(&Text::value(&run.name)),
        grid(&header, rows.0.into_iter())
    )
}

fn of_audit(rows: &mut Metrics, audit: &AuditFindings) {
    if let Some(quality) = &audit.quality {
        rows.quality("", quality);
    }
    let (name, inputs) = match &audit.summary.population {
        Some(people) => {
            let name = format!("Discriminatory share of {}", people.source());
            rows.shares(&name, &people.shares);
            (
                "Discriminatory share of random inputs",
                &audit.summary.fairness,
            )
        }
        None => ("Discriminatory share", &audit.summary.fairness),
    };
    rows.shares(name, inputs);
    let total = &audit.summary.total;
    let (found, number) = match &audit.pairs.texts {
        Some(found) => (
            format!(
                "Discriminatory texts found by search, from {}",
                counted(found.sources, "source text", "source texts")
            ),
            found.texts,
        ),
        None => (
            "Discriminatory individuals found by search".to_owned(),
            total.discriminatory,
        ),
    };
    rows.push(&found, count(number), None, count(total.generated));
}

fn of_text_groups(rows: &mut Metrics, groups: &TextGroupFindings) {
    let auc = [
        ("AUC", &groups.auc),
        ("Final bias metric", &groups.bias.metric),
    ];
    for (name, figure) in auc {
        if let Some(figure) = figure {
            rows.area(name, figure, groups.texts);
        }
    }
    for attribute in &groups.attributes {
        if let Some(metric) = &attribute.bias.metric {
            let name = format!("Final bias metric by {}", attribute.attribute);
            rows.area(&name, metric, attribute.naming);
        }
    }
}

fn of_certificates(rows: &mut Metrics, certify: &CertifyFindings) {
    for set in &certify.sets {
        let name = format!("Inputs proved fair by {}", set.protected.join(" × "));
        rows.estimate(&name, set.certified.share, set.certified.ci95, set.inputs);
    }
}

fn data(run: &RunReport) -> String {
    let mut text = String::new();
    for fact in &run.subject {
        if ["Data", "Texts", "Part of the rows"].contains(&fact.name.as_str())
            || HASHES[1..].contains(&fact.name.as_str())
        {
            text.push_str(&format!(
                "- {}: {}\n",
                fact.name,
                escaped(&Text::value(&fact.value))
            ));
        }
    }
    if let Findings::Audit(audit) = &run.findings {
        if let Some(data) = &audit.summary.data {
            text.push_str(&format!(
                "- Rows read: {}, left out: {}\n",
                count(data.rows),
                count(data.skipped_rows)
            ));
        }
        if let Some(texts) = &audit.summary.texts {
            text.push_str(&format!(
                "- Texts: {}, with a protected term: {}, not English: {}, without a word: {}, cut to the model's length: {}\n",
                count(texts.texts),
                count(texts.with_protected_term),
                count(texts.foreign),
                count(texts.blank),
                count(texts.truncated)
            ));
        }
    }
    text
}
