//! Tests of the fit.

use super::cooccurrence::{Pair, count};
use super::*;
use crate::comments::{CommentGenerator, group_of_words};
use crate::tokenizer::Tokenizer;
use probity_run::stream::{Purpose, stream};
use probity_tensor::device::ComputeDevice;
use probity_tensor::nearest::cosine::{NearestOptions, nearest};
use rand::RngExt;

fn go_on(_: GloveProgress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap()
        .install(work)
}

/// Texts in which `a0`, `a1` … stand where the others of their letter do.
fn texts(count: u64) -> Vec<Vec<String>> {
    let sentence = |item| {
        let mut draws = stream(1, Purpose::Synthetic, item, 9);
        let pattern = ["a b the c", "c of d a", "the b d d", "a the d"][draws.random_range(0..4)];
        pattern
            .split(' ')
            .map(|word| match word.len() {
                1 => format!("{word}{}", draws.random_range(0..4)),
                _ => word.to_owned(),
            })
            .collect()
    };
    (0..count).map(sentence).collect()
}

#[test]
fn pairs_are_counted_as_by_definition() {
    let texts = texts(3000);
    let words = ["the", "a0", "b1", "c2", "d3", "of"];
    let found = on_threads(3, || count(&texts, &words, 2));
    assert_eq!(found, on_threads(1, || count(&texts, &words, 2)));
    let mut expected = vec![0.0; 36];
    for text in &texts {
        let ids: Vec<usize> = text
            .iter()
            .filter_map(|word| words.iter().position(|other| other == word))
            .collect();
        for i in 0..ids.len() {
            for j in 0..ids.len() {
                if i != j && i.abs_diff(j) <= 2 {
                    expected[ids[i] * 6 + ids[j]] += 1.0 / i.abs_diff(j) as f64;
                }
            }
        }
    }
    let mut all = vec![0.0; 36];
    for Pair {
        row,
        column,
        weight,
    } in found
    {
        assert!(weight > 0.0);
        all[(row * 6 + column) as usize] = weight;
    }
    for (x, y) in all.iter().zip(expected) {
        assert!((x - y).abs() < 1e-9);
    }
}

#[test]
fn the_error_falls_and_the_vectors_do_not_depend_on_the_threads() {
    let options = GloveOptions {
        width: 8,
        epochs: 30,
        x_max: 10.0,
        ..GloveOptions::default()
    };
    let mut losses = Vec::new();
    let table = on_threads(4, || {
        fit(&texts(2000), &options, &mut |progress| {
            losses.push(progress.loss);
            ControlFlow::Continue(())
        })
    })
    .unwrap();
    assert_eq!(
        table,
        on_threads(1, || fit(&texts(2000), &options, &mut go_on)).unwrap()
    );
    assert!(
        losses.len() == 30 && losses[29] < 0.2 * losses[0],
        "{losses:?}"
    );
    let other = GloveOptions { seed: 2, ..options };
    assert_ne!(fit(&texts(2000), &other, &mut go_on).unwrap(), table);
}

#[test]
fn words_of_the_same_places_in_comments_become_neighbours() {
    let tokenizer = Tokenizer::without_vocabulary().unwrap();
    let generator = CommentGenerator::new(1);
    let texts: Vec<String> = (0..12_000)
        .map(|item| generator.comment(item).text)
        .collect();
    let texts: Vec<Vec<String>> = tokenizer
        .tokens_of_all(&texts)
        .unwrap()
        .into_iter()
        .map(|tokens| tokens.into_iter().map(|token| token.text).collect())
        .collect();
    let options = GloveOptions {
        width: 25,
        epochs: 40,
        ..GloveOptions::default()
    };
    let table = fit(&texts, &options, &mut go_on).unwrap();
    // The share of a word's five nearest neighbours that stand in its group; at random it is below
    // 0.03.
    for name in ["fool", "food", "vehicle", "weather", "kind", "game"] {
        let group: Vec<&str> = group_of_words(name).unwrap().split(' ').collect();
        let ids: Vec<u32> = group
            .iter()
            .map(|word| table.words().id(word).unwrap())
            .collect();
        let options = NearestOptions {
            k: 5,
            excluded: &[],
        };
        let device = ComputeDevice::flex();
        let near = nearest(table.vectors(), table.width(), &ids, options, &device);
        let own = (0..ids.len())
            .flat_map(|at| near.neighbours(at))
            .filter(|near| ids.contains(near))
            .count();
        let share = own as f64 / (5 * ids.len()) as f64;
        eprintln!("{name}: {share}");
        assert!(share > 0.5, "{name}: {share}");
    }
}

#[test]
fn bad_options_and_corpora_are_refused() {
    let message = |options: GloveOptions, texts: &[Vec<String>]| {
        fit(texts, &options, &mut go_on).unwrap_err().to_string()
    };
    let base = GloveOptions {
        epochs: 2,
        ..GloveOptions::default()
    };
    let some = texts(100);
    assert!(
        message(
            GloveOptions {
                width: 0,
                ..base.clone()
            },
            &some
        )
        .contains("width is 0, but must be from 1 to 4096")
    );
    assert!(
        message(
            GloveOptions {
                x_max: f64::NAN,
                ..base.clone()
            },
            &some
        )
        .contains("x_max is NaN")
    );
    assert!(
        message(
            GloveOptions {
                alpha: 1.5,
                ..base.clone()
            },
            &some
        )
        .contains("alpha is 1.5")
    );
    assert!(message(base.clone(), &[]).contains("only 0 words occur 5 times"));
    let single: Vec<Vec<String>> = ["a", "b"]
        .repeat(9)
        .iter()
        .map(|word| vec![(*word).to_owned()])
        .collect();
    assert!(message(base.clone(), &single).contains("near each other"));
    let stopped = fit(&some, &base, &mut |_| ControlFlow::Break(())).unwrap_err();
    assert!(matches!(stopped, GloveError::Stopped { epochs: 1 }));
}
