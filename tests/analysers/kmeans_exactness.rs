//! Deleting rows from a k-means model gives the bytes of training on the rest: thousands of small
//! random data sets with every kind of corner, and larger ones where most of a deletion's work is
//! left out.

use probity::run::stream::{Purpose, Words};
use probity::unlearning::kmeans::points::ONE;
use probity::unlearning::kmeans::{
    Algorithm, KMeans, Key, Model, Parameters, Points, Quantizer, Trace, Tree,
};

/// Numbers drawn one after the other, from the number of a case alone.
struct Draw {
    words: Words,
    at: u64,
}

impl Draw {
    fn new(case: u64) -> Draw {
        Draw {
            words: Words::new(99, Purpose::Mixture, &[case]),
            at: 0,
        }
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.at += 1;
        self.words.below(bound, self.at)
    }
}

struct Rows {
    ids: Vec<u64>,
    values: Vec<i32>,
    columns: usize,
}

impl Rows {
    /// 2 to 61 rows: binary, on a coarse grid, all equal, in clumps, or anywhere; up to one
    /// constant column.
    fn small(draw: &mut Draw) -> Rows {
        let rows = 2 + draw.below(60) as usize;
        let columns = 1 + draw.below(6) as usize;
        let style = draw.below(5);
        let constant = draw.below(columns as u64 + 1) as usize;
        let mut id = 0;
        let ids = (0..rows)
            .map(|_| {
                id += 1 + draw.below(3);
                id
            })
            .collect();
        let values = (0..rows * columns)
            .map(|at| match style {
                _ if at % columns == constant => ONE / 3,
                0 => draw.below(2) as i32 * ONE,
                1 => draw.below(4) as i32 * (ONE / 4),
                2 => 7,
                3 => draw.below(3) as i32 * (ONE / 3) + draw.below(1 << 20) as i32,
                _ => draw.below(ONE as u64 + 1) as i32,
            })
            .collect();
        Rows {
            ids,
            values,
            columns,
        }
    }

    /// Overlapping clumps.
    fn large(draw: &mut Draw, rows: usize, columns: usize) -> Rows {
        let centre = (ONE / 3) as u64;
        let values = (0..rows * columns)
            .map(|at| {
                let clump = (at / columns % 3) as u64;
                let noise: u64 = (0..4).map(|_| draw.below(centre / 4)).sum();
                (clump * centre / 8 * (at % 2) as u64 + noise) as i32
            })
            .collect();
        Rows {
            ids: (1..=rows as u64).collect(),
            values,
            columns,
        }
    }

    fn without(&self, gone: &[u64]) -> Points {
        let kept: Vec<usize> = (0..self.ids.len())
            .filter(|&at| !gone.contains(&self.ids[at]))
            .collect();
        let rows = kept
            .iter()
            .flat_map(|&at| &self.values[at * self.columns..(at + 1) * self.columns])
            .copied()
            .collect();
        let ids = kept.iter().map(|&at| self.ids[at]).collect();
        Points::new(ids, rows, self.columns).unwrap()
    }
}

/// 1 to 4 of the ids that are left, so that at least `keep` remain; `often` some of these.
fn batch(draw: &mut Draw, left: &[u64], often: &[u64], keep: usize) -> Vec<u64> {
    let most = (left.len() - keep).min(if draw.below(3) == 0 { 4 } else { 1 });
    let mut batch = Vec::new();
    while batch.len() < most {
        let id = match draw.below(4) {
            0 if !often.is_empty() => often[draw.below(often.len() as u64) as usize],
            _ => left[draw.below(left.len() as u64) as usize],
        };
        if !batch.contains(&id) {
            batch.push(id);
        }
    }
    batch
}

fn left(rows: &Rows, gone: &[u64]) -> Vec<u64> {
    let ids = rows.ids.iter().copied();
    ids.filter(|id| !gone.contains(id)).collect()
}

fn bytes(trace: &Trace) -> (Vec<u8>, Vec<u64>) {
    let ids = trace.assignment().map(|(id, _)| id).collect();
    (trace.to_bytes().unwrap(), ids)
}

