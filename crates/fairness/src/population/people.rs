//! The rows of a table as individuals and variants of them, and the groups that variants are in.

use serde::Serialize;

use crate::certify::parts::Part;
use crate::domain::{Domain, TabularDomain};
use crate::group::GroupError;
use crate::group::grouping::AttributeGroups;
use probity_data::schema::Schema;
use probity_data::table::{ReadCounts, Table};
use probity_nn::decision::{Decision, Score};
use probity_run::specification::FieldError;

/// The rows that a share is of.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Source {
    /// The part of the data.
    pub part: Part,
    /// The SHA-256 of the file of the rows, where it is not the data, and counts of what reading it
    /// did.
    pub file: Option<(String, ReadCounts)>,
    /// Number of rows that exist and whose protected values are known, of which some may be asked
    /// about.
    pub rows: u64,
    /// The rows that exist besides.
    pub unknown: Unknown,
}

/// The rows with a protected value that is not known. They are in no group, so that nothing is said of
/// them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Unknown {
    /// Number of rows.
    pub rows: u64,
    /// The attributes whose value is not known in some of them.
    pub attributes: Vec<String>,
}

impl Unknown {
    /// Returns those of the `rows` of `table`, whose attributes `schema` describes, in which all
    /// protected values of `domain` are known; and counts the others.
    ///
    /// # Errors
    /// When there is no such row.
    pub fn divide(
        (schema, domain): (&Schema, &TabularDomain),
        table: &Table,
        rows: impl Iterator<Item = u32>,
    ) -> Result<(Vec<u32>, Unknown), FieldError> {
        let (known, others): (Vec<u32>, Vec<u32>) =
            rows.partition(|&row| domain.is_known(table.row(row as usize)));
        let named = |is: &dyn Fn(usize, Option<i32>) -> bool| -> Vec<String> {
            let protected = domain.protected().iter().copied();
            let such = protected.filter(|&at| is(at, schema.attributes[at].unknown()));
            such.map(|at| schema.attributes[at].name.clone()).collect()
        };
        let lacks = |row: &u32, at: usize, unknown: Option<i32>| {
            Some(table.row(*row as usize)[at]) == unknown
        };
        if known.is_empty() && !others.is_empty() {
            let all = named(&|_, _| true).join(",");
            let nowhere = named(&|at, unknown| others.iter().all(|row| lacks(row, at, unknown)));
            let nowhere = nowhere.join(", ");
            let expected = match (others.len(), nowhere.is_empty()) {
                (_, true) => {
                    "fewer attributes: of all of these together the values are known in no row"
                        .to_owned()
                }
                (1, false) => format!(
                    "attributes whose values are known in the row that is asked about, unlike those of {nowhere}; or ask about another row"
                ),
                (_, false) => format!(
                    "attributes whose values are known in some row, unlike those of {nowhere}"
                ),
            };
            return Err(FieldError::new("protected", all, expected));
        }
        let attributes = named(&|at, unknown| others.iter().any(|row| lacks(row, at, unknown)));
        let unknown = Unknown {
            rows: others.len() as u64,
            attributes,
        };
        Ok((known, unknown))
    }
}

/// Rows of a table.
#[derive(Debug, Clone, Default)]
pub struct PopulationRows<'a> {
    /// The codes of each row.
    pub codes: Vec<&'a [i32]>,
    /// The numeric attributes, where the model is asked about rows with the numbers that they have
    /// in their file.
    pub places: &'a [usize],
    /// These numbers of each row, one for each of `places`; none where there are no such.
    pub numbers: Vec<&'a [f64]>,
}

impl<'a> From<Vec<&'a [i32]>> for PopulationRows<'a> {
    fn from(codes: Vec<&'a [i32]>) -> PopulationRows<'a> {
        PopulationRows {
            codes,
            ..PopulationRows::default()
        }
    }
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
    /// The gap beyond which scores differ, where they are compared.
    pub(super) gap: Option<f64>,
    /// The score whose moves are counted.
    pub(super) score: Score,
    /// The name of the number that a regressor gives.
    pub(super) number: Option<String>,
    /// One row of each individual.
    pub(super) individuals: Vec<&'a [i32]>,
    /// The numeric attributes whose numbers rows have of their own.
    places: &'a [usize],
    /// The numbers of each individual's rows; none where there are no such.
    numbers: Vec<&'a [f64]>,
    /// The variants that rows are, individual after individual.
    pub(super) variants: Vec<u32>,
    /// The place where the variants of each individual begin, and the end.
    pub(super) starts: Vec<usize>,
    /// The groups by each protected attribute and, if there are several, by all jointly.
    pub(super) groups: Vec<Groups>,
    /// Whether the model is known to take every attribute.
    pub(super) are_all_taken: bool,
}

