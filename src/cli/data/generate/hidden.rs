//! People who are hired by a rule that never sees their sex.

use std::path::PathBuf;

use serde::Serialize;

use super::args::GenerateArgs;
use crate::cli::exit_code::ExitCode;
use crate::cli::output::Output;
use crate::cli::render::{count, percent};
use probity::indirect::hidden::{hidden_person, write_csv};

#[derive(Serialize)]
struct HiddenSummary {
    name: &'static str,
    rows: u32,
    seed: u64,
    /// How much sex moves.
    effect: f64,
    women: u64,
    /// Women who are hired, and men.
    hired: [u64; 2],
    /// Women who are not hired, and would be if they were men.
    unfair: u64,
    file: PathBuf,
    #[serde(skip_serializing_if = "Option::is_none")]
    counterfactuals: Option<PathBuf>,
}

pub(super) fn run(args: &GenerateArgs, effect: f64, output: &Output) -> anyhow::Result<ExitCode> {
    let (rows, seed) = (args.rows(), args.seed());
    let people = || (0..u64::from(rows)).map(|item| hidden_person(seed, item, effect));
    let file = args.write(|out| write_csv(out, people().map(|[person, _]| person)))?;
    if let Some(file) = args.counterfactuals() {
        args.write_to(file, |out| write_csv(out, people().map(|[_, other]| other)))?;
    }
    let Some(file) = file else {
        return Ok(ExitCode::SUCCESS);
    };
    let mut summary = HiddenSummary {
        name: "people",
        rows,
        seed,
        effect,
        women: 0,
        hired: [0; 2],
        unfair: 0,
        file: file.clone(),
        counterfactuals: args.counterfactuals().cloned(),
    };
    for [person, other] in people() {
        summary.women += u64::from(person.is_female);
        summary.hired[usize::from(!person.is_female)] += u64::from(person.is_hired());
        let is_unfair = person.is_female && !person.is_hired() && other.is_hired();
        summary.unfair += u64::from(is_unfair);
    }
    output.summary("data generate", &summary, &render(&summary))
}

fn render(summary: &HiddenSummary) -> String {
    let women = summary.women;
    let men = u64::from(summary.rows) - women;
    let share = |of: u64, all: u64| percent(of as f64 / all.max(1) as f64);
    let [hired, hired_men] = summary.hired;
    let mut text = format!(
        "{} people, hired by a rule that does not see their sex: {}\n\
         {} of {} women are hired, and {} of {} men.\n\
         Planted: {} women ({}) are not hired, and would be if they had been men from the start.\n",
        count(summary.rows.into()),
        summary.file.display(),
        share(hired, women),
        count(women),
        share(hired_men, men),
        count(men),
        count(summary.unfair),
        share(summary.unfair, women),
    );
    if let Some(file) = &summary.counterfactuals {
        text.push_str(&format!(
            "What each would have been as somebody of the other sex: {}\n",
            file.display()
        ));
    }
    text
}
