//! Tests of exactness on thousands of random small data sets: deleting gives the bytes of learning
//! anew.

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use super::structure::{Dependence, Node};
use super::*;
use probity_tensor::proposer::Proposer;

/// Returns the generator of a case.
pub(super) fn generator(case: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(case)
}

fn variable(kind: u32, at: usize) -> Variable {
    let levels = |n: usize| Domain::Categorical {
        levels: (0..n).map(|l| format!("l{l}")).collect(),
    };
    let (domain, family) = match kind {
        0 => (levels(2), LeafFamily::Categorical),
        1 => (levels(4), LeafFamily::Categorical),
        2 => (Domain::Integer { min: -2, max: 9 }, LeafFamily::Poisson),
        3 => (Domain::Integer { min: 0, max: 20 }, LeafFamily::Histogram),
        4 => (
            Domain::Real {
                edges: vec![-1.0, 0.0, 0.5, 2.0],
            },
            LeafFamily::Gaussian,
        ),
        _ => (
            Domain::Real {
                edges: vec![0.0, 0.25, 0.5, 1.0],
            },
            LeafFamily::Histogram,
        ),
    };
    Variable::new(format!("v{at}"), domain, family).unwrap()
}

/// Returns a random data set that is likely to have duplicates, constant columns, clusters and
/// dependences.
pub(super) fn data(
    draws: &mut Xoshiro256PlusPlus,
    rows: usize,
    width: usize,
    kinds: &[u32],
) -> Dataset {
    let variables: Vec<Variable> = (0..width)
        .map(|at| variable(kinds[draws.random_range(0..kinds.len())], at))
        .collect();
    let clusters = draws.random_range(1..4);
    let noise = draws.random::<f64>() * 0.6;
    let constant: Vec<bool> = (0..width).map(|_| draws.random::<f64>() < 0.2).collect();
    let nearly: Vec<bool> = (0..width).map(|_| draws.random::<f64>() < 0.15).collect();
    let mut ids: Vec<u64> = (0..rows as u64).map(|at| at * 3 + 1).collect();
    ids.shuffle(draws);
    let mut values: Vec<f64> = Vec::new();
    for row in 0..rows {
        if row > 0 && draws.random::<f64>() < 0.15 {
            let copied = draws.random_range(0..row);
            let copy = values[copied * width..(copied + 1) * width].to_vec();
            values.extend(copy);
            continue;
        }
        let cluster = draws.random_range(0..clusters) as f64;
        for at in 0..width {
            let odd = nearly[at] && row == rows / 2;
            let share = if (constant[at] || nearly[at]) && !odd {
                0.5
            } else if draws.random::<f64>() < noise {
                draws.random::<f64>()
            } else {
                (cluster + 0.3 * draws.random::<f64>()) / clusters as f64
            };
            let (min, range) = variables[at].range();
            let value = min + share.min(1.0) * range;
            values.push(match variables[at].domain() {
                Domain::Real { .. } => (value * 64.0).round() / 64.0,
                _ => value.round(),
            });
        }
    }
    Dataset::new(variables, &ids, &[], &values).unwrap()
}

pub(super) fn parameters(draws: &mut Xoshiro256PlusPlus, rows: usize) -> SpnParameters {
    let independence = if draws.random::<f64>() < 0.2 {
        Independence::Rdc
    } else {
        Independence::Gtest
    };
    SpnParameters {
        seed: draws.random(),
        min_rows: match draws.random_range(0..3) {
            0 => rows.saturating_sub(draws.random_range(1..4)).max(1),
            1 => draws.random_range(1..6),
            _ => draws.random_range(5..20),
        },
        independence,
        threshold: match independence {
            Independence::Rdc => Some(0.2 + 0.6 * draws.random::<f64>()),
            Independence::Gtest if draws.random::<f64>() < 0.4 => None,
            Independence::Gtest => Some(10f64.powf(-4.0 * draws.random::<f64>()) * 0.5),
        },
        choice_rows: draws.random_range(1..=rows + 10),
        clusters: draws.random_range(2..5),
        bins: draws.random_range(2..9),
        smoothing: draws.random::<f64>(),
    }
}

/// Checks that the tables that an updated node keeps are those that counting gives.
fn tables_are_exact(spn: &Spn) {
    for node in spn.arena.preorder(spn.root) {
        if let Node::Inner(inner) = spn.arena.get(node)
            && let Some(Dependence::Gtest(tables)) = &inner.dependence
        {
            let (rule, nobody) = (&spn.rules.gtest, Proposer::default());
            let counted =
                independence::gtest::Tables::count(rule, &inner.scope, &inner.rows, &nobody);
            assert_eq!(*tables, counted);
        }
    }
}

