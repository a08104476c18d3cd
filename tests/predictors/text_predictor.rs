//! Predictors of texts with the command: processes, and a service over HTTP that is slow, refuses,
//! breaks off and talks nonsense.
//!
//! `PROBITY_PYTHON` names the interpreter; `python3` otherwise. Its standard library is enough.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use crate::probity_command::{Outcome, Workspace, figures};
use probity_testing::{Needed, skip};

/// The interpreter, if there is one.
fn python() -> Option<String> {
    let python = std::env::var("PROBITY_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let mut asked = std::process::Command::new(&python);
    if asked.arg("--version").output().is_ok() {
        return Some(python);
    }
    skip(Needed::Python, &format!("there is no {python}"));
    None
}

fn scripts() -> String {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    scripts.to_str().unwrap().to_owned()
}

/// What a run found, whoever was asked.
fn found(workspace: &Workspace, run: &str) -> serde_json::Value {
    let mut found = figures(&workspace.summary(run));
    for named in ["predictor", "model_sha256"] {
        assert!(found.as_object_mut().unwrap().remove(named).is_some());
    }
    found
}

/// Women and Muslims are scored higher; `MODE AT` misbehaves at text AT of a process.
const FAKE: &str = "
import os, sys
sys.path.insert(0, SCRIPTS)
from probity_predictor import Later, serve_texts
mode, at = sys.argv[1], int(sys.argv[2])
asked = 0

def score(text):
    global asked
    asked += 1
    if mode == 'dies' and asked == at and not os.path.exists('died'):
        open('died', 'w').close()
        sys.exit('out of breath')
    if mode == 'nan' and asked == at:
        return float('nan')
    if mode == 'noisy':
        return 0.2 + 0.6 * (asked % 2)
    if mode == 'prints':
        print('scoring', asked)
    words = text.lower().replace(',', ' ').split()
    return 0.9 if 'women' in words or 'muslim' in words else 0.1

def predict(texts):
    if mode == 'short' and asked > at:
        return [0.5]
    return [score(text) for text in texts]

serve_texts(lambda classes: (predict, None if mode == 'nameless' else ['fine', 'rude']))
";

/// Texts that name women, men and religions.
fn texts() -> String {
    let mut texts = String::from("text\n\"\u{1f600} nothing to see\"\n");
    for number in 0..40 {
        let (who, where_) = [
            ("The women", "town"),
            ("Some Christian men", "village"),
            ("A few Muslim friends", "city"),
            ("Those men", "school"),
        ][number % 4];
        texts.push_str(&format!(
            "\"{who} of the old {where_} said that \"\"number {number}\"\" is a good book\"\n"
        ));
    }
    texts
}

fn workspace() -> Workspace {
    let workspace = Workspace::new();
    workspace.write("texts.csv", texts());
    let fake = FAKE.replace("SCRIPTS", &format!("{:?}", scripts()));
    workspace.write("fake.py", fake);
    workspace
}

const AUDIT: &str = "audit --texts texts.csv --text-column text --protected gender,religion \
                     --seeds 20 --local 10 --min-fluency 0 --values all --samples csv";

fn audit(workspace: &Workspace, predictor: &str, options: &str) -> crate::probity_command::Outcome {
    let mut arguments: Vec<&str> = AUDIT.split_whitespace().collect();
    arguments.extend(["--predictor", predictor]);
    arguments.extend(options.split_whitespace());
    workspace.run(arguments)
}

fn fake(python: &str, mode: &str) -> String {
    format!("command:{python} fake.py {mode}")
}

#[test]
fn a_process_is_audited_whatever_happens_to_it() {
    let Some(python) = python() else { return };
    let workspace = workspace();
    let good = fake(&python, "good 0");
    audit(&workspace, &good, "--out whole").exits(0);
    let whole = workspace.summary("whole");
    assert_eq!(whole["strategy"], "rp");
    let pairs = whole["total"]["discriminatory_rows"].as_u64().unwrap();
    assert!(pairs > 20, "{pairs}");
    let verified = workspace.line("verify whole --json").exits(0).json();
    assert_eq!(verified["confirmed"], pairs);

    // Neither how many are asked at once nor how says anything about the result.
    let apart = "--predictor-concurrency 3 --predictor-rows 2 --threads 1 --out apart";
    audit(&workspace, &fake(&python, "prints 0"), apart).exits(0);
    assert_eq!(found(&workspace, "apart"), found(&workspace, "whole"));

    // A process that dies once is started anew; without retries the run can be gone on with.
    let dies = fake(&python, "dies 660");
    audit(&workspace, &dies, "--out anew").exits(0);
    assert_eq!(found(&workspace, "anew"), found(&workspace, "whole"));
    std::fs::remove_file(workspace.path("died")).unwrap();
    audit(&workspace, &dies, "--predictor-retries 0 --out broken")
        .exits(3)
        .complains(&["out of breath", "audit --resume --out broken"]);
    workspace.line("audit --resume --out broken").exits(0);
    assert_eq!(found(&workspace, "broken"), found(&workspace, "whole"));

    // A budget ends it between rounds, and it goes on from there.
    let most = whole["total"]["model_rows"].as_u64().unwrap() * 2 / 3;
    audit(&workspace, &good, &format!("--max-calls {most} --out cut"))
        .exits(0)
        .says(&["ended by its budget of model calls"]);
    let cut = workspace.summary("cut");
    assert_eq!(cut["ending"], "max_calls");
    let calls = &cut["total"]["model_rows"].as_u64().unwrap();
    assert!(*calls <= most, "{calls} of {most}");
    workspace.line("audit --resume --out cut").exits(0);
    assert_eq!(found(&workspace, "cut"), found(&workspace, "whole"));

    // The pairs are enough to verify them.
    std::fs::remove_file(workspace.path("texts.csv")).unwrap();
    let verified = workspace.line("verify cut --json").exits(0).json();
    assert_eq!(verified["confirmed"], pairs);
}

#[test]
fn what_is_no_answer_is_refused() {
    let Some(python) = python() else { return };
    let workspace = workspace();
    for (mode, options, code, needle) in [
        ("nan 30", "", 2, "NaN and Infinity are no probabilities"),
        ("short 32", "", 2, "answered 1 rows where"),
        ("noisy 0", "", 2, "not a function of the text"),
        ("nameless 0", "", 2, "name them in --predictor-classes"),
        (
            "good 0",
            "--predictor-classes rude,other",
            2,
            "the same as in --predictor-classes",
        ),
        ("good 0", "--strategy adf-asc", 2, "it needs gradients"),
        ("good 0", "--schema adult", 2, "has no meaning for texts"),
        ("good 0", "--strategy sg", 2, "one that searches texts"),
    ] {
        let outcome = audit(
            &workspace,
            &fake(&python, mode),
            &format!("{options} --out no"),
        );
        outcome.exits(code).complains(&[needle]);
        std::fs::remove_dir_all(workspace.path("no")).ok();
    }
    let noisy = fake(&python, "noisy 0");
    let votes = "--predictor-votes 3 --out votes";
    // Of three answers in turn two are the same, but not always the same two.
    audit(&workspace, &noisy, votes)
        .exits(2)
        .complains(&["not a function of the text"]);
}

#[test]
fn a_predictor_predicts_is_evaluated_and_measured_by_groups() {
    let Some(python) = python() else { return };
    let workspace = workspace();
    let labelled = texts()
        .lines()
        .skip(2)
        .enumerate()
        .fold(String::from("text,label\n"), |all, (number, text)| {
            format!("{all}{text},{}\n", ["rude", "fine"][number % 2])
        });
    workspace.write("labelled.csv", labelled);
    let good = fake(&python, "good 0");
    let ask = |command: &str| {
        let mut arguments: Vec<&str> = command.split_whitespace().collect();
        arguments.extend(["--texts", "labelled.csv", "--text-column", "text"]);
        arguments.extend(["--predictor", &good]);
        workspace.run(arguments)
    };
    ask("predict --out said.csv").exits(0);
    let said = workspace.read("said.csv");
    assert_eq!(said.lines().count(), 41);
    assert!(said.lines().nth(1).unwrap().contains(",rude,"), "{said}");
    let evaluation = ask("evaluate --label-column label --json").exits(0).json();
    assert_eq!(evaluation["accuracy"], 1.0);
    let groups = ask("groups --label-column label --min-group 5 --json")
        .exits(0)
        .json();
    assert!(groups["modality"] == "text", "{groups}");
    ask("evaluate --label-column label --part test")
        .exits(2)
        .complains(&["has no meaning for a predictor"]);
}

/// A service that scores texts like the fake, and how it misbehaves in turn.
fn service(nonsense: bool) -> (String, Arc<AtomicU32>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let asked = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&asked);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let counted = Arc::clone(&counted);
            thread::spawn(move || answer(stream.unwrap(), &counted, nonsense));
        }
    });
    (format!("http://{address}/score"), asked)
}

