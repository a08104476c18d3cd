//! Whose decisions change, of the rows of the data: by the command, against a count of its own.

use crate::probity_command::refusal::refuses;
use crate::probity_command::{Workspace, figures};
use probity::Model;
use probity::data::table::{Labels, Table};
use probity::nn::fnn::Fnn;
use probity::nn::provenance::Provenance;
use probity::nn::{Classifier, Rows};
use probity::tensor::device::ComputeDevice;
use probity::unlearning::spn::model::SpnModel;
use probity_testing::data;
use serde_json::{Value, json};

const QUICK: &str = "--seeds 5 --local 2 --estimate 100";

/// What a row is, and what becomes of it.
struct Counted {
    row: Vec<i32>,
    flips: bool,
    class: usize,
    classes: Vec<usize>,
}

/// Every row of `data` whose values of `protected` are known, with every combination of such values,
/// one at a time.
fn count(model: &Model, data: &Table, protected: &[usize]) -> Vec<Counted> {
    let network = Fnn::new(&model.network, &ComputeDevice::flex());
    let class = |codes: &[i32]| -> Vec<usize> {
        let logits = network.logits(Rows::new(codes, data.width())).unwrap();
        let each = logits.chunks_exact(network.classes());
        let largest = |of: &[f32]| (0..of.len()).rev().max_by(|&a, &b| of[a].total_cmp(&of[b]));
        each.map(|of| largest(of).unwrap()).collect()
    };
    let own = class(data.codes());
    let mut counted = Vec::new();
    for (number, &own) in own.iter().enumerate() {
        let row = data.row(number);
        let unknown = |&place: &usize| model.schema.attributes[place].unknown() == Some(row[place]);
        if protected.iter().any(unknown) {
            continue;
        }
        let mut others = vec![row.to_vec()];
        for &place in protected {
            let attribute = &model.schema.attributes[place];
            let (min, max) = attribute.domain();
            others = (min..=max)
                .filter(|&code| attribute.unknown() != Some(code))
                .flat_map(|code| {
                    others.iter().map(move |row| {
                        let mut row = row.clone();
                        row[place] = code;
                        row
                    })
                })
                .collect();
        }
        let classes = class(&others.concat());
        counted.push(Counted {
            flips: classes.iter().any(|&class| class != own),
            row: row.to_vec(),
            class: own,
            classes,
        });
    }
    counted
}

/// Holds the figures of `population` against the count, by all of `protected` jointly.
fn expect(population: &Value, counted: &[Counted], favourable: usize) -> u64 {
    let number = |is: &dyn Fn(&Counted) -> bool| counted.iter().filter(|one| is(one)).count();
    let joint = population["shares"].as_array().unwrap().last().unwrap();
    let flips = number(&|one| one.flips);
    assert_eq!(joint["discriminatory"], flips);
    assert_eq!(joint["sampled"], counted.len());
    let ways = &population["directions"];
    let gains = number(&|one| one.class != favourable && one.classes.contains(&favourable));
    let loses = number(&|one| one.class == favourable && one.flips);
    assert_eq!(ways["to_favourable"]["count"], gains);
    assert_eq!(ways["from_favourable"]["count"], loses);
    assert_eq!(ways["between_others"]["count"], flips - gains - loses);
    for by in population["groups"].as_array().unwrap() {
        for (key, all) in [
            ("rows", counted.len()),
            ("discriminatory", flips),
            ("to_favourable", gains),
            ("from_favourable", loses),
        ] {
            let groups = by["groups"].as_array().unwrap().iter();
            let sum: u64 = groups.map(|group| group[key].as_u64().unwrap()).sum();
            assert_eq!(sum, all as u64, "{key} {}", by["attributes"]);
        }
    }
    let bins = population["changes"]["bins"].as_array().unwrap().iter();
    let rows: u64 = bins.map(|bin| bin.as_u64().unwrap()).sum();
    assert_eq!(rows, counted.len() as u64);
    flips as u64
}

