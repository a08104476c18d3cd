//! The kinds of inputs that are classified: rows of a table or texts.
//!
//! A [`Modality`] is a model under test with the inputs that a search begins at, opened, hashed and
//! decoded once. An audit asks it for everything that differs between tables and texts: its inputs
//! and their variants, the seeds, how a strategy is made, how an input of a pair is written and
//! read, what a summary says besides. Search, counting, estimates, run directory, samples file and
//! verification are the same for all.

mod table;
mod text;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::{ControlFlow, Range};
use std::path::Path;

use arrow_array::RecordBatch;
use arrow_schema::Schema as ArrowSchema;
use serde::Serialize;

pub use table::{TableCase, TableColumns, TableDetails, TableInputs, TableWitness};
pub(crate) use text::AsWritten;
pub use text::{
    KeptBy, NamingTexts, Origins, TextCase, TextCounts, TextDetails, TextInputs, TextParts,
    TextSubject, TextTally, TextWitness, ValiditySummary,
};

use super::audit_error::AuditError;
use super::domain::Domain;
use super::estimate::{SetCounts, count_discriminatory};
use super::finds::space::FindSpace;
use super::model_under_test::{ModelAccess, ModelUnderTest};
use super::pairs::Pair;
use super::population::{People, Plausibility};
use super::rank::Rank;
use super::specification::{AuditSpecification, SearchSpecification, TextSpecification};
use super::strategies::tuning::Tuning;
use super::strategies::{StrategyName, WithStrategy};
use super::text::exchange_counts::ExchangeCounts;
use probity_data::read::ReadError;
use probity_data::table::ReadCounts;
pub use probity_nn::modality::ModalityName;

use probity_nn::ModelError;
use probity_predictor::KillHandle;
use probity_predictor::own_numbers::BinEffect;
use probity_tensor::device::ComputeDevice;

/// The method of a search: a strategy and what it is made of besides model and inputs.
#[derive(Debug, Clone, Copy)]
pub struct Method<'a> {
    /// The strategy, of the global phase at least.
    pub strategy: StrategyName,
    /// Steps and objective.
    pub search: &'a SearchSpecification,
    /// Options of single strategies.
    pub tuning: &'a Tuning,
    /// Options of searches on texts.
    pub text: &'a TextSpecification,
    /// The rank that says which pairs are the worst, where those are looked for.
    pub rank: Option<Rank>,
    /// Seed of all random choices.
    pub seed: u64,
}

/// A set of protected attributes with the inputs that a share is estimated of.
pub struct EstimatedSet<D> {
    /// Names of the protected attributes, taken together.
    pub protected: Vec<String>,
    /// The domain that inputs are drawn from.
    pub domain: D,
    /// Number of inputs to draw.
    pub inputs: u64,
}

/// A difference between the two sides of a pair: a value that one side has and the other has not.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The protected attribute.
    pub attribute: String,
    /// The value of the attribute in x.
    pub from: String,
    /// The value of the attribute in x'.
    pub to: String,
}

/// Writes the change, such as `sex: Female -> Male`.
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} -> {}", self.attribute, self.from, self.to)
    }
}

/// A pair in the words of its schema, or as texts.
#[derive(Debug, Clone)]
pub struct ShownPair<'a> {
    /// Values of x and of x', by name.
    pub sides: [Vec<(&'a str, String)>; 2],
    /// The differences between the two sides.
    pub changed: Vec<Change>,
}

/// The account of what reading the inputs changed or left out.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum InputsRead {
    /// Rows of a table.
    Table {
        /// Counts of what reading the data changed or left out.
        data: ReadCounts,
        /// The effect on a predictor's decisions on rows of the data when numbers are replaced by
        /// those that stand for their bins.
        #[serde(skip_serializing_if = "Option::is_none")]
        bins: Option<BinEffect>,
    },
    /// Texts.
    Text {
        /// Counts of the texts by what became of them.
        texts: TextCounts,
    },
}

/// A model under test and its inputs.
pub trait Modality: Sync + Sized {
    /// The name of the modality.
    const NAME: ModalityName;
    /// The type of the domain: inputs and their variants.
    type Domain: Domain;
    /// The notes that are taken of the pairs while they are written.
    type Tally: Default;
    /// The part of a summary that only this modality has.
    type Details: Serialize;
    /// The type that re-checks pairs.
    type Witness: Witness;

    /// Opens and checks everything that `specification` names, for a search on `device`.
    ///
    /// # Errors
    /// See [`AuditError`].
    fn open(specification: &AuditSpecification, device: &ComputeDevice)
    -> Result<Self, AuditError>;

