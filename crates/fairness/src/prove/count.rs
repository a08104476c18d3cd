//! Counts, from below, the points of a box that have a sum above a threshold.
//!
//! The sum of independent attributes is distributed as the convolution of what each of them adds. It
//! is counted in steps: every contribution is rounded down to a whole number of them, from an origin
//! of its own attribute, so that a sum of steps is never above the sum that it stands for, and who is
//! counted is above the threshold. Two things make it fast:
//! * Only steps from which a threshold can still be reached, or missed, are kept; what is above all of
//!   them is counted at once.
//! * The attribute with most values comes last: of it no convolution is made, but a product with its
//!   cumulative count for each threshold.
//!
//! Counts are whole numbers held in f64, exact below 2⁵³; beyond that, and where points are weighted,
//! they err by less than [`COUNT_ERROR`] of themselves.

use super::relaxation::dot;

/// The error that counts beyond 2⁵³ may have, as a share: some hundred thousand sums and products
/// of numbers that are not negative, at 1.2·10⁻¹⁶ each.
pub const COUNT_ERROR: f64 = 1e-10;

/// Largest number of values of an attribute that are put in order one by one.
const SORTED: usize = 64;

/// Largest number of values of an attribute for which the origin is chosen that loses least.
const FEW: usize = 8;

/// Number of outputs of a convolution that are summed side by side.
const TILE: usize = 16;

/// The contributions of an attribute: how many steps, and how much weight; ascending.
type Part = Vec<(usize, f64)>;

/// The memory that counting uses.
#[derive(Debug, Clone, Default)]
pub struct Counter {
    now: Vec<f64>,
    padded: Vec<f64>,
    /// Attributes in steps: the first of `parts` that `order` names.
    parts: Vec<Part>,
    order: Vec<usize>,
}

/// The sum that is counted.
pub struct CountedSum<'a> {
    /// The contribution of each value of each attribute.
    pub tables: &'a [Vec<f64>],
    /// The weight of each value of each attribute; 1 where nothing is said.
    pub weights: Option<&'a [Vec<f64>]>,
    /// The width of a step.
    pub step: f64,
}

/// The figures of the attributes in steps.
#[derive(Debug, Clone, Copy)]
struct InSteps {
    /// The sum of the origins of the attributes.
    origin: f64,
    /// The weight of all points.
    total: f64,
    /// The size of the largest sum.
    size: f64,
}

impl Counter {
    /// A lower bound, for each of `thresholds`, on the weight of the points whose sum is above it.
    #[inline(always)]
    pub fn above<const N: usize>(
        &mut self,
        counted: &CountedSum<'_>,
        thresholds: [f64; N],
    ) -> [f64; N] {
        let InSteps {
            mut origin,
            total: whole,
            size,
        } = self.lay(counted);
        if whole <= 0.0 {
            return [0.0; N];
        }
        // What f64 may have lost in rounding down and in adding origins.
        let attributes = counted.tables.len() as f64 + 1.0;
        origin -= attributes * (1e-9 * counted.step + 4e-16 * size);
        let parts = std::mem::take(&mut self.parts);
        let order = std::mem::take(&mut self.order);
        // Points are above a threshold from so many steps on.
        let mut needed = [0.0; N];
        for (needed, threshold) in needed.iter_mut().zip(thresholds) {
            *needed = ((threshold - origin) / counted.step).floor() + 1.0;
        }
        let reached = self.reaching(&parts, &order, whole, needed);
        (self.parts, self.order) = (parts, order);
        reached
    }

