//! `probity devices`

use clap::Args;
use serde::Serialize;

use super::exit_code::ExitCode;
use super::output::Output;
use super::render::table;
use probity::tensor::device::{ComputeDevice, DeviceName};

/// Arguments of `probity devices`.
#[derive(Debug, Args)]
pub(super) struct DevicesArgs {}

#[derive(Serialize)]
struct DeviceReport {
    device: DeviceName,
    answers: bool,
    says: String,
}

#[derive(Serialize)]
struct DevicesSummary {
    devices: Vec<DeviceReport>,
}

/// Runs `probity devices`.
pub(super) fn run(_args: DevicesArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let reports: Vec<DeviceReport> = DeviceName::ALL
        .into_iter()
        .map(|name| match ComputeDevice::open(name) {
            Ok(device) if name == DeviceName::Auto => DeviceReport {
                device: name,
                answers: true,
                says: format!("is {}", device.name()),
            },
            Ok(device) => DeviceReport {
                device: name,
                answers: true,
                says: device.hardware(),
            },
            Err(error) => DeviceReport {
                device: name,
                answers: false,
                says: error.to_string(),
            },
        })
        .collect();
    let rows: Vec<Vec<String>> = reports
        .iter()
        .map(|report| {
            let answers = if report.answers { "yes" } else { "no" };
            vec![
                report.device.to_string(),
                answers.to_owned(),
                report.says.clone(),
            ]
        })
        .collect();
    let summary = DevicesSummary { devices: reports };
    output.summary(
        "devices",
        &summary,
        &table(&["device", "answers", ""], &rows),
    )
}
