//! A whole repair: networks trained, measured, one chosen and saved.
//!
//! For every share and repeat a network learns the training part and all that the samples drawn
//! add, each sample with one label. The same number of *control* networks learn the training part
//! alone, from the same first weights: what they gain or lose is not owed to the samples.

use std::time::Instant;

use super::change::{Figures, changes};
use super::choice::{Choice, Evidence, choose};
use super::error::RepairError;
use super::repairable::Repairable;
use super::specification::RepairSpecification;
use super::store::{CheckpointStore, RepairState, Trained};
use super::summary::{Chosen, NetworkFigures, RepairSummary, RunSummary, SharePoint};
use super::trainer::{Observe, RepairProgress, Trainer};
use super::verdict::{AgainstControl, Allowed, Standing, Verdict, is_beyond, worse};
use crate::record::identity;
use probity_nn::provenance::PROVENANCE;
use probity_run::run_directory::{RunDirectory, SUMMARY, file_sha256};
use probity_run::specification::file::Record;
use probity_run::specification::{Checked, Specification};
use probity_tensor::device::ComputeDevice;

/// The role under which the record names the file that says how the model came about.
pub(super) const PROVENANCE_ROLE: &str = "provenance";

/// The role under which the record names the audit at the place `at`, from 0.
fn audit_role(at: usize) -> String {
    format!("audit_{}", at + 1)
}

/// A repair whose inputs are opened and checked; nothing is written yet.
pub struct Repair<R> {
    specification: Checked<RepairSpecification>,
    record: Record,
    repairable: R,
}

impl<R: Repairable> Repair<R> {
    /// Opens what `specification` names. Everything that can be wrong with the inputs is found
    /// here.
    ///
    /// # Errors
    /// See [`RepairError`].
    pub fn open(
        specification: Checked<RepairSpecification>,
        device: &ComputeDevice,
    ) -> Result<Repair<R>, RepairError> {
        let mut record = Record::new();
        record.device = Some(device.name().to_string());
        record.hardware = Some(device.hardware());
        let repairable = R::open(&specification, device, &mut record)?;
        for (at, run) in specification.runs.iter().enumerate() {
            // It says the hashes of what the audit was asked for and of its samples.
            let sha256 = file_sha256(&run.join(SUMMARY))?;
            record.sha256.insert(audit_role(at), sha256);
        }
        let parts = repairable.parts();
        if parts.test == 0 {
            return Err(RepairError::NothingHeldOut {
                part: "test",
                purpose: "measure accuracy on",
            });
        }
        if specification.shares().len() > 1 && parts.validation == 0 {
            return Err(RepairError::NothingHeldOut {
                part: "validation",
                purpose: "choose a share by",
            });
        }
        Ok(Repair {
            specification,
            record,
            repairable,
        })
    }

    /// The record of what was opened: the model, how it came about, its data, its lexicon and audits.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// The name that a message gives to what was opened as `role`.
    pub fn name_of(&self, role: &str) -> String {
        let specification: &RepairSpecification = &self.specification;
        match role {
            "model" => specification.model.display().to_string(),
            "data" => specification.data.display().to_string(),
            PROVENANCE_ROLE => specification.model.join(PROVENANCE).display().to_string(),
            other => {
                let mut runs = specification.runs.iter().enumerate();
                match runs.find(|(at, _)| audit_role(*at) == other) {
                    Some((_, run)) => format!("the audit {}", run.display()),
                    None => format!("the {other}"),
                }
            }
        }
    }

    /// The specification: what is repaired, and how.
    pub fn specification(&self) -> &RepairSpecification {
        &self.specification
    }

    /// The model to repair, with its inputs.
    pub fn repairable(&self) -> &R {
        &self.repairable
    }

    /// The audits whose samples are learnt from.
    pub fn runs(&self) -> Vec<RunSummary> {
        self.repairable
            .pools()
            .iter()
            .filter_map(RunSummary::from_pool)
            .collect()
    }

