//! PyTorch state dictionaries, at the top of a file or inside a training checkpoint.

use std::collections::{BTreeSet, HashMap, HashSet};

use pytorch_reader::{DType, PickleValue, PytorchError, PytorchReader, Tensor};

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

/// The type that the reader names in the place of a tensor.
const TENSOR: &str = "torch.Tensor";

/// The values at the top of a file, by key.
type Root = HashMap<String, PickleValue>;

/// Reads the state dictionary; returns the checkpoint's key under which it was found, and the names
/// of what lies beside its tensors.
pub(super) fn read(
    collector: &mut Collector,
) -> Result<(Option<String>, BTreeSet<String>), WeightsError> {
    let root = PytorchReader::read_pickle_data(collector.path, None);
    let root = match root.map_err(|error| malformed(collector, &error))? {
        PickleValue::Dict(root) => root,
        // The reader says that this is no dictionary.
        _ => Root::new(),
    };
    let key = CHECKPOINT_KEYS
        .into_iter()
        .find(|&key| root.get(key).is_some_and(holds_tensors));
    let reader = match key {
        Some(key) => PytorchReader::with_top_level_key(collector.path, key),
        None => PytorchReader::new(collector.path),
    };
    let reader = reader.map_err(|error| malformed(collector, &error))?;
    let beside = beside(&root, key, collector)?;
    if key.is_some() && !beside.is_empty() {
        let all = PytorchReader::new(collector.path);
        let all = all.map_err(|error| malformed(collector, &error))?;
        let is_integer = |tensor: &Tensor| !element_of(tensor).is_float();
        let integers = beside
            .iter()
            .filter(|name| all.get(name).is_some_and(is_integer));
        collector.integers.extend(integers.cloned());
    }
    // In order of their names, so that the same file always gives the same error.
    let mut tensors: Vec<_> = reader.tensors().iter().collect();
    tensors.sort_by_key(|(name, _)| *name);
    for (name, tensor) in tensors {
        let element = element_of(tensor);
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
    Ok((key.map(str::to_owned), beside))
}

fn malformed(collector: &Collector, error: &PytorchError) -> WeightsError {
    collector.malformed(error.to_string())
}

fn element_of(tensor: &Tensor) -> Element {
    match tensor.dtype() {
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
    }
}

/// Returns the names of what lies beside the tensors that are taken, those under `key`, or all where
/// there is none.
///
/// # Errors
/// When the file holds another network, too.
fn beside(
    root: &Root,
    key: Option<&str>,
    collector: &Collector,
) -> Result<BTreeSet<String>, WeightsError> {
    let mut beside = BTreeSet::new();
    let mut others: Vec<(&String, &PickleValue)> = root
        .iter()
        .filter(|(name, value)| !is_training_state(name, value))
        .collect();
    let Some(key) = key else {
        for (name, value) in others {
            let arrays = parts(name, value)
                .into_iter()
                .filter(|part| !part.is_tensor);
            beside.extend(arrays.map(|part| part.name));
        }
        return Ok(beside);
    };
    others.retain(|(name, _)| *name != key);
    others.sort_by_key(|(name, _)| *name);
    let (tensors, arrays): (Vec<Part>, Vec<Part>) = root
        .get(key)
        .map_or_else(Vec::new, |taken| parts("", taken))
        .into_iter()
        .partition(|part| part.is_tensor);
    beside.extend(arrays.into_iter().map(|part| part.name));
    let taken: HashSet<&str> = tensors.iter().map(|part| plain(&part.name)).collect();
    let mut keys = vec![key.to_owned()];
    for (name, value) in others {
        let of_value = parts(name, value);
        let is_known = CHECKPOINT_KEYS.contains(&name.as_str());
        let is_taken = |part: &Part| taken.contains(plain(&part.name));
        let is_network = |part: &Part| part.is_tensor && (is_known || is_taken(part));
        let is_dictionary = matches!(value, PickleValue::Dict(_));
        if of_value.iter().any(is_taken) || is_dictionary && parts("", value).iter().any(is_network)
        {
            keys.push(name.clone());
        } else {
            beside.extend(of_value.into_iter().map(|part| part.name));
        }
    }
    if keys.len() > 1 {
        return Err(WeightsError::Several {
            file: collector.path.to_owned(),
            keys,
        });
    }
    Ok(beside)
}

/// A tensor in a pickle, or an array or object that may take part in what a network computes.
struct Part {
    /// The keys and places that lead to it.
    name: String,
    is_tensor: bool,
}

/// Returns the tensors, arrays and objects in `value`, which lies at `path`.
fn parts(path: &str, value: &PickleValue) -> Vec<Part> {
    let mut found = Vec::new();
    gather(path, value, &mut found);
    found
}

fn gather(path: &str, value: &PickleValue, found: &mut Vec<Part>) {
    let below = |key: &str| match path {
        "" => key.to_owned(),
        path => format!("{path}.{key}"),
    };
    match value {
        PickleValue::Dict(entries) => {
            for (key, value) in entries {
                gather(&below(key), value, found);
            }
        }
        PickleValue::List(items) => {
            for (place, item) in items.iter().enumerate() {
                gather(&below(&place.to_string()), item, found);
            }
        }
        PickleValue::Unsupported(kind) if kind == TENSOR || is_array(kind) => found.push(Part {
            name: path.to_owned(),
            is_tensor: kind == TENSOR,
        }),
        _ => {}
    }
}

/// Whether `kind` is what makes an array of NumPy, or a class of scikit-learn.
fn is_array(kind: &str) -> bool {
    let is_made = kind.ends_with("._reconstruct") || kind.ends_with("._frombuffer");
    kind.starts_with("numpy") && is_made || kind.starts_with("sklearn.")
}

fn holds_tensors(value: &PickleValue) -> bool {
    matches!(value, PickleValue::Dict(_)) && parts("", value).iter().any(|part| part.is_tensor)
}

/// Returns the name of a tensor without what `DataParallel` puts before it.
fn plain(name: &str) -> &str {
    name.strip_prefix("module.").unwrap_or(name)
}

/// Whether what a checkpoint holds under `key` is the state of the training, and no part of the
/// network.
fn is_training_state(key: &str, value: &PickleValue) -> bool {
    let key = key.to_ascii_lowercase();
    let is_part = |part: &&str| key.contains(*part);
    let is_optimiser = |entries: &Root| {
        ["state", "param_groups"]
            .iter()
            .all(|&own| entries.contains_key(own))
    };
    ["optim", "loops", "callbacks"].contains(&key.as_str())
        || ["optimizer", "optimiser", "scheduler", "rng_state"]
            .iter()
            .any(is_part)
        || matches!(value, PickleValue::Dict(entries) if is_optimiser(entries))
}
