//! Whole measurements on made people.

use std::ops::ControlFlow;

use rand::RngExt;
use rand::seq::SliceRandom;

use super::run::{ProxiesSpecification, ProxySearch};
use super::*;
use crate::people::Condition;
use probity_data::schema::Schema;
use probity_data::table::Table;
use probity_run::specification::{Checked, Specification};
use probity_run::stream::{Purpose, stream};
use probity_tensor::device::ComputeDevice;

const OPTIONS: ProxiesOptions = ProxiesOptions {
    folds: 5,
    share: 0.95,
    seed: 1,
};

const SCHEMA: &str = r#"
name = "made"

[label]
name = "y"
classes = ["no", "yes"]

[[attribute]]
name = "sex"
kind = "categorical"
levels = ["f", "m"]
protected = true

[[attribute]]
name = "job"
kind = "categorical"
levels = ["a", "b", "c", "d"]

[[attribute]]
name = "hours"
kind = "integer"
min = 0
max = 99

[[attribute]]
name = "age"
kind = "integer"
min = 0
max = 49
"#;

fn schema() -> Schema {
    Schema::from_toml(SCHEMA).unwrap()
}

/// People: the code of each attribute, and their outcome. What their job is depends on their sex by
/// the share `copied`, nothing else does.
fn people(seed: u64, rows: usize, copied: f64) -> Vec<([i32; 4], u32)> {
    let mut random = stream(seed, Purpose::Synthetic, 0, 1);
    let people = (0..rows).map(|_| {
        let sex = random.random_range(0..2);
        let job = match random.random::<f64>() < copied {
            true => 2 * sex,
            false => random.random_range(0..4),
        };
        let codes = [
            sex,
            job,
            random.random_range(0..100),
            random.random_range(0..50),
        ];
        (codes, random.random_range(0..2))
    });
    people.collect()
}

fn table(people: &[([i32; 4], u32)]) -> Table {
    let codes = people.iter().flat_map(|(codes, _)| *codes).collect();
    Table::new(4, codes, people.iter().map(|(_, label)| *label).collect())
}

/// Measures women against men.
fn measured(people: &[([i32; 4], u32)], options: ProxiesOptions) -> GroupProxies {
    let (table, schema) = (table(people), schema());
    // A model that pays by the job.
    let scores: Vec<f64> = people
        .iter()
        .map(|(codes, label)| f64::from(codes[1]) / 5.0 + f64::from(*label) / 50.0)
        .collect();
    let is_favoured: Vec<bool> = scores.iter().map(|score| *score > 0.3).collect();
    let columns = Columns {
        table: &table,
        schema: &schema,
        places: &[1, 2, 3],
        scores: Some(&scores),
        is_favoured: Some(&is_favoured),
    };
    let condition = Condition {
        attribute: "sex".to_owned(),
        value: "f".to_owned(),
    };
    let is_member: Vec<bool> = people.iter().map(|(codes, _)| codes[0] == 0).collect();
    Sorted::new(&columns, options)
        .group(&[condition], &is_member, &ComputeDevice::flex(), &|_| {
            ControlFlow::Continue(())
        })
        .unwrap()
}

#[test]
fn a_copy_of_the_attribute_tells_it() {
    let mut people = people(1, 300, 1.0);
    for (codes, _) in &mut people {
        codes[1] = codes[0] + 2;
    }
    let found = measured(&people, OPTIONS);
    assert_eq!(found.auc.value, 1.0);
    assert!(found.auc.ci95[0] > 0.9 && found.auc.ci95[1] == 1.0);
    assert_eq!(found.balanced_accuracy.value, 1.0);
    let copy = &found.columns[0];
    assert_eq!((copy.attribute.as_str(), copy.auc.value), ("job", 1.0));
    assert_eq!((copy.bits, copy.share_of_entropy), (found.entropy, 1.0));
    let smallest = found.smallest.unwrap();
    assert_eq!(
        (&smallest.attributes[..], smallest.share),
        (&["job".to_owned()][..], 1.0)
    );
    assert_eq!(found.impact.ratio.unwrap().value, 0.0);
    assert_eq!(found.impact.guarantees[3].ratio, 0.0);
    // The score is the job, and that is the sex.
    assert!(found.explained.unwrap().share.value > 0.95);
}

