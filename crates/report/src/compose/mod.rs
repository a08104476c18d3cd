//! From a [`Report`] to a [`Document`]: what is said, and in which order.

mod audit;
mod certify;
mod compare;
mod comparison;
mod groups;
pub(super) mod impact;
mod knn;
mod outliers;
mod pairs;
mod population;
mod quality;
mod repair;
pub(super) mod shares;
mod text_groups;
mod texts;
mod unlearning;

use super::document::{Block, Document, Part, Section};
use super::model::{Fact, Findings, Report, RunReport};
use super::text::Text;

/// The document of `report`, with at most `most_pairs` pairs of each audit.
pub(super) fn document(report: &Report, most_pairs: usize) -> Document {
    let mut sections: Vec<Section> = report
        .runs
        .iter()
        .enumerate()
        .map(|(place, run)| {
            let number = (report.runs.len() > 1).then_some(place + 1);
            section(run, number, &format!("run{}", place + 1), most_pairs)
        })
        .collect();
    for (place, comparison) in report.comparisons.iter().enumerate() {
        let id = format!("comparison{}", place + 1);
        sections.extend(comparison::section(report, comparison, id));
    }
    Document {
        title: title(report),
        sections,
    }
}

fn title(report: &Report) -> Text {
    match report.runs.as_slice() {
        [run] => heading(run, None),
        runs => Text::new(format!("Report on {} runs", runs.len())),
    }
}

/// What a run is called: with its number where there are several, as comparisons name them.
fn heading(run: &RunReport, number: Option<usize>) -> Text {
    let number = number.map_or(String::new(), |number| format!("{number}. "));
    Text::new(format!("{number}{}: {}", kind(run), run.name))
}

/// What a run is, in a word or two.
pub(super) fn kind(run: &RunReport) -> &'static str {
    match &run.findings {
        Findings::Audit(_) => "Audit",
        Findings::Repair(_) | Findings::TextRepair(_) => "Repair",
        Findings::Groups(_) | Findings::TextGroups(_) => "Groups",
        Findings::Compare(_) => "Comparison of strategies",
        Findings::Certify(_) => "Certificates",
        Findings::Knn(_) => "k-NN under poisoning",
        Findings::KMeans(_) => "Deletion from k-means",
        Findings::Spn(_) => "Deletion from sum-product networks",
        Findings::OutlierCount(_) | Findings::OutlierSubspaces(_) => "Outliers, privately",
    }
}

fn section(run: &RunReport, number: Option<usize>, id: &str, most_pairs: usize) -> Section {
    let (verdict, mut parts) = match &run.findings {
        Findings::Audit(audit) => audit::parts(audit, id, most_pairs),
        Findings::Repair(repair) => repair::parts(repair, id),
        Findings::TextRepair(repair) => repair::text_parts(repair, id),
        Findings::Groups(groups) => groups::parts(groups, id),
        Findings::TextGroups(groups) => text_groups::parts(groups, id),
        Findings::Compare(compare) => compare::parts(compare, id),
        Findings::Certify(certify) => certify::parts(certify, id),
        Findings::Knn(knn) => knn::parts(knn, id),
        Findings::KMeans(bench) => unlearning::kmeans_parts(bench, id),
        Findings::Spn(bench) => unlearning::spn_parts(bench),
        Findings::OutlierCount(release) => outliers::count_parts(release),
        Findings::OutlierSubspaces(release) => outliers::subspace_parts(release),
    };
    parts.insert(0, subject(run));
    parts.extend(reproduction(run));
    Section {
        id: id.to_owned(),
        title: heading(run, number),
        verdict,
        parts,
    }
}

/// What was looked at, when and by which version.
pub(super) fn subject(run: &RunReport) -> Part {
    let said = |value: &Option<String>| value.clone().unwrap_or_else(|| "not recorded".to_owned());
    let mut facts = vec![("Run".to_owned(), run.directory.display().to_string())];
    facts.extend(
        run.subject
            .iter()
            .map(|fact| (fact.name.clone(), fact.value.clone())),
    );
    facts.push(("Ended (UTC)".to_owned(), said(&run.ended)));
    facts.push(("Probity".to_owned(), said(&run.probity_version)));
    let shown = |facts: &[(String, String)]| {
        let facts = facts.iter();
        facts
            .map(|(name, value)| (name.as_str().into(), Text::value(value)))
            .collect()
    };
    let mut part = Part::new("What was looked at").with(Block::Facts(shown(&facts)));
    if !run.options.is_empty() {
        let pairs = |fact: &Fact| (fact.name.clone(), fact.value.clone());
        let options: Vec<(String, String)> = run.options.iter().map(pairs).collect();
        part = part.with(Block::Folded {
            title: "Options that were given or settled".into(),
            facts: shown(&options),
        });
    }
    part
}

fn reproduction(run: &RunReport) -> Option<Part> {
    let command = run.reproduce.as_deref()?;
    let part = Part::new("Do it again").say(
        "This command repeats the run, as the run.toml of its directory says it, into a new directory. With the same model, data \
         and seed it gives the same results, whatever the number of threads.",
    );
    Some(part.with(Block::Command(command.into())))
}
