//! The interface that a repair of texts needs of a kind of networks.

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::found::{FoundRun, FoundText, Written};
use crate::modality::TextSubject;
use crate::opened::Opened;
use crate::repair::error::RepairError;
use crate::repair::repairable::ObserveEpoch;
use crate::repair::specification::RepairSpecification;
use crate::text::domain::TextDomain;
use crate::text::source::Source;
use probity_data::read::RowNumbers;
use probity_nn::decision::Decision;
use probity_nn::text_reader::{EncodedText, TextReader};
use probity_nn::train::options::Learning;
use probity_nn::train::run::Trainable;
use probity_nn::train::text::LabelledTexts;
use probity_nn::train::text::Substitutions;
use probity_nn::train::{Split, TrainSpecification};
use probity_nn::{Classifier, ModelError};
use probity_run::specification::FieldError;
use probity_text::lexicon::Lexicon;
use probity_text::tokenizer::TokenizerError;

/// Texts to learn from.
#[derive(Debug, Clone)]
pub struct RepairTexts {
    /// The texts of the model, and the added ones after them.
    pub texts: Vec<Vec<i32>>,
    /// The classes of the texts.
    pub labels: Vec<u32>,
    /// The parts of the texts; the added ones train.
    pub split: Split,
    /// The substitutions that are possible in the texts, for certified training.
    pub substitutions: Option<Substitutions>,
}

/// The parts that a [`TextLearner`] is made of.
pub struct LearnerParts<'a, L: TextLearner> {
    /// The specification: what is repaired, and how.
    pub specification: &'a RepairSpecification,
    /// The model.
    pub model: L::Model,
    /// The labelled texts that it was trained on.
    pub set: L::Set,
    /// The specification by which the model was trained.
    pub trained: &'a TrainSpecification,
    /// The options by which networks are trained now.
    pub learning: &'a Learning,
    /// The labelled texts as they are written.
    pub texts: &'a [String],
    /// The audits whose texts are learnt from.
    pub runs: &'a [FoundRun],
    /// The protected terms.
    pub lexicon: &'a Lexicon,
}

/// A kind of networks that classify texts: a model with the training that made it, which trains,
/// asks and saves others like it.
///
/// Searches and exchanges walk over the words of its [`reader`](Self::reader); what the network
/// itself reads of a text (the same words, or pieces) is its own affair.
pub trait TextLearner: Sized + Send + Sync {
    /// The model as it lies in its directory.
    type Model;
    /// The labelled texts of a training.
    type Set: Trainable;
    /// A trained network.
    type Network: Clone + Serialize + DeserializeOwned + Send + Sync;
    /// A network that can be asked.
    type Asked: Send + Sync;

    /// Refuses fields that have no meaning for such networks.
    ///
    /// # Errors
    /// The field of `specification`.
    fn expect_fitting(specification: &RepairSpecification) -> Result<(), FieldError>;

    /// The model in `directory`.
    ///
    /// # Errors
    /// When there is none of this kind.
    fn open_model(directory: &Path) -> Result<Opened<Self::Model>, RepairError>;

    /// The learner of `parts`.
    ///
    /// # Errors
    /// When they do not fit each other.
    fn new(parts: LearnerParts<'_, Self>) -> Result<Self, RepairError>;

    /// The reader that splits texts into the words that are exchanged.
    fn reader(&self) -> &TextReader;

    /// Encodes `text` in these words, as far as they may have a say in what a network reads.
    ///
    /// # Errors
    /// When it cannot be split.
    fn encode(&self, text: &str) -> Result<EncodedText, TokenizerError>;

    /// The part of an encoded text that has a say in what a network reads.
    fn window(&self, source: Source) -> Source;

    /// The model, as a search asks it.
    fn subject(&self) -> TextSubject<'_>;

    /// The labelled texts as networks read them.
    fn labelled(&self) -> LabelledTexts<'_>;

    /// The numbers of the rows of their file where the labelled texts stand.
    fn rows(&self) -> &RowNumbers;

    /// The model's own network.
    fn own(&self) -> Self::Network;

    /// Makes `network` ready to be asked on the reference device.
    ///
    /// # Errors
    /// When its parts do not fit each other.
    fn ask(&self, network: &Self::Network) -> Result<Self::Asked, RepairError>;

    /// Uses `asked` as a classifier of the rows of `domain`, whose sources are those of `texts`.
    fn of_rows<'a>(
        &'a self,
        asked: &'a Self::Asked,
        domain: &TextDomain,
        texts: &[&Written],
    ) -> Box<dyn Classifier + 'a>;

    /// The answers of `asked` about the labelled texts `items`, row-major `[items, classes]`.
    ///
    /// # Errors
    /// When it cannot answer.
    fn logits(&self, asked: &Self::Asked, items: &[u32]) -> Result<Vec<f32>, ModelError>;

    /// Both sides of the pairs `samples` as networks read them.
    ///
    /// # Errors
    /// When one cannot be split.
    fn read_as_learnt(&self, samples: &[&FoundText]) -> Result<Vec<[Vec<i32>; 2]>, RepairError>;

    /// A network that learns `set`, all its randomness keyed by `seed`; `None` when stopped.
    ///
    /// # Errors
    /// When it cannot be trained.
    fn train(
        &self,
        set: &RepairTexts,
        seed: u64,
        observe: &mut ObserveEpoch<'_>,
    ) -> Result<Option<Self::Network>, RepairError>;

    /// The number of `texts` that bounds on `network` prove to be fair; `None` where there are no
    /// bounds, and those that are fair are certified by having been tried.
    fn certified(
        &self,
        network: &Self::Network,
        decision: &Decision,
        texts: &[&Written],
    ) -> Option<u64>;

    /// Whether `stored`, of a checkpoint, is such a network.
    fn is_network(&self, stored: &Self::Network) -> bool;

    /// Writes `network` as a model into `directory`; returns its SHA-256. `split` deals the
    /// labelled texts.
    ///
    /// # Errors
    /// When it cannot be written.
    fn save(
        &self,
        network: &Self::Network,
        split: &Split,
        directory: &Path,
    ) -> Result<String, RepairError>;
}
