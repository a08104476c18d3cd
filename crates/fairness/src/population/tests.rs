//! The fitted population against all of its inputs.

use std::ops::ControlFlow;
use std::sync::Arc;

use rand::RngExt;

use super::{People, Plausibility, PopulationRows, PopulationSummary, Source, Tally, count_people};
use crate::domain::{Domain, TabularDomain};
use crate::estimate::{Estimate, discriminatory_share};
use probity_data::schema::Schema;
use probity_nn::encoding::InputLayout;
use probity_nn::fnn::{Activation, Fnn, Network};
use probity_nn::{Classifier, ModelError, Rows, predicted_class};
use probity_run::stream::{Purpose, stream};
use probity_tensor::device::ComputeDevice;

const SCHEMA: &str = r#"
name = "tiny"
[label]
name = "class"
classes = ["no", "yes"]
[[attribute]]
name = "wage"
kind = "integer"
min = 3
max = 22
[[attribute]]
name = "sex"
kind = "categorical"
levels = ["f", "m"]
[[attribute]]
name = "job"
kind = "categorical"
levels = ["a", "b", "c"]
[[attribute]]
name = "grade"
kind = "integer"
min = 0
max = 4
"#;

/// 400 people, whose wages go with their grades.
fn people() -> Vec<Vec<i32>> {
    let person = |number| {
        let mut draws = stream(11, Purpose::UniformInput, number, 0);
        let grade = draws.random_range(0..5);
        let wage = 3 + 3 * grade + draws.random_range(0..8);
        let job = draws.random_range(0..3).min(draws.random_range(0..3));
        vec![wage, draws.random_range(0..2), job, grade]
    };
    (0..400).map(person).collect()
}

/// Intervals hold the share that all 300 individuals come to by their probabilities, in about 95 %
/// of 400 estimates and by their construction in no fewer.
#[test]
fn intervals_hold_the_share_of_the_fitted_population() {
    let schema = Schema::from_toml(SCHEMA).unwrap();
    let layout = InputLayout::unscaled(&schema.attributes);
    let domain = TabularDomain::new(&schema, &layout, &[1]).unwrap();
    let people = people();
    let rows: Vec<&[i32]> = people.iter().map(Vec::as_slice).collect();
    let fitted = Arc::new(Plausibility::learnt(&schema, domain.free(), &rows, 1).unwrap());
    let mut individuals = Vec::new();
    for wage in 3..=22 {
        for job in 0..3 {
            individuals.extend((0..5).map(|grade| vec![wage, 0, job, grade]));
        }
    }
    let rows: Vec<&[i32]> = individuals.iter().map(Vec::as_slice).collect();
    let densities = fitted.densities(&rows).into_iter();
    let probabilities: Vec<f64> = densities.map(f64::exp).collect();
    assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    let drawn_from = domain.clone().drawn_from(Arc::clone(&fitted));
    let (mut covered, mut all, mut found, mut wanted) = (0, 0, 0.0, 0.0);
    for number in 0..8 {
        let network = Network::random(layout.clone(), &[6], 2, Activation::Tanh, number);
        let model = Fnn::new(&network, &ComputeDevice::flex());
        let flips = |row: &Vec<i32>| {
            let other = [row[0], 1, row[2], row[3]];
            let logits = model.logits(Rows::new(&[&row[..], &other].concat(), 4));
            let logits = logits.unwrap();
            predicted_class(&logits[..2]) != predicted_class(&logits[2..])
        };
        let each = individuals.iter().zip(&probabilities);
        let flipping = each.filter(|(row, _)| flips(row));
        let exact: f64 = flipping.map(|(_, probability)| probability).sum();
        for seed in 0..50 {
            let observe = &mut |_| ControlFlow::Continue(());
            let estimate: Estimate =
                discriminatory_share(&model, &drawn_from, vec![], 150, seed, observe).unwrap();
            let [low, high] = estimate.ci95;
            covered += u32::from(low <= exact && exact <= high);
            all += 1;
            found += estimate.rate;
            wanted += exact;
        }
    }
    assert!(wanted > 5.0, "{wanted}");
    assert!(covered * 100 >= all * 93, "{covered} of {all}");
    assert!((found - wanted).abs() < 0.03 * wanted, "{found} {wanted}");
    // An input is the same alone and among others, and what is protected is drawn, too.
    let row = drawn_from.random_input(3, 77);
    assert_eq!(row, drawn_from.random_input(3, 77));
    assert!(drawn_from.contains(&row));
    let sexes = (0..100).map(|item| drawn_from.random_input(3, item)[1]);
    assert!((30..70).contains(&sexes.sum::<i32>()));
}

/// A model that decides everything alike; some attributes move its score a little.
struct Moved(Vec<usize>);

