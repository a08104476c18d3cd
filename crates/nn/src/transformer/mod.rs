//! Transformers that classify texts: BERT (Devlin et al. 2019), DistilBERT (Sanh et al. 2019) and
//! RoBERTa (Liu et al. 2019), on the architecture of Vaswani et al. (2017).
//!
//! A text is a list of n pieces, numbers of rows of a table of embeddings; u is the number of units
//! of a state, h that of heads of attention. Normalisation is N(x) = (x − mean)/√(variance + ε)·g + b
//! over the u numbers of a state.
//!
//! ```text
//! x₀[p] = N(words[piece p] + positions[first + p] + segments[0])            [n, u]
//! q, k, v = x·Wqᵀ + bq, x·Wkᵀ + bk, x·Wvᵀ + bv; each head has u/h of their columns
//! a = softmax(q·kᵀ/√(u/h))·v, head beside head                              [n, u]
//! y = N(x + a·Woᵀ + bo)                                                     [n, u]
//! x′ = N(y + act(y·Wiᵀ + bi)·Wuᵀ + bu), the next block's x                  [n, u]
//! r = the last x of the first piece, or the mean of those of all pieces     [u]
//! logits = f(r·Wdᵀ + bd)·Wcᵀ + bc, or r·Wcᵀ + bc                            [classes]
//! ```
//!
//! act is GELU in one of two forms, or ReLU; f is tanh (BERT's pooler, RoBERTa's head) or ReLU
//! (DistilBERT). RoBERTa counts positions from behind the number of its padding. There is no
//! dropout, neither in answers nor in training, and no padding: each text has its own length.
//!
//! * [`shape`]: sizes and parameters.
//! * [`kernels`], [`backward`]: logits, and gradients with respect to embeddings and parameters,
//!   of `product`, `rows` and `attention`.
//! * [`tensor`]: the same by burn's tensors, for devices without these kernels.
//! * [`masked`]: which pieces may stand where a text is masked.
//!
//! A text's numbers are the same bits alone, in any batch, at any position and on any number of
//! threads.

mod attention;
pub mod backward;
pub mod kernels;
pub mod masked;
mod product;
#[cfg(test)]
mod reference;
mod rows;
pub mod shape;
pub mod tensor;
#[cfg(test)]
mod tests;
