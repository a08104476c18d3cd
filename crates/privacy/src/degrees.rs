//! The degrees of records: how many *other records* lie within the radius of each record
//! (Definition 7).
//!
//! Records are counted, not distinct vectors: duplicates are neighbours of each other.
//!
//! The index is a k-d tree over the integer grid with a bounding box and a count in every node. A
//! node that lies wholly within the radius adds its count without being opened, and counting stops
//! above `cap`: the smooth bound needs degrees up to a public limit only. Distances are whole
//! numbers, so the counts are exact. A general index (ball trees, `kiddo`) would return the
//! neighbours themselves, millions of them in a dense set.
//!
//! A device may compare all pairs beforehand ([`Records::on`]). **Lemma.** The degrees are the same.
//! *Proof.* What the device gives is min(`cap` + 2, count) where its error bound leaves no doubt
//! ([`Table::within`]), the record itself included; every other record is counted in the tree. ∎
//! Nothing of it is seen outside: a device that fails, or doubts, says so to nobody, and which
//! records it leaves to the tree shows in nothing but the time, which depends on the records anyway
//! and is not to be measured by the asker (`docs/outliers.md`).

use rayon::prelude::*;

use super::records::{Records, squared_distance};
use probity_tensor::nearest::euclidean::Table;

/// The number of records of a leaf.
const LEAF: usize = 24;

/// Returns the degree of every record in the order of the records, cut at `cap + 1`.
pub fn degrees(records: &Records, squared_radius: f64, cap: u32) -> Vec<u32> {
    let enough = cap.saturating_add(2);
    // The record itself is within any radius.
    let others = |count: u32| count.saturating_sub(1);
    let Some(proposed) = counts_on_device(records, squared_radius, enough) else {
        let counted = Tree::new(records).counts(squared_radius, enough, |_| true);
        let mut degrees = vec![0; records.rows()];
        for (record, count) in counted {
            degrees[record as usize] = others(count);
        }
        return degrees;
    };
    let mut degrees: Vec<u32> = (proposed.iter())
        .map(|count| count.map_or(0, others))
        .collect();
    if proposed.contains(&None) {
        let is_open = |record: u32| proposed[record as usize].is_none();
        for (record, count) in Tree::new(records).counts(squared_radius, enough, is_open) {
            degrees[record as usize] = others(count);
        }
    }
    degrees
}

/// Returns the counts of records within the radius of each, itself included, cut at `enough`, of
/// which a device is sure; nothing where none is asked or it failed.
fn counts_on_device(
    records: &Records,
    squared_radius: f64,
    enough: u32,
) -> Option<Vec<Option<u32>>> {
    let pairs = records.rows().saturating_mul(records.rows());
    let products = pairs.saturating_mul(records.columns());
    let device = records.proposer().device_for(products)?;
    let table = Table::new(records.values(), records.columns(), device)?;
    table.within(records.values(), squared_radius, enough)
}

struct Node {
    start: usize,
    end: usize,
    /// The index of the right child; the left one follows its parent. 0 in a leaf.
    right: usize,
}

struct Tree {
    columns: usize,
    /// The points in leaf order.
    points: Vec<f64>,
    /// The record of each point.
    order: Vec<u32>,
    nodes: Vec<Node>,
    /// The lower and upper corner of each node.
    boxes: Vec<f64>,
}

impl Tree {
    fn new(records: &Records) -> Tree {
        let mut tree = Tree {
            columns: records.columns(),
            points: Vec::with_capacity(records.rows() * records.columns()),
            order: (0..records.rows() as u32).collect(),
            nodes: Vec::new(),
            boxes: Vec::new(),
        };
        let mut order = std::mem::take(&mut tree.order);
        if !order.is_empty() {
            tree.build(records, &mut order, 0);
        }
        for &record in &order {
            tree.points.extend(records.row(record as usize));
        }
        tree.order = order;
        tree
    }

