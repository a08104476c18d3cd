//! Each member of a group beside the nearest members and the nearest others.
//!
//! # The tests
//!
//! Of `n₁` nearest members `x₁` were decided unfavourably, of `n₂` nearest others `x₂`. Suppose that
//! in this situation all are as likely to be decided unfavourably, members or not, and independently.
//! Given `x₁ + x₂`, the number `x₁` is then hypergeometric, whatever that likelihood is; the
//! probability of at least `x₁` is Fisher's exact one-sided p-value. It is a valid p-value: it is at
//! most α with probability at most α.
//!
//! One test a member gives many of them, so the members who are called discriminated against are
//! chosen by the procedure of Benjamini and Hochberg (1995): of the p-values in ascending order the
//! largest p₍ᵢ₎ ≤ i·q/m is looked for, and all up to it are discoveries. The expected share of false
//! ones among them is at most q if the tests are independent or positively dependent (Benjamini,
//! Yekutieli 2001). That tests which share neighbours are so is assumed, not proved.
//!
//! # What the tests cannot tell
//!
//! The neighbours of a side are people near the person, not people like the person. Where the others
//! live apart in what people are compared by, the nearest of them lie to one side of every member,
//! and a decision that follows nothing but these attributes differs between the two neighbourhoods.
//! The mean distances of both sides tell: where the others' is much larger, the difference may be
//! one of place.
//!
//! Wald's interval, which the papers use, calls a difference of 1 of 1 against 0 of 1 significant:
//! both of its variances are estimated as 0. It is there to repeat what they printed.

use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::coordinates::Coordinates;
use crate::error::IndirectError;
use crate::neighbours::{Group, Neighbour, Ties};
use crate::people::ProtectedGroup;
use crate::tests_of_shares::{discoveries, fisher, is_at_most, is_beyond_wald};

/// The test of a difference between two shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Test {
    /// Fisher's exact test.
    #[default]
    Exact,
    /// The one-sided interval of Wald, as the papers use it: it finds too much in few neighbours.
    Wald,
}

/// The options of the comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SituationOptions {
    /// The number of neighbours on each side.
    pub k: u32,
    /// The test.
    pub test: Test,
    /// What happens to people as near as the k-th neighbour.
    pub ties: Ties,
    /// Whether the person, and the counterfactual, count among their neighbours.
    pub centres: bool,
    /// The level of each test, and the share of false discoveries.
    pub level: f64,
}

impl SituationOptions {
    /// Returns the smallest p-value that the exact test can give if no more than k neighbours are on
    /// either side, and `are_given` says whether counterfactuals are: all of one side are decided
    /// unfavourably, and none of the other.
    pub fn least_p(&self, are_given: bool) -> f64 {
        let own = self.k + u32::from(self.centres);
        let others = self.k + u32::from(self.centres && are_given);
        fisher([own, own], [0, others])
    }
}

/// Who is compared.
#[derive(Debug, Clone, Copy)]
pub struct Subjects<'a> {
    /// The people.
    pub people: &'a Coordinates,
    /// Whether each was decided unfavourably.
    pub unfavourable: &'a [bool],
    /// The protected group, and those with whom its members are compared.
    pub group: &'a ProtectedGroup,
    /// What everybody would have been outside of the group.
    pub counterfactual: Option<Counterfactual<'a>>,
}

/// What everybody would have been outside of the group.
#[derive(Debug, Clone, Copy)]
pub struct Counterfactual<'a> {
    /// The coordinates of everybody then.
    pub coordinates: &'a Coordinates,
    /// Whether each would have been decided unfavourably.
    pub unfavourable: &'a [bool],
}

/// The people around a person, of one side.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Neighbourhood {
    /// The number of those who were decided unfavourably.
    pub unfavourable: u32,
    /// The number of all.
    pub of: u32,
    /// The mean distance of those who are around the person.
    pub distance: f64,
}

