//! A search for proxies as one call: people in, a summary out.

use std::ops::ControlFlow;

use serde::Serialize;

use super::error::ProxiesError;
use super::folds::EqualRows;
use super::measure::{Columns, GroupProxies, Sorted};
pub use super::specification::ProxiesSpecification;
use crate::error::IndirectError;
use crate::people::{LeftOut, OpenedPeople, PeopleReader, ProtectedGroup};
use probity_data::schema::Schema;
use probity_data::table::ReadCounts;
use probity_run::runner::{
    Failure, Observer, OpenedRun, Outcome, RunKind, Setting, Target, perform, watched,
};
use probity_run::specification::file::Record;
use probity_run::specification::{Checked, FieldError};
use probity_tensor::device::ComputeDevice;

/// The most values of an attribute that are looked at where none is named.
pub const MOST_VALUES: usize = 12;

/// The content of `summary.json` of a search for proxies.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProxiesSummary {
    /// Version of this layout.
    pub schema_version: u32,
    /// Always `proxies`.
    pub command: String,
    /// Version that ran.
    pub probity_version: String,
    /// SHA-256 of the model, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_sha256: Option<String>,
    /// SHA-256 of the data file.
    pub data_sha256: String,
    /// Counts of what reading the table changed or left out.
    pub data: ReadCounts,
    /// Whether decisions are the outcomes in the data, in place of a model's.
    pub is_label: bool,
    /// The class that is good to get.
    pub favourable: String,
    /// Whether somebody said that it is.
    pub is_favourable_given: bool,
    /// The columns that are looked at.
    pub looked_at: Vec<String>,
    /// The number of folds.
    pub folds: u32,
    /// What happened to rows that are equal in all columns.
    pub equal_rows: EqualRows,
    /// The share, of what all columns tell beyond chance, that a small set of them is to reach.
    pub share: f64,
    /// Seed of the folds and networks.
    pub seed: u64,
    /// Group by group.
    pub groups: Vec<GroupProxies>,
    /// The groups that were left out, since they or whoever is not in them are too few.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
}

/// A search for proxies whose inputs are opened and checked.
pub struct ProxySearch {
    specification: ProxiesSpecification,
    schema: Schema,
    opened: OpenedPeople,
    /// The places of the columns that are looked at.
    places: Vec<usize>,
    device: ComputeDevice,
}

impl ProxySearch {
    /// Opens and checks what `specification` names; networks, and a model that is there, compute on
    /// `device`.
    ///
    /// # Errors
    /// See [`ProxiesError`].
    pub fn open(
        specification: Checked<ProxiesSpecification>,
        device: &ComputeDevice,
    ) -> Result<ProxySearch, ProxiesError> {
        let mut specification = specification.into_inner();
        let reader = PeopleReader::new(&specification.sources())?;
        // Outcomes are looked at where they are known, whoever decides.
        let opened = OpenedPeople::read_with_outcomes(&reader, &specification.data, device)?;
        expect_few(&opened.groups)?;
        let folds = specification.folds;
        let mut opened =
            opened.with_enough([folds as usize; 2], |group, people| ProxiesError::TooFew {
                group,
                people,
                folds,
            })?;
        drop_mirrors(&mut opened.groups);
        let schema = reader.schema().clone();
        let compared = opened.people.compared();
        let places = looked_at(&specification.columns, &compared, &schema)?;
        specification.protected.clone_from(&opened.protected);
        Ok(ProxySearch {
            specification,
            schema,
            opened,
            places,
            device: device.clone(),
        })
    }

    /// Sorts the people of `columns` in the `rows` alone.
    fn sorted(&self, columns: &Columns<'_>, rows: &[u32]) -> Sorted {
        let scores = columns.scores.map(|of| chosen(of, rows));
        let is_favoured = columns.is_favoured.map(|of| chosen(of, rows));
        let columns = Columns {
            table: &columns.table.select(rows),
            scores: scores.as_deref(),
            is_favoured: is_favoured.as_deref(),
            ..*columns
        };
        Sorted::new(&columns, self.specification.options())
    }

