//! No verdict contradicts brute force, none is unknown without a time limit, and what is certified
//! holds for the files without the rows.
//!
//! The brute force over removal sets shares no code with the library: its own distances, folds read
//! off the public type, its own votes and its own exact error rates. The refits know nothing of the
//! analysis: each begins with the rows that are left.

use probity::data::numbers::Numbers;
use probity::knn::inputs::Inputs;
use probity::knn::{
    Analysis, Candidates, Certificate, Deadline, KnnSystem, LearnUpdate, Method, Metric,
    Parameters, TrainingSet, Verdict, learn, learn_update, replay,
};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

struct Instance {
    rows: Vec<Vec<f64>>,
    labels: Vec<u16>,
    query: Vec<f64>,
    parameters: Parameters,
}

fn below(random: &mut Xoshiro256PlusPlus, limit: usize) -> usize {
    (random.next_u64() % limit as u64) as usize
}

/// Few distinct points, so that distances, votes and error rates tie all the time.
fn instance(case: u64) -> Option<Instance> {
    let random = &mut Xoshiro256PlusPlus::seed_from_u64(case);
    let count = 3 + below(random, 10);
    let classes = 2 + below(random, 2);
    let columns = 1 + below(random, 2);
    let grid = 2 + below(random, 6);
    let noise = 1 + below(random, 6);
    let mut rows = Vec::new();
    let mut labels = Vec::new();
    for _ in 0..count {
        let row: Vec<f64> = (0..columns).map(|_| below(random, grid) as f64).collect();
        // Mostly a function of the first column, so that learning prefers some K.
        let label = if below(random, noise) == 0 {
            below(random, classes)
        } else {
            row[0] as usize * classes / grid
        };
        rows.push(row);
        labels.push(label as u16);
    }
    if labels.iter().all(|&label| label == labels[0]) {
        return None;
    }
    let poison = (1 + below(random, 3)).min(count - 1);
    let last = 1 + below(random, count);
    let first = (1 + below(random, 2)).min(last).min(count - poison);
    Some(Instance {
        query: (0..columns).map(|_| below(random, grid) as f64).collect(),
        parameters: Parameters::default()
            .folds(
                (2 + below(random, count - 1))
                    .min(count)
                    .min(2 + below(random, 10)),
            )
            .seed(random.next_u64())
            .candidates(first, last)
            .poison(poison)
            .metric(if below(random, 4) == 0 {
                Metric::Manhattan
            } else {
                Metric::Euclidean
            }),
        rows,
        labels,
    })
}

struct BruteForce<'a> {
    instance: &'a Instance,
    fold: Vec<usize>,
    ranked: Vec<Vec<usize>>,
    ranked_query: Vec<usize>,
}

impl<'a> BruteForce<'a> {
    fn new(instance: &'a Instance, fold: Vec<usize>) -> Self {
        let distance = |a: &[f64], b: &[f64]| -> f64 {
            let terms = a.iter().zip(b).map(|(x, y)| x - y);
            match instance.parameters.metric {
                Metric::Euclidean => terms.map(|t| t * t).sum::<f64>().sqrt(),
                Metric::Manhattan => terms.map(f64::abs).sum(),
            }
        };
        let rank = |point: &[f64]| {
            let mut order: Vec<usize> = (0..instance.rows.len()).collect();
            order.sort_by(|&a, &b| {
                distance(point, &instance.rows[a])
                    .partial_cmp(&distance(point, &instance.rows[b]))
                    .unwrap()
                    .then(a.cmp(&b))
            });
            order
        };
        Self {
            ranked: instance.rows.iter().map(|row| rank(row)).collect(),
            ranked_query: rank(&instance.query),
            instance,
            fold,
        }
    }

    fn vote(&self, ranked: &[usize], usable: impl Fn(usize) -> bool, k: usize) -> Option<u16> {
        let mut counts = [0; 3];
        for &row in ranked.iter().filter(|&&row| usable(row)).take(k) {
            counts[usize::from(self.instance.labels[row])] += 1;
        }
        let most = *counts.iter().max().unwrap();
        (most > 0).then(|| counts.iter().position(|&count| count == most).unwrap() as u16)
    }

