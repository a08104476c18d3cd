//! Figures, times and states in words, as the pages say them.

use crate::jobs::board::JobView;
use crate::jobs::progress::Progress;
use crate::jobs::specification::JobKind;
use crate::moment::Moment;
use crate::store::{Job, JobState};

use super::views::State;

pub(super) use probity_report::text::{count, counted, interval, percent};

/// A space at which lines are not broken.
const FIXED_SPACE: char = '\u{a0}';

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

/// Writes what a job does, as the beginning of a sentence.
pub(super) fn kind(kind: JobKind) -> &'static str {
    match kind {
        JobKind::Train => "Training",
        JobKind::Audit => "Audit",
        JobKind::Repair => "Repair",
    }
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

/// The part of a job's work that goes on, in words; a part that has no name here is called by its
/// own.
pub(super) fn phase(job: &Job, progress: Option<&Progress>) -> String {
    let Some(progress) = progress else {
        return match job.state {
            JobState::Queued => "Waiting for its turn".to_owned(),
            _ => "Starting".to_owned(),
        };
    };
    match progress.phase.as_str() {
        "global" => "Looking for individuals across all data".to_owned(),
        "local" => "Looking around what was found".to_owned(),
        "population" => "Asking about the people in the data".to_owned(),
        "estimate" => "Estimating how common such individuals are".to_owned(),
        "train" => "Training the network".to_owned(),
        "search" => "Looking for individuals to learn from".to_owned(),
        "write" => "Writing what was found".to_owned(),
        "" => "Working".to_owned(),
        other => other.to_owned(),
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
