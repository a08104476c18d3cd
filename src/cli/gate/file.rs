//! The file of a gate.
//!
//! ```toml
//! [baseline]              # the runs of an earlier gate, sealed; may be left out
//! runs = "evidence"
//! key = "auditor-public.pem"
//!
//! [[check]]
//! name = "sex"            # of the directory of its run, too
//! kind = "audit"          # or "certify", "counterparts", "situations"; the rest is its specification
//! model = "models/people"
//! data = "people.csv"
//! protected = ["sex"]
//! fail_above = 0.05
//! ```

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use serde::Deserialize;
use toml::{Spanned, Table, Value};

use crate::cli::run::with_absolute_paths;
use probity::fairness::audit::AuditSpecification;
use probity::fairness::certify::specification::CertifySpecification;
use probity::indirect::counterparts::specification::CounterpartsSpecification;
use probity::indirect::situations::specification::SituationsSpecification;
use probity::run::specification::Specification;
use probity::run::specification::file::{of_table, to_toml};

/// What a gate checks.
pub(super) struct GateFile {
    pub baseline: Option<BaselineFiles>,
    pub checks: Vec<Check>,
}

/// Where the runs of an earlier gate are, and who sealed them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BaselineFiles {
    /// Holds a directory for each check.
    pub runs: PathBuf,
    /// Public key.
    pub key: PathBuf,
}

/// One of the checks.
pub(super) struct Check {
    pub name: String,
    /// The line that it begins in, from 1.
    pub line: u64,
    /// As `probity run` takes it, with absolute paths.
    pub specification: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    baseline: Option<BaselineFiles>,
    #[serde(default)]
    check: Vec<Spanned<Table>>,
}

impl GateFile {
    /// Reads `file`, and checks all that can be checked before anything is run.
    pub fn read(file: &Path) -> anyhow::Result<GateFile> {
        let named = || file.display().to_string();
        let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", named()))?;
        let written: Written = toml::from_str(&text).with_context(named)?;
        ensure!(
            !written.check.is_empty(),
            "{} has no [[check]]",
            file.display()
        );
        let mut names = HashSet::new();
        let mut checks = Vec::new();
        for table in written.check {
            let before = text.get(..table.span().start).unwrap_or_default();
            let line = before.matches('\n').count() as u64 + 1;
            let check = Check::parse(table.into_inner(), line, file)
                .with_context(|| format!("{}, the check of line {line}", file.display()))?;
            ensure!(
                names.insert(check.name.clone()),
                "{}: two checks are called '{}'",
                file.display(),
                check.name
            );
            checks.push(check);
        }
        let absolute = std::path::absolute(file)?;
        let folder = absolute.parent().unwrap_or(Path::new("/"));
        let baseline = written.baseline.map(|baseline| BaselineFiles {
            runs: folder.join(baseline.runs),
            key: folder.join(baseline.key),
        });
        Ok(GateFile { baseline, checks })
    }
}

impl Check {
    fn parse(mut table: Table, line: u64, file: &Path) -> anyhow::Result<Check> {
        let Some(Value::String(name)) = table.remove("name") else {
            bail!("it has no name, such as name = \"sex\"");
        };
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        ensure!(
            name.chars().all(is_plain) && name.starts_with(|c: char| c.is_ascii_alphanumeric()),
            "its name is '{name}', but names are of letters, digits, '-', '_' and '.'"
        );
        let kind = table.remove("kind");
        let specification = match kind
            .as_ref()
            .map_or(Some(AuditSpecification::KIND), Value::as_str)
        {
            Some(AuditSpecification::KIND) => {
                specified::<AuditSpecification>(table, "fail_above", file)?
            }
            Some(CertifySpecification::KIND) => {
                specified::<CertifySpecification>(table, "fail_below", file)?
            }
            Some(SituationsSpecification::KIND) => {
                specified::<SituationsSpecification>(table, "fail_above", file)?
            }
            Some(CounterpartsSpecification::KIND) => {
                specified::<CounterpartsSpecification>(table, "fail_above", file)?
            }
            _ => bail!(
                "its kind is not '{}', '{}', '{}' or '{}': other runs declare no bound",
                AuditSpecification::KIND,
                CertifySpecification::KIND,
                CounterpartsSpecification::KIND,
                SituationsSpecification::KIND
            ),
        };
        Ok(Check {
            name,
            line,
            specification,
        })
    }
}

/// The specification in `table`, which must declare `bound`.
fn specified<S: Specification>(table: Table, bound: &str, file: &Path) -> anyhow::Result<String> {
    ensure!(
        table.contains_key(bound),
        "it declares no bound, such as {bound} = 0.05"
    );
    ensure!(
        !table.contains_key("record"),
        "'record' is for the run.toml of a run"
    );
    let (specification, _) = of_table::<S>(table, file)?;
    let checked = specification.check()?.into_inner();
    let located = with_absolute_paths(checked, file, false)?;
    Ok(to_toml(&*located.check()?, None)?)
}