/// A training leaves rows without an outcome out before it deals the others.
#[test]
fn the_test_part_is_that_of_the_training_where_outcomes_are_missing() {
    let workspace = Workspace::with_demo(1500);
    let demo = Model::load(workspace.path("demo/model")).unwrap();
    let text = workspace.read("demo/people.csv");
    let mut lines = text.lines();
    let header = lines.next().unwrap();
    let label = |name: &str| name == demo.schema.label.name;
    let label = header.split(',').position(label).unwrap();
    let is_known = |row: usize| row % 4 != 1;
    let rows = lines.enumerate().map(|(row, line)| {
        let mut cells: Vec<&str> = line.split(',').collect();
        if !is_known(row) {
            cells[label] = "?";
        }
        cells.join(",") + "\n"
    });
    let gaps = format!("{header}\n{}", rows.collect::<String>());
    workspace.write("gaps.csv", gaps);
    workspace
        .line("train --data gaps.csv --schema synthetic-census --hidden 8 --epochs 3 --out gaps")
        .exits(0);
    let model = Model::load(workspace.path("gaps")).unwrap();
    let trained = Provenance::read(&workspace.path("gaps"), &model.sha256());
    let trained = trained.unwrap().unwrap().specification;
    let known: Vec<u32> = (0..1500).filter(|&row| is_known(row as usize)).collect();
    let test = trained.split(known.len()).test.into_iter();
    let test: Vec<u32> = test.map(|place| known[place as usize]).collect();
    let people = Table::read(workspace.path("gaps.csv"), &model.schema, Labels::Optional);
    let places = ["sex", "origin"].map(|name| model.schema.index_of(name).unwrap());
    let counted = count(&model, &people.unwrap().select(&test), &places);
    workspace
        .line(&format!(
            "audit --model gaps --data gaps.csv --protected sex,origin {QUICK} --part test --out part"
        ))
        .exits(0);
    let part = &workspace.summary("part")["population"];
    assert_eq!(part["rows"], test.len());
    expect(part, &counted, 1);
}

/// Whoever has a protected value that is not known is in no group, and nobody becomes like them.
#[test]
fn people_whose_value_is_not_known_count_on_neither_side() {
    let workspace = Workspace::new();
    let rows = (0..400).map(|row| {
        let (age, sex) = (20 + row * 7 % 40, ["F", "M"][row % 2]);
        let pay = if age + 9 * (row % 2) > 45 {
            "high"
        } else {
            "low"
        };
        let told = if row % 80 == 9 { "" } else { sex };
        let job = ["clerk", "nurse", "smith"][row * 5 % 3];
        format!("{age},{told},{job},{pay}\n")
    });
    let rows: String = rows.collect();
    workspace.write("people.csv", format!("age,sex,job,pay\n{rows}"));
    workspace
        .line("schema infer people.csv --label-column pay --protected sex --out people.toml")
        .exits(0);
    workspace
        .line("train --data people.csv --schema people.toml --hidden 8 --epochs 60 --seed 3 --out model")
        .exits(0);
    let model = Model::load(workspace.path("model")).unwrap();
    let sex = model.schema.index_of("sex").unwrap();
    assert!(model.schema.attributes[sex].unknown().is_some());
    let audit = "audit --model model --data people.csv --favourable high";
    workspace
        .line(&format!(
            "{audit} --seeds 100 --local 20 --estimate 500 --samples csv --out all"
        ))
        .exits(0)
        .says(&["5 rows whose sex is missing, or no value of the schema, count on neither side."]);
    let all = workspace.summary("all");
    let population = &all["population"];
    assert_eq!(
        population["unknown"],
        json!({"rows": 5, "attributes": ["sex"]})
    );
    assert_eq!(population["rows"], 395);
    let people = Table::read(
        workspace.path("people.csv"),
        &model.schema,
        Labels::Optional,
    );
    let counted = count(&model, &people.unwrap(), &[sex]);
    assert!(expect(population, &counted, 1) > 0);
    let groups = population["groups"][0]["groups"].as_array().unwrap();
    let names: Vec<&Value> = groups.iter().map(|group| &group["values"][0]).collect();
    assert_eq!(names, ["F", "M"]);
    // The pairs that a search finds are of people whose value is known.
    let samples = workspace.read("all/samples.csv");
    let mut lines = samples.lines();
    let header = lines.next().unwrap().split(',');
    let places: Vec<usize> = header
        .enumerate()
        .filter(|(_, name)| name.contains("sex"))
        .map(|(place, _)| place)
        .collect();
    assert!(places.len() >= 2, "{samples}");
    let mut pairs = 0;
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        assert!(
            places
                .iter()
                .all(|&place| ["F", "M"].contains(&cells[place])),
            "{line}"
        );
        pairs += 1;
    }
    assert!(pairs > 0);
    workspace.line("verify all").exits(0);
    // A certificate is about those values, too.
    workspace
        .line("certify --model model --data people.csv --exhaustive --out certified")
        .exits(0)
        .says(&["5 rows whose sex is missing, or no value of the schema, count on neither side."]);
    let certified = workspace.summary("certified");
    let fair = counted.iter().filter(|one| !one.flips).count();
    assert_eq!(certified["sets"][0]["inputs"], 395);
    assert_eq!(certified["sets"][0]["fair"]["count"], fair);
    // Those without a value are not drawn, either.
    workspace
        .line(&format!(
            "{audit} --seeds 5 --local 2 --estimate 50 --population-rows 395 --out drawn"
        ))
        .exits(0);
    let drawn = &workspace.summary("drawn")["population"];
    assert_eq!(drawn["shares"], population["shares"]);
    assert_eq!([&drawn["rows"], &drawn["unknown"]["rows"]], [395, 5]);
    refuses(
        &workspace,
        "explain --model model --data people.csv --row 10",
        2,
        &["--protected is sex", "unlike those of sex"],
    );
}

