//! The only place that knows devices: which there are, and the computations that run on them.

pub mod device;
pub mod nearest;
#[cfg(feature = "onnx")]
pub mod onnx;
