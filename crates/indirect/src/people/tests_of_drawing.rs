//! Counterparts that are drawn, beside the shares among those on the other side.

use std::fmt::Write;
use std::path::PathBuf;

use rand::RngExt;
use tempfile::TempDir;

use super::{Drawing, Nearby, OpenedPeople, People, PeopleReader, Sources};
use crate::error::IndirectError;
use probity_fairness::specification::{DecisionSpecification, PredictorSpecification};
use probity_run::stream::{Purpose, stream};
use probity_tensor::device::ComputeDevice;

const SCHEMA: &str = "name = \"people\"\n[label]\nname = \"hired\"\nclasses = [\"no\", \"yes\"]\n\
    [[attribute]]\nname = \"sex\"\nkind = \"categorical\"\nlevels = [\"f\", \"m\"]\n\
    [[attribute]]\nname = \"origin\"\nkind = \"categorical\"\nlevels = [\"east\", \"west\", \"south\"]\nprotected = true\n\
    [[attribute]]\nname = \"city\"\nkind = \"categorical\"\nlevels = [\"a\", \"b\"]\n\
    [[attribute]]\nname = \"job\"\nkind = \"categorical\"\nlevels = [\"x\", \"y\", \"z\"]\n\
    [[attribute]]\nname = \"pay\"\nkind = \"numeric\"\nbins = [0, 10, 20, 30]\n";

/// The share of each job, in per cent, by sex and city.
const JOBS: [[[u32; 3]; 2]; 2] = [[[70, 20, 10], [10, 20, 70]], [[20, 60, 20], [60, 10, 30]]];

/// People of whom the job hangs on sex and city, and the pay on the job.
fn people() -> String {
    let mut text = String::from("sex,origin,city,job,pay,hired\n");
    for item in 0..6_000_u64 {
        let mut stream = stream(9, Purpose::Synthetic, item, 77);
        let [sex, city] = [0, 1].map(|_| stream.random_range(0..2_usize));
        let origin = ["east", "west", "south"][stream.random_range(0..3_usize)];
        let mut left = stream.random_range(0..100_u32);
        let job = JOBS[sex][city].iter().position(|share| {
            let is_here = left < *share;
            left = left.saturating_sub(*share);
            is_here
        });
        let job = job.unwrap();
        // Whole numbers of whom nobody else has a half: the two sexes can be told by the pay.
        let pay = 10.0 * job as f64 + f64::from(stream.random_range(1..9_u32)) + 0.5 * sex as f64;
        let hired = if item % 2 == 0 { "yes" } else { "no" };
        let (sex, city) = (["f", "m"][sex], ["a", "b"][city]);
        let job = ["x", "y", "z"][job];
        writeln!(text, "{sex},{origin},{city},{job},{pay},{hired}").unwrap();
    }
    text
}

struct Drawn {
    people: People,
    drawn: Vec<People>,
    members: Vec<Vec<u32>>,
    others: Vec<Vec<u32>>,
    nearby: Vec<Nearby>,
}

fn drawn(
    protected: &[&str],
    reference: &[&str],
    unaffected: &[&str],
    seed: u64,
) -> Result<Drawn, IndirectError> {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, text: &str| -> PathBuf {
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        file
    };
    let (data, schema) = (
        write("people.csv", &people()),
        write("people.toml", SCHEMA).display().to_string(),
    );
    let all = |names: &[&str]| -> Vec<String> { names.iter().map(|it| (*it).to_owned()).collect() };
    let (protected, reference, unaffected) = (all(protected), all(reference), all(unaffected));
    let (predictor, decision) = (
        PredictorSpecification::default(),
        DecisionSpecification::default(),
    );
    let reader = PeopleReader::new(&Sources {
        model: "".as_ref(),
        predictor: &predictor,
        label: true,
        data: &data,
        schema: Some(&schema),
        out_of_domain: None,
        skip_bad_rows: false,
        decision: &decision,
        gap: None,
        favourable: None,
        protected: &protected,
        reference: &reference,
        weights: &[],
    })?;
    let device = ComputeDevice::flex();
    let opened = OpenedPeople::read(&reader, &data, None, &device)?;
    let drawing = Drawing {
        unaffected: &unaffected,
        seed,
    };
    let groups = opened.groups.iter();
    let drawn = groups.map(|group| reader.draw(&opened.people, group, drawing, &device));
    let drawn = drawn.collect::<Result<Vec<_>, _>>()?;
    assert!(drawn.iter().all(|it| it.unmet == 0));
    let outcomes = opened.people.decisions.outcomes(false);
    let nearby = drawn.iter().zip(&opened.groups);
    Ok(Drawn {
        nearby: nearby
            .map(|(drawn, group)| drawn.nearby(&opened.people, group, &outcomes))
            .collect(),
        drawn: drawn.into_iter().map(|it| it.people).collect(),
        members: opened.groups.iter().map(|it| it.members.clone()).collect(),
        others: opened.groups.iter().map(|it| it.others.clone()).collect(),
        people: opened.people,
    })
}

/// The share of each job among the `rows` of `people` who live in the city.
fn jobs(people: &People, rows: &[u32], city: i32) -> [f64; 3] {
    let mut counts = [0.0; 3];
    for &row in rows {
        let row = people.table.row(row as usize);
        if row[2] == city {
            counts[row[3] as usize] += 1.0;
        }
    }
    let all: f64 = counts.iter().sum();
    counts.map(|count| count / all)
}

