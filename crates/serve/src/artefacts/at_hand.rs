//! What the service asks of its artefacts: that they are at hand, stored, or gone.
//!
//! Without storage the data directory is all there is: nothing is fetched, and nothing is stored
//! elsewhere.

use std::sync::Arc;
use std::time::Duration;

use super::manifest::Manifest;
use super::objects::StorageError;
use super::{Artefacts, FIRST, NewFiles, write_all};
use crate::identifier::Id;
use crate::jobs::Itself;
use crate::jobs::specification::JobSpecification;
use crate::places::{Folder, folders_of, size};
use crate::problem::Problem;
use crate::service::{Service, unhindered};
use crate::store::{Contents, Job, Model, ModelOrigin, Scope};

/// How long a folder is waited for that others read or store.
const TURN: Duration = Duration::from_secs(30);

impl Service {
    /// Does `work` with the artefacts while nobody else changes `folder`, and to its end even where
    /// whoever waits for it goes away; nothing where there is no storage.
    async fn with_artefacts<F>(
        &self,
        folder: &Folder,
        work: impl FnOnce(Arc<Artefacts>, Folder) -> F,
    ) -> Result<(), Problem>
    where
        F: Future<Output = Result<(), Problem>> + Send + 'static,
    {
        let Some(artefacts) = self.artefacts.clone() else {
            return Ok(());
        };
        let id = folder.id().clone();
        let work = work(artefacts.clone(), folder.clone());
        unhindered(async move {
            // Requests for the same folder do not wait one after the other for storage that hangs.
            let turn = tokio::time::timeout(TURN, artefacts.turn(&id)).await;
            let _turn = turn.map_err(|_| {
                let busy = "others read or store the same folder".to_owned();
                Problem::from(StorageError::Away(busy))
            })?;
            work.await
        })
        .await
    }

    /// Has a folder in its place here, in its newest form, before it is read; one whose `known`
    /// version is here is not asked for.
    /// Fails when the storage does not answer.
    pub(crate) async fn at_hand(&self, folder: &Folder, known: Option<u64>) -> Result<(), Problem> {
        let work = move |artefacts: Arc<Artefacts>, folder: Folder| async move {
            artefacts.refresh(&folder, known).await.map(drop)
        };
        self.with_artefacts(folder, work).await
    }

    /// Has the run of `job`, which is at an end, in its place here.
    /// Fails when the storage does not answer.
    pub(crate) async fn run_at_hand(&self, job: &Job) -> Result<(), Problem> {
        let folder = Folder::Run(job.id.clone());
        self.at_hand(&folder, Some(job.lease())).await
    }

    /// Has everything here that a job with this specification reads.
    /// Fails when the storage does not answer.
    pub(crate) async fn read_at_hand(
        &self,
        scope: &Scope,
        asked: &JobSpecification,
    ) -> Result<(), Problem> {
        if self.artefacts.is_none() {
            return Ok(());
        }
        for id in asked.data_sets() {
            self.at_hand(&Folder::Data(id.clone()), None).await?;
        }
        let mut runs: Vec<Id> = asked.runs().to_vec();
        if let Some(id) = asked.model() {
            let model: Model = self.find(scope, id).await?;
            match model.origin {
                ModelOrigin::Uploaded => {
                    let folder = Folder::Model(id.clone());
                    self.at_hand(&folder, Some(FIRST)).await?;
                }
                ModelOrigin::Trained | ModelOrigin::Repaired => runs.push(id.clone()),
            }
        }
        for id in runs {
            let job: Job = self.find(scope, &id).await?;
            self.run_at_hand(&job).await?;
        }
        Ok(())
    }

    /// Stores a folder that is complete here, before the database says that its thing exists.
    /// Fails when the storage does not answer.
    pub(crate) async fn publish(&self, folder: &Folder) -> Result<(), Problem> {
        let work = move |artefacts: Arc<Artefacts>, folder: Folder| async move {
            artefacts.publish(&folder, Some(FIRST)).await
        };
        self.with_artefacts(folder, work).await
    }

