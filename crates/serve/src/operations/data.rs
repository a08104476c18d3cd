//! Operations on data sets: upload, schema, list, delete.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::{fs, io};

use super::form::{Form, ReceivedFile};
use super::inspect::inspect;
use super::names::name_of_upload;
use super::removed;
use super::schema::{DraftRequest, TableSchema};
use super::texts::column_name;
use crate::identifier::Id;
use crate::inspection::{Drafted, Inspection};
use crate::moment::Moment;
use crate::places::{Folder, gone};
use crate::problem::Problem;
use crate::service::Service;
use crate::store::{Change, Contents, DataKind, DataSet, FileForm, Layout, Record, Scope, Sketch};
use probity_data::schema::Schema;

/// The user's description of a file of data that is uploaded.
#[derive(Debug, Clone)]
pub struct NewDataSet {
    label: String,
    kind: DataKind,
    form: FileForm,
    layout: Layout,
    /// Whether the character that separates fields is to be found in the file, since nobody names
    /// it.
    finds_separator: bool,
}

impl NewDataSet {
    /// Reads the description from the fields `label`, `kind`, `form`, `separator` and `columns` of
    /// a form; the form of the file is told by its name where none is given. Fails when one of them
    /// makes no sense.
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
            let endings = FileForm::ALL.map(|form| format!(".{}", form.ending()));
            let endings = endings.join(", ");
            Problem::invalid(format!(
                "The name of the file does not tell its form; it must end in {endings}."
            ))
        })?;
        if kind == DataKind::Table && file_form.is_lines() {
            return Err(Problem::invalid(
                "A file with a text on each line is no table; upload it as texts.",
            ));
        }
        let mut layout = Layout {
            separator: match file_form.is_tabs() {
                true => '\t',
                false => ',',
            },
            ..Layout::default()
        };
        if kind == DataKind::Table {
            layout = told(form, layout)?;
        }
        Ok(NewDataSet {
            label: name_of_upload(form.text("label"), &form.file_name)?,
            kind,
            form: file_form,
            layout,
            finds_separator: form.text("separator").trim().is_empty() && !file_form.is_tabs(),
        })
    }
}

/// The layout of a table as `form` says it; what it does not say is as in `layout`.
fn told(form: &Form, mut layout: Layout) -> Result<Layout, Problem> {
    layout.separator = match form.text("separator").trim() {
        "" => layout.separator,
        "comma" => ',',
        "semicolon" => ';',
        "tab" | "\\t" => '\t',
        "space" => ' ',
        other => other.parse().map_err(|_| {
            Problem::invalid(
                "'separator' is one character, 'comma', 'semicolon', 'tab' or 'space'.",
            )
        })?,
    };
    if !layout.separator.is_ascii() || matches!(layout.separator, '\n' | '\r' | '"') {
        return Err(Problem::invalid(
            "A separator is one ASCII character other than a quote or a line break.",
        ));
    }
    let columns = form.text("columns").split(',').map(str::trim);
    let columns = columns.filter(|name| !name.is_empty());
    layout.columns = columns.map(str::to_owned).collect();
    layout
        .columns
        .iter()
        .try_for_each(|name| column_name(name))?;
    Ok(layout)
}

/// Stores a file of data, after looking through all of it.
/// Fails when the file is broken, or larger than allowed.
pub async fn upload_data(
    service: &Service,
    change: &Change,
    new: NewDataSet,
    file: ReceivedFile,
) -> Result<DataSet, Problem> {
    let id = Id::random()?;
    let bytes = file.bytes;
    let (folder, target) = (
        service.places.data(&id),
        service.places.data_file(&id, new.form),
    );
    // Readers tell the form by the name, so the file gets its own name before it is looked at.
    let kept = service
        .blocking(move || {
            fs::create_dir(&folder)?;
            file.file.persist(&target).map_err(|error| error.error)?;
            Ok(target)
        })
        .await?;
    let inspection = Inspection::Data {
        file: kept,
        kind: new.kind,
        is_lines: new.form.is_lines(),
        layout: new.layout,
        finds_separator: new.finds_separator,
        bytes: service.limits.unpacked_bytes,
        rows: service.limits.rows,
        cell_bytes: service.limits.cell_bytes,
    };
    let sketch: Sketch = match inspect(service, change.party(), inspection).await {
        Ok(sketch) => sketch,
        Err(problem) => {
            remove_folder(service, &id).await?;
            return Err(problem);
        }
    };
    let data = DataSet {
        id,
        owner: change.owner().clone(),
        label: new.label,
        kind: new.kind,
        form: new.form,
        bytes,
        created: Moment::now(),
        sketch,
        has_schema: false,
    };
    if let Err(problem) = service.publish(&Folder::Data(data.id.clone())).await {
        service.discard(data.contents()).await?;
        return Err(problem);
    }
    let (adding, added) = (change.clone(), data.clone());
    service
        .store(move |store| store.add_data_set(&adding, &added))
        .await?;
    Ok(data)
}

async fn remove_folder(service: &Service, id: &Id) -> Result<(), Problem> {
    let folder = service.places.data(id);
    service
        .blocking(move || Ok(gone(fs::remove_dir_all(folder))?))
        .await
}

async fn table(service: &Service, scope: &Scope, id: &Id) -> Result<DataSet, Problem> {
    let data: DataSet = service.find(scope, id).await?;
    match data.kind {
        DataKind::Table => Ok(data),
        DataKind::Texts => Err(Problem::conflict(
            "The data set holds texts; only tables have a schema.",
        )),
    }
}

