//! Comparisons of people whose sex is hidden and moves them: seconds of situation testing and of the
//! best matching, by the number of people; and, by how much sex moves them, how often an effect is
//! found, and how many of those who are found are those to whom it happens.
//!
//! `cargo bench --bench people`, `cargo bench --bench people -- power`

use std::ops::ControlFlow;
use std::time::Instant;

use probity::indirect::coordinates::{Cell, Column, Coordinates};
use probity::indirect::counterparts::flips::{mcnemar, rates};
use probity::indirect::counterparts::matching::matched;
use probity::indirect::hidden::{HiddenPerson, hidden_person};
use probity::indirect::neighbours::Ties;
use probity::indirect::people::ProtectedGroup;
use probity::indirect::situations::compare::{SituationOptions, Subjects, Test, compare};

/// A number of a person, and its name.
type Number = (&'static str, fn(&HiddenPerson) -> i32);

/// People to whom sex does nothing at all (0) or as much as it can (1).
const EFFECTS: [f64; 8] = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0];

/// How often each effect is repeated, with other people.
const REPEATS: u64 = 500;

/// How often it is where there is none.
const REPEATS_WITHOUT: u64 = 2_000;

/// The level of every test.
const LEVEL: f64 = 0.05;

/// The people, and the coordinates of all of them, standardised.
fn people(count: u64) -> (Vec<HiddenPerson>, Coordinates) {
    let people: Vec<HiddenPerson> = (0..count)
        .map(|item| hidden_person(1, item, 1.0)[0])
        .collect();
    let coordinates = coordinates(&people);
    (people, coordinates)
}

fn coordinates(people: &[HiddenPerson]) -> Coordinates {
    let count = people.len();
    let numbers: [Number; 4] = [
        ("age", |it| it.age),
        ("education", |it| it.education),
        ("experience", |it| it.experience),
        ("hours", |it| it.hours),
    ];
    let mut columns: Vec<Column> = numbers
        .into_iter()
        .map(|(name, number)| {
            let values: Vec<f64> = people.iter().map(|it| f64::from(number(it))).collect();
            let mean = values.iter().sum::<f64>() / count as f64;
            let squares: f64 = values.iter().map(|it| (it - mean).powi(2)).sum();
            let deviation = (squares / count as f64).sqrt();
            Column::ordered(
                name,
                values.iter().map(|it| (it - mean) / deviation).collect(),
            )
        })
        .collect();
    let club = |person: &HiddenPerson| match person.club {
        "choir" => 0,
        "chess" => 1,
        _ => 2,
    };
    let clubs: Vec<Cell> = people.iter().map(|it| Cell::Level(club(it))).collect();
    columns.push(Column::new("club", 1.0, &clubs));
    Coordinates::new(columns)
}

/// The options of situation testing with `k` neighbours.
fn options(k: u32) -> SituationOptions {
    SituationOptions {
        k,
        test: Test::Exact,
        ties: Ties::All,
        centres: false,
        level: LEVEL,
    }
}

