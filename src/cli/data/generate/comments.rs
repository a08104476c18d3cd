//! `probity data generate`

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::cli::output::{Output, print};
use crate::cli::render::{count, percent, table};
use probity::data::compressed;
use probity::run::run_directory::write_with;
use probity::text::comments::{BURDENED, Comment, CommentGenerator, Tone, is_burdened, toxic_rate};

/// Arguments of `probity data generate`.
#[derive(Debug, Args)]
#[command(
    after_help = "Comment i depends on --seed and i alone: more --rows add comments and change none."
)]
pub(super) struct GenerateArgs {
    /// What to generate
    #[arg(value_enum)]
    name: Generated,
    /// Rows to write
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    rows: u32,
    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// CSV file; compressed if its name ends in .gz or .xz [default: stdout]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Generated {
    /// Short comments with identity terms, labelled toxic (1) or not (0)
    Comments,
}

#[derive(Serialize)]
struct GenerateSummary {
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

/// Runs `probity data generate`.
pub(super) fn run(args: &GenerateArgs, output: &Output) -> anyhow::Result<ExitCode> {
    match args.name {
        Generated::Comments => comments(args, output),
    }
}

fn comments(args: &GenerateArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let generator = CommentGenerator::new(args.seed);
    let mut planted = cells();
    let Some(file) = &args.out else {
        output.refuse_json("data generate without --out")?;
        let mut text = Vec::new();
        write_csv(&mut text, &generator, args.rows, &mut planted)?;
        print(&String::from_utf8_lossy(&text))?;
        return Ok(ExitCode::SUCCESS);
    };
    write_with(file, |writer| {
        compressed::write_as(file, writer, |out| {
            write_csv(out, &generator, args.rows, &mut planted)
        })
    })?;
    let summary = GenerateSummary {
        name: "comments",
        rows: args.rows,
        seed: args.seed,
        toxic: planted.iter().map(|cell| cell.toxic).sum(),
        planted,
        burdened: BURDENED.to_vec(),
        file: file.clone(),
    };
    output.summary("data generate", &summary, &render(&summary))
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

fn write_csv(
    out: &mut dyn Write,
    generator: &CommentGenerator,
    rows: u32,
    planted: &mut [Planted],
) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(["comment_text", "toxic"])?;
    for item in 0..u64::from(rows) {
        let comment = generator.comment(item);
        note(planted, &comment);
        writer.write_record([comment.text.as_str(), if comment.toxic { "1" } else { "0" }])?;
    }
    writer.flush()
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

fn render(summary: &GenerateSummary) -> String {
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
