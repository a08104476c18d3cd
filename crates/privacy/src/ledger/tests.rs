//! Tests of spending, concurrency and tampering.

use std::path::PathBuf;

use sha2::{Digest, Sha256};

use super::*;
use crate::source::TableReading;
use probity_run::run_directory::hex;

const BUDGET: Budget = Budget {
    epsilon: 1.0,
    delta: 0.01,
    slack: 0.0,
};

fn declared(file: &Path) -> Result<Ledger, LedgerError> {
    let table = Hashed {
        value: DeclaredTable {
            records: 5,
            columns: vec!["x".to_owned()],
            reading: TableReading::default(),
        },
        sha256: "ab".to_owned(),
    };
    declare(file, "d.csv", table, BUDGET)
}

fn query(epsilon: f64) -> Charge {
    Charge {
        sha256: "ab".to_owned(),
        mechanism: "count".to_owned(),
        cost: Cost::approximate(epsilon, 0.0),
        not_private: false,
    }
}

#[test]
fn a_budget_is_spent_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("budget.toml");
    assert!(matches!(
        charge(&file, query(0.1), || ()),
        Err(LedgerError::Missing { .. })
    ));
    assert!(matches!(read(&file), Err(LedgerError::Missing { .. })));
    declared(&file).unwrap();
    assert!(matches!(declared(&file), Err(LedgerError::Exists { .. })));
    for _ in 0..10 {
        charge(&file, query(0.1), || ()).unwrap();
    }
    let before = fs::read(&file).unwrap();
    assert!(matches!(
        charge(&file, query(0.001), || ()),
        Err(LedgerError::Spent { .. })
    ));
    let other = Charge {
        sha256: "cd".to_owned(),
        ..query(0.0)
    };
    assert!(matches!(
        charge(&file, other, || ()),
        Err(LedgerError::OtherData { .. })
    ));
    assert_eq!(fs::read(&file).unwrap(), before);
    let ledger = read(&file).unwrap();
    assert_eq!(ledger.queries.len(), 10);
    assert_eq!(ledger.remaining().epsilon, 0.0);
}

/// The fingerprint of a ledger's data depends on a key that is not in it, and without the key it is
/// of no use.
#[test]
fn the_hash_of_the_data_is_keyed() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (folder.path().join("a.toml"), folder.path().join("b.toml"));
    let fingerprint = |file: &Path| declared(file).unwrap().data.fingerprint;
    let fingerprints = [fingerprint(&first), fingerprint(&second)];
    assert_ne!(fingerprints[0], fingerprints[1]);
    let key = folder.path().join("a.toml.key");
    let digits = fs::read_to_string(&key).unwrap();
    assert!(!fs::read_to_string(&first).unwrap().contains(digits.trim()));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(&key).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    // HMAC by its definition (RFC 2104).
    let padded = |pad: u8| -> Vec<u8> { digits.trim().bytes().map(|digit| digit ^ pad).collect() };
    let inner = Sha256::new().chain_update(padded(0x36)).chain_update("ab");
    let outer = Sha256::new().chain_update(padded(0x5c));
    let code = outer.chain_update(inner.finalize()).finalize();
    assert_eq!(fingerprints[0], hex(&code));

    charge(&first, query(0.1), || ()).unwrap();
    fs::copy(folder.path().join("b.toml.key"), &key).unwrap();
    assert!(matches!(
        charge(&first, query(0.1), || ()),
        Err(LedgerError::OtherData { .. })
    ));
    fs::write(&key, "ab").unwrap();
    assert!(matches!(
        charge(&first, query(0.1), || ()),
        Err(LedgerError::Foreign { .. })
    ));
    fs::remove_file(&key).unwrap();
    assert!(matches!(
        charge(&first, query(0.1), || ()),
        Err(LedgerError::NoKey { .. })
    ));
    assert_eq!(read(&first).unwrap().queries.len(), 1);
    // The key of a ledger that was moved is not replaced.
    fs::remove_file(&second).unwrap();
    assert!(matches!(
        declared(&second),
        Err(LedgerError::KeyAlone { .. })
    ));
    assert!(!second.exists());
}

