//! Audits, as their summaries say them.

use serde::{Deserialize, Serialize};

use super::figures::{
    BadRows, Bound, DecidedAlike, InputShares, Modality, Quality, ReadCounts, Share,
};
use super::population::{AttributeEffect, Changes, CountedRows, Plausibility, Population};
use crate::pairs::PairFindings;

/// What a search for individual discrimination found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AuditFindings {
    /// SHA-256 of the model.
    pub model_sha256: String,
    /// SHA-256 of the data or texts.
    pub inputs_sha256: String,
    /// SHA-256 of the model that this one was repaired from, where the model directory says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repaired_from: Option<String>,
    /// How the model did on rows that it had not seen, where the model directory says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quality: Option<Quality>,
    /// What was planted in the data of a demonstration.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub planted: Vec<Planted>,
    /// What its summary says.
    #[serde(flatten)]
    pub summary: AuditSummary,
    /// What the pairs show.
    pub pairs: PairFindings,
}

/// A discriminatory share that was planted in made data, and the one that was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Planted {
    /// By which attributes.
    pub protected: Vec<String>,
    /// The share that was planted.
    pub planted: f64,
    /// The one that was found.
    pub estimated: f64,
    /// The 95 % interval of the share.
    pub ci95: [f64; 2],
    /// Whether the first lies in this.
    pub recovered: bool,
}

/// The part of an audit's `summary.json` that is reported.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditSummary {
    /// What was audited.
    pub modality: Modality,
    /// How the search ended.
    pub ending: String,
    /// The strategy.
    pub strategy: String,
    /// Protected attributes.
    pub protected: Vec<String>,
    /// Protected attributes that the model does not take.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_taken: Vec<String>,
    /// How decisions are made, where not for the most probable class.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub decision: String,
    /// What can be decided then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<String>,
    /// What the model decides everything, if it is one class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decides_alike: Option<DecidedAlike>,
    /// What was read of a table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<ReadCounts>,
    /// What bins change of a predictor's decisions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bins: Option<BinEffect>,
    /// By how many rows a predictor was found to be a function of the row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_twice: Option<AskedTwice>,
    /// What was read of texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub texts: Option<TextCounts>,
    /// Texts: their protected terms.
    #[serde(default, skip_serializing)]
    pub terms: Option<Terms>,
    /// Texts: values that none of them name.
    #[serde(default, skip_serializing)]
    pub values: Option<TextValues>,
    /// Texts: what exchanges do to them as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unmodified: Option<Exchanged>,
    /// Texts: those of the file that pairs were made of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sources: Option<u64>,
    /// Texts: seeds that are discriminatory as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_discriminatory: Option<u64>,
    /// Texts: closeness of what was found to its seeds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validity: Option<Validity>,
    /// What the search found, as a whole, of rows of a table; absent in older runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finds: Option<Finds>,
    /// The global phase.
    pub global: Phase,
    /// The local phase.
    pub local: Phase,
    /// Both.
    pub total: Total,
    /// What was found after how many calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
    /// The score of the strategy `themis`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub causal_discrimination: Option<CausalDiscrimination>,
    /// Tables: whose decisions change, of the rows of the data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub population: Option<Population>,
    /// Tables: how plausible the pairs are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plausibility: Option<Plausibility>,
    /// Discriminatory shares, the joint one last.
    pub fairness: Vec<Share>,
    /// The declared bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fail_above: Option<Bound>,
    /// What the worst pairs are, where these come first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<Rank>,
    /// The file of pairs.
    pub samples_file: String,
}

impl AuditSummary {
    /// The shares of the data: of the rows of a table, where these were asked about, or of the texts.
    pub fn of_data(&self) -> Option<InputShares<'_>> {
        match (&self.population, self.modality) {
            (Some(people), _) => Some(people.input_shares()),
            (None, Modality::Text) => Some(InputShares {
                of: "the texts with a protected term",
                there: None,
                shares: &self.fairness,
            }),
            (None, Modality::Table) => None,
        }
    }

    /// The shares of uniform random inputs, of which there are none for texts.
    pub fn of_random_inputs(&self) -> Option<InputShares<'_>> {
        (self.modality == Modality::Table).then_some(InputShares {
            of: "random inputs",
            there: None,
            shares: &self.fairness,
        })
    }

    /// The shares by what they are of, those that are said first before the others.
    pub fn input_shares(&self) -> impl Iterator<Item = InputShares<'_>> {
        self.of_data().into_iter().chain(self.of_random_inputs())
    }

    /// The share that is said first: by all protected attributes jointly, of the data where these
    /// were asked about.
    pub fn share(&self) -> Option<&Share> {
        self.input_shares().next()?.joint()
    }

    /// The class that is good to get, or of texts the positive one, where it is said.
    pub fn favourable(&self) -> Option<&str> {
        let people = self.population.as_ref();
        let moves = self.unmodified.as_ref().and_then(|of| of.moves.as_ref());
        people
            .map(|people| people.favourable.as_str())
            .or_else(|| moves.map(|moves| moves.positive.as_str()))
    }
}

