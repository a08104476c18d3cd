//! The commands that write, in their smallest form.

use crate::probity_command::{Outcome, Workspace};
use crate::spelt;

/// What a command writes, which decides what is done after it was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A directory with a run that `--resume` goes on with.
    Run,
    /// A directory that is begun again.
    Directory,
    /// One file.
    File,
    /// A model in place of one with more rows.
    Deletion,
}

/// A command that writes.
#[derive(Debug, Clone, Copy)]
pub struct Writer {
    /// What it writes.
    pub kind: Kind,
    line: &'static str,
}

impl Writer {
    /// Its line.
    pub fn line(&self) -> String {
        spelt(self.line)
    }

    /// The name of what it writes.
    pub fn out(&self) -> &'static str {
        let mut words = self.line.split(' ');
        let is_option = |word: &str| ["--out", "--svg"].contains(&word);
        match self.kind {
            Kind::Deletion => words.nth(3),
            _ => words.skip_while(|word| !is_option(word)).nth(1),
        }
        .unwrap()
    }

    /// The line that goes on with it.
    pub fn resume(&self) -> String {
        let (command, _) = self.line.split_once(' ').unwrap();
        match command {
            "run" => format!("run {} --resume", self.out()),
            _ => format!("{command} --resume --out {}", self.out()),
        }
    }

    /// Whether an outcome is that of a command that did its work; a repair may say no.
    pub fn is_done(&self, outcome: &Outcome) -> bool {
        outcome.code == Some(0) || (outcome.code == Some(1) && self.line.starts_with("repair"))
    }

    /// Runs it to its end.
    #[track_caller]
    pub fn runs(&self, workspace: &Workspace, line: &str) {
        let outcome = workspace.line(line);
        assert!(self.is_done(&outcome), "{line}: {outcome:#?}");
    }
}

const fn writer(kind: Kind, line: &'static str) -> Writer {
    Writer { kind, line }
}

/// The commands that write, but for those of ledgers; they begin in `with_texts`.
pub const WRITERS: [Writer; 39] = [
    writer(Kind::Run, "train TABLE --hidden 4 --epochs 3 --out new"),
    writer(
        Kind::Run,
        "train TEXTS --label-column toxic --cell gru --units 2 --layers 1 --epochs 2 --max-length 10 --out new",
    ),
    writer(
        Kind::Run,
        "audit NETWORK --seeds 40 --local 30 --estimate 200 --samples csv --out new",
    ),
    writer(
        Kind::Run,
        "audit --model texts TEXTS --protected country --seeds 3 --local 3 --estimate 10 --samples csv --out new",
    ),
    writer(Kind::Run, "run done --out new"),
    writer(
        Kind::Run,
        "compare NETWORK --strategies adf,random-walk --seeds 5 --local 5 --repeats 2 --out new",
    ),
    writer(
        Kind::Run,
        "repair --model model --data people.csv --run done --sweep 0.1,0.5 --repeats 2 --estimate 100 --epochs 2 --save-anyway --out new",
    ),
    writer(
        Kind::Run,
        "repair --model texts --texts comments.csv --protected country,gender --method certified --repeats 1 --seeds 20 --local 2 --max-found 10 --epochs 1 --save-anyway --out new",
    ),
    writer(
        Kind::Directory,
        "import --weights model/weights.safetensors --config network.toml --schema people.toml --out new",
    ),
    writer(Kind::Directory, "certify NETWORK --out new"),
    writer(
        Kind::Directory,
        "prove --model model --protected sex --max-boxes 40 --estimate 100 --out new",
    ),
    writer(
        Kind::Directory,
        "groups --model model --data people.csv --out new",
    ),
    writer(
        Kind::Directory,
        "groups --model texts TEXTS --label-column toxic --protected country --resamples 20 --out new",
    ),
    writer(
        Kind::Directory,
        "situations --model model --data people.csv --protected sex=female --k 5 --out new",
    ),
    writer(
        Kind::Directory,
        "proxies --data people.csv --schema people.toml --protected sex=female --out new",
    ),
    writer(
        Kind::Directory,
        "counterparts --model model --data people.csv --protected sex=female --out new",
    ),
    writer(
        Kind::Directory,
        "counterparts --model model --data people.csv --protected sex=female --counterpart density --unaffected age --out new",
    ),
    writer(
        Kind::Directory,
        "knn --train people.csv --test people.csv --inputs 5 --schema people.toml --sweep 1,2 --max-k 5 --folds 3 --verdicts csv --out new",
    ),
    writer(Kind::Directory, "kmeans fit TABLE --clusters 3 --out new"),
    writer(
        Kind::Directory,
        "kmeans bench TABLE --clusters 3 --deletions 3 --repeats 1 --out new",
    ),
    writer(Kind::Directory, "spn fit TABLE --out new"),
    writer(
        Kind::Directory,
        "spn bench TABLE --deletions 3 --repeats 1 --out new",
    ),
    writer(Kind::Directory, "demo --rows 300 --out new"),
    writer(Kind::File, "data generate people --rows 30 --out new.csv"),
    writer(
        Kind::File,
        "data generate comments --rows 30 --out new.csv.gz",
    ),
    writer(
        Kind::File,
        "data generate templates --protected race --out new.csv",
    ),
    writer(
        Kind::File,
        "schema infer people.csv --label-column income --out new.toml",
    ),
    writer(
        Kind::File,
        "embeddings train comments.csv --text-column comment_text --min-count 1 --epochs 1 --width 4 --out new.txt",
    ),
    writer(Kind::File, "report done --out new.html"),
    writer(
        Kind::File,
        "knn predict --train people.csv --test people.csv --schema people.toml --max-k 5 --folds 3 --out new.csv",
    ),
    writer(
        Kind::File,
        "predict --model model --data people.csv --out new.csv",
    ),
    writer(Kind::File, "predict --model texts TEXTS --out new.parquet"),
    writer(Kind::File, "kmeans assign --model k --out new.csv"),
    writer(
        Kind::File,
        "spn query likelihood --model s --data people.csv --out new.csv",
    ),
    writer(
        Kind::File,
        "spn query classify --model s --data people.csv --target sex --out new.csv",
    ),
    writer(
        Kind::File,
        "spn query sample --model s --rows 3 --out new.csv",
    ),
    writer(Kind::File, "spn show --model s --svg new.svg"),
    writer(Kind::Deletion, "kmeans delete --model k --ids 7"),
    writer(Kind::Deletion, "spn delete --model s --ids 7"),
];

