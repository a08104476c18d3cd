//! The results of jobs: reports, summaries, samples, and comparisons of several jobs.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::inspect::{Task, ask};
use super::jobs::job;
use crate::download::{Document, ReportForm, RunFile};
use crate::identifier::Id;
use crate::jobs::board::JobView;
use crate::jobs::specification::JobKind;
use crate::problem::{Problem, ProblemKind};
use crate::service::Service;
use crate::store::{DataSet, Job, Model, Scope};
use probity_fairness::specification::BoundOn;
use probity_report::bounds::Verdict;
use probity_report::model::{AuditSummary, PersonValue};
use probity_report::{Conclusion, verdict};
use probity_run::run_directory::{SUMMARY, write_atomically};

/// A discriminatory share, for some protected attributes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ShareFigure {
    /// The protected attributes.
    pub protected: Vec<String>,
    /// The share.
    #[serde(rename(deserialize = "rate"))]
    pub share: f64,
    /// The 95 % confidence interval.
    pub ci95: [f64; 2],
}

/// The main figures of an audit.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct AuditFigures {
    /// The way in which the search ended: `complete`, `max_found`, `time`, `max_calls` or
    /// `interrupted`.
    pub ending: String,
    /// The search strategy.
    pub strategy: String,
    /// The protected attributes.
    pub protected: Vec<String>,
    /// The number of distinct individuals checked.
    pub generated: u64,
    /// The number of distinct discriminatory individuals.
    pub discriminatory: u64,
    /// The search time in seconds.
    pub seconds: f64,
    /// The discriminatory shares of the rows of the data, per attribute and jointly; none for
    /// texts.
    pub people: Vec<ShareFigure>,
    /// The discriminatory shares of random inputs or of the texts, per attribute and jointly.
    pub shares: Vec<ShareFigure>,
    /// The verdict on the largest acceptable share, where one was declared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail_above: Option<BoundFigure>,
    /// The class of all decisions, where the model decides for one class only: nothing can be said
    /// of their fairness.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decides_alike: Option<String>,
    /// The protected attributes that the model does not take: no decision can flip by them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_taken: Vec<String>,
    /// Who is disadvantaged and by how much, in a sentence for each protected attribute alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disadvantaged: Vec<String>,
}

/// The largest acceptable share, and the verdict of the interval on it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BoundFigure {
    /// The largest acceptable share.
    pub bound: f64,
    /// The kind of share that the bound is on: `data` or `uniform`.
    #[schema(value_type = String, example = "data")]
    pub on: BoundOn,
    /// The verdict of the interval: `within`, `exceeds` or `inconclusive`; `not_applicable` where
    /// the model does not take what is protected.
    #[schema(value_type = String, example = "within")]
    pub verdict: probity_fairness::estimate::Verdict,
}

/// What came of what a run declared or promises, as its report says it.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct OutcomeFigure {
    /// The verdict: `within`, `exceeds`, `inconclusive` or `not_applicable`.
    #[schema(value_type = String, example = "within")]
    pub verdict: Verdict,
    /// What was declared and what was found, in words.
    pub text: String,
    /// The share that a declared bound is on, where it is known, and the bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<[f64; 2]>,
}

impl From<Conclusion> for OutcomeFigure {
    fn from(conclusion: Conclusion) -> OutcomeFigure {
        let bound = conclusion.bound;
        OutcomeFigure {
            verdict: conclusion.verdict,
            text: conclusion.text,
            share: bound.map(|bound| [bound.share, bound.bound]),
        }
    }
}

/// The result of a repair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RepairFigures {
    /// Whether a repaired model was saved.
    pub saved: bool,
    /// Whether nothing got worse than was allowed.
    pub holds: bool,
}

/// What a comparison of people found.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct PeopleFigures {
    /// What its report says first, sentence by sentence.
    pub said: Vec<String>,
    /// The shares of the groups that are at a disadvantage: decided worse than their counterparts, or
    /// found to be treated worse than people like them. A search for proxies has none.
    pub shares: Vec<GroupShare>,
}

/// The share of a protected group that is at a disadvantage.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct GroupShare {
    /// The conditions that all members of the group meet, such as `sex=female`.
    pub protected: Vec<String>,
    /// The share.
    pub share: f64,
}

/// A job in a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ComparedJob {
    /// The job.
    pub job: JobView,
    /// The name of the job's data set, while there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_label: Option<String>,
    /// The name of the job's model, while there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_label: Option<String>,
    /// The figures of the audit, for an audit that has some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit: Option<AuditFigures>,
    /// The result of the repair, for a repair that is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repair: Option<RepairFigures>,
    /// The findings of the comparison of people, for one that is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub people: Option<PeopleFigures>,
    /// What came of what the job declared or promises, where it did either: as its report says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<OutcomeFigure>,
}

/// A comparison: jobs side by side.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Comparison {
    /// The jobs, in the order in which the request names them.
    pub jobs: Vec<ComparedJob>,
}

/// The greatest number of jobs in a comparison.
const COMPARED: usize = 20;

