//! The smallest changes of an input after which all of its variants get one class.
//!
//! Changes of one place are gone through by distance, then those of two places, and so on. Within a
//! number of places, a queue holds for each set of places the changes that come next: taking one of
//! them adds those that differ from it by the next value of one place. A sum of distances grows with
//! each of them, so what the queue gives is in order, and no list of all changes is ever made. Equal
//! distances are taken by the places, then by the values.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use serde::Serialize;
use smallvec::SmallVec;

use crate::calls::{Calls, CountedModel};
use crate::check::{Wanted, check_until_flip};
use crate::domain::Domain;
use probity_data::schema::Attribute;
use probity_nn::{Classifier, ModelError, Rows};

/// Number of changes that are asked about in one go: at first, and at most.
const BLOCK: [usize; 2] = [32, 2048];

/// A place of an input that may change.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Place {
    /// The position of the place in a row.
    pub position: usize,
    /// The values that may stand there in place of the present one, each with its distance from
    /// that: ascending.
    pub values: Vec<(f64, i32)>,
}

/// The distance of `to` from `from` as values of `attribute`: 1 without an order, and where one of
/// the two is missing, or a level beside the numbers of the other.
pub(crate) fn scaled_distance(attribute: &Attribute, from: i32, to: i32) -> f64 {
    let (min, max) = attribute.ordered_domain();
    match attribute.are_ordered(&[from, to]) {
        true => f64::from(from.abs_diff(to)) / f64::from(max.abs_diff(min).max(1)),
        false => 1.0,
    }
}

/// A function that says whether a changed input may be asked about.
pub(crate) type Allows<'a> = &'a dyn Fn(&[i32]) -> Result<bool, ModelError>;

/// The question to a search for the smallest changes.
pub(crate) struct Question<'a> {
    /// The model.
    pub model: &'a dyn Classifier,
    /// The domain of the model's inputs.
    pub domain: &'a dyn Domain,
    /// The input.
    pub row: &'a [i32],
    /// The places that may change.
    pub places: &'a [Place],
    /// The function that says which changed inputs may be asked about.
    pub allows: Allows<'a>,
    /// Largest number of places that may change at once.
    pub most_places: usize,
    /// Number of changes to find, each of another set of places.
    pub alternatives: usize,
    /// Largest number of rows to ask the model about.
    pub max_calls: u64,
    /// The variant that is tried first.
    pub hint: u32,
}

/// A reason why a search for changes ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// As many changes were found as were looked for.
    Found,
    /// No other change undoes the flips.
    Exhausted,
    /// The next change might have cost more than was allowed.
    Budget,
}

/// A change that was found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Found {
    /// The changed input.
    pub row: Vec<i32>,
    /// The distance of the changed input from the input.
    pub distance: f64,
    /// The class of all of its variants.
    pub class: u32,
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Searched {
    /// The changes that were found, in order.
    pub found: Vec<Found>,
    /// The reason why the search ended.
    pub ending: Ending,
    /// Number of places up to which all changes were tried.
    pub complete: usize,
    /// Changes that were tried.
    pub tried: u64,
    /// Rows that the model was asked about.
    pub calls: u64,
}

/// Searches for the smallest changes.
///
/// # Errors
/// When the model cannot answer.
pub(crate) fn smallest(question: &Question<'_>) -> Result<Searched, ModelError> {
    let calls = Calls::default();
    let model = CountedModel::new(question.model, &calls);
    let variants = question.domain.variants(question.row) as u64;
    let width = question.domain.width();
    let left = || question.max_calls.saturating_sub(calls.so_far().rows);
    let mut found: Vec<Found> = Vec::new();
    let mut sets: Vec<Set> = Vec::new();
    let (mut complete, mut tried, mut ending) = (0, 0, Ending::Exhausted);
    let most = question.most_places.min(question.places.len());
    'all: for count in 1..=most {
        if sets_of(question.places.len(), count) > left() {
            ending = Ending::Budget;
            break;
        }
        let mut queue = Queue::new(question.places, count);
        let mut block = BLOCK[0];
        loop {
            let room = usize::try_from(left() / variants).unwrap_or(usize::MAX);
            let (mut codes, mut changes) = (Vec::new(), Vec::new());
            // One more than there is room for shows whether there is one.
            while changes.len() < block.min(room.max(1)) {
                let Some(change) = queue.next(&sets) else {
                    break;
                };
                let row = change.made(question.row, question.places);
                if (question.allows)(&row)? {
                    codes.extend(row);
                    changes.push(change);
                }
            }
            if changes.is_empty() {
                break;
            }
            if room == 0 {
                ending = Ending::Budget;
                break 'all;
            }
            let hints = vec![question.hint; changes.len()];
            let checks = check_until_flip(
                &model,
                question.domain,
                Rows::new(&codes, width),
                &hints,
                Wanted::Logits,
            )?;
            let rows = codes.chunks_exact(width);
            for ((change, row), check) in changes.into_iter().zip(rows).zip(checks) {
                tried += 1;
                if check.flips.is_empty() && !holds_any(&change.set, &sets) {
                    found.push(Found {
                        row: row.to_vec(),
                        distance: change.distance,
                        class: model.decision().decide(row, &check.logits),
                    });
                    sets.push(change.set);
                    if found.len() == question.alternatives {
                        ending = Ending::Found;
                        break 'all;
                    }
                }
            }
            block = (block * 2).min(BLOCK[1]);
        }
        complete = count;
    }
    Ok(Searched {
        found,
        ending,
        complete,
        tried,
        calls: calls.so_far().rows,
    })
}

