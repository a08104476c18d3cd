//! Model directories: networks for tables and texts, k-means, sum-product networks.

use std::path::Path;

use probity_data::numbers::{Bounds, NumbersOptions};
use probity_nn::model::Model;
use probity_nn::text_model::TextModel;
use probity_nn::{Classifier, Rows, fnn::Fnn};
use probity_run::run_directory::RunDirectory;
use probity_tensor::device::ComputeDevice;
use probity_unlearning::kmeans::dataset::read_dataset;
use probity_unlearning::kmeans::directory::{Description, ModelDirectory};
use probity_unlearning::kmeans::{self, Algorithm, KMeans, Tree};
use probity_unlearning::spn::model::SpnModel;
use probity_unlearning::spn::table::TableOptions;

use super::fixtures::{Make, people_csv, schema};
use super::seals::seal;
use crate::target::{Execution, Input, Seen, Target};

pub const ALL: &[(&str, Make)] = &[
    ("model", model),
    ("text-model", text_model),
    ("kmeans", kmeans_model),
    ("spn", spn),
];

/// A target that reads networks for tables: a model that was loaded can be saved, and loaded again
/// as the same.
fn model(folder: &Path) -> anyhow::Result<Target> {
    super::fixtures::model()?.save(folder)?;
    let seeds = vec![Input::folder(folder)?];
    let check = |execution: &Execution<'_>| {
        let Ok(model) = Model::load(execution.folder) else {
            return Ok(Seen::Refused);
        };
        let network = Fnn::new(&model.network, &ComputeDevice::flex());
        let domains = model.schema.attributes.iter();
        let row: Vec<i32> = domains.map(|attribute| attribute.domain().0).collect();
        let answer = network.logits(Rows::new(&row, row.len()));
        if let Ok(logits) = answer
            && logits.iter().any(|logit| !logit.is_finite())
        {
            return Err("an answer is not finite".to_owned());
        }
        let again = execution.folder.join("again");
        std::fs::create_dir(&again).map_err(|error| error.to_string())?;
        model.save(&again).map_err(|error| error.to_string())?;
        let again = Model::load(&again).map_err(|error| format!("once saved: {error}"))?;
        match again.sha256() == model.sha256() {
            true => Ok(Seen::Accepted),
            false => Err("it is another model once saved".to_owned()),
        }
    };
    let words = &[
        "hidden", "encoding", "embedded", "bins", "values", "F32", "shape", "relu",
    ];
    Ok(Target::new("model", seeds, check)
        .words(words)
        .sealed_by(seal))
}

fn text_model(folder: &Path) -> anyhow::Result<Target> {
    super::fixtures::text_model()?.save(folder)?;
    let seeds = vec![Input::folder(folder)?];
    let check = |execution: &Execution<'_>| {
        let Ok(model) = TextModel::load(execution.folder) else {
            return Ok(Seen::Refused);
        };
        let Ok(tokens) = model.reader.tokens("She is a friendly Norwegian .") else {
            return Ok(Seen::Accepted);
        };
        let width = tokens.len().clamp(1, model.reader.max_length);
        let row: Vec<i32> = tokens.into_iter().take(width).collect();
        if row.len() == width
            && let Ok(network) = model.network(width, &ComputeDevice::flex())
        {
            let logits = network.logits(Rows::new(&row, width));
            if logits.is_ok_and(|logits| logits.iter().any(|logit| !logit.is_finite())) {
                return Err("an answer is not finite".to_owned());
            }
        }
        Ok(Seen::Accepted)
    };
    let words = &[
        "layers",
        "units",
        "cell",
        "lstm",
        "gru",
        "max_length",
        "classes",
        "F32",
        "vocab",
    ];
    Ok(Target::new("text-model", seeds, check)
        .words(words)
        .sealed_by(seal)
        .memory(1024, 24 << 20))
}

