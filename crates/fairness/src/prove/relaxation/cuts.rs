//! The cuts that share the additive bound of a ReLU of the first layer among the attributes.

use probity_nn::fnn::Activation;

use super::super::network::Terms;
use super::Relaxation;
use super::lines::Lines;

/// The numbers d of the additive bounds of the ReLUs that are neither on nor off, in the order of
/// [`Lines::kept`].
#[derive(Debug, Clone, Default)]
pub(super) struct Cuts {
    /// The amount that is taken off each attribute's part, `[attributes, neurons]`.
    free: Vec<f64>,
    /// The amount that is taken off the part of the protected attributes: the negative of the sum
    /// of the others.
    pub(super) protected: Vec<f64>,
}

impl Cuts {
    /// The cuts at `point`, where the sums are `at`: every attribute takes the share of it that it
    /// has of the width of the box.
    #[inline(always)]
    pub(super) fn new(relaxation: &Relaxation<'_>, point: &[f64], at: &[f64]) -> Cuts {
        let lines: &Lines = &relaxation.lines[0];
        let width = at.len();
        if relaxation.network.activation != Activation::Relu {
            return Cuts::default();
        }
        let neurons = &lines.kept[..lines.open];
        let mut cuts = Cuts {
            protected: vec![0.0; neurons.len()],
            free: Vec::with_capacity(neurons.len() * point.len()),
        };
        let mut shares = Vec::with_capacity(neurons.len());
        for &j in neurons {
            shares.push(at[j] / (lines.high[j] - lines.low[j]));
        }
        for (place, free) in relaxation.network.free.iter().enumerate() {
            let own = cuts.protected.iter_mut().zip(&shares);
            for ((own, share), &j) in own.zip(neurons) {
                let part = match free.terms {
                    Terms::Scaled(_) => free.lines[j] * point[place],
                    Terms::Levels => relaxation.level_means[place][j],
                };
                let moved = relaxation.high[place * width + j] - relaxation.low[place * width + j];
                let cut = part - share * moved;
                *own -= cut;
                cuts.free.push(cut);
            }
        }
        cuts
    }

    /// The cuts of `attribute`, for each of the neurons.
    #[inline(always)]
    pub(super) fn for_attribute(&self, attribute: usize) -> &[f64] {
        let neurons = self.protected.len();
        &self.free[attribute * neurons..][..neurons]
    }
}
