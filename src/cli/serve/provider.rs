//! The identity provider of the service, as options.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;

use probity::serve::ProviderOptions;

/// Who says who people are. All three are needed, or none.
#[derive(Debug, Args)]
#[command(next_help_heading = "Identity provider")]
pub(super) struct ProviderArgs {
    /// Issuer of the OpenID Connect provider that people log in by, such as
    /// https://login.example.org/realms/staff
    #[arg(long, value_name = "URL", requires_all = ["oidc_client", "oidc_secret"])]
    oidc_issuer: Option<String>,
    /// What the provider calls this service: its client ID
    #[arg(long, value_name = "ID", requires = "oidc_issuer")]
    oidc_client: Option<String>,
    /// File with the client secret that the provider gave, and nothing else
    #[arg(long, value_name = "FILE", requires = "oidc_issuer")]
    oidc_secret: Option<PathBuf>,
    /// File with the certificates, as PEM, that stand behind the provider's [default: those that
    /// browsers trust]
    #[arg(long, value_name = "FILE", requires = "oidc_issuer")]
    oidc_ca: Option<PathBuf>,
}

impl ProviderArgs {
    /// The provider, if one is named.
    pub fn resolve(&self) -> anyhow::Result<Option<ProviderOptions>> {
        let named = (&self.oidc_issuer, &self.oidc_client, &self.oidc_secret);
        let (Some(issuer), Some(client), Some(file)) = named else {
            return Ok(None);
        };
        let secret = std::fs::read_to_string(file)
            .with_context(|| format!("cannot read the client secret in {}", file.display()))?;
        let secret = secret.trim().to_owned();
        let mut options = ProviderOptions::new(issuer.clone(), client.clone(), secret);
        options.authorities.clone_from(&self.oidc_ca);
        Ok(Some(options))
    }
}
