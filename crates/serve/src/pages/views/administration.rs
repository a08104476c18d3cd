//! The templates of pages of administration: projects, tokens, webhooks, the log.

use askama::Template;

use super::super::form::{Choice, Form};
use super::{Fact, Frame, Thing};

/// The page with all projects, for an administrator.
#[derive(Template)]
#[template(path = "service/projects.html")]
pub(in crate::pages) struct ProjectsPage<'a> {
    pub frame: &'a Frame,
    pub form: &'a Form,
    pub projects: &'a [Thing],
}

/// The page of a project.
#[derive(Template)]
#[template(path = "service/project.html")]
pub(in crate::pages) struct ProjectPage<'a> {
    pub frame: &'a Frame,
    pub address: &'a str,
    pub name: &'a str,
    pub facts: &'a [Fact],
}

/// The page with the name and the quotas of a project.
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
    /// Whether this is the access of a person, who has no token.
    pub is_person: bool,
}

/// The page with the tokens of a project.
#[derive(Template)]
#[template(path = "service/tokens.html")]
pub(in crate::pages) struct TokensPage<'a> {
    pub frame: &'a Frame,
    pub form: &'a Form,
    pub address: &'a str,
    pub project: &'a str,
    pub tokens: &'a [ListedToken],
    pub roles: &'a [Choice],
    /// The token that was just made; empty where none was.
    pub made: &'a str,
    /// The person who was just given access; empty where nobody was.
    pub let_in: &'a str,
    /// The name of the identity provider; empty where there is none.
    pub provider: &'a str,
    /// The hint beside the field for the person who is given access.
    pub person_hint: &'a str,
    /// The hint beside the field for the name of a token.
    pub name_hint: &'a str,
}

/// The page with the webhook of a project.
#[derive(Template)]
#[template(path = "service/webhook.html")]
pub(in crate::pages) struct HookPage<'a> {
    pub frame: &'a Frame,
    pub form: &'a Form,
    pub address: &'a str,
    pub project: &'a str,
    pub facts: &'a [Fact],
    /// The secret of the webhook that was just set; empty where none was.
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

/// The page with the links to the report of a run.
#[derive(Template)]
#[template(path = "service/links.html")]
pub(in crate::pages) struct LinksPage<'a> {
    pub frame: &'a Frame,
    pub form: &'a Form,
    pub id: &'a str,
    pub label: &'a str,
    pub links: &'a [ListedLink],
    /// The address of the link that was just made, on this service; empty where none was.
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

/// The page with the log.
#[derive(Template)]
#[template(path = "service/log.html")]
pub(in crate::pages) struct LogPage<'a> {
    pub frame: &'a Frame,
    pub lines: &'a [LogLine],
    /// The address of the whole log as a file.
    pub file: &'a str,
    /// The address of the page with older entries; empty where there are none.
    pub older: &'a str,
    pub of_all: bool,
}
