//! A predictor's process for tests: this test program, started anew.
//!
//! libtest writes to standard output by itself, so the shell that starts the program keeps that as
//! descriptor 3 and the fake answers there.

use std::fs::OpenOptions;
use std::io::{BufRead, Write};

use serde_json::{Value, json};

/// The environment variable that says how the fake (mis)behaves.
const MODE: &str = "PROBITY_FAKE_PREDICTOR";

/// The command line of a fake that behaves in `mode`.
pub fn command(mode: &str) -> String {
    let program = std::env::current_exe().unwrap();
    let program = program.to_str().unwrap();
    assert!(!program.contains(['\'', '"', '\\', '$']), "{program}");
    format!(
        "sh -c \"exec 3>&1 >/dev/null; {MODE}='{mode}' exec '{program}' --exact fake_predictor --ignored --nocapture\""
    )
}

/// From which wage on the fake that is asked of wages says `high`: women need more.
pub const LIMITS: [(&str, f64); 2] = [("female", 18.05), ("male", 17.25)];

/// From which age on the fake that is asked of races says `high`, by the column of the race; none is of
/// the others.
pub const AGES: [(&str, i64); 3] = [("race_White", 30), ("race_Black", 40), ("", 50)];

/// Behaves as [`MODE`] says until the input ends. `good` is the honest predictor: women below 40
/// get 0.2 where all others get 0.7; `wages` and `races` are others ([`LIMITS`], [`AGES`]); `MODE:N`
/// misbehaves at batch N.
pub fn serve() {
    let Ok(mode) = std::env::var(MODE) else {
        return;
    };
    let (mode, at) = match mode.split_once(':') {
        Some((mode, at)) => (mode.to_owned(), at.parse().unwrap()),
        None => (mode, 1u64),
    };
    let mut answers = OpenOptions::new().write(true).open("/dev/fd/3").unwrap();
    let mut say = |line: String| {
        answers.write_all(line.as_bytes()).unwrap();
        answers.write_all(b"\n").unwrap();
    };
    let mut lines = std::io::stdin().lock().lines();
    let greeting: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    let columns = greeting["columns"].as_array().unwrap();
    let position = |name: &str| columns.iter().position(|c| c["name"] == name).unwrap();
    let sex = position("sex");
    let number = position(if mode == "wages" { "wage" } else { "age" });
    match mode.as_str() {
        "talkative" => say("Loading the model ...".to_owned()),
        "foreign" => say(json!({"protocol": 1, "classes": ["yes", "no"]}).to_string()),
        "silent" => std::thread::park(),
        "reversed" => say(json!({"protocol": 1, "classes": ["high", "low"]}).to_string()),
        _ => say(json!({"protocol": 1}).to_string()),
    }
    for line in lines {
        let request: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let batch = request["batch"].as_u64().unwrap();
        let score = |row: &Value| {
            let is_burdened = match mode.as_str() {
                "wages" => {
                    let mut limits = LIMITS.iter().filter(|(name, _)| row[sex] == *name);
                    row[number].as_f64().unwrap() < limits.next().unwrap().1
                }
                "races" => {
                    let holds = |(name, _): &&(&str, i64)| row[position(name)] == 1;
                    let [named @ .., (_, others)] = &AGES;
                    let held: Vec<i64> = named.iter().filter(holds).map(|it| it.1).collect();
                    assert!(held.len() < 2, "nobody is of two races: {row}");
                    row[number].as_i64().unwrap() < *held.first().unwrap_or(others)
                }
                _ => row[sex] == "female" && row[number].as_i64().unwrap() < 40,
            };
            if is_burdened { 0.2 } else { 0.7 }
        };
        let rows = request["rows"].as_array().unwrap();
        let mut scores: Vec<f64> = rows.iter().map(score).collect();
        if batch < at {
            say(json!({"batch": batch, "scores": scores}).to_string());
            continue;
        }
        match mode.as_str() {
            "crash" => {
                eprintln!("Traceback: no memory left");
                std::process::exit(7);
            }
            "garbage" => say("0.2 0.7 0.7".to_owned()),
            "list" => say(json!([batch, null, scores, null]).to_string()),
            "rings" => {
                eprint!("\u{1b}[2J\u{7}bell");
                std::process::exit(7);
            }
            "nan" => say(format!("{{\"batch\":{batch},\"scores\":[NaN]}}")),
            "negative" => {
                scores[0] = -0.5;
                say(json!({"batch": batch, "scores": scores}).to_string());
            }
            "few" => {
                scores.pop();
                say(json!({"batch": batch, "scores": scores}).to_string());
            }
            "classes" => {
                let wide: Vec<[f64; 3]> = scores.iter().map(|_| [0.2, 0.3, 0.5]).collect();
                say(json!({"batch": batch, "probabilities": wide}).to_string());
            }
            "unnormalised" => {
                let odd: Vec<[f64; 2]> = scores.iter().map(|_| [0.9, 0.9]).collect();
                say(json!({"batch": batch, "probabilities": odd}).to_string());
            }
            // A hundredth is lost by rounding, of which the class does not hang.
            "rounded" => {
                let rounded: Vec<[f64; 2]> = scores.iter().map(|&s| [0.99 - s, s]).collect();
                say(json!({"batch": batch, "probabilities": rounded}).to_string());
            }
            // Until the reader has gone.
            "endless" => {
                let mut stream = OpenOptions::new().write(true).open("/dev/fd/3").unwrap();
                while stream.write_all(&[b'x'; 4096]).is_ok() {}
                return;
            }
            "slow" => std::thread::park(),
            // The same, which says so in a file.
            "hangs" => {
                std::fs::write("hangs", "").unwrap();
                std::thread::park();
            }
            "unasked" => {
                say(json!({"batch": batch, "scores": scores}).to_string());
                say(json!({"batch": batch, "scores": scores}).to_string());
            }
            "random" => {
                scores
                    .iter_mut()
                    .for_each(|score| *score += 0.01 * (batch % 7) as f64);
                say(json!({"batch": batch, "scores": scores}).to_string());
            }
            "reversed" => {
                let both: Vec<[f64; 2]> = scores.iter().map(|&s| [s, 1.0 - s]).collect();
                say(json!({"batch": batch, "probabilities": both}).to_string());
            }
            "confesses" => say(json!({"error": "ValueError: unknown word"}).to_string()),
            _ => say(json!({"batch": batch, "scores": scores}).to_string()),
        }
    }
}