#[test]
fn the_share_of_the_rows_is_that_of_a_count_for_any_rows() {
    let workspace = Workspace::with_demo(3000);
    let model = Model::load(workspace.path("demo/model")).unwrap();
    let places = ["sex", "origin"].map(|name| model.schema.index_of(name).unwrap());
    let read =
        |name: &str| Table::read(workspace.path(name), &model.schema, Labels::Optional).unwrap();
    let people = read("demo/people.csv");
    let audit =
        format!("audit --model demo/model --data demo/people.csv --protected sex,origin {QUICK}");
    workspace
        .line(&format!("{audit} --out all"))
        .exits(0)
        .says(&[
            "when only sex or origin is changed",
            "of the rows of the data get another decision",
            "By sex, ‘female’ is at a disadvantage: as ‘male’, ",
        ]);
    let all = workspace.summary("all");
    let counted = count(&model, &people, &places);
    let flips = expect(&all["population"], &counted, 1);
    assert!(flips > 100, "{flips}");
    // Each attribute alone.
    for (place, share) in places
        .iter()
        .zip(all["population"]["shares"].as_array().unwrap())
    {
        let alone = count(&model, &people, &[*place]);
        let flips = alone.iter().filter(|one| one.flips).count();
        assert_eq!(share["discriminatory"], flips);
    }
    // Who is affected.
    let sexes = &all["population"]["groups"][0];
    assert_eq!(sexes["attributes"], json!(["sex"]));
    for group in sexes["groups"].as_array().unwrap() {
        let sex = model.schema.attributes[places[0]].lowest(0) == group["values"][0];
        let of = counted
            .iter()
            .filter(|one| (one.row[places[0]] == 0) == sex);
        assert_eq!(group["discriminatory"], of.filter(|one| one.flips).count());
    }

    // The other class is good to get: the same rows the other way round.
    let first = &model.schema.label.classes[0];
    workspace
        .line(&format!("{audit} --favourable {first} --out other"))
        .exits(0);
    expect(&workspace.summary("other")["population"], &counted, 0);

    // The test part of the model's own training.
    workspace
        .line(&format!("{audit} --part test --out part"))
        .exits(0)
        .says(&["of the rows of the test part get another decision"]);
    let part = &workspace.summary("part")["population"];
    let rows = part["rows"].as_u64().unwrap();
    assert!(
        part["part"] == "test" && (1..3000).contains(&rows),
        "{part}"
    );

    // Another file, of which the search takes no notice.
    let text = workspace.read("demo/people.csv");
    let some: Vec<&str> = text.lines().take(401).collect();
    let twice = [&some[..], &some[1..]].concat().join("\n");
    workspace.write("few.csv", twice + "\n");
    workspace
        .line(&format!("{audit} --population few.csv --out few"))
        .exits(0)
        .says(&["of the rows of the population get another decision"]);
    let few = workspace.summary("few");
    let counted = count(&model, &read("few.csv"), &places);
    assert_eq!(counted.len(), 800);
    expect(&few["population"], &counted, 1);
    assert_eq!(few["fairness"], all["fairness"]);
    assert_eq!(few["population"]["individuals"], {
        let mut free: Vec<Vec<i32>> = counted.iter().map(|one| one.row.clone()).collect();
        for row in &mut free {
            places.iter().for_each(|&place| row[place] = 0);
        }
        free.sort();
        free.dedup();
        free.len()
    });

    // Some of them, and how the bound is held.
    workspace
        .line(&format!(
            "{audit} --population-rows 300 --fail-above 0.9 --out some"
        ))
        .exits(0)
        .says(&[
            "300 of 3,000 among the rows",
            "of 300 of 3,000 rows of the data get another decision",
            "PASS: ",
            "of 300 of 3,000 rows of the data are discriminatory",
            "at most 90.00 % may be",
        ]);
    let some = workspace.summary("some");
    assert_eq!(some["population"]["asked"], 300);
    assert_eq!(some["fail_above"]["on"], "data");
}

