//! Training on small texts whose class depends on the order of their tokens.

use std::ops::ControlFlow;

use super::tensors::Tensors;
use super::*;
use crate::optimizer::OptimizerName;
use crate::predicted_class;
use crate::recurrent::backward::Batch;
use crate::recurrent::kernels::Kernels;
use crate::recurrent::network::CellKind;
use crate::train::options::{ClassWeights, Learning, RecurrentOptions};
use probity_run::stream::{Purpose, stream};
use probity_tensor::device::ComputeDevice;
use rand::RngExt;

const DIMENSION: usize = 8;
const TOKENS: i32 = 30;

struct Corpus {
    texts: Vec<Vec<i32>>,
    labels: Vec<u32>,
    embeddings: Vec<f32>,
}

impl Corpus {
    /// Makes 600 texts of 0 to 24 tokens; class 1 when token 7 comes before any token 3.
    fn new() -> Corpus {
        let mut stream = stream(2, Purpose::UniformInput, 0, 0);
        let texts: Vec<Vec<i32>> = (0..600)
            .map(|_| {
                let length = stream.random_range(0..25);
                (0..length)
                    .map(|_| stream.random_range(0..TOKENS))
                    .collect()
            })
            .collect();
        let label = |text: &Vec<i32>| {
            let first = text.iter().find(|&&id| id == 7 || id == 3);
            u32::from(first == Some(&7))
        };
        Corpus {
            labels: texts.iter().map(label).collect(),
            texts,
            embeddings: (0..TOKENS as usize * DIMENSION)
                .map(|_| stream.random_range(-1.0..1.0))
                .collect(),
        }
    }

    fn labelled(&self) -> LabelledTexts<'_> {
        LabelledTexts {
            texts: &self.texts,
            labels: &self.labels,
            classes: 2,
        }
    }

    fn table(&self) -> EmbeddingTable<'_> {
        EmbeddingTable {
            values: &self.embeddings,
            dimension: DIMENSION,
        }
    }

    fn train(
        &self,
        options: &TextOptions,
        resume: Option<TextCheckpoint>,
        observe: &mut Observe<'_, TextCheckpoint>,
    ) -> Result<TrainedText, TrainError> {
        let split = options.split(self.texts.len());
        train_text(
            self.labelled(),
            self.table(),
            &split,
            options,
            &ComputeDevice::flex(),
            resume,
            observe,
        )
    }
}

fn small(cell: CellKind) -> TextOptions {
    TextOptions {
        network: RecurrentOptions {
            cell,
            layers: 1,
            units: 6,
            max_length: 20,
            ..RecurrentOptions::default()
        },
        learning: Learning {
            epochs: Some(4),
            batch: Some(40),
            ..Learning::default()
        },
    }
}

fn go_on(_: &EpochReport, _: &dyn Fn() -> TextCheckpoint) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

#[test]
fn learns_what_depends_on_order() {
    let corpus = Corpus::new();
    for cell in [CellKind::Lstm, CellKind::Gru] {
        let mut options = small(cell);
        options.learning.epochs = Some(40);
        options.learning.learning_rate = Some(0.03);
        options.learning.weight_decay = Some(0.0);
        let trained = corpus.train(&options, None, &mut go_on).unwrap();
        let split = options.split(corpus.texts.len());
        let kernels = Kernels::new(&trained.weights);
        let table = corpus.table();
        let logits = text_logits(&kernels, table, corpus.labelled(), &split.test, 20);
        let right = logits
            .chunks_exact(2)
            .zip(&split.test)
            .filter(|(logits, item)| predicted_class(logits) == corpus.labels[**item as usize])
            .count();
        assert!(right >= 112, "{cell:?}: {right} of {}", split.test.len());
        assert_eq!(trained.embeddings, None);
        assert!(trained.finished);
    }
}

#[test]
fn threads_change_no_bit() {
    let corpus = Corpus::new();
    let mut options = small(CellKind::Lstm);
    options.network.train_embeddings = true;
    options.learning.class_weights = ClassWeights::Balanced;
    let trained = [1, 3].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| corpus.train(&options, None, &mut go_on).unwrap())
    });
    assert_eq!(trained[0], trained[1]);
    let embeddings = trained[0].embeddings.as_ref().unwrap();
    assert_ne!(embeddings, &corpus.embeddings, "they learned");
}

