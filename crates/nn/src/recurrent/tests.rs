//! The kernels against the plain f64 loops, finite differences, and themselves in other batches.

use rand::RngExt;

use super::backward::Batch;
use super::kernels::{EmbeddingTable, Kernels};
use super::network::{CellKind, RecurrentWeights, Shape};
use super::prefix::{Base, Continuation};
use super::reference;
use probity_run::stream::{Purpose, stream};

const VOCABULARY: usize = 23;

struct Case {
    weights: RecurrentWeights,
    table: Vec<f32>,
    texts: Vec<Vec<i32>>,
}

impl Case {
    fn new(shape: Shape, lengths: &[usize], seed: u64) -> Case {
        let mut weights = RecurrentWeights::random(shape, seed);
        let mut stream = stream(seed, Purpose::UniformInput, 0, 0);
        // Larger than fresh ones, so that gates saturate now and then.
        for value in &mut weights.values {
            *value += stream.random_range(-0.7..0.7);
        }
        let table = (0..VOCABULARY * shape.inputs)
            .map(|_| stream.random_range(-1.5..1.5))
            .collect();
        let texts = lengths
            .iter()
            .map(|&length| {
                (0..length)
                    .map(|_| stream.random_range(0..VOCABULARY as i32))
                    .collect()
            })
            .collect();
        Case {
            weights,
            table,
            texts,
        }
    }

    fn table(&self) -> EmbeddingTable<'_> {
        EmbeddingTable {
            values: &self.table,
            dimension: self.weights.shape.inputs,
        }
    }

    fn texts(&self) -> Vec<&[i32]> {
        self.texts.iter().map(Vec::as_slice).collect()
    }

    fn embeddings(&self, text: usize) -> Vec<Vec<f64>> {
        let dimension = self.weights.shape.inputs;
        let vector = |&token: &i32| {
            let row = &self.table[token as usize * dimension..][..dimension];
            row.iter().map(|&value| f64::from(value)).collect()
        };
        self.texts[text].iter().map(vector).collect()
    }
}

/// Makes shapes of every cell, number of layers and direction, with odd sizes.
fn shapes() -> Vec<Shape> {
    let mut shapes = Vec::new();
    for cell in [CellKind::Lstm, CellKind::Gru] {
        for layers in 1..=3 {
            for bidirectional in [false, true] {
                for (inputs, units, classes) in [(5, 3, 2), (7, 10, 3), (1, 1, 1), (4, 9, 2)] {
                    shapes.push(Shape {
                        cell,
                        inputs,
                        units,
                        layers,
                        bidirectional,
                        classes,
                    });
                }
            }
        }
    }
    shapes
}

const RAGGED: [usize; 21] = [
    0, 1, 9, 4, 4, 0, 17, 2, 3, 8, 1, 5, 6, 7, 30, 11, 12, 1, 0, 21, 3,
];

fn close(own: f32, exact: f64, tolerance: f64) -> bool {
    (f64::from(own) - exact).abs() <= tolerance * (1.0 + exact.abs())
}

#[test]
fn logits_equal_plain_loops() {
    for (seed, shape) in shapes().into_iter().enumerate() {
        let case = Case::new(shape, &RAGGED, seed as u64);
        let logits = Kernels::new(&case.weights).logits(case.table(), &case.texts());
        let values = reference::wide(&case.weights);
        for (text, logits) in logits.chunks_exact(shape.classes).enumerate() {
            let exact = reference::logits(&case.weights, &values, &case.embeddings(text));
            for (&own, exact) in logits.iter().zip(exact) {
                assert!(close(own, exact, 1e-5), "{shape:?} {text}: {own} {exact}");
            }
        }
    }
}

#[test]
fn a_text_alone_in_any_batch_and_on_any_threads_is_bit_equal() {
    for (seed, shape) in shapes().into_iter().enumerate() {
        let case = Case::new(shape, &RAGGED, seed as u64);
        let kernels = Kernels::new(&case.weights);
        let (table, texts) = (case.table(), case.texts());
        let width = 33;
        let cotangents: Vec<f32> = (0..texts.len() * shape.classes)
            .map(|i| (i % 5) as f32 - 1.5)
            .collect();
        let logits = kernels.logits(table, &texts);
        let gradients = kernels.input_gradients(table, &texts, &cotangents, width);
        let classes = shape.classes;
        let per_text = width * shape.inputs;
        for (i, &text) in texts.iter().enumerate() {
            let own = &logits[i * classes..][..classes];
            assert_eq!(kernels.logits(table, &[text]), own);
            let weights = &cotangents[i * classes..][..classes];
            let alone = kernels.input_gradients(table, &[text], weights, width);
            assert_eq!(alone, &gradients[i * per_text..][..per_text]);
            assert!(alone[text.len() * shape.inputs..].iter().all(|&g| g == 0.0));
        }
        let reversed: Vec<&[i32]> = texts.iter().rev().copied().collect();
        let mut backwards = kernels.logits(table, &reversed);
        backwards = backwards
            .chunks_exact(classes)
            .rev()
            .flatten()
            .copied()
            .collect();
        assert_eq!(backwards, logits);
        let batch = Batch {
            texts: &texts,
            labels: &vec![0; texts.len()],
            class_weights: &vec![1.0; classes],
        };
        let learned = kernels.batch_gradients(table, batch, true);
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| {
                let fresh = Kernels::new(&case.weights);
                assert_eq!(fresh.logits(table, &texts), logits);
                assert_eq!(
                    fresh.input_gradients(table, &texts, &cotangents, width),
                    gradients
                );
                assert_eq!(fresh.batch_gradients(table, batch, true), learned);
            });
        }
    }
}

