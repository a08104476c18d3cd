//! The bounds that runs declared, and how they came out: for machines that decide by them.
//!
//! An audit may declare the largest share that it allows (`fail_above`), certificates the smallest
//! (`fail_below`). Each is one [`BoundOutcome`]: a rule and perhaps a result of SARIF, a test case
//! of JUnit.

mod junit;
mod sarif;

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

pub use self::junit::to_junit;
pub use self::sarif::to_sarif;
use super::compose::{conditions, counterparts, situations};
use super::error::PageError;
use super::model::{Findings, Modality, Report, RunReport};
use super::text::{interval, not_taken_sentence, percent};
pub use super::verdict::Verdict;
use probity_run::run_directory::RUN;

/// A check of which nothing is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NotDone {
    /// The name of the check.
    pub name: String,
    /// The reason.
    pub problem: String,
}

impl fmt::Display for NotDone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the check '{}' was not done: {}",
            self.name, self.problem
        )
    }
}

/// On which side of the bound the share must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BoundKind {
    /// The discriminatory share of an audit, at most.
    FailAbove,
    /// The certified share, at least.
    FailBelow,
}

/// A bound that a run declared, and how it came out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BoundOutcome {
    /// The name of the run.
    pub name: String,
    /// What the run measured.
    pub command: String,
    /// Which side.
    pub kind: BoundKind,
    /// The bound.
    pub bound: f64,
    /// What the share is of: `the rows of the data`, `9,000 of 32,561 rows of the data`, `random
    /// inputs`.
    pub of: String,
    /// The share that was measured.
    pub share: f64,
    /// The 95 % interval of the share; of people who were found, who are counted, the share twice.
    pub ci95: [f64; 2],
    /// By which attributes.
    pub protected: Vec<String>,
    /// The protected attributes that the model does not take.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_taken: Vec<String>,
    /// What came of it.
    pub verdict: Verdict,
    /// Who is disadvantaged, in sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disadvantaged: Vec<String>,
    /// When the run ended, in UTC, if it says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// Seconds of the search or the proofs.
    pub seconds: f64,
    /// The file that declares it.
    pub file: PathBuf,
    /// The line of it, from 1.
    pub line: u64,
    /// What got worse since an earlier run, in words, if that was compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worse: Option<String>,
}

impl BoundOutcome {
    /// The outcome in words.
    pub fn message(&self) -> String {
        let by = self.protected.join(" × ");
        let (what, than) = match self.kind {
            BoundKind::FailAbove if self.command == "counterparts" => {
                ("decided worse than their counterparts", "at most")
            }
            BoundKind::FailAbove if self.is_counted() => {
                ("found to be discriminated against", "at most")
            }
            BoundKind::FailAbove => ("discriminatory", "at most"),
            BoundKind::FailBelow => ("certified fair", "at least"),
        };
        let verdict = match self.verdict {
            Verdict::Within => "the bound holds",
            Verdict::Exceeds => "the bound is broken",
            Verdict::Inconclusive => "the bound is not shown to hold",
            Verdict::NotApplicable => {
                "the bound is not applicable, unless blind_ok = true says that this is what is wanted"
            }
        };
        let said = not_taken_sentence(&self.not_taken, &self.protected);
        let mut message = said.map_or_else(String::new, |said| said + " ");
        let share = match self.is_proven() {
            true => format!(
                "at least {} and at most {} of {} are proven to be {what}",
                percent(self.ci95[0]),
                percent(self.ci95[1]),
                self.of
            ),
            false => {
                let interval = match self.is_counted() {
                    true => String::new(),
                    false => format!(" (95\u{a0}% interval {})", interval(self.ci95)),
                };
                format!(
                    "{} of {} are {what}{interval}",
                    percent(self.share),
                    self.of
                )
            }
        };
        message += &format!(
            "By {by}, {share}, and {than} {} may be: {verdict}.",
            percent(self.bound)
        );
        if let Some(worse) = &self.worse {
            message.push_str(&format!(" {worse}"));
        }
        message
    }

    /// Whether the share is of people who were found and counted, so that it has no interval.
    pub fn is_counted(&self) -> bool {
        matches!(self.command.as_str(), "counterparts" | "situations")
    }

    /// Whether what is known are bounds that are proven, without a figure in them.
    fn is_proven(&self) -> bool {
        self.command == "prove"
    }

    /// The outcome in words, and who is disadvantaged: for readers who see nothing else of the run.
    pub fn whole_message(&self) -> String {
        let said = std::iter::once(self.message()).chain(self.disadvantaged.iter().cloned());
        said.collect::<Vec<_>>().join(" ")
    }

    /// What identifies the bound, whatever it is and however it comes out.
    fn rule(&self) -> String {
        let kind = match self.kind {
            BoundKind::FailAbove => "fail-above",
            BoundKind::FailBelow => "fail-below",
        };
        format!("{}/{kind}", self.name)
    }
}

impl Report {
    /// The bounds that the runs declared, in their order.
    ///
    /// # Errors
    /// When a run says of a bound what no run says.
    pub fn bounds(&self) -> Result<Vec<BoundOutcome>, PageError> {
        let bounds = self.runs.iter().map(of_run);
        let bounds: Result<Vec<_>, _> = bounds.collect();
        Ok(bounds?.into_iter().flatten().collect())
    }

    /// Returns the bounds that were declared, of which there must be one.
    ///
    /// # Errors
    /// When no run declared any.
    pub fn declared_bounds(&self) -> Result<Vec<BoundOutcome>, PageError> {
        let bounds = self.bounds()?;
        match bounds.is_empty() {
            true => Err(PageError::NoBounds),
            false => Ok(bounds),
        }
    }
}

