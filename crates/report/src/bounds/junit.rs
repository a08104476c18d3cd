//! Bounds as XML of JUnit, in the form that both the schema of Ant's and Jenkins's reader take: a
//! suite, and a test case for each bound.

use super::{BoundOutcome, NotDone, Verdict};

/// When no run says when it ended.
const UNKNOWN_TIME: &str = "1970-01-01T00:00:00";

/// The report in XML; the checks that were `not_done` are errors.
pub fn to_junit(bounds: &[BoundOutcome], not_done: &[NotDone]) -> String {
    let failed = bounds.iter().filter(|bound| !bound.verdict.holds()).count();
    let seconds: f64 = bounds.iter().map(|bound| bound.seconds).sum();
    let ended = bounds.iter().filter_map(|bound| bound.ended.as_deref());
    // Points in time in UTC sort as texts; the schema of Ant has no zones.
    let ended = ended.max().unwrap_or(UNKNOWN_TIME).trim_end_matches('Z');
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <testsuite name=\"probity\" timestamp=\"{}\" hostname=\"localhost\" tests=\"{}\" failures=\"{failed}\" \
         errors=\"{}\" time=\"{seconds:.3}\">\n  <properties>\n    \
         <property name=\"probity_version\" value=\"{}\"/>\n  </properties>\n",
        escaped(ended),
        bounds.len() + not_done.len(),
        not_done.len(),
        env!("CARGO_PKG_VERSION")
    );
    let mut remarks = String::new();
    for bound in bounds {
        let message = escaped(&bound.whole_message());
        xml.push_str(&format!(
            "  <testcase name=\"{}\" classname=\"probity.{}\" time=\"{:.3}\"",
            escaped(&bound.rule()),
            escaped(&bound.command),
            bound.seconds
        ));
        match bound.verdict {
            Verdict::Within => xml.push_str("/>\n"),
            verdict => xml.push_str(&format!(
                ">\n    <failure type=\"{}\" message=\"{message}\">{message}</failure>\n  </testcase>\n",
                verdict.name()
            )),
        }
        remarks.push_str(&format!("{}: {message}\n", escaped(&bound.rule())));
    }
    for check in not_done {
        let (name, message) = (escaped(&check.name), escaped(&check.to_string()));
        xml.push_str(&format!(
            "  <testcase name=\"{name}\" classname=\"probity.gate\" time=\"0.000\">\n    \
             <error type=\"not_done\" message=\"{message}\">{message}</error>\n  </testcase>\n"
        ));
    }
    xml.push_str(&format!(
        "  <system-out>{remarks}</system-out>\n  <system-err></system-err>\n</testsuite>\n"
    ));
    xml
}

/// `text` in XML 1.0, which has no form for some characters.
fn escaped(text: &str) -> String {
    let mut xml = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => xml.push_str("&amp;"),
            '<' => xml.push_str("&lt;"),
            '>' => xml.push_str("&gt;"),
            '"' => xml.push_str("&quot;"),
            '\n' | '\r' | '\t' => xml.push(' '),
            other if other.is_control() || matches!(other, '\u{fffe}' | '\u{ffff}') => {
                xml.push('\u{fffd}');
            }
            other => xml.push(other),
        }
    }
    xml
}
