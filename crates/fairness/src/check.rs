//! The check: is an input discriminatory?
//!
//! x is discriminatory iff another decision is made of some variant x' that equals it outside the
//! protected attributes (ADF, Definition 1): usually another predicted class, else what the model's
//! [`Decision`] tells apart. Two forms share one meaning:
//!
//! * [`check_all`] evaluates every variant: the global phase needs all outputs anyway.
//! * [`check_until_flip`] stops at the first variant that flips, the variant that flipped last time
//!   first, the others in cyclic order after it (or by rank, see [`Domain::is_ranked`]), in blocks
//!   that grow by a factor of four.
//!
//! Both work on a batch of inputs at once; an input's outcome does not depend on the others.
//!
//! Whoever needs no logits says so by [`Wanted::Decisions`]: a device that decides
//! ([`Classifier::decides_on_device`]) is then given codes and gives back decisions alone.

use smallvec::SmallVec;

use super::domain::Domain;
use probity_nn::decision::Decision;
use probity_nn::{Classifier, ModelError, Rows};

/// Rows that one block of variants may have: bounds the memory of a check.
pub const BLOCK_ROWS: usize = 1 << 16;

/// What is wanted of a check beside its flips.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// The logits of the input and of each flip.
    Logits,
    /// No logits: they are there where the model gives them anyway, and empty where it decides on a
    /// device.
    Decisions,
}

/// Logits of one input: on the stack for up to four classes.
pub type Logits = SmallVec<[f32; 4]>;

/// A variant on which another decision is made than on the input.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Flip {
    /// Number of the variant.
    pub variant: u32,
    /// The predicted class of the variant, or that on whose side the decision is made.
    pub label: u32,
    /// The logits of the variant; empty where none were [`Wanted`].
    pub logits: Logits,
    /// The decisions on the input and on the variant.
    pub decided: [u32; 2],
}

/// An input after its check.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Checked {
    /// The predicted class of the input, or that on whose side the decision is made.
    pub label: u32,
    /// The logits of the input; empty where none were [`Wanted`].
    pub logits: Logits,
    /// Variants that flip: all of them, or the first one found. Empty: not discriminatory.
    pub flips: SmallVec<[Flip; 1]>,
}

/// An input with the logits of all of its variants.
#[derive(Debug, Clone)]
pub struct FullyChecked {
    /// The outcome, with every flip.
    pub checked: Checked,
    /// The number of the variant that the input itself is.
    pub own: usize,
    /// The logits of all variants, row-major `[variants, classes]`.
    pub variant_logits: Vec<f32>,
}

/// Checks `rows` against all of their variants.
///
/// # Errors
/// When the model cannot answer.
pub fn check_all(
    model: &dyn Classifier,
    domain: &dyn Domain,
    rows: Rows<'_>,
) -> Result<Vec<FullyChecked>, ModelError> {
    let (classes, decision) = (model.classes(), model.decision());
    let mut codes = Vec::new();
    let counts: Vec<usize> = rows
        .iter()
        .map(|row| {
            let count = domain.variants(row);
            (0..count).for_each(|variant| domain.write_variant(row, variant, &mut codes));
            count
        })
        .collect();
    let logits = model.logits(Rows::new(&codes, rows.width))?;
    let (mut rest, mut rest_codes) = (logits.as_slice(), codes.as_slice());
    let mut results = Vec::with_capacity(counts.len());
    for (row, count) in rows.iter().zip(counts) {
        let (variant_logits, after) = rest.split_at(count * classes);
        rest = after;
        let (variants, after) = rest_codes.split_at(count * rows.width);
        rest_codes = after;
        let own = domain.own_variant(row);
        let own_logits = &variant_logits[own * classes..(own + 1) * classes];
        let flips = variant_logits
            .chunks_exact(classes)
            .zip(variants.chunks_exact(rows.width))
            .enumerate()
            .filter_map(|(variant, (logits, codes))| {
                let decided = decision.contrast((row, own_logits), (codes, logits))?;
                Some(Flip {
                    variant: variant as u32,
                    label: decision.side(codes, logits),
                    logits: Logits::from_slice(logits),
                    decided,
                })
            })
            .collect();
        results.push(FullyChecked {
            checked: Checked {
                label: decision.side(row, own_logits),
                logits: Logits::from_slice(own_logits),
                flips,
            },
            own,
            variant_logits: variant_logits.to_vec(),
        });
    }
    Ok(results)
}

/// Checks `rows`, each against one variant alone: `variants[i]` of row i, or the next that is not
/// the row itself. A row without a flip may have one in another variant.
///
/// # Errors
/// When the model cannot answer.
pub fn check_variant(
    model: &dyn Classifier,
    domain: &dyn Domain,
    rows: Rows<'_>,
    variants: &[u32],
    wanted: Wanted,
) -> Result<Vec<Checked>, ModelError> {
    Ok(first_block(model, domain, rows, variants, wanted)?.0)
}