    /// Builds the subtree of `order`, whose first slot is `start`.
    fn build(&mut self, records: &Records, order: &mut [u32], start: usize) {
        let columns = self.columns;
        let node = self.nodes.len();
        let corner = self.boxes.len();
        self.boxes
            .extend(std::iter::repeat_n(f64::INFINITY, columns));
        self.boxes
            .extend(std::iter::repeat_n(f64::NEG_INFINITY, columns));
        for &record in order.iter() {
            for (column, &value) in records.row(record as usize).iter().enumerate() {
                let low = &mut self.boxes[corner + column];
                *low = low.min(value);
                let high = &mut self.boxes[corner + columns + column];
                *high = high.max(value);
            }
        }
        self.nodes.push(Node {
            start,
            end: start + order.len(),
            right: 0,
        });
        let width =
            |column: usize| self.boxes[corner + columns + column] - self.boxes[corner + column];
        let widest = (0..columns)
            .max_by(|&a, &b| width(a).total_cmp(&width(b)))
            .unwrap_or(0);
        if order.len() <= LEAF || width(widest) == 0.0 {
            return;
        }
        let middle = order.len() / 2;
        order.select_nth_unstable_by(middle, |&a, &b| {
            let value = |record: u32| records.row(record as usize)[widest];
            value(a).total_cmp(&value(b)).then(a.cmp(&b))
        });
        let (left, right) = order.split_at_mut(middle);
        self.build(records, left, start);
        self.nodes[node].right = self.nodes.len();
        self.build(records, right, start + middle);
    }

    fn point(&self, slot: usize) -> &[f64] {
        &self.points[slot * self.columns..(slot + 1) * self.columns]
    }

    /// Counts, for each record that is asked for, how many are within its radius, itself included,
    /// cut at `enough`.
    fn counts(
        &self,
        squared_radius: f64,
        enough: u32,
        is_asked: impl Fn(u32) -> bool + Sync,
    ) -> Vec<(u32, u32)> {
        let asked = self.order.par_iter().enumerate().with_min_len(256);
        asked
            .filter(|&(_, &record)| is_asked(record))
            .map(|(slot, &record)| {
                let count = self.count(self.point(slot), squared_radius, enough.into());
                (record, count.min(enough.into()) as u32)
            })
            .collect()
    }

    /// Counts the records within the radius of `centre`, until there are `enough`.
    fn count(&self, centre: &[f64], squared_radius: f64, enough: u64) -> u64 {
        let mut count = 0;
        let mut open = vec![0];
        while let Some(node) = open.pop() {
            if count >= enough {
                break;
            }
            let (nearest, farthest) = self.reach(node, centre);
            if nearest > squared_radius {
                continue;
            }
            let Node { start, end, right } = self.nodes[node];
            if farthest <= squared_radius {
                count += (end - start) as u64;
            } else if right == 0 {
                count += (start..end)
                    .filter(|&slot| squared_distance(centre, self.point(slot)) <= squared_radius)
                    .count() as u64;
            } else {
                open.push(right);
                open.push(node + 1);
            }
        }
        count
    }

    /// Returns the squared distance from `centre` to the nearest and to the farthest point of a
    /// node's box.
    fn reach(&self, node: usize, centre: &[f64]) -> (f64, f64) {
        let corner = 2 * node * self.columns;
        let low = &self.boxes[corner..corner + self.columns];
        let high = &self.boxes[corner + self.columns..corner + 2 * self.columns];
        let (mut nearest, mut farthest) = (0.0, 0.0);
        for ((&at, &low), &high) in centre.iter().zip(low).zip(high) {
            let outside = (low - at).max(at - high).max(0.0);
            nearest += outside * outside;
            let far = (at - low).max(high - at);
            farthest += far * far;
        }
        (nearest, farthest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use probity_run::stream::{Purpose, stream};
    use probity_tensor::device::ComputeDevice;
    use probity_tensor::proposer::Proposer;
    use rand::RngExt;

    #[test]
    fn degrees_are_those_of_all_pairs() {
        for case in 0..300_u64 {
            let mut draw = stream(5, Purpose::OutlierData, case, 0);
            let columns = 1 + case as usize % 7;
            let rows = draw.random_range(1..200);
            let side = [3, 12, 100][case as usize % 3];
            let values = (0..rows * columns)
                .map(|_| f64::from(draw.random_range(0..side)))
                .collect();
            let records = Records::from_grid(values, columns).unwrap();
            let squared_radius = f64::from(draw.random_range(0..side * side));
            let cap = draw.random_range(0..60);
            let found = degrees(&records, squared_radius, cap);
            let flex = Proposer::always(&ComputeDevice::flex());
            assert_eq!(
                degrees(&records.clone().on(&flex), squared_radius, cap),
                found
            );
            for (at, &degree) in found.iter().enumerate() {
                let near = (0..rows).filter(|&other| {
                    other != at
                        && squared_distance(records.row(at), records.row(other)) <= squared_radius
                });
                assert_eq!(degree, (near.count() as u32).min(cap + 1), "case {case}");
            }
        }
    }
}
