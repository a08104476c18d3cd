//! `probity shard script`: what hands the shards of a run to machines, one script for all stages.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use clap::{Args, Subcommand, ValueEnum};

use super::exit_code::ExitCode;
use super::numbers::{threads, whole};
use super::output::Output;
use super::run::divisible;
use probity::fairness::audit::AuditSpecification;
use probity::fairness::compare::CompareSpecification;
use probity::run::run_directory::{RUN, SUMMARY};
use probity::run::shards::MOST_SHARDS;
use probity::run::specification::Specification;
use probity::run::specification::file::{kind_of, read};

/// Arguments of `probity shard`.
#[derive(Debug, Args)]
pub(super) struct ShardArgs {
    #[command(subcommand)]
    command: ShardCommand,
}

#[derive(Debug, Subcommand)]
enum ShardCommand {
    /// Print a script that runs all shards of a run, and merges them
    Script(ScriptArgs),
}

/// Arguments of `probity shard script`.
#[derive(Debug, Args)]
#[command(
    after_help = "All machines need probity, and the paths of the specification, its inputs and --out."
)]
struct ScriptArgs {
    /// Specification (TOML), or the directory of a run
    specification: PathBuf,
    /// What hands them out
    #[arg(long = "for", value_name = "SYSTEM")]
    system: System,
    /// Shards
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=MOST_SHARDS.into()), allow_hyphen_values = true)]
    shards: u32,
    /// Folder that all shards share
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Run directory that they are merged into
    #[arg(long, value_name = "DIR")]
    merged: PathBuf,
    /// CPU threads of a shard
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = threads(), allow_hyphen_values = true)]
    threads: u16,
    /// Container image with probity in it
    #[arg(long, value_name = "NAME", required_if_eq("system", "kubernetes"))]
    image: Option<String>,
    /// Persistent volume claim that holds the specification, its inputs, --out and --merged
    #[arg(long, value_name = "NAME", required_if_eq("system", "kubernetes"))]
    claim: Option<String>,
    /// Where the volume is mounted [default: this folder]
    #[arg(long, value_name = "DIR")]
    mount: Option<PathBuf>,
}

/// What hands shards to machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum System {
    /// Array jobs, each after the one before it
    Slurm,
    /// Indexed jobs, each after the one before it
    Kubernetes,
    /// GNU parallel on this machine
    Parallel,
}

/// Runs `probity shard`.
pub(super) fn run(args: ShardArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let ShardCommand::Script(args) = args.command;
    output.refuse_json("shard script")?;
    let file = match args.specification.is_dir() {
        true => args.specification.join(RUN),
        false => args.specification.clone(),
    };
    let only = [("image", &args.image), ("claim", &args.claim)];
    let given = only.iter().find(|(_, given)| given.is_some());
    if let Some((name, _)) = given.filter(|_| args.system != System::Kubernetes) {
        bail!("--{name} is for Kubernetes only");
    }
    let absolute = |path: &Path| std::path::absolute(path);
    ensure!(
        absolute(&args.out)? != absolute(&args.merged)?,
        "--merged is the folder of the shards; give the run a directory of its own"
    );
    ensure!(
        !args.out.join(SUMMARY).exists(),
        "{} holds a run that is complete; give the shards a folder of their own",
        args.out.display()
    );
    let script = Script {
        stages: stages(&file)?,
        specification: quoted(&file)?,
        folder: quoted(&args.out)?,
        merged: quoted(&args.merged)?,
        shards: args.shards,
        threads: args.threads,
    };
    let text = match args.system {
        System::Parallel => script.parallel(),
        System::Slurm => script.slurm(),
        System::Kubernetes => script.kubernetes(&args)?,
    };
    output.result(&(), &text)
}

/// The stages of the run that `file` specifies.
fn stages(file: &Path) -> anyhow::Result<&'static [&'static str]> {
    let kind = kind_of(file)?;
    ensure!(
        divisible().contains(&kind.as_str()),
        "a run of the kind '{kind}' cannot be cut into shards; these can: {}",
        divisible().join(", ")
    );
    if kind == CompareSpecification::KIND {
        read::<CompareSpecification>(file)?.0.expect_divisible()?;
    }
    if kind != AuditSpecification::KIND {
        return Ok(&["items"]);
    }
    let (audit, _) = read::<AuditSpecification>(file)?;
    audit.expect_divisible()?;
    Ok(match audit.search.local {
        0 => &["global"],
        _ => &["global", "local"],
    })
}

/// `path`, from the root, as one word of a shell.
fn quoted(path: &Path) -> anyhow::Result<String> {
    let path = std::path::absolute(path)?;
    let path = path.to_str().context("a path that is not in UTF-8")?;
    ensure!(
        !path.contains(char::is_control),
        "the path {path:?} has control characters"
    );
    Ok(word(path))
}

fn word(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

struct Script {
    stages: &'static [&'static str],
    specification: String,
    folder: String,
    merged: String,
    shards: u32,
    threads: u16,
}