impl Neighbourhood {
    /// Returns the share of those who were decided unfavourably.
    pub fn share(&self) -> f64 {
        f64::from(self.unfavourable) / f64::from(self.of.max(1))
    }

    fn new(neighbours: &[Neighbour], unfavourable: &[bool]) -> Neighbourhood {
        let is_unfavourable = |it: &&Neighbour| unfavourable[it.row as usize];
        Neighbourhood {
            unfavourable: neighbours.iter().filter(is_unfavourable).count() as u32,
            of: neighbours.len() as u32,
            distance: neighbours.iter().map(|it| it.distance).sum::<f64>()
                / neighbours.len().max(1) as f64,
        }
    }

    fn with_one(self, is_unfavourable: bool) -> Neighbourhood {
        Neighbourhood {
            unfavourable: self.unfavourable + u32::from(is_unfavourable),
            of: self.of + 1,
            ..self
        }
    }
}

/// The people around a member, of both sides: all that the tests ask about, and all that takes long.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Surroundings {
    /// The nearest members.
    pub own: Neighbourhood,
    /// The nearest of those with whom members are compared.
    pub others: Neighbourhood,
    /// The row of the nearest one of these, beside the counterfactual.
    pub nearest: Option<u32>,
}

/// The outcome of the test of one direction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Tested {
    /// The p-value of Fisher's test.
    pub p: f64,
    /// The least share of false discoveries at which this is one.
    pub q: f64,
    /// Whether the shares differ in this direction.
    pub is_case: bool,
    /// Whether the test finds a difference at its level, as if there were no other test.
    pub is_significant: bool,
    /// Whether it is a discovery among all members.
    pub is_discovery: bool,
}

/// A member of the group, beside people like them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Situation {
    /// The row of the person.
    pub row: u32,
    /// The people around them.
    pub around: Surroundings,
    /// The share of unfavourable decisions among the members, less that among the others.
    pub difference: f64,
    /// Whether members are decided unfavourably more often.
    pub negative: Tested,
    /// Whether others are.
    pub positive: Tested,
}

/// Compares every member with the nearest of both sides; one situation a member, in the order of
/// their rows. `watch` gets how many of all are done, and breaks to stop.
///
/// # Errors
/// When a side has too few people, or `watch` breaks.
pub fn compare(
    subjects: &Subjects<'_>,
    options: &SituationOptions,
    watch: &(dyn Fn(u64, u64) -> ControlFlow<()> + Sync),
) -> Result<Vec<Situation>, IndirectError> {
    let members = &subjects.group.members;
    let found = surroundings(subjects, options, 0..members.len(), watch)?;
    Ok(judge(members, &found, options))
}

/// Returns who is around each of the group's members of the numbers `members`. What is around a member
/// does not depend on which others are asked about. `watch` gets how many of them are done, and breaks to
/// stop.
///
/// # Errors
/// When a side has too few people, or `watch` breaks.
pub fn surroundings(
    subjects: &Subjects<'_>,
    options: &SituationOptions,
    members: Range<usize>,
    watch: &(dyn Fn(u64, u64) -> ControlFlow<()> + Sync),
) -> Result<Vec<Surroundings>, IndirectError> {
    let group = subjects.group;
    let k = options.k as usize;
    for (group, people, needed) in [
        ("the protected group", group.members.len(), k + 1),
        ("the other group", group.others.len(), k),
    ] {
        if people < needed {
            return Err(IndirectError::TooFew {
                group: group.to_owned(),
                people,
                k: options.k,
            });
        }
    }
    let own = Group::new(subjects.people, group.members.clone());
    let others = Group::new(subjects.people, group.others.clone());
    let (done, all) = (AtomicU64::new(0), members.len() as u64);
    own.rows()[members]
        .par_iter()
        .map(|&row| {
            let so_far = done.fetch_add(1, Ordering::Relaxed);
            if so_far.is_multiple_of(64) && watch(so_far, all).is_break() {
                return Err(IndirectError::Interrupted);
            }
            Ok(around(subjects, options, (&own, &others), row))
        })
        .collect()
}

