//! AdamW and SGD on one flat list of parameters, in place.
//!
//! Number by number the optimiser here does what burn's optimisers do, to the same bits. Burn's
//! make a tensor for every step of the formula: of a small network that takes longer than the
//! arithmetic, and of a large one each comes from the operating system anew and goes back to it.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::optimizer::{EPSILON, MOMENTUM, OptimizerName};

/// The number of parameters that a thread moves at a time.
const CHUNK: usize = 1 << 14;

/// An optimiser of a fixed number of parameters, and its state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct FlatOptimizer {
    name: OptimizerName,
    weight_decay: f32,
    steps: u32,
    /// The mean of the gradients, or the velocity: one a number.
    first: Vec<f32>,
    /// The mean of the squared gradients: one a number, and none with SGD.
    second: Vec<f32>,
}

impl FlatOptimizer {
    /// Returns a fresh optimiser of `numbers` numbers.
    pub fn new(name: OptimizerName, weight_decay: f32, numbers: usize) -> FlatOptimizer {
        FlatOptimizer {
            name,
            weight_decay,
            steps: 0,
            first: vec![0.0; numbers],
            second: match name {
                OptimizerName::Adamw => vec![0.0; numbers],
                OptimizerName::Sgd => Vec::new(),
            },
        }
    }

    /// Whether `other` is of the same kind and of as many numbers, and its state is a possible one.
    pub fn fits(&self, other: &FlatOptimizer) -> bool {
        (self.name, self.weight_decay) == (other.name, other.weight_decay)
            && self.first.len() == other.first.len()
            && self.second.len() == other.second.len()
            && i32::try_from(self.steps).is_ok()
            && are_moments(&self.first, &self.second)
    }

    /// Moves `parameters` along `gradients`, both one a number.
    pub fn step(&mut self, learning_rate: f64, parameters: &mut [f32], gradients: &[f32]) {
        self.steps = self.steps.saturating_add(1);
        match self.name {
            OptimizerName::Adamw => self.adamw(learning_rate, parameters, gradients),
            OptimizerName::Sgd => self.sgd(learning_rate as f32, parameters, gradients),
        }
    }

    /// Moves the parameters by AdamW (Loshchilov, Hutter 2019, Algorithm 2).
    fn adamw(&mut self, learning_rate: f64, parameters: &mut [f32], gradients: &[f32]) {
        let [beta1, beta2] = [0.9f32, 0.999];
        let steps = i32::try_from(self.steps).unwrap_or(i32::MAX);
        let [correction1, correction2] = [beta1, beta2].map(|beta| 1.0 - beta.powi(steps));
        let rate = learning_rate as f32;
        let kept = (1.0 - learning_rate * f64::from(self.weight_decay)) as f32;
        let moments = self.first.par_chunks_mut(CHUNK);
        let moments = moments.zip(self.second.par_chunks_mut(CHUNK));
        let numbers = parameters.par_chunks_mut(CHUNK);
        let numbers = numbers.zip(gradients.par_chunks(CHUNK));
        numbers
            .zip(moments)
            .for_each(|((values, gradients), (first, second))| {
                let moments = first.iter_mut().zip(second);
                let numbers = values.iter_mut().zip(gradients);
                for ((value, &gradient), (first, second)) in numbers.zip(moments) {
                    *first = *first * beta1 + gradient * (1.0 - beta1);
                    *second = *second * beta2 + gradient * gradient * (1.0 - beta2);
                    let scale = (*second / correction2).sqrt() + EPSILON;
                    *value = *value * kept - *first / correction1 / scale * rate;
                }
            });
    }

    /// Moves the parameters by SGD with Nesterov's momentum; weight decay is added to the
    /// gradients.
    fn sgd(&mut self, rate: f32, parameters: &mut [f32], gradients: &[f32]) {
        let (is_first, decay) = (self.steps == 1, self.weight_decay);
        let numbers = parameters.par_chunks_mut(CHUNK);
        let numbers = numbers.zip(gradients.par_chunks(CHUNK));
        let numbers = numbers.zip(self.first.par_chunks_mut(CHUNK));
        numbers.for_each(|((values, gradients), velocities)| {
            let numbers = values.iter_mut().zip(gradients).zip(velocities);
            for ((value, &gradient), velocity) in numbers {
                let gradient = match decay > 0.0 {
                    true => *value * decay + gradient,
                    false => gradient,
                };
                *velocity = match is_first {
                    true => gradient,
                    false => gradient + *velocity * MOMENTUM,
                };
                *value -= (*velocity * MOMENTUM + gradient) * rate;
            }
        });
    }
}

/// Whether `first` and `second` can be means of gradients, and of squared gradients.
pub(super) fn are_moments(first: &[f32], second: &[f32]) -> bool {
    // The squares of large gradients may be infinite.
    are_finite(first) && second.iter().all(|&square| square >= 0.0)
}

/// Whether all `values` are numbers that a network can have.
pub(super) fn are_finite(values: &[f32]) -> bool {
    values.iter().all(|value| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fnn::read;
    use burn::optim::decay::WeightDecayConfig;
    use burn::optim::momentum::MomentumConfig;
    use burn::optim::{AdamWConfig, Optimizer, SgdConfig};
    use burn::tensor::{Device, Tensor, TensorData};
    use rand::RngExt;

    /// `flat` and `burn` move the same numbers along the same gradients.
    fn compare<O: Optimizer>(mut flat: FlatOptimizer, burn: &O, count: usize) {
        let device = Device::flex();
        let mut draws =
            probity_run::stream::stream(1, probity_run::stream::Purpose::Synthetic, 0, 0);
        let mut draw = || -> Vec<f32> {
            let numbers = (0..count).map(|_| draws.random_range(-1.0f32..1.0));
            numbers.collect()
        };
        let mut own = draw();
        let mut theirs = own.clone();
        let mut state = None;
        for step in 0..20 {
            let rate = 0.01 / f64::from(step + 1);
            let gradients = draw();
            flat.step(rate, &mut own, &gradients);
            let tensor =
                |values: Vec<f32>| Tensor::from_data(TensorData::new(values, [1, count]), &device);
            let next = burn.step(rate, tensor(theirs), tensor(gradients), state.take());
            state = next.1;
            theirs = read(next.0).unwrap();
            assert_eq!(own, theirs, "{flat:?} {step}", flat = flat.name);
        }
    }

    #[test]
    fn moves_as_burn_does() {
        let count = CHUNK + 100;
        for decay in [0.0, 0.01] {
            let flat = FlatOptimizer::new(OptimizerName::Adamw, decay, count);
            let config = AdamWConfig::new().with_epsilon(EPSILON);
            compare(flat, &config.with_weight_decay(decay).build(), count);
            let flat = FlatOptimizer::new(OptimizerName::Sgd, decay, count);
            let mut config = SgdConfig::new().with_momentum(Some(MomentumConfig {
                momentum: f64::from(MOMENTUM),
                dampening: 0.0,
                nesterov: true,
            }));
            if decay > 0.0 {
                config = config.with_weight_decay(Some(WeightDecayConfig { penalty: decay }));
            }
            compare(flat, &config.build(), count);
        }
    }
}
