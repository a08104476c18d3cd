//! PyTorch state dictionaries, at the top of a file or inside a training checkpoint.

use pytorch_reader::{DType, PickleValue, PytorchReader};

use super::collector::Collector;
use super::element::{Element, Order};
use super::error::WeightsError;

/// The keys under which training scripts keep the state dictionary, the likeliest first.
///
/// The keys of a state dictionary itself hold tensors, never dictionaries, so a layer that happens
/// to be called `model` isn't taken for one of these.
const CHECKPOINT_KEYS: [&str; 6] = [
    "state_dict",
    "model_state_dict",
    "model_state",
    "model",
    "net",
    "network",
];

/// Reads the state dictionary; returns the checkpoint's key under which it was found.
pub(super) fn read(collector: &mut Collector) -> Result<Option<String>, WeightsError> {
    let (reader, key) =
        open(collector.path).map_err(|error| collector.malformed(error.to_string()))?;
    // In order of their names, so that the same file always gives the same error.
    let mut tensors: Vec<_> = reader.tensors().iter().collect();
    tensors.sort_by_key(|(name, _)| *name);
    for (name, tensor) in tensors {
        let element = match tensor.dtype() {
            DType::Bool => Element::Bool,
            DType::U8 => Element::U8,
            DType::I8 => Element::I8,
            DType::U16 => Element::U16,
            DType::I16 => Element::I16,
            DType::U32 => Element::U32,
            DType::I32 => Element::I32,
            DType::U64 => Element::U64,
            DType::I64 => Element::I64,
            DType::F16 => Element::F16,
            DType::BF16 => Element::BF16,
            DType::F32 => Element::F32,
            DType::F64 => Element::F64,
        };
        collector.reserve(name, tensor.shape())?;
        let mut bytes = tensor
            .read()
            .map_err(|error| collector.malformed(error.to_string()))?;
        if cfg!(target_endian = "big") {
            // The reader gives elements as this machine has them.
            bytes
                .chunks_exact_mut(element.width())
                .for_each(<[u8]>::reverse);
        }
        collector.add(name, tensor.shape(), Order::RowMajor, element, &bytes)?;
    }
    Ok(key)
}

fn open(
    path: &std::path::Path,
) -> Result<(PytorchReader, Option<String>), pytorch_reader::PytorchError> {
    if let PickleValue::Dict(root) = PytorchReader::read_pickle_data(path, None)? {
        for key in CHECKPOINT_KEYS {
            if matches!(root.get(key), Some(PickleValue::Dict(_))) {
                let reader = PytorchReader::with_top_level_key(path, key)?;
                if !reader.is_empty() {
                    return Ok((reader, Some(key.to_owned())));
                }
            }
        }
    }
    Ok((PytorchReader::new(path)?, None))
}