fn answer(mut stream: TcpStream, asked: &AtomicU32, nonsense: bool) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    loop {
        let (mut length, mut has_key, mut line) = (0, false, String::new());
        loop {
            line.clear();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            let lower = line.to_lowercase();
            if let Some(count) = lower.strip_prefix("content-length:") {
                length = count.trim().parse().unwrap();
            }
            has_key |= line.trim_end().ends_with("Bearer hush-hush");
            if line.trim_end().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
        let text = body["text"].as_str().unwrap().to_lowercase();
        let rude = text
            .split([' ', ','])
            .any(|word| ["women", "muslim"].contains(&word));
        let scored = format!(
            "{{\"said\":[{{\"score\":{}}}]}}",
            if rude { 0.9 } else { 0.1 }
        );
        let number = asked.fetch_add(1, Ordering::Relaxed);
        let (status, body) = match number % 50 {
            _ if !has_key => ("401 Unauthorized", "who are you?".to_owned()),
            7 => ("429 Too Many Requests\r\nRetry-After: 0", String::new()),
            17 => ("500 Internal Server Error\r\nRetry-After: 0", String::new()),
            27 if nonsense => ("200 OK", "<html>".to_owned()),
            37 => return,
            47 => {
                thread::sleep(Duration::from_millis(30));
                ("200 OK", scored)
            }
            _ => ("200 OK", scored),
        };
        let length = body.len();
        let answer = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n\r\n{body}");
        if stream.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

#[test]
fn a_service_is_audited_though_it_limits_fails_and_breaks_off() {
    let Some(python) = python() else { return };
    let workspace = workspace();
    audit(&workspace, &fake(&python, "good 0"), "--out whole").exits(0);
    let of = |url: &str, key: &str| {
        let script = format!("{}/predict_texts_http.py", scripts());
        format!("command:env KEY={key} {python} '{script}' {url} --score said.0.score --key KEY")
    };
    let options = "--predictor-classes fine,rude --predictor-concurrency 4 --predictor-retries 5";
    let (url, asked) = service(false);
    let served = of(&url, "hush-hush");
    audit(&workspace, &served, &format!("{options} --out served")).exits(0);
    assert_eq!(found(&workspace, "served"), found(&workspace, "whole"));
    assert!(asked.load(Ordering::Relaxed) > 100);
    let refused = audit(
        &workspace,
        &of(&url, "wrong"),
        &format!("{options} --out no"),
    );
    refused
        .exits(2)
        .complains(&["the endpoint answers 401: who are you?"]);
    let (url, _) = service(true);
    let nonsense = audit(
        &workspace,
        &of(&url, "hush-hush"),
        &format!("{options} --out no"),
    );
    nonsense
        .exits(2)
        .complains(&["answers with what is no JSON: <html>"]);
}

/// An endpoint that answers every request alike.
fn endpoint(answer: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let (mut line, mut length) = (String::new(), 0);
            while reader.read_line(&mut line).unwrap_or(0) > 2 {
                let lower = line.to_lowercase();
                if let Some(count) = lower.strip_prefix("content-length:") {
                    length = count.trim().parse().unwrap();
                }
                line.clear();
            }
            // What is left unread when a connection is closed may tear down the answer, too.
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            // Whoever hangs up early has read enough.
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    format!("http://{address}/score")
}

#[test]
fn a_key_is_said_nowhere_though_the_service_repeats_it() {
    let Some(python) = python() else { return };
    let workspace = workspace();
    let key = "sk \"hush\"/77";
    let json = |content: &str| {
        format!(
            "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{content}",
            content.len()
        )
    };
    let escaped = serde_json::Value::from(key).to_string();
    let quoted = "sk%20%22hush%22/77";
    let answers = [
        ("http", json(&format!("{{\"error\": {escaped}}}"))),
        ("http", json(&format!("{{\"score\": {escaped}}}"))),
        ("http", json(&format!("{{\"score\": [\"{quoted}\"]}}"))),
        ("http", json(&format!("<p>{key}</p>"))),
        (
            "http",
            format!(
                "HTTP/1.1 403 No\r\nContent-Length: {}\r\n\r\n{key}",
                key.len()
            ),
        ),
        ("http", format!("HTTP/1.1 {key} No\r\n\r\n")),
        ("http", format!("{key}\r\n\r\n")),
        (
            "chat --model m",
            json(&format!(
                "{{\"choices\": [{{\"message\": {{\"content\": {escaped}}}}}]}}"
            )),
        ),
    ];
    for (number, (kind, answer)) in answers.into_iter().enumerate() {
        let url = endpoint(answer);
        let (script, options) = kind.split_once(' ').unwrap_or((kind, ""));
        let script = format!("{}/predict_texts_{script}.py", scripts());
        let predictor = format!("command:{python} '{script}' {url} {options} --key SECRET");
        let out = format!("run{number}");
        let mut command = workspace.prepared("audit --texts texts.csv --text-column text");
        command.args([
            "--predictor",
            &predictor,
            "--predictor-classes",
            "fine,rude",
        ]);
        command.args([
            "--predictor-retries",
            "1",
            "--out",
            &out,
            "--seeds",
            "4",
            "--local",
            "2",
        ]);
        let outcome = Outcome::new(command.env("SECRET", key).output().unwrap());
        assert_ne!(outcome.code, Some(0), "{number}: {outcome:?}");
        let mut said = format!("{}{}", outcome.stdout, outcome.stderr);
        for (file, content) in workspace.snapshot() {
            if file.starts_with(&out) || file.to_string_lossy().contains(&out) {
                said.push_str(&String::from_utf8_lossy(&content.unwrap_or_default()));
            }
        }
        assert!(said.contains("***"), "{number}: {said}");
        for way in [key, quoted, "hush"] {
            assert!(!said.contains(way), "{number}: {said}");
        }
    }
}
