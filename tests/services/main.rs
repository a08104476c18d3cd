//! The service: its API, pages, jobs, projects and refusals.

#[path = "../browser/census.rs"]
mod census;
#[path = "../identity/mod.rs"]
mod identity;
#[path = "../pages/mod.rs"]
mod pages;
#[path = "../probity_command/mod.rs"]
mod probity_command;
#[path = "../service/mod.rs"]
mod service;
#[path = "../storage/mod.rs"]
mod storage;

mod service_artefacts;
mod service_artefacts_away;
mod service_history;
mod service_hooks;
mod service_identity;
mod service_identity_attacks;
mod service_identity_failures;
mod service_jobs;
mod service_journey;
mod service_landing;
mod service_overview;
mod service_page_jobs;
mod service_pages;
mod service_people;
mod service_postgresql;
mod service_projects;
mod service_refusals;
mod service_retention;
mod service_roles;
mod service_worker_attacks;
mod service_workers;
mod workers;
