use rand::RngExt;

use super::*;
use probity_data::table::{Labels, Table};
use probity_nn::{ModelError, Rows};
use probity_run::stream::{Purpose, stream};

/// A model whose logits stand in the row itself, as hundredths, after the attributes a and b.
struct Spoken {
    classes: usize,
}

impl Classifier for Spoken {
    fn width(&self) -> usize {
        2 + self.classes
    }

    fn classes(&self) -> usize {
        self.classes
    }

    fn logits(&self, rows: Rows<'_>) -> Result<Vec<f32>, ModelError> {
        let spoken = |row: &[i32]| row[2..].iter().map(|&code| code as f32 / 100.0).collect();
        Ok(rows
            .iter()
            .flat_map(|row| -> Vec<f32> { spoken(row) })
            .collect())
    }
}

fn schema(classes: usize) -> Schema {
    let names: Vec<String> = (0..classes).map(|class| format!("\"c{class}\"")).collect();
    let mut text = format!(
        "name = \"t\"\n[label]\nname = \"y\"\nclasses = [{}]\n",
        names.join(", ")
    );
    for name in ["a", "b"] {
        text.push_str(&format!(
            "[[attribute]]\nname = \"{name}\"\nkind = \"integer\"\nmin = 0\nmax = 2\n"
        ));
    }
    for class in 0..classes {
        text.push_str(&format!(
            "[[attribute]]\nname = \"l{class}\"\nkind = \"integer\"\nmin = -500\nmax = 500\n"
        ));
    }
    Schema::from_toml(&text).unwrap()
}

fn random_table(classes: usize, rows: usize, seed: u64) -> Table {
    let (mut codes, mut labels) = (Vec::new(), Vec::new());
    for row in 0..rows as u64 {
        let mut draws = stream(seed, Purpose::Synthetic, row, 0);
        codes.extend([draws.random_range(0..3), draws.random_range(0..3)]);
        codes.extend((0..classes).map(|_| draws.random_range(-300..=300)));
        labels.push(draws.random_range(0..classes as u32));
    }
    Table::new(2 + classes, codes, labels)
}

fn options(schema: &Schema, favourable: &str) -> GroupOptions {
    GroupOptions {
        favourable: favourable.to_owned(),
        min_group: 8,
        calibration_bins: 4,
        resamples: 40,
        ..GroupOptions::usual(schema, vec!["a".into(), "b".into()], 1)
    }
}

/// Every figure from its definition, by loops over rows.
fn slow_rates(table: &Table, rows: &[usize], classes: usize, favourable: u32) -> [Option<f64>; 5] {
    let logits = |row: usize| -> Vec<f64> {
        let spoken = table.row(row)[2..].iter();
        spoken.map(|&code| f64::from(code as f32 / 100.0)).collect()
    };
    let predicted = |row: usize| {
        let logits = logits(row);
        let mut best = 0;
        for class in 1..classes {
            if logits[class] > logits[best] {
                best = class;
            }
        }
        best as u32
    };
    let probability = |row: usize| {
        let all: f64 = logits(row).iter().map(|logit| logit.exp()).sum();
        logits(row)[favourable as usize].exp() / all
    };
    let share = |of: &dyn Fn(usize) -> bool, is: &dyn Fn(usize) -> bool| {
        let of: Vec<usize> = rows.iter().copied().filter(|&row| of(row)).collect();
        let hits = of.iter().filter(|&&row| is(row)).count();
        (!of.is_empty()).then(|| hits as f64 / of.len() as f64)
    };
    let label = |row: usize| table.labels()[row];
    let chosen = |row: usize| predicted(row) == favourable;
    let mut error = 0.0;
    for bin in 0..4 {
        let (low, high) = (f64::from(bin) / 4.0, f64::from(bin + 1) / 4.0);
        let inside: Vec<usize> = rows
            .iter()
            .copied()
            .filter(|&row| probability(row) >= low && (probability(row) < high || bin == 3))
            .collect();
        if !inside.is_empty() {
            let mean =
                inside.iter().map(|&row| probability(row)).sum::<f64>() / inside.len() as f64;
            let positive = inside
                .iter()
                .filter(|&&row| label(row) == favourable)
                .count();
            let off = (mean - positive as f64 / inside.len() as f64).abs();
            error += off * inside.len() as f64 / rows.len() as f64;
        }
    }
    [
        share(&|_| true, &chosen),
        share(&|row| label(row) == favourable, &chosen),
        share(&|row| label(row) != favourable, &chosen),
        share(&|_| true, &|row| predicted(row) == label(row)),
        Some(error),
    ]
}

