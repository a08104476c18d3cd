//! What several pages show: their frame, lists of things, facts, states, the first rows of a file.

/// What every page has around its content.
pub(super) struct Frame {
    /// The form token of the session; empty when nobody is logged in.
    pub csrf: String,
    /// Whether the visitor may change what is in the project.
    pub may_change: bool,
    /// Whether the visitor may manage the project.
    pub may_manage: bool,
    /// Whether the visitor is an administrator, who is in no project.
    pub is_administrator: bool,
    /// Whether the visitor logged in by the identity provider, and so may have other accesses.
    pub is_person: bool,
    /// What the project is called; empty for an administrator.
    pub project: String,
    /// Address of the page of the project.
    pub project_address: String,
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

impl State {
    /// A word with a colour.
    pub fn marked(class: &'static str, text: &str) -> State {
        State {
            class,
            text: text.to_owned(),
            ..State::default()
        }
    }
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
