//! Interval bounds as burn operations, for the worst case of [`TableWorstCase`].

use burn::tensor::activation::log_softmax;
use burn::tensor::{Device, Tensor, TensorData};

use crate::encoding::InputLayout;
use crate::fnn::{Activation, Network};
use crate::train::table::loss::Worst;
use crate::train::table::worst_case::TableWorstCase;

/// One layer's tensors: weight `[inputs, outputs]`, bias `[1, outputs]`.
pub(super) type LayerTensors = (Tensor<2>, Tensor<2>);

/// Returns `features`, row by row, with zeros for the protected attributes.
pub(super) fn without_protected(
    case: &TableWorstCase,
    layout: &InputLayout,
    features: &[f32],
) -> Vec<f32> {
    let mut rest = features.to_vec();
    for row in rest.chunks_exact_mut(layout.features()) {
        for &attribute in &case.protected {
            let span = &layout.spans()[attribute];
            row[span.start..span.start + span.features()].fill(0.0);
        }
    }
    rest
}

/// Computes bounds of the network's outputs for rows with any protected values: `own` are the first
/// layer's sums of the rows, `rest` the same without the protected attributes `[rows, outputs]`.
pub(super) fn bounds(
    worst: Worst<'_>,
    network: &Network,
    layers: &[LayerTensors],
    (own, rest): (Tensor<2>, Tensor<2>),
    device: &Device,
) -> Bounds {
    let activation = network.activation;
    let (mut low, mut high) = (rest.clone(), rest);
    for &attribute in &worst.case.protected {
        let (least, largest) = contributions(&network.layout, attribute, &layers[0].0, device);
        low = low + least;
        high = high + largest;
    }
    let shrunk = |bound: Tensor<2>| own.clone() + (bound - own.clone()).mul_scalar(worst.radius);
    let mut bounds = (shrunk(low), shrunk(high));
    let last = layers.len() - 1;
    if last == 0 {
        return Bounds::Direct(bounds.0, bounds.1);
    }
    for (weight, bias) in &layers[1..last] {
        let (middle, half) = middle_and_half(activation, bounds);
        let middle = middle.matmul(weight.clone()) + bias.clone();
        let half = half.matmul(weight.clone().abs());
        bounds = (middle.clone() - half.clone(), middle + half);
    }
    let (middle, half) = middle_and_half(activation, bounds);
    Bounds::BeforeLast {
        middle,
        half,
        last: Box::new(layers[last].clone()),
    }
}

/// Bounds of a network's outputs.
pub(super) enum Bounds {
    /// The least and the largest logits, of a network of one layer.
    Direct(Tensor<2>, Tensor<2>),
    /// The middle and half width of what enters the last layer, and that layer (boxed: with a GPU's
    /// backend a tensor takes more than half a kilobyte of itself).
    BeforeLast {
        middle: Tensor<2>,
        half: Tensor<2>,
        last: Box<LayerTensors>,
    },
}

impl Bounds {
    /// Returns the least and the largest of each output.
    pub fn last(self) -> (Tensor<2>, Tensor<2>) {
        match self {
            Bounds::Direct(low, high) => (low, high),
            Bounds::BeforeLast { middle, half, last } => {
                let (weight, bias) = *last;
                let middle = middle.matmul(weight.clone()) + bias;
                let half = half.matmul(weight.abs());
                (middle.clone() - half.clone(), middle + half)
            }
        }
    }

    /// Computes Σ targets · the largest cross-entropy: `targets` `[rows, classes]` are the weight
    /// of each row at its class.
    pub fn cross_entropy(self, targets: &Tensor<2>, device: &Device) -> Tensor<1> {
        let (middle, half, last) = match self {
            Bounds::Direct(low, high) => return direct_loss((low, high), targets),
            Bounds::BeforeLast { middle, half, last } => (middle, half, last),
        };
        let (weight, bias) = *last;
        let mut loss = Tensor::zeros([1], device);
        for label in 0..targets.dims()[1] {
            // The largest leads of every class over `label`, which are 0 for `label` itself.
            let weight = weight.clone() - weight.clone().narrow(1, label, 1);
            let bias = bias.clone() - bias.clone().narrow(1, label, 1);
            let leads =
                middle.clone().matmul(weight.clone()) + bias + half.clone().matmul(weight.abs());
            let of_label = log_softmax(leads, 1).narrow(1, label, 1);
            let weights = targets.clone().narrow(1, label, 1);
            loss = loss + (of_label * weights).sum().neg();
        }
        loss
    }
}

/// Computes the least and largest of what an attribute's codes add to the first layer's sums, `[1,
/// outputs]` each.
fn contributions(
    layout: &InputLayout,
    attribute: usize,
    weight: &Tensor<2>,
    device: &Device,
) -> (Tensor<2>, Tensor<2>) {
    let span = &layout.spans()[attribute];
    let mut features = Vec::with_capacity(span.levels * span.features());
    for level in 0..span.levels {
        span.encode(span.min.saturating_add(level as i32), &mut features);
    }
    let shape = [span.levels, span.features()];
    let features = Tensor::<2>::from_data(TensorData::new(features, shape), device);
    let sums = features.matmul(weight.clone().narrow(0, span.start, span.features()));
    (sums.clone().min_dim(0), sums.max_dim(0))
}

/// Computes middle and half width of activated bounds.
fn middle_and_half(
    activation: Activation,
    (low, high): (Tensor<2>, Tensor<2>),
) -> (Tensor<2>, Tensor<2>) {
    let (low, high) = (activation.apply(low), activation.apply(high));
    (
        (low.clone() + high.clone()).mul_scalar(0.5),
        (high - low).mul_scalar(0.5),
    )
}

/// Computes the loss of a network of one layer: the true class's lower bound against the others'
/// upper ones.
fn direct_loss((low, high): (Tensor<2>, Tensor<2>), targets: &Tensor<2>) -> Tensor<1> {
    let is_label = targets.clone().greater_elem(0.0).float();
    let worst = high.clone() + (low - high) * is_label;
    (log_softmax(worst, 1) * targets.clone()).sum().neg()
}