#[test]
fn draws_have_the_shares_of_the_others_who_are_alike_in_what_is_unaffected() {
    let found = drawn(&["sex=f"], &[], &["city"], 1).unwrap();
    let (members, drawn) = (&found.members[0], &found.drawn[0]);
    for city in [0, 1] {
        let [of_drawn, of_others, own] = [
            jobs(drawn, members, city),
            jobs(&found.people, &found.others[0], city),
            jobs(&found.people, members, city),
        ];
        for job in 0..3 {
            let far = (of_drawn[job] - of_others[job]).abs();
            assert!(far < 0.05, "{city} {job}: {of_drawn:?} {of_others:?}");
        }
        assert!((own[0] - of_others[0]).abs() > 0.3, "{own:?} {of_others:?}");
    }
    for &row in members {
        let [own, other] = [&found.people, drawn].map(|it| it.table.row(row as usize));
        // Sex is the other one; origin is protected, and told by another group.
        assert_eq!((other[0], other[1], other[2]), (1, own[1], own[2]));
        // The number is one of a man's, and in the range that belongs to the job.
        let pay: f64 = drawn.described(row as usize)[4].value.parse().unwrap();
        assert!(pay.fract() == 0.5 && pay < 30.0, "{pay}");
    }
    for &row in &found.others[0] {
        let both = [&found.people, drawn].map(|it| it.described(row as usize));
        assert_eq!(both[0], both[1]);
    }
    assert_eq!(drawn.file_row(0), 1);
}

#[test]
fn whoever_is_drawn_is_outside_of_the_group_and_in_the_reference() {
    let found = drawn(&["sex=f", "origin=east"], &[], &[], 1).unwrap();
    let of = |group: usize, row: u32| found.drawn[group].table.row(row as usize);
    // Women, people from the east, and women from the east.
    for group in 0..3 {
        assert!(!found.members[group].is_empty());
        for &row in &found.members[group] {
            let cells = of(group, row);
            let is_inside = [cells[0] == 0, cells[1] == 0, cells[0] == 0 && cells[1] == 0];
            assert!(!is_inside[group], "{group} {row} {cells:?}");
        }
    }
    let is_woman = |row: &&u32| of(2, **row)[0] == 0;
    assert!(found.members[2].iter().any(|row| is_woman(&row)));
    let found = drawn(&["origin=east"], &["origin=south"], &["sex"], 1).unwrap();
    for &row in &found.members[0] {
        let [own, other] = [&found.people, &found.drawn[0]].map(|it| it.table.row(row as usize));
        assert_eq!((other[0], other[1]), (own[0], 2));
    }
}

#[test]
fn the_seed_alone_decides_who_is_drawn() {
    let texts = |seed: u64| {
        let found = drawn(&["sex=f"], &[], &["city"], seed).unwrap();
        let rows = found.members[0].iter();
        rows.map(|&row| found.drawn[0].described(row as usize))
            .collect::<Vec<_>>()
    };
    let one = texts(1);
    assert_eq!(one, texts(1));
    let differing = one.iter().zip(texts(2)).filter(|(a, b)| *a != b).count();
    assert!(differing * 3 > one.len(), "{differing} of {}", one.len());
}

#[test]
fn what_tells_the_group_cannot_be_unaffected_by_it() {
    let refused = |unaffected: &[&str]| {
        let found = drawn(&["sex=f"], &[], unaffected, 1);
        found.err().map(|error| error.to_string()).unwrap()
    };
    assert!(refused(&["sex"]).contains("by which sex=f is not told"));
    assert!(refused(&["height"]).contains("height"));
}

/// The mean outcome of the 25 others nearest in pay and origin, by sorting them, and their mean distance.
fn nearest(found: &Drawn) -> (f64, f64) {
    let pay: Vec<f64> = (0..found.people.rows())
        .map(|row| found.people.described(row)[4].value.parse().unwrap())
        .collect();
    let count = pay.len() as f64;
    let mean = pay.iter().sum::<f64>() / count;
    let deviation = (pay.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / count).sqrt();
    let (mut outcomes, mut distances) = (0.0, 0.0);
    for &row in &found.members[0] {
        let row = row as usize;
        let distance = |other: u32| {
            let origins = [row, other as usize].map(|it| found.people.table.row(it)[1]);
            let differ = if origins[0] == origins[1] { 0.0 } else { 1.0 };
            ((pay[row] - pay[other as usize]).abs() / deviation + differ) / 2.0
        };
        let others = found.others[0].iter();
        let mut others: Vec<(f64, u32)> = others.map(|&it| (distance(it), it)).collect();
        others.sort_by(|a, b| a.0.total_cmp(&b.0));
        others.retain({
            let last = others[24].0 + 1e-9;
            move |it| it.0 <= last
        });
        let of = others.len() as f64;
        let unfavourable = others
            .iter()
            .filter(|it| found.people.decisions.name(it.1 as usize) == "no");
        outcomes += unfavourable.count() as f64 / of;
        distances += others.iter().map(|it| it.0).sum::<f64>() / of;
    }
    let members = found.members[0].len() as f64;
    (outcomes / members, distances / members)
}

#[test]
fn real_people_beside_the_drawn_are_the_nearest_in_what_is_kept() {
    let found = drawn(&["sex=f"], &[], &["pay"], 1).unwrap();
    let (mean, distance) = nearest(&found);
    let nearby = found.nearby[0];
    assert_eq!(nearby.people, 25);
    assert!((nearby.mean - mean).abs() < 1e-9, "{nearby:?} {mean}");
    assert!(
        (nearby.distance - distance).abs() < 1e-9,
        "{nearby:?} {distance}"
    );
    assert!(distance > 0.0);
    // Of women from the east nothing is kept: everybody else is as near.
    let found = drawn(&["sex=f", "origin=east"], &[], &[], 1).unwrap();
    let share = found.people.decided(&found.others[2]).unfavourable.share;
    assert!((found.nearby[2].mean - share).abs() < 1e-12);
    assert_eq!(found.nearby[2].distance, 0.0);
}