    /// The weight of the points from each number of steps on, of the parts that `order` names; the
    /// last of them is not convolved.
    #[inline(always)]
    fn reaching<const N: usize>(
        &mut self,
        parts: &[Part],
        order: &[usize],
        whole: f64,
        steps: [f64; N],
    ) -> [f64; N] {
        let mut reach = 0;
        for &place in order {
            reach += most(&parts[place]) as i64;
        }
        // Beyond the reach no point is.
        let mut needed = [0; N];
        let (mut least, mut sure) = (i64::MAX, 0);
        for (needed, steps) in needed.iter_mut().zip(steps) {
            *needed = steps.clamp(0.0, (reach + 1) as f64) as i64;
            least = least.min(*needed);
            sure = sure.max(*needed);
        }
        if least > reach {
            return [0.0; N];
        }
        if sure <= 0 {
            return [whole; N];
        }
        let Some((&last, order)) = order.split_last() else {
            return [0.0; N];
        };
        let (mut counts, mut total) = (0.0, whole);
        let (mut first, mut left) = (0i64, reach);
        self.now.clear();
        self.now.push(1.0);
        for &place in order {
            let part = &parts[place];
            left -= most(part) as i64;
            let mut weight = 0.0;
            for value in part {
                weight += value.1;
            }
            total /= weight;
            counts += total * self.certain(part, sure - first);
            let end = (first + (self.now.len() + most(part)) as i64).min(sure);
            let begin = (least - left).max(first);
            if end <= begin {
                return [counts; N];
            }
            self.convolve(part, (begin - first) as usize, (end - begin) as usize);
            first = begin;
        }
        let mut reached = self.reached(&parts[last], needed, (least, sure), first);
        for reached in &mut reached {
            *reached += counts;
        }
        reached
    }

    /// Lays the attributes out in steps.
    #[inline(always)]
    fn lay(&mut self, counted: &CountedSum<'_>) -> InSteps {
        let mut in_steps = InSteps {
            origin: 0.0,
            total: 1.0,
            size: 0.0,
        };
        self.parts.resize(counted.tables.len(), Part::new());
        for (place, table) in counted.tables.iter().enumerate() {
            let weights = counted.weights.map(|weights| &weights[place][..]);
            in_steps.origin += self.round(table, weights, counted.step, place);
            in_steps.total *= match weights {
                None => table.len() as f64,
                Some(weights) => sum(weights),
            };
            let mut size = 0.0;
            for value in table {
                let own = value.abs();
                size = if own > size { own } else { size };
            }
            in_steps.size += size;
        }
        let (order, parts) = (&mut self.order, &self.parts);
        order.clear();
        order.extend(0..parts.len());
        order.sort_unstable_by_key(|&place| (most(&parts[place]), parts[place].len(), place));
        // The one with most values comes last.
        let mut widest = 0;
        for (at, &place) in order.iter().enumerate() {
            if parts[place].len() >= parts[order[widest]].len() {
                widest = at;
            }
        }
        order[widest..].rotate_left(1);
        in_steps
    }

    /// Lays `values` out as part `place`, in steps that are not above them; returns the origin from
    /// which they count.
    #[inline(always)]
    fn round(&mut self, values: &[f64], weights: Option<&[f64]>, step: f64, place: usize) -> f64 {
        let steps = 1.0 / step;
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        for &value in values {
            least = if value < least { value } else { least };
            most = if value > most { value } else { most };
        }
        let origin = match values.len() <= FEW {
            true => least_lost(values, least, steps),
            false => least,
        };
        let below = ((least - origin) * steps).floor();
        let part = &mut self.parts[place];
        part.clear();
        let weight_of = |at: usize| match weights {
            None => 1.0,
            Some(weights) => weights[at],
        };
        if values.len() > SORTED {
            let length = (((most - origin) * steps).floor() - below) as usize + 1;
            self.padded.clear();
            self.padded.resize(length, 0.0);
            for (at, value) in values.iter().enumerate() {
                let step = (((value - origin) * steps).floor() - below) as usize;
                self.padded[step] += weight_of(at);
            }
            for (step, &weight) in self.padded.iter().enumerate() {
                if weight > 0.0 {
                    part.push((step, weight));
                }
            }
        } else {
            for (at, value) in values.iter().enumerate() {
                let step = (((value - origin) * steps).floor() - below) as usize;
                let mut end = part.len();
                while end > 0 && part[end - 1].0 > step {
                    end -= 1;
                }
                match end.checked_sub(1) {
                    Some(same) if part[same].0 == step => part[same].1 += weight_of(at),
                    _ => part.insert(end, (step, weight_of(at))),
                }
            }
        }
        origin + below * step
    }