#[test]
fn shards_and_resumed_runs_come_to_the_same_shares() {
    let workspace = Workspace::with_demo(600);
    let audit =
        format!("audit --model demo/model --data demo/people.csv --protected sex,origin {QUICK}");
    workspace
        .line(&format!("{audit} --population-rows 500 --out whole"))
        .exits(0);
    let stages = [1, 2];
    for _ in stages {
        for shard in 1..=3 {
            workspace
                .line(&format!(
                    "run whole/run.toml --shard {shard}/3 --out cut.shards"
                ))
                .exits(0);
        }
        workspace.line("merge cut.shards --out cut").exits(0);
    }
    let [whole, cut] = ["whole", "cut"].map(|run| figures(&workspace.summary(run)));
    assert_eq!(whole["population"]["asked"], 500);
    assert_eq!(whole, cut);

    workspace
        .line(&format!(
            "{audit} --population-rows 500 --max-calls 60 --out stopped"
        ))
        .exits(0);
    workspace.line("audit --resume --out stopped").exits(0);
    let resumed = workspace.summary("stopped");
    assert_eq!(resumed["population"], whole["population"]);
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let workspace = Workspace::with_demo(400);
    let audit = "audit --model demo/model --data demo/people.csv --protected sex --out refused";
    let header = workspace
        .read("demo/people.csv")
        .lines()
        .next()
        .unwrap()
        .to_owned();
    workspace.write("empty.csv", format!("{header}\n"));
    workspace.write("columns.csv", "a,b\n1,2\n");
    let row = workspace
        .read("demo/people.csv")
        .lines()
        .nth(1)
        .unwrap()
        .to_owned();
    let sex = header.split(',').position(|name| name == "sex").unwrap();
    let mut cells: Vec<&str> = row.split(',').collect();
    cells[sex] = "neither";
    workspace.write("outside.csv", format!("{header}\n{}\n", cells.join(",")));
    workspace.write("texts.txt", "a woman\n");
    for (options, needles) in [
        ("--population empty.csv", &["empty.csv"][..]),
        ("--population columns.csv", &["columns.csv"]),
        ("--population outside.csv", &["outside.csv", "neither"]),
        ("--population none.csv", &["none.csv"]),
        (
            "--population demo/people.csv --part test",
            &[
                "--part is given",
                "no meaning for rows of a file of their own",
            ],
        ),
        (
            "--favourable perhaps",
            &["--favourable is 'perhaps'", "one of the classes"],
        ),
        ("--bound uniform", &["--bound is given", "fail_above"]),
        ("--population-rows 0", &["--population-rows"]),
        (
            "--part test --data few.csv",
            &["few.csv is not the file that the model was trained on"],
        ),
    ] {
        let line = match options.contains("few.csv") {
            true => {
                workspace.write("few.csv", format!("{header}\n{row}\n"));
                "audit --model demo/model --data few.csv --part test --protected sex --out refused"
                    .to_owned()
            }
            false => format!("{audit} {options}"),
        };
        refuses(&workspace, &line, 2, needles);
    }
    let texts = "audit --model demo/model --texts texts.txt --fail-above 0.1 --out refused";
    refuses(
        &workspace,
        &format!("{texts} --bound uniform"),
        2,
        &["--bound is uniform", "texts"],
    );
}