/// The operations, the effort and the choices of thresholds that the cases of deletions met.
#[derive(Default)]
struct Met {
    operations: std::collections::HashMap<u8, usize>,
    effort: unlearn::DeletionEffort,
    thresholds: usize,
}

impl Met {
    fn note(&mut self, spn: &Spn, effort: &unlearn::DeletionEffort) {
        self.effort.add(effort);
        for node in spn.arena.preorder(spn.root) {
            if let Node::Inner(inner) = spn.arena.get(node) {
                *self.operations.entry(inner.operation as u8).or_insert(0) += 1;
            }
        }
    }
}

/// Deletes rows of a random network one after the other and in batches; after each, and for all of
/// them at once, the bytes must be those of learning anew.
fn delete_and_compare(case: u64, met: &mut Met) {
    let draws = &mut generator(case);
    let rows = draws.random_range(2..70);
    let width = draws.random_range(1..8);
    let data = data(draws, rows, width, &[0, 1, 2, 3, 4, 5]);
    let parameters = parameters(draws, rows);
    let mut ids: Vec<u64> = data.remaining().iter().map(|&at| data.id(at)).collect();
    ids.shuffle(draws);
    let mut spn = Spn::learn(parameters, data.clone()).unwrap();
    let deletions = draws.random_range(1..rows.min(25));
    let mut gone = Vec::new();
    while gone.len() < deletions && ids.len() > 1 {
        let batch = if draws.random::<bool>() {
            1
        } else {
            draws.random_range(1..8).min(ids.len() - 1)
        };
        let batch = ids.split_off(ids.len() - batch);
        let threshold = spn.threshold();
        let effort = spn.delete(&batch).unwrap();
        met.thresholds += usize::from(spn.threshold() != threshold);
        gone.extend(batch);
        met.note(&spn, &effort);
        tables_are_exact(&spn);
        let bytes = spn.to_bytes().unwrap();
        assert!(
            bytes == spn.retrained().unwrap().to_bytes().unwrap(),
            "case {case}"
        );
        if draws.random::<f64>() < 0.2 {
            spn = Spn::from_bytes(&bytes).unwrap();
            assert!(spn.to_bytes().unwrap() == bytes, "case {case}");
        }
    }
    gone.reverse();
    let mut at_once = Spn::learn(parameters, data).unwrap();
    at_once.delete(&gone).unwrap();
    assert!(
        at_once.to_bytes().unwrap() == spn.to_bytes().unwrap(),
        "case {case}"
    );
}

#[test]
fn sequences_and_batches_of_deletions_give_the_bytes_of_learning_anew() {
    let mut met = Met::default();
    for case in 0..4000 {
        delete_and_compare(case, &mut met);
    }
    // The cases do what they are for: every operation, revised decisions, rows that change cluster.
    assert!(met.operations.len() == 4, "{:?}", met.operations);
    assert!(
        met.operations.values().all(|&count| count > 1000),
        "{:?}",
        met.operations
    );
    assert!(met.effort.revised_operations > 500, "{:?}", met.effort);
    assert!(met.effort.moved_rows > 500, "{:?}", met.effort);
    assert!(met.effort.choices > 1000, "{:?}", met.effort);
    assert!(met.thresholds > 50, "{}", met.thresholds);
}

/// Returns `data` in which about a fifth of the values is not known.
fn with_gaps(data: &Dataset) -> Dataset {
    let rows = data.remaining();
    let columns = (0..data.variables().len() as u32).map(|variable| {
        let column = data.column(variable).iter().enumerate();
        let is_gap = |at: usize| (at * 3 + variable as usize).is_multiple_of(5);
        column
            .map(|(at, &fixed)| if is_gap(at) { dataset::MISSING } else { fixed })
            .collect()
    });
    let ids = rows.iter().map(|&at| data.id(at)).collect();
    Dataset::from_fixed(
        data.variables().to_vec(),
        ids,
        Vec::new(),
        columns.collect(),
    )
    .unwrap()
}

