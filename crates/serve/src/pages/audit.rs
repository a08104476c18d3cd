//! Audit a model.

use axum::extract::State;
use axum::http::StatusCode;

use super::answer::{Answer, note, page_with, redirect};
use super::form::{Choice, Field, Form};
use super::named::Named;
use super::options::{choice, choices_of, names, number, value};
use super::sent::SentForm;
use super::session::Visitor;
use super::views::AuditPage;
use super::words::list;
use crate::Service;
use crate::identifier::Id;
use crate::jobs::request::{AuditTable, AuditTexts, JobRequest, Search};
use crate::operations::{data, jobs, lexicon_attributes, models};
use crate::problem::Problem;
use crate::store::{ColumnKind, DataKind, DataSet, Model, ModelKind};
use probity_fairness::audit::StrategyName;
use probity_fairness::samples::SamplesFormat;

/// A model, and the data sets that its search can start from.
struct Subject {
    model: Model,
    data: Vec<DataSet>,
}

/// The form.
pub(super) async fn show(
    State(service): State<Service>,
    visitor: Visitor,
    Named(id): Named,
) -> Answer {
    let subject = Subject::of(&service, &id).await?;
    draw(StatusCode::OK, &visitor, &subject, &initial(&subject))
}

/// Starts the audit.
pub(super) async fn start(
    State(service): State<Service>,
    Named(id): Named,
    sent: SentForm,
) -> Answer {
    let subject = Subject::of(&service, &id).await?;
    let mut form = sent.form;
    if let Some((label, request)) = request(&mut form, &subject) {
        match jobs::start_job(&service, sent.visitor.caller(), &label, request).await {
            Ok(view) => return Ok(redirect(&format!("/jobs/{}", view.job.id))),
            Err(problem) => note(&mut form, problem)?,
        }
    }
    draw(
        StatusCode::UNPROCESSABLE_ENTITY,
        &sent.visitor,
        &subject,
        &form,
    )
}

impl Subject {
    async fn of(service: &Service, id: &Id) -> Result<Subject, Problem> {
        let model = models::model(service, id).await?;
        let mut data = data::list_data(service).await?;
        data.retain(|data| fits(&model, data));
        // The data that the model learnt from come first.
        data.sort_by_key(|data| model.data.as_ref() != Some(&data.id));
        Ok(Subject { model, data })
    }

    fn is_of_texts(&self) -> bool {
        self.model.description.kind == ModelKind::Texts
    }

    /// What can be chosen as the start of the search: a data set, and for texts its column.
    fn starts(&self) -> Vec<Choice> {
        let columns = |data: &DataSet| -> Vec<Choice> {
            let columns = data.sketch.columns.iter().enumerate();
            columns
                .filter(|(_, column)| column.kind == ColumnKind::Words)
                .map(|(position, column)| {
                    Choice::new(
                        format!("{}.{position}", data.id),
                        format!("{}, column {}", data.label, column.name),
                    )
                })
                .collect()
        };
        let starts = |data: &DataSet| match data.sketch.columns.is_empty() || !self.is_of_texts() {
            true => vec![Choice::new(data.id.as_str(), &data.label)],
            false => columns(data),
        };
        self.data.iter().flat_map(starts).collect()
    }

    /// The data set and the column that were chosen.
    fn start(&self, chosen: &str) -> Option<(Id, Option<String>)> {
        let (id, position) = match chosen.split_once('.') {
            Some((id, position)) => (id, Some(position)),
            None => (chosen, None),
        };
        let data = self.data.iter().find(|data| data.id.as_str() == id)?;
        let column = match position {
            Some(position) => {
                let column = data.sketch.columns.get(position.parse::<usize>().ok()?)?;
                Some(column.name.clone())
            }
            None => None,
        };
        Some((data.id.clone(), column))
    }

    /// The attributes that can be protected.
    fn attributes(&self) -> Vec<String> {
        match self.is_of_texts() {
            true => lexicon_attributes(),
            false => self.model.description.attributes.clone(),
        }
    }
}

/// Whether a data set has what the model looks at.
fn fits(model: &Model, data: &DataSet) -> bool {
    match (model.description.kind, data.kind) {
        (ModelKind::Texts, DataKind::Texts) => true,
        (ModelKind::Table, DataKind::Table) => model.description.attributes.iter().all(|name| {
            let columns = data.sketch.columns.iter();
            columns
                .map(|column| &column.name)
                .any(|column| column == name)
        }),
        _ => false,
    }
}