#[test]
fn every_figure_is_what_its_definition_says() {
    let (mut judged, mut small) = (0, 0);
    for (case, classes) in (0..60).zip([2, 3].into_iter().cycle()) {
        let schema = schema(classes);
        let table = random_table(classes, 40 + 10 * case as usize, case);
        let favourable = (case % classes as u64) as u32;
        let options = options(&schema, &format!("c{favourable}"));
        let report = measure_groups(&Spoken { classes }, &schema, &table, &options).unwrap();
        assert_eq!(report.sets.len(), 3);
        for set in &report.sets {
            let positions: Vec<usize> = set
                .protected
                .iter()
                .map(|n| schema.index_of(n).unwrap())
                .collect();
            let mut rates: [Vec<f64>; 5] = Default::default();
            let mut all_rows = 0;
            for group in &set.groups {
                let rows: Vec<usize> = (0..table.rows())
                    .filter(|&row| {
                        let values = positions.iter().map(|&p| table.row(row)[p].to_string());
                        values.eq(group.values.iter().cloned())
                    })
                    .collect();
                all_rows += rows.len();
                assert_eq!(group.rows, rows.len() as u64);
                assert_eq!(group.too_small, rows.len() < 8);
                let slow = slow_rates(&table, &rows, classes, favourable);
                let positive = rows
                    .iter()
                    .filter(|&&row| table.labels()[row] == favourable)
                    .count();
                assert_eq!(group.favourable_rows, Some(positive as u64));
                assert_eq!(group.rows_with_outcome, group.rows);
                let of = [
                    rows.len(),
                    positive,
                    rows.len() - positive,
                    rows.len(),
                    rows.len(),
                ];
                let fast = [
                    group.selection_rate,
                    group.true_positive_rate,
                    group.false_positive_rate,
                    group.accuracy,
                    group.calibration_error,
                ];
                for (measure, ((slow, fast), of)) in slow.into_iter().zip(fast).zip(of).enumerate()
                {
                    assert_eq!(fast.is_some(), of >= 8);
                    if let (Some(slow), Some(fast)) = (slow, fast) {
                        assert!((slow - fast.value).abs() < 1e-9, "{slow} {fast:?}");
                        assert!(fast.ci95[0] <= fast.value && fast.value <= fast.ci95[1]);
                        rates[measure].push(slow);
                        judged += 1;
                    } else {
                        small += 1;
                    }
                }
            }
            assert_eq!(all_rows, table.rows());
            let range = |rates: &[f64]| {
                let high = rates.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let low = rates.iter().copied().fold(f64::INFINITY, f64::min);
                (rates.len() >= 2).then_some((high - low, low / high))
            };
            let odds = range(&rates[1])
                .zip(range(&rates[2]))
                .map(|(t, f)| t.0.max(f.0));
            let gaps = &set.gaps;
            for (gap, slow) in [
                (
                    &gaps.demographic_parity_difference,
                    range(&rates[0]).map(|r| r.0),
                ),
                (
                    &gaps.demographic_parity_ratio,
                    range(&rates[0]).map(|r| r.1),
                ),
                (
                    &gaps.equal_opportunity_difference,
                    range(&rates[1]).map(|r| r.0),
                ),
                (&gaps.equalised_odds_difference, odds),
                (&gaps.accuracy_difference, range(&rates[3]).map(|r| r.0)),
                (&gaps.calibration_difference, range(&rates[4]).map(|r| r.0)),
            ] {
                assert_eq!(gap.is_some(), slow.is_some());
                if let (Some(gap), Some(slow)) = (gap, slow) {
                    assert!((gap.value - slow).abs() < 1e-9, "{gap:?} {slow}");
                    assert!(
                        gap.ci95[0] <= gap.value && gap.value <= gap.ci95[1],
                        "{gap:?}"
                    );
                }
            }
        }
    }
    assert!(judged > 2000 && small > 100, "{judged} {small}");
}

