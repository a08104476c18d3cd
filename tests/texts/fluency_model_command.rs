//! Audits of texts whose fluency a masked language model measures, by the command: against shares
//! that are computed here, and what is refused.

use std::ops::Range;
use std::path::Path;

use crate::probity_command::refusal::refuses;
use crate::probity_command::{Workspace, figures};
use probity::nn::transformer::masked::{Masked, MaskedKernels};
use probity::nn::transformer::shape::InnerActivation;
use probity::nn::transformer_model::TransformerModel;

fn fixture(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transformers");
    root.join(name).display().to_string()
}

/// The demo on few comments, and masked language models with random weights.
fn workspace() -> Workspace {
    let workspace = Workspace::new();
    workspace.line("demo text --out demo --rows 1000").exits(0);
    for name in ["roberta-masked", "encoder"] {
        let import = ["import", "--hf", &fixture(name), "--out", name];
        workspace.run(import).exits(0);
    }
    workspace
}

const LEAST: f64 = 0.02;

fn audit() -> String {
    format!(
        "audit --model demo/model --texts demo/comments.csv --text-column comment_text \
         --protected religion,gender --seeds 40 --local 20 --estimate 100 --samples csv -q \
         --fluency-model roberta-masked --min-fluency {LEAST}"
    )
}

/// A masked language model that is asked piece by piece, without what the product does around it.
struct Asked {
    model: TransformerModel,
    kernels: MaskedKernels,
}

impl Asked {
    fn new(directory: &Path) -> Asked {
        let model = TransformerModel::load(directory).unwrap();
        let head = model.masked.clone().unwrap();
        // RoBERTa's head has this one, whatever its blocks have.
        let kernels = MaskedKernels::new(model.weights.clone(), head, InnerActivation::Gelu);
        Asked { model, kernels }
    }

    /// The logarithm of the probability of the word in `bytes` of `text`.
    fn likely(&self, text: &str, bytes: &Range<usize>) -> f64 {
        let pieces = self.model.tokenizer.read(text, usize::MAX).unwrap();
        let is_own = |at: &Option<Range<usize>>| {
            at.as_ref()
                .is_some_and(|at| at.start < bytes.end && bytes.start < at.end)
        };
        let own: Vec<usize> = (0..pieces.ids.len())
            .filter(|&piece| is_own(&pieces.bytes[piece]))
            .collect();
        let asked: Vec<i32> = own.iter().map(|&piece| pieces.ids[piece]).collect();
        let (first, last) = (pieces.ids[0], pieces.ids[pieces.ids.len() - 1]);
        let mut inner = pieces.ids[1..pieces.ids.len() - 1].to_vec();
        let mask = self.model.masked.as_ref().unwrap().mask;
        own.iter().for_each(|&piece| inner[piece - 1] = mask);
        // As many pieces before the word as behind it, where there are more than are read.
        let room = self.model.max_length - 2;
        let mut left_out = 0;
        if inner.len() > room {
            let before = (room - own.len()) / 2;
            left_out = (own[0] - 1).saturating_sub(before).min(inner.len() - room);
            inner = inner[left_out..left_out + room].to_vec();
        }
        let start = own[0] - left_out;
        let masked = Masked {
            ids: [vec![first], inner, vec![last]].concat(),
            at: start..start + own.len(),
        };
        let hidden = self.kernels.hidden(&[&masked]).remove(0);
        self.kernels.log_probability(&hidden, &asked)
    }
}

/// Where the words of `text` stand: runs of letters and digits.
fn words(text: &str) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    for (at, letter) in text.char_indices().filter(|(_, c)| c.is_alphanumeric()) {
        let end = at + letter.len_utf8();
        match words.last_mut().filter(|word| word.end == at) {
            Some(word) => word.end = end,
            None => words.push(at..end),
        }
    }
    words
}

struct Sample {
    text: String,
    x: String,
    changed: usize,
}

fn samples(workspace: &Workspace, run: &str) -> Vec<Sample> {
    let file = workspace.read(&format!("{run}/samples.csv"));
    let mut csv = csv::Reader::from_reader(file.as_bytes());
    let names = csv.headers().unwrap().clone();
    let of = |name: &str| names.iter().position(|own| own == name).unwrap();
    let [text, x, changed] = ["text", "x", "changed"].map(of);
    let records = csv.records().map(Result::unwrap);
    let samples = records.map(|record| Sample {
        text: record[text].to_owned(),
        x: record[x].to_owned(),
        changed: record[changed].matches(" -> ").count(),
    });
    samples.collect()
}

/// The share that `sample` keeps of its seed for each changed word.
fn kept(asked: &Asked, sample: &Sample) -> f64 {
    let (before, now) = (words(&sample.text), words(&sample.x));
    assert_eq!(before.len(), now.len(), "{} {}", sample.text, sample.x);
    let (mut sum, mut count) = (0.0, 0);
    for (before, now) in before.iter().zip(&now) {
        let own = &sample.text[before.clone()];
        if own == &sample.x[now.clone()] {
            continue;
        }
        let restored = [&sample.x[..now.start], own, &sample.x[now.end..]].concat();
        let old = asked.likely(&restored, &(now.start..now.start + own.len()));
        sum += asked.likely(&sample.x, now) - old;
        count += 1;
    }
    assert_eq!(count, sample.changed, "{} {}", sample.text, sample.x);
    (sum / count as f64).exp()
}