    /// (K*, label) of T without the rows in `mask`.
    fn run(&self, mask: u32) -> (usize, u16) {
        let rows = self.instance.rows.len();
        let gone = |row: usize| mask >> row & 1 == 1;
        let Candidates { first, last } = self.instance.parameters.candidates;
        let mut best: Option<(u64, usize)> = None;
        for k in first..=last {
            let mut wrong = [0_u64; 13];
            let mut size = [0_u64; 13];
            for row in (0..rows).filter(|&row| !gone(row)) {
                let fold = self.fold[row];
                size[fold] += 1;
                let usable = |other: usize| !gone(other) && self.fold[other] != fold;
                let vote = self.vote(&self.ranked[row], usable, k);
                wrong[fold] += u64::from(vote != Some(self.instance.labels[row]));
            }
            // 27720 is divisible by every fold size up to 12.
            let error = (0..13)
                .filter(|&fold| size[fold] > 0)
                .map(|fold| wrong[fold] * 27_720 / size[fold])
                .sum();
            if best.is_none_or(|(least, _)| error < least) {
                best = Some((error, k));
            }
        }
        let k = best.unwrap().1;
        (
            k,
            self.vote(&self.ranked_query, |row| !gone(row), k).unwrap(),
        )
    }

    fn robust(&self, label: u16) -> bool {
        let rows = self.instance.rows.len() as u32;
        (1..1_u32 << rows)
            .filter(|mask| mask.count_ones() as usize <= self.instance.parameters.poison)
            .all(|mask| self.run(mask).1 == label)
    }
}

#[derive(Default, Debug)]
struct Seen {
    quick: usize,
    k_set: usize,
    exhaustive: usize,
    falsified: usize,
}

fn check(case: u64, seen: &mut Seen) {
    let Some(instance) = instance(case) else {
        return;
    };
    let columns = instance.query.len();
    let features = instance.rows.iter().flatten().copied().collect();
    let mut training = TrainingSet::new(features, columns, instance.labels.clone()).unwrap();
    // Few distinct rows make few folds: half the time each row has a fold of its own.
    if case.is_multiple_of(2) {
        let ids = (0..training.rows()).map(|row| row.to_string());
        training = training.with_ids(ids).unwrap();
    }
    let setup = instance.parameters.check(training.clone()).unwrap();
    let fold = (0..training.rows())
        .map(|row| setup.folds().fold(row))
        .collect();
    let brute = BruteForce::new(&instance, fold);
    let system = KnnSystem::learn(setup.clone());
    let analysis = Analysis::new(&system);
    let (k, label) = brute.run(0);
    assert_eq!(system.k(), k, "case {case}");
    let robust = brute.robust(label);
    for method in [Method::Auto, Method::Li, Method::Baseline] {
        let decision = analysis
            .decide(&instance.query, method, Deadline::never())
            .unwrap();
        assert_eq!((decision.k, decision.label), (k, label), "case {case}");
        match &decision.verdict {
            Verdict::Certified(certificate) => {
                assert!(
                    robust,
                    "case {case}: {method:?} certified by {certificate:?}"
                );
                if method == Method::Auto {
                    match certificate {
                        Certificate::Quick => seen.quick += 1,
                        Certificate::KSet => seen.k_set += 1,
                        Certificate::Exhaustive => seen.exhaustive += 1,
                    }
                }
            }
            Verdict::Falsified(violation) => {
                assert!(!robust, "case {case}: {method:?} falsified a robust input");
                assert!(violation.removal.len() <= instance.parameters.poison);
                let mask = violation
                    .removal
                    .iter()
                    .fold(0, |mask, &row| mask | 1 << row);
                assert_eq!(
                    brute.run(mask),
                    (violation.k, violation.label),
                    "case {case}"
                );
                assert_ne!(violation.label, label);
                seen.falsified += usize::from(method == Method::Auto);
                if case.is_multiple_of(16) {
                    let again = replay(&setup, &violation.removal, &instance.query).unwrap();
                    assert_eq!((again.k, again.label), (violation.k, violation.label));
                }
            }
            Verdict::Unknown => assert_eq!(method, Method::Li, "case {case} is left unknown"),
        }
    }
    if case.is_multiple_of(32) {
        assert_eq!(learn(&setup), k);
        let update = LearnUpdate::new(&system);
        for mask in (0..1_u32 << training.rows())
            .filter(|mask| mask.count_ones() as usize <= instance.parameters.poison)
        {
            let removal: Vec<usize> = (0..training.rows())
                .filter(|&row| mask >> row & 1 == 1)
                .collect();
            assert_eq!(learn_update(&update, &removal).unwrap(), brute.run(mask).0);
            let learned = brute.run(mask).0;
            assert!(
                analysis.certified_k_set().ks().contains(&learned),
                "case {case}: K = {learned} is learnt without {removal:?}, but not certified"
            );
        }
    }
}

fn check_all(cases: std::ops::Range<u64>) {
    let mut seen = Seen::default();
    cases.for_each(|case| check(case, &mut seen));
    println!("{seen:?}");
    // A test that never takes a path proves nothing about it.
    assert!(seen.quick > 0 && seen.k_set > 0 && seen.exhaustive > 0 && seen.falsified > 0);
}

#[test]
fn verdicts_agree_with_brute_force() {
    check_all(0..4_000);
}

