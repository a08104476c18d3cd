//! Pages are checked by axe-core (<https://github.com/dequelabs/axe-core>), which is not part of
//! this package: `.ci/run` installs it, and names it in the environment variable `PROBITY_AXE`.

use std::env;
use std::fs;

use serde_json::{Value, json};

use super::{Browser, Palette};
use probity_testing::{Needed, skip};

/// Environment variable with the path of `axe.min.js`.
const AXE: &str = "PROBITY_AXE";

/// The rules that hold: WCAG 2.0 to 2.2, levels A and AA, and what is good practice besides.
const RULES: [&str; 6] = [
    "wcag2a",
    "wcag2aa",
    "wcag21a",
    "wcag21aa",
    "wcag22aa",
    "best-practice",
];

/// The check, with axe-core's text.
pub struct Accessibility {
    axe: String,
}

impl Accessibility {
    /// The check, or `None` after saying why it is skipped.
    ///
    /// # Panics
    /// When nothing may be skipped, or the file that the environment names cannot be read.
    pub fn find_or_skip() -> Option<Accessibility> {
        let Some(path) = env::var_os(AXE) else {
            let reason = format!("{AXE} does not say where axe.min.js is");
            skip(Needed::Browser, &reason);
            return None;
        };
        match fs::read_to_string(&path) {
            Ok(axe) => Some(Accessibility { axe }),
            Err(error) => panic!("{AXE} names {}: {error}", path.display()),
        }
    }

    /// Holds that the open page has no fault, in light and in dark.
    #[track_caller]
    pub fn holds(&self, browser: &Browser) {
        for palette in [Palette::Light, Palette::Dark] {
            browser.prefer(palette);
            let faults = self.faults(browser);
            assert!(
                faults.is_empty(),
                "{} is not accessible ({}):\n{}",
                browser.address(),
                palette.name(),
                faults.join("\n")
            );
        }
        browser.prefer(Palette::Light);
    }

    #[track_caller]
    fn faults(&self, browser: &Browser) -> Vec<String> {
        if browser.script("return typeof window.axe;", json!([])) != "object" {
            browser.script(&self.axe, json!([]));
        }
        let run = "const done = arguments[arguments.length - 1];\
                   axe.run(document, {runOnly: arguments[0], resultTypes: ['violations'], preload: false})\
                   .then(result => done(result.violations), error => done(String(error)));";
        let violations = browser.script_with_callback(run, json!([RULES]));
        let Value::Array(violations) = violations else {
            panic!("axe-core failed: {violations}");
        };
        violations.iter().map(fault).collect()
    }
}

/// A violation in words: which rule, and which elements break it.
fn fault(violation: &Value) -> String {
    let mut text = format!("{}: {}", violation["id"], violation["help"]);
    for node in violation["nodes"].as_array().into_iter().flatten() {
        text.push_str(&format!(
            "\n    {} {}",
            node["html"],
            node["failureSummary"].as_str().unwrap_or_default()
        ));
    }
    text
}
