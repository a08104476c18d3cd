//! The metrics against values worked out by hand and against brute force.

use super::alignment::edit_distance;
use super::*;
use crate::frequencies::WordFrequencies;
use probity_run::stream::{Purpose, stream};
use rand::RngExt;

fn split(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

fn close(left: f64, right: f64) {
    assert!((left - right).abs() < 1e-12, "{left} {right}");
}

/// Computes the least edits and, among alignments with so many, the least sum, by trying every
/// alignment.
fn slowly(left: &[usize], right: &[usize], vectors: &[[f32; 2]]) -> (usize, f64) {
    let lone = |token: usize| {
        vectors[token]
            .iter()
            .map(|&x| f64::from(x * x))
            .sum::<f64>()
    };
    let mut all = Vec::new();
    if let ([a, left @ ..], [b, right @ ..]) = (left, right) {
        let (edits, sum) = slowly(left, right, vectors);
        let apart: f64 = vectors[*a]
            .iter()
            .zip(&vectors[*b])
            .map(|(x, y)| f64::from((x - y) * (x - y)))
            .sum();
        all.push(if a == b {
            (edits, sum)
        } else {
            (edits + 1, sum + apart)
        });
    }
    if let [a, left @ ..] = left {
        let (edits, sum) = slowly(left, right, vectors);
        all.push((edits + 1, sum + lone(*a)));
    }
    if let [b, right @ ..] = right {
        let (edits, sum) = slowly(left, right, vectors);
        all.push((edits + 1, sum + lone(*b)));
    }
    all.into_iter()
        .min_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)))
        .unwrap_or((0, 0.0))
}

#[test]
fn edits_and_distances_agree_with_all_alignments() {
    let vectors = [[0.0, 1.0], [3.0, -1.0], [2.0, 2.0], [0.5, 0.0]];
    let mut lengths = [0; 2];
    for item in 0..1500 {
        let mut draws = stream(2, Purpose::Synthetic, item, 0);
        let mut text = || -> Vec<usize> {
            let length = draws.random_range(0..6);
            (0..length).map(|_| draws.random_range(0..4)).collect()
        };
        let (left, right) = (text(), text());
        lengths[usize::from(left.len() != right.len())] += 1;
        let (edits, sum) = edit_distance(&left, &right, |&token| &vectors[token][..]);
        let (least, smallest) = slowly(&left, &right, &vectors);
        assert_eq!(edits, least, "{left:?} {right:?}");
        close(sum, smallest);
        assert_eq!(token_edits(&right, &left), least);
    }
    assert!(lengths[0] > 100 && lengths[1] > 100);
}

#[test]
fn long_texts_with_edits_at_both_ends_are_aligned() {
    let left: Vec<u32> = (0..3000).collect();
    let mut right = left.clone();
    right[0] = 9000;
    right[2999] = 9001;
    assert_eq!(token_edits(&left, &right), 2);
    right.insert(1500, 9002);
    assert_eq!(token_edits(&left, &right), 3);
    right.rotate_left(1);
    assert!(token_edits(&left, &right) <= 5);
    assert_eq!(token_edits(&left, &[]), 3000);
    assert_eq!(token_edits::<u32>(&[], &[]), 0);
}

#[test]
fn bleu_is_what_it_is_by_hand() {
    let reference = split("the cat is on the mat");
    close(bleu(&reference, &reference), 1.0);
    // One of six words replaced: precisions 5/6, 3/5, 2/4, 1/3.
    let one = split("the cat is on the rug");
    close(
        bleu(&reference, &one),
        (5.0 / 6.0 * 4.0 / 5.0 * 3.0 / 4.0 * 2.0 / 3.0_f64).powf(0.25),
    );
    let middle = split("the cat sat on the mat");
    // 5/6, 3/5, 1/4, and no 4-gram of 3.
    close(
        bleu(&reference, &middle),
        (5.0 / 6.0 * 3.0 / 5.0 * 1.0 / 4.0 * 0.1 / 3.0_f64).powf(0.25),
    );
    // Clipping: "the" counts twice.
    let repeated = split("the the the the the the the");
    close(
        bleu(&reference, &repeated),
        (2.0 / 7.0 * 0.1 / 6.0 * 0.1 / 5.0 * 0.1 / 4.0_f64).powf(0.25),
    );
    // Brevity: three of six words, all orders matched.
    close(
        bleu(&reference, &split("the cat is")),
        (1.0 - 6.0 / 3.0_f64).exp(),
    );
    // A longer candidate has no penalty.
    let longer = split("the cat is on the mat now");
    close(
        bleu(&reference, &longer),
        (6.0 / 7.0 * 5.0 / 6.0 * 4.0 / 5.0 * 3.0 / 4.0_f64).powf(0.25),
    );
    close(bleu(&split("a"), &split("a")), 1.0);
    close(bleu(&split("a"), &split("b")), 0.1);
    assert_eq!(
        (bleu::<u8>(&[], &[]), bleu(&[1], &[]), bleu(&[], &[1]) > 0.0),
        (1.0, 0.0, true)
    );
}

#[test]
fn jaccard_is_of_sets() {
    close(jaccard(&split("a b b c"), &split("c b d")), 0.5);
    close(jaccard(&split("a a"), &split("a")), 1.0);
    close(jaccard(&split("a"), &split("b")), 0.0);
    close(jaccard::<u8>(&[], &[]), 1.0);
}

