//! Token edits, and the distance of the word vectors along an alignment with the fewest of them.
//!
//! A common beginning and a common end are left out first. That is sound: let both texts start with
//! the token t. An alignment that does not pair these two either leaves both alone (pairing them
//! saves two edits) or pairs one of them with a later token u of the other text, so that the tokens
//! before u are inserted; pairing t with t and inserting u instead costs an edit less if u is not
//! t, and is the same alignment of equal tokens if it is.
//!
//! What is left is aligned by dynamic programming in a band around the diagonal. A band of
//! half-width b holds every alignment of at most b edits; b is doubled until the answer is at most
//! b (Ukkonen 1985).

/// The cost of an alignment: the number of edits, and the sum of squared distances.
type Cost = (usize, f64);

const NONE: Cost = (usize::MAX, f64::INFINITY);

/// Returns the least number of substitutions, insertions and deletions of tokens that make `right`
/// of `left`.
pub fn token_edits<T: Eq>(left: &[T], right: &[T]) -> usize {
    edit_distance(left, right, |_| &[]).0
}

/// Returns the least number of edits, and the least sum, over the alignments with so many edits, of
/// |e - e'|^2 for substituted tokens and |e|^2 for inserted and deleted ones, with `vector` giving
/// e.
pub(super) fn edit_distance<'v, T: Eq>(
    left: &[T],
    right: &[T],
    vector: impl Fn(&T) -> &'v [f32],
) -> Cost {
    let start = left.iter().zip(right).take_while(|(a, b)| a == b).count();
    let (left, right) = (&left[start..], &right[start..]);
    let end = left
        .iter()
        .rev()
        .zip(right.iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let (left, right) = (&left[..left.len() - end], &right[..right.len() - end]);
    let alone = |token: &T| {
        vector(token)
            .iter()
            .map(|&x| f64::from(x) * f64::from(x))
            .sum()
    };
    let lone_left: Vec<f64> = left.iter().map(alone).collect();
    let lone_right: Vec<f64> = right.iter().map(alone).collect();
    let apart = |i: usize, j: usize| {
        let pairs = vector(&left[i]).iter().zip(vector(&right[j]));
        pairs
            .map(|(&a, &b)| (f64::from(a) - f64::from(b)).powi(2))
            .sum::<f64>()
    };
    let mut band = left.len().abs_diff(right.len()).max(1);
    loop {
        let cost = banded(left, right, &lone_left, &lone_right, &apart, band);
        if cost.0 <= band {
            return cost;
        }
        band *= 2;
    }
}

/// Returns the cheapest alignment that stays within `band` of the diagonal.
fn banded<T: Eq>(
    left: &[T],
    right: &[T],
    lone_left: &[f64],
    lone_right: &[f64],
    apart: &impl Fn(usize, usize) -> f64,
    band: usize,
) -> Cost {
    let mut above = vec![NONE; right.len() + 1];
    let mut row = vec![NONE; right.len() + 1];
    for i in 0..=left.len() {
        let columns = i.saturating_sub(band)..=(i + band).min(right.len());
        if let Some(before) = columns.start().checked_sub(1) {
            row[before] = NONE;
        }
        for j in columns {
            let mut best = if i == 0 && j == 0 { (0, 0.0) } else { NONE };
            if i > 0 && j > 0 {
                let same = left[i - 1] == right[j - 1];
                let squared = if same || above[j - 1] == NONE {
                    0.0
                } else {
                    apart(i - 1, j - 1)
                };
                best = cheaper(best, plus(above[j - 1], usize::from(!same), squared));
            }
            if i > 0 {
                best = cheaper(best, plus(above[j], 1, lone_left[i - 1]));
            }
            if j > 0 {
                best = cheaper(best, plus(row[j - 1], 1, lone_right[j - 1]));
            }
            row[j] = best;
        }
        std::mem::swap(&mut above, &mut row);
        row.fill(NONE);
    }
    above[right.len()]
}

fn plus(cost: Cost, edits: usize, squared: f64) -> Cost {
    if cost == NONE {
        NONE
    } else {
        (cost.0 + edits, cost.1 + squared)
    }
}

fn cheaper(left: Cost, right: Cost) -> Cost {
    if right.0 < left.0 || (right.0 == left.0 && right.1 < left.1) {
        right
    } else {
        left
    }
}