/// A target that reads k-means models. An accepted model that was not sealed again is the original;
/// every accepted one reads the same once it is written, and can forget a row.
fn kmeans_model(folder: &Path) -> anyhow::Result<Target> {
    let file = folder.join("rows.csv");
    std::fs::write(&file, "a,b\n0,1\n0.5,1\n3,2\n3.5,2.5\n9,0\n9,1\n")?;
    let mut reading = NumbersOptions::default();
    reading.bounds = vec![Bounds {
        column: None,
        min: 0.0,
        max: 10.0,
    }];
    let mut seeds = Vec::new();
    for (number, algorithm) in [
        Algorithm::Lloyd,
        Algorithm::default(),
        Algorithm::DivideConquer {
            tree: Tree::default(),
        },
    ]
    .into_iter()
    .enumerate()
    {
        let options = KMeans::new(2)
            .iterations(3)
            .restarts(2)
            .algorithm(algorithm);
        let rows = read_dataset(file.as_path(), &reading)?;
        let model = options.fit(&rows.points)?;
        let description = Description::new(&options, rows.columns, None, None);
        let directory = RunDirectory::create(&folder.join(format!("model{number}")))?;
        ModelDirectory::create(&directory, description, &model)?;
        seeds.push(Input::folder(directory.path())?);
    }
    let check = |execution: &Execution<'_>| {
        let Ok((directory, mut model)) = ModelDirectory::open(execution.folder) else {
            return Ok(Seen::Refused);
        };
        let bytes = model.to_bytes().map_err(|error| error.to_string())?;
        if !execution.is_sealed && execution.input != execution.original {
            let name = "model.bin";
            if execution.input.bytes(name) != execution.original.bytes(name) {
                return Err("a damaged model was read".to_owned());
            }
        }
        directory.save(&model).map_err(|error| error.to_string())?;
        let (_, again) = ModelDirectory::open(execution.folder)
            .map_err(|error| format!("once saved: {error}"))?;
        if again.to_bytes().map_err(|error| error.to_string())? != bytes {
            return Err("it is another model once saved".to_owned());
        }
        std::hint::black_box(model.assignment());
        let first = model.parts().iter().find_map(|part| {
            let slot = part.live_slots().next()?;
            Some(part.id(slot))
        });
        if let Some(id) = first
            && model.delete(&[id]).is_ok()
        {
            let bytes = model.to_bytes().map_err(|error| error.to_string())?;
            let again = kmeans::Model::from_bytes(&bytes);
            if model.rows() > 0 && again.is_err() {
                return Err("it cannot be read once a row was deleted".to_owned());
            }
        }
        Ok(Seen::Accepted)
    };
    Ok(Target::new("kmeans", seeds, check).sealed_by(seal))
}

fn spn(folder: &Path) -> anyhow::Result<Target> {
    let file = folder.join("people.csv");
    std::fs::write(&file, people_csv(40)?)?;
    let table = TableOptions::new(schema()?);
    let mut seeds = Vec::new();
    for (number, rows) in [8, 30].into_iter().enumerate() {
        let (data, _) = table.read(&file)?.value;
        let parameters = probity_unlearning::spn::SpnParameters::default().min_rows(rows);
        let spn = parameters.learn(data)?;
        let place = folder.join(format!("model{number}"));
        std::fs::create_dir_all(&place)?;
        let table = table.clone();
        SpnModel { spn, table }.store(&place)?;
        seeds.push(Input::folder(&place)?);
    }
    let check = |execution: &Execution<'_>| {
        let Ok(mut model) = SpnModel::load(execution.folder) else {
            return Ok(Seen::Refused);
        };
        let bytes = model.to_bytes().map_err(|error| error.to_string())?;
        if !execution.is_sealed && execution.input != execution.original {
            return Err("a damaged model was read".to_owned());
        }
        let again = SpnModel::from_bytes(&bytes).map_err(|error| format!("once saved: {error}"))?;
        if again.to_bytes().map_err(|error| error.to_string())? != bytes {
            return Err("it is another model once saved".to_owned());
        }
        let variables = model.spn.data().variables().len();
        let _ = model.spn.network().posterior(0, &vec![None; variables]);
        let first = model.spn.data().remaining().first().copied();
        if let Some(position) = first {
            let id = model.spn.data().id(position);
            let _ = model.spn.delete(&[id]);
        }
        Ok(Seen::Accepted)
    };
    Ok(Target::new("spn", seeds, check)
        .sealed_by(seal)
        .memory(1024, 24 << 20))
}
