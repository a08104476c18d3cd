//! Every page that there is, as a viewer, an editor, an owner and an administrator.

use serde_json::json;

use crate::browser::Browser;
use crate::browser::accessibility::Accessibility;
use crate::browser::driver::Programs;
use crate::browser::evidence::Evidence;
use crate::service::{Home, text};
use crate::visit::Visit;

/// Ends of addresses at which there is no page: files, streams, and what only takes forms.
const NO_PAGES: [&str; 16] = [
    "/events",
    "/stop",
    "/resume",
    "/revoke",
    "/remove",
    "/samples",
    "/report.md",
    "/report.json",
    "/report.annex.html",
    "/report.cdx.json",
    "/summary.json",
    "/log.csv",
    "/login",
    "/login/provider",
    "/login/provider/return",
    "/logout",
];

/// The pages, as they are for the things of a project.
fn pages(data: &str, model: &str, audit: &str, project: &str) -> Vec<String> {
    let addresses = probity::serve::addresses().into_iter();
    let pages = addresses.filter(|address| {
        let has_page = !NO_PAGES.iter().any(|end| address.ends_with(end));
        has_page && !address.contains("{name}") && !address.contains("{secret}")
    });
    pages
        .map(|address| {
            let id = match address.split('/').nth(1) {
                Some("data") => data,
                Some("models") => model,
                Some("projects") => project,
                _ => audit,
            };
            address.replace("{id}", id)
        })
        .collect()
}

#[test]
fn every_page_is_sound_in_every_role() {
    let Some(programs) = Programs::find_or_skip() else {
        return;
    };
    let accessibility = Accessibility::find_or_skip();
    let home = Home::new();
    let service = home.serve(&[]);
    let data = service.census(300);
    let model = service.small_model(&data);
    let audit = service.start(&json!({
        "kind": "audit", "model": model, "data": data, "protected": ["sex"],
        "fail_above": 0.05, "search": {"seeds": 20, "local": 20}, "estimate": 400
    }));
    service.done(&audit);
    let about = service.get("/api/v1/service").expect(200).json();
    let project = text(&about["project"]["id"]);
    let pages = pages(&data, &model, &audit, &project);
    let browser = Browser::start(&programs).unwrap();
    let _evidence = Evidence::of("every_page_is_sound_in_every_role", &browser);
    let visit = Visit::new(&browser, &service, accessibility.as_ref());
    let mut shown = Vec::new();
    for role in ["viewer", "editor", "owner", "administrator"] {
        visit.log_in_with(&home.token_of("main", role));
        visit.waits_for_heading(match role {
            "administrator" => "Projects",
            _ => "Overview",
        });
        let mut own = 0;
        let mut is_refusal_seen = false;
        for page in &pages {
            visit.go(page);
            let is_refused = browser.find("h1").text() == "The role does not allow it";
            if is_refused && is_refusal_seen {
                browser.complaints();
                continue;
            }
            is_refusal_seen |= is_refused;
            own += u32::from(!is_refused);
            let expected: &[&str] = if is_refused { &["403"] } else { &[] };
            let address = page.replace('/', "_");
            visit.is_sound_but(&format!("{role}{address}"), expected);
        }
        shown.push(own);
        visit.go("/nowhere");
        browser.complaints();
        visit.logs_out();
    }
    // Each sees what those before see, and more; administrators see projects alone.
    println!("pages of viewers, editors, owners, administrators: {shown:?}");
    let [viewer, editor, owner, administrator] = shown.try_into().unwrap();
    assert!(viewer < editor && editor < owner && administrator < owner);
    assert!(viewer >= 10 && administrator >= 8);
}
