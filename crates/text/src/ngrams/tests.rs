use std::fs;

use rand::RngExt;

use super::count::Counts;
use super::*;
use probity_run::sealed::{Form, write_value};
use probity_run::stream::{Purpose, stream};

/// Creates texts of up to 9 of `kinds` words, the first ones more frequent.
fn corpus(item: u64, texts: usize, kinds: usize) -> Vec<Vec<String>> {
    let mut draws = stream(1, Purpose::Synthetic, item, 0);
    let word = |draws: &mut probity_run::stream::Stream| {
        let least: f64 = draws.random_range(0.0..1.0_f64).powi(2);
        format!("w{}", (least * kinds as f64) as usize)
    };
    (0..texts)
        .map(|_| {
            let length = draws.random_range(0..10);
            (0..length).map(|_| word(&mut draws)).collect()
        })
        .collect()
}

fn fit(texts: &[Vec<String>], min_count: u64) -> NgramModel {
    NgramModel::fit(
        texts.iter().map(|text| text.iter().map(String::as_str)),
        min_count,
    )
    .unwrap()
}

#[test]
fn probabilities_after_any_two_words_sum_to_one() {
    for (item, texts, kinds) in [(0, 3, 4), (1, 40, 6), (2, 300, 12), (3, 1000, 9)] {
        for min_count in [1, 2, 5] {
            let Ok(model) = NgramModel::fit(
                corpus(item, texts, kinds)
                    .iter()
                    .map(|text| text.iter().map(String::as_str)),
                min_count,
            ) else {
                continue;
            };
            for first in 0..=model.start() {
                for second in 0..=model.start() {
                    let logs =
                        (0..=model.end()).map(|word| model.log_probability([first, second], word));
                    let sum: f64 = logs.clone().map(f64::exp).sum();
                    assert!((sum - 1.0).abs() < 1e-9, "{item} {first} {second}: {sum}");
                    assert!(logs.clone().all(|log| log.is_finite() && log < 0.0));
                    let start = model.log_probability([first, second], model.start());
                    assert_eq!(start, f64::NEG_INFINITY);
                }
            }
        }
    }
}

#[test]
fn a_small_corpus_has_the_probabilities_of_the_definition() {
    let texts = ["a b", "a b", "a c"].map(|text| text.split(' ').map(str::to_owned).collect());
    let model = fit(&texts, 1);
    let id = |word: &str| model.id(word);
    // Discounts are the usual ones. a, b and c each come after one word, the end after two; five
    // words share the uniform part.
    let rest = (3.0 * 0.5 + 1.0) / 5.0;
    let b = (1.0 - 0.5) / 5.0 + rest / 5.0;
    // After a: b and c, each with one word before the a.
    let a_b = (1.0 - 0.5) / 2.0 + (0.5 + 0.5) / 2.0 * b;
    let start_a_b = (2.0 - 1.0) / 3.0 + (1.0 + 0.5) / 3.0 * a_b;
    let near = |found: f64, expected: f64| assert!((found.exp() - expected).abs() < 1e-12);
    near(
        model.log_probability([model.start(), id("a")], id("b")),
        start_a_b,
    );
    near(model.log_probability([id("c"), id("a")], id("b")), a_b);
    near(model.log_probability([id("c"), id("x")], id("b")), b);
    // All three texts begin with a: 3 counts, of which 1.5 are taken.
    let a = (1.0 - 0.5) / 5.0 + rest / 5.0;
    let start_a = 1.5 / 3.0 + 1.5 / 3.0 * a;
    near(model.log_probability([model.start(); 2], id("a")), start_a);
    let end = (2.0 - 1.0) / 5.0 + rest / 5.0;
    let b_end = 0.5 + 0.5 * end;
    let a_b_end = (2.0 - 1.0) / 2.0 + 1.0 / 2.0 * b_end;
    near(model.score(&["a", "b"]), start_a * start_a_b * a_b_end);
}

#[test]
fn discounts_are_those_of_the_paper() {
    let counts = [1; 40].into_iter().chain([2; 15]).chain([3; 8]);
    let counts = counts.chain([4; 5]).chain([9; 3]);
    let discounts = super::smooth::discounts_of(counts);
    let y = 40.0 / 70.0;
    let expected = [
        1.0 - 2.0 * y * 15.0 / 40.0,
        2.0 - 3.0 * y * 8.0 / 15.0,
        3.0 - 4.0 * y * 5.0 / 8.0,
    ];
    assert_eq!(discounts, expected);
    assert_eq!(
        super::smooth::discounts_of([1, 1, 2].into_iter()),
        [0.5, 1.0, 1.5]
    );
}

