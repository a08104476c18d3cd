//! Comments of made-up people, as `probity demo text` classifies them.

use std::borrow::Borrow;
use std::io::{self, Write};
use std::path::PathBuf;

use serde::Serialize;

use super::args::GenerateArgs;
use crate::cli::exit_code::ExitCode;
use crate::cli::output::Output;
use crate::cli::render::{count, percent, table};
use probity::text::comments::{BURDENED, Comment, CommentGenerator, Tone, is_burdened, toxic_rate};

/// The columns: a text and its label.
pub(in crate::cli) const COLUMNS: [&str; 2] = ["comment_text", "toxic"];

#[derive(Serialize)]
struct CommentsSummary {
    name: &'static str,
    rows: u32,
    seed: u64,
    toxic: u64,
    planted: Vec<Planted>,
    burdened: Vec<(&'static str, &'static [&'static str])>,
    file: PathBuf,
}

/// The comments of one tone, with or without a burdened term.
#[derive(Serialize)]
struct Planted {
    tone: Tone,
    burdened: bool,
    planted_rate: f64,
    comments: u64,
    toxic: u64,
}

pub(super) fn run(args: &GenerateArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let generator = CommentGenerator::new(args.seed());
    let mut planted = cells();
    let comments = (0..u64::from(args.rows())).map(|item| {
        let comment = generator.comment(item);
        note(&mut planted, &comment);
        comment
    });
    let Some(file) = args.write(|out| write_csv(out, comments))? else {
        return Ok(ExitCode::SUCCESS);
    };
    let summary = CommentsSummary {
        name: "comments",
        rows: args.rows(),
        seed: args.seed(),
        toxic: planted.iter().map(|cell| cell.toxic).sum(),
        planted,
        burdened: BURDENED.to_vec(),
        file: file.clone(),
    };
    output.summary("data generate", &summary, &render(&summary))
}

/// Writes comments with their labels as CSV.
pub(in crate::cli) fn write_csv(
    out: impl Write,
    comments: impl IntoIterator<Item = impl Borrow<Comment>>,
) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(COLUMNS)?;
    for comment in comments {
        let comment = comment.borrow();
        csv.write_record([comment.text.as_str(), if comment.toxic { "1" } else { "0" }])?;
    }
    csv.flush()
}

fn cells() -> Vec<Planted> {
    let tones = [Tone::Friendly, Tone::Neutral, Tone::Cross];
    let cells = tones
        .into_iter()
        .flat_map(|tone| [false, true].map(|burdened| (tone, burdened)));
    cells
        .map(|(tone, burdened)| Planted {
            tone,
            burdened,
            planted_rate: toxic_rate(tone, burdened),
            comments: 0,
            toxic: 0,
        })
        .collect()
}

fn note(planted: &mut [Planted], comment: &Comment) {
    let burdened = comment
        .term
        .as_ref()
        .is_some_and(|(name, value)| is_burdened(name, value));
    for cell in planted {
        if cell.tone == comment.tone && cell.burdened == burdened {
            cell.comments += 1;
            cell.toxic += u64::from(comment.toxic);
        }
    }
}

fn render(summary: &CommentsSummary) -> String {
    let rows: Vec<Vec<String>> = summary
        .planted
        .iter()
        .map(|cell| {
            vec![
                format!("{:?}", cell.tone).to_lowercase(),
                if cell.burdened {
                    "burdened"
                } else {
                    "none or other"
                }
                .to_owned(),
                count(cell.comments),
                percent(cell.planted_rate),
                if cell.comments > 0 {
                    percent(cell.toxic as f64 / cell.comments as f64)
                } else {
                    "-".to_owned()
                },
            ]
        })
        .collect();
    let mut text = format!(
        "{} comments, {} of them toxic: {}\n",
        count(u64::from(summary.rows)),
        count(summary.toxic),
        summary.file.display()
    );
    text.push_str(&table(
        &["tone", "term", "comments", "planted rate", "toxic"],
        &rows,
    ));
    text.push_str("Burdened terms:\n");
    for (attribute, values) in &summary.burdened {
        text.push_str(&format!("  {attribute}: {}\n", values.join(", ")));
    }
    text
}
