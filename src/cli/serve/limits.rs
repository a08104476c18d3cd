//! The limits of the service, as options.

use std::time::Duration;

use clap::Args;

use crate::cli::numbers::{self, whole};
use probity::serve::limits::Limits;

/// Jobs, requests, streams and connections at the same time at most.
const MOST_AT_ONCE: u64 = 65_535;

/// Requests a second at most.
const MOST_A_SECOND: u64 = 1_000_000;

/// What the service refuses to do more of.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
pub(super) struct LimitArgs {
    /// Bytes of one uploaded file [default: 64MiB]
    #[arg(long, value_name = "BYTES", value_parser = numbers::bytes(), allow_hyphen_values = true)]
    max_upload: Option<u64>,
    /// Bytes of an uploaded model, unpacked [default: 256MiB]
    #[arg(long, value_name = "BYTES", value_parser = numbers::bytes(), allow_hyphen_values = true)]
    max_model: Option<u64>,
    /// Bytes of an uploaded file of data, unpacked [default: 1GiB]
    #[arg(long, value_name = "BYTES", value_parser = numbers::bytes(), allow_hyphen_values = true)]
    max_unpacked: Option<u64>,
    /// Rows of an uploaded table, or texts of a file [default: 1000000]
    #[arg(long, value_name = "N", value_parser = whole::<u64>(1..=u32::MAX.into()), allow_hyphen_values = true)]
    max_rows: Option<u64>,
    /// Bytes of one cell or text [default: 64KiB]
    #[arg(long, value_name = "BYTES", value_parser = numbers::bytes(), allow_hyphen_values = true)]
    max_cell: Option<u64>,
    /// Bytes of all that is stored; beyond them nothing new begins [default: 16GiB]
    #[arg(long, value_name = "BYTES", value_parser = numbers::bytes(), allow_hyphen_values = true)]
    max_storage: Option<u64>,
    /// Bytes of all that a project stores, unless it has a quota of its own [default: 8GiB]
    #[arg(long, value_name = "BYTES", value_parser = numbers::bytes(), allow_hyphen_values = true)]
    max_storage_per_project: Option<u64>,
    /// Jobs that run at the same time on this machine; 0 leaves all of them to workers [default: 2]
    #[arg(long, value_name = "N", value_parser = whole::<u16>(0..=MOST_AT_ONCE), allow_hyphen_values = true)]
    jobs: Option<u16>,
    /// How long a worker may be silent before its job goes to another [default: 1m]
    #[arg(long, value_name = "TIME", value_parser = numbers::time(), allow_hyphen_values = true)]
    lease: Option<Duration>,
    /// Jobs that wait [default: 256]
    #[arg(long, value_name = "N", value_parser = whole::<u16>(0..=MOST_AT_ONCE), allow_hyphen_values = true)]
    queue: Option<u16>,
    /// Jobs that wait of one project, unless it has a quota of its own [default: 32]
    #[arg(long, value_name = "N", value_parser = whole::<u16>(0..=MOST_AT_ONCE), allow_hyphen_values = true)]
    queue_per_project: Option<u16>,
    /// Days after their end that jobs are deleted with what they found, unless their project keeps
    /// them for less [default: they are kept]
    #[arg(long, value_name = "DAYS", value_parser = whole::<u32>(1..=3650), allow_hyphen_values = true)]
    keep_jobs: Option<u32>,
    /// Run time of a job, such as 90s, 30m or 2h [default: 1h]
    #[arg(long, value_name = "TIME", value_parser = numbers::time(), allow_hyphen_values = true)]
    job_time: Option<Duration>,
    /// Address space of a job [default: 8GiB]
    #[arg(long, value_name = "BYTES", value_parser = numbers::bytes(), allow_hyphen_values = true)]
    job_memory: Option<u64>,
    /// Threads of a job [default: half of the cores]
    #[arg(long, value_name = "N", value_parser = numbers::threads(), allow_hyphen_values = true)]
    job_threads: Option<u16>,
    /// Requests at the same time [default: 256]
    #[arg(long, value_name = "N", value_parser = whole::<u16>(1..=MOST_AT_ONCE), allow_hyphen_values = true)]
    max_requests: Option<u16>,
    /// Requests at the same time with one token [default: 64]
    #[arg(long, value_name = "N", value_parser = whole::<u16>(1..=MOST_AT_ONCE), allow_hyphen_values = true)]
    max_requests_per_token: Option<u16>,
    /// Requests at the same time of one project [default: 192]
    #[arg(long, value_name = "N", value_parser = whole::<u16>(1..=MOST_AT_ONCE), allow_hyphen_values = true)]
    max_requests_per_project: Option<u16>,
    /// Requests at the same time that bring a body [default: 1024]
    #[arg(long, value_name = "N", value_parser = whole::<u16>(1..=MOST_AT_ONCE), allow_hyphen_values = true)]
    max_bodies: Option<u16>,
    /// Requests at the same time with one token that bring a body [default: 16]
    #[arg(long, value_name = "N", value_parser = whole::<u16>(1..=MOST_AT_ONCE), allow_hyphen_values = true)]
    max_bodies_per_token: Option<u16>,
    /// Requests at the same time of one project that bring a body [default: 64]
    #[arg(long, value_name = "N", value_parser = whole::<u16>(1..=MOST_AT_ONCE), allow_hyphen_values = true)]
    max_bodies_per_project: Option<u16>,
    /// Requests at the same time without a valid token [default: 128]
    #[arg(long, value_name = "N", value_parser = whole::<u16>(1..=MOST_AT_ONCE), allow_hyphen_values = true)]
    max_strangers: Option<u16>,
    /// Requests at the same time without a valid token from one address [default: 16]
    #[arg(long, value_name = "N", value_parser = whole::<u16>(1..=MOST_AT_ONCE), allow_hyphen_values = true)]
    max_strangers_per_address: Option<u16>,
    /// Requests a second; twice as many may come at once [default: 1000]
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=MOST_A_SECOND), allow_hyphen_values = true)]
    max_rate: Option<u32>,
    /// Requests a second with one token; twice as many may come at once [default: 100]
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=MOST_A_SECOND), allow_hyphen_values = true)]
    max_rate_per_token: Option<u32>,
    /// Requests a second of one project; twice as many may come at once [default: 400]
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=MOST_A_SECOND), allow_hyphen_values = true)]
    max_rate_per_project: Option<u32>,
    /// Requests a second from one address; twice as many may come at once [default: 300]
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=MOST_A_SECOND), allow_hyphen_values = true)]
    max_rate_per_address: Option<u32>,
    /// Streams of events at the same time [default: 256]
    #[arg(long, value_name = "N", value_parser = whole::<u16>(0..=MOST_AT_ONCE), allow_hyphen_values = true)]
    max_streams: Option<u16>,
    /// Streams of events at the same time with one token [default: 16]
    #[arg(long, value_name = "N", value_parser = whole::<u16>(0..=MOST_AT_ONCE), allow_hyphen_values = true)]
    max_streams_per_token: Option<u16>,
    /// Streams of events at the same time of one project [default: 64]
    #[arg(long, value_name = "N", value_parser = whole::<u16>(0..=MOST_AT_ONCE), allow_hyphen_values = true)]
    max_streams_per_project: Option<u16>,
    /// Open connections [default: 8192]
    #[arg(long, value_name = "N", value_parser = whole::<u16>(1..=MOST_AT_ONCE), allow_hyphen_values = true)]
    max_connections: Option<u16>,
    /// Open connections from one address [default: 512]
    #[arg(long, value_name = "N", value_parser = whole::<u16>(1..=MOST_AT_ONCE), allow_hyphen_values = true)]
    max_connections_per_address: Option<u16>,
    /// How long a client may neither send nor read what is awaited of it [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = numbers::time(), allow_hyphen_values = true)]
    idle_time: Option<Duration>,
}