    /// The SHA-256 of each thing that was opened, by role: `model`, `data`, and others.
    fn sha256(&self) -> &BTreeMap<String, String>;

    /// Names of the protected attributes.
    fn protected(&self) -> &[String];

    /// The names of the possible decisions, by number: the classes, unless decisions are made
    /// otherwise.
    fn classes(&self) -> &[String];

    /// The class that is good to get.
    fn favourable(&self) -> &str;

    /// The model under test.
    fn model(&self) -> &ModelUnderTest<'_>;

    /// Inputs and their variants.
    fn domain(&self) -> &Self::Domain;

    /// The inputs at which a search begins whose strategy has none of its own.
    fn seeds(&self, clusters: usize, count: usize, seed: u64) -> Vec<Vec<i32>>;

    /// Whether a search from the seed of this number can come to `row`, an input of the domain: a
    /// checkpoint may say what is untrue.
    fn is_reached(&self, seed: u64, row: &[i32]) -> bool;

    /// Inputs that show whether the model tells any apart: at most `most` of the data and, where
    /// there is a domain to draw from, as many random ones.
    fn probes(&self, most: usize, seed: u64) -> Vec<Vec<i32>>;

    /// Makes the strategy of `method` around `model`, this case's own or one that watches it, and
    /// does `work` with it.
    ///
    /// # Errors
    /// When the strategy needs gradients and the model gives none.
    fn with_strategy<W: WithStrategy>(
        &self,
        method: &Method<'_>,
        model: ModelAccess<'_>,
        work: W,
    ) -> Result<W::Output, AuditError>;

    /// The sets that shares are estimated of: each protected attribute alone and, if there are
    /// several, all jointly; where the case grades individuals, last all jointly of inputs drawn
    /// from the network that it grades by. Each from at most `inputs` inputs.
    ///
    /// # Errors
    /// When a protected set cannot be searched.
    fn estimated_sets(
        &self,
        inputs: u64,
        seed: u64,
    ) -> Result<Vec<EstimatedSet<Self::Domain>>, AuditError>;

    /// Counts the discriminatory inputs among those of `sets`, the [`Self::estimated_sets`]: of
    /// `inputs` inputs those that `items` names. `observe` is told now and then how many are done,
    /// of how many, and may stop it.
    ///
    /// # Errors
    /// When the model cannot answer.
    fn count_sets(
        &self,
        sets: &[EstimatedSet<Self::Domain>],
        items: &dyn Fn(u64) -> Range<u64>,
        seed: u64,
        observe: &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
    ) -> Result<SetCounts, AuditError> {
        let model = self.model().judge();
        let length = |items: Range<u64>| items.end - items.start;
        let all = sets.iter().map(|set| length(items(set.inputs))).sum();
        let mut counts = SetCounts::default();
        let mut before = 0;
        let _ = observe(0, all);
        for set in sets {
            let items = items(set.inputs);
            let observe = &mut |done| observe(before + done, all);
            let (done, found) =
                count_discriminatory(model, &set.domain, items.clone(), seed, observe)?;
            counts.of_sets.push([done, found]);
            counts.is_cut |= done < length(items.clone());
            before += length(items);
        }
        Ok(counts)
    }

