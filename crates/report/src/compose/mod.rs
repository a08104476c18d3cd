//! From a [`Report`] to a [`Document`]: what is said, and in which order.

mod audit;
mod beside;
mod certify;
mod compare;
mod comparison;
pub(super) mod conditions;
pub(super) mod counterparts;
mod disadvantage;
mod drawn;
mod ending;
mod evaluation;
mod groups;
pub(super) mod impact;
mod imports;
mod knn;
mod left_out;
mod outliers;
mod pairs;
mod population;
mod prove;
mod proxies;
mod quality;
mod repair;
pub(super) mod shares;
pub(super) mod situations;
mod stories;
pub(super) mod subject;
mod terms;
mod text_groups;
mod texts;
mod training;
mod unlearning;

use super::bounds::{BoundOutcome, Verdict, of_run};
use super::document::{Document, Outcome, Part, Section};
use super::model::{DecidedAlike, Findings, Report, RunReport};
use super::text::{Text, percent};

/// The document of `report`, with at most `most_pairs` pairs of each audit.
pub(super) fn document(report: &Report, most_pairs: usize) -> Document {
    let mut sections: Vec<Section> = report
        .runs
        .iter()
        .enumerate()
        .map(|(place, run)| {
            let number = (report.runs.len() > 1).then_some(place + 1);
            section(run, number, &format!("run{}", place + 1), most_pairs)
        })
        .collect();
    for (place, comparison) in report.comparisons.iter().enumerate() {
        let id = format!("comparison{}", place + 1);
        sections.extend(comparison::section(report, comparison, id));
    }
    Document {
        title: title(report),
        sections,
    }
}

fn title(report: &Report) -> Text {
    match report.runs.as_slice() {
        [run] => subject::title(run, None),
        runs => Text::new(format!("Report on {} runs", runs.len())),
    }
}

fn section(run: &RunReport, number: Option<usize>, id: &str, most_pairs: usize) -> Section {
    let (verdict, mut parts) = said(&run.findings, id, most_pairs);
    if let Some(subject) = subject::subject(run) {
        parts.insert(0, subject);
    }
    parts.push(subject::provenance(run));
    Section {
        id: id.to_owned(),
        title: subject::title(run, number),
        outcome: outcome(run),
        verdict,
        parts,
    }
}

/// The verdict of `findings`, and the parts on what was found, with at most `most_pairs` pairs.
pub(super) fn said(findings: &Findings, id: &str, most_pairs: usize) -> (Vec<Text>, Vec<Part>) {
    match findings {
        Findings::Training(training) => training::parts(training, id),
        Findings::Import(import) => imports::parts(import),
        Findings::Evaluation(evaluation) => evaluation::parts(evaluation),
        Findings::Audit(audit) => audit::parts(audit, id, most_pairs),
        Findings::Repair(repair) => repair::parts(repair, id),
        Findings::TextRepair(repair) => repair::text_parts(repair, id),
        Findings::Groups(groups) => groups::parts(groups, id),
        Findings::TextGroups(groups) => text_groups::parts(groups, id),
        Findings::Counterparts(found) => counterparts::parts(found, id),
        Findings::Proxies(found) => proxies::parts(found, id),
        Findings::Situations(found) => situations::parts(found, id),
        Findings::Compare(compare) => compare::parts(compare, id),
        Findings::Certify(certify) => certify::parts(certify, id),
        Findings::Prove(prove) => prove::parts(prove, id),
        Findings::Knn(knn) => knn::parts(knn, id),
        Findings::KMeans(bench) => unlearning::kmeans_parts(bench, id),
        Findings::Spn(bench) => unlearning::spn_parts(bench),
        Findings::KMeansFit(fit) => unlearning::kmeans_fit(fit),
        Findings::SpnFit(fit) => unlearning::spn_fit(fit),
        Findings::OutlierCount(release) => outliers::count_parts(release),
        Findings::OutlierSubspaces(release) => outliers::subspace_parts(release),
    }
}

/// Whether what a run declared, or promises, holds, and what could be done where that is not shown;
/// nothing where it does neither.
fn outcome(run: &RunReport) -> Option<Outcome> {
    let outcome = concluded(run)?;
    let (Findings::Audit(audit), Ok(Some(_))) = (&run.findings, of_run(run)) else {
        return Some(outcome);
    };
    let on = audit.summary.fail_above.as_ref();
    let on = on.and_then(|bound| bound.on.as_deref());
    Some(match (outcome.verdict, on) {
        (Verdict::Inconclusive, Some("data")) => outcome.and("More of them would tell."),
        (Verdict::Inconclusive, _) => outcome.and("A larger --estimate would tell."),
        (Verdict::NotApplicable, _) => outcome.and(
            "Measure its groups (probity groups); where that is what is wanted, give --blind-ok.",
        ),
        (Verdict::Within | Verdict::Exceeds, _) => outcome,
    })
}

/// Whether what a run declared, or promises, holds; nothing where it does neither.
pub(super) fn concluded(run: &RunReport) -> Option<Outcome> {
    match &run.findings {
        Findings::Audit(audit) => {
            let bound = audit.summary.fail_above.as_ref()?.bound;
            Some(match of_run(run) {
                Ok(declared) => bound_of(declared?, audit.summary.decides_alike.as_ref()),
                Err(_) => Outcome::new(
                    Verdict::Inconclusive,
                    format!(
                        "Whether the declared bound of {} holds is not shown: the audit was stopped before its share was known.",
                        percent(bound)
                    ),
                ),
            })
        }
        Findings::Certify(certify) => {
            let declared = of_run(run).ok()??;
            Some(bound_of(declared, certify.decides_alike.as_ref()))
        }
        Findings::Counterparts(found) => counterparts::outcome(found),
        Findings::Situations(found) => situations::outcome(found),
        Findings::Prove(_) => Some(bound_of(of_run(run).ok()??, None)),
        Findings::Repair(repair) => Some(repair::outcome(repair)),
        Findings::TextRepair(repair) => Some(repair::text_outcome(repair)),
        Findings::KMeans(bench) => {
            let all: Vec<Option<bool>> = bench.algorithms.iter().map(|of| of.exact).collect();
            Some(unlearning::exactness(&all))
        }
        Findings::Spn(bench) => Some(unlearning::exactness(&[Some(bench.identical)])),
        _ => None,
    }
}

/// What came of a bound; that a model tells no inputs apart comes before it.
fn bound_of(declared: BoundOutcome, alike: Option<&DecidedAlike>) -> Outcome {
    let said = shares::alike(alike).into_iter();
    let said: Vec<String> = said.chain([declared.message()]).collect();
    Outcome::new(declared.verdict, said.join(" "))
}
