//! Audit a model.

use axum::extract::State;
use axum::http::StatusCode;
use serde_json::{Value, json};

use super::answer::{Answer, note, page_with, redirect};
use super::form::{Choice, Form};
use super::named::Named;
use super::options::{Options, insert, names, specified};
use super::sent::SentForm;
use super::session::Visitor;
use super::views::AuditPage;
use super::words::list;
use crate::Service;
use crate::identifier::Id;
use crate::jobs::specification::JobSpecification;
use crate::operations::{data, jobs, lexicon_attributes, models};
use crate::problem::Problem;
use crate::store::{ColumnKind, DataKind, DataSet, JobKind, Model, ModelKind};
use probity_fairness::strategies::StrategyName;
use probity_nn::modality::ModalityName;

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
    if let Some((label, asked)) = specification(&mut form, &subject) {
        match jobs::start_job(&service, sent.visitor.caller(), &label, asked).await {
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

    fn modality(&self) -> ModalityName {
        match self.is_of_texts() {
            true => ModalityName::Text,
            false => ModalityName::Table,
        }
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

/// The fields of an audit that the page shows, those that most people leave alone from the second on.
fn options(subject: &Subject) -> (Options, Options) {
    let words: Vec<&str> = StrategyName::of(subject.modality())
        .iter()
        .map(|strategy| strategy.name())
        .collect();
    let advanced = [
        "strategy",
        "search.seeds",
        "search.local",
        "budget.time",
        "estimate",
        "samples_format",
        "seed",
    ];
    let advanced = Options::of(JobKind::Audit, &advanced).only("strategy", &words);
    (Options::of(JobKind::Audit, &["fail_above"]), advanced)
}

fn initial(subject: &Subject) -> Form {
    let mut form = Form::default();
    let (first, advanced) = options(subject);
    first.fill(&mut form);
    advanced.fill(&mut form);
    // The answer to "how long" says how far, unless a number does.
    for field in EFFORT {
        form.set(field, "");
    }
    form.set("effort", "standard");
    form.set("samples_format", "csv");
    for name in &subject.model.description.protected {
        form.add("protected", name);
    }
    form
}

/// The fields that the answer to "how long" fills in.
const EFFORT: [&str; 3] = ["search.seeds", "search.local", "budget.time"];

/// How far a search goes by the answer to "how long": seeds, local trials and time.
fn effort(answer: &str) -> [Value; 3] {
    match answer {
        "quick" => [200.into(), 100.into(), "1m".into()],
        "thorough" => [5000.into(), 2000.into(), "30m".into()],
        _ => [1000.into(), 1000.into(), "5m".into()],
    }
}

/// What the form asks for and what it is called, or errors in the form.
fn specification(form: &mut Form, subject: &Subject) -> Option<(String, JobSpecification)> {
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
    let label = format!("{} by {}", subject.model.label, list(&protected));
    let mut asked = json!({
        "kind": JobKind::Audit, "modality": subject.modality(), "model": subject.model.id, "data": data,
        "protected": protected,
    });
    if let Some(column) = text_column {
        insert(&mut asked, "text.column", column.into());
    }
    for (field, value) in EFFORT.into_iter().zip(effort(form.value("effort"))) {
        insert(&mut asked, field, value);
    }
    let (first, advanced) = options(subject);
    first.read(form, &mut asked);
    advanced.read(form, &mut asked);
    let specification = specified(form, asked)?;
    Some((label.chars().take(100).collect(), specification))
}

fn draw(status: StatusCode, visitor: &Visitor, subject: &Subject, form: &Form) -> Answer {
    let (first, advanced) = options(subject);
    let fields = advanced.inputs();
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
            fail_above: &first.input("fail_above"),
            advanced: &names(&fields),
            fields: &fields,
        },
    )
}
