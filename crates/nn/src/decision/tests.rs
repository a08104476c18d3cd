use super::*;

/// Returns logits of these probabilities.
fn to_logits(probabilities: &[f64]) -> Vec<f32> {
    probabilities.iter().map(|p| p.ln() as f32).collect()
}

#[test]
fn one_of_two_classes_is_decided_from_its_threshold_on() {
    for least in [0.05, 0.3, 0.5, 0.7, 0.99] {
        for class in [0, 1] {
            let decision = Decision::Thresholds(Thresholds::of_two(class, least));
            for step in 1..1000 {
                let p = f64::from(step) / 1000.0;
                let mut both = [1.0 - p; 2];
                both[class] = p;
                let expected = if p >= least - 1e-9 { class } else { 1 - class };
                assert_eq!(
                    decision.decide(&[], &to_logits(&both)),
                    expected as u32,
                    "{p}"
                );
            }
        }
    }
}

#[test]
fn the_class_is_that_of_the_largest_probability_beside_its_threshold() {
    let decision = Decision::Thresholds(Thresholds::new(&[0.2, 0.3, 0.5]));
    assert_eq!(decision.decide(&[], &to_logits(&[0.25, 0.35, 0.4])), 0);
    assert_eq!(decision.decide(&[], &to_logits(&[0.1, 0.2, 0.7])), 2);
    assert_eq!(decision.decide(&[], &to_logits(&[0.1, 0.4, 0.5])), 1);
    let equal = Decision::Thresholds(Thresholds::new(&[0.5; 3]));
    assert_eq!(equal.decide(&[], &to_logits(&[0.3, 0.3, 0.4])), 2);
}

#[test]
fn a_value_may_have_a_threshold_of_its_own() {
    let own = vec![None, Some(Thresholds::of_two(1, 0.9))];
    let thresholds = Thresholds::of_two(1, 0.5).with_values((1, 4), own);
    let decision = Decision::Thresholds(thresholds);
    let decide = |row: [i32; 2]| decision.decide(&row, &to_logits(&[0.2, 0.8]));
    assert_eq!([decide([5, 4]), decide([4, 5]), decide([4, 6])], [1, 0, 1]);
    let logits = to_logits(&[0.2, 0.8]);
    let differ = decision.contrast((&[0, 4], &logits[..]), (&[0, 5], &logits[..]));
    assert_eq!(differ, Some([1, 0]), "the same score, decided differently");
}

#[test]
fn nothing_is_decided_within_the_band() {
    let decision = Decision::Abstention {
        class: 1,
        low: 0.4,
        high: 0.6,
    };
    let at = |p: f64| to_logits(&[1.0 - p, p]);
    let decide = |p: f64| decision.decide(&[], &at(p));
    assert_eq!([0.39, 0.4, 0.59, 0.6].map(decide), [0, 2, 2, 1]);
    let side = |p: f64| decision.side(&[], &at(p));
    assert_eq!([0.39, 0.45, 0.55, 0.6].map(side), [0, 1, 0, 1]);
    let classes = ["no", "yes"].map(str::to_owned);
    assert_eq!(decision.names(&classes), ["no", "yes", "abstain"]);
}

