//! Figures against their definitions.

use rand::RngExt;

use super::auc::power_mean;
use super::naming::Naming;
use super::*;
use crate::text::preset::Preset;
use probity_run::stream::{Purpose, stream};
use probity_text::lexicon::Lexicon;

/// Texts with a score of few values, so that there are ties, and subgroups that overlap.
fn random(texts: usize, seed: u64) -> (ScoredTexts, Vec<Vec<u32>>) {
    let mut scored = ScoredTexts::default();
    let mut groups = vec![Vec::new(); 4];
    for text in 0..texts {
        let mut draws = stream(seed, Purpose::Synthetic, text as u64, 3);
        let positive = draws.random_bool(0.4);
        let score = f64::from(draws.random_range(-4..=4)) + if positive { 1.5 } else { 0.0 };
        scored.positive.push(positive);
        scored.selected.push(score > 0.0);
        scored.score.push(score);
        for (group, members) in groups.iter_mut().enumerate() {
            if draws.random_bool(0.1 + 0.2 * group as f64) {
                members.push(text as u32);
            }
        }
    }
    (scored, groups)
}

fn subgroups(groups: &[Vec<u32>]) -> Vec<Subgroups> {
    let values = groups.iter().enumerate().map(|(number, texts)| Subgroup {
        value: format!("v{number}"),
        term: None,
        texts: texts.clone(),
    });
    vec![Subgroups {
        attribute: "a".to_owned(),
        values: values.collect(),
        ..Subgroups::default()
    }]
}

fn options() -> TextGroupOptions {
    TextGroupOptions {
        positive: "toxic".to_owned(),
        is_positive_given: false,
        min_group: 5,
        resamples: 60,
        seed: 1,
    }
}

/// The share of pairs won, pair by pair.
fn by_pairs(
    texts: &ScoredTexts,
    positive: impl Fn(usize) -> bool,
    negative: impl Fn(usize) -> bool,
    times: &[u32],
) -> Option<f64> {
    let all = 0..texts.score.len();
    let (mut won, mut pairs) = (0.0, 0.0);
    for one in all
        .clone()
        .filter(|&text| texts.positive[text] && positive(text))
    {
        for other in all
            .clone()
            .filter(|&text| !texts.positive[text] && negative(text))
        {
            let weight = f64::from(times[one]) * f64::from(times[other]);
            pairs += weight;
            won += match texts.score[one].total_cmp(&texts.score[other]) {
                std::cmp::Ordering::Greater => weight,
                std::cmp::Ordering::Equal => weight / 2.0,
                std::cmp::Ordering::Less => 0.0,
            };
        }
    }
    (pairs > 0.0).then(|| won / pairs)
}

#[test]
fn areas_are_what_their_definitions_say() {
    let mut undefined = 0;
    for seed in 0..60 {
        let (texts, mut groups) = random(12 + 3 * seed as usize, seed);
        groups.extend([Vec::new(), (0..texts.score.len() as u32).collect()]);
        let ranking = Ranking::new(&texts.score, &texts.positive);
        let mut draws = stream(seed, Purpose::Synthetic, 0, 4);
        let times: Vec<u32> = texts
            .score
            .iter()
            .map(|_| draws.random_range(0..3))
            .collect();
        for times in [vec![1; texts.score.len()], times] {
            let counted = ranking.counted(&times);
            let all = by_pairs(&texts, |_| true, |_| true, &times);
            assert_eq!(counted.overall(), all);
            for group in &groups {
                let mut members = group.clone();
                ranking.sort(&mut members);
                let inside = |text: usize| group.contains(&(text as u32));
                let outside = |text: usize| !inside(text);
                let expected = Areas {
                    subgroup: by_pairs(&texts, inside, inside, &times),
                    bpsn: by_pairs(&texts, outside, inside, &times),
                    bnsp: by_pairs(&texts, inside, outside, &times),
                };
                assert_eq!(counted.areas(&members), expected);
                undefined += usize::from(expected.subgroup.is_none());
            }
        }
    }
    assert!(undefined > 60, "{undefined}");
}

