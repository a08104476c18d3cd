//! The examples that the help of each command ends with.
//!
//! They are run by a test, in this order and in one folder that begins with the files of the
//! manual, so what one of them makes stands in the later ones.

use clap::Command;

/// The commands, and their examples.
const EXAMPLES: [(&str, &[&str]); 65] = [
    (
        "demo",
        &[
            "probity demo",
            "probity demo text --rows 2000 --out runs/comments",
        ],
    ),
    (
        "schema infer",
        &[
            "probity schema infer people.csv --label-column income --protected sex,origin --out people.toml",
        ],
    ),
    (
        "schema check",
        &["probity schema check people.csv --schema people.toml"],
    ),
    ("schema list", &["probity schema list"]),
    ("schema show", &["probity schema show census > census.toml"]),
    ("data fetch", &["probity data fetch census"]),
    ("data list", &["probity data list"]),
    (
        "data generate",
        &[
            "probity data generate people --rows 3000 --out people.csv",
            "probity data generate comments --rows 2000 --out comments.csv",
            "probity data generate templates --protected religion --out templates.csv",
        ],
    ),
    (
        "lexicon check",
        &[
            "probity lexicon check --texts comments.csv --text-column comment_text --embeddings shipped",
        ],
    ),
    ("lexicon list", &["probity lexicon list"]),
    (
        "lexicon show",
        &["probity lexicon show gender > lexicon.toml"],
    ),
    (
        "embeddings train",
        &["probity embeddings train comments.csv --text-column comment_text --out vectors.txt.xz"],
    ),
    (
        "embeddings neighbours",
        &["probity embeddings neighbours vectors.txt.xz soup fool -k 5"],
    ),
    (
        "import",
        &[
            "probity import --weights census.safetensors --config adf-fnn --schema adf-census --out models/adf",
            "probity import --weights toxic.pt --vocabulary words.txt --unknown-row 1 --padding-row 0 --classes fine,toxic --out models/imported",
            "probity import --hf all-MiniLM-L6-v2 --out models/minilm",
        ],
    ),
    (
        "train",
        &[
            "probity train --data people.csv --schema people.toml --categories onehot --validation 0.1 --out models/people",
            "probity train --texts comments.csv --text-column comment_text --label-column toxic --cell lstm --embeddings shipped --out models/toxic",
            "probity train --texts comments.csv --text-column comment_text --label-column toxic --encoder models/encoder --out models/toxic-encoder",
        ],
    ),
    (
        "export",
        &["probity export --model models/toxic-bert --hf toxic-bert"],
    ),
    (
        "audit",
        &[
            "probity audit --model models/people --data people.csv --protected sex,origin --fail-above 0.3 --out runs/people",
            "probity audit --model models/toxic --texts comments.csv --text-column comment_text --protected religion --out runs/religion",
            "probity audit --model models/toxic --protected gender --text \"She is a doctor.\"",
            "probity audit --predictor onnx:people.onnx --schema people.toml --data people.csv --time 3s --out runs/onnx",
        ],
    ),
    (
        "gate",
        &["probity gate probity.toml --out runs/gate --sarif gate.sarif --junit gate.xml"],
    ),
    (
        "seal",
        &[
            "probity seal runs/people --key auditor.pem",
            "probity verify runs/people --seal auditor-public.pem",
        ],
    ),
    ("verify", &["probity verify runs/people"]),
    (
        "certify",
        &[
            "probity certify --model models/people --data people.csv --protected sex,origin --part test --out runs/proofs",
            "probity certify --model models/toxic --texts comments.csv --text-column comment_text --protected religion --exhaustive --out runs/text-proofs",
        ],
    ),
    (
        "prove",
        &[
            "probity prove --model models/people --protected sex,origin --time 2s --out runs/proven",
            "probity prove --model models/people --protected sex --within age=18..40 --marginals people.csv --time 2s --fail-above 0.5 --out runs/proven-young",
        ],
    ),
    (
        "groups",
        &[
            "probity groups --model models/people --data people.csv --protected sex,age --edges age=30,50 --out runs/groups",
            "probity groups --model models/toxic --texts comments.csv --text-column comment_text --label-column toxic --protected religion,gender --out runs/subgroups",
        ],
    ),
    (
        "counterparts",
        &[
            "probity counterparts --model models/people --data people.csv --protected sex=female --out runs/counterparts",
            "probity counterparts --label --data people.csv --schema people.toml --protected origin=west",
            "probity counterparts --model models/people --data people.csv --protected sex=female --counterpart density --unaffected age",
        ],
    ),
    (
        "proxies",
        &[
            "probity proxies --data people.csv --schema people.toml --protected sex=female",
            "probity proxies --model models/people --data people.csv --schema people.toml --protected sex --out runs/proxies",
        ],
    ),
    (
        "situations",
        &[
            "probity situations --model models/people --data people.csv --protected sex=female --k 20 --out runs/situations",
            "probity situations --label --data people.csv --schema people.toml --protected sex=female,origin=west --k 20",
        ],
    ),
    (
        "predict",
        &[
            "probity predict --model models/people --data people.csv --out predictions.csv",
            "probity predict --model models/toxic --texts comments.csv --text-column comment_text --out toxic.parquet",
        ],
    ),
    (
        "explain",
        &[
            "probity explain --model models/people --data people.csv --row 17 --protected sex,origin --favourable high",
            "probity explain --model models/toxic --texts comments.csv --text-column comment_text --row 2",
            "probity explain --model models/toxic --text \"She is a doctor.\"",
        ],
    ),
    (
        "evaluate",
        &[
            "probity evaluate --model models/people --data people.csv --part test",
            "probity evaluate --model models/toxic --texts comments.csv --text-column comment_text --label-column toxic --part test",
        ],
    ),
    (
        "compare",
        &[
            "probity compare --model models/people --data people.csv --protected sex --strategies adf,sg --time 1s --out runs/strategies",
        ],
    ),
    (
        "repair",
        &[
            "probity repair --model models/people --data people.csv --run runs/people --share 0.002 --max-accuracy-loss 0.1 --max-fairness-loss 0.15 --out models/fairer",
            "probity repair --model models/people --data people.csv --run runs/people --sweep 0.001,0.002 --max-accuracy-loss 0.1 --max-fairness-loss 0.15 --out models/swept",
            "probity repair --model models/toxic --texts comments.csv --protected country --repeats 2 --max-fairness-loss 0.05 --out models/fairer-texts",
        ],
    ),
    (
        "report",
        &[
            "probity report runs/people --out report.html",
            "probity report runs/people models/fairer --out before-after.html",
            "probity report runs/people --format markdown",
            "probity report runs/people --format sarif --out people.sarif",
        ],
    ),
    (
        "run",
        &[
            "probity run friday.toml --out runs/friday",
            "probity run runs/people --out runs/again",
            "probity run friday.toml --shard 1/1 --out runs/friday.shards",
        ],
    ),
    ("merge", &["probity merge runs/friday.shards"]),
    (
        "shard script",
        &[
            "probity shard script friday.toml --for parallel --shards 16 --out runs/night.shards --merged runs/night > night.sh",
        ],
    ),
    (
        "knn",
        &[
            "probity knn --train people.csv --test new.csv --schema people.toml --poison 3 --out runs/knn",
        ],
    ),
    ("knn verify", &["probity knn verify runs/knn"]),
    (
        "knn predict",
        &[
            "probity knn predict --train people.csv --test new.csv --schema people.toml --out predicted.csv",
        ],
    ),
    (
        "kmeans fit",
        &[
            "probity kmeans fit --data people.csv --schema people.toml --clusters 5 --out models/clusters",
        ],
    ),
    (
        "kmeans assign",
        &[
            "probity kmeans assign --model models/clusters --out clusters.csv",
            "probity kmeans assign --model models/clusters --data new.csv --schema people.toml",
        ],
    ),
    (
        "kmeans delete",
        &[
            "probity kmeans delete --model models/clusters --ids 3,17 --verify --data people.csv --schema people.toml",
        ],
    ),
    (
        "kmeans bench",
        &[
            "probity kmeans bench --data people.csv --schema people.toml --clusters 5 --deletions 100",
        ],
    ),
    (
        "spn fit",
        &[
            "probity spn fit --data people.csv --schema people.toml --group-column region --out models/spn",
        ],
    ),
    (
        "spn delete",
        &[
            "probity spn delete --model models/spn --ids 3,17 --verify",
            "probity spn delete --model models/spn --group 7",
        ],
    ),
    (
        "spn query probability",
        &[
            "probity spn query probability --model models/spn --ask income=high --given age=40,sex=female",
        ],
    ),
    (
        "spn query likelihood",
        &["probity spn query likelihood --model models/spn --data new.csv --out scores.csv"],
    ),
    (
        "spn query classify",
        &["probity spn query classify --model models/spn --data new.csv --target income"],
    ),
    (
        "spn query explain",
        &["probity spn query explain --model models/spn --given income=high"],
    ),
    (
        "spn query sample",
        &[
            "probity spn query sample --model models/spn --rows 100 --given sex=female --out drawn.csv",
        ],
    ),
    (
        "spn show",
        &["probity spn show --model models/spn --svg network.svg"],
    ),
    (
        "spn bench",
        &["probity spn bench --data people.csv --schema people.toml --deletions 20 --repeats 2"],
    ),
    (
        "outliers budget",
        &[
            "probity outliers budget --ledger budget.toml --data people.csv --schema people.toml --epsilon 4 --delta 0.02",
            "probity outliers budget --ledger budget.toml",
        ],
    ),
    (
        "outliers count",
        &[
            "probity outliers count --data people.csv --columns age,hours_per_week --range age=18,67,14 --range hours_per_week=0,60,17 --radius 0.35 --k 3 --epsilon 0.5 --delta 0.01 --ledger budget.toml",
        ],
    ),
    (
        "outliers subspaces",
        &[
            "probity outliers subspaces --data people.csv --columns age,hours_per_week,region --schema people.toml --dims 1 --top 2 --radius 0.02 --k 3 --epsilon 1.6 --ledger budget.toml",
        ],
    ),
    (
        "outliers exact",
        &[
            "probity outliers exact --data people.csv --columns age,region --schema people.toml --radius 0.05 --k 3",
        ],
    ),
    (
        "serve",
        &["probity serve --data-dir probity-data --port 8080"],
    ),
    (
        "serve project",
        &["probity serve project lending --data-dir probity-data --max-storage 2GiB"],
    ),
    (
        "serve projects",
        &["probity serve projects --data-dir probity-data"],
    ),
    (
        "serve log",
        &["probity serve log --data-dir probity-data > log.csv"],
    ),
    (
        "serve token",
        &[
            "probity serve token --data-dir probity-data --name ada",
            "probity serve token --data-dir probity-data --name ci --project lending --role editor --days 90",
            "probity serve token --data-dir probity-data --name root --role administrator",
            "probity serve token --data-dir probity-data --name machine-2 --role worker > worker.token",
            "probity serve token --data-dir probity-data --person ada@example.org --role editor",
        ],
    ),
    (
        "serve tokens",
        &["probity serve tokens --data-dir probity-data"],
    ),
    (
        "work",
        &["probity work --service http://127.0.0.1:8080 --token-file worker.token"],
    ),
    ("devices", &["probity devices"]),
    ("completions", &["probity completions bash > probity.bash"]),
    (
        "man",
        &["probity man | man -l -", "probity man audit | man -l -"],
    ),
];

