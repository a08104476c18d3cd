//! The pages of `probity serve`, used as a person would: by a browser, from the log-in to the
//! report.
//!
//! Every page on the way is checked for accessibility in light and dark, for width, and for
//! complaints of the browser. Without a browser these tests are skipped with a printed reason;
//! `PROBITY_REQUIRE=browser` turns that into a failure. `PROBITY_SCREENSHOTS=DIR` keeps a picture
//! of every page, at three widths and in both palettes.

#![cfg(feature = "serve")]

mod browser;
mod probity_command;
mod service;

use std::env;
use std::fs;
use std::path::PathBuf;

use browser::accessibility::Accessibility;
use browser::census::census;
use browser::driver::Programs;
use browser::evidence::Evidence;
use browser::{Browser, Palette};
use probity_command::Workspace;
use serde_json::json;
use service::{Home, Server};

/// Rows of the census.
const ROWS: u64 = 900;

/// A browser before the service.
struct Visit<'a> {
    browser: &'a Browser,
    service: &'a Server,
    accessibility: Option<&'a Accessibility>,
    pictures: Option<PathBuf>,
}

impl<'a> Visit<'a> {
    fn new(
        browser: &'a Browser,
        service: &'a Server,
        accessibility: Option<&'a Accessibility>,
    ) -> Visit<'a> {
        let pictures = env::var_os("PROBITY_SCREENSHOTS").map(PathBuf::from);
        if let Some(folder) = &pictures {
            fs::create_dir_all(folder).unwrap();
        }
        browser.resize(800);
        Visit {
            browser,
            service,
            accessibility,
            pictures,
        }
    }

    fn go(&self, path: &str) {
        self.browser.go(&self.service.page(path));
    }

    fn log_in(&self) {
        self.go("/login");
        self.browser.find("#token").type_text(&self.service.token);
        self.browser.press("Log in");
        self.waits_for_heading("Overview");
    }

    #[track_caller]
    fn waits_for_heading(&self, heading: &str) {
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
    fn is_sound(&self, name: &str) {
        self.is_sound_but(name, &[]);
    }

    /// The same for a page about whose status the browser has to complain.
    #[track_caller]
    fn is_sound_but(&self, name: &str, expected: &[&str]) {
        let mut complaints = self.browser.complaints();
        complaints.retain(|complaint| !expected.iter().any(|text| complaint.contains(text)));
        assert!(complaints.is_empty(), "{name}: {complaints:#?}");
        if let Some(accessibility) = self.accessibility {
            accessibility.holds(self.browser);
        }
        let widths =
            "const page = document.documentElement; return page.scrollWidth - page.clientWidth;";
        for width in [360, 1400, 800] {
            self.browser.resize(width);
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
    }

    /// Opens every fold of the page.
    fn unfold(&self) {
        let script = "document.querySelectorAll('details').forEach(fold => fold.open = true);";
        self.browser.script(script, json!([]));
    }

    /// Follows a job that was just started until it is done, without loading its page again; gives
    /// the states that were seen.
    #[track_caller]
    fn waits_for_job(&self, name: &str) -> Vec<String> {
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
fn id_of(browser: &Browser) -> String {
    let address = browser.address();
    address.rsplit('/').next().unwrap().to_owned()
}

#[test]
fn from_a_file_to_a_report_and_a_repair() {
    let Some(programs) = Programs::find_or_skip() else {
        return;
    };
    let accessibility = Accessibility::find_or_skip();
    let workspace = Workspace::new();
    let home = Home::new();
    let service = home.serve(&[]);
    let browser = Browser::start(&programs).unwrap();
    let _evidence = Evidence::of("from_a_file_to_a_report_and_a_repair", &browser);
    let visit = Visit::new(&browser, &service, accessibility.as_ref());

    logging_in(&visit);
    let data = describing_data(&workspace, &visit);
    let model = training(&visit, &data);
    let run = auditing(&visit, &model);
    reading_the_report(&visit, &run);
    downloading(&visit, &run, &home);
    repairing(&visit, &run);
    comparing(&visit, &model);
    logging_out(&visit);
}

fn logging_in(visit: &Visit<'_>) {
    let browser = visit.browser;
    visit.go("/");
    visit.waits_for_heading("Log in");
    visit.is_sound("login");
    browser
        .find("#token")
        .type_text("probity_0123456789abcdef_wrong");
    browser.press("Log in");
    browser.wait_for("an error beside the token", || {
        browser.has("#token-wrong").then_some(())
    });
    visit.is_sound_but("login-wrong", &["422"]);
    visit.log_in();
    assert!(browser.text().contains("Three steps lead to a report"));
    visit.is_sound("overview-empty");
}

fn describing_data(workspace: &Workspace, visit: &Visit<'_>) -> String {
    let browser = visit.browser;
    workspace.write("people.csv", census(ROWS));
    workspace.write("broken.csv", "age,sex,income\n40,Male,high\n41,Female\n");
    browser.find("main a.button.primary").click();
    visit.waits_for_heading("Upload data");
    visit.is_sound("data-new");
    browser
        .find("#file")
        .choose_file(&workspace.path("broken.csv"));
    browser.press("Upload");
    let said = browser.find("#file-wrong").text();
    assert!(said.contains('3') || said.contains("line"), "{said}");
    visit.is_sound_but("data-new-wrong", &["422"]);
    browser.find("#label").clear();
    browser
        .find("#file")
        .choose_file(&workspace.path("people.csv"));
    assert_eq!(browser.find("#label").property("value"), "people");
    browser.press("Upload");

    visit.waits_for_heading("What is in the columns?");
    let role = |position: u32| browser.find(&format!("#role-{position}"));
    assert_eq!(role(5).property("value"), "label", "income is the decision");
    assert_eq!(role(3).property("value"), "protected", "sex is protected");
    visit.is_sound("columns");
    role(5).choose("input");
    browser.press("Go on");
    let error = browser.find("#errors a");
    assert!(error.text().contains("decision"), "{}", error.text());
    visit.is_sound_but("columns-wrong", &["422"]);
    role(0).choose("input");
    role(5).choose("label");
    browser.press("Go on");

    visit.waits_for_heading("Check the description of the columns");
    assert_eq!(browser.find("#classes").property("value"), "low\nhigh");
    visit.is_sound("schema");
    visit.unfold();
    assert_eq!(browser.find("#c0-kind").property("value"), "integer");
    assert!(browser.find("#c0-min").is_shown() && !browser.find("#c0-levels").is_shown());
    browser.find("#c0-kind").choose("numeric");
    assert!(browser.find("#c0-bins").is_shown() && !browser.find("#c0-min").is_shown());
    browser.find("#c0-kind").choose("integer");
    visit.is_sound("schema-open");
    browser.find("#c0-max").clear();
    browser.find("#c0-max").type_text("ninety");
    browser.press("Save the description");
    let error = browser.find("#errors a");
    error.click();
    assert!(browser.find("#c0-max").is_shown());
    visit.is_sound_but("schema-wrong", &["422"]);
    browser.find("#c0-max").clear();
    browser.find("#c0-max").type_text("90");
    // The order of levels means something, and the last outcome is the favourable one.
    visit.unfold();
    browser.find("#c1-levels").clear();
    browser
        .find("#c1-levels")
        .type_text("none\nschool\ncollege\nuniversity");
    browser.find("#c1-ordered").click();
    browser.find("#classes").clear();
    browser.find("#classes").type_text("low\nhigh");
    browser.press("Save the description");
    visit.waits_for_heading("people");
    let text = browser.text();
    assert!(text.contains("whole numbers from 18 to 90"), "{text}");
    assert!(text.contains("low, high"), "{text}");
    visit.is_sound("data");
    id_of(browser)
}

fn training(visit: &Visit<'_>, data: &str) -> String {
    let browser = visit.browser;
    browser.follow("Train a model on it");
    visit.waits_for_heading("Train a model");
    visit.unfold();
    visit.is_sound("train");
    browser.find("[id='training.epochs']").clear();
    browser.find("[id='training.epochs']").type_text("many");
    browser.press("Start training");
    assert!(
        browser
            .find("[id='training.epochs-wrong']")
            .text()
            .contains("many")
    );
    visit.is_sound_but("train-wrong", &["422"]);
    browser.find("[id='training.epochs']").clear();
    browser.find("[id='training.epochs']").type_text("20");
    browser.press("Start training");
    visit.waits_for_job("training");
    browser.follow("See the model");
    visit.waits_for_heading("people");
    assert!(
        browser.text().contains("Kept for testing"),
        "{}",
        browser.text()
    );
    visit.is_sound("model");
    let model = id_of(browser);
    visit.go(&format!("/data/{data}"));
    assert!(browser.has(&format!("a[href='/models/{model}']")));
    model
}

fn auditing(visit: &Visit<'_>, model: &str) -> String {
    let browser = visit.browser;
    visit.go(&format!("/models/{model}/audit"));
    visit.waits_for_heading("Audit this model");
    assert_eq!(browser.find("input[value='sex']").property("checked"), true);
    visit.unfold();
    visit.is_sound("audit");
    browser.find("input[value='sex']").click();
    browser.press("Start the audit");
    assert!(
        browser
            .find("#protected-wrong")
            .text()
            .contains("at least one")
    );
    visit.is_sound_but("audit-wrong", &["422"]);
    browser.find("input[value='sex']").click();
    browser.find("#effort").choose("quick");
    browser.find("#fail_above").type_text("0.01");
    visit.unfold();
    browser.find("#samples_format").choose("csv");
    // Long enough for the page to be there before the end.
    browser.find("#estimate").clear();
    browser.find("#estimate").type_text("400000");
    browser.press("Start the audit");
    let states = visit.waits_for_job("auditing");
    assert!(states.len() > 1, "events have changed the page: {states:?}");
    assert_eq!(states.last().map(String::as_str), Some("done"));
    browser.follow("See the result");
    browser.find(".verdict");
    let text = browser.text();
    assert!(text.contains("nothing but sex changes"), "{text}");
    assert!(text.contains("the most that is acceptable"), "{text}");
    visit.is_sound("run");
    id_of(browser)
}

fn reading_the_report(visit: &Visit<'_>, run: &str) {
    let browser = visit.browser;
    browser.follow("Open the report");
    browser.find("[data-pairs] .controls");
    visit.is_sound("report");
    let shown = || {
        let script = "return Array.from(document.querySelectorAll('[data-pairs] tbody tr'))\
            .filter(row => !row.hidden).length;";
        browser.script(script, json!([])).as_u64().unwrap()
    };
    let all = shown();
    assert!(all > 1, "{}", browser.text());
    browser.find("[data-words]").type_text("university");
    browser.wait_for("fewer pairs", || (shown() < all).then_some(()));
    let filtered = shown();
    assert!(filtered > 0);
    let count = browser.find("[data-count]").text();
    assert_eq!(count, format!("{filtered} of {all} pairs"));
    visit.is_sound("report-filtered");
    visit.go(&format!("/runs/{run}"));
}

fn downloading(visit: &Visit<'_>, run: &str, home: &Home) {
    let browser = visit.browser;
    browser.follow("All pairs that were found");
    let file = browser.downloaded(&format!("samples-{run}.csv"));
    let samples = fs::read(home.run(run).join("samples.csv")).unwrap();
    assert_eq!(fs::read(file).unwrap(), samples);
    browser.follow("Summary (JSON)");
    let file = browser.downloaded(&format!("summary-{run}.json"));
    let summary: serde_json::Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    assert_eq!(summary["command"], "audit");
    browser.follow("Report (Markdown)");
    let file = browser.downloaded(&format!("report-{run}.md"));
    assert!(fs::read_to_string(file).unwrap().contains("sex"));
    visit.is_sound("downloads");
}

fn repairing(visit: &Visit<'_>, run: &str) {
    let browser = visit.browser;
    visit.go(&format!("/runs/{run}"));
    browser.follow("Repair the model");
    visit.waits_for_heading("Repair the model");
    visit.unfold();
    visit.is_sound("repair");
    browser.find("#repeats").clear();
    browser.find("#repeats").type_text("1");
    browser.find("#save_anyway").choose("true");
    browser.press("Start the repair");
    visit.waits_for_job("repairing");
    browser.follow("See the result");
    browser.find(".verdict");
    let text = browser.text();
    assert!(text.contains("before the repair"), "{text}");
    visit.is_sound("repaired");
    browser.follow("See the model");
    visit.waits_for_heading("people, repaired");
}

fn comparing(visit: &Visit<'_>, model: &str) {
    let browser = visit.browser;
    visit.go(&format!("/models/{model}/audit"));
    browser.find("#effort").choose("quick");
    browser.find("input[value='region']").click();
    browser.press("Start the audit");
    browser.wait_for("the result", || {
        let links = browser.find_all("#job-done a");
        links
            .iter()
            .any(browser::element::Element::is_shown)
            .then_some(())
    });
    visit.go("/");
    for pick in browser.find_all("input.pick") {
        pick.click();
    }
    visit.is_sound("overview");
    browser.press("Compare the chosen ones");
    visit.waits_for_heading("Compare runs");
    let text = browser.text();
    assert!(
        text.contains("differ in their protected attributes"),
        "{text}"
    );
    visit.is_sound("compare");
}

fn logging_out(visit: &Visit<'_>) {
    let browser = visit.browser;
    visit.go("/runs/0123456789abcdef");
    visit.is_sound_but("not-found", &["404"]);
    browser.press("Log out");
    visit.waits_for_heading("Log in");
    visit.go("/data/new");
    visit.waits_for_heading("Log in");
}

#[test]
fn everything_works_without_scripts() {
    let Some(programs) = Programs::find_or_skip() else {
        return;
    };
    let workspace = Workspace::new();
    let home = Home::new();
    let service = home.serve(&[]);
    let browser = Browser::start(&programs).unwrap();
    let _evidence = Evidence::of("everything_works_without_scripts", &browser);
    let visit = Visit::new(&browser, &service, None);
    browser.allow_scripts(false);
    workspace.write("people.csv", census(ROWS));

    visit.log_in();
    visit.go("/data/new");
    browser
        .find("#label")
        .type_text("<script>alert('people')</script>");
    browser
        .find("#file")
        .choose_file(&workspace.path("people.csv"));
    browser.press("Upload");
    visit.waits_for_heading("What is in the columns?");
    browser.press("Go on");
    visit.waits_for_heading("Check the description of the columns");
    browser.press("Save the description");
    visit.waits_for_heading("<script>alert('people')</script>");
    browser.follow("Train a model on it");
    browser.press("Start training");
    // Without scripts the page of a job is loaded again to see more. Its address is known once it
    // is there, which may be a while after the press.
    browser.find("#job");
    let page = browser.address();
    browser.wait_for("the model", || {
        browser.go(&page);
        let links = browser.find_all("#job-done a");
        links
            .iter()
            .find(|link| link.is_shown())
            .map(browser::element::Element::click)
    });
    visit.waits_for_heading("<script>alert('people')</script>");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
