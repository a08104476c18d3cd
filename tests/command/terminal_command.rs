//! What a run prints, on terminals of several widths and into a pipe.

use std::collections::HashSet;

use crate::probity_command::Workspace;
use probity::report::{Extent, Medium, Report};

/// People with a model of them.
fn people() -> Workspace {
    let workspace = Workspace::new();
    for line in [
        "data generate people --rows 2000 --out people.csv",
        "schema infer people.csv --label-column income --protected sex,origin --favourable high --out people.toml",
        "train --data people.csv --schema people.toml --epochs 5 --out model -q",
    ] {
        workspace.line(line).exits(0);
    }
    workspace
}

/// The report of `run`, as a terminal of so many columns shows it.
fn shown(workspace: &Workspace, run: &str, medium: Medium) -> String {
    let report = Report::read(&[workspace.path(run)]).unwrap();
    report.to_plain(medium, Extent::Essentials)
}

fn widest(text: &str) -> usize {
    let lines = text.lines().map(|line| line.chars().count());
    lines.max().unwrap_or(0)
}

/// What is on one screen is read.
#[test]
fn an_audit_by_two_attributes_takes_25_lines_of_100_columns() {
    let workspace = people();
    let printed = workspace
        .line("audit --model model --data people.csv --protected sex,origin --seeds 60 --local 20 --estimate 2000 --out run")
        .exits(0)
        .says(&["By sex, ", "By origin, ", "Next: "])
        .stdout;
    let piped = shown(&workspace, "run", Medium::Stream);
    let next = printed
        .strip_prefix(&piped)
        .unwrap_or_else(|| panic!("{printed} does not begin with {piped}"));
    let shown = shown(&workspace, "run", Medium::Terminal(100)) + next;
    assert!(widest(&shown) <= 100, "{shown}");
    assert!(shown.lines().count() <= 25, "{shown}");
}

#[test]
fn lines_are_broken_between_words_on_a_terminal_and_nowhere_in_a_pipe() {
    let workspace = people();
    let printed = workspace
        .line("groups --model model --data people.csv --protected sex,origin --favourable high --out groups")
        .exits(0)
        .stdout;
    // A sentence is one line, and a table has at most 100 columns.
    let sentence = printed.lines().find(|line| line.starts_with("By sex: "));
    let sentence = sentence.unwrap_or_else(|| panic!("{printed}"));
    assert!(
        sentence.contains("‘female’") && sentence.ends_with("."),
        "{printed}"
    );
    let rules = printed.lines().filter(|line| line.starts_with("---"));
    assert!(rules.map(widest).max() <= Some(100), "{printed}");
    let words: HashSet<&str> = printed.split_whitespace().collect();
    for columns in [40, 59, 80, 100] {
        let shown = shown(&workspace, "groups", Medium::Terminal(columns));
        assert!(widest(&shown) <= columns, "{columns}: {shown}");
        let is_rule = |word: &str| word.chars().all(|c| c == '-');
        for word in shown.split_whitespace().filter(|word| !is_rule(word)) {
            assert!(words.contains(word), "{columns}: {word} in {shown}");
        }
        // No interval is broken before its dash or behind it.
        for line in shown.lines().map(str::trim) {
            assert!(!line.starts_with('–') && !line.ends_with('–'), "{shown}");
        }
    }
}
