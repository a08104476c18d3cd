//! `probity-fuzz`: broken input for every reader; see the library.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};
use probity_fuzz::execute::{Made, execute, input_of};
use probity_fuzz::supervisor::{Budget, Campaign, Tally};
use probity_fuzz::target::Input;
use probity_fuzz::worker::{Work, bound_memory, in_thread, scratch, work};
use probity_fuzz::{supervisor, targets};

/// Gives broken input to every reader.
#[derive(Debug, Parser)]
#[command(name = "probity-fuzz")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Fuzz for some minutes, or so many executions; exits with 1 if something was found
    Run {
        /// Minutes in all; 1 unless executions are given
        #[arg(long, conflicts_with = "executions")]
        minutes: Option<f64>,
        /// Executions of each target: with a seed, the same inputs on any machine
        #[arg(long)]
        executions: Option<u64>,
        /// Seed of the keys; by default a random one, which is printed
        #[arg(long)]
        seed: Option<u64>,
        /// Targets; by default all
        #[arg(long, value_delimiter = ',')]
        targets: Vec<String>,
        /// Folder for findings
        #[arg(long, default_value = "target/fuzz")]
        findings: PathBuf,
    },
    /// Execute a key once more, with everything that is printed
    Replay {
        /// The target
        target: String,
        /// The seed of the key
        seed: u64,
        /// The number of the key
        number: u64,
        /// Write the input to this folder first
        #[arg(long)]
        save: Option<PathBuf>,
    },
    /// Have a target read the files of a folder
    Read {
        /// The target
        target: String,
        /// The folder
        folder: PathBuf,
    },
    /// Say which targets there are
    List,
    /// What a worker does
    #[command(hide = true)]
    Work {
        target: String,
        seed: u64,
        from: u64,
        progress: PathBuf,
        findings: PathBuf,
        #[arg(long)]
        milliseconds: Option<u64>,
        #[arg(long)]
        executions: Option<u64>,
    },
}

fn main() -> anyhow::Result<ExitCode> {
    match Cli::parse().command {
        Command::Run {
            minutes,
            executions,
            seed,
            targets,
            findings,
        } => {
            let budget = match executions {
                Some(executions) => Budget::Executions(executions),
                None => {
                    let seconds = minutes.unwrap_or(1.0) * 60.0;
                    Budget::Time(Duration::try_from_secs_f64(seconds)?)
                }
            };
            run(budget, seed, &targets, findings)
        }
        Command::Replay {
            target,
            seed,
            number,
            save,
        } => {
            bound_memory()?;
            in_thread(|| {
                let home = scratch()?;
                let target = targets::named(&target, home.path())?;
                let made = input_of(&target, seed, number);
                if let Some(folder) = save {
                    made.input.write(&folder)?;
                }
                told(&target, &made, &home)
            })
        }
        Command::Read { target, folder } => {
            bound_memory()?;
            in_thread(|| {
                let home = scratch()?;
                let target = targets::named(&target, home.path())?;
                let made = Made {
                    input: Input::folder(&folder)?,
                    seed: 0,
                    is_sealed: true,
                };
                told(&target, &made, &home)
            })
        }
        Command::List => {
            for name in targets::names() {
                println!("{name}");
            }
            Ok(ExitCode::SUCCESS)
        }
        Command::Work {
            target,
            seed,
            from,
            progress,
            findings,
            milliseconds,
            executions,
        } => {
            bound_memory()?;
            let task = Work {
                target,
                seed,
                from,
                executions: executions.unwrap_or(u64::MAX),
                time: milliseconds.map(Duration::from_millis),
            };
            let progress = File::options().write(true).open(progress)?;
            work(&task, &progress, Some(&findings))?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Executes `made` without catching panics.
fn told(
    target: &probity_fuzz::target::Target,
    made: &Made,
    home: &tempfile::TempDir,
) -> anyhow::Result<ExitCode> {
    let folder = home.path().join("execution");
    std::fs::create_dir_all(&folder)?;
    match execute(target, made, &folder) {
        Ok(seen) => {
            println!("{seen:?}");
            Ok(ExitCode::SUCCESS)
        }
        Err(fault) => {
            println!("{}: {}", fault.kind, fault.message);
            Ok(ExitCode::from(1))
        }
    }
}

fn run(
    budget: Budget,
    seed: Option<u64>,
    targets: &[String],
    findings: PathBuf,
) -> anyhow::Result<ExitCode> {
    let seed = seed.unwrap_or_else(|| u64::from(rand::random::<u32>()));
    let all = targets::names();
    if let Some(unknown) = targets.iter().find(|name| !all.contains(&name.as_str())) {
        anyhow::bail!("there is no target {unknown}; `list` says which there are");
    }
    let is_asked = |name: &&str| targets.is_empty() || targets.iter().any(|asked| asked == name);
    let campaign = Campaign {
        targets: all.into_iter().filter(is_asked).collect(),
        seed,
        budget,
        findings,
    };
    let amount = match budget {
        Budget::Time(time) => format!("{} minutes", time.as_secs_f64() / 60.0),
        Budget::Executions(executions) => format!("{executions} executions of each target"),
    };
    println!("{amount}, seed {seed}, {} targets", campaign.targets.len());
    std::fs::create_dir_all(&campaign.findings)?;
    let tallies = campaign.run()?;
    let found = print(&tallies);
    Ok(match found {
        0 => ExitCode::SUCCESS,
        _ => {
            println!("{found} findings, in {}", campaign.findings.display());
            ExitCode::from(1)
        }
    })
}

fn print(tallies: &BTreeMap<&'static str, Tally>) -> usize {
    let (mut executions, mut found) = (0, 0);
    println!(
        "{:24} {:>12} {:>12} findings",
        "target", "executions", "accepted"
    );
    for (name, tally) in tallies {
        println!(
            "{name:24} {:>12} {:>12} {}",
            tally.executions,
            tally.accepted,
            tally.findings.len()
        );
        executions += tally.executions;
        found += tally.findings.len();
    }
    println!("{:24} {executions:>12}", "all");
    for finding in tallies.values().flat_map(|tally| &tally.findings) {
        println!("{}", supervisor::described(finding));
    }
    found
}
