//! Every measure of rows against what its definition says, counted the long way.

use super::*;
use crate::domain::{TabularDomain, mixed_domain};
use crate::population::Plausibility;
use crate::text::domain::TextDomain;
use crate::text::source::Source;
use probity_data::table::Table;
use probity_nn::encoding::Span;
use std::collections::HashSet;

fn inputs(domain: &TabularDomain, seed: u64, count: u64) -> Vec<Vec<i32>> {
    (0..count)
        .map(|item| domain.random_input(seed, item))
        .collect()
}

fn table(rows: &[Vec<i32>]) -> Table {
    Table::new(rows[0].len(), rows.concat(), Vec::new())
}

fn finds<'a>(space: &'a TableSpace, domain: &'a TabularDomain) -> Finds<'a> {
    graded(space, domain, None)
}

fn graded<'a>(
    space: &'a TableSpace,
    domain: &'a TabularDomain,
    plausibility: Option<&'a Plausibility>,
) -> Finds<'a> {
    Finds {
        space: Box::new(TableFinds {
            space,
            plausibility,
        }),
        domain,
        seed: 3,
        below: None,
        individuals: HashSet::new(),
        reached: HashSet::new(),
        seeds: 8,
        rows: Vec::new(),
    }
}

fn pair(row: &[i32], seed: u64, phase: Phase) -> Pair<'_> {
    Pair {
        seed,
        phase,
        step: 0,
        row,
        variant: 0,
        label: 0,
        other_label: 1,
        logits: &[],
        other_logits: &[],
    }
}

fn free_spans(domain: &TabularDomain) -> impl Iterator<Item = (usize, &Span)> {
    domain.free().iter().map(|&at| (at, &domain.spans()[at]))
}

fn distances(domain: &TabularDomain, a: &[i32], b: &[i32]) -> (f64, f64) {
    let free = domain.free().len() as f64;
    let (mut hamming, mut l1) = (0.0, 0.0);
    for (at, span) in free_spans(domain) {
        if a[at] != b[at] {
            hamming += 1.0 / free;
            l1 += match span.encoding.is_scaled() {
                true => f64::from((a[at] - b[at]).abs()) / (span.levels - 1) as f64 / free,
                false => 1.0 / free,
            };
        }
    }
    (hamming, l1)
}

fn cell(domain: &TabularDomain, row: &[i32]) -> Vec<usize> {
    let part = |(at, span): (usize, &Span)| (row[at] - span.min) as usize * 3 / span.levels;
    free_spans(domain).map(part).collect()
}

/// Numbers by their place in the domain, levels by indicators.
fn coordinates(domain: &TabularDomain, row: &[i32]) -> Vec<f64> {
    let of = |(at, span): (usize, &Span)| -> Vec<f64> {
        let level = (row[at] - span.min) as usize;
        if span.encoding.is_scaled() {
            return vec![(1000.0 * level as f64 / (span.levels - 1) as f64).round()];
        }
        let indicator = |other| if other == level { 707.0 } else { 0.0 };
        (0..span.levels).map(indicator).collect()
    };
    free_spans(domain).flat_map(of).collect()
}

