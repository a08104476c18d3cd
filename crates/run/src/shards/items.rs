//! Runs of one stage whose items have nothing to do with each other.

use std::ops::Range;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Shard, ShardError, ShardFolder, Stage};
use crate::error::RunError;

/// The stage of such a run.
const STAGE: Stage = "items";

/// A run that does one thing for each of its items: what a shard of it does.
pub trait Items {
    /// What comes of an item.
    type Item: Serialize + DeserializeOwned;
    /// Why an item cannot be done.
    type Error;

    /// Items in all.
    fn count(&self) -> u64;

    /// Does `items`, in their order; whether it was not stopped before their end.
    ///
    /// # Errors
    /// Why one cannot be done.
    fn perform(
        &mut self,
        items: Range<u64>,
        done: &mut dyn FnMut(Self::Item),
    ) -> Result<bool, Self::Error>;
}

/// What became of a shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Worked {
    /// Its file is written; so many items were done.
    Done {
        /// The stage.
        stage: Stage,
        /// Items.
        items: u64,
    },
    /// Its file was there already.
    WasThere {
        /// The stage.
        stage: Stage,
    },
    /// It was stopped; nothing is kept.
    Stopped,
}

/// Does `shard` of `run` and writes its file to `folder`, unless it is there.
///
/// # Errors
/// Why an item cannot be done, or the file not be written.
pub fn work<R, E>(run: &mut R, folder: &ShardFolder, shard: Shard) -> Result<Worked, E>
where
    R: Items,
    E: From<ShardError> + From<R::Error>,
{
    if folder.done(STAGE, shard)?.is_some() {
        return Ok(Worked::WasThere { stage: STAGE });
    }
    let mut outcomes = Vec::new();
    let items = shard.items(run.count());
    if !run.perform(items, &mut |outcome| outcomes.push(outcome))? {
        return Ok(Worked::Stopped);
    }
    let count = outcomes.len() as u64;
    folder.write(STAGE, shard, &count, |writer| writer.section(outcomes))?;
    Ok(Worked::Done {
        stage: STAGE,
        items: count,
    })
}

/// What came of all items of `run`, in their order.
///
/// # Errors
/// When shards are missing or not of this run; while reading, when one holds something else.
pub fn merged<R: Items>(
    run: &R,
    folder: &ShardFolder,
) -> Result<impl Iterator<Item = Result<R::Item, RunError>> + use<R>, ShardError> {
    let shards = folder.all(STAGE)?;
    let (all, of) = (run.count(), shards.len() as u32);
    for (number, file) in (1..).zip(&shards) {
        let items = Shard::new(number, of)?.items(all);
        if file.head::<u64>()? != items.end - items.start {
            return Err(file.refuse("it has not as many items as its shard").into());
        }
    }
    Ok(shards
        .into_iter()
        .flat_map(|file| file.section::<R::Item>(0)))
}
