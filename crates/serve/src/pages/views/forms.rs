//! The templates of pages with a form about data, models and jobs, and of the pages in their place.

use askama::Template;

use super::super::form::{Choice, Field, Form};
use super::{Frame, Preview};

/// The page that logs in.
#[derive(Template)]
#[template(path = "service/login.html")]
pub(in crate::pages) struct LoginPage<'a> {
    pub frame: &'a Frame,
    pub form: &'a Form,
    /// The address of the page that the log-in leads to.
    pub next: &'a str,
    /// The name of the identity provider; empty where there is none.
    pub provider: &'a str,
    /// The address at which the log-in by the identity provider begins.
    pub by_provider: &'a str,
    /// The reason why the provider did not let the visitor in; empty where it was not asked to.
    pub refused: &'a str,
    /// Whether the visitor came by a link of another site.
    pub is_from_elsewhere: bool,
}

/// The page after a log-in by the identity provider.
#[derive(Template)]
#[template(path = "service/logged_in.html")]
pub(in crate::pages) struct LoggedInPage<'a> {
    pub frame: &'a Frame,
    /// The address that the browser goes on to.
    pub next: &'a str,
}

/// An access in a list.
pub(in crate::pages) struct ListedAccess {
    pub id: String,
    /// The name of the project; empty for the access of an administrator.
    pub project: String,
    pub role: &'static str,
    /// Whether the session belongs to this access.
    pub is_own: bool,
}

/// The page with the accesses of somebody who logged in.
#[derive(Template)]
#[template(path = "service/access.html")]
pub(in crate::pages) struct AccessPage<'a> {
    pub frame: &'a Frame,
    pub form: &'a Form,
    pub accesses: &'a [ListedAccess],
    /// The address of the page that the choice leads to.
    pub next: &'a str,
}

/// The page that uploads data.
#[derive(Template)]
#[template(path = "service/data_new.html")]
pub(in crate::pages) struct DataNewPage<'a> {
    pub frame: &'a Frame,
    pub form: &'a Form,
    pub separators: &'a [Choice],
    pub limit: String,
}

/// A column of a file before it is described.
pub(in crate::pages) struct RawColumn {
    /// The name of the column's field in the form.
    pub field: String,
    /// The name of the column in the file.
    pub name: String,
    /// The first values of the column.
    pub examples: String,
    /// The reason why the column is left out unless somebody says otherwise; empty where it is not.
    pub why_left_out: String,
    /// The name of the field that says which value is good to get.
    pub outcome: String,
    /// The values to choose from; none where they are not all known.
    pub outcomes: Vec<Choice>,
}

/// The page that asks what the columns of a table are.
#[derive(Template)]
#[template(path = "service/data_columns.html")]
pub(in crate::pages) struct DataColumnsPage<'a> {
    pub frame: &'a Frame,
    pub form: &'a Form,
    pub id: &'a str,
    pub label: &'a str,
    pub columns: &'a [RawColumn],
    pub roles: &'a [Choice],
    pub rows: &'a Preview,
}

/// The page that gives something another name.
#[derive(Template)]
#[template(path = "service/rename.html")]
pub(in crate::pages) struct RenamePage<'a> {
    pub frame: &'a Frame,
    pub form: &'a Form,
    pub label: &'a str,
    /// The address of the thing's page.
    pub page: &'a str,
    pub action: &'a str,
    /// A word for what else gets the name; empty where nothing does.
    pub also: &'a str,
}

/// The fields of a column's description.
pub(in crate::pages) struct ColumnFields {
    pub prefix: String,
    pub name: String,
    pub summary: String,
    pub is_protected: bool,
    pub is_open: bool,
    /// The number of lines of the field of levels.
    pub lines: usize,
    pub names: Names,
}

