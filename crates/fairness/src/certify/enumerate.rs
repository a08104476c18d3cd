//! Trying all substitutions of inputs, as far as a budget of model calls goes.
//!
//! Trying is proving: an input all of whose substitutions keep its class is fair, and one that
//! changes it refutes that. Inputs are tried one after another, so that a budget decides as many as
//! it can; the result does not depend on the number of threads or on how the model is asked.

use rayon::prelude::*;

use crate::calls::{Calls, CountedModel};
use crate::check::{Wanted, check_until_flip};
use crate::domain::Domain;
use probity_nn::{Classifier, ModelError, Rows};

/// Number of rows that a thread takes at a time.
const CHUNK: usize = 256;

/// The result of trying the substitutions of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tried {
    /// All substitutions keep the decision on the input.
    Fair,
    /// A variant of the input gets another decision.
    Unfair {
        /// The number of the variant: see [`Domain::write_variant`].
        variant: u32,
    },
    /// Nothing is known: the budget was spent before.
    Undecided,
}

impl Tried {
    /// Whether the input is fair; `None` where that is not known.
    pub fn is_fair(self) -> Option<bool> {
        match self {
            Tried::Fair => Some(true),
            Tried::Unfair { .. } => Some(false),
            Tried::Undecided => None,
        }
    }
}

/// The results of trying the substitutions of some inputs, and the number of calls that it took.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Enumeration {
    /// The result of each input, in their order.
    pub tried: Vec<Tried>,
    /// Inputs and variants that the model was asked about.
    pub calls: u64,
}

impl Enumeration {
    /// The number of inputs whose result is `which`.
    pub fn count(&self, which: impl Fn(Tried) -> bool) -> u64 {
        self.tried.iter().filter(|tried| which(**tried)).count() as u64
    }
}

/// Tries the substitutions of `rows` until one changes the class, with at most `most` model calls.
///
/// # Errors
/// When the model cannot answer.
pub fn enumerate(
    model: &dyn Classifier,
    domain: &dyn Domain,
    rows: Rows<'_>,
    most: Option<u64>,
) -> Result<Enumeration, ModelError> {
    let width = rows.width.max(1);
    let mut left = most.unwrap_or(u64::MAX);
    let mut found = Enumeration::default();
    let spend = |found: &mut Enumeration, left: &mut u64, calls: u64| {
        found.calls += calls;
        *left -= calls;
    };
    // What an input costs at most is known before, what it does cost only behind: as many as fit
    // whatever they cost are tried together, and then as many as fit into what they left.
    loop {
        let done = found.tried.len();
        let mut cost = 0u64;
        let affordable = rows.iter().skip(done).take_while(|row| {
            cost = cost.saturating_add(domain.variants(row) as u64);
            cost <= left
        });
        let fit = affordable.count();
        if fit == 0 {
            break;
        }
        let calls = Calls::default();
        let counted = CountedModel::new(model, &calls);
        let tried = try_all(
            &counted,
            domain,
            &rows.codes[done * width..][..fit * width],
            width,
        )?;
        found.tried.extend(tried);
        spend(&mut found, &mut left, calls.so_far().rows);
    }
    if let Some(row) = rows.iter().nth(found.tried.len()) {
        let calls = Calls::default();
        let counted = CountedModel::new(model, &calls);
        found.tried.push(try_some(&counted, domain, row, left)?);
        spend(&mut found, &mut left, calls.so_far().rows);
    }
    found.tried.resize(rows.len(), Tried::Undecided);
    Ok(found)
}

/// Tries all substitutions of the rows `codes`.
fn try_all(
    model: &dyn Classifier,
    domain: &dyn Domain,
    codes: &[i32],
    width: usize,
) -> Result<Vec<Tried>, ModelError> {
    let parts = codes.par_chunks(CHUNK * width).map(|codes| {
        let rows = Rows::new(codes, width);
        let checks =
            check_until_flip(model, domain, rows, &vec![0; rows.len()], Wanted::Decisions)?;
        let tried = checks.iter().map(|check| match check.flips.first() {
            Some(flip) => Tried::Unfair {
                variant: flip.variant,
            },
            None => Tried::Fair,
        });
        Ok(tried.collect())
    });
    let parts: Vec<Vec<Tried>> = parts.collect::<Result<_, ModelError>>()?;
    Ok(parts.concat())
}

