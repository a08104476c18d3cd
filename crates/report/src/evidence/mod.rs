//! Runs in the forms that rules and registers ask for.
//!
//! [`ll144`] is the summary of results of a bias audit, [`cyclonedx`] a bill of materials of models,
//! [`ai_act`] an annex of technical documentation, [`croissant`] a description of data. Each form
//! says of which runs it can be made and refuses the others. What a form has a place for and no run
//! knows is shown as [`BLANK`]. What the forms share is here: which figures a run has
//! ([`measures`]), its model and its inputs.

mod ai_act;
mod croissant;
mod cyclonedx;
mod ll144;
pub(super) mod measures;

use super::error::PageError;
use super::form::Form;
use super::model::{Fact, Findings, Report, Role, RunReport};
use super::text::not_taken_sentence;

/// What stands where only people know what to say.
const BLANK: &str = "TO BE FILLED IN";

/// What forms about models are made of.
const MODELS: &str = "runs of audit, groups, repair and certify";

/// Returns what the figures of `runs` do not say, whatever they are.
pub(super) fn caveats<'r>(runs: impl IntoIterator<Item = &'r RunReport>) -> Vec<&'static str> {
    let compares = |run: &RunReport| {
        matches!(
            run.findings,
            Findings::Counterparts(_) | Findings::Proxies(_) | Findings::Situations(_)
        )
    };
    let (people, others): (Vec<bool>, Vec<bool>) = runs
        .into_iter()
        .map(compares)
        .partition(|compares| *compares);
    let mut caveats = Vec::new();
    if !others.is_empty() || people.is_empty() {
        caveats.extend([
            "A discriminatory share is of the given rows or texts, or of random inputs (tables), not of the people that the model will decide about.",
            "Only the protected attributes named were examined, by changing them; discrimination through attributes that go along with them is not seen.",
            "A search that finds nothing proves nothing. Certificates are proofs, each of one input.",
        ]);
    }
    if !people.is_empty() {
        caveats.extend([
            "People who are compared with others are near them in what the data say, not alike in all that matters: a difference proves no cause, and where discrimination has moved what they are compared by, comparisons say too little.",
            "Only the groups named were examined; somebody who is not found may be discriminated against all the same.",
        ]);
    }
    caveats.push("Intervals cover chance in drawing inputs, not what was left out.");
    caveats
}

/// That `run` is none that `form` is made of.
fn refused(form: Form, takes: &'static str, run: &RunReport) -> PageError {
    PageError::NotOf {
        form: form.name(),
        takes,
        directory: run.directory.clone(),
        command: run.command.clone(),
    }
}

/// Refuses runs that are of no classifier.
fn of_models(report: &Report, form: Form, takes: &'static str) -> Result<(), PageError> {
    let is_of_model = |run: &&RunReport| {
        matches!(
            run.findings,
            Findings::Audit(_)
                | Findings::Groups(_)
                | Findings::TextGroups(_)
                | Findings::Repair(_)
                | Findings::TextRepair(_)
                | Findings::Certify(_)
                | Findings::Prove(_)
        )
    };
    match report.runs.iter().find(|run| !is_of_model(run)) {
        Some(run) => Err(refused(form, takes, run)),
        None => Ok(()),
    }
}

/// The sentences on what the figures of `runs` do not say.
fn limits(runs: &[&RunReport]) -> Vec<String> {
    let mut all: Vec<String> = caveats(runs.iter().copied())
        .into_iter()
        .map(str::to_owned)
        .collect();
    for run in runs {
        if let Findings::Audit(audit) = &run.findings {
            let summary = &audit.summary;
            all.extend(not_taken_sentence(&summary.not_taken, &summary.protected));
        }
        if let Findings::Audit(audit) = &run.findings
            && let Some(alike) = &audit.summary.decides_alike
        {
            all.push(format!(
                "All {} inputs that were tried are decided '{}'.",
                alike.inputs, alike.class
            ));
        }
    }
    all
}

/// The model that a run is of: of a repair that was saved, the repaired one.
struct Model {
    name: String,
    sha256: String,
    repaired_from: Option<Box<Model>>,
}

impl Model {
    fn from_run(run: &RunReport) -> Model {
        let model = run.named(&[Role::Model, Role::Predictor]);
        let given = Model {
            name: model.map_or(BLANK.to_owned(), Fact::last_part),
            sha256: run.fact(&[Role::ModelHash]).unwrap_or_default().to_owned(),
            repaired_from: None,
        };
        let repaired = match &run.findings {
            Findings::Repair(repair) => repair.repaired_sha256.clone(),
            Findings::TextRepair(repair) => repair.repaired_sha256.clone(),
            _ => None,
        };
        match repaired {
            Some(sha256) => Model {
                name: run.shown_name().to_owned(),
                sha256,
                repaired_from: Some(Box::new(given)),
            },
            None => given,
        }
    }
}

/// What the model of a run was asked about.
struct Inputs {
    /// The file as it was given.
    path: String,
    name: String,
    sha256: String,
}

impl Inputs {
    fn from_run(run: &RunReport) -> Inputs {
        let data = run.named(&[Role::Data, Role::Texts]);
        let hashes = [Role::DataHash, Role::TextsHash, Role::InputsHash];
        Inputs {
            path: data.map_or(BLANK, |data| data.value.as_str()).to_owned(),
            name: data.map_or(BLANK.to_owned(), Fact::last_part),
            sha256: run.fact(&hashes).unwrap_or_default().to_owned(),
        }
    }
}

/// What the figures of a run are of, where that is not the whole of its data or not what is decided
/// for the most probable class.
fn circumstances(run: &RunReport) -> Option<String> {
    let names = [
        ("part", "part"),
        ("population.part", "part"),
        ("decision.threshold", "threshold"),
        ("decision.abstain", "undecided"),
        ("gap", "gap"),
    ];
    let said = names.iter().filter_map(|(option, name)| {
        let of = run.options.iter().find(|fact| fact.name == *option)?;
        Some(format!("{name} {}", of.value))
    });
    let said: Vec<String> = said.collect();
    (!said.is_empty()).then(|| said.join(", "))
}
