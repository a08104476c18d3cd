//! What jobs left behind: reports, summaries, samples; and several of them side by side.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::inspect::sentence;
use super::jobs::job;
use crate::Service;
use crate::identifier::Id;
use crate::jobs::board::JobView;
use crate::jobs::process::{Answer, Bounds, ask};
use crate::problem::{Problem, ProblemKind};
use crate::store::{Job, JobKind};
use probity_fairness::samples::SamplesFormat;
use probity_run::run_directory::SUMMARY;

/// The form of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReportForm {
    /// One self-contained page.
    #[default]
    Html,
    /// Markdown.
    Markdown,
    /// JSON.
    Json,
}

impl ReportForm {
    /// All forms.
    pub const ALL: [ReportForm; 3] = [ReportForm::Html, ReportForm::Markdown, ReportForm::Json];

    /// As on the command line.
    fn word(self) -> &'static str {
        match self {
            ReportForm::Html => "html",
            ReportForm::Markdown => "markdown",
            ReportForm::Json => "json",
        }
    }

    /// How the names of such files end.
    pub fn ending(self) -> &'static str {
        match self {
            ReportForm::Html => "html",
            ReportForm::Markdown => "md",
            ReportForm::Json => "json",
        }
    }

    /// Type of its content.
    fn media_type(self) -> &'static str {
        match self {
            ReportForm::Html => "text/html; charset=utf-8",
            ReportForm::Markdown => "text/markdown; charset=utf-8",
            ReportForm::Json => "application/json",
        }
    }
}

/// A text that was made for a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Type of its content.
    pub media_type: &'static str,
    /// The text.
    pub text: String,
}

/// A file of a run, to be sent as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFile {
    /// Where it lies.
    pub path: PathBuf,
    /// Type of its content.
    pub media_type: &'static str,
    /// What it shall be called at the user's.
    pub name: String,
}

/// The discriminatory share of random inputs, for some protected attributes.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ShareFigure {
    /// The attributes.
    pub protected: Vec<String>,
    /// The share.
    pub share: f64,
    /// The 95 % confidence interval.
    pub ci95: [f64; 2],
}

/// The main figures of an audit.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct AuditFigures {
    /// How the search ended: `complete`, `max_found`, `time` or `interrupted`.
    pub ending: String,
    /// Search strategy.
    pub strategy: String,
    /// Protected attributes.
    pub protected: Vec<String>,
    /// Distinct individuals checked.
    pub generated: u64,
    /// Distinct discriminatory individuals.
    pub discriminatory: u64,
    /// Search time in seconds.
    pub seconds: f64,
    /// Discriminatory share, per attribute and jointly.
    pub shares: Vec<ShareFigure>,
}

/// A job in a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ComparedJob {
    /// The job.
    pub job: JobView,
    /// What its data set is called, while there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_label: Option<String>,
    /// What its model is called, while there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_label: Option<String>,
    /// Its figures, for an audit that has some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit: Option<AuditFigures>,
}

/// Jobs side by side.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Comparison {
    /// The jobs, in the order asked for.
    pub jobs: Vec<ComparedJob>,
}

/// Jobs that are compared at most.
const COMPARED: usize = 20;

/// How long a report may take.
const REPORT_TIME: Duration = Duration::from_secs(120);

/// The report of a job's run. It is made once and kept. It names files by their paths in the data directory.
///
/// # Errors
/// When there is no job, or nothing to report on.
pub async fn report(service: &Service, id: &Id, form: ReportForm) -> Result<Document, Problem> {
    let job = job(service, id).await?.job;
    if job.kind == JobKind::Train {
        return Err(Problem::conflict(
            "There are reports on audits and repairs; a training has a summary.",
        ));
    }
    summary(service, id).await?;
    let kept = service.places().report(id, form.ending());
    let file = kept.clone();
    let found = service
        .blocking(move || Ok(fs::read_to_string(file).ok()))
        .await?;
    let text = match found {
        Some(text) => text,
        None => make_report(service, id, form, &kept).await?,
    };
    Ok(Document {
        media_type: form.media_type(),
        text: service.places().relative(&text),
    })
}

