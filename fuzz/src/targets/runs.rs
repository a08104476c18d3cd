//! Run directories, as `report` reads them; samples, verdicts, ledgers.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use probity_data::source::Hashed;
use probity_fairness::audit::Audit;
use probity_fairness::certify::run::Certification;
use probity_fairness::certify::table::CertifiableTable;
use probity_fairness::compare::Comparison;
use probity_fairness::group::run::GroupMeasurement;
use probity_fairness::modality::TableCase;
use probity_fairness::repair::{Repair, TableRepair};
use probity_fairness::specification::AuditSpecification;
use probity_knn::run::decide_robustness;
use probity_knn::specification::RobustnessSpecification;
use probity_knn::verdicts::read_verdicts;
use probity_privacy::composition::Budget;
use probity_privacy::ledger;
use probity_privacy::source::{DeclaredTable, TableReading};
use probity_report::Report;
use probity_run::run_directory::RunDirectory;
use probity_run::specification::Specification;
use probity_run::specification::file::Record;
use probity_tensor::device::ComputeDevice;
use serde_json::json;

use super::checkpoints::{checked, repair_of_people};
use super::fixtures::{Make, people_csv};
use super::seals::seal;
use super::tables::OF_PAGES;
use crate::target::{Execution, Input, Seen, Target};

pub const ALL: &[(&str, Make)] = &[
    ("run-audit", run_audit),
    ("run-knn", run_knn),
    ("run-others", run_others),
    ("verdicts", verdicts),
    ("ledger", ledger_file),
];

/// Renders the page, the Markdown and the model card of a run.
fn shown(execution: &Execution<'_>) -> Result<Seen, String> {
    let Ok(report) = Report::read(&[execution.folder.to_owned()]) else {
        return Ok(Seen::Refused);
    };
    let _ = report.to_markdown();
    let _ = report.to_model_card();
    match report.to_html() {
        Ok(page) if page.len() > probity_report::LARGEST_PAGE => {
            Err("the page is longer than pages are".to_owned())
        }
        Ok(_) => Ok(Seen::Accepted),
        Err(_) => Ok(Seen::Refused),
    }
}

fn audit(folder: &Path, format: &str) -> anyhow::Result<Input> {
    let model = folder.join("model");
    std::fs::create_dir_all(&model)?;
    super::fixtures::model()?.save(&model)?;
    let data = folder.join("people.csv");
    std::fs::write(&data, people_csv(20)?)?;
    let specification = AuditSpecification::from_json(&serde_json::json!({
        "model": model,
        "data": data,
        "protected": ["sex", "origin"],
        "estimate": 50,
        "samples_format": format,
        "search": { "seeds": 6, "local": 3, "max_iter": 3 },
    }))?;
    let flex = ComputeDevice::flex();
    let audit: Audit<TableCase<'_>> = Audit::open(specification.check()?, &flex)?;
    let run = RunDirectory::create(&folder.join(format))?;
    audit.run(&run, false, &mut |_| ControlFlow::Continue(()))?;
    Ok(Input::folder(run.path())?)
}

fn run_audit(folder: &Path) -> anyhow::Result<Target> {
    let seeds = vec![audit(folder, "csv")?, audit(folder, "parquet")?];
    let words = &[
        "schema_version",
        "command",
        "ending",
        "total",
        "fairness",
        "rate",
        "null",
    ];
    Ok(Target::new("run-audit", seeds, shown)
        .words(words)
        .sealed_by(seal)
        .memory(1024, OF_PAGES))
}

/// A target that reads run directories of a comparison, certificates, groups and a repair of one
/// model.
fn run_others(folder: &Path) -> anyhow::Result<Target> {
    let go_on = ControlFlow::Continue(());
    let repair = repair_of_people(folder)?;
    let flex = ComputeDevice::flex();
    let of_model = || {
        json!({
            "model": repair["model"],
            "data": repair["data"],
            "protected": ["sex", "origin"],
        })
    };
    let mut fields = of_model();
    fields["strategies"] = json!(["adf", "random-walk"]);
    fields["search"] = json!({ "seeds": 4, "local": 2, "max_iter": 2 });
    let compared = RunDirectory::create(&folder.join("compare"))?;
    let comparison = Comparison::<TableCase>::open(checked(fields)?, &flex)?;
    comparison.run(&compared, false, &mut |_, _, _| go_on)?;

    let mut fields = of_model();
    (fields["modality"], fields["exhaustive"]) = (json!("table"), json!(true));
    let certified = RunDirectory::create(&folder.join("certify"))?;
    let certification = Certification::<CertifiableTable>::open(checked(fields)?)?;
    certification.run(&certified, &mut |_| {})?;

    let grouped = RunDirectory::create(&folder.join("groups"))?;
    let measurement = GroupMeasurement::open(checked(of_model())?, &flex)?;
    grouped.write_run(measurement.specification(), measurement.record())?;
    grouped.write_summary(&measurement.run()?)?;

    let repaired = RunDirectory::create(&folder.join("repair"))?;
    let repair = Repair::<TableRepair>::open(checked(repair)?, &flex)?;
    repair.run(&repaired, false, &|_| go_on)?;

    let runs = [compared, certified, grouped, repaired];
    let seeds = runs.iter().map(|run| Input::folder(run.path()));
    let words = &[
        "schema_version",
        "command",
        "strategies",
        "sets",
        "groups",
        "shares",
        "null",
    ];
    Ok(
        Target::new("run-others", seeds.collect::<Result<_, _>>()?, shown)
            .words(words)
            .sealed_by(seal)
            .memory(1024, OF_PAGES),
    )
}