    /// The people of the data whose decisions are asked about; none where the estimated sets are
    /// of the data already.
    ///
    /// # Errors
    /// When their groups cannot be told.
    fn people(&self) -> Result<Option<People<'_>>, AuditError> {
        Ok(None)
    }

    /// The plausibility that grades individuals, where that was asked for.
    fn plausibility(&self) -> Option<&Plausibility> {
        None
    }

    /// The space in which finds are looked at together.
    fn find_space(&self) -> Box<dyn FindSpace + '_>;

    /// Returns this case for a search with the seed of `specification`, where a case holds the
    /// inputs that a search begins at; `None` where [`Modality::seeds`] gives them for every seed.
    ///
    /// # Errors
    /// When the model cannot answer.
    fn begun_anew(
        &self,
        specification: &AuditSpecification,
        device: &ComputeDevice,
    ) -> Result<Option<Self>, AuditError>;

    /// The account of what reading the inputs changed or left out.
    fn inputs_read(&self) -> InputsRead;

    /// The handle that ends the process of a predictor, if there is one.
    fn ender(&self) -> Option<&KillHandle> {
        None
    }

    /// The largest difference between two answers of a predictor to one row.
    fn instability(&self) -> f32 {
        0.0
    }

    /// Protected attributes that the model has no input for.
    fn no_inputs(&self) -> &[String] {
        &[]
    }

    /// The effect on a predictor's decisions when the numbers of the data are replaced by those
    /// that stand for their bins, where it is asked about bins.
    fn bin_effect(&self) -> Option<BinEffect> {
        None
    }

    /// What users are to know of the answers of a predictor ([`probity_predictor::remarks`]).
    fn remarks(&self) -> &[String] {
        &[]
    }

    /// The pair in the form in which people read it.
    fn shown(&self, pair: &Pair<'_>) -> ShownPair<'_>;

    /// Columns of the samples file.
    fn columns(&self) -> ArrowSchema;

    /// The rows of `pairs` in these columns, and the notes of them.
    ///
    /// # Errors
    /// When an input cannot be shown.
    fn batch(
        &self,
        columns: &ArrowSchema,
        pairs: &[Pair<'_>],
        tally: &mut Self::Tally,
    ) -> Result<RecordBatch, AuditError>;

    /// The part of the summary that only this modality has.
    fn details(
        &self,
        specification: &AuditSpecification,
        tally: Self::Tally,
        exchanges: Option<&ExchangeCounts>,
    ) -> Self::Details;

    /// Opens the witness that re-checks the pairs of an audit: its model, and the means to tell
    /// which inputs are variants. `model` is where the model is now, if it has moved; `samples` the
    /// file of the pairs, by which it is known what has to be read.
    ///
    /// # Errors
    /// See [`AuditError`].
    fn witness(
        specification: &AuditSpecification,
        model: Option<&Path>,
        samples: &Path,
    ) -> Result<Self::Witness, AuditError>;
}

/// The way in which an input of a pair is read from a samples file.
pub trait SampleInputs: Sync {
    /// The columns that hold the input of `side`, `x` or `other`.
    fn columns(&self, side: &str) -> Vec<String>;

    /// The input whose `cells` stand in these columns.
    ///
    /// # Errors
    /// A message that says, with the place that `refuse` names, what the file holds in place of an
    /// input.
    fn read(
        &self,
        cells: &[&str],
        refuse: &dyn Fn(usize, String) -> ReadError,
    ) -> Result<Vec<i32>, AuditError>;

    /// The numbers in `cells` that a predictor was asked with, one for each numeric attribute; NaN
    /// where the number is the one that the code of the input stands for.
    fn numbers(&self, _cells: &[&str]) -> Vec<f64> {
        Vec::new()
    }

    /// The text in `cells`; empty where the input is no text.
    fn text(&self, _cells: &[&str]) -> String {
        String::new()
    }
}

/// A pair as read back from a samples file.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// Number of the seed whose walk found the pair.
    pub seed: u64,
    /// Row of the file that this seed is, from 1, where the file of samples says so.
    pub source_row: Option<u64>,
    /// The text that x was made of, where the file is one of texts.
    pub origin: Option<String>,
    /// The input x.
    pub row: Vec<i32>,
    /// The variant x'.
    pub other: Vec<i32>,
    /// Numbers of x and of x' that a predictor was asked with: see [`SampleInputs::numbers`].
    pub numbers: [Vec<f64>; 2],
    /// x and x' as they are written, where the file is one of texts.
    pub texts: [String; 2],
    /// The decision on x, as stated in the file.
    pub label: String,
    /// The decision on x', as stated in the file.
    pub other_label: String,
}

/// The answers of a model about a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answers {
    /// The decisions on both sides, where they differ.
    pub decided: Option<[u32; 2]>,
    /// Whether the decisions are equal in f64 arithmetic.
    pub by_rounding: bool,
}

/// The interface that re-checks pairs, with nothing of a search in between.
pub trait Witness: Sync {
    /// The reader of the inputs of pairs.
    fn inputs(&self) -> Box<dyn SampleInputs + '_>;

    /// The names of the possible decisions, by number.
    fn classes(&self) -> &[String];

    /// The SHA-256 of each thing that was opened, by role.
    fn sha256(&self) -> &BTreeMap<String, String>;

    /// The handle that ends the process of a predictor, if there is one.
    fn ender(&self) -> Option<&KillHandle> {
        None
    }

    /// Checks that the sides of `pair` are variants of each other.
    ///
    /// # Errors
    /// The reason why they are not, as a sentence.
    fn are_variants(&self, pair: &Sample) -> Result<(), String>;

    /// The answers of the model about each of `samples`, asked anew.
    ///
    /// # Errors
    /// When it cannot answer.
    fn answers(&self, samples: &[&Sample]) -> Result<Vec<Answers>, ModelError>;
}
