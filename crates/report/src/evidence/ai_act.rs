//! An annex for the technical documentation of a high-risk system by the AI Act: what point 2(g) of
//! Annex IV asks for, as far as runs have it.
//!
//! The point names validation and testing procedures, the data used for them and their main
//! characteristics, metrics of accuracy, robustness and compliance and of potentially discriminatory
//! impacts, and test logs and reports, dated and signed. Each has a part here; what no run knows is
//! left open in plain sight.

use super::measures::{Measure, Subject, measures, rates_of_groups};
use super::{BLANK, Inputs, Model, caveats, refused};
use crate::document::{Block, Document, Part, Section, Table};
use crate::error::PageError;
use crate::form::Form;
use crate::model::{Findings, Report, Role, RunReport};
use crate::text::{Text, count, counted};
use crate::{html, markdown};

/// What it is made of.
const TAKES: &str = "runs of audit, groups, repair, certify and knn";

/// Which text is followed.
const VERSION: &str = "This annex follows Annex IV, point 2(g), of Regulation (EU) 2024/1689 (AI Act) as published on 12 July 2024. \
    The amendment of 2026 moved the application of the duties for high-risk systems to December 2027 and August 2028; whether it or a \
    later one changed this point is to be checked by whoever signs.";

/// Rates of groups that are listed of a run.
const MOST_RATES: usize = 400;

impl Report {
    fn annex(&self) -> Result<Document, PageError> {
        for run in &self.runs {
            if procedure(run).is_none() {
                return Err(refused(Form::AiAct, TAKES, run));
            }
        }
        let parts = vec![
            Part::new("What this annex follows").say(VERSION),
            system(),
            procedures(&self.runs),
            data(&self.runs),
            figures(
                "Metrics of accuracy",
                "Accuracy",
                &self.runs,
                Subject::Quality,
            ),
            figures(
                "Metrics of robustness",
                "Robustness",
                &self.runs,
                Subject::Robustness,
            ),
            figures(
                "Potentially discriminatory impacts",
                "Discrimination",
                &self.runs,
                Subject::Fairness,
            ),
            logs(&self.runs),
            signature(),
            open(&self.runs),
        ];
        let title = Text::new("AI Act, Annex IV, point 2(g): validation and testing");
        let runs = counted(self.runs.len() as u64, "run", "runs");
        let verdict = format!("Made of {runs} of Probity; what is marked {BLANK} no run knows.");
        Ok(Document {
            title: title.clone(),
            sections: vec![Section {
                id: "annex".to_owned(),
                title,
                outcome: None,
                verdict: vec![Text::new(verdict)],
                parts,
            }],
        })
    }

    /// The annex as a page.
    ///
    /// # Errors
    /// When a run is of no kind that it is made of.
    pub fn to_ai_act_html(&self) -> Result<String, PageError> {
        html::render(&self.annex()?)
    }

    /// The annex as Markdown.
    ///
    /// # Errors
    /// When a run is of no kind that it is made of.
    pub fn to_ai_act_markdown(&self) -> Result<String, PageError> {
        Ok(markdown::render(&self.annex()?))
    }
}

/// What was done, in words; nothing for runs that the annex is not made of.
fn procedure(run: &RunReport) -> Option<&'static str> {
    Some(match &run.findings {
        Findings::Audit(_) => {
            "Search for inputs whose decision changes when protected attributes alone do, and estimates of their share"
        }
        Findings::Groups(_) => {
            "Rates and errors of groups of labelled rows, and how far they are apart"
        }
        Findings::TextGroups(_) => {
            "Areas under ROC curves and errors of the labelled texts that name a group"
        }
        Findings::Counterparts(_) => {
            "Test by counterparts: the decisions about people of a group beside those about the people outside of it whom optimal transport matches them with"
        }
        Findings::Proxies(_) => {
            "Search for proxies: how well the other columns tell a protected attribute, cross-validated, and how unequal decisions by them can be"
        }
        Findings::Situations(_) => {
            "Situation testing: the decisions about people of a group beside those about the people most like them outside of it, with exact tests"
        }
        Findings::Repair(_) | Findings::TextRepair(_) => {
            "Retraining against discrimination, and the same figures before and after on inputs held out"
        }
        Findings::Certify(_) => {
            "Proofs for single inputs that no change of protected attributes changes the decision"
        }
        Findings::Prove(_) => {
            "Proofs about the whole domain: for which share of it no change of protected attributes changes the decision"
        }
        Findings::Knn(_) => {
            "Proofs and counterexamples for predictions when some training rows are taken away"
        }
        Findings::Training(_)
        | Findings::Import(_)
        | Findings::Evaluation(_)
        | Findings::Compare(_)
        | Findings::KMeans(_)
        | Findings::Spn(_)
        | Findings::KMeansFit(_)
        | Findings::SpnFit(_)
        | Findings::OutlierCount(_)
        | Findings::OutlierSubspaces(_) => return None,
    })
}

