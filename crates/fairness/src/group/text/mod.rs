//! The treatment that a classifier of texts gives to texts that name protected values.
//!
//! A *subgroup* is the texts that name a value, by the senses of a lexicon ([`naming`]); a text may
//! be in several, or in none. One class is called *positive*. Each subgroup of at least a declared
//! number of texts has three areas under ROC curves ([`auc`]), which ask whether the scores tell
//! positive from negative texts in the subgroup and across its border, and rates of the model's own
//! decision. All are of Borkan, Dixon, Sorensen, Thain, Vasserman: *Nuanced Metrics for Measuring
//! Unintended Bias with Real Data for Text Classification* (2019).
//!
//! The score is the logarithm of the odds of the positive class: it orders texts as the probability
//! does, and tells those apart whose probabilities both round to 1.
//!
//! The *final bias metric* is that of the Jigsaw competition on unintended bias (2019): ¼ of the AUC
//! of all texts, and ¼ of the generalised mean with p = −5 of each of the three areas, over the
//! subgroups in which it is defined. A low area weighs more in it than several high ones.

pub mod auc;
pub mod naming;
mod resample;

use serde::Serialize;

pub use self::auc::POWER;
use self::auc::{Areas, Ranking, bias_of, means_of};
use self::naming::{Subgroup, Subgroups};
use self::resample::{Samples, area_interval, basic, resample};
use super::Rate;
use crate::statistics::clopper_pearson;
use probity_nn::decision::Decision;
use probity_nn::metrics::log_odds;

/// The labels and answers of a model for texts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ScoredTexts {
    /// Whether the text has the positive class.
    pub positive: Vec<bool>,
    /// Whether the positive class is predicted for the text.
    pub selected: Vec<bool>,
    /// The logarithm of the odds of the positive class.
    pub score: Vec<f64>,
}

impl ScoredTexts {
    /// The scores of texts with these `logits` (row-major `[texts, classes]`), the rule `decision`
    /// that is applied to them, and `labels`.
    pub fn new(
        (logits, classes): (&[f32], usize),
        decision: &Decision,
        labels: &[u32],
        positive: usize,
    ) -> ScoredTexts {
        let mut texts = ScoredTexts::default();
        for (logits, &label) in logits.chunks_exact(classes.max(1)).zip(labels) {
            texts.positive.push(label as usize == positive);
            texts
                .selected
                .push(decision.decide(&[], logits) as usize == positive);
            texts.score.push(log_odds(logits, positive));
        }
        texts
    }
}

/// The options by which subgroups are judged.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TextGroupOptions {
    /// The positive class.
    pub positive: String,
    /// Whether the caller named the positive class; else it is the second of two.
    pub is_positive_given: bool,
    /// Number of texts that a subgroup must have to be judged.
    pub min_group: u64,
    /// Number of bootstrap samples.
    pub resamples: u32,
    /// Seed of the bootstrap samples.
    pub seed: u64,
}

/// The figures of one subgroup. Figures of fewer texts than the declared minimum are absent, and so
/// are those that are undefined: a share of no texts, an area without positive or negative ones.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SubgroupFigures {
    /// The value that the texts of the subgroup name.
    pub value: String,
    /// The term by which they name it, in a table of terms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub term: Option<String>,
    /// Number of texts.
    pub texts: u64,
    /// Number of texts of the positive class.
    pub positive_texts: u64,
    /// Whether these are fewer texts than the declared minimum, so that nothing is judged.
    pub too_small: bool,
    /// AUC within the subgroup.
    pub subgroup_auc: Option<Rate>,
    /// AUC of the negative texts of the subgroup and the positive ones of all others.
    pub bpsn_auc: Option<Rate>,
    /// AUC of the positive texts of the subgroup and the negative ones of all others.
    pub bnsp_auc: Option<Rate>,
    /// Share of the texts predicted positive.
    pub predicted_positive_rate: Option<Rate>,
    /// Share of the positive texts predicted so.
    pub true_positive_rate: Option<Rate>,
    /// Share of the negative texts predicted positive.
    pub false_positive_rate: Option<Rate>,
    /// Share of the positive texts predicted negative.
    pub false_negative_rate: Option<Rate>,
}

impl SubgroupFigures {
    /// The lowest of the areas of the subgroup.
    pub fn worst(&self) -> Option<f64> {
        let areas = [&self.subgroup_auc, &self.bpsn_auc, &self.bnsp_auc];
        areas
            .into_iter()
            .flatten()
            .map(|area| area.value)
            .reduce(f64::min)
    }
}

