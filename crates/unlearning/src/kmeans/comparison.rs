//! The comparison of several algorithms with Lloyd's algorithm, which trains anew for each
//! deletion, over all replicates.

use std::ops::{ControlFlow, Range};

use serde::Serialize;

use super::benchmark::{
    AlgorithmFigures, Baseline, BenchmarkOptions, Labelled, Quality, Replicate, baseline,
    baseline_seconds, replicate,
};
use super::directory::describe;
use super::errors::KMeansError;
use super::model::Algorithm;
use crate::spread::Spread;
use probity_run::run_directory::RunError;
use probity_run::shards::Items;

/// The results of a comparison on one data set.
#[derive(Debug, Clone, Serialize)]
pub struct Comparison {
    /// The baselines, one a replicate.
    pub baselines: Vec<Baseline>,
    /// The figures of the algorithms, one entry for each.
    pub algorithms: Vec<AlgorithmFigures>,
    /// Whether the comparison was completed without interruption.
    pub finished: bool,
}

/// The figures of the baselines.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BaselineFigures {
    /// The loss over the mean loss: 1, with its deviation; none where that is 0.
    pub loss_ratio: Option<Spread>,
    /// The silhouette coefficient.
    pub silhouette: Option<Spread>,
    /// The normalized mutual information with the labels.
    pub nmi: Option<Spread>,
    /// The seconds of as many trainings as there are deletions.
    pub seconds: Option<Spread>,
}

/// The progress of a comparison: what it is about to do, or has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparisonProgress<'a> {
    /// The baseline of a seed begins.
    Baseline {
        /// The seed.
        seed: u64,
    },
    /// Some deletions of a replicate are done.
    Deletions {
        /// The algorithm with its options.
        algorithm: &'a str,
        /// The number of deletions that are done.
        done: usize,
    },
}

/// Runs all replicates of all algorithms, seed by seed, so that other work on the machine slows
/// down what is compared alike. `observe` says whether to go on.
///
/// # Errors
/// See [`replicate`].
pub fn compare(
    data: Labelled<'_>,
    algorithms: &[Algorithm],
    options: &BenchmarkOptions,
    seeds: &[u64],
    observe: &mut dyn FnMut(ComparisonProgress<'_>) -> ControlFlow<()>,
) -> Result<Comparison, KMeansError> {
    let mut baselines = Vec::new();
    let names: Vec<String> = algorithms.iter().map(describe).collect();
    let mut replicates: Vec<Vec<Replicate>> = vec![Vec::new(); algorithms.len()];
    'seeds: for &seed in seeds {
        if observe(ComparisonProgress::Baseline { seed }).is_break() {
            break;
        }
        baselines.push(baseline(data, options, seed)?);
        for ((algorithm, name), replicates) in algorithms.iter().zip(&names).zip(&mut replicates) {
            let mut told = |done| {
                let algorithm = name.as_str();
                observe(ComparisonProgress::Deletions { algorithm, done }).is_continue()
            };
            match replicate(data, algorithm, options, seed, &mut told)? {
                Some(replicate) => replicates.push(replicate),
                None => break 'seeds,
            }
        }
    }
    Ok(Comparison::new(
        algorithms,
        baselines,
        replicates,
        (options.deletions, seeds.len()),
    ))
}

/// The results of one seed: its baseline, and the replicate of each algorithm. An item of a
/// comparison in shards.
pub type OfSeed = (Baseline, Vec<Replicate>);

/// The seeds of a comparison: its items.
pub struct Seeds<'a> {
    /// The rows that are clustered, with their labels.
    pub data: Labelled<'a>,
    /// The algorithms.
    pub algorithms: &'a [Algorithm],
    /// The options of the benchmark.
    pub options: &'a BenchmarkOptions,
    /// The seeds.
    pub seeds: &'a [u64],
    /// A function that is told the progress, and says whether to go on.
    pub observe: &'a mut dyn FnMut(ComparisonProgress<'_>) -> ControlFlow<()>,
}

impl Items for Seeds<'_> {
    type Item = OfSeed;
    type Error = KMeansError;

    fn count(&self) -> u64 {
        self.seeds.len() as u64
    }

    fn perform(
        &mut self,
        items: Range<u64>,
        done: &mut dyn FnMut(OfSeed),
    ) -> Result<bool, KMeansError> {
        for seed in &self.seeds[items.start as usize..items.end as usize] {
            let one = std::slice::from_ref(seed);
            let compared = compare(self.data, self.algorithms, self.options, one, self.observe)?;
            if !compared.finished {
                return Ok(false);
            }
            let replicates = compared.algorithms.into_iter();
            let replicates = replicates
                .flat_map(|algorithm| algorithm.replicates)
                .collect();
            let baselines = compared.baselines.into_iter();
            baselines.for_each(|baseline| done((baseline, Vec::clone(&replicates))));
        }
        Ok(true)
    }
}

