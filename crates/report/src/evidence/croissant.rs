//! The data of an audit or of a measurement of groups as
//! [Croissant 1.0](https://docs.mlcommons.org/croissant/docs/croissant-spec.html) with the fields for
//! responsible AI (`rai`): which people the data hold, how their labels are spread, and what was left
//! out or cannot be told.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::{Inputs, circumstances, refused};
use crate::compose::shares::crossed;
use crate::error::PageError;
use crate::form::Form;
use crate::model::{
    AuditFindings, Findings, GroupRunFindings, ReadCounts, Report, RunReport, TextGroupFindings,
};
use crate::text::{count, counted, percent};

/// What it is made of.
const TAKES: &str = "a run of audit or groups";

/// Groups that are listed of each attribute.
const MOST: usize = 50;

/// A document under construction: sentences on the data.
#[derive(Default)]
struct Sentences {
    biases: Vec<String>,
    limitations: Vec<String>,
    sensitive: Vec<String>,
}

impl Report {
    /// The description of the data.
    ///
    /// # Errors
    /// When there are several runs, or the one is of another kind.
    pub fn to_croissant(&self) -> Result<Value, PageError> {
        let mut sentences = Sentences::default();
        let run = match self.runs.as_slice() {
            [run] => run,
            runs => {
                return Err(PageError::OneRun {
                    form: Form::Croissant.name(),
                    runs: runs.len(),
                });
            }
        };
        match &run.findings {
            Findings::Audit(audit) => sentences.audit(audit),
            Findings::Groups(groups) => sentences.groups(groups, circumstances(run)),
            Findings::TextGroups(groups) => sentences.text_groups(groups),
            _ => return Err(refused(Form::Croissant, TAKES, run)),
        }
        sentences.limitations.push(
            "Labels are taken as they are: where they carry on an old injustice, these figures do not show it.".to_owned(),
        );
        Ok(document(run, sentences))
    }
}

fn document(run: &RunReport, sentences: Sentences) -> Value {
    let inputs = Inputs::from_run(run);
    let description = format!(
        "The data of the run {} of probity {}: what they hold of the groups of the protected attributes.",
        run.name, run.command
    );
    json!({
        "@context": context(),
        "@type": "sc:Dataset",
        "conformsTo": [
            "http://mlcommons.org/croissant/1.0",
            "http://mlcommons.org/croissant/RAI/1.0",
        ],
        "name": name(&inputs.name),
        "description": description,
        "distribution": [{
            "@type": "cr:FileObject",
            "@id": "data",
            "name": inputs.name,
            "contentUrl": inputs.name,
            "encodingFormat": media_type(&inputs.path),
            "sha256": inputs.sha256,
        }],
        "rai:dataBiases": sentences.biases,
        "rai:dataLimitations": sentences.limitations,
        "rai:personalSensitiveInformation": sentences.sensitive,
    })
}

/// The media type of the bytes of `file` by its ending: of a compressed one, how it is compressed.
fn media_type(file: &str) -> &'static str {
    let ending = Path::new(file).extension().unwrap_or_default();
    match ending.to_string_lossy().to_ascii_lowercase().as_str() {
        "parquet" => "application/vnd.apache.parquet",
        "txt" => "text/plain",
        "tsv" => "text/tab-separated-values",
        "gz" => "application/gzip",
        "xz" => "application/x-xz",
        _ => "text/csv",
    }
}

/// `name` as names of data sets may be: letters, digits, points, hyphens and underscores.
fn name(name: &str) -> String {
    let clean = |character: char| match character {
        character if character.is_ascii_alphanumeric() || "-_.".contains(character) => character,
        _ => '_',
    };
    name.chars().map(clean).collect()
}

impl Sentences {
    fn read(&mut self, counts: Option<&ReadCounts>) {
        let Some(counts) = counts else {
            return;
        };
        let mut say = |number: u64, what: &str| {
            if number > 0 {
                self.limitations
                    .push(format!("{} {what}", counted(number, "row is", "rows are")));
            }
        };
        say(
            counts.skipped_rows,
            "left out because a value is outside of its domain.",
        );
        for reason in counts.bad_rows.iter().flat_map(|bad| &bad.reasons) {
            say(reason.rows, &format!("left out: {}.", reason.reason));
        }
        if counts.mapped_values > 0 {
            self.limitations.push(format!(
                "{} missing or outside of their domain.",
                counted(counts.mapped_values, "value is", "values are")
            ));
        }
    }

