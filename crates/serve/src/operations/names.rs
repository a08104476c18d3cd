//! The names that users give to their things.

use serde::Deserialize;
use utoipa::ToSchema;

use super::texts::{LABEL, label};
use crate::identifier::Id;
use crate::problem::Problem;
use crate::service::Service;
use crate::store::{Change, Record};

/// A request to give something a name.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NameRequest {
    /// The name: at most a hundred characters.
    pub label: String,
}

/// Checks that `text` is a name, and not empty.
/// Fails when it is empty, or no label.
pub fn name(text: &str) -> Result<String, Problem> {
    match label(text, "")? {
        name if name.is_empty() => Err(Problem::invalid("A name is needed.")),
        name => Ok(name),
    }
}

/// Checks that `text` is a name; an empty one becomes the name of the file. Uploads by programs
/// need not name what they bring. Fails when it is no label.
pub fn name_of_upload(text: &str, file_name: &str) -> Result<String, Problem> {
    let plain = file_name.chars().filter(|letter| !letter.is_control());
    let of_file: String = plain.take(LABEL).collect();
    match of_file.trim() {
        "" => label(text, "Upload"),
        of_file => label(text, of_file),
    }
}

/// Gives a data set, a model or a job another name. A job and the model that it made are called
/// alike, so both get it. Fails when there is no such thing, or the text is no name.
pub async fn rename<T: Record>(
    service: &Service,
    change: &Change,
    id: &Id,
    text: &str,
) -> Result<(), Problem> {
    service.find::<T>(change, id).await?;
    let (change, row, name) = (change.clone(), id.clone(), name(text)?);
    let shown = name.clone();
    let is_there = service
        .store(move |store| store.rename::<T>(&change, &row, &name))
        .await?;
    if !is_there {
        return Err(Problem::missing(T::NAME));
    }
    service.board.change(id, |view| view.job.label = shown);
    Ok(())
}
