//! Fixtures that seeds are made of: small tables, texts, and networks for them.

use std::ops::ControlFlow;
use std::path::Path;

use anyhow::Context;
use probity_data::builtin;
use probity_data::schema::Schema;
use probity_data::synthetic::synthetic_census;
use probity_data::table::Table;
use probity_nn::model::Model;
use probity_nn::text_model::TextModel;
use probity_nn::train::options::{TableOptions, TextOptions};
use probity_nn::train::table::train;
use probity_nn::train::text::train_text;
use probity_nn::train::text_set::TextSet;
use probity_tensor::device::ComputeDevice;
use probity_text::comments::CommentGenerator;
use probity_text::corpus::TextCorpus;
use probity_text::embeddings::EmbeddingTable;

use crate::target::Target;

/// A function that makes a target; it may write the seeds to the folder.
pub(super) type Make = fn(&Path) -> anyhow::Result<Target>;

/// The schema of the synthetic census.
pub(super) fn schema() -> anyhow::Result<Schema> {
    builtin::schema("synthetic-census")?.context("there is no such schema")
}

/// Generates this many `rows` of the synthetic census, with the schema.
pub(super) fn people(rows: usize) -> anyhow::Result<(Schema, Table)> {
    let schema = schema()?;
    let table = synthetic_census(&schema, rows, 1);
    Ok((schema, table))
}

/// Generates this many `rows` of the synthetic census as CSV.
pub(super) fn people_csv(rows: usize) -> anyhow::Result<Vec<u8>> {
    let (schema, table) = people(rows)?;
    let mut text = Vec::new();
    probity_data::synthetic::write_csv(&mut text, &schema, &table)?;
    Ok(text)
}

/// A small network for the synthetic census.
pub(super) fn model() -> anyhow::Result<Model> {
    let (schema, table) = people(200)?;
    let mut options = TableOptions::default();
    options.network.hidden = vec![4];
    options.learning.epochs = Some(2);
    let flex = ComputeDevice::flex();
    let network = train(&table, &schema, &options, &flex, None, &mut |_, _| {
        ControlFlow::Continue(())
    })?
    .network;
    Ok(Model { schema, network })
}

/// A few made-up comments with their labels.
pub(super) fn comments(count: u64) -> (Vec<String>, Vec<u32>) {
    let generator = CommentGenerator::new(1);
    let comments = (0..count).map(|item| generator.comment(item));
    comments
        .map(|comment| (comment.text, u32::from(comment.toxic)))
        .unzip()
}

/// Word vectors of a few dimensions for the words of the comments.
pub(super) fn vectors(texts: &[String]) -> Vec<u8> {
    let mut words: Vec<String> = texts
        .iter()
        .flat_map(|text| text.split(|c: char| !c.is_ascii_alphabetic()))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    words.sort_unstable();
    words.dedup();
    let lines = words.iter().enumerate().map(|(place, word)| {
        let place = place as f32;
        format!(
            "{word} {} {} -{}\n",
            place.sin(),
            place.cos(),
            place / 100.0
        )
    });
    lines.collect::<String>().into_bytes()
}

/// A small network that classifies the comments.
pub(super) fn text_model() -> anyhow::Result<TextModel> {
    let (texts, labels) = comments(30);
    let table = EmbeddingTable::from_text(Path::new("vectors"), &vectors(&texts))?;
    let corpus = TextCorpus {
        labels,
        classes: vec!["fine".to_owned(), "toxic".to_owned()],
        texts,
        ..TextCorpus::default()
    };
    let count = corpus.texts.len();
    let set = TextSet::new(corpus, &table, Path::new("vectors"), 0)?;
    let mut options = TextOptions::default();
    (options.network.layers, options.network.units) = (1, 2);
    options.learning.epochs = Some(1);
    let split = options.split(count);
    let trained = train_text(
        set.labelled(),
        set.table(),
        &split,
        &options,
        &ComputeDevice::flex(),
        None,
        &mut |_, _| ControlFlow::Continue(()),
    )?;
    Ok(set.model(&trained, &split.train, 40)?)
}
