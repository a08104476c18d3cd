//! Checks of what a job is asked for, before it waits in the queue: what it reads exists and fits, and its figures are in
//! bounds. What only reading the files can tell, the job itself finds out.

use super::data::data_set;
use super::jobs::job;
use super::models::model;
use super::texts::column_name;
use crate::Service;
use crate::jobs::request::{
    AuditTable, AuditTexts, Course, JobRequest, RepairTable, RepairTexts, Search, TrainTable,
    TrainTexts,
};
use crate::problem::Problem;
use crate::store::{DataKind, DataSet, JobKind, JobState, Model, ModelKind};
use probity_fairness::repair::specification::RepairMethod;
use probity_text::lexicon::Lexicon;

/// Checks `request`, and gives a name for its job.
///
/// # Errors
/// The first thing that is wrong with it.
pub(super) async fn check(service: &Service, request: &JobRequest) -> Result<String, Problem> {
    let data = data_set(service, request.data()).await?;
    let audited = match request.model() {
        Some(id) => Some(model(service, id).await?),
        None => None,
    };
    let model = audited.as_ref().map_or("", |model| model.label.as_str());
    let name = match request.kind() {
        JobKind::Train => format!("Classifier of {}", data.label),
        JobKind::Audit => format!("Audit of {model}"),
        JobKind::Repair => format!("{model}, repaired"),
    };
    match request {
        JobRequest::TrainTable(request) => train_table(request, &data)?,
        JobRequest::TrainTexts(request) => train_texts(request, &data)?,
        JobRequest::AuditTable(request) => audit_table(request, &data, audited.as_ref())?,
        JobRequest::AuditTexts(request) => audit_texts(request, &data, audited.as_ref())?,
        JobRequest::RepairTable(request) => {
            repair_table(service, request, &data, audited.as_ref()).await?;
        }
        JobRequest::RepairTexts(request) => repair_texts(request, &data, audited.as_ref())?,
    }
    Ok(name.chars().take(100).collect())
}

/// The bounds of a figure: its name, least and largest value.
fn within<T: PartialOrd + std::fmt::Display>(
    name: &str,
    value: T,
    least: T,
    most: T,
) -> Result<(), Problem> {
    if value >= least && value <= most {
        return Ok(());
    }
    Err(Problem::invalid(format!(
        "'{name}' is {value}; it is from {least} to {most}."
    )))
}

fn maybe_within<T: PartialOrd + std::fmt::Display>(
    name: &str,
    value: Option<T>,
    least: T,
    most: T,
) -> Result<(), Problem> {
    value.map_or(Ok(()), |value| within(name, value, least, most))
}

fn course(course: &Course) -> Result<(), Problem> {
    maybe_within("epochs", course.epochs, 1, 10_000)?;
    maybe_within("batch", course.batch, 1, 65_536)?;
    within("learning_rate", course.learning_rate, 1e-9, 10.0)?;
    within("weight_decay", course.weight_decay, 0.0, 10.0)?;
    within("validation", course.validation, 0.0, 0.9)?;
    within("test", course.test, 0.0, 0.9)?;
    within(
        "validation + test",
        course.validation + course.test,
        0.0,
        0.95,
    )
}

fn search(search: &Search) -> Result<(), Problem> {
    within("seeds", search.seeds, 1, 1_000_000)?;
    within("clusters", search.clusters, 1, 1000)?;
    within("max_iter", search.max_iter, 0, 1000)?;
    within("local", search.local, 0, 1_000_000)?;
    within("estimate", search.estimate, 1, 10_000_000)?;
    maybe_within("time_seconds", search.time_seconds, 1, 10_000_000)?;
    maybe_within("max_found", search.max_found, 1, u64::MAX)?;
    maybe_within("fail_above", search.fail_above, 0.0, 1.0)
}

fn expect_data(data: &DataSet, kind: DataKind) -> Result<(), Problem> {
    match (data.kind == kind, kind) {
        (true, _) => Ok(()),
        (false, DataKind::Table) => Err(Problem::invalid("The data set holds texts, no table.")),
        (false, DataKind::Texts) => Err(Problem::invalid("The data set is a table, not texts.")),
    }
}

fn expect_model(model: Option<&Model>, kind: ModelKind) -> Result<&Model, Problem> {
    match model {
        Some(model) if model.description.kind == kind => Ok(model),
        Some(_) if kind == ModelKind::Table => Err(Problem::invalid(
            "The model classifies texts, not rows of a table.",
        )),
        Some(_) => Err(Problem::invalid(
            "The model classifies rows of a table, not texts.",
        )),
        None => Err(Problem::not_found("model")),
    }
}

fn expect_column(data: &DataSet, name: &str) -> Result<(), Problem> {
    match data.sketch.columns.iter().any(|column| column.name == name) {
        true => Ok(()),
        false => Err(Problem::invalid(format!(
            "The data set has no column '{name}'."
        ))),
    }
}

fn train_table(request: &TrainTable, data: &DataSet) -> Result<(), Problem> {
    expect_data(data, DataKind::Table)?;
    if !data.has_schema {
        return Err(Problem::conflict(
            "The table has no schema yet; draft one, and mark what is protected.",
        ));
    }
    within("number of hidden layers", request.hidden.len(), 1, 16)?;
    for &width in &request.hidden {
        within("hidden", width, 1, 2048)?;
    }
    within("dropout", request.dropout, 0.0, 0.95)?;
    course(&request.course)
}

