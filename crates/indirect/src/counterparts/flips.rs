//! The flipset: members who are decided otherwise than their counterparts.
//!
//! # The test of its two directions
//!
//! A matching uses both groups up evenly, so the share against members less that in their favour is
//! the difference of the two groups' rates of favourable decisions, whatever the matching. Whether
//! the directions differ is therefore tested as these rates are, by Fisher's exact test. McNemar's
//! test of the pairs would not do: people are matched because they are alike, and if decisions hang
//! on what they are alike in, the pairs that differ are fewer than the rates vary by chance.
//!
//! Counterparts that are given are of the same persons, one each. Suppose that within every pair it is
//! a matter of chance who of the two gets which decision: of the `n` pairs that are decided
//! differently the number against members is then binomial with a chance of one half, which is the
//! exact test of McNemar (1947). Both tests are two-sided: twice the smaller tail, at most 1.
//!
//! Counterparts that are drawn have no test. What a density smooths is not bounded by anything that is known:
//! where the two sides differ in what is unaffected, and other columns hang on that closely, it moves the
//! directions apart where nothing happens to anybody, and a test would call that a finding. Their intervals
//! are of sampling alone, [`pairs_worth`].
//!
//! # The transparency report
//!
//! For each attribute, the mean difference between members of the flipset and their counterparts, and
//! the mean of its sign, beside the same over all members. What stands out in the flipset, and not
//! over all, is what the decisions hang on; ordered by the mean difference in the flipset less that
//! over all, in standard deviations.

use serde::Serialize;

use super::matching::Pair;
use crate::coordinates::{Cell, Coordinates};
use crate::tests_of_shares::{binomial_half, fisher};

/// Who is worse off in a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flip {
    /// The member.
    Against,
    /// The counterpart.
    Favouring,
}

/// What people get: the higher, the better.
#[derive(Debug, Clone, Copy)]
pub struct Outcomes<'a> {
    /// What each person gets: 1 for the favourable decision and 0 for others, or a score.
    pub people: &'a [f64],
    /// What each counterpart gets, by the rows that pairs name.
    pub counterparts: &'a [f64],
    /// By how much two must differ to be decided otherwise.
    pub gap: f64,
}

impl Outcomes<'_> {
    /// Returns who is worse off in `pair`, if anybody is.
    pub fn flip(&self, pair: &Pair) -> Option<Flip> {
        let own = self.people[pair.member as usize];
        let other = self.counterparts[pair.counterpart as usize];
        if other - own > self.gap {
            Some(Flip::Against)
        } else if own - other > self.gap {
            Some(Flip::Favouring)
        } else {
            None
        }
    }
}

/// One direction of the flipset.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Direction {
    /// The share of the members; where people are counterparts in part, each in part.
    pub share: f64,
    /// The 95 % interval of the share, where there is one; see [`super::resampling`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ci95: Option<[f64; 2]>,
    /// Members who are decided otherwise than the counterpart that they are matched with for the most
    /// part.
    pub members: u64,
    /// Attribute by attribute, in what they differ from their counterparts: what stands out first.
    pub transparency: Vec<Difference>,
}

/// In what members differ from their counterparts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// The attribute.
    pub attribute: String,
    /// Of numbers, the mean of the member's less the counterpart's in standard deviations, of pairs in
    /// which both have one, where there are any; of levels the share of pairs in which they differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_flipset: Option<f64>,
    /// The mean difference over all members.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overall: Option<f64>,
    /// Of numbers, the mean of the sign of the difference, from −1 to 1, where there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sign_in_flipset: Option<f64>,
    /// The mean sign over all members.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sign_overall: Option<f64>,
}

/// Returns the share of the members of `pairs`, each by the parts of its counterparts, that turn out
/// one way.
pub fn share_of(pairs: &[Pair], outcomes: &Outcomes<'_>, flip: Flip) -> f64 {
    let (mut share, mut all) = (0.0, 0.0);
    for pair in pairs {
        all += pair.share;
        if outcomes.flip(pair) == Some(flip) {
            share += pair.share;
        }
    }
    share / f64::max(all, f64::MIN_POSITIVE)
}

