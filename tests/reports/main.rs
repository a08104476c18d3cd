//! Reports, exports and seals.

#[path = "../probity_command/mod.rs"]
mod probity_command;
#[path = "../random_audit/mod.rs"]
mod random_audit;
#[path = "../report_page/mod.rs"]
mod report_page;

mod audit_reports;
mod kinds;
mod releases;
mod report_bias_audit;
mod report_command;
mod report_exports;
mod seal_command;
mod seals;
mod training_report;
