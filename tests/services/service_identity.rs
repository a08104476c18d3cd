//! Log-in by a real identity provider, who gets access by it, and how it is set up.

#![cfg(feature = "serve")]

use probity_testing::Authority;
use serde_json::{Value, json};

use crate::identity::fake::Fake;
use crate::identity::surfer::{Page, Surfer};
use crate::identity::{Provider, serve};
use crate::probity_command::Workspace;
use crate::service::{Home, Server, text};

/// Gives `person` a role in a project; gives the identifier of the access.
pub fn give(home: &Home, person: &str, project: &str, role: &str) -> String {
    let mut arguments = vec![
        "serve", "token", "--person", person, "--role", role, "--json",
    ];
    if role != "administrator" {
        arguments.extend(["--project", project]);
    }
    let said = home.command(&arguments);
    let record: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(record["person"], person.to_ascii_lowercase());
    text(&record["id"])
}

/// Logs in with a real provider as `name`, from the log-in of `server` that leads to `next`.
fn log_in(surfer: &mut Surfer, server: &Server, name: &str, next: &str) -> Page {
    let page = surfer.visit(&server.page(&format!("/login?next={next}")));
    let begin = page.between("class=\"button\" href=\"", "\"");
    let mut page = surfer.visit(&server.page(&begin));
    if page.text.contains("name=\"login\"") {
        let form = page.between("action=\"", "\"");
        let fields = [("prompt", "login"), ("login", name), ("password", "any")];
        page = surfer.post(&form, &fields);
    }
    if page.text.contains("value=\"consent\"") {
        let form = page.between("action=\"", "\"");
        page = surfer.post(&form, &[("prompt", "consent")]);
    }
    page
}

fn log_of(server: &Server, path: &str) -> Vec<(String, String)> {
    let log = server.get(path).expect(200).json();
    let entries = log.as_array().unwrap().iter();
    entries
        .map(|entry| (text(&entry["action"]), text(&entry["name"])))
        .collect()
}

#[test]
fn people_log_in_by_a_real_provider() {
    let Some(mut provider) = Provider::start_or_skip(None) else {
        return;
    };
    let home = Home::new();
    let access = give(&home, "Ada@Example.org", "main", "editor");
    let server = serve(&home, &provider.issuer, &[]);
    provider.knows(&server);

    // Somebody whom nobody gave access, and somebody whose address is not verified.
    let mut bob = Surfer::new();
    log_in(&mut bob, &server, "bob", "/").says(403, "name the address bob@example.org");
    give(&home, "unverified-eve@example.org", "main", "viewer");
    let mut eve = Surfer::new();
    log_in(&mut eve, &server, "unverified-eve", "/").says(403, "the identifier unverified-eve");
    give(&home, "unverified-eve", "main", "viewer");
    log_in(&mut eve, &server, "unverified-eve", "/").says(200, "Overview");
    eve.get(&server.page("/data/new")).says(403, "role");

    // Ada goes on to the page that she asked for, and can change what is in the project.
    let mut ada = Surfer::new();
    let page = log_in(&mut ada, &server, "ada", "%2Fdata%2Fnew");
    assert_eq!(page.address, server.page("/data/new"));
    let page = page.says(200, "Upload data");
    let secret = page.between("name=\"csrf\" value=\"", "\"");
    ada.visit(&server.page("/log")).says(403, "role");
    let project = server.get("/api/v1/service").expect(200).json();
    let project = text(&project["project"]["id"]);
    let path = format!("/api/v1/projects/{project}");
    let ada_did = |action: &str| (action.to_owned(), "ada@example.org".to_owned());
    let log = log_of(&server, &format!("{path}/log"));
    assert!(log.contains(&ada_did("access-taken")), "{log:?}");
    assert!(log.contains(&ada_did("logged-in")), "{log:?}");
    let listed = server.get(&format!("{path}/tokens")).expect(200).json();
    let listed = listed.as_array().unwrap().iter();
    let own = listed.filter(|one| one["id"] == access.as_str());
    let people: Vec<&Value> = own.map(|one| &one["person"]).collect();
    assert_eq!(people, ["ada@example.org"]);

    // A second log-in ends the session of the first; one that is logged out is over.
    let session = |surfer: &Surfer| {
        let cookies = surfer.cookies(&server.page("/"));
        let named = |(name, _): &(String, String)| name.starts_with("probity_session_");
        cookies.into_iter().find(named).unwrap()
    };
    let (name, first) = session(&ada);
    let begin = ada.visit(&server.page("/login/provider"));
    begin.says(200, "Overview");
    let (_, second) = session(&ada);
    assert_ne!(first, second);
    ada.set_cookie(&server.page("/"), &name, &first);
    ada.visit(&server.page("/"))
        .says(200, "Log in by localhost");
    ada.set_cookie(&server.page("/"), &name, &second);
    ada.visit(&server.page("/")).says(200, "Overview");
    ada.post(&server.page("/logout"), &[("csrf", &secret)])
        .says(403, "another session");

    // What is taken from her is taken at once, and given to nobody by it.
    let taken = server.ask("DELETE", &format!("{path}/tokens/{access}"));
    taken.expect(204);
    ada.visit(&server.page("/"))
        .says(200, "Log in by localhost");
    log_in(&mut ada, &server, "ada", "/").says(403, "nobody gave you access here");
}