/// Tries as many substitutions of `row`, which has more, as `left` calls allow.
fn try_some(
    model: &dyn Classifier,
    domain: &dyn Domain,
    row: &[i32],
    left: u64,
) -> Result<Tried, ModelError> {
    let (own, count) = (domain.own_variant(row), domain.variants(row));
    let most = usize::try_from(left)
        .unwrap_or(usize::MAX)
        .saturating_sub(1);
    let others = (0..count).filter(|&variant| variant != own).take(most);
    let others: Vec<usize> = others.collect();
    if others.is_empty() {
        return Ok(Tried::Undecided);
    }
    let mut codes = row.to_vec();
    for &variant in &others {
        domain.write_variant(row, variant, &mut codes);
    }
    let asked = Rows::new(&codes, row.len());
    let logits = model.logits(asked)?;
    let mut answers = asked.iter().zip(logits.chunks_exact(model.classes()));
    let own = answers.next().unwrap_or_default();
    let differs = |answer| model.decision().contrast(own, answer).is_some();
    let flip = others
        .iter()
        .zip(answers)
        .find(|(_, answer)| differs(*answer));
    Ok(match flip {
        Some((&variant, _)) => Tried::Unfair {
            variant: variant as u32,
        },
        None => Tried::Undecided,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::domain::{TextDomain, text_of};
    use crate::text::source::Source;
    use crate::text::terms::{Term, Terms};
    use probity_run::stream::{Purpose, stream};
    use rand::RngExt;

    /// Classes by a hash of the tokens.
    struct Hashed(u64);

    impl Hashed {
        fn class(&self, text: &[i32]) -> usize {
            let bytes: Vec<u8> = text.iter().flat_map(|id| id.to_le_bytes()).collect();
            usize::from(xxhash_rust::xxh3::xxh3_64_with_seed(&bytes, self.0).is_multiple_of(9))
        }
    }

    impl Classifier for Hashed {
        fn width(&self) -> usize {
            0
        }

        fn classes(&self) -> usize {
            2
        }

        fn logits(&self, rows: Rows<'_>) -> Result<Vec<f32>, ModelError> {
            let classes = rows.iter().map(|row| self.class(text_of(row)));
            Ok(classes
                .flat_map(|class| [1.0, 2.0 * class as f32])
                .collect())
        }
    }

    /// With any budget, a decided input has the result of brute force, and more calls never decide
    /// fewer inputs.
    #[test]
    fn what_is_decided_is_true_and_no_call_is_beyond_the_budget() {
        let term = |number: u32| Term {
            attribute: 0,
            value: number,
            spelled: number.to_string(),
            tokens: vec![number as i32],
            others: (0..9).filter(|&other| other != number).collect(),
        };
        let terms = Terms::new((0..9).map(term).collect());
        let (mut fair, mut unfair, mut undecided) = (0, 0, 0);
        for number in 0..40u64 {
            let mut draw = stream(number, Purpose::UniformInput, 2, 0);
            let mut text = || -> Vec<i32> {
                let length = draw.random_range(1..9);
                (0..length).map(|_| draw.random_range(0..25)).collect()
            };
            let texts: Vec<Vec<i32>> = (0..30).map(|_| text()).collect();
            let sources = texts.iter();
            let sources = sources.map(|t| Source::new(t.clone(), terms.sites(t), Vec::new()));
            let domain = TextDomain::from_sources(sources.collect()).unwrap();
            let model = Hashed(number);
            let rows = domain.rows();
            let rows = Rows::new(&rows, domain.width());
            // By the definition, without the code under test.
            let brute = |text: &Vec<i32>| {
                let places = (0..text.len()).filter(|&place| text[place] < 9);
                places.into_iter().all(|place| {
                    (0..9).all(|other| {
                        let mut changed = text.clone();
                        changed[place] = other;
                        model.class(&changed) == model.class(text)
                    })
                })
            };
            let truth: Vec<bool> = texts.iter().map(brute).collect();
            let all = enumerate(&model, &domain, rows, None).unwrap();
            let of_all: Vec<Option<bool>> = all.tried.iter().map(|t| t.is_fair()).collect();
            assert_eq!(of_all, truth.iter().map(|&is| Some(is)).collect::<Vec<_>>());
            // What an input costs at most has to be left before all of it is tried.
            let worst: usize = rows.iter().map(|row| domain.variants(row)).sum();
            let enough = enumerate(&model, &domain, rows, Some(worst as u64)).unwrap();
            assert_eq!(enough, all);
            let mut most = 0;
            let mut decided_before = 0;
            while most < all.calls {
                let some = enumerate(&model, &domain, rows, Some(most)).unwrap();
                assert!(some.calls <= most);
                for ((tried, &truth), row) in some.tried.iter().zip(&truth).zip(rows.iter()) {
                    assert!(tried.is_fair().is_none_or(|is| is == truth));
                    if let Tried::Unfair { variant } = tried {
                        let mut other = Vec::new();
                        domain.write_variant(row, *variant as usize, &mut other);
                        assert_ne!(model.class(text_of(row)), model.class(text_of(&other)));
                    }
                }
                let decided = some.count(|tried| tried != Tried::Undecided);
                assert!(decided >= decided_before, "{most}");
                decided_before = decided;
                undecided += some.count(|tried| tried == Tried::Undecided);
                most += 1 + most / 3;
            }
            fair += all.count(|tried| tried == Tried::Fair);
            unfair += all.count(|tried| tried.is_fair() == Some(false));
        }
        assert!(fair > 200 && unfair > 200 && undecided > 200);
    }
}
