//! What becomes of the networks of a repair: one is saved as a model, all of them are summarised.

use std::time::Instant;

use super::book::Trained;
use super::choice::Choice;
use super::error::RepairError;
use super::figures::{ModelFigures, changes};
use super::run::PreparedRepair;
use super::summary::{
    CertifiedShare, Chosen, NetworkFigures, PartSizes, RepairSummary, RunSummary, SharePoint,
};
use super::workshop::Workshop;
use crate::certify::run::Share;
use crate::certify::table::certify_rows;
use crate::group::{GroupReport, measure_groups};
use probity_data::table::Table;
use probity_nn::Rows;
use probity_nn::fnn::Network;
use probity_nn::model::Model;
use probity_run::run_directory::RunDirectory;

/// Splits a row of the certificates.
const CERTIFICATE_SPLITS: u32 = 16;

/// All networks, and the one that is kept.
pub(super) struct Outcome<'a> {
    /// What was repaired.
    pub prepared: &'a PreparedRepair,
    /// The model before.
    pub before: ModelFigures,
    /// Networks trained on the data alone.
    pub controls: Vec<Trained>,
    /// Networks of each share.
    pub shares: Vec<Vec<Trained>>,
    /// The network that is kept.
    pub choice: Choice,
}

impl Outcome<'_> {
    /// Saves the network that is kept, and the summary.
    ///
    /// # Errors
    /// When it cannot be measured or written.
    pub fn save(
        self,
        directory: &RunDirectory,
        workshop: &Workshop<'_>,
        finished: bool,
        started: Instant,
    ) -> Result<RepairSummary, RepairError> {
        let (run, basis) = (&self.prepared.run, &self.prepared.basis);
        let kept = &self.shares[self.choice.share][self.choice.network];
        let model = Model {
            schema: basis.model.schema.clone(),
            network: kept.network.clone(),
        };
        model.save(directory.path())?;
        let held_out = basis.table.select(&basis.split.test);
        let groups = |network: &Network| -> Result<GroupReport, RepairError> {
            Ok(measure_groups(
                &workshop.ask(network),
                &basis.model.schema,
                &held_out,
                &run.groups,
            )?)
        };
        let accuracy_loss = self.before.held_out.accuracy - kept.figures.held_out.accuracy;
        let summary = RepairSummary {
            schema_version: 1,
            command: run.command.clone(),
            probity_version: env!("CARGO_PKG_VERSION").to_owned(),
            finished,
            method: run.method,
            seed: run.seed,
            device: run.device,
            model_sha256: run.model_sha256.clone(),
            data_sha256: run.data_sha256.clone(),
            repaired_sha256: model.sha256(),
            origin: basis.origin,
            data: basis.table.counts.clone(),
            parts: PartSizes {
                train: basis.split.train.len(),
                validation: basis.split.validation.len(),
                test: basis.split.test.len(),
            },
            runs: self.prepared.found.iter().map(RunSummary::of).collect(),
            seconds: started.elapsed().as_secs_f64(),
            chosen: Chosen {
                share: run.shares[self.choice.share],
                repeat: kept.repeat + 1,
                accuracy_loss,
                within: accuracy_loss <= run.max_accuracy_loss,
                figures: kept.figures.clone(),
            },
            certified_before: self.certified(&basis.model.network, &held_out)?,
            certified_after: self.certified(&kept.network, &held_out)?,
            groups_before: groups(&basis.model.network)?,
            groups_after: groups(&kept.network)?,
            points: self.points(),
            control: self.controls.iter().map(network_figures).collect(),
            before: self.before,
        };
        directory.write_summary(&summary)?;
        Ok(summary)
    }

    /// The held-out rows that are certified fair for each protected set.
    fn certified(
        &self,
        network: &Network,
        held_out: &Table,
    ) -> Result<Vec<CertifiedShare>, RepairError> {
        let measured = &self.prepared.measured;
        let schema = &self.prepared.basis.model.schema;
        let rows = Rows::new(held_out.codes(), held_out.width());
        let sets = measured.names.iter().zip(&measured.domains);
        sets.map(|(names, domain)| {
            let protected = domain.protected();
            let all = certify_rows(network, schema, protected, rows, CERTIFICATE_SPLITS)?;
            let certified = all.iter().filter(|certificate| certificate.holds()).count();
            Ok(CertifiedShare {
                protected: names.clone(),
                rows: rows.len() as u64,
                certified: Share::new(certified as u64, rows.len() as u64),
            })
        })
        .collect()
    }

    /// What each share gave.
    fn points(&self) -> Vec<SharePoint> {
        let figures = |networks: &[Trained]| -> Vec<ModelFigures> {
            networks
                .iter()
                .map(|network| network.figures.clone())
                .collect()
        };
        let controls = figures(&self.controls);
        let shares = self.prepared.run.shares.iter().zip(&self.shares);
        shares
            .filter_map(|(&share, networks)| {
                let first = networks.first()?;
                let after = figures(networks);
                Some(SharePoint {
                    share,
                    samples: first.samples,
                    variants: first.variants,
                    changes: changes(
                        &self.before,
                        &controls.iter().collect::<Vec<_>>(),
                        &after.iter().collect::<Vec<_>>(),
                    ),
                    networks: networks.iter().map(network_figures).collect(),
                })
            })
            .collect()
    }
}

fn network_figures(trained: &Trained) -> NetworkFigures {
    NetworkFigures {
        repeat: trained.repeat + 1,
        seed: trained.seed,
        attempts: trained.attempts,
        choice: trained.evidence,
        figures: trained.figures.clone(),
    }
}