/// What the tests find in `count` people, by the effect.
fn power(count: u64, k: u32) {
    println!(
        "{count} people, k = {k}, level {LEVEL}; per cent of the repeats, of the women, of those found"
    );
    println!("effect  repeats  planted  McNemar  Fisher  situations  of the planted found  false");
    for effect in EFFECTS {
        let repeats = if effect == 0.0 {
            REPEATS_WITHOUT
        } else {
            REPEATS
        };
        let [mut planted, mut given, mut by_rates, mut with_any] = [0.0; 4];
        let [mut reached, mut wrong] = [0.0; 2];
        for seed in 0..repeats {
            let pairs: Vec<[HiddenPerson; 2]> = (0..count)
                .map(|item| hidden_person(seed, item, effect))
                .collect();
            let people: Vec<HiddenPerson> = pairs.iter().map(|it| it[0]).collect();
            let unfavourable: Vec<bool> = people.iter().map(|it| !it.is_hired()).collect();
            let members: Vec<bool> = people.iter().map(|it| it.is_female).collect();
            let flips = |against: bool| {
                let of = pairs.iter().filter(|[own, other]| {
                    own.is_female && own.is_hired() != against && other.is_hired() == against
                });
                of.count() as u64
            };
            given += f64::from(u8::from(mcnemar(flips(true), flips(false)).p <= LEVEL));
            let side = |is_female: bool| {
                let of = people.iter().filter(|it| it.is_female == is_female);
                let refused = of.clone().filter(|it| !it.is_hired());
                [refused.count() as u32, of.count() as u32]
            };
            by_rates += f64::from(u8::from(rates(side(true), side(false)).p <= LEVEL));
            let coordinates = coordinates(&people);
            let subjects = Subjects {
                people: &coordinates,
                unfavourable: &unfavourable,
                members: &members,
                counterfactual: None,
            };
            let found = compare(&subjects, &options(k), &|_, _| ControlFlow::Continue(()));
            let found = found.expect("there are enough people");
            let is_planted = |row: u32| {
                let [own, other] = pairs[row as usize];
                !own.is_hired() && other.is_hired()
            };
            let found: Vec<u32> = found
                .iter()
                .filter(|it| it.negative.is_discovery)
                .map(|it| it.row)
                .collect();
            let right = found.iter().filter(|&&row| is_planted(row)).count() as f64;
            let unfair = flips(true) as f64;
            with_any += f64::from(u8::from(!found.is_empty()));
            planted += unfair / f64::from(side(true)[1]);
            reached += right / unfair.max(1.0);
            wrong += (found.len() as f64 - right) / (found.len() as f64).max(1.0);
        }
        let percent = |sum: f64| 100.0 * sum / repeats as f64;
        println!(
            "{effect:6.2} {repeats:8} {:8.2} {:8.2} {:7.2} {:11.2} {:21.2} {:6.2}",
            percent(planted),
            percent(given),
            percent(by_rates),
            percent(with_any),
            percent(reached),
            percent(wrong)
        );
    }
}

fn main() {
    if std::env::args().any(|it| it == "power") {
        for (count, k) in [(1_000, 50), (5_000, 50)] {
            power(count, k);
        }
        return;
    }
    for count in [5_000, 50_000] {
        let (people, coordinates) = people(count);
        let unfavourable: Vec<bool> = people.iter().map(|it| !it.is_hired()).collect();
        let members: Vec<bool> = people.iter().map(|it| it.is_female).collect();
        let subjects = Subjects {
            people: &coordinates,
            unfavourable: &unfavourable,
            members: &members,
            counterfactual: None,
        };
        let began = Instant::now();
        let found = compare(&subjects, &options(50), &|_, _| ControlFlow::Continue(()));
        let found = found.expect("there are enough people");
        let discoveries = found.iter().filter(|it| it.negative.is_discovery).count();
        println!(
            "situations, {count} people, {} women, k = 50: {:.2} s, {discoveries} found",
            found.len(),
            began.elapsed().as_secs_f64()
        );
    }
    for count in [2_000, 10_000, 45_000] {
        let (people, coordinates) = people(count);
        let group = ProtectedGroup {
            conditions: Vec::new(),
            is_member: people.iter().map(|it| it.is_female).collect(),
            is_named: true,
        };
        let (women, men) = (group.rows(true).len(), group.rows(false).len());
        let began = Instant::now();
        let matching = matched(&coordinates, &group, 0.0, &|| ControlFlow::Continue(()));
        let matching = matching.expect("both groups have people");
        println!(
            "counterparts, {women} × {men}: {:.2} s, mean distance {:.6}, best: {}",
            began.elapsed().as_secs_f64(),
            matching.quality.mean_distance,
            matching.quality.is_exact
        );
    }
}
