//! Fetching data sets from a scripted HTTP server on this machine, and from local folders.

mod archives;
mod cache;
mod failures;
mod local_copies;
mod resume;
mod server;