/// Those of a kind.
pub fn of_kind(kind: Kind) -> impl Iterator<Item = Writer> {
    WRITERS
        .into_iter()
        .filter(move |writer| writer.kind == kind)
}

/// A query with a price. Its answer is drawn anew each time.
pub const COUNT: &str = "outliers count --data people.csv --columns age --range age=18,67 --radius 0.1 --k 3 --epsilon 1 --delta 0.01 --ledger budget.toml --out new";

/// Another one.
pub const SUBSPACES: &str = "outliers subspaces --data people.csv --columns age,hours_per_week --range age=18,67 --range hours_per_week=0,99 --radius 0.1 --k 3 --dims 1 --top 1 --epsilon 1 --ledger budget.toml --out new";

/// No command that writes is missing here: those are the ones that have an option for a place.
#[test]
fn all_commands_that_write_are_listed() {
    // What a gate writes are runs of `run`. What `data fetch` writes has hashes that are known before; `tests/fetch` stops it. The
    // service keeps what it is told in SQLite. `shard script` prints; the folders are for the
    // commands in it. Shards and merges need a folder between them; `tests/command/shards_command.rs`
    // stops them.
    let elsewhere = [
        "data fetch",
        "gate",
        "merge",
        "shard script",
        "serve",
        "serve project",
        "serve projects",
        "serve log",
        "serve token",
        "serve tokens",
        "serve revoke",
    ];
    let places = [
        "--out <",
        "--svg <",
        "--ids <",
        "--ledger <",
        "--cache <",
        "--data-dir <",
    ];
    let ledgers = ["outliers budget --ledger budget.toml", COUNT, SUBSPACES];
    let lines: Vec<&str> = WRITERS
        .iter()
        .map(|writer| writer.line)
        .chain(ledgers)
        .collect();
    let reference = include_str!("../../docs/reference.md");
    for section in reference.split("\n## `probity ").skip(1) {
        let (command, help) = section.split_once('`').unwrap();
        let writes = places.iter().any(|place| help.contains(place));
        let is_listed = lines
            .iter()
            .any(|line| line.starts_with(&format!("{command} ")));
        assert!(
            !writes || is_listed || elsewhere.contains(&command),
            "probity {command} writes and is not listed"
        );
    }
}
