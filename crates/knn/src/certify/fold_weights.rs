//! The weight of one row in the mean error, in integers that err on the side of the weaker bound.

/// Upper limit of the scale; weights then stay within i64 for any T that fits in memory.
const SCALE_LIMIT: u64 = 1 << 32;
/// A number that 1 to 8 divide, so that small costs divide a share without rounding.
const COSTS: u64 = 840;

/// For each fold, 1/|G_j \ R| in integer units, rounded down and up, and the factor of the
/// correction.
#[derive(Debug, Clone)]
pub(crate) struct FoldWeights {
    pub(crate) low: Vec<i64>,
    pub(crate) high: Vec<i64>,
    pub(crate) bend: Vec<i64>,
}

impl FoldWeights {
    pub(crate) fn new(remaining: &[u32], budget: usize) -> Self {
        let mut base = COSTS;
        for &size in remaining.iter().filter(|&&size| size > 0) {
            let size = u64::from(size);
            let next = base / gcd(base, size) * size;
            if next > SCALE_LIMIT {
                base = 1;
                break;
            }
            base = next;
        }
        let scale = SCALE_LIMIT / base * base;
        let mut shares = Self {
            low: Vec::new(),
            high: Vec::new(),
            bend: Vec::new(),
        };
        for &size in remaining {
            let size = u64::from(size.max(1));
            let smallest = size - (budget as u64).min(size - 1);
            shares.low.push((scale / size) as i64);
            shares.high.push(scale.div_ceil(size) as i64);
            shares
                .bend
                .push(scale.div_ceil(size).div_ceil(smallest) as i64);
        }
        shares
    }

    /// Returns a lower bound on `difference` / |G_j|.
    pub(crate) fn at_least(&self, fold: usize, difference: i64) -> i64 {
        if difference >= 0 {
            difference * self.low[fold]
        } else {
            difference * self.high[fold]
        }
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
