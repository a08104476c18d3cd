//! The targets, by subject.

mod archives;
mod checkpoints;
mod models;
mod predictors;
mod runs;
mod seals;
mod service;
mod shards;
mod specifications;
mod tables;
mod texts;
mod weights;

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

/// Makes a target; its seeds may be written to the folder meanwhile.
type Make = fn(&Path) -> anyhow::Result<Target>;

/// All targets by subject, in the order in which they are fuzzed.
const ALL: &[&[(&str, Make)]] = &[
    tables::ALL,
    weights::ALL,
    texts::ALL,
    predictors::ALL,
    models::ALL,
    runs::ALL,
    checkpoints::ALL,
    shards::ALL,
    specifications::ALL,
    service::ALL,
];

/// The names of all targets.
pub fn names() -> Vec<&'static str> {
    let all = ALL.iter().flat_map(|subject| subject.iter());
    all.map(|(name, _)| *name).collect()
}

/// The target `name`, with its seeds, which are made in `folder`.
///
/// # Errors
/// When there is none, or its seeds cannot be made.
pub fn named(name: &str, folder: &Path) -> anyhow::Result<Target> {
    let mut all = ALL.iter().flat_map(|subject| subject.iter());
    let (name, make) = all
        .find(|(known, _)| *known == name)
        .with_context(|| format!("there is no target {name}"))?;
    let folder = folder.join("seeds");
    std::fs::create_dir_all(&folder)?;
    let target = make(&folder)?;
    anyhow::ensure!(!target.seeds.is_empty(), "{name} has no seeds");
    Ok(target)
}

/// The schema of a made-up census.
fn schema() -> anyhow::Result<Schema> {
    builtin::schema("synthetic-census")?.context("there is no such schema")
}

/// So many people of it.
fn people(rows: usize) -> anyhow::Result<(Schema, Table)> {
    let schema = schema()?;
    let table = synthetic_census(&schema, rows, 1);
    Ok((schema, table))
}

/// The same as CSV.
fn people_csv(rows: usize) -> anyhow::Result<Vec<u8>> {
    let (schema, table) = people(rows)?;
    let mut text = Vec::new();
    probity_data::synthetic::write_csv(&mut text, &schema, &table)?;
    Ok(text)
}

/// A small network for it.
fn model() -> anyhow::Result<Model> {
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
fn comments(count: u64) -> (Vec<String>, Vec<u32>) {
    let generator = CommentGenerator::new(1);
    let comments = (0..count).map(|item| generator.comment(item));
    comments
        .map(|comment| (comment.text, u32::from(comment.toxic)))
        .unzip()
}

/// Word vectors of a few numbers for the words of the comments.
fn vectors(texts: &[String]) -> Vec<u8> {
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

/// A small network for the comments.
fn text_model() -> anyhow::Result<TextModel> {
    let (texts, labels) = comments(30);
    let table = EmbeddingTable::from_text(Path::new("vectors"), &vectors(&texts))?;
    let corpus = TextCorpus {
        labels,
        classes: vec!["fine".to_owned(), "toxic".to_owned()],
        texts,
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
        None,
        &mut |_, _| ControlFlow::Continue(()),
    )?;
    Ok(set.model(&trained, &split.train, 40)?)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::time::Duration;

    use super::*;
    use crate::worker::{Work, work};

    /// Memory is counted for the process: one target at a time.
    static ONE: Mutex<()> = Mutex::new(());

    fn nothing_is_found(subject: &[(&str, Make)]) {
        let _one = ONE
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        for (name, _) in subject {
            let progress = tempfile::tempfile().unwrap();
            let task = Work {
                target: (*name).to_owned(),
                seed: 1,
                from: 0,
                executions: 400,
                time: Duration::from_secs(20),
            };
            let (reached, found) = work(&task, &progress, None).unwrap();
            assert!(found.is_empty(), "{found:#?}");
            // The seeds at least are what readers read.
            assert!(reached.accepted > 0, "{name} accepts nothing");
        }
    }

    #[test]
    fn tables() {
        nothing_is_found(super::tables::ALL);
    }

    #[test]
    fn weights() {
        nothing_is_found(super::weights::ALL);
    }

    #[test]
    fn texts() {
        nothing_is_found(super::texts::ALL);
    }

    #[test]
    fn predictors() {
        nothing_is_found(super::predictors::ALL);
    }

    #[test]
    fn models() {
        nothing_is_found(super::models::ALL);
    }

    #[test]
    fn runs() {
        nothing_is_found(super::runs::ALL);
    }

    #[test]
    fn checkpoints() {
        nothing_is_found(super::checkpoints::ALL);
    }

    #[test]
    fn shards() {
        nothing_is_found(super::shards::ALL);
    }

    #[test]
    fn specifications() {
        nothing_is_found(super::specifications::ALL);
    }

    #[test]
    fn service() {
        nothing_is_found(super::service::ALL);
    }
}
