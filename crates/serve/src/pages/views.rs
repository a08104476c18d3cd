//! What the pages show: one template each, in `templates/service/`, filled with text that is ready to be read.
//!
//! Everything that is put into a template is escaped by it; nothing here is marked as safe.

use askama::Template;
use serde::Serialize;

use super::form::{Choice, Field, Form};

/// What every page has around its content.
pub(super) struct Frame {
    /// The form token of the session; empty when nobody is logged in.
    pub csrf: String,
    /// Which entry of the navigation is this page.
    pub section: &'static str,
    /// Address of the style sheet.
    pub styles: &'static str,
    /// Address of the script.
    pub script: &'static str,
    /// Address of the icon.
    pub icon: &'static str,
    /// Version of the service.
    pub version: &'static str,
}

impl Frame {
    /// Whether somebody is logged in.
    pub fn signed_in(&self) -> bool {
        !self.csrf.is_empty()
    }

    /// Whether the page is that entry of the navigation.
    pub fn is(&self, section: &str) -> bool {
        self.section == section
    }
}

/// A state as a coloured word.
#[derive(Debug, Clone, Default)]
pub(super) struct State {
    /// Its name in the programming interface.
    pub name: &'static str,
    /// Its colour: a class of the style sheet.
    pub class: &'static str,
    /// The word; empty for none.
    pub text: String,
}

/// A text with an address; the address may be empty.
#[derive(Debug, Clone)]
pub(super) struct Link {
    /// Where it leads.
    pub address: String,
    /// What is read.
    pub text: String,
}

/// A run, a model or a data set in a list.
#[derive(Debug, Clone)]
pub(super) struct Thing {
    /// Its identifier.
    pub id: String,
    /// Its page.
    pub address: String,
    /// What it is called.
    pub title: String,
    /// More about it, in one line.
    pub detail: String,
    /// Its state.
    pub state: State,
    /// Whether it can be compared with others.
    pub can_be_picked: bool,
    /// What can be done with it.
    pub links: Vec<Link>,
}

/// Something known about a thing.
#[derive(Debug, Clone)]
pub(super) struct Fact {
    /// What is known.
    pub name: &'static str,
    /// What it is.
    pub value: String,
    /// Where more is said; empty for nowhere.
    pub address: String,
}

impl Fact {
    /// A fact.
    pub fn new(name: &'static str, value: impl Into<String>) -> Fact {
        Fact {
            name,
            value: value.into(),
            address: String::new(),
        }
    }

    /// A fact that links to a page.
    pub fn linked(name: &'static str, value: impl Into<String>, address: String) -> Fact {
        Fact {
            name,
            value: value.into(),
            address,
        }
    }
}

/// The first rows of a file.
#[derive(Debug, Clone, Default)]
pub(super) struct Preview {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// The cells of the rows.
    pub rows: Vec<Vec<String>>,
}

/// Log in.
#[derive(Template)]
#[template(path = "service/login.html")]
pub(super) struct LoginPage<'a> {
    pub frame: &'a Frame,
    pub form: &'a Form,
}

/// All that there is.
#[derive(Template)]
#[template(path = "service/home.html")]
pub(super) struct HomePage<'a> {
    pub frame: &'a Frame,
    pub active: &'a [Thing],
    pub runs: &'a [Thing],
    pub can_compare: bool,
    pub models: &'a [Thing],
    pub data: &'a [Thing],
}

/// Upload data.
#[derive(Template)]
#[template(path = "service/data_new.html")]
pub(super) struct DataNewPage<'a> {
    pub frame: &'a Frame,
    pub form: &'a Form,
    pub separators: &'a [Choice],
    pub limit: String,
}

/// A column of a file before it is described.
pub(super) struct RawColumn {
    /// Name of its field in the form.
    pub field: String,
    /// Its name in the file.
    pub name: String,
    /// Its first values.
    pub examples: String,
}

/// Say what the columns are.
#[derive(Template)]
#[template(path = "service/data_columns.html")]
pub(super) struct DataColumnsPage<'a> {
    pub frame: &'a Frame,
    pub form: &'a Form,
    pub id: &'a str,
    pub label: &'a str,
    pub columns: &'a [RawColumn],
    pub roles: &'a [Choice],
    pub rows: &'a Preview,
}

/// The fields of a column's description.
pub(super) struct ColumnFields {
    pub prefix: String,
    pub name: String,
    pub summary: String,
    pub is_protected: bool,
    pub is_open: bool,
    /// Lines of the field of levels.
    pub lines: usize,
    pub names: Names,
}

/// Names of the fields of one column.
pub(super) struct Names {
    pub kind: String,
    pub protected: String,
    pub min: String,
    pub max: String,
    pub levels: String,
    pub ordered: String,
    pub bins: String,
    pub missing: String,
    pub outside: String,
}

