//! The space in which the search moves: inputs, their protected variants, and when two inputs are
//! one person.
//!
//! [`Domain`] is what the search driver needs; [`TabularDomain`] is its implementation for integer
//! codes. Variants of an input are numbered: for a table, variant v is the input with its protected
//! attributes set to the v-th element of the product of their domains, so that an input is itself
//! one of its variants.

use std::borrow::Cow;
use std::sync::Arc;

use rand::RngExt;
use thiserror::Error;

use super::distinct::{ApartKey, InputKey, JoinedKey};
use crate::population::Plausibility;
use probity_data::schema::Schema;
use probity_nn::encoding::{InputLayout, Span};
use probity_run::stream::{Purpose, Stream, stream};

/// The most protected combinations an input may have.
pub const MAX_VARIANTS: usize = 1 << 16;

/// Bits that [`super::distinct`] keeps for itself in a key.
pub const KEY_BITS: u32 = 124;

/// Why a protected set cannot be searched.
#[derive(Debug, Error)]
pub enum DomainError {
    /// No attribute is protected.
    #[error("no attribute is protected; name some")]
    NothingProtected,
    /// Every attribute is protected.
    #[error("every attribute is protected; the search needs at least one that it may change")]
    NothingFree,
    /// An attribute is named twice.
    #[error("the attribute '{0}' is named twice as protected")]
    NamedTwice(String),
    /// The product of the protected domains is too large.
    #[error(
        "the protected attributes have {variants} combinations, at most {MAX_VARIANTS} are supported; protect fewer at a time"
    )]
    TooManyVariants {
        /// The number of combinations.
        variants: u128,
    },
    /// A protected attribute has one value only.
    #[error(
        "the protected attribute '{0}' has only one value that is known, so nothing can be compared"
    )]
    OneValue(String),
}

/// The space of inputs.
pub trait Domain: Sync {
    /// Number of codes of an input.
    fn width(&self) -> usize;

    /// Whether `row` may be an input: it has the right width, and a code in the domain of each
    /// attribute.
    fn contains(&self, row: &[i32]) -> bool;

    /// Number of protected variants of `row`, itself included.
    fn variants(&self, row: &[i32]) -> usize;

    /// The number of the variant that `row` itself is.
    fn own_variant(&self, row: &[i32]) -> usize;

    /// Appends variant `variant` of `row` to `out`.
    fn write_variant(&self, row: &[i32], variant: usize, out: &mut Vec<i32>);

    /// Whether variants are numbered in the order in which they are best tried. Otherwise a check
    /// tries them cyclically from the one that flipped last.
    fn is_ranked(&self) -> bool {
        false
    }

    /// The keys of `row`: its own, and that of the part of it that is not protected.
    fn key(&self, row: &[i32]) -> InputKey {
        InputKey::Apart(ApartKey {
            individual: self.individual_key(row),
            row: self.row_key(row),
        })
    }

    /// A key of `row` below 2^[`KEY_BITS`]: equal rows have equal keys, and different rows
    /// different ones (up to a hash collision where [`Domain`] says so).
    fn row_key(&self, row: &[i32]) -> u128;

    /// A key of the part of `row` that is not protected: two rows with equal keys are the same
    /// individual.
    fn individual_key(&self, row: &[i32]) -> u128;

    /// The `item`-th random input of `seed`: uniform, unless the domain was given something to draw
    /// from.
    fn random_input(&self, seed: u64, item: u64) -> Vec<i32>;
}

/// Inputs of a table, on the grid of their integer codes.
///
/// Keys are exact (mixed-radix indices) while the product of the domains is below 2^124; beyond that they are 124 bits of XXH3, whose chance of any collision among a billion
/// rows is below 10⁻¹⁹.
///
/// Protected values are those that are known: whoever's value is marked as missing has one of them
/// ([`TabularDomain::known`]), and nobody becomes a person without one.
#[derive(Debug, Clone)]
pub struct TabularDomain {
    spans: Vec<Span>,
    /// The number of values of each attribute: of protected ones those that are known.
    values: Vec<usize>,
    protected: Vec<usize>,
    free: Vec<usize>,
    variants: usize,
    keys: Keys,
    /// The network that random inputs are drawn from, in place of the product of the domains.
    population: Option<Arc<Plausibility>>,
}