/// The names of the fields of one column.
pub(in crate::pages) struct Names {
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
    /// The names of the fields of the column at `position`.
    pub fn new(position: usize) -> Names {
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

/// The page that checks the description of the columns.
#[derive(Template)]
#[template(path = "service/data_schema.html")]
pub(in crate::pages) struct DataSchemaPage<'a> {
    pub frame: &'a Frame,
    pub form: &'a Form,
    pub id: &'a str,
    pub label: &'a str,
    pub decision: &'a str,
    /// The outcomes of the decision; none where it is a number.
    pub outcomes: &'a [Choice],
    /// The columns that the model will not see, each with the reason.
    pub left_out: &'a [(String, String)],
    pub columns: &'a [ColumnFields],
    pub kinds: &'a [Choice],
    pub outsides: &'a [Choice],
    pub rows: &'a Preview,
}

/// The page that trains a model.
#[derive(Template)]
#[template(path = "service/train.html")]
pub(in crate::pages) struct TrainPage<'a> {
    pub frame: &'a Frame,
    pub form: &'a Form,
    pub id: &'a str,
    pub label: &'a str,
    pub is_text: bool,
    /// Whether the data have labels to learn.
    pub can_train: bool,
    pub text_columns: &'a [Choice],
    pub label_columns: &'a [Choice],
    /// The word vectors to choose from, of texts.
    pub vectors: &'a Field,
    pub fields: &'a [Field],
    /// The names of `fields`, separated by commas.
    pub advanced: &'a str,
}

/// The page that uploads a model.
#[derive(Template)]
#[template(path = "service/model_new.html")]
pub(in crate::pages) struct ModelNewPage<'a> {
    pub frame: &'a Frame,
    pub form: &'a Form,
    pub limit: String,
}

/// The page that audits a model.
#[derive(Template)]
#[template(path = "service/audit.html")]
pub(in crate::pages) struct AuditPage<'a> {
    pub frame: &'a Frame,
    pub form: &'a Form,
    pub id: &'a str,
    pub label: &'a str,
    pub data: &'a [Choice],
    pub attributes: &'a [Choice],
    pub efforts: &'a [Choice],
    /// The outcome that is good to get; without choices where there are none.
    pub favourable: &'a Field,
    pub fail_above: &'a Field,
    pub fields: &'a [Field],
    pub advanced: &'a str,
}

/// The page that compares people.
#[derive(Template)]
#[template(path = "service/people.html")]
pub(in crate::pages) struct PeoplePage<'a> {
    pub frame: &'a Frame,
    pub form: &'a Form,
    /// The identifier of the data set that holds the people.
    pub id: &'a str,
    pub label: &'a str,
    pub questions: &'a [Choice],
    /// Whose decisions can be looked at; none where nobody decides.
    pub deciders: &'a [Choice],
    /// Whom people can be compared with.
    pub beside: &'a [Choice],
    pub attributes: &'a [Choice],
    pub favourable: &'a Field,
    pub fail_above: &'a Field,
    pub fields: &'a [Field],
    pub advanced: &'a str,
}

/// The page that repairs a model.
#[derive(Template)]
#[template(path = "service/repair.html")]
pub(in crate::pages) struct RepairPage<'a> {
    pub frame: &'a Frame,
    pub form: &'a Form,
    pub id: &'a str,
    pub label: &'a str,
    pub max_accuracy_loss: &'a Field,
    pub fields: &'a [Field],
    pub advanced: &'a str,
}

/// The page that says that something cannot be done.
#[derive(Template)]
#[template(path = "service/problem.html")]
pub(in crate::pages) struct ProblemPage<'a> {
    pub frame: &'a Frame,
    pub title: &'a str,
    pub detail: &'a str,
    pub back: &'a str,
    pub back_text: &'a str,
}

/// The page that asks whether something shall be deleted.
#[derive(Template)]
#[template(path = "service/delete.html")]
pub(in crate::pages) struct DeletePage<'a> {
    pub frame: &'a Frame,
    pub label: &'a str,
    /// What is lost by the deletion.
    pub consequence: &'a str,
    pub action: &'a str,
    pub back: &'a str,
}
