//! The names of devices; only the tensor layer knows what they are.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The error that no device has this name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the device '{0}' is not known; expected auto, flex, ndarray, wgpu or cuda")]
pub struct UnknownDevice(pub String);

/// A device by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceName {
    /// The first GPU that answers, else flex.
    #[default]
    Auto,
    /// The CPU backend of burn.
    Flex,
    /// The older CPU backend of burn.
    Ndarray,
    /// A GPU through wgpu (WGSL).
    Wgpu,
    /// An NVIDIA GPU through CUDA.
    Cuda,
}

impl DeviceName {
    /// All device names.
    pub const ALL: [DeviceName; 5] = [
        DeviceName::Auto,
        DeviceName::Flex,
        DeviceName::Ndarray,
        DeviceName::Wgpu,
        DeviceName::Cuda,
    ];
}

impl FromStr for DeviceName {
    type Err = UnknownDevice;

    fn from_str(text: &str) -> Result<DeviceName, UnknownDevice> {
        let named = Self::ALL.into_iter().find(|name| name.to_string() == text);
        named.ok_or_else(|| UnknownDevice(text.to_owned()))
    }
}

impl fmt::Display for DeviceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DeviceName::Auto => "auto",
            DeviceName::Flex => "flex",
            DeviceName::Ndarray => "ndarray",
            DeviceName::Wgpu => "wgpu",
            DeviceName::Cuda => "cuda",
        })
    }
}
