//! Pages with a form about data, models and jobs, and what is in their place.

use askama::Template;

use super::super::form::{Choice, Field, Form};
use super::{Frame, Preview};

/// Log in.
#[derive(Template)]
#[template(path = "service/login.html")]
pub(in crate::pages) struct LoginPage<'a> {
    pub frame: &'a Frame,
    pub form: &'a Form,
    /// Address of the page that it leads to.
    pub next: &'a str,
    /// What the identity provider is called; empty for none.
    pub provider: &'a str,
    /// Where the log-in by it begins.
    pub by_provider: &'a str,
    /// Why it did not let the visitor in; empty where it was not asked to.
    pub refused: &'a str,
    /// Whether the visitor came by a link of another site.
    pub is_from_elsewhere: bool,
}

/// Somebody has logged in by the identity provider.
#[derive(Template)]
#[template(path = "service/logged_in.html")]
pub(in crate::pages) struct LoggedInPage<'a> {
    pub frame: &'a Frame,
    /// Where the browser goes on to.
    pub next: &'a str,
}

/// An access in a list.
pub(in crate::pages) struct ListedAccess {
    pub id: String,
    /// What the project is called; empty for that of an administrator.
    pub project: String,
    pub role: &'static str,
    /// Whether it is that of the session.
    pub is_own: bool,
}

/// Where somebody may work who logged in.
#[derive(Template)]
#[template(path = "service/access.html")]
pub(in crate::pages) struct AccessPage<'a> {
    pub frame: &'a Frame,
    pub form: &'a Form,
    pub accesses: &'a [ListedAccess],
    /// Address of the page that it leads to.
    pub next: &'a str,
}

/// Upload data.
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
pub(in crate::pages) struct DataColumnsPage<'a> {
    pub frame: &'a Frame,
    pub form: &'a Form,
    pub id: &'a str,
    pub label: &'a str,
    pub columns: &'a [RawColumn],
    pub roles: &'a [Choice],
    pub rows: &'a Preview,
}

/// Give something another name.
#[derive(Template)]
#[template(path = "service/rename.html")]
pub(in crate::pages) struct RenamePage<'a> {
    pub frame: &'a Frame,
    pub form: &'a Form,
    pub label: &'a str,
    /// Its page.
    pub page: &'a str,
    pub action: &'a str,
    /// What else gets the name; empty for nothing.
    pub also: &'a str,
}

/// The fields of a column's description.
pub(in crate::pages) struct ColumnFields {
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
pub(in crate::pages) struct DataSchemaPage<'a> {
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

/// Train a model.
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
    pub fields: &'a [Field],
    /// Names of `fields`, separated by commas.
    pub advanced: &'a str,
}

/// Upload a model.
#[derive(Template)]
#[template(path = "service/model_new.html")]
pub(in crate::pages) struct ModelNewPage<'a> {
    pub frame: &'a Frame,
    pub form: &'a Form,
    pub limit: String,
}

/// Audit a model.
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
    pub fail_above: &'a Field,
    pub fields: &'a [Field],
    pub advanced: &'a str,
}

/// Repair a model.
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

/// Something that cannot be done.
#[derive(Template)]
#[template(path = "service/problem.html")]
pub(in crate::pages) struct ProblemPage<'a> {
    pub frame: &'a Frame,
    pub title: &'a str,
    pub detail: &'a str,
    pub back: &'a str,
    pub back_text: &'a str,
}

/// Asks whether something shall be deleted.
#[derive(Template)]
#[template(path = "service/delete.html")]
pub(in crate::pages) struct DeletePage<'a> {
    pub frame: &'a Frame,
    pub label: &'a str,
    /// What is lost.
    pub consequence: &'a str,
    pub action: &'a str,
    pub back: &'a str,
}
