//! Lists of things: which things of a project a list has, and where its next part begins.

use super::access::Scope;
use super::{InJson, Job, JobState, Parameter, Record, Store, StoreError, params, select};
use crate::identifier::Id;
use crate::jobs::specification::JobKind;

/// A selection of things of a kind.
pub(crate) trait Narrow: Clone + Default + Send + 'static {
    /// Adds the requirements of the selection to `condition`.
    fn narrow(&self, condition: &mut Condition);
}

/// The SQL condition on the rows of a list.
pub(crate) struct Condition {
    project: Id,
    text: String,
    values: Vec<Box<dyn Parameter>>,
}

impl Condition {
    fn and(&mut self, text: &str, values: impl IntoIterator<Item = Box<dyn Parameter>>) {
        self.text.push_str(" AND ");
        self.text.push_str(text);
        self.values.extend(values);
    }
}

/// A selection of things; a field that is empty selects by nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Which {
    /// A part of the things' names; letters of English may be large or small.
    pub name: String,
    /// The name of the token that the things came with.
    pub by: String,
}

impl Narrow for Which {
    fn narrow(&self, condition: &mut Condition) {
        if !self.name.is_empty() {
            let name = Box::new(self.name.to_ascii_lowercase());
            condition.and("instr(lower(label), ?) > 0", [name as _]);
        }
        if !self.by.is_empty() {
            let project = Box::new(condition.project.clone());
            condition.and(
                "owner IN (SELECT id FROM tokens WHERE label = ? AND project = ?)",
                [Box::new(self.by.clone()) as _, project as _],
            );
        }
    }
}

/// A selection of jobs; a field that is left out selects by nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct WhichJobs {
    /// The selection that holds for things of all kinds.
    pub which: Which,
    /// The kind of the jobs.
    pub kind: Option<JobKind>,
    /// The states of the jobs: one of these.
    pub states: Vec<JobState>,
    /// The model that the jobs read.
    pub model: Option<Id>,
}

impl Narrow for WhichJobs {
    fn narrow(&self, condition: &mut Condition) {
        self.which.narrow(condition);
        if let Some(kind) = self.kind {
            condition.and("kind = ?", [Box::new(InJson(kind)) as _]);
        }
        if !self.states.is_empty() {
            let marks = vec!["?"; self.states.len()].join(", ");
            let states = self.states.iter();
            let states = states.map(|&state| Box::new(InJson(state)) as _);
            condition.and(&format!("state IN ({marks})"), states);
        }
        if let Some(model) = &self.model {
            let model = Box::new(model.clone());
            condition.and("json_extract(specification, '$.model') = ?", [model as _]);
        }
    }
}

/// A series of audits that are looked at one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Series {
    /// The audits of a model.
    OfModel(Id),
    /// The audits with this name.
    Called(String),
}

impl Store {
    /// Returns the `limit` newest things of a kind, the newest first: those that came before the
    /// thing `before`, or the newest of all.
    pub(crate) fn list<T: Record>(
        &self,
        scope: &Scope,
        which: &T::Which,
        before: Option<&Id>,
        limit: u32,
    ) -> Result<Vec<T>, StoreError> {
        let (order, table, project) = (T::ORDER, T::TABLE, scope.project());
        let mut condition = Condition {
            project: project.clone(),
            text: "project = ?".to_owned(),
            values: vec![Box::new(project.clone())],
        };
        which.narrow(&mut condition);
        if let Some(before) = before {
            condition.and(
                &format!("{order} < (SELECT {order} FROM {table} WHERE id = ? AND project = ?)"),
                [
                    Box::new(before.clone()) as _,
                    Box::new(project.clone()) as _,
                ],
            );
        }
        let text = format!("{} ORDER BY {order} DESC LIMIT {limit}", condition.text);
        let values: Vec<&dyn Parameter> = condition.values.iter().map(AsRef::as_ref).collect();
        self.read(|connection| select(connection, &text, &values))
    }

    /// Returns the tokens that things of the project came with: their identifiers and names.
    pub(crate) fn owners(&self, scope: &Scope) -> Result<Vec<(Id, String)>, StoreError> {
        let statement = "SELECT id, label FROM tokens WHERE project = ?1 AND id IN (
                 SELECT owner FROM jobs WHERE project = ?1
                 UNION SELECT owner FROM models WHERE project = ?1
                 UNION SELECT owner FROM data_sets WHERE project = ?1
             ) ORDER BY label";
        let values = params![scope.project()];
        self.read(|connection| {
            connection.rows(statement, values, |row| Ok((row.get(0)?, row.get(1)?)))
        })
    }

    /// Returns the `limit` newest audits of `series` that are done, the newest first.
    pub(crate) fn done_audits(
        &self,
        scope: &Scope,
        series: &Series,
        limit: u32,
    ) -> Result<Vec<Job>, StoreError> {
        let (column, value): (_, &dyn Parameter) = match series {
            Series::OfModel(id) => ("json_extract(specification, '$.model')", id),
            Series::Called(label) => ("label", label),
        };
        let condition = format!(
            "project = ? AND kind = ? AND state = ? AND {column} = ? ORDER BY number DESC LIMIT ?"
        );
        let (kind, state) = (InJson(JobKind::Audit), InJson(JobState::Done));
        let values = params![scope.project(), kind, state, value, limit];
        self.read(|connection| select(connection, &condition, values))
    }
}
