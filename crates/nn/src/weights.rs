//! One reader for the weight files of other tools: safetensors, PyTorch state dictionaries, NumPy `.npz`.
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

mod element;
mod npz;
mod torch;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};

use safetensors::{Dtype, SafeTensors};
use thiserror::Error;

use element::{Element, Order};

/// The most values that one file may hold in all its tensors: a gibibyte as `f32`.
pub const MAX_VALUES: usize = 1 << 28;

/// The tensors of a weight file by name.
#[derive(Debug, Clone, PartialEq)]
pub struct WeightFile {
    /// The format that the content has.
    pub format: WeightFormat,
    /// The key of the checkpoint under which the state dictionary was found (`model_state_dict`),
    /// where it wasn't at the top.
    pub checkpoint_key: Option<String>,
    /// The tensors by name, as the file names them.
    pub tensors: BTreeMap<String, Weight>,
}

/// One tensor.
#[derive(Debug, Clone, PartialEq)]
pub struct Weight {
    /// The extents, outermost first; empty for a single number.
    pub shape: Vec<usize>,
    /// The values in row-major order: as many as the product of `shape`, all finite.
    pub values: Vec<f32>,
}

/// The formats that [`read_weights`] knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WeightFormat {
    /// Hugging Face safetensors.
    Safetensors,
    /// A state dictionary (or a checkpoint that holds one) saved by `torch.save`.
    Pytorch,
    /// Arrays saved by `numpy.savez` or `numpy.savez_compressed`.
    Npz,
}

impl std::fmt::Display for WeightFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Safetensors => "safetensors file",
            Self::Pytorch => "PyTorch state dictionary",
            Self::Npz => "NumPy .npz archive",
        })
    }
}

/// Why a weight file could not be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WeightsError {
    /// The file system refused.
    #[error("cannot read the weight file `{}`: {source}", file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// What the system answered.
        source: io::Error,
    },
    /// No content at all.
    #[error(
        "the weight file `{}` is empty; expected a safetensors file, a PyTorch state dictionary or a NumPy .npz archive",
        file.display()
    )]
    Empty {
        /// The file.
        file: PathBuf,
    },
    /// Content of some other kind.
    #[error(
        "`{}` is no weight file but {found}; expected a safetensors file, a PyTorch state dictionary or a NumPy .npz archive",
        file.display()
    )]
    Foreign {
        /// The file.
        file: PathBuf,
        /// What it seems to be.
        found: String,
    },
    /// Content that starts like a known format and then breaks its rules.
    #[error("`{}` starts like a {format} but cannot be read as one, so it may be truncated: {reason}", file.display())]
    Malformed {
        /// The file.
        file: PathBuf,
        /// The format that it starts like.
        format: WeightFormat,
        /// What is wrong.
        reason: String,
    },
    /// A well-formed file without weights.
    #[error("the {format} `{}` holds no tensors", file.display())]
    NoTensors {
        /// The file.
        file: PathBuf,
        /// Its format.
        format: WeightFormat,
    },
    /// More values than are accepted.
    #[error(
        "the tensor `{tensor}` of shape {shape:?} brings `{}` above {MAX_VALUES} values, more than Probity reads from one file",
        file.display()
    )]
    TooLarge {
        /// The file.
        file: PathBuf,
        /// The tensor that is too much.
        tensor: String,
        /// Its shape.
        shape: Vec<usize>,
    },
    /// Elements that aren't numbers of a supported kind.
    #[error(
        "the tensor `{tensor}` in `{}` has elements of type {found}; expected floating-point numbers of 16 to 64 bits, integers or booleans",
        file.display()
    )]
    ElementType {
        /// The file.
        file: PathBuf,
        /// The tensor.
        tensor: String,
        /// Its element type, as the format names it.
        found: String,
    },
    /// A value that no weight can have.
    #[error("the tensor `{tensor}` in `{}` holds {value} at {index:?}; expected a finite number that fits f32", file.display())]
    Value {
        /// The file.
        file: PathBuf,
        /// The tensor.
        tensor: String,
        /// The place, one index for each axis, counted from 0.
        index: Vec<usize>,
        /// The offending value.
        value: String,
    },
}

/// Reads every tensor of a safetensors file, PyTorch state dictionary or NumPy `.npz` archive.
///
/// A PyTorch state dictionary may lie at the top of the file or under one of the keys
/// `state_dict`, `model_state_dict`, `model_state`, `model`, `net`, `network`; names then start
/// below that key, and what the checkpoint holds beside it (an optimiser's state) is left unread.
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
    let mut file = File::open(path).map_err(|source| io_error(path, source))?;
    let mut collector = Collector::new(path, detect(path, &mut file)?);
    let checkpoint_key = match collector.format {
        WeightFormat::Safetensors => read_safetensors(file, &mut collector).map(|()| None),
        WeightFormat::Npz => npz::read(file, &mut collector).map(|()| None),
        WeightFormat::Pytorch => torch::read(&mut collector),
    }?;
    collector.finish(checkpoint_key)
}

