//! Data sets: upload, schema, list, delete.

use std::fs;
use std::io;

use super::form::Form;
use super::inspect::inspect;
use super::jobs::refuse_if_needed;
use super::schema::{DraftRequest, TableSchema};
use super::texts::{column_name, label};
use super::upload::ReceivedFile;
use crate::Service;
use crate::identifier::Id;
use crate::inspection::Inspection;
use crate::moment::Moment;
use crate::problem::Problem;
use crate::store::{Caller, DataKind, DataSet, FileForm, Layout, Sketch};
use probity_data::schema::Schema;
use probity_run::run_directory::write_atomically;

/// What a user says about a file of data.
#[derive(Debug, Clone)]
pub struct NewDataSet {
    /// What it shall be called; may be empty.
    pub label: String,
    /// What it holds.
    pub kind: DataKind,
    /// Form of the file.
    pub form: FileForm,
    /// How a table is laid out.
    pub layout: Layout,
}

impl NewDataSet {
    /// What the fields `label`, `kind`, `form`, `separator` and `columns` of a form say; the form of the file is told by its
    /// name where none is given.
    ///
    /// # Errors
    /// When one of them makes no sense.
    pub fn of_form(form: &Form) -> Result<NewDataSet, Problem> {
        let kind = match form.text("kind") {
            "table" => DataKind::Table,
            "texts" => DataKind::Texts,
            _ => return Err(Problem::invalid("'kind' is 'table' or 'texts'.")),
        };
        let name = match form.text("form") {
            "" => form.file_name.clone(),
            ending => format!(".{ending}"),
        };
        let file_form = FileForm::of_name(&name).ok_or_else(|| {
            let endings = FileForm::ALL.map(FileForm::ending).join(", ");
            Problem::invalid(format!(
                "The name of the file does not tell its form: it ends with one of {endings}. Or say it in the field 'form'."
            ))
        })?;
        let separator = match form.text("separator") {
            "" => ',',
            "tab" | "\\t" => '\t',
            "space" => ' ',
            other => other
                .parse()
                .map_err(|_| Problem::invalid("'separator' is one character, 'tab' or 'space'."))?,
        };
        let columns = form.text("columns").split(',').map(str::trim);
        let columns = columns.filter(|name| !name.is_empty());
        Ok(NewDataSet {
            label: match form.text("label").trim() {
                "" => form
                    .file_name
                    .chars()
                    .filter(|c| !c.is_control())
                    .take(100)
                    .collect(),
                label => label.to_owned(),
            },
            kind,
            form: file_form,
            layout: Layout {
                separator,
                columns: columns.map(str::to_owned).collect(),
            },
        })
    }

    fn check(mut self) -> Result<NewDataSet, Problem> {
        self.label = label(&self.label, "Data")?;
        let form = self.form;
        match self.kind {
            DataKind::Table if form.is_lines() => {
                return Err(Problem::invalid(
                    "A file with a text on each line is no table; upload it as texts.",
                ));
            }
            DataKind::Table => {}
            DataKind::Texts => {
                self.layout = Layout {
                    separator: if form.is_tabs() { '\t' } else { ',' },
                    columns: Vec::new(),
                };
            }
        }
        if !self.layout.separator.is_ascii() || matches!(self.layout.separator, '\n' | '\r' | '"') {
            return Err(Problem::invalid(
                "A separator is one ASCII character other than a quote or a line break.",
            ));
        }
        for name in &self.layout.columns {
            column_name(name)?;
        }
        Ok(self)
    }
}

/// Takes a file of data, after looking through all of it.
///
/// # Errors
/// When the file is broken, or larger than allowed.
pub async fn upload_data(
    service: &Service,
    caller: &Caller,
    new: NewDataSet,
    file: ReceivedFile,
) -> Result<DataSet, Problem> {
    let new = new.check()?;
    let id = Id::random().map_err(|error| Problem::internal(&error))?;
    let bytes = file.bytes;
    let (folder, target) = (
        service.places().data(&id),
        service.places().data_file(&id, new.form),
    );
    // Readers tell the form by the name, so the file gets its own before it is looked at.
    let kept = service
        .blocking(move || {
            fs::create_dir(&folder)
                .and_then(|()| file.file.persist(&target).map_err(|error| error.error))
                .map_err(|error| Problem::internal(&error))
                .map(|_| target)
        })
        .await?;
    let inspection = Inspection::Data {
        file: kept,
        kind: new.kind,
        is_lines: new.form.is_lines(),
        layout: new.layout,
        rows: service.limits().rows,
        cell_bytes: service.limits().cell_bytes,
    };
    let sketch: Sketch = match inspect(service, inspection).await {
        Ok(sketch) => sketch,
        Err(problem) => {
            remove_folder(service, &id).await?;
            return Err(problem);
        }
    };
    let data = DataSet {
        id,
        owner: caller.token.clone(),
        label: new.label,
        kind: new.kind,
        form: new.form,
        bytes,
        created: Moment::now(),
        sketch,
        has_schema: false,
    };
    let added = data.clone();
    service
        .store(move |store| store.add_data_set(&added))
        .await?;
    Ok(data)
}