/// The census of the ADF paper, by three attributes of 90 combinations together.
#[test]
fn all_rows_of_the_census_are_counted_as_by_a_count_of_its_own() {
    let Some(folder) = data(&["adf/census.csv.gz"]) else {
        return;
    };
    let file = folder.join("adf/census.csv.gz");
    let file = file.display();
    let workspace = Workspace::new();
    workspace
        .line(&format!(
            "train --data {file} --schema adf-census --outside clip --epochs 2 --out model"
        ))
        .exits(0);
    workspace
        .line(&format!(
            "audit --model model --data {file} --protected sex,race,age {QUICK} --out audit"
        ))
        .exits(0);
    let model = Model::load(workspace.path("model")).unwrap();
    let places = ["sex", "race", "age"].map(|name| model.schema.index_of(name).unwrap());
    let table = Table::read(
        folder.join("adf/census.csv.gz"),
        &model.schema,
        Labels::Optional,
    );
    let counted = count(&model, &table.unwrap(), &places);
    assert_eq!(counted.len(), 32_561);
    expect(&workspace.summary("audit")["population"], &counted, 1);
}

/// The last column of the samples.
fn plausibilities(workspace: &Workspace, run: &str) -> Vec<f64> {
    let samples = workspace.read(&format!("{run}/samples.csv"));
    let mut lines = samples.lines();
    assert!(lines.next().unwrap().ends_with(",changed,plausibility"));
    let last = |line: &str| line.rsplit(',').next().unwrap().parse().unwrap();
    lines.map(last).collect()
}

#[test]
fn pairs_are_graded_by_the_rows_and_left_out_below_a_bound() {
    let workspace = Workspace::with_demo(1500);
    let audit = "audit --model demo/model --data demo/people.csv --protected sex --seeds 40 \
                 --local 30 --estimate 50 --samples csv";
    workspace
        .line(&format!("{audit} --plausibility fit --out all"))
        .exits(0)
        .says(&["A sum-product network of 1,500 rows grades each pair"]);
    let summary = workspace.summary("all");
    let (graded, all) = (&summary["plausibility"], plausibilities(&workspace, "all"));
    assert_eq!(graded["rows"], 1500);
    assert_eq!(graded["pairs"], all.len());
    assert_eq!(summary["total"]["discriminatory_rows"], all.len());
    let plausible = all.iter().filter(|&&share| share >= 0.05).count();
    assert_eq!(graded["plausible"], plausible);
    assert!(
        0 < plausible && plausible < all.len(),
        "{plausible} of {}",
        all.len()
    );
    let first = all.iter().filter(|&&share| share < 0.05).count();
    assert_eq!(graded["bins"][0], first);
    // Inputs are drawn from the network as well, as many as uniformly.
    let drawn = &graded["estimate"];
    assert_eq!(
        (&drawn["sampled"], &drawn["protected"]),
        (&json!(50), &json!(["sex"]))
    );
    assert_eq!(summary["fairness"].as_array().unwrap().len(), 1);

    // Some are left out; the others are as before, and everything that reads samples knows.
    workspace
        .line(&format!(
            "{audit} --plausibility fit --min-plausibility 0.05 --out some"
        ))
        .exits(0)
        .says(&["Less plausible than asked for"]);
    let kept = plausibilities(&workspace, "some");
    let expected: Vec<f64> = all.iter().copied().filter(|&share| share >= 0.05).collect();
    assert_eq!(kept, expected);
    let left_out = &workspace.summary("some")["plausibility"]["left_out"];
    assert_eq!(*left_out, all.len() - kept.len());
    workspace.line("verify some").exits(0);
    workspace.line("report some --out some.html").exits(0);

    // A network that was learnt before, which knows the protected attribute and the label, too.
    workspace
        .line("spn fit --data demo/people.csv --schema synthetic-census --out network")
        .exits(0);
    workspace
        .line(&format!("{audit} --plausibility network --out other"))
        .exits(0);
    let other = plausibilities(&workspace, "other");
    let model = SpnModel::load(&workspace.path("network")).unwrap();
    let network = model.spn.network();
    let density = |cells: &[(&str, &str)]| {
        let known = cells
            .iter()
            .filter(|(name, _)| !["sex", "income"].contains(name));
        network.log_density(&network.evidence(known.copied()).unwrap())
    };
    let people = workspace.read("demo/people.csv");
    let mut lines = people
        .lines()
        .map(|line| line.split(',').collect::<Vec<_>>());
    let names = lines.next().unwrap();
    let cells = |line: Vec<&str>| density(&names.iter().copied().zip(line).collect::<Vec<_>>());
    let real: Vec<f64> = lines.map(cells).collect();
    let samples = workspace.read("other/samples.csv");
    let mut lines = samples
        .lines()
        .map(|line| line.split(',').collect::<Vec<_>>());
    let columns = lines.next().unwrap();
    for (line, share) in lines.zip(&other).step_by(7) {
        let own = columns.iter().zip(&line).filter_map(|(name, cell)| {
            let name = name.strip_prefix("x_")?;
            Some((name, *cell))
        });
        let own = density(&own.collect::<Vec<_>>());
        let below = real.iter().filter(|&&real| real <= own).count();
        assert!((below as f64 / 1500.0 - share).abs() < 1e-6);
    }

    workspace
        .line("spn fit --data demo/people.csv --schema synthetic-census --ignore region --out less")
        .exits(0);
    for (options, needles) in [
        (
            "--min-plausibility 0.1",
            &["--min-plausibility", "--plausibility"][..],
        ),
        (
            "--stay-plausible",
            &["--stay-plausible is given", "--plausibility"],
        ),
        (
            "--plausibility fit --stay-plausible --strategy sg",
            &["--stay-plausible", "no meaning for the strategy sg"],
        ),
        ("--plausibility less", &["less", "'region'"]),
        ("--plausibility nowhere", &["nowhere"]),
        (
            "--plausibility fit --min-plausibility 2",
            &["--min-plausibility is 2"],
        ),
    ] {
        refuses(
            &workspace,
            &format!("{audit} {options} --out refused"),
            2,
            needles,
        );
    }
}

