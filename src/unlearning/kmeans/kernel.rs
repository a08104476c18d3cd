//! Approximate products in f32 with a proved bound on their error: the fast part of a pass over the rows.
//!
//! What is decided from them is exact: a row whose nearest centroid the error could change is settled in
//! integers ([`super::assign`]). Products may therefore be summed in any order, on any device.
//!
//! **Error bound.** Coordinates of points and centroids are integers from 0 to 2²⁴, exact in f32, and no
//! term of a product x·c is negative. In a sum whose terms pass through at most p roundings each, the
//! error is at most p u / (1 − p u) times the sum itself (u = 2⁻²⁴; Higham, "Accuracy and Stability of
//! Numerical Algorithms", section 3.1). p is [`roundings`] for [`products`] and [`dot_roundings`] for [`dot`].
//! With |c|² rounded once and one subtraction, s = |c|² − 2 x·c is off by at most
//! (p + 2) u (|c|² + 2 x·c) to first order; [`unit_error`] takes p + 8 and 1 % more for the rest.

/// Rows that are multiplied together.
pub(crate) const TILE_ROWS: usize = 8;
/// Columns that are summed before they are added to the total.
const BLOCK: usize = 64;
/// Lanes of [`dot`].
const DOT_LANES: usize = 32;

/// Roundings that a term of [`products`] passes through at most, for `columns` columns.
pub(crate) fn roundings(columns: usize) -> usize {
    columns.min(BLOCK) + columns.div_ceil(BLOCK)
}

/// Roundings that a term of [`dot`] passes through at most.
pub(crate) fn dot_roundings(columns: usize) -> usize {
    columns / DOT_LANES + 1 + 2 * DOT_LANES
}

/// Runs `work`, which is inlined, with the widest vector instructions of this machine. They change how fast it is,
/// and how a sum is rounded, but no result: see the error bound above.
pub(crate) fn vectorized<R>(work: impl FnOnce() -> R) -> R {
    let widest = pulp::Arch::new();
    #[cfg(target_arch = "x86_64")]
    if matches!(widest, pulp::Arch::Scalar)
        && let Some(avx2) = pulp::x86::V3::try_new()
    {
        return pulp::Simd::vectorize(avx2, work);
    }
    widest.dispatch(work)
}

/// The relative error of s for products of `roundings` roundings.
pub(crate) fn unit_error(roundings: usize) -> f32 {
    (roundings + 8) as f32 * (1.01 / f32::from_bits((127 + 24) << 23))
}

/// Centroids in the order that [`products`] reads them: groups of `L` clusters, a column after the other.
#[derive(Debug, Clone)]
pub(crate) struct Packed<const L: usize> {
    /// `[groups, columns]` of `L` lanes.
    coordinates: Vec<[f32; L]>,
    /// |c|² of each group; infinite for lanes without a cluster.
    norms: Vec<[f32; L]>,
    columns: usize,
    largest: f32,
}

impl<const L: usize> Packed<L> {
    /// Packs `centroids`, `[clusters, columns]`.
    pub(crate) fn new(centroids: &[i32], columns: usize) -> Packed<L> {
        let clusters = centroids.len() / columns;
        let groups = clusters.div_ceil(L);
        let mut coordinates = vec![[0.0; L]; groups * columns];
        let mut norms = vec![[f32::INFINITY; L]; groups];
        let mut largest = 0_f32;
        for (cluster, centroid) in centroids.chunks_exact(columns).enumerate() {
            let (group, lane) = (cluster / L, cluster % L);
            for (column, &coordinate) in centroid.iter().enumerate() {
                coordinates[group * columns + column][lane] = coordinate as f32;
            }
            let norm = super::points::square(centroid) as f32;
            norms[group][lane] = norm;
            largest = largest.max(norm);
        }
        Packed {
            coordinates,
            norms,
            columns,
            largest,
        }
    }

    /// The largest |c|².
    pub(crate) fn largest_norm(&self) -> f32 {
        self.largest
    }
}

/// The nearest and the second nearest centroid of one row, by approximate score |c|² − 2 x·c.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Nearest {
    /// Position of the nearest centroid.
    pub cluster: u32,
    /// Its score.
    pub best: f32,
    /// The score of the next; infinite if there is none.
    pub second: f32,
}

impl Nearest {
    const NONE: Nearest = Nearest {
        cluster: 0,
        best: f32::INFINITY,
        second: f32::INFINITY,
    };

    #[inline(always)]
    fn offer(&mut self, cluster: u32, score: f32) {
        let better = score < self.best;
        let loser = if better { self.best } else { score };
        self.second = if loser < self.second {
            loser
        } else {
            self.second
        };
        self.cluster = if better { cluster } else { self.cluster };
        self.best = if better { score } else { self.best };
    }
}

/// The nearest centroids of up to [`TILE_ROWS`] rows that lie in `tile` (`[TILE_ROWS, columns]`).
#[allow(clippy::needless_range_loop)] // Fixed numbers of rows and lanes, which become registers.
#[inline(always)]
pub(crate) fn products<const L: usize>(
    tile: &[f32],
    packed: &Packed<L>,
    clusters: usize,
) -> [Nearest; TILE_ROWS] {
    let columns = packed.columns;
    let mut nearest = [Nearest::NONE; TILE_ROWS];
    for (group, norms) in packed.norms.iter().enumerate() {
        let coordinates = &packed.coordinates[group * columns..(group + 1) * columns];
        let mut total = [[0.0_f32; L]; TILE_ROWS];
        for start in (0..columns).step_by(BLOCK) {
            let end = (start + BLOCK).min(columns);
            let mut sums = [[0.0_f32; L]; TILE_ROWS];
            let rows: [&[f32]; TILE_ROWS] =
                std::array::from_fn(|row| &tile[row * columns + start..row * columns + end]);
            for (at, lanes) in coordinates[start..end].iter().enumerate() {
                for row in 0..TILE_ROWS {
                    let x = rows[row][at];
                    for lane in 0..L {
                        sums[row][lane] += x * lanes[lane];
                    }
                }
            }
            for row in 0..TILE_ROWS {
                for lane in 0..L {
                    total[row][lane] += sums[row][lane];
                }
            }
        }
        let lanes = L.min(clusters - group * L);
        for row in 0..TILE_ROWS {
            for lane in 0..lanes {
                let score = norms[lane] - 2.0 * total[row][lane];
                nearest[row].offer((group * L + lane) as u32, score);
            }
        }
    }
    nearest
}

/// x·c for one row.
#[allow(clippy::needless_range_loop)] // As above.
#[inline(always)]
pub(crate) fn dot(row: &[i32], centroid: &[f32]) -> f32 {
    let mut sums = [0.0_f32; DOT_LANES];
    let (rows, rest) = row.as_chunks::<DOT_LANES>();
    let (centroids, other) = centroid.as_chunks::<DOT_LANES>();
    for (x, c) in rows.iter().zip(centroids) {
        for lane in 0..DOT_LANES {
            sums[lane] += x[lane] as f32 * c[lane];
        }
    }
    for (lane, (&x, &c)) in rest.iter().zip(other).enumerate() {
        sums[lane] += x as f32 * c;
    }
    sums.iter().sum()
}
