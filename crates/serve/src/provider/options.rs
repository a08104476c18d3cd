//! The options of the operator that name the identity provider of a service.

use std::path::PathBuf;

use openidconnect::IssuerUrl;
use thiserror::Error;
use ureq::tls::RootCerts;

use crate::identifier::NoRandomness;
use crate::outside;

/// The identity provider of a service, and the name and the secret of the service there.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ProviderOptions {
    /// The issuer: an address of `https`, or of `http` on this machine.
    pub issuer: String,
    /// The identifier of the service as a client of the provider.
    pub client: String,
    /// The secret with which the service proves that it is this client.
    pub secret: String,
    /// The file of the root certificates, as PEM, that are trusted for the provider; none: those
    /// that browsers trust.
    pub authorities: Option<PathBuf>,
}

impl ProviderOptions {
    /// Makes the options for the provider `issuer`, which knows the service as `client` with
    /// `secret`.
    pub fn new(issuer: String, client: String, secret: String) -> ProviderOptions {
        ProviderOptions {
            issuer,
            client,
            secret,
            authorities: None,
        }
    }

    /// Returns the issuer, and the name of its machine.
    /// Fails where this is no address of an issuer, or the name or the secret is missing.
    pub(super) fn issuer(&self) -> Result<(IssuerUrl, String), ProviderError> {
        let wrong = || ProviderError::Issuer(self.issuer.clone());
        let issuer = IssuerUrl::new(self.issuer.clone()).map_err(|_| wrong())?;
        let url = issuer.url();
        let host = url.host_str().ok_or_else(wrong)?.to_owned();
        let is_here = ["localhost", "127.0.0.1", "[::1]"].contains(&host.as_str());
        let has_tls = url.scheme() == "https" || url.scheme() == "http" && is_here;
        let is_plain = url.query().is_none() && url.fragment().is_none();
        let has_login = !url.username().is_empty() || url.password().is_some();
        if !has_tls || !is_plain || has_login {
            return Err(wrong());
        }
        for (name, text) in [("name", &self.client), ("secret", &self.secret)] {
            if text.is_empty() {
                return Err(ProviderError::Empty(name));
            }
        }
        Ok((issuer, host))
    }

    /// Returns the root certificates that are trusted for the provider.
    /// Fails where the certificates cannot be read.
    pub(super) fn roots(&self) -> Result<RootCerts, ProviderError> {
        outside::roots(self.authorities.as_deref()).map_err(ProviderError::Authorities)
    }
}

/// The reason why nobody can ever log in by the provider that was named.
#[derive(Debug, Error)]
pub enum ProviderError {
    /// The address of the issuer is not one.
    #[error(
        "'{0}' is no issuer; an address is expected such as https://login.example.org, or one of http on this machine"
    )]
    Issuer(String),
    /// The name or the secret is empty.
    #[error("the {0} of the service with the identity provider is empty")]
    Empty(&'static str),
    /// The certificates cannot be read.
    #[error("{0}")]
    Authorities(String),
    /// The operating system has no random bits.
    #[error("{0}")]
    Random(#[from] NoRandomness),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(issuer: &str) -> ProviderOptions {
        ProviderOptions::new(issuer.to_owned(), "probity".to_owned(), "secret".to_owned())
    }

    fn read(issuer: &str) -> Result<(IssuerUrl, String), ProviderError> {
        options(issuer).issuer()
    }

    #[test]
    fn issuers_have_tls_or_are_on_this_machine() {
        for right in [
            "https://login.example.org",
            "https://login.example.org/realms/staff",
            "http://localhost:8180/realms/staff",
            "http://127.0.0.1:8180",
            "http://[::1]:8180",
        ] {
            assert!(read(right).is_ok(), "{right}");
        }
        for wrong in [
            "",
            "login.example.org",
            "http://login.example.org",
            "http://localhost.example.org",
            "ftp://login.example.org",
            "https://login.example.org/?tenant=1",
            "https://login.example.org/#a",
            "https://ada:secret@login.example.org/",
        ] {
            assert!(
                matches!(read(wrong), Err(ProviderError::Issuer(_))),
                "{wrong}"
            );
        }
    }

    #[test]
    fn what_is_missing_is_named() {
        let mut nameless = options("https://login.example.org");
        nameless.client.clear();
        let said = nameless.issuer().unwrap_err().to_string();
        assert!(said.contains("the name of the service"), "{said}");
        let mut open = options("https://login.example.org");
        open.secret.clear();
        let said = open.issuer().unwrap_err().to_string();
        assert!(said.contains("the secret of the service"), "{said}");
    }

    #[test]
    fn certificates_are_those_of_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let mut options = options("https://login.example.org");
        assert!(matches!(options.roots(), Ok(RootCerts::WebPki)));
        let file = folder.path().join("authorities.pem");
        options.authorities = Some(file.clone());
        for wrong in [None, Some("")] {
            if let Some(text) = wrong {
                std::fs::write(&file, text).unwrap();
            }
            let said = options.roots().unwrap_err().to_string();
            assert!(said.contains("authorities.pem"), "{said}");
        }
    }
}
