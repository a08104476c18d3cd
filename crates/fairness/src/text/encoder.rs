//! The sentence encoder of an audit, in builds with an ONNX runtime and in those without.

use std::path::Path;

use crate::audit_error::AuditError;
use probity_nn::ModelError;
#[cfg(feature = "onnx")]
use probity_predictor::encoder::SentenceEncoder;

/// A sentence encoder.
pub struct Encoder {
    #[cfg(feature = "onnx")]
    inner: SentenceEncoder,
}

#[cfg(feature = "onnx")]
impl Encoder {
    /// The encoder in `file`.
    ///
    /// # Errors
    /// When it is no sentence encoder.
    pub fn open(file: &Path) -> Result<Encoder, AuditError> {
        let failed = |problem: String| AuditError::Model(ModelError::Encoder(problem));
        let inner = SentenceEncoder::open(file, None).map_err(|error| failed(error.to_string()))?;
        Ok(Encoder { inner })
    }

    /// The vector of `text`.
    ///
    /// # Errors
    /// When the encoder cannot answer.
    pub fn embed(&self, text: &str) -> Result<Vec<f32>, ModelError> {
        let vector = self.inner.embed(text);
        vector.map_err(|error| ModelError::Encoder(error.to_string()))
    }
}

#[cfg(not(feature = "onnx"))]
impl Encoder {
    /// Refuses every file.
    ///
    /// # Errors
    /// Always.
    pub fn open(_file: &Path) -> Result<Encoder, AuditError> {
        Err(AuditError::Model(ModelError::Encoder(
            "this build has no ONNX runtime; build it with the feature onnx".into(),
        )))
    }

    /// Never called: there is no encoder.
    ///
    /// # Errors
    /// Always.
    pub fn embed(&self, _text: &str) -> Result<Vec<f32>, ModelError> {
        Err(ModelError::Encoder("none is open".into()))
    }
}