#[test]
fn input_gradients_equal_finite_differences() {
    for (seed, shape) in shapes().into_iter().enumerate() {
        let case = Case::new(shape, &[0, 1, 6, 3], seed as u64);
        let width = 7;
        let cotangents: Vec<f32> = (0..4 * shape.classes)
            .map(|i| (i % 3) as f32 - 0.8)
            .collect();
        let gradients = Kernels::new(&case.weights).input_gradients(
            case.table(),
            &case.texts(),
            &cotangents,
            width,
        );
        let values = reference::wide(&case.weights);
        for text in 0..4 {
            let embeddings = case.embeddings(text);
            let weights = &cotangents[text * shape.classes..][..shape.classes];
            let objective = |embeddings: &[Vec<f64>]| -> f64 {
                let logits = reference::logits(&case.weights, &values, embeddings);
                logits
                    .iter()
                    .zip(weights)
                    .map(|(l, &w)| l * f64::from(w))
                    .sum()
            };
            for position in 0..embeddings.len() {
                for i in 0..shape.inputs {
                    let at = |step: f64| {
                        let mut moved = embeddings.clone();
                        moved[position][i] += step;
                        objective(&moved)
                    };
                    let exact = (at(1e-5) - at(-1e-5)) / 2e-5;
                    let own = gradients[(text * width + position) * shape.inputs + i];
                    assert!(close(own, exact, 2e-5), "{shape:?}: {own} {exact}");
                }
            }
        }
    }
}

/// Computes the mean class-weighted cross-entropy by plain loops.
fn loss(case: &Case, values: &[f64], labels: &[u32], class_weights: &[f32]) -> f64 {
    let (mut sum, mut total) = (0.0, 0.0);
    for (text, &label) in labels.iter().enumerate() {
        let logits = reference::logits(&case.weights, values, &case.embeddings(text));
        let weight = f64::from(class_weights[label as usize]);
        let normaliser: f64 = logits.iter().map(|l| l.exp()).sum();
        sum += weight * (normaliser.ln() - logits[label as usize]);
        total += weight;
    }
    sum / total
}

#[test]
fn parameter_and_embedding_gradients_equal_finite_differences() {
    for (seed, shape) in shapes().into_iter().enumerate() {
        if shape.classes < 2 || shape.units == 10 {
            continue;
        }
        let mut case = Case::new(shape, &[0, 1, 5, 3], seed as u64);
        let labels = [0, 1, 1, 0];
        let class_weights = [0.5, 2.0];
        let texts = case.texts();
        let batch = Batch {
            texts: &texts,
            labels: &labels,
            class_weights: &class_weights,
        };
        let own = Kernels::new(&case.weights).batch_gradients(case.table(), batch, true);
        let values = reference::wide(&case.weights);
        let exact = loss(&case, &values, &labels, &class_weights);
        assert!((own.loss - exact).abs() < 1e-5, "{} {exact}", own.loss);
        for parameter in 0..values.len() {
            let at = |step: f64| {
                let mut moved = values.clone();
                moved[parameter] += step;
                loss(&case, &moved, &labels, &class_weights)
            };
            let exact = (at(1e-5) - at(-1e-5)) / 2e-5;
            let own = own.parameters[parameter];
            assert!(
                close(own, exact, 2e-5),
                "{shape:?} {parameter}: {own} {exact}"
            );
        }
        let embeddings = own.embeddings.unwrap();
        for (token, gradient) in embeddings
            .tokens
            .iter()
            .zip(embeddings.values.chunks_exact(shape.inputs))
        {
            let place = *token as usize * shape.inputs;
            let before = case.table[place];
            let mut at = |step: f32| {
                case.table[place] = before + step;
                let loss = loss(&case, &values, &labels, &class_weights);
                (loss, f64::from(case.table[place]))
            };
            let ((up, to), (down, from)) = (at(1e-3), at(-1e-3));
            case.table[place] = before;
            let exact = (up - down) / (to - from);
            assert!(close(gradient[0], exact, 2e-5), "{} {exact}", gradient[0]);
        }
    }
}

