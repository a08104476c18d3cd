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
    /// Rows of an uploaded table, or texts of a file [default: 1000000]
    #[arg(long, value_name = "N", value_parser = whole::<u64>(1..=u32::MAX.into()), allow_hyphen_values = true)]
    max_rows: Option<u64>,
    /// Bytes of one cell or text [default: 64KiB]
    #[arg(long, value_name = "BYTES", value_parser = numbers::bytes(), allow_hyphen_values = true)]
    max_cell: Option<u64>,
    /// Bytes of all that is stored; beyond them nothing new begins [default: 16GiB]
    #[arg(long, value_name = "BYTES", value_parser = numbers::bytes(), allow_hyphen_values = true)]
    max_storage: Option<u64>,
    /// Jobs that run at the same time [default: 2]
    #[arg(long, value_name = "N", value_parser = whole::<u16>(1..=MOST_AT_ONCE), allow_hyphen_values = true)]
    jobs: Option<u16>,
    /// Jobs that wait [default: 32]
    #[arg(long, value_name = "N", value_parser = whole::<u16>(0..=MOST_AT_ONCE), allow_hyphen_values = true)]
    queue: Option<u16>,
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
    /// Requests a second; twice as many may come at once [default: 1000]
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=MOST_A_SECOND), allow_hyphen_values = true)]
    max_rate: Option<u32>,
    /// Requests a second with one token; twice as many may come at once [default: 100]
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=MOST_A_SECOND), allow_hyphen_values = true)]
    max_rate_per_token: Option<u32>,
    /// Streams of events at the same time [default: 256]
    #[arg(long, value_name = "N", value_parser = whole::<u16>(0..=MOST_AT_ONCE), allow_hyphen_values = true)]
    max_streams: Option<u16>,
    /// Open connections [default: 1024]
    #[arg(long, value_name = "N", value_parser = whole::<u16>(1..=MOST_AT_ONCE), allow_hyphen_values = true)]
    max_connections: Option<u16>,
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
        set(&mut limits.rows, self.max_rows);
        let bytes = |bytes| usize::try_from(bytes).unwrap_or(usize::MAX);
        set(&mut limits.cell_bytes, self.max_cell.map(bytes));
        set(&mut limits.stored_bytes, self.max_storage);
        set(&mut limits.job_time, self.job_time);
        set(&mut limits.job_memory, self.job_memory);
        set(&mut limits.job_threads, self.job_threads);
        set(&mut limits.jobs, count(self.jobs));
        set(&mut limits.queue, count(self.queue));
        set(&mut limits.requests, count(self.max_requests));
        let a_token = count(self.max_requests_per_token);
        set(&mut limits.requests_per_token, a_token);
        set(&mut limits.rate, self.max_rate);
        set(&mut limits.rate_per_token, self.max_rate_per_token);
        set(&mut limits.streams, count(self.max_streams));
        set(&mut limits.connections, count(self.max_connections));
        limits
    }
}
