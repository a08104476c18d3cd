//! The neighbours that can flip the vote of one row: steps 2 and 3 of the charging lemma
//! (`charging`).

use crate::certify::flip_costs::FlipCosts;
use crate::certify::minimal_removal::{minimal_winning_removal, violating_removal};
use crate::system::KnnSystem;

/// The first ranked neighbours of a row that are left, with their labels.
#[derive(Default)]
pub(crate) struct Neighbourhood {
    rows: Vec<u32>,
    pub(crate) labels: Vec<u16>,
}

impl Neighbourhood {
    pub(crate) fn read(&mut self, system: &KnnSystem, row: usize, removed: &[bool], count: usize) {
        self.rows.clear();
        self.labels.clear();
        let labels = system.setup.training.labels();
        system.neighbours.walk(row, |id| {
            if !removed[id] {
                self.rows.push(id as u32);
                self.labels.push(labels[id]);
            }
            self.rows.len() < count
        });
    }

    /// The only label that up to `budget` removals could make beat `label` among the first `k`, if
    /// there is just one such label: then removing rows of it is idle. `None` too if the list is so
    /// short that it could be emptied.
    fn idle_rival(&self, k: usize, label: u16, budget: usize, classes: usize) -> Option<u16> {
        let prefix = self.rows.len().min(k + budget);
        if self.rows.len() <= budget {
            return None;
        }
        let mut counts = vec![0_usize; classes];
        for &other in &self.labels[..prefix] {
            counts[usize::from(other)] += 1;
        }
        let own = counts[usize::from(label)];
        let mut beating = (0..classes as u16).filter(|&other| {
            let count = counts[usize::from(other)];
            other != label
                && count > 0
                && (count + budget > own || (count + budget == own && other < label))
        });
        let first = beating.next();
        if beating.next().is_some() {
            None
        } else {
            first
        }
    }

    /// Tells for every label c whether `label` is the vote of the first `k` rows once one row of
    /// label c among them is gone.
    pub(crate) fn right_without_one(&self, k: usize, label: u16, classes: usize) -> Vec<bool> {
        let mut counts = vec![0_i64; classes];
        for &other in self.labels.iter().take(k) {
            counts[usize::from(other)] += 1;
        }
        let entering = self.labels.get(k).map(|&other| usize::from(other));
        if let Some(entering) = entering {
            counts[entering] += 1;
        }
        (0..classes)
            .map(|gone| {
                let own = counts[usize::from(label)] - i64::from(gone == usize::from(label));
                own > 0
                    && (0..classes)
                        .filter(|&other| other != usize::from(label))
                        .all(|other| {
                            let count = counts[other] - i64::from(gone == other);
                            count < own || (count == own && other > usize::from(label))
                        })
            })
            .collect()
    }
}

/// The part that the removal of a row has in a flip that takes one removal.
enum Part {
    None,
    Alone,
    Paired,
}

/// Lists the flips of one row, with the neighbours that are charged for them.
pub(crate) struct VoteFlips<'a> {
    pub(crate) near: &'a Neighbourhood,
    /// The list to which the flips are added.
    pub(crate) costs: &'a mut FlipCosts,
    pub(crate) budget: usize,
    pub(crate) classes: usize,
    pub(crate) label: u16,
}