async fn remove_folder(service: &Service, id: &Id) -> Result<(), Problem> {
    let folder = service.places().data(id);
    service
        .blocking(move || match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Problem::internal(&error)),
            _ => Ok(()),
        })
        .await
}

/// All data sets, the newest first.
///
/// # Errors
/// When the database fails.
pub async fn list_data(service: &Service) -> Result<Vec<DataSet>, Problem> {
    service.store(|store| store.data_sets()).await
}

/// One data set.
///
/// # Errors
/// When there is none with this identifier.
pub async fn data_set(service: &Service, id: &Id) -> Result<DataSet, Problem> {
    let id = id.clone();
    service
        .store(move |store| store.data_set(&id))
        .await?
        .ok_or_else(|| Problem::not_found("data set"))
}

async fn table(service: &Service, id: &Id) -> Result<DataSet, Problem> {
    let data = data_set(service, id).await?;
    match data.kind {
        DataKind::Table => Ok(data),
        DataKind::Texts => Err(Problem::conflict(
            "The data set holds texts; only tables have a schema.",
        )),
    }
}

/// Drafts the schema of a table from its file, and keeps the draft.
///
/// # Errors
/// When it is no table, or no schema can be inferred.
pub async fn draft_schema(
    service: &Service,
    id: &Id,
    request: DraftRequest,
) -> Result<TableSchema, Problem> {
    let data = table(service, id).await?;
    let schema: Schema = inspect(
        service,
        Inspection::Draft {
            file: service.places().file_of(&data),
            layout: data.sketch.layout,
            name: data.label,
            label: request.label,
            protected: request.protected,
            ignore: request.ignore,
        },
    )
    .await?;
    for name in names(&schema) {
        column_name(name)?;
    }
    keep(service, id, &schema).await?;
    TableSchema::of(&schema)
}

/// All names of columns in a schema.
fn names(schema: &Schema) -> impl Iterator<Item = &str> {
    let attributes = schema.attributes.iter();
    attributes
        .map(|attribute| attribute.name.as_str())
        .chain([schema.label.name.as_str()])
}

async fn keep(service: &Service, id: &Id, schema: &Schema) -> Result<(), Problem> {
    let text = schema
        .to_toml()
        .map_err(|error| Problem::internal(&error))?;
    let file = service.places().schema(id);
    service
        .blocking(move || {
            write_atomically(&file, text.as_bytes()).map_err(|error| Problem::internal(&error))
        })
        .await?;
    let id = id.clone();
    service.store(move |store| store.note_schema(&id)).await
}

/// The schema of a table.
///
/// # Errors
/// When it has none.
pub async fn schema(service: &Service, id: &Id) -> Result<TableSchema, Problem> {
    let data = table(service, id).await?;
    if !data.has_schema {
        return Err(Problem::new(
            crate::problem::ProblemKind::NotFound,
            "The table has no schema yet; draft one.",
        ));
    }
    let file = service.places().schema(id);
    let schema = service
        .blocking(move || {
            let text = fs::read_to_string(file).map_err(|error| Problem::internal(&error))?;
            Schema::from_toml(&text).map_err(|error| Problem::internal(&error))
        })
        .await?;
    TableSchema::of(&schema)
}

/// Replaces the schema of a table, after reading the whole file by it.
///
/// # Errors
/// When the schema is wrong, or the file does not fit it.
pub async fn replace_schema(
    service: &Service,
    id: &Id,
    schema: TableSchema,
) -> Result<TableSchema, Problem> {
    let data = table(service, id).await?;
    let checked = schema.check()?;
    for name in names(&checked) {
        column_name(name)?;
    }
    let text = checked
        .to_toml()
        .map_err(|error| Problem::internal(&error))?;
    let folder = service.places().uploads();
    let candidate = service
        .blocking(move || {
            let file = tempfile::Builder::new()
                .prefix("schema-")
                .tempfile_in(folder)
                .map_err(|error| Problem::internal(&error))?
                .into_temp_path();
            fs::write(&file, text).map_err(|error| Problem::internal(&error))?;
            Ok(file)
        })
        .await?;
    let check = Inspection::Check {
        file: service.places().file_of(&data),
        schema: candidate.to_path_buf(),
    };
    let () = inspect(service, check).await?;
    keep(service, id, &checked).await?;
    TableSchema::of(&checked)
}

/// Deletes a data set that no unfinished job reads.
///
/// # Errors
/// When there is none, or a job needs it.
pub async fn delete_data(service: &Service, id: &Id) -> Result<(), Problem> {
    data_set(service, id).await?;
    let wanted = id.clone();
    refuse_if_needed(service, move |job| *job.data() == wanted).await?;
    let row = id.clone();
    service
        .store(move |store| store.remove_data_set(&row))
        .await?;
    remove_folder(service, id).await
}
