//! Runs as a [CycloneDX 1.6](https://cyclonedx.org/docs/1.6/json/) bill of materials: a component
//! for each model with its model card, and one for each file of data.
//!
//! The time is that of the run that ended last; the serial number is made of the hash of the rest
//! (a UUID of version 8, RFC 9562), so that the same runs give the same bytes.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::measures::{Measure, Scale, measures, rates_of_groups};
use super::{Inputs, MODELS, Model, limits, of_models};
use crate::compose::shares::crossed;
use crate::error::PageError;
use crate::form::Form;
use crate::model::{Findings, GroupSet, Report, RunReport, Share};
use crate::text::{interval, percent};
use probity_run::run_directory::hex;

const SCHEMA: &str = "http://cyclonedx.org/schema/bom-1.6.schema.json";

impl Report {
    /// The bill of materials.
    ///
    /// # Errors
    /// When a run is of no model.
    pub fn to_cyclonedx(&self) -> Result<Value, PageError> {
        of_models(self, Form::Cyclonedx, MODELS)?;
        let mut models: Vec<(Model, Vec<&RunReport>)> = Vec::new();
        let mut data: Vec<Inputs> = Vec::new();
        for run in &self.runs {
            let model = Model::from_run(run);
            match models
                .iter_mut()
                .find(|(other, _)| other.sha256 == model.sha256)
            {
                Some((_, runs)) => runs.push(run),
                None => models.push((model, vec![run])),
            }
            let inputs = Inputs::from_run(run);
            if !data.iter().any(|other| other.sha256 == inputs.sha256) {
                data.push(inputs);
            }
        }
        let components = models.iter().map(|(model, runs)| component(model, runs));
        let components: Vec<Value> = components.chain(data.iter().map(data_component)).collect();
        let mut bom = json!({
            "$schema": SCHEMA,
            "bomFormat": "CycloneDX",
            "specVersion": "1.6",
            "version": 1,
            "metadata": {
                "tools": { "components": [{
                    "type": "application",
                    "name": "Probity",
                    "version": self.probity_version,
                }]},
            },
            "components": components,
        });
        let ended = self.runs.iter().filter_map(|run| run.ended.as_deref());
        if let Some(last) = ended.max() {
            bom["metadata"]["timestamp"] = json!(last);
        }
        bom["serialNumber"] = json!(serial_number(bom.to_string().as_bytes()));
        Ok(bom)
    }
}

/// `urn:uuid:…` of a hash.
fn serial_number(content: &[u8]) -> String {
    let hash = Sha256::digest(content);
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash[..16]);
    bytes[6] = 0x80 | (bytes[6] & 0x0f);
    bytes[8] = 0x80 | (bytes[8] & 0x3f);
    let text = hex(&bytes);
    let parts = [
        &text[..8],
        &text[8..12],
        &text[12..16],
        &text[16..20],
        &text[20..],
    ];
    format!("urn:uuid:{}", parts.join("-"))
}

fn hashes(sha256: &str) -> Value {
    json!([{ "alg": "SHA-256", "content": sha256 }])
}

/// How another component is referred to.
fn reference(kind: &str, sha256: &str) -> String {
    format!("{kind}-{sha256}")
}

fn data_component(data: &Inputs) -> Value {
    json!({
        "type": "data",
        "bom-ref": reference("data", &data.sha256),
        "name": data.name,
        "hashes": hashes(&data.sha256),
        "data": [{ "type": "dataset", "name": data.name }],
    })
}

fn component(model: &Model, runs: &[&RunReport]) -> Value {
    let mut data: Vec<String> = Vec::new();
    for run in runs {
        let place = reference("data", &Inputs::from_run(run).sha256);
        if !data.contains(&place) {
            data.push(place);
        }
    }
    let mut parameters = json!({
        "approach": { "type": "supervised" },
        "task": "classification",
        "datasets": data.iter().map(|place| json!({ "ref": place })).collect::<Vec<_>>(),
    });
    if let Some(architecture) = runs.iter().find_map(|run| run.architecture.as_ref()) {
        parameters["architectureFamily"] = json!(architecture.family);
        parameters["modelArchitecture"] = json!(architecture.model);
    }
    let figures = figures(runs);
    let assessments = runs.iter().flat_map(|run| assessments(run));
    let mut component = json!({
        "type": "machine-learning-model",
        "bom-ref": reference("model", &model.sha256),
        "name": model.name,
        "hashes": hashes(&model.sha256),
        "modelCard": {
            "modelParameters": parameters,
            "quantitativeAnalysis": { "performanceMetrics": figures },
            "considerations": {
                "technicalLimitations": limits(runs),
                "fairnessAssessments": assessments.collect::<Vec<_>>(),
            },
        },
        "properties": runs.iter().flat_map(|run| properties(run)).collect::<Vec<_>>(),
    });
    if let Some(origin) = &model.repaired_from {
        component["pedigree"] = json!({ "ancestors": [{
            "type": "machine-learning-model",
            "name": origin.name,
            "hashes": hashes(&origin.sha256),
        }]});
    }
    component
}

