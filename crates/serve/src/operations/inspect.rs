//! Has processes of the service's program look at what users sent or make reports, and turns their
//! answers into values or problems.

use std::ffi::OsString;
use std::time::Duration;

use serde::de::DeserializeOwned;

use crate::fair::Party;
use crate::inspection::{Inspection, InspectionError};
use crate::jobs::process::{self, Answer, Bounds};
use crate::problem::{Problem, ProblemKind};
use crate::service::Service;

/// How long a process may take.
const TIME: Duration = Duration::from_secs(120);

/// A description of what a process does, for the problems that it may end in.
pub(super) struct Task {
    /// The task as in "To … takes too long".
    pub name: &'static str,
    /// What the user can do instead.
    pub instead: &'static str,
    /// The kind of problem that a refusal of the process becomes.
    pub refusal: ProblemKind,
}

/// Runs a process with `arguments` once there is a turn of `party` for it, and returns what it
/// prints.
pub(super) async fn ask(
    service: &Service,
    party: &Party,
    task: Task,
    arguments: &[OsString],
) -> Result<Vec<u8>, Problem> {
    let turn = service.inspections.take(party).await;
    let _turn = turn.map_err(|error| Problem::internal(&error))?;
    let bounds = Bounds {
        memory: service.limits.job_memory,
        lock: None,
        directory: None,
    };
    let Task { name, instead, .. } = task;
    let too_much = |detail: String| Err(Problem::new(ProblemKind::TooLarge, detail));
    match process::ask(&service.program, arguments, &bounds, TIME).await? {
        Answer::Given(printed) => Ok(printed),
        Answer::Refused(why) => {
            let detail = sentence(&service.places.without_paths(&why));
            Err(Problem::new(task.refusal, detail))
        }
        Answer::OutOfMemory => too_much(format!(
            "To {name} takes more memory than is allowed here{instead}."
        )),
        Answer::OutOfSpace => Err(Problem::disk_full()),
        Answer::OutOfTime => too_much(format!(
            "To {name} takes more than {} seconds{instead}.",
            TIME.as_secs()
        )),
        Answer::Broken(status) => Err(Problem::internal(&format_args!(
            "a process that was to {name} ended with {status}"
        ))),
    }
}

/// Does `inspection` in a process, in a turn of `party`, and returns the answer. Fails when what
/// the user sent is refused, or is too much for the memory or the time that a look may take.
pub async fn inspect<T: DeserializeOwned>(
    service: &Service,
    party: &Party,
    inspection: Inspection,
) -> Result<T, Problem> {
    let places = service.places.clone();
    let task = task(&inspection);
    let request = service
        .blocking(move || {
            let request = places.temporary("inspection-")?.into_temp_path();
            inspection.write(&request).map_err(|error| match error {
                InspectionError::Run(error) => error.into(),
                error => Problem::internal(&error),
            })?;
            Ok(request)
        })
        .await?;
    let arguments = ["serve".into(), "inspect".into(), request.as_os_str().into()];
    Ok(serde_json::from_slice(
        &ask(service, party, task, &arguments).await?,
    )?)
}

fn task(inspection: &Inspection) -> Task {
    match inspection {
        Inspection::Pairs { .. } => Task {
            name: "compare the pairs",
            instead: "; download the samples",
            refusal: ProblemKind::Conflict,
        },
        _ => Task {
            name: "read the file",
            instead: "",
            refusal: ProblemKind::Invalid,
        },
    }
}

/// Writes a message as a sentence. A message that begins with the name of a file keeps it as it is.
pub fn sentence(text: &str) -> String {
    let begins_with_file = text
        .split([' ', ',', ':'])
        .next()
        .is_some_and(|word| word.contains('.'));
    let mut characters = text.chars();
    let mut sentence = match characters.next() {
        Some(first) if !begins_with_file => first.to_uppercase().to_string() + characters.as_str(),
        _ => text.to_owned(),
    };
    if !sentence.ends_with(['.', '!', '?']) {
        sentence.push('.');
    }
    sentence
}
