//! Data sets: upload one, look at it.

use axum::extract::State;

use super::answer::{Answer, page, page_with, redirect};
use super::form::{Choice, Form};
use super::named::Named;
use super::sent::SentFile;
use super::session::Visitor;
use super::things;
use super::views::{DataNewPage, DataPage, DescribedColumn, Fact, Preview, Thing};
use super::words::{bytes, list, moment};
use crate::Service;
use crate::operations::data::{self, NewDataSet};
use crate::operations::models;
use crate::operations::schema::{AttributeColumn, AttributeKind, TableSchema};
use crate::problem::Problem;
use crate::store::{Caller, DataKind, DataSet, FileForm, Layout};

/// Values of a column that are shown.
const SHOWN: usize = 8;

/// The form of an upload.
pub(super) async fn show_new(State(service): State<Service>, visitor: Visitor) -> Answer {
    page(&new_page(&service, &visitor, &Form::default()).view())
}

/// Takes an upload.
pub(super) async fn upload(State(service): State<Service>, sent: SentFile) -> Answer {
    let visitor = sent.visitor.clone();
    let mut form = sent.form.clone();
    match store(&service, visitor.caller(), sent).await {
        Ok(data) if data.kind == DataKind::Table => {
            Ok(redirect(&format!("/data/{}/columns", data.id)))
        }
        Ok(data) => Ok(redirect(&format!("/data/{}", data.id))),
        Err(problem) => {
            let status = problem.status();
            form.refuse("file", problem.detail);
            page_with(status, &new_page(&service, &visitor, &form).view())
        }
    }
}

async fn store(service: &Service, caller: &Caller, sent: SentFile) -> Result<DataSet, Problem> {
    let SentFile {
        form, name, file, ..
    } = sent;
    if name.is_empty() {
        return Err(Problem::invalid("Choose a file."));
    }
    let file_form = FileForm::of_name(&name).ok_or_else(|| {
        Problem::invalid(
            "The name of the file must end in .csv, .tsv, .txt (these also with .gz or .xz) or .parquet.",
        )
    })?;
    let kind = match form.value("kind") {
        "texts" => DataKind::Texts,
        _ => DataKind::Table,
    };
    let new = NewDataSet {
        label: match form.value("label") {
            "" => stem(&name).to_owned(),
            label => label.to_owned(),
        },
        kind,
        form: file_form,
        layout: layout(&form, file_form),
    };
    data::upload_data(service, caller, new, file?).await
}

/// The name of a file without its endings.
fn stem(name: &str) -> &str {
    let start = name.rfind(['/', '\\']).map_or(0, |position| position + 1);
    let name = &name[start..];
    name.split('.').next().unwrap_or(name)
}

fn layout(form: &Form, file_form: FileForm) -> Layout {
    let is_tsv = matches!(file_form, FileForm::Tsv | FileForm::TsvGz | FileForm::TsvXz);
    let separator = match form.value("separator") {
        "comma" => ',',
        "semicolon" => ';',
        "tab" => '\t',
        "space" => ' ',
        _ if is_tsv => '\t',
        _ => ',',
    };
    let columns = form.value("columns").split(',').map(str::trim);
    Layout {
        separator,
        columns: columns
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect(),
    }
}

/// What the form of an upload is drawn from.
struct NewPage<'a> {
    frame: super::views::Frame,
    form: &'a Form,
    separators: Vec<Choice>,
    limit: String,
}

fn new_page<'a>(service: &Service, visitor: &Visitor, form: &'a Form) -> NewPage<'a> {
    NewPage {
        frame: visitor.frame("data"),
        form,
        separators: Choice::list(&[
            ("", "What the file's ending says: commas, or tabs in .tsv"),
            ("comma", "Commas"),
            ("semicolon", "Semicolons"),
            ("tab", "Tabs"),
            ("space", "Spaces"),
        ]),
        limit: bytes(service.limits().upload_bytes),
    }
}

