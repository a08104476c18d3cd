//! What searches on predictors need besides: no device, a process to end, answers that may differ.

use super::fields::Fields;
use super::inputs::Hardware;
use super::output::Output;
use anyhow::Context;
use clap::Args;
use probity::fairness::specification::PredictorSpecification;
use probity::predictor::KillHandle;
use probity::run::specification::Specification;
use probity::tensor::device::ComputeDevice;

/// The device to search on; a predictor answers where it is.
pub(super) fn device_for(
    predictor: &PredictorSpecification,
    hardware: &Hardware,
    output: &Output,
) -> anyhow::Result<ComputeDevice> {
    hardware.open_by(|name| predictor.device(name), output)
}

/// What ends the process of a predictor, if there is one.
pub(super) fn ending(ender: Option<&KillHandle>) -> impl Fn() + Send + 'static {
    let ender = ender.cloned();
    move || {
        if let Some(ender) = &ender {
            ender.end();
        }
    }
}

/// What `audit` and `compare` take besides their fields.
#[derive(Debug, Args)]
pub(super) struct SearchArgs {
    /// eidig: successful local steps after which the gradient is computed anew, or `never`
    /// [default: 5]
    #[arg(
        long,
        value_parser = refresh, allow_hyphen_values = true,
        value_name = "N",
        conflicts_with = "resume",
        help_heading = "Tuning"
    )]
    refresh: Option<u32>,
}

impl SearchArgs {
    /// Gives it to `fields`, and where a predictor is started.
    pub fn set<S: Specification>(&self, fields: &mut Fields<S>) -> anyhow::Result<()> {
        if let Some(refresh) = self.refresh {
            fields.set("tuning.refresh", refresh);
        }
        started_here(fields)
    }
}

/// Says where a predictor is started, if one is given.
pub(super) fn started_here<S: Specification>(fields: &mut Fields<S>) -> anyhow::Result<()> {
    if fields.is_given("predictor.source") {
        let here = std::env::current_dir().context("the working directory is gone")?;
        fields.set("predictor.directory", here.display().to_string());
    }
    Ok(())
}

/// Steps after which the strategy `eidig` computes its gradient anew; 0 is never.
fn refresh(text: &str) -> Result<u32, String> {
    if text == "never" {
        return Ok(0);
    }
    match text.parse() {
        Ok(steps) if steps > 0 => Ok(steps),
        _ => Err("a number of steps above 0, or 'never', is expected".to_owned()),
    }
}
