//! The online deletion benchmark (section 5): train once, then delete one row after the other.
//!
//! The baseline is Lloyd's algorithm with as many iterations and restarts, which trains anew for
//! each request. A few of its trainings are timed, before and after the deletions, and stand for
//! all. The quality of a clustering is taken before the deletions, against a Lloyd baseline that
//! runs until it converges, as in the paper.

use std::time::Instant;

use serde::Serialize;

use super::errors::KMeansError;
use super::metrics::{normalized_mutual_information, silhouette};
use super::model::{Algorithm, KMeans, Model};
use super::points::Points;
use crate::spread::Spread;
use probity_run::stream::{Purpose, Words};

/// The number of iterations after which a baseline that has not converged is taken as it is.
const UNTIL_CONVERGED: usize = 300;
/// The number of points of the curve of run time against deletions.
const CURVE: usize = 40;

/// Options of the benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BenchmarkOptions {
    /// The number of clusters.
    pub clusters: usize,
    /// The number of iterations of every training.
    pub iterations: usize,
    /// The number of restarts of every training, also of the baseline's.
    pub restarts: usize,
    /// The number of rows to delete, one after the other.
    pub deletions: usize,
    /// The number of rows that a silhouette is taken of.
    pub silhouette_rows: usize,
    /// The number of timed trainings of the baseline, half of them before the deletions.
    pub retrainings: usize,
}

/// Rows with labels to compare clusters with.
#[derive(Debug, Clone, Copy)]
pub struct Labelled<'a> {
    /// The rows.
    pub points: &'a Points,
    /// The label of each row, in the order of the ids, `None` where it is missing; empty where there
    /// are no labels.
    pub labels: &'a [Option<u32>],
}

/// The quality of a clustering.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, serde::Deserialize)]
pub struct Quality {
    /// The loss Σ|x − c|² in scaled units.
    pub loss: f64,
    /// The silhouette coefficient, where two clusters are there.
    pub silhouette: Option<f64>,
    /// The normalized mutual information with the labels, of the rows that have one, where there are
    /// any.
    pub nmi: Option<f64>,
}

/// The baseline of one seed.
#[derive(Debug, Clone, PartialEq, Serialize, serde::Deserialize)]
pub struct Baseline {
    /// The seed.
    pub seed: u64,
    /// The quality of a clustering that has converged.
    pub quality: Quality,
    /// The seconds of each timed training.
    pub training_seconds: Vec<f64>,
}

/// The measurements of one replicate of one algorithm.
#[derive(Debug, Clone, PartialEq, Serialize, serde::Deserialize)]
pub struct Replicate {
    /// The seed.
    pub seed: u64,
    /// The quality before the deletions.
    pub quality: Quality,
    /// The seconds of the training.
    pub training_seconds: f64,
    /// The seconds of all deletions.
    pub deletion_seconds: f64,
    /// The seconds of a training of the same algorithm on what remains.
    pub retraining_seconds: f64,
    /// The number of deletions that changed no centroid.
    pub free: usize,
    /// The number of deletions that changed a seed; unknown for a tree.
    pub reseeded: usize,
    /// Whether the model after the deletions equals that retraining, byte for byte.
    pub exact: bool,
    /// The seconds, training included, after so many deletions.
    pub curve: Vec<(usize, f64)>,
}

impl Replicate {
    /// Returns the seconds of training once and all deletions.
    pub fn seconds(&self) -> f64 {
        self.training_seconds + self.deletion_seconds
    }
}

/// Returns the rows to delete: so many, drawn by the seed without replacement.
pub fn requests(points: &Points, count: usize, seed: u64) -> Vec<u64> {
    let words = Words::new(seed, Purpose::Requests, &[0]);
    let mut ids: Vec<u64> = points.live_slots().map(|slot| points.id(slot)).collect();
    ids.sort_by_cached_key(|&id| words.word(id));
    ids.truncate(count);
    ids
}

/// Measures the quality and the training times of Lloyd's algorithm.
///
/// # Errors
/// More clusters than rows, before or after the deletions.
pub fn baseline(
    data: Labelled<'_>,
    options: &BenchmarkOptions,
    seed: u64,
) -> Result<Baseline, KMeansError> {
    let fit = |iterations: usize| {
        KMeans::new(options.clusters)
            .iterations(iterations)
            .restarts(options.restarts)
            .algorithm(Algorithm::Lloyd)
            .seed(seed)
    };
    let converged = Model::fit(data.points.clone(), &fit(UNTIL_CONVERGED))?;
    let quality = quality(data, &converged, options, seed);
    drop(converged);
    let remaining = data
        .points
        .without(&requests(data.points, options.deletions, seed))?;
    let half = options.retrainings.div_ceil(2);
    let mut training_seconds = Vec::new();
    for number in 0..options.retrainings.max(1) {
        let points = if number < half.max(1) {
            data.points
        } else {
            &remaining
        };
        training_seconds.push(timed(points, &fit(options.iterations))?.1);
    }
    Ok(Baseline {
        seed,
        quality,
        training_seconds,
    })
}

