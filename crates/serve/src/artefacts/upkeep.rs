//! The storage of artefacts over time: whose it is, what is brought there when it is named for the
//! first time, and what is swept away.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::mem;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::manifest::{MANIFEST, plain_files};
use super::objects::{Listed, StorageError};
use super::{Artefacts, ArtefactsError};
use crate::identifier::Id;
use crate::jobs::Itself;
use crate::log;
use crate::moment::Moment;
use crate::places::Folder;
use crate::problem::Problem;
use crate::service::{Service, ServiceError, blocking};
use crate::store::{Contents, DataSet, Job, Model};

/// The key of the object that says whose the artefacts are.
const OWNER: &str = "service.json";

/// How often folders are looked for that are to be deleted, and were not.
const PACE: Duration = Duration::from_secs(60);

/// How often what nobody knows of is looked for.
const SWEEPS: Duration = Duration::from_secs(6 * 3600);

/// The same where other services may store and delete, too: a look tells how much there is.
const SHARED_SWEEPS: Duration = Duration::from_secs(600);

/// The seconds after which what nobody knows of is left over: what is being made right now is in
/// the database long before.
const LEFT_OVER: u64 = 24 * 3600;

/// The service that artefacts belong to.
#[derive(Serialize, Deserialize)]
struct Owner {
    service: Id,
}

/// The objects of a folder, by their names.
type Objects = BTreeMap<String, Listed>;

impl Artefacts {
    fn away(&self, why: String) -> ArtefactsError {
        ArtefactsError::Away {
            address: self.address.clone(),
            why,
        }
    }

    /// Claims the place for the service `id`, that is, for its database and the copies of it.
    /// Fails when the storage does not answer, or another service has claimed it.
    async fn claim(&self, id: &Id) -> Result<(), ArtefactsError> {
        let failed = |error: StorageError| self.away(error.to_string());
        let owner = Owner {
            service: id.clone(),
        };
        let mut found = self.objects.read(OWNER).await.map_err(failed)?;
        if found.is_none() {
            let claim = serde_json::to_vec(&owner);
            let claim = claim.map_err(|error| self.away(error.to_string()))?;
            self.objects.write_new(OWNER, claim).await.map_err(failed)?;
            // Of two that claim it at the same moment one finds the other's claim.
            found = self.objects.read(OWNER).await.map_err(failed)?;
        }
        let found = found.and_then(|bytes| serde_json::from_slice::<Owner>(&bytes).ok());
        if found.is_none_or(|found| found.service != owner.service) {
            return Err(ArtefactsError::Foreign {
                address: self.address.clone(),
            });
        }
        self.known().owner = Some(owner.service);
        Ok(())
    }

    /// Lists all folders with their objects, and keeps in mind how large they are.
    async fn look(&self) -> Result<BTreeMap<Folder, Objects>, StorageError> {
        let before: Vec<Id> = self.known().bytes.keys().cloned().collect();
        let mut folders: BTreeMap<Folder, Objects> = BTreeMap::new();
        for kind in Folder::KINDS {
            for listed in self.objects.list(kind).await? {
                let parts: Vec<&str> = listed.key.split('/').collect();
                // Anything else does not belong to the service.
                let [kind, id, name] = parts.as_slice() else {
                    continue;
                };
                let name = (*name).to_owned();
                if let Some(folder) = id.parse::<Id>().ok().and_then(|id| Folder::of(kind, id)) {
                    folders.entry(folder).or_default().insert(name, listed);
                }
            }
        }
        let found: HashSet<&Id> = folders.keys().map(Folder::id).collect();
        let mut known = self.known();
        // Another service has deleted them.
        for id in before.iter().filter(|id| !found.contains(id)) {
            known.bytes.remove(id);
        }
        for (folder, objects) in &folders {
            let files = objects.iter().filter(|(name, _)| *name != MANIFEST);
            let bytes = files.map(|(_, listed)| listed.bytes).sum();
            known.bytes.insert(folder.id().clone(), bytes);
        }
        drop(known);
        Ok(folders)
    }

