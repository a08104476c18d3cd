//! `probity serve project`, `projects`, `token`, `tokens`, `revoke` and `log`: whoever can open the
//! database administers the service.

use std::time::Duration;

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};

use super::data::DataDirectory;
use crate::cli::exit_code::ExitCode;
use crate::cli::numbers::{self, whole};
use crate::cli::output::{Output, print};
use crate::cli::render::table;
use probity::serve::identifier::Id;
use probity::serve::moment::Moment;
use probity::serve::store::{
    Administer, Changed, Holder, LOG_HEAD, MadeToken, NewToken, Person, Project, Quotas, Role,
    Store, log_lines,
};

/// The project that tokens are of unless they are of another one; it is made where it is missing.
const PROJECT: &str = "main";

/// Days that a token may be valid at most.
const MOST_DAYS: u64 = 3650;

/// Arguments of `probity serve project`.
#[derive(Debug, Args)]
pub(super) struct ProjectArgs {
    /// What it shall be called; no two have the same name
    name: String,
    #[command(flatten)]
    data: DataDirectory,
    /// Bytes that it may store [default: as the service allows]
    #[arg(long, value_name = "BYTES", value_parser = numbers::bytes(), allow_hyphen_values = true)]
    max_storage: Option<u64>,
    /// Its jobs that run at the same time [default: as the service allows]
    #[arg(long, value_name = "N", value_parser = whole::<u32>(0..=65_535), allow_hyphen_values = true)]
    jobs: Option<u32>,
    /// Its jobs that wait [default: as the service allows]
    #[arg(long, value_name = "N", value_parser = whole::<u32>(0..=65_535), allow_hyphen_values = true)]
    queue: Option<u32>,
    /// Days after their end that its jobs are deleted with what they found [default: as the service
    /// keeps them]
    #[arg(long, value_name = "DAYS", value_parser = whole::<u32>(1..=3650), allow_hyphen_values = true)]
    keep_jobs: Option<u32>,
}

/// Arguments of the commands that list something.
#[derive(Debug, Args)]
pub(super) struct ListArgs {
    #[command(flatten)]
    data: DataDirectory,
}

/// What a token lets its holder do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RoleArg {
    /// See everything in the project
    Viewer,
    /// Besides, upload, start jobs, delete, share reports
    Editor,
    /// Besides, give and revoke tokens of the project, read its log
    Owner,
    /// Make and delete projects and give tokens of all, and see nothing in them
    Administrator,
    /// Take jobs of all projects and bring back what they found (probity work), and nothing else
    Worker,
}

/// Arguments of `probity serve token`.
#[derive(Debug, Args)]
pub(super) struct TokenArgs {
    #[command(flatten)]
    data: DataDirectory,
    /// What it is called in lists and in the log, such as the name of its owner
    #[arg(
        long,
        value_name = "NAME",
        default_value = "",
        conflicts_with = "person"
    )]
    name: String,
    /// Give access to a person instead, who logs in by the identity provider and needs no token:
    /// their e-mail address, or the identifier that the provider has for them
    #[arg(long, value_name = "PERSON")]
    person: Option<Person>,
    /// Project that it is of [default: main, which is made where it is missing]
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
    /// What it lets its holder do
    #[arg(long, value_enum, default_value_t = RoleArg::Owner)]
    role: RoleArg,
    /// Days that it is valid [default: until it is revoked]
    #[arg(long, value_name = "N", value_parser = whole::<u64>(1..=MOST_DAYS), allow_hyphen_values = true)]
    days: Option<u64>,
}

/// Arguments of `probity serve revoke`.
#[derive(Debug, Args)]
pub(super) struct RevokeArgs {
    /// Identifier of the token, as `probity serve tokens` lists it
    id: String,
    #[command(flatten)]
    data: DataDirectory,
}

/// A name in lists.
fn name<'n>(option: &str, text: &'n str) -> anyhow::Result<&'n str> {
    let name = text.trim();
    if name.chars().count() > 100 || name.chars().any(char::is_control) {
        bail!("{option} is at most 100 characters without control characters");
    }
    Ok(name)
}

fn administer() -> Administer {
    Administer::at_the_machine()
}

fn made(store: &Store, name: &str, quotas: Quotas) -> anyhow::Result<Project> {
    match store.create_project(&administer(), name, quotas)? {
        Changed::Done(project) => Ok(project),
        _ => bail!("there is a project called '{name}' already"),
    }
}

/// Makes a project.
pub(super) fn make_project(args: &ProjectArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let name = name("the name of a project", &args.name)?;
    if name.is_empty() {
        bail!("the name of a project is empty");
    }
    let quotas = Quotas {
        stored_bytes: args.max_storage,
        jobs: args.jobs,
        queue: args.queue,
        kept_days: args.keep_jobs,
    };
    let project = made(&args.data.store()?, name, quotas)?;
    let said = format!("The project {} is called '{name}'.\n", project.id);
    output.result(&project, &said)
}