#[test]
fn what_is_no_number_of_a_word_is_an_unknown_one() {
    let texts = corpus(7, 400, 20);
    let model = fit(&texts, 2);
    for text in &texts {
        assert_eq!(model.score_ids(&model.ids(text)), model.score(text));
    }
    let beyond = model.log_probability([model.start(), u32::MAX], u32::MAX);
    let unknown = model.unknown();
    assert_eq!(
        beyond,
        model.log_probability([model.start(), unknown], unknown)
    );
}

#[test]
fn words_are_numbered_like_vectors_and_rare_ones_are_unknown() {
    let texts = corpus(9, 200, 30);
    let frequencies = crate::frequencies::WordFrequencies::from_texts(
        texts.iter().map(|text| text.iter().map(String::as_str)),
    );
    for min_count in [1, 10] {
        let model = fit(&texts, min_count);
        let expected = frequencies.most_frequent(min_count);
        assert!(
            model
                .words()
                .iter()
                .eq(expected.iter().map(|(word, _)| *word))
        );
        assert_eq!(model.id("never"), model.unknown());
    }
    let rare = fit(&texts, 10);
    assert!(rare.score(&["never"]) > fit(&texts, 1).score(&["never"]));
    let none = NgramModel::fit([["a", "b"]], 2).unwrap_err().to_string();
    assert!(none.contains("no word occurs 2 times"), "{none}");
    assert!(NgramModel::fit([[""; 0]], 1).is_err());
}

#[test]
fn a_text_like_those_of_the_corpus_is_likelier_than_its_words_in_another_order() {
    let comments: Vec<Vec<String>> = (0..300)
        .map(|i| {
            let who = ["she", "he", "the boss", "my friend"][i % 4];
            let what = ["is late again", "made a good soup", "was here today"][i % 3];
            format!("{who} {what}")
                .split(' ')
                .map(str::to_owned)
                .collect()
        })
        .collect();
    let model = fit(&comments, 1);
    let text = ["the", "boss", "made", "a", "good", "soup"];
    let other = ["boss", "the", "soup", "good", "a", "made"];
    assert!(model.score(&text) > model.score(&other) + 7.0);
}

#[test]
fn what_is_written_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("model.ngrams");
    let model = fit(&corpus(11, 200, 15), 2);
    model.write(fs::File::create(&file).unwrap()).unwrap();
    let back = NgramModel::read(&file).unwrap();
    for text in corpus(12, 50, 20) {
        assert_eq!(back.score(&text), model.score(&text));
    }
    let mut bytes = Vec::new();
    back.write(&mut bytes).unwrap();
    assert_eq!(bytes, fs::read(&file).unwrap());
    for cut in [0, 10, bytes.len() - 1] {
        fs::write(&file, &bytes[..cut]).unwrap();
        assert!(matches!(NgramModel::read(&file), Err(NgramError::File(_))));
    }
}

#[test]
fn counts_of_no_texts_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("model.ngrams");
    let form = Form {
        kind: "n-gram model",
        version: "1",
    };
    // Two words: unknown is 2, the end 3, the start 4.
    let sound = || Counts {
        words: vec!["a".into(), "b".into()],
        starts: vec![(0, 1)],
        trigrams: vec![([0, 1, 3], 1), ([4, 0, 1], 1)],
    };
    let read = |counts: &Counts| {
        write_value(&file, form, counts).unwrap();
        NgramModel::read(&file).map_err(|error| error.to_string())
    };
    read(&sound()).unwrap();
    type Change = fn(&mut Counts);
    let changes: [(Change, &str); 11] = [
        (|counts| counts.words.clear(), "no words"),
        (|counts| counts.words[1] = "a".into(), "twice"),
        (|counts| counts.starts.clear(), "counts nothing"),
        (|counts| counts.trigrams.clear(), "counts nothing"),
        (|counts| counts.starts[0].0 = 3, "no counts"),
        (|counts| counts.starts[0].1 = 0, "no counts"),
        (|counts| counts.trigrams[0].0[2] = 4, "no counts"),
        (|counts| counts.trigrams[0].0[1] = u32::MAX, "no counts"),
        (|counts| counts.trigrams[0].1 = 0, "no counts"),
        (|counts| counts.trigrams.swap(0, 1), "no counts"),
        (|counts| counts.trigrams[0].0[0] = 1, "of no texts"),
    ];
    for (change, expected) in changes {
        let mut counts = sound();
        change(&mut counts);
        let error = read(&counts).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}
