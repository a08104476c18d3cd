//! Comparisons of people whose sex is hidden and moves them: seconds of situation testing and of the
//! best matching, by the number of people.
//!
//! `cargo bench --bench people`

use std::ops::ControlFlow;
use std::time::Instant;

use probity::indirect::coordinates::{Cell, Column, Coordinates};
use probity::indirect::counterparts::matching::matched;
use probity::indirect::hidden::{HiddenPerson, hidden_person};
use probity::indirect::neighbours::Ties;
use probity::indirect::people::ProtectedGroup;
use probity::indirect::situations::compare::{SituationOptions, Subjects, Test, compare};

/// A number of a person, and its name.
type Number = (&'static str, fn(&HiddenPerson) -> i32);

/// The people, and the coordinates of all of them, standardised.
fn people(count: u64) -> (Vec<HiddenPerson>, Coordinates) {
    let people: Vec<HiddenPerson> = (0..count)
        .map(|item| hidden_person(1, item, 1.0)[0])
        .collect();
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
    (people, Coordinates::new(columns))
}

fn main() {
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
        let options = SituationOptions {
            k: 50,
            test: Test::Exact,
            ties: Ties::All,
            centres: false,
            level: 0.05,
        };
        let began = Instant::now();
        let found = compare(&subjects, &options, &|_, _| ControlFlow::Continue(()));
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
