//! What is classified: rows of a table or texts.
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
    Origins, TextCase, TextCounts, TextDetails, TextInputs, TextParts, TextSubject, TextTally,
    TextWitness, ValiditySummary,
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
use probity_predictor::Ender;
use probity_predictor::own_numbers::BinEffect;
use probity_predictor::probabilities::RoundedRows;
use probity_tensor::device::ComputeDevice;

/// How to search: a strategy and what it is made of besides model and inputs.
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
    /// Which pairs are the worst, where those are looked for.
    pub rank: Option<Rank>,
    /// Seed of all random choices.
    pub seed: u64,
}

/// What a share is estimated of.
pub struct EstimatedSet<D> {
    /// Names of the protected attributes, taken together.
    pub protected: Vec<String>,
    /// Where inputs are drawn from.
    pub domain: D,
    /// Inputs to draw.
    pub inputs: u64,
}

/// What one side of a pair has and the other has not.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The protected attribute.
    pub attribute: String,
    /// Its value in x.
    pub from: String,
    /// Its value in x'.
    pub to: String,
}

/// `sex: Female -> Male`
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
    /// What differs.
    pub changed: Vec<Change>,
}

/// What became of inputs when they were read.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum InputsRead {
    /// Rows of a table.
    Table {
        /// What reading the data changed or left out.
        data: ReadCounts,
        /// What replacing numbers by those that stand for their bins changes of a predictor's
        /// decisions on rows of the data.
        #[serde(skip_serializing_if = "Option::is_none")]
        bins: Option<BinEffect>,
    },
    /// Texts.
    Text {
        /// What became of them.
        texts: TextCounts,
    },
}

/// A model under test and its inputs.
pub trait Modality: Sync + Sized {
    /// Its name.
    const NAME: ModalityName;
    /// Inputs and their variants.
    type Domain: Domain;
    /// What is noted of the pairs while they are written.
    type Tally: Default;
    /// What a summary says besides what it says of all modalities.
    type Details: Serialize;
    /// What re-checks pairs.
    type Witness: Witness;

    /// Opens and checks everything that `specification` names, for a search on `device`.
    ///
    /// # Errors
    /// See [`AuditError`].
    fn open(specification: &AuditSpecification, device: &ComputeDevice)
    -> Result<Self, AuditError>;

    /// SHA-256 of what was opened, by role: `model`, `data`, and what else there is.
    fn sha256(&self) -> &BTreeMap<String, String>;

    /// Names of the protected attributes.
    fn protected(&self) -> &[String];

    /// Names of what can be decided, by number: the classes, unless decisions are made otherwise.
    fn classes(&self) -> &[String];

    /// The class that is good to get.
    fn favourable(&self) -> &str;

    /// The model under test.
    fn model(&self) -> &ModelUnderTest<'_>;

    /// Inputs and their variants.
    fn domain(&self) -> &Self::Domain;

    /// Inputs where a search begins whose strategy has none of its own.
    fn seeds(&self, clusters: usize, count: usize, seed: u64) -> Vec<Vec<i32>>;

    /// Whether a search from the seed of this number can come to `row`, an input of the domain:
    /// what a checkpoint says may be untrue.
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

    /// What shares are estimated of: each protected attribute alone and, if there are several, all
    /// jointly; where the case grades individuals, last all jointly of inputs drawn from what it
    /// grades by. Each from at most `inputs` inputs.
    ///
    /// # Errors
    /// When a protected set cannot be searched.
    fn estimated_sets(
        &self,
        inputs: u64,
        seed: u64,
    ) -> Result<Vec<EstimatedSet<Self::Domain>>, AuditError>;