    /// Has the run of `job` here as far as it is, and notes that it goes on here, since the job was
    /// taken.
    /// Fails when the storage does not answer.
    pub(crate) async fn under_way(&self, job: &Job) -> Result<(), Problem> {
        let version = job.lease();
        let work = move |artefacts: Arc<Artefacts>, folder: Folder| async move {
            let _lock = artefacts.undisturbed(folder.id()).await?;
            artefacts.refresh(&folder, None).await?;
            let manifest = Manifest {
                version,
                ..Manifest::default()
            };
            artefacts.note(&folder, &manifest).await
        };
        self.with_artefacts(&Folder::Run(job.id.clone()), work)
            .await
    }

    /// Stores the run of `job`, if it went on here since the job was taken: else what is here is no
    /// newer than what is stored.
    /// Fails when the storage does not answer.
    pub(crate) async fn publish_run(&self, job: &Job) -> Result<(), Problem> {
        let version = job.lease();
        let work = move |artefacts: Arc<Artefacts>, folder: Folder| async move {
            let noted = artefacts.noted(&folder).await?;
            if noted.is_none_or(|noted| noted.version != version) {
                return Ok(());
            }
            let _lock = artefacts.undisturbed(folder.id()).await?;
            artefacts.publish(&folder, Some(version)).await
        };
        self.with_artefacts(&Folder::Run(job.id.clone()), work)
            .await
    }

    /// Writes small files of a folder: in the storage, too, where there is one, all of them or
    /// none.
    /// Fails when they cannot be written.
    pub(crate) async fn keep(&self, folder: &Folder, files: NewFiles) -> Result<(), Problem> {
        if self.artefacts.is_none() {
            return self.blocking(move || write_all(files)).await;
        }
        let work = move |artefacts: Arc<Artefacts>, folder: Folder| async move {
            artefacts.keep(&folder, files).await
        };
        self.with_artefacts(folder, work).await
    }

    /// Deletes the files of `contents`, which are gone from the database. What the storage does not
    /// let go now is deleted later.
    /// Fails when the operating system does not let it.
    pub(crate) async fn discard(&self, contents: Contents) -> Result<(), Problem> {
        let folders = folders_of(&contents);
        if let Some(artefacts) = &self.artefacts {
            let (itself, noted) = (Itself::at_upkeep(artefacts), folders.clone());
            // Without a note it is swept away after a day. The fault is in the log.
            let _ = self
                .store(move |store| store.note_removals(itself, &noted))
                .await;
        }
        let places = self.places.clone();
        let removed = self.blocking(move || Ok(places.remove(&contents)?)).await;
        for folder in &folders {
            let work = |artefacts: Arc<Artefacts>, folder: Folder| async move {
                artefacts.remove(&folder).await
            };
            // The fault is in the log.
            let is_removed = self.with_artefacts(folder, work).await.is_ok();
            if let Some(artefacts) = self.artefacts.as_ref().filter(|_| is_removed) {
                self.end_removal(artefacts, folder).await;
            }
        }
        removed
    }

    /// Records that a folder is gone from the storage.
    pub(super) async fn end_removal(&self, artefacts: &Artefacts, folder: &Folder) {
        let (itself, folder) = (Itself::at_upkeep(artefacts), folder.clone());
        // Else it is deleted once more.
        let _ = self
            .store(move |store| store.end_removal(itself, &folder))
            .await;
    }

    /// The number of bytes of `contents`, here or in the storage.
    pub(crate) async fn size_of(&self, contents: Contents) -> Result<u64, Problem> {
        let service = self.clone();
        self.blocking(move || {
            let here = service.places.size_of(&contents)?;
            Ok(match &service.artefacts {
                Some(artefacts) => here + artefacts.elsewhere(&contents)?,
                None => here,
            })
        })
        .await
    }

    /// The number of bytes of everything that is stored.
    pub(crate) async fn size_of_all(&self) -> Result<u64, Problem> {
        if let Some(artefacts) = &self.artefacts {
            return Ok(artefacts.known().bytes.values().sum());
        }
        let root = self.places.root().to_owned();
        self.blocking(move || Ok(size(&root)?)).await
    }
}
