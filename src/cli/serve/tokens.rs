//! `probity serve token`, `tokens` and `revoke`

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;

use crate::cli::output::Output;
use crate::cli::render::table;
use probity::serve::identifier::Id;
use probity::serve::store::Store;

/// Where the service keeps what it has.
#[derive(Debug, Clone, Args)]
pub(super) struct DataDirectory {
    /// Folder for the database, uploads, models and runs
    #[arg(long, default_value = "probity-data", value_name = "DIR")]
    pub data_dir: PathBuf,
}

impl DataDirectory {
    /// The database, which is made where there is none.
    fn store(&self) -> anyhow::Result<Store> {
        let name = || format!("cannot use {}", self.data_dir.display());
        std::fs::create_dir_all(&self.data_dir).with_context(name)?;
        Store::open(&self.data_dir).with_context(name)
    }
}

/// Arguments of `probity serve token`.
#[derive(Debug, Args)]
pub(super) struct TokenArgs {
    #[command(flatten)]
    data: DataDirectory,
    /// What it is called in lists, such as the name of its owner
    #[arg(long, value_name = "NAME", default_value = "")]
    name: String,
}

/// Arguments of `probity serve tokens`.
#[derive(Debug, Args)]
pub(super) struct TokensArgs {
    #[command(flatten)]
    data: DataDirectory,
}

/// Arguments of `probity serve revoke`.
#[derive(Debug, Args)]
pub(super) struct RevokeArgs {
    /// Identifier of the token, as `probity serve tokens` lists it
    id: String,
    #[command(flatten)]
    data: DataDirectory,
}

/// Makes a token.
pub(super) fn make(args: &TokenArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let name = args.name.trim();
    if name.chars().count() > 100 || name.chars().any(char::is_control) {
        bail!("--name is at most 100 characters without control characters");
    }
    let token = args.data.store()?.create_token(name)?;
    output.remark(
        "note: this token is shown now and never again; whoever has it can use the service",
    );
    output.result(
        &serde_json::json!({ "token": token }),
        &format!("{token}\n"),
    )
}

/// Lists the tokens.
pub(super) fn list(args: &TokensArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let tokens = args.data.store()?.tokens()?;
    let rows: Vec<Vec<String>> = tokens
        .iter()
        .map(|token| {
            let revoked = token.revoked.map(|moment| moment.to_string());
            vec![
                token.id.to_string(),
                token.label.clone(),
                token.created.to_string(),
                revoked.unwrap_or_default(),
            ]
        })
        .collect();
    output.result(
        &tokens,
        &table(&["token", "label", "made", "revoked"], &rows),
    )
}

/// Revokes a token.
pub(super) fn revoke(args: &RevokeArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let id: Id = args
        .id
        .parse()
        .with_context(|| format!("'{}' names no token", args.id))?;
    if !args.data.store()?.revoke_token(&id)? {
        bail!("there is no valid token {id}; probity serve tokens lists them");
    }
    output.result(
        &serde_json::json!({ "revoked": id }),
        &format!("The token {id} is revoked.\n"),
    )
}