/// Returns the report of a job's run. It is kept until something is called otherwise that it names;
/// what has no name is named by its path in the data directory. Fails when there is no job, or
/// nothing to report on.
pub async fn report(
    service: &Service,
    scope: &Scope,
    id: &Id,
    form: ReportForm,
) -> Result<Document, Problem> {
    let job: Job = service.find(scope, id).await?;
    summary(service, scope, id).await?;
    let (word, ending, media_type) = form.facts();
    let kept = service.places.report(id, form);
    let names = serde_json::to_vec(&names_in(service, scope, &job).await?)?;
    let (file, named, places) = (
        kept.clone(),
        service.places.names(id),
        service.places.clone(),
    );
    let (of, list) = (id.clone(), named.clone());
    let is_made = service
        .blocking(move || {
            // A report calls things as they were called when it was made.
            if fs::read(&list).is_ok_and(|before| before == names) {
                return Ok(file.is_file());
            }
            places.remove_reports(&of)?;
            write_atomically(&list, &names)?;
            Ok(false)
        })
        .await?;
    if !is_made {
        let task = Task {
            name: "make the report",
            instead: "; download the samples",
            refusal: ProblemKind::Conflict,
        };
        let mut out = OsString::from("--out=");
        out.push(&kept);
        let directory = service.places.run(id).into_os_string();
        let format = format!("--format={word}").into();
        let mut names = OsString::from("--names=");
        names.push(named);
        ask(
            service,
            scope.party(),
            task,
            &["report".into(), directory, format, names, out],
        )
        .await?;
    }
    let text = service
        .blocking(move || Ok(fs::read_to_string(kept)?))
        .await?;
    Ok(Document {
        media_type,
        text: service.places.relative(&text),
        name: file_name("report", &job, ending),
    })
}

/// The names that people gave to the run of `job` and to what it reads, by the paths that the run
/// names them by. What was deleted since has none.
async fn names_in(
    service: &Service,
    scope: &Scope,
    job: &Job,
) -> Result<BTreeMap<String, String>, Problem> {
    let (scope, job) = (scope.clone(), job.clone());
    let places = service.places.clone();
    service
        .store(move |store| {
            let asked = &job.specification;
            let mut names = BTreeMap::new();
            let mut call = |path: PathBuf, name: String| {
                names.extend(path.to_str().map(|path| (path.to_owned(), name)));
            };
            call(places.run(&job.id), job.label.clone());
            for id in asked.data_sets() {
                if let Some(data) = store.find::<DataSet>(&scope, id)? {
                    call(places.seen_from_run(&places.file_of(&data)), data.label);
                }
            }
            if let Some(id) = asked.model()
                && let Some(model) = store.find::<Model>(&scope, id)?
            {
                call(places.seen_from_run(&places.model(&model)), model.label);
            }
            for id in asked.runs() {
                if let Some(run) = store.find::<Job>(&scope, id)? {
                    call(places.seen_from_run(&places.run(id)), run.label);
                }
            }
            Ok(names)
        })
        .await
}

