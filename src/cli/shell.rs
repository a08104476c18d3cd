//! `probity completions` and `probity man`: from the same definitions as the parser.

use std::process::ExitCode;

use clap::{Args, Command};
use clap_complete::Shell;

use super::output::print;

/// Arguments of `probity completions`.
#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// Shell to complete for
    #[arg(value_enum)]
    shell: Shell,
}

/// Arguments of `probity man`.
#[derive(Debug, Args)]
#[command(
    after_help = "Read it with: probity man | man -l -   One command's page: probity man audit"
)]
pub(super) struct ManArgs {
    /// Command to describe [default: probity itself]
    command: Option<String>,
}

/// Prints the completions of a shell.
pub(super) fn completions(args: CompletionsArgs, mut command: Command) -> anyhow::Result<ExitCode> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut command, "probity", &mut text);
    print(&String::from_utf8_lossy(&text))?;
    Ok(ExitCode::SUCCESS)
}

/// Prints a manual page.
pub(super) fn man(args: ManArgs, mut command: Command) -> anyhow::Result<ExitCode> {
    command.build();
    let mut text = Vec::new();
    match &args.command {
        None => clap_mangen::Man::new(command).render(&mut text)?,
        Some(name) => match command.find_subcommand(name) {
            Some(found) => clap_mangen::Man::new(found.clone())
                .title(format!("probity-{name}"))
                .render(&mut text)?,
            None => anyhow::bail!("there is no command '{name}'; see probity --help"),
        },
    }
    print(&String::from_utf8_lossy(&text))?;
    Ok(ExitCode::SUCCESS)
}
