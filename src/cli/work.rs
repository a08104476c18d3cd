//! `probity work`

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;

use super::exit_code::ExitCode;
use super::invocation;
use super::numbers::{self, whole};
use super::output::{Output, print};
use super::serve::{asked_to_end, keep_private};
use probity::serve::work::{Worker, WorkerOptions};

/// The variable of the environment that holds the token.
const TOKEN: &str = "PROBITY_TOKEN";

/// Jobs at the same time at most.
const MOST_AT_ONCE: u64 = 1024;

/// Arguments of `probity work`.
#[derive(Debug, Args)]
#[command(
    after_help = "The token is that of a worker (probity serve token --role worker), in the file that --token-file names or in the environment as PROBITY_TOKEN.\nCtrl-C gives the jobs back with what they have; others go on with them."
)]
pub(super) struct WorkArgs {
    /// Address of the service, such as https://audits.example.org
    #[arg(long, value_name = "URL")]
    service: String,
    /// File that holds the token [default: PROBITY_TOKEN of the environment]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Folder for what jobs read and write meanwhile; no other worker may use it
    #[arg(long, value_name = "DIR", default_value = "probity-work")]
    work_dir: PathBuf,
    /// Jobs that run at the same time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::<u16>(1..=MOST_AT_ONCE), allow_hyphen_values = true)]
    jobs: u16,
    /// Threads of a job [default: half of the cores]
    #[arg(long, value_name = "N", value_parser = numbers::threads(), allow_hyphen_values = true)]
    job_threads: Option<u16>,
    /// How often it is looked for a new checkpoint of a job, which is then sent [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = numbers::time(), allow_hyphen_values = true)]
    save_every: Option<Duration>,
}

/// Runs `probity work`.
pub(super) fn run(args: WorkArgs, output: &Output) -> anyhow::Result<ExitCode> {
    output.refuse_json("work")?;
    keep_private();
    let program = invocation::program()?;
    let token = token(&args)?;
    let mut options = WorkerOptions::new(args.service.clone(), token, args.work_dir, program);
    options.jobs = args.jobs.into();
    options.threads = args.job_threads.unwrap_or(options.threads);
    options.save_every = args.save_every.unwrap_or(options.save_every);
    if args.service.starts_with("http:") {
        output.remark(
            "note: what is sent to this address is not encrypted, the token and the data among it; use https where others can listen",
        );
    }
    let worker = Worker::open(options)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .context("cannot start the threads of the worker")?;
    runtime.block_on(async {
        print(&format!("Probity works for {}\n", args.service))?;
        worker.run(asked_to_end()).await?;
        Ok(ExitCode::SUCCESS)
    })
}

/// The token, from where nobody else sees it.
fn token(args: &WorkArgs) -> anyhow::Result<String> {
    let (text, place) = match &args.token_file {
        Some(file) => {
            let text = std::fs::read_to_string(file);
            let text = text.with_context(|| format!("cannot read {}", file.display()))?;
            (text, file.display().to_string())
        }
        None => match std::env::var(TOKEN) {
            Ok(text) => (text, TOKEN.to_owned()),
            Err(_) => bail!("there is no token: give --token-file, or set {TOKEN}"),
        },
    };
    let token = text.trim();
    let is_token = !token.is_empty() && token.chars().all(|c| c.is_ascii_graphic());
    if !is_token {
        bail!("{place} holds no token; probity serve token --role worker makes one");
    }
    Ok(token.to_owned())
}
