//! The attributes of a row, and how they enter the first layer.

use crate::encoding::{Encoding, InputLayout};

/// The level of a code outside its domain.
pub(super) const NONE: u32 = u32::MAX;

/// The inputs of the first layer: all attributes.
pub(super) struct Inputs {
    pub columns: Vec<Column>,
    /// The rows of the first layer's weight whose inputs are numbers: the rows of scaled and of
    /// embedded attributes.
    pub numbers: Vec<usize>,
    /// The rows among `numbers` that belong to embedded attributes.
    pub embedded: Vec<usize>,
    /// The number of attributes of which each level has a row of the weight.
    pub levelled: usize,
    /// The number of attributes that are embedded.
    pub vectors: usize,
}

/// One attribute of the inputs.
pub(super) struct Column {
    /// The attribute's first row of the first layer's weight.
    pub row: usize,
    /// The number of rows of that weight.
    pub rows: usize,
    /// The number of codes.
    pub levels: usize,
    /// The smallest code.
    pub min: i32,
    /// Whether the attribute may vary in the worst case.
    pub is_protected: bool,
    pub entry: Entry,
}

/// The way in which a code enters the first layer.
#[derive(Clone, Copy)]
pub(super) enum Entry {
    /// The code enters as the number `(code − mean) · inverse`, at this place among the numbers.
    Scaled {
        mean: f32,
        inverse: f32,
        number: usize,
    },
    /// The code selects one of the rows; at this place among such attributes.
    Levelled { place: usize },
    /// The code selects a vector, at this place among such attributes, whose numbers are from
    /// `number` on and among those of embedded attributes from `inner` on.
    Embedded {
        place: usize,
        number: usize,
        inner: usize,
    },
}

impl Inputs {
    pub fn new(layout: &InputLayout, protected: &[usize]) -> Inputs {
        let mut inputs = Inputs {
            columns: Vec::new(),
            numbers: Vec::new(),
            embedded: Vec::new(),
            levelled: 0,
            vectors: 0,
        };
        let mut row = 0;
        for (attribute, span) in layout.spans().iter().enumerate() {
            let rows = row..row + span.layer_inputs();
            let number = inputs.numbers.len();
            let entry = match span.encoding {
                Encoding::Scaled { mean, deviation } => Entry::Scaled {
                    mean,
                    inverse: 1.0 / deviation,
                    number,
                },
                Encoding::OneHot => {
                    inputs.levelled += 1;
                    Entry::Levelled {
                        place: inputs.levelled - 1,
                    }
                }
                Encoding::Embedded { .. } => {
                    inputs.vectors += 1;
                    Entry::Embedded {
                        place: inputs.vectors - 1,
                        number,
                        inner: inputs.embedded.len(),
                    }
                }
            };
            if !matches!(entry, Entry::Levelled { .. }) {
                inputs.numbers.extend(rows.clone());
            }
            if matches!(entry, Entry::Embedded { .. }) {
                inputs.embedded.extend(rows.clone());
            }
            inputs.columns.push(Column {
                row,
                rows: rows.len(),
                levels: span.levels,
                min: span.min,
                is_protected: protected.contains(&attribute),
                entry,
            });
            row = rows.end;
        }
        inputs
    }
}

impl Column {
    /// Returns the level of `code`, counted from 0; `None` outside the domain.
    pub fn level(&self, code: i32) -> Option<usize> {
        let level = usize::try_from(i64::from(code) - i64::from(self.min));
        level.ok().filter(|&level| level < self.levels)
    }
}
