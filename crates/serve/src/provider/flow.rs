//! The two steps in which the provider takes part: the way of the browser to it, and the identity
//! of the person who comes back.

use std::sync::Arc;
use std::time::Instant;

use openidconnect::core::{
    CoreAuthenticationFlow, CoreClient, CoreClientAuthMethod, CoreIdToken, CoreIdTokenClaims,
    CoreJwsSigningAlgorithm, CoreTokenResponse, CoreUserInfoClaims,
};
use openidconnect::{
    AccessToken, AuthType, AuthorizationCode, ClaimsVerificationError, ClientId, ClientSecret,
    CsrfToken, EndpointMaybeSet, EndpointNotSet, EndpointSet, IssuerUrl, Nonce,
    OAuth2TokenResponse, PkceCodeChallenge, PkceCodeVerifier, RedirectUrl, Scope,
    SignatureVerificationError, TokenResponse,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use ureq::tls::RootCerts;

use super::asking::Asking;
use super::begun::{Begins, Begun};
use super::failure::Failure;
use super::metadata::{Kept, Metadata, failure};
use super::options::{ProviderError, ProviderOptions};
use crate::address::Address;
use crate::shares::Allowances;
use crate::store::Identity;

/// The number of steps of log-ins that may wait for the provider at the same time.
const AT_ONCE: usize = 16;

/// The number of steps of log-ins from one address in a second, an address that a whole office may
/// share; twice as many may come at once.
const RATE: u32 = 20;

/// The signature algorithms that are accepted: those with keys that only the provider has.
const SIGNATURES: [CoreJwsSigningAlgorithm; 9] = [
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha256,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha384,
    CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha512,
    CoreJwsSigningAlgorithm::RsaSsaPssSha256,
    CoreJwsSigningAlgorithm::RsaSsaPssSha384,
    CoreJwsSigningAlgorithm::RsaSsaPssSha512,
    CoreJwsSigningAlgorithm::EcdsaP256Sha256,
    CoreJwsSigningAlgorithm::EcdsaP384Sha384,
    CoreJwsSigningAlgorithm::EdDsa,
];

/// The identity provider of a service.
pub struct Provider {
    issuer: IssuerUrl,
    host: String,
    client: ClientId,
    secret: ClientSecret,
    roots: RootCerts,
    kept: Kept,
    places: Arc<Semaphore>,
    attempts: Allowances<Address>,
    /// The log-ins that were begun.
    pub(crate) begins: Begins,
}

/// The values with which the browser came back.
pub(crate) struct Returned<'r> {
    /// The authorisation code.
    pub code: &'r str,
    /// The issuer in the answer, where the provider names itself.
    pub issuer: Option<&'r str>,
}

/// The service as a client of the provider.
type Client = CoreClient<
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointMaybeSet,
    EndpointMaybeSet,
>;

impl Provider {
    /// Makes the provider that `options` name. It is not asked for anything yet.
    ///
    /// # Errors
    /// When the options name no provider.
    pub fn new(options: ProviderOptions) -> Result<Provider, ProviderError> {
        let (issuer, host) = options.issuer()?;
        Ok(Provider {
            host,
            roots: options.roots()?,
            client: ClientId::new(options.client),
            secret: ClientSecret::new(options.secret),
            kept: Kept::default(),
            places: Arc::new(Semaphore::new(AT_ONCE)),
            attempts: Allowances::new(RATE),
            begins: Begins::new()?,
            issuer,
        })
    }

    /// The name of the provider's machine, by which people know the provider.
    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    /// Lets a step of a log-in from `address` wait for the provider, `now`, unless too many do.
    pub(crate) fn enter(&self, address: Address, now: Instant) -> Option<OwnedSemaphorePermit> {
        if !self.attempts.take(&address, now) {
            return None;
        }
        self.places.clone().try_acquire_owned().ok()
    }

    /// Asks the provider for its metadata, for the first time or again. Waits for the answer.
    pub(crate) fn ask(&self) -> Result<(), Failure> {
        self.metadata(&self.asking(), false).map(drop)
    }

    /// The address that the browser is sent to for the log-in, with `back` as the address to come
    /// back to. Waits for the provider.
    pub(crate) fn address(&self, begun: &Begun, back: &str) -> Result<String, Failure> {
        let metadata = self.metadata(&self.asking(), false)?;
        let client = self.client(&metadata, back)?;
        let nonce = Nonce::new(self.nonce(begun)?);
        let challenge = PkceCodeChallenge::from_code_verifier_sha256(&self.verifier(begun)?);
        let state = CsrfToken::new(begun.state.clone());
        let asked = client.authorize_url(
            CoreAuthenticationFlow::AuthorizationCode,
            move || state,
            move || nonce,
        );
        let asked = asked.add_scope(Scope::new("email".to_owned()));
        Ok(asked.set_pkce_challenge(challenge).url().0.into())
    }

