//! The choice of the share, and of one of its networks, that a repair keeps.
//!
//! Nothing that is reported takes part. A share is chosen by the accuracy on the validation part
//! and by a discriminatory figure: of tables that of random inputs of another seed, of texts that
//! of found texts which no network of the repeat learnt from. Of the shares whose networks lose at
//! most the allowed accuracy on average, the one with the smallest mean discriminatory share is
//! kept; if none qualifies, the one that loses least. Of its networks the *median* one by
//! discriminatory share is kept (the less fair of two middle ones), so that what is reported of all
//! is true of the one that is saved.

use serde::{Deserialize, Serialize};

use super::verdict::is_beyond;

/// The figures of one network that the choice sees.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Discriminatory share by all attributes jointly.
    pub discriminatory: f64,
    /// Accuracy on the validation part; absent without one.
    pub validation_accuracy: Option<f64>,
}

/// The share and the network that were chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// Position of the share.
    pub share: usize,
    /// Position of the network among those of the share.
    pub network: usize,
}

/// Chooses among the networks of each share; `before` is the model's own accuracy on the validation
/// part. `None` if there is no network.
pub fn choose(
    shares: &[Vec<Evidence>],
    before: Option<f64>,
    max_accuracy_loss: f64,
) -> Option<Choice> {
    let means: Vec<(usize, f64, f64)> = shares
        .iter()
        .enumerate()
        .filter(|(_, networks)| !networks.is_empty())
        .map(|(share, networks)| {
            let mean = |of: &dyn Fn(&Evidence) -> f64| {
                networks.iter().map(of).sum::<f64>() / networks.len() as f64
            };
            let lost = |evidence: &Evidence| {
                let pair = before.zip(evidence.validation_accuracy);
                pair.map_or(0.0, |(before, after)| before - after)
            };
            (
                share,
                mean(&lost),
                mean(&|evidence| evidence.discriminatory),
            )
        })
        .collect();
    let allowed = means
        .iter()
        .filter(|(_, loss, _)| !is_beyond(*loss, max_accuracy_loss));
    let fairest = allowed.min_by(|a, b| a.2.total_cmp(&b.2));
    let (share, ..) = fairest.or_else(|| means.iter().min_by(|a, b| a.1.total_cmp(&b.1)))?;
    let networks = &shares[*share];
    let mut order: Vec<usize> = (0..networks.len()).collect();
    order.sort_by(|&a, &b| {
        let of = |network: usize| networks[network].discriminatory;
        of(a).total_cmp(&of(b)).then(a.cmp(&b))
    });
    Some(Choice {
        share: *share,
        network: order[order.len() / 2],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(discriminatory: f64, accuracy: f64) -> Evidence {
        Evidence {
            discriminatory,
            validation_accuracy: Some(accuracy),
        }
    }

    #[test]
    fn the_fairest_share_that_is_accurate_enough() {
        let before = Some(0.9);
        let shares = vec![
            vec![
                evidence(0.10, 0.90),
                evidence(0.08, 0.89),
                evidence(0.12, 0.90),
            ],
            vec![evidence(0.05, 0.89), evidence(0.03, 0.89)],
            vec![evidence(0.01, 0.80)],
        ];
        let chosen = |loss| choose(&shares, before, loss).unwrap();
        assert_eq!(
            chosen(0.015),
            Choice {
                share: 1,
                network: 0
            },
            "of two, the one with more of it"
        );
        assert_eq!(chosen(0.01).share, 1, "0.9 - 0.89 is no more than 0.01");
        assert_eq!(
            chosen(0.2),
            Choice {
                share: 2,
                network: 0
            }
        );
        assert_eq!(
            chosen(0.004),
            Choice {
                share: 0,
                network: 0
            },
            "the median of three"
        );
        // Of an even number there are as many that seem fairer than the one that is kept as others.
        for networks in 1..9_usize {
            let shuffled = (0..networks).map(|n| evidence(0.01 * ((5 * n) % 9) as f64, 0.9));
            let shares = [shuffled.collect::<Vec<_>>()];
            let kept = choose(&shares, before, 1.0).unwrap().network;
            let share = shares[0][kept].discriminatory;
            let fairer = shares[0]
                .iter()
                .filter(|other| other.discriminatory < share);
            assert_eq!(fairer.count(), networks / 2, "{networks}");
        }
        // None qualifies: the least loss.
        assert_eq!(chosen(0.0).share, 0);
        assert_eq!(choose(&[Vec::new()], before, 1.0), None);
    }
}
