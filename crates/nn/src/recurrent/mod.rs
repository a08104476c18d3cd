//! Recurrent networks: LSTM and GRU, any number of layers and units, in one or both directions.
//!
//! * [`network`]: shape and parameters, in PyTorch's layout.
//! * [`kernels`], [`backward`], [`prefix`]: hand-derived CPU kernels for logits, gradients with
//!   respect to inputs and parameters, and texts that share a prefix. Sixteen texts run side by
//!   side (`crate::lanes`); `cell` and `bounds` say what a unit does at a step.
//! * [`interval`]: bounds on the logits over replacements of a word, and learning from them.
//! * [`tensor`]: the same network as burn operations, for other devices.
//!
//! A text's numbers are the same bits alone, in any batch, at any position and on any number of
//! threads; padding never enters.

pub mod backward;
mod block;
mod bounds;
mod cell;
pub mod interval;
pub mod kernels;
mod layer;
pub mod network;
pub mod prefix;
#[cfg(test)]
mod reference;
pub mod tensor;
#[cfg(test)]
mod tests;
