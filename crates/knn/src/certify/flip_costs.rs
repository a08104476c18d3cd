//! The flips of votes that removals may cause, and the rows that pay for them.
//!
//! A row gains for K against M by flips of its votes and, where it is wrong at K alone, by its own
//! removal. Each gain is paid for in full by the removed rows that cause it, whichever these are:
//! evenly, or as is cheapest for a given fractional removal.

/// A flip of the vote of one row, at K or at M, that removals may cause: the rows that flip it
/// alone, and the rows that flip it together.
#[derive(Debug, Clone, Copy, Default)]
struct Flip {
    start: u32,
    /// The end of the rows that each flip the vote alone.
    alone: u32,
    /// The end of the rows of which `cost` together flip the vote.
    end: u32,
    cost: u32,
}

impl Flip {
    /// Returns what each of the rows of which `cost` are needed pays, where `spared` of them pay
    /// nothing.
    fn part(&self, share: i64, spared: usize) -> i64 {
        (share as u64).div_ceil(u64::from(self.cost) - spared as u64) as i64
    }
}

/// A row that can gain: by its own removal, and by its flips.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Item {
    share: i64,
    /// The row, if its removal alone gains a share; else `NOBODY`.
    direct: u32,
    first: u32,
    flips: u32,
}

const NOBODY: u32 = u32::MAX;

/// Rows that can gain, with their flips.
#[derive(Debug, Clone, Default)]
pub(crate) struct FlipCosts {
    items: Vec<Item>,
    flips: Vec<Flip>,
    rows: Vec<u32>,
}

impl FlipCosts {
    /// Forgets all rows.
    pub(crate) fn clear(&mut self) {
        self.items.clear();
        self.flips.clear();
        self.rows.clear();
    }

    /// The rows that can gain.
    pub(crate) fn items(&self) -> &[Item] {
        &self.items
    }

    /// Adds the rows of `other`.
    pub(crate) fn append(&mut self, other: &Self) {
        let (first, start) = (self.flips.len() as u32, self.rows.len() as u32);
        self.items.extend(other.items.iter().map(|item| Item {
            first: item.first + first,
            ..*item
        }));
        self.flips.extend(other.flips.iter().map(|flip| Flip {
            start: flip.start + start,
            alone: flip.alone + start,
            end: flip.end + start,
            cost: flip.cost,
        }));
        self.rows.extend(&other.rows);
    }

    /// Adds a row, whose flips follow; `direct` if its own removal gains a share too.
    pub(crate) fn item(&mut self, row: usize, share: i64, direct: bool) {
        self.items.push(Item {
            share,
            direct: if direct { row as u32 } else { NOBODY },
            first: self.flips.len() as u32,
            flips: 0,
        });
    }

    /// Adds a flip to the latest row.
    pub(crate) fn flip(&mut self) {
        let start = self.rows.len() as u32;
        self.flips.push(Flip {
            start,
            alone: start,
            end: start,
            cost: 1,
        });
        if let Some(item) = self.items.last_mut() {
            item.flips += 1;
        }
    }

    /// Adds a row that makes the latest flip alone; called before any `together`.
    pub(crate) fn alone(&mut self, row: u32) {
        self.rows.push(row);
        if let Some(flip) = self.flips.last_mut() {
            flip.alone = self.rows.len() as u32;
            flip.end = flip.alone;
        }
    }

    /// Adds rows of which `cost` together make the latest flip.
    pub(crate) fn together(&mut self, rows: impl Iterator<Item = u32>, cost: usize) {
        self.rows.extend(rows);
        if let Some(flip) = self.flips.last_mut() {
            flip.end = self.rows.len() as u32;
            flip.cost = cost as u32;
        }
    }

