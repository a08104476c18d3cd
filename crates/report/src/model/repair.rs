//! Repairs and group figures, as their summaries say them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::figures::{Quality, ReadCounts, Share};
use super::impact::{Impact, Publication, Rate};

/// A repair of a classifier of tables.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RepairFindings {
    /// Whether all networks were trained.
    pub finished: bool,
    /// By what the model was repaired.
    pub method: String,
    /// SHA-256 of the model before.
    pub model_sha256: String,
    /// SHA-256 of the model after, where it was saved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repaired_sha256: Option<String>,
    /// Whether the model was `trained` here or `imported`.
    #[serde(default, skip_serializing)]
    pub origin: String,
    /// Into how many inputs the data were split, where the run says it.
    #[serde(default, skip_serializing)]
    pub parts: Option<PartSizes>,
    /// What is said for and against it.
    pub verdict: RepairVerdict,
    /// Seconds.
    pub seconds: f64,
    /// The model before.
    pub before: ModelFigures,
    /// Each share of the samples.
    pub points: Vec<SharePoint>,
    /// The model after.
    pub chosen: Chosen,
    /// Held-out rows that were proved fair before.
    #[serde(default)]
    pub certified_before: Vec<CertifiedShare>,
    /// The certified shares after the repair.
    #[serde(default)]
    pub certified_after: Vec<CertifiedShare>,
    /// The protected attributes that the repaired network gives no weight.
    #[serde(default)]
    pub ignored: Vec<String>,
    /// Groups of the held-out rows before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups_before: Option<GroupReport>,
    /// The groups after the repair.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups_after: Option<GroupReport>,
}

/// Into how many inputs data were split.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PartSizes {
    /// The number of inputs that were trained on.
    pub train: u64,
    /// The number of inputs that a network was chosen by.
    pub validation: u64,
    /// The number of inputs that were held out.
    pub test: u64,
}

/// What is said for and against the network of a repair.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RepairVerdict {
    /// Whether nothing speaks against it.
    pub holds: bool,
    /// Whether it was saved.
    pub saved: bool,
    /// What the remedy gained over retraining without it.
    pub against_control: AgainstControl,
    /// What got worse than allowed.
    pub worse: Vec<Worse>,
}

/// The networks with the remedy beside those retrained without it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgainstControl {
    /// Mean discriminatory figure without the remedy.
    pub control: f64,
    /// With it.
    pub repaired: f64,
    /// The difference.
    pub gained: Mean,
    /// What that says.
    pub standing: Standing,
}

/// The width of the interval of a gain from which on it says nothing: half of all that there is to gain.
const WIDE: f64 = 0.5;

impl AgainstControl {
    /// Whether too little was measured, or too few networks were trained, to tell whether anything was
    /// gained.
    pub fn tells_nothing(&self) -> bool {
        let is_wide = |[low, high]: [f64; 2]| high - low > WIDE;
        self.standing == Standing::Alike && self.gained.ci95.is_some_and(is_wide)
    }
}

/// How the networks with the remedy stand to those without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// Better by more than chance.
    Better,
    /// No difference is shown.
    Alike,
    /// Worse by more than chance.
    Worse,
    /// One network of each kind cannot tell.
    Unknown,
}

/// A measure that got worse than allowed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Worse {
    /// Which.
    pub figure: String,
    /// The protected attributes that the share is of.
    pub protected: Vec<String>,
    /// Before.
    pub before: f64,
    /// After.
    pub after: f64,
    /// What was allowed.
    pub allowed: f64,
}

/// Figures of one model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelFigures {
    /// Discriminatory shares.
    pub discrimination: Vec<Share>,
    /// Quality on held-out rows.
    pub held_out: Quality,
}

/// The network that was kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chosen {
    /// The share of the samples that it was retrained with.
    pub share: f64,
    /// Accuracy before less that after.
    pub accuracy_loss: f64,
    /// Whether that is allowed.
    pub within: bool,
    /// The figures of the network.
    #[serde(flatten)]
    pub figures: ModelFigures,
}

