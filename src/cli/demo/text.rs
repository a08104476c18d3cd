//! `probity demo text`: generated comments whose bias is known.
//!
//! The comments' labels depend on their tone and on whether a *burdened* identity value is named
//! ([`probity::text::comments`]). By the planted rates the probable label hangs on the value in the
//! neutral comments alone: a classifier that learned the rule flips there and nowhere else. So the
//! planted share of discriminatory comments is the share of neutral ones among those with a term of
//! an attribute.

use std::path::Path;

use super::demonstration::Demonstration;
use crate::cli::data::comments::{COLUMNS, write_csv};
use crate::cli::output::Output;
use crate::cli::render::count;
use probity::fairness::audit::AuditSpecification;
use probity::fairness::modality::ModalityName;
use probity::nn::train::TrainSpecification;
use probity::nn::train::options::{Learning, RecurrentOptions};
use probity::run::run_directory::write_with;
use probity::text::comments::{Comment, CommentGenerator, Tone, VALUES};

/// Comments unless told otherwise.
pub(super) const COMMENTS: u32 = 20_000;

/// Makes `rows` comments in the file `data`.
pub(super) fn make(
    data: &Path,
    rows: u32,
    seed: u64,
    output: &Output,
) -> anyhow::Result<Demonstration> {
    output.remark(&format!("Making {} comments …", count(rows.into())));
    let generator = CommentGenerator::new(seed);
    let comments: Vec<Comment> = (0..u64::from(rows))
        .map(|item| generator.comment(item))
        .collect();
    write_with(data, |writer| write_csv(writer, &comments))?;
    let [text, label] = COLUMNS;
    let mut training = TrainSpecification::of_texts(data, label);
    training.text_column = Some(text.to_owned());
    let network = training.recurrent.insert(RecurrentOptions::default());
    // The small vocabulary is learned by heart, and with it which values are burdened.
    network.train_embeddings = true;
    training.training = Learning {
        seed,
        epochs: Some(15),
        batch: Some(64),
        weight_decay: Some(0.01),
        ..Learning::default()
    };
    let mut audit = AuditSpecification::default();
    audit.modality = ModalityName::Text;
    audit.text.column = Some(text.to_owned());
    // The comments name no others.
    audit.protected = VALUES.map(|(attribute, _)| attribute.to_owned()).to_vec();
    audit.search.seeds = 200;
    audit.search.local = 50;
    Ok(Demonstration {
        command: "demo text",
        training,
        audit,
        planted: Box::new(move |protected| Ok(planted_share(&comments, protected))),
        next_audit: "--protected religion --text \"Our neighbour is a Christian and works here.\"",
        own_data: "probity train --texts YOUR.csv --text-column TEXT --label-column LABEL --embeddings glove.6B.50d.txt",
    })
}

/// Among the comments with a term of one of `attributes`, the share of neutral ones.
fn planted_share(comments: &[Comment], attributes: &[String]) -> f64 {
    let with_term: Vec<&Comment> = comments
        .iter()
        .filter(|comment| {
            let term = comment.term.as_ref();
            term.is_some_and(|(attribute, _)| attributes.contains(attribute))
        })
        .collect();
    let neutral = with_term
        .iter()
        .filter(|comment| comment.tone == Tone::Neutral);
    neutral.count() as f64 / with_term.len().max(1) as f64
}