    /// Counts what is discriminatory among the inputs of `sets`, the [`Self::estimated_sets`]: of so
    /// many inputs those that `items` names. `observe` is told now and then how many are done, of
    /// how many, and may stop it.
    ///
    /// # Errors
    /// When the model cannot answer.
    fn count_sets(
        &self,
        sets: &[EstimatedSet<Self::Domain>],
        items: &dyn Fn(u64) -> Range<u64>,
        seed: u64,
        observe: &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
    ) -> Result<SetCounts, ModelError> {
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

    /// What grades individuals, where that was asked for.
    fn plausibility(&self) -> Option<&Plausibility> {
        None
    }

    /// Where finds are looked at together.
    fn find_space(&self) -> Box<dyn FindSpace + '_>;

    /// The same inputs for a search with the seed of `specification`, where a case holds what a
    /// search begins at; nothing where [`Modality::seeds`] says that of every seed.
    ///
    /// # Errors
    /// When the model cannot answer.
    fn begun_anew(
        &self,
        specification: &AuditSpecification,
        device: &ComputeDevice,
    ) -> Result<Option<Self>, AuditError>;

    /// What became of the inputs when they were read.
    fn inputs_read(&self) -> InputsRead;

    /// What ends the process of a predictor, if it has one.
    fn ender(&self) -> Option<&Ender> {
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

    /// What replacing the numbers of the data by those that stand for their bins changes of a
    /// predictor's decisions, where it is asked about bins.
    fn bin_effect(&self) -> Option<BinEffect> {
        None
    }

    /// How many rows of the data get rounded probabilities, where a predictor may give such.
    fn rounded_rows(&self) -> Option<RoundedRows> {
        None
    }

    /// A pair as people read it.
    fn shown(&self, pair: &Pair<'_>) -> ShownPair<'_>;

    /// Columns of the samples file.
    fn columns(&self) -> ArrowSchema;

    /// `pairs` in these columns, and what is to be noted of them.
    ///
    /// # Errors
    /// When an input cannot be shown.
    fn batch(
        &self,
        columns: &ArrowSchema,
        pairs: &[Pair<'_>],
        tally: &mut Self::Tally,
    ) -> Result<RecordBatch, AuditError>;

    /// What the summary says besides.
    fn details(
        &self,
        specification: &AuditSpecification,
        tally: Self::Tally,
        exchanges: Option<&ExchangeCounts>,
    ) -> Self::Details;

    /// Opens what re-checks the pairs of an audit: its model, and what says which inputs are
    /// variants. `model` is where the model is now, if it has moved; `samples` the file of the
    /// pairs, by which it is known what has to be read.
    ///
    /// # Errors
    /// See [`AuditError`].
    fn witness(
        specification: &AuditSpecification,
        model: Option<&Path>,
        samples: &Path,
    ) -> Result<Self::Witness, AuditError>;
}

/// How an input of a pair is read from a samples file.
pub trait SampleInputs: Sync {
    /// The columns that hold the input of `side`, `x` or `other`.
    fn columns(&self, side: &str) -> Vec<String>;

    /// The input whose `cells` stand in these columns.
    ///
    /// # Errors
    /// What the file, at the place that `refuse` names, holds in place of an input.
    fn read(
        &self,
        cells: &[&str],
        refuse: &dyn Fn(usize, String) -> ReadError,
    ) -> Result<Vec<i32>, AuditError>;

    /// The numbers in `cells` that a predictor was asked with, one for each numeric attribute; NaN
    /// where it is that which the code of the input stands for.
    fn numbers(&self, _cells: &[&str]) -> Vec<f64> {
        Vec::new()
    }

    /// The text in `cells`; nothing where the input is none.
    fn text(&self, _cells: &[&str]) -> String {
        String::new()
    }
}

/// A pair as read back from a samples file.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// Number of the seed whose walk found it.
    pub seed: u64,
    /// Row of the file that this seed is, from 1, where the file of samples says so.
    pub source_row: Option<u64>,
    /// The text that x was made of, where the file is one of texts.
    pub origin: Option<String>,
    /// x.
    pub row: Vec<i32>,
    /// x'.
    pub other: Vec<i32>,
    /// Numbers of x and of x' that a predictor was asked with: see [`SampleInputs::numbers`].
    pub numbers: [Vec<f64>; 2],
    /// x and x' as they are written, where the file is one of texts.
    pub texts: [String; 2],
    /// What is decided of x, as stated in the file.
    pub label: String,
    /// What is decided of x', as stated in the file.
    pub other_label: String,
}

/// What a model says of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answers {
    /// What is decided of both sides, where that differs.
    pub decided: Option<[u32; 2]>,
    /// Whether the decisions are equal in f64 arithmetic.
    pub by_rounding: bool,
}

/// What re-checks pairs, with nothing of a search in between.
pub trait Witness: Sync {
    /// What reads their inputs.
    fn inputs(&self) -> Box<dyn SampleInputs + '_>;

    /// Names of what can be decided, by number.
    fn classes(&self) -> &[String];

    /// SHA-256 of what was opened, by role.
    fn sha256(&self) -> &BTreeMap<String, String>;

    /// What ends the process of a predictor, if it has one.
    fn ender(&self) -> Option<&Ender> {
        None
    }

    /// What keeps the sides of `pair` from being variants of each other, as a sentence.
    ///
    /// # Errors
    /// That sentence.
    fn are_variants(&self, pair: &Sample) -> Result<(), String>;

    /// What the model says of each of `samples`, asked anew.
    ///
    /// # Errors
    /// When it cannot answer.
    fn answers(&self, samples: &[&Sample]) -> Result<Vec<Answers>, ModelError>;
}
