//! Access for tests to things that a machine may lack: real data, devices, Python libraries, a
//! browser, programs, an identity provider, PostgreSQL, storage of the S3 protocol.
//!
//! A test that cannot run without one of these asks this crate for it. Where it is missing the test
//! says so in one line, `skipped (data): …`, and passes; where `PROBITY_REQUIRE` names the kind, as
//! in `PROBITY_REQUIRE=data,device,python,browser,programs,identity,postgresql,storage`, the test
//! fails instead. No test is skipped in silence.
//!
//! A test that stops, kills or races work in its middle holds it there with a [`Gate`].

mod authority;
mod devices;
mod gate;
mod postgresql;

use std::env;
use std::fmt;
use std::path::{Path, PathBuf};

pub use authority::Authority;
pub use devices::devices;
pub use gate::Gate;
pub use postgresql::Postgresql;

/// The name of the environment variable that lists the kinds that must not be missing, separated by
/// commas.
pub const REQUIRE: &str = "PROBITY_REQUIRE";

/// The name of the environment variable that holds the folder of the real data.
pub const DATA: &str = "PROBITY_DATA_DIR";

/// A kind of thing that a machine may lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needed {
    /// Files of real data.
    Data,
    /// A device beside the CPU.
    Device,
    /// Python with libraries.
    Python,
    /// A browser, its driver, and the check of accessibility.
    Browser,
    /// Programs that the documentation uses beside Probity's own.
    Programs,
    /// An identity provider that people log in by.
    Identity,
    /// The programs of a server of PostgreSQL.
    Postgresql,
    /// Storage that speaks the protocol of Amazon S3.
    Storage,
}

impl fmt::Display for Needed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Needed::Data => "data",
            Needed::Device => "device",
            Needed::Python => "python",
            Needed::Browser => "browser",
            Needed::Programs => "programs",
            Needed::Identity => "identity",
            Needed::Postgresql => "postgresql",
            Needed::Storage => "storage",
        })
    }
}

/// Whether `PROBITY_REQUIRE` names `kind`: a test fails where a thing of this kind is missing.
pub fn is_required(kind: Needed) -> bool {
    env::var(REQUIRE).is_ok_and(|kinds| requires(&kinds, kind))
}

fn requires(kinds: &str, kind: Needed) -> bool {
    kinds.split(',').any(|name| name.trim() == kind.to_string())
}

/// Says that a test is skipped because something of `kind` is missing.
///
/// # Panics
/// When `PROBITY_REQUIRE` names `kind`.
#[track_caller]
pub fn skip(kind: Needed, reason: &str) {
    assert!(
        !is_required(kind),
        "{REQUIRE} names {kind}, which is missing: {reason}"
    );
    eprintln!("skipped ({kind}): {reason}");
}

/// Returns the folder of the real data if it holds all of `files`, else `None` after [`skip`].
///
/// The folder is the one that `PROBITY_DATA_DIR` names, else `../shared/data` beside the checkout.
///
/// # Panics
/// When a file is missing and `PROBITY_REQUIRE` names `data`.
#[track_caller]
pub fn data(files: &[&str]) -> Option<PathBuf> {
    let folder = data_folder();
    let missing = files.iter().find(|file| !folder.join(file).exists());
    let reason = match missing {
        _ if !folder.is_dir() => format!("no folder `{}`; set {DATA}", folder.display()),
        Some(missing) => format!("no `{missing}` in `{}`; set {DATA}", folder.display()),
        None => return Some(folder),
    };
    skip(Needed::Data, &reason);
    None
}

/// The folder in which the real data are looked for.
pub fn data_folder() -> PathBuf {
    env::var_os(DATA).map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_named_with_commas() {
        assert!(requires("data, browser", Needed::Browser));
        assert!(!requires("database", Needed::Data));
        assert!(!requires("", Needed::Device));
    }
}
