//! The limits of a service.

use std::time::Duration;

use probity_run::specification::Limits as SpecificationLimits;

/// The limits of a service. Every one of them except the bounds on specifications is an option of
/// `probity serve`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Limits {
    /// The greatest number of bytes of one uploaded file.
    pub upload_bytes: u64,
    /// The greatest number of bytes of an uploaded model once it is unpacked.
    pub model_bytes: u64,
    /// The greatest number of bytes of an uploaded file of data once it is unpacked.
    pub unpacked_bytes: u64,
    /// The greatest number of rows of an uploaded table, or of texts of a file of texts.
    pub rows: u64,
    /// The greatest number of bytes of one cell or text.
    pub cell_bytes: usize,
    /// The bytes that may be stored in all; beyond them no upload and no job begins.
    pub stored_bytes: u64,
    /// The bytes that a project may store, unless it has a quota of its own.
    pub stored_bytes_per_project: u64,
    /// How long a job may run.
    pub job_time: Duration,
    /// The address space of a job, in bytes.
    pub job_memory: u64,
    /// The number of threads of a job.
    pub job_threads: u16,
    /// The number of jobs that run at the same time at the service itself; 0: workers run all of
    /// them.
    pub jobs: usize,
    /// How long a worker may be silent before the job that it has goes to another.
    pub lease: Duration,
    /// The greatest number of jobs that wait.
    pub queue: usize,
    /// The greatest number of jobs of one project that wait, unless it has a quota of its own.
    pub queue_per_project: usize,
    /// The number of days after their end after which jobs are deleted, unless their project keeps
    /// them for less; none: jobs are kept as long as their project keeps them.
    pub kept_days: Option<u32>,
    /// The greatest number of requests at the same time.
    pub requests: usize,
    /// The greatest number of requests at the same time with one token, until their answers have
    /// been sent.
    pub requests_per_token: usize,
    /// The greatest number of requests at the same time of one project, until their answers have
    /// been sent.
    pub requests_per_project: usize,
    /// The greatest number of requests at the same time that bring a body.
    pub bodies: usize,
    /// The greatest number of requests at the same time with one token that bring a body.
    pub bodies_per_token: usize,
    /// The greatest number of requests at the same time of one project that bring a body.
    pub bodies_per_project: usize,
    /// The greatest number of requests at the same time without a valid token.
    pub strangers: usize,
    /// The greatest number of requests at the same time without a valid token from one address.
    pub strangers_per_address: usize,
    /// The number of requests a second; twice as many may come at once.
    pub rate: u32,
    /// The number of requests a second with one token; twice as many may come at once.
    pub rate_per_token: u32,
    /// The number of requests a second of one project; twice as many may come at once.
    pub rate_per_project: u32,
    /// The number of requests a second from one address; twice as many may come at once.
    pub rate_per_address: u32,
    /// The greatest number of streams of events at the same time.
    pub streams: usize,
    /// The greatest number of streams of events at the same time with one token.
    pub streams_per_token: usize,
    /// The greatest number of streams of events at the same time of one project.
    pub streams_per_project: usize,
    /// The greatest number of open connections.
    pub connections: usize,
    /// The greatest number of open connections from one address.
    pub connections_per_address: usize,
    /// How long a client may let the service wait, when it is to send or to read.
    pub idle_time: Duration,
    /// The largest figures that a job may ask for.
    pub specifications: SpecificationLimits,
}

impl Limits {
    /// The number of days after their end after which jobs of a project are deleted; `of_project`
    /// is the project's own quota.
    pub fn kept_days(&self, of_project: Option<u32>) -> Option<u32> {
        self.kept_days.into_iter().chain(of_project).min()
    }
}

impl Default for Limits {
    fn default() -> Limits {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Limits {
            upload_bytes: 64 << 20,
            model_bytes: 256 << 20,
            unpacked_bytes: 1 << 30,
            rows: 1_000_000,
            cell_bytes: 64 << 10,
            stored_bytes: 16 << 30,
            stored_bytes_per_project: 8 << 30,
            job_time: Duration::from_secs(3600),
            job_memory: 8 << 30,
            job_threads: u16::try_from(cores.div_ceil(2)).unwrap_or(u16::MAX),
            jobs: 2,
            lease: Duration::from_secs(60),
            queue: 256,
            queue_per_project: 32,
            kept_days: None,
            requests: 256,
            requests_per_token: 64,
            requests_per_project: 192,
            bodies: 1024,
            bodies_per_token: 16,
            bodies_per_project: 64,
            strangers: 128,
            strangers_per_address: 16,
            rate: 1000,
            rate_per_token: 100,
            rate_per_project: 400,
            rate_per_address: 300,
            streams: 256,
            streams_per_token: 16,
            streams_per_project: 64,
            connections: 8192,
            connections_per_address: 512,
            idle_time: Duration::from_secs(10),
            specifications: of_specifications(),
        }
    }
}

/// The largest figures that a job may ask for, by the fields of its specification. They only keep
/// slips from taking all of a job's time and memory, which have bounds of their own.
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
        // As large as whole numbers can be in TOML.
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