#[test]
fn people_with_several_accesses_choose_one() {
    let Some(mut provider) = Provider::start_or_skip(None) else {
        return;
    };
    let home = Home::new();
    home.new_project("lending");
    home.new_project("hiring");
    give(&home, "ada@example.org", "lending", "viewer");
    give(&home, "ada@example.org", "hiring", "owner");
    give(&home, "ada@example.org", "hiring", "administrator");
    let foreign = give(&home, "bob@example.org", "lending", "owner");
    let server = serve(&home, &provider.issuer, &[]);
    provider.knows(&server);
    let mut ada = Surfer::new();
    let page = log_in(&mut ada, &server, "ada", "%2Fdata%2Fnew");
    let page = page.says(200, "Where do you want to work?");
    assert!(
        page.address.ends_with("/access?next=%2Fdata%2Fnew"),
        "{}",
        page.address
    );
    assert!(page.text.contains("you are here") && page.text.contains("All projects"));
    let secret = page.between("name=\"csrf\" value=\"", "\"");
    let (_, at_hiring) = page.text.split_once("<b>hiring</b>").unwrap();
    let (_, hiring) = at_hiring.split_once("name=\"access\" value=\"").unwrap();
    let hiring = hiring.split('"').next().unwrap();
    let choose = |surfer: &mut Surfer, access: &str| {
        let fields = [
            ("csrf", secret.as_str()),
            ("access", access),
            ("next", "/data/new"),
        ];
        surfer.post(&server.page("/access"), &fields)
    };
    choose(&mut ada, &foreign).says(422, "Choose one of these");
    let page = choose(&mut ada, hiring).says(200, "Project hiring");
    assert_eq!(page.address, server.page("/data/new"));
    // The forms of the session before are none of this one.
    choose(&mut ada, hiring).says(403, "another session");
}

#[test]
fn the_provider_of_a_company_has_a_certificate_of_its_own() {
    let Some(authority) = Authority::make_or_skip() else {
        return;
    };
    let (key, certificate) = (authority.key(), authority.certificate());
    let ca = authority.certificates().display().to_string();
    let Some(mut provider) = Provider::start_or_skip(Some((&key, &certificate))) else {
        return;
    };
    let home = Home::new();
    give(&home, "ada@example.org", "main", "viewer");
    let server = serve(&home, &provider.issuer, &["--oidc-ca", &ca]);
    provider.knows(&server);
    // Nobody here speaks TLS but the service: it is enough that it sends the browser there.
    let page = Surfer::new().get(&server.page("/login/provider"));
    assert_eq!(page.status, 303, "{}", page.text);
    assert!(page.header("location").starts_with(&provider.issuer));

    let home = Home::new();
    let stranger = serve(&home, &provider.issuer, &[]);
    let page = Surfer::new().get(&stranger.page("/login/provider"));
    page.says(502, "localhost could not be asked who you are");
    assert!(
        stranger
            .terminate()
            .contains("could not be talked to over TLS")
    );
}

