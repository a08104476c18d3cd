//! Boxes of inputs that predicates along the axes allow, solved exactly.

use rand::RngExt;

use crate::domain::TabularDomain;
use probity_run::stream::Stream;

/// A condition on the code of one attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Condition {
    AtMost(i32),
    Above(i32),
    Is(i32),
    IsNot(i32),
}

impl Condition {
    /// The condition that holds where this one does not.
    pub(super) fn negated(self) -> Condition {
        match self {
            Condition::AtMost(code) => Condition::Above(code),
            Condition::Above(code) => Condition::AtMost(code),
            Condition::Is(code) => Condition::IsNot(code),
            Condition::IsNot(code) => Condition::Is(code),
        }
    }

    /// Whether `code` meets the condition.
    pub(super) fn holds(self, code: i32) -> bool {
        match self {
            Condition::AtMost(bound) => code <= bound,
            Condition::Above(bound) => code > bound,
            Condition::Is(value) => code == value,
            Condition::IsNot(value) => code != value,
        }
    }
}

/// The inputs that meet all conditions required so far.
#[derive(Debug, Clone)]
pub(super) struct Region<'a> {
    domain: &'a TabularDomain,
    conditions: Vec<(usize, Condition)>,
}

impl<'a> Region<'a> {
    /// All inputs.
    pub(super) fn whole(domain: &'a TabularDomain) -> Region<'a> {
        Region {
            domain,
            conditions: Vec::new(),
        }
    }

    /// Keeps the inputs whose `attribute` meets `condition`.
    pub(super) fn require(&mut self, attribute: usize, condition: Condition) {
        self.conditions.push((attribute, condition));
    }

    /// An input of the region that equals `row` wherever `row` itself meets the conditions; other
    /// numbers get the nearest code that is allowed, other levels a uniform one. `None` if and only
    /// if the region is empty.
    pub(super) fn solve(&self, row: &[i32], stream: &mut Stream) -> Option<Vec<i32>> {
        let mut solution = row.to_vec();
        for &(attribute, condition) in &self.conditions {
            if !condition.holds(solution[attribute]) {
                solution[attribute] = self.allowed(attribute, solution[attribute], stream)?;
            }
        }
        Some(solution)
    }

    /// A code that all conditions on `attribute` allow: of a number the one nearest to `own`, of
    /// levels a uniform one.
    fn allowed(&self, attribute: usize, own: i32, stream: &mut Stream) -> Option<i32> {
        let span = &self.domain.spans()[attribute];
        let (mut low, mut high) = (span.min, span.min + span.levels as i32 - 1);
        let mut excluded = Vec::new();
        for &(on, condition) in &self.conditions {
            match condition {
                _ if on != attribute => {}
                Condition::AtMost(bound) => high = high.min(bound),
                Condition::Above(bound) => low = low.max(bound.saturating_add(1)),
                Condition::Is(value) => (low, high) = (low.max(value), high.min(value)),
                Condition::IsNot(value) => excluded.push(value),
            }
        }
        excluded.retain(|value| (low..=high).contains(value));
        excluded.sort_unstable();
        excluded.dedup();
        let count = i64::from(high) - i64::from(low) + 1 - excluded.len() as i64;
        if count <= 0 {
            return None;
        }
        if excluded.is_empty() && span.encoding.is_scaled() {
            return Some(own.clamp(low, high));
        }
        // The n-th allowed code: every excluded one at or below it moves it up by one.
        let mut code = low + stream.random_range(0..count) as i32;
        for value in excluded {
            if value <= code {
                code += 1;
            }
        }
        Some(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use probity_data::builtin;
    use probity_nn::encoding::{Encoding, InputLayout};
    use probity_run::stream::{Purpose, stream};
    use std::collections::BTreeSet;

    /// Solutions are exact, against brute force over the domain of each attribute: a region is
    /// solved if and only if every attribute has an allowed code. Numbers get the nearest one, and
    /// every allowed level comes up.
    #[test]
    fn solutions_are_exact() {
        let schema = builtin::schema("adf-census").unwrap().unwrap();
        // The first two attributes as numbers, the third as levels.
        let mut encodings = [Encoding::RAW; 13];
        encodings[2] = Encoding::OneHot;
        let layout = InputLayout::new(&schema.attributes, &encodings);
        let domain = TabularDomain::new(&schema, &layout, &[8]).unwrap();
        let (mut empty, mut solved) = (0, 0);
        for case in 0..3000 {
            let mut stream = stream(7, Purpose::Synthetic, case, 0);
            let row = domain.uniform(&mut stream);
            let mut region = Region::whole(&domain);
            let mut conditions = Vec::new();
            for _ in 0..stream.random_range(1..7) {
                let attribute = stream.random_range(0..3);
                let code = domain.uniform(&mut stream)[attribute];
                let condition = match (attribute, stream.random()) {
                    (2, true) => Condition::Is(code),
                    (2, false) => Condition::IsNot(code),
                    (_, true) => Condition::AtMost(code),
                    (_, false) => Condition::Above(code),
                };
                region.require(attribute, condition);
                conditions.push((attribute, condition));
            }
            let allowed = |attribute: usize| -> BTreeSet<i32> {
                let span = &domain.spans()[attribute];
                (span.min..span.min + span.levels as i32)
                    .filter(|&code| {
                        conditions
                            .iter()
                            .all(|&(on, condition)| on != attribute || condition.holds(code))
                    })
                    .collect()
            };
            let expected = [0, 1, 2].map(allowed);
            if expected.iter().any(BTreeSet::is_empty) {
                assert_eq!(region.solve(&row, &mut stream), None, "{conditions:?}");
                empty += 1;
                continue;
            }
            let mut levels = BTreeSet::new();
            // Each of at most 40 levels is missed with probability e^-25.
            for _ in 0..1000 {
                let solution = region.solve(&row, &mut stream).unwrap();
                for attribute in [0, 1] {
                    let distance = |code: &i32| (code - row[attribute]).abs();
                    let nearest = expected[attribute].iter().min_by_key(|code| distance(code));
                    assert_eq!(Some(&solution[attribute]), nearest, "{conditions:?}");
                }
                assert_eq!(solution[3..], row[3..]);
                levels.insert(solution[2]);
            }
            if expected[2].contains(&row[2]) {
                assert_eq!(levels, BTreeSet::from([row[2]]));
            } else {
                assert_eq!(levels, expected[2], "{conditions:?}");
                solved += 1;
            }
        }
        assert!(empty > 300 && solved > 300, "{empty} {solved}");
    }
}
