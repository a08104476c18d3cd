//! The space of the finds in texts: the text that each was made of, the words in which two differ,
//! and clusters of the data, by what is not protected.
//!
//! A grid has no parts of words, and whichever words of a text are changed, it says much the same.
//! So a cell is a text of the data: finds lie in one where they were made of the same.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashMap;

use super::{DataClusters, Distances, FindSpace, Place};
use crate::text::domain::{TextDomain, text_of};
use crate::text::fluency::{Fluency, FluencyModel};
use crate::text::mean_vectors::mean_vector;
use probity_nn::ModelError;
use probity_nn::text_reader::TextReader;

impl DataClusters {
    /// The clusters of the texts of `domain` by the mean vectors of `reader`.
    pub(crate) fn of_texts(domain: &TextDomain, reader: &TextReader) -> DataClusters {
        let point = |text| {
            let row = domain.row(text as u32);
            mean_vector(reader, &domain.unprotected(&row))
        };
        DataClusters::fit(domain.sources().len(), reader.dimension(), point)
    }
}

/// Texts, graded where their fluency is measured.
pub(crate) struct TextFinds<'a> {
    pub(crate) domain: &'a TextDomain,
    pub(crate) reader: &'a TextReader,
    pub(crate) clusters: &'a DataClusters,
    pub(crate) fluency: Option<Fluency<'a>>,
    /// The number of the seed that is each text of the domain.
    pub(crate) seeds: HashMap<i32, usize>,
}

impl FindSpace for TextFinds<'_> {
    fn clusters(&self) -> u64 {
        self.clusters.count()
    }

    fn place(&self, row: &[i32]) -> Place {
        let point = mean_vector(self.reader, &self.domain.unprotected(row));
        Place {
            cell: row.first().map_or(0, |&source| source as u128),
            cluster: self.clusters.covered(&point),
        }
    }

    /// The words of the row in ascending order.
    fn compared<'r>(&self, row: &'r [i32]) -> Cow<'r, [i32]> {
        let mut words = self.domain.unprotected(row);
        words.sort_unstable();
        Cow::Owned(words)
    }

    /// The share of the words of the longer one that the other has not, each as often as it stands
    /// there: at most, and for two texts that were made of one mostly, the share of the words that
    /// would have to be replaced, left out or put in (Bartolini et al., "String matching with metric
    /// trees using an approximate distance", SPIRE 2002). Words have no width, so there is no second
    /// distance.
    fn distances(&self, words: &[i32], others: &[i32]) -> Distances {
        let (mut place, mut there, mut shared) = (0, 0, 0usize);
        while let (Some(word), Some(other)) = (words.get(place), others.get(there)) {
            let order = word.cmp(other);
            shared += usize::from(order == Ordering::Equal);
            place += usize::from(order != Ordering::Greater);
            there += usize::from(order != Ordering::Less);
        }
        let longer = words.len().max(others.len());
        Distances {
            hamming: (longer - shared) as f64 / longer.max(1) as f64,
            l1: None,
        }
    }

    /// Largest number of texts that are graded: a masked language model reads a text for each
    /// changed word.
    fn most_graded(&self) -> u64 {
        self.fluency.map_or(0, |fluency| match fluency.model {
            FluencyModel::Ngrams(_) => 4096,
            FluencyModel::Masked(_) => 256,
        })
    }

    /// The share of its probability that each text keeps of its seed for each word that is changed:
    /// 1 at most, since a commoner word is no plausibler text.
    fn grade(&self, rows: &[&[i32]]) -> Result<Vec<f32>, ModelError> {
        let grades = rows.iter().map(|row| {
            let seed = row.first().and_then(|source| self.seeds.get(source));
            let (Some(fluency), Some(&seed)) = (self.fluency, seed) else {
                return Ok(1.0);
            };
            Ok(fluency.kept(seed, text_of(row))?.min(1.0) as f32)
        });
        grades.collect()
    }
}

#[cfg(test)]
mod tests;