/// Checks `rows`, each against its variants until one flips; `hints[i]` is the variant of row i to
/// try first. At most one flip is reported a row.
///
/// # Errors
/// When the model cannot answer.
pub fn check_until_flip(
    model: &dyn Classifier,
    domain: &dyn Domain,
    rows: Rows<'_>,
    hints: &[u32],
    wanted: Wanted,
) -> Result<Vec<Checked>, ModelError> {
    let width = rows.width;
    let decision = model.decision();
    let (mut results, mut orders) = first_block(model, domain, rows, hints, wanted)?;
    let is_open =
        |index: &usize| results[*index].flips.is_empty() && !orders[*index].is_exhausted();
    let mut open: Vec<usize> = (0..results.len()).filter(is_open).collect();
    let mut codes = Vec::new();
    // Then blocks of 4, 16, 64 … variants of what is still open. The block is the same for every
    // row, so that what a row costs does not depend on the others; slices bound the memory.
    let mut block = 4;
    while !open.is_empty() {
        for slice in open.chunks((BLOCK_ROWS / block).max(1)) {
            codes.clear();
            let mut tried: Vec<(usize, usize)> = Vec::new();
            for &index in slice {
                let row = &rows.codes[index * width..][..width];
                for _ in 0..block {
                    if let Some(variant) = orders[index].next() {
                        domain.write_variant(row, variant, &mut codes);
                        tried.push((index, variant));
                    }
                }
            }
            let answers = Answers::new(model, Rows::new(&codes, width), wanted)?;
            let asked = codes.chunks_exact(width).zip(answers.iter());
            for (&(index, variant), other) in tried.iter().zip(asked) {
                if results[index].flips.is_empty() {
                    let row = &rows.codes[index * width..][..width];
                    results[index].take_flip(decision, row, variant, other);
                }
            }
        }
        open.retain(|&index| results[index].flips.is_empty() && !orders[index].is_exhausted());
        block = (block * 4).min(BLOCK_ROWS);
    }
    Ok(results)
}

/// The first block of a check: every row itself and the variant that it tries first, with the order
/// of the others.
fn first_block(
    model: &dyn Classifier,
    domain: &dyn Domain,
    rows: Rows<'_>,
    hints: &[u32],
    wanted: Wanted,
) -> Result<(Vec<Checked>, Vec<VariantOrder>), ModelError> {
    let width = rows.width;
    let decision = model.decision();
    let mut codes = Vec::with_capacity(2 * rows.codes.len());
    let mut orders: Vec<VariantOrder> = Vec::with_capacity(hints.len());
    for (row, &hint) in rows.iter().zip(hints) {
        let mut order = VariantOrder::new(domain, row, hint as usize);
        codes.extend_from_slice(row);
        if let Some(variant) = order.next() {
            domain.write_variant(row, variant, &mut codes);
        }
        orders.push(order);
    }
    let answers = Answers::new(model, Rows::new(&codes, width), wanted)?;
    let mut asked = codes.chunks_exact(width).zip(answers.iter());
    let mut results = Vec::with_capacity(hints.len());
    for order in &orders {
        let Some((row, own)) = asked.next() else {
            break;
        };
        let mut checked = Checked {
            label: own.side(decision, row),
            logits: own.logits(),
            flips: SmallVec::new(),
        };
        if let Some(variant) = order.last
            && let Some(other) = asked.next()
        {
            checked.take_flip(decision, row, variant, other);
        }
        results.push(checked);
    }
    Ok((results, orders))
}

/// The answers of a model about some rows.
enum Answers {
    /// The logits, row-major, of this number of classes.
    Logits(Vec<f32>, usize),
    /// The decisions.
    Decisions(Vec<u32>),
}

/// The answer of a model about one row.
#[derive(Clone, Copy)]
enum Answer<'a> {
    /// The logits.
    Logits(&'a [f32]),
    /// The decision.
    Decision(u32),
}

impl Answers {
    /// Asks `model` about `rows`.
    fn new(model: &dyn Classifier, rows: Rows<'_>, wanted: Wanted) -> Result<Answers, ModelError> {
        Ok(
            match wanted == Wanted::Decisions && model.decides_on_device() {
                true => Answers::Decisions(model.decide(rows)?),
                false => Answers::Logits(model.logits(rows)?, model.classes()),
            },
        )
    }

