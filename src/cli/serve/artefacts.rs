//! The storage of artefacts of the service, as options.

use std::path::PathBuf;

use clap::Args;

use probity::serve::ArtefactsOptions;

/// Where uploads, models and runs are stored.
#[derive(Debug, Args)]
#[command(next_help_heading = "Storage")]
pub(super) struct ArtefactsArgs {
    /// Bucket for uploads, models and runs, and the beginning of their keys there, such as
    /// s3://bucket/probity; the environment says the keys of access, AWS_REGION and
    /// AWS_ENDPOINT_URL [default: the data directory]
    #[arg(long, value_name = "ADDRESS")]
    artefacts: Option<String>,
    /// File with the certificates, as PEM, that stand behind the storage's [default: those that
    /// browsers trust]
    #[arg(long, value_name = "FILE", requires = "artefacts")]
    artefacts_ca: Option<PathBuf>,
}

impl ArtefactsArgs {
    /// The storage, if one is named.
    pub fn resolve(&self) -> Option<ArtefactsOptions> {
        let mut options = ArtefactsOptions::new(self.artefacts.clone()?);
        options.authorities.clone_from(&self.artefacts_ca);
        Some(options)
    }
}