impl TabularDomain {
    /// The domain of `schema` with the attributes at `protected` protected; `layout` says how the
    /// model sees them.
    ///
    /// # Errors
    /// See [`DomainError`].
    pub fn new(
        schema: &Schema,
        layout: &InputLayout,
        protected: &[usize],
    ) -> Result<TabularDomain, DomainError> {
        TabularDomain::among_known(schema, layout, protected, &[])
    }

    /// The domain of `schema` with the attributes at `protected` protected, of people whose values of
    /// those at `known` are known as well.
    ///
    /// # Errors
    /// See [`DomainError`].
    pub fn among_known(
        schema: &Schema,
        layout: &InputLayout,
        protected: &[usize],
        known: &[usize],
    ) -> Result<TabularDomain, DomainError> {
        let name = |attribute: usize| schema.attributes[attribute].name.clone();
        if protected.is_empty() {
            return Err(DomainError::NothingProtected);
        }
        for (position, attribute) in protected.iter().enumerate() {
            if protected[..position].contains(attribute) {
                return Err(DomainError::NamedTwice(name(*attribute)));
            }
            if schema.attributes[*attribute].known_levels() < 2 {
                return Err(DomainError::OneValue(name(*attribute)));
            }
        }
        let spans = layout.spans().to_vec();
        let free: Vec<usize> = (0..spans.len())
            .filter(|a| !protected.contains(a))
            .collect();
        if free.is_empty() {
            return Err(DomainError::NothingFree);
        }
        let mut values: Vec<usize> = spans.iter().map(|span| span.levels).collect();
        for &attribute in protected.iter().chain(known) {
            values[attribute] = schema.attributes[attribute].known_levels();
        }
        let product = |attributes: &[usize]| {
            attributes
                .iter()
                .try_fold(1u128, |product, &a| product.checked_mul(values[a] as u128))
        };
        let variants = product(protected).unwrap_or(u128::MAX);
        if variants > MAX_VARIANTS as u128 {
            return Err(DomainError::TooManyVariants { variants });
        }
        let all: Vec<usize> = (0..spans.len()).collect();
        let variant_bits = u128::BITS - (variants - 1).leading_zeros();
        let most = 1 << (InputKey::JOINED_BITS - variant_bits);
        let keys = match (product(&free), product(&all)) {
            (Some(individuals), _) if individuals <= most => Keys::Joined {
                places: place_values(&values, &free),
                variant_bits,
            },
            (_, Some(rows)) if rows < 1 << KEY_BITS => Keys::Exact,
            _ => Keys::Hashed,
        };
        Ok(TabularDomain {
            protected: protected.to_vec(),
            free,
            variants: variants as usize,
            keys,
            spans,
            values,
            population: None,
        })
    }

    /// Returns this domain with random inputs drawn from the network of `population`; their
    /// protected values stay uniform.
    #[must_use]
    pub fn drawn_from(self, population: Arc<Plausibility>) -> TabularDomain {
        TabularDomain {
            population: Some(population),
            ..self
        }
    }

    /// Attributes that the search may change.
    pub fn free(&self) -> &[usize] {
        &self.free
    }

    /// Protected attributes.
    pub fn protected(&self) -> &[usize] {
        &self.protected
    }

    /// The place of each attribute among the model's features, and its domain.
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// The number of values of `attribute`, which are consecutive codes: of a protected one those
    /// that are known.
    pub fn values(&self, attribute: usize) -> usize {
        self.values[attribute]
    }

