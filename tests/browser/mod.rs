//! A browser that tests drive: headless Chromium through its WebDriver.
//!
//! Only what the tests need of <https://www.w3.org/TR/webdriver2/> is here, over the HTTP client
//! that the package has already. [`Browser::start`] starts `chromedriver` and a Chromium with a
//! profile of its own; both end with the value. Waiting is always for a condition, with a deadline.
//! When a test fails, [`evidence::Evidence`] keeps a screenshot and the page's source.

#![allow(dead_code)] // Each test program uses its own part of this.

pub mod accessibility;
pub mod census;
pub mod driver;
pub mod element;
pub mod evidence;
pub mod wire;

use std::cell::Cell;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use driver::{Driver, Programs};
use element::{ELEMENT, Element};
use wire::Wire;

/// How long a condition on a page may take to come true: on a busy machine, too.
pub const DEADLINE: Duration = Duration::from_secs(300);

/// How often a condition is looked at.
const POLL: Duration = Duration::from_millis(50);

/// A running browser with one window.
pub struct Browser {
    wire: Wire,
    session: String,
    downloads: TempDir,
    width: Cell<u32>,
    _profile: TempDir,
    _driver: Driver,
}

/// Which palette the page is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Palette {
    /// Dark text on a light ground.
    Light,
    /// Light text on a dark ground.
    Dark,
}

impl Palette {
    /// Its name in a media query.
    pub fn name(self) -> &'static str {
        match self {
            Palette::Light => "light",
            Palette::Dark => "dark",
        }
    }
}

impl Browser {
    /// Starts the browser; an error says which program failed and how.
    pub fn start(programs: &Programs) -> Result<Browser, String> {
        let driver = Driver::start(&programs.chromedriver)?;
        let profile = TempDir::new().map_err(|error| error.to_string())?;
        let downloads = TempDir::new().map_err(|error| error.to_string())?;
        let wire = Wire::new(driver.port());
        let answer = wire.post(
            "/session",
            &driver::capabilities(&programs.chromium, profile.path(), downloads.path()),
        )?;
        let session = answer["sessionId"]
            .as_str()
            .ok_or("the driver named no session")?
            .to_owned();
        Ok(Browser {
            wire,
            session,
            downloads,
            width: Cell::new(0),
            _profile: profile,
            _driver: driver,
        })
    }

    /// Goes to an address and waits until the page is loaded.
    #[track_caller]
    pub fn go(&self, address: &str) {
        self.command("url", &json!({"url": address}));
    }

    /// The address of the page that is open.
    pub fn address(&self) -> String {
        text_of(self.ask("url"))
    }

    /// The title of the page.
    pub fn title(&self) -> String {
        text_of(self.ask("title"))
    }

    /// The page as the browser has it now.
    pub fn source(&self) -> String {
        text_of(self.ask("source"))
    }

    /// Everything that can be read on the page.
    pub fn text(&self) -> String {
        text_of(self.script("return document.body.innerText;", json!([])))
    }

    /// The window as PNG, the whole height of the page.
    pub fn screenshot(&self) -> Vec<u8> {
        let height = self.script(
            "return Math.min(document.documentElement.scrollHeight, 6000);",
            json!([]),
        );
        let width = self.width.get();
        if width > 0 {
            let height = height.as_u64().unwrap_or(900).max(600) as u32;
            self.metrics(width, height);
        }
        let png = wire::from_base64(&text_of(self.ask("screenshot")));
        if width > 0 {
            self.resize(width);
        }
        png
    }

    /// Gives the page this many CSS pixels of width.
    pub fn resize(&self, width: u32) {
        self.width.set(width);
        self.metrics(width, 900);
    }

