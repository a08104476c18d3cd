//! A search that begins at points of undecided boxes: where nothing is proved, pairs may be found.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::ControlFlow;

use super::draw::Drawn;
use super::run::Proof;
use super::summary::SearchWithin;
use crate::audit_error::AuditError;
use crate::modality::{Method, TableCase};
use crate::model_under_test::ModelUnderTest;
use crate::opened::Opened;
use crate::pairs::{Pair, PairStore};
use crate::search::SearchOptions;
use crate::session::AuditProgress;
use crate::specification::{SearchSpecification, TextSpecification};
use crate::strategies::StrategyName;
use crate::strategies::tuning::Tuning;
use crate::trial::{Begin, Trial};
use probity_data::table::Table;
use probity_tensor::device::ComputeDevice;

/// A function that is told how many individuals a search has found; may stop it.
pub(super) type Found<'a> = dyn FnMut(u64) -> ControlFlow<()> + 'a;

impl Proof {
    /// Has ADF search from the first `seeds` of the `drawn` points, and adds the pairs that it
    /// finds to `pairs`; the `seed` of a pair is the number of the box in which the search began.
    ///
    /// # Errors
    /// When the model cannot answer.
    pub(super) fn search(
        &self,
        drawn: &Drawn,
        seeds: u64,
        pairs: &mut PairStore,
        found: &mut Found<'_>,
    ) -> Result<Option<SearchWithin>, AuditError> {
        let seeds = drawn
            .rows
            .len()
            .min(usize::try_from(seeds).unwrap_or(usize::MAX));
        let rows = &drawn.rows[..seeds];
        let Some(first) = rows.first() else {
            return Ok(None);
        };
        let network = &self.model.network;
        let model = Opened::unnamed(ModelUnderTest::network(network, &ComputeDevice::flex()));
        let table = Table::new(first.len(), rows.concat(), Vec::new());
        let described = (self.model.schema.clone(), network.layout.clone());
        let protected = self.specification().protected.clone();
        let table = Opened::unnamed(Cow::Owned(table));
        let case = TableCase::new(described, model, table, protected)?;
        let trial = Trial {
            case: &case,
            method: Method {
                strategy: StrategyName::Adf,
                search: &SearchSpecification::default(),
                tuning: &Tuning::default(),
                text: &TextSpecification::default(),
                rank: None,
                seed: self.specification().seed,
            },
            begin: Begin::At(rows),
            options: SearchOptions::default(),
        };
        let outcome = trial.run(&mut |progress| match progress {
            AuditProgress::Search { found: so_far, .. } => found(so_far),
            _ => ControlFlow::Continue(()),
        })?;
        let known: HashSet<Vec<i32>> = pairs.iter().map(|pair| pair.row.to_vec()).collect();
        let before = pairs.len();
        for pair in outcome
            .pairs
            .iter()
            .filter(|pair| !known.contains(pair.row))
        {
            let seed = drawn.boxes.get(pair.seed as usize).copied();
            pairs.push(&Pair {
                seed: u64::from(seed.unwrap_or_default()),
                ..pair
            });
        }
        let total = &outcome.figures.total;
        Ok(Some(SearchWithin {
            seeds: seeds as u64,
            generated: total.generated,
            discriminatory: total.discriminatory,
            pairs: (pairs.len() - before) as u64,
        }))
    }
}
