//! A browser before the service.

use std::cell::Cell;
use std::env;
use std::fs;
use std::path::PathBuf;

use serde_json::json;

use crate::browser::accessibility::Accessibility;
use crate::browser::{Browser, Palette};
use crate::service::Server;

/// The widths at which pages are looked at: a phone, and a window of a desk.
const WIDTHS: [u32; 2] = [390, 1400];

/// The width at which pages are used.
const USED: u32 = 800;

/// A browser before the service.
pub struct Visit<'a> {
    pub browser: &'a Browser,
    pub service: &'a Server,
    accessibility: Option<&'a Accessibility>,
    pictures: Option<PathBuf>,
    /// Links and buttons that were pressed.
    clicks: Cell<u32>,
}

impl<'a> Visit<'a> {
    pub fn new(
        browser: &'a Browser,
        service: &'a Server,
        accessibility: Option<&'a Accessibility>,
    ) -> Visit<'a> {
        let pictures = env::var_os("PROBITY_SCREENSHOTS").map(PathBuf::from);
        if let Some(folder) = &pictures {
            fs::create_dir_all(folder).unwrap();
        }
        browser.resize(USED);
        Visit {
            browser,
            service,
            accessibility,
            pictures,
            clicks: Cell::new(0),
        }
    }

    pub fn go(&self, path: &str) {
        self.browser.go(&self.service.page(path));
    }

    pub fn log_in(&self) {
        self.log_in_with(&self.service.token);
        self.waits_for_heading("Overview");
    }

    pub fn log_in_with(&self, token: &str) {
        self.go("/login");
        self.browser.find("#token").type_text(token);
        self.browser.press("Log in");
    }

    /// Logs out, and waits until that is done: whoever opened the next page before would still be logged
    /// in there.
    #[track_caller]
    pub fn logs_out(&self) {
        self.browser.press("Log out");
        self.waits_for_heading("Log in");
    }

    #[track_caller]
    pub fn waits_for_heading(&self, heading: &str) {
        self.browser
            .wait_for(&format!("the heading '{heading}'"), || {
                let headings = self.browser.find_all("h1");
                headings
                    .iter()
                    .any(|found| found.text() == heading)
                    .then_some(())
            });
    }

    /// Holds that the page is sound: no complaints, accessible, never wider than a phone.
    #[track_caller]
    pub fn is_sound(&self, name: &str) {
        self.is_sound_but(name, &[]);
    }

    /// The same for a page about whose status the browser has to complain.
    #[track_caller]
    pub fn is_sound_but(&self, name: &str, expected: &[&str]) {
        let mut complaints = self.browser.complaints();
        complaints.retain(|complaint| !expected.iter().any(|text| complaint.contains(text)));
        assert!(complaints.is_empty(), "{name}: {complaints:#?}");
        let widths =
            "const page = document.documentElement; return page.scrollWidth - page.clientWidth;";
        for width in WIDTHS {
            self.browser.resize(width);
            if let Some(accessibility) = self.accessibility {
                accessibility.holds(self.browser);
            }
            for palette in [Palette::Dark, Palette::Light] {
                self.browser.prefer(palette);
                if let Some(folder) = &self.pictures {
                    let file = folder.join(format!("{name}-{width}-{}.png", palette.name()));
                    fs::write(file, self.browser.screenshot()).unwrap();
                }
            }
            let excess = self.browser.script(widths, json!([]));
            assert_eq!(excess, 0, "{name} is wider than {width} pixels");
        }
        self.browser.resize(USED);
    }

    /// Presses the button with this text, and counts it.
    #[track_caller]
    pub fn presses(&self, text: &str) {
        self.clicks.set(self.clicks.get() + 1);
        self.browser.press(text);
    }

    /// Follows the link with this text, and counts it.
    #[track_caller]
    pub fn follows(&self, text: &str) {
        self.clicks.set(self.clicks.get() + 1);
        self.browser.follow(text);
    }

    /// Links and buttons that were pressed since the beginning.
    pub fn clicks(&self) -> u32 {
        self.clicks.get()
    }

    /// Opens every fold of the page.
    pub fn unfold(&self) {
        let script = "document.querySelectorAll('details').forEach(fold => fold.open = true);";
        self.browser.script(script, json!([]));
    }

    /// Follows a job that was just started until it is done, without loading its page again; gives
    /// the states that were seen.
    #[track_caller]
    pub fn waits_for_job(&self, name: &str) -> Vec<String> {
        self.browser.find("#job");
        let watch = "window.notReloaded = true;\
            const job = document.getElementById('job');\
            window.states = [job.dataset.state];\
            new MutationObserver(() => window.states.push(job.dataset.state))\
                .observe(job, {attributes: true, attributeFilter: ['data-state']});\
            return true;";
        self.browser.script(watch, json!([]));
        self.is_sound(name);
        self.browser.wait_for("the end of the job", || {
            let state = self.browser.script(
                "return document.getElementById('job').dataset.state;",
                json!([]),
            );
            assert_ne!(state, "failed", "{}", self.browser.text());
            (state == "done").then_some(())
        });
        assert_eq!(
            self.browser.script("return window.notReloaded;", json!([])),
            true
        );
        self.is_sound(&format!("{name}-done"));
        let states = self.browser.script("return window.states;", json!([]));
        let states = states.as_array().unwrap().iter();
        states
            .map(|state| state.as_str().unwrap().to_owned())
            .collect()
    }
}

/// The identifier at the end of the address of the open page.
pub fn id_of(browser: &Browser) -> String {
    let address = browser.address();
    address.rsplit('/').next().unwrap().to_owned()
}