/// Group 0: labels 1, 1, 0, 0 predicted 1, 1, 1, 0; group 1: labels 1, 0, 0, 0 predicted 0, 0, 0,
/// 1.
#[test]
fn a_worked_example() {
    let schema = schema(2);
    let rows = [
        (0, 1, 1),
        (0, 1, 1),
        (0, 0, 1),
        (0, 0, 0),
        (1, 1, 0),
        (1, 0, 0),
        (1, 0, 0),
        (1, 0, 1),
    ];
    let codes = rows
        .iter()
        .flat_map(|&(a, _, predicted)| [a, 0, 0, if predicted == 1 { 100 } else { -100 }]);
    let table = Table::new(4, codes.collect(), rows.iter().map(|row| row.1).collect());
    let options = GroupOptions {
        protected: vec!["a".into()],
        min_group: 1,
        ..options(&schema, "c1")
    };
    let report = measure_groups(&Spoken { classes: 2 }, &schema, &table, &options).unwrap();
    let gaps = &report.sets[0].gaps;
    let value = |gap: &Option<gaps::Gap>| gap.as_ref().unwrap().value;
    assert_eq!(value(&gaps.demographic_parity_difference), 0.5);
    assert!((value(&gaps.demographic_parity_ratio) - 1.0 / 3.0).abs() < 1e-12);
    assert_eq!(value(&gaps.equal_opportunity_difference), 1.0);
    // True positive rates 1 and 0; false positive rates 1/2 and 1/3.
    assert_eq!(value(&gaps.equalised_odds_difference), 1.0);
    assert_eq!(value(&gaps.accuracy_difference), 0.25);
    assert_eq!(
        gaps.demographic_parity_difference.as_ref().unwrap().lowest,
        ["1"]
    );
    // σ(1) = 0.731 and σ(−1) = 0.269, in bins of width 1/4 of which one holds 0.731 and one 0.269.
    // Group 0: three rows at 0.731 of which two are favourable, one at 0.269 of which none is.
    let error = report.sets[0].groups[0].calibration_error.unwrap().value;
    let sigma = 1.0 / (1.0 + (-1.0_f64).exp());
    assert!((error - ((3.0 * sigma - 2.0).abs() + (1.0 - sigma)) / 4.0).abs() < 1e-7);
}

/// Rows with known selection rates; the intervals of the parity difference and ratio must cover the
/// truth.
#[test]
fn intervals_cover_the_true_gap() {
    let schema = schema(2);
    // Rates by group; the first case has no gap at all, the last one has a rate of almost 0.
    for (rates, least) in [
        ([0.3, 0.3, 0.3], 262),
        ([0.5, 0.2, 0.4], 262),
        ([0.4, 0.6, 0.004], 262),
    ] {
        let truth = {
            let high = rates.into_iter().fold(0.0, f64::max);
            let low = rates.into_iter().fold(1.0, f64::min);
            (high - low, low / high)
        };
        let (mut covered, mut ratio_covered, mut width) = (0, 0, 0.0);
        for trial in 0..300 {
            let mut codes = Vec::new();
            for row in 0..360 {
                let mut draws = stream(trial, Purpose::Synthetic, row, 5);
                let group = (row % 3) as usize;
                let selected = draws.random_bool(rates[group]);
                codes.extend([group as i32, 0, 0, if selected { 100 } else { -100 }]);
            }
            let labels = (0..360).map(|row| (row / 3) % 2).collect();
            let options = GroupOptions {
                protected: vec!["a".into()],
                resamples: 200,
                seed: trial,
                ..options(&schema, "c1")
            };
            let table = Table::new(4, codes, labels);
            let report = measure_groups(&Spoken { classes: 2 }, &schema, &table, &options).unwrap();
            let gaps = &report.sets[0].gaps;
            let holds = |gap: &Option<gaps::Gap>, truth: f64| {
                let [low, high] = gap.as_ref().unwrap().ci95;
                low <= truth && truth <= high
            };
            covered += u32::from(holds(&gaps.demographic_parity_difference, truth.0));
            ratio_covered += u32::from(holds(&gaps.demographic_parity_ratio, truth.1));
            let [low, high] = gaps.demographic_parity_difference.as_ref().unwrap().ci95;
            width += (high - low) / 300.0;
        }
        // 300 trials that cover with 95 %: fewer than 262 have a probability below 1e-7.
        assert!(
            covered >= least && ratio_covered >= least,
            "{covered} {ratio_covered}"
        );
        // Covering everything would be no feat.
        assert!(width < 0.4, "{width}");
    }
}

