//! Areas under the ROC curve of subgroups (Borkan, Dixon, Sorensen, Thain, Vasserman 2019, section
//! 3), counted exactly.
//!
//! The AUC of positives P and negatives N is the share of the pairs of P × N of which the positive
//! one scores higher, ties counted half. With S a subgroup, B all other texts, and ⁺ and ⁻ for the
//! positive and the negative ones of them:
//!
//! | figure   | positives | negatives | low where                                      |
//! |----------|-----------|-----------|------------------------------------------------|
//! | subgroup | S⁺        | S⁻        | the model cannot tell texts of S apart         |
//! | BPSN     | B⁺        | S⁻        | negative texts of S score like positive ones   |
//! | BNSP     | S⁺        | B⁻        | positive texts of S score like negative ones   |
//!
//! Let w(P, N) be twice the pairs won, a whole number. With ± over all texts, w(B⁺, S⁻) = w(⁺, S⁻) −
//! w(S⁺, S⁻) and w(S⁺, B⁻) = w(S⁺, ⁻) − w(S⁺, S⁻): sums over S alone, once it is known how many
//! texts of each kind lie below each score.

/// Scores of labelled texts, as places in their order.
#[derive(Debug, Clone)]
pub struct Ranking {
    /// The place of each text's score among the distinct scores.
    rank: Vec<u32>,
    ranks: usize,
    positive: Vec<bool>,
}

/// A ranking whose texts are counted: how often each counts, and how many of each kind lie below
/// each score.
#[derive(Debug, Clone)]
pub struct CountedRanking<'a> {
    ranking: &'a Ranking,
    times: &'a [u32],
    /// Number of positive texts below each rank; last, of all.
    positives: Vec<u64>,
    /// Number of negative texts below each rank; last, of all.
    negatives: Vec<u64>,
}

/// The three areas of a subgroup; each is absent where one side of its pairs is empty.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Areas {
    /// The AUC of positives and negatives of the subgroup.
    pub subgroup: Option<f64>,
    /// The AUC of background positives and subgroup negatives (BPSN).
    pub bpsn: Option<f64>,
    /// The AUC of subgroup positives and background negatives (BNSP).
    pub bnsp: Option<f64>,
}

impl Areas {
    /// All three areas.
    pub fn all(&self) -> [Option<f64>; 3] {
        [self.subgroup, self.bpsn, self.bnsp]
    }
}

impl Ranking {
    /// The ranking of texts with these scores, where the positive ones are marked.
    pub fn new(scores: &[f64], positive: &[bool]) -> Ranking {
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]));
        let mut rank = vec![0; scores.len()];
        let mut ranks = 0;
        // −0 and 0 are one score.
        for tied in order.chunk_by(|&a, &b| scores[a] == scores[b]) {
            for &text in tied {
                rank[text] = ranks;
            }
            ranks += 1;
        }
        Ranking {
            rank,
            ranks: ranks as usize,
            positive: positive.to_vec(),
        }
    }

    /// Puts the texts `members` in the order of their scores, as [`CountedRanking::areas`] takes
    /// them.
    pub fn sort(&self, members: &mut [u32]) {
        members.sort_by_key(|&text| self.rank[text as usize]);
    }

    /// The ranking with text i counted `times[i]` times.
    pub fn counted<'a>(&'a self, times: &'a [u32]) -> CountedRanking<'a> {
        let mut positives = vec![0; self.ranks + 1];
        let mut negatives = vec![0; self.ranks + 1];
        for (text, &rank) in self.rank.iter().enumerate() {
            let side = if self.positive[text] {
                &mut positives
            } else {
                &mut negatives
            };
            side[rank as usize + 1] += u64::from(times[text]);
        }
        for below in [&mut positives, &mut negatives] {
            for rank in 0..self.ranks {
                below[rank + 1] += below[rank];
            }
        }
        CountedRanking {
            ranking: self,
            times,
            positives,
            negatives,
        }
    }
}

impl CountedRanking<'_> {
    /// The AUC of all texts.
    pub fn overall(&self) -> Option<f64> {
        let ranks = self.ranking.ranks;
        let won = (0..ranks).map(|rank| {
            let positives = self.positives[rank + 1] - self.positives[rank];
            u128::from(positives) * u128::from(doubled_below(&self.negatives, rank))
        });
        share(won.sum(), self.positives[ranks], self.negatives[ranks])
    }

    /// The areas of the subgroup of the texts `members`, in the order of their scores.
    pub fn areas(&self, members: &[u32]) -> Areas {
        let rank = |text: &u32| self.ranking.rank[*text as usize];
        let ranks = self.ranking.ranks;
        let (mut positives, mut negatives) = (0u64, 0u64);
        let (mut inside, mut under_positives, mut over_negatives) = (0u128, 0u128, 0u128);
        for tied in members.chunk_by(|a, b| rank(a) == rank(b)) {
            let Some(at) = tied.first().map(|text| rank(text) as usize) else {
                continue;
            };
            let (mut positive, mut negative) = (0u64, 0u64);
            for &text in tied {
                let side = if self.ranking.positive[text as usize] {
                    &mut positive
                } else {
                    &mut negative
                };
                *side += u64::from(self.times[text as usize]);
            }
            inside += u128::from(positive) * u128::from(2 * negatives + negative);
            under_positives +=
                u128::from(positive) * u128::from(doubled_below(&self.negatives, at));
            let above = 2 * self.positives[ranks] - doubled_below(&self.positives, at);
            over_negatives += u128::from(negative) * u128::from(above);
            positives += positive;
            negatives += negative;
        }
        Areas {
            subgroup: share(inside, positives, negatives),
            bpsn: share(
                over_negatives - inside,
                self.positives[ranks] - positives,
                negatives,
            ),
            bnsp: share(
                under_positives - inside,
                positives,
                self.negatives[ranks] - negatives,
            ),
        }
    }
}

/// Twice the number of texts below `rank` plus the number of those at it, of those counted `below`
/// each rank.
fn doubled_below(below: &[u64], rank: usize) -> u64 {
    below[rank] + below[rank + 1]
}

/// The share of pairs that were won, from twice their number.
fn share(doubled: u128, positives: u64, negatives: u64) -> Option<f64> {
    let pairs = u128::from(positives) * u128::from(negatives);
    (pairs > 0).then(|| doubled as f64 / (2 * pairs) as f64)
}

/// The power of the generalised mean.
pub const POWER: f64 = -5.0;

/// The final bias metric of an AUC of all texts and the areas of subgroups.
pub(super) fn bias_of(overall: Option<f64>, areas: &[Areas]) -> Option<f64> {
    let means = means_of(areas);
    let [subgroup, bpsn, bnsp] = means;
    Some((overall? + subgroup? + bpsn? + bnsp?) / 4.0)
}

/// The generalised means of the three areas, over the subgroups in which they are defined.
pub(super) fn means_of(areas: &[Areas]) -> [Option<f64>; 3] {
    [0, 1, 2].map(|area| {
        let defined: Vec<f64> = areas.iter().filter_map(|it| it.all()[area]).collect();
        power_mean(&defined, POWER)
    })
}

/// The generalised mean M_p of `values`, (mean of v^p)^(1/p); `None` of none. With p below 0 it is 0
/// where a value is.
pub fn power_mean(values: &[f64], power: f64) -> Option<f64> {
    let sum: f64 = values.iter().map(|value| value.powf(power)).sum();
    (!values.is_empty()).then(|| (sum / values.len() as f64).powf(power.recip()))
}
