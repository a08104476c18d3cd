//! Where people stand among all people.
//!
//! The *rank* of a number is the share of all people who have a smaller one, and half of the share of those
//! who have the same: 0.5 in the middle, near 0 and 1 at the ends, whatever the unit and however skewed the
//! numbers are. So two people can be shown side by side in attributes of any unit.

use super::People;

/// The numbers of all people, attribute by attribute.
pub struct Ranks<'p> {
    people: &'p People,
    /// The numbers of each attribute, sorted; empty where it has no order.
    numbers: Vec<Vec<f64>>,
}

impl<'p> Ranks<'p> {
    /// Sorts the numbers of `people`.
    pub fn new(people: &'p People) -> Ranks<'p> {
        let numbers = (0..people.schema.attributes.len()).map(|place| {
            let numbers = (0..people.rows()).filter_map(|row| people.number(place, row));
            let mut numbers: Vec<f64> = numbers.collect();
            numbers.sort_by(f64::total_cmp);
            numbers
        });
        Ranks {
            numbers: numbers.collect(),
            people,
        }
    }

    /// Returns the ranks of the person `row`, and of the person `other` of `others`, among all people in
    /// each attribute; `None` where it has no order, or one of the two has no number.
    pub fn of_both(&self, row: usize, others: &People, other: usize) -> Vec<Option<[f64; 2]>> {
        let places = 0..self.numbers.len();
        let both = places.map(|place| {
            let numbers = [
                self.people.number(place, row)?,
                others.number(place, other)?,
            ];
            (!self.numbers[place].is_empty())
                .then(|| numbers.map(|number| rank(&self.numbers[place], number)))
        });
        both.collect()
    }
}

/// Returns the rank of `number` among `sorted` numbers.
fn rank(sorted: &[f64], number: f64) -> f64 {
    let below = sorted.partition_point(|it| *it < number);
    let up_to = sorted.partition_point(|it| *it <= number);
    (below + up_to) as f64 / (2 * sorted.len()) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_counts_those_below_and_half_of_those_alike() {
        let sorted = [1.0, 2.0, 2.0, 2.0, 7.0];
        let counted = |number: f64| {
            let below = sorted.iter().filter(|it| **it < number).count() as f64;
            let alike = sorted.iter().filter(|it| **it == number).count() as f64;
            (below + alike / 2.0) / sorted.len() as f64
        };
        for number in [0.0, 1.0, 1.5, 2.0, 7.0, 8.0] {
            assert_eq!(rank(&sorted, number), counted(number), "{number}");
        }
        assert_eq!(rank(&sorted, 2.0), 0.5);
    }
}