/// What the worst pairs are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rank {
    /// The pairs whose scores differ most.
    Gap,
    /// The most plausible ones.
    Density,
}

/// Decisions on rows of the data with the numbers that stand for their bins in place of their own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BinEffect {
    /// Rows that were asked about both ways.
    pub rows: u64,
    /// The number of rows that get another class.
    pub changed: u64,
    /// changed / rows.
    pub share: f64,
}

/// Rows of the data that a predictor was asked about twice, and answered alike.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AskedTwice {
    /// The number of rows that were asked about twice.
    pub rows: u64,
}

/// Texts that were read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextCounts {
    /// Texts in the file.
    pub texts: u64,
    /// The number of texts with a protected term.
    pub with_protected_term: u64,
    /// The number of texts without one, left out.
    pub without_protected_term: u64,
    /// The number of texts that were cut to the model's length.
    pub truncated: u64,
    /// The number of texts that are not English.
    #[serde(default)]
    pub foreign: u64,
    /// The number of texts without a word.
    #[serde(default)]
    pub blank: u64,
    /// The number of texts, left out, that name a value which nothing takes the place of.
    #[serde(default)]
    pub kept: u64,
    /// The attributes of which some texts name such a value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub naming: Vec<NamingTexts>,
    /// Rows of the table left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bad_rows: Option<BadRows>,
}

/// Texts that name a value of an attribute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamingTexts {
    /// The attribute.
    pub attribute: String,
    /// Texts that name a value of it.
    pub texts: u64,
    /// The number of these texts in which nothing takes its place.
    pub kept: u64,
    /// The number of these in which words that speak of the value as well keep it there.
    #[serde(default)]
    pub by_words: u64,
    /// The words that keep it there.
    pub kept_by: Vec<KeptBy>,
}

/// Texts in which some words keep a value in its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptBy {
    /// The words.
    pub words: String,
    /// The texts.
    pub texts: u64,
}

/// What is decided of texts that name an attribute, as they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecidedTexts {
    /// The attribute.
    pub attribute: String,
    /// The decisions of the texts in which the value can be exchanged.
    pub exchanged: Vec<DecisionTexts>,
    /// The decisions of the texts in which it is not.
    pub kept: Vec<DecisionTexts>,
}

/// Texts of which one thing is decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecisionTexts {
    /// What is decided.
    pub decision: String,
    /// The texts.
    pub texts: u64,
}

/// Values that none of the texts name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct TextValues {
    /// The values that no text names and that were put in the place of others all the same.
    #[serde(default)]
    pub unnamed: Vec<ValuesOf>,
    /// The values that no text names and that were left out.
    #[serde(default)]
    pub left_out: Vec<ValuesOf>,
}

/// Values of an attribute.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ValuesOf {
    /// The attribute.
    pub attribute: String,
    /// The values.
    pub values: Vec<String>,
}

/// Protected terms.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Terms {
    /// The terms that the model has no vector for, left out.
    #[serde(default)]
    pub without_embedding: Vec<String>,
}

/// What exchanges of protected terms do to texts as they are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Exchanged {
    /// Texts that were looked at.
    pub texts: u64,
    /// The number of texts that get another class by some exchange.
    pub flipped: u64,
    /// How often an exchange flips a text, by attributes, those of all attributes last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub per_exchange: Vec<ExchangeShare>,
    /// Which texts would get the positive class with another value, or lose it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<AttributeEffect>,
    /// Which way what is decided of them changes, and how far their scores move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moves: Option<TextMoves>,
    /// Of more than two classes, the exchange that changes the largest share of decisions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_changed: Option<MostChanged>,
    /// What is decided of texts by an attribute that is not exchanged in all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decided: Vec<DecidedTexts>,
    /// Kinds of exchanges that were made, by term and direction.
    pub kinds: u64,
    /// The exchanges that flip a text, by falling number of these.
    pub pairs: Vec<PairEffect>,
    /// The terms that flips depend on, by falling number of the texts that flip by them alone.
    pub terms: Vec<TermEffect>,
}

/// How often an exchange flips a text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExchangeShare {
    /// The attributes.
    pub protected: Vec<String>,
    /// Texts that name one of their values.
    pub texts: u64,
    /// Exchanges that can be made in one, on average.
    pub exchanges_per_text: f64,
    /// The share of a text's exchanges that flip it, on average over texts.
    pub share: f64,
    /// The 95 % interval of the share.
    pub ci95: [f64; 2],
}

