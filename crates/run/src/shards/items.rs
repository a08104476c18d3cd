//! Runs of one stage whose items are independent of each other.

use std::ops::Range;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Shard, ShardError, ShardFolder, Stage};
use crate::error::RunError;

/// The stage of such a run.
const STAGE: Stage = "items";

/// A run that does one thing for each of its items, and so can be cut into shards.
pub trait Items {
    /// The result of an item.
    type Item: Serialize + DeserializeOwned;
    /// The reason why an item cannot be done.
    type Error;

    /// Returns the number of all items.
    fn count(&self) -> u64;

    /// Performs `items`, in their order; returns false if it was stopped before their end.
    ///
    /// # Errors
    /// Why one cannot be done.
    fn perform(
        &mut self,
        items: Range<u64>,
        done: &mut dyn FnMut(Self::Item),
    ) -> Result<bool, Self::Error>;
}

/// The result of the work on a shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Worked {
    /// The file of the shard is written; so many items were done.
    Done {
        /// The stage.
        stage: Stage,
        /// The number of items.
        items: u64,
    },
    /// The file of the shard was there already.
    WasThere {
        /// The stage.
        stage: Stage,
    },
    /// The work was stopped; nothing is kept.
    Stopped,
}

/// Performs `shard` of `run` and writes its file to `folder`, unless it is there.
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

/// Returns the results of all items of `run`, in their order.
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
