//! The partition of the domain into boxes: a tree of splits, of which each leaf is decided as far
//! as it is.
//!
//! A split puts the positions of one attribute up to a cut to one side and those after it to the
//! other: whatever was split, the leaves are disjoint and hold every point. Of a box that was split
//! there are two counts from below, that of the box as one and the sum of its parts'; the larger one
//! holds, so that no split gives up what was proved, and what is proved of the domain only grows.
//!
//! Boxes are split in rounds of a size that depends on nothing but the tree: those with most
//! undecided points, the older ones first. Their parts are decided on all threads and put down in
//! the order of the boxes, so that the tree after a round is the same whoever decided what.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::count::Counter;
use super::decide::{Decider, Verdict};
use super::network::Ranges;
use probity_nn::ModelError;

/// Largest number of boxes that are split in a round.
const ROUND: usize = 512;

/// Number of boxes that a thread takes at a time.
const CHUNK: usize = 8;

/// A box: the root, or a part of its parent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Node {
    /// The box that this one is a part of; the root is its own.
    parent: u32,
    /// The first of the two parts of the box, which stand side by side; 0 where it was not split.
    parts: u32,
    /// The attribute at which the box was or is to be split, of those that are not protected; none
    /// where it holds a single point or was asked about.
    split: Option<u16>,
    /// The last position of the first part.
    cut: u32,
    points: u128,
    /// The fair points at least: what was proved of the box as one, or of its parts, whichever is
    /// more.
    fair: u128,
    /// The discriminatory points at least, likewise.
    discriminatory: u128,
}

/// The counts that are proved of the whole domain.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Proved {
    /// Points that are fair for certain.
    pub fair: u128,
    /// Points that are discriminatory for certain.
    pub discriminatory: u128,
    /// Number of leaves.
    pub boxes: u64,
}

/// The domain in boxes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Partition {
    domain: Ranges,
    nodes: Vec<Node>,
    /// The whole that a share is of: the number of all points, or of weights.
    whole: u128,
    /// The undecided points of the boxes that were split at each attribute, when they were.
    split: Vec<f64>,
}

/// A box, and the counts that are proved of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// The number of the box in the tree.
    pub number: u32,
    /// Whether the box has no parts.
    pub is_leaf: bool,
    /// The positions of the box.
    pub ranges: Ranges,
    /// The number of points of the box, or no less than their weight.
    pub points: u128,
    /// The fair points at least.
    pub fair: u128,
    /// The discriminatory points at least.
    pub discriminatory: u128,
}

impl Region {
    /// The points that are neither proved to be fair nor to be discriminatory.
    pub fn undecided(&self) -> u128 {
        self.points - self.fair - self.discriminatory
    }
}

/// The boxes that may be split, those with most undecided points first.
pub struct Open(BinaryHeap<(u128, Reverse<u32>)>);

impl Open {
    /// Whether no box may be split.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of boxes that the next round splits; each makes one box more.
    pub fn round(&self) -> usize {
        self.0.len().div_ceil(2).min(ROUND)
    }
}

impl Partition {
    /// The domain as one box; `whole` is the whole that a share is of: the number of its points, or
    /// of weights.
    ///
    /// # Errors
    /// When the model cannot answer.
    pub fn new(
        decider: &Decider<'_>,
        domain: Ranges,
        whole: u128,
    ) -> Result<Partition, ModelError> {
        let verdict = decider.decide(&domain, &mut Counter::default())?;
        let mut partition = Partition {
            split: vec![0.0; domain.len()],
            domain,
            nodes: Vec::new(),
            whole,
        };
        partition.put(0, verdict);
        Ok(partition)
    }

    /// The counts that are proved of the whole domain.
    pub fn proved(&self) -> Proved {
        let [fair, discriminatory] = self.nodes[0].proved();
        Proved {
            fair,
            discriminatory,
            // Each split makes one box more.
            boxes: self.nodes.len() as u64 / 2 + 1,
        }
    }

    /// The whole that a share is of: the number of all points, or of weights.
    pub fn whole(&self) -> u128 {
        self.whole
    }

    /// The points of which nothing is proved.
    pub fn undecided(&self) -> u128 {
        let [fair, discriminatory] = self.nodes[0].proved();
        self.whole - fair - discriminatory
    }

    /// The boxes that may be split.
    pub fn open(&self) -> Open {
        let nodes = self.nodes.iter().zip(0u32..);
        Open(
            nodes
                .filter_map(|(node, number)| node.entry(number))
                .collect(),
        )
    }

    fn put(&mut self, parent: u32, verdict: Verdict) {
        self.nodes.push(Node {
            parent,
            parts: 0,
            split: verdict.split,
            cut: 0,
            points: verdict.points,
            fair: verdict.fair,
            discriminatory: verdict.discriminatory,
        });
    }