/// The bound that `run` declared, if it did.
///
/// # Errors
/// When the run says of it what no run says, or was stopped before its share was known.
pub(super) fn of_run(run: &RunReport) -> Result<Option<BoundOutcome>, PageError> {
    let foreign = |problem: String| PageError::Foreign {
        file: run.directory.clone(),
        problem,
        command: run.command.clone(),
    };
    let outcome = |kind, bound, of: &str, measured: Measured<'_>, verdict, seconds| BoundOutcome {
        name: run.name.clone(),
        command: run.command.clone(),
        kind,
        bound,
        of: of.to_owned(),
        share: measured.share,
        ci95: measured.ci95,
        protected: measured.protected.to_vec(),
        not_taken: measured.not_taken.to_vec(),
        verdict,
        disadvantaged: match &run.findings {
            Findings::Audit(audit) => audit.summary.disadvantaged(),
            Findings::Counterparts(found) => counterparts::sentences(found),
            Findings::Situations(found) => situations::sentences(found),
            _ => Vec::new(),
        },
        ended: run.ended.clone(),
        seconds,
        file: run.directory.join(RUN),
        line: 1,
        worse: None,
    };
    // Members of the worst group who were found, and counted.
    let counted = |bound: f64, (share, ci95): (f64, Option<[f64; 2]>), group: &str| {
        let verdict = match share > bound {
            true => Verdict::Exceeds,
            false => Verdict::Within,
        };
        let measured = Measured {
            share,
            ci95: ci95.unwrap_or([share; 2]),
            protected: &[group.to_owned()],
            not_taken: &[],
        };
        let kind = BoundKind::FailAbove;
        outcome(kind, bound, "them", measured, verdict, 0.0)
    };
    Ok(match &run.findings {
        Findings::Audit(audit) => {
            let summary = &audit.summary;
            let Some(declared) = &summary.fail_above else {
                return Ok(None);
            };
            let shares = match (summary.modality, declared.on.as_deref()) {
                (Modality::Text, _) | (Modality::Table, Some("data")) => summary.of_data(),
                (Modality::Table, _) => summary.of_random_inputs(),
            };
            let known = shares.and_then(|shares| {
                let joint = shares.joint()?;
                Some((shares.inputs_or_part(joint), joint))
            });
            let (of, joint) = known.ok_or_else(|| {
                foreign("it was stopped before the share was known that its bound is on".to_owned())
            })?;
            let verdict = match declared.verdict.as_str() {
                "within" => Verdict::Within,
                "exceeds" => Verdict::Exceeds,
                "inconclusive" => Verdict::Inconclusive,
                "not_applicable" => Verdict::NotApplicable,
                other => return Err(foreign(format!("the verdict '{other}' is not known"))),
            };
            let measured = Measured {
                share: joint.rate,
                ci95: joint.ci95,
                protected: &joint.protected,
                not_taken: &summary.not_taken,
            };
            let seconds = summary.total.seconds;
            let kind = BoundKind::FailAbove;
            Some(outcome(
                kind,
                declared.bound,
                &of,
                measured,
                verdict,
                seconds,
            ))
        }
        Findings::Certify(certify) => {
            let (Some(bound), Some(joint)) = (certify.fail_below, certify.sets.last()) else {
                return Ok(None);
            };
            let verdict = match joint.certified.share < bound {
                true => Verdict::Exceeds,
                false => Verdict::Within,
            };
            let measured = Measured {
                share: joint.certified.share,
                ci95: joint.certified.ci95,
                protected: &joint.protected,
                not_taken: &[],
            };
            let seconds = certify.sets.iter().map(|set| set.seconds).sum();
            let kind = BoundKind::FailBelow;
            Some(outcome(
                kind,
                bound,
                "the inputs",
                measured,
                verdict,
                seconds,
            ))
        }
        Findings::Situations(found) => {
            let (Some(bound), Some(worst)) = (found.fail_above, situations::worst(found)) else {
                return Ok(None);
            };
            let group = conditions::named(&worst.protected, &worst.reference);
            Some(counted(bound, (worst.against.share, None), &group))
        }
        Findings::Counterparts(found) => {
            let (Some(bound), Some(worst)) = (found.fail_above, counterparts::worst(found)) else {
                return Ok(None);
            };
            let group = conditions::named(&worst.protected, &worst.reference);
            let share = (worst.against.share, worst.against.ci95);
            Some(counted(bound, share, &group))
        }
        Findings::Prove(prove) => {
            let Some(declared) = &prove.fail_above else {
                return Ok(None);
            };
            let verdict = match declared.verdict.as_str() {
                "within" => Verdict::Within,
                "exceeds" => Verdict::Exceeds,
                "inconclusive" => Verdict::Inconclusive,
                other => return Err(foreign(format!("the verdict '{other}' is not known"))),
            };
            // What is proven is an interval without a figure in it.
            let measured = Measured {
                share: prove.bounds[1],
                ci95: prove.bounds,
                protected: &prove.protected,
                not_taken: &[],
            };
            let of = match (&prove.population, prove.is_weighted) {
                (Some(_), _) => "people drawn from the population",
                (None, true) => "people drawn by the marginals",
                (None, false) => "all combinations",
            };
            let kind = BoundKind::FailAbove;
            Some(outcome(
                kind,
                declared.bound,
                of,
                measured,
                verdict,
                prove.seconds,
            ))
        }
        _ => None,
    })
}

/// A share by some attributes.
struct Measured<'r> {
    share: f64,
    ci95: [f64; 2],
    protected: &'r [String],
    not_taken: &'r [String],
}
