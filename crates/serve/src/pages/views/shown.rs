//! The templates of pages that show data, models, jobs and results.

use askama::Template;
use serde::Serialize;

use super::super::form::{Choice, Form};
use super::{Fact, Frame, Link, Preview, State, Thing};

/// A line of a table of jobs.
pub(in crate::pages) struct JobLine {
    pub id: String,
    pub address: String,
    pub title: String,
    /// The command of the job, and the model or data that it works on.
    pub detail: String,
    pub can_be_picked: bool,
    /// The verdict of the job; without a word where there is none.
    pub result: State,
    /// The share that was found; empty where there is none.
    pub share: String,
    /// The interval of the share.
    pub interval: String,
    pub state: State,
    pub ended: String,
    pub took: String,
    pub owner: String,
    pub stored: String,
    /// The address of the job's report; empty where there is none.
    pub report: String,
}

/// The overview.
#[derive(Template)]
#[template(path = "service/home.html")]
pub(in crate::pages) struct HomePage<'a> {
    pub frame: &'a Frame,
    /// The filter as it was filled in.
    pub form: &'a Form,
    pub is_filtered: bool,
    /// Whether all lists begin with the newest things.
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

/// A column that the schema describes.
pub(in crate::pages) struct DescribedColumn {
    pub name: String,
    pub role: &'static str,
    pub values: String,
}

/// The page of a data set.
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
    /// The columns that no model sees, each with the reason.
    pub left_out: &'a [(String, String)],
    pub models: &'a [Thing],
    pub rows: &'a Preview,
}

/// The quality of a model on a part of its data.
pub(in crate::pages) struct Quality {
    pub name: &'static str,
    pub rows: String,
    pub accuracy: String,
    pub majority: String,
}

/// The page of a model.
#[derive(Template)]
#[template(path = "service/model.html")]
pub(in crate::pages) struct ModelPage<'a> {
    pub frame: &'a Frame,
    pub id: &'a str,
    pub label: &'a str,
    pub facts: &'a [Fact],
    pub parts: &'a [Quality],
    /// The reasons why an audit of the model says little.
    pub doubts: &'a [String],
    pub runs: &'a [Thing],
    pub has_history: bool,
    /// Whether the model decides about rows of a table, so that the people in them can be compared.
    pub is_of_rows: bool,
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

/// A proposal for an audit with the usual answers.
pub(in crate::pages) struct UsualAudit {
    /// The identifier of the data set that the audit starts from.
    pub data: String,
    pub protected: Vec<String>,
}

/// The page of a job that waits, runs or has ended.
#[derive(Template)]
#[template(path = "service/job.html")]
pub(in crate::pages) struct JobPage<'a> {
    pub frame: &'a Frame,
    pub id: &'a str,
    pub kind: &'a str,
    pub heading: &'a str,
    /// The address of the job's events; empty when the job is over.
    pub events: &'a str,
    pub shown: &'a Shown,
    pub stop_hint: &'a str,
    /// What the button says that lets a stopped job go on.
    pub resume_text: &'a str,
    pub result: &'a str,
    pub result_text: &'a str,
    /// The proposal for an audit of the model that the job trains; none where there is nothing to
    /// audit it by.
    pub audit: Option<&'a UsualAudit>,
    pub facts: &'a [Fact],
}

/// A figure that a reader looks for first.
pub(in crate::pages) struct Figure {
    pub name: String,
    pub value: String,
    pub note: String,
}

/// The page of a run's results.
#[derive(Template)]
#[template(path = "service/run.html")]
pub(in crate::pages) struct RunPage<'a> {
    pub frame: &'a Frame,
    pub id: &'a str,
    pub kind: &'a str,
    pub heading: &'a str,
    pub verdict_class: &'a str,
    pub verdict: &'a [String],
    /// The remarks beside the verdict; may be empty.
    pub caveat: &'a str,
    pub figures: &'a [Figure],
    pub downloads: &'a [Link],
    pub can_repair: bool,
    pub has_history: bool,
    /// The address of the model that a repair made; empty for other jobs.
    pub repaired: String,
    pub facts: &'a [Fact],
}

/// One line of a comparison.
pub(in crate::pages) struct ComparedLine {
    pub name: &'static str,
    pub cells: Vec<String>,
}

/// The page that compares several runs side by side.
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
    /// The elements of the chart, escaped.
    pub svg: String,
}

/// The line of an audit in a history.
pub(in crate::pages) struct HistoryLine {
    /// The number of the audit in the charts.
    pub number: usize,
    pub audit: Link,
    pub date: String,
    pub model: String,
    pub data: String,
    pub share: String,
    /// The change of the share since the audit before.
    pub change: State,
    /// The address of the page that compares the audit with the one before; empty where there is
    /// none.
    pub at: String,
}

/// The line of a share's change.
pub(in crate::pages) struct ChangeLine {
    pub name: String,
    pub before: String,
    pub after: String,
    pub change: State,
}

/// The line of a pair that was not found before.
pub(in crate::pages) struct NewPairLine {
    pub number: String,
    pub differences: String,
    pub decided: String,
    pub input: String,
}

/// The pairs of an audit, compared with those of the audit before.
pub(in crate::pages) struct NewPairs {
    pub new: String,
    pub kept: String,
    pub gone: String,
    pub shown: Vec<NewPairLine>,
}

/// The page of audits over time.
#[derive(Template)]
#[template(path = "service/history.html")]
pub(in crate::pages) struct HistoryPage<'a> {
    pub frame: &'a Frame,
    /// The model whose audits they are, or the audit whose name they have.
    pub about: &'a Link,
    /// The numbers of the two audits that are compared.
    pub numbers: Option<(usize, usize)>,
    pub verdict_class: &'a str,
    pub verdict: &'a [String],
    pub charts: &'a [Drawn],
    pub lines: &'a [HistoryLine],
    pub changes: &'a [ChangeLine],
    pub differs: &'a str,
    pub pairs: Option<&'a NewPairs>,
    /// The reason why pairs are not compared; empty where they are.
    pub no_pairs: &'a str,
}
