//! The formats of weight files, and the errors of reading them.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// The most values that one file may hold in all its tensors: a gibibyte as `f32`.
pub const MAX_VALUES: usize = 1 << 28;

/// The formats that [`read_weights`](super::read_weights) knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WeightFormat {
    /// The safetensors format of Hugging Face.
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

/// The reason why a weight file could not be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WeightsError {
    /// The file system refused.
    #[error("cannot read the weight file `{}`: {source}", file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file has no content at all.
    #[error(
        "the weight file `{}` is empty; expected a safetensors file, a PyTorch state dictionary or a NumPy .npz archive",
        file.display()
    )]
    Empty {
        /// The file.
        file: PathBuf,
    },
    /// The file has content of some other kind.
    #[error(
        "`{}` is no weight file but {found}; expected a safetensors file, a PyTorch state dictionary or a NumPy .npz archive",
        file.display()
    )]
    Foreign {
        /// The file.
        file: PathBuf,
        /// The kind of content that the file seems to have.
        found: String,
    },
    /// The file starts like a known format and then breaks its rules.
    #[error("`{}` starts like a {format} but cannot be read as one, so it may be truncated: {reason}", file.display())]
    Malformed {
        /// The file.
        file: PathBuf,
        /// The format that it starts like.
        format: WeightFormat,
        /// What is wrong.
        reason: String,
    },
    /// The file is well-formed but has no weights.
    #[error("the {format} `{}` holds no tensors", file.display())]
    NoTensors {
        /// The file.
        file: PathBuf,
        /// The format of the file.
        format: WeightFormat,
    },
    /// The file has several networks.
    #[error(
        "`{}` holds what may be the network under more than one key: {}; save the one that is meant alone, such as torch.save(checkpoint[\"{}\"], FILE)",
        file.display(), keys.join(", "), keys.first().map_or("", String::as_str)
    )]
    Several {
        /// The file.
        file: PathBuf,
        /// The keys at the top of the file.
        keys: Vec<String>,
    },
    /// The file has more values than are accepted.
    #[error(
        "the tensor `{tensor}` of shape {shape:?} brings `{}` above {MAX_VALUES} values, more than Probity reads from one file",
        file.display()
    )]
    TooLarge {
        /// The file.
        file: PathBuf,
        /// The tensor that exceeds the limit.
        tensor: String,
        /// The shape of the tensor.
        shape: Vec<usize>,
    },
    /// A tensor has elements that aren't numbers of a supported kind.
    #[error(
        "the tensor `{tensor}` in `{}` has elements of type {found}; expected floating-point numbers of 16 to 64 bits, integers or booleans",
        file.display()
    )]
    ElementType {
        /// The file.
        file: PathBuf,
        /// The tensor.
        tensor: String,
        /// The type of its elements, as the format names it.
        found: String,
    },
    /// A tensor has a value that no weight can have.
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

/// Makes the error of reading a file, for `map_err`.
pub(super) fn io_error(path: &Path, source: io::Error) -> WeightsError {
    WeightsError::Io {
        file: path.to_owned(),
        source,
    }
}
