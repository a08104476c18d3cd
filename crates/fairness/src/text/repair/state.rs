//! What of a repair is done: what its checkpoint holds.
//!
//! A search that is over and a network that is complete, with all that was measured of it, are never computed again.

use serde::{Deserialize, Serialize};

use super::found::FoundText;
use super::summary::RepairedText;
use probity_nn::text_train::TrainedText;

/// A complete network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Done {
    /// Number of the repeat, from 0.
    pub repeat: u32,
    /// The network.
    pub trained: TrainedText,
    /// What is reported of it.
    pub figures: RepairedText,
    /// Share of the samples that no network of its repeat learnt from which it treats fairly.
    pub evidence: f64,
}

/// What of a repair is done.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TextRepairState {
    /// What the search found from the training texts.
    pub(super) samples: Option<Vec<FoundText>>,
    /// The independent set.
    pub(super) independent: Option<Vec<Vec<i32>>>,
    /// Networks without a remedy.
    pub(super) controls: Vec<Done>,
    /// Networks with the remedy, by position of their share.
    pub(super) networks: Vec<(u32, Done)>,
}

impl TextRepairState {
    /// What a repair by another method, with all else equal, can take over: the searches and the controls.
    pub fn for_other_method(self) -> TextRepairState {
        TextRepairState {
            networks: Vec::new(),
            ..self
        }
    }

    /// What a repair with texts of another search strategy, with all else equal, can take over: the independent set and the
    /// controls.
    pub fn for_other_samples(self) -> TextRepairState {
        TextRepairState {
            samples: None,
            ..self.for_other_method()
        }
    }
}