    /// The positions of box `number`.
    fn ranges(&self, number: u32) -> Ranges {
        let mut ranges = self.domain.clone();
        let (mut child, mut node) = (number, &self.nodes[number as usize]);
        let mut is_cut = vec![[false; 2]; ranges.len()];
        while child != 0 {
            let parent = &self.nodes[node.parent as usize];
            let place = usize::from(parent.split.unwrap_or_default());
            // The cut nearest to the box is the narrowest on its side.
            let side = usize::from(parent.parts == child);
            if !is_cut[place][side] {
                is_cut[place][side] = true;
                ranges[place][side] = parent.cut + 1 - side as u32;
            }
            (child, node) = (node.parent, parent);
        }
        ranges
    }

    /// Splits a round of boxes and decides their parts.
    ///
    /// # Errors
    /// When the model cannot answer.
    pub fn round(&mut self, decider: &Decider<'_>, open: &mut Open) -> Result<(), ModelError> {
        let next = (0..open.round()).filter_map(|_| Some(open.0.pop()?.1.0));
        let chosen: Vec<u32> = next.collect();
        let decided: Vec<Vec<(u32, [Verdict; 2])>> = chosen
            .par_chunks(CHUNK)
            .map_init(Counter::default, |counter, numbers| {
                let decided = numbers.iter().map(|&number| {
                    let ranges = self.ranges(number);
                    let split = self.nodes[number as usize].split.unwrap_or_default();
                    let [first, last] = ranges[usize::from(split)];
                    let cut = first + (last - first) / 2;
                    let mut part = |range: [u32; 2]| {
                        let mut ranges = ranges.clone();
                        ranges[usize::from(split)] = range;
                        decider.decide(&ranges, counter)
                    };
                    Ok((cut, [part([first, cut])?, part([cut + 1, last])?]))
                });
                decided.collect::<Result<Vec<_>, ModelError>>()
            })
            .collect::<Result<_, ModelError>>()?;
        for (number, (cut, verdicts)) in chosen.into_iter().zip(decided.into_iter().flatten()) {
            let first = self.nodes.len() as u32;
            let node = &mut self.nodes[number as usize];
            (node.parts, node.cut) = (first, cut);
            self.split[usize::from(node.split.unwrap_or_default())] += node.undecided() as f64;
            for verdict in verdicts {
                self.put(number, verdict);
            }
            self.raise(number);
            for part in first..first + 2 {
                open.0.extend(self.nodes[part as usize].entry(part));
            }
        }
        Ok(())
    }

    /// Brings the counts of box `number`, and of those that it is a part of, up to what is proved
    /// of their parts.
    fn raise(&mut self, mut number: u32) {
        loop {
            let parts = self.of_parts(number);
            let node = &mut self.nodes[number as usize];
            let before = node.proved();
            node.fair = node.fair.max(parts[0]);
            node.discriminatory = node.discriminatory.max(parts[1]);
            if number == 0 || node.proved() == before {
                return;
            }
            number = node.parent;
        }
    }

    /// The counts of the parts of box `number`, which has some: fair and discriminatory points.
    fn of_parts(&self, number: u32) -> [u128; 2] {
        let first = self.nodes[number as usize].parts as usize;
        let [one, other] = [first, first + 1].map(|part| self.nodes[part].proved());
        [0, 1].map(|kind| one[kind] + other[kind])
    }

    fn region(&self, number: u32) -> Region {
        let node = &self.nodes[number as usize];
        Region {
            number,
            is_leaf: node.parts == 0,
            ranges: self.ranges(number),
            points: node.points,
            fair: node.fair,
            discriminatory: node.discriminatory,
        }
    }

    /// The leaves, in the order of their numbers.
    pub fn leaves(&self) -> impl Iterator<Item = Region> {
        let nodes = self.nodes.iter().zip(0u32..);
        let leaves = nodes.filter(|(node, _)| node.parts == 0);
        leaves.map(|(_, number)| self.region(number))
    }

    /// The boxes from which everything follows that is proved, in the order of the numbers: the
    /// leaves, and the boxes for which more is proved as one than for their parts.
    pub fn grounds(&self) -> impl Iterator<Item = Region> {
        let numbers = 0..self.nodes.len() as u32;
        let grounds = numbers.filter(|&number| {
            let node = &self.nodes[number as usize];
            node.parts == 0 || node.proved() != self.of_parts(number)
        });
        grounds.map(|number| self.region(number))
    }

    /// The largest boxes, `most` of them, in which at least the share `least` of the points is
    /// discriminatory for certain; none is part of another. For the share 0 these are the smallest
    /// boxes that have any.
    pub fn discriminatory_regions(&self, least: f64, most: usize) -> Vec<Region> {
        let (mut found, mut open) = (Vec::new(), vec![0u32]);
        while let Some(number) = open.pop() {
            let node = &self.nodes[number as usize];
            if node.discriminatory == 0 {
                continue;
            }
            let is_it = match least > 0.0 {
                true => node.discriminatory as f64 >= least * node.points as f64,
                false => node.parts == 0 || self.of_parts(number)[1] < node.discriminatory,
            };
            if is_it {
                found.push(number);
            } else if node.parts > 0 {
                open.extend([node.parts + 1, node.parts]);
            }
        }
        let count = |number: u32| self.nodes[number as usize].discriminatory;
        found.sort_by_key(|&number| (Reverse(count(number)), number));
        found.truncate(most);
        found.iter().map(|&number| self.region(number)).collect()
    }

