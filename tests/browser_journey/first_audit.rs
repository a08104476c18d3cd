//! The first audit of somebody who has nothing but a file: six clicks to the report.

use crate::ROWS;
use crate::browser::Browser;
use crate::browser::accessibility::Accessibility;
use crate::browser::census::census;
use crate::browser::driver::Programs;
use crate::browser::element::Element;
use crate::browser::evidence::Evidence;
use crate::probity_command::Workspace;
use crate::service::Home;
use crate::visit::{Visit, id_of};

/// Links and buttons that are pressed from the overview to the report, at most.
const CLICKS: u32 = 6;

/// Waits for the end of the job whose page is open, which shows itself.
fn waits_for_the_end(browser: &Browser) {
    browser.wait_for("the end of the job", || {
        let links = browser.find_all("#job-done a");
        links.iter().any(Element::is_shown).then_some(())
    });
}

#[test]
fn a_first_audit_takes_six_clicks() {
    let Some(programs) = Programs::find_or_skip() else {
        return;
    };
    let accessibility = Accessibility::find_or_skip();
    let workspace = Workspace::new();
    workspace.write("people.csv", census(ROWS));
    let home = Home::new();
    let service = home.serve(&[]);
    let browser = Browser::start(&programs).unwrap();
    let _evidence = Evidence::of("a_first_audit_takes_six_clicks", &browser);
    let visit = Visit::new(&browser, &service, accessibility.as_ref());
    visit.log_in();

    visit.follows("Upload data");
    visit.waits_for_heading("Upload data");
    browser.find("#label").type_text("Applicants");
    let file = workspace.path("people.csv");
    browser.find("#file").choose_file(&file);
    visit.presses("Upload");
    visit.waits_for_heading("What is in the columns?");
    let columns = browser.address();
    let role = |position: u32| browser.find(&format!("#role-{position}"));
    assert_eq!(role(5).property("value"), "label", "income is the decision");
    assert_eq!(role(3).property("value"), "protected", "sex is protected");
    role(0).choose("input");
    visit.presses("Train a model on it");
    visit.waits_for_heading("Classifier of Applicants");
    waits_for_the_end(&browser);
    visit.is_sound("first-trained");
    let model = id_of(&browser);
    visit.presses("Audit it now");
    visit.waits_for_heading("Classifier of Applicants by sex");
    waits_for_the_end(&browser);
    visit.is_sound("first-audited");
    visit.follows("See the result");
    browser.find(".verdict");
    visit.follows("Open the report");
    browser.find("[data-pairs]");
    assert!(visit.clicks() <= CLICKS, "{} clicks", visit.clicks());

    // A table that a model has learnt from already goes on to its audit.
    browser.go(&columns);
    browser.press("Train a model on it");
    visit.waits_for_heading("Audit this model");
    assert!(
        browser
            .address()
            .ends_with(&format!("/models/{model}/audit"))
    );
}