impl Names {
    /// Those of the column at `position`.
    pub fn of(position: usize) -> Names {
        let name = |field: &str| format!("c{position}-{field}");
        Names {
            kind: name("kind"),
            protected: name("protected"),
            min: name("min"),
            max: name("max"),
            levels: name("levels"),
            ordered: name("ordered"),
            bins: name("bins"),
            missing: name("missing"),
            outside: name("outside"),
        }
    }
}

/// Check the description of the columns.
#[derive(Template)]
#[template(path = "service/data_schema.html")]
pub(super) struct DataSchemaPage<'a> {
    pub frame: &'a Frame,
    pub form: &'a Form,
    pub id: &'a str,
    pub label: &'a str,
    pub decision: &'a str,
    pub columns: &'a [ColumnFields],
    pub kinds: &'a [Choice],
    pub outsides: &'a [Choice],
    pub rows: &'a Preview,
}

/// A described column.
pub(super) struct DescribedColumn {
    pub name: String,
    pub role: &'static str,
    pub values: String,
}

/// A data set.
#[derive(Template)]
#[template(path = "service/data.html")]
pub(super) struct DataPage<'a> {
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

/// Train a model.
#[derive(Template)]
#[template(path = "service/train.html")]
pub(super) struct TrainPage<'a> {
    pub frame: &'a Frame,
    pub form: &'a Form,
    pub id: &'a str,
    pub label: &'a str,
    pub is_text: bool,
    /// Whether the data have labels to learn.
    pub can_train: bool,
    pub text_columns: &'a [Choice],
    pub label_columns: &'a [Choice],
    pub fields: &'a [Field],
    /// Names of `fields`, separated by commas.
    pub advanced: &'a str,
}

/// Upload a model.
#[derive(Template)]
#[template(path = "service/model_new.html")]
pub(super) struct ModelNewPage<'a> {
    pub frame: &'a Frame,
    pub form: &'a Form,
    pub limit: String,
}

/// How good a model is on a part of its data.
pub(super) struct Quality {
    pub name: &'static str,
    pub rows: String,
    pub accuracy: String,
    pub majority: String,
}

/// A model.
#[derive(Template)]
#[template(path = "service/model.html")]
pub(super) struct ModelPage<'a> {
    pub frame: &'a Frame,
    pub id: &'a str,
    pub label: &'a str,
    pub facts: &'a [Fact],
    pub parts: &'a [Quality],
    pub runs: &'a [Thing],
}

/// Audit a model.
#[derive(Template)]
#[template(path = "service/audit.html")]
pub(super) struct AuditPage<'a> {
    pub frame: &'a Frame,
    pub form: &'a Form,
    pub id: &'a str,
    pub label: &'a str,
    pub data: &'a [Choice],
    pub attributes: &'a [Choice],
    pub efforts: &'a [Choice],
    pub fail_above: &'a Field,
    pub fields: &'a [Field],
    pub advanced: &'a str,
}

/// Repair a model.
#[derive(Template)]
#[template(path = "service/repair.html")]
pub(super) struct RepairPage<'a> {
    pub frame: &'a Frame,
    pub form: &'a Form,
    pub id: &'a str,
    pub label: &'a str,
    pub max_accuracy_loss: &'a Field,
    pub fields: &'a [Field],
    pub advanced: &'a str,
}

/// A job as its page shows it, and as an event tells the page.
#[derive(Debug, Serialize)]
pub(super) struct Shown {
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

/// A job that waits, runs or has ended.
#[derive(Template)]
#[template(path = "service/job.html")]
pub(super) struct JobPage<'a> {
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
    pub facts: &'a [Fact],
}

/// A figure that a reader looks for first.
pub(super) struct Figure {
    pub name: String,
    pub value: String,
    pub note: String,
}

/// What a run found.
#[derive(Template)]
#[template(path = "service/run.html")]
pub(super) struct RunPage<'a> {
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
    /// Address of the model that a repair made; empty for an audit.
    pub repaired: String,
    pub facts: &'a [Fact],
}

/// One line of a comparison.
pub(super) struct ComparedLine {
    pub name: &'static str,
    pub cells: Vec<String>,
}

/// Several runs side by side.
#[derive(Template)]
#[template(path = "service/compare.html")]
pub(super) struct ComparePage<'a> {
    pub frame: &'a Frame,
    pub runs: &'a [Link],
    pub warning: &'a str,
    pub lines: &'a [ComparedLine],
}

/// Something that cannot be done.
#[derive(Template)]
#[template(path = "service/problem.html")]
pub(super) struct ProblemPage<'a> {
    pub frame: &'a Frame,
    pub title: &'a str,
    pub detail: &'a str,
    pub back: &'a str,
    pub back_text: &'a str,
}

/// Asks whether something shall be deleted.
#[derive(Template)]
#[template(path = "service/delete.html")]
pub(super) struct DeletePage<'a> {
    pub frame: &'a Frame,
    pub label: &'a str,
    /// What is lost.
    pub consequence: &'a str,
    pub action: &'a str,
    pub back: &'a str,
}