impl NewPage<'_> {
    fn view(&self) -> DataNewPage<'_> {
        DataNewPage {
            frame: &self.frame,
            form: self.form,
            separators: &self.separators,
            limit: self.limit.clone(),
        }
    }
}

/// A data set.
pub(super) async fn show(
    State(service): State<Service>,
    visitor: Visitor,
    Named(id): Named,
) -> Answer {
    let data = data::data_set(&service, &id).await?;
    let schema = match data.has_schema {
        true => Some(data::schema(&service, &id).await?),
        false => None,
    };
    let models = models::list_models(&service).await?;
    let trained: Vec<Thing> = models
        .iter()
        .filter(|model| model.data.as_ref() == Some(&id))
        .map(things::of_model)
        .collect();
    page(&DataPage {
        frame: &visitor.frame(""),
        id: id.as_str(),
        label: &data.label,
        facts: &[
            Fact::new("Holds", things::size(&data)),
            Fact::new("Size of the file", bytes(data.bytes)),
            Fact::new("Uploaded", moment(data.created)),
        ],
        is_described: schema.is_some() || data.kind == DataKind::Texts,
        is_text: data.kind == DataKind::Texts,
        columns: &schema.as_ref().map_or(Vec::new(), described),
        models: &trained,
        rows: &preview(&data),
    })
}

fn described(schema: &TableSchema) -> Vec<DescribedColumn> {
    let decision = DescribedColumn {
        name: schema.label.name.clone(),
        role: "decision",
        values: list(&schema.label.classes),
    };
    let inputs = schema.attributes.iter().map(|attribute| DescribedColumn {
        name: attribute.name.clone(),
        role: match attribute.protected {
            true => "protected",
            false => "input",
        },
        values: values(attribute),
    });
    inputs.chain([decision]).collect()
}

/// The possible values of a column in words.
pub(super) fn values(attribute: &AttributeColumn) -> String {
    match attribute.kind {
        AttributeKind::Integer => format!(
            "whole numbers from {} to {}",
            attribute.min.unwrap_or_default(),
            attribute.max.unwrap_or_default()
        ),
        AttributeKind::Categorical => {
            let levels = attribute.levels.as_deref().unwrap_or_default();
            match levels.len().checked_sub(SHOWN) {
                Some(more) if more > 0 => format!("{} and {more} more", list(&levels[..SHOWN])),
                _ => list(levels),
            }
        }
        AttributeKind::Numeric => match attribute.bins.as_deref() {
            Some([first, .., last]) => format!("numbers from {first} to {last}, in ranges"),
            _ => "numbers".to_owned(),
        },
    }
}

/// The first rows of a data set.
pub(super) fn preview(data: &DataSet) -> Preview {
    let columns = data.sketch.columns.iter().map(|column| column.name.clone());
    let mut columns: Vec<String> = columns.collect();
    if columns.is_empty() {
        columns.push("text".to_owned());
    }
    Preview {
        columns,
        rows: data.sketch.first_rows.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_gives_its_name_without_folders_and_endings() {
        assert_eq!(stem("people.csv.gz"), "people");
        assert_eq!(stem("C:\\fakepath\\people.csv"), "people");
        assert_eq!(stem("../../etc/passwd.csv"), "passwd");
        assert_eq!(stem(""), "");
    }

    #[test]
    fn the_ending_chooses_the_separator_unless_told() {
        let told = Form::default()
            .with("separator", "semicolon")
            .with("columns", "a, b ,,c");
        assert_eq!(layout(&told, FileForm::Csv).separator, ';');
        assert_eq!(layout(&told, FileForm::Csv).columns, ["a", "b", "c"]);
        assert_eq!(layout(&Form::default(), FileForm::Csv).separator, ',');
        assert_eq!(layout(&Form::default(), FileForm::TsvGz).separator, '\t');
    }
}
