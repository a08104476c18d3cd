//! Comparisons of people whose sex is hidden and moves them: seconds of situation testing and of the
//! best matching, by the number of people; and, by how much sex moves them, how often an effect is
//! found, and how many of those who are found are those to whom it happens.
//!
//! And how often the intervals of flipsets hold the share that as many people have on average, also of
//! counterparts that are drawn.
//!
//! `cargo bench --bench people`, `cargo bench --bench people -- power`, `… -- intervals`, `… -- drawn`

use std::ops::ControlFlow;
use std::time::Instant;

use probity::fairness::specification::{DecisionSpecification, PredictorSpecification};
use probity::indirect::coordinates::{Cell, Column, Coordinates};
use probity::indirect::counterparts::flips::{
    Flip, Outcomes, mcnemar, pairs_worth, rates, share_of,
};
use probity::indirect::counterparts::matching::matched;
use probity::indirect::counterparts::resampling::{Halves, interval};
use probity::indirect::hidden::{HiddenPerson, SCHEMA, hidden_person, write_csv};
use probity::indirect::neighbours::Ties;
use probity::indirect::people::{Drawing, OpenedPeople, PeopleReader, ProtectedGroup, Sources};
use probity::indirect::situations::compare::{SituationOptions, Subjects, Test, compare};
use probity::tensor::device::ComputeDevice;

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

/// The women, beside the men.
fn women(people: &[HiddenPerson]) -> ProtectedGroup {
    let is_member: Vec<bool> = people.iter().map(|it| it.is_female).collect();
    ProtectedGroup::new(Vec::new(), &is_member, true)
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
        "{count} people, k = {k}, level {LEVEL}; per cent of the women (planted), of the repeats (the three tests), of the planted, of those found"
    );
    println!(
        "effect  repeats  planted  McNemar  Fisher  situations  of the planted found  not planted"
    );
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
                group: &women(&people),
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
            "{effect:6.2} {repeats:8} {:8.2} {:8.2} {:7.2} {:11.2} {:21.2} {:12.2}",
            percent(planted),
            percent(given),
            percent(by_rates),
            percent(with_any),
            percent(reached),
            percent(wrong)
        );
    }
}

/// A share, its standard deviation over halves, and its interval.
type Found = (f64, f64, [f64; 2]);

/// How often the intervals of `count` people hold the mean of the shares over the repeats, by the effect.
fn intervals(count: u64) {
    println!("{count} people, 100 halves; shares of the women in per cent");
    println!(
        "effect  repeats  direction  mean share  deviation  by halves  intervals hold  mean width"
    );
    for effect in [0.0, 0.5, 1.0] {
        let repeats = if effect == 0.0 {
            REPEATS_WITHOUT
        } else {
            REPEATS
        };
        let mut found: [Vec<Found>; 2] = [Vec::new(), Vec::new()];
        for seed in 0..repeats {
            let people: Vec<HiddenPerson> = (0..count)
                .map(|item| hidden_person(seed, item, effect)[0])
                .collect();
            let gets: Vec<f64> = people
                .iter()
                .map(|it| f64::from(u8::from(it.is_hired())))
                .collect();
            let outcomes = Outcomes {
                people: &gets,
                counterparts: &gets,
                gap: 0.5,
            };
            let (coordinates, women) = (coordinates(&people), women(&people));
            let go_on = || ControlFlow::Continue(());
            let matching = matched(&coordinates, &women, 0.0, &go_on).expect("there are people");
            let halves = Halves {
                halves: 100,
                seed: 1,
                place: 0,
                gap: 0.0,
            };
            let spreads = halves.spreads(&coordinates, &women, &outcomes, &|_| go_on());
            let spreads = spreads
                .expect("nobody stops it")
                .expect("both groups have people");
            let fewer = women.members.len().min(women.others.len()) as u64;
            let ways = [
                (Flip::Against, spreads.against),
                (Flip::Favouring, spreads.favouring),
            ];
            for (found, (flip, spread)) in found.iter_mut().zip(ways) {
                let share = share_of(&matching.pairs, &outcomes, flip);
                let interval = interval(share, fewer, Some(spread));
                found.push((share, spread.variance.sqrt(), interval));
            }
        }
        for (name, found) in ["worse", "better"].iter().zip(&found) {
            let mean = |value: &dyn Fn(&Found) -> f64| {
                100.0 * found.iter().map(value).sum::<f64>() / repeats as f64
            };
            let share = mean(&|it| it.0);
            let deviation = mean(&|it| (it.0 - share / 100.0).powi(2)) / 100.0;
            let holds = |[low, high]: [f64; 2]| low <= share / 100.0 && share / 100.0 <= high;
            println!(
                "{effect:6.2} {repeats:8} {name:>10} {share:11.2} {:10.2} {:10.2} {:15.2} {:11.2}",
                100.0 * deviation.sqrt(),
                mean(&|it| it.1),
                mean(&|it| f64::from(u8::from(holds(it.2)))),
                mean(&|it| it.2[1] - it.2[0])
            );
        }
    }
}