/// Returns one direction of the flipset of `pairs`, without an interval.
pub fn direction(
    pairs: &[Pair],
    outcomes: &Outcomes<'_>,
    (people, counterparts): (&Coordinates, &Coordinates),
    flip: Flip,
) -> Direction {
    let flipped: Vec<Pair> = pairs
        .iter()
        .copied()
        .filter(|pair| outcomes.flip(pair) == Some(flip))
        .collect();
    let main = main_pairs(pairs);
    let of_main = main.iter().filter(|pair| outcomes.flip(pair) == Some(flip));
    let mut transparency: Vec<Difference> = (0..people.columns().len())
        .map(|column| {
            let (in_flipset, sign_in_flipset) = differing(&flipped, people, counterparts, column);
            let (overall, sign_overall) = differing(pairs, people, counterparts, column);
            Difference {
                attribute: people.columns()[column].name.clone(),
                in_flipset,
                overall,
                sign_in_flipset,
                sign_overall,
            }
        })
        .collect();
    let stands_out = |it: &Difference| {
        let both = it.in_flipset.zip(it.overall);
        both.map_or(0.0, |(own, overall)| (own - overall).abs())
    };
    transparency.sort_by(|a, b| {
        let by_size = stands_out(b).total_cmp(&stands_out(a));
        by_size.then_with(|| a.attribute.cmp(&b.attribute))
    });
    Direction {
        share: share_of(pairs, outcomes, flip),
        ci95: None,
        members: of_main.count() as u64,
        transparency,
    }
}

/// The mean difference of `pairs` in one column, each pair by its share, and the mean of its sign if
/// people have numbers there: of numbers alone, since a level lies in no direction from a number. Nothing
/// where no pair has any.
fn differing(
    pairs: &[Pair],
    people: &Coordinates,
    counterparts: &Coordinates,
    column: usize,
) -> (Option<f64>, Option<f64>) {
    let [own, others] = [people, counterparts].map(|it| &it.columns()[column]);
    let (mut differences, mut signs, mut numbers) = (0.0, 0.0, 0.0);
    let (mut unlike, mut levels) = (0.0, 0.0);
    for pair in pairs {
        let cells = (
            own.cell(pair.member as usize),
            others.cell(pair.counterpart as usize),
        );
        match cells {
            (Cell::Number(own), Cell::Number(other)) => {
                let difference = own - other;
                let sign = if difference == 0.0 {
                    0.0
                } else {
                    difference.signum()
                };
                differences += pair.share * difference;
                signs += pair.share * sign;
                numbers += pair.share;
            }
            (own, other) => {
                unlike += pair.share * own.distance(other);
                levels += pair.share;
            }
        }
    }
    let mean = |sum: f64, of: f64| (of > 0.0).then(|| sum / of);
    match people.columns()[column].has_numbers() {
        true => (mean(differences, numbers), mean(signs, numbers)),
        false => (mean(unlike, levels), None),
    }
}

/// Returns, for each member, the pair with the counterpart that most of them is matched with: the first
/// of several.
pub fn main_pairs(pairs: &[Pair]) -> Vec<Pair> {
    let mut main: Vec<Pair> = Vec::new();
    for &pair in pairs {
        match main.last_mut() {
            Some(last) if last.member == pair.member => {
                if pair.share > last.share {
                    *last = pair;
                }
            }
            _ => main.push(pair),
        }
    }
    main
}

/// The test of the two directions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Comparison {
    /// The test: `mcnemar` of counterparts that are given, else `fisher`.
    pub test: &'static str,
    /// The two-sided p-value.
    pub p: f64,
}

/// Returns the exact test of McNemar of `against` and `favouring` pairs.
pub fn mcnemar(against: u64, favouring: u64) -> Comparison {
    let larger = against.max(favouring);
    let p = 2.0 * binomial_half(larger, against + favouring);
    Comparison {
        test: "mcnemar",
        p: p.min(1.0),
    }
}

/// Returns how many pairs of members and counterparts tell as much as those of `members` whose counterparts
/// are drawn from a density that `others` have taught: where these are few, all counterparts err together.
///
/// Let n be the members, m the others, and suppose that the model decides about both sides alike, given what is
/// unaffected: unfavourably with the probability r(u). A member and the counterpart differ with the
/// probability 2 r (1 − r), so that the difference of the directions, of n pairs, has the variance
/// E\[2 r (1 − r)\] / n; and the r that m others teach, of whom as many have each u as members do, adds
/// E\[r (1 − r)\] / m. Both together are at most E\[2 r (1 − r)\] (1/n + 1/m): that of n m / (n + m) pairs.
/// What the density smooths is not in it.
pub fn pairs_worth(members: u64, others: u64) -> f64 {
    let (n, m) = (members as f64, others as f64);
    n * m / f64::max(n + m, 1.0)
}

