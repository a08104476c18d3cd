//! Operators whose inputs may be words: a value for each key, a column for each category.

use std::collections::HashMap;
use std::hash::Hash;

use super::super::attributes::Attributes;
use super::super::tensor::{Numbers, Tensor, within};
use super::super::words::Words;

/// `OneHotEncoder`: one column for each category.
pub struct Indicate {
    /// The column of each category, words as numbers.
    columns: HashMap<i64, usize>,
    width: usize,
    pub(super) are_words: bool,
    /// Whether a value that is no category becomes a row of zeros.
    takes_others: bool,
}

/// `LabelEncoder`: values for keys.
pub struct Encode {
    keys: Keys,
    values: Values,
}

/// The place of each key among the values.
enum Keys {
    Integers(HashMap<i64, usize>),
    Words(HashMap<i32, usize>),
    Floats(HashMap<Bits, usize>),
}

/// The bits of a number: zeros are equal, whatever their sign, and all that are no numbers are
/// equal.
#[derive(PartialEq, Eq, Hash)]
struct Bits(u64);

/// The values of the keys, and at the end the value of anything else.
enum Values {
    Integers(Vec<i32>),
    Words(Vec<i32>),
    Floats(Vec<f32>),
}

impl Indicate {
    pub(super) fn read(attributes: Attributes<'_>, words: &mut Words) -> Result<Indicate, String> {
        let texts = attributes.words("cats_strings");
        let integers = attributes.integers("cats_int64s");
        if texts.is_empty() == integers.is_empty() {
            return Err("it needs cats_strings or cats_int64s".to_owned());
        }
        let texts = texts.iter().map(|text| i64::from(words.number(text)));
        let categories: Vec<i64> = texts.chain(integers.iter().copied()).collect();
        Ok(Indicate {
            width: categories.len(),
            columns: categories.into_iter().zip(0..).collect(),
            are_words: integers.is_empty(),
            takes_others: attributes.integer("zeros").unwrap_or(1) != 0,
        })
    }

    pub(super) fn run(&self, input: &Tensor, words: &Words) -> Result<Tensor, String> {
        let mut values = vec![0.0; input.values.len() * self.width];
        let rows = values.chunks_exact_mut(self.width);
        // Numbers are cut to whole ones; what is no number is none of them.
        let categories = input.values.clone().into_doubles();
        for (row, category) in rows.zip(categories) {
            let found = (!category.is_nan()).then_some(category as i64);
            match found.and_then(|category| self.columns.get(&category)) {
                Some(&column) => row[column] = 1.0,
                None if self.takes_others => {}
                None => {
                    let name = if self.are_words {
                        format!("'{}'", words.text(category as i32))
                    } else {
                        category.to_string()
                    };
                    return Err(format!(
                        "its categories lack {name}; leave it out of the schema, or fit the encoder with handle_unknown='ignore'"
                    ));
                }
            }
        }
        let mut shape = input.shape.clone();
        shape.push(self.width);
        Ok(Tensor {
            shape,
            values: Numbers::Floats(values),
        })
    }
}

impl Encode {
    pub(super) fn read(attributes: Attributes<'_>, words: &mut Words) -> Result<Encode, String> {
        if let Some(name) = ["keys_tensor", "values_tensor", "default_tensor"]
            .into_iter()
            .find(|name| attributes.tensor(name).is_some())
        {
            return Err(format!(
                "its {name} is not known; export it for ai.onnx.ml 3"
            ));
        }
        // The first version: words and their places, in either direction.
        let classes = attributes.words("classes_strings");
        let (keys, count) = if !classes.is_empty() {
            let keys = classes.iter().map(|text| words.number(text));
            (Keys::Words(first_places(keys)), classes.len())
        } else if let keys @ [_, ..] = attributes.words("keys_strings") {
            let places = first_places(keys.iter().map(|text| words.number(text)));
            (Keys::Words(places), keys.len())
        } else if let keys @ [_, ..] = attributes.integers("keys_int64s") {
            (
                Keys::Integers(first_places(keys.iter().copied())),
                keys.len(),
            )
        } else {
            let keys = attributes.floats("keys_floats");
            let bits = keys.iter().map(|&key| Bits::new(key.into()));
            (Keys::Floats(first_places(bits)), keys.len())
        };
        let values = if !classes.is_empty() {
            let default = within(attributes.integer("default_int64").unwrap_or(-1));
            let places = (0..classes.len()).map(|place| within(place as i64));
            Values::Integers(places.chain([default]).collect())
        } else if let values @ [_, ..] = attributes.words("values_strings") {
            let default = attributes.word("default_string").unwrap_or("_Unused");
            let texts = values.iter().map(String::as_str).chain([default]);
            Values::Words(texts.map(|text| words.number(text)).collect())
        } else if let values @ [_, ..] = attributes.integers("values_int64s") {
            let default = attributes.integer("default_int64").unwrap_or(-1);
            Values::Integers(
                values
                    .iter()
                    .copied()
                    .chain([default])
                    .map(within)
                    .collect(),
            )
        } else {
            let default = attributes.float("default_float").unwrap_or(-0.0);
            let values = attributes.floats("values_floats").iter().copied();
            Values::Floats(values.chain([default]).collect())
        };
        let encode = Encode { keys, values };
        if count == 0 || encode.values.len() != count + 1 {
            return Err("its keys and values have different lengths, or there are none".to_owned());
        }
        Ok(encode)
    }

    /// Whether the keys are words.
    pub(super) fn takes_words(&self) -> bool {
        matches!(self.keys, Keys::Words(_))
    }

    /// Whether the values are words.
    pub(super) fn gives_words(&self) -> bool {
        matches!(self.values, Values::Words(_))
    }

    pub(super) fn run(&self, input: &Tensor) -> Tensor {
        let other = self.values.len() - 1;
        let places: Vec<usize> = match &self.keys {
            Keys::Words(places) => {
                let keys = input.values.clone().into_integers().into_iter();
                keys.map(|key| places.get(&key).copied().unwrap_or(other))
                    .collect()
            }
            Keys::Integers(places) => {
                let keys = input.values.clone().into_integers().into_iter();
                keys.map(|key| places.get(&key.into()).copied().unwrap_or(other))
                    .collect()
            }
            Keys::Floats(places) => {
                let keys = input.values.clone().into_doubles().into_iter();
                keys.map(|key| places.get(&Bits::new(key)).copied().unwrap_or(other))
                    .collect()
            }
        };
        let values = match &self.values {
            Values::Integers(values) | Values::Words(values) => {
                Numbers::Integers(places.into_iter().map(|place| values[place]).collect())
            }
            Values::Floats(values) => {
                Numbers::Floats(places.into_iter().map(|place| values[place]).collect())
            }
        };
        Tensor {
            shape: input.shape.clone(),
            values,
        }
    }
}

impl Values {
    fn len(&self) -> usize {
        match self {
            Values::Integers(values) | Values::Words(values) => values.len(),
            Values::Floats(values) => values.len(),
        }
    }
}

impl Bits {
    fn new(number: f64) -> Bits {
        match number {
            _ if number.is_nan() => Bits(f64::NAN.to_bits()),
            0.0 => Bits(0),
            _ => Bits(number.to_bits()),
        }
    }
}

/// Returns the first place of each key.
fn first_places<Key: Eq + Hash>(keys: impl Iterator<Item = Key>) -> HashMap<Key, usize> {
    let mut places = HashMap::new();
    for (place, key) in keys.enumerate() {
        places.entry(key).or_insert(place);
    }
    places
}