#[test]
fn the_generalised_mean_is_drawn_to_the_lowest() {
    assert_eq!(power_mean(&[], POWER), None);
    assert_eq!(power_mean(&[0.0, 1.0], POWER), Some(0.0));
    let mean = power_mean(&[0.5, 1.0], POWER).unwrap();
    assert!((mean - (16.5_f64).powf(-0.2)).abs() < 1e-15, "{mean}");
    let areas = [0.9, 0.6].map(|area| Areas {
        subgroup: Some(area),
        bpsn: Some(0.8),
        bnsp: None,
    });
    assert_eq!(bias_of(Some(0.9), &areas), None);
    let areas = areas.map(|areas| Areas {
        bnsp: Some(0.7),
        ..areas
    });
    let low = ((0.9_f64.powi(-5) + 0.6_f64.powi(-5)) / 2.0).powf(-0.2);
    let metric = bias_of(Some(0.9), &areas).unwrap();
    assert!((metric - (0.9 + low + 0.8 + 0.7) / 4.0).abs() < 1e-12);
}

#[test]
fn a_report_repeats_and_figures_know_no_order_of_texts() {
    let (texts, groups) = random(160, 5);
    let report = measure_text_groups(&texts, (&subgroups(&groups), 0), &options());
    assert_eq!(
        report,
        measure_text_groups(&texts, (&subgroups(&groups), 0), &options())
    );
    let other_seed = TextGroupOptions {
        seed: 2,
        ..options()
    };
    let other = measure_text_groups(&texts, (&subgroups(&groups), 0), &other_seed);
    assert_ne!(report, other);
    // Backwards.
    let last = texts.score.len() as u32 - 1;
    let mut turned = texts.clone();
    turned.positive.reverse();
    turned.selected.reverse();
    turned.score.reverse();
    let back = |group: &Vec<u32>| group.iter().rev().map(|text| last - text).collect();
    let groups: Vec<Vec<u32>> = groups.iter().map(back).collect();
    let back = measure_text_groups(&turned, (&subgroups(&groups), 0), &options());
    let values = |report: &TextGroupReport| {
        let figures = report.attributes[0].values.iter();
        let named = figures.map(|it| {
            let areas = [it.subgroup_auc, it.bpsn_auc, it.bnsp_auc];
            let rates = [it.predicted_positive_rate, it.false_negative_rate];
            let all = areas
                .into_iter()
                .chain(rates)
                .map(|rate| rate.map(|rate| rate.value));
            (
                it.value.clone(),
                it.texts,
                it.positive_texts,
                all.collect::<Vec<_>>(),
            )
        });
        (
            report.bias.metric.map(|it| it.value),
            named.collect::<Vec<_>>(),
        )
    };
    assert_eq!(values(&report), values(&back));
    assert_eq!(values(&report), values(&other));
}

#[test]
fn figures_lie_in_their_intervals_and_the_worst_comes_first() {
    let (texts, groups) = random(300, 9);
    let report = measure_text_groups(&texts, (&subgroups(&groups), 0), &options());
    let values = &report.attributes[0].values;
    let worst: Vec<f64> = values.iter().map(|it| it.worst().unwrap()).collect();
    assert!(worst.is_sorted(), "{worst:?}");
    for figures in values {
        for rate in [figures.subgroup_auc, figures.bpsn_auc, figures.bnsp_auc] {
            let Rate { value, ci95 } = rate.unwrap();
            assert!(ci95[0] <= value && value <= ci95[1] && ci95[1] - ci95[0] < 0.8);
        }
        let [found, missed] = [figures.true_positive_rate, figures.false_negative_rate];
        assert!((found.unwrap().value + missed.unwrap().value - 1.0).abs() < 1e-12);
    }
}

