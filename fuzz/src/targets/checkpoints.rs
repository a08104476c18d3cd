//! Checkpoints whose seals are computed again: whatever a checkpoint says, the run that goes on
//! from it ends or refuses.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use probity_fairness::audit::Audit;
use probity_fairness::compare::Comparison;
use probity_fairness::modality::{Modality, ModalityName, TableCase, TextCase};
use probity_fairness::repair::{Repair, Repairable, TableRepair, TextRepair};
use probity_fairness::strategies::StrategyName;
use probity_nn::train::run::{Trainable, Training};
use probity_nn::train::table_set::TableSet;
use probity_nn::train::text_set::TextSet;
use probity_run::run_directory::{CHECKPOINT, RunDirectory};
use probity_run::specification::{Checked, Specification};
use probity_tensor::device::ComputeDevice;
use serde_json::{Value, json};

use super::fixtures::{Make, comments, people_csv, vectors};
use super::seals::seal;
use crate::target::{Execution, Input, Seen, Target};

pub const ALL: &[(&str, Make)] = &[
    ("checkpoint-audit", audits),
    ("checkpoint-audit-text", text_audits),
    ("checkpoint-compare", comparisons),
    ("checkpoint-train", trainings),
    ("checkpoint-repair", repairs),
    ("checkpoint-repair-text", text_repairs),
];

/// A function that goes on with the run in a run directory with a checkpoint, and returns whether
/// the run took it up.
type GoOn = Box<dyn Fn(&RunDirectory) -> bool + Send>;

/// A function that runs in a new directory, and is stopped after this many steps.
type Begin<'a> = &'a dyn Fn(&RunDirectory, u32);

/// Checkpoints of several runs, each a file with the name of its run.
struct Checkpoints<'f> {
    folder: &'f Path,
    seeds: Vec<Input>,
    runs: BTreeMap<String, GoOn>,
}

impl<'f> Checkpoints<'f> {
    fn new(folder: &'f Path) -> Checkpoints<'f> {
        Checkpoints {
            folder,
            seeds: Vec::new(),
            runs: BTreeMap::new(),
        }
    }

    /// Adds the checkpoints that the run `name` has saved when it is stopped after each of `steps`.
    fn add(
        &mut self,
        name: &str,
        steps: &[u32],
        begin: Begin<'_>,
        go_on: GoOn,
    ) -> anyhow::Result<()> {
        let before = self.seeds.len();
        for step in steps {
            let run = RunDirectory::create(&self.folder.join(format!("{name}-{step}")))?;
            begin(&run, *step);
            // A run that ended before it was stopped is complete, and has no checkpoint.
            if let Ok(checkpoint) = std::fs::read(run.file(CHECKPOINT)) {
                self.seeds.push(Input::one(name, checkpoint));
            }
        }
        anyhow::ensure!(self.seeds.len() > before, "{name} leaves no checkpoint");
        self.runs.insert(name.to_owned(), go_on);
        Ok(())
    }

    fn target(self, name: &'static str) -> Target {
        let runs = self.runs;
        let check = move |execution: &Execution<'_>| {
            let failed = |error: &dyn std::fmt::Display| error.to_string();
            let [(name, checkpoint)] = &execution.input.files[..] else {
                return Ok(Seen::Refused);
            };
            let go_on = runs.get(name).ok_or("a run of no name")?;
            let run = RunDirectory::create(&execution.folder.join("run"));
            let run = run.map_err(|error| failed(&error))?;
            std::fs::write(run.file(CHECKPOINT), checkpoint).map_err(|error| failed(&error))?;
            Ok(match go_on(&run) {
                true => Seen::Accepted,
                false => Seen::Refused,
            })
        };
        // A run takes memory for its work, whatever its checkpoint says.
        Target::new(name, self.seeds, check)
            .sealed_by(seal)
            .memory(1024, 64 << 20)
    }
}

/// A function that asks to stop from its `most`-th call on.
fn until(most: u32) -> impl Fn() -> ControlFlow<()> {
    let times = AtomicU32::new(0);
    move || match times.fetch_add(1, Ordering::Relaxed) + 1 >= most {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    }
}

pub(super) fn checked<S: Specification>(fields: Value) -> anyhow::Result<Checked<S>> {
    Ok(S::from_json(&fields)?.check()?)
}

/// Makes a model of people and its table, and returns the fields of an audit of the model.
pub(super) fn people(folder: &Path) -> anyhow::Result<Value> {
    let model = folder.join("model");
    std::fs::create_dir_all(&model)?;
    super::fixtures::model()?.save(&model)?;
    let data = folder.join("people.csv");
    std::fs::write(&data, people_csv(20)?)?;
    Ok(json!({
        "model": model,
        "data": data,
        "protected": ["sex", "origin"],
        "estimate": 20,
        "search": { "seeds": 6, "local": 3, "max_iter": 3 },
    }))
}

