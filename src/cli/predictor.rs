//! What searches on predictors need besides: no device, a process to end, answers that may differ.

use super::inputs::Hardware;
use super::interrupt::Interrupt;
use super::output::Output;
use anyhow::ensure;
use probity::fairness::specification::PredictorSpecification;
use probity::predictor::Ender;
use probity::tensor::device::{ComputeDevice, DeviceName, use_threads};

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
    use_threads(hardware.threads.map(usize::from))?;
    Ok(ComputeDevice::flex())
}

/// Listens for Ctrl-C; the second one ends the process of a predictor, if there is one, with the program.
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

/// Steps after which the strategy `eidig` computes its gradient anew; 0 is never.
pub(super) fn refresh(text: &str) -> Result<u32, String> {
    if text == "never" {
        return Ok(0);
    }
    match text.parse() {
        Ok(steps) if steps > 0 => Ok(steps),
        _ => Err("a number of steps above 0, or 'never', is expected".to_owned()),
    }
}