    /// The things whose folders are here, as far as that is noted.
    async fn here(&self) -> Result<Vec<Id>, Problem> {
        let notes = self.places.manifests();
        let names = blocking(move || Ok(plain_files(&notes)?)).await?;
        let ids = names.iter().filter_map(|name| name.strip_suffix(".json"));
        Ok(ids.filter_map(|id| id.parse::<Id>().ok()).collect())
    }

    /// Deletes what is here of a thing that is gone.
    async fn forget(&self, id: &Id) -> Result<(), Problem> {
        let _turn = self.turn(id).await;
        let contents = Contents {
            data: vec![id.clone()],
            models: vec![id.clone()],
            ..Contents::of_job(id)
        };
        let places = self.places.clone();
        blocking(move || Ok(places.remove(&contents)?)).await
    }

    /// Deletes the objects of a folder that its manifest does not name, and that are left over: an
    /// upload that was interrupted leaves them, or one that could not delete what it replaced.
    async fn tidy(&self, folder: &Folder) -> Result<(), Problem> {
        let _turn = self.turn(folder.id()).await;
        let Some(manifest) = self.there(folder).await? else {
            return Ok(());
        };
        let named = manifest.objects();
        for listed in self.objects.list(&folder.name()).await? {
            let name = listed.key.rsplit('/').next().unwrap_or_default();
            if name != MANIFEST && !named.contains(name) && is_left_over(&listed) {
                self.objects.delete(&listed.key).await?;
            }
        }
        Ok(())
    }
}

fn is_left_over(listed: &Listed) -> bool {
    listed.written + LEFT_OVER < Moment::now().0
}

/// Whether there are two objects for a file of one name.
fn has_replaced(objects: &Objects) -> bool {
    let names = objects.keys().filter(|name| *name != MANIFEST);
    let names: Vec<&str> = names
        .filter_map(|name| Some(name.rsplit_once('.')?.0))
        .collect();
    let different: HashSet<&&str> = names.iter().collect();
    different.len() < names.len()
}

impl Service {
    /// Opens the storage of artefacts, where there is one, and brings there what the data directory
    /// holds and the storage does not: at the start, before anything is asked.
    ///
    /// # Errors
    /// When the storage does not answer, refuses, or belongs to another service.
    pub(crate) async fn open_artefacts(&self) -> Result<(), ServiceError> {
        let Some(artefacts) = &self.artefacts else {
            return Ok(());
        };
        let failed = |problem: Problem| artefacts.away(problem.detail);
        let id = self.store(|store| store.service()).await.map_err(failed)?;
        artefacts.claim(&id).await?;
        let listed = artefacts.look().await;
        let there = listed.map_err(|error| artefacts.away(error.to_string()))?;
        let known = self.folders_of_all(artefacts).await.map_err(failed)?;
        let is_there = |folder: &Folder| {
            let objects = there.get(folder);
            objects.is_some_and(|objects| objects.contains_key(MANIFEST))
        };
        let mut brought = 0;
        for folder in known.iter().filter(|folder| !is_there(folder)) {
            // Another service may have stored it since the list was made.
            if self.places.path(folder).is_dir() && artefacts.bring(folder).await.map_err(failed)? {
                brought += 1;
            }
        }
        if brought > 0 {
            let address = &artefacts.address;
            log::line(&format_args!("{brought} folders were brought to {address}"));
        }
        Ok(())
    }

    /// The folders of all things that are complete: a run that is not at an end is stored when it
    /// is.
    async fn folders_of_all(&self, artefacts: &Artefacts) -> Result<Vec<Folder>, Problem> {
        let itself = Itself::at_upkeep(artefacts);
        let (data, models, jobs, unfinished) = self
            .store(move |store| {
                Ok((
                    store.all::<DataSet>(itself)?,
                    store.all::<Model>(itself)?,
                    store.all::<Job>(itself)?,
                    store.unfinished_jobs_of_all(itself)?,
                ))
            })
            .await?;
        let unfinished: HashSet<Id> = unfinished.into_iter().map(|job| job.id).collect();
        let jobs = jobs.into_iter().filter(|id| !unfinished.contains(id));
        let data = data.into_iter().map(Folder::Data);
        let models = models.into_iter().map(Folder::Model);
        Ok(data.chain(models).chain(jobs.map(Folder::Run)).collect())
    }

