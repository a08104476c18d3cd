//! How the attributes of a row enter the first layer.

use crate::encoding::{Encoding, InputLayout};

/// The level of a code outside its domain.
pub(super) const NONE: u32 = u32::MAX;

/// All attributes.
pub(super) struct Inputs {
    pub columns: Vec<Column>,
    /// Rows of the first layer's weight whose inputs are numbers: those of scaled and of embedded
    /// attributes.
    pub numbers: Vec<usize>,
    /// Those of them that are of embedded attributes.
    pub embedded: Vec<usize>,
    /// Attributes of which each level has a row of the weight.
    pub levelled: usize,
    /// Attributes that are embedded.
    pub vectors: usize,
}

/// One attribute.
pub(super) struct Column {
    /// Its first row of the first layer's weight.
    pub row: usize,
    /// Rows.
    pub rows: usize,
    /// Number of codes.
    pub levels: usize,
    /// The smallest code.
    pub min: i32,
    /// Whether it may vary in the worst case.
    pub is_protected: bool,
    pub entry: Entry,
}

/// What becomes of a code.
#[derive(Clone, Copy)]
pub(super) enum Entry {
    /// The number `(code − mean) · inverse`, at this place among the numbers.
    Scaled {
        mean: f32,
        inverse: f32,
        number: usize,
    },
    /// One of the rows; at this place among such attributes.
    Levelled { place: usize },
    /// A vector, at this place among such attributes, whose numbers are from `number` on and among
    /// those of embedded attributes from `inner` on.
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
    /// Which of its levels `code` is; `None` outside the domain.
    pub fn level(&self, code: i32) -> Option<usize> {
        let level = usize::try_from(i64::from(code) - i64::from(self.min));
        level.ok().filter(|&level| level < self.levels)
    }
}
