//! Classifiers of texts: trained, imported, audited and repaired.

#[path = "../probity_command/mod.rs"]
mod probity_command;

mod fluency_model_command;
mod golden_text;
mod import_recurrent;
mod import_tokenizers;
mod sentence_encoder;
mod text_audit_command;
mod text_bad_rows;
mod text_command;
mod text_compare_command;
mod text_groups_command;
mod text_repair_command;
mod text_search;
mod transformer_repair_command;
mod transformer_text_command;
