//! Checks of a job's specification before it waits in the queue: what it reads exists and fits. The
//! bounds of its fields are those of its type and of the operator. Errors that only reading the
//! files can show, the job itself finds.

use super::data::schema;
use super::schema::TableSchema;
use crate::jobs::files::{Files, Things};
use crate::jobs::specification::{JobKind, JobSpecification};
use crate::problem::Problem;
use crate::service::Service;
use crate::store::{DataKind, DataSet, Job, JobState, Model, ModelKind, Scope};
use probity_fairness::repair::RepairSpecification;
use probity_fairness::specification::AuditSpecification;
use probity_indirect::people::Sources;
use probity_nn::modality::ModalityName;
use probity_nn::train::TrainSpecification;
use probity_run::specification::FieldError;
use probity_text::lexicon::Lexicon;

/// Checks `specification`, and returns the usual name of its job.
pub(super) async fn check(
    service: &Service,
    scope: &Scope,
    specification: &JobSpecification,
) -> Result<String, Problem> {
    let things = read_by(service, scope, specification).await?;
    let Things {
        data,
        counterfactuals,
        model,
    } = &things;
    let kind = specification.kind();
    expect_data(data, specification)?;
    if let Some(counterfactuals) = counterfactuals {
        expect_data(counterfactuals, specification)?;
    }
    if let Some(model) = model {
        expect_model(model, specification.modality())?;
    }
    if specification.reads_schema() && !data.has_schema {
        return Err(Problem::conflict(
            "The table has no schema yet; draft one, and mark what is protected.",
        ));
    }
    let label = model.as_ref().map_or(&data.label, |model| &model.label);
    let name = match kind {
        JobKind::Train => format!("Classifier of {label}"),
        JobKind::Audit => format!("{} of {label}", kind.title()),
        JobKind::Repair => format!("{label}, repaired"),
        JobKind::Counterparts | JobKind::Situations | JobKind::Proxies => {
            format!("{}: {label}", kind.title())
        }
    };
    if let Some(train) = specification.as_train() {
        check_train(train, data)?;
    }
    if let (Some(audit), Some(model)) = (specification.as_audit(), model) {
        check_audit(audit, data, model)?;
    }
    if let (Some(repair), Some(model)) = (specification.as_repair(), model) {
        check_repair(repair, model)?;
    }
    if let Some(people) = specification.people() {
        check_people(&people, &schema(service, scope, &data.id).await?)?;
    }
    check_runs(service, scope, specification).await?;
    let places = &service.places;
    let files = Files::new(places, &things, specification.runs());
    let checked = specification
        .of_files(&files)
        .check(&service.limits.specifications);
    checked.map_err(|error| {
        let problem = Problem::from(error);
        let detail = places.without_paths(&problem.detail);
        Problem { detail, ..problem }
    })?;
    Ok(name.chars().take(100).collect())
}

/// Returns the files that a run of `specification` reads.
/// Fails when the data set or the model is not there any more.
pub(crate) async fn files(
    service: &Service,
    scope: &Scope,
    specification: &JobSpecification,
) -> Result<Files, Problem> {
    let things = read_by(service, scope, specification).await?;
    Ok(Files::new(&service.places, &things, specification.runs()))
}

/// Returns the data sets and the model that `specification` reads.
async fn read_by(
    service: &Service,
    scope: &Scope,
    specification: &JobSpecification,
) -> Result<Things, Problem> {
    let data = service.find(scope, specification.data()).await?;
    let counterfactuals = match specification.counterfactuals() {
        Some(id) => Some(service.find(scope, id).await?),
        None => None,
    };
    let model = match specification.model() {
        Some(id) => Some(service.find(scope, id).await?),
        None => None,
    };
    Ok(Things {
        data,
        counterfactuals,
        model,
    })
}

fn expect_data(data: &DataSet, specification: &JobSpecification) -> Result<(), Problem> {
    let modality = specification.modality();
    let detail = match (data.kind, modality) {
        (DataKind::Table, ModalityName::Table) | (DataKind::Texts, ModalityName::Text) => {
            return Ok(());
        }
        (DataKind::Texts, ModalityName::Table) => "The data set holds texts, no table.",
        (DataKind::Table, ModalityName::Text) => "The data set is a table, not texts.",
    };
    Err(Problem::invalid(match specification.people() {
        Some(_) => format!("{detail} People are compared by the columns of a table."),
        None => format!("{detail} The field modality says '{modality}'."),
    }))
}