/// The report on groups of attribute a with so many rows, each predicted favourably at its share.
fn selected(groups: &[(usize, usize)], seed: u64) -> GroupReport {
    let schema = schema(2);
    let mut codes = Vec::new();
    for (group, &(rows, chosen)) in groups.iter().enumerate() {
        for row in 0..rows {
            codes.extend([group as i32, 0, 0, if row < chosen { 100 } else { -100 }]);
        }
    }
    let rows: usize = groups.iter().map(|(rows, _)| rows).sum();
    let labels = (0..rows as u32).map(|row| row % 2).collect();
    let options = GroupOptions {
        protected: vec!["a".into()],
        resamples: 200,
        seed,
        ..options(&schema, "c1")
    };
    let table = Table::new(4, codes, labels);
    measure_groups(&Spoken { classes: 2 }, &schema, &table, &options).unwrap()
}

/// Ten rows have the lowest rate; what is clear is the difference of the thousands.
#[test]
fn a_small_group_does_not_make_the_clearest_difference() {
    let report = selected(&[(10, 2), (4000, 2000), (4000, 2440)], 1);
    let set = &report.sets[0];
    let largest = set.gaps.demographic_parity_difference.as_ref().unwrap();
    assert_eq!(
        (&largest.lowest[0][..], &largest.highest[0][..]),
        ("0", "2")
    );
    let clearest = set.differences.selection_rate.as_ref().unwrap();
    assert_eq!(
        (&clearest.lowest[0][..], &clearest.highest[0][..]),
        ("1", "2")
    );
    assert!((clearest.value - 0.11).abs() < 1e-12, "{clearest:?}");
    let [low, high] = clearest.ci95;
    assert!(
        0.07 < low && low < 0.09 && 0.13 < high && high < 0.15,
        "{clearest:?}"
    );
    // Two groups are one pair: its difference is the gap.
    let set = &selected(&[(4000, 2000), (4000, 2440)], 1).sets[0];
    assert_eq!(
        set.differences.selection_rate,
        set.gaps.demographic_parity_difference
    );
}

/// Where all rates are equal, the gap is between two groups nevertheless.
#[test]
fn equal_groups_are_two_groups() {
    for groups in [&[(50, 25), (50, 25)][..], &[(50, 25), (50, 25), (50, 25)]] {
        let set = &selected(groups, 1).sets[0];
        let gap = set.gaps.demographic_parity_difference.as_ref().unwrap();
        assert_eq!((gap.value, gap.ci95[0]), (0.0, 0.0));
        assert_ne!(gap.lowest, gap.highest);
        let clearest = set.differences.selection_rate.as_ref().unwrap();
        assert_eq!((clearest.value, clearest.ci95[0]), (0.0, 0.0));
        assert_ne!(clearest.lowest, clearest.highest);
    }
}