/// Returns Fisher's exact test of how many of two groups, `[unfavourable, of]`, get an unfavourable
/// decision.
pub fn rates(members: [u32; 2], others: [u32; 2]) -> Comparison {
    let tail = fisher(members, others).min(fisher(others, members));
    Comparison {
        test: "fisher",
        p: (2.0 * tail).min(1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coordinates::Column;

    fn pair(member: u32, counterpart: u32, share: f64) -> Pair {
        Pair {
            member,
            counterpart,
            distance: 0.0,
            share,
        }
    }

    #[test]
    fn directions_and_differences_are_those_of_counting() {
        let people = Coordinates::new(vec![
            Column::ordered("pay", vec![1.0, 2.0, 3.0, 5.0]),
            Column::new("job", 1.0, &[0, 0, 1, 1].map(Cell::Level)),
        ]);
        let gets = [0.0, 1.0, 1.0, 0.0];
        let outcomes = Outcomes {
            people: &gets,
            counterparts: &gets,
            gap: 0.5,
        };
        // 0 is matched in part with 2, who gets it, and with 3, who does not.
        let pairs = [pair(0, 2, 0.75), pair(0, 3, 0.25), pair(1, 3, 1.0)];
        let of = |flip| direction(&pairs, &outcomes, (&people, &people), flip);
        let against = of(Flip::Against);
        assert_eq!((against.share, against.members), (0.375, 1));
        let pay = against.transparency.iter().find(|it| it.attribute == "pay");
        let pay = pay.unwrap();
        assert_eq!(pay.in_flipset, Some(-2.0));
        assert_eq!(pay.sign_in_flipset, Some(-1.0));
        // (0.75·−2 + 0.25·−4 − 3) / 2
        assert_eq!(pay.overall, Some(-2.75));
        let job = against.transparency.iter().find(|it| it.attribute == "job");
        assert_eq!(job.unwrap().in_flipset, Some(1.0));
        assert_eq!(job.unwrap().sign_overall, None);
        let favouring = of(Flip::Favouring);
        assert_eq!((favouring.share, favouring.members), (0.5, 1));
        assert_eq!(main_pairs(&pairs), [pairs[0], pairs[2]]);
    }

    #[test]
    fn where_no_pair_has_two_numbers_there_is_no_difference_of_them() {
        let pay = [
            Cell::Number(1.0),
            Cell::Level(9),
            Cell::Level(9),
            Cell::Level(9),
        ];
        let people = Coordinates::new(vec![Column::new("pay", 1.0, &pay)]);
        let gets = [0.0, 1.0, 1.0, 0.0];
        let outcomes = Outcomes {
            people: &gets,
            counterparts: &gets,
            gap: 0.5,
        };
        let pairs = [pair(0, 2, 1.0), pair(1, 3, 1.0)];
        let against = direction(&pairs, &outcomes, (&people, &people), Flip::Against);
        let pay = &against.transparency[0];
        assert_eq!((pay.in_flipset, pay.overall), (None, None));
        assert_eq!((pay.sign_in_flipset, pay.sign_overall), (None, None));
    }

    #[test]
    fn tests_are_exact_and_two_sided() {
        // 2·(1 + 10 + 45)/1024
        assert!((mcnemar(8, 2).p - 112.0 / 1024.0).abs() < 1e-12);
        assert_eq!(mcnemar(3, 3).p, 1.0);
        assert_eq!(mcnemar(0, 0).p, 1.0);
        assert!(mcnemar(5_000, 4_000).p < 1e-20);
        // Of as many others as there are members, half of the pairs count.
        assert_eq!(pairs_worth(20, 20), 10.0);
        assert!(pairs_worth(300, 1) < 1.0);
        assert_eq!(rates([1, 4], [1, 4]).p, 1.0);
        assert!((rates([4, 4], [0, 4]).p - 2.0 / 70.0).abs() < 1e-12);
    }
}
