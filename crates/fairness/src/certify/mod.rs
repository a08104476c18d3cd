//! Certified fairness: inputs for which it is proved that no protected substitution changes the
//! decision on them, usually their predicted class
//! ([`Decision::is_kept`](probity_nn::decision::Decision::is_kept)).
//!
//! A substitution is what the audit tries: on a table, any combination of values of the protected
//! attributes ([`table`]); in a text, another value in the place of *one* protected term
//! ([`text`]). A box is a set of substitutions; the network's outputs are bounded over it
//! ([`probity_nn::interval`]). An input is certified when one box over all substitutions (in a
//! text: one for each term that it holds, and each number of tokens that may replace it) keeps the
//! predicted class, or when boxes that were split in two where the first did not, do. A box of a
//! single substitution is that substitution's output up to rounding, so splitting to the end
//! decides all but ties; it is enumeration then, and a certificate as well.
//!
//! A certificate is about the class as the reference device (flex) computes it, to the last bit:
//! the theorems are those of [`probity_nn::interval::fnn`] and [`probity_nn::interval::recurrent`].
//! An input without a certificate need not be unfair; [`run`] counts the fair ones by trying all
//! substitutions ([`enumerate`]). Where there are no bounds, as of a transformer, trying all of
//! them is the certificate.

pub mod enumerate;
pub mod parts;
pub mod run;
pub mod specification;
pub mod table;
pub mod text;

use serde::{Deserialize, Serialize};

/// The certificate of an input: how it was proved to be fair, if it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Certificate {
    /// Fair, by one box over all substitutions.
    OneBox,
    /// Fair, by boxes that were split.
    Split,
    /// Fair, by trying all substitutions.
    Tried,
    /// Not proved to be fair.
    None,
}

impl Certificate {
    /// Whether the input is proved to be fair.
    pub fn holds(self) -> bool {
        self != Certificate::None
    }

    /// The certificate of an input whose boxes were split `splits` times; `kept` says whether all
    /// of them keep the class.
    fn from_splits(kept: bool, splits: u32) -> Certificate {
        match (kept, splits) {
            (false, _) => Certificate::None,
            (true, 0) => Certificate::OneBox,
            (true, _) => Certificate::Split,
        }
    }

    /// The name of the certificate in reports.
    pub fn name(self) -> &'static str {
        match self {
            Certificate::OneBox => "one-box",
            Certificate::Split => "split",
            Certificate::Tried => "tried",
            Certificate::None => "none",
        }
    }
}
