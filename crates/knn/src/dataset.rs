//! The labelled training set T, checked once.

use super::errors::PoisoningError;
use probity_run::stream::{fingerprint, fingerprint_of_text};

/// Labelled rows with finite features: `features` is row-major, `[rows, columns]`.
#[derive(Debug, Clone)]
pub struct TrainingSet {
    features: Vec<f64>,
    columns: usize,
    labels: Vec<u16>,
    classes: usize,
    /// The key of each row, which deals it into a fold: a function of this row alone.
    keys: Vec<u64>,
}

impl TrainingSet {
    /// Checks and takes over `features` (row-major, `labels.len()` x `columns`) and one label id a
    /// row. Rows are dealt into folds by their features, so that rows of equal features share one;
    /// [`TrainingSet::with_ids`] deals them by something else.
    ///
    /// # Errors
    /// No rows or columns, a ragged matrix, a value that is not finite, or one class only.
    pub fn new(
        features: Vec<f64>,
        columns: usize,
        labels: Vec<u16>,
    ) -> Result<Self, PoisoningError> {
        let rows = labels.len();
        let Some(&label) = labels.first() else {
            return Err(PoisoningError::NoRows);
        };
        if columns == 0 {
            return Err(PoisoningError::NoFeatures);
        }
        if rows.checked_mul(columns) != Some(features.len()) {
            return Err(PoisoningError::RaggedFeatures {
                values: features.len(),
                rows,
                columns,
            });
        }
        if u32::try_from(rows).is_err() {
            return Err(PoisoningError::TooManyRows { rows });
        }
        if let Some(at) = features.iter().position(|value| !value.is_finite()) {
            return Err(PoisoningError::NotFinite {
                row: at / columns,
                column: at % columns,
                value: features[at],
            });
        }
        if labels.iter().all(|&other| other == label) {
            return Err(PoisoningError::OneClass { label });
        }
        let classes = labels
            .iter()
            .map(|&l| usize::from(l) + 1)
            .max()
            .unwrap_or(0);
        // Minus zero is zero, as every distance sees it.
        let key = |row: &[f64]| fingerprint(row.iter().map(|value| (value + 0.0).to_bits()));
        Ok(Self {
            keys: features.chunks_exact(columns).map(key).collect(),
            features,
            columns,
            labels,
            classes,
        })
    }

    /// Returns the training set with its rows dealt into folds by `ids`, one id a row: rows of
    /// equal ids share a fold, whatever their features.
    ///
    /// # Errors
    /// Another number of ids than of rows.
    pub fn with_ids(
        mut self,
        ids: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Result<Self, PoisoningError> {
        self.keys = ids
            .into_iter()
            .map(|id| fingerprint_of_text(id.as_ref()))
            .collect();
        match self.keys.len() == self.rows() {
            true => Ok(self),
            false => Err(PoisoningError::IdsAndRows {
                ids: self.keys.len(),
                rows: self.rows(),
            }),
        }
    }

    /// The number of rows, |T|.
    pub fn rows(&self) -> usize {
        self.labels.len()
    }

    /// The number of features of a row.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// One more than the largest label id.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// All features, row-major.
    pub fn features(&self) -> &[f64] {
        &self.features
    }

    /// The features of one row.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.features[row * self.columns..(row + 1) * self.columns]
    }

    /// The label ids, one a row.
    pub fn labels(&self) -> &[u16] {
        &self.labels
    }

    /// The keys that deal the rows into folds.
    pub(crate) fn keys(&self) -> &[u64] {
        &self.keys
    }

    /// Checks that `query` can be compared with the training rows.
    ///
    /// # Errors
    /// Another number of columns, or a value that is not finite.
    pub fn check_query(&self, query: &[f64]) -> Result<(), PoisoningError> {
        if query.len() != self.columns {
            return Err(PoisoningError::QueryColumns {
                expected: self.columns,
                found: query.len(),
            });
        }
        match query.iter().position(|value| !value.is_finite()) {
            Some(column) => Err(PoisoningError::QueryNotFinite {
                column,
                value: query[column],
            }),
            None => Ok(()),
        }
    }

    /// Returns T \ R with the rows in their old order, so that ties between distances fall as they
    /// did. One class may be all that is left: the checks of [`TrainingSet::new`] are about T, not
    /// T \ R.
    pub(crate) fn without(&self, removed: &[bool]) -> Self {
        let kept: Vec<usize> = (0..self.rows()).filter(|&row| !removed[row]).collect();
        Self {
            features: kept
                .iter()
                .flat_map(|&row| self.row(row).iter().copied())
                .collect(),
            columns: self.columns,
            labels: kept.iter().map(|&row| self.labels[row]).collect(),
            classes: self.classes,
            keys: kept.iter().map(|&row| self.keys[row]).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_training_sets_are_refused_with_the_offending_value() {
        assert_eq!(
            TrainingSet::new(vec![], 2, vec![]).unwrap_err(),
            PoisoningError::NoRows
        );
        assert_eq!(
            TrainingSet::new(vec![1.0], 1, vec![4]).unwrap_err(),
            PoisoningError::OneClass { label: 4 }
        );
        assert!(matches!(
            TrainingSet::new(vec![1.0; 5], 2, vec![0, 1]).unwrap_err(),
            PoisoningError::RaggedFeatures { values: 5, .. }
        ));
        let error = TrainingSet::new(vec![0.0, f64::NAN], 1, vec![0, 1]).unwrap_err();
        assert!(matches!(
            error,
            PoisoningError::NotFinite {
                row: 1,
                column: 0,
                ..
            }
        ));
        let error = TrainingSet::new(vec![0.0, f64::INFINITY], 1, vec![0, 1]).unwrap_err();
        assert!(error.to_string().contains("inf"));
    }

    #[test]
    fn rows_are_dealt_by_their_features_or_by_the_ids_given() {
        let set = TrainingSet::new(vec![0.0, 1.0, -0.0, 1.0, 1.0, 0.0], 2, vec![0, 1, 1]).unwrap();
        assert_eq!(set.keys()[0], set.keys()[1]);
        assert_ne!(set.keys()[0], set.keys()[2]);
        let named = set.clone().with_ids(["a", "b", "a"]).unwrap();
        assert_eq!(named.keys()[0], named.keys()[2]);
        assert_ne!(named.keys()[0], named.keys()[1]);
        assert_eq!(
            set.with_ids(["a"]).unwrap_err(),
            PoisoningError::IdsAndRows { ids: 1, rows: 3 }
        );
    }

    #[test]
    fn queries_are_checked_against_the_columns() {
        let set = TrainingSet::new(vec![0.0, 1.0], 1, vec![0, 1]).unwrap();
        assert!(set.check_query(&[0.5]).is_ok());
        assert!(set.check_query(&[0.5, 1.0]).is_err());
        assert!(set.check_query(&[f64::NAN]).is_err());
    }
}
