//! What the command does with tables, from its first line to its exit code.

#[path = "../probity_command/mod.rs"]
mod probity_command;

mod certify_command;
mod command_bad_input;
mod command_bad_models;
mod command_edges;
mod command_journey;
mod command_pipes;
mod command_resume;
mod command_run;
mod compare_command;
mod constant_classifier;
mod counterparts_command;
mod decisions_command;
mod explain_command;
mod failures_command;
mod formats_command;
mod gate_command;
mod outcomes_command;
mod population_command;
mod prove_command;
mod proxies_command;
mod published_tables;
mod rank_command;
mod regression_command;
mod repair_command;
mod shards_command;
mod situations_command;
mod terminal_command;
mod unreadable_files;
