//! The built-in synthetic census: data of no real persons, with discrimination planted in known
//! amounts.
//!
//! Attributes are independent and uniform on their domains (schema `synthetic-census`). The rule:
//!
//! score = education + hours band + occupation + bonus(sex) + bonus(origin)
//!
//! and income is high iff the score reaches [`THRESHOLD`]. Education counts its years (1 to 16),
//! the hours band and the occupation their codes (0 to 9). Bonuses: male 2; north 1, east 0,
//! south 1, west 0 points. What sex and origin add is the planted discrimination: a person is
//! discriminated against by sex iff the threshold lies between the scores of the two sexes.
//! [`planted_share`] counts exactly how common that is among all inputs. Age, household and region
//! have no influence.

use std::io::{self, Write};

use rand::RngExt;

use super::schema::Schema;
use super::table::Table;
use probity_run::stream::{Purpose, stream};

/// The score from which income is high.
pub const THRESHOLD: i32 = 19;

const EDUCATION: usize = 1;
const HOURS: usize = 2;
const OCCUPATION: usize = 3;
const SEX: usize = 6;
const ORIGIN: usize = 7;

const SEX_BONUS: [i32; 2] = [0, 2];
const ORIGIN_BONUS: [i32; 4] = [1, 0, 1, 0];

fn merit(row: &[i32]) -> i32 {
    row[EDUCATION] + row[HOURS] + row[OCCUPATION]
}

/// Returns the class that the rule gives to a row of codes: 1 is high income.
pub fn rule(row: &[i32]) -> u32 {
    let bonus = SEX_BONUS[row[SEX] as usize] + ORIGIN_BONUS[row[ORIGIN] as usize];
    u32::from(merit(row) + bonus >= THRESHOLD)
}

/// Creates `rows` random people with the income that the rule gives them; `schema` is the built-in
/// `synthetic-census`.
pub fn synthetic_census(schema: &Schema, rows: usize, seed: u64) -> Table {
    let mut codes = Vec::with_capacity(rows * schema.attributes.len());
    let mut labels = Vec::with_capacity(rows);
    for item in 0..rows as u64 {
        let start = codes.len();
        let mut stream = stream(seed, Purpose::Synthetic, item, 0);
        for attribute in &schema.attributes {
            let (min, max) = attribute.domain();
            codes.push(stream.random_range(min..=max));
        }
        labels.push(rule(&codes[start..]));
    }
    Table::new(schema.attributes.len(), codes, labels)
}

/// Writes `people`, rows of codes of `schema` with their labels, as CSV.
///
/// # Errors
/// When `out` fails.
pub fn write_csv(out: impl Write, schema: &Schema, people: &Table) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    let names = schema.attributes.iter().map(|attribute| &attribute.name);
    csv.write_record(names.chain([&schema.label.name]))?;
    for (row, &label) in people.labels().iter().enumerate() {
        let cells = schema.attributes.iter().zip(people.row(row));
        let mut record: Vec<String> = cells
            .map(|(attribute, &code)| attribute.decode(code))
            .collect();
        record.push(schema.label.classes[label as usize].clone());
        csv.write_record(&record)?;
    }
    csv.flush()
}

/// Computes the exact share of all inputs of `schema` that the rule discriminates by `protected`
/// (attribute positions): counted over every combination of what the score depends on.
pub fn planted_share(schema: &Schema, protected: &[usize]) -> f64 {
    let codes = |attribute: usize| {
        let (min, max) = schema.attributes[attribute].domain();
        min..=max
    };
    // How often each merit occurs.
    let mut counts = std::collections::BTreeMap::<i32, u64>::new();
    let mut row = vec![0; schema.attributes.len()];
    for education in codes(EDUCATION) {
        for hours in codes(HOURS) {
            for occupation in codes(OCCUPATION) {
                row[EDUCATION] = education;
                (row[HOURS], row[OCCUPATION]) = (hours, occupation);
                *counts.entry(merit(&row)).or_default() += 1;
            }
        }
    }
    let (mut discriminatory, mut all) = (0u64, 0u64);
    for (merit, count) in counts {
        for sex in 0..SEX_BONUS.len() {
            for origin in 0..ORIGIN_BONUS.len() {
                all += count;
                let flips = (0..SEX_BONUS.len())
                    .filter(|&other| other == sex || protected.contains(&SEX))
                    .flat_map(|sex| (0..ORIGIN_BONUS.len()).map(move |origin| (sex, origin)))
                    .filter(|&(_, other)| other == origin || protected.contains(&ORIGIN))
                    .map(|(sex, origin)| merit + SEX_BONUS[sex] + ORIGIN_BONUS[origin] >= THRESHOLD)
                    .collect::<std::collections::BTreeSet<bool>>()
                    .len()
                    > 1;
                discriminatory += if flips { count } else { 0 };
            }
        }
    }
    discriminatory as f64 / all as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin;

    #[test]
    fn the_planted_share_is_what_sampling_the_rule_finds() {
        let schema = builtin::schema("synthetic-census").unwrap().unwrap();
        assert_eq!(schema.index_of("sex").unwrap(), SEX);
        assert_eq!(schema.index_of("origin").unwrap(), ORIGIN);
        let table = synthetic_census(&schema, 200_000, 9);
        for protected in [vec![SEX], vec![ORIGIN], vec![SEX, ORIGIN]] {
            let planted = planted_share(&schema, &protected);
            let found = (0..table.rows())
                .filter(|&row| {
                    let row = table.row(row);
                    let mut labels = std::collections::BTreeSet::new();
                    for sex in 0..2 {
                        for origin in 0..4 {
                            let mut other = row.to_vec();
                            if protected.contains(&SEX) {
                                other[SEX] = sex;
                            }
                            if protected.contains(&ORIGIN) {
                                other[ORIGIN] = origin;
                            }
                            labels.insert(rule(&other));
                        }
                    }
                    labels.len() > 1
                })
                .count();
            let share = found as f64 / table.rows() as f64;
            // Standard error below 0.0010; six of them bound the error probability by 2e-9.
            assert!((share - planted).abs() < 0.006, "{share} {planted}");
            assert!(planted > 0.03 && planted < 0.4, "{planted}");
        }
    }

    #[test]
    fn both_classes_are_common_and_rows_are_keyed() {
        let schema = builtin::schema("synthetic-census").unwrap().unwrap();
        let table = synthetic_census(&schema, 5000, 1);
        let high: u32 = table.labels().iter().sum();
        assert!((1500..3500).contains(&high), "{high}");
        let shorter = synthetic_census(&schema, 10, 1);
        assert_eq!(shorter.codes(), &table.codes()[..80]);
    }
}
