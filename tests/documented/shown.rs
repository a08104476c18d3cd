//! Output as a page shows it, beside what was printed.

/// How far a figure may lie from the one that a page shows: another processor rounds otherwise, and
/// a network that was trained with it is another one.
const NEAR: f64 = 0.1;

/// The lines of an output; `…` stands for any number of lines.
pub struct Shown {
    lines: Vec<String>,
}

impl Shown {
    pub fn new<'l>(lines: impl Iterator<Item = &'l str>) -> Shown {
        Shown {
            lines: lines.map(str::to_owned).collect(),
        }
    }

    /// Finds every line in `printed`, in order, with nothing between them but at a mark.
    pub fn compare(&self, printed: &str) -> Result<(), String> {
        let printed: Vec<&str> = printed.lines().map(str::trim_end).collect();
        let mut at = 0;
        let mut may_skip = false;
        let mut columns = Columns::default();
        for line in &self.lines {
            if line.trim() == "…" {
                may_skip = true;
                continue;
            }
            columns.meet(line);
            let found = printed[at..]
                .iter()
                .position(|printed| columns.is_near(line, printed));
            match found {
                Some(0) => at += 1,
                Some(skipped) if may_skip => at += skipped + 1,
                _ => {
                    let beside = printed.get(at).unwrap_or(&"the end");
                    return Err(format!("'{line}' is shown, '{beside}' is printed"));
                }
            }
            may_skip = false;
        }
        match may_skip || at == printed.len() {
            true => Ok(()),
            false => Err(format!("'{}' is printed and not shown", printed[at])),
        }
    }
}

/// Which columns of a table are times.
#[derive(Default)]
struct Columns {
    are_times: Vec<bool>,
}

impl Columns {
    /// Learns from the head of a table.
    fn meet(&mut self, line: &str) {
        if !line.starts_with('|') {
            self.are_times.clear();
        } else if self.are_times.is_empty() {
            self.are_times = line
                .split('|')
                .map(|cell| cell.contains("second"))
                .collect();
        }
    }

    fn is_near(&self, shown: &str, printed: &str) -> bool {
        if shown.starts_with('|') && printed.starts_with('|') {
            let (shown, printed): (Vec<&str>, Vec<&str>) =
                (shown.split('|').collect(), printed.split('|').collect());
            let mut cells = shown.iter().zip(&printed).enumerate();
            let are_near = |(at, (shown, printed)): (usize, (&&str, &&str))| {
                let is_time = self.are_times.get(at).is_some_and(|is_time| *is_time);
                is_time || near(shown, printed)
            };
            return shown.len() == printed.len() && cells.all(are_near);
        }
        near(shown, printed)
    }
}

/// Whether the words are the same, and the figures near each other; times may be any.
fn near(shown: &str, printed: &str) -> bool {
    let (shown, printed) = (words(shown), words(printed));
    shown.len() == printed.len()
        && shown
            .iter()
            .zip(&printed)
            .enumerate()
            .all(|(at, (left, right))| {
                let figures = (figure(left), figure(right));
                let unit = shown
                    .get(at + 1)
                    .map(|unit| unit.trim_end_matches(['.', ',', ')']));
                match figures {
                    (Some(_), Some(_)) if matches!(unit, Some("s" | "ms" | "a")) => true,
                    (Some(left), Some(right)) => {
                        (left - right).abs() <= NEAR * left.abs().max(right.abs())
                    }
                    _ => left == right,
                }
            })
}

/// The words of a line; rules of tables are as long as their columns are wide, bars as figures are
/// large.
fn words(line: &str) -> Vec<&str> {
    let drawn = |word: &&str| word.chars().all(|c| "-:█▉▊▋▌▍▎▏░".contains(c));
    line.split_whitespace()
        .filter(|word| !drawn(word))
        .collect()
}

fn figure(word: &str) -> Option<f64> {
    let bare = word.trim_matches(['(', ')', ',', '.', ':', ';']);
    bare.replace(',', "").parse().ok()
}

#[test]
fn figures_may_be_near_and_words_may_not() {
    let shown = Shown::new("| a | seconds |\n|---|---|\n| 12.45 % | 0.1 |\n…\nEnd in 3 s.".lines());
    let printed = |text: &str| shown.compare(text);
    let head = "| a       | seconds |\n|---------|---------|\n";
    assert_eq!(
        printed(&format!("{head}| 12.5 % | 9.99 |\nmore\nmore\nEnd in 8 s.")),
        Ok(())
    );
    let bars = Shown::new("sex  11.54 %  ██▎░░\n".lines());
    assert_eq!(bars.compare("sex  11.60 %  ██▌░░"), Ok(()));
    for other in [
        "| 15.0 % | 0.1 |\nEnd in 3 s.",
        "| 12.45 % | 0.1 |\nmore\nEnd at 3 s.",
        "more\n| 12.45 % | 0.1 |\nEnd in 3 s.",
        "| 12.45 % | 0.1 |\nEnd in 3 s.\nmore",
        "| 12.45 % | 0.1 |",
    ] {
        assert!(printed(&format!("{head}{other}")).is_err(), "{other}");
    }
}
