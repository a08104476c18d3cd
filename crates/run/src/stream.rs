//! Keyed random streams: the one source of randomness in Probity.
//!
//! A draw is never taken from a shared generator. Every place that needs chance asks for the
//! stream of its *(seed, purpose, item, step)* and draws from that alone, so that a result cannot
//! depend on batch size, thread count, the order of work, or on where a run was interrupted.
//!
//! The key is hashed with the 64-bit finaliser of SplitMix64 (Steele, Lea, Flood: "Fast splittable
//! pseudorandom number generators", OOPSLA 2014) and seeds a xoshiro256++ generator. These streams
//! are for simulation and search. They are not cryptographic and must never produce privacy noise.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

/// The purpose of a stream. Two purposes never share draws, even for equal items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    /// Initial weights of a network (item: layer).
    Weights = 1,
    /// Assignment of rows to training, validation and test part.
    Split = 2,
    /// Order of rows in an epoch (item: epoch).
    Shuffle = 3,
    /// Dropout masks (item: batch counted over all epochs, step: layer).
    Dropout = 4,
    /// Initial centres of the seed clustering.
    Clusters = 5,
    /// Moves of the global phase (item: seed, step: iteration).
    GlobalMove = 6,
    /// Moves of the local phase (item: start, step: trial).
    LocalMove = 7,
    /// Uniform inputs for the estimate of the discriminatory share (item: sample).
    UniformInput = 8,
    /// Rows of the synthetic census (item: row).
    Synthetic = 9,
    /// Cross-validation folds of k-NN (item: fingerprint of the row's id or features).
    Folds = 10,
    /// Test inputs that are analysed.
    TestInputs = 11,
    /// Rows inserted as poison (item: row).
    Poison = 12,
    /// Uniform inputs that a search tries (item: walker, step: draw).
    RandomInput = 50,
    /// Inputs around an input that its surrogate is learnt from (item and step: key of the input).
    Surrogate = 51,
    /// Solutions of path constraints (item and step: key of the input).
    Solution = 52,
    /// Choice of the finds of a search that are looked at (items: an individual, or what for; step:
    /// draw).
    Finds = 53,
    /// Seeding of k-means (items: node, restart, stage, race; step: row id).
    Seeding = 40,
    /// Phase of the lattice of quantized k-means (items: node, restart, iteration; step: column).
    Phase = 41,
    /// Leaf of a row in divide-and-conquer k-means (step: row id).
    Leaf = 42,
    /// Rows that stand for all in a silhouette (step: row id).
    Silhouette = 43,
    /// Rows that a benchmark deletes.
    Requests = 44,
    /// Rows of the data that a share is of, where not all are asked about.
    PopulationRows = 80,
    /// Inputs of the data by which a model is examined (item: what for).
    LookedAt = 81,
    /// Rows of the Gaussian mixture (items: component or row; step: column).
    Mixture = 45,
    /// Generated comments (item: comment).
    Comment = 20,
    /// Initial word vectors (item: word).
    WordVector = 21,
    /// Order of word pairs in an epoch of GloVe (item: cell of the co-occurrence matrix, step:
    /// epoch).
    WordPairs = 22,
    /// Noise of an answer that is declared not private (item: query).
    NotPrivateNoise = 13,
    /// Records of the synthetic sets of the outlier paper (item: record).
    OutlierData = 14,
    /// The place in a text whose worst case is learned from (item: text, step: epoch).
    WorstCase = 70,
    /// Found samples that a repair learns from (item: repeat).
    RepairTexts = 71,
    /// Points of boxes that a proof leaves undecided (item: point).
    UndecidedPoint = 90,
    /// Points of discriminatory boxes that are tried for a pair (item: box, step: try).
    Witness = 91,
    /// Points and boxes by which a proof is checked (item: box, step: point).
    Replay = 92,
    /// Keys of the nodes of a sum-product network (item: name of a child).
    SpnNode = 30,
    /// Race for the seeds of a data split (item: row id, step: stage).
    SpnSeeding = 31,
    /// Projections of the dependence coefficient (item: variable and axis, step: feature).
    SpnProjection = 32,
    /// Samples drawn from a network (item: sample).
    SpnSample = 33,
    /// Rows and deletions of a benchmark (item: repeat).
    SpnBenchmark = 34,
    /// Rows that choose a threshold, and those of them that are held out (item: 0 or 1; step: row
    /// id).
    SpnChoice = 35,
    /// Found samples that a repair learns from (item: run and repeat).
    RepairDraw = 60,
    /// Seeds of a repair's networks (item: repeat).
    RepairNetwork = 61,
    /// Random inputs by which a repair chooses (item: sample).
    RepairChoice = 62,
    /// Halves of two groups of people (item: group, step: half).
    HalfSample = 95,
    /// Numbers of counterparts that are drawn (item: row, step: attribute).
    CounterpartNumber = 96,
    /// Rows of a bootstrap sample (item: sample).
    Bootstrap = 63,
    /// Protected part of a row in a repair (item: row, step: repeat).
    RepairVariant = 64,
}

/// The value that fingerprints start from.
const FINGERPRINT: u64 = 0x6a09_e667_f3bc_c908;

/// The generator behind every keyed stream.
pub type Stream = Xoshiro256PlusPlus;