#[test]
fn a_resumed_training_is_the_uninterrupted_one() {
    let corpus = Corpus::new();
    for (optimizer, train_embeddings) in [(OptimizerName::Adamw, true), (OptimizerName::Sgd, false)]
    {
        let mut options = small(CellKind::Gru);
        options.learning.optimizer = optimizer;
        options.network.train_embeddings = train_embeddings;
        let whole = corpus.train(&options, None, &mut go_on).unwrap();
        let mut saved = None;
        let part = corpus.train(&options, None, &mut |report, checkpoint| {
            saved = Some(checkpoint());
            if report.epoch == 2 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        assert!(!part.unwrap().finished);
        let resumed = corpus.train(&options, saved.clone(), &mut go_on).unwrap();
        assert_eq!(resumed, whole);
        let mut other = options;
        other.learning.batch = Some(41);
        let foreign = corpus.train(&other, saved, &mut go_on);
        assert!(matches!(foreign, Err(TrainError::ForeignCheckpoint)));
    }
}

#[test]
fn tokens_behind_the_longest_length_do_not_matter() {
    let mut corpus = Corpus::new();
    let options = small(CellKind::Lstm);
    let whole = corpus.train(&options, None, &mut go_on).unwrap();
    corpus.texts.iter_mut().for_each(|text| text.truncate(20));
    assert_eq!(corpus.train(&options, None, &mut go_on).unwrap(), whole);
}

#[test]
fn what_cannot_be_trained_is_an_error() {
    let mut corpus = Corpus::new();
    let options = small(CellKind::Lstm);
    let mut weighted = options.clone();
    weighted.learning.class_weights = ClassWeights::Given(vec![1.0; 3]);
    let error = weighted.check(2).unwrap_err().to_string();
    assert!(error.starts_with("training.class_weights is 1,1,1"));
    corpus.labels.fill(1);
    let one_class = corpus.train(&options, None, &mut go_on);
    assert!(matches!(one_class, Err(TrainError::OneClass { .. })));
    corpus.texts[5].push(TOKENS);
    let token = corpus.train(&options, None, &mut go_on);
    assert!(matches!(
        token,
        Err(TrainError::Model(ModelError::Token { id: TOKENS, .. }))
    ));
}

/// Trains by burn on the CPU, and returns the reports of the epochs and the parameters at the end.
fn by_burn(corpus: &Corpus, options: &TextOptions) -> (Vec<EpochReport>, Vec<f32>) {
    let flex = ComputeDevice::flex();
    let split = options.split(corpus.texts.len());
    let rows = count_classes(&corpus.labels, &split.train, 2).unwrap();
    let mut trainer = Trainer::new(
        corpus.labelled(),
        corpus.table(),
        &split,
        options,
        &rows,
        None,
        &flex,
    );
    trainer.tensors = Some(Tensors::on(&flex));
    let pace = (&options.learning, trainer.pace);
    let fitted = Fitting::new(trainer, pace, 0).run(None, &mut go_on);
    let fitted = fitted.unwrap_or_else(|error| panic!("{error}"));
    (fitted.history, fitted.parameters.0)
}

/// The losses of burn's autodiff are those of the kernels, whose order of sums is another: within
/// 1e-3 of themselves after every epoch. Burn gives the same bits every time.
#[test]
fn burn_learns_as_the_kernels_do() {
    let corpus = Corpus::new();
    for cell in [CellKind::Lstm, CellKind::Gru] {
        let mut options = small(cell);
        (options.network.layers, options.network.bidirectional) = (2, true);
        options.network.train_embeddings = true;
        options.learning.class_weights = ClassWeights::Balanced;
        let by_kernels = corpus.train(&options, None, &mut go_on).unwrap();
        let (history, values) = by_burn(&corpus, &options);
        assert_eq!(history.len(), 4);
        for (own, kernels) in history.iter().zip(&by_kernels.history) {
            let error = (own.loss - kernels.loss).abs();
            assert!(error <= 1e-3 * kernels.loss, "{own:?}, {kernels:?}");
        }
        assert_eq!(by_burn(&corpus, &options), (history, values));
    }
}

/// The texts have no tokens, and rare classes weigh much.
#[test]
fn gradients_of_burn_are_those_of_the_kernels() {
    let corpus = Corpus::new();
    let weights = RecurrentWeights::random(small(CellKind::Gru).network.shape(DIMENSION, 2), 3);
    let (kernels, tensors) = (Kernels::new(&weights), Tensors::on(&ComputeDevice::flex()));
    let empty = corpus.texts.iter().filter(|text| text.is_empty());
    let empty: Vec<&[i32]> = empty.map(Vec::as_slice).collect();
    let all: Vec<&[i32]> = corpus.texts.iter().map(Vec::as_slice).collect();
    for texts in [&all[..70], &empty] {
        let batch = Batch {
            texts,
            labels: &corpus.labels[..texts.len()],
            class_weights: &[0.3, 17.0],
        };
        let expected = kernels.batch_gradients(corpus.table(), batch, true);
        let own = tensors.gradients(&weights, corpus.table(), batch, true);
        let own = own.unwrap();
        let embeddings = [&own, &expected].map(|all| all.embeddings.clone().unwrap());
        assert_eq!(embeddings[0].tokens, embeddings[1].tokens);
        let numbers = own.parameters.iter().chain(&embeddings[0].values);
        let references = expected.parameters.iter().chain(&embeddings[1].values);
        for (own, expected) in numbers.zip(references) {
            assert!((own - expected).abs() <= 1e-5, "{own} {expected}");
        }
        assert!((own.loss - expected.loss).abs() <= 1e-5);
    }
}