#[test]
fn every_text_found_keeps_what_is_asked() {
    let workspace = workspace();
    let audit = audit();
    workspace.line(&format!("{audit} --out a")).exits(0);
    let asked = Asked::new(&workspace.path("roberta-masked"));
    let found = samples(&workspace, "a");
    let changed: Vec<&Sample> = found.iter().filter(|sample| sample.changed > 0).collect();
    let several = changed.iter().filter(|sample| sample.changed > 1).count();
    assert!(
        changed.len() > 30 && several > 5,
        "{} {several}",
        changed.len()
    );
    for sample in &changed {
        let kept = kept(&asked, sample);
        assert!(kept > LEAST * 0.999, "{kept}: {} {}", sample.text, sample.x);
    }
    // What the n-grams find would not all be kept.
    let by_ngrams = audit.replace("--fluency-model roberta-masked", "");
    workspace.line(&format!("{by_ngrams} --out n")).exits(0);
    let others = samples(&workspace, "n");
    let others = others.iter().filter(|sample| sample.changed > 0);
    let others: Vec<f64> = others.map(|sample| kept(&asked, sample)).collect();
    assert!(others.iter().any(|&kept| kept < LEAST), "{}", others.len());

    workspace.line("verify a").exits(0);
    let run = workspace.read("a/run.toml");
    let model = workspace.json("roberta-masked/summary.json");
    let hash = model["model_sha256"].as_str().unwrap();
    assert!(
        run.contains(&format!("fluency_model = \"{hash}\"")),
        "{run}"
    );

    // Nothing depends on threads, batches, interruptions and shards.
    let whole = workspace.read("a/samples.csv");
    let line = format!("{audit} --threads 1 --batch 3 --out b");
    workspace.line(&line).exits(0);
    assert_eq!(workspace.read("b/samples.csv"), whole);
    workspace
        .line(&format!("{audit} --time 1ns --out c"))
        .exits(0);
    assert_ne!(workspace.read("c/samples.csv"), whole);
    workspace.line("audit --resume --out c -q").exits(0);
    assert_eq!(workspace.read("c/samples.csv"), whole);
    let of = |run: &str| figures(&workspace.summary(run));
    assert_eq!(of("c"), of("a"));
    // Its global stage, then its local one.
    for _ in 0..2 {
        for shard in ["2/2", "1/2"] {
            let line = format!("run a/run.toml --shard {shard} --out s -q");
            workspace.line(&line).exits(0);
        }
        workspace.line("merge s --out d").exits(0);
    }
    assert_eq!(workspace.read("d/samples.csv"), whole);

    // Another model is not the one that the run was begun with.
    workspace
        .line(&format!("{audit} --time 1ns --out e"))
        .exits(0);
    let other = fixture("bert-masked");
    std::fs::remove_dir_all(workspace.path("roberta-masked")).unwrap();
    workspace
        .run(["import", "--hf", &other, "--out", "roberta-masked"])
        .exits(0);
    workspace
        .line("audit --resume --out e")
        .exits(2)
        .complains(&["roberta-masked"]);
}

#[test]
fn heads_are_kept_trained_without_and_written_back() {
    let workspace = workspace();
    let imported = workspace
        .line(&format!(
            "import --hf {} --out again",
            fixture("roberta-masked")
        ))
        .exits(0)
        .says(&["1 unused", "lm_head.bias", "--fluency-model"]);
    // The others stand on the page.
    assert!(!imported.stdout.contains("lm_head.decoder.weight"));
    workspace.line("export --model again --hf hf").exits(0);
    let config = workspace.json("hf/config.json");
    assert_eq!(config["architectures"][0], "RobertaForMaskedLM");
    assert_eq!(config["tie_word_embeddings"], false);
    workspace.line("import --hf hf --out once-more").exits(0);
    let hash = |run: &str| workspace.json(&format!("{run}/summary.json"))["model_sha256"].clone();
    assert_eq!(hash("again"), hash("once-more"));
    workspace
        .line(
            "train --texts demo/comments.csv --text-column comment_text --label-column toxic \
             --encoder again --epochs 1 --out classifier -q",
        )
        .exits(0);
    let model = TransformerModel::load(workspace.path("classifier")).unwrap();
    assert!(model.masked.is_none() && model.classes.len() == 2);
    workspace
        .line(
            "predict --model classifier --texts demo/comments.csv --text-column comment_text \
             --out p.csv -q",
        )
        .exits(0);
}

#[test]
fn what_measures_nothing_is_refused_by_name() {
    let workspace = workspace();
    let audit = audit();
    let line = |from: &str, to: &str| format!("{} --out x", audit.replace(from, to));
    let given = &format!("--min-fluency {LEAST}");
    for (line, needles) in [
        (
            line("--fluency-model roberta-masked", "--fluency-model encoder"),
            &[
                "--fluency-model is",
                "encoder, but must be a masked",
                "ForMaskedLM",
            ][..],
        ),
        (
            line(
                "--fluency-model roberta-masked",
                "--fluency-model demo/model",
            ),
            &["--fluency-model is", "demo/model", "it is no transformer"],
        ),
        (
            line("-q", "-q --ngrams some.ngrams"),
            &["--ngrams is given", "--fluency-model"],
        ),
        (
            line(given, "--min-fluency 0"),
            &["--fluency-model is given", "--min-fluency above 0"],
        ),
        (
            line(given, "--preset paper"),
            &["--fluency-model is given", "--min-fluency above 0"],
        ),
        (
            line(given, "--preset paper")
                .replace("--fluency-model roberta-masked", "--ngrams some.ngrams"),
            &["--ngrams is given"],
        ),
    ] {
        refuses(&workspace, &line, 2, needles);
    }
}
