//! The device that a search runs on.
//!
//! `auto` measures: it asks the network that is searched about as many inputs as fit into
//! [`SPAN`], on each GPU that answers and on the CPU, and takes the fastest. What it measured stands
//! beside the hardware in the record of the run. Nothing is measured where no GPU answers, where a
//! predictor answers, where a run goes on (it keeps its device), and for a shard (all must have one
//! device, whatever a clock says: the first GPU that answers, else the CPU).

use std::path::Path;
use std::time::{Duration, Instant};

use rand::RngExt;
use rayon::prelude::*;

use crate::audit_error::AuditError;
use crate::modality::ModalityName;
use crate::opened::open_model;
use crate::scored::TextScorer;
use crate::specification::PredictorSpecification;
use probity_nn::fnn::{Fnn, Network};
use probity_nn::{Classifier, Differentiable, ModelError, Rows};
use probity_run::device_name::DeviceName;
use probity_run::number::count;
use probity_run::place::Place;
use probity_run::runner::{Failure, Setting};
use probity_run::shards::Part;
use probity_run::stream::{Purpose, stream};
use probity_tensor::device::ComputeDevice;

/// The time for which each device is asked.
const SPAN: Duration = Duration::from_millis(10);

/// The number of inputs in one question: as many as walkers of a large search.
const ROWS: usize = 1 << 14;

/// The text that networks for texts are asked about.
const TEXT: &str =
    "I have been told that people who live near the old town are friendly, and they are";

/// The number of texts in one question.
const TEXTS: usize = 64;

/// What is searched: inputs of one kind, by a network in a directory or a predictor.
pub(super) struct Searched<'a> {
    /// The kind of the inputs.
    pub modality: ModalityName,
    /// The directory of the network.
    pub model: Option<&'a Path>,
    /// The predictor, if one is named.
    pub predictor: &'a PredictorSpecification,
}

impl Searched<'_> {
    /// Opens the device that a search in `setting` runs on.
    ///
    /// # Errors
    /// When no device answers, one is named for a predictor, or the network cannot be opened to be
    /// measured.
    pub fn device(&self, setting: &Setting<'_>) -> Result<ComputeDevice, Failure> {
        let began = match &setting.place {
            Place::GoesOn(_, record) => record.device.as_deref(),
            Place::New(_) | Place::Again(..) => None,
        };
        let began = began.and_then(|device| device.parse::<DeviceName>().ok());
        let (DeviceName::Auto, None, Part::Whole, Some(model)) = (
            setting.device,
            &self.predictor.source,
            &setting.part,
            self.model,
        ) else {
            return self.predictor.device(setting.device);
        };
        if let Some(began) = began {
            return self.predictor.device(began);
        }
        let candidates = ComputeDevice::candidates();
        if let [only] = &candidates[..] {
            return Ok(only.clone());
        }
        let chosen = match self.modality {
            ModalityName::Table => {
                let network = open_model(model)?.value.network;
                let rows = random_rows(&network);
                fastest(candidates, |device| rate_of_rows(&network, &rows, device))
            }
            ModalityName::Text => {
                let scorer = TextScorer::open(model, self.predictor)?.value;
                let texts = vec![TEXT.to_owned(); TEXTS];
                fastest(candidates, |device| {
                    rate(TEXTS, || scorer.logits(&texts, device).map(|_| ()))
                })
            }
        };
        if let Some(why) = chosen.choice() {
            setting
                .observer
                .remark(&format!("note: device {}: {why}", chosen.name()));
        }
        Ok(chosen)
    }
}

/// Returns the fastest of `candidates`, of which `measure` gives the inputs a second, and puts down why
/// it is. A device that fails is not taken; of equally fast ones the first is.
fn fastest(
    candidates: Vec<ComputeDevice>,
    mut measure: impl FnMut(&ComputeDevice) -> Result<f64, AuditError>,
) -> ComputeDevice {
    let mut best: Option<(f64, ComputeDevice)> = None;
    let mut measured = Vec::new();
    for device in candidates {
        let name = device.name();
        match measure(&device) {
            Ok(rate) => {
                measured.push(format!("{name} {} inputs a second", count(rate as u64)));
                if best.as_ref().is_none_or(|(most, _)| rate > *most) {
                    best = Some((rate, device));
                }
            }
            Err(error) => measured.push(format!("{name} failed ({error})")),
        }
    }
    let chosen = best.map_or_else(ComputeDevice::flex, |(_, device)| device);
    chosen.chosen_because(format!("auto measured {}", measured.join(", ")))
}

