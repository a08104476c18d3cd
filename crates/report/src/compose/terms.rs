//! What words of the trade mean, said where they are used.

use super::super::document::Block;

/// A word and what it means.
type Term = (&'static str, &'static str);

/// The range beside every share.
pub(super) const INTERVAL: Term = (
    "95\u{a0}% interval",
    "A range around a figure. Of 100 such samples, at least 95 give a range that holds the true share; more rows make it narrower.",
);

/// The words of a search.
pub(super) const SEARCH: [Term; 6] = [
    (
        "Global phase",
        "From rows of the data, or random inputs, the search goes to inputs on which the model discriminates.",
    ),
    ("Local phase", "Around each of these it looks for more."),
    ("Starts", "Inputs that a phase begins at."),
    ("Steps", "Changes of an input that were tried."),
    (
        "Individual",
        "An input without its protected attributes: two that differ in these alone are one.",
    ),
    (
        "Model call",
        "One prediction, or one gradient: how the score changes with each attribute.",
    ),
];

const ACCURACY: Term = (
    "Accuracy",
    "The share of the rows that are predicted right.",
);
const MAJORITY_CLASS: Term = (
    "Majority class",
    "The share of the most frequent class of these rows: what always saying it would be right about.",
);

/// The words of tables of the quality of a classifier of two classes.
pub(super) const QUALITY: [Term; 5] = [
    ACCURACY,
    MAJORITY_CLASS,
    (
        "Balanced accuracy",
        "For each class the share of its rows that is predicted right, averaged over both: guessing gets 50 %.",
    ),
    (
        "AUC",
        "How often a row of the last class has a higher score than a row of the other: 0.5 is guessing, 1 is never wrong.",
    ),
    (
        "F1",
        "The harmonic mean of how many of the rows predicted the last class are of it, and how many of its rows are found.",
    ),
];

/// The figures of the quality of a classifier with more classes.
pub(super) const QUALITY_OF_MANY: [Term; 5] = [
    ACCURACY,
    MAJORITY_CLASS,
    (
        "Balanced accuracy",
        "For each class that has rows the share of them that is predicted right, averaged over these classes: guessing gets one part in as many as there are.",
    ),
    (
        "AUC",
        "For each class how often a row of it has a higher score for it than a row of another, averaged over the classes: 0.5 is guessing, 1 is never wrong.",
    ),
    (
        "F1",
        "For each class that has rows or is predicted the harmonic mean of how many of the rows predicted so are of it, and how many of its rows are found, averaged over these classes.",
    ),
];

/// The words of tables of a regressor's errors.
pub(super) const ERRORS: [Term; 3] = [
    (
        "Mean absolute error",
        "How far predictions are off, averaged over the rows, in the unit of the label.",
    ),
    (
        "Root mean squared error",
        "The same where what is far off counts more: the root of the mean of the squares.",
    ),
    (
        "R²",
        "Which share of the variance of the labels the predictions account for: 0 is always saying the mean, 1 is never wrong.",
    ),
];

/// The words of tables of groups.
pub(super) const GROUPS: [Term; 10] = [
    INTERVAL,
    (
        "True positive rate",
        "Of those whose label is the favourable class, the share that is predicted so.",
    ),
    (
        "False positive rate",
        "Of those whose label is another class, the share that is predicted the favourable one.",
    ),
    (
        "Calibration error",
        "How far predicted probabilities lie from the shares that come true, on average.",
    ),
    (
        "Demographic parity difference, ratio",
        "The highest share that is predicted the favourable class minus the lowest one; the lowest over the highest.",
    ),
    (
        "Equalised odds difference",
        "The wider of the gaps between the true positive rates and between the false positive rates.",
    ),
    (
        "Equal opportunity difference",
        "The gap between the true positive rates.",
    ),
    (
        "Accuracy difference",
        "The gap between the shares predicted right.",
    ),
    (
        "Calibration difference",
        "The gap between the calibration errors.",
    ),
    ("Lowest, highest", "The groups between which the gap is."),
];

/// The words of texts by what they name.
pub(super) const TEXT_GROUPS: [Term; 5] = [
    (
        "AUC",
        "The area under the ROC curve: how often a positive text scores higher than a negative one. 1 is always, 0.5 is chance.",
    ),
    ("Subgroup AUC", "Among the texts that name the value."),
    (
        "BPSN AUC",
        "Background positive, subgroup negative: negative texts that name the value against positive ones that do not. Low where texts that name it score too high.",
    ),
    (
        "BNSP AUC",
        "Background negative, subgroup positive: positive texts that name the value against negative ones that do not. Low where texts that name it score too low.",
    ),
    INTERVAL,
];

/// The words of certificates.
pub(super) const CERTIFICATES: [Term; 5] = [
    (
        "Proved by one box",
        "The bounds of all changes at once already show that the decision stays.",
    ),
    (
        "Proved in all",
        "These, and those whose changes were cut into parts that are proved one by one.",
    ),
    ("Fair, not fair", "What trying every change says."),
    (
        "Refuted",
        "Proved, and yet some change changes the decision: there must be none.",
    ),
    INTERVAL,
];

/// The words of k-NN under poisoning.
pub(super) const POISONING: [Term; 5] = [
    (
        "Poisoned",
        "Put among the training rows by somebody who wants other predictions.",
    ),
    ("n", "How many rows may be poisoned."),
    (
        "K",
        "How many nearest training rows vote on a prediction; it is learnt by cross-validation.",
    ),
    (
        "Certified quickly, by the set of K, by exhaustion",
        "Proved robust by bounds for the K that was learnt, for every K that can be learnt after up to n removals, or by trying all.",
    ),
    (
        "Falsified",
        "Removing some n rows or fewer changes the prediction.",
    ),
];

/// The words of deletions from clusters.
pub(super) const DELETIONS: [Term; 5] = [
    (
        "Speed-up",
        "Time of training k-means anew after each deletion over the time with the algorithm.",
    ),
    (
        "Loss ratio",
        "Sum of the squared distances to the centres over that of k-means: 1 is as good.",
    ),
    (
        "Silhouette",
        "How well rows fit their own cluster against the next one, from −1 to 1.",
    ),
    (
        "NMI",
        "Normalised mutual information of clusters and labels: 1 where they say the same.",
    ),
    ("±", "Standard deviation over the replicates."),
];

/// The words of a private release.
pub(super) const PRIVACY: [Term; 4] = [
    (
        "ε (epsilon)",
        "How much the answer may tell of any one person's record: the smaller, the less.",
    ),
    ("δ (delta)", "The chance that it tells more."),
    (
        "Sensitivity",
        "How much one record can change the count; the noise hides that.",
    ),
    (
        "Budget",
        "What all answers about these data may cost together.",
    ),
];

/// `terms` for those who ask.
pub(super) fn explained(terms: &[Term]) -> Block {
    let facts = terms.iter().map(|&(word, said)| (word.into(), said.into()));
    Block::Folded {
        title: "What these words mean".into(),
        facts: facts.collect(),
    }
}
