//! Data sets, models and jobs as lines of a list.

use super::views::{Frame, Link, State, Thing};
use super::words::{bytes, counted, duration, list, moment, percent_done, phase, state};
use crate::jobs::board::JobView;
use crate::jobs::specification::JobKind;
use crate::store::{DataKind, DataSet, Job, JobState, Model, ModelKind, ModelOrigin};

/// A data set as a line, for a visitor of a page with `frame`.
pub(super) fn of_data(data: &DataSet, frame: &Frame) -> Thing {
    let address = format!("/data/{}", data.id);
    let is_ready = data.has_schema || data.kind == DataKind::Texts;
    let (class, text, link, link_text) = match is_ready {
        true => ("good", "ready", "train", "Train a model"),
        false => ("warn", "not described yet", "columns", "Describe"),
    };
    Thing {
        id: data.id.to_string(),
        title: data.label.clone(),
        detail: format!(
            "{} · {} · {}",
            size(data),
            bytes(data.bytes),
            moment(data.created)
        ),
        state: State::marked(class, text),
        can_be_picked: false,
        links: to_change(frame, format!("{address}/{link}"), link_text),
        address,
    }
}

/// A link for those who may change what is in the project.
fn to_change(frame: &Frame, address: String, text: &str) -> Vec<Link> {
    let text = text.to_owned();
    let link = frame.may_change.then_some(Link { address, text });
    link.into_iter().collect()
}

/// The size of a data set, in words.
pub(super) fn size(data: &DataSet) -> String {
    let rows = data.sketch.rows;
    match data.kind {
        DataKind::Texts => counted(rows, "text", "texts"),
        DataKind::Table => format!(
            "{} in {}",
            counted(rows, "row", "rows"),
            counted(data.sketch.columns.len() as u64, "column", "columns")
        ),
    }
}

/// A model as a line, for a visitor of a page with `frame`.
pub(super) fn of_model(model: &Model, frame: &Frame) -> Thing {
    let address = format!("/models/{}", model.id);
    Thing {
        id: model.id.to_string(),
        title: model.label.clone(),
        detail: format!("{} · {}", origin(model), moment(model.created)),
        state: State::default(),
        can_be_picked: false,
        links: to_change(frame, format!("{address}/audit"), "Audit"),
        address,
    }
}

/// A sentence on what a model classifies and where it comes from.
pub(super) fn origin(model: &Model) -> String {
    let inputs = match model.description.kind {
        ModelKind::Table => {
            let attributes = model.description.attributes.len() as u64;
            format!("decides by {}", counted(attributes, "column", "columns"))
        }
        ModelKind::Texts => "decides about texts".to_owned(),
    };
    let origin = match model.origin {
        ModelOrigin::Uploaded => "uploaded",
        ModelOrigin::Trained => "trained here",
        ModelOrigin::Repaired => "repaired here",
    };
    format!("{inputs}, {origin}")
}

/// The address of a job's page: that of its result when there is one, else that of its progress.
pub(super) fn address(job: &Job) -> String {
    match (job.state, job.kind) {
        (JobState::Done, JobKind::Train) => format!("/models/{}", job.id),
        (JobState::Done, _) => format!("/runs/{}", job.id),
        _ => format!("/jobs/{}", job.id),
    }
}

/// A job as a line; its state is `result` where it has one.
pub(super) fn of_job(view: &JobView, result: State) -> Thing {
    let job = &view.job;
    let mut detail = vec![job.kind.title().to_owned()];
    if job.state.is_final() {
        if let (Some(started), Some(ended)) = (job.started, job.ended) {
            detail.push(duration(ended.0.saturating_sub(started.0)));
        }
        detail.push(moment(job.ended.unwrap_or(job.created)));
    } else {
        detail.push(phase(job, view.progress.as_ref()));
        if let Some(percent) = percent_done(view.progress.as_ref()) {
            detail.push(format!("{percent}\u{a0}%"));
        }
    }
    let links = match job.state {
        JobState::Done => vec![Link {
            address: format!("/runs/{}/report", job.id),
            text: "Report".to_owned(),
        }],
        _ => Vec::new(),
    };
    Thing {
        id: job.id.to_string(),
        address: address(job),
        title: job.label.clone(),
        detail: list(&detail).replace(", ", " · "),
        state: match result.text.is_empty() {
            true => state(job.state),
            false => result,
        },
        can_be_picked: job.state == JobState::Done && job.kind == JobKind::Audit,
        links,
    }
}
