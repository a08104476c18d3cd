//! Products of small matrices, which are most of the work of networks with several hidden layers.

/// The number that rows are a multiple of.
pub(super) const LANES: usize = 4;

/// Number of columns that are summed side by side.
const COLUMNS: usize = 4;

/// A matrix `[neurons, columns]`, of which some neurons' lines are used.
pub(super) struct Lined<'a> {
    pub values: &'a [f64],
    pub columns: usize,
    pub kept: &'a [usize],
}

/// The product `out[columns, rows]` = Σ_i `left[i, rows]`·`right[kept[i], columns]`, each sum in
/// the order of i, so that its bits do not depend on how wide registers are.
#[inline(always)]
pub(super) fn product(left: &[f64], rows: usize, right: &Lined<'_>, out: &mut Vec<f64>) {
    let columns = right.columns;
    out.clear();
    out.resize(columns * rows, 0.0);
    let mut row = 0;
    while row + 2 * LANES <= rows {
        strip::<{ 2 * LANES }>(left, (rows, row), right, out);
        row += 2 * LANES;
    }
    while row < rows {
        strip::<LANES>(left, (rows, row), right, out);
        row += LANES;
    }
}

/// The part of `R` rows from `row` on.
#[inline(always)]
fn strip<const R: usize>(
    left: &[f64],
    (rows, row): (usize, usize),
    right: &Lined<'_>,
    out: &mut [f64],
) {
    let mut column = 0;
    while column + COLUMNS <= right.columns {
        let sums = tile::<R, COLUMNS>(left, (rows, row), right, column);
        for (place, sums) in sums.iter().enumerate() {
            out[(column + place) * rows + row..][..R].copy_from_slice(sums);
        }
        column += COLUMNS;
    }
    while column < right.columns {
        let [sums] = tile::<R, 1>(left, (rows, row), right, column);
        out[column * rows + row..][..R].copy_from_slice(&sums);
        column += 1;
    }
}

#[inline(always)]
fn tile<const R: usize, const C: usize>(
    left: &[f64],
    (rows, row): (usize, usize),
    right: &Lined<'_>,
    column: usize,
) -> [[f64; R]; C] {
    let mut sums = [[0.0; R]; C];
    for (left, &neuron) in left.chunks_exact(rows).zip(right.kept) {
        let right = &right.values[neuron * right.columns + column..];
        let (Some(left), Some(right)) = (left[row..].first_chunk::<R>(), right.first_chunk::<C>())
        else {
            break;
        };
        for c in 0..C {
            for r in 0..R {
                sums[c][r] += left[r] * right[c];
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_plain_loops() {
        for (inner, rows, columns) in [(0, 4, 3), (1, 4, 1), (7, 12, 9), (5, 20, 4)] {
            let value = |at: usize, by: usize| ((at * 37 + by) % 11) as f64 - 5.0;
            let left: Vec<f64> = (0..inner * rows).map(|at| value(at, 3)).collect();
            let right: Vec<f64> = (0..2 * inner * columns).map(|at| value(at, 7)).collect();
            let kept: Vec<usize> = (0..inner).map(|i| 2 * inner - 1 - i).collect();
            let lined = Lined {
                values: &right,
                columns,
                kept: &kept,
            };
            let mut out = vec![1.0];
            product(&left, rows, &lined, &mut out);
            assert_eq!(out.len(), columns * rows);
            for column in 0..columns {
                for row in 0..rows {
                    let terms = kept.iter().enumerate();
                    let terms =
                        terms.map(|(i, at)| left[i * rows + row] * right[at * columns + column]);
                    assert_eq!(out[column * rows + row], terms.sum::<f64>());
                }
            }
        }
    }
}