#[test]
fn lloyd_and_quantized_equal_a_retraining() {
    let (mut free, mut redone, mut reseeded, mut other_length, mut emptied) = (0, 0, 0, 0, 0);
    let (mut rejected, mut other_candidate, mut other_restart) = (0, 0, 0);
    for case in 0..4000 {
        let draw = &mut Draw::new(case);
        let rows = Rows::small(draw);
        let clusters = 1 + draw.below(5.min(rows.ids.len() as u64)) as usize;
        let quantizer = match draw.below(3) {
            0 => Quantizer::None,
            _ => Quantizer::Lattice {
                epsilon: [0.01, 0.1, 0.5, 1.0][draw.below(4) as usize],
                gamma: [0.0, 0.2, 0.9][draw.below(3) as usize],
            },
        };
        let parameters = Parameters {
            clusters,
            iterations: draw.below(12) as usize,
            restarts: 1 + draw.below(4) as usize,
            quantizer,
        };
        let key = Key {
            seed: case,
            node: draw.below(3),
        };
        let mut trace = Trace::fit(rows.without(&[]), &parameters, key).unwrap();
        let mut gone = Vec::new();
        while rows.ids.len() - gone.len() > clusters && gone.len() <= 25 {
            let candidates = trace.candidates();
            let often = if draw.below(2) == 0 {
                trace.seeds()
            } else {
                &candidates
            };
            let batch = batch(draw, &left(&rows, &gone), often, clusters);
            let all_seeds = trace.all_seeds();
            let chosen = batch.iter().any(|id| all_seeds.contains(id));
            let drawn = batch.iter().any(|id| candidates.contains(id));
            let best = trace.best_restart();
            let before: Vec<(u64, usize)> = trace.assignment().collect();
            let (iterations, counts) = (trace.iterations(), trace.counts().to_vec());
            let deletion = trace.delete(&batch).unwrap();
            gone.extend(&batch);
            let retrained = Trace::fit(rows.without(&gone), &parameters, key).unwrap();
            assert!(
                bytes(&trace) == bytes(&retrained),
                "case {case}: {deletion:?}"
            );
            let moved: Vec<u64> = trace
                .assignment()
                .filter(|pair| !before.contains(pair))
                .map(|(id, _)| id)
                .collect();
            assert_eq!(moved, deletion.moved, "case {case}");
            free += usize::from(deletion.is_free());
            redone += usize::from(!deletion.is_free());
            reseeded += usize::from(deletion.reseeded_from.is_some());
            // A row that was drawn and not chosen; the choice of another seed though none left.
            rejected += usize::from(drawn && !chosen);
            other_candidate += usize::from(deletion.reseeded_from.is_some() && !chosen);
            assert_eq!(
                deletion.other_restart,
                trace.best_restart() != best,
                "case {case}"
            );
            assert!(!chosen || deletion.reseeded_from.is_some(), "case {case}");
            other_restart += usize::from(deletion.other_restart);
            assert!(
                trace.losses().iter().all(|&loss| loss >= trace.loss()),
                "case {case}"
            );
            other_length += usize::from(trace.iterations() != iterations);
            let now = trace.counts();
            emptied += usize::from(counts.iter().zip(now).any(|(&a, &b)| a > 0 && b == 0));
        }
    }
    // Every corner was met often.
    assert!(
        free > 5000 && redone > 5000 && reseeded > 5000,
        "{free} {redone} {reseeded}"
    );
    assert!(
        other_length > 1000 && emptied > 100,
        "{other_length} {emptied}"
    );
    assert!(
        rejected > 1000 && other_candidate > 1000 && other_restart > 1000,
        "{rejected} {other_candidate} {other_restart}"
    );
}

fn options(draw: &mut Draw, clusters: usize, seed: u64) -> KMeans {
    let algorithm = match draw.below(5) {
        0 => Algorithm::Lloyd,
        1 => Algorithm::Quantized {
            epsilon: 0.1,
            gamma: 0.2,
        },
        _ => Algorithm::DivideConquer {
            tree: ["1x1", "1x2", "1x5", "1x16", "1x3x2", "1x2x2x2"][draw.below(6) as usize]
                .parse()
                .unwrap(),
        },
    };
    KMeans::new(clusters)
        .iterations(draw.below(8) as usize)
        .restarts(1 + draw.below(3) as usize)
        .algorithm(algorithm)
        .seed(seed)
}

#[test]
fn all_models_equal_a_retraining_also_after_saving_and_loading() {
    let (mut free, mut changed, mut reloaded) = (0, 0, 0);
    for case in 0..2000 {
        let draw = &mut Draw::new(1_000_000 + case);
        let rows = Rows::small(draw);
        let clusters = 1 + draw.below(5.min(rows.ids.len() as u64)) as usize;
        let options = options(draw, clusters, case);
        let mut model = Model::fit(rows.without(&[]), &options).unwrap();
        let mut gone = Vec::new();
        while rows.ids.len() - gone.len() > clusters && gone.len() <= 25 {
            let batch = batch(draw, &left(&rows, &gone), &[], clusters);
            if draw.below(3) == 0 {
                model = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
                reloaded += 1;
            }
            let deleted = model.delete(&batch).unwrap();
            gone.extend(&batch);
            let retrained = Model::fit(rows.without(&gone), &options).unwrap();
            assert!(
                model.to_bytes() == retrained.to_bytes(),
                "case {case}: {options:?}"
            );
            free += usize::from(deleted.free);
            changed += usize::from(!deleted.free);
        }
    }
    assert!(
        free > 1000 && changed > 1000 && reloaded > 1000,
        "{free} {changed} {reloaded}"
    );
}

