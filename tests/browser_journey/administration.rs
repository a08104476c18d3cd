//! What administrators, owners and viewers see of projects.

use crate::browser::Browser;
use crate::browser::accessibility::Accessibility;
use crate::browser::driver::Programs;
use crate::browser::evidence::Evidence;
use crate::service::Home;
use crate::visit::Visit;

#[test]
fn administering_projects() {
    let Some(programs) = Programs::find_or_skip() else {
        return;
    };
    let accessibility = Accessibility::find_or_skip();
    let home = Home::new();
    let root = home.token_of("main", "administrator");
    let service = home.serve(&[]);
    let browser = Browser::start(&programs).unwrap();
    let _evidence = Evidence::of("administering_projects", &browser);
    let visit = Visit::new(&browser, &service, accessibility.as_ref());

    visit.log_in_with(&root);
    visit.waits_for_heading("Projects");
    visit.is_sound("projects");
    browser.find("#name").type_text("main");
    browser.press("Make the project");
    assert!(browser.find("#name-wrong").text().contains("this name"));
    visit.is_sound_but("projects-wrong", &["422"]);
    browser.find("#name").clear();
    browser.find("#name").type_text("lending");
    browser.press("Make the project");
    visit.waits_for_heading("lending");
    visit.is_sound("project");
    browser.follow("Name and quotas");
    visit.waits_for_heading("Name and quotas");
    browser.find("#queue").type_text("2");
    browser.find("#kept_days").type_text("30");
    visit.is_sound("project-settings");
    browser.press("Keep");
    visit.waits_for_heading("lending");
    browser.follow("Webhook");
    visit.waits_for_heading("Webhook of lending");
    visit.is_sound("webhook");
    browser.find("#url").type_text("http://127.0.0.1/");
    browser.press("Set it");
    assert!(browser.find("#url-wrong").text().contains("private"));
    visit.is_sound_but("webhook-wrong", &["422"]);
    browser.find("#url").clear();
    browser
        .find("#url")
        .type_text("https://hooks.example.org/probity");
    browser.press("Set it");
    assert_eq!(browser.find("#made").text().len(), 64);
    visit.is_sound("webhook-set");
    browser.follow("lending");
    visit.waits_for_heading("lending");
    browser.follow("Who is in it");
    visit.waits_for_heading("Who is in lending");
    visit.is_sound("tokens-none");
    browser.find("#name").type_text("ada");
    browser.press("Make the token");
    let viewer = browser.find("#made").text();
    visit.is_sound("tokens-made");
    browser.follow("lending");
    browser.follow("Who did what");
    visit.waits_for_heading("Who did what");
    assert!(browser.text().contains("token made"), "{}", browser.text());
    visit.is_sound("log");
    browser.follow("Log");
    visit.waits_for_heading("Who did what");
    visit.is_sound("log-of-all");
    visit.go("/data/new");
    visit.is_sound_but("not-allowed", &["403"]);
    visit.logs_out();

    visit.log_in_with(&viewer);
    visit.waits_for_heading("Overview");
    assert!(
        browser
            .text()
            .contains("There is nothing in this project yet")
    );
    visit.is_sound("overview-viewer");
    browser.follow("Project lending");
    visit.waits_for_heading("lending");
    assert!(browser.text().contains("viewer"), "{}", browser.text());
    visit.is_sound("project-viewer");
}