/// How much of the beginning of a file tells its format.
const HEAD: u64 = 512;

/// Tells the format from the content, and leaves `file` at its beginning.
fn detect(path: &Path, file: &mut File) -> Result<WeightFormat, WeightsError> {
    let mut head = Vec::new();
    file.take(HEAD)
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
            "an HDF5 file, as Keras writes (save the arrays of get_weights() with numpy.savez)",
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

/// A little-endian length, then the JSON header that has it.
fn starts_like_safetensors(head: &[u8]) -> bool {
    // The format's own limit; a larger number here is some other file.
    const LONGEST_HEADER: u64 = 100_000_000;
    head.first_chunk()
        .is_some_and(|length| u64::from_le_bytes(*length) <= LONGEST_HEADER)
        && head.get(8) == Some(&b'{')
}

/// PyTorch and NumPy both write zip archives; the names inside tell which.
fn detect_in_zip(path: &Path, file: &mut File) -> Result<WeightFormat, WeightsError> {
    let foreign = |found: String| WeightsError::Foreign {
        file: path.to_owned(),
        found,
    };
    let archive = zip::ZipArchive::new(&mut *file)
        .map_err(|error| foreign(format!("a broken or truncated zip archive ({error})")))?;
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

fn io_error(path: &Path, source: io::Error) -> WeightsError {
    WeightsError::Io {
        file: path.to_owned(),
        source,
    }
}

fn read_safetensors(mut file: File, collector: &mut Collector) -> Result<(), WeightsError> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)
        .map_err(|source| io_error(collector.path, source))?;
    // Checks each tensor's shape and place against the bytes that are there.
    let tensors =
        SafeTensors::deserialize(&bytes).map_err(|error| collector.malformed(error.to_string()))?;
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

/// Gathers the tensors of one file, whatever its format, by the same rules.
struct Collector<'a> {
    path: &'a Path,
    format: WeightFormat,
    tensors: BTreeMap<String, Weight>,
    values: usize,
}

impl<'a> Collector<'a> {
    fn new(path: &'a Path, format: WeightFormat) -> Self {
        Self {
            path,
            format,
            tensors: BTreeMap::new(),
            values: 0,
        }
    }

    /// Accounts for a tensor before its bytes are read; returns its number of values.
    fn reserve(&mut self, tensor: &str, shape: &[usize]) -> Result<usize, WeightsError> {
        shape
            .iter()
            .try_fold(1_usize, |count, &extent| count.checked_mul(extent))
            .filter(|&count| count <= MAX_VALUES - self.values)
            .inspect(|&count| self.values += count)
            .ok_or_else(|| WeightsError::TooLarge {
                file: self.path.to_owned(),
                tensor: tensor.to_owned(),
                shape: shape.to_vec(),
            })
    }

    /// Adds a tensor whose little-endian elements are `bytes`, stored in `order`.
    fn add(
        &mut self,
        tensor: &str,
        shape: &[usize],
        order: Order,
        element: Element,
        bytes: &[u8],
    ) -> Result<(), WeightsError> {
        let values = element.decode(bytes).map_err(|fault| WeightsError::Value {
            file: self.path.to_owned(),
            tensor: tensor.to_owned(),
            index: order.index(fault.position, shape),
            value: fault.value,
        })?;
        let count: usize = shape.iter().product();
        if values.len() != count {
            let there = values.len();
            return Err(self.malformed(format!(
                "the tensor `{tensor}` of shape {shape:?} needs {count} values but has {there}"
            )));
        }
        let weight = Weight {
            shape: shape.to_vec(),
            values: order.to_row_major(values, shape),
        };
        if self.tensors.insert(tensor.to_owned(), weight).is_some() {
            return Err(self.malformed(format!("the tensor `{tensor}` is there twice")));
        }
        Ok(())
    }

    fn finish(self, checkpoint_key: Option<String>) -> Result<WeightFile, WeightsError> {
        if self.tensors.is_empty() {
            return Err(WeightsError::NoTensors {
                file: self.path.to_owned(),
                format: self.format,
            });
        }
        Ok(WeightFile {
            format: self.format,
            checkpoint_key,
            tensors: self.tensors,
        })
    }

    fn malformed(&self, reason: impl Into<String>) -> WeightsError {
        WeightsError::Malformed {
            file: self.path.to_owned(),
            format: self.format,
            reason: reason.into(),
        }
    }

    fn element_type(&self, tensor: &str, found: impl Into<String>) -> WeightsError {
        WeightsError::ElementType {
            file: self.path.to_owned(),
            tensor: tensor.to_owned(),
            found: found.into(),
        }
    }
}

#[cfg(test)]
mod tests;