impl VoteFlips<'_> {
    /// Lists the flip by which a row that is wrong at `k` becomes right there. Returns whether it
    /// can.
    pub(crate) fn right(&mut self, k: usize) -> bool {
        let Some(cost) = self.winning_cost(k) else {
            return false;
        };
        self.costs.flip();
        if cost > 1 {
            self.spread(k, cost, Some(self.label));
            return true;
        }
        let alone = self.near.right_without_one(k, self.label, self.classes);
        let label = self.label;
        self.alone_or_in_pairs(k, |gone| {
            if gone == label {
                Part::None
            } else if alone[usize::from(gone)] {
                Part::Alone
            } else {
                Part::Paired
            }
        });
        true
    }

    /// Lists the flip by which a row that is right at `m` becomes wrong there at `cost`. Returns
    /// whether it can.
    pub(crate) fn wrong(&mut self, m: usize, cost: Option<usize>) -> bool {
        let Some(cost) = cost else {
            return false;
        };
        self.costs.flip();
        let idle = self
            .near
            .idle_rival(m, self.label, self.budget, self.classes);
        if cost > 1 {
            self.spread(m, cost, idle);
            return true;
        }
        let alone = self.near.right_without_one(m, self.label, self.classes);
        self.alone_or_in_pairs(m, |gone| {
            if idle == Some(gone) {
                Part::None
            } else if !alone[usize::from(gone)] {
                Part::Alone
            } else {
                Part::Paired
            }
        });
        true
    }

    /// Charges for a single flip at `size` by case 3 of the lemma: whole shares for rows that flip
    /// it alone, halves for the others. The first of two rows is always among the first `size`, so
    /// that place `size` matters only where one of these flips nothing alone.
    fn alone_or_in_pairs(&mut self, size: usize, part: impl Fn(u16) -> Part) {
        let reach = self.near.rows.len().min(size);
        let mut paired = Vec::new();
        for place in 0..reach {
            match part(self.near.labels[place]) {
                Part::None => {}
                Part::Alone => self.costs.alone(self.near.rows[place]),
                Part::Paired => paired.push(place),
            }
        }
        if paired.is_empty() || self.budget < 2 {
            return;
        }
        if let Some(&gone) = self.near.labels.get(size)
            && !matches!(part(gone), Part::None)
        {
            paired.push(size);
        }
        self.share_out(&paired, 2);
    }

    /// Lists the flip by which a row that is wrong at both K becomes right at `k` and stays wrong
    /// at `m`.
    pub(crate) fn right_at_k_only(&mut self, k: usize, m: usize) -> bool {
        match self.winning_cost(k) {
            None => false,
            Some(1) => {
                if self.jointly(k, m, k) {
                    self.right(k)
                } else {
                    true
                }
            }
            Some(cost) => {
                self.costs.flip();
                self.spread(k, cost, Some(self.label));
                true
            }
        }
    }

    /// Lists the flip by which a row that is right at both K becomes wrong at `m` and stays right
    /// at `k`.
    pub(crate) fn wrong_at_m_only(&mut self, k: usize, m: usize, cost: Option<usize>) -> bool {
        match cost {
            None => false,
            Some(1) => {
                if self.jointly(k, m, m) {
                    self.wrong(m, cost)
                } else {
                    true
                }
            }
            Some(_) => self.wrong(m, cost),
        }
    }

    /// Pays for "right at `k` and wrong at `m`" by single rows that do both, and halves; returns
    /// true, having paid nothing, if paying for the flip at `flipped` alone is cheaper.
    fn jointly(&mut self, k: usize, m: usize, flipped: usize) -> bool {
        let longest = k.max(m);
        if self.budget > 1 && longest > 2 * flipped {
            return true;
        }
        let now = |size: usize| {
            violating_removal(&self.near.labels, self.classes, size, self.label, 0).is_none()
        };
        let (right_k, right_m) = (now(k), now(m));
        let alone_k = self.near.right_without_one(k, self.label, self.classes);
        let alone_m = self.near.right_without_one(m, self.label, self.classes);
        let reach = self.near.rows.len().min(longest + 1);
        let does_both = |place: usize| {
            let gone = usize::from(self.near.labels[place]);
            let at_k = if place < k { alone_k[gone] } else { right_k };
            let at_m = if place < m { alone_m[gone] } else { right_m };
            at_k && !at_m
        };
        let both: Vec<usize> = (0..reach.min(longest))
            .filter(|&place| does_both(place))
            .collect();
        let halves = if self.budget > 1 {
            reach - both.len()
        } else {
            0
        };
        // The single flip charges about `flipped` rows in full; an exact comparison is not worth
        // its cost.
        if self.budget > 1 && 2 * both.len() + halves > 2 * flipped {
            return true;
        }
        let others: Vec<usize> = (0..reach)
            .filter(|place| both.binary_search(place).is_err())
            .collect();
        self.costs.flip();
        for place in both {
            self.costs.alone(self.near.rows[place]);
        }
        if self.budget > 1 {
            self.share_out(&others, 2);
        }
        false
    }

    fn winning_cost(&self, k: usize) -> Option<usize> {
        minimal_winning_removal(&self.near.labels, self.classes, k, self.label, self.budget)
    }

    /// Charges for a flip that takes `cost` of the first `size + cost - 1` rows, those of the
    /// winner apart.
    fn spread(&mut self, size: usize, cost: usize, winner: Option<u16>) {
        let reach = self.near.rows.len().min(size + cost - 1);
        let places: Vec<usize> = (0..reach)
            .filter(|&place| winner != Some(self.near.labels[place]))
            .collect();
        self.share_out(&places, cost);
    }

    /// Charges for a flip that takes `cost` rows among `places`.
    fn share_out(&mut self, places: &[usize], cost: usize) {
        let rows = places.iter().map(|&place| self.near.rows[place]);
        self.costs.together(rows, cost);
    }
}