/// Which way what is decided of texts changes, and how far their scores move.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TextMoves {
    /// The class that directions are to and from.
    pub positive: String,
    /// Whether somebody said that it is good to get; else it is the last one, and nobody did.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_favourable_given: bool,
    /// Texts that would get it.
    pub to_positive: CountedRows,
    /// Texts that would lose it.
    pub from_positive: CountedRows,
    /// The largest difference of its scores that counts as none, where scores are compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<f64>,
    /// How far its probability moves.
    pub changes: Changes,
}

/// The exchange of a value for another that changes the largest share of decisions, and between which
/// classes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MostChanged {
    /// The attribute.
    pub attribute: String,
    /// The value that texts name.
    pub from: String,
    /// The one that takes its place.
    pub to: String,
    /// Texts in which it can.
    pub texts: u64,
    /// The texts that get another class.
    pub changed: CountedRows,
    /// The class that they have, and the one that they get, most often.
    pub decided: [String; 2],
    /// Texts of these two classes among them.
    pub moved: u64,
}

/// What exchanges of one term for another do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairEffect {
    /// The attribute.
    pub attribute: String,
    /// The term in the text.
    pub from: String,
    /// The one that takes its place.
    pub to: String,
    /// Texts in which it can.
    pub texts: u64,
    /// The number of texts that get another class.
    pub flipped: u64,
    /// The number of these that get the positive class, if the run says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_positive: Option<u64>,
    /// The share of the texts that get another class.
    pub rate: f64,
    /// The 95 % interval of the share.
    pub ci95: [f64; 2],
}

/// What one term has to do with the texts that flip.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TermEffect {
    /// The attribute.
    pub attribute: String,
    /// The term.
    pub term: String,
    /// Texts that name it.
    pub texts: u64,
    /// The number of texts that get another class when the term is exchanged.
    pub flipped: u64,
    /// Texts whose every flip takes it away or puts it in.
    pub alone: u64,
    /// The joint share that would be left without the term.
    pub share_without: f64,
    /// The 95 % interval of the share without the term.
    pub ci95_without: [f64; 2],
}

/// Closeness of found texts to their seeds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Validity {
    /// The means over the finds of the global phase.
    pub global: ValidityMeans,
    /// The means over the finds of the local phase.
    pub local: ValidityMeans,
}

/// Means over pairs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ValidityMeans {
    /// Pairs.
    pub pairs: u64,
    /// Token edits.
    pub l0: f64,
    /// Distance of the word vectors.
    pub l2: f64,
    /// Share of common tokens.
    pub jaccard: f64,
    /// Sentence BLEU.
    pub bleu: f64,
    /// Cosine of the sentence vectors.
    pub similarity: f64,
}

/// One phase of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// Seeds or starts.
    pub seeds: u64,
    /// Moves or trials.
    #[serde(alias = "iterations", alias = "trials")]
    pub steps: u64,
    /// Distinct individuals checked.
    pub generated: u64,
    /// Distinct discriminatory individuals.
    pub discriminatory: u64,
    /// Checks.
    pub checks: u64,
    /// Seconds.
    pub seconds: f64,
}

/// Both phases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Total {
    /// Distinct individuals checked.
    pub generated: u64,
    /// Distinct discriminatory individuals.
    pub discriminatory: u64,
    /// Pairs in the samples file.
    pub discriminatory_rows: u64,
    /// Share of the individuals checked.
    pub success_rate: f64,
    /// Checks.
    pub checks: u64,
    /// Rows that the model was asked about.
    #[serde(default)]
    pub model_rows: Option<u64>,
    /// Gradients that it was asked for.
    #[serde(default)]
    pub model_gradients: Option<u64>,
    /// Seconds.
    pub seconds: f64,
    /// Pairs that the reference device did not confirm.
    #[serde(default)]
    pub unconfirmed: u64,
}

/// What a search found, as a whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finds {
    /// Share of the seeds that came to a discriminatory row of their own.
    pub reached: f64,
    /// Clusters of the data that could be covered.
    pub data_clusters: u64,
    /// How diverse the finds are.
    pub diversity: FindDiversity,
}

/// How diverse finds are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FindDiversity {
    /// Mean share of the attributes in which two finds differ.
    #[serde(default)]
    pub hamming: Option<f64>,
    /// Cells of the grid with a find.
    pub cells: u64,
    /// Clusters of the data that are covered.
    pub clusters: u64,
}

/// What was found after how many calls: columns of equal length.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trace {
    /// Rows.
    pub model_rows: Vec<u64>,
    /// Gradients.
    pub model_gradients: Vec<u64>,
    /// Distinct individuals found.
    pub found: Vec<u64>,
}

/// The score of the strategy `themis`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CausalDiscrimination {
    /// Inputs drawn.
    pub sampled: u64,
    /// The share.
    pub score: f64,
    /// The interval of the share.
    pub interval: [f64; 2],
    /// The confidence of the interval.
    pub confidence: f64,
}