/// The figures of `runs`; one that several of them have says of which it is.
fn figures(runs: &[&RunReport]) -> Vec<Value> {
    let of_run = |run: &RunReport| -> Vec<Measure> {
        measures(run)
            .into_iter()
            .chain(rates_of_groups(run))
            .collect()
    };
    let of_runs: Vec<Vec<Measure>> = runs.iter().map(|run| of_run(run)).collect();
    let mut having: HashMap<(&str, &str), HashSet<usize>> = HashMap::new();
    for (place, measures) in of_runs.iter().enumerate() {
        for measure in measures {
            let key = (measure.what.as_str(), measure.slice.as_str());
            having.entry(key).or_default().insert(place);
        }
    }
    let figures = runs.iter().zip(&of_runs).flat_map(|(run, measures)| {
        let having = &having;
        measures.iter().map(move |measure| {
            let key = (measure.what.as_str(), measure.slice.as_str());
            let is_alone = having.get(&key).is_none_or(|runs| runs.len() == 1);
            metric(measure, (!is_alone).then_some(run.name.as_str()))
        })
    });
    figures.collect()
}

/// The runs that the figures come from.
fn properties(run: &RunReport) -> Vec<Value> {
    let property = |name: &str, value: &str| json!({ "name": format!("probity:{}:{name}", run.name), "value": value });
    let mut all = vec![
        property("command", &run.command),
        property("summary-sha256", &run.summary_sha256),
    ];
    if let Some(ended) = &run.ended {
        all.push(property("ended", ended));
    }
    all
}

/// `measure`, of the run of the name `run` where that must be said.
fn metric(measure: &Measure, run: Option<&str>) -> Value {
    let number = |value: f64| match measure.scale {
        Scale::Count => format!("{value:.0}"),
        Scale::Share | Scale::Number => value.to_string(),
    };
    let mut metric = Map::from_iter([
        ("type".to_owned(), json!(measure.what)),
        ("value".to_owned(), json!(number(measure.value))),
    ]);
    let of_run = run.map(|run| format!("in the run {run}"));
    let slice: Vec<&str> = [measure.slice.as_str()]
        .into_iter()
        .filter(|slice| !slice.is_empty())
        .chain(of_run.as_deref())
        .collect();
    if !slice.is_empty() {
        metric.insert("slice".to_owned(), json!(slice.join(" ")));
    }
    if let Some([low, high]) = measure.ci95 {
        let ends = json!({ "lowerBound": number(low), "upperBound": number(high) });
        metric.insert("confidenceInterval".to_owned(), ends);
    }
    Value::Object(metric)
}

/// What a run says of groups at risk.
fn assessments(run: &RunReport) -> Vec<Value> {
    let assessment = |protected: &[String], harm: String| {
        let group = format!("People who differ by {}", crossed(protected));
        json!({ "groupAtRisk": group, "harms": harm })
    };
    let mitigated = |mut assessment: Value, method: &str, saved: bool| {
        let kept = if saved { "kept" } else { "not kept" };
        let said = format!("Retrained by probity repair --method {method}; the model was {kept}");
        assessment["mitigationStrategy"] = json!(said);
        assessment
    };
    match &run.findings {
        Findings::Audit(audit) => {
            let Some(first) = audit.summary.input_shares().next() else {
                return Vec::new();
            };
            let harm = |share: &Share| {
                let harm = format!(
                    "{} of {} get another decision when nothing else is changed (95\u{a0}% interval {})",
                    percent(share.rate),
                    first.inputs_or_part(share),
                    interval(share.ci95)
                );
                assessment(&share.protected, harm)
            };
            first.shares.iter().map(harm).collect()
        }
        Findings::Groups(groups) => {
            let report = &groups.report;
            let sets = report.sets.iter();
            sets.filter_map(|set| parity(set, &report.favourable))
                .collect()
        }
        Findings::Repair(repair) => {
            let after = &repair.chosen.figures.discrimination;
            let pairs = repair.before.discrimination.iter().zip(after);
            let harm = |(before, after): (&Share, &Share)| {
                let harm = format!(
                    "{} of random inputs got another decision when nothing else was changed, and {} after the repair (95\u{a0}% interval {})",
                    percent(before.rate),
                    percent(after.rate),
                    interval(after.ci95)
                );
                let assessment = assessment(&before.protected, harm);
                mitigated(assessment, &repair.method, repair.verdict.saved)
            };
            pairs.map(harm).collect()
        }
        Findings::TextRepair(repair) => {
            let fair = [&repair.before.fair, &repair.chosen.figures.fair];
            let [before, after] = fair.map(|part| percent(1.0 - part.share));
            let harm = format!(
                "{before} of the test texts got another decision when a term was exchanged, and {after} after the repair"
            );
            let assessment = assessment(&repair.protected, harm);
            vec![mitigated(assessment, &repair.method, repair.verdict.saved)]
        }
        _ => Vec::new(),
    }
}

/// The group that is predicted favourably least often, where two can be compared.
fn parity(set: &GroupSet, favourable: &str) -> Option<Value> {
    let gap = set.gaps.demographic_parity_difference.as_ref()?;
    let [low, high] = gap.ci95.map(|end| 100.0 * end);
    let harm = format!(
        "Predicted as '{favourable}' less often than any other group that was judged: {:.2} percentage points below {} \
         (95\u{a0}% interval of the largest difference {low:.2} to {high:.2})",
        100.0 * gap.value,
        gap.highest.join(", ")
    );
    let group = format!("{}: {}", crossed(&set.protected), gap.lowest.join(", "));
    Some(json!({ "groupAtRisk": group, "harms": harm }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serial_numbers_are_uuids_of_the_content() {
        let number = serial_number(b"a");
        assert_eq!(number, "urn:uuid:ca978112-ca1b-8dca-bac2-31b39a23dc4d");
        assert_ne!(number, serial_number(b"b"));
    }
}