#[test]
fn what_is_undefined_or_too_small_is_absent() {
    let texts = ScoredTexts {
        positive: vec![true, true, false, false, false, false, false, false],
        selected: vec![true; 8],
        score: vec![2.0, 3.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0],
    };
    let groups = [vec![2, 3, 4, 5, 6], vec![0, 1]];
    let report = measure_text_groups(&texts, (&subgroups(&groups), 0), &options());
    let [negatives, small] = &report.attributes[0].values[..] else {
        panic!("{report:?}");
    };
    assert_eq!((negatives.subgroup_auc, negatives.bnsp_auc), (None, None));
    assert_eq!(negatives.true_positive_rate, None);
    // All pairs are won: two of them share no text, so the lower end is at most √0.025.
    let bpsn = negatives.bpsn_auc.unwrap();
    assert_eq!((bpsn.value, bpsn.ci95[1]), (1.0, 1.0));
    assert!(bpsn.ci95[0] <= 0.025_f64.sqrt());
    assert_eq!(negatives.false_positive_rate.unwrap().value, 1.0);
    assert!(small.too_small && small.bpsn_auc.is_none());
    assert_eq!((small.texts, small.positive_texts), (2, 2));
    assert_eq!(report.bias.subgroups, 1);
    assert_eq!(report.bias.metric, None);
}

#[test]
fn log_odds_order_as_probabilities_do_and_do_not_saturate() {
    assert_eq!(log_odds(&[1.0, 3.5], 1), 2.5);
    assert_eq!(log_odds(&[-60.0, 60.0], 1), 120.0);
    let three = log_odds(&[0.0, 0.0, 1.0], 2);
    assert!((three - (1.0 - 2.0_f64.ln())).abs() < 1e-12);
}

#[test]
fn texts_are_sorted_by_what_they_name() {
    let names = ["religion".to_owned(), "gender".to_owned()];
    let texts = [
        "My Jewish neighbour thanked a Muslim teacher.",
        "She said that the Muslim went to the mosque.",
        "The Jewish holidays begin in autumn, and the Jews I know like them.",
        "Nobody is named here.",
    ]
    .map(str::to_owned);
    let naming = Naming::new(&Lexicon::shipped(), &names, Preset::English).unwrap();
    let (read, foreign) = naming.subgroups(&texts).unwrap();
    assert_eq!(foreign, 0);
    let [religion, gender] = &read[..] else {
        panic!();
    };
    let shown = |subgroups: &[Subgroup]| -> Vec<String> {
        let each = subgroups.iter();
        each.map(|it| {
            let term = it.term.as_deref().unwrap_or("*");
            format!("{} {term} {:?}", it.value, it.texts)
        })
        .collect()
    };
    // The mosque binds the value: nothing may be exchanged there, but it is named.
    assert_eq!(
        shown(&religion.values),
        ["Muslim * [0, 1]", "Jewish * [0, 2]"]
    );
    let terms = [
        "Muslim Muslim [0, 1]",
        "Jewish Jewish [0, 2]",
        "Jewish Jews [2]",
    ];
    assert_eq!(shown(&religion.terms), terms);
    assert_eq!((religion.naming, religion.absent), (3, 31));
    assert_eq!(shown(&gender.values), ["female * [1]"]);
    let twice = ["religion".to_owned(), "religion".to_owned()];
    let refused = Naming::new(&Lexicon::shipped(), &twice, Preset::English)
        .err()
        .unwrap();
    assert!(refused.to_string().contains("religion"), "{refused}");
    let paper = Naming::new(&Lexicon::paper(), &[], Preset::Paper).unwrap();
    let (found, _) = paper
        .subgroups(&["A white wall in norway.".to_owned()])
        .unwrap();
    let values = found
        .iter()
        .flat_map(|it| shown(&it.values))
        .collect::<Vec<_>>();
    assert_eq!(values, ["norway * [0]", "white * [0]"]);
}
