//! Artefacts in storage that speaks the protocol of Amazon S3, where the operator names one.
//!
//! **What is where.** The objects are the truth, and the data directory is a cache of this machine:
//! whatever is missing in it is fetched before it is read. An artefact is a folder of the data
//! directory ([`Folder`]): that of a data set, of an uploaded model, or of a run. Each file of it is
//! an object `FOLDER/ID/NAME.SHA256`, and `FOLDER/ID/manifest.json` says which of them are the
//! folder ([`manifest`]). So a change of a folder is one write of its manifest: who reads sees the
//! folder before it or after it, and an upload that is interrupted is not seen at all. Everything
//! else that the data directory holds is either the database or made again when it is missing.
//!
//! **When.** A folder is in the storage before the database says that its thing exists: a data set
//! or a model when its upload has been looked at, a schema when it changes, a run when its job ends
//! or is given back (`Service::publish_run`). Meanwhile a run lies on the machine that runs it, which
//! notes that it is under way there (`Service::under_way`); only then is it published. What is
//! deleted goes from the storage once it is gone from the database; what the storage does not let
//! go at that time is kept in mind by the database, and what nobody knows of is swept away later ([`upkeep`]).
//!
//! **What is here** is said by a copy of the manifest, `manifests/ID.json`. It is removed before the
//! folder changes and written after it. The versions of manifests grow: what is here is as good as
//! what is there unless that has a larger version, or the same with another content. The version of
//! a run is the number by which its job was held, which the database knows: so nobody is asked for
//! a run that is here. The same folder is changed by one at a time.
//!
//! **Several services** that share a database share the storage, and each has a data directory of
//! its own. Only the service that holds a job stores its run (`Store::confirm`), and nobody stores a
//! run in place of one that was held by a larger number. A schema that two of them change at the same
//! moment is that of the later one. What each knows of the storage without asking it is as old as
//! its last look ([`upkeep`]).

mod at_hand;
mod connector;
mod manifest;
mod objects;
mod options;
mod upkeep;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub use options::{ArtefactsError, ArtefactsOptions};

use manifest::{MANIFEST, Manifest, Stored, plain_files};
use objects::{Objects, StorageError};

use crate::identifier::Id;
use crate::jobs::run_files::place;
use crate::places::{Folder, Places, folders_of, gone, size};
use crate::problem::Problem;
use crate::service::blocking;
use crate::store::Contents;
use probity_run::run_directory::write_atomically;

/// The number of folders that may change at the same time.
const TURNS: usize = 64;

/// How often a folder is looked up again that changed while it was fetched.
const TRIES: usize = 3;

/// The version of what never changes.
const FIRST: u64 = 1;

/// The artefacts of a service in its storage.
pub(crate) struct Artefacts {
    address: String,
    objects: Objects,
    places: Places,
    turns: [tokio::sync::Mutex<()>; TURNS],
    known: Mutex<Known>,
}

/// What is known of the storage without asking it.
#[derive(Default)]
struct Known {
    /// The numbers of bytes of the folders in the storage.
    bytes: HashMap<Id, u64>,
    /// The database that the artefacts belong to.
    owner: Option<Id>,
    /// The folders that no row knew of when they were last looked for.
    unknown: BTreeSet<Folder>,
    /// The versions of runs for which nothing newer is in the storage than here.
    asked: HashMap<Id, u64>,
}

impl Artefacts {
    /// Makes the artefacts of a service with the data directory `places`; asks nothing yet.
    ///
    /// # Errors
    /// When the options or the environment are wrong.
    pub fn new(options: &ArtefactsOptions, places: &Places) -> Result<Artefacts, ArtefactsError> {
        Ok(Artefacts {
            address: options.address.clone(),
            objects: Objects::new(options)?,
            places: places.clone(),
            turns: std::array::from_fn(|_| tokio::sync::Mutex::default()),
            known: Mutex::default(),
        })
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until nobody else changes the folder of `id`.
    async fn turn(&self, id: &Id) -> tokio::sync::MutexGuard<'_, ()> {
        let digits = id.as_str().get(..2).unwrap_or_default();
        let number = usize::from_str_radix(digits, 16).unwrap_or_default();
        self.turns[number % TURNS].lock().await
    }

    /// Waits for a process of the job `id` that a service left here which was killed, and may still
    /// write into its run; none begins while the result is held.
    async fn undisturbed(&self, id: &Id) -> Result<File, Problem> {
        let file = self.places.lock(id);
        blocking(move || {
            let lock = File::create(file)?;
            lock.lock()?;
            Ok(lock)
        })
        .await
    }

    /// The copy of the manifest of a folder, whatever became of the folder.
    async fn noted(&self, folder: &Folder) -> Result<Option<Manifest>, Problem> {
        let file = self.places.manifest(folder.id());
        blocking(move || Ok(Manifest::read(&file))).await
    }

