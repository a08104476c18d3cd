//! The services of a database: each says that it runs, and which jobs it holds.
//!
//! A service that runs counts up a number in its row every now and then; the others see by it that
//! the service lives, and by a clock of their own that it does not ([`crate::jobs`]). Moments of
//! different machines are never compared. A job that runs has the identifier of the service that
//! holds it, or that knows the worker that does, and none once that service is gone: then any
//! other may take it up.

use super::job::unfinished;
use super::{Count, InJson, Job, JobState, Store, StoreError, Transaction, params};
use crate::identifier::Id;
use crate::jobs::Itself;
use crate::jobs::progress::Progress;
use crate::places::Folder;

/// What a service sees around it.
#[derive(Debug, Clone)]
pub(crate) struct Around {
    /// The other services, with their numbers.
    pub others: Vec<(Id, u64)>,
    /// The jobs of all projects that are not at an end.
    pub jobs: Vec<Job>,
}

/// The states of a job that somebody holds.
const HELD: [JobState; 2] = [JobState::Running, JobState::Stopping];

/// Takes the jobs of a service that is gone away from it.
fn abandon(transaction: &Transaction<'_>, instance: &Id) -> Result<(), StoreError> {
    transaction.execute(
        "UPDATE jobs SET instance = NULL WHERE instance = ?",
        params![instance],
    )?;
    Ok(())
}

impl Store {
    /// Whether this service holds `job`, as the database said.
    pub(crate) fn holds(&self, job: &Job) -> bool {
        HELD.contains(&job.state) && job.instance.as_ref() == Some(&self.instance)
    }

    /// Records that this service begins. Where it is the only one of the database, those before it
    /// are gone, and nobody holds their jobs.
    pub(crate) fn begin(&self, _: Itself) -> Result<(), StoreError> {
        self.write(|transaction| {
            if !self.is_shared() {
                transaction.execute("DELETE FROM instances", &[])?;
                transaction.execute("UPDATE jobs SET instance = NULL", &[])?;
            }
            self.count(transaction)
        })
    }

    /// Records that this service ends: others may take up the jobs that it leaves at workers.
    pub(crate) fn end(&self, _: Itself) -> Result<(), StoreError> {
        self.write(|transaction| {
            let own = params![self.instance];
            transaction.execute("DELETE FROM instances WHERE id = ?", own)?;
            abandon(transaction, &self.instance)
        })
    }

    /// Where the services of this database keep their files: the address of a bucket, or nothing for a
    /// data directory; none where that is not known yet.
    pub(crate) fn files_at(&self, _: Itself) -> Result<Option<String>, StoreError> {
        let question = "SELECT files FROM service";
        let found = self
            .read(|connection| connection.row(question, &[], |row| row.get::<Option<String>>(0)))?;
        Ok(found.flatten())
    }

    /// Records where they keep them `now`, if that is where they did `before`; returns whether it is.
    pub(crate) fn keep_files_at(
        &self,
        _: Itself,
        now: &str,
        before: Option<&str>,
    ) -> Result<bool, StoreError> {
        self.write(|transaction| {
            let changed = transaction.execute(
                "UPDATE service SET files = ? WHERE files IS NOT DISTINCT FROM ?",
                params![now, before],
            )?;
            Ok(changed == 1)
        })
    }

    /// The services that say they run, with their numbers.
    pub(crate) fn all_instances(&self, _: Itself) -> Result<Vec<(Id, u64)>, StoreError> {
        self.read(|connection| {
            connection.rows("SELECT id, beats FROM instances ORDER BY id", &[], |row| {
                Ok((row.get(0)?, row.get::<Count>(1)?.0))
            })
        })
    }

    /// Records that `folders` are to be deleted from the storage of artefacts, whichever service does it.
    pub(crate) fn note_removals(&self, _: Itself, folders: &[Folder]) -> Result<(), StoreError> {
        self.write(|transaction| {
            for folder in folders {
                transaction.execute(
                    "INSERT INTO removals (folder) VALUES (?) ON CONFLICT (folder) DO NOTHING",
                    params![folder.name()],
                )?;
            }
            Ok(())
        })
    }

