//! Smoothing: the computation of probabilities from counts.

use hashbrown::HashMap;

use super::count::Counts;
use super::{Bigram, NgramError, NgramModel, Trigram, pair};
use crate::words::WordList;

/// The discounts of an order for which the corpus gives none.
const USUAL: [f64; 3] = [0.5, 1.0, 1.5];

/// The discounts of an order: the amounts taken from counts of 1, of 2, and of 3 and above.
type Discounts = [f64; 3];

/// Computes the discounts of n-grams with these counts.
pub(super) fn discounts_of(counts: impl Iterator<Item = u32>) -> Discounts {
    let mut n = [0.0; 4];
    for count in counts {
        if let Some(counted) = n.get_mut((count as usize).wrapping_sub(1)) {
            *counted += 1.0;
        }
    }
    let [n1, n2, n3, n4] = n;
    let y = n1 / (n1 + 2.0 * n2);
    let found = [
        1.0 - 2.0 * y * n2 / n1,
        2.0 - 3.0 * y * n3 / n2,
        3.0 - 4.0 * y * n4 / n3,
    ];
    // Without n-grams of one of the counts these are no numbers, or the whole count.
    let fit = (1..).zip(found).all(|(k, x)| x > 0.0 && x < f64::from(k));
    if fit { found } else { USUAL }
}

fn discount(discounts: &Discounts, count: u32) -> f64 {
    discounts[(count.clamp(1, 3) - 1) as usize]
}

/// The sums of the counts, and of their discounts, of everything that comes after a context.
#[derive(Clone, Copy, Default)]
struct Context {
    count: f64,
    discounted: f64,
}

impl Context {
    fn new(counts: impl Iterator<Item = u32>, discounts: &Discounts) -> Context {
        counts.fold(Context::default(), |sum, count| Context {
            count: sum.count + f64::from(count),
            discounted: sum.discounted + discount(discounts, count),
        })
    }

    /// Returns the weight of the shorter context.
    fn rest(&self) -> f64 {
        match self.count > 0.0 {
            true => self.discounted / self.count,
            false => 1.0,
        }
    }

    fn probability(&self, count: u32, discounts: &Discounts, shorter: f64) -> f64 {
        (f64::from(count) - discount(discounts, count)) / self.count + self.rest() * shorter
    }
}

impl NgramModel {
    /// Counts and smooths the n-grams of `texts`, given as tokens; texts without any count for
    /// nothing. Words that occur less often than `min_count` are the unknown word.
    ///
    /// # Errors
    /// When no word is frequent enough, or there are too many.
    pub fn fit<'a, T>(
        texts: impl IntoIterator<Item = T>,
        min_count: u64,
    ) -> Result<NgramModel, NgramError>
    where
        T: IntoIterator<Item = &'a str>,
    {
        smoothed(Counts::from_texts(texts, min_count)?)
    }
}

/// Computes the model of `counts`; counts that were read from outside must have no
/// [`Counts::problem`].
pub(super) fn smoothed(counts: Counts) -> Result<NgramModel, NgramError> {
    let Counts {
        words,
        starts,
        trigrams,
    } = counts;
    let repeated = |_| NgramError::TooLarge { what: "words" };
    let words = WordList::new(words.iter().map(String::as_str)).map_err(repeated)?;
    let unknown = words.len();
    let start = unknown as u32 + 2;

    let bigrams = pairs(&starts, &trigrams, start);
    let mut before = vec![0_u32; unknown + 3];
    for (key, _) in &bigrams {
        before[*key as u32 as usize] += 1;
    }

    let predicted = unknown + 2;
    let seen = || before.iter().copied().filter(|&count| count > 0);
    let discounts = discounts_of(seen());
    let alone = Context::new(seen(), &discounts);
    let uniform = 1.0 / predicted as f64;
    let word = |(id, &count): (usize, &u32)| match count {
        _ if id >= predicted => 0.0,
        0 => alone.rest() * uniform,
        count => alone.probability(count, &discounts, uniform),
    };
    let words_alone: Vec<f64> = before.iter().enumerate().map(word).collect();

    let discounts = discounts_of(bigrams.iter().map(|(_, count)| *count));
    let mut log_rests = vec![0.0; unknown + 3];
    let mut places = HashMap::with_capacity(bigrams.len());
    let mut of_two = Vec::with_capacity(bigrams.len());
    for after in bigrams.chunk_by(|(a, _), (b, _)| a >> 32 == b >> 32) {
        let context = Context::new(after.iter().map(|(_, count)| *count), &discounts);
        log_rests[(after[0].0 >> 32) as usize] = context.rest().ln();
        for &(key, count) in after {
            places.insert(key, number(of_two.len())?);
            let shorter = words_alone[key as u32 as usize];
            of_two.push(context.probability(count, &discounts, shorter));
        }
    }

    let discounts = discounts_of(trigrams.iter().map(|(_, count)| *count));
    let mut known: Vec<Bigram> = Vec::with_capacity(bigrams.len());
    let mut of_three = Vec::with_capacity(trigrams.len());
    let mut contexts = trigrams
        .chunk_by(|(a, _), (b, _)| a[..2] == b[..2])
        .peekable();
    for ((key, _), probability) in bigrams.iter().zip(&of_two) {
        let mut bigram = Bigram {
            log: probability.ln(),
            log_rest: 0.0,
            trigrams: number(of_three.len())?,
        };
        let begins = |after: &&[([u32; 3], u32)]| pair(after[0].0[0], after[0].0[1]) == *key;
        if let Some(after) = contexts.next_if(begins) {
            let context = Context::new(after.iter().map(|(_, count)| *count), &discounts);
            bigram.log_rest = context.rest().ln();
            for &([_, second, word], count) in after {
                let shorter = places
                    .get(&pair(second, word))
                    .map_or(0.0, |&place| of_two[place as usize]);
                of_three.push(Trigram {
                    word,
                    count,
                    log: context.probability(count, &discounts, shorter).ln(),
                });
            }
        }
        known.push(bigram);
    }
    Ok(NgramModel {
        words,
        starts,
        log_words: words_alone.iter().map(|p| p.ln()).collect(),
        log_rests,
        places,
        bigrams: known,
        trigrams: of_three,
    })
}

/// Returns the pairs of words that occur, by their keys in ascending order, and their counts: of
/// different words before them, or of texts that begin with the second where the first is the
/// start.
fn pairs(starts: &[(u32, u32)], trigrams: &[([u32; 3], u32)], start: u32) -> Vec<(u64, u32)> {
    let mut inner: Vec<u64> = trigrams
        .iter()
        .map(|([_, second, word], _)| pair(*second, *word))
        .collect();
    inner.sort_unstable();
    let inner = inner.chunk_by(|a, b| a == b);
    let inner = inner.map(|equal| (equal[0], equal.len() as u32));
    // The start has the largest number.
    let first = starts
        .iter()
        .map(|&(word, count)| (pair(start, word), count));
    inner.chain(first).collect()
}

fn number(place: usize) -> Result<u32, NgramError> {
    let what = "different n-grams";
    u32::try_from(place).map_err(|_| NgramError::TooLarge { what })
}