/// The name of a file about `job`, after what it holds and what the job is called: letters, digits,
/// dots and hyphens. A name without any of these is replaced by the identifier.
pub fn file_name(what: &str, job: &Job, ending: &str) -> String {
    let words = job
        .label
        .split(|letter: char| !letter.is_ascii_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let name = match words.is_empty() {
        true => job.id.to_string(),
        false => words.join("-"),
    };
    format!("{what}-{name}.{ending}")
}

/// Returns the summary of a job's run, as the command line writes it.
pub async fn summary(service: &Service, scope: &Scope, id: &Id) -> Result<Value, Problem> {
    let job: Job = service.find(scope, id).await?;
    match read_summary(service, &job).await? {
        Some(summary) => Ok(summary),
        None => Err(Problem::conflict(format!(
            "There are no results: the job is {}.",
            job.state.name()
        ))),
    }
}

/// The summary of `job`, if it is at an end and has one. Its run is at hand then.
async fn read_summary(service: &Service, job: &Job) -> Result<Option<Value>, Problem> {
    if !job.state.is_final() {
        return Ok(None);
    }
    service.run_at_hand(job).await?;
    let file = service.places.run(&job.id).join(SUMMARY);
    service
        .blocking(move || {
            let Ok(bytes) = fs::read(file) else {
                return Ok(None);
            };
            Ok(Some(serde_json::from_slice(&bytes)?))
        })
        .await
}

/// Returns the file that lists all that was found: the pairs of an audit, the people beside their
/// counterparts, or the people of a situation test.
/// Fails when there is no such job, it writes no such file, or it has found nothing yet.
pub async fn samples(service: &Service, scope: &Scope, id: &Id) -> Result<RunFile, Problem> {
    let job: Job = service.find(scope, id).await?;
    let Some(name) = job.specification.listing() else {
        return Err(Problem::conflict(
            "Only audits, counterparts and situation tests list all that they found.",
        ));
    };
    summary(service, scope, id).await?;
    let (what, ending) = name.split_once('.').unwrap_or((name, "csv"));
    let media_type = match ending {
        "parquet" => "application/vnd.apache.parquet",
        _ => "text/csv; charset=utf-8",
    };
    Ok(RunFile {
        path: service.places.run(id).join(name),
        media_type,
        name: file_name(what, &job, ending),
    })
}

/// Compares jobs side by side.
/// Fails when one of them does not exist, or too many are asked for.
pub async fn compare(service: &Service, scope: &Scope, ids: &[Id]) -> Result<Comparison, Problem> {
    if ids.is_empty() || ids.len() > COMPARED {
        return Err(Problem::invalid(format!(
            "From 1 to {COMPARED} jobs can be compared."
        )));
    }
    let mut jobs = Vec::with_capacity(ids.len());
    for id in ids {
        let view = job(service, scope, id).await?;
        jobs.push(compared(service, scope, view).await?);
    }
    Ok(Comparison { jobs })
}

/// Returns what a comparison says of a job.
pub async fn compared(
    service: &Service,
    scope: &Scope,
    view: JobView,
) -> Result<ComparedJob, Problem> {
    let (scope, specification) = (scope.clone(), view.job.specification.clone());
    let (data, model) = service
        .store(move |store| {
            let data: Option<DataSet> = store.find(&scope, specification.data())?;
            let model: Option<Model> = match specification.model() {
                Some(id) => store.find(&scope, id)?,
                None => None,
            };
            Ok((data, model))
        })
        .await?;
    let mut found = ComparedJob {
        data_label: data.map(|data| data.label),
        model_label: model.map(|model| model.label),
        audit: None,
        repair: None,
        people: None,
        outcome: None,
        job: view,
    };
    let job = &found.job.job;
    if job.kind == JobKind::Train {
        return Ok(found);
    }
    let Some(mut summary) = read_summary(service, job).await? else {
        return Ok(found);
    };
    let run = service.places.run(&job.id);
    match job.kind {
        JobKind::Audit => {
            // The report has the words.
            let told: Option<AuditSummary> = serde_json::from_value(summary.clone()).ok();
            let disadvantaged = told.map(|told| told.disadvantaged());
            let read: Option<Summary> = serde_json::from_value(summary).ok();
            found.audit = read.map(|read| figures(read, disadvantaged.unwrap_or_default()));
        }
        JobKind::Train | JobKind::Repair => {
            found.repair = serde_json::from_value(summary["verdict"].take()).ok();
        }
        JobKind::Counterparts | JobKind::Situations | JobKind::Proxies => {
            let directory = run.clone();
            let said = service.blocking(move || Ok(verdict(&directory).unwrap_or_default()));
            let groups = serde_json::from_value(summary["groups"].take());
            let groups: Vec<Group> = groups.unwrap_or_default();
            found.people = Some(PeopleFigures {
                said: said.await?,
                shares: groups.into_iter().filter_map(Group::share).collect(),
            });
        }
    }
    // A run that no report can be made of has no outcome to show; its report says why.
    let concluded = service.blocking(move || Ok(Conclusion::read(&run).ok().flatten()));
    found.outcome = concluded.await?.map(OutcomeFigure::from);
    Ok(found)
}

/// The part of a summary that a comparison reads of a group of people.
#[derive(Deserialize)]
struct Group {
    protected: Vec<PersonValue>,
    against: Option<Against>,
}

#[derive(Deserialize)]
struct Against {
    share: f64,
}

impl Group {
    /// The share of the group that is at a disadvantage, where the comparison has one.
    fn share(self) -> Option<GroupShare> {
        let protected = self.protected.iter();
        let protected = protected.map(|one| format!("{}={}", one.attribute, one.value));
        Some(GroupShare {
            share: self.against?.share,
            protected: protected.collect(),
        })
    }
}

/// The part of an audit's summary that a comparison reads.
#[derive(Deserialize)]
struct Summary {
    ending: String,
    strategy: String,
    protected: Vec<String>,
    total: Total,
    population: Option<People>,
    fairness: Vec<ShareFigure>,
    fail_above: Option<BoundFigure>,
    decides_alike: Option<Alike>,
    #[serde(default)]
    not_taken: Vec<String>,
}

#[derive(Deserialize)]
struct Alike {
    class: String,
}

#[derive(Deserialize)]
struct People {
    shares: Vec<ShareFigure>,
}

#[derive(Deserialize)]
struct Total {
    generated: u64,
    discriminatory: u64,
    seconds: f64,
}

fn figures(summary: Summary, disadvantaged: Vec<String>) -> AuditFigures {
    AuditFigures {
        ending: summary.ending,
        strategy: summary.strategy,
        protected: summary.protected,
        generated: summary.total.generated,
        discriminatory: summary.total.discriminatory,
        seconds: summary.total.seconds,
        people: summary
            .population
            .map_or_else(Vec::new, |people| people.shares),
        shares: summary.fairness,
        fail_above: summary.fail_above,
        decides_alike: summary.decides_alike.map(|alike| alike.class),
        not_taken: summary.not_taken,
        disadvantaged,
    }
}