/// Three groups that are alike: that two differ is said of few samples, although the clearest of
/// three differences is looked at.
#[test]
fn few_samples_of_equal_groups_have_a_clear_difference() {
    let mut shown = 0;
    for trial in 0..300 {
        let groups: Vec<(usize, usize)> = (0..3)
            .map(|group| {
                let drawn = (0..120).filter(|&row| {
                    let mut draws = stream(trial, Purpose::Synthetic, row, 20 + group);
                    draws.random_bool(0.3)
                });
                (120, drawn.count())
            })
            .collect();
        let set = &selected(&groups, trial).sets[0];
        let clearest = set.differences.selection_rate.as_ref().unwrap();
        assert!(clearest.ci95[0] <= clearest.value && clearest.value <= clearest.ci95[1]);
        shown += u32::from(clearest.ci95[0] > 0.0);
    }
    // 15 of 300 are expected at most; more than 24 have a probability below 0.02.
    assert!(shown <= 24, "{shown}");
}

/// A population in which a row of a group has one of several logits, evenly, and the favourable
/// class with a probability that is or is not what the logit says. Its calibration errors are
/// known.
struct Calibrated {
    /// By group: hundredths of logits with the true probabilities.
    groups: [Vec<(i32, f64)>; 3],
}

impl Calibrated {
    fn new() -> Calibrated {
        let sigma = |logit: f64| 1.0 / (1.0 + (-logit).exp());
        let steps = |slope: f64| {
            (-8..=8)
                .map(|step| (40 * step, sigma(0.4 * slope * f64::from(step))))
                .collect()
        };
        Calibrated {
            // Almost calibrated, far too sure, and a rare class that is never foreseen.
            groups: [steps(1.05), steps(0.3), vec![(-600, 0.03)]],
        }
    }

    /// The calibration errors from the definition.
    fn errors(&self) -> [f64; 3] {
        self.groups.each_ref().map(|logits| {
            let mut off = [0.0; 10];
            for &(logit, truth) in logits {
                let p = 1.0 / (1.0 + (-f64::from(logit) / 100.0).exp());
                off[(10.0 * p) as usize] += (p - truth) / logits.len() as f64;
            }
            off.iter().map(|off| off.abs()).sum()
        })
    }

    /// The report of a sample of `rows` rows of each group.
    fn report(&self, rows: usize, seed: u64) -> GroupReport {
        let schema = schema(2);
        let (mut codes, mut labels) = (Vec::new(), Vec::new());
        for row in 0..3 * rows {
            let mut draws = stream(seed, Purpose::Synthetic, row as u64, 9);
            let logits = &self.groups[row % 3];
            let (logit, truth) = logits[draws.random_range(0..logits.len())];
            codes.extend([(row % 3) as i32, 0, 0, logit]);
            labels.push(u32::from(draws.random_bool(truth)));
        }
        let options = GroupOptions {
            protected: vec!["a".into()],
            calibration_bins: 10,
            resamples: 20,
            seed,
            ..options(&schema, "c1")
        };
        let table = Table::new(4, codes, labels);
        measure_groups(&Spoken { classes: 2 }, &schema, &table, &options).unwrap()
    }
}

#[test]
fn intervals_cover_the_true_calibration_error() {
    let population = Calibrated::new();
    let errors = population.errors();
    let truth = errors[1] - errors[0].min(errors[2]);
    for rows in [80, 200, 1000] {
        let mut missed = [0; 4];
        for seed in 0..300 {
            let report = population.report(rows, seed);
            let set = &report.sets[0];
            let groups = set
                .groups
                .iter()
                .map(|group| group.calibration_error.unwrap());
            let gap = set.gaps.calibration_difference.as_ref().unwrap().ci95;
            let intervals = groups.map(|rate| rate.ci95).chain([gap]);
            let truths = errors.into_iter().chain([truth]);
            for (missed, (truth, [low, high])) in missed.iter_mut().zip(truths.zip(intervals)) {
                *missed += u32::from(truth < low || high < truth);
            }
        }
        // 15 of 300 are expected at most; more than 24 have a probability below 0.02.
        assert!(
            missed.iter().all(|&missed| missed <= 24),
            "{rows}: {missed:?}"
        );
    }
    for seed in 0..20 {
        let report = population.report(5000, seed);
        let set = &report.sets[0];
        for (group, truth) in set.groups.iter().zip(errors) {
            let [low, high] = group.calibration_error.unwrap().ci95;
            assert!(
                low <= truth && truth <= high && high - low < 0.06,
                "{low} {high}"
            );
        }
        // The one that is far too sure is told from 0, and from the others.
        assert!(set.groups[1].calibration_error.unwrap().ci95[0] > 0.1);
        let gap = set.gaps.calibration_difference.as_ref().unwrap();
        assert_eq!(gap.highest, ["1"]);
        assert!(gap.ci95[0] > 0.05 && gap.ci95[1] < 0.25, "{gap:?}");
    }
}