/// Adds the checkpoints of audits by `strategies` with the fields `fields`.
fn add_audits<M: Modality + Send + 'static>(
    checkpoints: &mut Checkpoints<'_>,
    fields: &Value,
    strategies: &[StrategyName],
) -> anyhow::Result<()> {
    for strategy in strategies {
        let mut fields = fields.clone();
        fields["strategy"] = serde_json::to_value(strategy)?;
        if *strategy == StrategyName::Themis {
            fields["search"] = json!({ "seeds": 6 });
        }
        let flex = ComputeDevice::flex();
        let audit = Audit::<M>::open(checked(fields)?, &flex)?;
        let begin = |run: &RunDirectory, most: u32| {
            let stop = until(most);
            let _ = audit.run(run, false, &mut |_| stop());
        };
        let again = Audit::<M>::open(audit.specification().clone().check()?, &flex)?;
        let go_on: GoOn = Box::new(move |run| {
            let go_on = again.run(run, true, &mut |_| ControlFlow::Continue(()));
            go_on.is_ok()
        });
        checkpoints.add(strategy.name(), &[1, 3, 5], &begin, go_on)?;
    }
    Ok(())
}

fn audits(folder: &Path) -> anyhow::Result<Target> {
    let fields = people(folder)?;
    let mut checkpoints = Checkpoints::new(folder);
    add_audits::<TableCase<'static>>(
        &mut checkpoints,
        &fields,
        &StrategyName::for_modality(ModalityName::Table),
    )?;
    Ok(checkpoints.target("checkpoint-audit"))
}

/// Trains a model of comments, and returns the fields of an audit of it, its table among them.
fn toxic(folder: &Path) -> anyhow::Result<Value> {
    let (texts, labels) = comments(300);
    let rows = texts.iter().zip(&labels);
    let rows = rows.map(|(text, label)| format!("\"{}\",{label}\n", text.replace('"', "\"\"")));
    let data = folder.join("texts.csv");
    std::fs::write(&data, format!("text,toxic\n{}", rows.collect::<String>()))?;
    let embeddings = folder.join("vectors.txt");
    std::fs::write(&embeddings, vectors(&texts))?;
    let model = folder.join("model");
    let fields = json!({
        "modality": "text",
        "data": data,
        "text_column": "text",
        "label_column": "toxic",
        "training": { "epochs": 30, "learning_rate": 0.05 },
        "recurrent": { "embeddings": embeddings, "layers": 1, "units": 3, "train_embeddings": true },
    });
    let training = Training::<TextSet>::open(checked(fields)?, &ComputeDevice::flex())?;
    training.run(&RunDirectory::create(&model)?, false, &mut |_| {
        ControlFlow::Continue(())
    })?;
    Ok(json!({
        "modality": "text",
        "model": model,
        "data": data,
        "protected": [],
        "estimate": 20,
        "text": { "column": "text", "neighbours": 3 },
        "search": { "seeds": 6, "local": 3, "max_iter": 3 },
    }))
}

fn text_audits(folder: &Path) -> anyhow::Result<Target> {
    let fields = toxic(folder)?;
    let mut checkpoints = Checkpoints::new(folder);
    add_audits::<TextCase<'static>>(
        &mut checkpoints,
        &fields,
        &StrategyName::for_modality(ModalityName::Text),
    )?;
    Ok(checkpoints.target("checkpoint-audit-text"))
}

fn comparisons(folder: &Path) -> anyhow::Result<Target> {
    let mut checkpoints = Checkpoints::new(folder);
    // Each repair has a model of its own.
    let texts = folder.join("texts");
    std::fs::create_dir(&texts)?;
    add_comparison::<TableCase<'static>>(
        &mut checkpoints,
        "compare",
        people(folder)?,
        &["adf", "random-walk"],
    )?;
    add_comparison::<TextCase<'static>>(
        &mut checkpoints,
        "compare-text",
        toxic(&texts)?,
        &["adf-asc", "frontier"],
    )?;
    Ok(checkpoints.target("checkpoint-compare"))
}

fn add_comparison<M: Modality + Send + 'static>(
    checkpoints: &mut Checkpoints<'_>,
    name: &str,
    mut fields: Value,
    strategies: &[&str],
) -> anyhow::Result<()> {
    fields["strategies"] = json!(strategies);
    fields["repeats"] = json!(2);
    if let Some(fields) = fields.as_object_mut() {
        fields.remove("estimate");
    }
    let open = || -> anyhow::Result<Comparison<M>> {
        Ok(Comparison::open(
            checked(fields.clone())?,
            &ComputeDevice::flex(),
        )?)
    };
    let (first, again) = (open()?, open()?);
    let begin = |run: &RunDirectory, most: u32| {
        let stop = until(most);
        let _ = first.run(run, false, &mut |_, _, _| stop());
    };
    let go_on: GoOn = Box::new(move |run| {
        let go_on = again.run(run, true, &mut |_, _, _| ControlFlow::Continue(()));
        go_on.is_ok()
    });
    checkpoints.add(name, &[1, 9, 16], &begin, go_on)
}

