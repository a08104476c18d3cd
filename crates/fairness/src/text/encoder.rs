//! The sentence encoder of an audit, in builds with an ONNX runtime and in those without.

use std::path::Path;

use crate::audit::AuditError;
use probity_nn::ModelError;
#[cfg(feature = "onnx")]
use probity_predictor::encoder::SentenceEncoder;

/// The sentence encoder that the options name, if any.
pub(super) struct Encoder {
    #[cfg(feature = "onnx")]
    inner: Option<SentenceEncoder>,
}

impl Encoder {
    #[cfg(feature = "onnx")]
    pub(super) fn open(file: Option<&Path>) -> Result<Encoder, AuditError> {
        let inner = file
            .map(|file| SentenceEncoder::open(file, None))
            .transpose()
            .map_err(|error| AuditError::Model(ModelError::Encoder(error.to_string())))?;
        Ok(Encoder { inner })
    }

    #[cfg(not(feature = "onnx"))]
    pub(super) fn open(file: Option<&Path>) -> Result<Encoder, AuditError> {
        match file {
            None => Ok(Encoder {}),
            Some(_) => Err(AuditError::Model(ModelError::Encoder(
                "this build has no ONNX runtime; build it with the feature onnx".into(),
            ))),
        }
    }

    #[cfg(feature = "onnx")]
    pub(super) fn embed(&self, text: &str) -> Result<Vec<f32>, ModelError> {
        let failed = |problem: String| ModelError::Encoder(problem);
        match &self.inner {
            Some(encoder) => encoder
                .embed(text)
                .map_err(|error| failed(error.to_string())),
            None => Err(failed("none is open".into())),
        }
    }

    #[cfg(not(feature = "onnx"))]
    pub(super) fn embed(&self, _text: &str) -> Result<Vec<f32>, ModelError> {
        Err(ModelError::Encoder("none is open".into()))
    }
}
