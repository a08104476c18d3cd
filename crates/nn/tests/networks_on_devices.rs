//! Every device that answers gives the logits, gradients and losses of flex.
//!
//! Devices round differently, so numbers are compared within tolerances; that a row does not depend
//! on its batch is compared exactly.

use std::ops::ControlFlow;

use probity_data::builtin;
use probity_data::schema::Schema;
use probity_data::synthetic::synthetic_census;
use probity_nn::fnn::{Fnn, Network};
use probity_nn::recurrent::kernels::EmbeddingTable;
use probity_nn::train::options::{Categories, TableOptions, TextOptions, TransformerTraining};
use probity_nn::train::table::train;
use probity_nn::train::text::{LabelledTexts, train_text};
use probity_nn::train::transformer::train_transformer;
use probity_nn::transformer::kernels::Kernels;
use probity_nn::transformer::shape::TransformerWeights;
use probity_nn::transformer::tensor::TransformerTiles;
use probity_nn::{Classifier, Differentiable, Objective, Rows, predicted_class};
use probity_tensor::device::ComputeDevice;
use probity_testing::devices;

fn options() -> TableOptions {
    let mut options = TableOptions::default();
    options.network.hidden = vec![12, 6];
    options.network.categories = Categories::OneHot;
    options.learning.epochs = Some(3);
    options.learning.batch = Some(256);
    options
}

fn trained(schema: &Schema, device: &ComputeDevice) -> (Network, f64) {
    let table = synthetic_census(schema, 1200, 3);
    let trained = train(&table, schema, &options(), device, None, &mut |_, _| {
        ControlFlow::Continue(())
    })
    .unwrap();
    let loss = trained.history.last().unwrap().loss;
    (trained.network, loss)
}

fn close(left: &[f32], right: &[f32], tolerance: f32, what: &str) {
    assert_eq!(left.len(), right.len());
    for (a, b) in left.iter().zip(right) {
        assert!(
            (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs())),
            "{what}: {a} {b}"
        );
    }
}

#[test]
fn all_devices_agree_with_flex() {
    let schema = builtin::schema("synthetic-census").unwrap().unwrap();
    let flex = ComputeDevice::flex();
    let (network, loss) = trained(&schema, &flex);
    let reference = Fnn::new(&network, &flex);
    let table = synthetic_census(&schema, 300, 5);
    let rows = Rows::new(table.codes(), table.width());
    let logits = reference.logits(rows).unwrap();
    let mut cotangents = Vec::new();
    for logits in logits.chunks_exact(2) {
        Objective::Margin.cotangent(logits, predicted_class(logits), &mut cotangents);
    }
    let gradients = reference.input_gradients(rows, &cotangents).unwrap();
    for device in devices() {
        let name = device.name();
        let model = Fnn::new(&network, &device);
        let answer = model.logits(rows).unwrap();
        close(&answer, &logits, 1e-4, &format!("{name} logits"));
        close(
            &model.input_gradients(rows, &cotangents).unwrap(),
            &gradients,
            1e-3,
            &format!("{name} gradients"),
        );
        let alone = Rows::new(table.row(7), table.width());
        assert_eq!(
            model.logits(alone).unwrap(),
            answer[14..16],
            "{name}: a row's logits depend on its batch"
        );
        let (_, its_loss) = trained(&schema, &device);
        assert!(
            (loss - its_loss).abs() < 0.01,
            "{name}: loss {its_loss}, flex {loss}"
        );
    }
}

/// Makes 120 texts of up to 8 more tokens than `shortest`, of 20, and whether their sums are even.
fn labelled(shortest: i32) -> (Vec<Vec<i32>>, Vec<u32>) {
    let text = |text: i32| {
        let tokens = 0..shortest + text % 9;
        tokens.map(|at| (text * 7 + at * at) % 20).collect()
    };
    let texts: Vec<Vec<i32>> = (0..120).map(text).collect();
    let is_even = |text: &Vec<i32>| u32::from(text.iter().sum::<i32>() % 2 == 0);
    let labels = texts.iter().map(is_even).collect();
    (texts, labels)
}