/// Measures one replicate of `algorithm`. `done` is told how many deletions are done, and says
/// whether to go on.
///
/// # Errors
/// Options that make no sense for these rows, or fewer rows left than clusters.
pub fn replicate(
    data: Labelled<'_>,
    algorithm: &Algorithm,
    options: &BenchmarkOptions,
    seed: u64,
    done: &mut dyn FnMut(usize) -> bool,
) -> Result<Option<Replicate>, KMeansError> {
    let fit = KMeans::new(options.clusters)
        .iterations(options.iterations)
        .restarts(options.restarts)
        .algorithm(algorithm.clone())
        .seed(seed);
    let (mut model, training_seconds) = timed(data.points, &fit)?;
    let quality = quality(data, &model, options, seed);
    let requests = requests(data.points, options.deletions, seed);
    let (mut free, mut reseeded, mut deletion_seconds) = (0, 0, 0.0);
    let mut curve = vec![(0, training_seconds)];
    let marks = marks(requests.len());
    for (number, &id) in requests.iter().enumerate() {
        let start = Instant::now();
        let deleted = model.delete(&[id])?;
        deletion_seconds += start.elapsed().as_secs_f64();
        free += usize::from(deleted.free);
        reseeded += usize::from(deleted.reseeded);
        if marks.binary_search(&(number + 1)).is_ok() {
            curve.push((number + 1, training_seconds + deletion_seconds));
        }
        if !done(number + 1) {
            return Ok(None);
        }
    }
    let (retrained, retraining_seconds) = timed(&data.points.without(&requests)?, &fit)?;
    Ok(Some(Replicate {
        seed,
        quality,
        training_seconds,
        deletion_seconds,
        retraining_seconds,
        free,
        reseeded,
        exact: model.to_bytes()? == retrained.to_bytes()?,
        curve,
    }))
}

/// Trains, and returns the model and the seconds, without those of the copy of the rows.
fn timed(points: &Points, fit: &KMeans) -> Result<(Model, f64), KMeansError> {
    let points = points.clone();
    let start = Instant::now();
    let model = Model::fit(points, fit)?;
    Ok((model, start.elapsed().as_secs_f64()))
}

fn quality(data: Labelled<'_>, model: &Model, options: &BenchmarkOptions, seed: u64) -> Quality {
    let (assignment, loss) = model.assignment();
    let pairs: Vec<(usize, u32)> = assignment
        .iter()
        .zip(data.labels)
        .filter_map(|(&(_, cluster), &label)| Some((cluster, label?)))
        .collect();
    Quality {
        loss,
        silhouette: silhouette(
            data.points,
            &assignment,
            options.clusters,
            options.silhouette_rows,
            seed,
        ),
        nmi: (!pairs.is_empty()).then(|| normalized_mutual_information(&pairs)),
    }
}

/// Returns numbers of deletions at about equal distances on a logarithmic scale, the last one
/// included.
fn marks(deletions: usize) -> Vec<usize> {
    let mut marks: Vec<usize> = (0..=CURVE)
        .map(|step| (deletions as f64).powf(step as f64 / CURVE as f64).round() as usize)
        .collect();
    marks.dedup();
    marks
}

/// The figures of all replicates of one algorithm, beside the baseline's of the same seeds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AlgorithmFigures {
    /// The algorithm with its options.
    pub algorithm: String,
    /// The seconds of training once and all deletions.
    pub seconds: Option<Spread>,
    /// The seconds of so many trainings of the baseline, divided by `seconds`.
    pub speedup: Option<Spread>,
    /// The seconds of so many trainings of the algorithm itself, divided by `seconds`.
    pub speedup_against_itself: Option<Spread>,
    /// The loss over the mean loss of the converged baselines; none where that is 0.
    pub loss_ratio: Option<Spread>,
    /// The silhouette coefficient.
    pub silhouette: Option<Spread>,
    /// The normalized mutual information with the labels.
    pub nmi: Option<Spread>,
    /// The share of deletions that changed no centroid.
    pub free_share: Option<Spread>,
    /// Whether every model equalled a retraining, byte for byte, after its deletions; not known where
    /// no replicate was done.
    pub exact: Option<bool>,
    /// The replicates that the figures are of.
    pub replicates: Vec<Replicate>,
}

