//! The supervisor of worker processes: each worker gets a slice of time or a number of executions.
//!
//! A worker that dies, or that stays with one execution for too long, has found something: its
//! number is in the file of its progress. The next worker goes on behind it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;

use crate::execute::input_of;
use crate::targets;
use crate::worker::{Finding, Progress, scratch};

/// How long an execution may take before it is examined.
const LIMIT: Duration = Duration::from_secs(20);
/// How long an execution may take when it is repeated alone: a machine may be slow, or a seed may
/// end its worker.
const LIMIT_ALONE: Duration = Duration::from_secs(300);
/// How long a target may take to make its seeds.
const SEEDS: Duration = Duration::from_secs(600);
/// How often the progress of workers is examined.
const LOOK: Duration = Duration::from_millis(50);
/// The shortest and the longest time of a worker.
const SLICE: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(60));

/// How long a campaign goes on.
#[derive(Debug, Clone, Copy)]
pub enum Budget {
    /// Runs for this much time in all; how many executions that makes depends on the machine.
    Time(Duration),
    /// Runs this many executions of each target: with a seed, they have the same inputs on any
    /// machine.
    Executions(u64),
}

/// What a campaign executes, for how long, and where its findings go.
#[derive(Debug, Clone)]
pub struct Campaign {
    /// The names of the targets.
    pub targets: Vec<&'static str>,
    /// The seed of all keys.
    pub seed: u64,
    /// How long the campaign goes on.
    pub budget: Budget,
    /// The folder that findings are written to.
    pub findings: PathBuf,
}

/// The results of a target.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// The number of executions.
    pub executions: u64,
    /// The number of inputs that were accepted.
    pub accepted: u64,
    /// The findings, one for each cause.
    pub findings: Vec<Finding>,
}

/// The way in which a worker ended.
enum End {
    Done,
    Died(ExitStatus),
    Hung,
}

