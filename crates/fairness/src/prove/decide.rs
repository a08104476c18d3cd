//! Proves, from below, how many points of one box are fair and how many discriminatory.
//!
//! A point of a box is a combination of values of the attributes that are not protected. It is
//! *fair* if all protected combinations get the same class, else *discriminatory*. For a box the
//! points that are fair, and those that are discriminatory, are counted from below; most boxes are
//! neither as a whole.
//!
//! With bounds Σ_i G_i + K_a on the lead of class c over class y under protected combination a, from
//! [`super::relaxation`]:
//! * *Fair*: all points with Σ_i G_i > −min_a K_a get c whatever a is (of more than two classes: less
//!   those that another class may take from it).
//! * *Discriminatory*: |A ∩ B| ≥ |A| + |B| − |box|, where A are the points of which some combination
//!   gets c, Σ_i G_i > −max_a K_a, and B those of which some combination gets another class.

use pulp::{Simd, WithSimd};

use probity_nn::{Classifier, ModelError, Rows, dispatch};

use super::count::{COUNT_ERROR, CountedSum, Counter, sum};
use super::measure::{Measure, Product, WHOLE};
use super::network::{Ranges, SumNetwork};
use super::relaxation::{LeadBound, Relaxation};
use crate::domain::{Domain, TabularDomain};

/// Largest number of rows of a box that are all asked about.
const MOST_ASKED: u64 = 2_048;

/// The share of how far apart the bounds are on average that rounding to steps may lose.
const ROUNDING_SHARE: f64 = 0.1;

/// The least and the largest number of steps of a box.
const STEPS: [f64; 2] = [64.0, 4096.0];

/// The proven counts of a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// The number of points of the box, or no less than their weight.
    pub points: u128,
    /// The fair points at least.
    pub fair: u128,
    /// The discriminatory points at least.
    pub discriminatory: u128,
    /// The attribute to split the box at.
    pub split: Option<u16>,
}

impl Verdict {
    /// The points that are neither proved to be fair nor to be discriminatory.
    pub fn undecided(&self) -> u128 {
        self.points - self.fair - self.discriminatory
    }
}

/// Decides boxes.
pub struct Decider<'a> {
    network: &'a SumNetwork,
    measure: &'a Measure,
    model: &'a dyn Classifier,
    domain: &'a TabularDomain,
}

