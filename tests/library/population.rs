//! Shares of rows, and whom they meet, against counts that go row by row and substitution by substitution, without the code under test.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use probity::Schema;
use probity::fairness::domain::TabularDomain;
use probity::fairness::population::{
    GroupOfRows, People, PopulationSummary, Source, Tally, count_people,
};
use probity::nn::encoding::InputLayout;
use probity::nn::{Classifier, ModelError, Rows};
use probity::run::stream::{Purpose, fingerprint, stream};
use rand::RngExt;

const SCHEMA: &str = r#"
name = "people"
[label]
name = "class"
classes = ["no", "maybe", "yes"]
[[attribute]]
name = "sex"
kind = "categorical"
levels = ["f", "m"]
[[attribute]]
name = "job"
kind = "integer"
min = 1
max = 4
[[attribute]]
name = "age"
kind = "integer"
min = 2
max = 16
[[attribute]]
name = "town"
kind = "categorical"
levels = ["a", "b", "c"]
"#;

/// Logits by a hash of the row: of most rows all variants are alike.
struct Hashed(u64);

impl Hashed {
    fn logits_of(&self, row: &[i32]) -> [f32; 3] {
        // Most rows take no notice of their protected values.
        let hash = |row: &[i32]| {
            let codes = row.iter().map(|&code| code as u64);
            fingerprint(codes.chain([self.0]))
        };
        let word = match hash(&row[1..2]) % 3 {
            0 => hash(row),
            _ => hash(&row[1..2]),
        };
        [word % 64, word / 64 % 64, word / 4096 % 64].map(|part| part as f32 / 20.0)
    }
}

impl Classifier for Hashed {
    fn width(&self) -> usize {
        4
    }

    fn classes(&self) -> usize {
        3
    }

    fn logits(&self, rows: Rows<'_>) -> Result<Vec<f32>, ModelError> {
        Ok(rows.iter().flat_map(|row| self.logits_of(row)).collect())
    }
}

/// The first class of the largest logit.
fn class(logits: [f32; 3]) -> usize {
    let largest = logits.iter().copied().fold(f32::MIN, f32::max);
    logits.iter().position(|&logit| logit == largest).unwrap()
}

fn score(logits: [f32; 3], class: usize) -> f64 {
    let parts = logits.map(|logit| f64::from(logit).exp());
    parts[class] / parts.iter().sum::<f64>()
}

fn rows(count: usize, seed: u64) -> Vec<[i32; 4]> {
    let mut draw = stream(seed, Purpose::Synthetic, 0, 0);
    let mut row = || {
        let job = draw.random_range(1..=4);
        let [sex, age] = [draw.random_range(0..2), draw.random_range(2..=16)];
        [sex, job, age, draw.random_range(0..3)]
    };
    (0..count).map(|_| row()).collect()
}

fn counted(model: &dyn Classifier, people: &People<'_>) -> Tally {
    let all = 0..people.individuals();
    let go_on = &mut |_| ControlFlow::Continue(());
    count_people(model, people, all, go_on).unwrap().unwrap()
}

/// All values of `attribute`.
fn values(attribute: usize) -> std::ops::RangeInclusive<i32> {
    [0..=1, 1..=4, 2..=16, 0..=2][attribute].clone()
}

