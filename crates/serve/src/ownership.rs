//! Whose a data directory is.
//!
//! What a database does not know of is removed from a data directory when its service begins. A
//! database in the data directory is that of its files; one of a server may be any other's. So its
//! services leave their database's identifier in the file `service.json`, and begin in no data
//! directory that is another's. Where the services of a database keep their files in a data directory,
//! there is one, which they share; else they are in one bucket. The database says where, and a service
//! that begins with another place is refused, before it is asked for files that are not there, while
//! one of the others runs.

use std::io;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::identifier::Id;
use super::jobs::Itself;
use super::places::Places;
use super::service::ServiceError;
use super::store::{DATABASE, Store};
use probity_run::run_directory::write_atomically;

/// The file that says whose a data directory is.
const OWNER: &str = "service.json";

/// How long is looked whether another service counts, which it does every second.
const LOOK: Duration = Duration::from_secs(3);

/// The services that a data directory belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Owner {
    /// The identifier of their database.
    service: Id,
    /// Whether it is a cache of one of them, and what counts lies in a bucket.
    is_cache: bool,
}

/// Sees to it that the data directory `places` is one of the services of `database`: as a cache, where
/// their files lie in `bucket`, or for all of them.
/// Fails when it is another's, or the services of the database keep their files elsewhere.
pub fn own(
    places: &Places,
    database: &Store,
    itself: Itself,
    bucket: Option<&str>,
) -> Result<(), ServiceError> {
    let directory = || places.root().to_owned();
    let failed = |source| ServiceError::DataDirectory {
        directory: directory(),
        source,
    };
    let file = places.root().join(OWNER);
    let found = match std::fs::read(&file) {
        Ok(bytes) => Some(serde_json::from_slice::<Owner>(&bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(failed(error)),
    };
    let found = found.transpose().map_err(|error| failed(error.into()))?;
    let owner = Owner {
        service: database.service()?,
        is_cache: bucket.is_some(),
    };
    let is_anothers = match &found {
        Some(found) => found.service != owner.service,
        None => database.is_shared() && places.root().join(DATABASE).exists(),
    };
    if is_anothers {
        return Err(ServiceError::Foreign {
            directory: directory(),
        });
    }
    if !database.is_shared() {
        return Ok(());
    }
    let is_new = keep_files(database, itself, bucket)?;
    if found.as_ref() == Some(&owner) {
        return Ok(());
    }
    if bucket.is_none() && !is_new {
        return Err(ServiceError::Elsewhere {
            place: format!("in another data directory than {}", directory().display()),
        });
    }
    let bytes = serde_json::to_vec(&owner).map_err(|error| failed(error.into()))?;
    let written = write_atomically(&file, &bytes);
    written.map_err(|error| failed(io::Error::other(error)))
}

/// Records where the files are; returns whether that is new.
/// Fails where they are elsewhere, and a service runs that keeps them there.
fn keep_files(
    database: &Store,
    itself: Itself,
    bucket: Option<&str>,
) -> Result<bool, ServiceError> {
    let now = bucket.unwrap_or_default();
    loop {
        let before = database.files_at(itself)?;
        match before.as_deref() {
            Some(before) if before == now => return Ok(false),
            Some(before) if somebody_runs(database, itself)? => {
                return Err(ServiceError::Elsewhere {
                    place: match before {
                        "" => "in a data directory that they share".to_owned(),
                        bucket => format!("in {bucket}"),
                    },
                });
            }
            _ => {}
        }
        // Unless another service has come first.
        if database.keep_files_at(itself, now, before.as_deref())? {
            return Ok(true);
        }
    }
}

/// Whether another service of the database counts.
fn somebody_runs(database: &Store, itself: Itself) -> Result<bool, ServiceError> {
    let before = database.all_instances(itself)?;
    if before.is_empty() {
        return Ok(false);
    }
    std::thread::sleep(LOOK);
    Ok(database.all_instances(itself)? != before)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests::Server;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn a_data_directory_is_that_of_one_database() {
        let Some(server) = Server::start_or_skip() else {
            return;
        };
        let itself = Itself::in_tests();
        let folders = [(); 3].map(|()| tempfile::tempdir().unwrap());
        let [one, other, third] =
            [0, 1, 2].map(|n: usize| Places::create(folders[n].path()).unwrap());
        let services = Store::connect(&server.options()).unwrap();
        let begins = |places: &Places, bucket| own(places, &services, itself, bucket);
        assert!(begins(&one, None).is_ok() && begins(&one, None).is_ok());
        let elsewhere = begins(&other, None);
        assert!(matches!(elsewhere, Err(ServiceError::Elsewhere { .. })));

        // A service of its own, in its own data directory, and in that of the others.
        let alone = |places: &Places| {
            let database = Store::open(places.root()).unwrap();
            own(places, &database, itself, None)
        };
        assert!(alone(&third).is_ok() && alone(&third).is_ok());
        for (places, begun) in [(&one, alone(&one)), (&third, begins(&third, None))] {
            assert!(
                matches!(begun, Err(ServiceError::Foreign { .. })),
                "{places:?}"
            );
        }
        assert!(begins(&one, None).is_ok());

        // What counts moves to a bucket, to another one, and back.
        let (bucket, copy) = (Some("s3://artefacts/a"), Some("s3://artefacts/b"));
        assert!(begins(&one, bucket).is_ok() && begins(&other, copy).is_ok());
        assert!(begins(&other, None).is_ok());
        let elsewhere = begins(&one, None);
        assert!(matches!(elsewhere, Err(ServiceError::Elsewhere { .. })));
    }

    #[test]
    fn files_stay_where_they_are_while_a_service_runs() {
        let Some(server) = Server::start_or_skip() else {
            return;
        };
        let itself = Itself::in_tests();
        let folder = tempfile::tempdir().unwrap();
        let places = Places::create(folder.path()).unwrap();
        let [runs, begins] = [(); 2].map(|()| Store::connect(&server.options()).unwrap());
        own(&places, &runs, itself, Some("s3://artefacts/a")).unwrap();
        let ended = AtomicBool::new(false);
        let refused = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !ended.load(Ordering::Relaxed) {
                    runs.begin(itself).unwrap();
                    std::thread::sleep(LOOK / 20);
                }
            });
            while begins.all_instances(itself).unwrap().is_empty() {
                std::thread::sleep(LOOK / 50);
            }
            let other = [None, Some("s3://artefacts/b")];
            let refused = other.map(|bucket| own(&places, &begins, itself, bucket));
            ended.store(true, Ordering::Relaxed);
            refused
        });
        for refused in refused {
            let said = refused.unwrap_err().to_string();
            assert!(said.contains("in s3://artefacts/a"), "{said}");
        }
        own(&places, &begins, itself, Some("s3://artefacts/b")).unwrap();
    }
}