impl Script {
    /// What does the shard whose number the shell's `number` stands for.
    fn shard(&self, number: &str, threads: &str) -> String {
        let (specification, folder, of) = (&self.specification, &self.folder, self.shards);
        format!(
            "probity run {specification} --out {folder} --threads {threads} --shard {number}/{of}"
        )
    }

    /// What merges a stage: the last one into the run directory. All name it, so that a script that
    /// is run again ends at once where it is complete.
    fn merge(&self) -> String {
        format!("probity merge {} --out {}", self.folder, self.merged)
    }

    fn parallel(&self) -> String {
        let mut text =
            "#!/bin/sh\n# What fails is done by running this again.\nset -e\n".to_owned();
        let threads = self.threads.to_string();
        for _ in self.stages {
            // GNU parallel hands its words to another shell.
            let shard = word(&self.shard("{}", &threads));
            let merge = self.merge();
            let _ = writeln!(
                text,
                "seq {} | parallel --halt soon,fail=1 {shard}\n{merge}",
                self.shards
            );
        }
        text
    }

    fn slurm(&self) -> String {
        let mut text =
            "#!/bin/sh\n# Hands in array jobs. What fails is done by handing them in again.\nset -e\n"
                .to_owned();
        for (place, stage) in self.stages.iter().enumerate() {
            let shard = self.shard("\"$SLURM_ARRAY_TASK_ID\"", "\"$SLURM_CPUS_PER_TASK\"");
            let after = match place {
                0 => "",
                _ => " --dependency=\"afterok:$merge\"",
            };
            let _ = write!(
                text,
                "shards=$(sbatch --parsable --job-name=probity-{stage} --array=1-{of} --cpus-per-task={threads}{after} <<'JOB'\n#!/bin/sh\nexec {shard}\nJOB\n)\nmerge=$(sbatch --parsable --job-name=probity-merge --dependency=\"afterok:$shards\" <<'JOB'\n#!/bin/sh\nexec {merge}\nJOB\n)\n",
                of = self.shards,
                threads = self.threads,
                merge = self.merge()
            );
        }
        text.push_str("echo \"$merge\"\n");
        text
    }

    fn kubernetes(&self, args: &ScriptArgs) -> anyhow::Result<String> {
        let out = std::path::absolute(&args.out)?;
        let mount = std::path::absolute(args.mount.as_deref().unwrap_or(Path::new(".")))?;
        for (what, path) in [
            ("the specification", &args.specification),
            ("--out", &args.out),
            ("--merged", &args.merged),
        ] {
            let path = std::path::absolute(path)?;
            ensure!(
                path.starts_with(&mount),
                "{what}, {}, is not on the volume, which is mounted at {}; move it there, or give --mount",
                path.display(),
                mount.display()
            );
        }
        let name = slug(&out.file_name().unwrap_or_default().to_string_lossy());
        let mut text =
            "#!/bin/sh\n# Runs indexed jobs one after the other. What fails is done by running this again.\nset -e\n\
             conditions() { kubectl get job \"$1\" -o \"jsonpath={.status.conditions[*].type}\"; }\n\
             ended() { conditions \"$1\" | grep -q -e Complete -e Failed; }\n\
             is_complete() { conditions \"$1\" | grep -q Complete; }\n"
                .to_owned();
        for stage in self.stages {
            let number = "$((JOB_COMPLETION_INDEX + 1))";
            let threads = self.threads.to_string();
            let steps = [
                (
                    format!("probity-{name}-{stage}"),
                    self.shard(number, &threads),
                    self.shards,
                ),
                (format!("probity-{name}-{stage}-merge"), self.merge(), 1),
            ];
            for (job, command, completions) in steps {
                let job_json = serde_json::json!({
                    "apiVersion": "batch/v1",
                    "kind": "Job",
                    "metadata": { "name": job },
                    "spec": {
                        "completions": completions,
                        "parallelism": completions,
                        "completionMode": "Indexed",
                        "backoffLimitPerIndex": 3,
                        "template": { "spec": {
                            "restartPolicy": "Never",
                            "containers": [{
                                "name": "probity",
                                "image": args.image,
                                "command": ["/bin/sh", "-c", format!("exec {command}")],
                                "resources": { "requests": { "cpu": threads } },
                                "volumeMounts": [{ "name": "work", "mountPath": mount }],
                            }],
                            "volumes": [{
                                "name": "work",
                                "persistentVolumeClaim": { "claimName": args.claim },
                            }],
                        }},
                    },
                });
                let job_text = serde_json::to_string_pretty(&job_json)?;
                let _ = write!(
                    text,
                    "kubectl delete --ignore-not-found job {job}\nkubectl apply -f - <<'JOB'\n{job_text}\nJOB\nuntil ended {job}; do sleep 10; done\nis_complete {job}\n"
                );
            }
        }
        Ok(text)
    }
}

/// `name` as a part of a name in Kubernetes: small letters, digits and hyphens.
fn slug(name: &str) -> String {
    let kept = name.chars().map(|sign| match sign.to_ascii_lowercase() {
        sign if sign.is_ascii_alphanumeric() => sign,
        _ => '-',
    });
    let slug: String = kept.take(30).collect();
    match slug.trim_matches('-') {
        "" => "run".to_owned(),
        slug => slug.to_owned(),
    }
}
