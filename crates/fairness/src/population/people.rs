//! Rows as individuals and variants of them, and the groups that variants are in.

use std::collections::HashMap;

use crate::certify::parts::Part;
use crate::domain::{Domain, TabularDomain};
use crate::group::GroupError;
use crate::group::grouping::AttributeGroups;
use probity_data::schema::Schema;
use probity_data::table::ReadCounts;

/// Which rows a share is of.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Source {
    /// Which of the data.
    pub part: Part,
    /// SHA-256 of their file, where it is not the data, and what reading it did.
    pub file: Option<(String, ReadCounts)>,
    /// How many there are, of which some may be asked about.
    pub rows: u64,
}

/// Groups of rows by some attributes. The group of a row depends on its protected values alone.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Groups {
    /// Names of the attributes.
    pub attributes: Vec<String>,
    /// The values of each group.
    pub values: Vec<Vec<String>>,
    /// The group of each variant.
    pub of_variant: Vec<u32>,
}

/// Rows of a table, by individuals.
#[derive(Debug, Clone)]
pub struct People<'a> {
    pub(super) domain: &'a TabularDomain,
    pub(super) source: Source,
    pub(super) protected: Vec<String>,
    /// Number and name of the favourable class.
    pub(super) favourable: (usize, String),
    /// The codes of one row of each individual.
    pub(super) individuals: Vec<i32>,
    /// The variants that rows are, individual after individual.
    pub(super) variants: Vec<u32>,
    /// Where those of each individual begin, and the end.
    pub(super) starts: Vec<usize>,
    /// By each protected attribute and, if there are several, by all jointly.
    pub(super) groups: Vec<Groups>,
}

impl<'a> People<'a> {
    /// The people in `rows`, inputs of `domain` by the attributes of `schema`, which come from
    /// `source`; `favourable` is the number of the class that is good to get.
    ///
    /// # Errors
    /// When the groups of a protected attribute cannot be told.
    pub fn new<'r>(
        (schema, domain): (&Schema, &'a TabularDomain),
        (source, rows): (Source, impl Iterator<Item = &'r [i32]>),
        favourable: usize,
    ) -> Result<People<'a>, GroupError> {
        let mut places: HashMap<u128, usize> = HashMap::new();
        let mut individuals = Vec::new();
        let mut members: Vec<(usize, u32)> = Vec::new();
        for row in rows {
            let next = places.len();
            let place = *places.entry(domain.individual_key(row)).or_insert(next);
            if place == next {
                individuals.extend_from_slice(row);
            }
            members.push((place, domain.own_variant(row) as u32));
        }
        members.sort_unstable();
        let mut starts = vec![0; places.len() + 1];
        for &(place, _) in &members {
            starts[place + 1] += 1;
        }
        for place in 1..starts.len() {
            starts[place] += starts[place - 1];
        }
        let name = |&attribute: &usize| schema.attributes[attribute].name.clone();
        Ok(People {
            groups: groups(schema, domain)?,
            source,
            protected: domain.protected().iter().map(name).collect(),
            domain,
            favourable: (favourable, schema.label.classes[favourable].clone()),
            individuals,
            variants: members.into_iter().map(|(_, variant)| variant).collect(),
            starts,
        })
    }

    /// Different individuals among the rows: what is asked about, and cut into shards.
    pub fn individuals(&self) -> u64 {
        self.starts.len() as u64 - 1
    }

    /// Rows.
    pub fn rows(&self) -> u64 {
        self.variants.len() as u64
    }
}

/// The groups of the protected attributes of `domain`: by each, and by all jointly.
fn groups(schema: &Schema, domain: &TabularDomain) -> Result<Vec<Groups>, GroupError> {
    let attributes = domain
        .protected()
        .iter()
        .map(|&attribute| AttributeGroups::new(schema, &schema.attributes[attribute].name, &[]));
    let attributes: Vec<AttributeGroups> = attributes.collect::<Result<_, _>>()?;
    // One row is as good as another: its protected values are replaced.
    let any: Vec<i32> = domain.spans().iter().map(|span| span.min).collect();
    let mut codes = Vec::new();
    (0..domain.variants(&any)).for_each(|v| domain.write_variant(&any, v, &mut codes));
    let by = |chosen: &[AttributeGroups]| {
        let of_variant = codes.chunks_exact(any.len()).map(|row| {
            chosen.iter().fold(0, |group, attribute| {
                let labels = attribute.labels.len() as u32;
                group * labels + attribute.of(row[attribute.position])
            })
        });
        let mut values = vec![Vec::new()];
        for attribute in chosen {
            let longer = values.iter().flat_map(|values: &Vec<String>| {
                let labels = attribute.labels.iter();
                labels.map(|label| [values.as_slice(), std::slice::from_ref(label)].concat())
            });
            values = longer.collect();
        }
        Groups {
            attributes: chosen
                .iter()
                .map(|attribute| attribute.name.clone())
                .collect(),
            of_variant: of_variant.collect(),
            values,
        }
    };
    let mut groups: Vec<Groups> = attributes.chunks(1).map(by).collect();
    if attributes.len() > 1 {
        groups.push(by(&attributes));
    }
    Ok(groups)
}
