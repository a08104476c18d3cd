//! Clusters of the data that finds may cover.

use crate::seeds::clusters;
use probity_data::table::Table;

/// Largest number of clusters.
pub(super) const CLUSTERS: usize = 32;

/// Largest number of inputs that are clustered, evenly spaced in the data.
const MOST_INPUTS: usize = 1024;

/// Largest number of coordinates that are clustered, unless few inputs have more.
const MOST_COORDINATES: usize = 1 << 16;

/// Number of inputs that are clustered however wide they are.
const FEW_INPUTS: usize = 128;

/// The numbers of the inputs that are clustered, of `inputs` with `width` coordinates each.
pub(super) fn clustered(inputs: usize, width: usize) -> impl Iterator<Item = usize> {
    let most = (MOST_COORDINATES / width.max(1)).clamp(FEW_INPUTS, MOST_INPUTS);
    (0..inputs).step_by(inputs.div_ceil(most).max(1))
}

/// The centres of k-means from k-means++ of `points`, always by the same draws.
pub(super) fn centres(points: &Table) -> Vec<Vec<f64>> {
    let (assignment, centres) = clusters(points, CLUSTERS.min(points.rows()), 0);
    // A cluster may have lost all of its points.
    let mut is_empty = vec![true; centres.len()];
    assignment
        .iter()
        .for_each(|&cluster| is_empty[cluster as usize] = false);
    let centres = centres.into_iter().zip(is_empty);
    centres
        .filter_map(|(centre, is_empty)| (!is_empty).then_some(centre))
        .collect()
}

/// The nearest cluster, the first of several, with the squared distance from its centre.
pub(super) fn nearest(distances: impl Iterator<Item = f64>) -> Option<(usize, f64)> {
    distances
        .enumerate()
        .min_by(|(_, a), (_, b)| a.total_cmp(b))
}

/// Clusters of inputs that are points.
#[derive(Debug, Clone)]
pub struct DataClusters {
    centres: Vec<Vec<f64>>,
    /// The largest squared distance of a point of each cluster from its centre.
    reach: Vec<f64>,
}

impl DataClusters {
    /// Clusters `inputs` inputs of the same number of coordinates, which `point` gives for each.
    pub(crate) fn fit(
        inputs: usize,
        width: usize,
        point: impl Fn(usize) -> Vec<i32>,
    ) -> DataClusters {
        let codes: Vec<i32> = clustered(inputs, width).flat_map(point).collect();
        let points = Table::new(width, codes, Vec::new());
        let centres = centres(&points);
        let mut all = DataClusters {
            reach: vec![0.0; centres.len()],
            centres,
        };
        for point in (0..points.rows()).map(|row| points.row(row)) {
            if let Some((cluster, distance)) = all.nearest(point) {
                all.reach[cluster] = all.reach[cluster].max(distance);
            }
        }
        all
    }

    /// The number of clusters.
    pub(super) fn count(&self) -> u64 {
        self.centres.len() as u64
    }

    /// The nearest cluster, if `point` is no farther from its centre than its farthest point.
    pub(super) fn covered(&self, point: &[i32]) -> Option<u8> {
        let (cluster, distance) = self.nearest(point)?;
        (distance <= self.reach[cluster]).then_some(cluster as u8)
    }

    fn nearest(&self, point: &[i32]) -> Option<(usize, f64)> {
        nearest(self.centres.iter().map(|centre| {
            let apart = point.iter().zip(centre);
            apart.map(|(&a, b)| (f64::from(a) - b).powi(2)).sum()
        }))
    }
}
