//! What a search looks at: a model directory, or a predictor.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::inputs::{Hardware, OutsideArg, absolute, with_outside};
use super::output::Output;
use super::predictor::{PredictorArgs, refuse_device};
use probity::data::schema::{Outside, Schema};
use probity::nn::model::Model;
use probity::nn::text_model::is_text_model;
use probity::predictor::source::{OpenPredictor, PredictorOptions};
use probity::tensor::device::{ComputeDevice, use_threads};

/// A model of tables as far as its inputs go.
pub(super) struct Audited {
    /// Its directory; empty for a predictor.
    pub model: PathBuf,
    /// What identifies it.
    pub sha256: String,
    /// Its inputs.
    pub schema: Schema,
    /// The predictor, if it is one.
    pub predictor: Option<PredictorOptions>,
    /// `--outside`, where that is not in the schema already.
    pub outside: Option<Outside>,
}

impl Audited {
    /// What `--model` or `--predictor` names. For a model of texts, `texts` says what to do instead.
    pub(super) fn of(
        model: Option<&PathBuf>,
        predictor: &PredictorArgs,
        outside: Option<OutsideArg>,
        texts: &str,
    ) -> anyhow::Result<Audited> {
        if let Some(mut predictor) = predictor.options()? {
            // What is made of outside values is told to the predictor, so it belongs to its schema.
            if let Some(outside) = outside {
                predictor.schema = with_outside(predictor.schema, outside)?;
            }
            return Ok(Audited {
                model: PathBuf::new(),
                sha256: predictor.sha256()?,
                schema: predictor.schema.clone(),
                predictor: Some(predictor),
                outside: None,
            });
        }
        let Some(path) = model else {
            bail!("--model or --predictor is needed");
        };
        expect_tables(path, texts)?;
        let model = Model::load(path)?;
        if let Some(outside) = outside {
            with_outside(model.schema.clone(), outside)?;
        }
        Ok(Audited {
            model: absolute(path),
            sha256: model.sha256(),
            schema: model.schema,
            predictor: None,
            outside: outside.map(Into::into),
        })
    }
}

/// Refuses a model of texts; `instead` says what to do.
fn expect_tables(model: &Path, instead: &str) -> anyhow::Result<()> {
    if is_text_model(model) {
        bail!(
            "{} classifies texts, not tables; {instead}",
            model.display()
        );
    }
    Ok(())
}

/// The device to search on; a predictor needs none.
pub(super) fn device(
    hardware: &Hardware,
    has_predictor: bool,
    output: &Output,
) -> anyhow::Result<ComputeDevice> {
    if has_predictor {
        refuse_device(hardware.device)?;
        use_threads(hardware.threads.map(usize::from))?;
        return Ok(ComputeDevice::flex());
    }
    hardware.open(output)
}

/// Opens a predictor.
pub(super) fn open(predictor: &PredictorOptions) -> anyhow::Result<OpenPredictor> {
    predictor
        .open()
        .with_context(|| predictor.source.to_string())
}

/// Says by how much a predictor's answers to one row differ, if they do.
pub(super) fn remark_on_difference(difference: f32, output: &Output) {
    if difference > 0.0 {
        output.remark(&format!(
            "note: asked twice for the same row, the predictor's answers differ by up to {difference:.1e}; \
             a repeated run may find slightly other pairs"
        ));
    }
}
