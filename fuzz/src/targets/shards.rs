//! Shards whose seals are computed again: whatever a shard says, its merge, or the shard that
//! begins at it, ends or refuses.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use probity_fairness::audit::{Audit, AuditError};
use probity_fairness::modality::TableCase;
use probity_fairness::session::AuditProgress;
use probity_run::run_directory::RunDirectory;
use probity_run::shards::Shard;
use probity_tensor::device::ComputeDevice;

use super::checkpoints::{checked, people};
use super::fixtures::Make;
use super::seals::seal;
use crate::target::{Execution, Input, Seen, Target};

pub const ALL: &[(&str, Make)] = &[("shards-audit", audit)];

/// The files of a folder, by name.
type Files = BTreeMap<String, Vec<u8>>;

fn files_of(folder: &Path) -> anyhow::Result<Files> {
    let mut files = Files::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        files.insert(name, std::fs::read(entry.path())?);
    }
    Ok(files)
}

fn audit(folder: &Path) -> anyhow::Result<Target> {
    let audit =
        Audit::<TableCase<'static>>::open(checked(people(folder)?)?, &ComputeDevice::flex())?;
    let go_on = &mut |_: AuditProgress<'_>| ControlFlow::Continue(());
    let place = folder.join("shards");
    let shards = audit.shard_folder(&place)?;
    let (first, second) = (Shard::new(1, 2)?, Shard::new(2, 2)?);
    audit.work(&shards, first, go_on)?;
    audit.work(&shards, second, go_on)?;
    let global = files_of(&place)?;
    let run = || RunDirectory::create(&folder.join("run")).map_err(AuditError::from);
    audit.merge(&shards, run, go_on)?;
    let between = files_of(&place)?;
    audit.work(&shards, first, go_on)?;
    audit.work(&shards, second, go_on)?;
    let all = files_of(&place)?;

    // Each file at the stage where it is read, with the rest of the folder as it is by then.
    let mut seeds = Vec::new();
    let mut stages = BTreeMap::new();
    for (stage, files, named) in [
        ("global", global, "global-1-of-2.shard"),
        ("starts", between, "starts.merged"),
        ("local", all, "local-2-of-2.shard"),
    ] {
        seeds.push(Input::one(stage, files[named].clone()));
        stages.insert(stage.to_owned(), (files, named));
    }
    let check = move |execution: &Execution<'_>| {
        let failed = |error: &dyn std::fmt::Display| error.to_string();
        let [(stage, content)] = &execution.input.files[..] else {
            return Ok(Seen::Refused);
        };
        let (files, named) = stages.get(stage).ok_or("a file of no name")?;
        let place = execution.folder.join("shards");
        std::fs::create_dir_all(&place).map_err(|error| failed(&error))?;
        for (name, own) in files {
            let content = if name == named { content } else { own };
            std::fs::write(place.join(name), content).map_err(|error| failed(&error))?;
        }
        let shards = audit.shard_folder(&place).map_err(|error| failed(&error))?;
        let go_on = &mut |_: AuditProgress<'_>| ControlFlow::Continue(());
        let is_done = match stage.as_str() {
            "starts" => audit.work(&shards, first, go_on).is_ok(),
            _ => {
                let make = || RunDirectory::create(&execution.folder.join("run"));
                let merged = audit.merge(&shards, || make().map_err(AuditError::from), go_on);
                merged.is_ok()
            }
        };
        Ok(match is_done {
            true => Seen::Accepted,
            false => Seen::Refused,
        })
    };
    // A merge takes memory for its work, whatever a shard says.
    Ok(Target::new("shards-audit", seeds, check)
        .sealed_by(seal)
        .memory(1024, 64 << 20))
}
