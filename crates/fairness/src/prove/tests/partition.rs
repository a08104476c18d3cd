//! Checks that what is proved of a domain only grows, whatever is split, and is what the file of
//! boxes says.

use super::super::partition::{Partition, Region};
use super::super::verify::proved_of;
use super::*;

/// The schema of the other tests with more whole numbers, so that boxes are bounded in place of asked.
fn large() -> Schema {
    let mut schema = schema();
    for attribute in &mut schema.attributes {
        if let Kind::Integer { max, .. } = &mut attribute.kind {
            *max = 100;
        }
    }
    schema
}

#[test]
fn no_split_gives_up_what_was_proved() {
    let schema = large();
    let mut kept = 0;
    for number in 0..60 {
        let network = random_network(&schema, number);
        let domain = TabularDomain::new(&schema, &network.layout, &[2]).unwrap();
        let fnn = Fnn::new(&network, &ComputeDevice::flex());
        let sums = SumNetwork::new(&network, &domain, &[const { None }; 6]).unwrap();
        let measure = Measure::default();
        let decider = Decider::new(&sums, &measure, &fnn, &domain);
        let whole = points_of(&sums.domain());
        let mut partition = Partition::new(&decider, sums.domain(), whole).unwrap();
        let mut open = partition.open();
        let mut before = partition.proved();
        while !open.is_empty() && before.boxes < 200 {
            let next = before.boxes + open.round() as u64;
            partition.round(&decider, &mut open).unwrap();
            let now = partition.proved();
            assert!(
                now.fair >= before.fair && now.discriminatory >= before.discriminatory,
                "{number}: {before:?} {now:?}"
            );
            assert_eq!(now.boxes, next);
            before = now;
        }
        partition.expect_fits(&sums.domain(), whole).unwrap();
        assert_eq!(partition.leaves().count() as u64, before.boxes);
        let grounds: Vec<Region> = partition.grounds().collect();
        kept += grounds.iter().filter(|ground| !ground.is_leaf).count();
        let of = |grounds: &[Region]| {
            let mut order: Vec<&Region> = grounds.iter().collect();
            proved_of(&mut order, &sums.domain(), &mut Vec::new())
        };
        assert_eq!(of(&grounds).unwrap(), [before.fair, before.discriminatory]);
        for place in 0..grounds.len().min(20) {
            let mut less = grounds.clone();
            let gone = less.remove(place);
            assert_eq!(of(&less).is_err(), gone.is_leaf, "{number}: {gone:?}");
            let mut more = grounds.clone();
            more.push(gone);
            assert!(of(&more).is_err(), "{number}");
        }
        if grounds.iter().any(|ground| ground.ranges == sums.domain()) {
            continue;
        }
        // Of the whole as one nothing may be said that is needless, or leaves no room for its parts.
        for fair in [0, whole - before.discriminatory + 1, whole] {
            let mut forged = grounds.clone();
            forged.push(Region {
                number: 0,
                is_leaf: false,
                ranges: sums.domain(),
                points: whole,
                fair,
                discriminatory: 0,
            });
            let has_room = before.discriminatory == 0 && (before.fair + 1..=whole).contains(&fair);
            assert_eq!(of(&forged).is_ok(), has_room, "{number}: {fair}");
        }
    }
    assert!(kept > 0, "no box was ever worth more than its parts");
}
