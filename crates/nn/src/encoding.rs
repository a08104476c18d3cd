//! The encodings by which integer codes become the numbers that a network sees, and back: which
//! moves of the search a gradient speaks about.
//!
//! Encoding happens *inside* the model, so that data, search and samples stay on integer codes.
//!
//! | [`Encoding`] | features | a gradient component means                                     |
//! |--------------|----------|-----------------------------------------------------------------|
//! | `Scaled`     | 1        | change of the objective per unit of the code                    |
//! | `OneHot`     | levels   | change when the code becomes that level, up to a constant       |
//! | `Embedded`   | levels   | the same, through a learned vector a level                      |
//!
//! For a scaled attribute the feature is `code − mean`; the division by the standard deviation is
//! folded into the first layer, so that gradients stay per attribute unit.

use serde::{Deserialize, Serialize};

use probity_data::schema::Attribute;

/// How one attribute enters the network.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Encoding {
    /// One number: `(code − mean) / deviation`.
    Scaled {
        /// Mean of the training codes.
        mean: f32,
        /// Standard deviation of the training codes, or 1 for a constant attribute.
        deviation: f32,
    },
    /// One indicator a level.
    OneHot,
    /// A learned vector a level.
    Embedded {
        /// Length of the vector.
        dimension: usize,
    },
}

impl Encoding {
    /// The encoding that scales by nothing: the raw code, as imported networks expect.
    pub const RAW: Encoding = Encoding::Scaled {
        mean: 0.0,
        deviation: 1.0,
    };

    /// Whether the search moves this attribute by steps (rather than among levels).
    pub fn is_scaled(self) -> bool {
        matches!(self, Encoding::Scaled { .. })
    }
}

/// The place of one attribute among the features.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// The encoding of the attribute.
    pub encoding: Encoding,
    /// The first feature column.
    pub start: usize,
    /// The smallest code.
    pub min: i32,
    /// The number of codes.
    pub levels: usize,
}

impl Span {
    /// The number of feature columns.
    pub fn features(&self) -> usize {
        if self.encoding.is_scaled() {
            1
        } else {
            self.levels
        }
    }

    /// Appends the features of `code` to `out`. A code outside the domain gives no indicator.
    pub fn encode(&self, code: i32, out: &mut Vec<f32>) {
        if let Encoding::Scaled { mean, .. } = self.encoding {
            out.push(code as f32 - mean);
        } else {
            let start = out.len();
            out.resize(start + self.levels, 0.0);
            if let Some(level) = self.level(code) {
                out[start + level] = 1.0;
            }
        }
    }

    /// Returns the level of `code`, counted from 0; `None` outside the domain.
    pub fn level(&self, code: i32) -> Option<usize> {
        let level = usize::try_from(i64::from(code) - i64::from(self.min));
        level.ok().filter(|&level| level < self.levels)
    }

    /// The number of inputs that the first layer gets from the attribute.
    pub fn layer_inputs(&self) -> usize {
        match self.encoding {
            Encoding::Scaled { .. } => 1,
            Encoding::OneHot => self.levels,
            Encoding::Embedded { dimension } => dimension,
        }
    }
}

/// The layout of all attributes in the feature columns.
#[derive(Debug, Clone, PartialEq)]
pub struct InputLayout {
    spans: Vec<Span>,
    features: usize,
}

impl InputLayout {
    /// Lays out `attributes` with their `encodings`, one each.
    pub fn new(attributes: &[Attribute], encodings: &[Encoding]) -> InputLayout {
        let mut features = 0;
        let spans = attributes
            .iter()
            .zip(encodings)
            .map(|(attribute, &encoding)| {
                let span = Span {
                    encoding,
                    start: features,
                    min: attribute.domain().0,
                    levels: attribute.levels(),
                };
                features += span.features();
                span
            })
            .collect();
        InputLayout { spans, features }
    }

    /// Lays out ordered attributes as their codes, all others by their levels: this is how a search
    /// moves over the inputs of a model that says nothing of what it sees.
    pub fn unscaled(attributes: &[Attribute]) -> InputLayout {
        let encoding = |attribute: &Attribute| match attribute.is_ordered() {
            true => Encoding::RAW,
            false => Encoding::OneHot,
        };
        let encodings: Vec<Encoding> = attributes.iter().map(encoding).collect();
        InputLayout::new(attributes, &encodings)
    }

    /// The places of the attributes, in order.
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// The number of feature columns.
    pub fn features(&self) -> usize {
        self.features
    }

    /// The number of inputs of the first layer, embeddings applied.
    pub fn layer_inputs(&self) -> usize {
        self.spans.iter().map(Span::layer_inputs).sum()
    }

    /// Appends the features of one row to `out`. Codes outside the domain give no indicator.
    pub fn encode(&self, row: &[i32], out: &mut Vec<f32>) {
        for (span, &code) in self.spans.iter().zip(row) {
            span.encode(code, out);
        }
    }
}
