//! Coverage-guided inputs for the target that PROBITY_FUZZ_TARGET names (`probity-fuzz list`): the
//! bytes are the first file of its first seed, with its checksum made anew.

#![no_main]

use libfuzzer_sys::fuzz_target;
use probity_fuzz::execute::{execute_bytes, watch_panics};
use probity_fuzz::target::Target;
use probity_fuzz::targets;
use tempfile::TempDir;

struct Ready {
    target: Target,
    folder: TempDir,
    _seeds: TempDir,
}

thread_local! {
    static READY: Ready = ready().expect("a target");
}

fn ready() -> Result<Ready, Box<dyn std::error::Error>> {
    let name = std::env::var("PROBITY_FUZZ_TARGET")?;
    let (seeds, folder) = (TempDir::new()?, TempDir::new()?);
    watch_panics();
    Ok(Ready {
        target: targets::named(&name, seeds.path())?,
        folder,
        _seeds: seeds,
    })
}

fuzz_target!(|bytes: &[u8]| {
    READY.with(|ready| {
        if let Err(fault) = execute_bytes(&ready.target, bytes, ready.folder.path()) {
            panic!("{}: {}", fault.kind, fault.message);
        }
    });
});