    fn groups(&mut self, run: &GroupRunFindings, circumstances: Option<String>) {
        let report = &run.report;
        if let Some(circumstances) = circumstances {
            self.limitations.push(format!(
                "What is said of groups is of {} ({circumstances}).",
                counted(report.rows, "row", "rows")
            ));
        }
        self.read(run.data.as_ref());
        for set in &report.sets {
            let by = crossed(&set.protected);
            for group in set.groups.iter().take(MOST) {
                let values = group.values.join(", ");
                let share = percent(group.rows as f64 / report.rows.max(1) as f64);
                let labelled = group.favourable_rows.map(|favourable| {
                    let share = percent(favourable as f64 / group.known().max(1) as f64);
                    let them = match group.known() < group.rows {
                        true => "those with a label",
                        false => "them",
                    };
                    format!("{share} of {them} are labelled '{}'", report.favourable)
                });
                let labelled = labelled.unwrap_or("none of them has a label".to_owned());
                self.biases.push(format!(
                    "{by} = {values}: {} of {} rows ({share}); {labelled}.",
                    count(group.rows),
                    count(report.rows)
                ));
            }
            let small: Vec<String> = set
                .groups
                .iter()
                .filter(|group| group.too_small)
                .map(|group| group.values.join(", "))
                .take(MOST)
                .collect();
            if !small.is_empty() {
                self.limitations.push(format!(
                    "By {by} there are fewer than {} rows of: {}.",
                    report.min_group,
                    small.join("; ")
                ));
            }
            if set.absent > 0 {
                self.limitations.push(format!(
                    "By {by}, {} no row.",
                    counted(
                        set.absent,
                        "combination of values has",
                        "combinations of values have"
                    )
                ));
            }
            if let [alone] = set.protected.as_slice() {
                self.sensitive.push(alone.clone());
            }
        }
        let unknown = report.impact.iter().flat_map(|impact| &impact.sets);
        for set in unknown.filter(|set| set.unknown > 0) {
            self.limitations.push(format!(
                "The category by {} is not known of {}.",
                crossed(&set.attributes),
                counted(set.unknown, "row", "rows")
            ));
        }
    }

    fn text_groups(&mut self, run: &TextGroupFindings) {
        for attribute in &run.attributes {
            for value in attribute.values.iter().take(MOST) {
                let share = percent(value.positive_texts as f64 / value.texts.max(1) as f64);
                self.biases.push(format!(
                    "{} of {} texts name {} = {}; {share} of them are labelled '{}'.",
                    count(value.texts),
                    count(run.texts),
                    attribute.attribute,
                    value.value,
                    run.positive
                ));
            }
            self.sensitive.push(attribute.attribute.clone());
        }
        self.limitations.push(format!(
            "A value is judged from {} texts on; those that no term names are not seen.",
            count(run.min_group)
        ));
    }

    fn audit(&mut self, audit: &AuditFindings) {
        let summary = &audit.summary;
        self.read(summary.data.as_ref());
        self.sensitive.clone_from(&summary.protected);
        if let Some(people) = &summary.population {
            for set in &people.groups {
                for group in set.groups.iter().take(MOST) {
                    let share = percent(group.rows as f64 / people.asked.max(1) as f64);
                    self.biases.push(format!(
                        "{} = {}: {} of {} rows that were looked at ({share}).",
                        crossed(&set.attributes),
                        group.values.join(", "),
                        count(group.rows),
                        count(people.asked)
                    ));
                }
            }
        }
        if let Some(texts) = &summary.texts {
            self.biases.push(format!(
                "{} of {} texts name a value of {} that another one can replace.",
                count(texts.with_protected_term),
                count(texts.texts),
                summary.protected.join(", ")
            ));
            for (number, what) in [
                (
                    texts.foreign,
                    "not English: no term was looked for in them.",
                ),
                (texts.blank, "without a word."),
                (
                    texts.truncated,
                    "longer than is read of one (by the model, or max_length), and cut there.",
                ),
            ] {
                if number > 0 {
                    let texts = counted(number, "text is", "texts are");
                    self.limitations.push(format!("{texts} {what}"));
                }
            }
        }
    }
}

/// The terms that Croissant 1.0 declares, with its fields for responsible AI.
const TERMS: [(&str, &str); 36] = [
    ("@language", "en"),
    ("@vocab", "https://schema.org/"),
    ("citeAs", "cr:citeAs"),
    ("column", "cr:column"),
    ("conformsTo", "dct:conformsTo"),
    ("cr", "http://mlcommons.org/croissant/"),
    ("rai", "http://mlcommons.org/croissant/RAI/"),
    ("@id", "cr:data"),
    ("@id", "cr:dataType"),
    ("dct", "http://purl.org/dc/terms/"),
    ("equivalentProperty", "cr:equivalentProperty"),
    ("@id", "cr:examples"),
    ("extract", "cr:extract"),
    ("field", "cr:field"),
    ("fileProperty", "cr:fileProperty"),
    ("fileObject", "cr:fileObject"),
    ("fileSet", "cr:fileSet"),
    ("format", "cr:format"),
    ("includes", "cr:includes"),
    ("isLiveDataset", "cr:isLiveDataset"),
    ("jsonPath", "cr:jsonPath"),
    ("key", "cr:key"),
    ("md5", "cr:md5"),
    ("parentField", "cr:parentField"),
    ("path", "cr:path"),
    ("recordSet", "cr:recordSet"),
    ("references", "cr:references"),
    ("regex", "cr:regex"),
    ("repeated", "cr:repeated"),
    ("replace", "cr:replace"),
    ("samplingRate", "cr:samplingRate"),
    ("sc", "https://schema.org/"),
    ("separator", "cr:separator"),
    ("source", "cr:source"),
    ("subField", "cr:subField"),
    ("transform", "cr:transform"),
];

/// The context of a description.
fn context() -> Value {
    let terms = TERMS.map(|(term, meaning)| (term.to_owned(), json!(meaning)));
    let mut context = Map::from_iter(terms);
    let typed = [
        ("data", "cr:data", "@json"),
        ("dataType", "cr:dataType", "@vocab"),
        ("examples", "cr:examples", "@json"),
    ];
    for (term, meaning, kind) in typed {
        let meaning = json!({ "@id": meaning, "@type": kind });
        context.insert(term.to_owned(), meaning);
    }
    Value::Object(context)
}
