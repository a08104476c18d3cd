//! The envelope of a seal: DSSE in JSON, with one signature.
//!
//! What is signed is the *pre-authentication encoding* of payload type and payload. The rest of the
//! file, the form of the JSON and the name of the key, is held to be what this build writes, byte
//! for byte, so that nothing in it can be changed either.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use super::key::{PrivateKey, PublicKey};
use super::statement::Statement;
use crate::error::{RunError, foreign};
use crate::names::SEAL;

const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Envelope {
    payload_type: String,
    payload: String,
    signatures: Vec<EnvelopeSignature>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EnvelopeSignature {
    keyid: String,
    sig: String,
}

impl Envelope {
    pub fn signed(statement: &Statement, key: &PrivateKey) -> Result<Envelope, RunError> {
        let payload = serde_json::to_vec(statement);
        let payload = payload.map_err(|error| foreign(SEAL.as_ref(), &error))?;
        let signature = key.sign(&pre_authentication_encoding(PAYLOAD_TYPE, &payload));
        Ok(Envelope {
            payload_type: PAYLOAD_TYPE.to_owned(),
            payload: STANDARD.encode(&payload),
            signatures: vec![EnvelopeSignature {
                keyid: key.public().id().to_owned(),
                sig: STANDARD.encode(signature),
            }],
        })
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        // Texts alone have a form in JSON whatever they hold.
        let mut bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    /// Reads the envelope of [`Envelope::to_bytes`], or returns what is wrong with it.
    pub fn from_bytes(bytes: &[u8]) -> Result<Envelope, String> {
        let envelope: Envelope =
            serde_json::from_slice(bytes).map_err(|error| format!("is no seal: {error}"))?;
        if envelope.payload_type != PAYLOAD_TYPE {
            let found = &envelope.payload_type;
            return Err(format!("holds '{found}', not '{PAYLOAD_TYPE}'"));
        }
        if envelope.signatures.len() != 1 {
            let found = envelope.signatures.len();
            return Err(format!("has {found} signatures; a seal has one"));
        }
        match envelope.to_bytes() == bytes {
            true => Ok(envelope),
            false => Err("was changed: it is not in the one form that seals have".to_owned()),
        }
    }

    /// Returns the name of the key that the envelope says it is signed by.
    pub fn key(&self) -> &str {
        self.signatures
            .first()
            .map_or("", |signature| &signature.keyid)
    }

    /// Returns the statement in the envelope, if one of `keys` has signed it.
    pub fn statement_by(&self, keys: &[PublicKey]) -> Result<Statement, String> {
        let Some(key) = keys.iter().find(|key| key.id() == self.key()) else {
            let given: Vec<&str> = keys.iter().map(PublicKey::id).collect();
            return Err(format!(
                "is signed by another key than the one given: by {}, not {}",
                self.key(),
                given.join(", ")
            ));
        };
        let payload = self.payload()?;
        let message = pre_authentication_encoding(&self.payload_type, &payload);
        let signatures = self.signatures.iter();
        let mut signatures = signatures.map(|signature| STANDARD.decode(&signature.sig));
        if !signatures.all(|sig| sig.is_ok_and(|sig| key.has_signed(&message, &sig))) {
            return Err("was changed: its signature is not that of what it states".to_owned());
        }
        Statement::from_payload(&payload)
    }

    /// Returns the statement in the envelope, whoever signed it.
    pub fn statement(&self) -> Result<Statement, String> {
        Statement::from_payload(&self.payload()?)
    }

    fn payload(&self) -> Result<Vec<u8>, String> {
        let decoded = STANDARD.decode(&self.payload);
        decoded.map_err(|error| format!("was changed: its payload is no base64: {error}"))
    }
}

/// Returns the bytes that are signed: both texts with their lengths.
fn pre_authentication_encoding(payload_type: &str, payload: &[u8]) -> Vec<u8> {
    let lengths = (payload_type.len(), payload.len());
    let mut message = format!("DSSEv1 {} {payload_type} {} ", lengths.0, lengths.1).into_bytes();
    message.extend_from_slice(payload);
    message
}
