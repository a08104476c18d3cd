//! Trainings of small transformers: what learns, and that it goes on where it stopped.

use std::ops::ControlFlow;

use super::trainer::Trainer;
use super::{TrainedTransformer, TransformerCheckpoint, TransformerOptions, train_transformer};
use crate::train::Split;
use crate::train::fitting::{EpochReport, Fitting};
use crate::train::options::TransformerTraining;
use crate::train::split::count_classes;
use crate::train::text::LabelledTexts;
use crate::transformer::kernels::Kernels;
use crate::transformer::shape::TransformerWeights;
use crate::transformer::tensor::TransformerLearning;
use probity_tensor::device::ComputeDevice;

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

fn labelled<'a>((texts, labels): (&'a [Vec<i32>], &'a [u32])) -> LabelledTexts<'a> {
    LabelledTexts {
        texts,
        labels,
        classes: 2,
    }
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
    let corpus = labelled((&texts, &labels));
    let weights = TransformerWeights::random(options.network.shape(12, 2), 1);
    let split: Split = options.split(texts.len());
    let mut stopped = None;
    let trained = train_transformer(
        (corpus, weights),
        &split,
        options,
        &ComputeDevice::flex(),
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

/// Trains by burn on the CPU, and returns the reports of the epochs and the parameters at the end.
fn by_burn(options: &TransformerTraining) -> (Vec<EpochReport>, Vec<f32>) {
    let (texts, labels) = corpus();
    let corpus = labelled((&texts, &labels));
    let weights = TransformerWeights::random(options.network.shape(12, 2), 1);
    let split: Split = options.split(texts.len());
    let rows = count_classes(&labels, &split.train, 2).unwrap();
    let flex = ComputeDevice::flex();
    let mut trainer = Trainer::new((corpus, &weights), &split, options, &rows, &flex);
    trainer.tensors = Some(TransformerLearning::on(&flex));
    let pace = (&options.learning, trainer.pace);
    let go_on =
        &mut |_: &EpochReport, _: &dyn Fn() -> TransformerCheckpoint| ControlFlow::Continue(());
    let fitted = Fitting::new(trainer, pace, 0).run(None, go_on);
    let fitted = fitted.unwrap_or_else(|error| panic!("{error}"));
    (fitted.history, fitted.parameters)
}

/// The losses of burn's autodiff are those of the kernels, whose order of sums is another: within
/// 1e-3 after each of the first four epochs. Burn gives the same bits every time.
#[test]
fn burn_learns_as_the_kernels_do() {
    for freeze in [false, true] {
        let mut options = options(freeze);
        options.learning.epochs = Some(4);
        let (by_kernels, _) = train(&options, None, 0);
        let (history, values) = by_burn(&options);
        assert_eq!(history.len(), 4);
        for (own, kernels) in history.iter().zip(&by_kernels.history) {
            assert!(
                (own.loss - kernels.loss).abs() <= 1e-3,
                "{own:?}, {kernels:?}"
            );
        }
        assert_eq!(by_burn(&options), (history, values));
    }
}