impl<'a> Decider<'a> {
    /// A decider for `network`, which is `model` on `domain`.
    pub fn new(
        network: &'a SumNetwork,
        measure: &'a Measure,
        model: &'a dyn Classifier,
        domain: &'a TabularDomain,
    ) -> Decider<'a> {
        Decider {
            network,
            measure,
            model,
            domain,
        }
    }

    /// The verdict on the rows in `ranges`.
    ///
    /// # Errors
    /// When the model cannot answer.
    pub fn decide(&self, ranges: &Ranges, counter: &mut Counter) -> Result<Verdict, ModelError> {
        let points = points(ranges);
        if self.network.ignores_protected() {
            let weight = self.weight(ranges, points);
            return Ok(Verdict {
                points: weight,
                fair: weight,
                discriminatory: 0,
                split: None,
            });
        }
        if points * self.network.combinations as u128 <= u128::from(MOST_ASKED) {
            return self.ask(ranges, points);
        }
        Ok(self.bounded(ranges, points, counter))
    }

    /// The verdict that bounds alone give on the rows in `ranges`, which have `points` points.
    pub(super) fn bounded(&self, ranges: &Ranges, points: u128, counter: &mut Counter) -> Verdict {
        dispatch(Bound {
            decider: self,
            ranges,
            points,
            counter,
        })
    }

    /// The weight of the points in `ranges`, which has `points` of them; no less than it is.
    pub(super) fn weight(&self, ranges: &Ranges, points: u128) -> u128 {
        match self.measure.weight(ranges) {
            None => points,
            Some(share) => ((share * (1.0 + COUNT_ERROR)).min(1.0) * WHOLE as f64).ceil() as u128,
        }
    }

    /// A count as a whole number that is not above it; `points` are all that there could be.
    fn whole(&self, count: f64, points: u128) -> u128 {
        match self.measure {
            Measure::Points if points < 1 << 53 => count as u128,
            Measure::Points => ((count * (1.0 - COUNT_ERROR)).floor() as u128).min(points),
            Measure::Mixture(_) => (count * (1.0 - COUNT_ERROR) * WHOLE as f64).floor() as u128,
        }
    }

    #[inline(always)]
    fn bound(&self, ranges: &Ranges, points: u128, counter: &mut Counter) -> Verdict {
        let classes = self.network.classes();
        let weight = self.weight(ranges, points);
        let products = self.measure.heaviest(ranges);
        let mut relaxation = Relaxation::new(self.network, ranges);
        let mut tally = Tally::new(classes, weight);
        let mut gains = vec![0.0; ranges.len()];
        let mut spread = vec![0.0; ranges.len()];
        for one in 1..classes {
            for other in 0..one {
                let leads = relaxation.leads(one, other);
                let products = products.as_ref().map(|products| {
                    let products = products.iter();
                    let within =
                        products.map(|product| InBlocks::new(product, ranges, &leads.blocks));
                    within.collect::<Vec<InBlocks>>()
                });
                let extents = [Extent::new(&leads.bounds[0]), Extent::new(&leads.bounds[1])];
                let step = step(&extents);
                for (place, gain) in gains.iter_mut().enumerate() {
                    *gain += leads.gains[place];
                    spread[place] += leads.spans[place];
                }
                for (bound, (winner, loser)) in
                    leads.bounds.iter().zip([(one, other), (other, one)])
                {
                    let measured = (ranges, products.as_deref());
                    let counts = self.count(measured, (bound, leads.error), step, counter);
                    let counts = counts.map(|count| self.whole(count, points).min(weight));
                    tally.add(winner, loser, counts);
                }
            }
        }
        let (fair, discriminatory) = tally.close();
        let is_open = |place: &usize| ranges[*place][0] < ranges[*place][1];
        let of_all = || (0..ranges.len()).filter(is_open);
        let best = |values: &[f64]| {
            of_all().max_by(|&a, &b| values[a].total_cmp(&values[b]).then(b.cmp(&a)))
        };
        let split = match best(&gains) {
            Some(place) if gains[place] > 0.0 => Some(place),
            _ => best(&spread),
        };
        Verdict {
            points: weight,
            fair,
            discriminatory,
            split: split.map(|place| place as u16),
        }
    }

    /// Counts the points on which `bound` is above 0 by more than `error`, under all protected
    /// combinations and under the one for which it is largest; where they are weighted, by
    /// `products`.
    #[inline(always)]
    fn count(
        &self,
        (ranges, products): (&Ranges, Option<&[InBlocks]>),
        (bound, error): (&LeadBound, f64),
        step: f64,
        counter: &mut Counter,
    ) -> [f64; 2] {
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        for &constant in &bound.constants {
            least = least.min(constant);
            most = most.max(constant);
        }
        let thresholds = [error - least, error - most];
        let tables = &bound.tables;
        let Some(products) = products else {
            let counted = CountedSum {
                tables,
                weights: None,
                step,
            };
            return counter.above(&counted, thresholds);
        };
        match sides(tables, thresholds) {
            Some(true) => return [self.measure.weight(ranges).unwrap_or_default(); 2],
            Some(false) => return [0.0; 2],
            None => {}
        }
        let mut sums = [0.0; 2];
        for product in products {
            let counted = CountedSum {
                tables,
                weights: Some(&product.weights),
                step,
            };
            let own = counter.above(&counted, thresholds);
            for (sum, own) in sums.iter_mut().zip(own) {
                *sum += product.weight * own;
            }
        }
        sums
    }

    /// Asks the model about every row of a small box.
    fn ask(&self, ranges: &Ranges, points: u128) -> Result<Verdict, ModelError> {
        let combinations = self.network.combinations;
        let mut rows = Vec::new();
        let mut shares = Vec::new();
        let mut positions: Vec<u32> = ranges.iter().map(|range| range[0]).collect();
        loop {
            let row = self.network.row(&positions);
            for combination in 0..combinations {
                self.domain.write_variant(&row, combination, &mut rows);
            }
            let point: Ranges = positions.iter().map(|&at| [at, at]).collect();
            shares.extend(self.measure.weight(&point));
            if !advance(&mut positions, ranges) {
                break;
            }
        }
        let classes = self.network.classes();
        let logits = self.model.logits(Rows::new(&rows, self.model.width()))?;
        let same = logits.chunks_exact(classes * combinations).map(|logits| {
            let mut decided = logits
                .chunks_exact(classes)
                .map(probity_nn::predicted_class);
            let first = decided.next();
            decided.all(|class| Some(class) == first)
        });
        let weight = self.weight(ranges, points);
        let (mut counts, mut weights) = ([0u128; 2], [0f64; 2]);
        for (place, is_same) in same.enumerate() {
            counts[usize::from(!is_same)] += 1;
            weights[usize::from(!is_same)] += shares.get(place).copied().unwrap_or_default();
        }
        let [fair, discriminatory] = match self.measure {
            Measure::Points => counts,
            Measure::Mixture(_) => weights.map(|own| self.whole(own, points)),
        };
        Ok(Verdict {
            points: weight,
            fair,
            discriminatory,
            split: None,
        })
    }
}

/// [`Decider::bound`], compiled for the vectors of the machine. A closure would not be: what is called
/// from several places is not inlined, and so keeps to the vectors that every machine has.
struct Bound<'d, 'n> {
    decider: &'d Decider<'n>,
    ranges: &'d Ranges,
    points: u128,
    counter: &'d mut Counter,
}

impl WithSimd for Bound<'_, '_> {
    type Output = Verdict;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Verdict {
        self.decider.bound(self.ranges, self.points, self.counter)
    }
}

/// The number of points that `ranges` have.
pub(super) fn points(ranges: &Ranges) -> u128 {
    let lengths = ranges.iter();
    lengths
        .map(|[first, last]| u128::from(last - first) + 1)
        .product()
}

