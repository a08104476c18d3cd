//! Messages that name the options of the command line.
//!
//! Libraries name what is wrong by the field of the specification: `table.ranges`. Who gave options
//! and no specification gets to read theirs: `--range`. Every message of a command whose options
//! are made of a specification ([`super::fields`]) passes here.

use clap::{ArgMatches, Command};
use probity::run::failure::cause_of;
use probity::run::run_directory::RunError;
use probity::run::specification::FieldError;

/// Fields that messages about any file name. They stand in a table of some kinds of runs and in none
/// of others, so that they are named without.
const OF_FILES: [&str; 2] = ["skip_bad_rows", "text_column"];

/// The advice to give an option, as messages about any file have it: not every command that reads
/// files has the option.
const ADVICE: [(&str, &str); 3] = [
    (
        "outside",
        "; for a model that is there, --outside skip leaves such rows out",
    ),
    (
        "ignore-other-columns",
        "; for a model that is there, --ignore-other-columns passes over it",
    ),
    (
        "ignore-other-columns",
        "; for a model that is there, --ignore-other-columns passes over them",
    ),
];

/// The option that lets a command replace a file.
const FORCE: &str = "force";

/// The options of one command, by the fields that they give.
#[derive(Debug, Default)]
pub(super) struct OptionNames {
    /// Id and long name; the id of what was made of a field is its path.
    options: Vec<(String, String)>,
}

impl OptionNames {
    /// Collects the options of the command that was called.
    pub fn new(mut command: Command, matches: &ArgMatches) -> OptionNames {
        let mut matches = matches;
        while let Some((name, inner)) = matches.subcommand() {
            let Some(called) = command.find_subcommand(name) else {
                return OptionNames::default();
            };
            command = called.clone();
            matches = inner;
        }
        let options = command.get_arguments().filter_map(|argument| {
            let long = argument.get_long()?;
            Some((argument.get_id().to_string(), long.to_owned()))
        });
        OptionNames {
            options: options.collect(),
        }
    }

    /// `text` of `error`, with options in place of the fields that it names.
    pub fn in_text(&self, error: &anyhow::Error, text: &str) -> String {
        let lone =
            cause_of::<FieldError>(error.as_ref()).filter(|error| !error.field.contains('.'));
        // The same word may stand elsewhere, and be none of a field.
        let lone = lone.and_then(|error| text.find(&error.to_string()));
        let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_.".contains(c);
        let mut said = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find(is_part) {
            said.push_str(&rest[..start]);
            rest = &rest[start..];
            let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            let word = rest[..end].trim_end_matches('.');
            // Names of files and options are none of fields.
            let is_apart = !said.ends_with(|c: char| "/\\-'".contains(c) || c.is_alphanumeric())
                && !rest[end..].starts_with(['/', '\\', '-']);
            let option = match is_apart {
                true if word.contains('.') => self.option(word),
                true if lone == Some(text.len() - rest.len()) => self.named(word),
                true if OF_FILES.contains(&word) => self.last(word),
                _ => None,
            };
            match option {
                Some(option) => {
                    said.push_str("--");
                    said.push_str(option);
                }
                None => said.push_str(word),
            }
            rest = &rest[word.len()..];
            if word.is_empty() {
                said.push_str(&rest[..end]);
                rest = &rest[end..];
            }
        }
        said.push_str(rest);
        let has = |option: &str| self.options.iter().any(|(_, long)| long == option);
        for (option, advice) in ADVICE {
            if !has(option) {
                said = said.replace(advice, "");
            }
        }
        let is_there = |error: &RunError| matches!(error, RunError::Exists { .. });
        if cause_of(error.as_ref()).is_some_and(is_there) && has(FORCE) {
            said.push_str("; add --force to replace it");
        }
        said
    }

    /// The option that gives the field at `path`, which is in a table.
    fn option(&self, path: &str) -> Option<&str> {
        let own = self.options.iter().find(|(id, _)| id == path);
        let table = &path[..=path.find('.')?];
        let is_known = || self.options.iter().any(|(id, _)| id.starts_with(table));
        match own {
            Some((_, long)) => Some(long),
            None if is_known() => self.last(path),
            None => None,
        }
    }

