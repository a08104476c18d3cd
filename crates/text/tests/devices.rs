//! The nearest words are the same on every device that answers.

use probity_tensor::device::ComputeDevice;
use probity_tensor::nearest::cosine::{NearestOptions, nearest};
use probity_testing::devices;
use probity_text::embeddings::shipped;

#[test]
fn the_nearest_words_are_the_same_on_every_device() {
    let table = shipped().unwrap();
    let mut excluded = vec![false; table.words().len() + 1];
    excluded[table.unknown() as usize] = true;
    let options = NearestOptions {
        k: 10,
        excluded: &excluded,
    };
    let queries: Vec<u32> = (0..table.unknown()).collect();
    let on =
        |device: &ComputeDevice| nearest(table.vectors(), table.width(), &queries, options, device);
    let flex = on(&ComputeDevice::flex());
    assert!(
        queries
            .iter()
            .all(|&query| flex.neighbours(query as usize).len() == 10)
    );
    for device in devices() {
        assert!(on(&device) == flex, "{}", device.name());
    }
}
