//! Álvarez, Ruggieri: Counterfactual Situation Testing (JAIR 82, 2025).

mod paper;
mod records;
#[cfg(test)]
mod tests;

use std::ops::ControlFlow;
use std::path::PathBuf;

use anyhow::bail;
use clap::Args;
use serde::Serialize;

use crate::interrupt::{Interrupt, Interrupted};
use crate::options::{DataFolders, Only, Threads};
use crate::output::{Output, count, table};
use crate::reproduction::Reproduction;
use paper::{CASES, Counts, PaperCase, PaperFigures};
use probity_indirect::error::IndirectError;
use probity_indirect::neighbours::Ties;
use probity_indirect::people::ProtectedGroup;
use probity_indirect::situations::compare::{
    Counterfactual, Situation, SituationOptions, Subjects, Test, Tested, compare,
};
use records::Applicants;

const PAPER: &str = "Álvarez, Ruggieri: Counterfactual Situation Testing. JAIR 82, 2025";
/// The template of the progress bar.
const BAR: &str = "{prefix} [{bar:28}] {pos}/{len} comparisons, {eta} left";

/// The share of false discoveries.
const LEVEL: f64 = 0.05;

/// Arguments of `probity-reproduce situations`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: probity-reproduce situations --only loans,law-both --k 15,50,250 --data-dir data\n\
                        Data sets lie in situation-testing/, such as situation-testing/LoanApplication_v2.csv.gz."
)]
pub struct SituationsArgs {
    #[command(flatten)]
    only: Only,
    #[command(flatten)]
    data: DataFolders,
    /// Only these numbers of neighbours, separated by commas
    #[arg(long = "k", value_delimiter = ',', value_name = "NUMBERS")]
    neighbours: Vec<u32>,
    #[command(flatten)]
    threads: Threads,
}

/// What stands before the counts.
#[derive(Serialize)]
struct Heading {
    false_discovery_rate: f64,
}

/// What is counted in one data set.
#[derive(Serialize)]
struct ReproducedSet {
    data_set: &'static str,
    people: usize,
    members: usize,
    rows: Vec<ReproducedRow>,
}

/// What is counted for one number of neighbours.
#[derive(Debug, Serialize)]
struct ReproducedRow {
    k: u32,
    paper: PaperFigures,
    ours: PaperFigures,
    /// The people in whose case exact tests find something, after Benjamini and Hochberg.
    discoveries: Counts,
}

impl ReproducedRow {
    /// The paper's counts beside ours: cases, then significant ones.
    fn pairs(&self) -> impl Iterator<Item = (u32, u32)> {
        let both = |of: &PaperFigures| [of.cases.each(), of.significant.each()].into_iter();
        both(&self.paper).flatten().zip(both(&self.ours).flatten())
    }
}

/// A way to find people who are treated worse than others like them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    /// Situation testing.
    Factual,
    /// Counterfactual situation testing.
    Counterfactual,
    /// Counterfactual situation testing where the person and the counterfactual count.
    WithCentres,
}

impl Method {
    /// The methods, in the order in which the authors run them.
    const ALL: [Method; 3] = [Method::Factual, Method::Counterfactual, Method::WithCentres];

    /// Scales the tables that the method compares, once more.
    fn scale(self, applicants: &mut Applicants) {
        applicants.people.standardise();
        if self != Method::Factual {
            applicants.counterfactuals.standardise();
        }
    }

    /// Compares every member with the `k` nearest of both groups.
    fn compare(
        self,
        applicants: &Applicants,
        k: u32,
        watch: &(dyn Fn(u64, u64) -> ControlFlow<()> + Sync),
    ) -> Result<Vec<Situation>, IndirectError> {
        let people = applicants.people.coordinates();
        let counterfactuals = applicants.counterfactuals.coordinates();
        let counterfactual = Counterfactual {
            coordinates: &counterfactuals,
            unfavourable: &applicants.counterfactuals.unfavourable,
        };
        let subjects = Subjects {
            people: &people,
            unfavourable: &applicants.people.unfavourable,
            group: &ProtectedGroup::new(Vec::new(), &applicants.members, true),
            counterfactual: (self != Method::Factual).then_some(counterfactual),
        };
        let options = SituationOptions {
            k,
            test: Test::Wald,
            ties: Ties::Index,
            centres: self == Method::WithCentres,
            level: LEVEL,
        };
        compare(&subjects, &options, watch)
    }
}

/// Runs `probity-reproduce situations`.
pub fn run(args: &SituationsArgs, output: &Output) -> anyhow::Result<()> {
    args.threads.apply()?;
    let cases = args.only.choose(&CASES, "the paper")?;
    args.check_neighbours(&cases)?;
    let interrupt = Interrupt::listen()?;
    let heading = Heading {
        false_discovery_rate: LEVEL,
    };
    let mut found = Reproduction::new("reproduce situations", PAPER, heading, &args.data);
    found.over(&cases, |case, files, sets| {
        let (set, finished) = args.reproduce(case, files, &interrupt, output)?;
        sets.push(set);
        Interrupted::unless(finished)
    })?;
    found.print(render(&found), output)
}

impl SituationsArgs {
    /// Refuses a number of neighbours that none of `cases` has.
    fn check_neighbours(&self, cases: &[PaperCase]) -> anyhow::Result<()> {
        let is_known = |k: u32| {
            let mut figures = cases.iter().flat_map(PaperCase::figures);
            figures.any(|figures| figures.k == k)
        };
        match self.neighbours.iter().find(|&&k| !is_known(k)) {
            Some(k) => bail!("the paper has no counts for k = {k} in these data sets"),
            None => Ok(()),
        }
    }