fn table() -> EmbeddingTable {
    let text = "the 1 0 0\ngood 1 1 0\nfine 1 0.9 0.1\nbad 1 -1 0\nday 1 0 1\n";
    EmbeddingTable::from_text(std::path::Path::new("v.txt"), text.as_bytes()).unwrap()
}

fn embedder() -> SentenceEmbedder {
    let texts: Vec<Vec<&str>> = [
        "the good day",
        "the bad day",
        "the the day",
        "bad day unknown",
    ]
    .map(split)
    .to_vec();
    let frequencies = WordFrequencies::from_texts(texts.iter().map(|text| text.iter().copied()));
    SentenceEmbedder::fit(&texts, &table(), frequencies)
}

#[test]
fn a_weighted_mean_and_its_component_are_what_they_are_by_hand() {
    // Words of equal frequency: one text, whose direction is the component, so nothing is left of
    // it.
    let texts = vec![split("good day")];
    let frequencies = WordFrequencies::from_texts(texts.iter().map(|text| text.iter().copied()));
    let embedder = SentenceEmbedder::fit(&texts, &table(), frequencies);
    assert!(
        embedder
            .embed(&split("good day"), &table())
            .iter()
            .all(|x| x.abs() < 1e-15)
    );
    // "bad" does not occur: weight 1. The component is (2, 1, 1) / sqrt 6; (1, -1, 0) has 1 / sqrt
    // 6 along it.
    let left = embedder.embed(&split("bad"), &table());
    for (x, expected) in left
        .iter()
        .zip([1.0 - 2.0 / 6.0, -1.0 - 1.0 / 6.0, -1.0 / 6.0])
    {
        close(*x, expected);
    }
    // "good" is half of the corpus: its weight is a / (a + 0.5); with an unknown word beside it.
    let weighted = embedder.embed(&split("good zebra"), &table());
    let weight = 1e-3 / (1e-3 + 0.5);
    for (x, expected) in weighted.iter().zip([1.0 - 1.0, 1.0 - 0.5, -0.5]) {
        close(*x, weight * expected);
    }
}

#[test]
fn the_component_is_the_direction_of_the_largest_sum_of_squares() {
    let embedder = embedder();
    let mut left = 0.0;
    let mut all = Vec::new();
    for text in [
        "the good day",
        "the bad day",
        "the the day",
        "bad day unknown",
    ]
    .map(split)
    {
        let vector = embedder.embed(&text, &table());
        left += vector.iter().map(|x| x * x).sum::<f64>();
        let plain = SentenceEmbedder::fit::<&str>(&[], &table(), embedder.frequencies().clone());
        all.push(plain.embed(&text, &table()));
    }
    // No other direction, of a fine grid, leaves less.
    for i in 0..60 {
        for j in 0..60 {
            let (a, b) = (f64::from(i) * 0.10472, f64::from(j) * 0.05236);
            let u = [a.cos() * b.sin(), a.sin() * b.sin(), b.cos()];
            let rest: f64 = all
                .iter()
                .map(|v| {
                    let along: f64 = v.iter().zip(u).map(|(x, u)| x * u).sum();
                    v.iter().map(|x| x * x).sum::<f64>() - along * along
                })
                .sum();
            assert!(left <= rest + 1e-12);
        }
    }
}

#[test]
fn similar_words_make_similar_texts() {
    let (table, embedder) = (table(), embedder());
    let measure = ValidityMeasure::new(&table, &embedder);
    let original = split("the good day");
    let near = measure.measure(&original, &split("the fine day"));
    let far = measure.measure(&original, &split("the bad day"));
    assert!(near.similarity > 0.9 && far.similarity < near.similarity);
    assert_eq!((near.l0, far.l0), (1, 1));
    close(far.l2, 2.0);
    let same = measure.measure(&original, &original);
    assert_eq!(
        (same.l0, same.l2, same.jaccard, same.similarity),
        (0, 0.0, 1.0, 1.0)
    );
    // A value of two words for one of one: a substitution and an insertion, of unknown words.
    let longer = measure.measure(&original, &split("the new zealand day"));
    assert_eq!(longer.l0, 2);
    let unknown = measure.measure(&split("x"), &split("y"));
    assert_eq!((unknown.l0, unknown.l2, unknown.similarity), (1, 0.0, 0.0));
}

#[test]
fn an_embedder_is_saved_and_does_not_depend_on_threads() {
    let embedder = embedder();
    let json = serde_json::to_string(&embedder).unwrap();
    assert_eq!(
        serde_json::from_str::<SentenceEmbedder>(&json).unwrap(),
        embedder
    );
    let texts: Vec<Vec<&str>> = (0..2000)
        .map(|i| {
            ["the", "good", "bad", "day", "fine"]
                .into_iter()
                .skip(i % 4)
                .take(1 + i % 3)
                .collect()
        })
        .collect();
    let fit = |threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let frequencies =
            WordFrequencies::from_texts(texts.iter().map(|text| text.iter().copied()));
        pool.install(|| SentenceEmbedder::fit(&texts, &table(), frequencies))
    };
    assert_eq!(fit(1), fit(4));
}
