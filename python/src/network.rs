//! Sum-product networks from which rows can be deleted exactly.

use std::path::PathBuf;

use arrow_array::{Array, Float64Array};
use arrow_data::ArrayData;
use arrow_pyarrow::PyArrowType;
use probity::run::specification::Given;
use probity::unlearning::spn::Spn;
use probity::unlearning::spn::model::SpnModel;
use probity::unlearning::spn::specification::FitSpecification;
use pyo3::prelude::*;

use super::errors::exception;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Values of columns, by the name of the column, as they would stand in a file.
type Values = Vec<(String, String)>;

/// A sum-product network, with the rows that it was learnt from.
#[pyclass(module = "probity._probity")]
pub(crate) struct SumProductNetwork {
    model: SpnModel,
}

#[pymethods]
impl SumProductNetwork {
    /// Learns a network; `options` are those of `probity spn fit`, as JSON.
    #[staticmethod]
    fn learn(py: Python<'_>, options: &str) -> PyResult<SumProductNetwork> {
        let options = serde_json::from_str(options).map_err(|error| exception(&error))?;
        let specification = Given::<FitSpecification>::named(options)
            .and_then(|given| given.specification())
            .map_err(|error| exception(&error))?;
        let learnt = py.detach(|| -> Result<SpnModel, Failure> {
            let table = specification.table.options(&specification.schema)?;
            let (data, _) = table.read(&specification.data)?.value;
            let spn = Spn::learn(specification.learning.parameters(), data)?;
            Ok(SpnModel { spn, table })
        });
        let model = learnt.map_err(|error| exception(error.as_ref()))?;
        Ok(SumProductNetwork { model })
    }

    /// Loads the network in a model directory.
    #[staticmethod]
    fn load(directory: PathBuf) -> PyResult<SumProductNetwork> {
        let model = SpnModel::load(&directory).map_err(|error| exception(&error))?;
        Ok(SumProductNetwork { model })
    }

    /// Writes the network to a model directory.
    fn save(&self, directory: PathBuf) -> PyResult<()> {
        std::fs::create_dir_all(&directory)?;
        let stored = self.model.store(&directory);
        stored.map_err(|error| exception(&error))
    }

    /// The ids of the rows that are left.
    fn ids(&self) -> Vec<u64> {
        let data = self.model.spn.data();
        let rows = data.remaining().into_iter();
        rows.map(|row| data.id(row)).collect()
    }

    /// The natural logarithm of the density of each row at `path`; missing values are summed out.
    fn log_likelihood(&self, py: Python<'_>, path: PathBuf) -> PyResult<PyArrowType<ArrayData>> {
        let scores = py.detach(|| -> Result<Vec<f64>, Failure> {
            let asked = self.model.table.read_questions(&path)?;
            Ok(self.model.spn.network().log_densities(&asked.rows))
        });
        let scores = scores.map_err(|error| exception(error.as_ref()))?;
        Ok(PyArrowType(Float64Array::from(scores).into_data()))
    }

    /// The natural logarithm of the probability, or density, of `ask` conditional on `given`.
    fn log_probability(&self, ask: Values, given: Values) -> PyResult<f64> {
        let network = self.model.spn.network();
        let known = |values: &Values| {
            let values = values.iter();
            network.evidence(values.map(|(name, value)| (name.as_str(), value.as_str())))
        };
        let log = known(&ask).and_then(|ask| network.log_conditional(&ask, &known(&given)?));
        log.map_err(|error| exception(&error))
    }

    /// Draws `rows` rows conditional on `given`; returns the columns, and the values row by row.
    fn sample(
        &self,
        py: Python<'_>,
        rows: u64,
        given: Values,
        seed: u64,
    ) -> PyResult<(Vec<String>, Vec<Vec<String>>)> {
        let drawn = py.detach(|| -> Result<_, Failure> {
            let network = self.model.spn.network();
            let values = given.iter();
            let given =
                network.evidence(values.map(|(name, value)| (name.as_str(), value.as_str())))?;
            let variables = network.variables();
            let names = variables.iter().map(|variable| variable.name().to_owned());
            let rows = (0..rows).map(|item| {
                let row = network.sample(&given, seed, item)?;
                let values = variables.iter().zip(row);
                Ok(values
                    .map(|(variable, value)| variable.text(value))
                    .collect())
            });
            Ok((names.collect(), rows.collect::<Result<_, Failure>>()?))
        });
        drawn.map_err(|error| exception(error.as_ref()))
    }

    /// Deletes rows by their ids; returns how many nodes were updated, and how many sub-networks
    /// were learnt again.
    fn delete(&mut self, py: Python<'_>, ids: Vec<u64>) -> PyResult<(usize, usize)> {
        let effort = py.detach(|| self.model.spn.delete(&ids));
        let effort = effort.map_err(|error| exception(&error))?;
        Ok((effort.updated_nodes, effort.learnt_again))
    }

    /// Whether another network is the same, byte for byte, rows included.
    fn is_same(&self, py: Python<'_>, other: &SumProductNetwork) -> PyResult<bool> {
        let bytes = py.detach(|| Ok((self.model.to_bytes()?, other.model.to_bytes()?)));
        let (own, others) =
            bytes.map_err(|error: probity::unlearning::spn::SpnError| exception(&error))?;
        Ok(own == others)
    }
}