    /// The weight that `part` moves to `bound` and beyond.
    #[inline(always)]
    fn certain(&self, part: &Part, bound: i64) -> f64 {
        let now = &self.now;
        let (mut counted, mut weight, mut end) = (0.0, 0.0, now.len());
        for &(steps, own) in part {
            let begin = (bound - steps as i64).clamp(0, end as i64) as usize;
            weight += sum(&now[begin..end]);
            end = begin;
            counted += own * weight;
        }
        counted
    }

    /// Adds `part` to the steps that are there, and keeps `length` steps from `begin` on.
    #[inline(always)]
    fn convolve(&mut self, part: &Part, begin: usize, length: usize) {
        let most = most(part);
        let (now, padded) = (&mut self.now, &mut self.padded);
        let tiled = length.next_multiple_of(TILE);
        padded.clear();
        padded.resize(most, 0.0);
        padded.extend_from_slice(now);
        padded.resize((most + begin + tiled).max(padded.len()), 0.0);
        now.clear();
        now.resize(tiled, 0.0);
        for (tile, out) in now.chunks_exact_mut(TILE).enumerate() {
            let at = begin + tile * TILE + most;
            let mut sums = [0.0; TILE];
            for &(steps, weight) in part {
                if let Some(values) = padded.get(at - steps..at - steps + TILE) {
                    for lane in 0..TILE {
                        sums[lane] += weight * values[lane];
                    }
                }
            }
            out.copy_from_slice(&sums);
        }
        now.truncate(length);
    }

    /// The weight of the points that reach each of `needed` with the last attribute; the steps that
    /// are there begin at `first`.
    #[inline(always)]
    fn reached<const N: usize>(
        &mut self,
        last: &Part,
        needed: [i64; N],
        (least, most): (i64, i64),
        first: i64,
    ) -> [f64; N] {
        let (now, tails) = (&self.now, &mut self.padded);
        // tails[i]: the weight of the values that add most − first − i steps or more.
        let (top, length) = (most - first, (most - least) as usize + now.len());
        tails.clear();
        tails.resize(length, 0.0);
        let (mut place, mut tail, mut at) = (last.len(), 0.0, 0);
        while at < length {
            while place > 0 && last[place - 1].0 as i64 >= top - at as i64 {
                place -= 1;
                tail += last[place].1;
            }
            let until = match place {
                0 => length,
                _ => ((top - last[place - 1].0 as i64) as usize).clamp(at + 1, length),
            };
            tails[at..until].fill(tail);
            at = until;
        }
        let mut reached = [0.0; N];
        for (reached, needed) in reached.iter_mut().zip(needed) {
            *reached = dot(now, &tails[(most - needed) as usize..][..now.len()]);
        }
        reached
    }
}

/// The steps that the largest value of `part` adds.
#[inline(always)]
fn most(part: &Part) -> usize {
    match part.last() {
        Some(last) => last.0,
        None => 0,
    }
}

/// The origin among few values from which least is lost by rounding down.
#[inline(always)]
fn least_lost(values: &[f64], least: f64, steps: f64) -> f64 {
    let mut above = [0.0; FEW];
    for (above, value) in above.iter_mut().zip(values) {
        *above = (value - least) * steps;
    }
    let (mut origin, mut best) = (least, f64::INFINITY);
    for (own, &value) in above.iter().zip(values) {
        let mut lost = 0.0;
        for (above, _) in above.iter().zip(values) {
            let above = above - own;
            lost += above - above.floor();
        }
        if lost < best {
            (best, origin) = (lost, value);
        }
    }
    origin
}

/// The sum of `values`, made of sixteen sums, whose order does not depend on how wide registers
/// are.
#[inline(always)]
pub(super) fn sum(values: &[f64]) -> f64 {
    let (tiles, rest) = values.as_chunks::<TILE>();
    let mut sums = [0.0; TILE];
    for tile in tiles {
        for lane in 0..TILE {
            sums[lane] += tile[lane];
        }
    }
    let mut all = 0.0;
    for sum in &sums {
        all += sum;
    }
    for value in rest {
        all += value;
    }
    all
}
