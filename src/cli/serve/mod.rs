//! `probity serve`

mod artefacts;
mod data;
mod limits;
mod provider;
mod tokens;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, Subcommand};

use super::exit_code::ExitCode;
use super::invocation;
use super::numbers::whole;
use super::output::{Output, print};
use artefacts::ArtefactsArgs;
use data::DataDirectory;
use limits::LimitArgs;
use probity::serve::inspection::Inspection;
use probity::serve::{Service, ServiceOptions};
use provider::ProviderArgs;
use tokens::{ListArgs, ProjectArgs, RevokeArgs, TokenArgs};

/// Threads that answer requests; the jobs have processes of their own.
const THREADS: usize = 2;

/// Exit code of a second Ctrl-C.
const INTERRUPTED: i32 = 130;

/// Arguments of `probity serve`.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "It listens on this machine only unless --address says otherwise; docs/service.md tells how to put it behind TLS."
)]
pub(super) struct ServeArgs {
    #[command(subcommand)]
    command: Option<ServeCommand>,
    #[command(flatten)]
    data: DataDirectory,
    /// Port to listen on; 0: one that is free
    #[arg(long, value_name = "PORT", default_value_t = 8080, value_parser = whole::<u16>(0..=65_535), allow_hyphen_values = true)]
    port: u16,
    /// Address to listen on
    #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    address: IpAddr,
    /// Proxy that is believed when it says in X-Forwarded-For whom it asks for, and in
    /// X-Forwarded-Proto how; repeatable
    #[arg(long, value_name = "ADDRESS")]
    proxy: Vec<IpAddr>,
    /// Name of the service in browsers besides localhost and its addresses, such as
    /// audits.example.org; repeatable
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,
    /// Let webhooks lead to private addresses: those of this machine and its network
    #[arg(long)]
    private_hooks: bool,
    #[command(flatten)]
    provider: ProviderArgs,
    #[command(flatten)]
    artefacts: ArtefactsArgs,
    #[command(flatten)]
    limits: LimitArgs,
}

#[derive(Debug, Subcommand)]
enum ServeCommand {
    /// Make a project, whose things those with a token of it see alone
    Project(ProjectArgs),
    /// List the projects
    Projects(ListArgs),
    /// Make a token and print it, which is shown this once; or give a person access, who logs in by
    /// the identity provider
    Token(TokenArgs),
    /// List the tokens
    Tokens(ListArgs),
    /// Revoke a token, and end its sessions
    Revoke(RevokeArgs),
    /// Print who did what, as CSV
    Log(ListArgs),
    /// Look at what a user sent; for the service itself
    #[command(hide = true)]
    Inspect {
        /// File that says at what
        request: PathBuf,
    },
}

/// Runs `probity serve`.
pub(super) fn run(args: ServeArgs, output: &Output) -> anyhow::Result<ExitCode> {
    keep_private();
    match args.command {
        None => serve(&args, output),
        Some(ServeCommand::Project(args)) => tokens::make_project(&args, output),
        Some(ServeCommand::Projects(args)) => tokens::list_projects(&args, output),
        Some(ServeCommand::Log(args)) => tokens::log(&args, output),
        Some(ServeCommand::Token(args)) => tokens::make(&args, output),
        Some(ServeCommand::Tokens(args)) => tokens::list(&args, output),
        Some(ServeCommand::Revoke(args)) => tokens::revoke(&args, output),
        Some(ServeCommand::Inspect { request }) => {
            let answer = Inspection::read(&request)?.run()?;
            print(&answer.to_string())?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Lets nobody else read the files that this process and its jobs make.
#[cfg(unix)]
pub(super) fn keep_private() {
    use nix::sys::stat::{Mode, umask};
    umask(Mode::S_IRWXG | Mode::S_IRWXO);
}

#[cfg(not(unix))]
pub(super) fn keep_private() {}

fn serve(args: &ServeArgs, output: &Output) -> anyhow::Result<ExitCode> {
    output.refuse_json("serve")?;
    let program = invocation::program()?;
    let mut options = ServiceOptions::new(args.data.data_dir.clone(), program);
    options.database = args.data.database()?;
    options.limits = args.limits.resolve();
    options.proxies.clone_from(&args.proxy);
    options.hosts.clone_from(&args.host);
    options.private_hooks = args.private_hooks;
    options.provider = args.provider.resolve()?;
    options.artefacts = args.artefacts.resolve();
    let service = Service::open(options)?;
    if !service.has_tokens()? {
        output.remark(&format!(
            "note: nobody can use the service yet; make a token with: probity serve token {}",
            args.data.words()
        ));
    }
    if !args.address.is_loopback() {
        output.remark(
            "note: others can reach this address, and what they send is not encrypted; put a proxy with TLS before it (docs/service.md)",
        );
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(THREADS)
        .enable_all()
        .build()
        .context("cannot start the threads that answer requests")?;
    let address = SocketAddr::new(args.address, args.port);
    runtime.block_on(async {
        let listening = service.listen(address).await?;
        print(&format!(
            "Probity listens on http://{}\n",
            listening.address()?
        ))?;
        listening.run(asked_to_end()).await?;
        Ok(ExitCode::SUCCESS)
    })
}

/// Waits for Ctrl-C or SIGTERM; from then on a second one ends the program at once.
pub(super) async fn asked_to_end() {
    signal().await;
    tokio::spawn(async {
        signal().await;
        std::process::exit(INTERRUPTED);
    });
}

#[cfg(unix)]
async fn signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let listened = signal(SignalKind::interrupt()).and_then(|interrupt| {
        let terminate = signal(SignalKind::terminate())?;
        Ok((interrupt, terminate))
    });
    match listened {
        Ok((mut interrupt, mut terminate)) => {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        }
        // Without a handler the signals end the program, as they do by themselves.
        Err(_) => std::future::pending().await,
    }
}

#[cfg(not(unix))]
async fn signal() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