impl<'a> People<'a> {
    /// The people in `rows`, inputs of `domain` by the attributes of `schema`, which come from
    /// `source`; `favourable` is the number of the class that is good to get. Rows with different
    /// numbers of their own are different individuals. Protected values are known.
    ///
    /// # Errors
    /// When the groups of a protected attribute cannot be told.
    pub fn new(
        (schema, domain): (&Schema, &'a TabularDomain),
        (source, rows): (Source, PopulationRows<'a>),
        favourable: usize,
    ) -> Result<People<'a>, GroupError> {
        let PopulationRows {
            codes,
            places,
            numbers: of_rows,
        } = rows;
        let of_row = |row: u32| of_rows.get(row as usize).copied().unwrap_or_default();
        let bits = |row: u32| of_row(row).iter().map(|number| number.to_bits());
        let place = |(at, row): (usize, &&[i32])| {
            let variant = domain.own_variant(row) as u32;
            (domain.individual_key(row), variant, at as u32)
        };
        let mut placed: Vec<(u128, u32, u32)> = codes.iter().enumerate().map(place).collect();
        placed.sort_unstable_by(|a, b| {
            let numbers = || bits(a.2).cmp(bits(b.2));
            a.0.cmp(&b.0).then_with(numbers).then(a.cmp(b))
        });
        let (mut individuals, mut starts) = (Vec::new(), Vec::new());
        let mut numbers = Vec::new();
        let mut before = None;
        for (at, &(key, _, row)) in placed.iter().enumerate() {
            let is_known = before
                .replace((key, row))
                .is_some_and(|(known, other)| known == key && bits(other).eq(bits(row)));
            if !is_known {
                individuals.push(codes[row as usize]);
                numbers.push(of_row(row));
                starts.push(at);
            }
        }
        starts.push(placed.len());
        let name = |&attribute: &usize| schema.attributes[attribute].name.clone();
        Ok(People {
            groups: groups(schema, domain)?,
            source,
            protected: domain.protected().iter().map(name).collect(),
            domain,
            favourable: (favourable, schema.label.classes[favourable].clone()),
            gap: None,
            number: schema.label.is_number().then(|| schema.label.name.clone()),
            score: match schema.label.is_number() {
                true => Score::Number,
                false => Score::Probability(favourable),
            },
            individuals,
            places,
            numbers,
            variants: placed.into_iter().map(|(_, variant, _)| variant).collect(),
            starts,
            are_all_taken: false,
        })
    }

    /// Returns these people as asked about with a network of ours. A network takes every attribute,
    /// whatever its weights make of it, so that no answers need to be compared to find those
    /// without effect.
    #[must_use]
    pub fn asked_of_network(self) -> People<'a> {
        People {
            are_all_taken: true,
            ..self
        }
    }

    /// Returns these people with `decision` as the rule by which decisions about them are made.
    #[must_use]
    pub fn decided_by(mut self, decision: &Decision) -> People<'a> {
        if let Decision::Gap(gap) = decision {
            self.gap = Some(gap.most);
        }
        self
    }

    /// Appends the numbers that variants of individual `individual`, of the codes `variants`, have of
    /// their own: those of its rows, and NaN where a variant has another code.
    pub(super) fn append_numbers(&self, individual: usize, variants: &[i32], out: &mut Vec<f64>) {
        let (own, numbers) = (self.individuals[individual], self.numbers[individual]);
        for variant in variants.chunks_exact(own.len()) {
            out.extend(self.places.iter().zip(numbers).map(|(&place, &number)| {
                match variant[place] == own[place] {
                    true => number,
                    false => f64::NAN,
                }
            }));
        }
    }

    /// Number of different individuals among the rows: these are asked about, and cut into shards.
    pub fn individuals(&self) -> u64 {
        self.starts.len() as u64 - 1
    }

    /// Number of rows.
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
    let attributes = attributes.map(|groups| Ok(groups?.of_known()));
    let attributes: Vec<AttributeGroups> = attributes.collect::<Result<_, GroupError>>()?;
    // One row is as good as another: its protected values are replaced.
    let any: Vec<i32> = domain.spans().iter().map(|span| span.min).collect();
    let mut codes = Vec::new();
    (0..domain.variants(&any)).for_each(|v| domain.write_variant(&any, v, &mut codes));
    let by = |chosen: &[AttributeGroups]| {
        let of_variant = codes.chunks_exact(any.len()).map(|row| {
            chosen.iter().fold(0, |group, attribute| {
                let labels = attribute.labels.len() as u32;
                group * labels + attribute.group(row[attribute.position])
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