/// A ledger is one ledger with one lock, however it is reached.
#[cfg(unix)]
#[test]
fn a_ledger_has_one_budget_by_all_its_names() {
    use std::os::unix::fs::symlink;

    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().join("real");
    fs::create_dir(&real).unwrap();
    let file = real.join("budget.toml");
    let (link, alias) = (folder.path().join("link.toml"), folder.path().join("alias"));
    symlink(&file, &link).unwrap();
    symlink(&real, &alias).unwrap();
    // A link to nothing yet: the ledger would be made in its place.
    assert!(matches!(declared(&link), Err(LedgerError::Exists { .. })));
    declared(&alias.join("budget.toml")).unwrap();
    assert!(matches!(declared(&link), Err(LedgerError::Exists { .. })));
    let names = [&file, &link, &alias.join("budget.toml")];
    assert_eq!(admitted_at_once(&names.map(PathBuf::as_path)), 20);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    for name in names {
        assert_eq!(read(name).unwrap().queries.len(), 20);
    }

    let second = folder.path().join("second.toml");
    fs::hard_link(&file, &second).unwrap();
    for name in [&file, &second] {
        assert!(matches!(
            charge(name, query(0.0), || ()),
            Err(LedgerError::SecondName { .. })
        ));
    }
}

/// Returns how many of twelve charges through each of `names`, all at the same time, are admitted.
fn admitted_at_once(names: &[&Path]) -> usize {
    let charged = |name: &Path| {
        (0..12)
            .filter(|_| charge(name, query(0.05), || ()).is_ok())
            .count()
    };
    std::thread::scope(|scope| {
        let threads = names.iter().map(|name| scope.spawn(|| charged(name)));
        let threads: Vec<_> = threads.collect();
        let counts = threads.into_iter().map(|thread| thread.join().unwrap());
        counts.sum()
    })
}

#[test]
fn charges_at_the_same_time_are_all_counted() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("budget.toml");
    declared(&file).unwrap();
    assert_eq!(admitted_at_once(&[file.as_path(); 8]), 20);
    assert_eq!(read(&file).unwrap().queries.len(), 20);
}

#[test]
fn a_ledger_that_was_tampered_with_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("budget.toml");
    declared(&file).unwrap();
    charge(&file, query(0.5), || ()).unwrap();
    let whole = fs::read_to_string(&file).unwrap();
    let (_, text) = whole.split_once('\n').unwrap();
    for (from, to) in [
        ("epsilon = 0.5", "epsilon = -0.5"),
        ("epsilon = 0.5", "epsilon = nan"),
        ("rho = ", "row = "),
        ("mechanism", "machination"),
    ] {
        assert!(text.contains(from), "{text}");
        // Edited, and edited by somebody who seals it anew.
        let edited = text.replacen(from, to, 1);
        for content in [whole.replacen(from, to, 1), seal_text(FORM, &edited)] {
            fs::write(&file, content).unwrap();
            assert!(
                matches!(read(&file), Err(LedgerError::Foreign { .. })),
                "{to}"
            );
        }
    }
    fs::write(&file, whole.replacen("epsilon = 0.5", "epsilon = 0.1", 1)).unwrap();
    assert!(read(&file).is_err());
    fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    assert!(charge(&file, query(0.1), || ()).is_err());
}

/// A price that overflows is no price, and certainly none of nought.
#[test]
fn a_price_without_end_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("budget.toml");
    declared(&file).unwrap();
    for epsilon in [1e155, f64::MAX, f64::INFINITY, f64::NAN, -0.5] {
        assert!(charge(&file, query(epsilon), || ()).is_err(), "{epsilon}");
    }
    assert!(read(&file).unwrap().queries.is_empty());
}

#[test]
fn a_ledger_whose_folder_was_moved_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let [old, new] = ["old", "new"].map(|name| folder.path().join(name));
    fs::create_dir(&old).unwrap();
    let file = old.join("budget.toml");
    declared(&file).unwrap();
    let lock = super::Place::resolve(&file).unwrap().lock(|| ()).unwrap();
    lock.expect_in_place().unwrap();
    fs::rename(&old, &new).unwrap();
    assert!(lock.expect_in_place().is_err());
    // Another ledger by its name.
    fs::create_dir(&old).unwrap();
    declared(&file).unwrap();
    assert!(lock.expect_in_place().is_err());
}
