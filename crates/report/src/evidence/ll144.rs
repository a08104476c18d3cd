//! The summary of results of a bias audit by New York City's Local Law 144: what 6 RCNY § 5-303 has
//! published, from the figures of § 5-301, as a page and as a table.
//!
//! The table has a line for each category and one for the people whose category is not known, by
//! sex, by race/ethnicity, by both; each line holds the run and the facts of the audit, so that it
//! stands alone.

use super::{BLANK, Inputs, circumstances, refused};
use crate::compose::impact::categories;
use crate::compose::shares::crossed;
use crate::compose::subject::{provenance, subject};
use crate::document::{Block, Document, Part, Section};
use crate::error::PageError;
use crate::form::Form;
use crate::html;
use crate::model::{
    Findings, GroupRunFindings, Impact, ImpactCategory, ImpactRate, ImpactSet, Report, RunReport,
};
use crate::text::{Text, count};
use probity_run::spreadsheet::safe;

/// What it is made of.
const TAKES: &str = "runs of 'probity groups' on tables with impact.sex and impact.race_ethnicity";

/// The columns of the table.
const COLUMNS: [&str; 24] = [
    "run",
    "tool",
    "audit_date",
    "distribution_date",
    "data_kind",
    "data_source",
    "data_explanation",
    "by",
    "sex",
    "race_ethnicity",
    "applicants",
    "share_of_data",
    "rate_kind",
    "counted",
    "rate",
    "rate_low95",
    "rate_high95",
    "impact_ratio",
    "excluded",
    "exclusion_reason",
    "selected_class",
    "circumstances",
    "model_sha256",
    "data_sha256",
];

/// What the three sets are by: which of the two attributes.
const SETS: [(&str, &[usize]); 3] = [
    ("sex", &[0]),
    ("race_ethnicity", &[1]),
    ("sex_and_race_ethnicity", &[0, 1]),
];

/// A bias audit: a run with impact ratios.
struct Audit<'r> {
    run: &'r RunReport,
    findings: &'r GroupRunFindings,
    impact: &'r Impact,
}

impl Audit<'_> {
    /// The facts of the audit in the order of the columns.
    fn facts(&self) -> [String; 6] {
        let said = &self.findings.publication;
        let day = |moment: &String| moment.get(..10).map(str::to_owned);
        let ended = self.run.ended.as_ref().and_then(day);
        let facts = [
            said.tool.clone(),
            said.audit_date.clone().or(ended),
            said.distribution_date.clone(),
            said.data_kind.clone(),
            said.data_source.clone(),
            said.data_explanation.clone(),
        ];
        facts.map(|fact| fact.unwrap_or_else(|| BLANK.to_owned()))
    }
}

/// The bias audit in `run`, if there is one.
fn audit(run: &RunReport) -> Option<Audit<'_>> {
    let Findings::Groups(findings) = &run.findings else {
        return None;
    };
    let impact = findings.report.impact.as_ref()?;
    Some(Audit {
        run,
        findings,
        impact,
    })
}

impl Report {
    fn bias_audits(&self) -> Result<Vec<Audit<'_>>, PageError> {
        let runs = self.runs.iter();
        runs.map(|run| audit(run).ok_or_else(|| refused(Form::Ll144, TAKES, run)))
            .collect()
    }

    /// The summary of results of bias audits as CSV.
    ///
    /// # Errors
    /// When a run has no impact ratios.
    pub fn to_ll144_csv(&self) -> Result<String, PageError> {
        let mut table = csv::Writer::from_writer(Vec::new());
        table.write_record(COLUMNS)?;
        for audit in self.bias_audits()? {
            for (set, by) in audit.impact.sets.iter().zip(SETS) {
                for category in &set.categories {
                    table.write_record(line(&audit, set, by, Some(category)))?;
                }
                table.write_record(line(&audit, set, by, None))?;
            }
        }
        let bytes = table.into_inner().map_err(|error| error.into_error())?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Returns the summary of results as a page.
    ///
    /// # Errors
    /// When a run has no impact ratios.
    pub fn to_ll144_html(&self) -> Result<String, PageError> {
        let audits = self.bias_audits()?;
        let sections = audits.iter().enumerate();
        let sections: Vec<Section> = sections
            .map(|(place, audit)| section(audit, format!("audit{}", place + 1)))
            .collect();
        let title = match sections.as_slice() {
            [one] => one.title.clone(),
            _ => Text::new("Summary of results of bias audits"),
        };
        html::render(&Document { title, sections })
    }
}

