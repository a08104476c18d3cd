//! Arguments that name a predictor, and how they become one.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use clap::Args;

use super::inputs::{absolute, schema};
use probity::predictor::command::ROWS_AT_MOST;
use probity::predictor::source::{
    Categories, GraphOptions, OutputKind, PredictorOptions, PredictorSource,
};
use probity::tensor::device::DeviceName;

/// Seconds that an answer may take unless said otherwise.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Rows of a request unless said otherwise.
const ROWS: usize = 4096;

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Predictors")]
pub(super) struct PredictorArgs {
    /// Search what only answers: `onnx:FILE`, or `command:COMMAND LINE`, a process that answers batches of rows
    #[arg(
        long,
        value_name = "SOURCE",
        conflicts_with = "model",
        requires = "schema"
    )]
    pub(super) predictor: Option<PredictorSource>,
    /// Schema of the predictor's rows: a file or a built-in name
    #[arg(long, requires = "predictor", value_name = "SCHEMA")]
    pub(super) schema: Option<String>,
    /// Time that an answer of the command may take, such as 10s or 5m [default: 60s]
    #[arg(long, value_parser = timeout, value_name = "TIME")]
    predictor_timeout: Option<Duration>,
    /// Rows that the command is asked for at a time, at most [default: 4096]
    #[arg(long, value_name = "N")]
    predictor_rows: Option<usize>,
    /// How words enter the ONNX graph [default: codes]
    #[arg(long, value_enum, requires = "predictor")]
    onnx_categories: Option<Categories>,
    /// Output of the ONNX graph that is read [default: the only one of floating-point numbers]
    #[arg(long, value_name = "NAME", requires = "predictor")]
    onnx_output: Option<String>,
    /// What that output holds [default: probabilities]
    #[arg(long, value_enum, requires = "predictor")]
    onnx_gives: Option<OutputKind>,
}

fn timeout(text: &str) -> Result<Duration, String> {
    match humantime::parse_duration(text) {
        Ok(time) if !time.is_zero() => Ok(time),
        _ => Err("a time above 0 such as 500ms, 90s or 5m is expected".into()),
    }
}

impl PredictorArgs {
    /// The predictor asked for, if there is one.
    pub(super) fn options(&self) -> anyhow::Result<Option<PredictorOptions>> {
        let (Some(source), Some(name)) = (&self.predictor, &self.schema) else {
            self.refuse()?;
            return Ok(None);
        };
        let source = match source {
            PredictorSource::Onnx(file) => PredictorSource::Onnx(absolute(file)),
            PredictorSource::Command(_) => source.clone(),
        };
        self.check(&source)?;
        let mut options = PredictorOptions {
            source,
            directory: std::env::current_dir().context("the working directory is gone")?,
            timeout_seconds: TIMEOUT.as_secs_f64(),
            rows: ROWS,
            graph: GraphOptions {
                categories: self.onnx_categories.unwrap_or_default(),
                output: self.onnx_output.clone(),
                gives: self.onnx_gives.unwrap_or_default(),
            },
            schema: schema(name)?,
        };
        self.overrule(&mut options)?;
        Ok(Some(options))
    }

    /// Refuses all options of predictors where there is none. (The parser does not ask for --predictor
    /// where it conflicts with what is given.)
    pub(super) fn refuse(&self) -> anyhow::Result<()> {
        if self.schema.is_some() {
            bail!("--schema is an option of --predictor; a model has its schema in it");
        }
        match self.limits().into_iter().chain(self.graph()).find(is_given) {
            Some((name, _)) => bail!("--{name} is an option of --predictor"),
            None => Ok(()),
        }
    }

    /// The options of commands, and whether they are given.
    fn limits(&self) -> [(&'static str, bool); 2] {
        [
            ("predictor-timeout", self.predictor_timeout.is_some()),
            ("predictor-rows", self.predictor_rows.is_some()),
        ]
    }

    /// The options of ONNX graphs, and whether they are given.
    fn graph(&self) -> [(&'static str, bool); 3] {
        [
            ("onnx-categories", self.onnx_categories.is_some()),
            ("onnx-output", self.onnx_output.is_some()),
            ("onnx-gives", self.onnx_gives.is_some()),
        ]
    }

    /// Puts the limits given on the command line into `options`.
    pub(super) fn overrule(&self, options: &mut PredictorOptions) -> anyhow::Result<()> {
        self.check(&options.source)?;
        if let Some(time) = self.predictor_timeout {
            options.timeout_seconds = time.as_secs_f64();
        }
        if let Some(rows) = self.predictor_rows {
            ensure!(
                (1..=ROWS_AT_MOST).contains(&rows),
                "--predictor-rows is {rows}, but must be from 1 to {ROWS_AT_MOST}"
            );
            options.rows = rows;
        }
        Ok(())
    }

    /// Refuses options that `source` has no use for.
    fn check(&self, source: &PredictorSource) -> anyhow::Result<()> {
        let (given, what) = match source {
            PredictorSource::Onnx(_) => (self.limits().into_iter().find(is_given), "an ONNX file"),
            PredictorSource::Command(_) => (self.graph().into_iter().find(is_given), "a command"),
        };
        match given {
            Some((name, _)) => bail!("--{name} has no meaning for {what}"),
            None => Ok(()),
        }
    }
}

fn is_given(option: &(&str, bool)) -> bool {
    option.1
}

/// Refuses a device for what runs on none.
pub(super) fn refuse_device(device: DeviceName) -> anyhow::Result<()> {
    ensure!(
        matches!(device, DeviceName::Auto | DeviceName::Flex),
        "--device {device} has no meaning for a predictor: it answers where it is"
    );
    Ok(())
}

/// The name that messages call a run's model by.
pub(super) fn name_of(predictor: Option<&PredictorOptions>, model: &std::path::Path) -> String {
    predictor.map_or_else(
        || model.display().to_string(),
        |predictor| predictor.source.to_string(),
    )
}

/// The file or folder that `--model` names where the run's model has moved; a predictor has none.
pub(super) fn refuse_moved(model: Option<&PathBuf>) -> anyhow::Result<()> {
    ensure!(
        model.is_none(),
        "--model has no meaning for a run on a predictor: it is where {} says",
        probity::run::run_directory::RUN
    );
    Ok(())
}