/// Drafts the schema of a table from its file, and keeps the draft.
/// Fails when the data set is no table, or no schema can be inferred.
pub async fn draft_schema(
    service: &Service,
    change: &Change,
    id: &Id,
    request: DraftRequest,
) -> Result<TableSchema, Problem> {
    let data = table(service, change, id).await?;
    service.at_hand(&Folder::Data(id.clone()), None).await?;
    let Drafted { schema, left_out } = inspect(
        service,
        change.party(),
        Inspection::Draft {
            file: service.places.file_of(&data),
            layout: data.sketch.layout,
            name: data.label,
            request,
        },
    )
    .await?;
    check_names(&schema)?;
    let reasons = (service.places.left_out(id), serde_json::to_vec(&left_out)?);
    keep(service, change, id, schema, vec![reasons]).await
}

/// Returns the columns of a table that its schema leaves out, each with the reason.
pub async fn left_out(
    service: &Service,
    data: &DataSet,
    schema: &TableSchema,
) -> Result<Vec<(String, String)>, Problem> {
    let file = service.places.left_out(&data.id);
    service
        .at_hand(&Folder::Data(data.id.clone()), None)
        .await?;
    let reasons: BTreeMap<String, String> = service
        .blocking(move || match fs::read(file) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes)?),
            // A schema that was never drafted leaves out what it does not name.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(BTreeMap::new()),
            Err(error) => Err(error.into()),
        })
        .await?;
    let is_known = |name: &String| {
        let mut attributes = schema.attributes.iter();
        schema.label.name == *name || attributes.any(|attribute| attribute.name == *name)
    };
    let rows = data.sketch.rows;
    let columns = data.sketch.columns.iter();
    let left_out = columns.filter(|column| !is_known(&column.name));
    Ok(left_out
        .map(|column| {
            let name = column.name.clone();
            let drafted = reasons.get(&name).cloned();
            let why = drafted.or_else(|| column.why_left_out(rows));
            (
                name,
                why.unwrap_or_else(|| "somebody chose that".to_owned()),
            )
        })
        .collect())
}

/// Keeps the schema of the data set `id`, with files that come with it.
async fn keep(
    service: &Service,
    change: &Change,
    id: &Id,
    schema: Schema,
    mut files: Vec<(PathBuf, Vec<u8>)>,
) -> Result<TableSchema, Problem> {
    let seen = TableSchema::from_schema(&schema)?;
    files.push((service.places.schema(id), to_toml(&schema)?.into_bytes()));
    service.keep(&Folder::Data(id.clone()), files).await?;
    let (noting, row) = (change.clone(), id.clone());
    let is_there = service.store(move |store| store.note_schema(&noting, &row));
    if !is_there.await? {
        // It was deleted meanwhile, and what was kept of it has to go as well.
        let contents = Contents {
            data: vec![id.clone()],
            ..Contents::default()
        };
        service.discard(contents).await?;
        service.find::<DataSet>(change, id).await?;
    }
    Ok(seen)
}

fn to_toml(schema: &Schema) -> Result<String, Problem> {
    schema.to_toml().map_err(|error| Problem::internal(&error))
}

/// Refuses a schema that names a column in a way that the service cannot take.
fn check_names(schema: &Schema) -> Result<(), Problem> {
    let attributes = schema.attributes.iter();
    attributes
        .map(|attribute| attribute.name.as_str())
        .chain([schema.label.name.as_str()])
        .try_for_each(column_name)
}

/// Returns the schema of a table.
/// Fails when the table has none.
pub async fn schema(service: &Service, scope: &Scope, id: &Id) -> Result<TableSchema, Problem> {
    let data = table(service, scope, id).await?;
    if !data.has_schema {
        return Err(Problem::new(
            crate::problem::ProblemKind::NotFound,
            "The table has no schema yet; draft one.",
        ));
    }
    service.at_hand(&Folder::Data(id.clone()), None).await?;
    let file = service.places.schema(id);
    let schema = service
        .blocking(move || {
            let text = fs::read_to_string(file)?;
            Schema::from_toml(&text).map_err(|error| Problem::internal(&error))
        })
        .await?;
    TableSchema::from_schema(&schema)
}

/// Replaces the schema of a table, after reading the whole file by it.
/// Fails when the schema is wrong, or the file does not fit it.
pub async fn replace_schema(
    service: &Service,
    change: &Change,
    id: &Id,
    schema: TableSchema,
) -> Result<TableSchema, Problem> {
    let data = table(service, change, id).await?;
    let checked = schema.check()?;
    check_names(&checked)?;
    service.at_hand(&Folder::Data(id.clone()), None).await?;
    let (text, places) = (to_toml(&checked)?, service.places.clone());
    let candidate = service
        .blocking(move || {
            let file = places.temporary("schema-")?.into_temp_path();
            fs::write(&file, text)?;
            Ok(file)
        })
        .await?;
    let check = Inspection::Check {
        file: service.places.file_of(&data),
        schema: candidate.to_path_buf(),
    };
    let () = inspect(service, change.party(), check).await?;
    keep(service, change, id, checked, Vec::new()).await
}

/// Deletes a data set that no unfinished job reads.
/// Fails when there is no such data set, or a job needs it.
pub async fn delete_data(service: &Service, change: &Change, id: &Id) -> Result<(), Problem> {
    let (changed, row) = (change.clone(), id.clone());
    let removal = service
        .store(move |store| store.remove_data_set(&changed, &row))
        .await?;
    removed(removal, DataSet::NAME)?;
    let contents = Contents {
        data: vec![id.clone()],
        ..Contents::default()
    };
    service.discard(contents).await
}