    fn metrics(&self, width: u32, height: u32) {
        self.devtools(
            "Emulation.setDeviceMetricsOverride",
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}),
        );
    }

    /// Says which palette the reader prefers.
    pub fn prefer(&self, palette: Palette) {
        self.devtools(
            "Emulation.setEmulatedMedia",
            json!({"features": [{"name": "prefers-color-scheme", "value": palette.name()}]}),
        );
    }

    /// Switches the page's own scripts on or off; holds for pages that are opened afterwards.
    pub fn allow_scripts(&self, allowed: bool) {
        self.devtools(
            "Emulation.setScriptExecutionDisabled",
            json!({"value": !allowed}),
        );
    }

    /// Runs a script in the page and gives what it returns. The page's content-security policy does
    /// not apply to it.
    #[track_caller]
    pub fn script(&self, script: &str, arguments: Value) -> Value {
        self.command(
            "execute/sync",
            &json!({"script": script, "args": arguments}),
        )
    }

    /// Runs a script that ends by calling its last argument.
    #[track_caller]
    pub fn script_with_callback(&self, script: &str, arguments: Value) -> Value {
        self.command(
            "execute/async",
            &json!({"script": script, "args": arguments}),
        )
    }

    /// The one element that the CSS selector finds, as soon as there is one.
    #[track_caller]
    pub fn find(&self, selector: &str) -> Element<'_> {
        self.wait_for(&format!("an element {selector}"), || {
            self.find_all(selector).into_iter().next()
        })
    }

    /// All elements that the CSS selector finds now.
    pub fn find_all(&self, selector: &str) -> Vec<Element<'_>> {
        let found = self.try_command(
            "elements",
            &json!({"using": "css selector", "value": selector}),
        );
        let Ok(Value::Array(found)) = found else {
            return Vec::new();
        };
        found
            .iter()
            .filter_map(|element| element[ELEMENT].as_str())
            .map(|id| Element {
                browser: self,
                id: id.to_owned(),
                found_by: selector.to_owned(),
            })
            .collect()
    }

    /// Whether the CSS selector finds anything now.
    pub fn has(&self, selector: &str) -> bool {
        !self.find_all(selector).is_empty()
    }

    /// Follows the link with this text.
    #[track_caller]
    pub fn follow(&self, text: &str) {
        let found = self.wait_for(&format!("a link '{text}'"), || {
            self.try_command("element", &json!({"using": "link text", "value": text}))
                .ok()
        });
        let id = found[ELEMENT].as_str().unwrap_or_default().to_owned();
        let element = Element {
            browser: self,
            id,
            found_by: text.to_owned(),
        };
        element.click();
    }

    /// Presses the button with this text; what only a screen reader says of it comes in lines below.
    #[track_caller]
    pub fn press(&self, text: &str) {
        let buttons = self.find_all("button");
        let button = buttons
            .iter()
            .find(|button| button.text().lines().next() == Some(text))
            .unwrap_or_else(|| {
                panic!("no button '{text}' on {}:\n{}", self.address(), self.text())
            });
        button.click();
    }

    /// Waits until `condition` gives something.
    #[track_caller]
    pub fn wait_for<T>(&self, what: &str, condition: impl FnMut() -> Option<T>) -> T {
        self.wait_within(DEADLINE, what, condition)
    }

    /// Waits until `condition` gives something, for at most `limit`.
    #[track_caller]
    pub fn wait_within<T>(
        &self,
        limit: Duration,
        what: &str,
        mut condition: impl FnMut() -> Option<T>,
    ) -> T {
        let start = Instant::now();
        loop {
            if let Some(value) = condition() {
                return value;
            }
            if start.elapsed() > limit {
                panic!(
                    "waited {limit:?} in vain for {what} on {}:\n{}",
                    self.address(),
                    self.text()
                );
            }
            std::thread::sleep(POLL);
        }
    }

    /// What the browser complained of since this was last asked: script errors, refused resources,
    /// answers with an error status.
    pub fn complaints(&self) -> Vec<String> {
        let log = self.command("se/log", &json!({"type": "browser"}));
        let Value::Array(entries) = log else {
            return Vec::new();
        };
        entries
            .iter()
            .filter(|entry| entry["level"] == "SEVERE" || entry["level"] == "WARNING")
            .map(|entry| text_of(entry["message"].clone()))
            .collect()
    }

    /// The file called `name` as soon as the browser has downloaded it wholly.
    #[track_caller]
    pub fn downloaded(&self, name: &str) -> PathBuf {
        let start = Instant::now();
        loop {
            // Chromium writes under another name and renames.
            let path = self.downloads.path().join(name);
            if path.is_file() {
                return path;
            }
            if start.elapsed() > DEADLINE {
                let there: Vec<_> = std::fs::read_dir(self.downloads.path())
                    .into_iter()
                    .flatten()
                    .filter_map(|entry| Some(entry.ok()?.file_name()))
                    .collect();
                panic!(
                    "no {name} was downloaded, but {there:?}; the browser says {:?}",
                    self.complaints()
                );
            }
            std::thread::sleep(POLL);
        }
    }

    #[track_caller]
    fn devtools(&self, method: &str, parameters: Value) {
        self.command(
            "goog/cdp/execute",
            &json!({"cmd": method, "params": parameters}),
        );
    }

    #[track_caller]
    fn command(&self, command: &str, body: &Value) -> Value {
        match self.try_command(command, body) {
            Ok(value) => value,
            Err(problem) => panic!("{command}: {problem}"),
        }
    }

    fn try_command(&self, command: &str, body: &Value) -> Result<Value, String> {
        self.wire
            .post(&format!("/session/{}/{command}", self.session), body)
    }

    fn ask(&self, what: &str) -> Value {
        match self.wire.get(&format!("/session/{}/{what}", self.session)) {
            Ok(value) => value,
            Err(problem) => panic!("{what}: {problem}"),
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // A browser that is gone already needs no farewell.
        let _ = self.wire.delete(&format!("/session/{}", self.session));
    }
}

fn text_of(value: Value) -> String {
    match value {
        Value::String(text) => text,
        _ => String::new(),
    }
}