/// Returns the stream of `(seed, purpose, item, step)`.
///
/// ```
/// use probity_run::stream::{stream, Purpose};
/// use rand::RngExt;
/// let a: u64 = stream(1, Purpose::LocalMove, 7, 3).random();
/// let b: u64 = stream(1, Purpose::LocalMove, 7, 3).random();
/// assert_eq!(a, b);
/// ```
pub fn stream(seed: u64, purpose: Purpose, item: u64, step: u64) -> Stream {
    let mut state = mix(seed ^ 0x9e37_79b9_7f4a_7c15);
    for word in [purpose as u64, item, step] {
        state = absorb(state, word);
    }
    Stream::seed_from_u64(state)
}

/// Random words of one `(seed, purpose, items)`, one for each step: for draws that are too many for
/// a generator each.
#[derive(Debug, Clone, Copy)]
pub struct Words {
    state: u64,
}

impl Words {
    /// Returns the words of `(seed, purpose, items)`.
    pub fn new(seed: u64, purpose: Purpose, items: &[u64]) -> Words {
        let start = absorb(mix(seed ^ 0x9e37_79b9_7f4a_7c15), purpose as u64);
        Words {
            state: items.iter().fold(start, |state, &item| absorb(state, item)),
        }
    }

    /// Returns the word of `step`: 64 uniform bits.
    #[inline]
    pub fn word(&self, step: u64) -> u64 {
        mix(absorb(self.state, step))
    }

    /// Returns a number below `bound`, uniform but for a bias of at most `bound` / 2⁶⁴.
    #[inline]
    pub fn below(&self, bound: u64, step: u64) -> u64 {
        ((u128::from(self.word(step)) * u128::from(bound)) >> 64) as u64
    }
}

/// Returns a 64-bit fingerprint of `words`: what a stream has as its item for a thing that has no
/// number. Equal words give equal fingerprints; others hardly ever do.
pub fn fingerprint(words: impl IntoIterator<Item = u64>) -> u64 {
    words.into_iter().fold(mix(FINGERPRINT), absorb)
}

/// Returns the fingerprint of a text.
pub fn fingerprint_of_text(text: &str) -> u64 {
    let (words, rest) = text.as_bytes().as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let words = words.iter().chain([&last]).copied();
    fingerprint(words.map(u64::from_le_bytes).chain([text.len() as u64]))
}

#[inline]
fn absorb(state: u64, word: u64) -> u64 {
    mix(state.wrapping_add(0x9e37_79b9_7f4a_7c15) ^ mix(word))
}

/// Returns the numbers `0..count` in the random order of `(seed, purpose, item)`.
pub fn permutation(seed: u64, purpose: Purpose, item: u64, count: u32) -> Vec<u32> {
    let mut order: Vec<u32> = (0..count).collect();
    order.shuffle(&mut stream(seed, purpose, item, 0));
    order
}

/// Returns all of the numbers `0..count`, in their order, or `most` of them where there are more,
/// drawn by the stream of `(seed, purpose, item)`: from everywhere in the range, since the first
/// ones are often of one kind.
pub fn drawn(seed: u64, purpose: Purpose, item: u64, count: u32, most: usize) -> Vec<u32> {
    if count as usize <= most {
        return (0..count).collect();
    }
    let mut drawn = permutation(seed, purpose, item, count);
    drawn.truncate(most);
    drawn.sort_unstable();
    drawn
}

/// Computes SplitMix64's output function: a bijection on 64-bit words with good avalanche.
fn mix(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;
    use std::collections::HashSet;

    #[test]
    fn every_part_of_the_key_matters() {
        let mut seen = HashSet::new();
        for seed in 0..4 {
            for purpose in [Purpose::GlobalMove, Purpose::LocalMove, Purpose::Split] {
                for item in 0..8 {
                    for step in 0..8 {
                        seen.insert(stream(seed, purpose, item, step).random::<u64>());
                    }
                }
            }
        }
        assert_eq!(seen.len(), 4 * 3 * 8 * 8);
    }

    #[test]
    fn neighbouring_keys_are_uniform() {
        // Mean of 100,000 uniform draws: standard error 0.0009; six of them bound the error
        // probability by 2e-9.
        let sum: f64 = (0..100_000)
            .map(|item| stream(3, Purpose::UniformInput, item, 0).random::<f64>())
            .sum();
        assert!((sum / 100_000.0 - 0.5).abs() < 0.0055);
    }

    #[test]
    fn words_are_uniform_and_every_part_of_their_key_matters() {
        // Mean of 200,000 uniform draws: standard error 0.00065; six of them bound the error
        // probability by 2e-9.
        let mut sum = 0.0;
        let mut seen = HashSet::new();
        for stage in 0..2 {
            let words = Words::new(3, Purpose::Seeding, &[stage]);
            for id in 0..100_000 {
                sum += words.below(1 << 32, id) as f64 / (1_u64 << 32) as f64;
                seen.insert(words.word(id));
            }
        }
        assert!((sum / 200_000.0 - 0.5).abs() < 0.0039);
        assert_eq!(seen.len(), 200_000);
    }

    #[test]
    fn fingerprints_tell_texts_apart_and_repeat() {
        let texts = [
            "",
            "\0",
            "7",
            "07",
            "12345678",
            "12345678\0",
            "123456789",
            "ää",
        ];
        let seen: HashSet<u64> = texts.map(fingerprint_of_text).into();
        assert_eq!(seen.len(), texts.len());
        assert_eq!(fingerprint_of_text("row 7"), fingerprint_of_text("row 7"));
        assert_ne!(fingerprint([1, 2]), fingerprint([2, 1]));
    }

    #[test]
    fn permutation_holds_every_number_once() {
        let mut order = permutation(5, Purpose::Shuffle, 2, 1000);
        assert_ne!(order[..10], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        order.sort_unstable();
        assert!(order.iter().enumerate().all(|(i, &v)| i as u32 == v));
    }
}