    /// Returns whether every protected value of `row` is known.
    pub fn is_known(&self, row: &[i32]) -> bool {
        let mut protected = self.protected.iter();
        protected.all(|&attribute| self.level(attribute, row[attribute]) < self.values[attribute])
    }

    /// Returns `row` with the first value of each protected attribute whose value is not known. All
    /// that is said of an individual, who is a row without these attributes, holds for it as well.
    pub fn known<'r>(&self, row: &'r [i32]) -> Cow<'r, [i32]> {
        if self.is_known(row) {
            return Cow::Borrowed(row);
        }
        let mut known = row.to_vec();
        for &attribute in &self.protected {
            if self.level(attribute, row[attribute]) >= self.values[attribute] {
                known[attribute] = self.spans[attribute].min;
            }
        }
        Cow::Owned(known)
    }

    /// The place of `code` among the values of `attribute`.
    fn level(&self, attribute: usize, code: i32) -> usize {
        (i64::from(code) - i64::from(self.spans[attribute].min)) as usize
    }

    /// Returns `code` moved into the domain of `attribute`.
    pub fn clip(&self, attribute: usize, code: i64) -> i32 {
        let span = &self.spans[attribute];
        let min = i64::from(span.min);
        code.clamp(min, min + self.values[attribute] as i64 - 1) as i32
    }

    /// A step of `size` up or down from `code`, clipped; among levels, a uniform other one.
    pub fn random_step(&self, attribute: usize, code: i32, size: u32, stream: &mut Stream) -> i32 {
        if self.spans[attribute].encoding.is_scaled() {
            let size = i64::from(size);
            let step = if stream.random::<bool>() { size } else { -size };
            self.clip(attribute, i64::from(code) + step)
        } else {
            self.other_level(attribute, code, stream)
        }
    }

    /// A uniform code of `attribute` other than `code`; `code` itself where there is no other.
    pub fn other_level(&self, attribute: usize, code: i32, stream: &mut Stream) -> i32 {
        let (span, values) = (&self.spans[attribute], self.values[attribute]);
        if values < 2 {
            return code;
        }
        let other = span.min + stream.random_range(0..values as i32 - 1);
        if other >= code { other + 1 } else { other }
    }

    /// A uniform random input.
    pub fn uniform(&self, stream: &mut Stream) -> Vec<i32> {
        let values = self.spans.iter().zip(&self.values);
        values
            .map(|(span, &values)| span.min + stream.random_range(0..values as i32))
            .collect()
    }

    fn key_of(&self, row: &[i32], attributes: impl Iterator<Item = usize>) -> u128 {
        if matches!(self.keys, Keys::Hashed) {
            let bytes: Vec<u8> = attributes.flat_map(|a| row[a].to_le_bytes()).collect();
            return xxhash_rust::xxh3::xxh3_128(&bytes) >> (128 - KEY_BITS);
        }
        attributes.fold(0, |key, a| {
            key * self.values[a] as u128 + self.level(a, row[a]) as u128
        })
    }

    /// The number of the individual of a row by the place values of its attributes.
    fn individual_number(&self, row: &[i32], places: &[u64]) -> u64 {
        let levels = row.iter().zip(&self.spans);
        let levels = levels.map(|(&code, span)| (i64::from(code) - i64::from(span.min)) as u64);
        let terms = levels
            .zip(places)
            .map(|(level, place)| level.wrapping_mul(*place));
        terms.fold(0, u64::wrapping_add)
    }
}

/// The ways in which rows get their keys.
#[derive(Debug, Clone)]
enum Keys {
    /// The mixed-radix index of the individual, by the place value of each attribute, 0 for those that
    /// are protected; behind it the number of the variant.
    Joined { places: Vec<u64>, variant_bits: u32 },
    /// The mixed-radix index.
    Exact,
    /// A hash of the row.
    Hashed,
}

/// The products of the numbers of `values` after each of `attributes`.
fn place_values(values: &[usize], attributes: &[usize]) -> Vec<u64> {
    let mut places = vec![0; values.len()];
    attributes.iter().rev().fold(1, |place, &attribute| {
        places[attribute] = place;
        place * values[attribute] as u64
    });
    places
}

