//! Smallest changes against all changes of a small domain.

use super::smallest::{Ending, Place, Question, Searched, scaled_distance, smallest};
use crate::domain::{Domain, TabularDomain};
use probity_data::schema::Schema;
use probity_nn::encoding::InputLayout;
use probity_nn::fnn::{Activation, Fnn, Network};
use probity_nn::{Classifier, Rows};
use probity_tensor::device::ComputeDevice;

const SCHEMA: &str = r#"
name = "small"
[label]
name = "class"
classes = ["no", "yes", "later"]
[[attribute]]
name = "wage"
kind = "integer"
min = 2
max = 6
[[attribute]]
name = "sex"
kind = "categorical"
levels = ["f", "m"]
[[attribute]]
name = "job"
kind = "categorical"
levels = ["a", "b", "c", "d"]
[[attribute]]
name = "grade"
kind = "categorical"
levels = ["low", "mid", "high"]
ordered = true
[[attribute]]
name = "age"
kind = "integer"
min = 0
max = 2
[[attribute]]
name = "debt"
kind = "numeric"
bins = [0, 1, 2, 4]
missing = "?"
outside = "level"
"#;

/// Places of `row`: wage, job, grade and debt, but for those `fixed`.
fn places(schema: &Schema, domain: &TabularDomain, row: &[i32], fixed: &[usize]) -> Vec<Place> {
    let free = domain.free().iter().filter(|place| !fixed.contains(place));
    let places = free.map(|&position| {
        let attribute = &schema.attributes[position];
        let (min, max) = attribute.domain();
        let codes = (min..=max).filter(|&code| code != row[position]);
        let mut values: Vec<(f64, i32)> = codes
            .map(|code| (scaled_distance(attribute, row[position], code), code))
            .collect();
        values.sort_by(|a, b| a.partial_cmp(b).unwrap());
        Place { position, values }
    });
    places.collect()
}

/// A change by brute force: places, distance, and the row.
type Known = (Vec<usize>, f64, Vec<i32>);

/// The distance by its definition, attribute by attribute.
fn distance(position: usize, from: i32, to: i32) -> f64 {
    let apart = f64::from((from - to).abs());
    match position {
        _ if from == to => 0.0,
        0 => apart / 4.0,
        3 => apart / 2.0,
        // 3 is the missing value.
        5 if from != 3 && to != 3 => apart / 2.0,
        _ => 1.0,
    }
}

/// The changes by brute force: all inputs that agree with `row` in sex, age and what is `fixed`,
/// whose variants have one class, in order, without those that change all that one before them
/// does.
fn brute_force(model: &dyn Classifier, row: &[i32], fixed: &[usize]) -> Vec<Known> {
    let one_class = |row: &[i32]| {
        let mut all = Vec::new();
        for sex in 0..2 {
            for age in 0..3 {
                let mut other = row.to_vec();
                (other[1], other[4]) = (sex, age);
                all.extend(other);
            }
        }
        let logits = model.logits(Rows::new(&all, 6)).unwrap();
        let class = |of: &[f32]| (0..3).rev().max_by(|&a, &b| of[a].total_cmp(&of[b]));
        let classes: Vec<_> = logits.chunks(3).map(class).collect();
        classes.iter().all(|class| *class == classes[0])
    };
    let mut known: Vec<Known> = Vec::new();
    for wage in 2..=6 {
        for job in 0..4 {
            for grade in 0..3 {
                for debt in 0..4 {
                    let other = vec![wage, row[1], job, grade, row[4], debt];
                    let differs = |place: &usize| row[*place] != other[*place];
                    let changed: Vec<usize> = (0..6).filter(differs).collect();
                    if !changed.iter().any(|place| fixed.contains(place)) && one_class(&other) {
                        let parts = changed.iter().map(|&at| distance(at, row[at], other[at]));
                        known.push((changed.clone(), parts.sum(), other));
                    }
                }
            }
        }
    }
    known.sort_by(|a, b| {
        let by_size = a.0.len().cmp(&b.0.len());
        let by_distance = by_size.then(a.1.total_cmp(&b.1)).then(a.0.cmp(&b.0));
        by_distance.then_with(|| {
            let order = |known: &Known| -> Vec<(f64, i32)> {
                let of = |&at: &usize| (distance(at, row[at], known.2[at]), known.2[at]);
                known.0.iter().map(of).collect()
            };
            order(a).partial_cmp(&order(b)).unwrap()
        })
    });
    let mut kept: Vec<Known> = Vec::new();
    for change in known {
        let holds = |other: &Known| other.0.iter().all(|place| change.0.contains(place));
        if !kept.iter().any(holds) {
            kept.push(change);
        }
    }
    kept
}

struct Small {
    schema: Schema,
    layout: InputLayout,
    domain: TabularDomain,
}

impl Small {
    fn new() -> Small {
        let schema = Schema::from_toml(SCHEMA).unwrap();
        let layout = InputLayout::unscaled(&schema.attributes);
        let domain = TabularDomain::new(&schema, &layout, &[1, 4]).unwrap();
        Small {
            schema,
            layout,
            domain,
        }
    }

    fn ask(
        &self,
        model: &Fnn,
        (row, fixed): (&[i32], &[usize]),
        alternatives: usize,
        max_calls: u64,
    ) -> Searched {
        let question = Question {
            model,
            domain: &self.domain,
            row,
            places: &places(&self.schema, &self.domain, row, fixed),
            allows: &|_| Ok(true),
            most_places: usize::MAX,
            alternatives,
            max_calls,
            hint: 3,
        };
        smallest(&question).unwrap()
    }
}

/// Smallest changes are those of an exhaustive search, for every discriminatory one of 40 inputs of
/// 60 random networks, with and without fixed attributes.
#[test]
fn smallest_changes_are_those_of_an_exhaustive_search() {
    let small = Small::new();
    let mut sizes = [0; 5];
    for seed in 0..60 {
        let network = Network::random(small.layout.clone(), &[6, 4], 3, Activation::Tanh, seed);
        let model = Fnn::new(&network, &ComputeDevice::flex());
        for item in 0..40 {
            let row = small.domain.random_input(seed, item);
            let fixed: &[usize] = [&[][..], &[0], &[2, 5]][(item % 3) as usize];
            let known = brute_force(&model, &row, fixed);
            let is_fair = known.first().is_some_and(|first| first.0.is_empty());
            if is_fair {
                continue;
            }
            let all = small.ask(&model, (&row, fixed), 100, u64::MAX);
            assert_eq!(all.ending, Ending::Exhausted);
            let found: Vec<_> = all.found.iter().map(|it| (it.distance, &it.row)).collect();
            let wanted: Vec<_> = known.iter().map(|known| (known.1, &known.2)).collect();
            assert_eq!(found, wanted, "network {seed}, input {item}");
            sizes[known.first().map_or(0, |first| first.0.len())] += 1;
            // Fewer alternatives are the first ones.
            let one = small.ask(&model, (&row, fixed), 1, u64::MAX);
            assert_eq!(one.found.as_slice(), &all.found[..all.found.len().min(1)]);
            // With a budget, what is found is the same, and what is said to be tried holds.
            for budget in [1, 7, 40, 150] {
                let some = small.ask(&model, (&row, fixed), 100, budget);
                assert!(some.calls <= budget);
                assert!(all.found.starts_with(&some.found));
                let next = known.get(some.found.len());
                if some.ending == Ending::Budget {
                    assert!(next.is_none_or(|next| next.0.len() > some.complete));
                }
            }
        }
    }
    assert!(sizes[..3].iter().all(|&inputs| inputs > 3), "{sizes:?}");
}