fn blanks(names: &[&str]) -> Block {
    let blank = |name: &&str| ((*name).into(), Text::new(BLANK));
    Block::Facts(names.iter().map(blank).collect())
}

fn system() -> Part {
    Part::new("The system").with(blanks(&[
        "Name and version of the system",
        "Provider",
        "Intended purpose",
        "Part of the system that the models below are",
    ]))
}

fn cells(text: &str) -> String {
    Text::value(text).to_string()
}

fn procedures(runs: &[RunReport]) -> Part {
    let rows = runs.iter().map(|run| {
        let protected = run.fact(&[Role::Protected]).unwrap_or("–");
        vec![
            cells(run.shown_name()),
            run.findings.kind().to_owned(),
            procedure(run).unwrap_or_default().to_owned(),
            cells(protected),
        ]
    });
    let table = Table::new(
        "What was done",
        &["Run", "Kind", "Procedure", "Protected attributes"],
        rows.collect(),
    );
    let mut part = Part::new("Validation and testing procedures").with(Block::Table(table));
    let commands = runs.iter().filter_map(|run| run.reproduce.as_deref());
    let commands: Vec<&str> = commands.collect();
    if !commands.is_empty() {
        part = part
            .say("Each of these commands does a run again, with all of its options, and comes to the same results:")
            .with(Block::Command(Text::new(commands.join("; "))));
    }
    part.with(blanks(&[
        "Why these procedures, and the thresholds that were set before",
        "Tests of the system as a whole",
    ]))
}

fn data(runs: &[RunReport]) -> Part {
    let rows = runs.iter().map(|run| {
        let inputs = Inputs::from_run(run);
        let (rows, left_out) = sizes(run);
        let shown = |number: Option<u64>| number.map_or("–".to_owned(), count);
        let part = run.fact(&[Role::Part]).unwrap_or("–");
        vec![
            cells(run.shown_name()),
            cells(&inputs.path),
            inputs.sha256,
            shown(rows),
            shown(left_out),
            cells(part),
        ]
    });
    let table = Table::new(
        "Data that models were tested with",
        &["Run", "File", "SHA-256", "Inputs", "Left out", "Part"],
        rows.collect(),
    );
    let mut part = Part::new("Data and their main characteristics").with(Block::Table(table));
    let groups = runs.iter().flat_map(composition).collect::<Vec<_>>();
    if !groups.is_empty() {
        part = part.with(Block::Table(Table::new(
            "Inputs by protected attribute",
            &["Run", "Attribute", "Value", "Inputs"],
            groups,
        )));
    }
    part.with(blanks(&[
        "Origin of the data and how they were collected",
        "How they were labelled and prepared",
        "Whether they represent the persons that the system is meant for",
    ]))
}

/// Inputs that a run looked at, and those that it left out.
fn sizes(run: &RunReport) -> (Option<u64>, Option<u64>) {
    match &run.findings {
        Findings::Audit(audit) => {
            let summary = &audit.summary;
            let rows = summary
                .data
                .as_ref()
                .map(|data| (data.rows, data.left_out()));
            let texts = summary.texts.as_ref();
            let texts =
                texts.map(|texts| (texts.with_protected_term, texts.without_protected_term));
            let both = rows.or(texts);
            (both.map(|both| both.0), both.map(|both| both.1))
        }
        Findings::Groups(groups) => {
            let left_out = groups.data.as_ref().map(|data| data.left_out());
            (Some(groups.report.rows), left_out)
        }
        Findings::TextGroups(groups) => (Some(groups.texts), None),
        Findings::Repair(repair) => (Some(repair.before.held_out.rows()), None),
        Findings::TextRepair(repair) => (Some(repair.test_texts), None),
        Findings::Certify(certify) => (certify.sets.last().map(|set| set.inputs), None),
        Findings::Knn(knn) => (
            knn.summary.sweep.first().map(|figures| figures.inputs),
            None,
        ),
        _ => (None, None),
    }
}

