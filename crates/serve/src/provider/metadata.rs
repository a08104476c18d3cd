//! The metadata of the provider: its addresses and keys, kept for a while.

use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use openidconnect::core::{
    CoreAuthDisplay, CoreClaimName, CoreClaimType, CoreClientAuthMethod, CoreGrantType,
    CoreJsonWebKey, CoreJweContentEncryptionAlgorithm, CoreJweKeyManagementAlgorithm,
    CoreResponseMode, CoreResponseType, CoreSubjectIdentifierType,
};
use openidconnect::{
    AdditionalProviderMetadata, HttpRequest, HttpResponse, IssuerUrl, ProviderMetadata,
};
use probity_run::failure::said;
use serde::{Deserialize, Serialize};

use super::asking::Unanswered;
use super::failure::Failure;

/// How long metadata and keys are kept.
const KEPT: Duration = Duration::from_secs(3600);

/// The least age at which keys are asked for again because a token names another one.
const AGE: Duration = Duration::from_secs(60);

/// How long a provider that failed is not asked again: people who wait for it wait once, not in
/// turn.
const PAUSE: Duration = Duration::from_secs(5);

/// The additional metadata of RFC 9207.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
pub(super) struct Extra {
    /// Whether the provider names itself where it sends the browser back.
    #[serde(default)]
    authorization_response_iss_parameter_supported: bool,
}

impl Extra {
    /// Whether the provider names itself where it sends the browser back.
    pub fn names_itself(&self) -> bool {
        self.authorization_response_iss_parameter_supported
    }
}

impl AdditionalProviderMetadata for Extra {}

/// The metadata of a provider, with its keys.
pub(super) type Metadata = ProviderMetadata<
    Extra,
    CoreAuthDisplay,
    CoreClientAuthMethod,
    CoreClaimName,
    CoreClaimType,
    CoreGrantType,
    CoreJweContentEncryptionAlgorithm,
    CoreJweKeyManagementAlgorithm,
    CoreJsonWebKey,
    CoreResponseMode,
    CoreResponseType,
    CoreSubjectIdentifierType,
>;

/// The provider's last answer or failure, and its time.
type Said = (Result<Arc<Metadata>, Failure>, Instant);

/// A store of the provider's last answer.
#[derive(Default)]
pub(super) struct Kept(Mutex<Option<Said>>);

impl Kept {
    /// Returns the provider's metadata at the time `now`, by `ask` where those that are kept are
    /// too old; `anew` where its keys seem to have changed.
    pub fn get(
        &self,
        issuer: &IssuerUrl,
        ask: impl Fn(HttpRequest) -> Result<HttpResponse, Unanswered>,
        anew: bool,
        now: Instant,
    ) -> Result<Arc<Metadata>, Failure> {
        // Whoever asks meanwhile waits for the same answer.
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((said, at)) = said.as_ref() {
            let lasts = match said {
                Ok(_) if anew => AGE,
                Ok(_) => KEPT,
                Err(_) => PAUSE,
            };
            if now.saturating_duration_since(*at) < lasts {
                return said.clone();
            }
        }
        let found = Metadata::discover(issuer, &ask);
        let found = found.map(Arc::new).map_err(|error| failure(&error));
        *said = Some((found.clone(), now));
        found
    }
}

/// Makes a failure from an error, with all its causes.
pub(super) fn failure(error: &(dyn Error + 'static)) -> Failure {
    Failure::new(&said(error))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    const ISSUER: &str = "https://login.example.org";

    /// Answers as an honest provider with one key does.
    fn honest(request: &HttpRequest) -> HttpResponse {
        let answer = match request.uri().path() {
            "/keys" => serde_json::json!({"keys": []}),
            _ => serde_json::json!({
                "issuer": ISSUER,
                "authorization_endpoint": format!("{ISSUER}/authorize"),
                "jwks_uri": format!("{ISSUER}/keys"),
                "response_types_supported": ["code"],
                "subject_types_supported": ["public"],
                "id_token_signing_alg_values_supported": ["RS256"],
            }),
        };
        HttpResponse::new(answer.to_string().into_bytes())
    }

    #[test]
    fn a_provider_is_asked_again_once_its_answer_is_old() {
        let issuer = IssuerUrl::new(ISSUER.to_owned()).unwrap();
        let kept = Kept::default();
        let (asked, fails) = (Cell::new(0), Cell::new(false));
        let start = Instant::now();
        let get = |anew: bool, after: Duration| {
            let ask = |request: HttpRequest| {
                asked.set(asked.get() + 1);
                match fails.get() {
                    true => Err(Unanswered::TooLong),
                    false => Ok(honest(&request)),
                }
            };
            let found = kept.get(&issuer, ask, anew, start + after);
            (found.is_ok(), asked.replace(0))
        };
        assert_eq!(get(false, Duration::ZERO), (true, 2));
        assert_eq!(get(false, Duration::ZERO), (true, 0));
        // Not everybody who names another key has the keys asked for again.
        assert_eq!(get(true, Duration::ZERO), (true, 0));
        assert_eq!(get(false, AGE), (true, 0));
        assert_eq!(get(true, AGE), (true, 2));
        fails.set(true);
        let old = AGE + KEPT;
        assert_eq!(get(false, old), (false, 1));
        assert_eq!(get(false, old), (false, 0));
        fails.set(false);
        assert_eq!(get(false, old + PAUSE), (true, 2));
    }
}