    /// The domain in `most` boxes at most: the largest that are not fair as a whole are shown by their
    /// parts.
    pub fn map(&self, most: usize) -> Vec<Region> {
        let weight = |number: u32| {
            let node = &self.nodes[number as usize];
            (node.points - node.fair, Reverse(number))
        };
        let mut open = BinaryHeap::from([weight(0)]);
        let mut whole = Vec::new();
        while open.len() + whole.len() < most
            && let Some((_, Reverse(number))) = open.pop()
        {
            match self.nodes[number as usize].parts {
                0 => whole.push(number),
                parts => open.extend([weight(parts), weight(parts + 1)]),
            }
        }
        whole.extend(open.into_iter().map(|(_, Reverse(number))| number));
        // In the order of the tree, so that neighbours stay together.
        let mut order = vec![0u32];
        let mut shown = Vec::new();
        whole.sort_unstable();
        while let Some(number) = order.pop() {
            if whole.binary_search(&number).is_ok() {
                shown.push(self.region(number));
            } else {
                let parts = self.nodes[number as usize].parts;
                order.extend([parts + 1, parts]);
            }
        }
        shown
    }

    /// The undecided points of the boxes that were split at each attribute, as a share of those of
    /// all boxes that were split.
    pub fn split_shares(&self) -> Vec<f64> {
        let all: f64 = self.split.iter().sum();
        let shares = self.split.iter();
        shares.map(|share| share / all.max(1.0)).collect()
    }

    /// Checks that this can be a partition of `domain`, in which a share is of `whole`.
    ///
    /// # Errors
    /// A message about what does not fit.
    pub fn expect_fits(&self, domain: &Ranges, whole: u128) -> Result<(), String> {
        let unfit = |what: &str| Err(what.to_owned());
        if self.domain != *domain || self.whole != whole || self.nodes.is_empty() {
            return unfit("the domain is another");
        }
        if self.split.len() != domain.len() || self.split.iter().any(|split| !split.is_finite()) {
            return unfit("the attributes are others");
        }
        let mut ranges: Vec<Option<Ranges>> = vec![None; self.nodes.len()];
        ranges[0] = Some(domain.clone());
        for (number, node) in self.nodes.iter().enumerate() {
            let Some(own) = ranges[number].take() else {
                return unfit("a box is part of none");
            };
            let known = node.fair.checked_add(node.discriminatory);
            let most = if number == 0 { whole } else { node.points };
            if known.is_none_or(|known| known > most.min(node.points))
                || node.points > whole.saturating_mul(2)
            {
                return unfit("more is known of a box than it has points");
            }
            let split = node.split.map(usize::from);
            if split.is_some_and(|place| own.get(place).is_none_or(|range| range[0] >= range[1])) {
                return unfit("a box cannot be split so");
            }
            if node.parts == 0 {
                continue;
            }
            let (Some(place), parts) = (split, node.parts as usize) else {
                return unfit("a box has parts that was not split");
            };
            let [first, last] = own[place];
            if parts <= number
                || parts + 1 >= self.nodes.len()
                || !(first..last).contains(&node.cut)
            {
                return unfit("the parts of a box are none of it");
            }
            for (part, range) in [[first, node.cut], [node.cut + 1, last]]
                .into_iter()
                .enumerate()
            {
                let mut inner = own.clone();
                inner[place] = range;
                let is_first = ranges[parts + part].replace(inner).is_none();
                if !is_first || self.nodes[parts + part].parent as usize != number {
                    return unfit("a box is part of two");
                }
            }
        }
        let is_less = |number: u32| {
            let node = &self.nodes[number as usize];
            let own = node.proved();
            node.parts > 0
                && self
                    .of_parts(number)
                    .iter()
                    .zip(own)
                    .any(|(&part, own)| part > own)
        };
        match (0..self.nodes.len() as u32).any(is_less) {
            true => unfit("less is known of a box than of its parts"),
            false => Ok(()),
        }
    }
}

impl Node {
    /// The fair and discriminatory points at least.
    fn proved(&self) -> [u128; 2] {
        [self.fair, self.discriminatory]
    }

    fn undecided(&self) -> u128 {
        self.points - self.fair - self.discriminatory
    }

    /// The place of the box among those that may be split.
    fn entry(&self, number: u32) -> Option<(u128, Reverse<u32>)> {
        let undecided = self.undecided();
        let is_open = undecided > 0 && self.parts == 0 && self.split.is_some();
        is_open.then_some((undecided, Reverse(number)))
    }
}