/// Whatever the strategy: all that it finds is plausible, and it finds the same in shards and when it
/// was interrupted.
#[test]
fn searches_stay_where_the_data_are() {
    let workspace = Workspace::with_demo(1500);
    let audit = "audit --model demo/model --data demo/people.csv --protected sex,origin --seeds 60 \
                 --local 40 --estimate 3000 --samples csv --plausibility fit";
    for strategy in ["frontier", "adf", "eidig", "adf-zero-order", "random-walk"] {
        let audit = format!("{audit} --strategy {strategy}");
        workspace
            .line(&format!("{audit} --out {strategy}"))
            .exits(0);
        let anywhere = plausibilities(&workspace, strategy);
        assert!(anywhere.iter().any(|&share| share < 0.05));
        let audit = format!("{audit} --stay-plausible");
        let whole = format!("{strategy}-whole");
        workspace
            .line(&format!("{audit} --out {whole} --verbose"))
            .exits(0)
            .says(&["drawn from this network"]);
        let kept = plausibilities(&workspace, &whole);
        assert!(kept.iter().all(|&share| share >= 0.05) && kept.len() > 100);
        // Batches and shards change nothing, nor does an interruption.
        let same = |other: &str| {
            let [one, two] = [&whole, other].map(|run| figures(&workspace.summary(run)));
            assert_eq!(one, two);
            let [one, two] =
                [&whole, other].map(|run| workspace.read(&format!("{run}/samples.csv")));
            assert!(one == two, "{other}");
        };
        let small = format!("{strategy}-small");
        workspace
            .line(&format!("{audit} --batch 7 --threads 1 --out {small}"))
            .exits(0);
        same(&small);
        let (folder, cut) = (format!("{strategy}-shards"), format!("{strategy}-cut"));
        for _stage in 1..=2 {
            for shard in 1..=3 {
                workspace
                    .line(&format!(
                        "run {whole}/run.toml --shard {shard}/3 --out {folder}"
                    ))
                    .exits(0);
            }
            workspace
                .line(&format!("merge {folder} --out {cut}"))
                .exits(0);
        }
        same(&cut);
        let stopped = format!("{strategy}-stopped");
        workspace
            .line(&format!("{audit} --max-calls 3000 --out {stopped}"))
            .exits(0);
        workspace
            .line(&format!(
                "audit --resume --max-calls 1000000000 --out {stopped}"
            ))
            .exits(0);
        same(&stopped);
    }
    let bound = "--plausibility fit --stay-plausible --min-plausibility 0.5";
    workspace
        .line(&format!(
            "{} --out high",
            audit.replace("--plausibility fit", bound)
        ))
        .exits(0);
    let kept = plausibilities(&workspace, "high");
    assert!(kept.iter().all(|&share| share >= 0.5) && !kept.is_empty());
    assert_eq!(workspace.summary("high")["plausibility"]["left_out"], 0);
}
