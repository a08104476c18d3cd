//! Groups of rows, by one protected attribute or by several together.
//!
//! Without declared bins an attribute of at most [`MOST_VALUES`] codes, or one without an order,
//! makes a group of each value, or of each bin of the schema. An integer or numeric attribute of more codes is cut into
//! [`DEFAULT_BINS`] bins of equally many codes of its *declared* domain: the groups never depend on
//! the rows, as those of quantiles would. A level for outside values is a group of its own.

use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::GroupError;
use probity_data::schema::{Attribute, Kind, Schema};
use probity_data::table::Table;

/// Largest number of codes of an attribute that are taken one by one.
pub const MOST_VALUES: usize = 12;

/// Number of bins of an attribute of more codes.
pub const DEFAULT_BINS: usize = 5;

/// Largest number of attributes whose intersections are looked at: there are 2ⁿ − 1 sets of n
/// attributes.
pub const MOST_ATTRIBUTES: usize = 6;

/// Inner edges of the groups of one attribute: `age=25,45` makes *below 25*, *25 to below 45* and
/// *45 and above*.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct DeclaredBins {
    /// The attribute.
    pub attribute: String,
    /// Ascending edges; an edge belongs to the group above it.
    pub edges: Vec<f64>,
}

impl FromStr for DeclaredBins {
    type Err = String;

    fn from_str(text: &str) -> Result<DeclaredBins, String> {
        let wrong = || "an attribute and ascending numbers such as age=25,45,65".to_owned();
        let (attribute, edges) = text.split_once('=').ok_or_else(wrong)?;
        let finite = |edge: &str| {
            edge.trim()
                .parse()
                .ok()
                .filter(|edge: &f64| edge.is_finite())
        };
        let edges: Option<Vec<f64>> = edges.split(',').map(finite).collect();
        Ok(DeclaredBins {
            attribute: attribute.trim().to_owned(),
            edges: edges.ok_or_else(wrong)?,
        })
    }
}

impl TryFrom<String> for DeclaredBins {
    type Error = String;

    fn try_from(text: String) -> Result<DeclaredBins, String> {
        text.parse()
    }
}

impl From<DeclaredBins> for String {
    fn from(bins: DeclaredBins) -> String {
        let edges: Vec<String> = bins.edges.iter().map(f64::to_string).collect();
        format!("{}={}", bins.attribute, edges.join(","))
    }
}

/// The way in which the groups of an attribute were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GroupedBy {
    /// Each value is a group.
    Values,
    /// Bins that the caller declared.
    DeclaredBins,
    /// Bins of equally many codes of the declared domain.
    EqualBins,
}

/// The groups of one attribute.
#[derive(Debug, Clone, PartialEq)]
pub struct AttributeGroups {
    /// Position of the attribute.
    pub position: usize,
    /// The name of the attribute.
    pub name: String,
    /// The way in which the groups were made.
    pub by: GroupedBy,
    /// The names of the groups.
    pub labels: Vec<String>,
    /// The group of those whose value is marked as missing, where values may be.
    pub unknown: Option<u32>,
    min: i32,
    /// The group of each code, from the smallest code.
    of_code: Vec<u32>,
}

impl AttributeGroups {
    /// The groups of the attribute called `name`, by `bins` if they are about it.
    ///
    /// # Errors
    /// An unknown attribute, bins for words, edges that do not ascend, lie outside the domain or
    /// cut a bin of the schema in two.
    pub fn new(
        schema: &Schema,
        name: &str,
        bins: &[DeclaredBins],
    ) -> Result<AttributeGroups, GroupError> {
        let position = schema.index_of(name)?;
        let attribute = &schema.attributes[position];
        let declared = bins.iter().find(|bins| bins.attribute == name);
        let is_words = matches!(attribute.kind, Kind::Categorical { .. });
        let (by, starts) = match declared {
            Some(bins) => (GroupedBy::DeclaredBins, declared_starts(attribute, bins)?),
            None if is_words || attribute.levels() <= MOST_VALUES => {
                return Ok(match attribute.kind {
                    // A bin holds more numbers than the one that it begins with.
                    Kind::Numeric { .. } => {
                        let (first, last) = attribute.ordered_domain();
                        let starts: Vec<i32> = (first..=last).collect();
                        by_starts(position, attribute, GroupedBy::Values, &starts)
                    }
                    _ => by_value(position, attribute),
                });
            }
            None => (GroupedBy::EqualBins, equal_starts(attribute)),
        };
        Ok(by_starts(position, attribute, by, &starts))
    }