/// How many inputs have which value of each protected attribute by itself.
fn composition(run: &RunReport) -> Vec<Vec<String>> {
    let row = |attribute: &str, value: &str, inputs: u64| {
        vec![
            cells(run.shown_name()),
            cells(attribute),
            cells(value),
            count(inputs),
        ]
    };
    match &run.findings {
        Findings::Groups(groups) => {
            let sets = groups.report.sets.iter();
            let alone = sets.filter(|set| set.protected.len() == 1);
            alone
                .flat_map(|set| {
                    let groups = set.groups.iter();
                    groups.map(|group| row(&set.protected[0], &group.values.join(", "), group.rows))
                })
                .collect()
        }
        Findings::Audit(audit) => {
            let people = audit.summary.population.iter();
            let sets = people.flat_map(|people| &people.groups);
            let alone = sets.filter(|set| set.attributes.len() == 1);
            alone
                .flat_map(|set| {
                    let groups = set.groups.iter();
                    groups
                        .map(|group| row(&set.attributes[0], &group.values.join(", "), group.rows))
                })
                .collect()
        }
        Findings::TextGroups(groups) => {
            let attributes = groups.attributes.iter();
            attributes
                .flat_map(|of| {
                    let values = of.values.iter();
                    values.map(|value| row(&of.attribute, &value.value, value.texts))
                })
                .collect()
        }
        _ => Vec::new(),
    }
}

fn figures(title: &str, caption: &str, runs: &[RunReport], subject: Subject) -> Part {
    let of_run = |run: &RunReport| -> Vec<Vec<String>> {
        let rates = rates_of_groups(run).into_iter().take(MOST_RATES);
        let all = measures(run).into_iter().chain(rates);
        let shown = |measure: Measure| {
            vec![
                cells(&measure.name()),
                cells(run.shown_name()),
                measure.shown(),
                measure.shown_interval(),
                count(measure.inputs),
            ]
        };
        let of_subject = all.filter(|measure| measure.subject == subject);
        of_subject.map(shown).collect()
    };
    let rows: Vec<Vec<String>> = runs.iter().flat_map(of_run).collect();
    let part = Part::new(title);
    let part = match rows.is_empty() {
        true => part.say(format!("{BLANK}: none of the runs measured this.")),
        false => part.with(Block::Table(Table::new(
            format!("{caption}, with 95\u{a0}% intervals"),
            &["Metric", "Run", "Value", "95\u{a0}% interval", "Inputs"],
            rows,
        ))),
    };
    part.with(blanks(&[
        "Why these metrics, and what follows from the figures",
    ]))
}

fn logs(runs: &[RunReport]) -> Part {
    let rows = runs.iter().map(|run| {
        let said = |value: &Option<String>| value.clone().unwrap_or_else(|| "–".to_owned());
        let model = Model::from_run(run);
        vec![
            cells(run.shown_name()),
            said(&run.ended),
            said(&run.probity_version),
            model.sha256,
            Inputs::from_run(run).sha256,
            run.summary_sha256.clone(),
            if run.is_sealed { "seal.json" } else { "–" }.to_owned(),
        ]
    });
    let header = [
        "Run",
        "Ended (UTC)",
        "Probity",
        "SHA-256 of the model",
        "SHA-256 of the data",
        "SHA-256 of the log (summary.json)",
        "Seal",
    ];
    let table = Table::new("Test logs", &header, rows.collect());
    Part::new("Test logs and reports").with(Block::Table(table)).say(
        "The log of a run is its directory: run.toml, summary.json and the files that these name. A seal is an electronic signature \
         of all of them; probity verify --seal checks it by the public key of whoever signed.",
    )
}

fn signature() -> Part {
    Part::new("Signed by the responsible person").with(blanks(&[
        "Name",
        "Function",
        "Place and date",
        "Signature",
    ]))
}

fn open(runs: &[RunReport]) -> Part {
    let mut limits: Vec<String> = caveats(runs).into_iter().map(str::to_owned).collect();
    limits.push(
        "The other points of Annex IV, cybersecurity measures (point 2(h)) among them, are no part of this annex. Whether the system is a \
         high-risk one, and whether these figures are enough, is for those who sign."
            .to_owned(),
    );
    Part::limits(limits)
}
