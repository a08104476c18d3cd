//! People who are read: with the groups among them, and what they would have been outside of these.

use std::path::Path;

use super::{
    DRAWN, Drawing, DrawnForGroup, DrawnPeople, LeftOut, People, PeopleReader, ProtectedGroup,
    drawn, named,
};
use crate::error::IndirectError;
use probity_fairness::record::record_of;
use probity_run::run_directory::{RunDirectory, RunError};
use probity_run::runner::Observer;
use probity_run::specification::file::Record;
use probity_tensor::device::ComputeDevice;

/// What people would have been outside of their group.
pub enum Counterfactuals {
    /// Nothing says it.
    None,
    /// Somebody said so, of all groups alike.
    Given(Box<People>),
    /// The counterfactuals are drawn, for each group anew.
    Drawn(Vec<DrawnPeople>),
}

impl Counterfactuals {
    /// Returns what people would have been outside of the group number `group`.
    pub fn of(&self, group: usize) -> Option<&People> {
        match self {
            Counterfactuals::None => None,
            Counterfactuals::Given(people) => Some(people),
            Counterfactuals::Drawn(drawn) => drawn.get(group).map(|it| &it.people),
        }
    }

    /// Returns what was drawn for the group number `group`, where counterparts are.
    fn drawn(&self, group: usize) -> Option<&DrawnPeople> {
        match self {
            Counterfactuals::Drawn(drawn) => drawn.get(group),
            _ => None,
        }
    }

    /// Returns whether nothing says it.
    pub fn are_none(&self) -> bool {
        matches!(self, Counterfactuals::None)
    }
}

/// People, with the protected groups among them.
pub struct OpenedPeople {
    /// The people.
    pub people: People,
    /// What each would have been outside of their group, if anything says so.
    pub counterfactuals: Counterfactuals,
    /// The groups that are looked at.
    pub groups: Vec<ProtectedGroup>,
    /// The groups that are left out.
    pub left_out: Vec<LeftOut>,
    /// The protected attributes, with the value that was named: `sex=female`.
    pub protected: Vec<String>,
    record: Record,
}

impl OpenedPeople {
    /// Reads the people in `data` and their `counterfactuals`, of the same people in the same order, with
    /// `reader`; a model computes on `device`.
    ///
    /// # Errors
    /// See [`IndirectError`].
    pub fn read(
        reader: &PeopleReader,
        data: &Path,
        counterfactuals: Option<&Path>,
        device: &ComputeDevice,
    ) -> Result<OpenedPeople, IndirectError> {
        OpenedPeople::of(reader, reader.read(data, device)?, counterfactuals, device)
    }

    /// Reads the people in `data` with the outcomes that are known; see
    /// [`PeopleReader::read_with_outcomes`].
    ///
    /// # Errors
    /// See [`IndirectError`].
    pub fn read_with_outcomes(
        reader: &PeopleReader,
        data: &Path,
        device: &ComputeDevice,
    ) -> Result<OpenedPeople, IndirectError> {
        OpenedPeople::of(
            reader,
            reader.read_with_outcomes(data, device)?,
            None,
            device,
        )
    }

    fn of(
        reader: &PeopleReader,
        people: People,
        counterfactuals: Option<&Path>,
        device: &ComputeDevice,
    ) -> Result<OpenedPeople, IndirectError> {
        let groups = reader.groups(&people)?;
        let mut sha256 = reader.sha256.clone();
        sha256.insert("data".to_owned(), people.sha256.clone());
        let mut given = Counterfactuals::None;
        if let Some(file) = counterfactuals {
            // Everybody may be decided alike then.
            let others = reader.read_whoever(file, device)?;
            people.expect_same_rows(&others)?;
            for group in &groups {
                expect_outside(reader, group, &others)?;
            }
            sha256.insert("counterfactuals".to_owned(), others.sha256.clone());
            given = Counterfactuals::Given(Box::new(others));
        }
        Ok(OpenedPeople {
            people,
            counterfactuals: given,
            groups,
            left_out: Vec::new(),
            protected: reader.protected(),
            record: record_of(device, &sha256),
        })
    }

    /// Leaves out the groups that are too small; see [`super::with_enough`].
    ///
    /// # Errors
    /// Where a group that was asked for by name is, or no group is left.
    pub fn with_enough<E>(
        self,
        least: [usize; 2],
        error: impl Fn(String, usize) -> E,
    ) -> Result<OpenedPeople, E> {
        let (groups, left_out) = super::with_enough(self.groups, least, error)?;
        Ok(OpenedPeople {
            groups,
            left_out,
            ..self
        })
    }

    /// Draws counterparts of the members of every group, with the `reader` of the people; a model computes
    /// on `device`.
    ///
    /// # Errors
    /// See [`PeopleReader::draw`].
    pub fn with_drawn(
        mut self,
        reader: &PeopleReader,
        drawing: Drawing<'_>,
        device: &ComputeDevice,
    ) -> Result<OpenedPeople, IndirectError> {
        let groups = self.groups.iter();
        let drawn = groups.map(|group| reader.draw(&self.people, group, drawing, device));
        self.counterfactuals = Counterfactuals::Drawn(drawn.collect::<Result<_, _>>()?);
        Ok(self)
    }

    /// Returns the counterparts who were drawn for the group number `group`, if any were, who get `mean` on
    /// average, beside real people; these get `outcomes`, one for each of the people.
    pub fn drawn_for(&self, group: usize, mean: f64, outcomes: &[f64]) -> Option<DrawnForGroup> {
        let drawn = self.counterfactuals.drawn(group)?;
        let (kept, own) = (drawn.kept.len(), self.groups[group].conditions.len());
        let attributes = self.people.schema.attributes.len();
        Some(DrawnForGroup {
            unmet: drawn.unmet,
            mean,
            kept: kept as u64,
            drawn: attributes.saturating_sub(kept + own) as u64,
            nearest: drawn.nearby(&self.people, &self.groups[group], outcomes),
        })
    }

    /// Tells `observer` what users are to know of a predictor's answers about the people.
    pub(crate) fn remark_to(&self, observer: &dyn Observer) {
        for remark in &self.people.remarks {
            observer.remark(remark);
        }
    }

    /// Writes who was drawn into `directory`, where anybody was.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn write_drawn(&self, directory: &RunDirectory) -> Result<(), RunError> {
        match &self.counterfactuals {
            Counterfactuals::Drawn(drawn) => {
                drawn::write(&directory.file(DRAWN), &self.groups, drawn)
            }
            _ => Ok(()),
        }
    }

    /// Returns what a run's file tells of what was opened.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Returns the hash of what was opened as `role`, if anything was.
    pub fn sha256_of(&self, role: &str) -> Option<String> {
        let hash = self.record.sha256_of(role);
        (!hash.is_empty()).then(|| hash.to_owned())
    }
}

/// Refuses counterfactuals in which members of `group` are members still: they would be compared with
/// themselves, and nothing be found.
fn expect_outside(
    reader: &PeopleReader,
    group: &ProtectedGroup,
    counterfactual: &People,
) -> Result<(), IndirectError> {
    let members = &group.members;
    let still = reader.meet(&group.conditions, counterfactual);
    let rows = members.iter().filter(|&&row| still[row as usize]).count();
    match rows {
        0 => Ok(()),
        rows => Err(IndirectError::StillMembers {
            file: counterfactual.file.clone(),
            group: named(&group.conditions),
            rows,
            members: members.len(),
        }),
    }
}
