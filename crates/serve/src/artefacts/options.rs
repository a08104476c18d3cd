//! The options of the operator that say where artefacts are stored.

use std::path::PathBuf;
use std::time::Duration;

use axum::http::Uri;
use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey};
use object_store::{BackoffConfig, RetryConfig};
use thiserror::Error;

use super::connector::Connector;
use crate::outside;
use crate::places::is_plain_name;

/// The beginning of the address of a place for artefacts.
const SCHEME: &str = "s3://";

/// The numbers of characters that the name of a bucket may have.
const BUCKET: std::ops::RangeInclusive<usize> = 3..=63;

/// How often a request is sent again where the storage did not answer, or answered that it failed.
const TRIES: usize = 3;

/// How long after its beginning a request may be sent again.
const PATIENCE: Duration = Duration::from_secs(10);

/// The longest pause before a request is sent again.
const PAUSE: Duration = Duration::from_secs(2);

/// The place of the artefacts of a service: storage that speaks the protocol of Amazon S3. Keys,
/// region and endpoint are in the environment, as the tools of AWS read them.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ArtefactsOptions {
    /// The address: `s3://BUCKET/PREFIX`, or `s3://BUCKET`.
    pub address: String,
    /// The file of the root certificates, as PEM, that are trusted for the storage; none: those
    /// that browsers trust.
    pub authorities: Option<PathBuf>,
}

/// A bucket, and the beginning of all keys in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub bucket: String,
    /// The parts of the beginning; none: keys begin at the root of the bucket.
    pub prefix: Vec<String>,
}

impl ArtefactsOptions {
    /// Makes the options for artefacts at `address`.
    pub fn new(address: String) -> ArtefactsOptions {
        ArtefactsOptions {
            address,
            authorities: None,
        }
    }

    /// Returns the place.
    /// Fails where the address is none. A prefix has plain parts only, so that no key leads out of
    /// it.
    pub(super) fn place(&self) -> Result<Place, ArtefactsError> {
        // What stands before an @ may be a secret.
        let shown = self.address.rsplit('@').next().unwrap_or_default();
        let wrong = || ArtefactsError::Address(shown.to_owned());
        let rest = self.address.strip_prefix(SCHEME).ok_or_else(wrong)?;
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let mut parts = rest.split('/').map(str::to_owned);
        let bucket = parts.next().unwrap_or_default();
        let prefix: Vec<String> = parts.collect();
        let is_bucket = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-._".contains(c);
        let is_right = BUCKET.contains(&bucket.len())
            && bucket.starts_with(|c: char| c.is_ascii_alphanumeric())
            && bucket.chars().all(is_bucket)
            && prefix.iter().all(|part| is_plain_name(part));
        match is_right {
            true => Ok(Place { bucket, prefix }),
            false => Err(wrong()),
        }
    }

    /// Makes the client of the storage.
    /// Fails where the environment does not say what it needs, or the certificates cannot be read.
    pub(super) fn client(&self, place: &Place) -> Result<AmazonS3, ArtefactsError> {
        let roots = outside::roots(self.authorities.as_deref());
        let roots = roots.map_err(ArtefactsError::Authorities)?;
        let retries = RetryConfig {
            backoff: BackoffConfig {
                max_backoff: PAUSE,
                ..BackoffConfig::default()
            },
            max_retries: TRIES,
            retry_timeout: PATIENCE,
        };
        let environment = AmazonS3Builder::from_env();
        check(&environment).map_err(ArtefactsError::Settings)?;
        environment
            .with_bucket_name(&place.bucket)
            // Not every storage of this protocol deletes several objects at once.
            .with_disable_bulk_delete(true)
            .with_retry(retries)
            .with_http_connector(Connector::new(roots))
            .build()
            .map_err(|error| ArtefactsError::Settings(error.to_string()))
    }
}

