//! Projects: only those with a token of a project see what it holds.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::access::{Administer, Caller, Manage, Scope};
use super::job::unfinished;
use super::log::{Action, note};
use super::{Connection, Count, Row, Store, StoreError, params};
use crate::identifier::Id;
use crate::moment::Moment;

/// The quotas of a project; what is left out is bounded by the service alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Quotas {
    /// The bytes that the project may store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stored_bytes: Option<u64>,
    /// The number of the project's jobs that may run at the same time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jobs: Option<u32>,
    /// The number of the project's jobs that may wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<u32>,
    /// The number of days after their end after which the project's jobs are deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 3650)]
    pub kept_days: Option<u32>,
}

/// A project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Project {
    /// The identifier of the project.
    pub id: Id,
    /// The name of the project: no two have the same.
    pub name: String,
    /// The moment at which the project was made.
    pub created: Moment,
    /// The quotas of the project.
    pub quotas: Quotas,
}

/// The columns of a project, as [`Project::from_row`] reads them.
const COLUMNS: &str = "id, name, created, stored_bytes, jobs, queue, kept_days";

impl Project {
    fn from_row(row: &Row<'_>) -> Result<Project, StoreError> {
        Ok(Project {
            id: row.get(0)?,
            name: row.get(1)?,
            created: row.get(2)?,
            quotas: Quotas {
                stored_bytes: row.get::<Option<Count>>(3)?.map(|count| count.0),
                jobs: row.get(4)?,
                queue: row.get(5)?,
                kept_days: row.get(6)?,
            },
        })
    }
}

/// The result of a change to a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Changed<T> {
    /// The change was made.
    Done(T),
    /// There is no such project.
    Missing,
    /// Another project has this name.
    NameTaken,
    /// This job of the project is not at an end.
    Busy(Id),
}

/// The things of a project, or of something in it, whose files lie in the data directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Contents {
    /// The data sets.
    pub data: Vec<Id>,
    /// The models.
    pub models: Vec<Id>,
    /// The jobs.
    pub jobs: Vec<Id>,
}

impl Contents {
    /// Returns the job `id` and the model that it made, as the things whose files lie there.
    pub fn of_job(id: &Id) -> Contents {
        Contents {
            jobs: vec![id.clone()],
            ..Contents::default()
        }
    }

    fn read(connection: &Connection<'_>, project: &Id) -> Result<Contents, StoreError> {
        let ids = |table: &str| -> Result<Vec<Id>, StoreError> {
            let statement = format!("SELECT id FROM {table} WHERE project = ?");
            connection.rows(&statement, params![project], |row| row.get(0))
        };
        Ok(Contents {
            data: ids("data_sets")?,
            models: ids("models")?,
            jobs: ids("jobs")?,
        })
    }
}

impl Store {
    /// Makes a project, unless one has its name.
    ///
    /// # Errors
    /// When the database fails.
    pub fn create_project(
        &self,
        administer: &Administer,
        name: &str,
        quotas: Quotas,
    ) -> Result<Changed<Project>, StoreError> {
        let project = Project {
            id: Id::random()?,
            name: name.to_owned(),
            created: Moment::now(),
            quotas,
        };
        self.write(|transaction| {
            let added = transaction.execute(
                &format!(
                    "INSERT INTO projects ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)
                     ON CONFLICT (name) DO NOTHING"
                ),
                params![
                    project.id,
                    project.name,
                    project.created,
                    quotas.stored_bytes.map(Count),
                    quotas.jobs,
                    quotas.queue,
                    quotas.kept_days
                ],
            )?;
            if added == 0 {
                return Ok(Changed::NameTaken);
            }
            let id = Some(&project.id);
            note(transaction, administer.by(), id, Action::ProjectMade, id)?;
            Ok(Changed::Done(project.clone()))
        })
    }

