//! Lists of things: which of a project are in one, and where it goes on.

use rusqlite::{ToSql, params};

use super::access::Scope;
use super::{InJson, Job, JobState, Record, Store, StoreError, select};
use crate::identifier::Id;
use crate::jobs::specification::JobKind;

/// What tells which things of a kind are listed.
pub(crate) trait Narrow: Clone + Default + Send + 'static {
    /// Says in `condition` what must hold of them.
    fn narrow(&self, condition: &mut Condition);
}

/// What must hold of the rows of a list.
pub(crate) struct Condition {
    project: Id,
    text: String,
    values: Vec<Box<dyn ToSql>>,
}

impl Condition {
    fn and(&mut self, text: &str, values: impl IntoIterator<Item = Box<dyn ToSql>>) {
        self.text.push_str(" AND ");
        self.text.push_str(text);
        self.values.extend(values);
    }
}

/// Which things are listed; what is left empty does not matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Which {
    /// A part of their names; letters of English may be large or small.
    pub name: String,
    /// The name of the token that they came with.
    pub by: String,
}

impl Narrow for Which {
    fn narrow(&self, condition: &mut Condition) {
        if !self.name.is_empty() {
            let name = Box::new(self.name.clone());
            condition.and("instr(lower(label), lower(?)) > 0", [name as _]);
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

/// Which jobs are listed; what is left out does not matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct WhichJobs {
    /// What goes for all things.
    pub which: Which,
    /// What they do.
    pub kind: Option<JobKind>,
    /// Where they stand: in one of these states.
    pub states: Vec<JobState>,
    /// The model that they read.
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

/// Which audits are looked at one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Series {
    /// Those of a model.
    OfModel(Id),
    /// Those that are called so.
    Called(String),
}

impl Store {
    /// The `limit` newest things of a kind that came before the thing `before`, or of all, the
    /// newest first.
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
        let values: Vec<&dyn ToSql> = condition.values.iter().map(AsRef::as_ref).collect();
        select(&self.connection(), &text, &values)
    }

    /// What the tokens are called that things of the project came with, by their identifiers.
    pub(crate) fn owners(&self, scope: &Scope) -> Result<Vec<(Id, String)>, StoreError> {
        let connection = self.connection();
        let mut statement = connection.prepare(
            "SELECT id, label FROM tokens WHERE project = ?1 AND id IN (
                 SELECT owner FROM jobs WHERE project = ?1
                 UNION SELECT owner FROM models WHERE project = ?1
                 UNION SELECT owner FROM data_sets WHERE project = ?1
             ) ORDER BY label",
        )?;
        let rows = statement.query_map(params![scope.project()], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
    /// The `limit` newest audits of `series` that are done, the newest first.
    pub(crate) fn done_audits(
        &self,
        scope: &Scope,
        series: &Series,
        limit: u32,
    ) -> Result<Vec<Job>, StoreError> {
        let (column, value): (_, &dyn ToSql) = match series {
            Series::OfModel(id) => ("json_extract(specification, '$.model')", id),
            Series::Called(label) => ("label", label),
        };
        let condition = format!(
            "project = ? AND kind = ? AND state = ? AND {column} = ? ORDER BY number DESC LIMIT ?"
        );
        let (kind, state) = (InJson(JobKind::Audit), InJson(JobState::Done));
        let values: [&dyn ToSql; 5] = [scope.project(), &kind, &state, value, &limit];
        select(&self.connection(), &condition, &values)
    }
}
