//! The manual shows the help of every command as it is.
//!
//! After a change of options: `PROBITY_UPDATE_MANUAL=1 cargo test --release --test manual` writes
//! the help blocks anew.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

const START: &str = "<!-- help:";
const END: &str = "<!-- /help -->";

fn help(words: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_probity"))
        .args(words.split_whitespace())
        .arg("--help")
        .env("COLUMNS", "100")
        .output()
        .expect("the command runs");
    assert!(output.status.success(), "probity {words} --help");
    String::from_utf8(output.stdout).expect("help is text")
}

#[test]
fn help_blocks_are_current() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/manual.md");
    let manual = std::fs::read_to_string(&file).expect("the manual is there");
    let mut current = String::new();
    let mut rest = manual.as_str();
    let mut blocks = 0;
    while let Some(start) = rest.find(START) {
        let after = &rest[start + START.len()..];
        let words = after[..after.find("-->").expect("a closed marker")].trim();
        let end = after.find(END).expect("an end marker");
        current.push_str(&rest[..start]);
        let space = if words.is_empty() { "" } else { " " };
        write!(
            current,
            "{START}{words}{space}-->\n```text\n{}\n```\n{END}",
            help(words).trim_end()
        )
        .expect("writing to a string");
        rest = &after[end + END.len()..];
        blocks += 1;
    }
    current.push_str(rest);
    assert!(blocks >= 10, "only {blocks} help blocks");
    if std::env::var_os("PROBITY_UPDATE_MANUAL").is_some() {
        std::fs::write(&file, current).expect("the manual can be written");
    } else {
        assert!(
            manual == current,
            "docs/manual.md is behind; see the head of this test"
        );
    }
}
