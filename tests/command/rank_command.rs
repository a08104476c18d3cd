//! Pairs the worst first: by the command, in samples, shards and reports.

use std::collections::BTreeSet;

use crate::probity_command::refusal::refuses;
use crate::probity_command::{Workspace, figures};
use probity::unlearning::spn::Variable;
use probity::unlearning::spn::model::SpnModel;

const AUDIT: &str = "audit --model demo/model --data demo/people.csv --protected sex,origin --seeds 40 \
                     --local 40 --estimate 50 --samples csv";

/// The samples of a run: its lines, and in each how far the score moves and, if it says so, how
/// plausible the pair is.
fn samples(workspace: &Workspace, run: &str) -> Vec<(String, f64, Option<f64>)> {
    let text = workspace.read(&format!("{run}/samples.csv"));
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let place = |name: &str| names.iter().position(|of| *of == name);
    let [x, other] = ["logit_x_", "logit_other_"]
        .map(|prefix| ["low", "high"].map(|class| place(&format!("{prefix}{class}")).unwrap()));
    let graded = place("plausibility");
    lines
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let number = |at: usize| cells[at].parse::<f64>().unwrap();
            let score = |[low, high]: [usize; 2]| 1.0 / (1.0 + (number(low) - number(high)).exp());
            let gap = (score(x) - score(other)).abs();
            (line.to_owned(), gap, graded.map(number))
        })
        .collect()
}

fn lines(samples: &[(String, f64, Option<f64>)]) -> BTreeSet<&str> {
    samples.iter().map(|(line, ..)| line.as_str()).collect()
}

#[test]
fn the_largest_differences_come_first() {
    let workspace = Workspace::with_demo(1500);
    workspace.line(&format!("{AUDIT} --out found")).exits(0);
    workspace
        .line(&format!("{AUDIT} --rank gap --out ranked --verbose"))
        .exits(0)
        .says(&[
            "the one whose score moves farthest",
            "All pairs are in samples.csv",
        ]);
    let (found, ranked) = (samples(&workspace, "found"), samples(&workspace, "ranked"));
    assert!(ranked.is_sorted_by(|(_, a, _), (_, b, _)| *a >= b - 1e-6));
    assert!(!found.is_sorted_by(|(_, a, _), (_, b, _)| *a >= b - 1e-6));
    assert_eq!(lines(&found), lines(&ranked));
    let summary = workspace.summary("ranked");
    assert_eq!(summary["rank"], "gap");
    assert_eq!(summary["finds"], workspace.summary("found")["finds"]);
    workspace.line("verify ranked").exits(0);

    // Shards come to the same file.
    for _stage in 1..=2 {
        for shard in 1..=3 {
            workspace
                .line(&format!(
                    "run ranked/run.toml --shard {shard}/3 --out shards"
                ))
                .exits(0);
        }
        workspace.line("merge shards --out cut").exits(0);
    }
    assert_eq!(figures(&summary), figures(&workspace.summary("cut")));
    assert!(workspace.read("ranked/samples.csv") == workspace.read("cut/samples.csv"));

    // A report shows them in this order, and counts what it counts otherwise.
    let [one, two] = ["found", "ranked"].map(|run| {
        let report = workspace.line(&format!("report {run} --format json"));
        report.exits(0).json()["runs"][0]["findings"]["pairs"].clone()
    });
    for same in ["pairs", "flips", "together", "searched", "rows"] {
        assert_eq!(one[same], two[same], "{same}");
    }
    let shown = two["shown"].as_array().unwrap();
    let numbers = shown.iter().map(|pair| pair["number"].as_u64().unwrap());
    assert!(numbers.clone().is_sorted() && numbers.clone().next() == Some(1));
}

#[test]
fn the_most_plausible_pairs_come_first() {
    let workspace = Workspace::with_demo(1500);
    let audit = format!("{AUDIT} --plausibility fit");
    workspace.line(&format!("{audit} --out found")).exits(0);
    workspace
        .line(&format!("{audit} --rank density --out ranked"))
        .exits(0);
    let (found, ranked) = (samples(&workspace, "found"), samples(&workspace, "ranked"));
    assert!(ranked.is_sorted_by(|(.., a), (.., b)| a.unwrap() >= b.unwrap()));
    assert_eq!(lines(&found), lines(&ranked));
    let graded = |run: &str| workspace.summary(run)["plausibility"].clone();
    assert_eq!(graded("found"), graded("ranked"));
    workspace.line("report ranked --out ranked.html").exits(0);
    let page = workspace.read("ranked.html");
    assert!(page.contains("the most plausible one") && page.contains("worst first</option>"));
}