#[test]
fn deletions_of_rows_with_gaps_give_the_bytes_of_learning_anew() {
    for case in 0..400 {
        let draws = &mut generator(case);
        let rows = draws.random_range(3..70);
        let width = draws.random_range(1..8);
        let data = with_gaps(&data(draws, rows, width, &[0, 1, 2, 3, 4, 5]));
        assert!(data.missing_values() > 0);
        let parameters = parameters(draws, rows);
        let mut ids: Vec<u64> = data.remaining().iter().map(|&at| data.id(at)).collect();
        ids.shuffle(draws);
        ids.truncate(draws.random_range(1..rows));
        let mut spn = Spn::learn(parameters, data).unwrap();
        for id in ids {
            spn.delete(&[id]).unwrap();
            let bytes = spn.to_bytes().unwrap();
            assert!(
                bytes == spn.retrained().unwrap().to_bytes().unwrap(),
                "case {case}"
            );
            let read = Spn::from_bytes(&bytes).unwrap();
            assert!(read.to_bytes().unwrap() == bytes, "case {case}");
            assert_eq!(read.data().missing_values(), spn.data().missing_values());
        }
        let width = spn.data().variables().len();
        let density = spn.network().log_densities(&[vec![None; width]])[0];
        assert!(density.abs() < 1e-9, "case {case}: {density}");
    }
}

/// The leaves of a naive factorisation are of the values that are known; leaves without any are all
/// alike.
#[test]
fn leaves_are_of_the_values_that_are_known() {
    let words = Domain::Categorical {
        levels: vec!["no".into(), "yes".into()],
    };
    let numbers = Domain::Real {
        edges: vec![0.0, 4.0, 16.0],
    };
    let variables = vec![
        Variable::new("word".into(), words.clone(), LeafFamily::Categorical).unwrap(),
        Variable::new("number".into(), numbers, LeafFamily::Gaussian).unwrap(),
        Variable::new("never".into(), words, LeafFamily::Categorical).unwrap(),
    ];
    let gap = f64::NAN;
    let values = [
        [1.0, 2.0, gap],
        [gap, 6.0, gap],
        [1.0, gap, gap],
        [0.0, 10.0, gap],
    ];
    let data = Dataset::new(variables, &[1, 2, 3, 4], &[], &values.concat()).unwrap();
    assert_eq!(data.missing_values(), 6);
    assert_eq!((data.value(0, 1), data.value(2, 1)), (Some(2.0), None));
    let parameters = SpnParameters {
        min_rows: 100,
        threshold: Some(0.01),
        smoothing: 1.0,
        ..SpnParameters::default()
    };
    let spn = Spn::learn(parameters, data).unwrap();
    let density = |row: [Option<f64>; 3]| spn.network().log_densities(&[row.to_vec()])[0].exp();
    // Two of three are yes, with one more of each: 3/5.
    assert!((density([Some(1.0), None, None]) - 0.6).abs() < 1e-12);
    assert!((density([None, None, Some(1.0)]) - 0.5).abs() < 1e-12);
    // 2, 6 and 10: mean 6, squared deviations 32 in all; (32 + the prior's 1²) / 4.
    let variance: f64 = 33.0 / 4.0;
    let peak = 1.0 / (std::f64::consts::TAU * variance).sqrt();
    let found = density([None, Some(6.0), None]);
    assert!((found - peak).abs() < 1e-6, "{found} {peak}");
}

/// The threshold is chosen from the rows that are left, also where that is another one than before,
/// and rows outside of the sample have no say.
#[test]
fn the_threshold_is_the_choice_of_the_rows_that_are_left() {
    let (mut changed, mut kept) = (0, 0);
    for case in 0..400 {
        let draws = &mut generator(200_000 + case);
        let data = data(draws, 60, 4, &[0, 1, 3]);
        let sample = draws.random_range(10..60);
        let parameters = SpnParameters {
            seed: draws.random(),
            min_rows: 5,
            choice_rows: sample,
            ..SpnParameters::default()
        };
        let mut spn = Spn::learn(parameters, data).unwrap();
        for _ in 0..10 {
            let ids: Vec<u64> = spn
                .data()
                .remaining()
                .iter()
                .map(|&at| spn.data().id(at))
                .collect();
            let words = probity_run::stream::Words::new(
                parameters.seed,
                probity_run::stream::Purpose::SpnChoice,
                &[0],
            );
            let mut by_word = ids.clone();
            by_word.sort_by_key(|&id| (words.word(id), id));
            let in_sample: Vec<u64> = by_word.iter().copied().take(sample).collect();
            let id = ids[draws.random_range(0..ids.len())];
            let before = spn.threshold();
            let effort = spn.delete(&[id]).unwrap();
            assert_eq!(
                effort.choices,
                usize::from(in_sample.contains(&id)),
                "case {case}"
            );
            if in_sample.contains(&id) {
                changed += usize::from(spn.threshold() != before);
            } else {
                assert_eq!(spn.threshold(), before);
                kept += 1;
            }
            // The same network as with the threshold given, and as learning anew with the choice.
            let fresh = spn.retrained().unwrap();
            assert!(
                fresh.to_bytes().unwrap() == spn.to_bytes().unwrap(),
                "case {case}"
            );
            let given = parameters.threshold(spn.threshold());
            let given = Spn::learn(given, spn.data().compacted()).unwrap();
            assert!(given.network() == spn.network(), "case {case}");
        }
    }
    assert!(changed > 50 && kept > 500, "{changed} {kept}");
}

