//! Repairs of classifiers of tables.
//!
//! The measurements are: the discriminatory share of uniform random inputs for each protected set
//! that was audited and, if there are several, for all of their attributes jointly; quality,
//! certificates and group figures on the held-out rows.

pub mod baseline;
mod figures;
mod found;
#[cfg(test)]
mod tests;
mod training_set;

use std::path::Path;

use serde::Serialize;

pub use self::baseline::{Baseline, Origin};
pub use self::figures::TableFigures;
use self::figures::{Measured, measured, quality, says_one_thing};
use self::found::{FoundRun, read_run};
pub use self::found::{RowLabel, Sample, protected_of};
pub use self::training_set::RepairRows;
use self::training_set::{Mixture, mix};
use super::change::{Details, Measure, Role};
use super::error::RepairError;
use super::labels::{LabelRule, majority, mean_numbers};
use super::pool::{Pool, one_decision};
use super::repairable::{Drawn, ObserveEpoch, Remedy, Repairable, TrainingSet};
use super::specification::{RepairSpecification, Start, TableRepairOptions};
use super::summary::PartSizes;
use crate::certify::table::RowCertifier;
use crate::domain::TabularDomain;
use crate::group::gaps::{Gap, PARITY_RATIO};
use crate::group::{GroupOptions, GroupReport, measure_groups};
use crate::statistics::Share;
use probity_data::table::{ReadCounts, Table};
use probity_nn::decision::{Decided, Decision};
use probity_nn::fnn::{Dense, Embedding, Fnn, Network};
use probity_nn::modality::ModalityName;
use probity_nn::model::Model;
use probity_nn::train::USUAL_DECAY;
use probity_nn::train::course::Course;
use probity_nn::train::options::{Learning, TableOptions};
use probity_nn::train::table::worst_case::TableWorstCase;
use probity_nn::train::table::{self as training, train_on};
use probity_nn::{Classifier, ModelError, Rows};
use probity_run::specification::file::Record;
use probity_run::stream::{Purpose, Words};
use probity_tensor::device::ComputeDevice;

/// Largest number of splits of a row of the certificates.
const CERTIFICATE_SPLITS: u32 = 16;

/// Learning rate of an imported network that is trained on, where none is given.
const IMPORTED_LEARNING_RATE: f64 = 0.001;

/// A classifier of tables to repair.
pub struct TableRepair {
    baseline: Baseline,
    pools: Vec<Pool<Sample>>,
    /// The domains, which know which rows are variants of each other, by the run of each pool.
    domains: Vec<TabularDomain>,
    measured: Measured,
    joint: TabularDomain,
    label: LabelRule,
    course: Course,
    options: TableRepairOptions,
    start: Start,
    training: TableOptions,
    epochs: u32,
    groups: GroupOptions,
    seed: u64,
    device: ComputeDevice,
    /// The reference device.
    judge: ComputeDevice,
    decision: Decision,
}

/// Held-out rows for which it is proved that no protected substitution changes their class
/// ([`crate::certify`]).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CertifiedShare {
    /// The protected attributes, jointly.
    pub protected: Vec<String>,
    /// Number of held-out rows.
    pub rows: u64,
    /// The share of certified rows.
    pub certified: Share,
}

/// The part of the summary of a repair that only tables have.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TableDetails {
    /// The origin of the model.
    pub origin: Origin,
    /// Counts of what reading the data changed or left out.
    pub data: ReadCounts,
    /// Held-out rows that were certified fair before.
    pub certified_before: Vec<CertifiedShare>,
    /// Held-out rows that were certified fair for the saved network.
    pub certified_after: Vec<CertifiedShare>,
    /// The protected attributes that the saved network gives no weight.
    pub ignored: Vec<String>,
    /// Group figures of the held-out rows before; none of a regressor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups_before: Option<GroupReport>,
    /// Group figures of the held-out rows for the saved network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups_after: Option<GroupReport>,
}