/// Large enough for several threads and chunks, and for rows to be passed over.
#[test]
fn large_models_equal_a_retraining_by_any_number_of_threads() {
    let draw = &mut Draw::new(7);
    let pool = |threads| {
        let builder = rayon::ThreadPoolBuilder::new();
        builder.num_threads(threads).build().unwrap()
    };
    let (one, three) = (pool(1), pool(3));
    for (columns, clusters) in [(3, 4), (20, 5), (70, 11), (5, 20)] {
        let rows = Rows::large(draw, 3000, columns);
        for algorithm in [
            Algorithm::Lloyd,
            Algorithm::Quantized {
                epsilon: 0.02,
                gamma: 0.2,
            },
            Algorithm::DivideConquer {
                tree: Tree::flat(4).unwrap(),
            },
        ] {
            let options = KMeans::new(clusters)
                .iterations(10)
                .restarts(2)
                .algorithm(algorithm)
                .seed(3);
            let mut model = three
                .install(|| Model::fit(rows.without(&[]), &options))
                .unwrap();
            let mut gone = Vec::new();
            for number in 1..=60 {
                let id = left(&rows, &gone)[draw.below((3000 - gone.len()) as u64) as usize];
                model.delete(&[id]).unwrap();
                gone.push(id);
                if number % 20 == 0 {
                    let again = one
                        .install(|| Model::fit(rows.without(&gone), &options))
                        .unwrap();
                    assert!(model.to_bytes() == again.to_bytes(), "{options:?}");
                }
            }
        }
    }
}

#[test]
fn neither_the_order_of_rows_nor_of_deletions_matters() {
    for case in 0..300 {
        let draw = &mut Draw::new(2_000_000 + case);
        let rows = Rows::small(draw);
        let clusters = 1 + draw.below(3.min(rows.ids.len() as u64)) as usize;
        let options = options(draw, clusters, case);
        let mut one_by_one = Model::fit(rows.without(&[]), &options).unwrap();
        let reversed = Points::new(
            rows.ids.iter().rev().copied().collect(),
            rows.values
                .rchunks_exact(rows.columns)
                .flatten()
                .copied()
                .collect(),
            rows.columns,
        );
        let mut at_once = Model::fit(reversed.unwrap(), &options).unwrap();
        assert!(one_by_one.to_bytes() == at_once.to_bytes(), "case {case}");
        let many = draw.below((rows.ids.len() - clusters) as u64 + 1) as usize;
        let gone: Vec<u64> = rows.ids[..many].to_vec();
        for &id in gone.iter().rev() {
            one_by_one.delete(&[id]).unwrap();
        }
        at_once.delete(&gone).unwrap();
        assert!(one_by_one.to_bytes() == at_once.to_bytes(), "case {case}");
    }
}

#[test]
fn the_nearest_centroid_is_that_of_plain_arithmetic() {
    for case in 0..500 {
        let draw = &mut Draw::new(3_000_000 + case);
        let rows = Rows::small(draw);
        let clusters = 1 + draw.below(20.min(rows.ids.len() as u64)) as usize;
        let options = options(draw, clusters, case);
        let model = Model::fit(rows.without(&[]), &options).unwrap();
        let distance = |row: &[i32], cluster: usize| -> i128 {
            let centroid = &model.centroids()[cluster * rows.columns..][..rows.columns];
            row.iter()
                .zip(centroid)
                .map(|(&x, &c)| i128::from(x - c).pow(2))
                .sum()
        };
        let (assignment, loss) = model.assignment();
        let mut expected_loss = 0;
        for ((id, cluster), row) in assignment.into_iter().zip(rows.values.chunks(rows.columns)) {
            let nearest = (0..clusters).min_by_key(|&cluster| distance(row, cluster));
            assert_eq!(Some(cluster), nearest, "case {case}, row {id}");
            expected_loss += distance(row, cluster);
        }
        assert_eq!(loss, expected_loss as f64 / (1_u64 << 48) as f64);
    }
}

