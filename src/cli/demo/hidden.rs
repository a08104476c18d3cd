//! `probity demo hidden`: people whose sex no decision sees, and what each comparison of people finds of
//! what was planted.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use serde::Serialize;

use crate::cli::exit_code::ExitCode;
use crate::cli::fields::absolute;
use crate::cli::output::Output;
use crate::cli::render::{count, percent, table};
use probity::indirect::counterparts::run::{CounterpartTest, CounterpartsSpecification};
use probity::indirect::hidden::{SCHEMA, hidden_person, write_csv};
use probity::indirect::proxies::run::{ProxiesSpecification, ProxySearch};
use probity::indirect::situations::run::{SituationTest, SituationsSpecification};
use probity::run::run_directory::{RunDirectory, write_atomically, write_with};
use probity::run::specification::Specification;
use probity::tensor::device::ComputeDevice;

/// People unless told otherwise.
pub(super) const PEOPLE: u32 = 2_000;

/// The people who are looked at.
const WOMEN: &str = "sex=female";

#[derive(Serialize)]
struct HiddenSummary {
    people: u32,
    seed: u64,
    women: u64,
    /// Women who are not hired, and would be if they were men.
    planted: u64,
    methods: Vec<Method>,
    /// How often a woman is picked out of a woman and a man by the other columns, with its interval.
    proxies: [f64; 3],
}

/// What a method found.
#[derive(Serialize)]
struct Method {
    name: &'static str,
    /// Women who were found.
    found: u64,
    /// The number of them to whom it was done.
    planted: u64,
}

impl Method {
    fn new(name: &'static str, found: &BTreeSet<u32>, planted: &BTreeSet<u32>) -> Method {
        Method {
            name,
            found: found.len() as u64,
            planted: found.intersection(planted).count() as u64,
        }
    }
}

/// Runs `probity demo hidden`.
pub(super) fn run(
    directory: &RunDirectory,
    (rows, seed): (u32, u64),
    device: &ComputeDevice,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    output.remark(&format!("Making {} people …", count(rows.into())));
    let people = || (0..u64::from(rows)).map(|item| hidden_person(seed, item, 1.0));
    let [data, others, schema] = ["people.csv", "others.csv", "people.toml"];
    let [data, others, schema] = [data, others, schema].map(|it| absolute(&directory.file(it)));
    write_with(&data, |out| write_csv(out, people().map(|it| it[0])))?;
    write_with(&others, |out| write_csv(out, people().map(|it| it[1])))?;
    write_atomically(&schema, SCHEMA.as_bytes())?;
    let planted: BTreeSet<u32> = (0..)
        .zip(people())
        .filter(|(_, [one, other])| one.is_female && !one.is_hired() && other.is_hired())
        .map(|(row, _)| row)
        .collect();
    let women = people().filter(|[one, _]| one.is_female).count() as u64;

    output.remark("Comparing them …");
    let go_on = |_: u64, _: u64| ControlFlow::Continue(());
    let schema = schema.display().to_string();
    let mut methods = Vec::new();
    for (name, counterfactuals) in [
        ("counterparts that are given: the truth", Some(&others)),
        ("counterparts by optimal transport", None),
    ] {
        let mut asked = CounterpartsSpecification::default();
        (asked.label, asked.data) = (true, data.clone());
        (asked.schema, asked.protected) = (Some(schema.clone()), vec![WOMEN.to_owned()]);
        asked.counterfactuals = counterfactuals.cloned();
        // Who it is, and not how many there would be among others.
        asked.resamples = counterfactuals.is_none().then_some(0);
        let test = CounterpartTest::open(asked.check()?, device)?;
        let found = test.matchings(&go_on)?;
        let found = found
            .iter()
            .enumerate()
            .flat_map(|(group, found)| test.worse_off(group, &found.matching));
        methods.push(Method::new(name, &found.collect(), &planted));
    }
    for (name, counterfactuals) in [
        ("situations, around the person", None),
        ("situations, around the counterfactual", Some(&others)),
    ] {
        let mut asked = SituationsSpecification::default();
        (asked.label, asked.data) = (true, data.clone());
        (asked.schema, asked.protected) = (Some(schema.clone()), vec![WOMEN.to_owned()]);
        asked.counterfactuals = counterfactuals.cloned();
        let test = SituationTest::open(asked.check()?, device)?;
        let found = test.situations(&go_on)?;
        let found = found.iter().flatten().filter(|it| it.negative.is_discovery);
        methods.push(Method::new(
            name,
            &found.map(|it| it.row).collect(),
            &planted,
        ));
    }
    let mut asked = ProxiesSpecification::default();
    (asked.data, asked.schema) = (data, Some(schema));
    asked.protected = vec![WOMEN.to_owned()];
    let told = ProxySearch::open(asked.check()?, device)?.run(&go_on)?;
    let told = told.groups.first().map_or([0.5, 0.0, 1.0], |group| {
        let [low, high] = group.auc.ci95;
        [group.auc.value, low, high]
    });
    let summary = HiddenSummary {
        people: rows,
        seed,
        women,
        planted: planted.len() as u64,
        methods,
        proxies: told,
    };
    output.summary("demo hidden", &summary, &render(&summary, directory))
}

fn render(summary: &HiddenSummary, directory: &RunDirectory) -> String {
    let rows: Vec<Vec<String>> = summary
        .methods
        .iter()
        .map(|method| {
            vec![
                method.name.to_owned(),
                count(method.found),
                count(method.planted),
                percent(method.planted as f64 / summary.planted.max(1) as f64),
            ]
        })
        .collect();
    let [told, low, high] = summary.proxies.map(percent);
    let path = directory.path().display();
    let names = ["by", "women found", "planted among them", "of all planted"];
    format!(
        "Planted: of {} women, {} ({}) are not hired and would be if they had been men. The rule never sees their sex.\n\n\
         {}\n\
         The other columns tell a woman from a man in {told} of cases (95 % interval {low} – {high}).\n\n\
         What each can see: counterparts that are given are as right as the causal model behind them. Matched ones are the\n\
         men who differ least; where women and men live apart, as here by their hours, these still differ in what sex moved, so\n\
         that most of what was planted is found, and others beside. Situations say in whose place the group fares worse,\n\
         whatever was decided about them: more women than it was done to.\n\n\
         Files: {path} (people.csv, others.csv, people.toml)\n\
         Next:\n  \
         probity situations --label --data {path}/people.csv --schema {path}/people.toml --protected {WOMEN}\n  \
         probity counterparts --label --data {path}/people.csv --schema {path}/people.toml --protected {WOMEN} --counterfactuals {path}/others.csv\n",
        count(summary.women),
        count(summary.planted),
        percent(summary.planted as f64 / summary.women.max(1) as f64),
        table(&names, &rows),
    )
}