/// Means over every two, distinct cells, and clusters by dense distances.
#[test]
fn measures_of_few_finds_are_those_of_their_definitions() {
    let (_, domain) = mixed_domain();
    let data = inputs(&domain, 1, 120);
    let space = TableSpace::new(&domain, &table(&data));
    let rows = inputs(&domain, 2, 40);
    let mut found = finds(&space, &domain);
    for row in &rows {
        found.add(&pair(row, 0, Phase::Local));
        // The same individual with another protected value is no other find.
        let mut variant = Vec::new();
        let other = (domain.own_variant(row) + 1) % domain.variants(row);
        domain.write_variant(row, other, &mut variant);
        found.add(&pair(&variant, 0, Phase::Local));
    }
    let (summary, along) = found.measured(&[0, 1, 7, 40, 99]).unwrap();
    assert_eq!(summary.individuals, 40);
    assert_eq!(along[3], summary.diversity);
    assert_eq!(along[4], summary.diversity);
    assert_eq!((along[0].hamming, along[0].cells), (None, 0));
    assert_eq!((along[1].hamming, along[1].cells), (None, 1));
    for (first, diversity) in [(7, along[2]), (40, along[3])] {
        let rows = &rows[..first];
        let pairs = (0..first).flat_map(|a| (a + 1..first).map(move |b| (a, b)));
        let (mut hamming, mut l1, mut count) = (0.0, 0.0, 0.0);
        for (a, b) in pairs {
            let (one, other) = distances(&domain, &rows[a], &rows[b]);
            (hamming, l1, count) = (hamming + one, l1 + other, count + 1.0);
        }
        assert!((diversity.hamming.unwrap() - hamming / count).abs() < 1e-12);
        assert!((diversity.l1.unwrap() - l1 / count).abs() < 1e-12);
        let cells: HashSet<Vec<usize>> = rows.iter().map(|row| cell(&domain, row)).collect();
        assert_eq!(diversity.cells, cells.len() as u64);
        assert_eq!(diversity.plausibility, None);
    }
    // Clusters again, from the clustering by itself.
    let points: Vec<Vec<i32>> = data
        .iter()
        .map(|row| {
            coordinates(&domain, row)
                .iter()
                .map(|&at| at as i32)
                .collect()
        })
        .collect();
    let (_, centres) = crate::seeds::clusters(&table(&points), 32, 0);
    let nearest = |row: &[i32]| -> (usize, f64) {
        let own = coordinates(&domain, row);
        let square = |centre: &Vec<f64>| -> f64 {
            own.iter().zip(centre).map(|(a, b)| (a - b).powi(2)).sum()
        };
        let all = centres.iter().map(square).enumerate();
        all.min_by(|(_, a), (_, b)| a.total_cmp(b)).unwrap()
    };
    let mut reach = vec![-1.0f64; centres.len()];
    for row in &data {
        let (cluster, distance) = nearest(row);
        reach[cluster] = reach[cluster].max(distance);
    }
    let covered: HashSet<usize> = rows
        .iter()
        .map(|row| nearest(row))
        .filter(|&(cluster, distance)| distance <= reach[cluster] + 1e-6)
        .map(|(cluster, _)| cluster)
        .collect();
    assert_eq!(summary.diversity.clusters, covered.len() as u64);
    assert!(covered.len() > 2 && covered.len() < 32, "{}", covered.len());
    // The data themselves cover all of their clusters.
    let mut of_data = finds(&space, &domain);
    data.iter()
        .for_each(|row| of_data.add(&pair(row, 0, Phase::Local)));
    let (of_data, _) = of_data.measured(&[]).unwrap();
    assert_eq!(of_data.diversity.clusters, of_data.data_clusters);
}

/// The mean distance of many finds, from pairs that are drawn, is near that of all pairs.
#[test]
fn distances_of_many_finds_are_drawn() {
    let (_, domain) = mixed_domain();
    let rows = inputs(&domain, 5, 300);
    let space = TableSpace::new(&domain, &table(&rows[..10]));
    let mut found = finds(&space, &domain);
    rows.iter()
        .for_each(|row| found.add(&pair(row, 0, Phase::Local)));
    let (summary, _) = found.measured(&[]).unwrap();
    let mut sums = (0.0, 0.0);
    for (a, row) in rows.iter().enumerate() {
        for other in &rows[..a] {
            let (hamming, l1) = distances(&domain, row, other);
            sums = (sums.0 + hamming, sums.1 + l1);
        }
    }
    let pairs = 300.0 * 299.0 / 2.0;
    let (hamming, l1) = (
        summary.diversity.hamming.unwrap(),
        summary.diversity.l1.unwrap(),
    );
    assert!((hamming - sums.0 / pairs).abs() < 0.005, "{hamming}");
    assert!((l1 - sums.1 / pairs).abs() < 0.005, "{l1}");
    found.seed += 1;
    assert_ne!(
        found.measured(&[]).unwrap().0.diversity.hamming,
        Some(hamming),
        "drawn anew"
    );
}

/// The expected number of cells, by all ways to draw.
#[test]
fn rarefied_cells_are_the_mean_over_all_draws() {
    let cells = [0, 0, 0, 1, 1, 2, 3, 3, 3, 3];
    let in_cell = [3, 2, 1, 4].map(|own| (own, 1)).into();
    for drawn in 0..=10u32 {
        let (mut sum, mut ways) = (0.0, 0.0);
        for chosen in (0..1u32 << 10).filter(|chosen| chosen.count_ones() == drawn) {
            let hit = (0..10)
                .filter(|at| chosen >> at & 1 == 1)
                .map(|at| cells[at]);
            sum += hit.collect::<HashSet<i32>>().len() as f64;
            ways += 1.0;
        }
        let expected = rarefied(&in_cell, 10, u64::from(drawn));
        assert!((expected - sum / ways).abs() < 1e-9, "{drawn}: {expected}");
    }
    let few = rarefied(&[(500_000, 1), (1, 1), (499_999, 1)].into(), 1_000_000, 10);
    assert!(
        (few - (2.0 + 1e-5 - 2.0 * 0.5f64.powi(10))).abs() < 1e-5,
        "{few}"
    );
    assert_eq!(sizes(99).collect::<Vec<u64>>(), [10, 20, 50]);
    assert_eq!(sizes(9).count(), 0);
    assert_eq!(sizes(1000).last(), Some(1000));
}

