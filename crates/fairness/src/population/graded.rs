//! The plausibility of the inputs of the pairs that were found.

use std::cell::RefCell;
use std::io;

use serde::Serialize;

use super::plausibility::{BINS, PLAUSIBLE};
use crate::estimate::Estimate;
use crate::modality::Modality;
use crate::pairs::{Pair, PairSource};

/// The plausibility of the pairs of an audit.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct PlausibilitySummary {
    /// Number of real rows that the pairs are compared with.
    pub rows: u64,
    /// Pairs that were found.
    pub pairs: u64,
    /// Number of pairs whose plausibility is at least 0.05.
    pub plausible: u64,
    /// The share plausible / pairs.
    pub share: f64,
    /// Pairs by plausibility: 20 bins of 0.05, each with its lower end, the last with 1.
    pub bins: Vec<u64>,
    /// Pairs that are less plausible than was asked for, and not among the samples.
    pub left_out: u64,
    /// Share of discriminatory ones among inputs drawn from the network, by all protected attributes
    /// jointly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimate: Option<Estimate>,
}

/// Pairs of a case, graded as they are gone through; those below a bound are passed over.
pub(crate) struct Graded<'a, M> {
    case: &'a M,
    pairs: &'a dyn PairSource,
    least: Option<f32>,
    summary: RefCell<PlausibilitySummary>,
}

impl<'a, M: Modality> Graded<'a, M> {
    /// Grades `pairs` of `case`, and passes on those that are at least as plausible as `least`.
    pub(crate) fn new(case: &'a M, pairs: &'a dyn PairSource, least: Option<f32>) -> Self {
        Graded {
            case,
            pairs,
            least,
            summary: RefCell::default(),
        }
    }

    /// The figures of the pairs that were gone through, beside the `estimate`; `None` where the
    /// case does not grade.
    pub(crate) fn summary(self, estimate: Option<Estimate>) -> Option<PlausibilitySummary> {
        let rows = self.case.plausibility()?.real.len() as u64;
        let summary = self.summary.into_inner();
        Some(PlausibilitySummary {
            rows,
            share: summary.plausible as f64 / summary.pairs.max(1) as f64,
            estimate,
            ..summary
        })
    }
}

impl<M: Modality> PairSource for Graded<'_, M> {
    fn blocks(
        &self,
        size: usize,
        each: &mut dyn FnMut(&[Pair<'_>]) -> io::Result<()>,
    ) -> io::Result<()> {
        let Some(plausibility) = self.case.plausibility() else {
            return self.pairs.blocks(size, each);
        };
        self.summary.borrow_mut().bins = vec![0; BINS];
        self.pairs.blocks(size, &mut |block| {
            let rows: Vec<&[i32]> = block.iter().map(|pair| pair.row).collect();
            let grades = plausibility.grades(&rows);
            let mut kept = Vec::with_capacity(block.len());
            {
                let mut summary = self.summary.borrow_mut();
                for (pair, grade) in block.iter().zip(grades) {
                    summary.pairs += 1;
                    summary.plausible += u64::from(grade >= PLAUSIBLE);
                    let bin = ((grade * BINS as f32) as usize).min(BINS - 1);
                    summary.bins[bin] += 1;
                    match self.least.is_none_or(|least| grade >= least) {
                        true => kept.push(*pair),
                        false => summary.left_out += 1,
                    }
                }
            }
            match kept.is_empty() {
                true => Ok(()),
                false => each(&kept),
            }
        })
    }
}