    /// Returns whether the counts for `k` neighbours are asked for.
    fn is_wanted(&self, k: u32) -> bool {
        self.neighbours.is_empty() || self.neighbours.contains(&k)
    }

    fn reproduce(
        &self,
        case: &PaperCase,
        files: &[PathBuf],
        interrupt: &Interrupt,
        output: &Output,
    ) -> anyhow::Result<(ReproducedSet, bool)> {
        let applicants = Applicants::read(case.paper.set, files)?;
        let mut set = ReproducedSet {
            data_set: case.name,
            people: applicants.members.len(),
            members: applicants.members.iter().filter(|&&it| it).count(),
            rows: Vec::new(),
        };
        let wanted = case.figures().filter(|it| self.is_wanted(it.k)).count();
        let bar = output.progress((Method::ALL.len() * wanted) as u64, BAR);
        bar.set_prefix(case.name);
        bar.tick();
        let finished = rows(
            case,
            applicants,
            &|k| self.is_wanted(k),
            &|_, _| interrupt.flow(),
            &mut |row| {
                bar.inc(Method::ALL.len() as u64);
                set.rows.push(row);
            },
        )?;
        bar.finish_and_clear();
        Ok((set, finished))
    }
}

/// Counts for the numbers of neighbours that `is_wanted` wants, and hands them out in their order;
/// returns whether all are counted, or `watch` has stopped it.
fn rows(
    case: &PaperCase,
    mut applicants: Applicants,
    is_wanted: &dyn Fn(u32) -> bool,
    watch: &(dyn Fn(u64, u64) -> ControlFlow<()> + Sync),
    take: &mut dyn FnMut(ReproducedRow),
) -> anyhow::Result<bool> {
    for paper in case.figures() {
        let mut found = Vec::new();
        for method in Method::ALL {
            // Also for a k that nobody asks for, since scaling goes on from one to the next.
            method.scale(&mut applicants);
            if is_wanted(paper.k) {
                match method.compare(&applicants, paper.k, watch) {
                    Ok(situations) => found.push(situations),
                    Err(IndirectError::Interrupted) => return Ok(false),
                    Err(error) => return Err(error.into()),
                }
            }
        }
        if let [factual, counterfactual, with_centres] = &found[..] {
            take(counted(
                paper,
                &applicants,
                [factual, counterfactual, with_centres],
            ));
        }
    }
    Ok(true)
}

/// Counts the situations that the three methods have found.
fn counted(
    paper: PaperFigures,
    applicants: &Applicants,
    found: [&[Situation]; 3],
) -> ReproducedRow {
    let is_unfair = |situation: &&Situation| {
        let row = situation.row as usize;
        applicants.people.unfavourable[row] && !applicants.counterfactuals.unfavourable[row]
    };
    // Counterfactual fairness has no test of its own: the authors take that with centres.
    let counts = |is_case: fn(&Tested) -> bool, is_found: fn(&Tested) -> bool| {
        let [factual, counterfactual, with_centres] = found.map(|situations| {
            let found = situations.iter().filter(|it| is_found(&it.negative));
            found.filter(|it| is_case(&it.negative)).count() as u32
        });
        let unfair = found[2].iter().filter(is_unfair);
        let unfair = unfair.filter(|it| is_found(&it.negative)).count() as u32;
        Counts::from([factual, counterfactual, with_centres, unfair])
    };
    let cases = counts(|it| it.is_case, |_| true);
    let significant = counts(|it| it.is_case, |it| it.is_significant);
    ReproducedRow {
        k: paper.k,
        paper,
        ours: PaperFigures {
            k: paper.k,
            cases,
            significant,
        },
        discoveries: counts(|_| true, |it| it.is_discovery),
    }
}

fn render(found: &Reproduction<Heading, ReproducedSet>) -> String {
    let mut text = format!("{}. Paper / ours:\n", found.paper);
    for set in &found.rows {
        text.push_str(&format!(
            "\n{}: {} people, {} in the protected group.\n",
            set.data_set,
            count(set.people as u64),
            count(set.members as u64)
        ));
        text.push_str(&set_table(set));
        let pairs = || set.rows.iter().flat_map(ReproducedRow::pairs);
        let equal = pairs().filter(|(paper, ours)| paper == ours).count() as u64;
        let all = pairs().count() as u64;
        text.push_str(&format!("Equal: {} of {}.\n", count(equal), count(all)));
    }
    if !found.rows.is_empty() {
        text.push_str(&format!(
            "\nST: situation testing. CST: counterfactual situation testing. CF: counterfactually unfair.\n\
             significant: by Wald's interval, as the paper has it. FDR: discoveries of Fisher's exact test in the same\n\
             neighbourhoods, with {} % false ones by the procedure of Benjamini and Hochberg.\n",
            100.0 * LEVEL
        ));
    }
    text
}

/// Renders the counts of a data set: a row a number of neighbours.
fn set_table(set: &ReproducedSet) -> String {
    let cells = |row: &ReproducedRow| {
        let mut cells = vec![row.k.to_string()];
        cells.extend(row.pairs().map(|(paper, ours)| format!("{paper} / {ours}")));
        cells.extend(row.discoveries.each().map(|found| found.to_string()));
        cells
    };
    table(
        "k | ST | CST | CST, centres | CF | significant: ST | CST | CST, centres | CF | FDR: ST | CST | CST, centres | CF",
        set.rows.iter().map(cells),
    )
}