/// Tests the situations of all members of a group, in the rows `members`, by who is around them; the
/// tests of each direction are corrected for being so many.
pub fn judge(
    members: &[u32],
    found: &[Surroundings],
    options: &SituationOptions,
) -> Vec<Situation> {
    let mut situations: Vec<Situation> = members
        .iter()
        .zip(found)
        .map(|(&row, &around)| Situation {
            row,
            around,
            difference: around.own.share() - around.others.share(),
            negative: tested(around.own, around.others, options),
            positive: tested(around.others, around.own, options),
        })
        .collect();
    correct(&mut situations, options.level, |it| &mut it.negative);
    correct(&mut situations, options.level, |it| &mut it.positive);
    situations
}

/// Returns the people nearest to the member `row`: members, and those with whom members are compared.
pub fn neighbours(
    subjects: &Subjects<'_>,
    options: &SituationOptions,
    row: u32,
) -> [Vec<Neighbour>; 2] {
    let ProtectedGroup {
        members, others, ..
    } = subjects.group;
    let [own, others] = [members, others].map(|it| Group::new(subjects.people, it.clone()));
    nearest(subjects, options, (&own, &others), row)
}

fn nearest(
    subjects: &Subjects<'_>,
    options: &SituationOptions,
    (own, others): (&Group, &Group),
    row: u32,
) -> [Vec<Neighbour>; 2] {
    let k = options.k as usize;
    let person = subjects.people.person(row as usize);
    let centre = match subjects.counterfactual {
        None => &person,
        Some(it) => &it.coordinates.person(row as usize),
    };
    [
        own.nearest(&person, k, options.ties, Some(row)),
        others.nearest(centre, k, options.ties, None),
    ]
}

fn around(
    subjects: &Subjects<'_>,
    options: &SituationOptions,
    groups: (&Group, &Group),
    row: u32,
) -> Surroundings {
    let place = row as usize;
    let [own, others] = nearest(subjects, options, groups, row);
    let nearest = others.iter().min_by(|a, b| {
        let by_distance = a.distance.total_cmp(&b.distance);
        by_distance.then(a.row.cmp(&b.row))
    });
    let nearest = nearest.map(|it| it.row);
    let mut own = Neighbourhood::new(&own, subjects.unfavourable);
    let decided = match subjects.counterfactual {
        Some(counterfactual) if options.centres => counterfactual.unfavourable,
        _ => subjects.unfavourable,
    };
    let mut others = Neighbourhood::new(&others, decided);
    if options.centres {
        own = own.with_one(subjects.unfavourable[place]);
        if let Some(counterfactual) = subjects.counterfactual {
            others = others.with_one(counterfactual.unfavourable[place]);
        }
    }
    Surroundings {
        own,
        others,
        nearest,
    }
}

/// Tests whether those of `more` are decided unfavourably more often than those of `less`.
fn tested(more: Neighbourhood, less: Neighbourhood, options: &SituationOptions) -> Tested {
    let p = fisher([more.unfavourable, more.of], [less.unfavourable, less.of]);
    let counts = |it: Neighbourhood| [it.unfavourable, it.of];
    let (is_case, is_significant) = match options.test {
        Test::Exact => (more.share() > less.share(), is_at_most(p, options.level)),
        Test::Wald => is_beyond_wald(counts(more), counts(less), options.level),
    };
    Tested {
        p,
        q: 1.0,
        is_case,
        is_significant,
        is_discovery: false,
    }
}

/// Corrects the tests of one direction for there being one a member.
fn correct(situations: &mut [Situation], level: f64, side: impl Fn(&mut Situation) -> &mut Tested) {
    let p: Vec<f64> = situations.iter_mut().map(|it| side(it).p).collect();
    for (situation, q) in situations.iter_mut().zip(discoveries(&p)) {
        let tested = side(situation);
        tested.q = q;
        tested.is_discovery = is_at_most(q, level);
    }
}