    /// Charges one row's gains; returns the constant that is charged to the slack.
    pub(crate) fn pay_least(
        &self,
        item: &Item,
        fraction: &[f32],
        weights: &mut [i64],
        order: &mut Vec<u32>,
    ) -> i64 {
        let flips = self.flips_of(item);
        let prices: [(f32, usize); 2] = [0, 1].map(|at| {
            flips
                .get(at)
                .map_or((0.0, 0), |flip| self.price(flip, fraction, order))
        });
        let own = fraction.get(item.direct as usize).copied();
        // Which flips a constant pays for.
        let mut capped = [prices[0].0 > 1.0, prices[1].0 > 1.0];
        let mut direct = own.is_some();
        if let Some(own) = own {
            // The removal of the row itself goes with the flip that is dearest.
            let dearest = usize::from(prices[1].0 > prices[0].0);
            if own + prices[dearest].0 > 1.0 {
                capped[dearest] = true;
                direct = false;
            }
        }
        for (at, flip) in flips.iter().enumerate() {
            if !capped[at] {
                self.pay_flip(flip, item.share, prices[at].1, |row, part| {
                    weights[row as usize] += part;
                });
                self.refund(flip, item.share, prices[at].1, fraction, weights, order);
            }
        }
        if direct {
            weights[item.direct as usize] += item.share;
        }
        capped.iter().filter(|&&capped| capped).count() as i64 * item.share
    }

    /// Returns what a flip costs at the given fractions, and how many rows are best spared.
    fn price(&self, flip: &Flip, fraction: &[f32], order: &mut Vec<u32>) -> (f32, usize) {
        let part_of = |&row: &u32| fraction[row as usize];
        let alone: f32 = self.rows[flip.start as usize..flip.alone as usize]
            .iter()
            .map(part_of)
            .sum();
        let group = self.group(flip);
        let mut rest: f32 = group.iter().map(part_of).sum();
        if rest <= 0.0 {
            return (alone, 0);
        }
        let cost = flip.cost as usize;
        let mut least = rest / cost as f32;
        let mut spared = 0;
        if cost > 1 {
            most_removed(group, fraction, order);
            for (count, row) in (1..cost).zip(order.iter()) {
                rest -= fraction[*row as usize];
                let price = rest.max(0.0) / (cost - count) as f32;
                if price < least - 1e-6 {
                    least = price;
                    spared = count;
                }
            }
        }
        (alone + least, spared)
    }

    /// Charges one row's gains evenly: all rows of which a flip takes some pay alike.
    pub(crate) fn pay_evenly(&self, item: &Item, mut pay: impl FnMut(u32, i64)) {
        for flip in self.flips_of(item) {
            self.pay_flip(flip, item.share, 0, &mut pay);
        }
        if item.direct != NOBODY {
            pay(item.direct, item.share);
        }
    }

    /// Lets all rows of a flip pay for it as if `spared` of those of which some are needed did not
    /// pay.
    fn pay_flip(&self, flip: &Flip, share: i64, spared: usize, mut pay: impl FnMut(u32, i64)) {
        for &row in &self.rows[flip.start as usize..flip.alone as usize] {
            pay(row, share);
        }
        let part = flip.part(share, spared);
        for &row in self.group(flip) {
            pay(row, part);
        }
    }

    /// Takes back what the `spared` rows of a flip paid: those most likely removed.
    fn refund(
        &self,
        flip: &Flip,
        share: i64,
        spared: usize,
        fraction: &[f32],
        weights: &mut [i64],
        order: &mut Vec<u32>,
    ) {
        if spared > 0 {
            most_removed(self.group(flip), fraction, order);
            for &row in &order[..spared] {
                weights[row as usize] -= flip.part(share, spared);
            }
        }
    }

    fn group(&self, flip: &Flip) -> &[u32] {
        &self.rows[flip.alone as usize..flip.end as usize]
    }

    fn flips_of(&self, item: &Item) -> &[Flip] {
        &self.flips[item.first as usize..(item.first + item.flips) as usize]
    }
}

/// The rows of `group` in `order`, those with the largest fractions first, ties as they stand; rows
/// of no fraction last.
fn most_removed(group: &[u32], fraction: &[f32], order: &mut Vec<u32>) {
    order.clear();
    let part_of = |row: &u32| fraction[*row as usize];
    order.extend(group.iter().filter(|row| part_of(row) > 0.0));
    order.sort_by(|a, b| part_of(b).total_cmp(&part_of(a)));
    order.extend(group.iter().filter(|row| part_of(row) <= 0.0));
}