/// The final bias metric over some subgroups, and its three parts beside the AUC of all texts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BiasMetric {
    /// Number of subgroups that are judged.
    pub subgroups: u64,
    /// The power of the generalised mean.
    pub power: f64,
    /// Generalised mean of the AUCs within subgroups.
    pub subgroup_auc: Option<f64>,
    /// Generalised mean of the BPSN AUCs.
    pub bpsn_auc: Option<f64>,
    /// Generalised mean of the BNSP AUCs.
    pub bnsp_auc: Option<f64>,
    /// The metric; absent where a part of it is.
    pub metric: Option<Rate>,
}

/// The subgroups of one attribute, those with the lowest area first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AttributeFigures {
    /// The attribute.
    pub attribute: String,
    /// Number of texts that name any of the attribute's values.
    pub naming: u64,
    /// Number of values that no text names.
    pub absent: u64,
    /// The final bias metric over the values of the attribute.
    pub bias: BiasMetric,
    /// The figures of the values of the attribute.
    pub values: Vec<SubgroupFigures>,
    /// The figures of the terms of the attribute.
    pub terms: Vec<SubgroupFigures>,
}

/// The treatment that a classifier gives to texts that name protected values.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TextGroupReport {
    /// The positive class.
    pub positive: String,
    /// Whether the caller named the positive class; else it is the second of two.
    pub is_positive_given: bool,
    /// Number of texts.
    pub texts: u64,
    /// Number of texts of the positive class.
    pub positive_texts: u64,
    /// Number of texts in which no value was looked for, because they are not English.
    pub foreign: u64,
    /// Number of texts that a subgroup must have to be judged.
    pub min_group: u64,
    /// Number of bootstrap samples.
    pub resamples: u32,
    /// AUC of all texts.
    pub auc: Option<Rate>,
    /// The final bias metric over the values of all attributes.
    pub bias: BiasMetric,
    /// The figures of each attribute.
    pub attributes: Vec<AttributeFigures>,
}

/// A subgroup that is judged: its texts in the order of scores, and its areas.
struct Judged {
    members: Vec<u32>,
    areas: Areas,
}

/// Measures the answers about `texts` in each of the subgroups of `attributes`, which were not
/// looked for in `foreign` of them.
pub fn measure_text_groups(
    texts: &ScoredTexts,
    (attributes, foreign): (&[Subgroups], u64),
    options: &TextGroupOptions,
) -> TextGroupReport {
    let ranking = Ranking::new(&texts.score, &texts.positive);
    let once = vec![1; texts.score.len()];
    let counted = ranking.counted(&once);
    let mut judged: Vec<Judged> = Vec::new();
    let mut places: Vec<Vec<Option<usize>>> = Vec::new();
    // All values come before all terms, attribute by attribute.
    let values = attributes.iter().map(|attribute| &attribute.values);
    for subgroups in values.chain(attributes.iter().map(|attribute| &attribute.terms)) {
        let place = |subgroup: &Subgroup| {
            let is_judged = subgroup.texts.len() as u64 >= options.min_group;
            is_judged.then(|| {
                let mut members = subgroup.texts.clone();
                ranking.sort(&mut members);
                let areas = counted.areas(&members);
                judged.push(Judged { members, areas });
                judged.len() - 1
            })
        };
        places.push(subgroups.iter().map(place).collect());
    }
    let (of_values, of_terms) = places.split_at(attributes.len());
    let set = |places: &[Option<usize>]| places.iter().copied().flatten().collect();
    let mut sets: Vec<Vec<usize>> = of_values.iter().map(|places| set(places)).collect();
    sets.push(set(&of_values.concat()));
    let members: Vec<Vec<u32>> = judged.iter().map(|it| it.members.clone()).collect();
    let asked = (options.resamples, options.seed);
    let samples = resample(&ranking, texts.score.len(), &members, &sets, asked);
    let overall = counted.overall();
    let measured = Measured {
        texts,
        judged: &judged,
        samples: &samples,
        positives: count(&texts.positive),
    };
    let bias = |set: usize| measured.bias(overall, &sets[set], &samples.bias[set]);
    let all = attributes.iter().zip(of_values).zip(of_terms).enumerate();
    TextGroupReport {
        positive: options.positive.clone(),
        is_positive_given: options.is_positive_given,
        texts: texts.positive.len() as u64,
        positive_texts: measured.positives,
        foreign,
        min_group: options.min_group,
        resamples: options.resamples,
        auc: overall.map(|value| {
            let sizes = (measured.positives, measured.negatives());
            let ci95 = area_interval(value, &samples.overall, sizes);
            Rate { value, ci95 }
        }),
        bias: bias(attributes.len()),
        attributes: all
            .map(|(set, ((attribute, values), terms))| AttributeFigures {
                attribute: attribute.attribute.clone(),
                naming: attribute.naming,
                absent: attribute.absent,
                bias: bias(set),
                values: measured.worst_first(&attribute.values, values),
                terms: measured.worst_first(&attribute.terms, terms),
            })
            .collect(),
    }
}