#[cfg(test)]
mod tests {
    use probity_run::stream::{Purpose, stream};
    use rand::RngExt;

    use super::*;
    use crate::coordinates::Column;

    const OPTIONS: SituationOptions = SituationOptions {
        k: 3,
        test: Test::Exact,
        ties: Ties::All,
        centres: false,
        level: 0.05,
    };

    fn watch(_: u64, _: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn women(is_member: &[bool]) -> ProtectedGroup {
        ProtectedGroup::new(Vec::new(), is_member, true)
    }

    fn factual<'a>(
        people: &'a Coordinates,
        unfavourable: &'a [bool],
        group: &'a ProtectedGroup,
    ) -> Subjects<'a> {
        Subjects {
            people,
            unfavourable,
            group,
            counterfactual: None,
        }
    }

    /// Everybody stands at their number in a row; members and others in turn; the first half of the
    /// members are refused.
    fn alternating(people: usize) -> (Coordinates, Vec<bool>, Vec<bool>) {
        let places = (0..people).map(|row| row as f64).collect();
        let members: Vec<bool> = (0..people).map(|row| row % 2 == 0).collect();
        let refused = (0..people).map(|row| row % 2 == 0 && row < people / 2);
        let coordinates = Coordinates::new(vec![Column::ordered("place", places)]);
        (coordinates, refused.collect(), members)
    }

    #[test]
    fn neighbourhoods_are_those_of_counting_by_hand() {
        let (people, unfavourable, members) = alternating(40);
        let group = women(&members);
        let subjects = factual(&people, &unfavourable, &group);
        let found = compare(&subjects, &OPTIONS, &watch).unwrap();
        assert_eq!(found.len(), 20);
        // Around 10: members 8, 12 and, equally near, 6 and 14; others 9, 11, and 7 and 13.
        let tenth = found[5];
        assert_eq!(tenth.row, 10);
        assert_eq!((tenth.around.own.unfavourable, tenth.around.own.of), (4, 4));
        assert_eq!(
            (tenth.around.others.unfavourable, tenth.around.others.of),
            (0, 4)
        );
        assert_eq!(tenth.difference, 1.0);
        assert_eq!(tenth.around.nearest, Some(9));
        // 1 / C(8, 4)
        assert!((tenth.negative.p - 1.0 / 70.0).abs() < 1e-15);
        assert!(tenth.negative.is_significant && !tenth.positive.is_case);
        // By the order of rows there are three: the later of two that are equally near.
        let by_index = SituationOptions {
            ties: Ties::Index,
            ..OPTIONS
        };
        let tenth = compare(&subjects, &by_index, &watch).unwrap()[5];
        assert_eq!((tenth.around.own.unfavourable, tenth.around.own.of), (3, 3));
        let with_centres = SituationOptions {
            centres: true,
            ..by_index
        };
        let tenth = compare(&subjects, &with_centres, &watch).unwrap()[5];
        assert_eq!((tenth.around.own.of, tenth.around.others.of), (4, 3));
    }

    #[test]
    fn others_are_looked_for_around_the_counterfactual() {
        let (people, unfavourable, members) = alternating(40);
        let moved = (0..40).map(|row| f64::from(row) + 20.0).collect();
        let moved = Coordinates::new(vec![Column::ordered("place", moved)]);
        let none = vec![false; 40];
        let subjects = Subjects {
            people: &people,
            unfavourable: &unfavourable,
            group: &women(&members),
            counterfactual: Some(Counterfactual {
                coordinates: &moved,
                unfavourable: &none,
            }),
        };
        let options = SituationOptions {
            ties: Ties::Index,
            centres: true,
            ..OPTIONS
        };
        let found = compare(&subjects, &options, &watch).unwrap();
        assert_eq!(found[5].around.nearest, Some(29));
        assert_eq!(found[5].around.others.of, 4);
    }

    #[test]
    fn the_order_of_rows_changes_nothing_where_ties_count() {
        let (people, unfavourable, members) = alternating(60);
        let group = women(&members);
        let subjects = factual(&people, &unfavourable, &group);
        let straight = compare(&subjects, &OPTIONS, &watch).unwrap();
        let order: Vec<u32> = (0..60).rev().collect();
        let turned = |values: &[bool]| -> Vec<bool> {
            order.iter().map(|&row| values[row as usize]).collect()
        };
        let people = people.select(&order);
        let (unfavourable, members) = (turned(&unfavourable), turned(&members));
        let group = women(&members);
        let subjects = factual(&people, &unfavourable, &group);
        let back = compare(&subjects, &OPTIONS, &watch).unwrap();
        for (one, other) in straight.iter().zip(back.iter().rev()) {
            assert_eq!(one.row, order[other.row as usize]);
            assert_eq!(one.negative, other.negative);
            assert_eq!(one.positive, other.positive);
        }
    }

    /// Members and others are alike, and are refused by chance.
    #[test]
    fn where_nothing_depends_on_the_group_discoveries_are_as_rare_as_they_are_said_to_be() {
        const REPEATS: u64 = 400;
        let mut with_a_discovery = 0;
        for repeat in 0..REPEATS {
            let draw = |row: u64, step: u64| -> f64 {
                stream(repeat, Purpose::Synthetic, row, 20 + step).random()
            };
            let places = (0..300).map(|row| draw(row, 0)).collect();
            let members: Vec<bool> = (0..300).map(|row| draw(row, 1) < 0.5).collect();
            let unfavourable: Vec<bool> = (0..300).map(|row| draw(row, 2) < 0.4).collect();
            let people = Coordinates::new(vec![Column::ordered("place", places)]);
            let group = women(&members);
            let subjects = factual(&people, &unfavourable, &group);
            let options = SituationOptions { k: 15, ..OPTIONS };
            let found = compare(&subjects, &options, &watch).unwrap();
            let is_found = found.iter().any(|it| it.negative.is_discovery);
            with_a_discovery += u64::from(is_found);
        }
        // All of them are false, so that the share of repeats with one is the expected share of false
        // ones: 5 % at most, and three standard deviations of what 400 repeats show.
        assert!(with_a_discovery <= 33, "{with_a_discovery}");
    }

    /// 8 of 8 against 5 of 8: the exact p-value is 1 in 10, and its sum a bit more.
    #[test]
    fn a_p_value_of_the_very_level_is_significant() {
        let places = Column::ordered("place", vec![0.0; 17]);
        let group = women(&[vec![true; 9], vec![false; 8]].concat());
        let unfavourable = [vec![true; 14], vec![false; 3]].concat();
        let people = Coordinates::new(vec![places]);
        let subjects = factual(&people, &unfavourable, &group);
        let options = SituationOptions {
            k: 8,
            level: 0.1,
            ..OPTIONS
        };
        let found = compare(&subjects, &options, &watch).unwrap();
        assert!((found[0].negative.p - 0.1).abs() < 1e-12, "{:?}", found[0]);
        assert!(
            found
                .iter()
                .all(|it| it.negative.is_significant && it.negative.is_discovery)
        );
    }

    #[test]
    fn too_few_people_are_refused_and_a_stop_is_one() {
        let (people, unfavourable, members) = alternating(6);
        let group = women(&members);
        let subjects = factual(&people, &unfavourable, &group);
        let error = compare(&subjects, &OPTIONS, &watch).unwrap_err();
        assert!(error.to_string().contains("too few for 3"), "{error}");
        let (people, unfavourable, members) = alternating(60);
        let group = women(&members);
        let subjects = factual(&people, &unfavourable, &group);
        let stopped = compare(&subjects, &OPTIONS, &|_, _| ControlFlow::Break(()));
        assert!(matches!(stopped, Err(IndirectError::Interrupted)));
    }
}