/// What one share of the samples gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SharePoint {
    /// The share.
    pub share: f64,
    /// Samples for each network.
    pub samples: u64,
    /// Figures before and after.
    pub changes: Vec<Change>,
}

/// One figure before and after.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Which.
    pub figure: String,
    /// The protected attributes that the share is of.
    pub protected: Vec<String>,
    /// Before.
    pub before: f64,
    /// Retrained without a remedy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<Mean>,
    /// After.
    pub after: Mean,
}

/// A mean over networks or searches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mean {
    /// The mean.
    pub mean: f64,
    /// The 95 % interval of the mean, where there are several values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ci95: Option<[f64; 2]>,
}

/// A number of inputs and their share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// The number of inputs.
    pub count: u64,
    /// The share of these inputs.
    pub share: f64,
    /// The 95 % interval of the share.
    pub ci95: [f64; 2],
}

/// Rows that were proved fair.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CertifiedShare {
    /// The attributes.
    pub protected: Vec<String>,
    /// Rows.
    pub rows: u64,
    /// The inputs that are proved fair.
    pub certified: Part,
}

/// A repair of a classifier of texts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TextRepairFindings {
    /// Whether all networks were trained.
    pub finished: bool,
    /// By what the model was repaired.
    pub method: String,
    /// Protected attributes.
    pub protected: Vec<String>,
    /// SHA-256 of the model before.
    pub model_sha256: String,
    /// SHA-256 of the model after, where it was saved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repaired_sha256: Option<String>,
    /// What is said for and against it.
    pub verdict: RepairVerdict,
    /// Seconds.
    pub seconds: f64,
    /// Discriminatory texts that may be learnt from.
    pub found: u64,
    /// Texts found from the test texts.
    pub independent: u64,
    /// Test texts with a protected term.
    pub test_texts: u64,
    /// The model before.
    pub before: TextNetwork,
    /// Networks trained anew without a remedy.
    pub control: Vec<TextNetwork>,
    /// Each share of the samples.
    pub points: Vec<TextSharePoint>,
    /// The model after.
    pub chosen: ChosenText,
}

/// What one share of the samples gave, of texts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TextSharePoint {
    /// The share.
    pub share: f64,
    /// Networks with the remedy.
    pub networks: Vec<TextNetwork>,
}

/// The network of texts that was kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChosenText {
    /// The share of the samples that it was retrained with.
    pub share: f64,
    /// The number of the network among those of the share, from 1.
    pub repeat: u32,
    /// Whether its loss of accuracy is allowed.
    pub within: bool,
    /// The figures of the network.
    #[serde(flatten)]
    pub figures: TextNetwork,
}

/// One network of texts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TextNetwork {
    /// Quality on the test texts.
    pub held_out: Quality,
    /// The texts of the independent set that are no longer discriminatory.
    pub repaired: Part,
    /// Test texts proved fair.
    pub certified: Part,
    /// Test texts that are fair.
    pub fair: Part,
}

/// A run of `probity groups`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupRunFindings {
    /// SHA-256 of the model.
    pub model_sha256: String,
    /// SHA-256 of the data.
    pub data_sha256: String,
    /// What was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<ReadCounts>,
    /// What is published with impact ratios, which `run.toml` says.
    #[serde(skip_deserializing)]
    pub publication: Publication,
    /// The figures.
    #[serde(flatten)]
    pub report: GroupReport,
}

/// Group figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupReport {
    /// The favourable class.
    pub favourable: String,
    /// Whether somebody said that it is; else it is the last one of the schema.
    pub is_favourable_given: bool,
    /// Rows.
    pub rows: u64,
    /// Rows whose outcome is known; all, where an earlier version does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows_with_outcome: Option<u64>,
    /// Rows that a rate must be of.
    pub min_group: u64,
    /// Each attribute, then each pair of them, and so on.
    pub sets: Vec<GroupSet>,
    /// Impact ratios, where they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub impact: Option<Impact>,
}

