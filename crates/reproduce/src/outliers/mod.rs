//! Okada, Fukuchi, Kakizaki, Sakuma: Differentially Private Analysis of Outliers (ECML PKDD 2015),
//! Figures 3 to 7.

mod curves;
mod paper;
mod records;

use std::path::PathBuf;

use anyhow::bail;
use clap::Args;
use serde::Serialize;

use crate::options::{DataFolders, missing, not_found};
use crate::output::{Output, table};
use curves::{ChoiceCurve, NoiseCurve, NoiseRow};
use paper::{PAPER_NOISE_BELOW, TOPS, paper_figure};
use probity_report::chart::{Chart, Mark, Plot, Series, Spacing};
use probity_run::run_directory::write_atomically;

const PAPER: &str =
    "Okada, Fukuchi, Kakizaki, Sakuma: Differentially Private Analysis of Outliers. ECML PKDD 2015";

/// Arguments of `probity-reproduce outliers`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: probity-reproduce outliers --figure 3 --plot figure-3.svg\n\
                        Figures 4 and 6 need adult/adult.data, figure 7 ionosphere/ionosphere.data."
)]
pub struct OutliersArgs {
    /// Figure: 3 to 7
    #[arg(long, value_parser = clap::value_parser!(u8).range(3..=7))]
    figure: u8,
    #[command(flatten)]
    data: DataFolders,
    /// Choices at each point of figures 5 to 7
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    repeats: u32,
    /// Seed of the records and of the choices
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Where the curves are drawn [default: figure-N.svg]
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

#[derive(Serialize)]
struct OutliersSummary {
    schema_version: u32,
    command: &'static str,
    paper: &'static str,
    figure: u8,
    data_set: &'static str,
    seed: u64,
    noise: Option<NoiseCurve>,
    choice: Option<ChoiceCurve>,
    plot: Option<PathBuf>,
    not_found: Vec<String>,
}

/// Runs `probity-reproduce outliers`.
pub fn run(args: OutliersArgs, output: &Output) -> anyhow::Result<()> {
    let Some(figure) = paper_figure(args.figure) else {
        bail!("there is no figure {} to reproduce", args.figure);
    };
    let folders = args.data.folders();
    let mut summary = OutliersSummary {
        schema_version: 1,
        command: "reproduce outliers",
        paper: PAPER,
        figure: args.figure,
        data_set: figure.name,
        seed: args.seed,
        noise: None,
        choice: None,
        plot: None,
        not_found: Vec::new(),
    };
    let files = match figure.find(&folders) {
        Ok(files) => files,
        Err(absent) => {
            summary.not_found.push(missing(figure.name, absent));
            let text = not_found(&summary.not_found, &folders);
            return output.result(&summary, &text);
        }
    };
    let data = figure.data(&files, args.seed)?;
    let mut text = format!("Figure {} of {PAPER}: {}.\n", args.figure, figure.name);
    let plot = if args.figure <= 4 {
        let curve = figure.noise_curve(&data)?;
        text.push_str(&noise_text(&curve));
        let plot = noise_plot(&curve);
        summary.noise = Some(curve);
        plot
    } else {
        let curve = figure.choice_curve(&data, args.seed, args.repeats)?;
        text.push_str(&choice_text(&curve, args.repeats));
        let plot = choice_plot(&curve);
        summary.choice = Some(curve);
        plot
    };
    let file = args
        .plot
        .unwrap_or_else(|| format!("figure-{}.svg", args.figure).into());
    let title = format!("Figure {}: {}", args.figure, figure.name);
    write_atomically(&file, plot.to_svg(&title).as_bytes())?;
    text.push_str(&format!("Plot: {}\n", file.display()));
    summary.plot = Some(file);
    output.result(&summary, &text)
}

fn noise_text(curve: &NoiseCurve) -> String {
    let cells = curve.rows.iter().map(|row| {
        let paper = match row.epsilon >= 0.7 {
            true => format!("< {PAPER_NOISE_BELOW}"),
            false => "-".to_owned(),
        };
        let figures = [
            row.global_lower,
            row.theorem,
            row.tight_global,
            row.tight,
            row.inverse,
            row.as_printed,
            row.global_lower / row.inverse,
        ];
        let mut cells = vec![row.epsilon.to_string(), paper];
        cells.extend(figures.map(|figure| format!("{figure:.1}")));
        cells
    });
    let mut text = format!(
        "{} outliers. Standard deviation of the noise:\n",
        curve.outliers
    );
    text.push_str(&table(
        "epsilon | paper, smooth | global, paper | smooth, Theorem 2 | global, tight | smooth, tight | inverse \
         | as printed (NOT private) | global, paper / inverse",
        cells,
    ));
    text.push_str(
        "Theorem 2 itself gives at least 5 sqrt(2 ln(2/delta)) / epsilon, 23.3 at 0.7: the paper's figures do not follow from it.\n\
         'as printed' is the bound with epsilon in place of beta, without the factor 5.\n\
         The paper's text gives no other values of this figure.\n",
    );
    text
}

fn noise_plot(curve: &NoiseCurve) -> Plot {
    let of = |value: fn(&NoiseRow) -> f64| -> Vec<(f64, f64)> {
        let rows = curve.rows.iter();
        rows.map(|row| (row.epsilon, value(row))).collect()
    };
    let below = vec![(0.7, PAPER_NOISE_BELOW)];
    let as_printed = of(|row| row.as_printed);
    let curves = [
        ("global, paper", Mark::Dashed, of(|row| row.global_lower)),
        ("smooth, Theorem 2", Mark::Line, of(|row| row.theorem)),
        ("global, tight", Mark::Dashed, of(|row| row.tight_global)),
        ("smooth, tight", Mark::Line, of(|row| row.tight)),
        ("inverse", Mark::Line, of(|row| row.inverse)),
        ("as printed (not private)", Mark::Dashed, as_printed),
        ("paper: below, from 0.7", Mark::Points, below),
    ];
    let series = curves.into_iter().enumerate();
    let noise = "standard deviation of the noise".to_owned();
    Plot {
        x: ("epsilon (delta 0.01)".to_owned(), Spacing::Linear),
        y: (noise, Spacing::Logarithmic),
        series: series
            .map(|(colour, (name, mark, points))| Series::new(name, colour, mark, points))
            .collect(),
    }
}

fn choice_text(curve: &ChoiceCurve, repeats: u32) -> String {
    let cells = curve.rows.iter().map(|row| {
        let mut cells = vec![row.top.to_string(), row.epsilon.to_string()];
        let shares = [
            row.precision,
            row.recall,
            row.precision_as_printed,
            row.recall_as_printed,
        ];
        cells.extend(shares.map(|share| format!("{share:.3}")));
        cells
    });
    let outliers: Vec<String> = curve.outliers.iter().map(i64::to_string).collect();
    let truth = curve.true_columns.iter().map(|at| (at + 1).to_string());
    let mut text = format!(
        "Outliers by dimension: {}. True subspaces: {}. Averages of {repeats} choices:\n",
        outliers.join(" "),
        truth.collect::<Vec<String>>().join(", ")
    );
    text.push_str(&table(
        "h | epsilon | precision | recall | precision at 2 epsilon | recall at 2 epsilon",
        cells,
    ));
    text.push_str(
        "Algorithm 3 as printed costs 2 epsilon: what it gives at epsilon stands in the last two columns.\n\
         The paper's text gives no values of this figure.\n",
    );
    text
}

fn choice_plot(curve: &ChoiceCurve) -> Plot {
    let curves = TOPS.iter().enumerate().flat_map(|(colour, &top)| {
        let of = |value: fn(f64, f64) -> f64| {
            let rows = curve.rows.iter().filter(move |row| row.top == top);
            rows.map(move |row| (row.epsilon, value(row.precision, row.recall)))
                .collect()
        };
        let named = |what: &str, mark, points| {
            Series::new(format!("{what}, h = {top}"), colour, mark, points)
        };
        [
            named("precision", Mark::Line, of(|precision, _| precision)),
            named("recall", Mark::Dashed, of(|_, recall| recall)),
        ]
    });
    Plot {
        x: ("epsilon".to_owned(), Spacing::Linear),
        y: ("precision, recall".to_owned(), Spacing::FromZero),
        series: curves.collect(),
    }
}
