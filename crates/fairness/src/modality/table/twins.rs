//! Attributes that go with a protected one in every row: `is_male` beside `sex`, `is_white` beside
//! `race`, `title` beside `sex`. They stay as they are where the protected one is exchanged, so that what
//! hangs on them is not seen.

use std::collections::HashMap;

use probity_data::schema::{Kind, Schema};
use probity_data::table::Table;

/// The fewest rows from which it is told that two attributes go together.
const FEWEST_ROWS: usize = 20;

/// The fewest rows for each value, on average, from which it is told that one attribute tells another:
/// of values that hardly occur again each tells everything.
const ROWS_OF_VALUE: usize = 5;

/// Returns a remark on each attribute that goes with one of those at `protected` in all rows of `table`
/// in which both are known, of those that the model `takes`.
pub(super) fn remarks(
    schema: &Schema,
    table: &Table,
    protected: &[usize],
    takes: &dyn Fn(usize) -> bool,
) -> Vec<String> {
    let name = |attribute: usize| &schema.attributes[attribute].name;
    // Bins hold numbers that may differ.
    let is_told = |&attribute: &usize| {
        takes(attribute) && !matches!(schema.attributes[attribute].kind, Kind::Numeric { .. })
    };
    let exchanged: Vec<usize> = protected.iter().copied().filter(is_told).collect();
    let others = (0..table.width()).filter(|attribute| !protected.contains(attribute));
    let others: Vec<usize> = others.filter(is_told).collect();
    let pairs = exchanged
        .iter()
        .flat_map(|&one| others.iter().map(move |&other| (one, other)));
    let bound = pairs.filter(|&pair| go_together(schema, table, pair));
    bound
        .map(|(exchanged, other)| {
            format!(
                "WARNING: in all rows '{other}' goes with '{exchanged}', and it stays as it is where '{exchanged}' is exchanged: people are asked about who cannot be, and decisions that hang on '{other}' do not change. Give the model one of the two columns, or compare people as they are (probity counterparts, probity situations)",
                exchanged = name(exchanged),
                other = name(other),
            )
        })
        .collect()
}

/// Returns whether one of two attributes tells the other one in all rows in which both are known.
fn go_together(schema: &Schema, table: &Table, (one, other): (usize, usize)) -> bool {
    let [unknown, also] = [one, other].map(|attribute| schema.attributes[attribute].unknown());
    // What each value of one goes with; nothing where it goes with several.
    let (mut forth, mut back) = (Some(HashMap::new()), Some(HashMap::new()));
    let mut rows = 0;
    for row in 0..table.rows() {
        let [code, twin] = [one, other].map(|attribute| table.row(row)[attribute]);
        if Some(code) == unknown || Some(twin) == also {
            continue;
        }
        rows += 1;
        for (told, from, to) in [(&mut forth, code, twin), (&mut back, twin, code)] {
            if let Some(known) = told
                && *known.entry(from).or_insert(to) != to
            {
                *told = None;
            }
        }
        if forth.is_none() && back.is_none() {
            return false;
        }
    }
    let tells = |told: Option<HashMap<i32, i32>>| {
        told.is_some_and(|told| {
            let first = told.values().next();
            let differ = told.values().any(|value| Some(value) != first);
            differ && rows >= ROWS_OF_VALUE * told.len()
        })
    };
    rows >= FEWEST_ROWS && (tells(forth) || tells(back))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_that_go_with_the_protected_one_are_named() {
        let schema = Schema::from_toml(
            r#"
name = "people"
[label]
name = "pay"
classes = ["low", "high"]
[[attribute]]
name = "sex"
kind = "categorical"
levels = ["F", "M"]
missing = "?"
outside = "level"
[[attribute]]
name = "is_male"
kind = "integer"
min = 0
max = 1
[[attribute]]
name = "title"
kind = "categorical"
levels = ["Ms", "Mrs", "Mr"]
[[attribute]]
name = "job"
kind = "integer"
min = 0
max = 1
"#,
        )
        .unwrap();
        let people = |number: i32| -> Table {
            let row = |at: i32| {
                let sex = at % 2;
                let title = if sex == 1 { 2 } else { at / 2 % 2 };
                // One who does not say.
                [if at == 3 { 2 } else { sex }, sex, title, at / 3 % 2]
            };
            Table::new(4, (0..number).flat_map(row).collect(), Vec::new())
        };
        let all = |_| true;
        let said = |number, protected: &[usize]| -> Vec<String> {
            let all = remarks(&schema, &people(number), protected, &all);
            let named = all.iter().filter_map(|said| said.split('\'').nth(1));
            named.map(str::to_owned).collect()
        };
        assert_eq!(said(40, &[0]), ["is_male", "title"]);
        assert!(said(12, &[0]).is_empty());
        assert!(said(40, &[3]).is_empty());
        // Both are exchanged, or the model does not take the other one.
        assert_eq!(said(40, &[0, 1]), ["title", "title"]);
        assert!(remarks(&schema, &people(40), &[0], &|at| at == 0 || at == 3).is_empty());
        // Of values that occur once each tells the other.
        let ages: Vec<i32> = (0..40).flat_map(|row| [row, row * 7 % 40]).collect();
        let schema = Schema::from_toml(
            r#"
name = "people"
[label]
name = "pay"
classes = ["low", "high"]
[[attribute]]
name = "age"
kind = "integer"
min = 0
max = 39
[[attribute]]
name = "hours"
kind = "integer"
min = 0
max = 39
"#,
        );
        let table = Table::new(2, ages, Vec::new());
        assert!(remarks(&schema.unwrap(), &table, &[0], &all).is_empty());
    }
}
