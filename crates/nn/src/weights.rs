//! A reader for the weight files of other tools: safetensors, PyTorch state dictionaries, NumPy
//! `.npz`.
//!
//! [`read_weights`] tells the format from the content, never from the name, and gives every tensor
//! as `f32` values in row-major order with its name and shape. It reads weights, not programs:
//! Python code in a pickle is never run.
//!
//! | stored as | becomes |
//! |---|---|
//! | `f16`, `bf16`, `f32` | the same number |
//! | `f64` | the nearest `f32`; an error where that is infinite |
//! | `bool`, integers | the same number; an error where `f32` has none (some beyond ±2²⁴) |
//! | NaN, infinity | an error that names the tensor and the place |
//! | complex, 8-bit floats, text, objects | an error that names the tensor and the type |
//!
//! A header cannot make the reader allocate: a declared shape is checked against the bytes that are
//! there, and a file may hold no more than [`MAX_VALUES`] values, however well it is compressed.

mod collector;
mod element;
mod error;
mod npz;
mod torch;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{Cursor, Read, Seek};
use std::path::Path;

use probity_data::source::Hashed;
use probity_run::pipe::expect_rereadable;
use probity_run::run_directory::sha256_of;
use safetensors::{Dtype, SafeTensors};

use self::collector::Collector;
pub use self::collector::Weight;
use self::element::{Element, Order};
use self::error::io_error;
pub use self::error::{MAX_VALUES, WeightFormat, WeightsError};

/// The tensors of a weight file by name.
#[derive(Debug, Clone, PartialEq)]
pub struct WeightFile {
    /// The format that the content has.
    pub format: WeightFormat,
    /// The key of the checkpoint under which the state dictionary was found (`model_state_dict`),
    /// where the dictionary wasn't at the top.
    pub checkpoint_key: Option<String>,
    /// The tensors by name, as the file names them.
    pub tensors: BTreeMap<String, Weight>,
    /// The names of the tensors that the file holds as whole numbers or truth values.
    pub integers: BTreeSet<String>,
    /// The names of what the file holds beside these tensors that may be part of what the network
    /// computes: tensors beside the state dictionary, arrays of NumPy and objects of scikit-learn in
    /// a pickle. Their numbers are not read.
    pub beside: BTreeSet<String>,
}

/// Reads every tensor of a safetensors file, PyTorch state dictionary or NumPy `.npz` archive.
///
/// A PyTorch state dictionary may lie at the top of the file or under one of the keys
/// `state_dict`, `model_state_dict`, `model_state`, `model`, `net`, `network`; names then start
/// below that key. Of the tensors beside it the names alone are given; those of the state of a
/// training (an optimiser's) are passed over. A file that holds several networks is an error.
///
/// # Errors
///
/// A [`WeightsError`], one sentence that names the file and, where there is one, the tensor.
///
/// # Examples
///
/// ```no_run
/// use probity_nn::weights::read_weights;
///
/// let file = read_weights("model.safetensors".as_ref())?;
/// for (name, weight) in &file.tensors {
///     println!("{name} {:?}", weight.shape);
/// }
/// # Ok::<(), probity_nn::weights::WeightsError>(())
/// ```
pub fn read_weights(path: &Path) -> Result<WeightFile, WeightsError> {
    decode(path, open(path)?)
}

/// Reads a weight file as [`read_weights`] does, with the file's hash. All of these formats are
/// read in places, so that hashing has a pass of its own over the opened file.
///
/// # Errors
/// See [`read_weights`].
pub fn read_weights_hashed(path: &Path) -> Result<Hashed<WeightFile>, WeightsError> {
    let mut file = open(path)?;
    let failed = |source| io_error(path, source);
    let sha256 = sha256_of(&mut file).map_err(failed)?;
    file.rewind().map_err(failed)?;
    Ok(Hashed {
        value: decode(path, file)?,
        sha256,
    })
}

/// Reads the tensors of the safetensors file of which `bytes` were read from `path`.
pub(crate) fn read_safetensors_bytes(
    path: &Path,
    bytes: &[u8],
) -> Result<BTreeMap<String, Weight>, WeightsError> {
    // Content of no format at all, or none, is named as such.
    detect(path, &mut Cursor::new(bytes))?;
    let mut collector = Collector::new(path, WeightFormat::Safetensors);
    read_safetensors(bytes, &mut collector)?;
    collector.finish()
}

fn open(path: &Path) -> Result<File, WeightsError> {
    let opened = expect_rereadable(path).and_then(|()| File::open(path));
    opened.map_err(|source| io_error(path, source))
}

fn decode(path: &Path, mut file: File) -> Result<WeightFile, WeightsError> {
    let mut collector = Collector::new(path, detect(path, &mut file)?);
    let (checkpoint_key, beside) = match collector.format {
        WeightFormat::Safetensors => {
            let mut bytes = Vec::new();
            let read = file.read_to_end(&mut bytes);
            read.map_err(|source| io_error(path, source))?;
            read_safetensors(&bytes, &mut collector).map(|()| Default::default())
        }
        WeightFormat::Npz => npz::read(file, &mut collector).map(|()| Default::default()),
        WeightFormat::Pytorch => torch::read(&mut collector),
    }?;
    Ok(WeightFile {
        format: collector.format,
        checkpoint_key,
        beside,
        integers: std::mem::take(&mut collector.integers),
        tensors: collector.finish()?,
    })
}