/// By the densities of the network themselves, which knows the protected attributes and the label as
/// well; of equal ones, such as those that it takes for impossible, that found first comes first.
#[test]
fn pairs_come_by_the_density_of_what_is_not_protected() {
    let workspace = Workspace::with_demo(1500);
    let data = workspace.read("demo/people.csv");
    let young = data
        .lines()
        .enumerate()
        .filter(|(at, line)| *at == 0 || *line < "4");
    let young: Vec<&str> = young.map(|(_, line)| line).collect();
    assert!(young.len() > 300 && young.len() < 1200, "{}", young.len());
    workspace.write("young.csv", young.join("\n") + "\n");
    workspace
        .line(
            "spn fit --data young.csv --schema synthetic-census --leaf age=categorical --smoothing 0 \
             --out network",
        )
        .exits(0);
    for more in ["", "--gap 0.2"] {
        let audit = format!("{AUDIT} --plausibility network {more}");
        let [found, ranked] = ["found", "ranked"].map(|run| format!("{run}{}", more.len()));
        workspace.line(&format!("{audit} --out {found}")).exits(0);
        workspace
            .line(&format!(
                "{audit} --rank density --threads 1 --batch 7 --out {ranked}"
            ))
            .exits(0);
        let mut pairs = densities(&workspace, &found);
        let impossible = pairs
            .iter()
            .filter(|pair| pair.0 == f64::NEG_INFINITY)
            .count();
        assert!(
            impossible > 5 && impossible < pairs.len() - 5,
            "{impossible}"
        );
        pairs.sort_by(|a, b| b.0.partial_cmp(&a.0).unwrap());
        assert!(pairs == densities(&workspace, &ranked));
    }
}

/// The lines of the samples of a run, each with the logarithm of the density of its x.
fn densities(workspace: &Workspace, run: &str) -> Vec<(f64, String)> {
    let model = SpnModel::load(&workspace.path("network")).unwrap();
    let network = model.spn.network();
    let text = workspace.read(&format!("{run}/samples.csv"));
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let pair = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let value = |variable: &Variable| {
            let name = variable.name();
            let is_known = !["sex", "origin", "income"].contains(&name);
            let place = || names.iter().position(|of| *of == format!("x_{name}"));
            is_known.then(|| variable.parse(cells[place().unwrap()]).unwrap())
        };
        let evidence: Vec<Option<f64>> = network.variables().iter().map(value).collect();
        (network.log_density(&evidence), line.to_owned())
    };
    lines.map(pair).collect()
}

/// The walk of `frontier` goes where the differences are.
#[test]
fn a_search_for_the_largest_differences_finds_larger_ones() {
    let workspace = Workspace::with_demo(1500);
    let audit = format!("{AUDIT} --strategy frontier");
    let mut best = Vec::new();
    for rank in ["", "--rank gap"] {
        let out = format!("by{}", best.len());
        workspace
            .line(&format!("{audit} {rank} --out {out}"))
            .exits(0);
        let mut gaps: Vec<f64> = samples(&workspace, &out).iter().map(|of| of.1).collect();
        gaps.sort_by(|a, b| b.total_cmp(a));
        best.push(gaps[..50].iter().sum::<f64>() / 50.0);
    }
    assert!(best[1] > best[0], "{best:?}");
}

#[test]
fn what_has_no_density_is_refused() {
    let workspace = Workspace::with_demo(300);
    refuses(
        &workspace,
        &format!("{AUDIT} --rank density --out refused"),
        2,
        &["--rank is density", "plausibility given"],
    );
    workspace.write("texts.txt", "she is kind\n");
    refuses(
        &workspace,
        "audit --model demo/model --texts texts.txt --rank density --out refused",
        2,
        &["--rank is density", "gap: no density is known of texts"],
    );
}
