//! Pause points: places with names at which a process can be held.
//!
//! What must hold of work that is interrupted, killed or raced in its middle can only be shown where
//! the work is in its middle for certain, on a machine of any speed. `PROBITY_PAUSE=POINT=GATE`, or
//! `POINT:N=GATE`, names a [`Point`] and a file, the gate. A process that comes to the point for the
//! N-th time (the first, unless said) or a later one, while the gate is there, adds a line with its
//! process id to the file `GATE.held` and waits until the gate is gone, holds other bytes (it may go
//! on to the next point), or somebody asked the process to end ([`release`]). Without the variable,
//! and without the gate, a point does nothing.

use std::env;
use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// The environment variable that names the point at which processes are held, and their gate.
pub const PAUSE: &str = "PROBITY_PAUSE";

/// The time between two looks at the gate by a process that is held.
const LOOKS_EVERY: Duration = Duration::from_millis(5);

/// A place at which a process can be held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Point {
    /// The options of a run were written; its work begins.
    Begun,
    /// A step of the work is done: some rounds of a search, an epoch of a training, a round of a
    /// proof, some rows that a k-NN system ranks. Whoever observes the work hears of it next.
    Round,
    /// A checkpoint was written.
    Checkpoint,
}

impl Point {
    /// All points, by their names in the variable.
    pub const ALL: [(&str, Point); 3] = [
        ("begun", Point::Begun),
        ("round", Point::Round),
        ("checkpoint", Point::Checkpoint),
    ];
}

/// The contents of the variable.
#[derive(Debug, PartialEq, Eq)]
struct Pause {
    point: Point,
    from: u64,
    gate: PathBuf,
}

static ARRIVALS: AtomicU64 = AtomicU64::new(0);
static RELEASED: AtomicBool = AtomicBool::new(false);

/// Holds the process here, where [`PAUSE`] says so.
pub fn at(point: Point) {
    static ASKED: OnceLock<Option<Pause>> = OnceLock::new();
    let asked = ASKED.get_or_init(|| env::var_os(PAUSE).and_then(|text| parse(text).ok()));
    let Some(pause) = asked.as_ref().filter(|pause| pause.point == point) else {
        return;
    };
    let arrival = ARRIVALS.fetch_add(1, Ordering::SeqCst) + 1;
    if arrival < pause.from {
        return;
    }
    let seen = closed(&pause.gate);
    if seen.is_some() && tell(&pause.gate).is_ok() {
        while closed(&pause.gate) == seen {
            thread::sleep(LOOKS_EVERY);
        }
    }
}

/// Ends every wait of this process, now and later: it was asked to end, and goes on to do so.
pub fn release() {
    RELEASED.store(true, Ordering::SeqCst);
}

/// Checks [`PAUSE`], if it is set.
///
/// # Errors
/// A sentence that says what is expected of it.
pub fn check() -> Result<(), String> {
    env::var_os(PAUSE).map_or(Ok(()), |text| parse(text).map(drop))
}

/// Returns the bytes of the gate, while it is closed to this process.
fn closed(gate: &Path) -> Option<Vec<u8>> {
    let is_held = !RELEASED.load(Ordering::SeqCst);
    is_held.then(|| fs::read(gate).ok()).flatten()
}

/// Tells at the gate that this process is held there.
fn tell(gate: &Path) -> std::io::Result<()> {
    let mut held = gate.as_os_str().to_owned();
    held.push(".held");
    let mut file = OpenOptions::new().create(true).append(true).open(held)?;
    file.write_all(format!("{}\n", std::process::id()).as_bytes())
}

fn parse(text: OsString) -> Result<Pause, String> {
    let read = || {
        let (point, gate) = text.to_str()?.split_once('=')?;
        let (name, from) = match point.split_once(':') {
            Some((name, from)) => (name, from.parse().ok().filter(|&from| from > 0)?),
            None => (point, 1),
        };
        let &(_, point) = Point::ALL.iter().find(|(known, _)| *known == name)?;
        let gate = PathBuf::from(gate);
        (!gate.as_os_str().is_empty()).then_some(Pause { point, from, gate })
    };
    read().ok_or_else(|| {
        let names = Point::ALL.map(|(name, _)| name).join(", ");
        format!(
            "{PAUSE} is '{}', but must be POINT=FILE or POINT:N=FILE, where POINT is one of {names}",
            text.to_string_lossy()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_names_a_point_and_a_gate() {
        let pause = |from, point| Pause {
            point,
            from,
            gate: PathBuf::from("a=b:1"),
        };
        let is = |text: &str, expected| assert_eq!(parse(text.into()).unwrap(), expected);
        is("round=a=b:1", pause(1, Point::Round));
        is("checkpoint:3=a=b:1", pause(3, Point::Checkpoint));
        for text in ["", "round", "round=", "round:0=a", "round:x=a", "end=a"] {
            let said = parse(text.into()).unwrap_err();
            assert!(said.contains("begun, round, checkpoint"), "{said}");
        }
    }
}
