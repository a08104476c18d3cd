//! Lipton's hiring data: a model whose rates are similar for men and women, and which yet treats
//! many of both otherwise (Lipton, Chouldechova, McAuley, NeurIPS 2018; Black, Yeom, Fredrikson, FAT* 2020).

use std::ops::ControlFlow;

use rand::RngExt;
use statrs::distribution::{Beta, ContinuousCDF, DiscreteCDF, Normal, Poisson};

use super::flips::{Flip, Outcomes, direction};
use super::matching::{Pair, given, matched};
use crate::coordinates::{Column, Coordinates};
use crate::people::ProtectedGroup;
use crate::transport::{Costs, check, transport};
use probity_run::stream::{Purpose, stream};

/// People of either sex: the first thousand are women.
const PEOPLE: u64 = 2_000;

/// Draws work experience and hair length of everybody, and standardises both.
fn hiring() -> [Vec<f64>; 2] {
    let drawn = (0..PEOPLE).map(|item| {
        let mut stream = stream(3, Purpose::Synthetic, item, 7);
        let mut chance = || stream.random_range(1e-9..1.0 - 1e-9);
        let is_female = item < PEOPLE / 2;
        let (mean, longer) = if is_female { (25.0, 2.0) } else { (31.0, 7.0) };
        let years = Poisson::new(mean).unwrap().inverse_cdf(chance()) as f64;
        let less: f64 = Normal::new(20.0, 0.2).unwrap().inverse_cdf(chance());
        let hair = Beta::new(2.0, longer).unwrap().inverse_cdf(chance());
        (years - less, 35.0 * hair)
    });
    let (work, hair): (Vec<f64>, Vec<f64>) = drawn.unzip();
    [work, hair].map(|values| {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|it| (it - mean).powi(2)).sum();
        let deviation = (squares / count).sqrt();
        values.iter().map(|it| (it - mean) / deviation).collect()
    })
}

fn women() -> ProtectedGroup {
    let is_member: Vec<bool> = (0..PEOPLE).map(|item| item < PEOPLE / 2).collect();
    ProtectedGroup::new(Vec::new(), &is_member, true)
}

fn go_on() -> ControlFlow<()> {
    ControlFlow::Continue(())
}

#[test]
fn similar_rates_hide_a_large_flipset_of_experience_and_hair() {
    let [work, hair] = hiring();
    let hired = work.iter().zip(&hair);
    let hired = hired.map(|(work, hair)| f64::from(1.2956 * work + 1.0862 * hair > 0.8668));
    let hired: Vec<f64> = hired.collect();
    let rate = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
    let (women_hired, men_hired) = hired.split_at(1_000);
    let [of_women, of_men] = [women_hired, men_hired].map(rate);
    assert!((of_women - of_men).abs() < 0.12, "{of_women} {of_men}");
    let people = Coordinates::new(vec![
        Column::ordered("work", work),
        Column::ordered("hair", hair),
    ]);
    let matching = matched(&people, &women(), 0.0, &go_on).unwrap();
    assert!(matching.quality.is_exact);
    assert_eq!(matching.pairs.len(), 1_000);
    let outcomes = Outcomes {
        people: &hired,
        counterparts: &hired,
        gap: 0.5,
    };
    let of = |flip| direction(&matching.pairs, &outcomes, (&people, &people), flip);
    let (against, favouring) = (of(Flip::Against), of(Flip::Favouring));
    // Men are never hired for their hair: whoever is worse off is so by the columns alone.
    assert!(
        against.share > 0.05 && favouring.share > 0.05,
        "{} {}",
        against.share,
        favouring.share
    );
    let difference = against.share - favouring.share;
    assert!((difference - (of_men - of_women)).abs() < 1e-9);
    // Women who are worse off than their counterparts have less experience than these; those who are
    // better off have longer hair.
    assert_eq!(against.transparency[0].attribute, "work", "{against:?}");
    assert_eq!(favouring.transparency[0].attribute, "hair", "{favouring:?}");
}

#[test]
fn groups_of_different_sizes_are_used_up_evenly() {
    let [work, hair] = hiring();
    let people = Coordinates::new(vec![
        Column::ordered("work", work),
        Column::ordered("hair", hair),
    ]);
    let some: Vec<u32> = (0..300).chain(1_000..1_170).collect();
    let people = people.select(&some);
    let is_member: Vec<bool> = (0..some.len()).map(|row| row < 300).collect();
    let group = ProtectedGroup::new(Vec::new(), &is_member, true);
    let matching = matched(&people, &group, 0.0, &go_on).unwrap();
    let of = |row: fn(&Pair) -> u32, wanted: u32| -> f64 {
        let pairs = matching.pairs.iter().filter(|pair| row(pair) == wanted);
        pairs.map(|pair| pair.share).sum()
    };
    for member in 0..300 {
        assert!((of(|pair| pair.member, member) - 1.0).abs() < 1e-12);
    }
    for other in 300..470 {
        assert!((of(|pair| pair.counterpart, other) - 300.0 / 170.0).abs() < 1e-12);
    }
    let stopped = matched(&people, &group, 0.0, &|| ControlFlow::Break(()));
    assert!(stopped.is_err());
}

#[test]
fn whoever_is_their_own_counterpart_is_in_no_flipset() {
    let [work, hair] = hiring();
    let people = Coordinates::new(vec![
        Column::ordered("work", work.clone()),
        Column::ordered("hair", hair),
    ]);
    let matching = given(&people, &people, &women());
    assert_eq!(matching.quality.mean_distance, 0.0);
    let outcomes = Outcomes {
        people: &work,
        counterparts: &work,
        gap: 0.0,
    };
    let pairs = &matching.pairs;
    assert!(pairs.iter().all(|pair| outcomes.flip(pair).is_none()));
}

/// A certificate, made anew, of a matching of real distances.
#[test]
fn prices_prove_a_matching_of_distances() {
    struct Distances(Vec<Vec<u32>>);
    impl Costs for Distances {
        fn rows(&self) -> usize {
            self.0.len()
        }
        fn columns(&self) -> usize {
            self.0[0].len()
        }
        fn fill(&self, row: usize, costs: &mut [u32]) {
            costs.copy_from_slice(&self.0[row]);
        }
    }
    let [work, hair] = hiring();
    let people = Coordinates::new(vec![
        Column::ordered("work", work),
        Column::ordered("hair", hair),
    ]);
    let row = |member: usize| {
        let person = people.person(member);
        let distances = (1_000..1_200).map(|other| people.distance(&person, other));
        distances.map(|it| (it * 65_536.0).round() as u32).collect()
    };
    let costs = Distances((0..100).map(row).collect());
    let found = transport(&costs, crate::transport::Options::default(), &|_| true).unwrap();
    let certificate = check(&costs, &found).unwrap();
    assert_eq!(certificate.objective, certificate.lower_bound);
}