    /// Deletes what the storage did not let go before, and what nobody knows of, every now and then
    /// until `ended`.
    pub(crate) async fn tend_artefacts(&self, mut ended: watch::Receiver<bool>) {
        let Some(artefacts) = self.artefacts.clone() else {
            return;
        };
        let pace = match self.is_shared() {
            true => SHARED_SWEEPS,
            false => SWEEPS,
        };
        let mut swept: Option<Instant> = None;
        loop {
            let itself = Itself::at_upkeep(&artefacts);
            // Of what follows a fault is in the log; the next look tries again.
            let unremoved = self.store(move |store| store.removals(itself)).await;
            for folder in unremoved.unwrap_or_default() {
                let _turn = artefacts.turn(folder.id()).await;
                if artefacts.remove(&folder).await.is_ok() {
                    self.end_removal(&artefacts, &folder).await;
                }
            }
            if swept.is_none_or(|at| at.elapsed() >= pace) {
                let _ = self.sweep_artefacts(&artefacts).await;
                swept = Some(Instant::now());
            }
            tokio::select! {
                () = tokio::time::sleep(PACE) => {}
                _ = ended.changed() => return,
            }
        }
    }

    async fn sweep_artefacts(&self, artefacts: &Artefacts) -> Result<(), Problem> {
        let here = artefacts.here().await?;
        let there = artefacts.look().await?;
        // Asked after the list was made: what was in it and has a row by now is known. A database that
        // is being restored meanwhile does not know everything.
        let itself = Itself::at_upkeep(artefacts);
        let (before, known, after) = self
            .store(move |store| {
                let before = store.service()?;
                let mut known = store.all::<DataSet>(itself)?;
                known.extend(store.all::<Model>(itself)?);
                known.extend(store.all::<Job>(itself)?);
                Ok((before, known, store.service()?))
            })
            .await?;
        let owner = artefacts.known().owner.clone();
        if [before, after]
            .iter()
            .any(|service| owner.as_ref() != Some(service))
        {
            let address = &artefacts.address;
            log::line(&format_args!(
                "the database is another one than that of {address}: nothing is swept away"
            ));
            return Ok(());
        }
        let mut unknown = BTreeSet::new();
        for (folder, objects) in &there {
            let is_known = known.contains(folder.id());
            if is_known && has_replaced(objects) {
                artefacts.tidy(folder).await?;
            }
            if !is_known && objects.values().all(is_left_over) {
                unknown.insert(folder.clone());
            }
        }
        // Only what the look before this one did not know either.
        let before = mem::replace(&mut artefacts.known().unknown, unknown.clone());
        for folder in unknown.intersection(&before) {
            let _turn = artefacts.turn(folder.id()).await;
            artefacts.remove(folder).await?;
            let name = folder.name();
            log::line(&format_args!("{name} was left over, and is deleted"));
        }
        // Another service has deleted it: what is noted here was there before, or has a row.
        let there: HashSet<&Id> = there.keys().map(Folder::id).collect();
        for id in here.iter().filter(|id| !there.contains(id)) {
            if !known.contains(id) {
                artefacts.forget(id).await?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(written: u64) -> Listed {
        Listed {
            key: String::new(),
            bytes: 1,
            written,
        }
    }

    #[test]
    fn only_what_is_old_is_left_over() {
        let now = Moment::now().0;
        assert!(!is_left_over(&listed(now)));
        assert!(!is_left_over(&listed(now - LEFT_OVER / 2)));
        assert!(is_left_over(&listed(now - 2 * LEFT_OVER)));
    }

    #[test]
    fn a_file_that_was_replaced_has_two_objects() {
        let of = |names: &[&str]| -> Objects {
            let named = names.iter().map(|name| ((*name).to_owned(), listed(0)));
            named.collect()
        };
        assert!(!has_replaced(&of(&[
            MANIFEST,
            "data.csv.01",
            "schema.toml.02"
        ])));
        assert!(has_replaced(&of(&[
            MANIFEST,
            "schema.toml.01",
            "schema.toml.02"
        ])));
    }
}
