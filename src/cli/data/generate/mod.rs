//! `probity data generate`

mod args;
pub(in crate::cli) mod comments;
mod hidden;
mod people;
mod templates;

pub(super) use self::args::GenerateArgs;
use self::args::Generated;
use crate::cli::exit_code::ExitCode;
use crate::cli::output::Output;

/// Runs `probity data generate`.
pub(super) fn run(args: &GenerateArgs, output: &Output) -> anyhow::Result<ExitCode> {
    args.expect_fitting()?;
    if args.out.is_none() {
        output.refuse_json("data generate without --out")?;
    }
    match args.name {
        Generated::People => match args.hidden() {
            Some(effect) => hidden::run(args, effect, output),
            None => people::run(args, output),
        },
        Generated::Comments => comments::run(args, output),
        Generated::Templates => templates::run(args, output),
    }
}