impl Campaign {
    /// Runs the campaign: the targets in turn, each of them at least once.
    ///
    /// # Errors
    /// When workers cannot be started, or the seeds of a target cannot be made.
    pub fn run(&self) -> anyhow::Result<BTreeMap<&'static str, Tally>> {
        let home = scratch()?;
        let mut tallies: BTreeMap<&'static str, Tally> = BTreeMap::new();
        let mut causes = BTreeSet::new();
        let mut turn = |target: &'static str, slice: Budget| {
            let tally = tallies.entry(target).or_default();
            self.slice(target, tally, slice, home.path(), &mut causes)
        };
        match self.budget {
            Budget::Executions(_) => {
                for &target in &self.targets {
                    turn(target, self.budget)?;
                }
            }
            Budget::Time(time) => {
                let began = Instant::now();
                let count = u32::try_from(self.targets.len()).unwrap_or(u32::MAX).max(1);
                let slice = (time / count).clamp(SLICE.0, SLICE.1);
                let mut round = 0;
                while round == 0 || began.elapsed() + slice / 2 < time {
                    for &target in &self.targets {
                        if round > 0 && began.elapsed() + slice / 2 >= time {
                            break;
                        }
                        turn(target, Budget::Time(slice))?;
                    }
                    round += 1;
                }
            }
        }
        Ok(tallies)
    }

    /// Has workers execute `target` until `slice` is used up.
    fn slice(
        &self,
        target: &'static str,
        tally: &mut Tally,
        slice: Budget,
        home: &Path,
        causes: &mut BTreeSet<String>,
    ) -> anyhow::Result<()> {
        let began = Instant::now();
        loop {
            let from = tally.executions;
            let left = match slice {
                Budget::Time(time) => Budget::Time(time.saturating_sub(began.elapsed())),
                Budget::Executions(most) => Budget::Executions(most.saturating_sub(from)),
            };
            let (word, number) = match left {
                Budget::Executions(0) => return Ok(()),
                Budget::Time(time) if time.is_zero() => return Ok(()),
                Budget::Time(time) => ("--milliseconds", time.as_millis().to_string()),
                Budget::Executions(number) => ("--executions", number.to_string()),
            };
            let log = home.join("log");
            let file = home.join("progress");
            let progress = File::create_new(&file).or_else(|_| {
                let opened = File::options().read(true).write(true).open(&file)?;
                opened.set_len(0)?;
                Ok::<_, std::io::Error>(opened)
            })?;
            let child = Command::new(std::env::current_exe()?)
                .args(["work", target, &self.seed.to_string(), &from.to_string()])
                .arg(&file)
                .arg(&self.findings)
                .args([word, &number])
                .env("RAYON_NUM_THREADS", "2")
                .stdin(Stdio::null())
                .stdout(File::create(&log)?)
                .stderr(File::create(home.join("errors"))?)
                .spawn()
                .context("a worker cannot be started")?;
            let progress = File::open(&file).map(|read| (read, progress))?.0;
            let end = watch(child, &progress)?;
            let reached = Progress::read(&progress);
            let written = std::fs::read_to_string(&log)?;
            let mut found: Vec<Finding> = written
                .lines()
                .filter_map(|line| serde_json::from_str(line).ok())
                .collect();
            let errors = std::fs::read_to_string(home.join("errors")).unwrap_or_default();
            anyhow::ensure!(
                reached.has_begun,
                "the seeds of {target} cannot be made: {errors}"
            );
            tally.accepted += reached.accepted;
            tally.executions = reached.number;
            let mut ended = |kind: &str, message: String| {
                tally.executions += 1;
                found.push(Finding {
                    target: target.to_owned(),
                    seed: self.seed,
                    number: reached.number,
                    kind: kind.to_owned(),
                    message,
                });
            };
            match end {
                End::Done => {}
                End::Died(status) => {
                    let last: Vec<&str> = errors.lines().rev().take(3).collect();
                    ended("abort", format!("{status}: {}", last.join(" | ")));
                }
                End::Hung => match self.ends_alone(target, reached.number)? {
                    true => tally.executions += 1,
                    false => ended(
                        "hang",
                        format!("more than {} seconds", LIMIT_ALONE.as_secs()),
                    ),
                },
            }
            for finding in found {
                if !causes.insert(finding.cause()) {
                    let _ = std::fs::remove_dir_all(finding.place(&self.findings));
                    continue;
                }
                if matches!(finding.kind.as_str(), "abort" | "hang") {
                    self.keep(&finding)?;
                }
                eprintln!("{}", described(&finding));
                tally.findings.push(finding);
            }
        }
    }

    /// Whether an execution ends when it runs in a process of its own.
    fn ends_alone(&self, target: &str, number: u64) -> anyhow::Result<bool> {
        let mut child = Command::new(std::env::current_exe()?)
            .args([
                "replay",
                target,
                &self.seed.to_string(),
                &number.to_string(),
            ])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let began = Instant::now();
        while began.elapsed() < LIMIT_ALONE {
            if child.try_wait()?.is_some() {
                return Ok(true);
            }
            std::thread::sleep(LOOK);
        }
        child.kill()?;
        child.wait()?;
        Ok(false)
    }

    /// Writes the input of an execution that ended its worker to the folder of findings.
    fn keep(&self, finding: &Finding) -> anyhow::Result<()> {
        let home = scratch()?;
        let target = targets::named(&finding.target, home.path())?;
        let place = finding.place(&self.findings);
        let made = input_of(&target, finding.seed, finding.number);
        made.input.write(&place.join("found"))?;
        std::fs::write(
            place.join("finding.json"),
            serde_json::to_vec_pretty(finding)?,
        )?;
        Ok(())
    }
}

/// Describes a finding in a line, with the command that runs it again.
pub fn described(finding: &Finding) -> String {
    let Finding {
        target,
        seed,
        number,
        kind,
        message,
    } = finding;
    format!("{target}: {kind}: {message}\n    replay {target} {seed} {number}")
}

/// Waits for a worker to end, and kills one whose progress stands still for too long.
fn watch(mut child: Child, progress: &File) -> anyhow::Result<End> {
    let mut last = (Progress::default(), Instant::now());
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(match status.success() {
                true => End::Done,
                false => End::Died(status),
            });
        }
        let now = Progress::read(progress);
        if now != last.0 {
            last = (now, Instant::now());
        }
        let limit = match now.has_begun {
            true => LIMIT,
            false => SEEDS,
        };
        if last.1.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Ok(End::Hung);
        }
        std::thread::sleep(LOOK);
    }
}