/// Returns rows of random codes for `network`.
fn random_rows(network: &Network) -> Vec<i32> {
    let spans = network.layout.spans();
    let mut rows = Vec::with_capacity(ROWS * spans.len());
    for item in 0..ROWS as u64 {
        let mut stream = stream(0, Purpose::UniformInput, item, 0);
        let codes = spans.iter().map(|span| {
            let last = span.levels.saturating_sub(1) as i32;
            span.min.saturating_add(stream.random_range(0..=last))
        });
        rows.extend(codes);
    }
    rows
}

/// Returns how many of `rows` a second `network` decides and differentiates on `device`, asked by all
/// threads as in a search.
fn rate_of_rows(
    network: &Network,
    rows: &[i32],
    device: &ComputeDevice,
) -> Result<f64, AuditError> {
    let fnn = Fnn::new(network, device);
    let cotangents: Vec<f32> = (0..fnn.classes()).map(|class| class as f32).collect();
    let width = fnn.width().max(1);
    let chunk = ROWS.div_ceil(rayon::current_num_threads().max(1)) * width;
    rate(ROWS, || {
        let asked = rows.par_chunks(chunk).try_for_each(|codes| {
            let rows = Rows::new(codes, width);
            fnn.decide(rows)?;
            fnn.input_gradients(rows, &cotangents.repeat(rows.len()))?;
            Ok::<(), ModelError>(())
        });
        Ok(asked?)
    })
}

/// Returns how many inputs a second `ask` asks about, which is about `inputs` each time.
fn rate(inputs: usize, mut ask: impl FnMut() -> Result<(), AuditError>) -> Result<f64, AuditError> {
    // The first time kernels are compiled and memory is taken.
    ask()?;
    let started = Instant::now();
    let mut asked = 0;
    while asked == 0 || started.elapsed() < SPAN {
        ask()?;
        asked += inputs;
    }
    Ok(asked as f64 / started.elapsed().as_secs_f64().max(1e-9))
}

#[cfg(test)]
mod tests {
    use super::*;
    use probity_data::builtin;
    use probity_nn::encoding::{Encoding, InputLayout};
    use probity_nn::fnn::Activation;
    use probity_run::specification::FieldError;

    #[test]
    fn the_fastest_that_works_is_taken_and_says_why() {
        let three = || {
            vec![
                ComputeDevice::flex(),
                ComputeDevice::flex(),
                ComputeDevice::flex(),
            ]
        };
        let mut rates = [2e6, 5e6, 3e6].into_iter();
        let chosen = fastest(three(), |_| Ok(rates.next().unwrap()));
        let why = "auto measured flex 2,000,000 inputs a second, flex 5,000,000 inputs a second, \
                   flex 3,000,000 inputs a second";
        assert_eq!(chosen.choice(), Some(why));
        assert_eq!(chosen.description(), format!("CPU; {why}"));
        let failing = |_: &ComputeDevice| Err(FieldError::new("device", "it", "another").into());
        let chosen = fastest(three(), failing);
        assert_eq!(chosen.name(), DeviceName::Flex);
        assert!(
            chosen
                .choice()
                .is_some_and(|why| why.contains("flex failed ("))
        );
    }

    #[test]
    fn a_network_has_a_rate_on_each_device() {
        let schema = builtin::schema("synthetic-census").unwrap().unwrap();
        let encodings = vec![Encoding::OneHot; schema.attributes.len()];
        let layout = InputLayout::new(&schema.attributes, &encodings);
        let network = Network::random(layout, &[8], 2, Activation::Relu, 1);
        let rows = random_rows(&network);
        assert_eq!(rows.len(), ROWS * schema.attributes.len());
        let rows_in_range = rows.chunks_exact(schema.attributes.len()).all(|row| {
            let domains = schema.attributes.iter().map(|attribute| attribute.domain());
            row.iter()
                .zip(domains)
                .all(|(&code, (low, high))| (low..=high).contains(&code))
        });
        assert!(rows_in_range);
        assert!(rate_of_rows(&network, &rows, &ComputeDevice::flex()).unwrap() > 0.0);
    }
}