    /// Records that a folder is deleted from there.
    pub(crate) fn end_removal(&self, _: Itself, folder: &Folder) -> Result<(), StoreError> {
        self.write(|transaction| {
            let name = folder.name();
            transaction.execute("DELETE FROM removals WHERE folder = ?", params![name])?;
            Ok(())
        })
    }

    /// The folders that are still to be deleted.
    pub(crate) fn removals(&self, _: Itself) -> Result<Vec<Folder>, StoreError> {
        let names: Vec<String> = self.read(|connection| {
            connection.rows("SELECT folder FROM removals ORDER BY folder", &[], |row| {
                row.get(0)
            })
        })?;
        Ok(names
            .iter()
            .filter_map(|name| Folder::named(name))
            .collect())
    }

    /// Says that this service runs. Whoever takes a job says so: the others hear of every holder.
    pub(super) fn count(&self, transaction: &Transaction<'_>) -> Result<(), StoreError> {
        transaction.execute(
            "INSERT INTO instances (id, beats) VALUES (?, 1)
             ON CONFLICT (id) DO UPDATE SET beats = instances.beats + 1",
            params![self.instance],
        )?;
        Ok(())
    }

    /// Records that this service still runs, and what the `progress` of jobs is that it holds, and
    /// looks around.
    pub(crate) fn look_around(
        &self,
        _: Itself,
        progress: &[(Job, Progress)],
    ) -> Result<Around, StoreError> {
        self.write(|transaction| {
            self.count(transaction)?;
            for (job, progress) in progress {
                transaction.execute(
                    "UPDATE jobs SET progress = ? WHERE id = ? AND turn = ? AND instance = ?",
                    params![InJson(progress), job.id, Count(job.turn), self.instance],
                )?;
            }
            let others = transaction.rows(
                "SELECT id, beats FROM instances WHERE id <> ?",
                params![self.instance],
                |row| Ok((row.get(0)?, row.get::<Count>(1)?.0)),
            )?;
            let jobs = unfinished(transaction, None)?;
            Ok(Around { others, jobs })
        })
    }

    /// Records that this service still runs, and returns whether it holds `job`: no other one takes
    /// the job for the time that a service may be silent.
    pub(crate) fn confirm(&self, _: Itself, job: &Job) -> Result<bool, StoreError> {
        if !self.is_shared() {
            return Ok(true);
        }
        self.write(|transaction| {
            self.count(transaction)?;
            let now = super::select::<Job>(transaction, "id = ?", params![job.id])?;
            let is_same = |now: &Job| now.lease() == job.lease() && self.holds(now);
            Ok(now.first().is_some_and(is_same))
        })
    }

    /// Records that another service is gone, if its number is still `beats`; returns whether it is.
    pub(crate) fn bury(&self, _: Itself, other: &Id, beats: u64) -> Result<bool, StoreError> {
        self.write(|transaction| {
            let gone = transaction.execute(
                "DELETE FROM instances WHERE id = ? AND beats = ?",
                params![other, Count(beats)],
            )?;
            if gone == 1 {
                abandon(transaction, other)?;
            }
            Ok(gone == 1)
        })
    }

    /// Takes up a job that nobody holds any more, or that the worker holds which turned to this
    /// service (`from`); returns whether it is this service's now.
    pub(crate) fn take_up(
        &self,
        _: Itself,
        job: &Job,
        from: Option<&Id>,
    ) -> Result<bool, StoreError> {
        let [running, stopping] = HELD.map(InJson);
        self.write(|transaction| {
            self.count(transaction)?;
            let taken = transaction.execute(
                "UPDATE jobs SET instance = ?1
                 WHERE id = ?2 AND turn = ?3 AND state IN (?4, ?5)
                 AND (instance IS NULL OR worker = ?6)",
                params![
                    self.instance,
                    job.id,
                    Count(job.turn),
                    running,
                    stopping,
                    from
                ],
            )?;
            Ok(taken == 1)
        })
    }

