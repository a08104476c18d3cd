//! Bins of numbers: where they are cut, which one a number lies in, and which number stands for it.
//!
//! Bins are ascending edges; bin i is `[edges[i], edges[i+1])`, and the last one includes its upper
//! edge. The number that stands for a bin is the lower median of those that rows have in it, so it
//! is one that occurs; the lower edge of a bin that no row lies in.

use std::fmt;
use std::str::FromStr;

/// The largest number of bins that a column is cut into.
pub const MOST_BINS: usize = 10_000;

/// The way in which a column of numbers is cut into bins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// Cuts at quantiles, into so many bins of about equal counts at most; into one for each number
    /// that occurs, where these are no more.
    Quantiles(usize),
    /// Cuts into one bin for each number that occurs, at most [`MOST_BINS`].
    Exact,
}

impl Default for Cut {
    fn default() -> Cut {
        Cut::Quantiles(10)
    }
}

impl FromStr for Cut {
    type Err = String;

    fn from_str(text: &str) -> Result<Cut, String> {
        match (text, text.parse()) {
            ("exact", _) => Ok(Cut::Exact),
            (_, Ok(bins)) if (1..=MOST_BINS).contains(&bins) => Ok(Cut::Quantiles(bins)),
            _ => Err(format!(
                "a number of bins from 1 to {MOST_BINS}, or 'exact'"
            )),
        }
    }
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cut::Quantiles(bins) => write!(f, "{bins}"),
            Cut::Exact => f.write_str("exact"),
        }
    }
}

impl Cut {
    /// Returns the edges of the bins that this cut makes of `sorted`, numbers in ascending order of
    /// which there is at least one.
    pub fn edges(self, sorted: &[f64]) -> Vec<f64> {
        let most = match self {
            Cut::Quantiles(bins) => bins,
            Cut::Exact => MOST_BINS,
        };
        let mut distinct = sorted.to_vec();
        distinct.dedup();
        match (2..=most).contains(&distinct.len()) {
            true => edges_between(&distinct),
            false => quantile_edges(sorted, most),
        }
    }
}

/// Returns the bin between `edges` that `value` lies in.
pub(super) fn bin_of(edges: &[f64], value: f64) -> Option<usize> {
    let last = edges.len() - 1;
    let is_inside = edges[0] <= value && value <= edges[last];
    let passed = || edges.partition_point(|&edge| edge <= value);
    is_inside.then(|| passed().clamp(1, last) - 1)
}

/// Returns, for each bin between `edges`, the number that stands for it among `sorted`, numbers in
/// ascending order.
pub fn values(edges: &[f64], sorted: &[f64]) -> Vec<f64> {
    let last = edges[edges.len() - 1];
    let below = |edge: f64| sorted.partition_point(|&value| value < edge);
    let bins = edges.windows(2).map(|edges| {
        let end = match edges[1] == last {
            true => sorted.partition_point(|&value| value <= last),
            false => below(edges[1]),
        };
        let inside = &sorted[below(edges[0])..end];
        let median = inside.get(inside.len().saturating_sub(1) / 2);
        median.copied().unwrap_or(edges[0])
    });
    bins.collect()
}

/// Returns the edges of one bin for each of `distinct` numbers, in ascending order: cut in the
/// middle between them.
fn edges_between(distinct: &[f64]) -> Vec<f64> {
    let inner = distinct.windows(2).map(|pair| {
        let middle = pair[0] / 2.0 + pair[1] / 2.0;
        // Between neighbours among the numbers there is no middle.
        match pair[0] < middle && middle < pair[1] {
            true => middle,
            false => pair[1],
        }
    });
    let ends = [distinct[0], distinct[distinct.len() - 1]];
    let mut edges = vec![ends[0]];
    edges.extend(inner);
    edges.push(ends[1]);
    edges.dedup();
    edges
}

