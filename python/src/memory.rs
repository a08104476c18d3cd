//! Tables and models that live in Python, under names by which a specification can call them.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::ffi_stream::RecordBatchStreamReader;
use arrow_array::{Array, Float64Array, RecordBatch, RecordBatchReader};
use arrow_data::ArrayData;
use arrow_pyarrow::{PyArrowType, ToPyArrow};
use probity::data::memory;
use probity::predictor::callable::{self, Callable};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::errors;

/// A Python table that is known as `memory:NAME` until it is released.
#[pyclass(module = "probity._probity")]
pub(crate) struct NamedTable {
    registered: Option<memory::Registered>,
    path: String,
    rows: usize,
}

#[pymethods]
impl NamedTable {
    /// Gives a name to the batches of `stream`, any object with `__arrow_c_stream__`. The batches
    /// are not copied.
    #[new]
    fn new(
        py: Python<'_>,
        name: &str,
        stream: PyArrowType<RecordBatchStreamReader>,
    ) -> PyResult<NamedTable> {
        let reader = stream.0;
        let schema = reader.schema();
        // A frame may make its batches only now, while the interpreter is held.
        let batches: Result<Vec<RecordBatch>, _> = reader.collect();
        let mut batches = batches.map_err(|error| errors::exception(&error))?;
        let rows = batches.iter().map(RecordBatch::num_rows).sum();
        if batches.is_empty() {
            batches.push(RecordBatch::new_empty(schema));
        }
        let registered = py.detach(|| memory::register(name, batches));
        let registered = registered.map_err(|error| errors::name_taken(&error))?;
        Ok(NamedTable {
            path: registered.path().display().to_string(),
            registered: Some(registered),
            rows,
        })
    }

    /// The path by which a specification calls the table.
    #[getter]
    fn path(&self) -> &str {
        &self.path
    }

    /// The number of rows of the table.
    #[getter]
    fn rows(&self) -> usize {
        self.rows
    }

    /// Releases the name.
    fn release(&mut self) {
        self.registered = None;
    }
}

/// A Python model that is known as the predictor `memory:NAME` until it is released.
#[pyclass(module = "probity._probity")]
pub(crate) struct NamedModel {
    registered: Option<callable::Registered>,
    model: Arc<PythonModel>,
    source: String,
}

#[pymethods]
impl NamedModel {
    /// Gives a name to `ask`, a function from a `pyarrow.RecordBatch` to a `pyarrow.DoubleArray` of
    /// the probabilities of all classes, row by row. `sha256` identifies the model, `columns` lists
    /// the columns that it looks at, where it does not look at all, and `by_order` the classes that
    /// its outputs are taken for, where it does not name them.
    #[new]
    #[pyo3(signature = (name, ask, sha256, columns = None, by_order = None))]
    fn new(
        name: &str,
        ask: Py<PyAny>,
        sha256: String,
        columns: Option<Vec<String>>,
        by_order: Option<Vec<String>>,
    ) -> PyResult<NamedModel> {
        let model = Arc::new(PythonModel {
            ask,
            sha256,
            columns,
            by_order,
            raised: Mutex::default(),
        });
        let registered = callable::register(name, Arc::clone(&model) as Arc<dyn Callable>);
        Ok(NamedModel {
            registered: Some(registered.map_err(|error| errors::name_taken(&error))?),
            model,
            source: format!("memory:{name}"),
        })
    }

    /// The source by which a specification calls the model.
    #[getter]
    fn source(&self) -> &str {
        &self.source
    }

    /// Returns the exception that the model raised, and forgets it.
    fn raised(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        let raised = self.model.raised.lock();
        let mut raised = raised.unwrap_or_else(PoisonError::into_inner);
        raised.take().map(|error| error.into_value(py).into())
    }

    /// Releases the name.
    fn release(&mut self) {
        self.registered = None;
    }
}

/// A model that is a Python function.
struct PythonModel {
    ask: Py<PyAny>,
    sha256: String,
    columns: Option<Vec<String>>,
    by_order: Option<Vec<String>>,
    /// The first exception that the model raised.
    raised: Mutex<Option<PyErr>>,
}

impl Callable for PythonModel {
    fn probabilities(&self, rows: &RecordBatch) -> Result<Vec<f64>, String> {
        let answer = Python::attach(|py| {
            let batch = rows.to_pyarrow(py)?;
            let answer = self.ask.call1(py, (batch,))?;
            let answer: PyArrowType<ArrayData> = answer.extract(py)?;
            let answer = arrow_array::make_array(answer.0);
            match answer.as_any().downcast_ref::<Float64Array>() {
                Some(numbers) if numbers.null_count() == 0 => Ok(numbers.values().to_vec()),
                _ => Err(PyValueError::new_err("the answer holds no 64-bit floats")),
            }
        });
        answer.map_err(|error| {
            let text = error.to_string();
            let raised = self.raised.lock();
            let mut raised = raised.unwrap_or_else(PoisonError::into_inner);
            raised.get_or_insert(error);
            text
        })
    }

    fn sha256(&self) -> String {
        self.sha256.clone()
    }

    fn takes(&self, column: &str) -> bool {
        let columns = self.columns.as_ref();
        columns.is_none_or(|columns| columns.iter().any(|name| name == column))
    }

    fn classes_by_order(&self) -> Option<Vec<String>> {
        self.by_order.clone()
    }
}