#[test]
fn access_is_given_to_people_where_they_can_log_in() {
    let fake = Fake::start();
    let home = Home::new();
    let server = serve(&home, &fake.issuer, &[]);
    let project = server.get("/api/v1/service").expect(200).json();
    let path = format!(
        "/api/v1/projects/{}/tokens",
        text(&project["project"]["id"])
    );
    let given = json!({"person": "Bob@example.org", "role": "viewer", "days": 3});
    let made = server.send("POST", &path, &given).expect(201).json();
    assert_eq!(made["person"], "bob@example.org");
    assert_eq!(made["label"], "bob@example.org");
    assert!(
        made.get("token").is_none() && made["expires"].is_string(),
        "{made}"
    );
    for (wrong, needle) in [
        (json!({"role": "viewer"}), "either"),
        (
            json!({"name": "a", "person": "a@b", "role": "viewer"}),
            "either",
        ),
        (json!({"person": "a b", "role": "viewer"}), "e-mail"),
        (json!({"person": "a@b", "role": "administrator"}), "role"),
    ] {
        server.send("POST", &path, &wrong).refuses(422, needle);
    }
    let home = Home::new();
    let alone = home.serve(&[]);
    let project = alone.get("/api/v1/service").expect(200).json();
    let path = format!(
        "/api/v1/projects/{}/tokens",
        text(&project["project"]["id"])
    );
    let given = json!({"person": "bob@example.org", "role": "viewer"});
    alone
        .send("POST", &path, &given)
        .refuses(422, "no identity provider");
    let page = Surfer::new().get(&alone.page("/login/provider"));
    assert_eq!(page.status, 404);
    assert!(
        !Surfer::new()
            .get(&alone.page("/login"))
            .text
            .contains("Without a token")
    );
}

#[test]
fn a_provider_that_cannot_be_is_refused_at_the_start() {
    let folder = Workspace::new();
    folder.write("secret", " \n");
    folder.write("good", "secret\n");
    folder.write("no.pem", "nothing");
    let data = folder.path("data").display().to_string();
    let file = |name: &str| folder.path(name).display().to_string();
    let refused = |options: &[&str], needle: &str| {
        let all = [&["serve", "--data-dir", &data, "--port", "0"], options].concat();
        folder.run(all).complains(&[needle]);
    };
    let (empty, good, none) = (file("secret"), file("good"), file("nowhere"));
    let named = |issuer: &'static str, file: &str| {
        let line = [
            "--oidc-issuer",
            issuer,
            "--oidc-client",
            "a",
            "--oidc-secret",
            file,
        ];
        line.map(str::to_owned).to_vec()
    };
    let words = |line: &[String]| {
        line.iter()
            .map(String::as_str)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    for (line, needle) in [
        (named("http://login.example.org", &good), "is no issuer"),
        (named("login", &good), "is no issuer"),
        (
            named("https://login.example.org", &empty),
            "secret of the service",
        ),
        (
            named("https://login.example.org", &none),
            "cannot read the client secret",
        ),
        (
            [
                named("https://login.example.org", &good),
                vec!["--oidc-ca".to_owned(), file("no.pem")],
            ]
            .concat(),
            "there is none as PEM",
        ),
        (
            vec![
                "--oidc-issuer".to_owned(),
                "https://login.example.org".to_owned(),
            ],
            "--oidc-client",
        ),
        (
            vec!["--oidc-client".to_owned(), "a".to_owned()],
            "--oidc-issuer",
        ),
    ] {
        let line = words(&line);
        refused(&line.iter().map(String::as_str).collect::<Vec<_>>(), needle);
    }
}
