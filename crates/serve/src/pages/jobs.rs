//! The page of a job: its progress, live where scripts run, and what can be done about it.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::State as Shared;
use axum::response::IntoResponse;
use axum::response::sse::{Event, KeepAlive, Sse};
use tokio_stream::StreamExt;
use tokio_stream::wrappers::WatchStream;

use super::answer::{Answer, page, redirect};
use super::asked::facts;
use super::figures::{doubts, result_of};
use super::named::{Named, Path};
use super::sent::SentForm;
use super::views::{JobPage, Shown, State, UsualAudit};
use super::words::{message, percent_done, phase, state};
use crate::identifier::Id;
use crate::jobs::board::JobView;
use crate::jobs::specification::JobKind;
use crate::operations::{data, jobs, results};
use crate::problem::Problem;
use crate::service::Service;
use crate::store::{JobState, Scope};

/// The least time between two looks at a job.
const PACE: Duration = Duration::from_millis(250);

impl Shown {
    /// Makes what is shown of `view`. A job that is done shows what came of it.
    async fn read(service: &Service, scope: &Scope, view: &JobView) -> Result<Shown, Problem> {
        let result = result_of(service, scope, view).await?;
        let is_training = view.job.kind == JobKind::Train && view.job.state == JobState::Done;
        let doubts = match is_training {
            // A model without a summary is as good as before; only its quality is unknown.
            true => results::summary(service, scope, &view.job.id)
                .await
                .map_or(Vec::new(), |summary| doubts(&summary)),
            false => Vec::new(),
        };
        Ok(Shown::new(view, result, &doubts))
    }

    fn new(view: &JobView, result: State, doubts: &[String]) -> Shown {
        let job = &view.job;
        let state = match result.text.is_empty() {
            true => state(job.state),
            false => State {
                name: job.state.name(),
                ..result
            },
        };
        let mut said = vec![message(view)];
        said.extend_from_slice(doubts);
        said.retain(|sentence| !sentence.is_empty());
        // A stopped audit has a result too: what it had found when it stopped.
        let is_done = match job.state {
            JobState::Done => true,
            JobState::Stopped => job.kind == JobKind::Audit,
            _ => false,
        };
        Shown {
            state: state.name,
            state_class: state.class,
            state_text: state.text,
            phase: phase(job, view.progress.as_ref()),
            percent: percent_done(view.progress.as_ref()),
            message: said.join(" "),
            is_over: job.state.is_final(),
            is_done,
            can_resume: job.state == JobState::Stopped,
        }
    }
}

/// Shows a job.
pub(super) async fn show(Named(service, visitor, id): Named) -> Answer {
    let view = jobs::job(&service, &visitor.may, &id).await?;
    let shown = Shown::read(&service, &visitor.may, &view).await?;
    let facts = facts(&service, &visitor.may, &view.job).await;
    let (result, result_text) = match view.job.kind {
        JobKind::Train => (format!("/models/{id}"), "See the model"),
        _ => (format!("/runs/{id}"), "See the result"),
    };
    let stop_hint = match view.job.kind {
        JobKind::Train => "It can go on later where it stopped.",
        JobKind::Audit => "What was found until then is kept, and it can go on later.",
        JobKind::Repair => "Models that are complete are kept, and it can go on later.",
        JobKind::Counterparts | JobKind::Situations | JobKind::Proxies => {
            "Nothing is kept of it; it can begin anew later."
        }
    };
    let resume_text = match view.job.kind.goes_on() {
        true => "Go on where it stopped",
        false => "Begin anew",
    };
    let events = match shown.is_over {
        true => String::new(),
        false => format!("/jobs/{id}/events"),
    };
    let audit = match view.job.kind {
        JobKind::Train => usual_audit(&service, &visitor.may, view.job.specification.data()).await,
        _ => None,
    };
    page(&JobPage {
        frame: &visitor.frame(""),
        id: id.as_str(),
        kind: view.job.kind.title(),
        heading: &view.job.label,
        events: &events,
        shown: &shown,
        stop_hint,
        resume_text,
        result: &result,
        result_text,
        audit: audit.as_ref(),
        facts: &facts,
    })
}

/// The audit of a model that learns from the table `id`, by the attributes that its schema marks as
/// protected; none where it marks none.
async fn usual_audit(service: &Service, scope: &Scope, id: &Id) -> Option<UsualAudit> {
    let schema = data::schema(service, scope, id).await.ok()?;
    let protected = schema.attributes.into_iter().filter(|one| one.protected);
    let protected: Vec<String> = protected.map(|one| one.name).collect();
    (!protected.is_empty()).then(|| UsualAudit {
        data: id.to_string(),
        protected,
    })
}

/// Sends the events of a job: the parts of its page that change, whenever they change, until the
/// job is over.
pub(super) async fn events(Named(service, visitor, id): Named) -> Answer {
    let place = service.gate.enter_stream(visitor.caller())?;
    let views = jobs::watch_job(&service, &visitor.may, &id).await?;
    let (service, scope) = (service.clone(), visitor.may.clone());
    let events = WatchStream::new(views)
        .throttle(PACE)
        .then(move |view| {
            let (service, scope) = (service.clone(), scope.clone());
            async move {
                let shown = Shown::read(&service, &scope, &view).await;
                // What came of the job is on its page, where it cannot be read now.
                let shown = shown.unwrap_or_else(|_| Shown::new(&view, State::default(), &[]));
                Event::default().event("view").json_data(shown)
            }
        })
        .map(move |event| {
            // The stream holds its place until nobody listens any more.
            let _ = &place;
            // The fields are texts and numbers, which always have a JSON form.
            Ok::<_, Infallible>(event.unwrap_or_default())
        });
    Ok(Sse::new(events)
        .keep_alive(KeepAlive::default())
        .into_response())
}

/// Asks a job to stop.
pub(super) async fn stop(
    Shared(service): Shared<Service>,
    Path(id): Path,
    sent: SentForm,
) -> Answer {
    jobs::stop_job(&service, &sent.visitor.may, &id).await?;
    Ok(redirect(&format!("/jobs/{id}")))
}

/// Lets a stopped job go on.
pub(super) async fn resume(
    Shared(service): Shared<Service>,
    Path(id): Path,
    sent: SentForm,
) -> Answer {
    jobs::resume_job(&service, &sent.visitor.may, &id).await?;
    Ok(redirect(&format!("/jobs/{id}")))
}
