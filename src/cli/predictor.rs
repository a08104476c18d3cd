//! What searches on predictors need besides: no device, a process to end, answers that may differ.

use super::fields::Fields;
use super::inputs::Hardware;
use super::interrupt::Interrupt;
use super::output::Output;
use super::render::{count, percent};
use anyhow::{Context, ensure};
use clap::Args;
use probity::fairness::specification::PredictorSpecification;
use probity::predictor::Ender;
use probity::predictor::own_numbers::BinEffect;
use probity::predictor::probabilities::RoundedRows;
use probity::run::specification::Specification;
use probity::tensor::device::{ComputeDevice, DeviceName};

/// The device to search on; a predictor answers where it is.
pub(super) fn device_for(
    predictor: &PredictorSpecification,
    hardware: &Hardware,
    output: &Output,
) -> anyhow::Result<ComputeDevice> {
    if predictor.source.is_none() {
        return hardware.open(output);
    }
    let device = hardware.device;
    ensure!(
        matches!(device, DeviceName::Auto | DeviceName::Flex),
        "--device {device} has no meaning for a predictor: it answers where it is"
    );
    hardware.threads.apply()?;
    Ok(ComputeDevice::flex())
}

/// Listens for Ctrl-C; the second one ends the process of a predictor, if there is one, with the
/// program.
pub(super) fn interrupt_with(ender: Option<&Ender>) -> anyhow::Result<Interrupt> {
    Interrupt::listen_and(ending(ender))
}

/// What ends the process of a predictor, if there is one.
pub(super) fn ending(ender: Option<&Ender>) -> impl Fn() + Send + 'static {
    let ender = ender.cloned();
    move || {
        if let Some(ender) = &ender {
            ender.end();
        }
    }
}

/// Says by how much a predictor's answers to one row differ, if they do.
pub(super) fn remark_on_instability(difference: f32, output: &Output) {
    if difference > 0.0 {
        output.remark(&format!(
            "note: asked twice for the same row, the predictor's answers differ by up to {difference:.1e}; \
             a repeated run may find slightly other pairs"
        ));
    }
}

/// Share of changed decisions from which on a search on bins is another model's.
const FAR: f64 = 0.01;

/// Says how many decisions on rows of the data their bins change, if any.
pub(super) fn remark_on_bins(effect: Option<BinEffect>, output: &Output) {
    let Some(effect) = effect.filter(|effect| effect.changed > 0) else {
        return;
    };
    let weight = match effect.share >= FAR {
        true => "WARNING",
        false => "note",
    };
    output.remark(&format!(
        "{weight}: {}; more bins keep more of the model: probity schema infer --bins 100, or --bins exact",
        bins(&effect)
    ));
}

/// What bins change of a predictor's decisions on rows of the data, without a full stop.
fn bins(effect: &BinEffect) -> String {
    format!(
        "{} of {} rows of the data ({}) get another class from the predictor when the numbers that stand for their bins \
         replace their own. Rows of the data are audited with their own, rows that are alike in all bins with those of \
         the first of them (of such rows shares are not exact); those that the search makes up, and random inputs, have \
         the numbers of bins",
        count(effect.changed),
        count(effect.rows),
        percent(effect.share)
    )
}

/// Says of how many rows of the data the probabilities are rounded.
pub(super) fn remark_on_rounding(rounded: Option<RoundedRows>, output: &Output) {
    if let Some(RoundedRows { rows, divided }) = rounded {
        output.remark(&format!(
            "note: of {} rows of the data, the predictor's probabilities of {} do not sum to 1 and were divided by their sum",
            count(rows),
            count(divided)
        ));
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
