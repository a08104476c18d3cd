//! From run directories to a [`Report`].

mod audit;
pub(super) mod files;
mod knn;
mod model;
mod options;

use std::fs;
use std::path::{Path, PathBuf};

use self::files::{RunFiles, names_of};
use super::error::PageError;
use super::model::{AuditFindings, Comparison, Findings, GroupRunFindings, Report, RunReport};
use probity_run::run_directory::SEAL;

impl Report {
    /// Reads `runs`: directories that a command has written. That of `probity demo` stands for the
    /// audit in it.
    ///
    /// # Errors
    /// See [`PageError`].
    pub fn read(runs: &[PathBuf]) -> Result<Report, PageError> {
        let mut seen: Vec<PathBuf> = Vec::new();
        let mut reports = Vec::new();
        for directory in runs {
            let report = read_run(directory, findings)?;
            let place =
                fs::canonicalize(&report.directory).unwrap_or_else(|_| report.directory.clone());
            if seen.contains(&place) {
                return Err(PageError::Twice {
                    directory: directory.clone(),
                });
            }
            seen.push(place);
            reports.push(report);
        }
        for (report, name) in reports.iter_mut().zip(names_of(&seen)) {
            report.name = name;
        }
        Ok(Report {
            schema_version: 1,
            command: "report",
            probity_version: env!("CARGO_PKG_VERSION"),
            comparisons: comparisons(&reports),
            runs: reports,
        })
    }
}

/// How the findings of a run are read.
type Read = fn(&RunFiles) -> Result<Findings, PageError>;

/// The kinds of runs that a report is made of, and how the findings of each are read.
const READERS: [(&str, Read); 16] = [
    ("train", |files| Ok(Findings::Training(files.parse()?))),
    ("import", |files| Ok(Findings::Import(files.parse()?))),
    ("audit", |files| {
        Ok(Findings::Audit(Box::new(audit::read(files)?)))
    }),
    ("repair", |files| match files.is_of_texts() {
        true => Ok(Findings::TextRepair(files.parse()?)),
        false => Ok(Findings::Repair(files.parse()?)),
    }),
    ("groups", |files| match files.is_of_texts() {
        true => Ok(Findings::TextGroups(files.parse()?)),
        false => Ok(Findings::Groups(Box::new(groups(files)?))),
    }),
    ("counterparts", |files| {
        Ok(Findings::Counterparts(files.parse()?))
    }),
    ("proxies", |files| Ok(Findings::Proxies(files.parse()?))),
    ("situations", |files| {
        Ok(Findings::Situations(files.parse()?))
    }),
    ("compare", |files| Ok(Findings::Compare(files.parse()?))),
    ("certify", |files| Ok(Findings::Certify(files.parse()?))),
    ("prove", |files| Ok(Findings::Prove(files.parse()?))),
    ("knn", |files| {
        Ok(Findings::Knn(Box::new(knn::read(files)?)))
    }),
    ("kmeans bench", |files| Ok(Findings::KMeans(files.parse()?))),
    ("spn bench", |files| Ok(Findings::Spn(files.parse()?))),
    ("outliers count", |files| {
        Ok(Findings::OutlierCount(files.parse()?))
    }),
    ("outliers subspaces", |files| {
        Ok(Findings::OutlierSubspaces(files.parse()?))
    }),
];

/// The kinds of runs that a report is made of.
pub const KNOWN_RUNS: &[&str] = &{
    let mut names = [""; READERS.len()];
    let mut place = 0;
    while place < names.len() {
        names[place] = READERS[place].0;
        place += 1;
    }
    names
};

/// Reads the run in `directory`, without the pairs that an audit found.
pub(super) fn run_without_pairs(directory: &Path) -> Result<RunReport, PageError> {
    read_run(directory, |files| match files.command.as_str() {
        "audit" => Ok(Findings::Audit(Box::new(audit::read_without_pairs(files)?))),
        _ => findings(files),
    })
}

