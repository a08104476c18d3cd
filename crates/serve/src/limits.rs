//! What the service refuses to do more of.

use std::time::Duration;

use probity_run::specification::Limits as SpecificationLimits;

/// The bounds of a service. Every one of them but those of specifications is an option of `probity
/// serve`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of one uploaded file.
    pub upload_bytes: u64,
    /// Bytes of an uploaded model once it is unpacked.
    pub model_bytes: u64,
    /// Rows of an uploaded table, or texts of a file of texts.
    pub rows: u64,
    /// Bytes of one cell or text.
    pub cell_bytes: usize,
    /// Bytes of all that is stored; no upload and no job begins beyond them.
    pub stored_bytes: u64,
    /// Run time of a job.
    pub job_time: Duration,
    /// Address space of a job, in bytes.
    pub job_memory: u64,
    /// Threads of a job.
    pub job_threads: u16,
    /// Jobs that run at the same time.
    pub jobs: usize,
    /// Jobs that wait.
    pub queue: usize,
    /// Requests at the same time.
    pub requests: usize,
    /// Requests at the same time with one token.
    pub requests_per_token: usize,
    /// Requests a second; twice as many may come at once.
    pub rate: u32,
    /// Requests a second with one token; twice as many may come at once.
    pub rate_per_token: u32,
    /// Streams of events at the same time.
    pub streams: usize,
    /// Open connections.
    pub connections: usize,
    /// The largest figures that a job may ask for.
    pub specifications: SpecificationLimits,
}

impl Default for Limits {
    fn default() -> Limits {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Limits {
            upload_bytes: 64 << 20,
            model_bytes: 256 << 20,
            rows: 1_000_000,
            cell_bytes: 64 << 10,
            stored_bytes: 16 << 30,
            job_time: Duration::from_secs(3600),
            job_memory: 8 << 30,
            job_threads: u16::try_from(cores.div_ceil(2)).unwrap_or(u16::MAX),
            jobs: 2,
            queue: 32,
            requests: 256,
            requests_per_token: 64,
            rate: 1000,
            rate_per_token: 100,
            streams: 256,
            connections: 1024,
            specifications: of_specifications(),
        }
    }
}

/// The largest figures that a job may ask for, by the fields of its specification. They only keep
/// slips from taking all of a job's time and memory, which are bounded themselves.
fn of_specifications() -> SpecificationLimits {
    let largest = [
        ("training.epochs", 10_000.0),
        ("training.batch", 65_536.0),
        ("training.learning_rate", 10.0),
        ("training.weight_decay", 10.0),
        ("network.hidden", 16.0),
        ("recurrent.layers", 8.0),
        ("recurrent.units", 512.0),
        ("recurrent.max_length", 5000.0),
        ("transformer.blocks", 8.0),
        ("transformer.heads", 16.0),
        ("transformer.width", 512.0),
        ("transformer.inner", 2048.0),
        ("transformer.pieces", 512.0),
        ("search.seeds", 1e6),
        ("search.clusters", 1000.0),
        ("search.max_iter", 1000.0),
        ("search.local", 1e6),
        ("search.batch", 65_536.0),
        ("estimate", 1e7),
        ("tuning.surrogate_rows", 1e6),
        ("text.neighbours", 1000.0),
        ("text.max_l0", 1000.0),
        ("text.seeds", 1e6),
        ("text.max_iter", 1000.0),
        ("text.local", 1e6),
        ("text.splits", 1e6),
        ("table.estimate", 1e7),
        // As far as TOML has whole numbers.
        ("seed", 9e18),
        ("training.seed", 9e18),
        ("runs", 16.0),
        ("shares", 16.0),
    ];
    largest
        .into_iter()
        .fold(SpecificationLimits::new(), |limits, (field, largest)| {
            limits.at_most(field, largest)
        })
}
