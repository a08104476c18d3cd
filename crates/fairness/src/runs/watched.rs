//! The progress and the remarks that observers of an audit or a comparison are told.

use std::ops::ControlFlow;

use crate::modality::{Modality, ModalityName};
use crate::session::AuditProgress;
use crate::specification::PredictorSpecification;
use probity_predictor::own_numbers::BinEffect;
use probity_run::device_name::DeviceName;
use probity_run::number::{count, percent};
use probity_run::runner::{Failure, Observer, Progress, ShutdownHook};
use probity_run::specification::FieldError;
use probity_tensor::device::ComputeDevice;

/// Share of changed decisions from which on a search on bins is another model's.
const FAR: f64 = 0.01;

impl PredictorSpecification {
    /// Opens the device called `name` to search on; a predictor, where one is named, answers where
    /// it is.
    ///
    /// # Errors
    /// When no device answers, or one is named for a predictor.
    pub fn device(&self, name: DeviceName) -> Result<ComputeDevice, Failure> {
        if self.source.is_none() {
            return Ok(ComputeDevice::open(name)?);
        }
        match name {
            DeviceName::Auto | DeviceName::Flex => Ok(ComputeDevice::flex()),
            other => {
                let expected = "auto or flex: a predictor answers where it is";
                Err(FieldError::new("device", other, expected).into())
            }
        }
    }
}

/// Shows `observer` how far a search on inputs of `modality` is.
pub(super) fn observe(
    observer: &dyn Observer,
    modality: ModalityName,
    progress: AuditProgress<'_>,
) -> ControlFlow<()> {
    let nothing = &String::new;
    match progress {
        AuditProgress::Search {
            global,
            local,
            rounds: (done, all),
            is_local,
            found,
        } => {
            let (name, phase) = match is_local {
                true => ("local", local),
                false => ("global", global),
            };
            let message = || {
                let a_second = (phase.checks as f64 / phase.seconds.max(1e-9)) as u64;
                format!("{} found, {} checks/s", count(found), count(a_second))
            };
            let steps = (u64::from(done), u64::from(all));
            observer.observe(Progress::new(name, steps, &message))
        }
        AuditProgress::Population { done, all } => {
            let message = || "share of the data".to_owned();
            observer.observe(Progress::new("population", (done, all), &message))
        }
        AuditProgress::Estimate { done, all } => {
            let inputs = match modality {
                ModalityName::Table => "random inputs",
                ModalityName::Text => "the texts",
            };
            let message = || format!("share of {inputs}");
            observer.observe(Progress::new("estimate", (done, all), &message))
        }
        AuditProgress::Write => observer.observe(Progress::new("write", (0, 1), nothing)),
    }
}

/// The handle that ends the processes of a predictor, where `case` has one.
pub(super) fn ender_of<M: Modality>(case: &M) -> Option<ShutdownHook> {
    let ender = case.ender().cloned()?;
    Some(Box::new(move || ender.end()))
}

/// Makes remarks on what the answers of a predictor are worth, where `case` has one.
pub(super) fn remark_on<M: Modality>(case: &M, observer: &dyn Observer) {
    let difference = case.instability();
    if difference > 0.0 {
        observer.remark(&format!(
            "note: asked twice for the same row, the predictor's answers differ by up to {difference:.1e}; \
             a repeated run may find slightly other pairs"
        ));
    }
    if let Some(effect) = case.bin_effect().filter(|effect| effect.changed > 0) {
        let weight = match effect.share >= FAR {
            true => "WARNING",
            false => "note",
        };
        observer.remark(&format!(
            "{weight}: {}; more bins keep more of the model: probity schema infer --bins 100, or --bins exact",
            bins(&effect)
        ));
    }
    for remark in case.remarks() {
        observer.remark(remark);
    }
}

/// The effect of bins on a predictor's decisions on rows of the data, without a full stop.
fn bins(effect: &BinEffect) -> String {
    format!(
        "{} of {} rows of the data ({}) get another class from the predictor when the numbers that stand for their bins \
         replace their own. Shares of the rows are of rows with their own. The search begins with those of the first of \
         rows that are alike in all bins; what it makes up, and random inputs, have the numbers of bins",
        count(effect.changed),
        count(effect.rows),
        percent(effect.share)
    )
}
