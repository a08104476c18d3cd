//! The sealed runs of an earlier gate.
//!
//! Two shares are told apart where their 95 % intervals do not meet, which is stricter than a test
//! of their difference.

use std::path::Path;

use serde::Serialize;

use anyhow::{Context, bail};

use super::file::BaselineFiles;
use crate::cli::render::{interval, percent};
use probity::report::Report;
use probity::report::bounds::{BoundKind, BoundOutcome};
use probity::run::seal::{PublicKey, check_alone};

/// The runs of an earlier gate.
pub(super) struct Baseline<'f> {
    files: &'f BaselineFiles,
    key: PublicKey,
}

/// What an earlier run measured.
#[derive(Debug, Serialize)]
pub(super) struct Before {
    /// When it was sealed.
    pub sealed: String,
    pub share: f64,
    pub ci95: [f64; 2],
    pub protected: Vec<String>,
    /// What the share is of.
    pub of: String,
    #[serde(skip)]
    kind: BoundKind,
}

/// How a share compares with that of an earlier run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Worse,
    Better,
    /// The intervals meet.
    Alike,
}

impl<'f> Baseline<'f> {
    pub fn open(files: &'f BaselineFiles) -> anyhow::Result<Baseline<'f>> {
        let key = PublicKey::read(&files.key)?;
        Ok(Baseline { files, key })
    }

    /// What the earlier run of the check `name` measured, if there is one; it must be as it was
    /// sealed. What became of its model since is no matter.
    pub fn before(&self, name: &str) -> anyhow::Result<Option<Before>> {
        let directory = self.files.runs.join(name);
        if !directory.exists() {
            return Ok(None);
        }
        let checked = check_alone(&directory, std::slice::from_ref(&self.key));
        if let Some(problem) = checked.problems.first() {
            bail!(
                "{} {}; nothing is compared with a run that is not as it was sealed",
                problem.file.display(),
                problem.problem
            );
        }
        let bound = declared(&directory)?;
        let sealed = checked.runs.into_iter().next().map(|run| run.sealed);
        Ok(Some(Before {
            sealed: sealed.unwrap_or_default(),
            share: bound.share,
            ci95: bound.ci95,
            protected: bound.protected,
            of: bound.of,
            kind: bound.kind,
        }))
    }
}

impl Before {
    /// How `now` compares, if the two measure the same.
    pub fn change(&self, now: &BoundOutcome) -> Option<Change> {
        if (self.kind, &self.of, &self.protected) != (now.kind, &now.of, &now.protected) {
            return None;
        }
        let (rises, falls) = (now.ci95[0] > self.ci95[1], now.ci95[1] < self.ci95[0]);
        Some(match (self.kind, rises, falls) {
            (BoundKind::FailAbove, true, _) | (BoundKind::FailBelow, _, true) => Change::Worse,
            (BoundKind::FailAbove, _, true) | (BoundKind::FailBelow, true, _) => Change::Better,
            _ => Change::Alike,
        })
    }

    /// That it got worse, in words, if it did.
    pub fn worse(&self, now: &BoundOutcome) -> Option<String> {
        (self.change(now) == Some(Change::Worse)).then(|| {
            format!(
                "It got worse: it was {} (95 % interval {}) in the run sealed {}.",
                percent(self.share),
                interval(self.ci95),
                self.sealed
            )
        })
    }
}

/// The bound that the run in `directory` declared.
pub(super) fn declared(directory: &Path) -> anyhow::Result<BoundOutcome> {
    let report = Report::read(&[directory.to_owned()])?;
    let bounds = report.declared_bounds()?;
    let first = bounds.into_iter().next();
    first.with_context(|| format!("{} declares no bound", directory.display()))
}