/// The run directory of a robustness run on a few rows, with verdicts in `format`.
fn knn(folder: &Path, format: &str) -> anyhow::Result<Input> {
    let (train, test) = (folder.join("train.csv"), folder.join("test.csv"));
    std::fs::write(&train, "a,class\n0,x\n0.1,x\n0.2,x\n5,y\n5.1,y\n5.2,y\n")?;
    std::fs::write(&test, "a,class\n0.15,x\n2.6,y\n")?;
    let run = RobustnessSpecification::from_json(&serde_json::json!({
        "train": train,
        "test": test,
        "input": { "label_column": "class" },
        "learning": { "folds": 2, "largest_k": 3 },
        "analysis": { "poison": [1], "verdicts_format": format },
    }))?
    .check()?;
    let inputs = run.input.read(&run.train, &run.test, &run.reading)?;
    let directory = RunDirectory::create(&folder.join(format))?;
    let (record, flex) = (Record::new(), ComputeDevice::flex());
    let stop = AtomicBool::new(false);
    decide_robustness(
        &run,
        &record,
        &inputs,
        &directory,
        &flex,
        &stop,
        &mut |_| {},
    )?;
    Ok(Input::folder(directory.path())?)
}

fn run_knn(folder: &Path) -> anyhow::Result<Target> {
    let seeds = vec![knn(folder, "csv")?, knn(folder, "parquet")?];
    let words = &[
        "schema_version",
        "command",
        "poison",
        "certified",
        "falsified",
        "unknown",
    ];
    Ok(Target::new("run-knn", seeds, shown)
        .words(words)
        .sealed_by(seal)
        .memory(1024, OF_PAGES))
}

fn verdicts(folder: &Path) -> anyhow::Result<Target> {
    let run = knn(folder, "csv")?;
    let seeds = vec![Input::one("verdicts.csv", run.bytes("verdicts.csv"))];
    let check = |execution: &Execution<'_>| {
        Ok(match read_verdicts(&execution.file()) {
            Ok(_) => Seen::Accepted,
            Err(_) => Seen::Refused,
        })
    };
    Ok(Target::new("verdicts", seeds, check).words(&["certified", "falsified", "k_set"]))
}

/// A target that reads ledgers: a ledger that was read has spent no less than nothing, and leaves
/// no more than the budget.
fn ledger_file(folder: &Path) -> anyhow::Result<Target> {
    let file = folder.join("budget.toml");
    let budget = Budget {
        epsilon: 2.0,
        delta: 1e-5,
        slack: 1e-6,
    };
    let sha256 = "0".repeat(64);
    let table = Hashed {
        value: DeclaredTable {
            records: 5,
            columns: vec!["age".to_owned()],
            reading: TableReading::default(),
        },
        sha256: sha256.clone(),
    };
    ledger::declare(&file, "people.csv", table, budget)?;
    let mut seeds = vec![Input::one("budget.toml", std::fs::read(&file)?)];
    for epsilon in [0.5, 0.25] {
        let charge = ledger::Charge {
            sha256: sha256.clone(),
            mechanism: "outliers count".to_owned(),
            cost: probity_privacy::composition::Cost {
                epsilon,
                delta: 1e-6,
                rho: 0.01,
            },
            not_private: false,
        };
        ledger::charge(&file, charge, || ())?;
        seeds.push(Input::one("budget.toml", std::fs::read(&file)?));
    }
    let check = |execution: &Execution<'_>| {
        let Ok(ledger) = ledger::read(&execution.file()) else {
            return Ok(Seen::Refused);
        };
        let (left, budget) = (ledger.remaining(), ledger.budget);
        let is_bounded = left.epsilon <= budget.epsilon && left.delta <= budget.delta;
        match is_bounded && left.epsilon >= 0.0 && left.delta >= 0.0 {
            true => Ok(Seen::Accepted),
            false => Err(format!("left are {left:?} of {budget:?}")),
        }
    };
    let words = &[
        "epsilon", "delta", "rho", "charged", "query", "slack", "-1.0", "nan",
    ];
    Ok(Target::new("ledger", seeds, check)
        .words(words)
        .sealed_by(seal))
}
