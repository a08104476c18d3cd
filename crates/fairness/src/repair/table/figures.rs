//! The figures of a classifier of tables before and after its repair.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use super::baseline::Baseline;
use crate::domain::TabularDomain;
use crate::estimate::{Estimate, discriminatory_share};
use crate::repair::change::{Figures, Measure, Role};
use crate::repair::error::RepairError;
use probity_data::table::Table;
use probity_nn::decision::{Decision, Gap, Score};
use probity_nn::metrics::{Errors, Metrics, Quality};
use probity_nn::train::parallel_logits;
use probity_nn::{Classifier, ModelError};

/// The figures of one network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableFigures {
    /// Discriminatory share of uniform random inputs: for each protected set that was audited and,
    /// if there are several, for all of their attributes jointly.
    pub discrimination: Vec<Estimate>,
    /// Quality on the rows that are held out.
    pub held_out: Quality,
}

/// Protected sets to measure by, the last of them the widest.
#[derive(Debug, Clone)]
pub struct Measured {
    /// Names of the attributes of each set.
    pub names: Vec<Vec<String>>,
    /// The domains of the sets, which know the variants of rows.
    pub domains: Vec<TabularDomain>,
}

impl Measured {
    /// The estimates of `model` from `samples` uniform inputs of `seed` for each set.
    ///
    /// # Errors
    /// When the model cannot answer.
    pub fn discrimination(
        &self,
        model: &dyn Classifier,
        samples: u64,
        seed: u64,
    ) -> Result<Vec<Estimate>, RepairError> {
        let sets = self.names.iter().zip(&self.domains);
        sets.map(|(names, domain)| {
            let whole = &mut |_| ControlFlow::Continue(());
            Ok(discriminatory_share(
                model,
                domain,
                names.clone(),
                samples,
                seed,
                whole,
            )?)
        })
        .collect()
    }

    /// All figures of `model`: the estimates, and its quality on `held_out`.
    ///
    /// # Errors
    /// When the model cannot answer.
    pub fn figures(
        &self,
        model: &dyn Classifier,
        held_out: &Table,
        samples: u64,
        seed: u64,
    ) -> Result<TableFigures, RepairError> {
        Ok(TableFigures {
            discrimination: self.discrimination(model, samples, seed)?,
            held_out: quality(model, held_out)?,
        })
    }
}

/// Whether `model` gives the same answer for all rows of `table`.
pub(super) fn says_one_thing(model: &dyn Classifier, table: &Table) -> Result<bool, ModelError> {
    let is_number = |decision: &Decision| {
        let Decision::Gap(Gap { score, .. }) = decision else {
            return false;
        };
        *score == Score::Number
    };
    let (logits, decided) = decided(model, table)?;
    Ok(match is_number(model.decision()) {
        true => {
            let mut numbers = logits
                .chunks_exact(2)
                .map(|pair| Score::Number.compute(pair));
            let first = numbers.next();
            numbers.all(|number| Some(number) == first)
        }
        false => decided.iter().all(|class| *class == decided[0]),
    })
}

/// The logits of `model` for the rows of `table`, and the decisions on them.
fn decided(model: &dyn Classifier, table: &Table) -> Result<(Vec<f32>, Vec<u32>), ModelError> {
    let logits = parallel_logits(model, table)?;
    let answers = logits.chunks_exact(model.classes().max(1)).enumerate();
    let decide = |(row, logits)| model.decision().decide(table.row(row), logits);
    let decided = answers.map(decide).collect();
    Ok((logits, decided))
}

/// The quality of the decisions on the labelled rows of `table`, or of the numbers that they get.
pub(super) fn quality(model: &dyn Classifier, table: &Table) -> Result<Quality, ModelError> {
    let (logits, decided) = decided(model, table)?;
    Ok(match table.targets() {
        [] => Quality::Classes(Metrics::of_decided(
            (&logits, &decided),
            model.classes(),
            table.labels(),
        )),
        targets => Quality::Numbers(Errors::new(&logits, targets)),
    })
}

impl Figures for TableFigures {
    fn measures(&self) -> Vec<Measure> {
        let mut measures: Vec<Measure> = self
            .discrimination
            .iter()
            .map(|estimate| Measure {
                figure: "discriminatory",
                protected: estimate.protected.clone(),
                value: estimate.rate,
                ci95: Some(estimate.ci95),
                role: Role::Protected,
            })
            .collect();
        measures.extend(Measure::of_quality(&self.held_out));
        measures
    }

    fn discriminatory(&self) -> f64 {
        self.discrimination.last().map_or(0.0, |joint| joint.rate)
    }

    fn accuracy(&self) -> f64 {
        self.held_out.in_short().unwrap_or_default()
    }
}

/// The distinct protected sets of `runs`, and the union of all, last.
pub(super) fn measured(
    baseline: &Baseline,
    runs: &[TabularDomain],
) -> Result<(Measured, TabularDomain), RepairError> {
    let schema = &baseline.model.schema;
    let mut sets: Vec<Vec<usize>> = Vec::new();
    let mut union: Vec<usize> = Vec::new();
    for domain in runs {
        let mut set = domain.protected().to_vec();
        union.extend(&set);
        set.sort_unstable();
        if !sets.contains(&set) {
            sets.push(set);
        }
    }
    union.sort_unstable();
    union.dedup();
    sets.retain(|set| *set != union);
    sets.push(union.clone());
    let layout = &baseline.model.network.layout;
    let domains = sets
        .iter()
        .map(|set| TabularDomain::among_known(schema, layout, set, &union))
        .collect::<Result<Vec<_>, _>>()?;
    let name = |&attribute: &usize| schema.attributes[attribute].name.clone();
    let names = sets
        .iter()
        .map(|set| set.iter().map(name).collect())
        .collect();
    let joint = domains[domains.len() - 1].clone();
    Ok((Measured { names, domains }, joint))
}
