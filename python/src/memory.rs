//! What lives in Python, under names by which a specification can call it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::ffi_stream::RecordBatchStreamReader;
use arrow_array::{Array, Float64Array, RecordBatch, RecordBatchReader};
use arrow_data::ArrayData;
use arrow_pyarrow::{PyArrowType, ToPyArrow};
use probity::data::memory;
use probity::predictor::callable::{self, Callable};
use probity::tensor::onnx::worker::{self, Limits};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::errors;

/// A table of Python that is `memory:NAME` until it is released.
#[pyclass(module = "probity._probity")]
pub(crate) struct NamedTable {
    registered: Option<memory::Registered>,
    path: String,
    rows: usize,
}

#[pymethods]
impl NamedTable {
    /// Names the batches of `stream`, anything with `__arrow_c_stream__`. They are not copied.
    #[new]
    fn new(
        py: Python<'_>,
        name: &str,
        stream: PyArrowType<RecordBatchStreamReader>,
    ) -> PyResult<NamedTable> {
        let reader = stream.0;
        let schema = reader.schema();
        // A frame may make its batches only now, with the interpreter.
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

    /// What a specification calls it.
    #[getter]
    fn path(&self) -> &str {
        &self.path
    }

    /// Its rows.
    #[getter]
    fn rows(&self) -> usize {
        self.rows
    }

    /// Gives the name up.
    fn release(&mut self) {
        self.registered = None;
    }
}

/// A model of Python that is the predictor `memory:NAME` until it is released.
#[pyclass(module = "probity._probity")]
pub(crate) struct NamedModel {
    registered: Option<callable::Registered>,
    model: Arc<PythonModel>,
    source: String,
}

#[pymethods]
impl NamedModel {
    /// Names `ask`, a function from a `pyarrow.RecordBatch` to a `pyarrow.DoubleArray` of the
    /// probabilities of all classes, row by row; `sha256` says which model it is, and `columns` those
    /// that it looks at, where not all.
    #[new]
    #[pyo3(signature = (name, ask, sha256, columns = None))]
    fn new(
        name: &str,
        ask: Py<PyAny>,
        sha256: String,
        columns: Option<Vec<String>>,
    ) -> PyResult<NamedModel> {
        let model = Arc::new(PythonModel {
            ask,
            sha256,
            columns,
            raised: Mutex::default(),
        });
        let registered = callable::register(name, Arc::clone(&model) as Arc<dyn Callable>);
        Ok(NamedModel {
            registered: Some(registered.map_err(|error| errors::name_taken(&error))?),
            model,
            source: format!("memory:{name}"),
        })
    }

    /// What a specification calls it.
    #[getter]
    fn source(&self) -> &str {
        &self.source
    }

    /// The exception that it raised, which is then forgotten.
    fn raised(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        let raised = self.model.raised.lock();
        let mut raised = raised.unwrap_or_else(PoisonError::into_inner);
        raised.take().map(|error| error.into_value(py).into())
    }

    /// Gives the name up.
    fn release(&mut self) {
        self.registered = None;
    }
}

/// A model of Python.
struct PythonModel {
    ask: Py<PyAny>,
    sha256: String,
    columns: Option<Vec<String>>,
    /// The first exception that it raised.
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
}

/// Lets the command `program` compute ONNX graphs, in processes that are bounded.
#[pyfunction]
pub(crate) fn compute_graphs_in(program: PathBuf) {
    worker::compute_in(program, vec!["onnx-worker".into()], Limits::default());
}
