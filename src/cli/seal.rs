//! `probity seal`: signs what the files of a run are. `probity verify --seal` checks it.

use std::path::PathBuf;

use anyhow::ensure;
use clap::Args;

use super::exit_code::ExitCode;
use super::output::Output;
use super::render::count;
use probity::run::run_directory::RunDirectory;
use probity::run::seal::{CheckedSeals, MadeFrom, PrivateKey, PublicKey, Sealed, check, seal};

/// Arguments of `probity seal`.
#[derive(Debug, Args)]
#[command(
    after_help = "The key is a file of yours: openssl genpkey -algorithm ed25519 -out auditor.pem makes one, \
                  and openssl pkey -in auditor.pem -pubout -out auditor-public.pem what others check your seals by.\n\
                  The seal is the file seal.json in the directory of the run: an in-toto statement in a DSSE envelope. \
                  A sealed run cannot be gone on with."
)]
pub(super) struct SealArgs {
    /// Directory of a run, or of a model that was trained, imported or repaired
    run: PathBuf,
    /// Private key of Ed25519 (PKCS#8, PEM)
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// Directory of a run that this one was made from, if that has moved since; may be repeated
    #[arg(long, value_name = "DIR")]
    from: Vec<PathBuf>,
}

/// Runs `probity seal`.
pub(super) fn run(args: &SealArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let key = PrivateKey::read(&args.key)?;
    if let (Ok(run), Ok(file)) = (args.run.canonicalize(), args.key.canonicalize()) {
        ensure!(
            !file.starts_with(run),
            "{} is in the directory of the run, and would go wherever that goes; keep it elsewhere",
            args.key.display()
        );
    }
    let sealed = seal(&args.run, &key, &args.from)?;
    output.summary("seal", &sealed, &render(&sealed))
}

fn render(sealed: &Sealed) -> String {
    let mut text = format!(
        "Seal: {}, of {} files, by the key {}\n",
        sealed.file.display(),
        count(sealed.files as u64),
        sealed.key
    );
    text.push_str(&stopped(sealed.ending.as_deref()));
    text.push_str(&parents(&sealed.made_from));
    text
}

/// What `probity verify` checks of seals.
#[derive(Debug, Args)]
pub(super) struct SealChecks {
    /// Check files, seal and chain first, by the public key (PEM) of whoever sealed them; may be
    /// repeated
    #[arg(long, value_name = "PUBLIC_KEY")]
    seal: Vec<PathBuf>,
    /// Directory of a run that this one was made from, if that has moved since it was sealed; may
    /// be repeated
    #[arg(long, value_name = "DIR", requires = "seal")]
    from: Vec<PathBuf>,
    /// Check the seals alone
    #[arg(long, requires = "seal")]
    no_replay: bool,
}

impl SealChecks {
    /// Whether the claims of the run are not to be checked one by one.
    pub fn is_all(&self) -> bool {
        self.no_replay
    }

    /// Where the model of a run is by its `checked` seals and the directories that were named.
    pub fn model_by(&self, checked: &CheckedSeals) -> Option<PathBuf> {
        checked.place_of("model", &self.from)
    }

    /// Checks the seals of `run` and of those that it was made from, if that is asked.
    pub fn check(&self, run: &std::path::Path) -> anyhow::Result<Option<CheckedSeals>> {
        if self.seal.is_empty() {
            return Ok(None);
        }
        if !run.is_dir() {
            // That there is no run is no verdict on one.
            RunDirectory::open(run)?;
        }
        let keys = self.seal.iter().map(|file| PublicKey::read(file));
        let keys: Vec<PublicKey> = keys.collect::<Result<_, _>>()?;
        Ok(Some(check(run, &keys, &self.from)))
    }
}

/// What came of checking seals, in words.
pub(super) fn render_checked(checked: &CheckedSeals) -> String {
    let mut text = String::new();
    for run in &checked.runs {
        text.push_str(&format!(
            "{}: {}, {} files, sealed {} by the key {}\n",
            run.directory.display(),
            run.kind,
            count(run.files as u64),
            run.sealed,
            run.key
        ));
        text.push_str(&stopped(run.ending.as_deref()));
        text.push_str(&parents(&run.made_from));
    }
    match checked.problems.is_empty() {
        true => text.push_str("Every file is as it was sealed.\n"),
        false => text.push_str("Refused:\n"),
    }
    for problem in &checked.problems {
        let file = problem.file.display();
        text.push_str(&format!("  {file} {}\n", problem.problem));
    }
    text
}

/// That a search was stopped before its end.
fn stopped(ending: Option<&str>) -> String {
    match ending {
        None | Some("complete") => String::new(),
        Some(ending) => format!("  stopped before its end: {ending}\n"),
    }
}

/// The runs that a run was made from.
fn parents(made_from: &[MadeFrom]) -> String {
    let line = |from: &MadeFrom| {
        let sealed = from.seal.as_ref().map_or(", not sealed", |_| "");
        let directory = from.directory.display();
        format!("  made from {directory} ({}){sealed}\n", from.role)
    };
    made_from.iter().map(line).collect()
}