impl LimitArgs {
    /// The limits, with the defaults for those not given.
    pub fn resolve(&self) -> Limits {
        fn set<T: Copy>(limit: &mut T, given: Option<T>) {
            *limit = given.unwrap_or(*limit);
        }
        let count = |given: Option<u16>| given.map(usize::from);
        let mut limits = Limits::default();
        set(&mut limits.upload_bytes, self.max_upload);
        set(&mut limits.model_bytes, self.max_model);
        set(&mut limits.unpacked_bytes, self.max_unpacked);
        set(&mut limits.rows, self.max_rows);
        let bytes = |bytes| usize::try_from(bytes).unwrap_or(usize::MAX);
        set(&mut limits.cell_bytes, self.max_cell.map(bytes));
        set(&mut limits.stored_bytes, self.max_storage);
        let a_project = self.max_storage_per_project;
        set(&mut limits.stored_bytes_per_project, a_project);
        limits.kept_days = self.keep_jobs;
        set(&mut limits.job_time, self.job_time);
        set(&mut limits.job_memory, self.job_memory);
        set(&mut limits.job_threads, self.job_threads);
        set(&mut limits.jobs, count(self.jobs));
        set(&mut limits.lease, self.lease);
        set(&mut limits.queue, count(self.queue));
        let a_project = count(self.queue_per_project);
        set(&mut limits.queue_per_project, a_project);
        set(&mut limits.requests, count(self.max_requests));
        let a_token = count(self.max_requests_per_token);
        set(&mut limits.requests_per_token, a_token);
        let a_project = count(self.max_requests_per_project);
        set(&mut limits.requests_per_project, a_project);
        set(&mut limits.bodies, count(self.max_bodies));
        let a_token = count(self.max_bodies_per_token);
        set(&mut limits.bodies_per_token, a_token);
        let a_project = count(self.max_bodies_per_project);
        set(&mut limits.bodies_per_project, a_project);
        set(&mut limits.strangers, count(self.max_strangers));
        let an_address = count(self.max_strangers_per_address);
        set(&mut limits.strangers_per_address, an_address);
        set(&mut limits.rate, self.max_rate);
        set(&mut limits.rate_per_address, self.max_rate_per_address);
        set(&mut limits.rate_per_token, self.max_rate_per_token);
        set(&mut limits.rate_per_project, self.max_rate_per_project);
        set(&mut limits.streams, count(self.max_streams));
        let a_token = count(self.max_streams_per_token);
        set(&mut limits.streams_per_token, a_token);
        let a_project = count(self.max_streams_per_project);
        set(&mut limits.streams_per_project, a_project);
        set(&mut limits.connections, count(self.max_connections));
        let an_address = count(self.max_connections_per_address);
        set(&mut limits.connections_per_address, an_address);
        set(&mut limits.idle_time, self.idle_time);
        limits
    }
}