#[test]
fn bootstrap_samples_are_keyed() {
    let schema = schema(2);
    let table = random_table(2, 300, 3);
    let measure = |seed| {
        let options = GroupOptions {
            seed,
            ..options(&schema, "c1")
        };
        measure_groups(&Spoken { classes: 2 }, &schema, &table, &options).unwrap()
    };
    assert_eq!(measure(1), measure(1));
    let ends = |report: GroupReport| {
        report.sets[0]
            .gaps
            .accuracy_difference
            .clone()
            .unwrap()
            .ci95
    };
    assert_ne!(ends(measure(1)), ends(measure(2)));
}

#[test]
fn options_without_meaning_are_refused() {
    let schema = schema(3);
    let table = random_table(3, 50, 1);
    let good = options(&schema, "c2");
    let refused = |options: GroupOptions| {
        measure_groups(&Spoken { classes: 3 }, &schema, &table, &options)
            .unwrap_err()
            .to_string()
    };
    for (options, needle) in [
        (
            GroupOptions {
                favourable: "c9".into(),
                ..good.clone()
            },
            "c0, c1, c2",
        ),
        (
            GroupOptions {
                protected: vec!["z".into()],
                ..good.clone()
            },
            "no attribute 'z'",
        ),
        (
            GroupOptions {
                protected: vec!["a".into(), "a".into()],
                ..good.clone()
            },
            "twice",
        ),
        (
            GroupOptions {
                protected: Vec::new(),
                ..good.clone()
            },
            "no attribute is protected",
        ),
        (
            GroupOptions {
                resamples: 5,
                ..good.clone()
            },
            "groups.resamples is 5",
        ),
        (
            GroupOptions {
                min_group: 0,
                ..good.clone()
            },
            "groups.min_group is 0",
        ),
        (
            GroupOptions {
                bins: vec![DeclaredBins {
                    attribute: "l0".into(),
                    edges: vec![0.0],
                }],
                ..good.clone()
            },
            "not protected",
        ),
    ] {
        let message = refused(options);
        assert!(message.contains(needle), "{message}");
    }
}

/// Rows (group, label, predicted), by attribute `a`.
fn by_a(rows: &[(i32, u32, u32)], labels: bool) -> GroupReport {
    let schema = schema(2);
    let said = |predicted| if predicted == 1 { 100 } else { -100 };
    let codes = rows.iter().flat_map(|&(a, _, p)| [a, 0, 0, said(p)]);
    let labels = rows.iter().filter(|_| labels).map(|row| row.1);
    let table = Table::new(4, codes.collect(), labels.collect());
    let options = GroupOptions {
        protected: vec!["a".into()],
        min_group: 1,
        ..options(&schema, "c1")
    };
    measure_groups(&Spoken { classes: 2 }, &schema, &table, &options).unwrap()
}

/// Group 0 is selected 2 of 3 times, group 1 once of 2 times.
const DECIDED: [(i32, u32, u32); 5] = [(0, 1, 1), (0, 1, 1), (0, 1, 0), (1, 1, 1), (1, 1, 0)];