/// Seeds count once, and by the global phase alone.
#[test]
fn seeds_that_came_to_a_row_of_their_own_are_reached() {
    let (_, domain) = mixed_domain();
    let rows = inputs(&domain, 7, 5);
    let space = TableSpace::new(&domain, &table(&rows));
    let mut found = finds(&space, &domain);
    for (row, (seed, phase)) in rows.iter().zip([
        (4, Phase::Global),
        (4, Phase::Global),
        (6, Phase::Global),
        (4, Phase::Local),
        (1, Phase::Local),
    ]) {
        found.add(&pair(row, seed, phase));
    }
    let (summary, _) = found.measured(&[]).unwrap();
    assert_eq!((summary.seeds_reached, summary.reached), (2, 0.25));
    let (none, _) = finds(&space, &domain).measured(&[]).unwrap();
    assert_eq!(none.diversity, Diversity::default());
    assert!(none.cells_of.is_empty() && none.reached == 0.0);
}

/// The choice of the finds that are looked at, of too many, depends on the individual alone.
#[test]
fn finds_beyond_a_million_are_drawn_by_the_individual() {
    let (_, domain) = mixed_domain();
    let rows = inputs(&domain, 9, 2000);
    let space = TableSpace::new(&domain, &table(&rows[..10]));
    let keys = |rows: &mut dyn Iterator<Item = &Vec<i32>>, found: u64| -> HashSet<Vec<i32>> {
        let mut finds = finds(&space, &domain).bounded(found);
        rows.for_each(|row| finds.add(&pair(row, 0, Phase::Local)));
        finds.rows().iter().map(|row| row.to_vec()).collect()
    };
    let all = keys(&mut rows.iter(), MOST);
    let half = keys(&mut rows.iter(), 2 * MOST);
    assert_eq!(keys(&mut rows.iter().rev(), 2 * MOST), half);
    assert!(half.is_subset(&all));
    assert!(
        half.len().abs_diff(all.len() / 2) < 120,
        "{} of {}",
        half.len(),
        all.len()
    );
}

/// The mean plausibility of the finds, and of the first of them.
#[test]
fn plausibility_is_the_mean_of_that_of_the_finds() {
    let schema = probity_data::builtin::schema("synthetic-census")
        .unwrap()
        .unwrap();
    let (_, domain) = mixed_domain();
    let data = inputs(&domain, 11, 300);
    let rows: Vec<&[i32]> = data.iter().map(Vec::as_slice).collect();
    let network = Plausibility::learnt(&schema, domain.free(), &rows, 1).unwrap();
    let space = TableSpace::new(&domain, &table(&data));
    let mut found = graded(&space, &domain, Some(&network));
    let new = inputs(&domain, 12, 50);
    new.iter()
        .for_each(|row| found.add(&pair(row, 0, Phase::Local)));
    let (summary, along) = found.measured(&[20]).unwrap();
    for (first, diversity) in [(20, along[0]), (50, summary.diversity)] {
        let rows: Vec<&[i32]> = new[..first].iter().map(Vec::as_slice).collect();
        let sum: f64 = network.grades(&rows).into_iter().map(f64::from).sum();
        let mean = diversity.plausibility.unwrap();
        assert!((mean - sum / first as f64).abs() < 1e-12, "{mean}");
    }
}

/// Wide finds are looked at in smaller numbers, so that they take no more memory.
#[test]
fn finds_that_are_wide_are_bounded_by_their_codes() {
    let (_, domain) = mixed_domain();
    let space = TableSpace::new(&domain, &table(&inputs(&domain, 1, 10)));
    let narrow = finds(&space, &domain).bounded(MOST + 1);
    assert_eq!(
        narrow.below,
        Some((((1u128 << 64) * u128::from(MOST)) / u128::from(MOST + 1)) as u64)
    );
    assert_eq!(finds(&space, &domain).bounded(MOST).below, None);
    let wide =
        TextDomain::from_sources(vec![Source::new(vec![5; 1023], Vec::new(), Vec::new())]).unwrap();
    let of = |found: u64| {
        let finds = Finds {
            domain: &wide,
            ..finds(&space, &domain)
        };
        finds.bounded(found).below
    };
    assert_eq!(of(MOST_CODES / 1024), None);
    assert_eq!(of(MOST_CODES / 512), Some(1 << 63));
}
