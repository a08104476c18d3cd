//! A predictor, named: a program or model that only answers, in place of a model directory.

use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rules::{named_once, needed};
use crate::audit_error::AuditError;
use probity_data::named_schema::named_schema;
use probity_data::schema::Schema;
use probity_nn::modality::ModalityName;
use probity_predictor::probabilities::Probabilities;
use probity_predictor::source::{
    Categories, GraphOptions, OutputKind, PredictorOptions, PredictorSource,
};
use probity_predictor::stability::TOLERANCE;
use probity_predictor::texts::{TextGraph, TextPredictorOptions};
use probity_run::pipe::is_readable;
use probity_run::specification::{FieldError, Seconds};

/// What only answers, in place of a model directory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct PredictorSpecification {
    /// Search what only answers: `onnx:FILE`, or `command:COMMAND LINE`, a process that answers
    /// batches of rows or texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-flag" = "predictor"))]
    pub source: Option<PredictorSource>,
    /// Schema of the predictor's rows: a file, a built-in name, or the schema itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// The folder that a command is started in, and that files are seen from; by default the
    /// working directory, of a specification in a file the folder of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "path", "x-flag" = false))]
    pub directory: Option<PathBuf>,
    /// Time that an answer of the command may take, such as 10s or 5m.
    #[schemars(extend("x-flag" = "predictor-timeout"))]
    pub timeout: Seconds,
    /// Rows that it is asked for at a time, at most.
    #[schemars(range(min = 1, max = 1_000_000), extend("x-flag" = "predictor-rows"))]
    pub rows: usize,
    /// Classes of a predictor of texts, in the order of its probabilities; by default those that
    /// it names itself, an ONNX graph in the config.json beside it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-flag" = "predictor-classes"))]
    pub classes: Vec<String>,
    /// Texts: processes of the command, each of which is asked one batch at a time; no influence
    /// on the result.
    #[schemars(range(min = 1, max = 1024), extend("x-flag" = "predictor-concurrency"))]
    pub concurrency: usize,
    /// Texts: how many are asked about in a second, at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.001, max = 1_000_000), extend("x-flag" = "predictor-rate"))]
    pub rate: Option<f64>,
    /// Texts: how often one is asked about again that got no answer, after pauses that double.
    #[schemars(range(max = 1000), extend("x-flag" = "predictor-retries"))]
    pub retries: u32,
    /// Texts: answers to each, of which the class that most of them give counts.
    #[schemars(range(min = 1, max = 99), extend("x-flag" = "predictor-votes"))]
    pub votes: u32,
    /// Texts: how far two probabilities of the same one may lie apart; has no say where there are
    /// several votes.
    #[schemars(range(min = 0, max = 1), extend("x-flag" = "predictor-tolerance"))]
    pub tolerance: f32,
    /// How its probabilities must sum.
    #[serde(skip_serializing_if = "Probabilities::is_exact")]
    #[schemars(extend("x-flag" = "probabilities"))]
    pub probabilities: Probabilities,
    /// How words enter the ONNX graph.
    #[schemars(extend("x-flag" = "onnx-categories"))]
    pub categories: Categories,
    /// Texts: the tokenizer.json of the ONNX graph; by default the one beside it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-flag" = "onnx-tokenizer"))]
    pub tokenizer: Option<PathBuf>,
    /// Output of the ONNX graph that is read; by default the only one of floating-point numbers,
    /// for texts the one called logits, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-flag" = "onnx-output"))]
    pub output: Option<String>,
    /// What that output holds; by default probabilities, for texts logits.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-flag" = "onnx-gives"))]
    pub gives: Option<OutputKind>,
}

impl Default for PredictorSpecification {
    fn default() -> PredictorSpecification {
        PredictorSpecification {
            source: None,
            schema: None,
            directory: None,
            timeout: Duration::from_secs(60).into(),
            rows: 4096,
            classes: Vec::new(),
            concurrency: 1,
            rate: None,
            retries: 3,
            votes: 1,
            tolerance: TOLERANCE,
            probabilities: Probabilities::default(),
            categories: Categories::default(),
            tokenizer: None,
            output: None,
            gives: None,
        }
    }
}