/// In random boxes of logits, what is kept of a box is decided alike all over it.
#[test]
fn what_bounds_keep_is_told_apart_nowhere() {
    let mut state = 1u64;
    let mut uniform = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 40) as f32 / (1 << 24) as f32
    };
    let two = [
        Decision::Thresholds(Thresholds::of_two(1, 0.7)),
        Decision::Abstention {
            class: 0,
            low: 0.3,
            high: 0.6,
        },
        Decision::Abstention {
            class: 1,
            low: 0.3,
            high: 0.6,
        },
        Decision::Gap(Gap {
            score: Score::Probability(1),
            most: 0.15,
        }),
    ];
    let three = [
        Decision::Largest,
        Decision::Thresholds(Thresholds::new(&[0.2, 0.5, 0.3])),
        Decision::Gap(Gap {
            score: Score::Probability(1),
            most: 0.15,
        }),
    ];
    let all = two.iter().map(|decision| (2, decision));
    for (classes, decision) in all.chain(three.iter().map(|decision| (3, decision))) {
        let (mut kept, mut told) = (0, 0);
        for _ in 0..3000 {
            let size = uniform();
            let low: Vec<f32> = (0..classes).map(|_| 4.0 * uniform() - 2.0).collect();
            let high: Vec<f32> = low.iter().map(|low| low + size * uniform()).collect();
            let mut draw = || -> Vec<f32> {
                let ends = low.iter().zip(&high);
                ends.map(|(low, high)| low + (high - low) * uniform())
                    .collect()
            };
            let own = draw();
            let decided = decision.decide(&[], &own);
            let leads: Vec<Vec<f64>> = decision
                .leading(decided, classes)
                .iter()
                .map(|&lead| {
                    let over = |other: usize| match other == lead as usize {
                        true => f64::INFINITY,
                        false => f64::from(low[lead as usize]) - f64::from(high[other]),
                    };
                    (0..classes).map(over).collect()
                })
                .collect();
            let leads: Vec<&[f64]> = leads.iter().map(Vec::as_slice).collect();
            let is_kept = decision.is_kept(decided, &own, &leads);
            kept += u32::from(is_kept);
            for _ in 0..50 {
                let differs = decision.contrast((&[], &own[..]), (&[], &draw()[..]));
                assert!(!is_kept || differs.is_none(), "{decision:?}");
                told += u32::from(differs.is_some());
            }
        }
        assert!(kept > 100 && told > 100, "{decision:?}: {kept} {told}");
    }
}

#[test]
fn scores_are_told_apart_beyond_the_gap() {
    let decision = Decision::Gap(Gap {
        score: Score::Probability(0),
        most: 0.1,
    });
    let at = |p: f64| to_logits(&[p, 1.0 - p]);
    let contrast = |a: f64, b: f64| decision.contrast((&[], &at(a)[..]), (&[], &at(b)[..]));
    assert_eq!(contrast(0.2, 0.29), None);
    assert_eq!(contrast(0.2, 0.31), Some([0, 1]));
    assert_eq!(contrast(0.95, 0.8), Some([1, 0]));
}

/// The lead of a decision over the next one is positive, and the next decision is made as soon as
/// the lead is not. The lead between two decisions tells which of the two is made.
#[test]
fn leads_tell_decisions_apart() {
    let abstention = |class| Decision::Abstention {
        class,
        low: 0.3,
        high: 0.8,
    };
    let two = Thresholds::of_two(1, 0.7);
    let three = Thresholds::new(&[0.5, 0.2, 0.3]);
    for (decision, classes) in [
        (Decision::Largest, 2),
        (Decision::Largest, 3),
        (Decision::Thresholds(two), 2),
        (Decision::Thresholds(three), 3),
        (abstention(0), 2),
        (abstention(1), 2),
    ] {
        let mut seen = [0; 3];
        for number in 0..500u32 {
            let word = |class: u32| f64::from(number * 7919 % 1009 * (class + 3) % 997);
            let mut logits: Vec<f64> = (0..classes).map(|class| word(class) / 200.0).collect();
            let decided = decision.decide(&[], &logits);
            seen[decided as usize] += 1;
            let next = decision.next(&[], &logits);
            assert_ne!(decided, next);
            let lead = decision.lead(&[], [decided, next]).unwrap();
            let over = logits[lead.class] - logits[lead.rival] - lead.least;
            assert!(over >= -1e-9, "{decision:?} {logits:?}");
            let back = decision.lead(&[], [next, decided]).unwrap();
            let under = logits[back.class] - logits[back.rival] - back.least;
            assert!((over + under).abs() < 1e-9, "{decision:?}");
            logits[lead.class] -= over + 1e-6;
            let after = decision.decide(&[], &logits);
            assert_eq!(after, next, "{decision:?} {logits:?}");
        }
        assert!(
            seen.iter().filter(|&&count| count > 0).count() >= 2,
            "{seen:?}"
        );
    }
    let gap = Decision::Gap(Gap {
        score: Score::Number,
        most: 1.0,
    });
    assert_eq!(gap.lead(&[], [0, 1]), None);
}
