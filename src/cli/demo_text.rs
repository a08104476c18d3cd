//! `probity demo text`: the whole job on generated comments whose bias is known.
//!
//! The comments' labels depend on their tone and on whether a *burdened* identity value is named
//! ([`probity::text::comments`]). By the planted rates the probable label hangs on the value in the
//! neutral comments alone: a classifier that learned the rule flips there and nowhere else. So the
//! planted share of discriminatory comments is the share of neutral ones among those with a term of
//! an attribute.

use std::fmt::Write as _;
use std::process::ExitCode;

use serde::Serialize;

use super::demo::{DemoArgs, Recovery, recovery_table};
use super::inputs::{absolute, new_run};
use super::output::Output;
use super::progress::AuditBar;
use super::render::{self, count};
use super::train::{TrainingBar, render_summary};
use probity::fairness::audit::{Audit, AuditSpecification, AuditSummary};
use probity::fairness::modality::{ModalityName, TextCase, TextDetails};
use probity::nn::train::TrainSpecification;
use probity::nn::train::options::{Learning, RecurrentOptions};
use probity::nn::train::run::{Training, TrainingSummary};
use probity::nn::train::text_set::TextSet;
use probity::run::run_directory::{RunDirectory, write_with};
use probity::run::specification::Specification;
use probity::tensor::device::ComputeDevice;
use probity::text::comments::{Comment, CommentGenerator, Tone};

/// Comments unless told otherwise.
const COMMENTS: u32 = 20_000;
/// Columns of the file.
const TEXT: &str = "comment_text";
const LABEL: &str = "toxic";

#[derive(Serialize)]
struct TextDemoSummary {
    schema_version: u32,
    command: &'static str,
    recovery: Vec<Recovery>,
    training: TrainingSummary,
    audit: AuditSummary<TextDetails>,
}

/// Runs `probity demo text`.
pub(super) fn run(args: &DemoArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let device = args.hardware.open(output)?;
    let directory = new_run(args.out.as_ref(), "demo")?;
    let file = absolute(&directory.file("comments.csv"));
    let comments = args.rows.unwrap_or(COMMENTS);
    output.remark(&format!("Making {} comments …", count(comments.into())));
    let generator = CommentGenerator::new(args.seed);
    let comments: Vec<Comment> = (0..u64::from(comments))
        .map(|i| generator.comment(i))
        .collect();
    write_csv(&file, &comments)?;
    output.remark("Training a classifier on them …");
    let mut training = TrainSpecification::of_texts(&file, LABEL);
    training.text_column = Some(TEXT.to_owned());
    training.recurrent = Some(RecurrentOptions {
        // The small vocabulary is learned by heart, and with it which values are burdened.
        train_embeddings: true,
        ..RecurrentOptions::default()
    });
    training.training = Learning {
        seed: args.seed,
        epochs: Some(15),
        weight_decay: 0.01,
        ..Learning::default()
    };
    let bar = TrainingBar::new(training.epochs(), output)?;
    let model = RunDirectory::create(&directory.file("model"))?;
    let training = Training::<TextSet>::open(training.check()?, &ComputeDevice::flex())?;
    let trained = training.run(&model, false, &mut |report| bar.observe(report))?;
    let interrupt = bar.into_interrupt();
    if !trained.finished {
        output.remark(&format!(
            "Interrupted; what there is so far is in {}.",
            directory.path().display()
        ));
        output.result(&trained, &render_summary(&trained))?;
        return Ok(ExitCode::SUCCESS);
    }

    output.remark("Searching it for individual discrimination …");
    let mut specification = AuditSpecification::default();
    specification.modality = ModalityName::Text;
    specification.model = Some(absolute(model.path()));
    specification.data = file;
    specification.seed = args.seed;
    specification.text.column = Some(TEXT.to_owned());
    specification.search.seeds = 200;
    specification.search.local = 50;
    let run = RunDirectory::create(&directory.file("audit"))?;
    let mut bar = AuditBar::new(output, interrupt);
    let audit = Audit::<TextCase>::open(specification.check()?, &device)?;
    let audited = audit.run(&run, false, &mut |progress| bar.observe(progress))?;
    let recovery: Vec<Recovery> = audited
        .fairness
        .iter()
        .map(|estimate| Recovery::new(planted_share(&comments, &estimate.protected), estimate))
        .collect();
    let text = render(&trained, &audited, &recovery, &directory);
    let summary = TextDemoSummary {
        schema_version: 1,
        command: "demo text",
        recovery,
        training: trained,
        audit: audited,
    };
    directory.write_summary(&summary)?;
    output.result(&summary, &text)?;
    Ok(ExitCode::SUCCESS)
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

fn write_csv(file: &std::path::Path, comments: &[Comment]) -> anyhow::Result<()> {
    write_with(file, |writer| {
        let mut csv = csv::Writer::from_writer(writer);
        csv.write_record([TEXT, LABEL])?;
        for comment in comments {
            csv.write_record([comment.text.as_str(), if comment.toxic { "1" } else { "0" }])?;
        }
        csv.flush()
    })?;
    Ok(())
}

fn render(
    trained: &TrainingSummary,
    audited: &AuditSummary<TextDetails>,
    recovery: &[Recovery],
    directory: &RunDirectory,
) -> String {
    let path = directory.path().display();
    let mut text = String::from("\nThe classifier\n");
    text.push_str(&render_summary(trained));
    text.push_str("\nThe search\n");
    text.push_str(&render::audit(audited));
    text.push_str("\nPlanted in the comments, and found in the classifier\n");
    text.push_str(&recovery_table(recovery));
    text.push_str(
        "Planted: neutral comments, where the named group alone decides the probable label. The interval speaks \n\
         of the trained classifier, which learned that rule from labels of which up to one in ten is noise.\n",
    );
    // Writing to a String cannot fail.
    let _ = write!(
        text,
        "\nFiles: {path} (comments.csv, model/, audit/)\n\
         Next:\n  \
         probity verify {path}/audit\n  \
         probity audit --model {path}/model --protected religion --text \"Our neighbour is a christian and works here.\"\n  \
         probity train --texts YOUR.csv --text-column TEXT --label-column LABEL --embeddings glove.6B.50d.txt\n"
    );
    text
}