/// Reads the run in `directory`, of which `findings` come: all files as they stood at one time, even
/// where somebody goes on with the run meanwhile.
fn read_run(
    directory: &Path,
    findings: impl Fn(&RunFiles) -> Result<Findings, PageError>,
) -> Result<RunReport, PageError> {
    loop {
        let files = RunFiles::open(directory, KNOWN_RUNS)?;
        let run = findings(&files).map(|findings| run_with(&files, findings));
        // What does not fit together is an error only where nothing has moved.
        if files.are_as_opened() {
            return run;
        }
    }
}

/// What came out of the run in `files`.
fn findings(files: &RunFiles) -> Result<Findings, PageError> {
    let known = READERS.iter().find(|(kind, _)| *kind == files.command);
    let (_, read) = known.ok_or_else(|| PageError::Command {
        directory: files.directory.clone(),
        found: files.command.clone(),
        known: KNOWN_RUNS,
    })?;
    read(files)
}

/// The run in `files`, of which `findings` came out.
fn run_with(files: &RunFiles, findings: Findings) -> RunReport {
    let (subject, options) = options::facts(files);
    RunReport {
        name: String::new(),
        called: None,
        directory: files.directory.clone(),
        command: files.command.clone(),
        probity_version: files.text("probity_version"),
        ended: files.text("ended"),
        subject,
        options,
        reproduce: options::reproduction(files),
        summary_sha256: files.summary_sha256.clone(),
        is_sealed: files.file(SEAL).is_file(),
        architecture: model::architecture(files),
        findings,
    }
}

/// A measurement of groups of rows.
fn groups(files: &RunFiles) -> Result<GroupRunFindings, PageError> {
    let mut run: GroupRunFindings = files.parse()?;
    if let Some(said) = files.options.get("impact") {
        let said = said.clone().try_into();
        run.publication = said.map_err(|error: toml::de::Error| files.foreign(&error))?;
    }
    Ok(run)
}

/// Audits of the same inputs and protected attributes, but of two models: a repair beside what it
/// was made from, else an audit beside the first like it.
fn comparisons(runs: &[RunReport]) -> Vec<Comparison> {
    let audits: Vec<(usize, &AuditFindings)> = runs
        .iter()
        .enumerate()
        .filter_map(|(place, run)| match &run.findings {
            Findings::Audit(audit) => Some((place, audit.as_ref())),
            _ => None,
        })
        .collect();
    let repairs: Vec<(&str, &str)> = runs.iter().filter_map(repaired).collect();
    let is_repair = |a: &AuditFindings, b: &AuditFindings| {
        b.repaired_from.as_ref() == Some(&a.model_sha256)
            || repairs.contains(&(a.model_sha256.as_str(), b.model_sha256.as_str()))
    };
    let mut comparisons = Vec::new();
    for (later, (second, b)) in audits.iter().enumerate() {
        let alike = |a: &AuditFindings| {
            a.inputs_sha256 == b.inputs_sha256
                && a.summary.protected == b.summary.protected
                && a.model_sha256 != b.model_sha256
        };
        let origin = audits.iter().find(|(_, a)| alike(a) && is_repair(a, b));
        let earlier = audits[..later]
            .iter()
            .find(|(_, a)| alike(a) && !is_repair(b, a));
        if let Some((first, _)) = origin.or(earlier) {
            comparisons.push(Comparison {
                first: *first,
                second: *second,
                is_repair: origin.is_some(),
            });
        }
    }
    comparisons
}

/// The hashes of the model before and after, of a repair.
fn repaired(run: &RunReport) -> Option<(&str, &str)> {
    match &run.findings {
        Findings::Repair(repair) => Some((&repair.model_sha256, repair.repaired_sha256.as_ref()?)),
        Findings::TextRepair(repair) => {
            Some((&repair.model_sha256, repair.repaired_sha256.as_ref()?))
        }
        _ => None,
    }
}