/// Networks for texts learn on every device: the losses are near those of the kernels, and the same
/// bits come every time.
#[test]
fn recurrent_networks_learn_on_every_device() {
    let (texts, labels) = labelled(0);
    let values: Vec<f32> = (0..20 * 5)
        .map(|at| (at * 37 % 19) as f32 / 9.0 - 1.0)
        .collect();
    let corpus = LabelledTexts {
        texts: &texts,
        labels: &labels,
        classes: 2,
    };
    let table = EmbeddingTable {
        values: &values,
        dimension: 5,
    };
    let mut options = TextOptions::default();
    (options.network.layers, options.network.units) = (1, 4);
    options.network.train_embeddings = true;
    (options.learning.epochs, options.learning.batch) = (Some(2), Some(40));
    let split = options.split(texts.len());
    let learnt = |device: &ComputeDevice| {
        let go_on = &mut |_: &_, _: &dyn Fn() -> _| ControlFlow::Continue(());
        train_text(corpus, table, &split, &options, device, None, go_on).unwrap()
    };
    let flex = learnt(&ComputeDevice::flex());
    for device in devices() {
        let own = learnt(&device);
        for (own, flex) in own.history.iter().zip(&flex.history) {
            let error = (own.loss - flex.loss).abs();
            assert!(error < 1e-3, "{}: {own:?}, flex {flex:?}", device.name());
        }
        assert!(own == learnt(&device), "{}: other bits", device.name());
    }
}

/// Transformers answer on every device as the kernels do, each text the same bits alone, and learn
/// there: the losses are near those of the kernels, and the same bits come every time.
#[test]
fn transformers_answer_and_learn_on_every_device() {
    let (texts, labels) = labelled(1);
    let corpus = LabelledTexts {
        texts: &texts,
        labels: &labels,
        classes: 2,
    };
    let mut options = TransformerTraining::default();
    (options.network.width, options.network.inner) = (12, 10);
    (options.network.heads, options.network.blocks) = (2, 1);
    (options.learning.epochs, options.learning.batch) = (Some(2), Some(40));
    let split = options.split(texts.len());
    let weights = TransformerWeights::random(options.network.shape(20, 2), 3);
    let learnt = |device: &ComputeDevice| {
        let go_on = &mut |_: &_, _: &dyn Fn() -> _| ControlFlow::Continue(());
        let begun = (corpus, weights.clone());
        train_transformer(begun, &split, &options, device, None, go_on).unwrap()
    };
    let kernels = Kernels::new(weights.clone());
    let few: Vec<&[i32]> = texts[..12].iter().map(Vec::as_slice).collect();
    let cotangents: Vec<f32> = (0..24).map(|at| (at % 5) as f32 - 2.0).collect();
    let logits = kernels.logits(&few);
    let gradients = kernels.input_gradients(&few, &cotangents);
    let flex = learnt(&ComputeDevice::flex());
    for device in devices() {
        let name = device.name();
        let tiles = TransformerTiles::new(&weights, &device);
        let own = tiles.logits(&weights, &few).unwrap();
        close(&own, &logits, 1e-4, &format!("{name} logits"));
        let alone = tiles.logits(&weights, &few[7..8]).unwrap();
        assert_eq!(alone, own[14..16], "{name}: a text depends on its batch");
        let own = tiles.input_gradients(&weights, &few, &cotangents).unwrap();
        close(&own, &gradients, 1e-3, &format!("{name} gradients"));
        let own = learnt(&device);
        for (own, flex) in own.history.iter().zip(&flex.history) {
            let error = (own.loss - flex.loss).abs();
            assert!(error < 1e-3, "{name}: {own:?}, flex {flex:?}");
        }
        assert!(own == learnt(&device), "{name}: other bits");
    }
}