fn train_texts(request: &TrainTexts, data: &DataSet) -> Result<(), Problem> {
    expect_data(data, DataKind::Texts)?;
    if data.form.is_lines() {
        return Err(Problem::invalid(
            "A file with a text on each line has no labels to learn; upload a table with a column of texts and one of labels.",
        ));
    }
    expect_column(data, &request.text_column)?;
    expect_column(data, &request.label_column)?;
    within("layers", request.layers, 1, 8)?;
    within("units", request.units, 1, 512)?;
    within("max_length", request.max_length, 1, 5000)?;
    course(&request.course)
}

fn audit_table(request: &AuditTable, data: &DataSet, model: Option<&Model>) -> Result<(), Problem> {
    expect_data(data, DataKind::Table)?;
    let model = &expect_model(model, ModelKind::Table)?.description;
    if request.protected.is_empty() && model.protected.is_empty() {
        return Err(Problem::invalid(
            "The model's schema marks no attribute as protected; name those that decisions must not depend on.",
        ));
    }
    known("attribute", &request.protected, &model.attributes)?;
    search(&request.search)
}

/// Checks that all `names` are among the `known` ones.
fn known(what: &str, names: &[String], known: &[String]) -> Result<(), Problem> {
    for name in names {
        column_name(name)?;
        if !known.contains(name) {
            return Err(Problem::invalid(format!(
                "There is no {what} '{name}'; there are {}.",
                known.join(", ")
            )));
        }
    }
    Ok(())
}

/// The protected attributes that there are terms for.
pub fn lexicon_attributes() -> Vec<String> {
    let lexicon = Lexicon::shipped();
    let attributes = lexicon.attributes().iter();
    attributes.map(|attribute| attribute.name.clone()).collect()
}

fn audit_texts(request: &AuditTexts, data: &DataSet, model: Option<&Model>) -> Result<(), Problem> {
    expect_data(data, DataKind::Texts)?;
    expect_model(model, ModelKind::Texts)?;
    match &request.text_column {
        Some(_) if data.form.is_lines() => {
            return Err(Problem::invalid(
                "A file with a text on each line has no columns; leave 'text_column' out.",
            ));
        }
        Some(name) => expect_column(data, name)?,
        None if data.sketch.columns.len() > 1 => {
            return Err(Problem::invalid(
                "The data set has several columns; 'text_column' says which holds the texts.",
            ));
        }
        None => {}
    }
    known(
        "protected attribute",
        &request.protected,
        &lexicon_attributes(),
    )?;
    within("neighbours", request.neighbours, 1, 1000)?;
    maybe_within("max_l0", request.max_l0, 1, 1000)?;
    maybe_within("min_similarity", request.min_similarity, -1.0, 1.0)?;
    search(&request.search)
}

async fn repair_table(
    service: &Service,
    request: &RepairTable,
    data: &DataSet,
    model: Option<&Model>,
) -> Result<(), Problem> {
    expect_data(data, DataKind::Table)?;
    let model = expect_model(model, ModelKind::Table)?;
    within("number of audits", request.audits.len(), 1, 16)?;
    for id in &request.audits {
        let audit = job(service, id).await?.job;
        let is_of_this = audit.kind == JobKind::Audit && audit.request.model() == Some(&model.id);
        if !is_of_this {
            return Err(Problem::invalid(format!(
                "The job {id} is no audit of this model."
            )));
        }
        if audit.state != JobState::Done {
            return Err(Problem::conflict(format!(
                "The audit {id} did not come to its end: it is {}.",
                audit.state.name()
            )));
        }
    }
    expect_samples(
        request.method,
        request.share.is_some() || request.label_rule.is_some(),
    )?;
    within("repeats", request.repeats, 1, 100)?;
    within("estimate", request.estimate, 1, 10_000_000)?;
    maybe_within("share", request.share, 0.0, 1.0)?;
    maybe_within("max_accuracy_loss", request.max_accuracy_loss, 0.0, 1.0)
}

fn repair_texts(
    request: &RepairTexts,
    data: &DataSet,
    model: Option<&Model>,
) -> Result<(), Problem> {
    expect_data(data, DataKind::Texts)?;
    let model = expect_model(model, ModelKind::Texts)?;
    if !model.description.is_training_known {
        return Err(Problem::conflict(
            "A repair trains as the model was trained, and this model does not say how.",
        ));
    }
    if request.protected.is_empty() {
        return Err(Problem::invalid(
            "At least one protected attribute is needed.",
        ));
    }
    known(
        "protected attribute",
        &request.protected,
        &lexicon_attributes(),
    )?;
    expect_samples(request.method, request.share.is_some())?;
    within("repeats", request.repeats, 1, 100)?;
    within("seeds", request.seeds, 1, 1_000_000)?;
    within("local", request.local, 0, 1_000_000)?;
    maybe_within("share", request.share, 0.0, 1.0)?;
    maybe_within("max_accuracy_loss", request.max_accuracy_loss, 0.0, 1.0)
}

/// Refuses options about samples where none is learnt from.
fn expect_samples(method: RepairMethod, is_about_samples: bool) -> Result<(), Problem> {
    match method {
        RepairMethod::Certified if is_about_samples => Err(Problem::invalid(
            "The method 'certified' learns from no samples, so share and label_rule say nothing.",
        )),
        _ => Ok(()),
    }
}
