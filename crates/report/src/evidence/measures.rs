//! What a run measures of a model, as a list: for every form that has a table of metrics.

use super::circumstances;
use crate::compose::conditions;
use crate::compose::shares::crossed;
use crate::model::{
    AuditFindings, CertifyFindings, Findings, GroupReport, KnnSummary, Quality, Rate, RunReport,
    Share, TextGroupFindings,
};
use crate::text::{count, counted, interval, percent};

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    /// A share of inputs.
    Share,
    /// A number between 0 and 1, or a little beyond, that is no share.
    Number,
    /// A number of things.
    Count,
}

/// What a figure says of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    /// How well it predicts.
    Quality,
    /// How it treats people who differ in protected attributes.
    Fairness,
    /// Whether its predictions stand when its training data are tampered with.
    Robustness,
}

/// One figure.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Measure {
    /// What was measured, such as `Accuracy`.
    pub what: String,
    /// Of which part of the inputs or by which attributes, such as `by sex`; may be empty.
    pub slice: String,
    /// What it speaks of.
    pub subject: Subject,
    /// How the value is written.
    pub scale: Scale,
    /// The value.
    pub value: f64,
    /// The 95 % interval of the figure, where it has one.
    pub ci95: Option<[f64; 2]>,
    /// Inputs that it was measured on.
    pub inputs: u64,
}

impl Measure {
    /// What was measured and of which part.
    pub fn name(&self) -> String {
        match self.slice.as_str() {
            "" => self.what.clone(),
            slice => format!("{} {slice}", self.what),
        }
    }

    /// The value for a reader.
    pub fn shown(&self) -> String {
        match self.scale {
            Scale::Share => percent(self.value),
            Scale::Number => format!("{:.3}", self.value),
            Scale::Count => count(self.value as u64),
        }
    }

    /// The interval for a reader.
    pub fn shown_interval(&self) -> String {
        match (self.ci95, self.scale) {
            (None, _) => "–".to_owned(),
            (Some([low, high]), Scale::Number) => format!("{low:.3} – {high:.3}"),
            (Some(ends), _) => interval(ends),
        }
    }
}

/// The figures of a run in the order in which they are read.
#[derive(Default)]
struct Measures(Vec<Measure>);

impl Measures {
    /// The figures of `run`, each with what it is of.
    fn into_measures(mut self, run: &RunReport) -> Vec<Measure> {
        if let Some(circumstances) = circumstances(run) {
            for measure in &mut self.0 {
                let slice = format!("{} ({circumstances})", measure.slice);
                measure.slice = slice.trim_start().to_owned();
            }
        }
        self.0
    }

    fn add(&mut self, what: &str, slice: &str, subject: Subject, value: f64) -> &mut Measure {
        let place = self.0.len();
        self.0.push(Measure {
            what: what.to_owned(),
            slice: slice.to_owned(),
            subject,
            scale: Scale::Share,
            value,
            ci95: None,
            inputs: 0,
        });
        &mut self.0[place]
    }

    fn share(
        &mut self,
        (what, slice): (&str, &str),
        value: f64,
        ci95: [f64; 2],
        inputs: u64,
    ) -> &mut Measure {
        let measure = self.add(what, slice, Subject::Fairness, value);
        (measure.ci95, measure.inputs) = (Some(ci95), inputs);
        measure
    }

    fn shares(&mut self, what: &str, when: &str, shares: &[Share]) {
        for share in shares {
            let slice = format!("by {}{when}", crossed(&share.protected));
            self.share((what, &slice), share.rate, share.ci95, share.sampled);
        }
    }

    fn quality(&mut self, when: &str, quality: &Quality) {
        let figures = match quality {
            Quality::Classes(of) => vec![
                ("Accuracy", Some(of.accuracy), Scale::Share),
                (
                    "Balanced accuracy",
                    Some(of.balanced_accuracy),
                    Scale::Share,
                ),
                ("Area under the ROC curve", of.auc, Scale::Number),
                ("F1", of.f1, Scale::Number),
            ],
            Quality::Numbers(of) => vec![
                ("R²", of.r_squared, Scale::Number),
                ("Mean absolute error", Some(of.mean_absolute), Scale::Number),
                (
                    "Root mean squared error",
                    Some(of.root_mean_squared),
                    Scale::Number,
                ),
            ],
        };
        for (what, value, scale) in figures {
            if let Some(value) = value {
                let measure = self.add(what, when, Subject::Quality, value);
                (measure.scale, measure.inputs) = (scale, quality.rows());
            }
        }
    }