    /// Returns these groups without that of those whose value is not known, which is the last.
    #[must_use]
    pub fn of_known(mut self) -> AttributeGroups {
        if self.unknown.take().is_some() {
            self.labels.pop();
            self.of_code.pop();
        }
        self
    }

    /// The group of a code.
    pub fn group(&self, code: i32) -> u32 {
        let place = i64::from(code) - i64::from(self.min);
        let last = self.of_code.len().saturating_sub(1);
        self.of_code[(place.max(0) as usize).min(last)]
    }
}

fn by_value(position: usize, attribute: &Attribute) -> AttributeGroups {
    let (min, max) = attribute.domain();
    AttributeGroups {
        position,
        name: attribute.name.clone(),
        by: GroupedBy::Values,
        labels: (min..=max).map(|code| label(attribute, code)).collect(),
        unknown: attribute.unknown().map(|code| (code - min) as u32),
        min,
        of_code: (0..attribute.levels() as u32).collect(),
    }
}

/// The name of the group of `code` alone. Missing values have the mark that stands for them as a name;
/// the empty cell is none, and of several marks none is that of all.
fn label(attribute: &Attribute, code: i32) -> String {
    let of_code = attribute.lowest(code);
    if attribute.unknown() != Some(code) {
        return of_code;
    }
    let marks = attribute.missing.marks().iter();
    let marks: Vec<&str> = marks
        .map(String::as_str)
        .filter(|it| !it.is_empty())
        .collect();
    match attribute.missing.marks() {
        [_] if !of_code.is_empty() => of_code,
        _ if marks.is_empty() => "(missing)".to_owned(),
        _ => format!("(missing: {})", marks.join(", ")),
    }
}

/// Groups that begin at each of `starts` (codes, ascending, the first one the smallest code); levels
/// beside the numbers and that for outside values are the last groups.
fn by_starts(
    position: usize,
    attribute: &Attribute,
    by: GroupedBy,
    starts: &[i32],
) -> AttributeGroups {
    let (min, max) = attribute.domain();
    let (_, last) = attribute.ordered_domain();
    let mut of_code: Vec<u32> = (min..=last)
        .map(|code| {
            starts
                .iter()
                .filter(|&&start| start <= code)
                .count()
                .saturating_sub(1) as u32
        })
        .collect();
    let mut labels: Vec<String> = (0..starts.len())
        .map(|group| {
            let from = attribute.lowest(starts[group]);
            match (group, starts.get(group + 1)) {
                (0, Some(&next)) => format!("below {}", attribute.lowest(next)),
                (_, Some(&next)) => format!("{from} to below {}", attribute.lowest(next)),
                (_, None) => format!("{from} and above"),
            }
        })
        .collect();
    for code in last + 1..=max {
        of_code.push(labels.len() as u32);
        labels.push(label(attribute, code));
    }
    AttributeGroups {
        position,
        name: attribute.name.clone(),
        by,
        unknown: attribute
            .unknown()
            .and_then(|_| labels.len().checked_sub(1).map(|last| last as u32)),
        labels,
        min,
        of_code,
    }
}

/// The first code of each of [`DEFAULT_BINS`] bins of equally many codes.
fn equal_starts(attribute: &Attribute) -> Vec<i32> {
    let (min, max) = attribute.ordered_domain();
    let codes = max - min + 1;
    let bins = (DEFAULT_BINS as i32).min(codes);
    (0..bins)
        .map(|bin| min + (i64::from(codes) * i64::from(bin) / i64::from(bins)) as i32)
        .collect()
}

