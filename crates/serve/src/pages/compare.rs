//! The page that compares several audits side by side.

use axum::extract::{Query, State};

use super::answer::{Answer, page};
use super::figures::joint;
use super::named::no_page;
use super::session::Visitor;
use super::things;
use super::views::{ComparePage, ComparedLine, Link};
use super::words::{attributes_in_words, count, interval, moment, percent};
use crate::identifier::Id;
use crate::operations::results::{self, AuditFigures, ComparedJob, ShareFigure};
use crate::service::Service;

/// Shows the comparison; the query may give `run` several times.
pub(super) async fn show(
    State(service): State<Service>,
    visitor: Visitor,
    Query(pairs): Query<Vec<(String, String)>>,
) -> Answer {
    let mut ids: Vec<Id> = Vec::new();
    for (_, value) in pairs.iter().filter(|(name, _)| name == "run") {
        let id = value.parse().map_err(|_| no_page())?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    let jobs = match ids.len() {
        0 | 1 => Vec::new(),
        _ => results::compare(&service, &visitor.may, &ids).await?.jobs,
    };
    let audited: Vec<(&ComparedJob, &AuditFigures)> = jobs
        .iter()
        .filter_map(|job| Some((job, job.audit.as_ref()?)))
        .collect();
    let runs: Vec<Link> = audited
        .iter()
        .map(|(job, _)| Link {
            address: things::address(&job.job.job),
            text: job.job.job.label.clone(),
        })
        .collect();
    page(&ComparePage {
        frame: &visitor.frame(""),
        runs: &runs,
        warning: warning(&audited),
        lines: &lines(&audited),
    })
}

/// The reason why shares must not be compared, if there is one.
fn warning(audited: &[(&ComparedJob, &AuditFigures)]) -> &'static str {
    let pairs = || audited.windows(2).map(|pair| (&pair[0], &pair[1]));
    let data = |job: &ComparedJob| job.job.job.specification.data().clone();
    let other_attributes = pairs().any(|(one, other)| one.1.protected != other.1.protected);
    let other_data = pairs().any(|(one, other)| data(one.0) != data(other.0));
    match (other_attributes, other_data) {
        (true, true) => {
            "These audits differ in their protected attributes and in their data: their shares speak of different things."
        }
        (true, false) => {
            "These audits differ in their protected attributes: their shares speak of different things."
        }
        (false, true) => {
            "These audits started from different data. Their shares can be compared only where both describe the same possible values."
        }
        (false, false) => "",
    }
}

fn lines(audited: &[(&ComparedJob, &AuditFigures)]) -> Vec<ComparedLine> {
    let gone = || "deleted since".to_owned();
    let line = |name, cell: &dyn Fn(&ComparedJob, &AuditFigures) -> String| ComparedLine {
        name,
        cells: audited
            .iter()
            .map(|(job, audit)| cell(job, audit))
            .collect(),
    };
    let said = |share: &ShareFigure| format!("{} ({})", percent(share.share), interval(share.ci95));
    vec![
        line("Model", &|job, _| {
            job.model_label.clone().unwrap_or_else(gone)
        }),
        line("Data", &|job, _| {
            job.data_label.clone().unwrap_or_else(gone)
        }),
        line("Protected attributes", &|job, audit| {
            let modality = job.job.job.specification.modality();
            attributes_in_words(&audit.protected, modality)
        }),
        line("Share of the rows that flips", &|_, audit| {
            joint(&audit.people).map_or("not asked about".to_owned(), said)
        }),
        line("Share of random inputs, or texts", &|_, audit| {
            joint(&audit.shares).map_or("not estimated".to_owned(), said)
        }),
        line("Individuals found", &|_, audit| count(audit.discriminatory)),
        line("Individuals examined", &|_, audit| count(audit.generated)),
        line("Seconds of search", &|_, audit| {
            format!("{:.1}", audit.seconds)
        }),
        line("Way of searching", &|_, audit| audit.strategy.clone()),
        line("Date", &|job, _| moment(job.job.job.created)),
    ]
}