    /// Finds out who came back from the provider with `returned`. Waits for the provider.
    pub(crate) fn identity(
        &self,
        begun: &Begun,
        back: &str,
        returned: &Returned<'_>,
    ) -> Result<Identity, Failure> {
        let asking = self.asking();
        let metadata = self.metadata(&asking, false)?;
        let names_itself = metadata.additional_metadata().names_itself();
        match returned.issuer {
            Some(issuer) if issuer != self.issuer.as_str() => {
                return Err(Failure::new("another provider sent the browser back"));
            }
            None if names_itself => {
                return Err(Failure::new("it sent the browser back without its name"));
            }
            _ => {}
        }
        let client = self.client(&metadata, back)?;
        let code = AuthorizationCode::new(returned.code.to_owned());
        let request = client.exchange_code(code).map_err(|e| failure(&e))?;
        let request = request.set_pkce_verifier(self.verifier(begun)?);
        let answer: CoreTokenResponse = request
            .request(&|request| asking.ask(request))
            .map_err(|error| failure(&error))?;
        let token = answer.id_token();
        let token = token.ok_or_else(|| Failure::new("it gave no ID token"))?;
        let nonce = Nonce::new(self.nonce(begun)?);
        let claims = match self.checked(&client, token, &nonce) {
            Err(ClaimsVerificationError::SignatureVerification(
                SignatureVerificationError::NoMatchingKey,
            )) => {
                let metadata = self.metadata(&asking, true)?;
                let client = self.client(&metadata, back)?;
                self.checked(&client, token, &nonce).cloned()
            }
            claims => claims.cloned(),
        };
        let claims = claims.map_err(|error| failure(&error))?;
        if claims.subject().is_empty() {
            return Err(Failure::new("its ID token names nobody"));
        }
        let party = claims.authorized_party();
        if party.is_some_and(|party| **party != *self.client) {
            return Err(Failure::new("its ID token is for another party"));
        }
        let mut email = verified(
            claims.email().map(|it| it.as_str()),
            claims.email_verified(),
        );
        if email.is_none() && client.user_info_url().is_some() {
            let more = self.more(&client, answer.access_token(), &claims, &asking)?;
            email = verified(more.email().map(|it| it.as_str()), more.email_verified());
        }
        Ok(Identity {
            issuer: self.issuer.as_str().to_owned(),
            subject: claims.subject().as_str().to_owned(),
            email,
        })
    }

    /// Asks the provider for what it says about the person of `claims` beside the ID token.
    fn more(
        &self,
        client: &Client,
        access: &AccessToken,
        claims: &CoreIdTokenClaims,
        asking: &Asking,
    ) -> Result<CoreUserInfoClaims, Failure> {
        // The token becomes part of a header.
        if !access.secret().bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Failure::new("its access token has characters of no token"));
        }
        let subject = Some(claims.subject().clone());
        let request = client.user_info(access.clone(), subject);
        let request = request.map_err(|error| failure(&error))?;
        let answer = request.request(&|request| asking.ask(request));
        answer.map_err(|error| failure(&error))
    }

    fn checked<'t>(
        &self,
        client: &Client,
        token: &'t CoreIdToken,
        nonce: &Nonce,
    ) -> Result<&'t CoreIdTokenClaims, ClaimsVerificationError> {
        let verifier = client.id_token_verifier().set_allowed_algs(SIGNATURES);
        token.claims(&verifier, nonce)
    }

    fn asking(&self) -> Asking {
        Asking::begin(self.issuer.url().scheme() == "http", self.roots.clone())
    }

    fn metadata(&self, asking: &Asking, anew: bool) -> Result<Arc<Metadata>, Failure> {
        let ask = |request| asking.ask(request);
        self.kept.get(&self.issuer, ask, anew, Instant::now())
    }

    fn nonce(&self, begun: &Begun) -> Result<String, Failure> {
        self.begins.nonce(begun).map_err(|error| failure(&error))
    }

    fn verifier(&self, begun: &Begun) -> Result<PkceCodeVerifier, Failure> {
        let verifier = self.begins.verifier(begun);
        verifier
            .map(PkceCodeVerifier::new)
            .map_err(|error| failure(&error))
    }

    fn client(&self, metadata: &Metadata, back: &str) -> Result<Client, Failure> {
        let to = metadata.authorization_endpoint().url();
        if to.scheme() != "https" && to.scheme() != self.issuer.url().scheme() {
            return Err(Failure::new("its log-in has an address without TLS"));
        }
        let back = RedirectUrl::new(back.to_owned()).map_err(|error| failure(&error))?;
        let methods = metadata.token_endpoint_auth_methods_supported();
        let has = |method| methods.is_some_and(|methods| methods.contains(&method));
        // OpenID Connect Discovery 1.0 makes HTTP Basic the method of providers that name none.
        let is_posted = has(CoreClientAuthMethod::ClientSecretPost)
            && !has(CoreClientAuthMethod::ClientSecretBasic);
        let secret = Some(self.secret.clone());
        let client =
            CoreClient::from_provider_metadata(metadata.clone(), self.client.clone(), secret);
        Ok(client
            .set_redirect_uri(back)
            .set_auth_type(match is_posted {
                true => AuthType::RequestBody,
                false => AuthType::BasicAuth,
            }))
    }
}

/// Returns an e-mail address if the provider has verified it.
fn verified(email: Option<&str>, is_verified: Option<bool>) -> Option<String> {
    email
        .filter(|_| is_verified == Some(true))
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn steps_of_one_address_are_bounded() {
        let options = ["https://login.example.org", "probity", "secret"].map(str::to_owned);
        let [issuer, client, secret] = options;
        let provider = Provider::new(ProviderOptions::new(issuer, client, secret)).unwrap();
        let now = Instant::now();
        let enter = |last, now| {
            let address = Address::from(std::net::IpAddr::from([192, 0, 2, last]));
            provider.enter(address, now)
        };
        let entered = |now| (0..50).filter(|_| enter(1, now).is_some()).count();
        assert_eq!(entered(now), 2 * RATE as usize);
        // The allowance grows again with time.
        assert_eq!(entered(now + Duration::from_secs(1)), RATE as usize);
        let places: Vec<_> = (2..40).filter_map(|n| enter(n, now)).collect();
        assert_eq!(places.len(), AT_ONCE);
        drop(places);
        assert!(enter(50, now).is_some());
    }

    #[test]
    fn only_verified_addresses_count() {
        let email = Some("ada@example.org");
        assert_eq!(verified(email, Some(true)).as_deref(), email);
        for unverified in [None, Some(false)] {
            assert_eq!(verified(email, unverified), None);
        }
    }
}