    /// Gives a project another name and other quotas.
    pub(crate) fn change_project(
        &self,
        administer: &Administer,
        id: &Id,
        name: &str,
        quotas: Quotas,
    ) -> Result<Changed<Project>, StoreError> {
        self.write(|transaction| {
            if project(transaction, id)?.is_none() {
                return Ok(Changed::Missing);
            }
            let others = "SELECT id FROM projects WHERE name = ? AND id <> ?";
            let other = transaction.row(others, params![name, id], |row| row.get::<Id>(0))?;
            if other.is_some() {
                return Ok(Changed::NameTaken);
            }
            transaction.execute(
                "UPDATE projects SET name = ?, stored_bytes = ?, jobs = ?, queue = ?, kept_days = ?
                 WHERE id = ?",
                params![
                    name,
                    quotas.stored_bytes.map(Count),
                    quotas.jobs,
                    quotas.queue,
                    quotas.kept_days,
                    id
                ],
            )?;
            let action = Action::ProjectChanged;
            note(transaction, administer.by(), Some(id), action, Some(id))?;
            let found = project(transaction, id)?;
            Ok(found.map_or(Changed::Missing, Changed::Done))
        })
    }

    /// Deletes a project with its tokens and everything in it, unless a job of it is not at an end.
    pub(crate) fn remove_project(
        &self,
        administer: &Administer,
        id: &Id,
    ) -> Result<Changed<Contents>, StoreError> {
        let removed = self.write(|transaction| {
            if project(transaction, id)?.is_none() {
                return Ok(Changed::Missing);
            }
            let jobs = unfinished(transaction, Some(id))?;
            if let Some(job) = jobs.first() {
                return Ok(Changed::Busy(job.id.clone()));
            }
            let contents = Contents::read(transaction, id)?;
            transaction.execute("DELETE FROM projects WHERE id = ?", params![id])?;
            let action = Action::ProjectDeleted;
            note(transaction, administer.by(), Some(id), action, Some(id))?;
            Ok(Changed::Done(contents))
        })?;
        self.forget_deleted()?;
        Ok(removed)
    }

    /// Returns the projects that `caller` has to do with, by their names: all for an administrator.
    pub(crate) fn projects(&self, caller: &Caller) -> Result<Vec<Project>, StoreError> {
        self.projects_of(caller.project().map(|(id, _)| id))
    }

    fn projects_of(&self, own: Option<&Id>) -> Result<Vec<Project>, StoreError> {
        let statement =
            format!("SELECT {COLUMNS} FROM projects WHERE ?1 IS NULL OR id = ?1 ORDER BY name");
        self.read(|connection| connection.rows(&statement, params![own], Project::from_row))
    }

    /// Returns all projects, by their names.
    ///
    /// # Errors
    /// When the database fails.
    pub fn all_projects(&self, _: &Administer) -> Result<Vec<Project>, StoreError> {
        self.projects_of(None)
    }

    /// Returns the project called `name`.
    ///
    /// # Errors
    /// When the database fails.
    pub fn project_called(
        &self,
        _: &Administer,
        name: &str,
    ) -> Result<Option<Project>, StoreError> {
        let statement = format!("SELECT {COLUMNS} FROM projects WHERE name = ?");
        self.read(|connection| connection.row(&statement, params![name], Project::from_row))
    }

    /// Returns the managed project, if it exists.
    pub(crate) fn managed_project(&self, manage: &Manage) -> Result<Option<Project>, StoreError> {
        self.read(|connection| project(connection, manage.project()))
    }

    /// Returns the project that the permission lets see.
    pub(crate) fn seen_project(&self, scope: &Scope) -> Result<Option<Project>, StoreError> {
        self.read(|connection| project(connection, scope.project()))
    }

    /// Returns the things of the project that the permission lets see.
    pub(crate) fn contents(&self, scope: &Scope) -> Result<Contents, StoreError> {
        self.read(|connection| Contents::read(connection, scope.project()))
    }
}

/// Returns the project `id`.
pub(super) fn project(connection: &Connection<'_>, id: &Id) -> Result<Option<Project>, StoreError> {
    let statement = format!("SELECT {COLUMNS} FROM projects WHERE id = ?");
    connection.row(&statement, params![id], Project::from_row)
}
