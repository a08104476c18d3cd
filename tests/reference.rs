//! The reference shows the help of every command as it is, and the manual lists all its sections.
//!
//! After a change of options: `PROBITY_UPDATE_REFERENCE=1 cargo test --release --test reference`
//! writes `docs/reference.md` anew.

use std::path::{Path, PathBuf};
use std::process::Command;

const HEAD: &str = "\
# Reference

The help of every command, as printed at a width of 100. Generated: see `tests/reference.rs`. What to do with the
commands is in the [manual](manual.md).
";

fn docs(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("docs")
        .join(name)
}

fn help(words: &[String]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_probity"))
        .args(words)
        .arg("--help")
        .env("COLUMNS", "100")
        .output()
        .expect("the command runs");
    assert!(output.status.success(), "probity {words:?} --help");
    String::from_utf8(output.stdout).expect("help is text")
}

/// The subcommands that a help lists: options and arguments begin with `-`, `<` or `[`.
fn subcommands(help: &str) -> Vec<String> {
    let lines = help.lines().filter_map(|line| line.strip_prefix("  "));
    lines
        .filter(|line| line.starts_with(|first: char| first.is_ascii_lowercase()))
        .filter_map(|line| line.split_once("  "))
        .map(|(name, _)| name.to_owned())
        .filter(|name| name != "help")
        .collect()
}

/// Appends the help of a command and of those below it; gives how many there were.
fn describe(words: &mut Vec<String>, reference: &mut String) -> usize {
    let help = help(words);
    let name = ["probity"]
        .into_iter()
        .chain(words.iter().map(String::as_str));
    let name = name.collect::<Vec<_>>().join(" ");
    *reference += &format!("\n## `{name}`\n\n```text\n{}\n```\n", help.trim_end());
    let mut commands = 1;
    for name in subcommands(&help) {
        words.push(name);
        commands += describe(words, reference);
        words.pop();
    }
    commands
}

#[test]
#[cfg(feature = "serve")]
fn the_reference_is_current() {
    let mut reference = HEAD.to_owned();
    let commands = describe(&mut Vec::new(), &mut reference);
    assert!(commands >= 50, "only {commands} commands were found");
    let file = docs("reference.md");
    if std::env::var_os("PROBITY_UPDATE_REFERENCE").is_some() {
        std::fs::write(&file, reference).expect("the reference can be written");
    } else {
        let shown = std::fs::read_to_string(&file).expect("the reference is there");
        assert!(
            shown == reference,
            "docs/reference.md is behind; see the head of this test"
        );
    }
}

#[test]
fn the_contents_of_the_manual_list_its_sections() {
    let manual = std::fs::read_to_string(docs("manual.md")).expect("the manual is there");
    let mut fenced = false;
    let mut sections = Vec::new();
    for line in manual.lines() {
        fenced ^= line.starts_with("```");
        if let Some(title) = line.strip_prefix("## ").filter(|_| !fenced) {
            let kept = title
                .chars()
                .filter(|c| c.is_alphanumeric() || " -".contains(*c));
            let anchor: String = kept.collect();
            let anchor = anchor.to_lowercase().replace(' ', "-");
            sections.push(format!("- [{title}](#{anchor})"));
        }
    }
    let contents: Vec<&str> = manual
        .lines()
        .filter(|line| line.starts_with("- [") && line.contains("](#"))
        .collect();
    assert!(sections.len() > 20);
    assert_eq!(contents, sections);
}