#[test]
fn decisions_without_outcomes_have_selection_rates_alone() {
    let report = by_a(&DECIDED, false);
    assert_eq!((report.rows, report.rows_with_outcome), (5, 0));
    let set = &report.sets[0];
    let rates = set
        .groups
        .iter()
        .map(|group| group.selection_rate.unwrap().value);
    assert_eq!(rates.collect::<Vec<_>>(), [2.0 / 3.0, 0.5]);
    let parity = set.gaps.demographic_parity_difference.as_ref().unwrap();
    assert!((parity.value - 1.0 / 6.0).abs() < 1e-12);
    for group in &set.groups {
        assert_eq!((group.rows_with_outcome, group.favourable_rows), (0, None));
        assert_eq!((group.true_positive_rate, group.accuracy), (None, None));
        assert_eq!(
            (group.false_positive_rate, group.calibration_error),
            (None, None)
        );
        assert_eq!(group.not_defined.len(), 4);
        assert!(
            group
                .not_defined
                .values()
                .all(|&reason| reason == "no outcomes")
        );
    }
    assert_eq!(set.gaps.equalised_odds_difference, None);
    assert_eq!(set.not_defined.len(), 4);
    assert_eq!(set.not_defined["accuracy_difference"], "no outcomes");
}

#[test]
fn rows_of_one_outcome_have_the_rates_that_it_defines() {
    let report = by_a(&DECIDED, true);
    let set = &report.sets[0];
    let true_positive = |group: usize| set.groups[group].true_positive_rate.unwrap().value;
    assert_eq!((true_positive(0), true_positive(1)), (2.0 / 3.0, 0.5));
    let reason = "every outcome is the favourable one";
    for group in &set.groups {
        assert_eq!(group.false_positive_rate, None);
        assert!(group.accuracy.is_some() && group.calibration_error.is_some());
        assert_eq!(group.not_defined, [("false_positive_rate", reason)].into());
    }
    let opportunity = set.gaps.equal_opportunity_difference.as_ref().unwrap();
    assert!((opportunity.value - 1.0 / 6.0).abs() < 1e-12);
    assert_eq!(set.gaps.equalised_odds_difference, None);
    assert_eq!(
        set.not_defined,
        [("equalised_odds_difference", reason)].into()
    );
    // And of the other outcome.
    let none = DECIDED.map(|(a, _, predicted)| (a, 0, predicted));
    let set = &by_a(&none, true).sets[0];
    let reason = "no outcome is the favourable one";
    for name in ["equalised_odds_difference", "equal_opportunity_difference"] {
        assert_eq!(set.not_defined[name], reason);
    }
    assert_eq!(set.groups[0].false_positive_rate.unwrap().value, 2.0 / 3.0);
    assert_eq!(set.groups[0].favourable_rows, Some(0));
}

#[test]
fn shares_of_decisions_are_of_all_rows_and_others_of_those_with_an_outcome() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    // Of group 0: outcomes c1, NA, c0, none; predicted c1, c1, c1, c0.
    let text = "a,b,l0,l1,y\n0,0,0,100,c1\n0,0,0,100,NA\n0,0,0,100,c0\n0,0,0,-100,\n1,0,0,100,?\n";
    std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
    let schema = schema(2);
    let table = Table::read(file.path(), &schema, Labels::Optional).unwrap();
    let options = GroupOptions {
        protected: vec!["a".into()],
        min_group: 1,
        ..options(&schema, "c1")
    };
    let report = measure_groups(&Spoken { classes: 2 }, &schema, &table, &options).unwrap();
    assert_eq!((report.rows, report.rows_with_outcome), (5, 2));
    let [group, other] = &report.sets[0].groups[..] else {
        panic!("{report:?}")
    };
    assert_eq!((group.rows, group.rows_with_outcome), (4, 2));
    let values = [
        group.selection_rate,
        group.true_positive_rate,
        group.false_positive_rate,
        group.accuracy,
    ];
    let values = values.map(|rate| rate.unwrap().value);
    assert_eq!(values, [0.75, 1.0, 1.0, 0.5]);
    // Of probability σ(1) = 0.7311 each, in one bin of four: (2 · 0.7311 − 1) / 2.
    let sure = 1.0 / (1.0 + (-1.0_f64).exp());
    let error = group.calibration_error.unwrap().value;
    assert!((error - (sure - 0.5)).abs() < 1e-6, "{error}");
    assert_eq!(other.selection_rate.unwrap().value, 1.0);
    assert_eq!(other.favourable_rows, None);
}