/// The first code of each declared group.
fn declared_starts(attribute: &Attribute, bins: &DeclaredBins) -> Result<Vec<i32>, GroupError> {
    let refuse = |problem: String| GroupError::Bins {
        attribute: attribute.name.clone(),
        problem,
    };
    let (min, _) = attribute.domain();
    if bins.edges.is_empty() {
        return Err(refuse("needs at least one edge".into()));
    }
    let mut starts = vec![min];
    for &edge in &bins.edges {
        let code = match &attribute.kind {
            Kind::Categorical { .. } => {
                return Err(refuse("is about words, which have no edges".into()));
            }
            Kind::Integer { min, max } => {
                if !(f64::from(*min) < edge && edge <= f64::from(*max)) {
                    return Err(refuse(format!(
                        "has the edge {edge}, but edges lie above {min} and at most at {max}"
                    )));
                }
                edge.ceil() as i32
            }
            Kind::Numeric {
                bins: of_schema, ..
            } => {
                let inner = &of_schema[1..of_schema.len() - 1];
                match inner.iter().position(|own| *own == edge) {
                    Some(place) => place as i32 + 1,
                    None => {
                        return Err(refuse(format!(
                            "has the edge {edge}, but the schema's bins can be cut at {inner:?} only"
                        )));
                    }
                }
            }
        };
        if starts.last().is_some_and(|&last| last >= code) {
            return Err(refuse("must have ascending edges".into()));
        }
        starts.push(code);
    }
    Ok(starts)
}

/// Every set of one or more of `count` attributes: smaller sets first, each in ascending order.
pub fn attribute_sets(count: usize) -> Vec<Vec<usize>> {
    let mut sets: Vec<Vec<usize>> = (1..1usize << count)
        .map(|set| (0..count).filter(|at| set >> at & 1 == 1).collect())
        .collect();
    sets.sort_by_key(|set: &Vec<usize>| (set.len(), set.clone()));
    sets
}

/// The rows of a table by the groups of several attributes together; groups without rows are left
/// out.
#[derive(Debug, Clone, PartialEq)]
pub struct Partition {
    /// Names of the values of each group, in the order of the attributes; in the order of the
    /// domains.
    pub groups: Vec<Vec<String>>,
    /// Combinations of groups that no row has.
    pub absent: u64,
    /// Group of each row.
    pub of_row: Vec<u32>,
}

impl Partition {
    /// Sorts the rows of `table` by `attributes`.
    pub fn new(table: &Table, attributes: &[&AttributeGroups]) -> Partition {
        let combinations: usize = attributes.iter().map(|a| a.labels.len()).product();
        let combination = |row: &[i32]| {
            attributes.iter().fold(0, |index, groups| {
                index * groups.labels.len() + groups.group(row[groups.position]) as usize
            })
        };
        let of_row: Vec<usize> = (0..table.rows())
            .map(|row| combination(table.row(row)))
            .collect();
        let mut present: Vec<usize> = of_row.clone();
        present.sort_unstable();
        present.dedup();
        let groups = present
            .iter()
            .map(|&index| names(attributes, index))
            .collect();
        let place = |index: usize| present.partition_point(|&other| other < index) as u32;
        Partition {
            groups,
            absent: (combinations - present.len()) as u64,
            of_row: of_row.into_iter().map(place).collect(),
        }
    }
}

