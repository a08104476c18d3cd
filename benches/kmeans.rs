//! How long training, deleting and one pass over the rows take, and what the tensor backend would
//! take for the products.
//!
//! Rows are drawn from Gaussian mixtures. *pass* assigns every row to its nearest centroid,
//! exactly; *tensors* is the matrix product alone that a pass would need (flex, rows already in
//! f32), without the search for the nearest, the exact treatment of close calls and the margins.
//!
//! ```text
//! cargo bench --bench kmeans                  # up to 100,000 rows
//! cargo bench --bench kmeans -- 1000000       # also 1,000,000 x 100
//! ```

use std::hint::black_box;
use std::time::{Duration, Instant};

use burn::tensor::{Device, Tensor, TensorData};
use probity::unlearning::kmeans::benchmark::requests;
use probity::unlearning::kmeans::mixture::mixture;
use probity::unlearning::kmeans::points::ONE;
use probity::unlearning::kmeans::{Algorithm, KMeans, Model, Points, Tree, nearest};

type Failure = Box<dyn std::error::Error>;

const DELETIONS: usize = 200;

fn main() -> Result<(), Failure> {
    let most: usize = std::env::args()
        .skip(1)
        .find_map(|argument| argument.parse().ok())
        .unwrap_or(100_000);
    println!(
        "{} threads; {DELETIONS} deletions",
        rayon::current_num_threads()
    );
    println!(
        "{:>9} {:>4} {:>3} {:>15} {:>10} {:>10} {:>12} {:>10} {:>10}",
        "rows", "cols", "k", "algorithm", "training", "deletion", "retrain/del.", "pass", "tensors"
    );
    for (rows, columns, clusters) in [
        (10_000, 25, 5),
        (100_000, 25, 5),
        (100_000, 25, 2),
        (20_000, 784, 10),
        (1_000_000, 100, 10),
    ] {
        if rows <= most {
            let (points, _) = mixture(rows, columns, clusters, 1)?;
            measure(&points, clusters)?;
        }
    }
    Ok(())
}

fn measure(points: &Points, clusters: usize) -> Result<(), Failure> {
    for (name, algorithm) in [
        ("lloyd", Algorithm::Lloyd),
        (
            "quantized",
            Algorithm::Quantized {
                epsilon: 0.0625,
                gamma: 0.2,
            },
        ),
        (
            "divide-conquer",
            Algorithm::DivideConquer {
                tree: Tree::default(),
            },
        ),
    ] {
        let options = KMeans::new(clusters).algorithm(algorithm);
        let rows = points.clone();
        let started = Instant::now();
        let mut model = Model::fit(rows, &options)?;
        let training = started.elapsed();
        let started = Instant::now();
        black_box(nearest(points, model.centroids()));
        let pass = started.elapsed();
        let tensors = product(points, model.centroids())?;
        let ids = requests(points, DELETIONS, 1);
        let started = Instant::now();
        for id in ids {
            model.delete(&[id])?;
        }
        let deletion = started.elapsed() / DELETIONS as u32;
        println!(
            "{:>9} {:>4} {:>3} {name:>15} {training:>10.2?} {deletion:>10.2?} {:>12.1} {pass:>10.2?} {tensors:>10.2?}",
            points.len(),
            points.columns(),
            clusters,
            training.as_secs_f64() / deletion.as_secs_f64(),
        );
    }
    Ok(())
}

/// All products x·c on flex, in blocks of rows.
fn product(points: &Points, centroids: &[i32]) -> Result<Duration, Failure> {
    const BLOCK: usize = 8192;
    let device = Device::flex();
    let columns = points.columns();
    let scaled =
        |values: &[i32]| -> Vec<f32> { values.iter().map(|&x| x as f32 / ONE as f32).collect() };
    let shape = [centroids.len() / columns, columns];
    let centroids = Tensor::<2>::from_data(TensorData::new(scaled(centroids), shape), &device);
    let right = centroids.transpose();
    let mut taken = Duration::ZERO;
    for start in (0..points.slots()).step_by(BLOCK) {
        let end = (start + BLOCK).min(points.slots());
        let block: Vec<f32> = (start..end)
            .flat_map(|slot| scaled(points.row(slot)))
            .collect();
        let left = Tensor::<2>::from_data(TensorData::new(block, [end - start, columns]), &device);
        let started = Instant::now();
        let product = left.matmul(right.clone());
        black_box(product.try_into_data().map_err(|error| error.to_string())?);
        taken += started.elapsed();
    }
    Ok(taken)
}