    /// Repairs the model and, if nothing speaks against the chosen network ([`Verdict`]) or it
    /// shall be saved anyway, saves it as a model in `directory`. If `observe` stops the repair,
    /// the summary is of the networks that are complete by then. With `resume` what the checkpoint
    /// of `directory` holds, if there is one, is taken from there.
    ///
    /// # Errors
    /// See [`RepairError`].
    pub fn run(
        &self,
        directory: &RunDirectory,
        resume: bool,
        observe: &Observe<'_>,
    ) -> Result<RepairSummary<R::Figures, R::Details>, RepairError> {
        let specification: &RepairSpecification = &self.specification;
        let state = match resume {
            true => {
                let identity = identity(specification, &self.record);
                let check =
                    |state: &RepairState<R>| state.expect_fits(&self.repairable, specification);
                directory.read_checkpoint(&identity, check)?
            }
            false => None,
        };
        Ok(self
            .run_from(directory, state.unwrap_or_default(), observe)?
            .0)
    }

    /// Repairs the model from `state`, and returns the summary and the state that it ends with.
    ///
    /// # Errors
    /// See [`RepairError`].
    #[allow(clippy::type_complexity)] // named nowhere else
    pub fn run_from(
        &self,
        directory: &RunDirectory,
        state: RepairState<R>,
        observe: &Observe<'_>,
    ) -> Result<(RepairSummary<R::Figures, R::Details>, RepairState<R>), RepairError> {
        let started = Instant::now();
        let specification: &RepairSpecification = &self.specification;
        directory.write_run(specification, &self.record)?;
        let store = CheckpointStore::new(directory, identity(specification, &self.record), state);
        // From here on the repair can be resumed.
        store.write()?;
        let mut searched = store.searched();
        self.repairable.search(
            &mut searched,
            &mut |searched| store.keep_searched(searched.clone()),
            &mut || observe(RepairProgress::Search),
        )?;
        let trainer = Trainer::new(&self.repairable, specification, &store, observe);
        let own = self.repairable.own();
        let asked = self.repairable.ask(&own)?;
        let before = self.repairable.figures(&own, &asked, trainer.searched())?;
        let accuracy_before = self.repairable.validation_accuracy(&asked)?;
        let repeats = 0..specification.repeats;
        let all = specification.repeats as usize;
        let controls =
            trainer.train_all(repeats.clone().map(|repeat| (None, repeat)).collect(), &[])?;
        let places = specification.shares().len();
        let mut shares: Vec<Vec<Trained<R>>> = (0..places).map(|_| Vec::new()).collect();
        // Without all of its voters an ensemble would give other labels.
        if controls.len() == all {
            let jobs = (0..places as u32)
                .flat_map(|share| repeats.clone().map(move |repeat| (Some(share), repeat)));
            let voters = trainer.voters(&controls)?;
            for network in trainer.train_all(jobs.collect(), &voters)? {
                shares[network.known.share.unwrap_or_default() as usize].push(network);
            }
        }
        let is_whole = |networks: &Vec<Trained<R>>| networks.len() == all;
        let finished = is_whole(&controls) && shares.iter().all(is_whole);
        let evidence: Vec<Vec<Evidence>> = shares
            .iter()
            .map(|networks| networks.iter().map(|n| n.known.evidence).collect())
            .collect();
        let choice = choose(
            &evidence,
            accuracy_before,
            specification.max_accuracy_loss(),
        )
        .ok_or(RepairError::Interrupted)?;
        let outcome = Outcome {
            repair: self,
            before,
            controls,
            shares,
            choice,
        };
        let summary = outcome.save(directory, trainer.searched(), finished, started)?;
        if finished && summary.verdict.saved {
            directory.remove_checkpoint()?;
        }
        Ok((summary, store.into_state()))
    }
}

/// The networks of a repair, and the one that is kept.
struct Outcome<'a, R: Repairable> {
    repair: &'a Repair<R>,
    /// The figures of the model before.
    before: R::Figures,
    /// Networks trained on the data alone.
    controls: Vec<Trained<R>>,
    /// Networks of each share.
    shares: Vec<Vec<Trained<R>>>,
    /// The network that is kept.
    choice: Choice,
}

