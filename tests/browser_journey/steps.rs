//! The steps from a file to a report, a repair and a comparison.

use std::fs;

use serde_json::json;

use crate::ROWS;
use crate::browser::census::census;
use crate::browser::{Browser, element};
use crate::probity_command::Workspace;
use crate::service::Home;
use crate::visit::{Visit, id_of};

pub fn logging_in(visit: &Visit<'_>) {
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

pub fn describing_data(workspace: &Workspace, visit: &Visit<'_>) -> String {
    let browser = visit.browser;
    workspace.write("people.csv", census(ROWS));
    workspace.write("broken.csv", "age,sex,income\n40,Male,high\n41,Female\n");
    browser.find("main a.button.primary").click();
    visit.waits_for_heading("Upload data");
    visit.is_sound("data-new");
    browser.find("#label").type_text("people");
    browser
        .find("#file")
        .choose_file(&workspace.path("broken.csv"));
    browser.press("Upload");
    let said = browser.find("#file-wrong").text();
    assert!(said.contains('3') || said.contains("line"), "{said}");
    visit.is_sound_but("data-new-wrong", &["422"]);
    assert_eq!(browser.find("#label").property("value"), "people");
    browser
        .find("#file")
        .choose_file(&workspace.path("people.csv"));
    browser.press("Upload");

    visit.waits_for_heading("What is in the columns?");
    let role = |position: u32| browser.find(&format!("#role-{position}"));
    assert_eq!(role(5).property("value"), "label", "income is the decision");
    assert_eq!(role(3).property("value"), "protected", "sex is protected");
    visit.is_sound("columns");
    role(5).choose("input");
    browser.press("Train a model on it");
    let error = browser.find("#errors a");
    assert!(error.text().contains("decision"), "{}", error.text());
    visit.is_sound_but("columns-wrong", &["422"]);
    role(0).choose("input");
    role(5).choose("label");
    browser.press("Check the description first");

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

pub fn training(visit: &Visit<'_>, data: &str) -> String {
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
    assert!(browser.find("#job-done form button").is_shown());
    browser.follow("See the model");
    visit.waits_for_heading("Classifier of people");
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

pub fn auditing(visit: &Visit<'_>, model: &str) -> String {
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
    browser.find("#fail_above").type_text("1%");
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
    assert!(text.contains("By sex, "), "{text}");
    assert!(text.contains("the bound is broken"), "{text}");
    visit.is_sound("run");
    id_of(browser)
}

pub fn reading_the_report(visit: &Visit<'_>, run: &str) {
    let browser = visit.browser;
    browser.follow("Open the report");
    browser.find("[data-pairs]");
    visit.is_sound("report");
    visit.unfold();
    browser.find("[data-pairs] .controls");
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

pub fn downloading(visit: &Visit<'_>, run: &str, home: &Home) {
    let browser = visit.browser;
    browser.follow("All pairs that were found");
    let file = browser.downloaded("samples-Classifier-of-people-by-sex.csv");
    let samples = fs::read(home.run(run).join("samples.csv")).unwrap();
    assert_eq!(fs::read(file).unwrap(), samples);
    browser.follow("Summary (JSON)");
    let file = browser.downloaded("summary-Classifier-of-people-by-sex.json");
    let summary: serde_json::Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    assert_eq!(summary["command"], "audit");
    browser.follow("Report (Markdown)");
    let file = browser.downloaded("report-Classifier-of-people-by-sex.md");
    assert!(fs::read_to_string(file).unwrap().contains("sex"));
    visit.is_sound("downloads");
}

pub fn sharing(visit: &Visit<'_>, run: &str) {
    let browser = visit.browser;
    visit.go(&format!("/runs/{run}"));
    browser.follow("Share the report");
    visit.waits_for_heading("Share the report");
    visit.is_sound("links");
    browser.press("Make the link");
    let shared = browser.find("#made").text();
    visit.is_sound("links-made");
    browser.press("Revoke");
    visit.waits_for_heading("Share the report");
    assert!(browser.text().contains("revoked"), "{}", browser.text());
    visit.go(&shared);
    assert!(browser.text().contains("This link leads nowhere"));
    visit.is_sound_but("link-revoked", &["404"]);
}

pub fn renaming(visit: &Visit<'_>, run: &str) {
    let browser = visit.browser;
    visit.go(&format!("/runs/{run}"));
    browser.follow("Rename it");
    visit.waits_for_heading("Rename “Classifier of people by sex”");
    visit.is_sound("rename");
    browser.find("#label").clear();
    browser
        .find("#label")
        .type_text("By sex, before the repair");
    browser.press("Rename");
    visit.waits_for_heading("By sex, before the repair");
}

pub fn repairing(visit: &Visit<'_>, run: &str) {
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
    visit.waits_for_heading("Classifier of people, repaired");
}

/// Starts the audit whose form is open, and waits for its end.
fn audits(browser: &Browser) {
    browser.find("#effort").choose("quick");
    browser.press("Start the audit");
    browser.wait_for("the result", || {
        let links = browser.find_all("#job-done a");
        links.iter().any(element::Element::is_shown).then_some(())
    });
}

pub fn comparing(visit: &Visit<'_>, model: &str) {
    let browser = visit.browser;
    visit.go(&format!("/models/{model}/audit"));
    browser.find("input[value='region']").click();
    audits(browser);
    visit.go("/");
    for pick in browser.find_all("input.pick") {
        pick.click();
    }
    visit.is_sound("overview");
    filtering(visit);
    for pick in browser.find_all("input.pick") {
        pick.click();
    }
    browser.press("Compare the chosen ones");
    visit.waits_for_heading("Compare runs");
    let text = browser.text();
    assert!(
        text.contains("differ in their protected attributes"),
        "{text}"
    );
    visit.is_sound("compare");
}

/// Finds audits in the overview.
fn filtering(visit: &Visit<'_>) {
    let browser = visit.browser;
    browser.find("#name").type_text("nobody called it so");
    browser.press("Show");
    browser.wait_for("no find", || {
        browser
            .text()
            .contains("Nothing is as you ask for")
            .then_some(())
    });
    visit.is_sound("overview-nothing");
    browser.follow("Show everything, the newest first");
    browser.wait_for("all lists", || browser.has("#data").then_some(()));
    browser.find("#kind").choose("audit");
    browser.find("#name").type_text("SEX");
    browser.press("Show");
    browser.wait_for("audits alone", || (!browser.has("#data")).then_some(()));
    assert_eq!(browser.find_all(".runs tbody tr").len(), 2);
    assert!(browser.text().contains("95\u{a0}% interval"));
    visit.is_sound("overview-filtered");
}

pub fn looking_back(visit: &Visit<'_>, model: &str) {
    let browser = visit.browser;
    visit.go(&format!("/models/{model}/audit"));
    audits(browser);
    visit.go(&format!("/models/{model}"));
    browser.follow("Over time");
    visit.waits_for_heading("Classifier of people over time");
    let text = browser.text();
    assert!(text.contains("Which pairs are new in audit 3"), "{text}");
    assert!(browser.has(".charts svg"));
    visit.is_sound("history");
    // The second is the first one of its attributes.
    browser.follow("Classifier of people by sex, region");
    browser.follow("Audits of this name over time");
    visit.waits_for_heading("Classifier of people by sex, region over time");
    assert!(browser.text().contains("Nothing to compare yet"));
    visit.is_sound("history-of-one");
}

pub fn logging_out(visit: &Visit<'_>) {
    let browser = visit.browser;
    visit.go("/runs/0123456789abcdef");
    visit.is_sound_but("not-found", &["404"]);
    visit.logs_out();
    // Who logs in goes on where they wanted to.
    visit.go("/data/new");
    visit.waits_for_heading("Log in");
    browser.find("#token").type_text(&visit.service.token);
    browser.press("Log in");
    visit.waits_for_heading("Upload data");
}
