//! The help of the whole command: its subcommands by what they are for.

use std::fmt::Write as _;

use clap::Command;

/// The groups, in the order in which people meet them.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Start", &["demo"]),
    ("Data", &["schema", "data", "lexicon", "embeddings"]),
    (
        "Audit and repair",
        &[
            "train", "import", "export", "predict", "explain", "evaluate", "audit", "verify",
            "certify", "prove", "groups", "compare", "repair", "report", "gate", "seal", "run",
            "shard", "merge",
        ],
    ),
    ("Other analyses", &["knn", "kmeans", "spn", "outliers"]),
    ("Service", SERVICE),
    ("Tools", &["devices", "completions", "man"]),
];

/// Those of builds with the service.
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

#[cfg(test)]
mod tests {
    use super::*;

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
