//! The targets, by subject.

mod archives;
mod checkpoints;
mod fixtures;
mod models;
mod predictors;
mod runs;
mod seals;
mod service;
mod shards;
mod specifications;
mod tables;
mod texts;
mod transformers;
mod weights;

use std::path::Path;

use anyhow::Context;

use crate::target::Target;
use fixtures::Make;

/// All targets by subject, in the order in which they are fuzzed.
const ALL: &[&[(&str, Make)]] = &[
    tables::ALL,
    weights::ALL,
    texts::ALL,
    predictors::ALL,
    transformers::ALL,
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

/// Makes the target `name` with its seeds, which are made in `folder`.
///
/// # Errors
/// When there is no such target, or its seeds cannot be made.
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

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::worker::{Work, work};

    /// Memory is counted for the whole process: only one target runs at a time.
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
                time: None,
            };
            let (reached, found) = work(&task, &progress, None).unwrap();
            assert!(found.is_empty(), "{found:#?}");
            // Readers accept the seeds at least.
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
    fn transformers() {
        nothing_is_found(super::transformers::ALL);
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
