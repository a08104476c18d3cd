//! Trainings of small transformers: what learns, and that it goes on where it stopped.

use std::ops::ControlFlow;

use super::{TrainedTransformer, TransformerCheckpoint, TransformerOptions, train_transformer};
use crate::train::Split;
use crate::train::options::TransformerTraining;
use crate::train::text::LabelledTexts;
use crate::transformer::kernels::Kernels;
use crate::transformer::shape::TransformerWeights;

/// Makes texts that are of class 1 if piece 3 is among them.
fn corpus() -> (Vec<Vec<i32>>, Vec<u32>) {
    let texts: Vec<Vec<i32>> = (0..160)
        .map(|text| {
            (0..3 + text % 5)
                .map(|p| (text * 7 + p * p * 3 + text * p) % 12)
                .collect()
        })
        .collect();
    let labels = texts
        .iter()
        .map(|text| u32::from(text.contains(&3)))
        .collect();
    (texts, labels)
}

fn options(freeze: bool) -> TransformerTraining {
    let mut options = TransformerTraining::default();
    options.network = TransformerOptions {
        width: 16,
        heads: 2,
        inner: 16,
        blocks: 1,
        pieces: 8,
        freeze,
        ..TransformerOptions::default()
    };
    options.learning.learning_rate = Some(0.01);
    options.learning.epochs = Some(12);
    options.learning.batch = Some(16);
    options
}

fn train(
    options: &TransformerTraining,
    resume: Option<TransformerCheckpoint>,
    stop_after: usize,
) -> (TrainedTransformer, Option<TransformerCheckpoint>) {
    let (texts, labels) = corpus();
    let corpus = LabelledTexts {
        texts: &texts,
        labels: &labels,
        classes: 2,
    };
    let weights = TransformerWeights::random(options.network.shape(12, 2), 1);
    let split: Split = options.split(texts.len());
    let mut stopped = None;
    let trained = train_transformer(
        corpus,
        weights,
        &split,
        options,
        resume,
        &mut |report, at| match report.epoch as usize == stop_after {
            true => {
                stopped = Some(at());
                ControlFlow::Break(())
            }
            false => ControlFlow::Continue(()),
        },
    );
    (trained.unwrap(), stopped)
}

#[test]
fn a_fresh_network_learns_what_decides() {
    let (trained, _) = train(&options(false), None, 0);
    assert!(trained.finished);
    assert_eq!(trained.learnt, trained.weights.values.len());
    let (texts, labels) = corpus();
    let texts: Vec<&[i32]> = texts.iter().map(Vec::as_slice).collect();
    let logits = Kernels::new(trained.weights).logits(&texts);
    let right = logits.chunks(2).zip(&labels);
    let right = right
        .filter(|(row, label)| u32::from(row[1] > row[0]) == **label)
        .count();
    assert!(right > 150, "{right} of 160");
}

#[test]
fn an_encoder_that_is_frozen_stays_as_it_is() {
    let options = options(true);
    let fresh = TransformerWeights::random(options.network.shape(12, 2), 1);
    let (trained, _) = train(&options, None, 0);
    let start = fresh.shape.head_start();
    assert_eq!(trained.weights.values[..start], fresh.values[..start]);
    assert_ne!(trained.weights.values[start..], fresh.values[start..]);
    assert_eq!(trained.learnt, fresh.values.len() - start);
    let losses: Vec<f64> = trained.history.iter().map(|epoch| epoch.loss).collect();
    assert!(losses.last() < losses.first(), "{losses:?}");
}

#[test]
fn a_training_that_goes_on_ends_as_one_that_did_not_stop() {
    for freeze in [false, true] {
        let options = options(freeze);
        let (whole, _) = train(&options, None, 0);
        let (part, stopped) = train(&options, None, 5);
        assert!(!part.finished && stopped.is_some());
        let (again, _) = train(&options, stopped, 0);
        assert_eq!(again, whole);
    }
}
