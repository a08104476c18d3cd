//! The figures that are reported of a classifier of texts.

use serde::{Deserialize, Serialize};

use crate::repair::change::{Details, Figures, Measure, Role};
use crate::statistics::Share;
use probity_nn::metrics::Quality;

/// The figures of one network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TextFigures {
    /// The protected attributes, jointly.
    pub protected: Vec<String>,
    /// Texts of the independent set that are no longer discriminatory.
    pub repaired: Share,
    /// Test texts with a protected term that are certified fair: of a recurrent network by bounds,
    /// of a transformer by trying all exchanges, which certifies all that are fair.
    pub certified: Share,
    /// Test texts with a protected term that are fair.
    pub fair: Share,
    /// Quality on the test texts.
    pub held_out: Quality,
}

impl Figures for TextFigures {
    fn measures(&self) -> Vec<Measure> {
        let of = |figure, value, ci95, role| Measure {
            figure,
            protected: self.protected.clone(),
            value,
            ci95: Some(ci95),
            role,
        };
        let [low, high] = self.repaired.ci95;
        let discriminatory = self.discriminatory();
        let mut measures = vec![
            of(
                "discriminatory",
                discriminatory,
                [1.0 - high, 1.0 - low],
                Role::Protected,
            ),
            of(
                "certified fair",
                self.certified.share,
                self.certified.ci95,
                Role::Shown,
            ),
            of("fair", self.fair.share, self.fair.ci95, Role::Fair),
        ];
        measures.extend(Measure::of_quality(&self.held_out));
        measures
    }

    /// The share of the independent set that is still discriminatory: all of it, for the model it
    /// was found in.
    fn discriminatory(&self) -> f64 {
        1.0 - self.repaired.share
    }

    fn accuracy(&self) -> f64 {
        self.held_out.in_short().unwrap_or_default()
    }
}

/// The part of the summary of a repair that only texts have.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TextDetails {
    /// Protected attributes.
    pub protected: Vec<String>,
    /// Distinct discriminatory texts that may be learnt from.
    pub found: u64,
    /// Size of the independent set: found from the test texts.
    pub independent: u64,
    /// Test texts with a protected term.
    pub test_texts: u64,
}

impl Details for TextDetails {
    /// No gaps: texts have no groups.
    fn gaps(&self) -> Vec<(Measure, Measure)> {
        Vec::new()
    }
}