    /// Measures all groups; `watch` gets the groups that are done, and all of them, and breaks to
    /// stop.
    ///
    /// # Errors
    /// When a training fails or is stopped.
    pub fn run(
        &self,
        watch: &(dyn Fn(u64, u64) -> ControlFlow<()> + Sync),
    ) -> Result<ProxiesSummary, ProxiesError> {
        let decisions = &self.opened.people.decisions;
        let decided = decisions.unfavourable();
        let is_favoured: Vec<bool> = decided.iter().map(|it| !it).collect();
        let is_label = self.specification.is_label();
        let columns = Columns {
            table: &self.opened.people.table,
            schema: &self.schema,
            places: &self.places,
            scores: (!is_label).then_some(&decisions.scores[..]),
            // Outcomes are known of everybody or of nobody.
            is_favoured: (!is_favoured.is_empty()).then_some(&is_favoured[..]),
        };
        let sorted = Sorted::new(&columns, self.specification.options());
        let all = self.opened.groups.len() as u64;
        let groups = self.opened.groups.iter().enumerate();
        let groups: Result<Vec<GroupProxies>, ProxiesError> = groups
            .map(|(done, group)| {
                let watch = |_| watch(done as u64, all);
                let mut is_member = group.is_member(self.opened.people.rows());
                if group.unknown.is_empty() {
                    return sorted.group(&group.conditions, &is_member, &self.device, &watch);
                }
                let mut known = [&group.members[..], &group.others].concat();
                known.sort_unstable();
                is_member = known.iter().map(|&row| is_member[row as usize]).collect();
                let sorted = self.sorted(&columns, &known);
                let found = sorted.group(&group.conditions, &is_member, &self.device, &watch)?;
                Ok(GroupProxies {
                    unknown: group.unknown.len() as u64,
                    ..found
                })
            })
            .collect();
        let name = |&place: &usize| self.schema.attributes[place].name.clone();
        Ok(ProxiesSummary {
            schema_version: 1,
            command: "proxies".to_owned(),
            probity_version: env!("CARGO_PKG_VERSION").to_owned(),
            model_sha256: self.opened.sha256_of("model"),
            data_sha256: self.opened.people.sha256.clone(),
            data: self.opened.people.table.counts.clone(),
            is_label,
            favourable: decisions.favourable_name().to_owned(),
            is_favourable_given: decisions.is_favourable_given,
            looked_at: self.places.iter().map(name).collect(),
            folds: self.specification.folds,
            equal_rows: sorted.folds().equal_rows,
            share: self.specification.share,
            seed: self.specification.seed,
            groups: groups?,
            left_out: self.opened.left_out.clone(),
        })
    }
}

fn chosen<T: Copy>(of_row: &[T], rows: &[u32]) -> Vec<T> {
    rows.iter().map(|&row| of_row[row as usize]).collect()
}

/// Leaves one group of each attribute of two values of which neither was named: telling who has the one
/// is telling who has the other. It is the smaller one, or the first of equal ones.
fn drop_mirrors(groups: &mut Vec<ProtectedGroup>) {
    let is_opposite = |one: &ProtectedGroup, other: &ProtectedGroup| {
        !one.is_named && !other.is_named && one.members == other.others
    };
    let mut place = 0;
    while place < groups.len() {
        let of = |group: &ProtectedGroup| group.members.len();
        let opposite = groups[place + 1..]
            .iter()
            .position(|other| is_opposite(&groups[place], other));
        if let Some(distance) = opposite {
            let other = groups.remove(place + 1 + distance);
            if of(&other) < of(&groups[place]) {
                groups[place] = other;
            }
        }
        place += 1;
    }
}

/// Refuses an attribute with many values of which none is named.
fn expect_few(groups: &[ProtectedGroup]) -> Result<(), ProxiesError> {
    for group in groups {
        let [condition] = &group.conditions[..] else {
            continue;
        };
        let same = groups.iter().filter(|other| {
            matches!(&other.conditions[..], [other] if other.attribute == condition.attribute)
        });
        let values = same.count();
        if values > MOST_VALUES {
            return Err(ProxiesError::ManyValues {
                attribute: condition.attribute.clone(),
                values,
                most: MOST_VALUES,
                example: condition.value.clone(),
            });
        }
    }
    Ok(())
}

/// Returns the places of the columns that are looked at: those `named`, or all `others` than protected
/// ones; in the order of the schema.
fn looked_at(
    named: &[String],
    others: &[String],
    schema: &Schema,
) -> Result<Vec<usize>, IndirectError> {
    let mut places = Vec::new();
    for name in if named.is_empty() { others } else { named } {
        let place = schema.index_of(name)?;
        if !others.contains(&schema.attributes[place].name) {
            let expected = "an attribute that is not protected";
            return Err(FieldError::new("columns", name, expected).into());
        }
        places.push(place);
    }
    places.sort_unstable();
    places.dedup();
    Ok(places)
}

impl RunKind for ProxiesSpecification {
    const DIRECTORY: Option<&'static str> = None;

    fn perform(
        specification: Checked<Self>,
        setting: Setting<'_>,
    ) -> Result<Outcome<String>, Failure> {
        let device = specification.predictor.device(setting.device)?;
        let search = ProxySearch::open(specification, &device)?;
        perform(search, setting)?.written()
    }
}

impl OpenedRun for ProxySearch {
    type Kind = ProxiesSpecification;
    type Summary = ProxiesSummary;

    fn record(&self) -> Option<&Record> {
        Some(self.opened.record())
    }

    fn remark(&self, observer: &dyn Observer) {
        self.opened.remark_to(observer);
    }

    fn whole(self, target: Target<'_>, observer: &dyn Observer) -> Result<Self::Summary, Failure> {
        let summary = self.run(&watched(observer, "proxies"))?;
        if let Some(directory) = target.directory() {
            directory.write_whole(&self.specification, self.opened.record(), &summary)?;
        }
        Ok(summary)
    }
}
