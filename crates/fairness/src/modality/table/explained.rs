//! The case of one row of a table, to be explained.

use super::TableCase;
use crate::audit_error::AuditError;
use crate::explain::{Allows, Explained, Place, scaled_distance};
use crate::modality::Change;
use crate::opened::positions;
use crate::specification::AuditSpecification;
use probity_run::specification::FieldError;
use probity_tensor::device::ComputeDevice;

impl Explained for TableCase<'_> {
    fn open_at(
        specification: &AuditSpecification,
        row: u64,
        device: &ComputeDevice,
    ) -> Result<Self, AuditError> {
        TableCase::open_rows(specification, Some(row), device)
    }

    fn input(&self) -> Vec<i32> {
        self.table.row(0).to_vec()
    }

    fn scored(&self) -> &[String] {
        &self.schema.label.classes
    }

    fn places(&self, fixed: &[String]) -> Result<Vec<Place>, AuditError> {
        if let Some(both) = fixed.iter().find(|name| self.protected.contains(name)) {
            let expected = "an attribute that is not protected: those are exchanged";
            return Err(FieldError::new("fixed", both, expected).into());
        }
        let fixed = positions(&self.schema, fixed)?;
        let free = self.domain.free().iter().copied();
        let places = free.filter(|place| !fixed.contains(place)).map(|position| {
            let attribute = &self.schema.attributes[position];
            let own = self.table.row(0)[position];
            let (min, max) = attribute.domain();
            let others = (min..=max).filter(|&code| code != own);
            let mut values: Vec<(f64, i32)> = others
                .map(|code| (scaled_distance(attribute, own, code), code))
                .collect();
            values.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            Place { position, values }
        });
        Ok(places.filter(|place| !place.values.is_empty()).collect())
    }

    fn changes(&self, row: &[i32]) -> Vec<Change> {
        self.table_columns().changes(self.table.row(0), row)
    }

    fn limited<R>(
        &self,
        _specification: &AuditSpecification,
        work: impl FnOnce(Allows<'_>) -> R,
    ) -> R {
        work(&|_| Ok(true))
    }
}
