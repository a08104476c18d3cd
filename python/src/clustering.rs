//! k-means from which rows can be deleted exactly, for the estimator of the package.

use arrow_array::{Array, Float64Array};
use arrow_data::ArrayData;
use arrow_pyarrow::PyArrowType;
use probity::run::specification::Given;
use probity::unlearning::kmeans::Model;
use probity::unlearning::kmeans::points::{Points, unfixed};
use probity::unlearning::kmeans::specification::FitSpecification;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::errors::exception;

/// A k-means clustering of rows of numbers, each row under an id that never changes.
#[pyclass(module = "probity._probity")]
pub(crate) struct Clustering {
    model: Model,
    bounds: Vec<(f64, f64)>,
}

#[pymethods]
impl Clustering {
    /// Clusters rows of `values` (row by row, a column for each of `bounds`) under `ids`; `options`
    /// are those of `probity kmeans fit`, as JSON.
    #[new]
    fn new(
        py: Python<'_>,
        values: PyArrowType<ArrayData>,
        bounds: Vec<(f64, f64)>,
        ids: Vec<u64>,
        options: &str,
    ) -> PyResult<Clustering> {
        let values = floats(values)?;
        let options = serde_json::from_str(options).map_err(|error| exception(&error))?;
        let specification = Given::<FitSpecification>::named(options)
            .and_then(|given| given.specification())
            .map_err(|error| exception(&error))?;
        let options = specification.options();
        let fitted = py.detach(|| {
            let points = Points::from_values(ids, values.values(), &bounds)?;
            Model::fit(points, &options)
        });
        let model = fitted.map_err(|error| exception(&error))?;
        Ok(Clustering { model, bounds })
    }

    /// The centroids, row by row.
    fn centroids(&self) -> Vec<f64> {
        let columns = self.bounds.len();
        let fixed = self.model.centroids().iter().enumerate();
        let values = fixed.map(|(at, &value)| {
            let (min, max) = self.bounds[at % columns];
            unfixed(value, min, max)
        });
        values.collect()
    }

    /// The ids of the rows in ascending order, the cluster of each, and the sum of the squared
    /// distances, where each column is one wide.
    fn assignment(&self, py: Python<'_>) -> (Vec<u64>, Vec<usize>, f64) {
        let (pairs, loss) = py.detach(|| self.model.assignment());
        let (ids, clusters) = pairs.into_iter().unzip();
        (ids, clusters, loss)
    }

    /// Deletes rows; returns how many, and whether no centroid of any iteration changed.
    fn delete(&mut self, py: Python<'_>, ids: Vec<u64>) -> PyResult<(usize, bool)> {
        let deleted = py.detach(|| self.model.delete(&ids));
        let deleted = deleted.map_err(|error| exception(&error))?;
        Ok((deleted.rows, deleted.free))
    }
}

fn floats(values: PyArrowType<ArrayData>) -> PyResult<Float64Array> {
    let array = arrow_array::make_array(values.0);
    let floats = array.as_any().downcast_ref::<Float64Array>();
    match floats {
        Some(floats) if floats.null_count() == 0 => Ok(floats.clone()),
        _ => Err(PyValueError::new_err("64-bit floats are expected")),
    }
}