impl Details for TableDetails {
    fn gaps(&self) -> Vec<(Measure, Measure)> {
        let reports = self.groups_before.iter().zip(&self.groups_after);
        let sets = reports.flat_map(|(before, after)| before.sets.iter().zip(&after.sets));
        sets.flat_map(|(before, after)| {
            let gaps = before.gaps.named().into_iter().zip(after.gaps.named());
            gaps.filter_map(|((figure, before_gap), (_, after_gap))| {
                let measure = |gap: &Gap| Measure {
                    figure,
                    protected: before.protected.clone(),
                    value: gap.value,
                    ci95: Some(gap.ci95),
                    role: match figure {
                        PARITY_RATIO => Role::Ratio,
                        _ => Role::Gap,
                    },
                };
                Some((measure(before_gap?), measure(after_gap?)))
            })
        })
        .collect()
    }
}

impl TableRepair {
    fn held_out(&self) -> Table {
        self.baseline.table.select(&self.baseline.split.test)
    }

    /// The held-out rows that are certified fair for each protected set.
    fn certified(
        &self,
        network: &Network,
        held_out: &Table,
    ) -> Result<Vec<CertifiedShare>, RepairError> {
        let schema = &self.baseline.model.schema;
        let known = (0..held_out.rows()).map(|row| held_out.row(row));
        let known = known.filter(|row| self.joint.is_known(row));
        let known: Vec<i32> = known.flatten().copied().collect();
        let rows = Rows::new(&known, held_out.width());
        let certifier = RowCertifier::new(network, &self.decision);
        let sets = self.measured.names.iter().zip(&self.measured.domains);
        sets.map(|(names, domain)| {
            let protected = domain.protected();
            let all = certifier.certify(schema, protected, rows, CERTIFICATE_SPLITS)?;
            let certified = all.iter().filter(|certificate| certificate.holds()).count();
            Ok(CertifiedShare {
                protected: names.clone(),
                rows: rows.len() as u64,
                certified: Share::new(certified as u64, rows.len() as u64),
            })
        })
        .collect()
    }

    fn ignored(&self, network: &Network) -> Vec<String> {
        let names = &self.baseline.model.schema.attributes;
        let protected = self.joint.protected().iter();
        let ignored = protected.filter(|&&attribute| network.ignores(&[attribute]));
        ignored
            .map(|&attribute| names[attribute].name.clone())
            .collect()
    }

    fn group_figures(
        &self,
        network: &Network,
        held_out: &Table,
    ) -> Result<Option<GroupReport>, RepairError> {
        let asked = self.ask(network)?;
        let schema = &self.baseline.model.schema;
        if schema.label.is_number() {
            return Ok(None);
        }
        let report = measure_groups(&asked, schema, held_out, &self.groups)?;
        Ok(Some(report))
    }

    /// The seed of random inputs: those of choices (0) and of what is reported (1) are drawn from
    /// streams of their own.
    fn inputs_seed(&self, number: u64) -> u64 {
        Words::new(self.seed, Purpose::RepairChoice, &[]).word(number)
    }
}

impl Repairable for TableRepair {
    const MODALITY: ModalityName = ModalityName::Table;
    type Network = Network;
    type Stored = (Vec<Embedding>, Vec<Dense>);
    type Sample = Sample;
    type Label = RowLabel;
    type Searched = ();
    type Inputs = RepairRows;
    type Asked = Decided<Fnn>;
    type Figures = TableFigures;
    type Details = TableDetails;