fn expect_model(model: &Model, modality: ModalityName) -> Result<(), Problem> {
    let detail = match (model.description.kind, modality) {
        (ModelKind::Table, ModalityName::Table) | (ModelKind::Texts, ModalityName::Text) => {
            return Ok(());
        }
        (ModelKind::Texts, ModalityName::Table) => {
            "The model classifies texts, not rows of a table."
        }
        (ModelKind::Table, ModalityName::Text) => {
            "The model classifies rows of a table, not texts."
        }
    };
    Err(Problem::invalid(detail))
}

fn expect_column(field: &str, data: &DataSet, name: Option<&str>) -> Result<(), Problem> {
    let Some(name) = name else { return Ok(()) };
    match data.sketch.columns.iter().any(|column| column.name == name) {
        true => Ok(()),
        false => {
            let expected = "a column of the data set";
            Err(FieldError::new(field, format!("'{name}'"), expected).into())
        }
    }
}

/// Checks that all `names` of the field `protected` are among the `known` ones.
fn known(names: &[String], known: &[String]) -> Result<(), Problem> {
    match names.iter().find(|name| !known.contains(name)) {
        None => Ok(()),
        Some(name) => {
            let expected = format!("of {}", known.join(", "));
            Err(FieldError::new("protected", format!("'{name}'"), expected).into())
        }
    }
}

/// The protected attributes that there are terms for.
pub fn lexicon_attributes() -> Vec<String> {
    let lexicon = Lexicon::shipped();
    let attributes = lexicon.attributes().iter();
    attributes.map(|attribute| attribute.name.clone()).collect()
}

fn check_train(train: &TrainSpecification, data: &DataSet) -> Result<(), Problem> {
    if train.modality == ModalityName::Text && data.form.is_lines() {
        return Err(Problem::invalid(
            "A file with a text on each line has no labels to learn; upload a table with a column of texts and one of labels.",
        ));
    }
    expect_column("text_column", data, train.text_column.as_deref())?;
    expect_column("label_column", data, train.label_column.as_deref())
}

fn check_audit(audit: &AuditSpecification, data: &DataSet, model: &Model) -> Result<(), Problem> {
    let model = &model.description;
    if audit.modality == ModalityName::Table {
        if audit.protected.is_empty() && model.protected.is_empty() {
            return Err(Problem::invalid(
                "The model's schema marks no attribute as protected; name those that decisions must not depend on.",
            ));
        }
        return known(&audit.protected, &model.attributes);
    }
    match &audit.text.column {
        Some(_) if data.form.is_lines() => {
            return Err(Problem::invalid(
                "A file with a text on each line has no columns; leave 'text.column' out.",
            ));
        }
        None if data.sketch.columns.len() > 1 => {
            return Err(Problem::invalid(
                "The data set has several columns; 'text.column' says which holds the texts.",
            ));
        }
        name => expect_column("text.column", data, name.as_deref())?,
    }
    known(&audit.protected, &lexicon_attributes())
}

fn check_repair(repair: &RepairSpecification, model: &Model) -> Result<(), Problem> {
    if repair.modality == ModalityName::Table {
        return Ok(());
    }
    if !model.description.is_training_known {
        return Err(Problem::conflict(
            "A repair trains as the model was trained, and this model does not say how.",
        ));
    }
    known(&repair.protected, &lexicon_attributes())
}

/// Checks that `schema` has the attributes that `people` name as protected, or marks some.
fn check_people(people: &Sources<'_>, schema: &TableSchema) -> Result<(), Problem> {
    let attributes = schema.attributes.iter();
    if people.protected.is_empty() && !attributes.clone().any(|attribute| attribute.protected) {
        return Err(Problem::invalid(
            "The table's schema marks no attribute as protected; name those that decisions must not depend on.",
        ));
    }
    let names: Vec<String> = attributes.map(|attribute| attribute.name.clone()).collect();
    // An attribute may be named with one of its values: sex=female.
    let is_one = |name: &&String, of: &str| {
        let value = of.strip_prefix(name.as_str()).map(str::trim_start);
        value.is_some_and(|value| value.is_empty() || value.starts_with('='))
    };
    let named = people.protected.iter().map(|given| {
        let attribute = names.iter().find(|name| is_one(name, given));
        attribute.unwrap_or(given).clone()
    });
    known(&named.collect::<Vec<_>>(), &names)
}

/// Checks that the runs are audits of the model that came to their end.
async fn check_runs(
    service: &Service,
    scope: &Scope,
    specification: &JobSpecification,
) -> Result<(), Problem> {
    for id in specification.runs() {
        let audit: Job = service.find(scope, id).await?;
        let is_of_this =
            audit.kind == JobKind::Audit && audit.specification.model() == specification.model();
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
    Ok(())
}