/// Half a minute in a release build; too long for a debug build, where `-- --ignored` runs it.
#[test]
#[cfg_attr(debug_assertions, ignore = "needs a release build")]
fn verdicts_agree_with_brute_force_a_hundred_thousand_times() {
    check_all(0..100_000);
}

/// Labels whose order as text is not that of their numbers, and one that is no number.
const LABELS: [&str; 3] = ["10", "9", "a"];

/// What `probity knn predict` does with a file of the rows `kept`: the K that it learns and the
/// label of the query. `None` where only one label is left, which is refused.
fn refit(
    instance: &Instance,
    ids: Option<&[String]>,
    kept: &[usize],
) -> Option<(KnnSystem, Vec<String>)> {
    let of = |column: &[String]| kept.iter().map(|&row| column[row].clone()).collect();
    let rows = Numbers {
        columns: (0..instance.query.len()).map(|at| at.to_string()).collect(),
        features: kept
            .iter()
            .flat_map(|&row| instance.rows[row].clone())
            .collect(),
        labels: kept
            .iter()
            .map(|&row| LABELS[usize::from(instance.labels[row])].to_owned())
            .collect(),
        ids: ids.map(of).unwrap_or_default(),
        numbers: (1..=kept.len() as u64).collect(),
        ..Numbers::default()
    };
    let test = Numbers {
        columns: rows.columns.clone(),
        features: instance.query.clone(),
        numbers: vec![1],
        ..Numbers::default()
    };
    let inputs = Inputs::from_numbers(rows, test).ok()?;
    let poison = match kept.len() == instance.rows.len() {
        true => instance.parameters.poison,
        false => 0,
    };
    let setup = instance
        .parameters
        .poison(poison)
        .check(inputs.training.clone())
        .unwrap();
    Some((KnnSystem::learn(setup), inputs.classes))
}

/// Every removal of at most n rows, each with a refit on the file that is left: its label is the
/// certified one; and where rows are said to change the label, the refit without them does.
fn check_refits(case: u64, seen: &mut Seen, refits: &mut usize) {
    let Some(instance) = instance(case) else {
        return;
    };
    let rows = instance.rows.len();
    // Without ids, with one for each row, and with some that rows share.
    let ids: Option<Vec<String>> = match case % 3 {
        0 => None,
        1 => Some((0..rows).map(|row| format!("row {row}")).collect()),
        _ => Some((0..rows).map(|row| format!("person {}", row / 2)).collect()),
    };
    let all: Vec<usize> = (0..rows).collect();
    let Some((system, classes)) = refit(&instance, ids.as_deref(), &all) else {
        return;
    };
    let decision = Analysis::new(&system)
        .decide(&instance.query, Method::Auto, Deadline::never())
        .unwrap();
    let without = |mask: u32| -> (Option<usize>, String) {
        let kept: Vec<usize> = (0..rows).filter(|&row| mask >> row & 1 == 0).collect();
        match refit(&instance, ids.as_deref(), &kept) {
            Some((system, classes)) => {
                let label = system.classify(&instance.query).unwrap();
                (Some(system.k()), classes[usize::from(label)].clone())
            }
            None => (
                None,
                LABELS[usize::from(instance.labels[kept[0]])].to_owned(),
            ),
        }
    };
    let label = &classes[usize::from(decision.label)];
    match decision.verdict {
        Verdict::Certified(certificate) => {
            match certificate {
                Certificate::Quick => seen.quick += 1,
                Certificate::KSet => seen.k_set += 1,
                Certificate::Exhaustive => seen.exhaustive += 1,
            }
            for mask in (1..1_u32 << rows)
                .filter(|mask| mask.count_ones() as usize <= instance.parameters.poison)
            {
                assert_eq!(&without(mask).1, label, "case {case}, without {mask:b}");
                *refits += 1;
            }
        }
        Verdict::Falsified(violation) => {
            seen.falsified += 1;
            let mask = violation
                .removal
                .iter()
                .fold(0, |mask, &row| mask | 1 << row);
            let (k, found) = without(mask);
            assert_eq!(found, classes[usize::from(violation.label)], "case {case}");
            assert_ne!(&found, label, "case {case}");
            assert!(k.is_none_or(|k| k == violation.k), "case {case}");
        }
        Verdict::Unknown => panic!("case {case} is left unknown"),
    }
}

#[test]
fn certified_labels_are_those_of_every_refit_without_the_rows() {
    let (mut seen, mut refits) = (Seen::default(), 0);
    (0..3_000).for_each(|case| check_refits(case, &mut seen, &mut refits));
    println!("{seen:?}, {refits} refits");
    assert!(seen.quick > 0 && seen.k_set > 0 && seen.exhaustive > 0 && seen.falsified > 0);
    assert!(refits > 10_000);
}
