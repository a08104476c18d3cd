use super::*;
use crate::kmeans::model::{Algorithm, KMeans};
use probity_run::stream::{Purpose, Words};

fn model(algorithm: Algorithm) -> Model {
    let words = Words::new(1, Purpose::Mixture, &[0]);
    let rows = (0..120).map(|at| words.below(1 << 24, at) as i32).collect();
    let points = Points::new((1..=60).collect(), rows, 2).unwrap();
    let kmeans = KMeans::new(3)
        .iterations(4)
        .restarts(2)
        .algorithm(algorithm);
    kmeans.fit(&points).unwrap()
}

fn algorithms() -> [Algorithm; 3] {
    let tree = Tree::flat(4).unwrap();
    let lattice = Algorithm::Quantized {
        epsilon: 0.1,
        gamma: 0.2,
    };
    [Algorithm::Lloyd, lattice, Algorithm::DivideConquer { tree }]
}

/// Bytes with any change make no model that panics, or that says something else of itself when
/// written.
#[test]
fn cut_and_altered_bytes_are_refused_or_read_as_what_they_say() {
    for algorithm in algorithms() {
        let bytes = model(algorithm).to_bytes().unwrap();
        for at in 0..bytes.len() {
            assert!(Model::from_bytes(&bytes[..at]).is_err(), "cut at {at}");
            let mut altered = bytes.clone();
            altered[at] ^= 1 << (at % 8);
            if let Ok(mut read) = Model::from_bytes(&altered) {
                let again = read.to_bytes().unwrap();
                let twice = Model::from_bytes(&again).unwrap();
                assert!(twice.to_bytes().unwrap() == again, "byte {at}");
                let _ = read.delete(&[1]);
            }
        }
        let mut longer = bytes.clone();
        longer.push(0);
        assert!(Model::from_bytes(&longer).is_err());
    }
}

#[test]
fn sums_and_centroids_that_do_not_follow_from_the_rows_are_refused() {
    let Model::Flat(trace) = model(Algorithm::Lloyd) else {
        unreachable!("Lloyd's algorithm makes no tree")
    };
    let refused = |alter: &dyn Fn(&mut WrittenIteration<'_>)| {
        let mut written = trace.written();
        alter(&mut written.restarts[1].iterations[1]);
        written.read().unwrap_err().to_string()
    };
    let wrong = refused(&|iteration| iteration.sums.to_mut()[0] += 1);
    assert!(wrong.contains("has not counted"), "{wrong}");
    let wrong = refused(&|iteration| iteration.loss += 1);
    assert!(wrong.contains("has not counted"), "{wrong}");
    let mut written = trace.written();
    written.restarts[1].iterations.truncate(2);
    let wrong = written.read().unwrap_err().to_string();
    assert!(wrong.contains("ends before"), "{wrong}");
    let mut written = trace.written();
    written.restarts[1].iterations.remove(1);
    let wrong = written.read().unwrap_err().to_string();
    assert!(wrong.contains("do not follow"), "{wrong}");
    let mut written = trace.written();
    written.restarts.pop();
    let wrong = written.read().unwrap_err().to_string();
    assert!(wrong.contains("number of restarts"), "{wrong}");
    let mut written = trace.written();
    written.restarts[0].stages.to_mut()[1].candidates.pop();
    let wrong = written.read().unwrap_err().to_string();
    assert!(wrong.contains("seeds are not among"), "{wrong}");
}

#[test]
fn forged_numbers_take_no_memory() {
    let Model::Flat(trace) = model(algorithms()[1].clone()) else {
        unreachable!("quantized k-means makes no tree")
    };
    let mut written = trace.written();
    written.parameters.iterations = usize::MAX;
    assert!(written.read().is_ok());
    // A list that says to be longer than memory.
    let mut forged = encode(&(FORM, 0_u32, 2_usize)).unwrap();
    forged.extend(encode(&u64::MAX).unwrap());
    assert!(Model::from_bytes(&forged).is_err());
}
