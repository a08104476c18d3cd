use rand::RngExt;

use super::*;
use crate::group::grouping::AttributeGroups;
use probity_run::stream::{Purpose, stream};

/// Two attributes: one of two words with a level for what is missing, one of four words.
fn schema() -> Schema {
    Schema::from_toml(
        "name = \"t\"\n[label]\nname = \"y\"\nclasses = [\"0\", \"1\"]\n\
         [[attribute]]\nname = \"sex\"\nkind = \"categorical\"\nlevels = [\"f\", \"m\"]\nmissing = \"?\"\noutside = \"level\"\n\
         [[attribute]]\nname = \"race\"\nkind = \"categorical\"\nlevels = [\"a\", \"b\", \"c\", \"not said\"]\n",
    )
    .unwrap()
}

fn options(rate: ImpactRate, reason: Option<&str>) -> ImpactOptions {
    ImpactOptions {
        sex: "sex".into(),
        race_ethnicity: "race".into(),
        unknown: vec!["not said".into()],
        rate,
        exclusion_reason: reason.map(str::to_owned),
    }
}

/// Rows among which few are `c`, with probabilities some of which are equal.
fn sample(rows: u64, seed: u64) -> (Table, Outcomes) {
    let (mut codes, mut outcomes) = (Vec::new(), Outcomes::default());
    for row in 0..rows {
        let mut draws = stream(seed, Purpose::Synthetic, row, 3);
        let race = [0, 0, 0, 0, 1, 1, 1, 3][draws.random_range(0..8)];
        let is_rare = draws.random_bool(0.015);
        codes.extend([draws.random_range(0..3), if is_rare { 2 } else { race }]);
        let probability = f64::from(draws.random_range(0..40)) / 40.0;
        outcomes.probability.push(probability);
        outcomes.selected.push(probability >= 0.5);
    }
    (Table::new(2, codes, Vec::new()), outcomes)
}

#[test]
fn figures_are_those_of_the_definition() {
    let schema = schema();
    let names = ["sex", "race"].map(|name| AttributeGroups::new(&schema, name, &[]).unwrap());
    let mut small = 0;
    for (seed, rate) in [ImpactRate::Selection, ImpactRate::Scoring]
        .into_iter()
        .cycle()
        .take(40)
        .enumerate()
    {
        let reason = (seed % 3 > 0).then_some("too few people");
        let (table, outcomes) = sample(300 + seed as u64, seed as u64);
        let options = options(rate, reason);
        let both = options.attributes(&schema).unwrap();
        let report = measure_impact(&outcomes, &table, &both, &options);
        // The median is the value that as many lie below as above.
        let score = |row: usize| outcomes.probability[row];
        if let Some(median) = report.median {
            let below = (0..table.rows()).filter(|&row| score(row) < median).count();
            let above = (0..table.rows()).filter(|&row| score(row) > median).count();
            assert!(2 * below <= table.rows() && 2 * above <= table.rows());
        }
        let is_counted = |row: usize| match report.median {
            Some(median) => score(row) > median,
            None => outcomes.selected[row],
        };
        let value = |row: usize, at: usize| names[at].labels[table.row(row)[at] as usize].clone();
        let is_known = |row: usize, at: usize| {
            value(row, at) != ["(missing)", "not said"][at] && value(row, at) != "?"
        };
        let sides: [&[usize]; 3] = [&[0], &[1], &[0, 1]];
        for (set, sides) in report.sets.iter().zip(sides) {
            let all = 0..table.rows();
            let known = |row: &usize| sides.iter().all(|&at| is_known(*row, at));
            assert_eq!(
                set.unknown,
                all.clone().filter(|row| !known(row)).count() as u64
            );
            assert_eq!(
                set.categories.len(),
                [2, 3, 6][sides[0] + 2 * (sides.len() - 1)]
            );
            let mut rates = Vec::new();
            for category in &set.categories {
                let is_of = |row: &usize| {
                    let values: Vec<String> = sides.iter().map(|&at| value(*row, at)).collect();
                    values == category.values
                };
                let people = all.clone().filter(is_of).count();
                let counted = all
                    .clone()
                    .filter(is_of)
                    .filter(|&row| is_counted(row))
                    .count();
                assert_eq!(
                    (category.rows, category.counted),
                    (people as u64, counted as u64)
                );
                let share = people as f64 / table.rows() as f64;
                assert_eq!(category.share, share);
                let is_out = reason.is_some() && people > 0 && share < 0.02;
                assert_eq!(category.excluded, is_out);
                small += u32::from(is_out);
                let rate = (people > 0).then(|| counted as f64 / people as f64);
                assert_eq!(category.rate.map(|rate| rate.value), rate);
                rates.push(rate.filter(|_| !is_out));
            }
            let highest = rates.iter().flatten().copied().fold(0.0, f64::max);
            for (category, rate) in set.categories.iter().zip(rates) {
                assert_eq!(category.impact_ratio, rate.map(|rate| rate / highest));
            }
        }
    }
    assert!(small > 40, "{small}");
}