/// Checks what the environment says, as far as its reader does not.
/// Fails with what is wrong.
fn check(environment: &AmazonS3Builder) -> Result<(), String> {
    let endpoint = environment.get_config_value(&AmazonS3ConfigKey::Endpoint);
    if endpoint.is_some_and(|endpoint| !is_endpoint(&endpoint)) {
        let expected =
            "AWS_ENDPOINT_URL reads like https://storage.example.org, without a name or a password";
        return Err(expected.to_owned());
    }
    for (key, name) in [
        (AmazonS3ConfigKey::AccessKeyId, "AWS_ACCESS_KEY_ID"),
        (AmazonS3ConfigKey::SecretAccessKey, "AWS_SECRET_ACCESS_KEY"),
        (AmazonS3ConfigKey::Token, "AWS_SESSION_TOKEN"),
        (AmazonS3ConfigKey::Region, "AWS_REGION"),
    ] {
        let value = environment.get_config_value(&key).unwrap_or_default();
        if !value.chars().all(|c| c.is_ascii_graphic()) {
            return Err(format!(
                "{name} holds a space, or what is no ASCII character"
            ));
        }
    }
    Ok(())
}

fn is_endpoint(text: &str) -> bool {
    let Ok(uri) = text.parse::<Uri>() else {
        return false;
    };
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    matches!(uri.scheme_str(), Some("http" | "https"))
        && !authority.is_empty()
        && !authority.contains('@')
}

/// The reason why a service cannot keep its artefacts in the storage that was named.
#[derive(Debug, Error)]
pub enum ArtefactsError {
    /// The address is none of a place for artefacts.
    #[error(
        "'{0}' is no place for artefacts; an address is expected such as s3://bucket/prefix, of letters, digits, dots, hyphens and underscores"
    )]
    Address(String),
    /// The environment does not say what is needed.
    #[error("the storage of artefacts cannot be set up: {0}")]
    Settings(String),
    /// The certificates cannot be read.
    #[error("{0}")]
    Authorities(String),
    /// The storage does not answer, or refuses.
    #[error("cannot use {address}: {why}")]
    Away {
        /// The address.
        address: String,
        /// What the storage did or did not do.
        why: String,
    },
    /// Another service keeps its artefacts there.
    #[error(
        "{address} holds the artefacts of another service; take another prefix, or the database that belongs to them"
    )]
    Foreign {
        /// The address.
        address: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(address: &str) -> Result<Place, ArtefactsError> {
        ArtefactsOptions::new(address.to_owned()).place()
    }

    #[test]
    fn what_the_environment_says_is_looked_at() {
        let with = |key, value: &str| {
            let environment = AmazonS3Builder::new().with_config(key, value);
            check(&environment)
        };
        let endpoint = AmazonS3ConfigKey::Endpoint;
        for right in ["https://storage.example.org", "http://127.0.0.1:9000/"] {
            assert!(with(endpoint, right).is_ok(), "{right}");
        }
        for wrong in [
            "",
            "127.0.0.1:9000",
            "storage.example.org",
            "https://storage example.org",
            "ftp://storage.example.org",
            "https://me:secret@storage.example.org",
        ] {
            let said = with(endpoint, wrong).unwrap_err();
            assert!(
                said.contains("AWS_ENDPOINT_URL") && !said.contains("secret"),
                "{wrong}"
            );
        }
        let said = with(AmazonS3ConfigKey::Region, "eu-central-1\n").unwrap_err();
        assert!(said.contains("AWS_REGION"), "{said}");
        assert!(check(&AmazonS3Builder::new()).is_ok());
    }

    #[test]
    fn keys_cannot_leave_the_prefix() {
        for (address, bucket, prefix) in [
            ("s3://artefacts", "artefacts", vec![]),
            ("s3://artefacts/", "artefacts", vec![]),
            ("s3://a.b-c/probity", "a.b-c", vec!["probity"]),
            ("s3://abc/teams/audits_1/", "abc", vec!["teams", "audits_1"]),
        ] {
            let place = place(address).unwrap();
            assert_eq!(place.bucket, bucket);
            assert_eq!(place.prefix, prefix);
        }
        for wrong in [
            "",
            "artefacts",
            "s3://",
            "s3://ab",
            "s3:///probity",
            "s3://Artefacts",
            "s3://-artefacts",
            "s3://artefacts/..",
            "s3://artefacts/a/../b",
            "s3://artefacts/a//b",
            "s3://artefacts/.hidden",
            "s3://artefacts/a b",
            "s3://artefacts/a?b",
            "s3://artefacts/a%2fb",
            "https://artefacts/a",
        ] {
            let said = place(wrong).unwrap_err().to_string();
            assert!(said.contains("is no place for artefacts"), "{wrong}");
        }
    }
}