    fn groups(&mut self, when: &str, report: &GroupReport) {
        for set in &report.sets {
            let (by, good) = (crossed(&set.protected), &report.favourable);
            let slice = format!("by {by}{when}, favourable '{good}'");
            let gaps = &set.gaps;
            let parity = &gaps.demographic_parity_difference;
            let opportunity = &gaps.equal_opportunity_difference;
            let figures = [
                ("Demographic parity difference", parity, Scale::Share),
                (
                    "Demographic parity ratio",
                    &gaps.demographic_parity_ratio,
                    Scale::Number,
                ),
                (
                    "Equalised odds difference",
                    &gaps.equalised_odds_difference,
                    Scale::Share,
                ),
                ("Equal opportunity difference", opportunity, Scale::Share),
                (
                    "Accuracy difference",
                    &gaps.accuracy_difference,
                    Scale::Share,
                ),
            ];
            for (what, gap, scale) in figures {
                if let Some(gap) = gap {
                    let measure = self.share((what, &slice), gap.value, gap.ci95, report.rows);
                    measure.scale = scale;
                }
            }
        }
    }

    /// The rates of each group by itself.
    fn each_group(&mut self, report: &GroupReport) {
        for set in &report.sets {
            for group in &set.groups {
                let parts = set.protected.iter().zip(&group.values);
                let parts: Vec<String> = parts
                    .map(|(name, value)| format!("{name}={value}"))
                    .collect();
                let good = &report.favourable;
                let slice = format!("of {}, favourable '{good}'", parts.join(", "));
                let (rows, known) = (group.rows, group.known());
                let positive = group.favourable_rows.unwrap_or_default();
                let negative = known.saturating_sub(positive);
                let rates = [
                    (
                        "Selection rate",
                        &group.selection_rate,
                        rows,
                        Subject::Fairness,
                    ),
                    (
                        "True positive rate",
                        &group.true_positive_rate,
                        positive,
                        Subject::Quality,
                    ),
                    (
                        "False positive rate",
                        &group.false_positive_rate,
                        negative,
                        Subject::Quality,
                    ),
                    ("Accuracy", &group.accuracy, known, Subject::Quality),
                ];
                for (what, rate, inputs, subject) in rates {
                    if let Some(rate) = rate {
                        let measure = self.share((what, &slice), rate.value, rate.ci95, inputs);
                        measure.subject = subject;
                    }
                }
            }
        }
    }

    fn area(&mut self, what: &str, slice: &str, area: &Rate, inputs: u64) {
        self.share((what, slice), area.value, area.ci95, inputs)
            .scale = Scale::Number;
    }

    fn audit(&mut self, audit: &AuditFindings) {
        if let Some(quality) = &audit.quality {
            self.quality("", quality);
        }
        for kind in audit.summary.input_shares() {
            let what = format!("Discriminatory share of {}", kind.of);
            self.shares(&what, "", kind.shares);
        }
        let total = &audit.summary.total;
        let (found, number) = match &audit.pairs.texts {
            Some(found) => {
                let sources = counted(found.sources, "source text", "source texts");
                let what = format!("Discriminatory texts found by search, from {sources}");
                (what, found.texts)
            }
            None => {
                let what = "Discriminatory individuals found by search".to_owned();
                (what, total.discriminatory)
            }
        };
        let measure = self.add(&found, "", Subject::Fairness, number as f64);
        (measure.scale, measure.inputs) = (Scale::Count, total.generated);
    }

    fn text_groups(&mut self, groups: &TextGroupFindings) {
        for (what, figure) in [
            ("AUC", &groups.auc),
            ("Final bias metric", &groups.bias.metric),
        ] {
            if let Some(figure) = figure {
                self.area(what, "", figure, groups.texts);
            }
        }
        for attribute in &groups.attributes {
            if let Some(metric) = &attribute.bias.metric {
                let slice = format!("by {}", attribute.attribute);
                self.area("Final bias metric", &slice, metric, attribute.naming);
            }
        }
    }

