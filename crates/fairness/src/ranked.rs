//! Orders pairs so that the worst stand first, in place of those that were found first.

use std::io;

use super::domain::Domain;
use super::modality::Modality;
use super::pairs::{Pair, PairSource, PairStore};
use super::rank::Rank;

/// Pairs of a case by their rank, where they have one. All of them are then held in memory.
pub(crate) struct Ranked<'a, M> {
    case: &'a M,
    rank: Option<Rank>,
    pairs: &'a dyn PairSource,
}

impl<'a, M: Modality> Ranked<'a, M> {
    /// Takes `pairs` of `case`, ordered by `rank`.
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
        for block in order(rank, self.case, &all).chunks(size) {
            let block: Vec<Pair<'_>> = block.iter().map(|&number| all.pair(number)).collect();
            each(&block)?;
        }
        Ok(())
    }
}

/// The numbers of `pairs` of `case` by `rank`, the worst first; of equally bad ones, that found first.
pub(crate) fn order<M: Modality>(rank: Rank, case: &M, pairs: &PairStore) -> Vec<usize> {
    let badness: Vec<f64> = match (rank, case.plausibility()) {
        (Rank::Density, Some(plausibility)) => {
            let rows: Vec<&[i32]> = pairs.iter().map(|pair| pair.row).collect();
            plausibility.densities(&rows)
        }
        _ => {
            let decision = case.model().judge().decision();
            let gap = |pair: Pair<'_>| {
                let score = decision.score(pair.label);
                (score.compute(pair.logits) - score.compute(pair.other_logits)).abs()
            };
            pairs.iter().map(gap).collect()
        }
    };
    let mut order: Vec<usize> = (0..pairs.len()).collect();
    order.sort_by(|&a, &b| badness[b].total_cmp(&badness[a]));
    order
}
