//! The bounds that runs declared, and how they came out: for machines that decide by them.
//!
//! An audit may declare the largest share that it allows (`fail_above`), certificates the smallest
//! (`fail_below`). Each is one [`BoundOutcome`]: a rule and perhaps a result of SARIF, a test case
//! of JUnit.

mod junit;
mod sarif;

use std::path::PathBuf;

use serde::Serialize;

pub use self::junit::to_junit;
pub use self::sarif::to_sarif;
use super::error::PageError;
use super::model::{Findings, Report, RunReport};
use super::text::{interval, percent};
use probity_run::run_directory::RUN;

/// What came of a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It holds.
    Within,
    /// It does not.
    Exceeds,
    /// It is not shown to hold.
    Inconclusive,
}

impl Verdict {
    /// Whether the bound is shown to hold.
    pub fn holds(self) -> bool {
        self == Verdict::Within
    }

    /// As files say it.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Within => "within",
            Verdict::Exceeds => "exceeds",
            Verdict::Inconclusive => "inconclusive",
        }
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
    /// The share that was measured.
    pub share: f64,
    /// Its 95 % interval.
    pub ci95: [f64; 2],
    /// By which attributes.
    pub protected: Vec<String>,
    /// What came of it.
    pub verdict: Verdict,
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
            BoundKind::FailAbove => ("discriminatory", "at most"),
            BoundKind::FailBelow => ("certified fair", "at least"),
        };
        let verdict = match self.verdict {
            Verdict::Within => "the bound holds",
            Verdict::Exceeds => "the bound is broken",
            Verdict::Inconclusive => "the bound is not shown to hold",
        };
        let mut message = format!(
            "By {by}, {} of the inputs are {what} (95 % interval {}), and {than} {} may be: {verdict}.",
            percent(self.share),
            interval(self.ci95),
            percent(self.bound)
        );
        if let Some(worse) = &self.worse {
            message.push_str(&format!(" {worse}"));
        }
        message
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

    /// The same, of which there must be one.
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

fn of_run(run: &RunReport) -> Result<Option<BoundOutcome>, PageError> {
    let outcome = |kind, bound, share, ci95, protected: &[String], verdict, seconds| BoundOutcome {
        name: run.name.clone(),
        command: run.command.clone(),
        kind,
        bound,
        share,
        ci95,
        protected: protected.to_vec(),
        verdict,
        ended: run.ended.clone(),
        seconds,
        file: run.directory.join(RUN),
        line: 1,
        worse: None,
    };
    Ok(match &run.findings {
        Findings::Audit(audit) => {
            let summary = &audit.summary;
            let (Some(declared), Some(joint)) = (&summary.fail_above, summary.fairness.last())
            else {
                return Ok(None);
            };
            let verdict = match declared.verdict.as_str() {
                "within" => Verdict::Within,
                "exceeds" => Verdict::Exceeds,
                "inconclusive" => Verdict::Inconclusive,
                other => {
                    return Err(PageError::Foreign {
                        file: run.directory.clone(),
                        problem: format!("the verdict '{other}' is not known"),
                        command: run.command.clone(),
                    });
                }
            };
            let seconds = summary.total.seconds;
            Some(outcome(
                BoundKind::FailAbove,
                declared.bound,
                joint.rate,
                joint.ci95,
                &joint.protected,
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
            Some(outcome(
                BoundKind::FailBelow,
                bound,
                joint.certified.share,
                joint.certified.ci95,
                &joint.protected,
                verdict,
                certify.sets.iter().map(|set| set.seconds).sum(),
            ))
        }
        _ => None,
    })
}