    /// The answers one by one.
    fn iter(&self) -> impl Iterator<Item = Answer<'_>> {
        let (logits, classes, decisions) = match self {
            Answers::Logits(logits, classes) => (&logits[..], *classes, &[][..]),
            Answers::Decisions(decisions) => (&[][..], 1, &decisions[..]),
        };
        let logits = logits.chunks_exact(classes.max(1)).map(Answer::Logits);
        logits.chain(decisions.iter().copied().map(Answer::Decision))
    }
}

impl Answer<'_> {
    /// The class whose lead goes down on the way to another decision about `row`.
    fn side(self, decision: &Decision, row: &[i32]) -> u32 {
        match self {
            Answer::Logits(logits) => decision.side(row, logits),
            Answer::Decision(decided) => decided,
        }
    }

    /// The logits; none where the answer is a decision.
    fn logits(self) -> Logits {
        match self {
            Answer::Logits(logits) => Logits::from_slice(logits),
            Answer::Decision(_) => Logits::new(),
        }
    }
}

impl Checked {
    /// Takes the variant number `variant` as a flip of `row`, if the answer about its codes says so.
    fn take_flip(
        &mut self,
        decision: &Decision,
        row: &[i32],
        variant: usize,
        (codes, answer): (&[i32], Answer<'_>),
    ) {
        let contrast = match answer {
            Answer::Logits(logits) => decision.contrast((row, &self.logits), (codes, logits)),
            Answer::Decision(decided) => (decided != self.label).then_some([self.label, decided]),
        };
        if let Some(decided) = contrast {
            self.flips.push(Flip {
                variant: variant as u32,
                label: answer.side(decision, codes),
                logits: answer.logits(),
                decided,
            });
        }
    }
}

/// The variants of a row other than itself: a first one, then the others cyclically after it or by
/// rank.
struct VariantOrder {
    own: usize,
    count: usize,
    first: usize,
    is_ranked: bool,
    passed: usize,
    last: Option<usize>,
}

impl VariantOrder {
    fn new(domain: &dyn Domain, row: &[i32], hint: usize) -> VariantOrder {
        let count = domain.variants(row);
        VariantOrder {
            own: domain.own_variant(row),
            count,
            first: hint % count.max(1),
            is_ranked: domain.is_ranked(),
            passed: 0,
            last: None,
        }
    }

    /// The variant at place `place` of the order.
    fn at(&self, place: usize) -> usize {
        match (self.is_ranked, place) {
            (false, _) => (self.first + place) % self.count,
            (true, 0) => self.first,
            // Every variant but the first keeps its rank.
            (true, _) if place <= self.first => place - 1,
            (true, _) => place,
        }
    }

    fn next(&mut self) -> Option<usize> {
        while self.passed < self.count {
            let variant = self.at(self.passed);
            self.passed += 1;
            if variant != self.own {
                self.last = Some(variant);
                return Some(variant);
            }
        }
        None
    }

    fn is_exhausted(&self) -> bool {
        (self.passed..self.count).all(|place| self.at(place) == self.own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::TabularDomain;
    use probity_data::builtin;
    use probity_nn::encoding::{Encoding, InputLayout};
    use probity_nn::fnn::{Activation, Fnn, Network};
    use probity_tensor::device::ComputeDevice;

    #[test]
    fn both_forms_agree_for_every_hint() {
        let schema = builtin::schema("adf-census").unwrap().unwrap();
        let layout = InputLayout::new(&schema.attributes, &[Encoding::RAW; 13]);
        let protected = ["sex", "race", "age"].map(|name| schema.index_of(name).unwrap());
        let domain = TabularDomain::new(&schema, &layout, &protected).unwrap();
        let codes: Vec<i32> = (0..60).flat_map(|i| domain.random_input(3, i)).collect();
        let rows = Rows::new(&codes, 13);
        let mut discriminatory = 0;
        for seed in 0..8 {
            let network = Network::random(layout.clone(), &[8, 4], 2, Activation::Tanh, seed);
            let model = Fnn::new(&network, &ComputeDevice::flex());
            let full = check_all(&model, &domain, rows).unwrap();
            for hint in [0, 17, 89] {
                let hints = vec![hint; rows.len()];
                let short =
                    check_until_flip(&model, &domain, rows, &hints, Wanted::Logits).unwrap();
                for (full, short) in full.iter().zip(&short) {
                    assert_eq!(full.checked.label, short.label);
                    assert_eq!(full.checked.logits, short.logits);
                    assert_eq!(full.checked.flips.is_empty(), short.flips.is_empty());
                    for flip in &short.flips {
                        assert!(full.checked.flips.contains(flip));
                        discriminatory += 1;
                    }
                }
            }
        }
        assert!(
            discriminatory > 0 && discriminatory < 8 * 180,
            "{discriminatory}"
        );
    }
}
