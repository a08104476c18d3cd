//! Pages of administration: projects, who is in them, whom they tell, who did what.

use askama::Template;

use super::super::form::{Choice, Form};
use super::{Fact, Frame, Thing};

/// The projects, for an administrator.
#[derive(Template)]
#[template(path = "service/projects.html")]
pub(in crate::pages) struct ProjectsPage<'a> {
    pub frame: &'a Frame,
    pub form: &'a Form,
    pub projects: &'a [Thing],
}

/// A project.
#[derive(Template)]
#[template(path = "service/project.html")]
pub(in crate::pages) struct ProjectPage<'a> {
    pub frame: &'a Frame,
    pub address: &'a str,
    pub name: &'a str,
    pub facts: &'a [Fact],
}

/// Name and quotas of a project.
#[derive(Template)]
#[template(path = "service/project_settings.html")]
pub(in crate::pages) struct ProjectSettingsPage<'a> {
    pub frame: &'a Frame,
    pub address: &'a str,
    pub form: &'a Form,
}

/// A token in a list.
pub(in crate::pages) struct ListedToken {
    pub id: String,
    pub name: String,
    pub role: &'static str,
    pub made: String,
    pub class: &'static str,
    pub state: String,
    pub is_valid: bool,
    /// Whether it is the access of a person, who has no token.
    pub is_person: bool,
}

/// The tokens of a project.
#[derive(Template)]
#[template(path = "service/tokens.html")]
pub(in crate::pages) struct TokensPage<'a> {
    pub frame: &'a Frame,
    pub form: &'a Form,
    pub address: &'a str,
    pub project: &'a str,
    pub tokens: &'a [ListedToken],
    pub roles: &'a [Choice],
    /// The token that was just made; empty for none.
    pub made: &'a str,
    /// Who was just given access; empty for nobody.
    pub let_in: &'a str,
    /// What the identity provider is called; empty for none.
    pub provider: &'a str,
    /// What is to be said of the person who is let in.
    pub person_hint: &'a str,
    /// What is to be said of the name of a token.
    pub name_hint: &'a str,
}

/// Where a project wants to hear that its jobs are at an end.
#[derive(Template)]
#[template(path = "service/webhook.html")]
pub(in crate::pages) struct HookPage<'a> {
    pub frame: &'a Frame,
    pub form: &'a Form,
    pub address: &'a str,
    pub project: &'a str,
    pub facts: &'a [Fact],
    /// The secret of the webhook that was just set; empty for none.
    pub secret: &'a str,
}

/// A link in a list.
pub(in crate::pages) struct ListedLink {
    pub id: String,
    pub made: String,
    pub class: &'static str,
    pub state: String,
    pub is_valid: bool,
}

/// The links to the report of a run.
#[derive(Template)]
#[template(path = "service/links.html")]
pub(in crate::pages) struct LinksPage<'a> {
    pub frame: &'a Frame,
    pub form: &'a Form,
    pub id: &'a str,
    pub label: &'a str,
    pub links: &'a [ListedLink],
    /// Address of the link that was just made, on this service; empty for none.
    pub made: &'a str,
}

/// An entry of the log.
pub(in crate::pages) struct LogLine {
    pub at: String,
    pub name: String,
    pub action: String,
    pub project: String,
    pub subject: String,
}

/// Who did what.
#[derive(Template)]
#[template(path = "service/log.html")]
pub(in crate::pages) struct LogPage<'a> {
    pub frame: &'a Frame,
    pub lines: &'a [LogLine],
    /// Address of the whole log as a file.
    pub file: &'a str,
    /// Address of the page with what is older; empty for none.
    pub older: &'a str,
    pub of_all: bool,
}
