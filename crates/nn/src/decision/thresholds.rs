//! Thresholds of classes, and of classes by an attribute of the row.

use super::score::{Logit, ROUNDING};

/// The thresholds of classes.
#[derive(Debug, Clone, PartialEq)]
pub struct Thresholds {
    /// The offsets that are added to the logits, one a class.
    pub(super) offsets: Vec<f64>,
    pub(super) by_value: Option<ByValue>,
}

/// Thresholds that depend on the value of an attribute.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ByValue {
    /// The position of the attribute.
    place: usize,
    /// The lowest code of the attribute.
    min: i32,
    /// For each code from the lowest, the offsets that are added to the logits in place of the
    /// others.
    offsets: Vec<Option<Vec<f64>>>,
}

impl Thresholds {
    /// Returns thresholds for classes whose thresholds are `least`, all of them above 0.
    pub fn new(least: &[f64]) -> Thresholds {
        Thresholds {
            offsets: least.iter().map(|least| -least.ln()).collect(),
            by_value: None,
        }
    }

    /// Returns thresholds for two classes: `class` is decided from the probability `least` on, the
    /// other class below it.
    pub fn of_two(class: usize, least: f64) -> Thresholds {
        let mut both = [1.0 - least; 2];
        both[class] = least;
        let mut thresholds = Thresholds::new(&both);
        thresholds.offsets[class] += ROUNDING;
        thresholds
    }

    /// Returns these thresholds together with `others`, which hold for rows that have one of their
    /// codes in the attribute at `place`, whose lowest code is `min`.
    #[must_use]
    pub fn with_values(
        mut self,
        (place, min): (usize, i32),
        others: Vec<Option<Thresholds>>,
    ) -> Thresholds {
        let offsets = others.into_iter().map(|of| of.map(|of| of.offsets));
        self.by_value = Some(ByValue {
            place,
            min,
            offsets: offsets.collect(),
        });
        self
    }

    pub(super) fn reads(&self, place: usize) -> bool {
        self.by_value.as_ref().is_some_and(|by| by.place == place)
    }

    pub(super) fn offsets(&self, row: &[i32]) -> &[f64] {
        let of_value = self.by_value.as_ref().and_then(|by| {
            let code = usize::try_from(row.get(by.place)?.checked_sub(by.min)?).ok()?;
            by.offsets.get(code)?.as_deref()
        });
        of_value.unwrap_or(&self.offsets)
    }

    pub(super) fn decide<L: Logit>(&self, row: &[i32], logits: &[L]) -> u32 {
        let offsets = self.offsets(row);
        let mut best = 0;
        for (class, &logit) in logits.iter().enumerate() {
            // Leads are compared with leads, as certificates compare them: see `is_kept`.
            if logit.into() - logits[best].into() > offsets[best] - offsets[class] {
                best = class;
            }
        }
        best as u32
    }
}