#[test]
fn deleting_every_seed_of_a_clustering_is_exact() {
    for case in 0..300 {
        let draws = &mut generator(50_000 + case);
        let data = data(draws, 40, 3, &[0, 1, 2, 4]);
        let mut parameters = parameters(draws, 40);
        parameters.min_rows = 4;
        let mut spn = Spn::learn(parameters, data).unwrap();
        for _ in 0..6 {
            let mut seeds: Vec<u32> = Vec::new();
            for node in spn.arena.preorder(spn.root) {
                if let Node::Inner(inner) = spn.arena.get(node)
                    && let Some(clustering) = &inner.clustering
                {
                    seeds.extend(clustering.seeds());
                }
            }
            let Some(&seed) = seeds.first() else {
                break;
            };
            let id = spn.data().id(seed);
            spn.delete(&[id]).unwrap();
            let fresh = spn.retrained().unwrap().to_bytes().unwrap();
            assert!(spn.to_bytes().unwrap() == fresh, "case {case}");
        }
    }
}

#[test]
fn down_to_one_row_every_model_is_that_of_the_remaining_rows() {
    for case in 0..200 {
        let draws = &mut generator(90_000 + case);
        let data = data(draws, 16, 4, &[0, 1, 2, 3, 4, 5]);
        let parameters = parameters(draws, 16);
        let mut ids: Vec<u64> = data.remaining().iter().map(|&at| data.id(at)).collect();
        ids.shuffle(draws);
        let mut spn = Spn::learn(parameters, data).unwrap();
        let last = ids.pop().unwrap();
        for id in ids {
            spn.delete(&[id]).unwrap();
            let fresh = spn.retrained().unwrap().to_bytes().unwrap();
            assert!(spn.to_bytes().unwrap() == fresh, "case {case}");
        }
        assert_eq!(spn.delete(&[last]), Err(SpnError::LastRow { rows: 1 }));
    }
}

#[test]
fn refused_deletions_change_nothing() {
    let draws = &mut generator(7);
    let data = data(draws, 30, 4, &[0, 1, 4]);
    let ids: Vec<u64> = data.remaining().iter().map(|&at| data.id(at)).collect();
    let mut spn = Spn::learn(SpnParameters::default(), data).unwrap();
    let before = spn.to_bytes().unwrap();
    let (known, unknown) = (ids[3], 2);
    let refused = spn.delete(&[known, unknown]);
    assert_eq!(refused, Err(SpnError::UnknownRow { id: unknown }));
    let refused = spn.delete(&[known, known]);
    assert_eq!(refused, Err(SpnError::RepeatedRow { id: known }));
    assert_eq!(spn.delete(&ids), Err(SpnError::LastRow { rows: 30 }));
    assert!(spn.to_bytes().unwrap() == before);
    spn.delete(&[known]).unwrap();
    let refused = spn.delete(&[known]);
    assert_eq!(refused, Err(SpnError::UnknownRow { id: known }));
}

#[test]
fn broken_bytes_are_refused_and_never_panic() {
    let draws = &mut generator(12);
    let data = data(draws, 40, 4, &[0, 1, 2, 3, 4, 5]);
    let parameters = SpnParameters {
        min_rows: 5,
        ..SpnParameters::default()
    };
    let bytes = Spn::learn(parameters, data).unwrap().to_bytes().unwrap();
    for cut in 0..bytes.len() {
        assert!(Spn::from_bytes(&bytes[..cut]).is_err(), "cut at {cut}");
    }
    let mut read = 0;
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1 << (at % 8);
        if let Ok(mut spn) = Spn::from_bytes(&changed) {
            read += 1;
            let id = spn.data().id(0);
            spn.delete(&[id]).unwrap();
        }
    }
    assert!(
        read < bytes.len() / 2,
        "{read} of {} changes went unnoticed",
        bytes.len()
    );
}