/// Places, by their number, ascending.
type Set = SmallVec<[u32; 4]>;

/// Whether all places of one of `sets` are in `set`.
fn holds_any(set: &Set, sets: &[Set]) -> bool {
    sets.iter()
        .any(|other| other.iter().all(|place| set.contains(place)))
}

/// The number of sets of `count` places among `places`.
fn sets_of(places: usize, count: usize) -> u64 {
    let (places, count) = (places as u64, count as u64);
    (0..count).fold(1_u64, |sets, at| {
        let sets = u128::from(sets) * u128::from(places - at) / u128::from(at + 1);
        u64::try_from(sets).unwrap_or(u64::MAX)
    })
}

/// The choice of a value for each of a set of places.
#[derive(Debug, Clone, PartialEq)]
struct ChangeOf {
    distance: f64,
    set: Set,
    /// The number of the chosen value among those of the place, for each place.
    values: SmallVec<[u32; 4]>,
    /// The first place of the set that a change after this one differs in.
    from: usize,
}

impl ChangeOf {
    /// Returns `row` with the change made.
    fn made(&self, row: &[i32], places: &[Place]) -> Vec<i32> {
        let mut row = row.to_vec();
        for (&place, &value) in self.set.iter().zip(&self.values) {
            let place = &places[place as usize];
            row[place.position] = place.values[value as usize].1;
        }
        row
    }
}

impl Eq for ChangeOf {}

impl Ord for ChangeOf {
    fn cmp(&self, other: &ChangeOf) -> Ordering {
        let by_distance = self.distance.total_cmp(&other.distance);
        let by_place = by_distance.then_with(|| self.set.cmp(&other.set));
        by_place.then_with(|| self.values.cmp(&other.values))
    }
}

impl PartialOrd for ChangeOf {
    fn partial_cmp(&self, other: &ChangeOf) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// All changes of some number of places, in order.
struct Queue<'a> {
    places: &'a [Place],
    next: BinaryHeap<Reverse<ChangeOf>>,
}

impl<'a> Queue<'a> {
    /// The changes of `count` of the places.
    fn new(places: &'a [Place], count: usize) -> Queue<'a> {
        let mut queue = Queue {
            places,
            next: BinaryHeap::new(),
        };
        let mut set: Set = (0..count as u32).collect();
        loop {
            queue.push(set.clone(), SmallVec::from_elem(0, count), 0);
            // The next set in order: the last place that can move does, and those after it follow.
            let end = places.len() - count;
            let Some(at) = (0..count).rfind(|&at| (set[at] as usize) < end + at) else {
                return queue;
            };
            let first = set[at] + 1;
            for (place, number) in set[at..].iter_mut().zip(first..) {
                *place = number;
            }
        }
    }

    fn push(&mut self, set: Set, values: SmallVec<[u32; 4]>, from: usize) {
        let chosen = set.iter().zip(&values);
        let distances = chosen.map(|(&place, &value)| {
            let values = &self.places[place as usize].values;
            values.get(value as usize).map(|(distance, _)| *distance)
        });
        let Some(distance) = distances.sum::<Option<f64>>() else {
            return;
        };
        self.next.push(Reverse(ChangeOf {
            distance,
            set,
            values,
            from,
        }));
    }

    /// The next change of no set that holds one of `sets`.
    fn next(&mut self, sets: &[Set]) -> Option<ChangeOf> {
        loop {
            let Reverse(change) = self.next.pop()?;
            if holds_any(&change.set, sets) {
                continue;
            }
            for at in change.from..change.set.len() {
                let mut values = change.values.clone();
                values[at] += 1;
                self.push(change.set.clone(), values, at);
            }
            return Some(change);
        }
    }
}
