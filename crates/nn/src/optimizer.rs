//! burn's optimisers over a list of `[rows, columns]` parameters, with a state that can be saved.
//!
//! burn's own `ModuleOptimizer::load_record` puts a loaded state on the default device first, which
//! in a build with GPU support is a GPU that may not be there; hence this thin layer.

use burn::optim::decay::WeightDecayConfig;
use burn::optim::momentum::MomentumConfig;
use burn::optim::{
    AdamW, AdamWConfig, AdamWState, Optimizer, RecordState, Sgd, SgdConfig, SgdState, StateSink,
    StateSource,
};
use burn::tensor::{Device, Tensor, TensorData};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Added to the root of the mean of squares that Adam divides by.
pub(super) const EPSILON: f32 = 1e-8;
/// The share of its velocity that SGD keeps.
pub(super) const MOMENTUM: f32 = 0.9;

/// Which optimiser.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OptimizerName {
    /// Adam with decoupled weight decay (Loshchilov, Hutter 2019).
    #[default]
    Adamw,
    /// Stochastic gradient descent with Nesterov momentum 0.9.
    Sgd,
}

/// An optimiser with one state a parameter.
pub(super) struct ParameterOptimizer {
    rule: Rule,
}

enum Rule {
    Adamw(AdamW, Vec<Option<AdamWState<2>>>),
    Sgd(Sgd, Vec<Option<SgdState<2>>>),
}

/// A saved optimiser state: named tensors `(name, shape, values)` and named counters.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct OptimizerState {
    tensors: Vec<(String, Vec<usize>, Vec<f32>)>,
    counters: Vec<(String, u64)>,
}

impl OptimizerState {
    /// Whether it can be of parameters of `shapes`: what is kept of one has its shape, and steps
    /// are as many as there may be.
    pub fn fits(&self, shapes: &[[usize; 2]]) -> bool {
        let of = |name: &str| shapes.get(name.split('.').next()?.parse::<usize>().ok()?);
        self.tensors.iter().all(|(name, shape, values)| {
            let [rows, columns] = match of(name) {
                Some(own) if own[..] == shape[..] => *own,
                _ => return false,
            };
            values.len() == rows * columns
        }) && self
            .counters
            .iter()
            .all(|(name, count)| of(name).is_some() && i32::try_from(*count).is_ok())
    }
}

impl ParameterOptimizer {
    /// A fresh optimiser for `parameters` parameters.
    pub fn new(name: OptimizerName, weight_decay: f32, parameters: usize) -> ParameterOptimizer {
        let rule = match name {
            OptimizerName::Adamw => Rule::Adamw(
                AdamWConfig::new()
                    .with_epsilon(EPSILON)
                    .with_weight_decay(weight_decay)
                    .build(),
                vec![None; parameters],
            ),
            OptimizerName::Sgd => {
                let momentum = MomentumConfig {
                    momentum: f64::from(MOMENTUM),
                    dampening: 0.0,
                    nesterov: true,
                };
                let mut config = SgdConfig::new().with_momentum(Some(momentum));
                if weight_decay > 0.0 {
                    config = config.with_weight_decay(Some(WeightDecayConfig {
                        penalty: weight_decay,
                    }));
                }
                Rule::Sgd(config.build(), vec![None; parameters])
            }
        };
        ParameterOptimizer { rule }
    }

    /// The parameter at `index` after one step along `gradient`.
    pub fn step(
        &mut self,
        learning_rate: f64,
        index: usize,
        parameter: Tensor<2>,
        gradient: Tensor<2>,
    ) -> Tensor<2> {
        match &mut self.rule {
            Rule::Adamw(rule, states) => {
                let (next, state) =
                    rule.step(learning_rate, parameter, gradient, states[index].take());
                states[index] = state;
                next
            }
            Rule::Sgd(rule, states) => {
                let (next, state) =
                    rule.step(learning_rate, parameter, gradient, states[index].take());
                states[index] = state;
                next
            }
        }
    }

    /// The state, for a checkpoint.
    pub fn state(&self) -> OptimizerState {
        let mut sink = StateSink::default();
        match &self.rule {
            Rule::Adamw(_, states) => flatten(states, &mut sink),
            Rule::Sgd(_, states) => flatten(states, &mut sink),
        }
        OptimizerState {
            tensors: sink
                .tensors
                .into_iter()
                .map(|(name, data)| {
                    let shape = data.shape().to_vec();
                    (name, shape, data.iter::<f32>().collect())
                })
                .collect(),
            counters: sink
                .scalars
                .into_iter()
                .filter_map(|(name, value)| Some((name, u64::try_from(value).ok()?)))
                .collect(),
        }
    }

    /// Takes up a saved state.
    pub fn restore(&mut self, saved: OptimizerState, device: &Device) {
        let counters = saved.counters.into_iter();
        let mut source =
            StateSource::new(counters.map(|(name, value)| (name, value.into())).collect());
        for (name, shape, values) in saved.tensors {
            source.insert_tensor(name, TensorData::new(values, shape));
        }
        match &mut self.rule {
            Rule::Adamw(_, states) => unflatten(states, &mut source, device),
            Rule::Sgd(_, states) => unflatten(states, &mut source, device),
        }
    }
}

fn flatten<S: RecordState>(states: &[Option<S>], sink: &mut StateSink) {
    for (index, state) in states.iter().enumerate() {
        if let Some(state) = state {
            state.state_flatten(&index.to_string(), sink);
        }
    }
}

fn unflatten<S: RecordState>(states: &mut [Option<S>], source: &mut StateSource, device: &Device) {
    for (index, state) in states.iter_mut().enumerate() {
        *state = S::state_unflatten(&index.to_string(), source, device);
    }
}
