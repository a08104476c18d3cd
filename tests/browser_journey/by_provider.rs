//! Log-in by an identity provider, as people see it: the browser keeps the cookies of the service
//! from what another site begins, and scripts run or not.

use crate::browser::Browser;
use crate::browser::accessibility::Accessibility;
use crate::browser::driver::Programs;
use crate::browser::evidence::Evidence;
use crate::identity::{Provider, serve};
use crate::service::Home;
use crate::visit::Visit;

/// Logs in at the provider, whose pages are those of another site.
fn at_the_provider(browser: &Browser, name: &str) {
    browser.find("input[name=login]").type_text(name);
    browser.find("input[name=password]").type_text("any");
    browser.press("Sign-in");
    browser.find("input[value=consent]");
    browser.press("Continue");
}

#[test]
fn logging_in_by_a_provider() {
    let Some(programs) = Programs::find_or_skip() else {
        return;
    };
    let Some(mut provider) = Provider::start_or_skip(None) else {
        return;
    };
    let accessibility = Accessibility::find_or_skip();
    let home = Home::new();
    home.new_project("lending");
    let root = home.token_of("lending", "administrator");
    let service = serve(&home, &provider.issuer, &[]);
    provider.knows(&service);
    let browser = Browser::start(&programs).unwrap();
    let _evidence = Evidence::of("logging_in_by_a_provider", &browser);
    let visit = Visit::new(&browser, &service, accessibility.as_ref());

    // An administrator lets somebody in.
    visit.log_in_with(&root);
    visit.waits_for_heading("Projects");
    for (project, role) in [("main", "viewer"), ("lending", "editor")] {
        visit.go("/projects");
        browser.follow(project);
        browser.follow("Who is in it");
        visit.waits_for_heading(&format!("Who is in {project}"));
        browser.find("#person").type_text("nobody at all");
        browser.press("Let in");
        assert!(browser.find("#person-wrong").text().contains("e-mail"));
        visit.is_sound_but("people-wrong", &["422"]);
        browser.find("#person").clear();
        browser.find("#person").type_text("ada@example.org");
        browser.find("#role").choose(role);
        browser.press("Let in");
        let said = browser.find(".notice.good").text();
        assert!(said.contains("ada@example.org can log in now"), "{said}");
        visit.is_sound("people-let-in");
    }
    visit.logs_out();
    visit.is_sound("login-by-provider");

    // She asks for a page, chooses where she works, and gets there.
    visit.go("/data/new");
    visit.waits_for_heading("Log in");
    browser.follow("Log in by localhost");
    at_the_provider(&browser, "ada");
    visit.waits_for_heading("Where do you want to work?");
    // What other sites complain about is theirs.
    browser.complaints();
    visit.is_sound("access");
    browser.press("Work in lending");
    visit.waits_for_heading("Upload data");
    assert!(
        browser.text().contains("Project lending"),
        "{}",
        browser.text()
    );
    visit.is_sound("access-chosen");

    // Without scripts, and as somebody whom nobody let in.
    visit.logs_out();
    browser.allow_scripts(false);
    browser.follow("Log in by localhost");
    visit.waits_for_heading("Where do you want to work?");
    browser.allow_scripts(true);

    let browser = Browser::start(&programs).unwrap();
    let visit = Visit::new(&browser, &service, accessibility.as_ref());
    visit.go("/login");
    browser.follow("Log in by localhost");
    at_the_provider(&browser, "bob");
    visit.waits_for_heading("Log in");
    assert!(browser.text().contains("name the address bob@example.org"));
    browser.complaints();
    visit.is_sound_but("login-no-access", &["403"]);
}