fn names(attributes: &[&AttributeGroups], mut index: usize) -> Vec<String> {
    let mut names: Vec<String> = attributes
        .iter()
        .rev()
        .map(|groups| {
            let name = groups.labels[index % groups.labels.len()].clone();
            index /= groups.labels.len();
            name
        })
        .collect();
    names.reverse();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Schema {
        Schema::from_toml(
            "name = \"t\"\n[label]\nname = \"y\"\nclasses = [\"0\", \"1\"]\n\
             [[attribute]]\nname = \"age\"\nkind = \"integer\"\nmin = 17\nmax = 90\nmissing = \"?\"\noutside = \"level\"\n\
             [[attribute]]\nname = \"sex\"\nkind = \"categorical\"\nlevels = [\"f\", \"m\"]\n\
             [[attribute]]\nname = \"pay\"\nkind = \"numeric\"\nbins = [0, 10, 20, 30]\n",
        )
        .unwrap()
    }

    fn bins(attribute: &str, edges: &[f64]) -> DeclaredBins {
        DeclaredBins {
            attribute: attribute.to_owned(),
            edges: edges.to_vec(),
        }
    }

    #[test]
    fn declared_bins_hold_their_lower_edge() {
        let age = AttributeGroups::new(&schema(), "age", &[bins("age", &[25.0, 44.5])]).unwrap();
        assert_eq!(age.by, GroupedBy::DeclaredBins);
        assert_eq!(
            age.labels,
            ["below 25", "25 to below 45", "45 and above", "?"]
        );
        let groups: Vec<u32> = [17, 24, 25, 44, 45, 90, 91]
            .map(|code| age.group(code))
            .into();
        assert_eq!(groups, [0, 0, 1, 1, 2, 2, 3]);
        let pay = AttributeGroups::new(&schema(), "pay", &[bins("pay", &[20.0])]).unwrap();
        assert_eq!([0, 1, 2].map(|code| pay.group(code)), [0, 0, 1]);
    }

    #[test]
    fn levels_beside_numbers_are_groups_of_their_own() {
        let schema = Schema::from_toml(
            "name = \"t\"\n[label]\nname = \"y\"\nclasses = [\"0\", \"1\"]\n\
             [[attribute]]\nname = \"age\"\nkind = \"integer\"\nmin = 17\nmax = 90\n\
             levels = [\"Exempt\", \"8888\"]\nmissing = \"?\"\noutside = \"level\"\n",
        )
        .unwrap();
        let age = AttributeGroups::new(&schema, "age", &[bins("age", &[40.0])]).unwrap();
        assert_eq!(
            age.labels,
            ["below 40", "40 and above", "Exempt", "8888", "?"]
        );
        let groups: Vec<u32> = [17, 39, 40, 90, 91, 92, 93]
            .map(|code| age.group(code))
            .into();
        assert_eq!(groups, [0, 0, 1, 1, 2, 3, 4]);
    }

    #[test]
    fn blank_cells_have_a_name_however_groups_are_made() {
        let schema = Schema::from_toml(
            "name = \"t\"\n[label]\nname = \"y\"\nclasses = [\"0\", \"1\"]\n\
             [[attribute]]\nname = \"age\"\nkind = \"integer\"\nmin = 17\nmax = 90\nmissing = \"\"\noutside = \"level\"\n",
        )
        .unwrap();
        for bins in [&[][..], &[bins("age", &[40.0])]] {
            let age = AttributeGroups::new(&schema, "age", bins).unwrap();
            assert_eq!(age.labels[age.group(91) as usize], "(missing)");
        }
    }

    #[test]
    fn many_values_are_cut_by_the_domain_and_few_are_not() {
        let age = AttributeGroups::new(&schema(), "age", &[]).unwrap();
        assert_eq!(age.by, GroupedBy::EqualBins);
        assert_eq!(age.labels.len(), DEFAULT_BINS + 1);
        assert_eq!(age.labels[0], "below 31");
        let sizes: Vec<usize> = (0..DEFAULT_BINS as u32)
            .map(|group| (17..=90).filter(|&code| age.group(code) == group).count())
            .collect();
        assert!(
            sizes.iter().all(|size| (14..=15).contains(size)),
            "{sizes:?}"
        );
        for name in ["sex", "pay"] {
            let groups = AttributeGroups::new(&schema(), name, &[]).unwrap();
            assert_eq!(groups.by, GroupedBy::Values);
        }
        let pay = AttributeGroups::new(&schema(), "pay", &[]).unwrap();
        assert_eq!(pay.labels, ["below 10", "10 to below 20", "20 and above"]);
    }

    #[test]
    fn edges_that_mean_nothing_are_refused() {
        for (name, edges, needle) in [
            ("sex", &[1.0][..], "words"),
            ("age", &[], "at least one"),
            ("age", &[17.0], "above 17"),
            ("age", &[40.0, 30.0], "ascending"),
            ("age", &[f64::NAN], "NaN"),
            ("pay", &[15.0], "[10.0, 20.0] only"),
        ] {
            let error = AttributeGroups::new(&schema(), name, &[bins(name, edges)]).unwrap_err();
            assert!(error.to_string().contains(needle), "{error}");
        }
    }

    #[test]
    fn rows_are_sorted_into_the_intersections_that_exist() {
        let schema = schema();
        let age = AttributeGroups::new(&schema, "age", &[bins("age", &[40.0])]).unwrap();
        let sex = AttributeGroups::new(&schema, "sex", &[]).unwrap();
        let table = Table::new(3, vec![50, 0, 0, 20, 1, 0, 60, 0, 0, 20, 1, 2], Vec::new());
        let partition = Partition::new(&table, &[&age, &sex]);
        assert_eq!(partition.groups, [["below 40", "m"], ["40 and above", "f"]]);
        assert_eq!(partition.of_row, [1, 0, 1, 0]);
        assert_eq!(partition.absent, 4);
        assert_eq!(
            attribute_sets(3),
            [
                vec![0],
                vec![1],
                vec![2],
                vec![0, 1],
                vec![0, 2],
                vec![1, 2],
                vec![0, 1, 2]
            ]
        );
    }
}
