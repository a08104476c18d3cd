//! The devices beside the CPU that a conformance test tries.

use std::io::{Write, stderr};

use probity_tensor::device::{ComputeDevice, DeviceName};

use crate::{Needed, skip};

/// The devices beside flex, the CPU, that answer on this machine; calls [`skip`] where none does.
///
/// When no such device answers and `PROBITY_REQUIRE` names `device`.
#[track_caller]
pub fn devices() -> Vec<ComputeDevice> {
    let others = DeviceName::ALL.into_iter();
    let others = others.filter(|name| !matches!(name, DeviceName::Auto | DeviceName::Flex));
    // Only the harness swallows the output of a passing test: which adapter answered is part of the
    // result.
    let answers = others.filter_map(|name| match ComputeDevice::open(name) {
        Ok(device) => {
            let _ = writeln!(stderr(), "{name} answers: {}", device.hardware());
            Some(device)
        }
        Err(error) => {
            let _ = writeln!(stderr(), "{name}: {error}");
            None
        }
    });
    let devices: Vec<ComputeDevice> = answers.collect();
    if devices.is_empty() {
        skip(Needed::Device, "no device but the CPU answers");
    }
    devices
}
