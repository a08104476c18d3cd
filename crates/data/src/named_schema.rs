//! A schema by name: a file, one that is built in, or its own text, where there is no file that it
//! could be in.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use thiserror::Error;

use super::builtin;
use super::schema::{OutOfDomain, Schema, SchemaError};
use probity_run::pipe::{expect_rereadable, is_readable};
use probity_run::run_directory::hex;
use probity_run::specification::FieldError;

/// The reason why there is no such schema.
#[derive(Debug, Error)]
pub enum NamedSchemaError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The text is no schema.
    #[error("{name}: {source}")]
    Schema {
        /// The file or the built-in schema.
        name: String,
        /// The error of the schema.
        source: SchemaError,
    },
    /// The name is that of neither a file nor a built-in schema.
    #[error(
        "'{name}' is neither a schema file nor a built-in schema ({known}); \
         `probity schema infer` drafts one from your data"
    )]
    Unknown {
        /// The name.
        name: String,
        /// The names of the built-in schemas.
        known: String,
    },
}

/// A schema, and the SHA-256 of the text that it was read from.
#[derive(Debug, Clone)]
pub struct NamedSchema {
    /// The schema.
    pub schema: Schema,
    /// The SHA-256 of the schema's file, or of the text that is built in.
    pub sha256: String,
}

/// Returns the schema in the file `name`, the built-in one of that name, or, where `name` has
/// several lines, the one that they are.
///
/// # Errors
/// See [`NamedSchemaError`].
pub fn named_schema(name: &str) -> Result<NamedSchema, NamedSchemaError> {
    let is_text = name.contains('\n');
    let in_name = |source| NamedSchemaError::Schema {
        name: if is_text { "the schema" } else { name }.to_owned(),
        source,
    };
    let file = Path::new(name);
    let (schema, text) = if is_text {
        (Schema::from_toml(name).map_err(in_name)?, name.to_owned())
    } else if is_readable(file) {
        let text = expect_rereadable(file).and_then(|()| fs::read_to_string(file));
        let text = text.map_err(|source| NamedSchemaError::Read {
            file: file.to_owned(),
            source,
        })?;
        (Schema::from_toml(&text).map_err(in_name)?, text)
    } else {
        let Some(text) = builtin::text(name) else {
            return Err(NamedSchemaError::Unknown {
                name: name.to_owned(),
                known: builtin::names().collect::<Vec<_>>().join(", "),
            });
        };
        (Schema::from_toml(text).map_err(in_name)?, text.to_owned())
    };
    Ok(NamedSchema {
        schema,
        sha256: hex(&Sha256::digest(text.as_bytes())),
    })
}

impl Schema {
    /// Returns the schema with `policy` for values outside their domains, the field `out_of_domain`
    /// of a specification.
    ///
    /// # Errors
    /// When it has nothing to act on.
    pub fn with_policy(self, policy: OutOfDomain) -> Result<Schema, FieldError> {
        if self.attributes.iter().any(|one| one.takes(policy)) {
            return Ok(self.with_outside(policy));
        }
        let (policy, why) = match policy {
            OutOfDomain::Level => ("level", "has a missing marker or an outside policy"),
            _ => ("clip", "holds numbers, and words have no nearest one"),
        };
        let expected = format!(
            "skip, which leaves such rows out: no attribute of the schema '{}' {why}",
            self.name
        );
        Err(FieldError::new("out_of_domain", policy, expected))
    }
}
