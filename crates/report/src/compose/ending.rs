//! That a run ended before it was done: the first thing that is said of it, since all figures are of
//! what was done until then.

use super::super::text::Text;

/// `Interrupted after 12 s: these are the figures until then.`, where it is known after what.
pub(super) fn interrupted(after: Option<String>) -> Text {
    cut_short("Interrupted", after)
}

/// Says that the limit of time ended a run.
pub(super) fn out_of_time(after: Option<String>) -> Text {
    cut_short("Ended by its time limit", after)
}

fn cut_short(how: &str, after: Option<String>) -> Text {
    let after = after.map_or(String::new(), |after| format!(" after {after}"));
    Text::new(format!("{how}{after}: these are the figures until then."))
}