#[test]
fn requests_that_cannot_be_met_change_nothing() {
    let draw = &mut Draw::new(5);
    let rows = Rows::large(draw, 12, 2);
    for algorithm in [
        Algorithm::Lloyd,
        Algorithm::DivideConquer {
            tree: Tree::flat(2).unwrap(),
        },
    ] {
        let options = KMeans::new(3).iterations(5).algorithm(algorithm).seed(1);
        let mut model = Model::fit(rows.without(&[]), &options).unwrap();
        let before = model.to_bytes();
        for (request, needle) in [
            (vec![99], "no row 99"),
            (vec![1, 2, 1], "named twice"),
            ((1..=10).collect(), "fewer than"),
            ((1..=12).collect(), "fewer than"),
        ] {
            let error = model.delete(&request).unwrap_err().to_string();
            assert!(error.contains(needle), "{error}");
            assert!(model.to_bytes() == before);
        }
        model.delete(&[1]).unwrap();
        assert!(model.delete(&[1]).is_err());
        assert!(Model::fit(rows.without(&(1..=10).collect::<Vec<u64>>()), &options).is_err());
    }
}

/// Greedy k-means++ in plain arithmetic, from the races' rule alone: the seeds of every restart,
/// and which restart has the smallest loss, are those of the model, before and after deletions.
#[test]
fn seeds_and_the_best_restart_are_those_of_plain_arithmetic() {
    let distance = |a: &[i32], b: &[i32]| -> u128 {
        a.iter()
            .zip(b)
            .map(|(&a, &b)| u128::from(a.abs_diff(b)).pow(2))
            .sum()
    };
    let mut switched = 0;
    for case in 0..300 {
        let draw = &mut Draw::new(4_000_000 + case);
        let rows = Rows::small(draw);
        let clusters = 1 + draw.below(8.min(rows.ids.len() as u64)) as usize;
        let parameters = Parameters {
            clusters,
            iterations: 5,
            restarts: 3,
            quantizer: Quantizer::None,
        };
        let key = Key {
            seed: case,
            node: 2,
        };
        let mut trace = Trace::fit(rows.without(&[]), &parameters, key).unwrap();
        let mut gone = Vec::new();
        loop {
            let points = rows.without(&gone);
            let slots: Vec<usize> = points.live_slots().collect();
            let mut best: Option<(f64, Vec<u64>)> = None;
            for restart in 0..3 {
                let mut seeds: Vec<usize> = Vec::new();
                for stage in 0..clusters {
                    let weight = |slot: usize| {
                        let to = seeds
                            .iter()
                            .map(|&s| distance(points.row(slot), points.row(s)));
                        to.min().unwrap_or(1)
                    };
                    let races = if stage == 0 {
                        1
                    } else {
                        2 + (clusters as f64).ln() as u64
                    };
                    let drawn = (0..races).filter_map(|race| {
                        let items = [2, restart, stage as u64, race];
                        let words = Words::new(case, Purpose::Seeding, &items);
                        let key = |slot: usize| {
                            let uniform = ((words.word(points.id(slot)) >> 12) as f64 + 0.5)
                                / (1_u64 << 52) as f64;
                            let variate = -uniform.ln();
                            match weight(slot) {
                                0 => (1, variate),
                                weight => (0, variate / weight as f64),
                            }
                        };
                        let least = |&a: &usize, &b: &usize| key(a).partial_cmp(&key(b)).unwrap();
                        slots.iter().copied().min_by(least)
                    });
                    let potential = |candidate: usize| -> u128 {
                        let left = |slot: usize| {
                            let to = distance(points.row(slot), points.row(candidate));
                            if seeds.is_empty() {
                                to
                            } else {
                                to.min(weight(slot))
                            }
                        };
                        slots.iter().map(|&slot| left(slot)).sum()
                    };
                    let seed = drawn.min_by_key(|&candidate| potential(candidate)).unwrap();
                    seeds.push(seed);
                }
                let seeds: Vec<u64> = seeds.into_iter().map(|slot| points.id(slot)).collect();
                let loss = trace.losses()[restart as usize];
                if best.as_ref().is_none_or(|(least, _)| loss < *least) {
                    best = Some((loss, seeds));
                }
            }
            let (loss, seeds) = best.unwrap();
            assert_eq!(
                (trace.loss(), trace.seeds()),
                (loss, &seeds[..]),
                "case {case}"
            );
            if rows.ids.len() - gone.len() <= clusters || gone.len() > 6 {
                break;
            }
            let batch = batch(draw, &left(&rows, &gone), &trace.candidates(), clusters);
            switched += usize::from(trace.delete(&batch).unwrap().other_restart);
            gone.extend(&batch);
        }
    }
    assert!(switched > 20, "{switched}");
}