/// Lists the projects.
pub(super) fn list_projects(args: &ListArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let projects = args.data.store()?.all_projects(&administer())?;
    let number = |quota: Option<u64>| quota.map_or(String::new(), |most| most.to_string());
    let rows: Vec<Vec<String>> = projects
        .iter()
        .map(|project| {
            let quotas = &project.quotas;
            vec![
                project.id.to_string(),
                project.name.clone(),
                project.created.to_string(),
                number(quotas.stored_bytes),
                number(quotas.jobs.map(u64::from)),
                number(quotas.queue.map(u64::from)),
                number(quotas.kept_days.map(u64::from)),
            ]
        })
        .collect();
    let head = ["project", "name", "made", "bytes", "jobs", "queue", "days"];
    output.result(&projects, &table(&head, &rows))
}

/// Makes a token, or gives a person access.
pub(super) fn make(args: &TokenArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let holder = match &args.person {
        Some(person) => Holder::Person(person.clone()),
        None => Holder::Bearer(name("--name", &args.name)?.to_owned()),
    };
    if args.person.is_some() && matches!(args.role, RoleArg::Worker) {
        bail!("--person is a person; a worker has a token with --name");
    }
    if args.project.is_some() && !Role::IN_PROJECTS.contains(&role_of(args.role)) {
        bail!(
            "--project is given to tokens of a project; those of administrators and workers have none"
        );
    }
    let store = args.data.store()?;
    let time = |days: u64| Moment::now().after(Duration::from_secs(days * 24 * 3600));
    let expires = args.days.map(time);
    let new = NewToken {
        holder,
        role: role_of(args.role),
        expires,
    };
    let made = match Role::IN_PROJECTS.contains(&new.role) {
        true => of_a_project(&store, args.project.as_deref().unwrap_or(PROJECT), &new)?,
        false => store.create_token_of_all(&administer(), &new)?,
    };
    let Some(token) = made.text else {
        let MadeToken { record, .. } = made;
        let said = format!(
            "{} can log in by the identity provider ({}).\n",
            record.label, record.id
        );
        return output.result(&record, &said);
    };
    output.remark(
        "note: this token is shown now and never again; whoever has it can use the service",
    );
    output.result(
        &serde_json::json!({ "token": token }),
        &format!("{token}\n"),
    )
}

fn role_of(role: RoleArg) -> Role {
    match role {
        RoleArg::Viewer => Role::Viewer,
        RoleArg::Editor => Role::Editor,
        RoleArg::Owner => Role::Owner,
        RoleArg::Administrator => Role::Administrator,
        RoleArg::Worker => Role::Worker,
    }
}

fn of_a_project(store: &Store, name: &str, new: &NewToken) -> anyhow::Result<MadeToken> {
    if name == PROJECT && store.project_called(&administer(), PROJECT)?.is_none() {
        // Whether it was made here, or by another process since.
        let _ = store.create_project(&administer(), PROJECT, Quotas::default())?;
    }
    let Some(project) = store.project_called(&administer(), name)? else {
        bail!("there is no project called '{name}'; probity serve project makes one");
    };
    let made = store.create_token(&administer().manages(&project.id), new)?;
    made.with_context(|| format!("the project '{name}' was deleted"))
}

/// Lists the tokens.
pub(super) fn list(args: &ListArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let store = args.data.store()?;
    let tokens = store.tokens(&administer())?;
    let projects = store.all_projects(&administer())?;
    let name = |id: &Id| projects.iter().find(|project| project.id == *id);
    let moment = |moment: Option<Moment>| moment.map_or(String::new(), |at| at.to_string());
    let rows: Vec<Vec<String>> = tokens
        .iter()
        .map(|token| {
            let project = token.project.as_ref().and_then(name);
            vec![
                token.id.to_string(),
                token.label.clone(),
                project.map_or(String::new(), |project| project.name.clone()),
                token.role.name().to_owned(),
                token.created.to_string(),
                moment(token.expires),
                moment(token.revoked),
            ]
        })
        .collect();
    let head = [
        "token", "label", "project", "role", "made", "expires", "revoked",
    ];
    output.result(&tokens, &table(&head, &rows))
}

/// Revokes a token.
pub(super) fn revoke(args: &RevokeArgs, output: &Output) -> anyhow::Result<ExitCode> {
    let id: Id = args
        .id
        .parse()
        .with_context(|| format!("'{}' names no token", args.id))?;
    if !args.data.store()?.revoke_any_token(&administer(), &id)? {
        bail!("there is no valid token {id}; probity serve tokens lists them");
    }
    output.result(
        &serde_json::json!({ "revoked": id }),
        &format!("The token {id} is revoked.\n"),
    )
}

/// Prints who did what, as CSV, the newest entry first.
pub(super) fn log(args: &ListArgs, output: &Output) -> anyhow::Result<ExitCode> {
    output.refuse_json("serve log")?;
    let store = args.data.store()?;
    print(LOG_HEAD)?;
    let mut before = i64::MAX;
    loop {
        let entries = store.whole_log(&administer(), before, 500)?;
        let Some(last) = entries.last() else {
            return Ok(ExitCode::SUCCESS);
        };
        before = last.number;
        print(&log_lines(&entries)?)?;
    }
}
