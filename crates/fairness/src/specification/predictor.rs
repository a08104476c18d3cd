//! A predictor, named: what only answers, in place of a model directory.

use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::audit_error::AuditError;
use probity_data::named_schema::named_schema;
use probity_data::schema::Schema;
use probity_predictor::source::{
    Categories, GraphOptions, OutputKind, PredictorOptions, PredictorSource,
};
use probity_run::pipe::is_readable;
use probity_run::specification::{FieldError, Seconds};

/// What only answers, in place of a model directory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct PredictorSpecification {
    /// Search what only answers: `onnx:FILE`, or `command:COMMAND LINE`, a process that answers
    /// batches of rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-flag" = "predictor"))]
    pub source: Option<PredictorSource>,
    /// Schema of the predictor's rows: a file, a built-in name, or the schema itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// The folder that a command is started in, and that files are seen from; by default the
    /// working directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-flag" = false))]
    pub directory: Option<PathBuf>,
    /// Time that an answer of the command may take, such as 10s or 5m.
    #[schemars(extend("x-flag" = "predictor-timeout"))]
    pub timeout: Seconds,
    /// Rows that it is asked for at a time, at most.
    #[schemars(range(min = 1, max = 1_000_000), extend("x-flag" = "predictor-rows"))]
    pub rows: usize,
    /// How words enter the ONNX graph.
    #[schemars(extend("x-flag" = "onnx-categories"))]
    pub categories: Categories,
    /// Output of the ONNX graph that is read; by default the only one of floating-point numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-flag" = "onnx-output"))]
    pub output: Option<String>,
    /// What that output holds.
    #[schemars(extend("x-flag" = "onnx-gives"))]
    pub gives: OutputKind,
}

impl Default for PredictorSpecification {
    fn default() -> PredictorSpecification {
        PredictorSpecification {
            source: None,
            schema: None,
            directory: None,
            timeout: Duration::from_secs(60).into(),
            rows: 4096,
            categories: Categories::default(),
            output: None,
            gives: OutputKind::default(),
        }
    }
}

impl PredictorSpecification {
    /// Refuses what contradicts itself, or a model directory beside a predictor.
    pub(super) fn rules(&self, has_model: bool) -> Result<(), FieldError> {
        let usual = PredictorSpecification::default();
        let schema = [("schema", self.schema.is_some())];
        let of_commands = [
            ("timeout", self.timeout != usual.timeout),
            ("rows", self.rows != usual.rows),
        ];
        let of_graphs = [
            ("categories", self.categories != usual.categories),
            ("output", self.output != usual.output),
            ("gives", self.gives != usual.gives),
        ];
        let refuse = |given: &[(&str, bool)], why: &str| {
            let given = given.iter().find(|(_, is_given)| *is_given);
            given.map_or(Ok(()), |(field, _)| {
                let field = format!("predictor.{field}");
                let expected = format!("left out: it {why}");
                Err(FieldError::new(field, "given", expected))
            })
        };
        match &self.source {
            None => {
                let all = [&schema[..], &of_commands, &of_graphs].concat();
                refuse(
                    &all,
                    "is an option of a predictor; a model has its schema in it",
                )
            }
            Some(_) if has_model => {
                let expected = "left out where there is a model";
                Err(FieldError::new("predictor.source", "given", expected))
            }
            Some(_) if self.schema.is_none() => {
                Err(FieldError::new("predictor.schema", "missing", "given"))
            }
            Some(PredictorSource::Onnx(_)) => {
                refuse(&of_commands, "has no meaning for an ONNX file")
            }
            Some(PredictorSource::Command(_)) => refuse(&of_graphs, "has no meaning for a command"),
            Some(PredictorSource::Memory(_)) => {
                let others = [&of_commands[..1], &of_graphs].concat();
                refuse(&others, "has no meaning for a function of this process")
            }
        }
    }

    /// Everything that opens the predictor, its schema read; `None` where none is named.
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
        graph.gives = self.gives;
        Ok(Some(PredictorOptions {
            source,
            timeout_seconds: self.timeout.duration().as_secs_f64(),
            rows: self.rows,
            graph,
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
