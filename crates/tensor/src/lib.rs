//! Devices, and the computations that run on them: the only crate that knows which devices there
//! are.
//!
//! *Devices propose, the reference decides* ([`proposer`]): a device gives distances with a proven
//! bound on their error ([`nearest`]), or sums of small whole numbers without an error ([`whole`]).
//! The exact reference of the analyser that asks decides what lies within the bound, so that
//! results are the same bytes on every device.

pub mod device;
pub mod nearest;
#[cfg(feature = "onnx")]
pub mod onnx;
pub mod proposer;
pub mod whole;