async fn make_report(
    service: &Service,
    id: &Id,
    form: ReportForm,
    kept: &Path,
) -> Result<String, Problem> {
    let _turn = service.turn_to_inspect().await?;
    let mut out = OsString::from("--out=");
    out.push(kept);
    let arguments = [
        "report".into(),
        service.places().run(id).into_os_string(),
        format!("--format={}", form.word()).into(),
        out,
    ];
    let bounds = Bounds {
        memory: service.limits().job_memory,
        lock: None,
    };
    let answer = ask(service.executable(), &arguments, &bounds, REPORT_TIME)
        .await
        .map_err(|error| Problem::internal(&error))?;
    match answer {
        Answer::Given(_) => {
            let file = kept.to_owned();
            service
                .blocking(move || {
                    fs::read_to_string(file).map_err(|error| Problem::internal(&error))
                })
                .await
        }
        Answer::Refused(why) => Err(Problem::conflict(sentence(
            &service.places().without_paths(&why),
        ))),
        Answer::OutOfMemory | Answer::OutOfTime => Err(Problem::new(
            ProblemKind::TooLarge,
            "To make the report takes more memory or time than is allowed here; download the samples.",
        )),
        Answer::Broken(status) => Err(Problem::internal(&format_args!(
            "a report ended with {status}"
        ))),
    }
}

/// The summary of a job's run, as the command line writes it.
///
/// # Errors
/// When there is no job, or no summary yet.
pub async fn summary(service: &Service, id: &Id) -> Result<Value, Problem> {
    let job = job(service, id).await?.job;
    match read_summary(service, &job).await? {
        Some(summary) => Ok(summary),
        None => Err(Problem::conflict(format!(
            "There are no results: the job is {}.",
            job.state.name()
        ))),
    }
}

/// The summary of `job`, if it is at an end and has one.
async fn read_summary(service: &Service, job: &Job) -> Result<Option<Value>, Problem> {
    if !job.state.is_final() {
        return Ok(None);
    }
    let file = service.places().run(&job.id).join(SUMMARY);
    service
        .blocking(move || {
            let Ok(bytes) = fs::read(file) else {
                return Ok(None);
            };
            serde_json::from_slice(&bytes)
                .map(Some)
                .map_err(|error| Problem::internal(&error))
        })
        .await
}

/// The samples that an audit found.
///
/// # Errors
/// When there is no job, it is no audit, or it has found nothing yet.
pub async fn samples(service: &Service, id: &Id) -> Result<RunFile, Problem> {
    let job = job(service, id).await?.job;
    let Some(audit) = job.specification.as_audit() else {
        return Err(Problem::conflict("Only audits find samples."));
    };
    summary(service, id).await?;
    let (ending, media_type) = match audit.samples_format {
        SamplesFormat::Csv => ("csv", "text/csv; charset=utf-8"),
        SamplesFormat::Parquet => ("parquet", "application/vnd.apache.parquet"),
    };
    Ok(RunFile {
        path: service
            .places()
            .run(id)
            .join(audit.samples_format.file_name()),
        media_type,
        name: format!("samples-{id}.{ending}"),
    })
}

/// Jobs side by side.
///
/// # Errors
/// When one of them does not exist, or too many are asked for.
pub async fn compare(service: &Service, ids: &[Id]) -> Result<Comparison, Problem> {
    if ids.is_empty() || ids.len() > COMPARED {
        return Err(Problem::invalid(format!(
            "From 1 to {COMPARED} jobs can be compared."
        )));
    }
    let mut jobs = Vec::with_capacity(ids.len());
    for id in ids {
        jobs.push(compared(service, id).await?);
    }
    Ok(Comparison { jobs })
}

async fn compared(service: &Service, id: &Id) -> Result<ComparedJob, Problem> {
    let view = job(service, id).await?;
    let specification = view.job.specification.clone();
    let (data, model) = service
        .store(move |store| {
            let data = store.data_set(specification.data())?;
            let model = match specification.model() {
                Some(id) => store.model(id)?,
                None => None,
            };
            Ok((data, model))
        })
        .await?;
    let audit = match view.job.kind {
        JobKind::Audit => read_summary(service, &view.job).await?,
        _ => None,
    };
    Ok(ComparedJob {
        job: view,
        data_label: data.map(|data| data.label),
        model_label: model.map(|model| model.label),
        audit: audit.and_then(|summary| serde_json::from_value(summary).ok().map(figures)),
    })
}

/// What a comparison reads of an audit's summary.
#[derive(Deserialize)]
struct Summary {
    ending: String,
    strategy: String,
    protected: Vec<String>,
    total: Total,
    fairness: Vec<Share>,
}

#[derive(Deserialize)]
struct Total {
    generated: u64,
    discriminatory: u64,
    seconds: f64,
}

#[derive(Deserialize)]
struct Share {
    protected: Vec<String>,
    rate: f64,
    ci95: [f64; 2],
}

fn figures(summary: Summary) -> AuditFigures {
    let shares = summary.fairness.into_iter();
    AuditFigures {
        ending: summary.ending,
        strategy: summary.strategy,
        protected: summary.protected,
        generated: summary.total.generated,
        discriminatory: summary.total.discriminatory,
        seconds: summary.total.seconds,
        shares: shares
            .map(|share| ShareFigure {
                protected: share.protected,
                share: share.rate,
                ci95: share.ci95,
            })
            .collect(),
    }
}