/// The examples of the command `path`, such as `schema infer`.
pub(super) fn find_examples(path: &str) -> &'static [&'static str] {
    let found = EXAMPLES.iter().find(|(name, _)| *name == path);
    found.map_or(&[], |(_, lines)| lines)
}

/// `line` broken before options, as a shell reads it, so that it fits a width of 100.
fn broken(line: &str) -> String {
    let mut broken = String::new();
    let mut width = 0;
    for part in line.split_inclusive(" --") {
        // The dashes of an option stand at the end of the part before it.
        let (part, is_followed) = match part.strip_suffix("--") {
            Some(part) => (part, true),
            None => (part, false),
        };
        if width > 0 && width + part.len() > 92 {
            broken.push_str("\\\n      --");
            width = 6;
        } else if width > 0 {
            broken.push_str("--");
        }
        broken.push_str(part);
        width += part.len() + 2 * usize::from(is_followed);
    }
    broken
}

/// `command` with its examples in front of what its help ends with, and so all below it.
pub(super) fn shown(command: Command, path: &str) -> Command {
    let lines = find_examples(path);
    let rest = command.get_after_help().map(ToString::to_string);
    let header = command.get_styles().get_header().to_owned();
    let mut command = command;
    if !lines.is_empty() {
        let mut text = format!("{header}Examples:{header:#}");
        for line in lines {
            text.push_str(&format!("\n  {}", broken(line)));
        }
        if let Some(rest) = rest {
            text.push_str(&format!("\n\n{rest}"));
        }
        command = command.after_help(text);
    }
    command.mut_subcommands(|below| {
        let path = match path {
            "" => below.get_name().to_owned(),
            path => format!("{path} {}", below.get_name()),
        };
        shown(below, &path)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_broken_before_an_option() {
        let line = format!(
            "probity a --one {} --two {} -k 1",
            "x".repeat(40),
            "y".repeat(40)
        );
        let expected = line.replace("--two", "\\\n      --two");
        assert_eq!(broken(&line), expected);
        assert_eq!(broken("probity a --b c"), "probity a --b c");
    }

    /// The commands that do something, by their paths.
    fn leaves(command: &Command, path: &str, found: &mut Vec<String>) {
        let is_leaf = !command.is_subcommand_required_set() && !command.is_hide_set();
        if is_leaf && !path.is_empty() {
            found.push(path.to_owned());
        }
        for below in command.get_subcommands() {
            let path = format!("{path} {}", below.get_name());
            leaves(below, path.trim(), found);
        }
    }

    #[test]
    #[cfg(feature = "serve")]
    fn every_command_has_an_example_but_the_one_that_needs_a_secret() {
        let mut found = Vec::new();
        leaves(&super::super::definition(), "", &mut found);
        let mut with_example: Vec<&str> = EXAMPLES.iter().map(|(path, _)| *path).collect();
        with_example.push("serve revoke");
        with_example.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, with_example);
    }
}