impl Domain for TabularDomain {
    fn width(&self) -> usize {
        self.spans.len()
    }

    fn contains(&self, row: &[i32]) -> bool {
        let codes = self.spans.iter().enumerate().zip(row);
        let is_code = |((at, _), &code): ((usize, _), &i32)| self.clip(at, i64::from(code)) == code;
        row.len() == self.spans.len() && codes.into_iter().all(is_code)
    }

    fn variants(&self, _row: &[i32]) -> usize {
        self.variants
    }

    fn own_variant(&self, row: &[i32]) -> usize {
        self.protected.iter().fold(0, |variant, &a| {
            variant * self.values[a] + self.level(a, row[a]).min(self.values[a] - 1)
        })
    }

    fn write_variant(&self, row: &[i32], variant: usize, out: &mut Vec<i32>) {
        let start = out.len();
        out.extend_from_slice(row);
        let mut rest = variant;
        for &a in self.protected.iter().rev() {
            let values = self.values[a];
            out[start + a] = self.spans[a].min + (rest % values) as i32;
            rest /= values;
        }
    }

    fn key(&self, row: &[i32]) -> InputKey {
        match &self.keys {
            Keys::Joined {
                places,
                variant_bits,
            } => {
                let individual = self.individual_number(row, places);
                InputKey::Joined(JoinedKey {
                    row: individual << variant_bits | self.own_variant(row) as u64,
                    variant_bits: *variant_bits,
                })
            }
            _ => InputKey::Apart(ApartKey {
                individual: self.key_of(row, self.free.iter().copied()),
                row: self.key_of(row, 0..self.spans.len()),
            }),
        }
    }

    fn row_key(&self, row: &[i32]) -> u128 {
        self.key(row).row()
    }

    fn individual_key(&self, row: &[i32]) -> u128 {
        self.key(row).individual()
    }

    fn random_input(&self, seed: u64, item: u64) -> Vec<i32> {
        let mut row = self.uniform(&mut stream(seed, Purpose::UniformInput, item, 0));
        let population = self.population.as_ref();
        let drawn = population.and_then(|population| population.draw(seed, item));
        for (attribute, code) in drawn.into_iter().flatten() {
            row[attribute] = code;
        }
        row
    }
}

