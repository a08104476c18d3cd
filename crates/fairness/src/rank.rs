//! The worst pairs first, in place of those that were found first.

use std::io;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::domain::Domain;
use super::modality::Modality;
use super::pairs::{Pair, PairSource, PairStore};

/// Which pairs are the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Rank {
    /// Those whose scores differ most: the score that --gap compares, else the probability of the class
    /// that one side gets
    Gap,
    /// The most plausible ones, by the density of --plausibility
    Density,
}

impl Rank {
    /// The numbers of `pairs` of `case`, the worst first; of equally bad ones, that found first.
    pub(crate) fn order<M: Modality>(self, case: &M, pairs: &PairStore) -> Vec<usize> {
        let badness: Vec<f64> = match (self, case.plausibility()) {
            (Rank::Density, Some(plausibility)) => {
                let rows: Vec<&[i32]> = pairs.iter().map(|pair| pair.row).collect();
                plausibility.densities(&rows)
            }
            _ => {
                let decision = case.model().judge().decision();
                let gap = |pair: Pair<'_>| {
                    let score = decision.score(pair.label);
                    (score.of(pair.logits) - score.of(pair.other_logits)).abs()
                };
                pairs.iter().map(gap).collect()
            }
        };
        let mut order: Vec<usize> = (0..pairs.len()).collect();
        order.sort_by(|&a, &b| badness[b].total_cmp(&badness[a]));
        order
    }
}

/// Pairs of a case by their rank, where they have one. All of them are then held in memory.
pub(crate) struct Ranked<'a, M> {
    case: &'a M,
    rank: Option<Rank>,
    pairs: &'a dyn PairSource,
}

impl<'a, M: Modality> Ranked<'a, M> {
    /// `pairs` of `case` by `rank`.
    pub(crate) fn new(case: &'a M, rank: Option<Rank>, pairs: &'a dyn PairSource) -> Self {
        Ranked { case, rank, pairs }
    }
}

impl<M: Modality> PairSource for Ranked<'_, M> {
    fn blocks(
        &self,
        size: usize,
        each: &mut dyn FnMut(&[Pair<'_>]) -> io::Result<()>,
    ) -> io::Result<()> {
        let Some(rank) = self.rank else {
            return self.pairs.blocks(size, each);
        };
        let classes = self.case.model().judge().classes();
        let mut all = PairStore::new(self.case.domain().width(), classes);
        self.pairs.blocks(size, &mut |block| {
            block.iter().for_each(|pair| all.push(pair));
            Ok(())
        })?;
        for block in rank.order(self.case, &all).chunks(size) {
            let block: Vec<Pair<'_>> = block.iter().map(|&number| all.pair(number)).collect();
            each(&block)?;
        }
        Ok(())
    }
}