impl PredictorSpecification {
    /// Refuses fields that contradict each other, or a model directory beside a predictor.
    ///
    /// # Errors
    /// The first field that does.
    pub fn rules(&self, has_model: bool, modality: ModalityName) -> Result<(), FieldError> {
        let usual = PredictorSpecification::default();
        let schema = [("schema", self.schema.is_some())];
        let of_commands = [
            ("timeout", self.timeout != usual.timeout),
            ("rows", self.rows != usual.rows),
        ];
        let of_sums = [("probabilities", !self.probabilities.is_exact())];
        let of_rows = [("categories", self.categories != usual.categories)];
        let of_graphs = [
            ("output", self.output.is_some()),
            ("gives", self.gives.is_some()),
        ];
        let of_pieces = [("tokenizer", self.tokenizer.is_some())];
        let of_answers = [
            ("classes", !self.classes.is_empty()),
            ("tolerance", self.tolerance != usual.tolerance),
        ];
        let of_paces = [
            ("rate", self.rate.is_some()),
            ("votes", self.votes != usual.votes),
        ];
        let of_processes = [
            ("concurrency", self.concurrency != usual.concurrency),
            ("retries", self.retries != usual.retries),
        ];
        let of_texts = [&of_answers[..], &of_paces, &of_processes, &of_pieces].concat();
        let all_of_graphs = [&of_rows[..], &of_graphs].concat();
        let refuse = |given: &[(&str, bool)], why: &str| {
            let given = given.iter().find(|(_, is_given)| *is_given);
            given.map_or(Ok(()), |(field, _)| {
                let field = format!("predictor.{field}");
                let expected = format!("left out: it {why}");
                Err(FieldError::new(field, "given", expected))
            })
        };
        let is_text = modality == ModalityName::Text;
        if !is_text {
            refuse(&of_texts, "has no meaning for tables")?;
        }
        let of_graph = match is_text {
            true => OutputKind::Logits,
            false => OutputKind::Probabilities,
        };
        if let Some(PredictorSource::Onnx(_)) = &self.source
            && self.gives.unwrap_or(of_graph) == OutputKind::Logits
        {
            refuse(&of_sums, "has no meaning for a graph that gives logits")?;
        }
        match &self.source {
            None => {
                let all = [
                    &schema[..],
                    &of_commands,
                    &all_of_graphs,
                    &of_texts,
                    &of_sums,
                ]
                .concat();
                refuse(
                    &all,
                    "is an option of a predictor; a model has its schema in it",
                )
            }
            Some(_) if has_model => {
                let expected = "left out where there is a model";
                Err(FieldError::new("predictor.source", "given", expected))
            }
            Some(source) if is_text => {
                refuse(&schema, "has no meaning for texts")?;
                refuse(&of_rows, "has no meaning for texts")?;
                named_once("predictor.classes", &self.classes)?;
                let of_graphs = [&of_graphs[..], &of_pieces].concat();
                match source {
                    PredictorSource::Command(_) => {
                        refuse(&of_graphs, "has no meaning for a command")
                    }
                    PredictorSource::Onnx(_) => {
                        let others = [&of_commands[..], &of_paces, &of_processes].concat();
                        refuse(&others, "has no meaning for an ONNX file")
                    }
                    PredictorSource::Memory(_) => {
                        let others = [&of_commands[..1], &of_graphs, &of_processes].concat();
                        refuse(&others, "has no meaning for a function of this process")
                    }
                }
            }
            Some(_) if self.schema.is_none() => {
                Err(FieldError::new("predictor.schema", "missing", "given"))
            }
            Some(PredictorSource::Onnx(_)) => {
                refuse(&of_commands, "has no meaning for an ONNX file")
            }
            Some(PredictorSource::Command(_)) => {
                refuse(&all_of_graphs, "has no meaning for a command")
            }
            Some(PredictorSource::Memory(_)) => {
                let others = [&of_commands[..1], &all_of_graphs].concat();
                refuse(&others, "has no meaning for a function of this process")
            }
        }
    }

    /// Refuses a missing model, where no predictor stands in its place.
    pub(crate) fn rules_beside(
        &self,
        model: &Path,
        modality: ModalityName,
    ) -> Result<(), FieldError> {
        if self.source.is_none() {
            needed("model", model)?;
        }
        self.rules(!model.as_os_str().is_empty(), modality)
    }

    /// The name that a message gives to the predictor, or to the model in the directory `model`
    /// where there is none.
    pub fn name_or(&self, model: &Path) -> String {
        match &self.source {
            Some(source) => source.to_string(),
            None => model.display().to_string(),
        }
    }

    /// The options that open a predictor of texts; `None` where none is named.
    pub fn text_options(&self) -> Option<TextPredictorOptions> {
        Some(TextPredictorOptions {
            source: self.source.clone()?,
            directory: self.directory.clone().unwrap_or_default(),
            timeout: self.timeout.duration(),
            texts: self.rows,
            classes: (!self.classes.is_empty()).then(|| self.classes.clone()),
            concurrency: self.concurrency,
            rate: self.rate,
            retries: self.retries,
            votes: self.votes,
            tolerance: self.tolerance,
            probabilities: self.probabilities,
            graph: {
                let mut graph = TextGraph::default();
                graph.tokenizer.clone_from(&self.tokenizer);
                graph.output.clone_from(&self.output);
                graph.gives = self.gives;
                graph
            },
        })
    }

    /// Returns the predictor by a name that all processes have for it: each has one of its own for a model
    /// in its memory, and the hash of that says which it is.
    pub fn for_all_processes(&self) -> PredictorSpecification {
        let mut named = self.clone();
        if let Some(PredictorSource::Memory(name)) = &mut named.source {
            "model".clone_into(name);
        }
        named
    }

    /// The options that open the predictor, its schema read; `None` where none is named.
    ///
    /// # Errors
    /// When the schema cannot be read.
    pub fn options(&self) -> Result<Option<PredictorOptions>, AuditError> {
        let (Some(source), Some(schema)) = (&self.source, &self.schema) else {
            return Ok(None);
        };
        let directory = self.directory.clone().unwrap_or_default();
        let source = match source {
            PredictorSource::Onnx(file) => PredictorSource::Onnx(directory.join(file)),
            PredictorSource::Command(_) | PredictorSource::Memory(_) => source.clone(),
        };
        let mut graph = GraphOptions::default();
        graph.categories = self.categories;
        graph.output.clone_from(&self.output);
        graph.gives = self.gives.unwrap_or_default();
        Ok(Some(PredictorOptions {
            source,
            timeout_seconds: self.timeout.duration().as_secs_f64(),
            rows: self.rows,
            graph,
            probabilities: self.probabilities,
            schema: schema_of(&directory, schema)?,
            directory,
        }))
    }
}

/// The schema called `name` ([`named_schema`]), a file being seen from `directory`.
fn schema_of(directory: &Path, name: &str) -> Result<Schema, AuditError> {
    let file = directory.join(name);
    let file = file.to_str().filter(|file| is_readable(Path::new(file)));
    Ok(named_schema(file.unwrap_or(name))?.schema)
}