/// The synthetic census with sex protected: numbers as they are, levels one-hot.
#[cfg(test)]
pub(super) fn mixed_domain() -> (InputLayout, TabularDomain) {
    let schema = probity_data::builtin::schema("synthetic-census")
        .unwrap()
        .unwrap();
    let layout = InputLayout::unscaled(&schema.attributes);
    let protected = [schema.index_of("sex").unwrap()];
    let domain = TabularDomain::new(&schema, &layout, &protected).unwrap();
    (layout, domain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use probity_data::builtin;
    use probity_nn::encoding::Encoding;
    use std::collections::HashSet;

    fn census(protected: &[&str]) -> Result<TabularDomain, DomainError> {
        let schema = builtin::schema("adf-census").unwrap().unwrap();
        let layout = InputLayout::new(&schema.attributes, &[Encoding::RAW; 13]);
        let protected: Vec<usize> = protected
            .iter()
            .map(|name| schema.index_of(name).unwrap())
            .collect();
        TabularDomain::new(&schema, &layout, &protected)
    }

    #[test]
    fn nobody_becomes_a_person_whose_value_is_not_known() {
        let schema = Schema::from_toml(
            r#"
name = "people"
[label]
name = "pay"
classes = ["low", "high"]
[[attribute]]
name = "age"
kind = "integer"
min = 20
max = 29
missing = "?"
outside = "level"
[[attribute]]
name = "sex"
kind = "categorical"
levels = ["F", "M"]
missing = "?"
outside = "level"
[[attribute]]
name = "grade"
kind = "integer"
min = 1
max = 3
outside = "level"
"#,
        )
        .unwrap();
        let layout = InputLayout::unscaled(&schema.attributes);
        let domain = TabularDomain::new(&schema, &layout, &[1, 2]).unwrap();
        // Two sexes; three grades and those outside of them, which are known to be others.
        assert_eq!(domain.variants(&[20, 0, 1]), 8);
        for item in 0..500 {
            let row = domain.random_input(3, item);
            assert!(domain.is_known(&row) && domain.contains(&row), "{row:?}");
        }
        // Others may have no value of what is not protected, unless that is asked for.
        let ages = |domain: &TabularDomain| {
            let rows = (0..500).map(|item| domain.random_input(3, item));
            rows.filter(|row| row[0] == 30).count()
        };
        let among = TabularDomain::among_known(&schema, &layout, &[1], &[0]).unwrap();
        assert!(ages(&domain) > 0);
        assert_eq!(ages(&among), 0);
        let (unknown, known) = ([30, 2, 4], [30, 0, 4]);
        assert!(!domain.is_known(&unknown) && !domain.contains(&unknown));
        assert_eq!(*domain.known(&unknown), known);
        assert_eq!(*domain.known(&known), known);
        assert_eq!(
            domain.individual_key(&unknown),
            domain.individual_key(&known)
        );
        let mut all = Vec::new();
        (0..8).for_each(|variant| domain.write_variant(&unknown, variant, &mut all));
        let keys: HashSet<u128> = all.chunks(3).map(|row| domain.row_key(row)).collect();
        assert_eq!(keys.len(), 8);
        for (variant, row) in all.chunks(3).enumerate() {
            assert!(domain.is_known(row));
            assert_eq!(domain.own_variant(row), variant);
        }
        let one = Schema::from_toml(
            r#"
name = "people"
[label]
name = "pay"
classes = ["low", "high"]
[[attribute]]
name = "age"
kind = "integer"
min = 20
max = 29
[[attribute]]
name = "sex"
kind = "categorical"
levels = ["F"]
missing = "?"
outside = "level"
"#,
        )
        .unwrap();
        let layout = InputLayout::unscaled(&one.attributes);
        let refused = TabularDomain::new(&one, &layout, &[1]).unwrap_err();
        assert!(refused.to_string().contains("only one value that is known"));
    }

    #[test]
    fn variants_are_the_product_and_know_themselves() {
        let domain = census(&["sex", "race", "age"]).unwrap();
        let row = domain.random_input(1, 1);
        assert_eq!(domain.variants(&row), 90);
        let mut seen = HashSet::new();
        for variant in 0..90 {
            let mut other = Vec::new();
            domain.write_variant(&row, variant, &mut other);
            assert_eq!(domain.own_variant(&other), variant);
            assert_eq!(domain.individual_key(&other), domain.individual_key(&row));
            let free = domain.free().iter().copied();
            let individual = domain.key_of(&row, free);
            assert_eq!(domain.individual_key(&row), individual);
            let row_key = individual << 7 | variant as u128;
            assert_eq!(domain.row_key(&other), row_key, "the variant is behind");
            assert!(seen.insert(domain.row_key(&other)));
            for &a in domain.free() {
                assert_eq!(other[a], row[a]);
            }
        }
        assert!(seen.contains(&domain.row_key(&row)));
    }

    #[test]
    fn clip_keeps_domains() {
        let domain = census(&["sex"]).unwrap();
        assert_eq!(domain.clip(0, i64::MAX), 9);
        assert_eq!(domain.clip(0, -3), 1);
        assert_eq!(domain.clip(0, 5), 5);
    }

    #[test]
    fn hopeless_protected_sets_are_refused() {
        assert!(matches!(census(&[]), Err(DomainError::NothingProtected)));
        assert!(matches!(
            census(&["sex", "sex"]),
            Err(DomainError::NamedTwice(_))
        ));
    }
}