    fn open(
        specification: &RepairSpecification,
        device: &ComputeDevice,
        record: &mut Record,
    ) -> Result<TableRepair, RepairError> {
        let baseline = Baseline::open(specification, record)?;
        let options = specification.table();
        let start = options.start.unwrap_or(match baseline.origin {
            Origin::Trained => Start::Scratch,
            Origin::Imported => Start::Model,
        });
        let own = &baseline.options.learning;
        let usual = match (baseline.origin, start) {
            (Origin::Imported, Start::Model) => Learning {
                learning_rate: Some(IMPORTED_LEARNING_RATE),
                // More would undo what it has learnt.
                weight_decay: Some(USUAL_DECAY),
                ..own.clone()
            },
            _ => own.clone(),
        };
        // Its pace is that of the model's own training, or by the rows of the data: what a remedy
        // adds to them does not change it.
        let learning = specification.training.apply_to(&usual);
        let (learning, pace) = learning.settled(ModalityName::Table, baseline.table.rows());
        let mut training = TableOptions::default();
        training.network = baseline.options.network.clone();
        training.learning = learning;
        training.check_label(&baseline.model.schema.label)?;
        let runs = specification
            .runs
            .iter()
            .map(|directory| read_run(directory, specification, &baseline))
            .collect::<Result<Vec<FoundRun>, _>>()?;
        if specification.label() == LabelRule::Seed {
            let lacks_truth = |found: &&FoundRun| {
                let mut samples = found.pool.samples.iter();
                samples.any(|sample| sample.truth.is_none())
            };
            if let Some(found) = runs.iter().find(lacks_truth) {
                return Err(RepairError::NoTruth {
                    run: found.pool.run.clone().unwrap_or_default(),
                });
            }
        }
        let decisions = runs
            .iter()
            .map(|run| (run.pool.run.as_deref(), &run.decision));
        let decision = one_decision(decisions)?;
        let schema = &baseline.model.schema;
        let mut protected: Vec<String> = Vec::new();
        for name in runs.iter().flat_map(|found| &found.pool.protected) {
            if !protected.contains(name) {
                protected.push(name.clone());
            }
        }
        let groups = specification.groups.clone().unwrap_or_default();
        let groups = groups.options(schema, protected, specification.seed);
        if !schema.label.is_number() {
            groups.groups(schema)?;
        }
        let (pools, domains): (Vec<_>, Vec<_>) = runs
            .into_iter()
            .map(|found| (found.pool, found.domain))
            .unzip();
        let (measured, joint) = measured(&baseline, &domains)?;
        Ok(TableRepair {
            pools,
            domains,
            measured,
            joint,
            label: specification.label(),
            course: specification.certified.unwrap_or_default(),
            options,
            start,
            training,
            epochs: pace.epochs,
            groups,
            seed: specification.seed,
            device: device.clone(),
            judge: ComputeDevice::flex(),
            decision,
            baseline,
        })
    }

    fn parts(&self) -> PartSizes {
        PartSizes::new(&self.baseline.split)
    }

    fn epochs(&self) -> u32 {
        self.epochs
    }

    fn search(
        &self,
        _: &mut (),
        _: &mut dyn FnMut(&()) -> Result<(), RepairError>,
        _: &mut ObserveEpoch<'_>,
    ) -> Result<(), RepairError> {
        Ok(())
    }

    fn pools(&self) -> &[Pool<Sample>] {
        &self.pools
    }