#[test]
fn columns_that_tell_in_part_are_found_with_what_they_tell() {
    // Of a share c the job is known to be that of the sex: the best area is (1 + c)/2 and more.
    let found = measured(&people(2, 2000, 0.6), OPTIONS);
    let [low, high] = found.auc.ci95;
    // Of two people the job of one says it: P(0 | f) = 0.7, P(0 | m) = 0.1, and the reverse for 2.
    // In order: 0.7·0.9 + 0.2·0.7 + half of what is equal, 0.7·0.1 + 0.2·0.2 + 0.1·0.7.
    let best = 0.7 * 0.9 + 0.2 * 0.7 + (0.7 * 0.1 + 0.2 * 0.2 + 0.1 * 0.7) / 2.0;
    assert!(
        low - 0.03 < best && best < high + 0.03,
        "{low} {high} {best}"
    );
    assert_eq!(found.columns[0].attribute, "job");
    let [low, high] = found.columns[0].auc.ci95;
    assert!(low < best && best < high, "{low} {high} {best}");
    assert!(found.columns[1].share_of_entropy < 0.02);
    assert_eq!(found.smallest.unwrap().attributes, ["job"]);
    let explained = found.explained.unwrap();
    assert_eq!((explained.strata, explained.people), (2, 2000));
    assert!(explained.correlation.value < -0.5);
}

#[test]
fn of_columns_that_tell_nothing_the_interval_holds_a_half() {
    let options = ProxiesOptions {
        folds: 3,
        ..OPTIONS
    };
    let found: Vec<GroupProxies> = (0..100)
        .map(|seed| measured(&people(1000 + seed, 90, 0.0), options))
        .collect();
    let holds = |estimate: &Estimate| (estimate.ci95[0]..=estimate.ci95[1]).contains(&0.5);
    let held = found.iter().filter(|it| holds(&it.auc)).count();
    assert!(held >= 93, "{held} of 100");
    let accuracy = found.iter().filter(|it| {
        let [low, high] = it.balanced_accuracy.ci95;
        (low..=high).contains(&0.5)
    });
    assert!(accuracy.count() >= 93);
    let columns = found.iter().flat_map(|it| &it.columns);
    let held = columns.filter(|column| holds(&column.auc)).count();
    assert!(held >= 275, "{held} of 300");
    // Above a half is as likely as below.
    let above = found.iter().filter(|it| it.auc.value > 0.5).count();
    assert!((30..=70).contains(&above), "{above}");
}

#[test]
fn the_order_of_rows_and_the_number_of_threads_change_nothing() {
    let mut people = people(3, 400, 0.4);
    people.extend_from_within(..60);
    let straight = measured(&people, OPTIONS);
    people.shuffle(&mut stream(9, Purpose::Synthetic, 0, 1));
    assert_eq!(straight, measured(&people, OPTIONS));
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1);
    let alone = alone
        .build()
        .unwrap()
        .install(|| measured(&people, OPTIONS));
    assert_eq!(straight, alone);
    let other = ProxiesOptions { seed: 2, ..OPTIONS };
    assert_ne!(straight, measured(&people, other));
}

#[test]
fn a_group_of_one_has_an_answer_with_a_wide_interval() {
    let mut people = people(4, 60, 0.5);
    for (place, (codes, _)) in people.iter_mut().enumerate() {
        codes[0] = i32::from(place > 0);
    }
    let found = measured(&people, OPTIONS);
    assert_eq!((found.members, found.others), (1, 59));
    assert!(found.auc.ci95[0] < 0.1 && found.auc.ci95[1] > 0.9);
    assert!(found.smallest.is_none());
}

#[test]
fn a_stop_is_one() {
    let people = people(5, 100, 0.5);
    let (table, schema) = (table(&people), schema());
    let columns = Columns {
        table: &table,
        schema: &schema,
        places: &[1, 2, 3],
        scores: None,
        is_favoured: None,
    };
    let is_member: Vec<bool> = people.iter().map(|(codes, _)| codes[0] == 0).collect();
    let sorted = Sorted::new(&columns, OPTIONS);
    let stopped = sorted.group(&[], &is_member, &ComputeDevice::flex(), &|_| {
        ControlFlow::Break(())
    });
    assert!(stopped.unwrap_err().to_string().starts_with("interrupted"));
}

