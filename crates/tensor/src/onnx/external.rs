//! Constants whose numbers stand in a file of their own, beside the model.

use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Component, Path};

use rten_onnx::onnx::{DataLocation, TensorProto};

/// Puts the numbers of a constant into it, where they stand in a file beside `model`.
///
/// # Errors
/// When that file cannot be read, or may not be.
pub fn fill(model: &Path, held: &mut TensorProto) -> Result<(), String> {
    if let Some(bytes) = bytes(model, held)? {
        held.raw_data = Some(RefCell::new(bytes));
        held.external_data.clear();
        held.data_location = None;
    }
    Ok(())
}

/// Returns the numbers of a constant that stand in a file beside `model`; nothing where they stand
/// in the model.
///
/// # Errors
/// See [`fill`].
pub fn bytes(model: &Path, held: &TensorProto) -> Result<Option<Vec<u8>>, String> {
    if held.data_location != Some(DataLocation::EXTERNAL) {
        return Ok(None);
    }
    let location = entry(held, "location").unwrap_or_default();
    let read = read(model, held, location);
    read.map(Some).map_err(|reason| {
        let name = held.name.as_deref().unwrap_or_default();
        format!("its constant '{name}' in the file '{location}' cannot be read: {reason}")
    })
}

fn read(model: &Path, held: &TensorProto, location: &str) -> Result<Vec<u8>, String> {
    if !is_beside(Path::new(location)) {
        return Err("expected a file beside the model whose name ends in .data".to_owned());
    }
    let system = |error: std::io::Error| error.to_string();
    let path = model
        .canonicalize()
        .map_err(system)?
        .with_file_name(location);
    let found = fs::metadata(&path).map_err(system)?;
    if !found.is_file() {
        return Err("it is no file".to_owned());
    }
    let number = |key: &str, absent: u64| match entry(held, key) {
        None => Ok(absent),
        Some(text) => {
            let number = text.parse::<u64>();
            number.map_err(|_| format!("its {key} is '{text}'"))
        }
    };
    let offset = number("offset", 0)?;
    let length = number("length", found.len().saturating_sub(offset))?;
    let ends_within = offset
        .checked_add(length)
        .is_some_and(|end| end <= found.len());
    let size = usize::try_from(length).ok().filter(|_| ends_within);
    let size = size.ok_or_else(|| "it goes beyond the end of the file".to_owned())?;
    let mut file = File::open(&path).map_err(system)?;
    file.seek(SeekFrom::Start(offset)).map_err(system)?;
    let mut bytes = vec![0; size];
    file.read_exact(&mut bytes).map_err(system)?;
    Ok(bytes)
}

fn entry<'a>(held: &'a TensorProto, key: &str) -> Option<&'a str> {
    let mut entries = held.external_data.iter();
    let found = entries.find(|entry| entry.key.as_deref() == Some(key));
    found?.value.as_deref()
}

/// Whether the runtime reads such a file: a name without a folder, that ends like those of weights.
fn is_beside(path: &Path) -> bool {
    let mut components = path.components();
    let is_name = matches!(components.next(), Some(Component::Normal(_)));
    let end = path.extension().and_then(|end| end.to_str());
    is_name
        && components.next().is_none()
        && end.is_some_and(|end| end.starts_with("data") || end.starts_with("onnx_data"))
}