impl Classifier for Moved {
    fn width(&self) -> usize {
        4
    }
    fn classes(&self) -> usize {
        2
    }
    fn logits(&self, rows: Rows<'_>) -> Result<Vec<f32>, ModelError> {
        let by = |row: &[i32]| self.0.iter().map(|&place| row[place]).sum::<i32>();
        let logits = |row: &[i32]| [0.0, 5.0 + row[0] as f32 + 1e-5 * by(row) as f32];
        Ok(rows.iter().flat_map(logits).collect())
    }
}

/// An attribute has no effect where no answer differs by it alone, however little, and in no part of
/// the people.
#[test]
fn attributes_without_effect_are_those_that_no_answer_differs_by() {
    let schema = Schema::from_toml(SCHEMA).unwrap();
    let layout = InputLayout::unscaled(&schema.attributes);
    let domain = TabularDomain::new(&schema, &layout, &[1, 2]).unwrap();
    let rows = people();
    let rows: Vec<&[i32]> = rows.iter().map(Vec::as_slice).collect();
    let source = Source {
        rows: rows.len() as u64,
        ..Source::default()
    };
    let people = People::new((&schema, &domain), (source, rows.into()), 1).unwrap();
    let count = |taken: &[usize], items| {
        let observe = &mut |_| ControlFlow::Continue(());
        let counted = count_people(&Moved(taken.to_vec()), &people, items, observe);
        counted.unwrap().unwrap()
    };
    let all = people.individuals();
    let without = |tally: &Tally| PopulationSummary::new(&people, tally).without_effect;
    for (taken, expected) in [
        (&[][..], &["sex", "job"][..]),
        (&[1], &["job"]),
        (&[2], &["sex"]),
        (&[2, 1], &[]),
    ] {
        let whole = count(taken, 0..all);
        assert!(whole.is_of(&people));
        assert_eq!(without(&whole), expected);
        let parts = [0..all / 3, all / 3..all].map(|items| count(taken, items));
        let [one, other] = parts;
        assert_eq!(one.and(&other).unwrap(), whole);
    }
    // A network takes all, whatever it answers, and its answers are not compared.
    let of_network = people.clone().asked_of_network();
    let observe = &mut |_| ControlFlow::Continue(());
    let counted = count_people(&Moved(Vec::new()), &of_network, 0..all, observe);
    let counted = counted.unwrap().unwrap();
    assert!(counted.is_of(&of_network));
    let summary = PopulationSummary::new(&of_network, &counted);
    assert!(summary.without_effect.is_empty());
    // What one part of the people shows counts for all.
    let [one, other] = [(&[1][..], 0..1), (&[], 1..all)].map(|(taken, items)| count(taken, items));
    assert_eq!(without(&other.and(&one).unwrap()), ["job"]);
}

/// A model that says yes where the number of a row is above a limit of its sex: in its codes all are
/// alike.
struct Finer;

impl Classifier for Finer {
    fn width(&self) -> usize {
        4
    }
    fn classes(&self) -> usize {
        2
    }
    fn logits(&self, rows: Rows<'_>) -> Result<Vec<f32>, ModelError> {
        self.logits_with(rows, &vec![f64::NAN; rows.len()])
    }
    fn logits_with(&self, rows: Rows<'_>, numbers: &[f64]) -> Result<Vec<f32>, ModelError> {
        let limit = |row: &[i32]| [0.5, 0.7][row[1] as usize];
        let pairs = rows.iter().zip(numbers);
        let logits = pairs.flat_map(|(row, &number)| [0.0, (number - limit(row)) as f32]);
        Ok(logits
            .map(|logit| if logit.is_nan() { -1.0 } else { logit })
            .collect())
    }
}

/// Rows that are alike in all codes are decided by their own numbers, in whatever order they stand.
#[test]
fn rows_with_numbers_of_their_own_are_people_of_their_own() {
    let schema = Schema::from_toml(SCHEMA).unwrap();
    let layout = InputLayout::unscaled(&schema.attributes);
    let domain = TabularDomain::new(&schema, &layout, &[1]).unwrap();
    let codes = [[3, 0, 0, 0], [3, 1, 0, 0]];
    for shift in [0, 3, 57] {
        let numbers: Vec<[f64; 1]> = (0..100)
            .map(|at| [((at + shift) % 50) as f64 / 50.0])
            .collect();
        let rows = PopulationRows {
            codes: (0..100).map(|at| &codes[at % 2][..]).collect(),
            places: &[0],
            numbers: numbers.iter().map(|numbers| &numbers[..]).collect(),
        };
        let source = Source {
            rows: 100,
            ..Source::default()
        };
        let people = People::new((&schema, &domain), (source, rows), 1).unwrap();
        assert_eq!(people.individuals(), 50);
        let observe = &mut |_| ControlFlow::Continue(());
        let tally = count_people(&Finer, &people, 0..50, observe).unwrap();
        let summary = PopulationSummary::new(&people, &tally.unwrap());
        let flips = numbers
            .iter()
            .filter(|[number]| *number > 0.5 && *number <= 0.7);
        assert_eq!(summary.shares[0].discriminatory, flips.count() as u64);
    }
}
