//! The interface that a repair needs of a modality.

use std::ops::ControlFlow;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::change::{Details, Figures};
use super::error::RepairError;
use super::pool::Pool;
use super::specification::RepairSpecification;
use super::summary::PartSizes;
use probity_nn::ModelError;
use probity_nn::modality::ModalityName;
use probity_run::specification::file::Record;
use probity_tensor::device::ComputeDevice;

/// The samples drawn from one pool, with their labels.
#[derive(Debug, Clone)]
pub struct Drawn<'a, S, L> {
    /// Number of the pool.
    pub pool: usize,
    /// The samples.
    pub samples: Vec<&'a S>,
    /// The labels of the samples.
    pub labels: Vec<L>,
}

/// The samples that a repair `R` drew from one pool.
pub type DrawnBy<'a, R> = Drawn<'a, <R as Repairable>::Sample, <R as Repairable>::Label>;

/// The inputs that a network learns beside the training part.
#[derive(Debug, Clone)]
pub enum Remedy<'a, S, L> {
    /// The network learns nothing else: it is a control.
    None,
    /// The network learns these samples.
    Samples(Vec<Drawn<'a, S, L>>),
    /// The network learns the worst protected substitution of each input.
    Certified,
}

/// The inputs that a network learns, and how many of them are variants of samples.
pub struct TrainingSet<T> {
    /// The inputs.
    pub inputs: T,
    /// Number of variants of samples among them.
    pub variants: u64,
}

/// A function that is called after each epoch; may stop.
pub type ObserveEpoch<'a> = dyn FnMut() -> ControlFlow<()> + 'a;

/// A model to repair with its labelled inputs, opened and checked.
pub trait Repairable: Sized + Sync {
    /// The kind of inputs that the model classifies.
    const MODALITY: ModalityName;
    /// A trained network.
    type Network: Clone + Send + Sync;
    /// A network in a checkpoint.
    type Stored: Serialize + DeserializeOwned + Send + Sync;
    /// A discriminatory individual.
    type Sample: Send + Sync;
    /// The label that all variants of a discriminatory individual shall get.
    type Label: Copy + Send + Sync;
    /// The results of the repair's own searches; empty until they are done.
    type Searched: Clone + Default + Serialize + DeserializeOwned + Send + Sync;
    /// Inputs that a network learns.
    type Inputs: Sync;
    /// A network that can be asked.
    type Asked: Send + Sync;
    /// The figures that are reported of one network.
    type Figures: Figures;
    /// The part of the summary that only this modality has.
    type Details: Details;

    /// Opens what `specification` names, each file once, notes it in `record`, and checks that all
    /// fit each other.
    ///
    /// # Errors
    /// See [`RepairError`].
    fn open(
        specification: &RepairSpecification,
        device: &ComputeDevice,
        record: &mut Record,
    ) -> Result<Self, RepairError>;

    /// The parts of the labelled inputs.
    fn parts(&self) -> PartSizes;

    /// Number of passes over the training part.
    fn epochs(&self) -> u32;

    /// Does the searches that `searched` lacks, and calls `save` after each; `observe` may stop.
    ///
    /// # Errors
    /// When a search finds nothing or is stopped.
    fn search(
        &self,
        searched: &mut Self::Searched,
        save: &mut dyn FnMut(&Self::Searched) -> Result<(), RepairError>,
        observe: &mut ObserveEpoch<'_>,
    ) -> Result<(), RepairError>;

    /// The pools of samples that may be learnt from, and of those that may not, by run.
    fn pools(&self) -> &[Pool<Self::Sample>];

    /// The samples that the repair's own search found to learn from, where it searches.
    fn searched_pool<'s>(&self, searched: &'s Self::Searched) -> Option<&'s [Self::Sample]>;

    /// The model's own network.
    fn own(&self) -> Self::Network;

    /// Makes `network` ready to be asked on the reference device.
    ///
    /// # Errors
    /// When its parts do not fit each other.
    fn ask(&self, network: &Self::Network) -> Result<Self::Asked, RepairError>;

    /// One label for all variants of each of `samples` of the pool `pool`, by the rule of the
    /// specification; the first voter decides ties.
    ///
    /// # Errors
    /// When a voter cannot answer.
    fn labels(
        &self,
        pool: usize,
        samples: &[&Self::Sample],
        voters: &[Self::Asked],
    ) -> Result<Vec<Self::Label>, ModelError>;

    /// The training part with `remedy`, in the repeat `repeat`.
    ///
    /// # Errors
    /// When a sample cannot be read as the network reads it.
    fn training_set(
        &self,
        remedy: &Remedy<'_, Self::Sample, Self::Label>,
        repeat: u32,
    ) -> Result<TrainingSet<Self::Inputs>, RepairError>;

    /// A network that learns `set`, all its randomness keyed by `seed`; `None` when stopped.
    ///
    /// # Errors
    /// When it cannot be trained.
    fn train(
        &self,
        set: &TrainingSet<Self::Inputs>,
        seed: u64,
        observe: &mut ObserveEpoch<'_>,
    ) -> Result<Option<Self::Network>, RepairError>;

    /// Whether a network gives all training inputs one class, though they have several.
    ///
    /// # Errors
    /// When it cannot answer.
    fn has_collapsed(&self, asked: &Self::Asked) -> Result<bool, RepairError>;

    /// Accuracy on the validation part, if there is one.
    ///
    /// # Errors
    /// When the network cannot answer.
    fn validation_accuracy(&self, asked: &Self::Asked) -> Result<Option<f64>, RepairError>;

    /// The discriminatory figure that a share and a network are chosen by. `left` are samples that
    /// no network of the repeat learnt from.
    ///
    /// # Errors
    /// When the network cannot answer.
    fn discriminatory(
        &self,
        asked: &Self::Asked,
        left: &[&Self::Sample],
    ) -> Result<f64, RepairError>;

    /// The figures that are reported of a network.
    ///
    /// # Errors
    /// When it cannot be measured.
    fn figures(
        &self,
        network: &Self::Network,
        asked: &Self::Asked,
        searched: &Self::Searched,
    ) -> Result<Self::Figures, RepairError>;

    /// The form of `network` for a checkpoint.
    fn store(&self, network: &Self::Network) -> Self::Stored;

    /// Whether `stored`, of a checkpoint, is a network of this repair.
    fn is_stored(&self, stored: &Self::Stored) -> bool;

    /// Whether the searches of this repair can have given `searched`, of a checkpoint.
    fn is_searched(&self, searched: &Self::Searched) -> bool;

    /// The network of a checkpoint.
    fn restore(&self, stored: &Self::Stored) -> Self::Network;

    /// Writes `network` as a model into `directory`, with where it comes from; returns its SHA-256.
    ///
    /// # Errors
    /// When it cannot be written.
    fn save(&self, network: &Self::Network, directory: &Path) -> Result<String, RepairError>;

    /// The part of the summary that only this modality has, of the network that was `kept`.
    ///
    /// # Errors
    /// When it cannot be measured.
    fn details(
        &self,
        kept: &Self::Network,
        searched: &Self::Searched,
    ) -> Result<Self::Details, RepairError>;
}