impl<R: Repairable> Outcome<'_, R> {
    /// Saves the network that is kept, if it shall be, and the summary.
    fn save(
        self,
        directory: &RunDirectory,
        searched: &R::Searched,
        finished: bool,
        started: Instant,
    ) -> Result<RepairSummary<R::Figures, R::Details>, RepairError> {
        let specification: &RepairSpecification = &self.repair.specification;
        let (repairable, record) = (&self.repair.repairable, &self.repair.record);
        let kept = &self.shares[self.choice.share][self.choice.network];
        let accuracy_loss = self.before.accuracy() - kept.known.figures.accuracy();
        let details = repairable.details(&kept.network, searched)?;
        let verdict = self.verdict(kept, &details, finished);
        let repaired_sha256 = match verdict.saved {
            true => Some(repairable.save(&kept.network, directory.path())?),
            false => None,
        };
        let summary = RepairSummary {
            schema_version: 1,
            command: RepairSpecification::KIND,
            probity_version: env!("CARGO_PKG_VERSION"),
            modality: R::MODALITY,
            finished,
            method: specification.method(),
            seed: specification.seed,
            device: record.device.clone().unwrap_or_default(),
            model_sha256: record.sha256_of("model").to_owned(),
            data_sha256: record.sha256_of("data").to_owned(),
            repaired_sha256,
            verdict,
            details,
            parts: repairable.parts(),
            runs: self.repair.runs(),
            chosen: Chosen {
                share: specification.shares()[self.choice.share],
                repeat: kept.known.repeat + 1,
                accuracy_loss,
                within: !is_beyond(accuracy_loss, specification.max_accuracy_loss()),
                figures: kept.known.figures.clone(),
            },
            points: self.points(),
            control: self.controls.iter().map(network_figures).collect(),
            before: self.before,
            seconds: started.elapsed().as_secs_f64(),
        };
        directory.write_summary(&summary)?;
        Ok(summary)
    }

    /// The verdict on `kept`.
    fn verdict(&self, kept: &Trained<R>, details: &R::Details, finished: bool) -> Verdict {
        let specification = self.repair.specification();
        let networks = &self.shares[self.choice.share];
        let pairs = self.controls.iter().filter_map(|control| {
            let repeat = control.known.repeat;
            let twin = networks.iter().find(|n| n.known.repeat == repeat)?;
            let of = |network: &Trained<R>| network.known.figures.discriminatory();
            Some((of(control), of(twin)))
        });
        let against_control = AgainstControl::new(&pairs.collect::<Vec<_>>());
        let allowed = Allowed {
            accuracy: specification.max_accuracy_loss(),
            fairness: specification.max_fairness_loss,
        };
        let worse = worse((&self.before, &kept.known.figures), details, allowed);
        let is_gain = against_control.standing == Standing::Better;
        let holds = finished && worse.is_empty() && (is_gain || !specification.needs_gain());
        Verdict {
            holds,
            saved: holds || specification.save_anyway,
            against_control,
            worse,
        }
    }

    /// The points of each share: the figures of its networks.
    fn points(&self) -> Vec<SharePoint<R::Figures>> {
        let figures = |networks: &[Trained<R>]| -> Vec<R::Figures> {
            let networks = networks.iter();
            networks.map(|n| n.known.figures.clone()).collect()
        };
        let controls = figures(&self.controls);
        let specified = self.repair.specification.shares();
        let shares = specified.into_iter().zip(&self.shares);
        shares
            .filter_map(|(share, networks)| {
                let first = networks.first()?;
                let after = figures(networks);
                Some(SharePoint {
                    share,
                    samples: first.known.samples,
                    variants: first.known.variants,
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

fn network_figures<R: Repairable>(trained: &Trained<R>) -> NetworkFigures<R::Figures> {
    let known = &trained.known;
    NetworkFigures {
        repeat: known.repeat + 1,
        seed: known.seed,
        attempts: known.attempts,
        choice: known.evidence,
        figures: known.figures.clone(),
    }
}