impl GroupReport {
    /// Rows whose outcome is known.
    pub fn known(&self) -> u64 {
        self.rows_with_outcome.unwrap_or(self.rows)
    }
}

/// Groups by some attributes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupSet {
    /// The attributes.
    pub protected: Vec<String>,
    /// The groups.
    pub groups: Vec<Group>,
    /// Combinations of values without a row.
    pub absent: u64,
    /// How far they are apart.
    pub gaps: GroupGaps,
    /// The two whose difference is the clearest, for each rate; absent in older runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub differences: Option<GroupDifferences>,
    /// Gaps of which nothing can be said, with the reasons.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub not_defined: BTreeMap<String, String>,
}

impl GroupSet {
    /// The clearest differences; of an older run, which does not name them, the largest ones.
    pub fn clearest(&self) -> GroupDifferences {
        let largest = || GroupDifferences {
            selection_rate: self.gaps.demographic_parity_difference.clone(),
            true_positive_rate: self.gaps.equal_opportunity_difference.clone(),
            false_positive_rate: None,
        };
        self.differences.clone().unwrap_or_else(largest)
    }

    /// The group of `values`.
    pub fn group(&self, values: &[String]) -> Option<&Group> {
        self.groups.iter().find(|group| group.values == values)
    }
}

/// One group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// The values of the group.
    pub values: Vec<String>,
    /// Rows.
    pub rows: u64,
    /// Rows whose outcome is known; all, where an earlier version does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows_with_outcome: Option<u64>,
    /// The number of rows that have the favourable class.
    pub favourable_rows: Option<u64>,
    /// Whether they are too few to be judged.
    pub too_small: bool,
    /// Rows predicted favourably.
    pub selection_rate: Option<Rate>,
    /// The share of the rows with the favourable class that are predicted it.
    pub true_positive_rate: Option<Rate>,
    /// The share of the other rows that are predicted the favourable class.
    pub false_positive_rate: Option<Rate>,
    /// Rows predicted right.
    pub accuracy: Option<Rate>,
    /// Expected calibration error.
    pub calibration_error: Option<Rate>,
    /// Rates of no rows, with the reasons.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub not_defined: BTreeMap<String, String>,
}

impl Group {
    /// Rows whose outcome is known.
    pub fn known(&self) -> u64 {
        self.rows_with_outcome.unwrap_or(self.rows)
    }
}

/// A gap between groups.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gap {
    /// The difference or ratio.
    pub value: f64,
    /// The 95 % interval of the difference.
    pub ci95: [f64; 2],
    /// The group with the lowest rate.
    pub lowest: Vec<String>,
    /// The group with the highest.
    pub highest: Vec<String>,
}

impl Gap {
    /// Whether the interval of a difference leaves no room for there being none.
    pub fn is_shown(&self) -> bool {
        self.ci95[0] > 0.0
    }
}

/// The two groups of each rate whose difference is the clearest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupDifferences {
    /// In favourable predictions.
    pub selection_rate: Option<Gap>,
    /// In true positive rates.
    pub true_positive_rate: Option<Gap>,
    /// In false positive rates.
    pub false_positive_rate: Option<Gap>,
}

/// The gaps between the groups of a set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupGaps {
    /// In favourable predictions.
    pub demographic_parity_difference: Option<Gap>,
    /// The ratio of favourable predictions.
    pub demographic_parity_ratio: Option<Gap>,
    /// In true or false positive rates.
    pub equalised_odds_difference: Option<Gap>,
    /// In true positive rates.
    pub equal_opportunity_difference: Option<Gap>,
    /// In accuracy.
    pub accuracy_difference: Option<Gap>,
    /// In calibration errors.
    pub calibration_difference: Option<Gap>,
}