#[test]
fn the_projected_table_changes_no_bit() {
    for (seed, shape) in shapes().into_iter().enumerate() {
        let case = Case::new(shape, &RAGGED, seed as u64);
        let kernels = Kernels::new(&case.weights);
        let (table, texts) = (case.table(), case.texts());
        assert_eq!(
            kernels.logits(table, &texts),
            kernels.logits_without_table(table, &texts)
        );
    }
}

#[test]
fn shared_prefixes_change_no_bit() {
    for (seed, shape) in shapes().into_iter().enumerate() {
        let case = Case::new(shape, &RAGGED, seed as u64);
        let kernels = Kernels::new(&case.weights);
        let (table, texts) = (case.table(), case.texts());
        let positions: Vec<Vec<u32>> = texts
            .iter()
            .map(|text| (0..=text.len() as u32).filter(|p| p % 3 != 1).collect())
            .collect();
        let bases: Vec<Base<'_>> = texts
            .iter()
            .zip(&positions)
            .map(|(&tokens, positions)| Base { tokens, positions })
            .collect();
        let states = kernels.prefix_states(table, &bases);
        let mut variants: Vec<(usize, u32, Vec<i32>)> = Vec::new();
        for (base, kept) in positions.iter().enumerate() {
            let length = texts[base].len() as u32;
            for position in kept.iter().copied().chain([length, length / 2]) {
                let mut suffix = texts[base][position as usize..].to_vec();
                variants.push((base, position, suffix.clone()));
                if let Some(token) = suffix.first_mut() {
                    *token = (*token + 1) % VOCABULARY as i32;
                    variants.push((base, position, suffix.clone()));
                }
                suffix.extend([3, 1]);
                variants.push((base, position, suffix));
            }
        }
        let continuations: Vec<Continuation<'_>> = variants
            .iter()
            .map(|(base, position, suffix)| Continuation {
                base: *base,
                position: *position,
                suffix,
            })
            .collect();
        let whole: Vec<Vec<i32>> = variants
            .iter()
            .map(|(base, position, suffix)| [&texts[*base][..*position as usize], suffix].concat())
            .collect();
        let whole: Vec<&[i32]> = whole.iter().map(Vec::as_slice).collect();
        assert_eq!(
            kernels.logits_from(table, &states, &continuations),
            Some(kernels.logits(table, &whole))
        );
        assert_eq!(
            kernels.logits_sharing_prefixes(table, &whole),
            kernels.logits(table, &whole)
        );
        for (base, position) in [(6, 18), (21, 0)] {
            let unknown = Continuation {
                base,
                position,
                suffix: &[],
            };
            assert_eq!(kernels.logits_from(table, &states, &[unknown]), None);
        }
    }
}

#[test]
fn batches_of_any_kinship_share_prefixes_without_changing_a_bit() {
    let shape = shapes()[8];
    assert!(!shape.bidirectional);
    let case = Case::new(shape, &[], 3);
    let kernels = Kernels::new(&case.weights);
    for seed in 0..300 {
        let mut stream = stream(seed, Purpose::UniformInput, 1, 0);
        let mut texts: Vec<Vec<i32>> = vec![Vec::new()];
        for _ in 0..stream.random_range(0..40) {
            // A change of the text before, at any place, or a text of its own.
            let mut text = texts[texts.len() - 1].clone();
            if stream.random_bool(0.2) {
                text = (0..stream.random_range(0..20))
                    .map(|i| (i * 5 + 2) % 23)
                    .collect();
            }
            if !text.is_empty() {
                let place = stream.random_range(0..text.len());
                text[place] = stream.random_range(0..VOCABULARY as i32);
                text.truncate(stream.random_range(place..=text.len()));
            }
            texts.push(text);
        }
        let texts: Vec<&[i32]> = texts.iter().map(Vec::as_slice).collect();
        let shared = kernels.logits_sharing_prefixes(case.table(), &texts);
        assert_eq!(shared, kernels.logits(case.table(), &texts));
    }
}

#[test]
fn nothing_in_nothing_out() {
    let case = Case::new(shapes()[0], &[], 1);
    let kernels = Kernels::new(&case.weights);
    assert!(kernels.logits(case.table(), &[]).is_empty());
    assert!(
        kernels
            .input_gradients(case.table(), &[], &[], 4)
            .is_empty()
    );
}