/// Whom the rule hires, of the women of `people` and of the counterparts who are drawn for them with their
/// age.
fn drawn_pairs(people: &[HiddenPerson], seed: u64) -> Vec<[bool; 2]> {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let data = folder.path().join("people.csv");
    let file = std::fs::File::create(&data).expect("a file can be made");
    write_csv(file, people.iter().copied()).expect("people can be written");
    let (decision, predictor) = (
        DecisionSpecification::default(),
        PredictorSpecification::default(),
    );
    let reader = PeopleReader::new(&Sources {
        model: "".as_ref(),
        predictor: &predictor,
        label: true,
        data: &data,
        schema: Some(SCHEMA),
        out_of_domain: None,
        skip_bad_rows: false,
        decision: &decision,
        gap: None,
        favourable: None,
        protected: &["sex=female".to_owned()],
        reference: &[],
        weights: &[],
    });
    let reader = reader.expect("the schema is one");
    let device = ComputeDevice::flex();
    let opened = OpenedPeople::read(&reader, &data, None, &device).expect("there are people");
    let drawing = Drawing {
        unaffected: &["age".to_owned()],
        seed,
    };
    let drawn = reader.draw(&opened.people, &opened.groups[0], drawing, &device);
    let drawn = drawn.expect("there are men").people;
    let members = opened.groups[0].members.iter();
    let pairs = members.map(|&row| {
        let person = people[row as usize];
        let values = drawn.described(row as usize);
        let number = |place: usize| values[place].value.parse().unwrap_or(0);
        let club = ["choir", "chess", "football"];
        let club = club.into_iter().find(|club| *club == values[4].value);
        let counterpart = HiddenPerson {
            age: number(0),
            education: number(1),
            experience: number(2),
            hours: number(3),
            club: club.unwrap_or("chess"),
            is_female: false,
        };
        [person.is_hired(), counterpart.is_hired()]
    });
    pairs.collect()
}

/// A share, and its interval.
type Drawn = (f64, [f64; 2]);

/// How often the interval of counterparts that are drawn holds the mean of the share over the repeats, by the
/// effect and by how many women and men there are.
fn drawn() {
    println!("age is unaffected; per cent, of the women or of the repeats");
    println!("effect  women  men  repeats  mean share  intervals hold  mean width");
    for (effect, women, men) in [
        (0.0, 300, 300),
        (0.0, 600, 60),
        (0.0, 300, 10),
        (0.0, 60, 600),
        (1.0, 300, 300),
        (1.0, 600, 60),
    ] {
        let found: Vec<Drawn> = (0..REPEATS)
            .map(|seed| {
                let all = (0..).map(|item| hidden_person(seed, item, effect)[0]);
                let mut left = [men, women];
                let mut people = Vec::new();
                for person in all {
                    let side = &mut left[usize::from(person.is_female)];
                    if *side > 0 {
                        *side -= 1;
                        people.push(person);
                    }
                    if left == [0, 0] {
                        break;
                    }
                }
                let pairs = drawn_pairs(&people, seed);
                let is_against = |pair: &&[bool; 2]| **pair == [false, true];
                let against = pairs.iter().filter(is_against).count();
                let share = against as f64 / women as f64;
                let worth = (pairs_worth(women, men) as u64).max(1);
                (share, interval(share, worth, None))
            })
            .collect();
        let mean = |value: &dyn Fn(&Drawn) -> f64| {
            100.0 * found.iter().map(value).sum::<f64>() / found.len() as f64
        };
        let is = |is: bool| f64::from(u8::from(is));
        let share = mean(&|it| it.0);
        println!(
            "{effect:6.2} {women:6} {men:4} {REPEATS:8} {share:11.2} {:15.2} {:11.2}",
            mean(&|it| is(it.1[0] <= share / 100.0 && share / 100.0 <= it.1[1])),
            mean(&|it| it.1[1] - it.1[0])
        );
    }
}

fn main() {
    if std::env::args().any(|it| it == "drawn") {
        drawn();
        return;
    }
    if std::env::args().any(|it| it == "intervals") {
        for count in [100, 400] {
            intervals(count);
        }
        return;
    }
    if std::env::args().any(|it| it == "power") {
        for (count, k) in [(1_000, 50), (5_000, 50)] {
            power(count, k);
        }
        return;
    }
    for count in [5_000, 50_000] {
        let (people, coordinates) = people(count);
        let unfavourable: Vec<bool> = people.iter().map(|it| !it.is_hired()).collect();
        let subjects = Subjects {
            people: &coordinates,
            unfavourable: &unfavourable,
            group: &women(&people),
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
        let group = women(&people);
        let (women, men) = (group.members.len(), group.others.len());
        let began = Instant::now();
        // As a run does where the two groups make more than 50 million pairs.
        let gap = if women * men > 50_000_000 { 0.01 } else { 0.0 };
        let matching = matched(&coordinates, &group, gap, &|| ControlFlow::Continue(()));
        let matching = matching.expect("both groups have people");
        println!(
            "counterparts, {women} × {men}: {:.2} s, mean distance {:.6}, proven gap {:.4}",
            began.elapsed().as_secs_f64(),
            matching.quality.mean_distance,
            matching.quality.gap
        );
    }
}
