//! A model of an ONNX file: computed in this process, or by workers.

use std::sync::{Mutex, PoisonError};

use super::computation::Computation;
use super::file::OnnxFile;
use super::tensor::Tensor;
use super::worker::{self, Order, Worker};
use super::{OnnxError, Output, Port};

/// A model from an ONNX file. See [`super::worker`] for the process that computes it.
pub struct OnnxModel {
    inputs: Vec<Port>,
    output: String,
    host: Host,
}

enum Host {
    Here(Box<Computation>),
    Workers(Workers),
}

/// The workers of one model.
struct Workers {
    order: Order,
    /// The words that each worker is told before anything else, so that the words have the same
    /// numbers in all.
    words: Vec<String>,
    /// The workers that no run is using.
    idle: Mutex<Vec<Worker>>,
}

impl OnnxFile {
    /// Returns the model that computes the output `name`, and nothing else.
    ///
    /// # Errors
    /// When the part of the file that computes the output is no graph or has an operator that is
    /// not known.
    pub fn model(&self, name: &str) -> Result<OnnxModel, OnnxError> {
        OnnxModel::new(self, name)
    }
}

impl OnnxModel {
    /// Returns the model that computes the output `name` of `file`.
    fn new(file: &OnnxFile, name: &str) -> Result<OnnxModel, OnnxError> {
        let (host, inputs) = match worker::limits() {
            Some(limits) => {
                let (workers, inputs) = Workers::new(file, name, limits.memory)?;
                (Host::Workers(workers), inputs)
            }
            None => {
                let computation = Computation::new(file, name)?;
                let inputs = computation.inputs().to_vec();
                (Host::Here(Box::new(computation)), inputs)
            }
        };
        Ok(OnnxModel {
            inputs,
            output: name.to_owned(),
            host,
        })
    }

    /// The inputs that the output needs, in the order of the file.
    pub fn inputs(&self) -> &[Port] {
        &self.inputs
    }

    /// The name of the output.
    pub fn output(&self) -> &str {
        &self.output
    }

    /// The number that `text` has in a tensor of words.
    ///
    /// # Errors
    /// When a worker does not answer.
    pub fn word(&mut self, text: &str) -> Result<i32, OnnxError> {
        match &mut self.host {
            Host::Here(computation) => Ok(computation.word(text)),
            Host::Workers(workers) => workers.word(text),
        }
    }

    /// Computes the output for inputs in the order of [`Self::inputs`]. Numbers are converted to
    /// the type that the graph asks for; towards zero, where that is whole numbers.
    ///
    /// # Errors
    /// When the graph cannot take the inputs, the output is not made of floating-point numbers, or
    /// a worker takes more time or memory than it may.
    pub fn run(&self, inputs: Vec<Tensor>) -> Result<Output, OnnxError> {
        Ok(self.run_each(vec![inputs])?.swap_remove(0))
    }

    /// Computes the outputs for each of `runs`, one after the other: a worker is asked once for all
    /// of them.
    ///
    /// # Errors
    /// See [`Self::run`].
    pub fn run_each(&self, runs: Vec<Vec<Tensor>>) -> Result<Vec<Output>, OnnxError> {
        match &self.host {
            Host::Here(computation) => {
                let outputs = runs.into_iter().map(|inputs| computation.run(inputs));
                outputs.collect()
            }
            Host::Workers(workers) => workers.run(runs),
        }
    }
}

impl Workers {
    fn new(file: &OnnxFile, output: &str, memory: u64) -> Result<(Workers, Vec<Port>), OnnxError> {
        let beside = file.external_files();
        let beside = beside.iter().map(|name| file.path.with_file_name(name));
        let size = beside
            .chain([file.path.clone()])
            .map(|path| std::fs::metadata(path).map_or(0, |found| found.len()))
            .fold(0u64, u64::saturating_add);
        let order = Order {
            path: file.path.clone(),
            output: output.to_owned(),
            memory: memory.saturating_add(size.saturating_mul(8)),
        };
        let (first, inputs) = Worker::start(&order, &[])?;
        let workers = Workers {
            order,
            words: Vec::new(),
            idle: Mutex::new(vec![first]),
        };
        Ok((workers, inputs))
    }

    fn take(&self) -> Result<Worker, OnnxError> {
        let idle = self
            .idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        match idle {
            Some(worker) => Ok(worker),
            None => Ok(Worker::start(&self.order, &self.words)?.0),
        }
    }

    /// Puts a worker back; only one that has answered is asked again.
    fn put_back(&self, worker: Worker) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push(worker);
    }

    fn word(&mut self, text: &str) -> Result<i32, OnnxError> {
        let mut worker = self.take()?;
        // The workers that were not asked do not know the word.
        self.idle
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
        let number = worker.word(text)?;
        self.words.push(text.to_owned());
        self.put_back(worker);
        Ok(number)
    }

    fn run(&self, runs: Vec<Vec<Tensor>>) -> Result<Vec<Output>, OnnxError> {
        let mut worker = self.take()?;
        let computed = worker.run(runs);
        if !matches!(computed, Err(OnnxError::Worker { .. })) {
            self.put_back(worker);
        }
        computed
    }
}