/// Goes on to the next point of `ranges`; returns whether there is one.
pub(super) fn advance(positions: &mut [u32], ranges: &Ranges) -> bool {
    for (position, range) in positions.iter_mut().zip(ranges).rev() {
        if *position < range[1] {
            *position += 1;
            return true;
        }
        *position = range[0];
    }
    false
}

/// A product within a box, by the blocks of attributes that bounds are sums over.
struct InBlocks {
    /// The share of the product in the mixture.
    weight: f64,
    /// The weight of every combination of positions of each block, the first attribute's fastest.
    weights: Vec<Vec<f64>>,
}

impl InBlocks {
    fn new(product: &Product, ranges: &Ranges, blocks: &[Vec<usize>]) -> InBlocks {
        let of_block = |block: &Vec<usize>| {
            block.iter().fold(vec![1.0], |weights, &place| {
                let [first, last] = ranges[place].map(|position| position as usize);
                let own = product.shares[place][first..=last].iter();
                own.flat_map(|share| weights.iter().map(move |weight| weight * share))
                    .collect()
            })
        };
        InBlocks {
            weight: product.weight,
            weights: blocks.iter().map(of_block).collect(),
        }
    }
}

/// Whether the sums of all points are above all of `thresholds`, or at or below them; nothing where
/// some may be either.
#[inline(always)]
fn sides(tables: &[Vec<f64>], thresholds: [f64; 2]) -> Option<bool> {
    let (mut least, mut most, mut size) = (0.0, 0.0, 0.0);
    for table in tables {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for &value in table {
            low = if value < low { value } else { low };
            high = if value > high { value } else { high };
        }
        (least, most) = (least + low, most + high);
        size += low.abs().max(high.abs());
    }
    // Far more than the sums of these f64 may err by.
    let error = 1e-12 * size;
    let [a, b] = thresholds;
    if least - error > a.max(b) {
        return Some(true);
    }
    (most + error < a.min(b)).then_some(false)
}

/// The size of the values of a bound.
struct Extent {
    /// The mean over the box and the protected combinations.
    mean: f64,
    /// The distance of the least and the largest value of each block.
    spans: Vec<f64>,
}

impl Extent {
    #[inline(always)]
    fn new(bound: &LeadBound) -> Extent {
        let mut extent = Extent {
            mean: sum(&bound.constants) / bound.constants.len() as f64,
            spans: Vec::with_capacity(bound.tables.len()),
        };
        for table in &bound.tables {
            extent.mean += sum(table) / table.len() as f64;
            let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
            for &value in table {
                least = if value < least { value } else { least };
                most = if value > most { value } else { most };
            }
            extent.spans.push(most - least);
        }
        extent
    }
}

/// The width of a step: a small part of how far apart the bounds of a lead are.
#[inline(always)]
fn step(extents: &[Extent; 2]) -> f64 {
    let gap = -(extents[0].mean + extents[1].mean);
    let whole = sum(&extents[0].spans).max(sum(&extents[1].spans));
    let mut open = 0.0f64;
    for span in &extents[0].spans {
        open += f64::from(u8::from(*span > 0.0));
    }
    let step = (ROUNDING_SHARE * gap / open.max(1.0)).clamp(whole / STEPS[1], whole / STEPS[0]);
    if step > 0.0 && step.is_finite() {
        step
    } else {
        1.0
    }
}

/// The joint result of the pairs of classes.
struct Tally {
    points: u128,
    classes: usize,
    /// The points that each class may not get: under some combination, and under that which suits
    /// it best.
    lost: Vec<[u128; 2]>,
    /// The points for which some combination gets another class than this one for certain, for each
    /// class.
    taken: Vec<u128>,
}

impl Tally {
    fn new(classes: usize, points: u128) -> Tally {
        Tally {
            points,
            classes,
            lost: vec![[0; 2]; classes],
            taken: vec![0; classes],
        }
    }

    /// Adds the result that class `winner` leads class `loser` on these numbers of points under all
    /// combinations and under some one.
    fn add(&mut self, winner: usize, loser: usize, [always, sometimes]: [u128; 2]) {
        self.lost[winner][0] += self.points - always;
        self.lost[winner][1] += self.points - sometimes;
        self.taken[loser] = self.taken[loser].max(sometimes);
    }

    /// The fair and discriminatory points at least.
    fn close(&self) -> (u128, u128) {
        let left = |lost: u128| self.points.saturating_sub(lost);
        let fair: u128 = self.lost.iter().map(|lost| left(lost[0])).sum();
        // Of more than two classes the combinations that suit a class against each of the others may
        // differ, so that no one of them need get it.
        let place = usize::from(self.classes == 2);
        let pairs = self.lost.iter().zip(&self.taken);
        let both =
            pairs.map(|(lost, taken)| (left(lost[place]) + taken).saturating_sub(self.points));
        let fair = fair.min(self.points);
        (fair, both.max().unwrap_or(0).min(self.points - fair))
    }
}
