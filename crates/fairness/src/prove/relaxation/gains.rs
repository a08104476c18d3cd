//! The gains of a split at each attribute: how much closer the bounds come.

use probity_nn::fnn::Activation;

use super::Relaxation;

/// The mean distance of the bounds of a ReLU whose sum lies in `low..high`, where one is the
/// tangent and the other one additive.
#[inline(always)]
fn additive_gap(low: f64, high: f64) -> f64 {
    let least = if high < -low { high } else { -low };
    let least = if least > 0.0 { least } else { 0.0 };
    let width = high - low;
    let width = if width > 1e-300 { width } else { 1e-300 };
    least * least / (2.0 * width)
}

/// The mean distance of the bounds of such a ReLU where the upper bound is the line through the
/// ends.
#[inline(always)]
fn line_gap(low: f64, high: f64) -> f64 {
    let least = if high < -low { high } else { -low };
    if least > 0.0 { 0.5 * least } else { 0.0 }
}

/// Neurons whose bounds differ.
struct Neurons {
    low: Vec<f64>,
    high: Vec<f64>,
    /// The weight with which a gap between the bounds of each neuron matters.
    steep: Vec<f64>,
}

impl Neurons {
    /// The gain of a split that halves the part `moved` of each neuron's range.
    #[inline(always)]
    fn gain(&self, moved: &[f64], gap: impl Fn(f64, f64) -> f64) -> f64 {
        const TILE: usize = 8;
        let mut gains = [0.0; TILE];
        let neurons = self.low.iter().zip(&self.high).zip(&self.steep).zip(moved);
        for (place, (((&low, &high), steep), moved)) in neurons.enumerate() {
            let half = 0.5 * moved;
            let parts = gap(low, high - half) + gap(low + half, high);
            gains[place % TILE] += steep * (gap(low, high) - 0.5 * parts);
        }
        gains.iter().sum()
    }
}

impl Relaxation<'_> {
    /// The gain of splitting the box at each attribute: how much closer the bounds are on average;
    /// `steepness` says of every layer how much each activation moves the lead.
    #[inline(always)]
    pub(super) fn gains(&self, steepness: &[Vec<f64>]) -> Vec<f64> {
        let (attributes, width) = (self.network.free.len(), self.width());
        let mut gains = vec![0.0; attributes];
        let mut moved = Vec::new();
        for (depth, (lines, steep)) in self.lines.iter().zip(steepness).enumerate() {
            let open = &lines.kept[..lines.open];
            let mut neurons = Neurons {
                low: Vec::with_capacity(open.len()),
                high: Vec::with_capacity(open.len()),
                steep: Vec::with_capacity(open.len()),
            };
            for &j in open {
                neurons.low.push(lines.low[j]);
                neurons.high.push(lines.high[j]);
                neurons.steep.push(steep[j]);
            }
            for (place, gain) in gains.iter_mut().enumerate() {
                moved.clear();
                match depth {
                    0 => {
                        let low = &self.low[place * width..][..width];
                        let high = &self.high[place * width..][..width];
                        for &j in open {
                            moved.push(high[j] - low[j]);
                        }
                    }
                    _ => {
                        let own = &self.moves[depth - 1][place * lines.low.len()..];
                        for &j in open {
                            moved.push(own[j]);
                        }
                    }
                }
                *gain += match (self.network.activation, depth) {
                    (Activation::Relu, 0) => neurons.gain(&moved, additive_gap),
                    (Activation::Relu, _) => neurons.gain(&moved, line_gap),
                    _ => neurons.gain(&moved, |low, high| high - low),
                };
            }
        }
        gains
    }
}