    fn searched_pool<'s>(&self, _: &'s ()) -> Option<&'s [Sample]> {
        None
    }

    fn own(&self) -> Network {
        self.baseline.model.network.clone()
    }

    fn ask(&self, network: &Network) -> Result<Decided<Fnn>, RepairError> {
        Ok(Decided {
            model: Fnn::new(network, &self.judge),
            decision: self.decision.clone(),
        })
    }

    fn labels(
        &self,
        pool: usize,
        samples: &[&Sample],
        voters: &[Decided<Fnn>],
    ) -> Result<Vec<RowLabel>, ModelError> {
        if self.label == LabelRule::Seed {
            // Every sample has one: see `open`.
            return Ok(samples.iter().filter_map(|sample| sample.truth).collect());
        }
        let individuals: Vec<_> = samples
            .iter()
            .map(|sample| {
                let truth = sample.truth.and_then(RowLabel::class);
                (sample.row.as_slice().into(), truth)
            })
            .collect();
        let voters = voters.iter().map(|voter| voter as &dyn Classifier);
        let (voters, domain) = (voters.collect::<Vec<_>>(), &self.domains[pool]);
        if self.baseline.model.schema.label.is_number() {
            let numbers = mean_numbers(&voters, domain, &individuals)?;
            return Ok(numbers
                .into_iter()
                .map(f64::from)
                .map(RowLabel::Number)
                .collect());
        }
        let classes = majority(&voters, domain, &individuals)?;
        Ok(classes.into_iter().map(RowLabel::Class).collect())
    }

    fn training_set(
        &self,
        remedy: &Remedy<'_, Sample, RowLabel>,
        repeat: u32,
    ) -> Result<TrainingSet<RepairRows>, RepairError> {
        let drawn: &[Drawn<'_, Sample, RowLabel>] = match remedy {
            Remedy::Samples(drawn) => drawn,
            Remedy::None | Remedy::Certified => &[],
        };
        let mixture = Mixture {
            weight: self.options.weight,
            counterfactuals: match remedy {
                Remedy::None => 0,
                _ => self.options.counterfactuals,
            },
        };
        let domains = (self.domains.as_slice(), &self.joint);
        let mut rows = mix(&self.baseline, drawn, domains, mixture, self.seed, repeat);
        rows.is_certified = matches!(remedy, Remedy::Certified);
        Ok(TrainingSet {
            variants: rows.variants,
            inputs: rows,
        })
    }

    fn train(
        &self,
        set: &TrainingSet<RepairRows>,
        seed: u64,
        observe: &mut ObserveEpoch<'_>,
    ) -> Result<Option<Network>, RepairError> {
        let mut options = self.training.clone();
        options.learning.seed = seed;
        let rows = &set.inputs;
        let to_learn = training::TrainingSet {
            table: &rows.table,
            split: rows.split.clone(),
            row_weights: Some(&rows.weights),
            network: self.baseline.first_network(self.start, seed)?,
        };
        let worst_case = rows.is_certified.then(|| TableWorstCase {
            protected: self.joint.protected().to_vec(),
            course: self.course,
        });
        let trained = train_on(
            to_learn,
            &options,
            worst_case.as_ref(),
            &self.device,
            &mut |_| observe(),
        )?;
        Ok(trained.finished.then_some(trained.network))
    }

    fn has_collapsed(&self, asked: &Decided<Fnn>) -> Result<bool, RepairError> {
        let part = self.baseline.table.select(&self.baseline.split.train);
        Ok(says_one_thing(asked, &part)?)
    }

    fn validation_accuracy(&self, asked: &Decided<Fnn>) -> Result<Option<f64>, RepairError> {
        let validation = &self.baseline.split.validation;
        if validation.is_empty() {
            return Ok(None);
        }
        let part = self.baseline.table.select(validation);
        Ok(quality(asked, &part)?.in_short())
    }

    fn discriminatory(&self, asked: &Decided<Fnn>, _: &[&Sample]) -> Result<f64, RepairError> {
        let (inputs, seed) = (self.options.estimate, self.inputs_seed(0));
        let estimates = self.measured.discrimination(asked, inputs, seed)?;
        Ok(estimates.last().map_or(0.0, |joint| joint.rate))
    }

    fn figures(
        &self,
        _: &Network,
        asked: &Decided<Fnn>,
        _: &(),
    ) -> Result<TableFigures, RepairError> {
        let (inputs, seed) = (self.options.estimate, self.inputs_seed(1));
        self.measured.figures(asked, &self.held_out(), inputs, seed)
    }

    fn store(&self, network: &Network) -> Self::Stored {
        (network.embeddings.clone(), network.layers.clone())
    }

    fn is_stored(&self, stored: &Self::Stored) -> bool {
        self.restore(stored)
            .has_shape_of(&self.baseline.model.network)
    }

    fn is_searched(&self, _: &()) -> bool {
        true
    }

    /// Makes the network from its stored form: how its inputs are encoded is not kept, as that is
    /// the model's own way.
    fn restore(&self, (embeddings, layers): &Self::Stored) -> Network {
        let own = &self.baseline.model.network;
        Network {
            layout: own.layout.clone(),
            embeddings: embeddings.clone(),
            layers: layers.clone(),
            activation: own.activation,
        }
    }

    fn save(&self, network: &Network, directory: &Path) -> Result<String, RepairError> {
        let model = Model {
            schema: self.baseline.model.schema.clone(),
            network: network.clone(),
        };
        let sha256 = model.sha256();
        model.save(directory)?;
        let provenance = self.baseline.provenance(&sha256, &self.training);
        provenance.write(directory)?;
        Ok(sha256)
    }

    fn details(&self, kept: &Network, _: &()) -> Result<TableDetails, RepairError> {
        let held_out = self.held_out();
        let own = &self.baseline.model.network;
        Ok(TableDetails {
            origin: self.baseline.origin,
            data: self.baseline.table.counts.clone(),
            certified_before: self.certified(own, &held_out)?,
            certified_after: self.certified(kept, &held_out)?,
            ignored: self.ignored(kept),
            groups_before: self.group_figures(own, &held_out)?,
            groups_after: self.group_figures(kept, &held_out)?,
        })
    }
}
