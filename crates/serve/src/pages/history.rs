//! Audits over time: a chart of their shares, what got better or worse, and which pairs are new.

use axum::extract::Query;
use serde::Deserialize;

use super::answer::{Answer, page};
use super::figures::first;
use super::named::{Named, no_page};
use super::session::Visitor;
use super::things;
use super::views::{
    ChangeLine, Drawn, HistoryLine, HistoryPage, Link, NewPairLine, NewPairs, State,
};
use super::words::{attributes_in_words, count, interval, list, moment, percent};
use crate::identifier::Id;
use crate::operations::history::{
    self, Differs, History, HistoryAudit, NewPair, ShareChange, SharesOf,
};
use crate::problem::Problem;
use crate::service::Service;
use crate::store::{Job, Model};
use probity_nn::modality::ModalityName;
use probity_report::Change;
use probity_report::chart::{Course, Moment, part};
use probity_report::text::Text;

/// The query that names the audit to compare with the one before it.
#[derive(Deserialize)]
pub(super) struct At {
    at: Option<String>,
}

/// Shows the audits of a model.
pub(super) async fn of_model(Named(service, visitor, id): Named, Query(at): Query<At>) -> Answer {
    let model: Model = service.find(&visitor.may, &id).await?;
    let history = history::of_model(&service, &visitor.may, &id).await?;
    let about = Link {
        address: format!("/models/{id}"),
        text: model.label,
    };
    draw(&service, &visitor, &history, &about, at).await
}

/// Shows the audits that have the same name as a given audit.
pub(super) async fn of_name(Named(service, visitor, id): Named, Query(at): Query<At>) -> Answer {
    let job: Job = service.find(&visitor.may, &id).await?;
    let history = history::of_name(&service, &visitor.may, &id).await?;
    let about = Link {
        address: format!("/runs/{id}"),
        text: job.label,
    };
    draw(&service, &visitor, &history, &about, at).await
}

/// The position of the audit that is compared with the one before it: the one that was asked for,
/// else the newest that has an earlier one.
fn chosen(history: &History, at: Option<String>) -> Result<Option<usize>, Problem> {
    let audits = &history.audits;
    let Some(at) = at else {
        return Ok(audits.iter().rposition(|audit| audit.since.is_some()));
    };
    let place = audits.iter().position(|audit| id_of(audit).as_str() == at);
    place.map(Some).ok_or_else(no_page)
}

fn id_of(audit: &HistoryAudit) -> &Id {
    &audit.compared.job.job.id
}

async fn draw(
    service: &Service,
    visitor: &Visitor,
    history: &History,
    about: &Link,
    at: At,
) -> Answer {
    let audits = &history.audits;
    let chosen = chosen(history, at.at)?;
    let shown = chosen.map(|place| &audits[place]);
    let (pairs, no_pairs) = match shown.and_then(|audit| Some((audit, audit.since.as_ref()?))) {
        Some((audit, since)) => {
            let changes = history::new_pairs(service, &visitor.may, id_of(audit), since).await;
            match changes {
                Ok(changes) => (Some(new_pairs(&changes)), String::new()),
                Err(problem) if problem.status().is_server_error() => return Err(problem.into()),
                Err(problem) => (None, problem.detail),
            }
        }
        None => (None, String::new()),
    };
    let changes = shown.map_or(&[][..], |audit| audit.changes.as_slice());
    let inputs = Inputs::new(audits);
    let earlier = shown.and_then(|audit| {
        let since = audit.since.as_ref()?;
        audits.iter().position(|before| id_of(before) == since)
    });
    page(&HistoryPage {
        frame: &visitor.frame(""),
        about,
        numbers: match (earlier, chosen) {
            (Some(earlier), Some(chosen)) => Some((earlier + 1, chosen + 1)),
            _ => None,
        },
        verdict_class: class(changes),
        verdict: &inputs.verdict(changes),
        charts: &inputs.charts(audits),
        lines: &lines(audits, about, chosen),
        changes: &changes
            .iter()
            .map(|change| inputs.line(change))
            .collect::<Vec<_>>(),
        differs: &shown.map_or(String::new(), |audit| differs(&audit.differs)),
        pairs: pairs.as_ref(),
        no_pairs: &no_pairs,
    })
}

/// The colour for changes of shares.
fn class(changes: &[ShareChange]) -> &'static str {
    let has = |wanted| changes.iter().any(|change| change.change == wanted);
    match (has(Change::Rose), has(Change::Fell)) {
        (true, _) => "bad",
        (false, true) => "good",
        (false, false) => "",
    }
}

/// The kind of the inputs: rows and random inputs, or texts.
struct Inputs {
    modality: ModalityName,
}

impl Inputs {
    fn new(audits: &[HistoryAudit]) -> Inputs {
        let asked = audits
            .first()
            .map(|audit| &audit.compared.job.job.specification);
        Inputs {
            modality: asked.map_or(ModalityName::Table, |asked| asked.modality()),
        }
    }