impl AlgorithmFigures {
    /// Summarises `replicates`; `baselines` are of the same seeds, in the same order.
    pub fn new(
        algorithm: String,
        replicates: Vec<Replicate>,
        baselines: &[Baseline],
        deletions: usize,
    ) -> AlgorithmFigures {
        let all = |figure: &dyn Fn(&Replicate) -> f64| -> Option<Spread> {
            Spread::from_values(&replicates.iter().map(figure).collect::<Vec<f64>>())
        };
        let some = |figure: &dyn Fn(&Replicate) -> Option<f64>| -> Option<Spread> {
            Spread::from_values(&replicates.iter().filter_map(figure).collect::<Vec<f64>>())
        };
        let losses: Vec<f64> = baselines.iter().map(|b| b.quality.loss).collect();
        let loss = Spread::from_values(&losses).map_or(f64::NAN, |spread| spread.mean);
        let speedups: Vec<f64> = replicates
            .iter()
            .zip(baselines)
            .map(|(replicate, baseline)| {
                baseline_seconds(baseline, deletions) / replicate.seconds()
            })
            .collect();
        AlgorithmFigures {
            algorithm,
            seconds: all(&|replicate| replicate.seconds()),
            speedup: Spread::from_values(&speedups),
            speedup_against_itself: all(&|replicate| {
                let training = (replicate.training_seconds + replicate.retraining_seconds) / 2.0;
                training * deletions as f64 / replicate.seconds()
            }),
            loss_ratio: some(&|replicate| (loss > 0.0).then(|| replicate.quality.loss / loss)),
            silhouette: some(&|replicate| replicate.quality.silhouette),
            nmi: some(&|replicate| replicate.quality.nmi),
            free_share: all(&|replicate| replicate.free as f64 / deletions.max(1) as f64),
            exact: (!replicates.is_empty())
                .then(|| replicates.iter().all(|replicate| replicate.exact)),
            replicates,
        }
    }
}

/// Returns the seconds of so many trainings of the baseline: the mean of those that were timed,
/// times their number.
pub fn baseline_seconds(baseline: &Baseline, trainings: usize) -> f64 {
    Spread::from_values(&baseline.training_seconds)
        .map_or(f64::NAN, |spread| spread.mean * trainings as f64)
}

#[cfg(test)]
mod tests {
    use super::super::points::ONE;
    use super::*;

    #[test]
    fn marks_are_where_figures_are_taken() {
        assert_eq!(marks(3), [1, 2, 3]);
        assert_eq!(marks(1000).last(), Some(&1000));
    }

    #[test]
    fn rows_without_a_label_are_left_out_of_the_mutual_information() {
        let rows = (0..40).map(|at| (at % 2) * ONE).collect();
        let points = Points::new((1..=40).collect(), rows, 1).unwrap();
        let model =
            Model::fit(points.clone(), &KMeans::new(2).algorithm(Algorithm::Lloyd)).unwrap();
        let options = BenchmarkOptions {
            clusters: 2,
            iterations: 5,
            restarts: 1,
            deletions: 1,
            silhouette_rows: 40,
            retrainings: 1,
        };
        let nmi = |labels: &[Option<u32>]| {
            let data = Labelled {
                points: &points,
                labels,
            };
            quality(data, &model, &options, 1).nmi
        };
        let known: Vec<Option<u32>> = (0..40).map(|at| (at > 9).then_some(at % 2)).collect();
        assert!(nmi(&known).is_some_and(|nmi| nmi > 1.0 - 1e-9));
        assert_eq!((nmi(&[None; 40]), nmi(&[])), (None, None));
    }

    #[test]
    fn a_replicate_is_exact_and_counts_its_deletions() {
        let words = Words::new(1, Purpose::Mixture, &[0]);
        let rows = (0..600).map(|at| words.below(1 << 24, at) as i32).collect();
        let points = Points::new((1..=200).collect(), rows, 3).unwrap();
        let labels: Vec<Option<u32>> = (0..200).map(|at| Some(at % 4)).collect();
        let data = Labelled {
            points: &points,
            labels: &labels,
        };
        let options = BenchmarkOptions {
            clusters: 4,
            iterations: 5,
            restarts: 2,
            deletions: 50,
            silhouette_rows: 100,
            retrainings: 2,
        };
        let base = baseline(data, &options, 7).unwrap();
        let lattice = Algorithm::Quantized {
            epsilon: 0.25,
            gamma: 0.2,
        };
        for algorithm in [Algorithm::Lloyd, lattice] {
            let mut told = 0;
            let done = &mut |count| {
                told = count;
                true
            };
            let replicate = replicate(data, &algorithm, &options, 7, done)
                .unwrap()
                .unwrap();
            assert!(replicate.exact);
            assert_eq!(told, 50);
            let figures = AlgorithmFigures::new(
                "x".to_owned(),
                vec![replicate],
                std::slice::from_ref(&base),
                50,
            );
            assert_eq!(figures.exact, Some(true));
            assert!(figures.loss_ratio.unwrap().mean >= 0.99);
            assert!(figures.nmi.unwrap().mean < 0.2);
        }
        // Nothing is shown by what was not done.
        let figures = AlgorithmFigures::new("x".to_owned(), Vec::new(), &[], 50);
        assert!(figures.exact.is_none() && figures.seconds.is_none());
    }
}