fn count(marked: &[bool]) -> u64 {
    marked.iter().filter(|is_marked| **is_marked).count() as u64
}

/// The measurements, to be put into a report.
struct Measured<'a> {
    texts: &'a ScoredTexts,
    judged: &'a [Judged],
    samples: &'a Samples,
    positives: u64,
}

impl Measured<'_> {
    fn negatives(&self) -> u64 {
        self.texts.positive.len() as u64 - self.positives
    }

    fn bias(&self, overall: Option<f64>, set: &[usize], samples: &[Option<f64>]) -> BiasMetric {
        let areas: Vec<Areas> = set.iter().map(|&at| self.judged[at].areas).collect();
        let [subgroup_auc, bpsn_auc, bnsp_auc] = means_of(&areas);
        BiasMetric {
            subgroups: set.len() as u64,
            power: POWER,
            subgroup_auc,
            bpsn_auc,
            bnsp_auc,
            metric: bias_of(overall, &areas).map(|value| Rate {
                value,
                ci95: basic(value, samples),
            }),
        }
    }

    fn worst_first(
        &self,
        subgroups: &[Subgroup],
        places: &[Option<usize>],
    ) -> Vec<SubgroupFigures> {
        let each = subgroups.iter().zip(places);
        let mut figures: Vec<SubgroupFigures> = each
            .map(|(subgroup, place)| self.figures(subgroup, *place))
            .collect();
        let worst = |figures: &SubgroupFigures| figures.worst().unwrap_or(f64::INFINITY);
        figures.sort_by(|a, b| {
            let by_area = worst(a).total_cmp(&worst(b));
            by_area.then(a.too_small.cmp(&b.too_small))
        });
        figures
    }

    fn figures(&self, subgroup: &Subgroup, place: Option<usize>) -> SubgroupFigures {
        let of = |is: &dyn Fn(usize) -> bool| {
            let texts = subgroup.texts.iter();
            texts.filter(|&&text| is(text as usize)).count() as u64
        };
        let (positive, selected) = (&self.texts.positive, &self.texts.selected);
        let texts = subgroup.texts.len() as u64;
        let positives = of(&|text| positive[text]);
        let negatives = texts - positives;
        let found = of(&|text| positive[text] && selected[text]);
        let false_positives = of(&|text| !positive[text] && selected[text]);
        let rate = |count: u64, of: u64| {
            let is_shown = place.is_some() && of > 0;
            is_shown.then(|| Rate {
                value: count as f64 / of as f64,
                ci95: clopper_pearson(count, of, 0.05),
            })
        };
        let others = (self.positives - positives, self.negatives() - negatives);
        let area = |area: usize, sizes: (u64, u64)| {
            let value = self.judged[place?].areas.all()[area]?;
            let samples = &self.samples.areas[place?][area];
            let ci95 = area_interval(value, samples, sizes);
            Some(Rate { value, ci95 })
        };
        SubgroupFigures {
            value: subgroup.value.clone(),
            term: subgroup.term.clone(),
            texts,
            positive_texts: positives,
            too_small: place.is_none(),
            subgroup_auc: area(0, (positives, negatives)),
            bpsn_auc: area(1, (others.0, negatives)),
            bnsp_auc: area(2, (positives, others.1)),
            predicted_positive_rate: rate(found + false_positives, texts),
            true_positive_rate: rate(found, positives),
            false_positive_rate: rate(false_positives, negatives),
            false_negative_rate: rate(positives - found, positives),
        }
    }
}

#[cfg(test)]
mod tests;