/// A line of the table; without a category, of those in none.
fn line(
    audit: &Audit<'_>,
    set: &ImpactSet,
    (by, attributes): (&str, &[usize]),
    category: Option<&ImpactCategory>,
) -> Vec<String> {
    let impact = audit.impact;
    let value = |attribute: usize| {
        let place = attributes.iter().position(|other| *other == attribute);
        match (place, category) {
            (None, _) => String::new(),
            (Some(_), None) => "unknown".to_owned(),
            (Some(place), Some(of)) => of.values.get(place).cloned().unwrap_or_default(),
        }
    };
    let mut cells = vec![audit.run.name.clone()];
    cells.extend(audit.facts());
    cells.extend([by.to_owned(), value(0), value(1)]);
    let people = category.map_or(set.unknown, |category| category.rows);
    let share = people as f64 / impact.rows.max(1) as f64;
    cells.extend([people.to_string(), share.to_string()]);
    cells.push(word(impact.rate).to_owned());
    let rate = category.and_then(|category| category.rate.as_ref());
    let figure = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    cells.push(category.map_or(String::new(), |category| category.counted.to_string()));
    cells.push(figure(rate.map(|rate| rate.value)));
    cells.push(figure(rate.map(|rate| rate.ci95[0])));
    cells.push(figure(rate.map(|rate| rate.ci95[1])));
    cells.push(figure(category.and_then(|category| category.impact_ratio)));
    let is_out = category.is_some_and(|category| category.excluded);
    cells.push(category.map_or(String::new(), |category| category.excluded.to_string()));
    let reason = impact.exclusion_reason.clone().filter(|_| is_out);
    cells.push(reason.unwrap_or_default());
    cells.push(audit.findings.report.favourable.clone());
    cells.push(circumstances(audit.run).unwrap_or_default());
    cells.push(audit.findings.model_sha256.clone());
    cells.push(Inputs::from_run(audit.run).sha256);
    cells.iter().map(|cell| safe(cell).into_owned()).collect()
}

fn word(rate: ImpactRate) -> &'static str {
    match rate {
        ImpactRate::Selection => "selection",
        ImpactRate::Scoring => "scoring",
    }
}

fn section(audit: &Audit<'_>, id: String) -> Section {
    let impact = audit.impact;
    let facts = audit.facts();
    let title = match facts[0].as_str() {
        BLANK => "Bias audit: summary of results".to_owned(),
        tool => format!("Bias audit of {}: summary of results", Text::value(tool)),
    };
    let mut parts = vec![published(audit, facts)];
    parts.extend(impact.sets.iter().map(|set| categories(impact, set)));
    parts.extend(subject(audit.run));
    parts.push(limits(impact));
    parts.push(provenance(audit.run));
    Section {
        id,
        title: Text::new(title),
        outcome: None,
        verdict: impact.sets.iter().map(lowest).collect(),
        parts,
    }
}

/// The lowest ratio of a set in words.
fn lowest(set: &ImpactSet) -> Text {
    let by = crossed(&set.attributes);
    let judged = set.categories.iter();
    let judged = judged.filter_map(|category| Some((category, category.impact_ratio?)));
    Text::new(match judged.min_by(|a, b| a.1.total_cmp(&b.1)) {
        None => format!("By {by} there is no impact ratio: nobody is counted in any category."),
        Some((category, ratio)) => format!(
            "By {by} the lowest impact ratio is {ratio:.3}, of {}.",
            category.values.join(", ")
        ),
    })
}

/// What § 5-303 has published beside the figures.
fn published(audit: &Audit<'_>, facts: [String; 6]) -> Part {
    let names = [
        "Tool",
        "Date of the bias audit",
        "Tool distributed from",
        "Kind of the data",
        "Source of the data",
        "Explanation of the data",
    ];
    let mut shown: Vec<(Text, Text)> = names
        .into_iter()
        .zip(facts)
        .map(|(name, fact)| (name.into(), Text::new(fact)))
        .collect();
    let mut fact = |name: String, value: String| shown.push((name.into(), value.into()));
    let good = &audit.findings.report.favourable;
    let selected = match audit.impact.rate {
        ImpactRate::Selection => format!("predicted ‘{}’", Text::value(good)),
        ImpactRate::Scoring => format!("score of ‘{}’ above the median", Text::value(good)),
    };
    fact("Selected means".to_owned(), selected);
    if let Some(circumstances) = circumstances(audit.run) {
        let note = "; what is not decided is not selected";
        fact(
            "Under these circumstances".to_owned(),
            format!("{circumstances}{note}"),
        );
    }
    fact("People assessed".to_owned(), count(audit.impact.rows));
    for set in &audit.impact.sets {
        let name = format!("Of these, category by {} unknown", crossed(&set.attributes));
        fact(name, count(set.unknown));
    }
    if let Some(data) = &audit.findings.data {
        let name = "Rows of the file left out".to_owned();
        fact(name, count(data.left_out()));
    }
    if let Some(median) = audit.impact.median {
        fact("Median score".to_owned(), median.to_string());
    }
    Part::new("What the audit was made of").with(Block::Facts(shown))
}

fn limits(impact: &Impact) -> Part {
    let what = match impact.rate {
        ImpactRate::Selection => {
            "A selection rate is the share of a category that the model predicts as the favourable class."
        }
        ImpactRate::Scoring => {
            "A scoring rate is the share of a category whose predicted probability of the favourable class is above the \
             median of all people assessed, those of unknown categories among them."
        }
    };
    Part::limits([
        format!("{what} An impact ratio is a rate over the highest rate of the same table."),
        "The figures are those of 6 RCNY § 5-301, the facts those of § 5-303, as in force since 2023. Whether the tool falls under the law, whether the auditor is independent, and whether the categories are those of the EEO-1 report is not known here.".to_owned(),
        "The law sets no bound on a ratio. A ratio of a small category moves with few people: see the interval of its rate.".to_owned(),
    ])
}