fn add_training<T: Trainable + Send + 'static>(
    checkpoints: &mut Checkpoints<'_>,
    name: &str,
    fields: Value,
) -> anyhow::Result<()> {
    let flex = ComputeDevice::flex();
    let first = Training::<T>::open(checked(fields.clone())?, &flex)?;
    let again = Training::<T>::open(checked(fields)?, &flex)?;
    let begin = |run: &RunDirectory, most: u32| {
        let stop = until(most);
        let _ = first.run(run, false, &mut |_| stop());
    };
    let go_on: GoOn = Box::new(move |run| {
        let go_on = again.run(run, true, &mut |_| ControlFlow::Continue(()));
        go_on.is_ok()
    });
    checkpoints.add(name, &[1, 2], &begin, go_on)
}

fn trainings(folder: &Path) -> anyhow::Result<Target> {
    let data = folder.join("people.csv");
    std::fs::write(&data, people_csv(60)?)?;
    let table = |optimizer: &str| {
        json!({
            "data": data,
            "schema": "synthetic-census",
            "training": { "epochs": 4, "optimizer": optimizer },
            "network": { "hidden": [3], "categories": "embed:2" },
        })
    };
    let (texts, labels) = comments(30);
    let rows = texts.iter().zip(&labels);
    let rows = rows.map(|(text, label)| format!("\"{}\",{label}\n", text.replace('"', "\"\"")));
    let corpus = folder.join("texts.csv");
    std::fs::write(&corpus, format!("text,toxic\n{}", rows.collect::<String>()))?;
    let embeddings = folder.join("vectors.txt");
    std::fs::write(&embeddings, vectors(&texts))?;
    let text = json!({
        "modality": "text",
        "data": corpus,
        "text_column": "text",
        "label_column": "toxic",
        "training": { "epochs": 4 },
        "recurrent": { "embeddings": embeddings, "layers": 1, "units": 2, "train_embeddings": true },
    });
    let mut checkpoints = Checkpoints::new(folder);
    add_training::<TableSet>(&mut checkpoints, "adamw", table("adamw"))?;
    add_training::<TableSet>(&mut checkpoints, "sgd", table("sgd"))?;
    add_training::<TextSet>(&mut checkpoints, "text", text)?;
    Ok(checkpoints.target("checkpoint-train"))
}

fn add_repair<R: Repairable + Send + 'static>(
    checkpoints: &mut Checkpoints<'_>,
    name: &str,
    fields: Value,
    steps: &[u32],
) -> anyhow::Result<()> {
    let flex = ComputeDevice::flex();
    let first = Repair::<R>::open(checked(fields.clone())?, &flex)?;
    let again = Repair::<R>::open(checked(fields)?, &flex)?;
    let begin = |run: &RunDirectory, most: u32| {
        let stop = until(most);
        let _ = first.run(run, false, &|_| stop());
    };
    let go_on: GoOn = Box::new(move |run| {
        let go_on = again.run(run, true, &|_| ControlFlow::Continue(()));
        go_on.is_ok()
    });
    checkpoints.add(name, steps, &begin, go_on)
}

/// Trains a model of people and audits it, and returns the fields of a repair that learns from the
/// audit.
pub(super) fn repair_of_people(folder: &Path) -> anyhow::Result<Value> {
    let go_on = ControlFlow::Continue(());
    let data = folder.join("people.csv");
    std::fs::write(&data, people_csv(60)?)?;
    let flex = ComputeDevice::flex();
    let (model, run) = (folder.join("model"), folder.join("audit"));
    let fields = json!({
        "data": data,
        "schema": "synthetic-census",
        "training": { "epochs": 2 },
        "network": { "hidden": [3] },
    });
    let training = Training::<TableSet>::open(checked(fields)?, &flex)?;
    training.run(&RunDirectory::create(&model)?, false, &mut |_| go_on)?;
    let fields = json!({
        "model": model,
        "data": data,
        "protected": ["sex", "origin"],
        "estimate": 20,
        "search": { "seeds": 6, "local": 3, "max_iter": 3 },
    });
    let audit = Audit::<TableCase<'static>>::open(checked(fields)?, &flex)?;
    audit.run(&RunDirectory::create(&run)?, false, &mut |_| go_on)?;
    Ok(json!({
        "modality": "table",
        "model": model,
        "data": data,
        "runs": [run],
        "method": "samples",
        "repeats": 2,
        "table": { "estimate": 20 },
        "save_anyway": true,
    }))
}

fn repairs(folder: &Path) -> anyhow::Result<Target> {
    let fields = repair_of_people(folder)?;
    let mut checkpoints = Checkpoints::new(folder);
    add_repair::<TableRepair>(&mut checkpoints, "samples", fields, &[2, 4, 7])?;
    Ok(checkpoints.target("checkpoint-repair"))
}

fn text_repairs(folder: &Path) -> anyhow::Result<Target> {
    let audit = toxic(folder)?;
    let fields = json!({
        "modality": "text",
        "model": audit["model"],
        "data": audit["data"],
        "protected": ["country", "gender", "race", "religion"],
        "method": "samples",
        "repeats": 2,
        "save_anyway": true,
    });
    let mut checkpoints = Checkpoints::new(folder);
    add_repair::<TextRepair>(&mut checkpoints, "samples", fields, &[2, 20, 30])?;
    Ok(checkpoints.target("checkpoint-repair-text"))
}
