//! The declaration of the budget of a file.

use std::path::{Path, PathBuf};

use crate::composition::Budget;
use crate::ledger::{Ledger, declare};
use crate::source::TableReading;
use probity_data::schema::Format;
use probity_data::specification::schema_named;

use super::QueryError;

/// A budget that the owner of a file declares.
#[derive(Debug, Clone)]
pub struct Declaration {
    /// The file.
    pub data: PathBuf,
    /// The ε of all queries together.
    pub epsilon: f64,
    /// The δ of all queries together.
    pub delta: f64,
    /// The part of δ that is set aside for composition; by default a tenth.
    pub slack: Option<f64>,
    /// The columns that may be asked for; by default all that hold nothing but numbers, or ordered
    /// levels of the schema.
    pub columns: Vec<String>,
    /// The schema file, or the name of a built-in schema.
    pub schema: Option<String>,
    /// The layout of the file, where there is no schema.
    pub layout: Format,
}

impl Declaration {
    /// Declares the budget in the new `ledger`.
    ///
    /// # Errors
    /// Numbers that are no budget; data that cannot be read; a ledger that is there already.
    pub fn declare(self, ledger: &Path) -> Result<Ledger, QueryError> {
        let budget = Budget {
            epsilon: self.epsilon,
            delta: self.delta,
            slack: self.slack.unwrap_or_else(|| tenth(self.delta)),
        }
        .check()?;
        let reading = match schema_named(self.schema.as_deref())? {
            Some(schema) => TableReading::of_schema(&schema),
            None => TableReading::of_format(self.layout),
        };
        let name = self.data.file_name().unwrap_or(self.data.as_os_str());
        let table = reading.declare(&self.data, &self.columns)?;
        Ok(declare(ledger, &name.to_string_lossy(), table, budget)?)
    }
}

/// Returns a tenth of a decimal number, as a decimal number; a number that is no decimal is
/// returned as it is.
fn tenth(number: f64) -> f64 {
    format!("{number}e-1").parse().unwrap_or(number)
}
