//! Keys of Ed25519 in the files that OpenSSL keeps them in: PKCS#8 and SubjectPublicKeyInfo, in
//! PEM ([RFC 8410](https://www.rfc-editor.org/rfc/rfc8410)).

use std::fs;
use std::path::Path;

use ed25519_dalek::pkcs8::{DecodePrivateKey, DecodePublicKey};
use ed25519_dalek::{SIGNATURE_LENGTH, Signature, Signer, SigningKey, VerifyingKey};
use sha2::{Digest, Sha256};

use super::error::SealError;
use crate::error::RunError;
use crate::hash::hex;

/// The bytes before the 32 bytes of a public key of Ed25519 in a SubjectPublicKeyInfo (RFC 8410,
/// section 4).
const PUBLIC_KEY_INFO: [u8; 12] = [
    0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00,
];

/// A private key, which signs.
pub struct PrivateKey {
    key: SigningKey,
    public: PublicKey,
}

/// A public key, which checks the signatures of its private key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey {
    key: VerifyingKey,
    id: String,
}

impl PrivateKey {
    /// Reads a private key, as `openssl genpkey -algorithm ed25519` writes one.
    ///
    /// # Errors
    /// When the file cannot be read, or holds something else.
    pub fn read(file: &Path) -> Result<PrivateKey, SealError> {
        let (text, expected) = (read(file)?, "private key of Ed25519 in PKCS#8 and PEM");
        if text.contains("-----BEGIN ENCRYPTED PRIVATE KEY-----") {
            let problem = "it is encrypted, and no passphrase is asked for: openssl pkey -in FILE \
                           -out OTHER writes it decrypted, to a place that only you can read";
            return Err(other(file, expected, &problem));
        }
        let key =
            SigningKey::from_pkcs8_pem(&text).map_err(|error| other(file, expected, &error))?;
        Ok(PrivateKey::new(key))
    }

    pub(super) fn new(key: SigningKey) -> PrivateKey {
        PrivateKey {
            public: PublicKey::new(key.verifying_key()),
            key,
        }
    }

    /// Returns the public half of the key.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    pub(super) fn sign(&self, message: &[u8]) -> [u8; SIGNATURE_LENGTH] {
        self.key.sign(message).to_bytes()
    }
}

impl PublicKey {
    /// Reads a public key, as `openssl pkey -pubout` writes one.
    ///
    /// # Errors
    /// When the file cannot be read, or holds something else.
    pub fn read(file: &Path) -> Result<PublicKey, SealError> {
        let key = VerifyingKey::from_public_key_pem(&read(file)?)
            .map_err(|error| other(file, "public key of Ed25519 in PEM", &error))?;
        Ok(PublicKey::new(key))
    }

    fn new(key: VerifyingKey) -> PublicKey {
        let mut hasher = Sha256::new();
        hasher.update(PUBLIC_KEY_INFO);
        hasher.update(key.as_bytes());
        PublicKey {
            id: hex(&hasher.finalize()),
            key,
        }
    }

    /// Returns the SHA-256 of the key's SubjectPublicKeyInfo, in hex.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns whether `signature` is the key's signature of `message`, in the one form that it can
    /// have.
    pub(super) fn has_signed(&self, message: &[u8], signature: &[u8]) -> bool {
        let signature = Signature::from_slice(signature);
        signature.is_ok_and(|signature| self.key.verify_strict(message, &signature).is_ok())
    }
}

fn read(file: &Path) -> Result<String, SealError> {
    let read = fs::read_to_string(file).map_err(|source| RunError::Read {
        file: file.to_owned(),
        source,
    });
    Ok(read?)
}

fn other(file: &Path, expected: &'static str, error: &dyn std::fmt::Display) -> SealError {
    SealError::Key {
        file: file.to_owned(),
        expected,
        problem: error.to_string(),
    }
}
