//! Has the process of an [`Inspection`] run, and turns its answer into a value or a problem.

use std::time::Duration;

use serde::de::DeserializeOwned;

use crate::Service;
use crate::inspection::Inspection;
use crate::jobs::process::{Answer, Bounds, ask};
use crate::problem::{Problem, ProblemKind};

/// How long a look may take.
const TIME: Duration = Duration::from_secs(120);

/// The answer to `inspection`.
///
/// # Errors
/// When what the user sent is refused, or is too much for the memory or the time that a look may take.
pub async fn inspect<T: DeserializeOwned>(
    service: &Service,
    inspection: Inspection,
) -> Result<T, Problem> {
    let _turn = service.turn_to_inspect().await?;
    let folder = service.places().uploads();
    let request = service
        .blocking(move || {
            let request = tempfile::Builder::new()
                .prefix("inspection-")
                .tempfile_in(folder)
                .map_err(|error| Problem::internal(&error))?
                .into_temp_path();
            inspection
                .write(&request)
                .map_err(|error| Problem::internal(&error))?;
            Ok(request)
        })
        .await?;
    let arguments = ["serve".into(), "inspect".into(), request.as_os_str().into()];
    let bounds = Bounds {
        memory: service.limits().job_memory,
        lock: None,
    };
    let answer = ask(service.executable(), &arguments, &bounds, TIME)
        .await
        .map_err(|error| Problem::internal(&error))?;
    match answer {
        Answer::Given(json) => {
            serde_json::from_slice(&json).map_err(|error| Problem::internal(&error))
        }
        Answer::Refused(why) => Err(Problem::invalid(sentence(
            &service.places().without_paths(&why),
        ))),
        Answer::OutOfMemory => Err(Problem::new(
            ProblemKind::TooLarge,
            "To read the file takes more memory than is allowed here.",
        )),
        Answer::OutOfTime => Err(Problem::new(
            ProblemKind::TooLarge,
            format!(
                "To read the file takes more than {} seconds.",
                TIME.as_secs()
            ),
        )),
        Answer::Broken(status) => Err(Problem::internal(&format_args!(
            "an inspection ended with {status}"
        ))),
    }
}

/// A message as a sentence. One that begins with the name of a file keeps it as it is.
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
