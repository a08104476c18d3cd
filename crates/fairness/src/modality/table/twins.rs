//! Attributes that say the same as a protected one, in other words: `is_male` beside `sex`. They stay as
//! they are where the protected one is exchanged, so that what hangs on them is not seen.

use std::collections::HashMap;

use probity_data::schema::Schema;
use probity_data::table::Table;

/// The fewest rows from which it is told that two attributes say the same.
const FEWEST_ROWS: usize = 20;

/// Returns a remark on each attribute that says in every row of `table` what one of those at `protected`
/// says.
pub(super) fn remarks(schema: &Schema, table: &Table, protected: &[usize]) -> Vec<String> {
    let name = |attribute: usize| &schema.attributes[attribute].name;
    let free = || (0..table.width()).filter(|attribute| !protected.contains(attribute));
    let pairs = protected
        .iter()
        .flat_map(|&exchanged| free().map(move |other| (exchanged, other)));
    let twins = pairs.filter(|&pair| say_the_same(schema, table, pair));
    twins
        .map(|(exchanged, other)| {
            format!(
                "WARNING: '{other}' says in every row what '{exchanged}' says, and stays as it is where '{exchanged}' is exchanged: decisions that hang on '{other}' do not change, and are not counted. Give the model one of the two columns, or compare people as they are (probity counterparts, probity situations)",
                exchanged = name(exchanged),
                other = name(other),
            )
        })
        .collect()
}

/// Returns whether each of two attributes tells the other one in all rows in which both are known.
fn say_the_same(schema: &Schema, table: &Table, (one, other): (usize, usize)) -> bool {
    let [unknown, also] = [one, other].map(|attribute| schema.attributes[attribute].unknown());
    let (mut forth, mut back) = (HashMap::new(), HashMap::new());
    let mut rows = 0;
    for row in 0..table.rows() {
        let [code, twin] = [one, other].map(|attribute| table.row(row)[attribute]);
        if Some(code) == unknown || Some(twin) == also {
            continue;
        }
        if *forth.entry(code).or_insert(twin) != twin || *back.entry(twin).or_insert(code) != code {
            return false;
        }
        rows += 1;
    }
    rows >= FEWEST_ROWS && forth.len() > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attribute_that_tells_the_protected_one_is_named() {
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
        let said = remarks(&schema, &people(40), &[0]);
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].contains("'is_male' says in every row what 'sex' says"));
        assert!(remarks(&schema, &people(12), &[0]).is_empty());
        assert!(remarks(&schema, &people(40), &[3]).is_empty());
        // Both are exchanged.
        assert!(remarks(&schema, &people(40), &[0, 1]).is_empty());
    }
}