    fn knn(&mut self, knn: &KnnSummary) {
        let inputs = knn.sweep.first().map_or(0, |figures| figures.inputs);
        if let Some(accuracy) = knn.accuracy {
            self.add("Accuracy", "", Subject::Quality, accuracy).inputs = inputs;
        }
        for figures in &knn.sweep {
            let by = &figures.certified;
            let certified = by.quick + by.k_set + by.exhaustive;
            let slice = format!("without any {} training rows", count(figures.poison));
            let inputs = figures.inputs.max(1) as f64;
            for (what, number) in [
                ("Predictions proved to stand", certified),
                ("Predictions shown to change", figures.falsified),
            ] {
                let share = number as f64 / inputs;
                self.add(what, &slice, Subject::Robustness, share).inputs = figures.inputs;
            }
        }
    }

    fn certificates(&mut self, certify: &CertifyFindings) {
        for set in &certify.sets {
            let slice = format!("by {}", crossed(&set.protected));
            let proved = &set.certified;
            let what = ("Inputs proved fair", slice.as_str());
            self.share(what, proved.share, proved.ci95, set.inputs);
        }
    }
}

/// The rates of each group of a run that measures groups, with their intervals.
pub(crate) fn rates_of_groups(run: &RunReport) -> Vec<Measure> {
    let mut all = Measures::default();
    if let Findings::Groups(groups) = &run.findings {
        all.each_group(&groups.report);
    }
    all.into_measures(run)
}

/// What a run measures of a model; nothing if it measures none.
pub(crate) fn measures(run: &RunReport) -> Vec<Measure> {
    let mut all = Measures::default();
    match &run.findings {
        Findings::Training(training) => {
            for (part, quality) in training.parts() {
                all.quality(&format!("{part} part"), quality);
            }
        }
        Findings::Audit(audit) => all.audit(audit),
        Findings::Repair(repair) => {
            let after = &repair.chosen.figures;
            all.quality("before", &repair.before.held_out);
            all.quality("after", &after.held_out);
            all.shares(
                "Discriminatory share",
                " before",
                &repair.before.discrimination,
            );
            all.shares("Discriminatory share", " after", &after.discrimination);
            let reports = [&repair.groups_before, &repair.groups_after];
            for (when, report) in [" before", " after"].into_iter().zip(reports) {
                report.iter().for_each(|report| all.groups(when, report));
            }
        }
        Findings::TextRepair(repair) => {
            let after = &repair.chosen.figures;
            all.quality("before", &repair.before.held_out);
            all.quality("after", &after.held_out);
            for (when, network) in [("before", &repair.before), ("after", after)] {
                for (what, part) in [
                    ("Fair texts", &network.fair),
                    ("Texts proved fair", &network.certified),
                ] {
                    all.share((what, when), part.share, part.ci95, repair.test_texts);
                }
            }
        }
        Findings::Groups(groups) => all.groups("", &groups.report),
        Findings::TextGroups(groups) => all.text_groups(groups),
        // Recorded outcomes are no figure of a model.
        Findings::Counterparts(found) if found.is_label => {}
        Findings::Counterparts(found) => {
            for group in &found.groups {
                let slice = conditions::named(&group.protected, &group.reference);
                let what = "Members decided worse than their counterparts";
                let measure = all.add(what, &slice, Subject::Fairness, group.against.share);
                measure.inputs = group.members.people;
            }
        }
        // What columns tell is no figure of a model.
        Findings::Proxies(_) => {}
        Findings::Situations(found) if found.is_label => {}
        Findings::Situations(found) => {
            for group in &found.groups {
                let slice = conditions::named(&group.protected, &group.reference);
                let what = "Members found to be discriminated against by situation testing";
                let measure = all.add(what, &slice, Subject::Fairness, group.against.share);
                measure.inputs = group.members.people;
            }
        }
        Findings::Certify(certify) => all.certificates(certify),
        Findings::Prove(prove) => {
            let slice = format!("by {}", crossed(&prove.protected));
            let what = "Share of the domain proven fair, at least";
            all.add(what, &slice, Subject::Fairness, prove.fair.share);
        }
        Findings::Knn(knn) => all.knn(&knn.summary),
        Findings::Import(_)
        | Findings::Evaluation(_)
        | Findings::Compare(_)
        | Findings::KMeans(_)
        | Findings::Spn(_)
        | Findings::KMeansFit(_)
        | Findings::SpnFit(_)
        | Findings::OutlierCount(_)
        | Findings::OutlierSubspaces(_) => {}
    }
    all.into_measures(run)
}
