//! `probity completions` and `probity man`: from the same definitions as the parser.

use anyhow::Context;
use clap::{Args, Command};
use clap_complete::Shell;

use super::exit_code::ExitCode;
use super::output::{Output, print};

/// Arguments of `probity completions`.
#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// Shell to complete for
    #[arg(value_enum)]
    shell: Shell,
}

/// Arguments of `probity man`.
#[derive(Debug, Args)]
pub(super) struct ManArgs {
    /// Command to describe, such as `audit` or `data fetch` [default: probity itself]
    command: Vec<String>,
}

/// Prints the completions of a shell.
pub(super) fn completions(
    args: CompletionsArgs,
    mut command: Command,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    output.refuse_json("completions")?;
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut command, "probity", &mut text);
    print(&String::from_utf8_lossy(&text))?;
    Ok(ExitCode::SUCCESS)
}

/// Prints a manual page.
pub(super) fn man(
    args: ManArgs,
    mut command: Command,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    output.refuse_json("man")?;
    command.build();
    let mut page = &command;
    for name in &args.command {
        page = page
            .find_subcommand(name)
            .with_context(|| format!("there is no command '{name}'; see probity --help"))?;
    }
    let title = [&["probity".to_owned()], args.command.as_slice()].concat();
    let mut text = Vec::new();
    clap_mangen::Man::new(page.clone())
        .title(title.join("-"))
        .render(&mut text)?;
    print(&String::from_utf8_lossy(&text))?;
    Ok(ExitCode::SUCCESS)
}