    /// The option that gives the field at `path`, which is in no table.
    fn named(&self, path: &str) -> Option<&str> {
        let own = self.options.iter().find(|(id, _)| id == path);
        own.map_or_else(|| self.last(path), |(_, long)| Some(long))
    }

    /// The option that a command writes for itself: `--range` gives `table.ranges`.
    fn last(&self, path: &str) -> Option<&str> {
        let name = path.rsplit('.').next()?.replace('_', "-");
        let one = name.strip_suffix('s').unwrap_or(&name);
        let found = self.options.iter().find(|(_, l)| *l == name || l == one);
        found.map(|(_, long)| long.as_str())
    }
}

#[cfg(test)]
mod tests {
    use probity::fairness::audit::AuditError;
    use probity::fairness::group::run::GroupRunError;
    use probity::fairness::repair::error::RepairError;
    use probity::nn::train::run::TrainingError;

    use super::*;

    fn names() -> OptionNames {
        let options = [
            ("table.schema", "schema"),
            ("range", "range"),
            ("share", "share"),
            ("search.seeds", "seeds"),
            ("out_of_domain", "outside"),
            ("reading.skip_bad_rows", "skip-bad-rows"),
            ("force", "force"),
        ];
        OptionNames {
            options: options.map(|(id, long)| (id.into(), long.into())).into(),
        }
    }

    #[test]
    fn fields_are_named_by_their_options() {
        let said = |text: &str| names().in_text(&anyhow::anyhow!("x"), text);
        for (text, expected) in [
            (
                "in table.ranges, or table.schema.",
                "in --range, or --schema.",
            ),
            (
                "'table.ranges' and a/table.schema stay",
                "'table.ranges' and a/table.schema stay",
            ),
            (
                "other.ranges and d.csv stay …",
                "other.ranges and d.csv stay …",
            ),
            ("ε 0.5, 1. and ... stay", "ε 0.5, 1. and ... stay"),
            ("shares is 0", "shares is 0"),
            (
                "bad; skip_bad_rows, or format.skip_bad_rows, leaves it out",
                "bad; --skip-bad-rows, or format.skip_bad_rows, leaves it out",
            ),
        ] {
            assert_eq!(said(text), expected);
        }
        // What a command has no option for is not recommended by it.
        let advice = format!("set it{}", ADVICE[0].1);
        assert_eq!(said(&advice), advice);
        for (_, advice) in ADVICE {
            let without = OptionNames::default();
            let said = without.in_text(&anyhow::anyhow!("x"), &format!("set it{advice}"));
            assert_eq!(said, "set it");
        }
        let exists = anyhow::Error::new(RunError::Exists {
            file: "r.html".into(),
        });
        let said_of_it = names().in_text(&exists, &exists.to_string());
        assert_eq!(said_of_it, "r.html exists; add --force to replace it");
        let refused = anyhow::Error::new(FieldError::new("shares", 0, "above 0"));
        let text = refused.to_string();
        assert!(names().in_text(&refused, &text).starts_with("--share is 0"));
        let refused = FieldError::new("out_of_domain", "level", "out_of_domain");
        let refused = anyhow::Error::new(refused).context("predicting");
        assert_eq!(
            names().in_text(&refused, &format!("predicting: {:#}", refused.root_cause())),
            "predicting: --outside is level, but must be out_of_domain"
        );
        // Also where another error passes it on.
        let passed = AuditError::from(FieldError::new("shares", 0, "above 0"));
        let again = GroupRunError::from(AuditError::from(FieldError::new("shares", 0, "above 0")));
        let training = TrainingError::from(FieldError::new("shares", 0, "above 0"));
        for passed in [
            anyhow::Error::new(RepairError::from(passed)),
            anyhow::Error::new(again),
            anyhow::Error::new(training),
        ] {
            assert!(names().in_text(&passed, &text).starts_with("--share is 0"));
        }
    }
}