    /// Returns the job `id` that the worker with the token `worker` holds by the number `lease`, as
    /// the database says.
    pub(crate) fn held_at(
        &self,
        _: Itself,
        worker: &Id,
        id: &Id,
        lease: u64,
    ) -> Result<Option<Job>, StoreError> {
        let [running, stopping] = HELD.map(InJson);
        let condition = "id = ? AND worker = ? AND turn = ? AND state IN (?, ?)";
        let values = params![id, worker, Count(lease), running, stopping];
        let found = self.read(|connection| super::select(connection, condition, values))?;
        Ok(found.into_iter().next())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::specification::JobSpecification;
    use crate::moment::Moment;
    use crate::store::tests::{Server, each_store};
    use crate::store::{
        Added, Administer, Bounds, Caller, Change, Changed, NewJob, Permission, Quotas, Role,
    };

    const BOUNDS: Bounds = Bounds {
        queue: 10,
        of_a_project: 10,
    };

    /// A job of a project of its own, which reads nothing that could be missing.
    fn with_a_job(store: &Store) -> Id {
        let administer = Administer::at_the_machine();
        let made = store.create_project(&administer, "lending", Quotas::default());
        let Changed::Done(project) = made.unwrap() else {
            panic!("it is the first of its name");
        };
        let token = Id::random().unwrap();
        let caller = Caller::new(token.clone(), Role::Editor, Some(project.id));
        let change = Change::grant(&caller).unwrap();
        let data = crate::store::DataSet {
            id: Id::random().unwrap(),
            owner: token,
            label: "people".to_owned(),
            kind: crate::store::DataKind::Table,
            form: crate::store::FileForm::Csv,
            bytes: 1,
            created: Moment::now(),
            sketch: crate::store::Sketch {
                layout: crate::store::Layout::default(),
                rows: 1,
                columns: Vec::new(),
                first_rows: vec![vec!["a\0b".to_owned()]],
            },
            has_schema: true,
        };
        store.add_data_set(&change, &data).unwrap();
        let asked = serde_json::json!({
            "kind": "train", "modality": "table", "data": data.id, "network": {"hidden": [8]},
            "training": {"epochs": 3}
        });
        let new = NewJob {
            label: "a\0b".to_owned(),
            specification: JobSpecification::try_from(asked).unwrap(),
        };
        match store.add_job(&change, &new, BOUNDS).unwrap() {
            Added::Waits(job) => job.id,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_to_be_deleted_is_kept_in_mind() {
        each_store(|store| {
            let itself = Itself::in_tests();
            let ids = ["0123456789abcdef", "fedcba9876543210"].map(|id| id.parse::<Id>().unwrap());
            let [one, other] = ids;
            let folders = [Folder::Data(one), Folder::Run(other)];
            for _ in 0..2 {
                store.note_removals(itself, &folders).unwrap();
            }
            assert_eq!(store.removals(itself).unwrap(), folders);
            store.end_removal(itself, &folders[0]).unwrap();
            assert_eq!(store.removals(itself).unwrap(), folders[1..]);
        });
    }

    #[test]
    fn of_several_services_one_takes_and_ends_a_job() {
        let Some(server) = Server::start_or_skip() else {
            return;
        };
        let itself = Itself::in_tests();
        let [one, two] = [(); 2].map(|()| Store::connect(&server.options()).unwrap());
        assert_eq!(one.service().unwrap(), two.service().unwrap());
        for store in [&one, &two] {
            store.begin(itself).unwrap();
        }
        let id = with_a_job(&one);
        let job = two.claim_job(itself, None).unwrap().unwrap();
        assert_eq!(job.id, id);
        assert!(one.claim_job(itself, None).unwrap().is_none());
        assert!(two.holds(&job) && !one.holds(&job));
        let done = |store: &Store, job: &Job| {
            let written = store.end_job(itself, job, JobState::Done, None, 1.0);
            written.unwrap()
        };
        assert!(!done(&one, &job));
        assert!(!one.take_up(itself, &job, None).unwrap());

        let progress = Progress {
            phase: "global".to_owned(),
            ..Progress::default()
        };
        let told = [(job.clone(), progress.clone())];
        one.look_around(itself, &told).unwrap();
        assert_eq!(one.look_around(itself, &[]).unwrap().jobs[0].progress, None);
        let jobs = two.look_around(itself, &told).unwrap().jobs;
        assert_eq!(jobs[0].progress, Some(progress));
        assert!(two.confirm(itself, &job).unwrap() && !one.confirm(itself, &job).unwrap());

        // The other one is gone, once, and only if it has not been heard of meanwhile.
        let seen = one.look_around(itself, &[]).unwrap().others;
        two.look_around(itself, &[]).unwrap();
        assert!(!one.bury(itself, &seen[0].0, seen[0].1).unwrap());
        let seen = one.look_around(itself, &[]).unwrap().others;
        assert!(one.bury(itself, &seen[0].0, seen[0].1).unwrap());
        assert!(!one.bury(itself, &seen[0].0, seen[0].1).unwrap());
        assert!(!done(&two, &job) && !two.confirm(itself, &job).unwrap());
        assert!(one.take_up(itself, &job, None).unwrap());
        assert!(!two.take_up(itself, &job, None).unwrap());
        assert!(!two.requeue_job(itself, &job, 1.0, true).unwrap());
        assert!(one.requeue_job(itself, &job, 1.0, true).unwrap());

        // A worker turns to the other service.
        let worker = Id::random().unwrap();
        let job = one.claim_job(itself, Some(&worker)).unwrap().unwrap();
        assert_eq!((job.seconds, job.attempts), (1.0, 2));
        assert_eq!(job.progress, None);
        let found = two.held_at(itself, &worker, &id, job.lease()).unwrap();
        assert_eq!(found.as_ref(), Some(&job));
        assert!(
            two.held_at(itself, &worker, &id, job.lease() - 1)
                .unwrap()
                .is_none()
        );
        let stranger = Id::random().unwrap();
        assert!(!two.take_up(itself, &job, Some(&stranger)).unwrap());
        // It was taken for gone meanwhile, and is heard of again.
        let seen = one.look_around(itself, &[]).unwrap().others;
        assert!(one.bury(itself, &seen[0].0, seen[0].1).unwrap());
        assert!(two.take_up(itself, &job, Some(&worker)).unwrap());
        assert_eq!(one.look_around(itself, &[]).unwrap().others.len(), 1);
        assert!(!done(&one, &job));
        assert!(done(&two, &job));
        assert!(!done(&two, &job));

        one.end(itself).unwrap();
        let around = two.look_around(itself, &[]).unwrap();
        assert!(around.others.is_empty() && around.jobs.is_empty());
    }

    #[test]
    fn the_only_service_finds_the_jobs_of_those_before_it() {
        let folder = tempfile::tempdir().unwrap();
        let itself = Itself::in_tests();
        let one = Store::open(folder.path()).unwrap();
        one.begin(itself).unwrap();
        with_a_job(&one);
        one.claim_job(itself, None).unwrap();
        drop(one);
        let two = Store::open(folder.path()).unwrap();
        two.begin(itself).unwrap();
        let around = two.look_around(itself, &[]).unwrap();
        assert!(around.others.is_empty());
        assert_eq!(around.jobs[0].instance, None);
        assert!(two.take_up(itself, &around.jobs[0], None).unwrap());
    }

    #[test]
    fn lists_select_alike_in_both_databases() {
        each_store(|store| {
            let id = with_a_job(store);
            let job = store.unfinished_jobs_of_all(Itself::in_tests()).unwrap();
            let scope = job[0].scope(Itself::in_tests());
            let named = |name: &str| {
                let which = crate::store::WhichJobs {
                    which: crate::store::Which {
                        name: name.to_owned(),
                        by: String::new(),
                    },
                    ..crate::store::WhichJobs::default()
                };
                let found: Vec<Job> = store.list(&scope, &which, None, 5).unwrap();
                found.into_iter().map(|job| job.id).collect::<Vec<_>>()
            };
            assert_eq!(named("A"), std::slice::from_ref(&id));
            assert_eq!(named("c"), []);
            let of_a_model = crate::store::WhichJobs {
                model: Some(id.clone()),
                ..crate::store::WhichJobs::default()
            };
            let found: Vec<Job> = store.list(&scope, &of_a_model, None, 5).unwrap();
            assert!(found.is_empty());
            assert_eq!(store.contents(&scope).unwrap().jobs, [id]);
        });
    }
}
