//! Pages that show what there is: data, models, jobs and what was found.

use askama::Template;
use serde::Serialize;

use super::super::form::{Choice, Form};
use super::{Fact, Frame, Link, Preview, State, Thing};

/// A job in a table.
pub(in crate::pages) struct JobLine {
    pub id: String,
    pub address: String,
    pub title: String,
    /// What it does, and to what.
    pub detail: String,
    pub can_be_picked: bool,
    /// Its verdict; without a word where there is none.
    pub result: State,
    /// A share; empty where there is none.
    pub share: String,
    /// The interval of the share.
    pub interval: String,
    pub state: State,
    pub ended: String,
    pub took: String,
    pub owner: String,
    pub stored: String,
    /// Address of its report; empty where there is none.
    pub report: String,
}

/// All that there is.
#[derive(Template)]
#[template(path = "service/home.html")]
pub(in crate::pages) struct HomePage<'a> {
    pub frame: &'a Frame,
    /// The filter.
    pub form: &'a Form,
    pub is_filtered: bool,
    /// Whether all lists begin with what is newest.
    pub is_first: bool,
    pub kinds: &'a [Choice],
    pub states: &'a [Choice],
    pub people: &'a [Choice],
    pub all_models: &'a [Choice],
    pub active: &'a [Thing],
    pub runs: &'a [JobLine],
    pub can_compare: bool,
    pub models: &'a [Thing],
    pub data: &'a [Thing],
    pub older_runs: &'a str,
    pub older_models: &'a str,
    pub older_data: &'a str,
}

/// A described column.
pub(in crate::pages) struct DescribedColumn {
    pub name: String,
    pub role: &'static str,
    pub values: String,
}

/// A data set.
#[derive(Template)]
#[template(path = "service/data.html")]
pub(in crate::pages) struct DataPage<'a> {
    pub frame: &'a Frame,
    pub id: &'a str,
    pub label: &'a str,
    pub facts: &'a [Fact],
    pub is_described: bool,
    pub is_text: bool,
    pub columns: &'a [DescribedColumn],
    pub models: &'a [Thing],
    pub rows: &'a Preview,
}

/// How good a model is on a part of its data.
pub(in crate::pages) struct Quality {
    pub name: &'static str,
    pub rows: String,
    pub accuracy: String,
    pub majority: String,
}

/// A model.
#[derive(Template)]
#[template(path = "service/model.html")]
pub(in crate::pages) struct ModelPage<'a> {
    pub frame: &'a Frame,
    pub id: &'a str,
    pub label: &'a str,
    pub facts: &'a [Fact],
    pub parts: &'a [Quality],
    pub runs: &'a [Thing],
    pub has_history: bool,
}

/// A job as its page shows it, and as an event tells the page.
#[derive(Debug, Serialize)]
pub(in crate::pages) struct Shown {
    pub state: &'static str,
    pub state_class: &'static str,
    pub state_text: String,
    pub phase: String,
    pub percent: Option<u32>,
    pub message: String,
    pub is_over: bool,
    pub is_done: bool,
    pub can_resume: bool,
}

/// An audit with the usual answers.
pub(in crate::pages) struct UsualAudit {
    /// Identifier of the data set that it starts from.
    pub data: String,
    pub protected: Vec<String>,
}

/// A job that waits, runs or has ended.
#[derive(Template)]
#[template(path = "service/job.html")]
pub(in crate::pages) struct JobPage<'a> {
    pub frame: &'a Frame,
    pub id: &'a str,
    pub kind: &'a str,
    pub heading: &'a str,
    /// Address of its events; empty when it is over.
    pub events: &'a str,
    pub shown: &'a Shown,
    pub stop_hint: &'a str,
    pub result: &'a str,
    pub result_text: &'a str,
    /// The audit of the model that it trains, unless there is nothing to audit it by.
    pub audit: Option<&'a UsualAudit>,
    pub facts: &'a [Fact],
}

/// A figure that a reader looks for first.
pub(in crate::pages) struct Figure {
    pub name: String,
    pub value: String,
    pub note: String,
}

/// What a run found.
#[derive(Template)]
#[template(path = "service/run.html")]
pub(in crate::pages) struct RunPage<'a> {
    pub frame: &'a Frame,
    pub id: &'a str,
    pub kind: &'a str,
    pub heading: &'a str,
    pub verdict_class: &'a str,
    pub verdict: &'a str,
    pub caveat: &'a str,
    pub figures: &'a [Figure],
    pub downloads: &'a [Link],
    pub can_repair: bool,
    pub has_history: bool,
    /// Address of the model that a repair made; empty for an audit.
    pub repaired: String,
    pub facts: &'a [Fact],
}

/// One line of a comparison.
pub(in crate::pages) struct ComparedLine {
    pub name: &'static str,
    pub cells: Vec<String>,
}

/// Several runs side by side.
#[derive(Template)]
#[template(path = "service/compare.html")]
pub(in crate::pages) struct ComparePage<'a> {
    pub frame: &'a Frame,
    pub runs: &'a [Link],
    pub warning: &'a str,
    pub lines: &'a [ComparedLine],
}

/// A chart.
pub(in crate::pages) struct Drawn {
    pub title: String,
    pub description: String,
    /// Its elements, escaped.
    pub svg: String,
}

/// An audit among others of a time.
pub(in crate::pages) struct HistoryLine {
    /// Its number in the charts.
    pub number: usize,
    pub audit: Link,
    pub date: String,
    pub model: String,
    pub data: String,
    pub share: String,
    /// What became of the share since the audit before.
    pub change: State,
    /// Address of the page that holds it against the one before; empty for none.
    pub at: String,
}

/// What became of a share.
pub(in crate::pages) struct ChangeLine {
    pub name: String,
    pub before: String,
    pub after: String,
    pub change: State,
}

/// A pair that was not found before.
pub(in crate::pages) struct NewPairLine {
    pub number: String,
    pub differences: String,
    pub decided: String,
    pub input: String,
}

/// The pairs of an audit beside those of the one before.
pub(in crate::pages) struct NewPairs {
    pub new: String,
    pub kept: String,
    pub gone: String,
    pub shown: Vec<NewPairLine>,
}

/// Audits over time.
#[derive(Template)]
#[template(path = "service/history.html")]
pub(in crate::pages) struct HistoryPage<'a> {
    pub frame: &'a Frame,
    /// The model or the audit that they are audits of, or called as.
    pub about: &'a Link,
    /// The numbers of the two audits that are held against each other.
    pub numbers: Option<(usize, usize)>,
    pub verdict_class: &'a str,
    pub verdict: &'a [String],
    pub charts: &'a [Drawn],
    pub lines: &'a [HistoryLine],
    pub changes: &'a [ChangeLine],
    pub differs: &'a str,
    pub pairs: Option<&'a NewPairs>,
    /// Why pairs are not compared; empty for no reason.
    pub no_pairs: &'a str,
}
