//! Ready-made schemas, usable by name wherever a schema file is expected.

use super::schema::{Schema, SchemaError};

/// `(name, TOML)` of every schema that ships.
const SCHEMAS: [(&str, &str); 8] = [
    ("census", include_str!("schemas/census.toml")),
    ("german-credit", include_str!("schemas/german-credit.toml")),
    (
        "bank-marketing",
        include_str!("schemas/bank-marketing.toml"),
    ),
    ("compas", include_str!("schemas/compas.toml")),
    ("adf-census", include_str!("schemas/adf-census.toml")),
    ("adf-credit", include_str!("schemas/adf-credit.toml")),
    ("adf-bank", include_str!("schemas/adf-bank.toml")),
    (
        "synthetic-census",
        include_str!("schemas/synthetic-census.toml"),
    ),
];

/// Returns the names of the schemas that ship.
pub fn names() -> impl Iterator<Item = &'static str> {
    SCHEMAS.iter().map(|(name, _)| *name)
}

/// Returns the TOML text of the schema called `name`, with its comments.
pub fn text(name: &str) -> Option<&'static str> {
    SCHEMAS
        .iter()
        .find(|(have, _)| *have == name)
        .map(|(_, toml)| *toml)
}

/// Returns the schema called `name`, or `None` if none has that name.
///
/// # Errors
/// None in a released version: a test reads every one of them.
pub fn schema(name: &str) -> Result<Option<Schema>, SchemaError> {
    text(name).map(Schema::from_toml).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schema_that_ships_is_valid_and_named_like_itself() {
        for name in names() {
            let schema = schema(name).unwrap().unwrap();
            assert_eq!(schema.name, name);
            assert!(!schema.protected().is_empty(), "{name}");
        }
    }
}