/// The number of bytes at the beginning of a file that tell its format.
const HEAD: u64 = 512;

/// Tells the format from the content, and leaves `file` at its beginning.
fn detect(path: &Path, file: &mut (impl Read + Seek)) -> Result<WeightFormat, WeightsError> {
    let mut head = Vec::new();
    Read::take(&mut *file, HEAD)
        .read_to_end(&mut head)
        .and_then(|_| file.rewind())
        .map_err(|source| io_error(path, source))?;
    let foreign = |found: &str| {
        Err(WeightsError::Foreign {
            file: path.to_owned(),
            found: found.to_owned(),
        })
    };

    if head.is_empty() {
        return Err(WeightsError::Empty {
            file: path.to_owned(),
        });
    }
    if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") {
        return detect_in_zip(path, file);
    }
    // Before the pickles: the low byte of the header's length may look like a pickle's first.
    if starts_like_safetensors(&head) {
        return Ok(WeightFormat::Safetensors);
    }
    // Every pickle since protocol 2 starts with this byte, and `torch.save` writes no older one.
    // Before PyTorch 0.1.10 it wrote tar archives.
    if head.starts_with(b"\x80") || head.get(257..262) == Some(b"ustar") {
        return Ok(WeightFormat::Pytorch);
    }
    if head.starts_with(b"\x93NUMPY") {
        return foreign("a single NumPy array without a name (save the arrays with numpy.savez)");
    }
    if head.starts_with(b"\x89HDF\r\n\x1a\n") {
        return foreign(
            "an HDF5 file, as Keras writes (save the arrays of get_weights() with numpy.savez, and list them)",
        );
    }
    if head.starts_with(b"\x1f\x8b") {
        return foreign("gzipped data (decompress it first)");
    }
    if !head.contains(&0) && std::str::from_utf8(&head[..head.len().min(64)]).is_ok() {
        return foreign("text");
    }
    foreign("data of an unknown format")
}

/// Whether a head starts with a little-endian length, then the JSON header that has it.
fn starts_like_safetensors(head: &[u8]) -> bool {
    // The format's own limit; a larger number here is some other file.
    const LONGEST_HEADER: u64 = 100_000_000;
    head.first_chunk()
        .is_some_and(|length| u64::from_le_bytes(*length) <= LONGEST_HEADER)
        && head.get(8) == Some(&b'{')
}

/// Tells which format a zip archive has: PyTorch and NumPy both write such archives, and the names
/// inside tell which wrote it.
fn detect_in_zip(path: &Path, file: &mut (impl Read + Seek)) -> Result<WeightFormat, WeightsError> {
    let foreign = |found: String| WeightsError::Foreign {
        file: path.to_owned(),
        found,
    };
    let archive = zip::ZipArchive::new(&mut *file)
        .map_err(|error| foreign(format!("a broken or truncated zip archive ({error})")))?;
    let has = |wanted: &str| {
        archive
            .file_names()
            .flatten()
            .any(|name| name.ends_with(wanted))
    };
    if has("constants.pkl") && has("data.pkl") {
        let what = "a TorchScript archive (save the module's state_dict() with torch.save)";
        return Err(foreign(what.to_owned()));
    }
    if has("model.weights.h5") {
        let what =
            "a Keras archive (save the arrays of get_weights() with numpy.savez, and list them)";
        return Err(foreign(what.to_owned()));
    }
    let mut format = None;
    // A name in a broken encoding is of neither.
    for name in archive.file_names().flatten() {
        if name.ends_with("data.pkl") {
            format = Some(WeightFormat::Pytorch);
            break;
        }
        if name.ends_with(".npy") {
            format = Some(WeightFormat::Npz);
        }
    }
    drop(archive);
    file.rewind().map_err(|source| io_error(path, source))?;
    format.ok_or_else(|| {
        foreign("a zip archive without a PyTorch data.pkl or a NumPy .npy member".to_owned())
    })
}

fn read_safetensors(bytes: &[u8], collector: &mut Collector) -> Result<(), WeightsError> {
    // Checks each tensor's shape and place against the bytes that are there.
    let tensors =
        SafeTensors::deserialize(bytes).map_err(|error| collector.malformed(error.to_string()))?;
    for (name, view) in tensors.iter() {
        let element = match view.dtype() {
            Dtype::BOOL => Element::Bool,
            Dtype::U8 => Element::U8,
            Dtype::I8 => Element::I8,
            Dtype::U16 => Element::U16,
            Dtype::I16 => Element::I16,
            Dtype::U32 => Element::U32,
            Dtype::I32 => Element::I32,
            Dtype::U64 => Element::U64,
            Dtype::I64 => Element::I64,
            Dtype::F16 => Element::F16,
            Dtype::BF16 => Element::BF16,
            Dtype::F32 => Element::F32,
            Dtype::F64 => Element::F64,
            other => return Err(collector.element_type(name, format!("{other:?}"))),
        };
        collector.reserve(name, view.shape())?;
        collector.add(name, view.shape(), Order::RowMajor, element, view.data())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
