//! Which share, and which of its networks, a repair of texts keeps. No test text takes part.
//!
//! Of the shares whose networks are accurate enough on the validation texts on average, the one is kept whose networks treat most of the
//! samples fairly that none of them learnt from; if none is, the most accurate one. Of its networks likewise: the fairest
//! of those that are accurate enough, else the most accurate one. Of equals the first.

/// What one network shows to the choice.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Evidence {
    /// Share of the samples not learnt from that it treats fairly.
    pub fair: f64,
    /// Accuracy on the validation texts.
    pub accuracy: f64,
}

/// Position of a share and of one of its networks, if there is one; `least` is the accuracy that is enough.
pub(super) fn choose(shares: &[Vec<Evidence>], least: f64) -> Option<(usize, usize)> {
    let mean = |networks: &Vec<Evidence>, of: fn(&Evidence) -> f64| {
        networks.iter().map(of).sum::<f64>() / networks.len() as f64
    };
    let places: Vec<usize> = (0..shares.len())
        .filter(|&share| !shares[share].is_empty())
        .collect();
    let means: Vec<Evidence> = places
        .iter()
        .map(|&share| Evidence {
            fair: mean(&shares[share], |network| network.fair),
            accuracy: mean(&shares[share], |network| network.accuracy),
        })
        .collect();
    let share = places[best(&means, least)?];
    Some((share, best(&shares[share], least)?))
}

fn best(all: &[Evidence], least: f64) -> Option<usize> {
    let places = || (0..all.len()).rev();
    let enough = places().filter(|&place| all[place].accuracy >= least);
    enough
        .max_by(|&a, &b| all[a].fair.total_cmp(&all[b].fair))
        .or_else(|| places().max_by(|&a, &b| all[a].accuracy.total_cmp(&all[b].accuracy)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fairest_that_is_accurate_enough() {
        let network = |fair, accuracy| Evidence { fair, accuracy };
        let shares = [
            vec![network(0.5, 0.9), network(0.6, 0.9)],
            vec![network(0.8, 0.86), network(0.9, 0.9), network(0.9, 0.9)],
            vec![network(1.0, 0.7)],
        ];
        assert_eq!(choose(&shares, 0.88), Some((1, 1)));
        assert_eq!(choose(&shares, 0.89), Some((0, 1)));
        assert_eq!(choose(&shares, 0.5), Some((2, 0)));
        // None is: the most accurate.
        assert_eq!(choose(&shares, 0.95), Some((0, 0)));
        assert_eq!(
            choose(&[vec![], vec![network(0.1, 0.1)]], 0.5),
            Some((1, 0))
        );
        assert_eq!(choose(&[vec![]], 0.5), None);
    }
}
