//! The lists of the overview: the filter that selects jobs, and each job as a line of a table.

use std::collections::HashMap;

use form_urlencoded::Serializer;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::figures::{first, result, worst};
use super::form::{Choice, Form};
use super::landing::HOME;
use super::things;
use super::views::{JobLine, State};
use super::words::{bytes, duration, interval, list, moment, percent, state};
use crate::identifier::Id;
use crate::jobs::specification::JobKind;
use crate::operations::results::ComparedJob;
use crate::store::{Job, JobState, Model, Which, WhichJobs};

/// The names of the fields of the filter.
const NAME: &str = "name";
const BY: &str = "by";
const KIND: &str = "kind";
const STATE: &str = "state";
const MODEL: &str = "model";

/// The filter of the overview; a value that does not exist selects by nothing.
pub(super) struct Filter {
    /// The filter as it was filled in.
    pub form: Form,
    /// The selection of things of any kind.
    pub which: Which,
    /// The selection of jobs; no states where all of them are wanted.
    pub jobs: WhichJobs,
}

impl Filter {
    /// Reads the filter from a query.
    pub fn from_form(form: Form) -> Filter {
        let which = Which {
            name: form.value(NAME).to_owned(),
            by: form.value(BY).to_owned(),
        };
        let state: Option<JobState> = word(form.value(STATE));
        let jobs = WhichJobs {
            which: which.clone(),
            kind: word(form.value(KIND)),
            states: state.into_iter().collect(),
            model: form.value(MODEL).parse().ok(),
        };
        Filter { form, which, jobs }
    }

    /// Whether the filter leaves anything out.
    pub fn is_set(&self) -> bool {
        self.jobs != WhichJobs::default()
    }

    /// Whether the filter selects jobs only.
    pub fn is_of_jobs(&self) -> bool {
        let of_all = WhichJobs {
            which: self.which.clone(),
            ..WhichJobs::default()
        };
        self.jobs != of_all
    }

    /// The address of the overview with this filter, where the list `name` goes on after `last`.
    pub fn after(&self, name: &str, last: &Id) -> String {
        let mut query = Serializer::new(String::new());
        for field in [NAME, BY, KIND, STATE, MODEL] {
            if let Some(value) = self.form.filled(field) {
                query.append_pair(field, value);
            }
        }
        query.append_pair(name, last.as_str());
        format!("{HOME}?{}", query.finish())
    }
}

/// Reads the value that has the name `text` in the API.
fn word<T: DeserializeOwned>(text: &str) -> Option<T> {
    serde_json::from_value(Value::from(text)).ok()
}

/// The kinds of jobs to choose from.
pub(super) fn kinds() -> Vec<Choice> {
    let choices = JobKind::ALL.iter();
    any(
        "All",
        choices.map(|one| Choice::new(one.name(), one.title())),
    )
}

/// The states of jobs to choose from.
pub(super) fn states() -> Vec<Choice> {
    let states = [JobState::UNFINISHED, JobState::FINAL].concat().into_iter();
    any(
        "Any",
        states.map(|one| Choice::new(one.name(), state(one).text)),
    )
}

/// The names of those who brought things, to choose from: each once, even where several tokens have
/// it.
pub(super) fn people(owners: &[(Id, String)]) -> Vec<Choice> {
    let mut names: Vec<&String> = owners.iter().map(|(_, name)| name).collect();
    names.retain(|name| !name.is_empty());
    names.dedup();
    let choices = names.into_iter().map(|name| Choice::new(name, name));
    any("Anybody", choices)
}

/// The models to choose from.
pub(super) fn models(models: &[Model]) -> Vec<Choice> {
    let choices = models.iter();
    let choices = choices.map(|model| Choice::new(model.id.as_str(), &model.label));
    any("All", choices)
}

fn any(all: &str, choices: impl IntoIterator<Item = Choice>) -> Vec<Choice> {
    let all = Choice::new("", all);
    [all].into_iter().chain(choices).collect()
}

/// The names of tokens.
pub(super) struct Owners(HashMap<Id, String>);

impl Owners {
    /// Makes the map of names from `owners`.
    pub fn new(owners: Vec<(Id, String)>) -> Owners {
        Owners(owners.into_iter().collect())
    }

    /// The name of the token; its identifier where it has no name.
    pub fn name(&self, id: &Id) -> String {
        let name = self.0.get(id).filter(|name| !name.is_empty());
        name.map_or_else(|| id.to_string(), String::clone)
    }
}

/// The line of a job at an end that takes `stored` bytes.
pub(super) fn line(compared: &ComparedJob, stored: u64, owners: &Owners) -> JobLine {
    let job = &compared.job.job;
    let about = compared
        .model_label
        .as_ref()
        .or(compared.data_label.as_ref());
    let is_done = job.state == JobState::Done;
    let (result, [share, interval]) = (result(compared), share(compared));
    let state = match state(job.state) {
        // What is done need not be good.
        done if is_done && result.class != "good" && job.kind != JobKind::Train => {
            State { class: "", ..done }
        }
        other => other,
    };
    JobLine {
        id: job.id.to_string(),
        address: things::address(job),
        title: job.label.clone(),
        detail: match about {
            Some(about) => format!("{} · {about}", job.kind.title()),
            None => job.kind.title().to_owned(),
        },
        can_be_picked: is_done && job.kind == JobKind::Audit,
        result,
        share,
        interval,
        state,
        ended: moment(job.ended.unwrap_or(job.created)),
        took: took(job),
        owner: owners.name(&job.owner),
        stored: bytes(stored),
        report: match is_done {
            true => format!("/runs/{}/report", job.id),
            false => String::new(),
        },
    }
}

/// The share that an audit found and its interval, or the largest share that a comparison of people
/// found and of which group, in words.
fn share(compared: &ComparedJob) -> [String; 2] {
    let audit = compared.audit.as_ref().and_then(first);
    let audit = audit.map(|share| [percent(share.share), interval(share.ci95)]);
    let people = || {
        let worst = worst(compared.people.as_ref()?)?;
        Some([percent(worst.share), list(&worst.protected)])
    };
    audit.or_else(people).unwrap_or_default()
}

/// How long a job ran; empty where it is not at an end, or never began.
fn took(job: &Job) -> String {
    let both = job.started.zip(job.ended);
    both.map_or(String::new(), |(started, ended)| {
        duration(ended.0.saturating_sub(started.0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(pairs: &[(&str, &str)]) -> Filter {
        let owned = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
        Filter::from_form(Form::sent(pairs.iter().map(owned).collect()))
    }

    #[test]
    fn a_query_says_what_is_listed() {
        let all = filter(&[("kind", "nonsense"), ("state", ""), ("jobs", "x")]);
        assert!(!all.is_set() && !all.is_of_jobs());
        let named = filter(&[("name", " a&b "), ("by", "ada")]);
        assert!(named.is_set() && !named.is_of_jobs());
        assert_eq!(named.jobs.which, named.which);
        let id: Id = "0123456789abcdef".parse().unwrap();
        assert_eq!(
            named.after("jobs", &id),
            "/?name=a%26b&by=ada&jobs=0123456789abcdef"
        );
        let audits = filter(&[
            ("kind", "audit"),
            ("state", "failed"),
            ("model", id.as_str()),
        ]);
        assert!(audits.is_set() && audits.is_of_jobs());
        assert_eq!(audits.jobs.kind, Some(JobKind::Audit));
        assert_eq!(audits.jobs.states, [JobState::Failed]);
        assert_eq!(audits.jobs.model, Some(id));
    }
}