#[test]
fn nobody_is_compared_with_nobody() {
    let (schema, options) = (schema(), options(ImpactRate::Scoring, None));
    let both = options.attributes(&schema).unwrap();
    // All scores are alike, so that none is above the median.
    let outcomes = Outcomes {
        probability: vec![0.3; 2],
        selected: vec![true; 2],
        ..Outcomes::default()
    };
    let table = Table::new(2, vec![0, 0, 1, 1], Vec::new());
    let report = measure_impact(&outcomes, &table, &both, &options);
    assert_eq!(report.median, Some(0.3));
    for category in report.sets.iter().flat_map(|set| &set.categories) {
        assert_eq!(category.rate.is_some(), category.rows > 0);
        assert_eq!(category.impact_ratio, None);
    }
    let empty = Table::new(2, Vec::new(), Vec::new());
    let report = measure_impact(&Outcomes::default(), &empty, &both, &options);
    assert_eq!(report.median, None);
    assert_eq!(report.sets[2].categories[0].share, 0.0);
}

#[test]
fn what_is_no_value_cannot_be_unknown() {
    let mut options = options(ImpactRate::Selection, None);
    options.unknown.push("nto said".into());
    let error = options.attributes(&schema()).err().unwrap().to_string();
    assert_eq!(
        error,
        "impact.unknown is 'nto said', but neither sex nor race has such a value"
    );
}

fn refused(change: impl FnOnce(&mut ImpactSpecification)) -> String {
    let mut specification = ImpactSpecification {
        sex: Some("sex".into()),
        race_ethnicity: Some("race".into()),
        ..ImpactSpecification::default()
    };
    change(&mut specification);
    let rules = specification.rules();
    rules.map_or_else(|error| error.to_string(), |()| String::new())
}

#[test]
fn fields_that_have_no_meaning_are_refused() {
    assert_eq!(refused(|_| {}), "");
    assert_eq!(refused(|it| it.audit_date = Some("2026-02-28".into())), "");
    type Change = fn(&mut ImpactSpecification);
    let cases: [(Change, &str); 7] = [
        (
            |it| it.race_ethnicity = None,
            "impact.race_ethnicity is missing",
        ),
        (|it| it.sex = None, "impact.sex is missing"),
        (
            |it| it.sex = Some("race".into()),
            "another attribute than impact.sex",
        ),
        (
            |it| it.audit_date = Some("2026-02-30".into()),
            "a day such as",
        ),
        (|it| it.distribution_date = Some("soon".into()), "'soon'"),
        (
            |it| it.exclusion_reason = Some(" ".into()),
            "impact.exclusion_reason is empty",
        ),
        (
            |it| {
                it.sex = None;
                it.race_ethnicity = None;
                it.tool = Some("Sorter".into());
            },
            "impact is given, but must be left out",
        ),
    ];
    for (change, says) in cases {
        let message = refused(change);
        assert!(message.contains(says), "{message}");
    }
}