#[test]
fn shares_directions_groups_and_moves_are_those_of_a_count_row_by_row() {
    let schema = Schema::from_toml(SCHEMA).unwrap();
    let layout = InputLayout::unscaled(&schema.attributes);
    let mut seen = [0_u64; 5];
    for seed in 0..12 {
        // In another order than that of the schema.
        let protected = [vec![2, 0], vec![0], vec![0, 2, 3]][seed as usize % 3].clone();
        let domain = TabularDomain::new(&schema, &layout, &protected).unwrap();
        let (rows, model, good) = (rows(400, seed), Hashed(seed), seed as usize % 3);
        let all: Vec<&[i32]> = rows.iter().map(|row| &row[..]).collect();
        let source = (Source::default(), all.into());
        let people = People::new((&schema, &domain), source, good).unwrap();
        let tally = counted(&model, &people);
        assert!(tally.is_of(&people) && people.individuals() < people.rows());
        let found = PopulationSummary::new(&people, &tally);

        let mut sets: Vec<Vec<usize>> = protected.iter().map(|&one| vec![one]).collect();
        if protected.len() > 1 {
            sets.push(protected.clone());
        }
        let variants = |row: &[i32; 4], set: &[usize]| {
            set.iter().fold(vec![*row], |rows, &at| {
                let each = rows.iter().flat_map(|row| {
                    values(at).map(|value| {
                        let mut other = *row;
                        other[at] = value;
                        other
                    })
                });
                each.collect()
            })
        };
        let of = |row: &[i32; 4]| class(model.logits_of(row));
        let flips = |row: &&[i32; 4], set: &[usize]| {
            variants(row, set).iter().any(|other| of(other) != of(row))
        };
        for (set, share) in sets.iter().zip(&found.shares) {
            let names: Vec<&str> = set.iter().map(|&at| &*schema.attributes[at].name).collect();
            assert_eq!(share.protected, names);
            let count = rows.iter().filter(|row| flips(row, set)).count() as u64;
            assert_eq!((share.discriminatory, share.sampled), (count, 400));
        }
        assert_eq!(found.shares.len(), sets.len());

        let near = |row: &[i32; 4]| {
            variants(row, &protected)
                .iter()
                .any(|other| of(other) == good)
        };
        let gains = |row: &[i32; 4]| of(row) != good && near(row);
        let loses = |row: &&[i32; 4]| of(row) == good && flips(row, &protected);
        let ways = &found.directions;
        let count =
            |is: &dyn Fn(&[i32; 4]) -> bool| rows.iter().filter(|row| is(row)).count() as u64;
        let joint = found.joint().unwrap().discriminatory;
        assert_eq!(ways.to_favourable.count, count(&gains));
        assert_eq!(ways.from_favourable.count, count(&|row| loses(&row)));
        let all = [
            &ways.to_favourable,
            &ways.from_favourable,
            &ways.between_others,
        ];
        assert_eq!(all.map(|way| way.count).iter().sum::<u64>(), joint);
        for (sum, way) in seen.iter_mut().zip(all) {
            *sum += way.count;
        }

        // Groups: those of one attribute by each value, and they add up.
        for by in &found.groups {
            let sum = |of: fn(&GroupOfRows) -> u64| by.groups.iter().map(of).sum::<u64>();
            assert_eq!((sum(|g| g.rows), sum(|g| g.discriminatory)), (400, joint));
            assert_eq!(sum(|g| g.to_favourable), ways.to_favourable.count);
            assert_eq!(sum(|g| g.from_favourable), ways.from_favourable.count);
            for group in by.groups.iter().filter(|_| by.attributes == ["sex"]) {
                let sex = i32::from(group.values == ["m"]);
                let of_sex: Vec<&[i32; 4]> = rows.iter().filter(|row| row[0] == sex).collect();
                let flip = of_sex.iter().filter(|row| flips(row, &protected)).count();
                assert_eq!(
                    (group.rows, group.discriminatory),
                    (of_sex.len() as u64, flip as u64)
                );
            }
        }
        assert_eq!(found.groups.len(), sets.len());

        // Who would gain or lose as somebody else: each row with each other value. Fifteen ages are in
        // five ranges.
        let ages = found.groups.iter().find(|by| by.attributes == ["age"]);
        let name = |at: usize, code: i32| match at {
            0 => ["f", "m"][code as usize].to_owned(),
            2 => ages.unwrap().groups[(code as usize - 2) / 3].values[0].clone(),
            _ => ["a", "b", "c"][code as usize].to_owned(),
        };
        for (&at, effect) in protected.iter().zip(&found.effects) {
            assert_eq!(effect.attribute, schema.attributes[at].name);
            let groups: BTreeSet<String> = values(at).map(|code| name(at, code)).collect();
            let own = |value: &str| rows.iter().filter(|row| name(at, row[at]) == value).count();
            let becomes = |row: &[i32; 4], to: Option<&str>, is_gain: bool| {
                let twins = variants(row, &[at]).into_iter();
                let mut twins = twins.filter(|twin| to.is_none_or(|to| name(at, twin[at]) == to));
                (of(row) == good) != is_gain && twins.any(|twin| (of(&twin) == good) == is_gain)
            };
            let counted = |from: &str, to: Option<&str>, is_gain: bool| {
                let from = rows.iter().filter(|row| name(at, row[at]) == from);
                from.filter(|row| becomes(row, to, is_gain)).count() as u64
            };
            assert_eq!(effect.values.len(), groups.len());
            assert_eq!(effect.exchanges.len(), groups.len() * (groups.len() - 1));
            for value in &effect.values {
                let all = own(&value.value) as u64;
                assert_eq!(value.inputs, all);
                let [gain, lose] = [true, false].map(|way| counted(&value.value, None, way));
                assert_eq!([value.gain.count, value.lose.count], [gain, lose]);
                let others = groups.iter().filter(|to| **to != value.value);
                let nets = others.map(|to| {
                    let [gain, lose] =
                        [true, false].map(|way| counted(&value.value, Some(to), way) as f64);
                    (gain - lose) / all as f64
                });
                let net = nets.sum::<f64>() / (groups.len() - 1) as f64;
                assert!((value.net - net).abs() < 1e-12, "{value:?} {net}");
                seen[4] += gain + lose;
            }
            for exchange in &effect.exchanges {
                assert_ne!(exchange.from, exchange.to);
                assert_eq!(exchange.inputs, own(&exchange.from) as u64);
                let found =
                    [true, false].map(|way| counted(&exchange.from, Some(&exchange.to), way));
                assert_eq!([exchange.gain.count, exchange.lose.count], found);
            }
        }
        assert_eq!(found.effects.len(), protected.len());
        for by in &found.groups {
            let favoured = by.groups.iter().map(|group| group.favoured.unwrap());
            assert_eq!(favoured.sum::<u64>(), count(&|row| of(row) == good));
            for group in by.groups.iter().filter(|_| by.attributes == ["sex"]) {
                let sex = i32::from(group.values == ["m"]);
                let own = count(&|row| row[0] == sex && of(row) == good);
                assert_eq!(group.favoured, Some(own));
            }
        }

        let mut moves: Vec<f64> = rows
            .iter()
            .map(|row| {
                let own = score(model.logits_of(row), good);
                let others = variants(row, &protected).into_iter();
                let away = others.map(|other| (score(model.logits_of(&other), good) - own).abs());
                away.fold(0.0, f64::max)
            })
            .collect();
        moves.sort_by(f64::total_cmp);
        let mean = moves.iter().sum::<f64>() / 400.0;
        assert!((found.changes.mean - mean).abs() < 1e-6);
        assert!((f64::from(found.changes.largest) - moves[399]).abs() < 1e-6);
        for quantile in &found.changes.quantiles {
            let exact = moves[(quantile.share * 400.0).ceil() as usize - 1];
            let over = f64::from(quantile.change) - exact;
            assert!((-1e-6..=0.001_001).contains(&over), "{quantile:?} {exact}");
        }
        assert_eq!(found.changes.bins.iter().sum::<u64>(), 400);
        let far = moves.iter().filter(|&&change| change > 0.500_001).count() as u64;
        assert_eq!(found.changes.bins[10..].iter().sum::<u64>(), far);
        seen[3] += far;
    }
    assert!(seen.iter().all(|&count| count > 20), "{seen:?}");
}