fn initial(subject: &Subject) -> Form {
    let search = Search::default();
    let mut form = Form::default()
        .with("effort", "standard")
        .with("estimate", search.estimate.to_string())
        .with("samples", "csv")
        .with("seed", search.seed.to_string());
    let marked = &subject.model.description.protected;
    for name in marked {
        form.add("protected", name);
    }
    form
}

/// How far a search goes by the answer to "how long": seeds, local trials and minutes.
fn effort(answer: &str) -> (u32, u32, u64) {
    match answer {
        "quick" => (200, 100, 1),
        "thorough" => (5000, 2000, 30),
        _ => (1000, 1000, 5),
    }
}

fn search(form: &mut Form) -> Search {
    let defaults = Search::default();
    let whole = "a whole number";
    let (seeds, local, minutes) = effort(form.value("effort"));
    let minutes: u64 = form.number("minutes", whole).unwrap_or(minutes);
    Search {
        seeds: form.number("seeds", whole).unwrap_or(seeds),
        local: form.number("local", whole).unwrap_or(local),
        time_seconds: Some(minutes.saturating_mul(60)),
        estimate: form.number("estimate", whole).unwrap_or(defaults.estimate),
        fail_above: form.percentage("fail_above"),
        samples: value::<SamplesFormat>(form.value("samples")).unwrap_or(defaults.samples),
        seed: form.number("seed", whole).unwrap_or(defaults.seed),
        ..defaults
    }
}

/// What the form asks for and what it is called, or errors in the form.
fn request(form: &mut Form, subject: &Subject) -> Option<(String, JobRequest)> {
    let search = search(form);
    let attributes = subject.attributes();
    let protected: Vec<String> = form
        .all("protected")
        .iter()
        .filter(|name| attributes.contains(name))
        .cloned()
        .collect();
    if protected.is_empty() {
        form.refuse("protected", "Choose at least one protected attribute.");
    }
    let start = subject.start(form.value("data"));
    if start.is_none() {
        form.refuse("data", "Choose the data that the search starts from.");
    }
    let (data, text_column) = start?;
    if form.has_errors() {
        return None;
    }
    let label = format!("{} by {}", subject.model.label, list(&protected));
    let label: String = label.chars().take(100).collect();
    let model = subject.model.id.clone();
    let request = match subject.is_of_texts() {
        false => JobRequest::AuditTable(AuditTable {
            model,
            data,
            protected,
            strategy: value::<StrategyName>(form.value("strategy")),
            search,
        }),
        true => JobRequest::AuditTexts(AuditTexts {
            model,
            data,
            text_column,
            protected,
            strategy: value::<StrategyName>(form.value("strategy")),
            neighbours: 10,
            max_l0: None,
            min_similarity: None,
            search,
        }),
    };
    Some((label, request))
}

fn fields(subject: &Subject) -> Vec<Field> {
    let mut strategies = match subject.is_of_texts() {
        true => choices_of(&StrategyName::OF_TEXTS),
        false => choices_of(&StrategyName::OF_TABLES),
    };
    strategies.insert(0, Choice::new("", "The best known one"));
    let estimated = match subject.is_of_texts() {
        true => "Texts for the estimate",
        false => "Random inputs for the estimate",
    };
    vec![
        choice("strategy", "Way of searching", "", strategies),
        number(
            "seeds",
            "Rows that the search starts from",
            "Empty: as long as chosen above.",
        ),
        number(
            "local",
            "Trials around each individual found",
            "Empty: as long as chosen above.",
        ),
        number(
            "minutes",
            "Minutes at most",
            "Empty: as long as chosen above.",
        ),
        number("estimate", estimated, "More make the interval narrower."),
        choice(
            "samples",
            "File of the pairs that are found",
            "",
            Choice::list(&[
                ("csv", "CSV, which spreadsheets read"),
                ("parquet", "Parquet, which is smaller"),
            ]),
        ),
        number("seed", "Seed", "The same seed finds the same pairs."),
    ]
}

fn draw(status: StatusCode, visitor: &Visitor, subject: &Subject, form: &Form) -> Answer {
    let fields = fields(subject);
    let attributes: Vec<Choice> = subject
        .attributes()
        .iter()
        .map(|name| Choice::new(name, name))
        .collect();
    page_with(
        status,
        &AuditPage {
            frame: &visitor.frame(""),
            form,
            id: subject.model.id.as_str(),
            label: &subject.model.label,
            data: &subject.starts(),
            attributes: &attributes,
            efforts: &Choice::list(&[
                ("quick", "Quick: a first look, a minute at most"),
                ("standard", "Standard: five minutes at most"),
                ("thorough", "Thorough: half an hour at most"),
            ]),
            advanced: &names(&fields),
            fields: &fields,
        },
    )
}
