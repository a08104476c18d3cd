//! Parts of several pages: their frame, lists of things, facts, states, the first rows of a file.

/// The frame that every page has around its content.
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
    /// The name of the project; empty for an administrator.
    pub project: String,
    /// The address of the page of the project.
    pub project_address: String,
    /// The entry of the navigation that this page is.
    pub section: &'static str,
    /// The address of the style sheet.
    pub styles: &'static str,
    /// The address of the script.
    pub script: &'static str,
    /// The address of the icon.
    pub icon: &'static str,
    /// The version of the service.
    pub version: &'static str,
}

impl Frame {
    /// Whether somebody is logged in.
    pub fn signed_in(&self) -> bool {
        !self.csrf.is_empty()
    }

    /// Whether the page is the entry `section` of the navigation.
    pub fn is(&self, section: &str) -> bool {
        self.section == section
    }
}

/// A state as a coloured word.
#[derive(Debug, Clone, Default)]
pub(super) struct State {
    /// The name of the state in the API.
    pub name: &'static str,
    /// The colour of the word: a class of the style sheet.
    pub class: &'static str,
    /// The word; empty where there is none.
    pub text: String,
}

impl State {
    /// Makes a word with a colour.
    pub fn marked(class: &'static str, text: impl Into<String>) -> State {
        State {
            class,
            text: text.into(),
            ..State::default()
        }
    }
}

/// A text with an address; the address may be empty.
#[derive(Debug, Clone)]
pub(super) struct Link {
    /// The address that the link leads to.
    pub address: String,
    /// The text that the user reads.
    pub text: String,
}

/// A run, a model or a data set in a list.
#[derive(Debug, Clone)]
pub(super) struct Thing {
    /// The identifier of the thing.
    pub id: String,
    /// The address of the thing's page.
    pub address: String,
    /// The name of the thing.
    pub title: String,
    /// More about the thing, in one line.
    pub detail: String,
    /// The state of the thing.
    pub state: State,
    /// Whether the thing can be compared with others.
    pub can_be_picked: bool,
    /// Links to what can be done with the thing.
    pub links: Vec<Link>,
}

/// Something known about a thing.
#[derive(Debug, Clone)]
pub(super) struct Fact {
    /// The name of the fact.
    pub name: &'static str,
    /// The value of the fact.
    pub value: String,
    /// The address of a page that says more; empty where there is none.
    pub address: String,
}

impl Fact {
    /// Makes a fact.
    pub fn new(name: &'static str, value: impl Into<String>) -> Fact {
        Fact {
            name,
            value: value.into(),
            address: String::new(),
        }
    }

    /// Makes a fact that links to a page.
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
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The cells of the rows.
    pub rows: Vec<Vec<String>>,
}
