//! The help of the whole command, its subcommands by what they are for, and that of each subcommand,
//! its usual options first.

use std::fmt::Write as _;

use clap::{Arg, Command};

/// The groups, in the order in which people meet them.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Start", &["demo"]),
    ("Data", &["schema", "data", "lexicon", "embeddings"]),
    (
        "Audit and repair",
        &[
            "train",
            "import",
            "export",
            "predict",
            "explain",
            "evaluate",
            "audit",
            "verify",
            "certify",
            "prove",
            "groups",
            "counterparts",
            "proxies",
            "situations",
            "compare",
            "repair",
            "report",
            "gate",
            "seal",
            "run",
            "shard",
            "merge",
        ],
    ),
    ("Other analyses", &["knn", "kmeans", "spn", "outliers"]),
    ("Service", SERVICE),
    ("Tools", &["devices", "completions", "man"]),
];

/// The commands of builds with the service.
const SERVICE: &[&str] = &["serve", "work"];

/// Lists the subcommands of `command` in their groups.
pub fn grouped(command: Command) -> Command {
    let header = command.get_styles().get_header();
    let literal = command.get_styles().get_literal();
    let names = GROUPS.iter().flat_map(|(_, names)| names.iter());
    let width = names.map(|name| name.len()).max().unwrap_or_default();
    let mut list = String::new();
    for (heading, names) in GROUPS {
        // Some builds leave some out.
        let members: Vec<&Command> = names
            .iter()
            .filter_map(|name| command.find_subcommand(name))
            .collect();
        if members.is_empty() {
            continue;
        }
        let _ = write!(list, "\n{header}{heading}:{header:#}\n");
        for member in members {
            let name = member.get_name();
            let about = member.get_about().map(ToString::to_string);
            let _ = writeln!(
                list,
                "  {literal}{name}{literal:#}{:space$}{}",
                "",
                about.unwrap_or_default(),
                space = width + 2 - name.len()
            );
        }
    }
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{list}\n\
         {header}Options:{header:#}\n{{options}}{{after-help}}"
    );
    command.help_template(template)
}

/// The options that people give most, in the order in which they think of them. The short help of a
/// command with many others shows these alone.
const USUAL: [&str; 26] = [
    "model",
    "predictor",
    "data",
    "texts",
    "text",
    "schema",
    "text-column",
    "label-column",
    "embeddings",
    "weights",
    "hf",
    "protected",
    "favourable",
    "run",
    "columns",
    "poison",
    "ledger",
    "epsilon",
    "method",
    "strategy",
    "part",
    "time",
    "fail-above",
    "fail-below",
    "out",
    "resume",
];

/// Options of a command from which on its short help shows the usual ones alone.
const MANY: usize = 25;

/// The heading of options that are neither usual nor in a group of their own.
const OTHERS: &str = "Other options";

/// Puts the usual options of `command` and of its subcommands before all others.
pub fn usual_first(command: Command) -> Command {
    let is_own = |arg: &&Arg| arg.get_long().is_some() && !arg.is_global_set();
    let is_long = command.get_arguments().filter(is_own).count() >= MANY;
    let command = command.mut_args(|arg| {
        if arg.get_long().is_none() || arg.is_global_set() {
            return arg;
        }
        let place = USUAL
            .iter()
            .position(|usual| arg.get_long() == Some(*usual));
        match place {
            Some(place) => arg.help_heading(None::<&str>).display_order(place),
            None => {
                let in_group = arg.get_help_heading().is_some();
                let arg = match in_group || !is_long {
                    true => arg,
                    false => arg.help_heading(OTHERS),
                };
                arg.hide_short_help(is_long)
            }
        }
    });
    command.mut_subcommands(usual_first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_options_come_first_and_alone_in_the_short_help() {
        let mut command = super::super::definition();
        let audit = command.find_subcommand_mut("audit").unwrap();
        let short = audit.render_help().to_string();
        let long = audit.render_long_help().to_string();
        assert!(short.lines().count() < 65, "{short}");
        assert!(!short.contains("--blind-ok"), "{short}");
        let starts = |line: &str, option: &str| line.split_whitespace().next() == Some(option);
        let place = |option: &str| long.lines().position(|line| starts(line, option));
        let order = [
            "--model",
            "--data",
            "--protected",
            "--fail-above",
            "--blind-ok",
        ];
        let places = order.map(|option| place(option).expect(option));
        assert!(places.is_sorted(), "{long}");
        // No option is called usual that no command has.
        let mut known: Vec<String> = Vec::new();
        fn collect(command: &Command, known: &mut Vec<String>) {
            let longs = command.get_arguments().filter_map(Arg::get_long);
            known.extend(longs.map(str::to_owned));
            command.get_subcommands().for_each(|it| collect(it, known));
        }
        collect(&command, &mut known);
        for usual in USUAL {
            assert!(known.iter().any(|it| it == usual), "--{usual}");
        }
    }

    #[test]
    fn every_subcommand_stands_in_one_group() {
        let mut listed: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, names)| names.iter().copied())
            .filter(|name| cfg!(feature = "serve") || !SERVICE.contains(name))
            .collect();
        listed.sort_unstable();
        let command = super::super::definition();
        let mut all: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        all.sort_unstable();
        assert_eq!(listed, all);
        let help = command.clone().render_help().to_string();
        for name in all {
            assert_eq!(help.matches(&format!("\n  {name}  ")).count(), 1, "{help}");
        }
        assert!(help.contains("--json"), "{help}");
    }
}