/// Returns the edges of at most `bins` bins of about equal counts; the outer edges are the range
/// itself. Where one value has so many rows that all would be one bin, it has a bin of its own.
fn quantile_edges(sorted: &[f64], bins: usize) -> Vec<f64> {
    let quantiles = |sorted: &[f64]| -> Vec<f64> {
        let last = sorted.len() - 1;
        (0..=bins).map(|i| sorted[i * last / bins]).collect()
    };
    let last = sorted.len() - 1;
    let mut edges = quantiles(sorted);
    edges.dedup();
    if bins > 1 && edges.len() < 3 && sorted[0] < sorted[last] {
        let rest = sorted.partition_point(|&value| value <= sorted[0]);
        edges = std::iter::once(sorted[0])
            .chain(quantiles(&sorted[rest..]))
            .collect();
        edges.dedup();
    }
    if edges.len() < 2 {
        edges.push(edges[0] + 1.0);
    }
    edges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_of_most_rows_has_a_bin_of_its_own() {
        let mut numbers = vec![0.0; 950];
        numbers.extend((1..=50).map(f64::from));
        let edges = quantile_edges(&numbers, 10);
        assert_eq!(edges[..2], [0.0, 1.0]);
        assert!(edges.len() > 5 && edges.is_sorted(), "{edges:?}");
        assert_eq!(quantile_edges(&[3.0, 3.0], 10), [3.0, 4.0]);
    }

    /// The values of bins agree with the definition, on numbers with ties, bins without rows, and
    /// rows on edges.
    #[test]
    fn the_value_of_a_bin_is_the_lower_median_of_its_rows() {
        for seed in 0..200u64 {
            let mut state = seed;
            let mut draw = |most: u64| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                (state >> 33) % most
            };
            let mut edges: Vec<f64> = (0..2 + draw(6)).map(|_| draw(40) as f64 / 2.0).collect();
            edges.sort_by(f64::total_cmp);
            edges.dedup();
            if edges.len() < 2 {
                continue;
            }
            let mut numbers: Vec<f64> = (0..draw(30)).map(|_| draw(40) as f64 / 2.0).collect();
            numbers.retain(|&number| bin_of(&edges, number).is_some());
            numbers.sort_by(f64::total_cmp);
            for (bin, value) in values(&edges, &numbers).into_iter().enumerate() {
                let of_bin = |number: &f64| bin_of(&edges, *number) == Some(bin);
                let inside: Vec<f64> = numbers.iter().copied().filter(of_bin).collect();
                let expected = match inside.len() {
                    0 => edges[bin],
                    rows => inside[(rows - 1) / 2],
                };
                assert_eq!(value, expected, "{edges:?} {numbers:?}");
                assert_eq!(bin_of(&edges, value), Some(bin));
            }
        }
    }

    #[test]
    fn exact_bins_hold_one_number_each_up_to_the_limit() {
        let sorted = [-1.5, 0.0, 0.0, 0.1, 0.25, 7.0, 7.0];
        let edges = Cut::Exact.edges(&sorted);
        assert_eq!((edges[0], edges[edges.len() - 1]), (-1.5, 7.0));
        assert_eq!(values(&edges, &sorted), [-1.5, 0.0, 0.1, 0.25, 7.0]);
        for value in sorted {
            let bin = bin_of(&edges, value).unwrap();
            assert_eq!(values(&edges, &sorted)[bin], value);
        }
        let many: Vec<f64> = (0..=MOST_BINS).map(|number| number as f64).collect();
        assert_eq!(Cut::Exact.edges(&many[1..]).len(), MOST_BINS + 1);
        assert_eq!(Cut::Exact.edges(&many).len(), MOST_BINS + 1);
        let next = 1.0f64.next_up();
        assert_eq!(Cut::Exact.edges(&[1.0, next, 2.0])[..2], [1.0, next]);
    }

    #[test]
    fn cuts_are_read_and_written() {
        for cut in [Cut::Quantiles(1), Cut::Quantiles(MOST_BINS), Cut::Exact] {
            assert_eq!(cut.to_string().parse(), Ok(cut));
        }
        for wrong in ["0", "10001", "-1", "all", ""] {
            assert!(
                wrong.parse::<Cut>().unwrap_err().contains("exact"),
                "{wrong}"
            );
        }
    }
}
