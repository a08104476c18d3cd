//! The pools of samples that a repair may learn from, and how some of them are drawn.

use std::path::{Path, PathBuf};

use super::error::RepairError;
use probity_nn::decision::Decision;
use probity_run::stream::{Purpose, permutation};

/// The finds of one audit, or of the repair's own search: distinct individuals, without those found
/// from inputs that are held out.
#[derive(Debug, Clone)]
pub struct Pool<S> {
    /// The run directory; `None` for the repair's own search.
    pub run: Option<PathBuf>,
    /// Names of the protected attributes of the run.
    pub protected: Vec<String>,
    /// Distinct individuals, in the order in which they were found.
    pub samples: Vec<S>,
    /// Individuals left out because they were found from inputs that are held out.
    pub held_out: u64,
}

/// The number of `samples` that the share `share` of them makes: the ceiling, at least one.
///
/// A small share of few samples is then never nothing, and a larger share never fewer.
pub fn count(samples: usize, share: f64) -> usize {
    ((samples as f64 * share).ceil() as usize).clamp(1.min(samples), samples)
}

/// The random share of `samples` samples that (`seed`, `number` of their pool, `repeat`) give,
/// drawn without replacement. A smaller share is the beginning of a larger one.
pub fn draw(samples: usize, share: f64, seed: u64, number: u32, repeat: u32) -> Vec<u32> {
    let item = u64::from(number) << 32 | u64::from(repeat);
    let mut order = permutation(seed, Purpose::RepairDraw, item, samples as u32);
    order.truncate(count(samples, share));
    order
}

/// The one decision that audits were made with, in the runs beside it; the most probable class where
/// there is none.
///
/// # Errors
/// When they are not the same.
pub(super) fn one_decision<'d>(
    decisions: impl Iterator<Item = (Option<&'d Path>, &'d Decision)>,
) -> Result<Decision, RepairError> {
    let mut first: Option<(Option<&Path>, &Decision)> = None;
    for (run, decision) in decisions {
        match first {
            None => first = Some((run, decision)),
            Some((first, same)) if same != decision => {
                let named = |run: Option<&Path>| run.unwrap_or(Path::new("")).to_owned();
                return Err(RepairError::OtherDecision {
                    run: named(run),
                    first: named(first),
                });
            }
            Some(_) => {}
        }
    }
    Ok(first.map_or(Decision::Largest, |(_, decision)| decision.clone()))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn draws_are_keyed_and_grow_with_the_share() {
        let first = draw(500, 0.1, 1, 0, 0);
        assert_eq!(first.len(), 50);
        assert_eq!(first, draw(500, 0.1, 1, 0, 0));
        assert_eq!(first, draw(500, 0.3, 1, 0, 0)[..50]);
        for other in [
            draw(500, 0.1, 2, 0, 0),
            draw(500, 0.1, 1, 1, 0),
            draw(500, 0.1, 1, 0, 1),
        ] {
            assert_ne!(first, other);
        }
        let distinct: HashSet<_> = first.iter().collect();
        assert_eq!(distinct.len(), 50, "without replacement");
        assert_eq!(draw(500, 1e-9, 1, 0, 0).len(), 1);
        assert_eq!(draw(500, 1.0, 1, 0, 0).len(), 500);
        assert_eq!(draw(40, 0.26, 1, 0, 0).len(), 11, "the ceiling");
    }
}
