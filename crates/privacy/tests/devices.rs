//! The degrees of records are the same on every device that answers.

use probity_privacy::degrees::degrees;
use probity_privacy::records::Records;
use probity_tensor::device::ComputeDevice;
use probity_tensor::proposer::Proposer;
use probity_testing::devices;

/// Every device, and flex among them, proposes however little there is to do.
fn proposers() -> Vec<Proposer> {
    let all = std::iter::once(ComputeDevice::flex()).chain(devices());
    all.map(|device| Proposer::always(&device)).collect()
}

#[test]
fn degrees_are_the_same_on_every_device() {
    for columns in [1, 3, 20] {
        let spread = |at: u64| ((at * at * 7919 + at * 31) % (1 << 22)) as f64;
        let values: Vec<f64> = (0..600 * columns).map(spread).collect();
        let records = Records::from_grid(values, columns as usize).unwrap();
        for squared_radius in [1e3, 1e10, 1e12, 1e13] {
            let found = degrees(&records, squared_radius, 40);
            for proposer in proposers() {
                let records = records.clone().on(&proposer);
                assert_eq!(degrees(&records, squared_radius, 40), found);
            }
        }
    }
}