    fn name(&self, of: SharesOf) -> &'static str {
        match of {
            SharesOf::People => "the rows",
            SharesOf::Shares if self.modality == ModalityName::Text => {
                "texts with a protected term"
            }
            SharesOf::Shares => "random inputs",
        }
    }

    /// Sentences on the changes of the shares by all protected attributes together.
    fn verdict(&self, changes: &[ShareChange]) -> Vec<String> {
        let of_kind = |of: SharesOf| {
            let changes = changes.iter().filter(move |change| change.of == of);
            changes.max_by_key(|change| change.protected.len())
        };
        let joint = SharesOf::ALL.into_iter().filter_map(of_kind);
        joint
            .map(|change| {
                format!(
                    "{} of {} are decided differently when nothing but {} changes; it was {} in the audit before: {}.",
                    percent(change.after.share),
                    self.name(change.of),
                    attributes_in_words(&change.protected, self.modality),
                    percent(change.before.share),
                    change.change.said()
                )
            })
            .collect()
    }

    fn line(&self, change: &ShareChange) -> ChangeLine {
        let said = |share: f64, ci95| format!("{} ({})", percent(share), interval(ci95));
        ChangeLine {
            name: format!(
                "{}, by {}",
                self.name(change.of),
                attributes_in_words(&change.protected, self.modality)
            ),
            before: said(change.before.share, change.before.ci95),
            after: said(change.after.share, change.after.ci95),
            change: change_state(change.change),
        }
    }

    /// Draws a chart of each kind of shares that occurs, with a line for each set of attributes.
    fn charts(&self, audits: &[HistoryAudit]) -> Vec<Drawn> {
        SharesOf::ALL
            .into_iter()
            .filter_map(|of| self.chart(of, audits))
            .collect()
    }

    fn chart(&self, of: SharesOf, audits: &[HistoryAudit]) -> Option<Drawn> {
        let mut lines: Vec<(Text, Vec<Moment>)> = Vec::new();
        for (place, audit) in audits.iter().enumerate() {
            let figures = audit.compared.audit.as_ref()?;
            for share in of.shares(figures) {
                let moment = Moment {
                    place,
                    share: share.share,
                    interval: share.ci95,
                };
                let name = Text::new(attributes_in_words(&share.protected, self.modality));
                match lines.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, moments)) => moments.push(moment),
                    None => lines.push((name, vec![moment])),
                }
            }
        }
        if lines.is_empty() {
            return None;
        }
        let title = format!("Share of {} that flips", self.name(of));
        let order = match audits.len() {
            1 => "in the one audit",
            _ => "in the audits from the oldest to the newest",
        };
        let description =
            format!("Dots are estimates, lines through them their 95\u{a0}% intervals, {order}.");
        let course = Course {
            moments: audits.len(),
            name: "audits".to_owned(),
            lines,
        };
        let id = match of {
            SharesOf::People => "course-people",
            SharesOf::Shares => "course-shares",
        };
        Some(Drawn {
            svg: part(&course, id, (&Text::new(&title), &Text::new(&description))),
            title,
            description,
        })
    }
}

fn change_state(change: Change) -> State {
    let (class, text) = match change {
        Change::Fell => ("good", "better"),
        Change::Rose => ("bad", "worse"),
        Change::NotShown => ("", "no difference shown"),
    };
    State::marked(class, text)
}

/// The audits, the newest first.
fn lines(audits: &[HistoryAudit], about: &Link, chosen: Option<usize>) -> Vec<HistoryLine> {
    let gone = || "deleted since".to_owned();
    let line = |(place, audit): (usize, &HistoryAudit)| {
        let job = &audit.compared.job.job;
        let figures = audit.compared.audit.as_ref();
        let share = figures.and_then(first);
        // The change of the share that is shown.
        let change = share.and_then(|share| {
            let mut changes = audit.changes.iter();
            changes.find(|change| change.after == *share)
        });
        HistoryLine {
            number: place + 1,
            audit: Link {
                address: things::address(job),
                text: job.label.clone(),
            },
            date: moment(job.ended.unwrap_or(job.created)),
            model: audit.compared.model_label.clone().unwrap_or_else(gone),
            data: audit.compared.data_label.clone().unwrap_or_else(gone),
            share: share.map_or("not asked about".to_owned(), |share| {
                format!("{} ({})", percent(share.share), interval(share.ci95))
            }),
            change: match (change, &audit.since) {
                (Some(change), _) => change_state(change.change),
                (None, Some(_)) => State::marked("", "no share in common"),
                (None, None) => State::marked("", "the first one"),
            },
            at: match audit.since {
                Some(_) if chosen != Some(place) => {
                    format!("{}/history?at={}", about.address, job.id)
                }
                _ => String::new(),
            },
        }
    };
    audits.iter().enumerate().rev().map(line).collect()
}

/// A sentence on what else differs; empty where nothing does.
fn differs(differs: &[Differs]) -> String {
    let names: Vec<&str> = differs
        .iter()
        .map(|differs| match differs {
            Differs::Model => "the model",
            Differs::Data => "the data",
            Differs::Rows => "which rows are asked about",
            Differs::Decision => "how is decided",
        })
        .collect();
    match names.is_empty() {
        true => String::new(),
        false => format!(
            "Between the two audits other things changed, too: {}.",
            list(&names)
        ),
    }
}

fn new_pairs(changes: &history::PairChanges) -> NewPairs {
    NewPairs {
        new: count(changes.new),
        kept: count(changes.kept),
        gone: count(changes.gone),
        shown: changes.shown.iter().map(new_pair).collect(),
    }
}

fn new_pair(pair: &NewPair) -> NewPairLine {
    let differences: Vec<String> = pair
        .differences
        .iter()
        .map(|one| format!("{}: {} → {}", one.attribute, one.from, one.to))
        .collect();
    let input: Vec<String> = pair
        .input
        .iter()
        .map(|[name, value]| format!("{name} {value}").trim().to_owned())
        .collect();
    let [x, other] = &pair.labels;
    NewPairLine {
        number: count(pair.number),
        differences: list(&differences),
        decided: format!("{x} → {other}"),
        input: list(&input),
    }
}
