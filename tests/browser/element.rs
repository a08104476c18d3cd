//! An element of a page.

use std::path::Path;

use serde_json::{Value, json};

use super::{Browser, text_of};

/// The key of an element's reference in WebDriver's JSON.
pub(super) const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// An element of the page that is open.
pub struct Element<'a> {
    pub(super) browser: &'a Browser,
    pub(super) id: String,
    pub(super) found_by: String,
}

impl Element<'_> {
    /// Clicks it; a page that this opens is loaded afterwards.
    #[track_caller]
    pub fn click(&self) {
        self.act("click", &json!({}));
    }

    /// Types into it.
    #[track_caller]
    pub fn type_text(&self, text: &str) {
        self.act("value", &json!({"text": text}));
    }

    /// Empties the field.
    #[track_caller]
    pub fn clear(&self) {
        self.act("clear", &json!({}));
    }

    /// Chooses a file in a file field.
    #[track_caller]
    pub fn choose_file(&self, path: &Path) {
        self.type_text(&path.display().to_string());
    }

    /// Chooses the option with this value in a selection.
    #[track_caller]
    pub fn choose(&self, value: &str) {
        let script = "arguments[0].value = arguments[1];\
                      arguments[0].dispatchEvent(new Event('change', {bubbles: true}));\
                      return arguments[0].value;";
        let chosen = self
            .browser
            .script(script, json!([{ELEMENT: self.id}, value]));
        assert_eq!(chosen, value, "no option '{value}' in {}", self.found_by);
    }

    /// Its text as a reader sees it.
    pub fn text(&self) -> String {
        text_of(self.read("text"))
    }

    /// A property, such as `value` or `checked`.
    pub fn property(&self, name: &str) -> Value {
        self.read(&format!("property/{name}"))
    }

    /// Whether a reader can see it.
    pub fn is_shown(&self) -> bool {
        self.read("displayed") == true
    }

    fn read(&self, what: &str) -> Value {
        // An element that has gone since has nothing to say.
        let path = format!(
            "/session/{}/element/{}/{what}",
            self.browser.session, self.id
        );
        self.browser.wire.get(&path).unwrap_or(Value::Null)
    }

    #[track_caller]
    fn act(&self, command: &str, body: &Value) {
        let path = format!("element/{}/{command}", self.id);
        if let Err(problem) = self.browser.try_command(&path, body) {
            panic!("{command} on {}: {problem}", self.found_by);
        }
    }
}
