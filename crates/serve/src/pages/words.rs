//! Figures, times and states in words, as the pages say them.

use crate::jobs::board::JobView;
use crate::jobs::progress::Progress;
use crate::jobs::specification::JobKind;
use crate::moment::Moment;
use crate::store::{Job, JobState};
use probity_nn::modality::ModalityName;

use super::views::State;

pub(super) use probity_report::text::{count, counted, interval, percent};

/// A space at which lines are not broken.
const FIXED_SPACE: char = '\u{a0}';

/// Writes a share in percent, with the digits that somebody wrote.
pub(super) fn in_percent(share: f64) -> String {
    // A product has digits at its end that nobody wrote.
    let percent = format!("{:.10}", 100.0 * share);
    let percent = percent.trim_end_matches('0').trim_end_matches('.');
    percent.to_owned()
}

/// Writes a bound on a share, such as `5 %`.
pub(super) fn bound(share: f64) -> String {
    format!("{}{FIXED_SPACE}%", in_percent(share))
}

/// Writes the size of a file.
pub(super) fn bytes(bytes: u64) -> String {
    let (power, unit) = match bytes {
        0..=1023 => return counted(bytes, "byte", "bytes"),
        1024..=1_048_575 => (10, "KiB"),
        1_048_576..=1_073_741_823 => (20, "MiB"),
        _ => (30, "GiB"),
    };
    let number = format!("{:.1}", bytes as f64 / f64::from(1u32 << power));
    let number = number.trim_end_matches(".0");
    format!("{number}{FIXED_SPACE}{unit}")
}

/// Writes a duration, to the second below two minutes and to the minute below two hours.
pub(super) fn duration(seconds: u64) -> String {
    match seconds {
        0 => "less than a second".to_owned(),
        1..=119 => counted(seconds, "second", "seconds"),
        120..=7199 => counted((seconds + 30) / 60, "minute", "minutes"),
        _ => counted((seconds + 1800) / 3600, "hour", "hours"),
    }
}

/// Writes a point in time, such as `2026-05-04 09:30 UTC`.
pub(super) fn moment(moment: Moment) -> String {
    let text = moment.to_string();
    let (day, time) = text.split_once('T').unwrap_or((&text, ""));
    let minutes = time.get(..5).unwrap_or(time);
    format!("{day}{FIXED_SPACE}{minutes}{FIXED_SPACE}UTC")
}

/// Writes several names as a list.
pub(super) fn list<S: AsRef<str>>(names: &[S]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    names.join(", ")
}

/// Writes the name of a protected attribute: that of a column as it is, that of terms in texts, such
/// as `sexual_orientation`, in words.
pub(super) fn attribute(name: &str, modality: ModalityName) -> String {
    match modality {
        ModalityName::Table => name.to_owned(),
        ModalityName::Text => name.replace('_', " "),
    }
}

/// Writes the names of protected attributes as a list.
pub(super) fn attributes_in_words(names: &[String], modality: ModalityName) -> String {
    let names: Vec<String> = names.iter().map(|name| attribute(name, modality)).collect();
    list(&names)
}

/// The state of a job as a coloured word.
pub(super) fn state(state: JobState) -> State {
    let (class, text) = match state {
        JobState::Queued => ("", "waiting"),
        JobState::Running => ("live", "running"),
        JobState::Stopping => ("warn", "stopping"),
        JobState::Stopped => ("warn", "stopped"),
        JobState::Done => ("good", "done"),
        JobState::Failed => ("bad", "failed"),
    };
    State {
        name: state.name(),
        class,
        text: text.to_owned(),
    }
}

/// The part of a job's work that goes on, in words.
pub(super) fn phase(job: &Job, progress: Option<&Progress>) -> String {
    let Some(progress) = progress else {
        return match job.state {
            JobState::Queued => "Waiting for its turn".to_owned(),
            _ => "Starting".to_owned(),
        };
    };
    let is_of_texts = job.specification.modality() == ModalityName::Text;
    if progress.phase == "open" && job.specification.model().is_none() {
        let read = match is_of_texts {
            true => "Reading the texts and the word vectors",
            false => "Reading the data",
        };
        return read.to_owned();
    }
    phase_of(&progress.phase, job.kind, is_of_texts).to_owned()
}

