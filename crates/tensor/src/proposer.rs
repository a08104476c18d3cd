//! The choice of a device that proposes results beside the reference, or of none.
//!
//! Every analyser has an exact *reference* on the CPU, which decides. A proposer may say beforehand
//! what most of its decisions will be, with a bound on its errors ([`crate::nearest`]) or without
//! any ([`crate::whole`]). It never decides: whatever it says, does not say, or fails to say, the
//! bytes of a result are those of the reference.
//!
//! So an analyser takes its proposer together with its rows, and no option, checkpoint, hash or
//! file knows of it.

use crate::device::{ComputeDevice, DeviceName};

/// The number of products of two numbers from which a device is worth the way there: the CPU's own
/// kernels do as many in a few milliseconds.
const WORTH: usize = 1 << 24;

/// A device that is asked before the reference decides, or none.
#[derive(Debug, Clone, Default)]
pub struct Proposer(Option<Offload>);

/// The device that work is offloaded to, and from which amount on.
#[derive(Debug, Clone)]
struct Offload {
    device: ComputeDevice,
    /// The number of products below which the device is not asked.
    least: usize,
}

impl Proposer {
    /// Returns the proposer for the device that a user named: none for `flex`, where the reference
    /// has vector kernels of its own; any other device wherever there is enough to do.
    pub fn new(device: &ComputeDevice) -> Proposer {
        match device.name() {
            DeviceName::Flex => Proposer(None),
            _ => Proposer::asked_from(device, WORTH),
        }
    }

    /// Returns a proposer that always asks `device`, however little there is to do: to compare the
    /// device with the reference.
    pub fn always(device: &ComputeDevice) -> Proposer {
        Proposer::asked_from(device, 0)
    }

    fn asked_from(device: &ComputeDevice, least: usize) -> Proposer {
        let device = device.clone();
        Proposer(Some(Offload { device, least }))
    }

    /// Returns the device to ask about work of this many products of two numbers.
    pub fn device_for(&self, products: usize) -> Option<&ComputeDevice> {
        let offload = self.0.as_ref()?;
        (products >= offload.least).then_some(&offload.device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flex_proposes_only_where_it_is_held_against_the_reference() {
        let flex = ComputeDevice::flex();
        assert!(Proposer::new(&flex).device_for(usize::MAX).is_none());
        assert!(Proposer::default().device_for(usize::MAX).is_none());
        assert!(Proposer::always(&flex).device_for(0).is_some());
    }
}
