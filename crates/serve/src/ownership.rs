//! Whose a data directory is.
//!
//! What a database does not know of is removed from a data directory when its service begins. A
//! database in the data directory is that of its files; one of a server may be any other's. So its
//! services leave their database's identifier in the file `service.json`, and begin in no data
//! directory that is another's. Where the services of a database keep their files in a data directory,
//! there is one, which they share: the database says that there is, and a service that begins in
//! another one, which is empty, is refused before it is asked for files that are not there.

use std::io;

use serde::{Deserialize, Serialize};

use super::identifier::Id;
use super::jobs::Itself;
use super::places::Places;
use super::service::ServiceError;
use super::store::{DATABASE, Store};
use probity_run::run_directory::write_atomically;

/// The file that says whose a data directory is.
const OWNER: &str = "service.json";

/// The services that a data directory belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Owner {
    /// The identifier of their database.
    service: Id,
    /// Whether it is a cache of one of them, and what counts lies in a bucket.
    is_cache: bool,
}

/// Sees to it that the data directory `places` is one of the services of `database`, as a cache or for
/// all their files.
/// Fails when it is another's, or the services of the database have another one.
pub fn own(
    places: &Places,
    database: &Store,
    itself: Itself,
    is_cache: bool,
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
        is_cache,
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
    let is_new = database.keep_in_folder(itself, !is_cache)?;
    if found.as_ref() == Some(&owner) {
        return Ok(());
    }
    if !is_cache && !is_new {
        return Err(ServiceError::Elsewhere {
            directory: directory(),
        });
    }
    let bytes = serde_json::to_vec(&owner).map_err(|error| failed(error.into()))?;
    let written = write_atomically(&file, &bytes);
    written.map_err(|error| failed(io::Error::other(error)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::tests::Server;

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
        let begins = |places: &Places, is_cache| own(places, &services, itself, is_cache);
        assert!(begins(&one, false).is_ok() && begins(&one, false).is_ok());
        let elsewhere = begins(&other, false);
        assert!(matches!(elsewhere, Err(ServiceError::Elsewhere { .. })));

        // A service of its own, in its own data directory, and in that of the others.
        let alone = |places: &Places| {
            let database = Store::open(places.root()).unwrap();
            own(places, &database, itself, false)
        };
        assert!(alone(&third).is_ok() && alone(&third).is_ok());
        for (places, begun) in [(&one, alone(&one)), (&third, begins(&third, false))] {
            assert!(
                matches!(begun, Err(ServiceError::Foreign { .. })),
                "{places:?}"
            );
        }
        assert!(begins(&one, false).is_ok());

        // What counts moves to a bucket, and back.
        assert!(begins(&one, true).is_ok() && begins(&other, true).is_ok());
        assert!(begins(&other, false).is_ok());
        let elsewhere = begins(&one, false);
        assert!(matches!(elsewhere, Err(ServiceError::Elsewhere { .. })));
    }
}