/// What goes on in the part `phase` of a job, which reads a model.
fn phase_of(phase: &str, kind: JobKind, is_of_texts: bool) -> &'static str {
    match (phase, kind, is_of_texts) {
        ("open", _, true) => "Reading the model and the texts",
        ("open", _, false) => "Reading the model and the data",
        ("prepare", JobKind::Train, _) => "Preparing the network",
        ("prepare", JobKind::Audit, _) => "Choosing where the search begins",
        ("prepare", JobKind::Repair, _) => "Looking at the model as it is",
        ("global", _, true) => "Looking for such texts across all of them",
        ("global", _, false) => "Looking for individuals across all data",
        ("local", _, _) => "Looking around what was found",
        ("population", _, _) => "Asking about the rows of the data",
        ("estimate", _, true) => "Asking about the texts as they are",
        ("estimate", _, false) => "Estimating how common such individuals are",
        ("train", _, _) => "Training the network",
        ("search", _, true) => "Looking for texts to learn from",
        ("search", _, false) => "Looking for individuals to learn from",
        ("match", _, _) => "Matching people with their counterparts",
        ("compare", _, _) => "Comparing people with those most like them",
        ("proxies", _, _) => "Finding out what the columns tell",
        ("write", _, _) => "Writing what was found",
        _ => "Working",
    }
}

/// The percentage of the present part of a job that is done.
pub(super) fn percent_done(progress: Option<&Progress>) -> Option<u32> {
    let progress = progress?;
    let all = progress.all.filter(|&all| all > 0)?;
    u32::try_from(progress.done.min(all) * 100 / all).ok()
}

/// A sentence on a job besides its state.
pub(super) fn message(view: &JobView) -> String {
    let job = &view.job;
    match job.state {
        JobState::Queued => match view.ahead {
            Some(ahead) if ahead > 0 => {
                format!("{} before it.", counted(ahead, "job comes", "jobs come"))
            }
            _ => "It is the next to start.".to_owned(),
        },
        JobState::Running => view.progress.as_ref().map_or(String::new(), running),
        JobState::Stopping => "It writes down what it has.".to_owned(),
        JobState::Stopped | JobState::Done | JobState::Failed => ended(job),
    }
}

fn running(progress: &Progress) -> String {
    let left = progress
        .seconds_left
        .map(|seconds| format!("about {} left", duration(seconds)));
    let parts: Vec<&str> = [Some(progress.message.as_str()), left.as_deref()]
        .into_iter()
        .flatten()
        .filter(|part| !part.is_empty())
        .collect();
    parts.join(", ")
}

fn ended(job: &Job) -> String {
    let after = match (job.started, job.ended) {
        (Some(started), Some(ended)) => {
            format!(
                "{} after {}.",
                capital(job.state.name()),
                duration(ended.0.saturating_sub(started.0))
            )
        }
        _ => String::new(),
    };
    let said = job.message.as_deref().unwrap_or_default();
    format!("{after} {said}").trim().to_owned()
}

/// Writes `word` with a capital at its beginning.
fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or(String::new(), |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_said_plainly() {
        assert_eq!(bytes(64 << 20), "64\u{a0}MiB");
        assert_eq!(bytes(1536), "1.5\u{a0}KiB");
        assert_eq!(duration(1), "1\u{a0}second");
        assert_eq!(duration(119), "119\u{a0}seconds");
        assert_eq!(duration(3600), "60\u{a0}minutes");
        assert_eq!(duration(86_400), "24\u{a0}hours");
        assert_eq!(moment(Moment(0)), "1970-01-01\u{a0}00:00\u{a0}UTC");
    }

    #[test]
    fn progress_names_what_is_done() {
        let said = |phase, is_of_texts| phase_of(phase, JobKind::Audit, is_of_texts);
        assert_eq!(said("open", true), "Reading the model and the texts");
        assert_eq!(said("open", false), "Reading the model and the data");
        assert_eq!(said("estimate", true), "Asking about the texts as they are");
        assert!(!said("estimate", false).contains("text"));
        assert_eq!(said("no such phase", true), "Working");
        // No part of a run is called by what its name is for programs.
        for phase in [
            "open",
            "prepare",
            "global",
            "local",
            "population",
            "estimate",
            "match",
            "compare",
            "proxies",
            "write",
        ] {
            for is_of_texts in [false, true] {
                let said = said(phase, is_of_texts);
                assert!(said.contains(' '), "{phase}: {said}");
            }
        }
    }

    #[test]
    fn progress_is_a_share_of_what_is_known() {
        let progress = |done, all| Progress {
            done,
            all,
            ..Progress::default()
        };
        assert_eq!(percent_done(Some(&progress(1, Some(3)))), Some(33));
        assert_eq!(percent_done(Some(&progress(9, Some(3)))), Some(100));
        assert_eq!(percent_done(Some(&progress(1, Some(0)))), None);
        assert_eq!(percent_done(Some(&progress(1, None))), None);
        assert_eq!(percent_done(None), None);
    }
}