/// A specification of people in a file.
fn specified(
    directory: &tempfile::TempDir,
    change: impl FnOnce(&mut ProxiesSpecification),
) -> Checked<ProxiesSpecification> {
    let data = directory.path().join("people.csv");
    let mut rows = "sex,job,hours,age,y\n".to_owned();
    for (codes, label) in people(6, 300, 0.8) {
        let [sex, job, hours, age] = codes;
        let sex = ["f", "m"][sex as usize];
        let job = ["a", "b", "c", "d"][job as usize];
        let label = ["no", "yes"][label as usize];
        rows.push_str(&format!("{sex},{job},{hours},{age},{label}\n"));
    }
    std::fs::write(&data, rows).unwrap();
    let schema = directory.path().join("schema.toml");
    std::fs::write(&schema, SCHEMA).unwrap();
    let mut specification = ProxiesSpecification {
        data,
        schema: Some(schema.to_string_lossy().into_owned()),
        ..ProxiesSpecification::default()
    };
    change(&mut specification);
    specification.check().unwrap()
}

fn searched(
    change: impl FnOnce(&mut ProxiesSpecification),
) -> Result<run::ProxiesSummary, ProxiesError> {
    let directory = tempfile::tempdir().unwrap();
    let specification = specified(&directory, change);
    ProxySearch::open(specification, &ComputeDevice::flex())?.run(&|_, _| ControlFlow::Continue(()))
}

#[test]
fn both_values_of_an_attribute_are_told_alike() {
    // Of two values one is looked at, where none is named: the rarer one.
    let one = searched(|_| {}).unwrap();
    assert_eq!(one.groups.len(), 1);
    assert!(one.groups[0].members <= one.groups[0].others);
    let found = searched(|it| it.protected = vec!["sex=f".to_owned(), "sex=m".to_owned()]);
    let found = found.unwrap();
    assert!(found.groups.contains(&one.groups[0]));
    assert_eq!(found.looked_at, ["job", "hours", "age"]);
    assert!(found.is_label && found.model_sha256.is_none());
    let [f, m] = &found.groups[..] else {
        panic!("two groups")
    };
    assert_eq!(f.members, m.others);
    assert!((f.auc.value - m.auc.value).abs() < 0.02);
    assert!(f.auc.ci95[0] > 0.8 && f.explained.is_none() && f.impact.decided.is_some());
}

#[test]
fn columns_are_chosen_by_name() {
    let found = searched(|it| {
        it.protected = vec!["sex=f".to_owned()];
        it.columns = vec!["age".to_owned(), "hours".to_owned()];
    });
    let found = found.unwrap();
    assert_eq!(found.looked_at, ["hours", "age"]);
    assert_eq!(found.groups.len(), 1);
    assert!(found.groups[0].auc.ci95[0] < 0.5);
    for (column, said) in [("sex", "that is not protected"), ("pay", "pay")] {
        let refused = searched(|it| it.columns = vec![column.to_owned()]).unwrap_err();
        assert!(refused.to_string().contains(said), "{refused}");
    }
}

#[test]
fn of_many_values_some_must_be_named() {
    let refused = searched(|it| it.protected = vec!["age".to_owned()]);
    // Ages are cut into five ranges.
    assert_eq!(refused.unwrap().groups.len(), 5);
    let words: Vec<String> = (0..13).map(|level| format!("\"{level}\"")).collect();
    let directory = tempfile::tempdir().unwrap();
    let specification = specified(&directory, |_| {}).into_inner();
    let schema = SCHEMA.replace("\"a\", \"b\", \"c\", \"d\"", &words.join(", "));
    let rows = (0..130).map(|row| format!("{},{},{row},{row},no\n", ["f", "m"][row % 2], row % 13));
    let rows: String = rows.collect();
    let schema = schema
        .replace("max = 49", "max = 200")
        .replace("max = 99", "max = 200");
    std::fs::write(
        &specification.data,
        format!("sex,job,hours,age,y\n{rows}f,1,1,1,yes\n"),
    )
    .unwrap();
    std::fs::write(directory.path().join("schema.toml"), schema).unwrap();
    let specification = ProxiesSpecification {
        protected: vec!["job".to_owned()],
        ..specification
    };
    let opened = ProxySearch::open(specification.check().unwrap(), &ComputeDevice::flex());
    let refused = opened.map(|_| ()).unwrap_err().to_string();
    assert!(
        refused.starts_with("job has 13 values, and at most 12"),
        "{refused}"
    );
}