#[test]
fn counts_are_the_same_in_any_number_of_pieces() {
    let schema = Schema::from_toml(SCHEMA).unwrap();
    let layout = InputLayout::unscaled(&schema.attributes);
    let domain = TabularDomain::new(&schema, &layout, &[0, 2]).unwrap();
    let (rows, model) = (rows(300, 7), Hashed(7));
    let every: Vec<&[i32]> = rows.iter().map(|row| &row[..]).collect();
    let source = || (Source::default(), every.clone().into());
    let people = People::new((&schema, &domain), source(), 2).unwrap();
    let whole = counted(&model, &people);
    let (all, go_on) = (people.individuals(), &mut |_| ControlFlow::Continue(()));
    let pieces = [0, 1, 5, all]
        .windows(2)
        .map(|ends| ends[0]..ends[1])
        .collect::<Vec<_>>();
    let mut sum = Tally::new(&people);
    for piece in pieces {
        assert!(!sum.is_of(&people));
        let part = count_people(&model, &people, piece, go_on)
            .unwrap()
            .unwrap();
        sum = sum.and(&part).unwrap();
    }
    assert_eq!(sum, whole);
    assert!(sum.is_of(&people));
    // What is of other people, or cannot be, is none of these.
    let other = TabularDomain::new(&schema, &layout, &[0]).unwrap();
    let other = People::new((&schema, &other), source(), 2).unwrap();
    assert!(sum.clone().and(&counted(&model, &other)).is_none());
    let twice = whole.clone().and(&whole).unwrap();
    assert!(!twice.is_of(&people));
    let stopped = count_people(&model, &people, 0..all, &mut |_| ControlFlow::Break(()));
    assert_eq!(stopped.unwrap(), None);
}