impl Comparison {
    /// Arranges the replicates by algorithm and seed, beside the baselines of the seeds; complete
    /// if there are so many of each.
    fn new(
        algorithms: &[Algorithm],
        baselines: Vec<Baseline>,
        replicates: Vec<Vec<Replicate>>,
        (deletions, seeds): (usize, usize),
    ) -> Comparison {
        let complete = |count: usize| count == seeds;
        let finished = complete(baselines.len()) && replicates.iter().map(Vec::len).all(complete);
        let algorithms = algorithms
            .iter()
            .zip(replicates)
            .map(|(algorithm, replicates)| {
                AlgorithmFigures::new(describe(algorithm), replicates, &baselines, deletions)
            })
            .collect();
        Comparison {
            baselines,
            algorithms,
            finished,
        }
    }

    /// Puts together the results of the seeds of all shards, in their order.
    ///
    /// # Errors
    /// When one cannot be read.
    pub fn merged(
        algorithms: &[Algorithm],
        options: &BenchmarkOptions,
        seeds: &[u64],
        items: impl Iterator<Item = Result<OfSeed, RunError>>,
    ) -> Result<Comparison, RunError> {
        let mut baselines = Vec::new();
        let mut replicates: Vec<Vec<Replicate>> = vec![Vec::new(); algorithms.len()];
        for item in items {
            let (baseline, of_algorithms) = item?;
            baselines.push(baseline);
            for (all, one) in replicates.iter_mut().zip(of_algorithms) {
                all.push(one);
            }
        }
        let counts = (options.deletions, seeds.len());
        Ok(Comparison::new(algorithms, baselines, replicates, counts))
    }

    /// Returns the figures of the baselines, for so many deletions.
    pub fn baseline_figures(&self, deletions: usize) -> BaselineFigures {
        let all = |figure: &dyn Fn(&Quality) -> Option<f64>| {
            let qualities = self.baselines.iter().map(|baseline| &baseline.quality);
            Spread::from_values(&qualities.filter_map(figure).collect::<Vec<f64>>())
        };
        let loss = all(&|quality| Some(quality.loss)).map_or(f64::NAN, |spread| spread.mean);
        let seconds = self.baselines.iter();
        let seconds = seconds.map(|baseline| baseline_seconds(baseline, deletions));
        BaselineFigures {
            loss_ratio: all(&|quality| (loss > 0.0).then(|| quality.loss / loss)),
            silhouette: all(&|quality| quality.silhouette),
            nmi: all(&|quality| quality.nmi),
            seconds: Spread::from_values(&seconds.collect::<Vec<f64>>()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::mixture::mixture;
    use super::*;

    #[test]
    fn an_interrupted_comparison_keeps_what_is_complete() {
        let (points, labels) = mixture(100, 2, 3, 1).unwrap();
        let labels: Vec<Option<u32>> = labels.into_iter().map(Some).collect();
        let data = Labelled {
            points: &points,
            labels: &labels,
        };
        let options = BenchmarkOptions {
            clusters: 3,
            iterations: 5,
            restarts: 1,
            deletions: 4,
            silhouette_rows: 50,
            retrainings: 1,
        };
        let mut last = None;
        let stop_at_second_seed = &mut |progress: ComparisonProgress<'_>| match progress {
            ComparisonProgress::Baseline { seed: 2 } => ControlFlow::Break(()),
            ComparisonProgress::Baseline { .. } => ControlFlow::Continue(()),
            ComparisonProgress::Deletions { done, .. } => {
                last = Some(done);
                ControlFlow::Continue(())
            }
        };
        let lloyd = [Algorithm::Lloyd];
        let half = compare(data, &lloyd, &options, &[1, 2], stop_at_second_seed).unwrap();
        assert!(!half.finished);
        assert_eq!(last, Some(4));
        assert_eq!(
            (half.baselines.len(), half.algorithms[0].replicates.len()),
            (1, 1)
        );
        assert_eq!(half.baseline_figures(4).loss_ratio.unwrap().mean, 1.0);
        let go_on = &mut |_: ComparisonProgress<'_>| ControlFlow::Continue(());
        assert!(
            compare(data, &lloyd, &options, &[1], go_on)
                .unwrap()
                .finished
        );
    }
}