    async fn note(&self, folder: &Folder, manifest: &Manifest) -> Result<(), Problem> {
        let (file, manifest) = (self.places.manifest(folder.id()), manifest.clone());
        blocking(move || manifest.write(&file)).await
    }

    /// The manifest of a folder in the storage.
    async fn there(&self, folder: &Folder) -> Result<Option<Manifest>, Problem> {
        let key = format!("{}/{MANIFEST}", folder.name());
        let Some(bytes) = self.objects.read(&key).await? else {
            self.known().bytes.remove(folder.id());
            return Ok(None);
        };
        let Some(manifest) = Manifest::parse(&bytes) else {
            return Err(StorageError::Damaged(key).into());
        };
        let bytes = manifest.bytes();
        self.known().bytes.insert(folder.id().clone(), bytes);
        Ok(Some(manifest))
    }

    /// Fetches a folder where what is here is missing or older, and returns its manifest in the
    /// storage, if it has one. What has the `known` version here is not asked for.
    async fn refresh(
        &self,
        folder: &Folder,
        known: Option<u64>,
    ) -> Result<Option<Manifest>, Problem> {
        let path = self.places.path(folder);
        let noted = self.noted(folder).await?;
        let looked = blocking(move || Ok(noted.filter(|noted| noted.is_in(&path))));
        let here = looked.await?;
        if let (Some(here), Some(known)) = (&here, known) {
            let asked = self.known().asked.get(folder.id()).copied();
            // A run that was under way here may have come to its end elsewhere.
            let is_whole = here.version == known && !here.files.is_empty();
            if is_whole || asked == Some(known) {
                return Ok(Some(here.clone()));
            }
        }
        for _ in 0..TRIES {
            let there = self.there(folder).await?;
            let newer = there.as_ref().filter(|there| match &here {
                Some(here) => there.version >= here.version && *there != here,
                None => true,
            });
            let fetched = match newer {
                Some(newer) => self.fetch(folder, newer).await,
                None => Ok(()),
            };
            match fetched {
                Ok(()) => {
                    if let Some(known) = known {
                        self.known().asked.insert(folder.id().clone(), known);
                    }
                    return Ok(there);
                }
                // It changed meanwhile, or was deleted.
                Err(FetchError::Storage(StorageError::Missing(_))) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(StorageError::Damaged(folder.name()).into())
    }

    /// Makes the folder here what `manifest` says. What is here already is not fetched.
    async fn fetch(&self, folder: &Folder, manifest: &Manifest) -> Result<(), FetchError> {
        let path = self.places.path(folder);
        let (wanted, at) = (manifest.clone(), path.clone());
        let lacks = blocking(move || {
            let here = Manifest::of_folder(&at, wanted.version)?;
            let files = wanted.files.into_iter();
            let lacks = files.filter(|(name, stored)| here.files.get(name) != Some(stored));
            Ok(lacks.collect::<Vec<_>>())
        });
        let mut came = Vec::new();
        for (name, stored) in lacks.await? {
            let places = self.places.clone();
            let file = blocking(move || Ok(places.temporary("fetch-")?)).await?;
            let key = format!("{}/{}", folder.name(), stored.object(&name));
            came.push((name, self.objects.fetch(&key, &stored, file).await?));
        }
        // First the last file of a run, which marks it as unfinished.
        came.sort_by_key(|(name, _)| std::cmp::Reverse(place(name)));
        let (manifest, note) = (manifest.clone(), self.places.manifest(folder.id()));
        let (places, id) = (self.places.clone(), folder.id().clone());
        let put = blocking(move || {
            gone(fs::remove_file(&note))?;
            // Those on an older form of a run.
            places.remove_reports(&id)?;
            fs::create_dir_all(&path)?;
            for (name, file) in came {
                file.persist(path.join(name)).map_err(|error| error.error)?;
            }
            for name in plain_files(&path)? {
                if !manifest.files.contains_key(&name) {
                    gone(fs::remove_file(path.join(name)))?;
                }
            }
            manifest.write(&note)
        });
        Ok(put.await?)
    }

    /// Stores the folder as it is here, with a version: without one, with that after the version
    /// that is stored. A folder without files stores nothing, nor does one that is stored with a
    /// larger version.
    async fn publish(&self, folder: &Folder, version: Option<u64>) -> Result<(), Problem> {
        let path = self.places.path(folder);
        let there = self.there(folder).await?;
        let version = version.unwrap_or_else(|| match &there {
            Some(there) => there.version + 1,
            None => FIRST,
        });
        let of = path.clone();
        let manifest = blocking(move || Manifest::of_folder(&of, version)).await?;
        if manifest.files.is_empty() {
            return Ok(());
        }
        for (name, stored) in lacking(&manifest, there.as_ref()) {
            let key = format!("{}/{}", folder.name(), stored.object(name));
            self.objects.send(&key, path.join(name), stored).await?;
        }
        // That may have taken long, and another service have taken the job up meanwhile.
        let before = self.there(folder).await?;
        if before.as_ref().is_some_and(|it| it.version > version) {
            return Ok(());
        }
        self.announce(folder, &manifest).await?;
        self.note(folder, &manifest).await
    }

    /// Stores the folder as it is here, if nobody has stored it; returns whether it was.
    async fn bring(&self, folder: &Folder) -> Result<bool, Problem> {
        let is_missing = self.there(folder).await?.is_none();
        if is_missing {
            self.publish(folder, None).await?;
        }
        Ok(is_missing)
    }

    /// Writes the manifest of a folder whose files are all in the storage. What it no longer names stays
    /// for a while ([`upkeep`]): another service may be about to name it.
    async fn announce(&self, folder: &Folder, manifest: &Manifest) -> Result<(), Problem> {
        let key = format!("{}/{MANIFEST}", folder.name());
        self.objects.write(&key, manifest.to_bytes()?).await?;
        let bytes = manifest.bytes();
        self.known().bytes.insert(folder.id().clone(), bytes);
        Ok(())
    }

    /// Writes small files of a folder, here and in the storage: all of them or none.
    async fn keep(&self, folder: &Folder, files: NewFiles) -> Result<(), Problem> {
        let Some(before) = self.refresh(folder, None).await? else {
            // Somebody has emptied the storage.
            blocking(move || write_all(files)).await?;
            return self.publish(folder, None).await;
        };
        let mut manifest = before;
        manifest.version += 1;
        for (path, content) in &files {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let stored = Stored::of(content)?;
            let key = format!("{}/{}", folder.name(), stored.object(&name));
            self.objects.write(&key, content.clone()).await?;
            manifest.files.insert(name.into_owned(), stored);
        }
        self.announce(folder, &manifest).await?;
        let note = self.places.manifest(folder.id());
        blocking(move || {
            gone(fs::remove_file(&note))?;
            write_all(files)?;
            manifest.write(&note)
        })
        .await
    }

    /// Deletes the objects of a folder, its manifest first, and what is here of it.
    async fn remove(&self, folder: &Folder) -> Result<(), Problem> {
        let name = folder.name();
        self.objects.delete(&format!("{name}/{MANIFEST}")).await?;
        for object in self.objects.list(&name).await? {
            self.objects.delete(&object.key).await?;
        }
        // Somebody may have fetched it meanwhile.
        let (path, note) = (self.places.path(folder), self.places.manifest(folder.id()));
        blocking(move || {
            gone(fs::remove_dir_all(path))?;
            Ok(gone(fs::remove_file(note))?)
        })
        .await?;
        let mut known = self.known();
        known.bytes.remove(folder.id());
        known.asked.remove(folder.id());
        Ok(())
    }

    /// The number of bytes of the folders of `contents` that are in the storage, and not here.
    fn elsewhere(&self, contents: &Contents) -> Result<u64, Problem> {
        let mut bytes = 0;
        for folder in folders_of(contents) {
            let there = self.known().bytes.get(folder.id()).copied();
            if let Some(there) = there {
                bytes += there.saturating_sub(size(&self.places.path(&folder))?);
            }
        }
        Ok(bytes)
    }
}

/// Files with their new content.
type NewFiles = Vec<(PathBuf, Vec<u8>)>;

fn write_all(files: NewFiles) -> Result<(), Problem> {
    for (path, content) in files {
        write_atomically(&path, &content)?;
    }
    Ok(())
}

/// The files of `manifest` that are not `there`.
fn lacking<'m>(
    manifest: &'m Manifest,
    there: Option<&'m Manifest>,
) -> BTreeMap<&'m String, &'m Stored> {
    let is_there = |name: &String, stored: &Stored| {
        there.is_some_and(|there| there.files.get(name) == Some(stored))
    };
    let files = manifest.files.iter();
    files
        .filter(|(name, stored)| !is_there(name, stored))
        .collect()
}

/// The reason why a folder was not fetched.
enum FetchError {
    Storage(StorageError),
    Here(Problem),
}

impl From<StorageError> for FetchError {
    fn from(error: StorageError) -> FetchError {
        FetchError::Storage(error)
    }
}

impl From<Problem> for FetchError {
    fn from(problem: Problem) -> FetchError {
        FetchError::Here(problem)
    }
}

impl From<FetchError> for Problem {
    fn from(error: FetchError) -> Problem {
        match error {
            FetchError::Storage(error) => error.into(),
            FetchError::Here(problem) => problem,
        }
    }
}
