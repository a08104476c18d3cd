//! A whole certification as one call: specification → inputs → certificates → run directory.

use std::collections::BTreeMap;
use std::time::Instant;

use serde::Serialize;
use thiserror::Error;

use super::Certificate;
use super::enumerate::{Enumeration, Tried};
use super::parts::{Dealer, Inputs, Part, PartError};
pub use super::specification::CertifySpecification;
use crate::audit_error::AuditError;
use crate::estimate::estimated_sets;
use crate::population::Unknown;
use crate::statistics::Share;
use probity_data::table::ReadCounts;
use probity_nn::alike::DecidedAlike;
use probity_nn::modality::ModalityName;
use probity_run::run_directory::{RunDirectory, RunError, write_with};
use probity_run::specification::file::{Record, SpecificationError};
use probity_run::specification::{Checked, FieldError};
use probity_run::spreadsheet::safe;

/// Name of the file with the certificate of every input.
pub const CERTIFICATES: &str = "certificates.csv";

/// A reason why nothing can be certified.
#[derive(Debug, Error)]
pub enum CertifyError {
    /// Model, data or protected set cannot be used.
    #[error("{0}")]
    Audit(#[source] Box<AuditError>),
    /// The part of the data cannot be told.
    #[error("{0}")]
    Part(#[from] PartError),
    /// The run directory cannot be used.
    #[error("{0}")]
    Run(#[from] RunError),
    /// The run cannot be written.
    #[error("{0}")]
    Specification(#[from] SpecificationError),
    /// The part is empty.
    #[error("the part '{part:?}' of the data has no rows")]
    EmptyPart {
        /// The part.
        part: Part,
    },
}

impl From<AuditError> for CertifyError {
    fn from(error: AuditError) -> CertifyError {
        CertifyError::Audit(Box::new(error))
    }
}

/// The results of the inputs for one set of protected attributes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CertifiedSet {
    /// The protected attributes: jointly for a table, one term at a time for texts.
    pub protected: Vec<String>,
    /// Inputs; for texts, those with a protected term that has a replacement.
    pub inputs: u64,
    /// Inputs certified by one box.
    pub one_box: Share,
    /// Inputs certified, by splitting too.
    pub certified: Share,
    /// Seconds that the bounds took; none where there are no bounds.
    pub seconds: f64,
    /// Inputs that are fair, as trying all substitutions says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fair: Option<Share>,
    /// Inputs with a substitution that changes their class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfair: Option<u64>,
    /// Inputs that were not decided before the budget of model calls was spent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undecided: Option<u64>,
    /// Inputs and substitutions that the model was asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
    /// Inputs certified by bounds that trying all substitutions refutes: 0, or there is a defect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refuted: Option<u64>,
    /// Seconds of trying all substitutions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exhaustive_seconds: Option<f64>,
}

/// The content of `summary.json` of a certification.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CertifySummary {
    /// Version of this layout.
    pub schema_version: u32,
    /// Always `certify`.
    pub command: String,
    /// The kind of inputs that was certified: rows of a table, or texts.
    pub modality: ModalityName,
    /// Version that made the run.
    pub probity_version: String,
    /// SHA-256 of the model.
    pub model_sha256: String,
    /// SHA-256 of the data or texts.
    pub inputs_sha256: String,
    /// Counts of what the reader did to values and rows of a table; of texts, where it left any
    /// out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<ReadCounts>,
    /// Rows that were not certified, since a protected value is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unknown: Option<Unknown>,
    /// The class that every input of the part gets, where all get the same one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decides_alike: Option<DecidedAlike>,
    /// Part of the data.
    pub part: Part,
    /// Largest number of splits of an input.
    pub splits: u32,
    /// The results of each set: each attribute alone and, if there are several, all of them.
    pub sets: Vec<CertifiedSet>,
    /// Bound on the certified share of the last set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail_below: Option<f64>,
}

/// A model and its inputs, opened; the interface by which rows of a table and texts differ.
pub trait Certifiable: Sized {
    /// The name of the modality.
    const NAME: ModalityName;

    /// Opens what `specification` names.
    ///
    /// # Errors
    /// See [`AuditError`].
    fn open(specification: &CertifySpecification) -> Result<Self, AuditError>;

    /// The SHA-256 of each thing that was opened, by role.
    fn sha256(&self) -> &BTreeMap<String, String>;

    /// Names of the protected attributes.
    fn protected(&self) -> &[String];

    /// Number of inputs.
    fn inputs(&self) -> usize;

    /// The inputs of `part`, as the training of `model` dealt them.
    ///
    /// # Errors
    /// When the model does not say, or it was trained on another file.
    fn part(&self, part: Part, model: Dealer<'_>, file: Inputs<'_>) -> Result<Vec<u32>, PartError>;

    /// The class that the model gives all of the inputs `rows`, if it is one class.
    ///
    /// # Errors
    /// When the model cannot answer.
    fn decides_alike(&self, rows: &[u32]) -> Result<Option<DecidedAlike>, AuditError>;

    /// The inputs among `rows` that have variants by the attributes `names`.
    ///
    /// # Errors
    /// When there is none, or these attributes cannot be protected.
    fn varying(&self, names: &[String], rows: &[u32]) -> Result<Vec<u32>, AuditError>;

    /// The inputs among `rows` with a protected value that is not known, if there are any: they are not
    /// certified. Of texts there are none.
    ///
    /// # Errors
    /// When there are no others.
    fn unknown(&self, _rows: &[u32]) -> Result<Option<Unknown>, AuditError> {
        Ok(None)
    }

    /// The number of the input `row`, from 1: of a text its row in the file.
    fn number(&self, row: u32) -> u64 {
        u64::from(row) + 1
    }

    /// The counts of what the reader did to values and rows, where it says so.
    fn counts(&self) -> Option<&ReadCounts>;

    /// Whether outputs can be bounded; where they cannot, all substitutions are tried.
    fn has_bounds(&self) -> bool {
        true
    }

    /// The certificates of the inputs `rows` for the attributes `names` by bounds, with at most
    /// `splits` splits an input.
    ///
    /// # Errors
    /// When the model cannot answer.
    fn certify(
        &self,
        names: &[String],
        rows: &[u32],
        splits: u32,
    ) -> Result<Vec<Certificate>, AuditError>;

    /// Says which of the inputs `rows` are fair: no substitution of `names` changes their class.
    /// All are tried, with at most `most` model calls.
    ///
    /// # Errors
    /// When the model cannot answer.
    fn enumerate(
        &self,
        names: &[String],
        rows: &[u32],
        most: Option<u64>,
    ) -> Result<Enumeration, AuditError>;

    /// The changes that variant `variant`, by the attributes `names`, makes in the input `row`.
    ///
    /// # Errors
    /// When it cannot be shown.
    fn changed(&self, names: &[String], row: u32, variant: u32) -> Result<String, AuditError>;
}

/// A certification whose inputs are opened and checked; nothing is written yet.
pub struct Certification<M> {
    specification: CertifySpecification,
    record: Record,
    case: M,
    /// The rows of the part of the data.
    rows: Vec<u32>,
    /// The inputs to certify, set by set of protected attributes.
    sets: Vec<(Vec<String>, Vec<u32>)>,
}

/// Refuses fields without a meaning for a model that `has_bounds`, or has none.
fn expect_used(specification: &CertifySpecification, has_bounds: bool) -> Result<(), FieldError> {
    let usual = CertifySpecification::default();
    let is_tried = specification.exhaustive || !has_bounds;
    if specification.max_calls.is_some() && !is_tried {
        let expected = "given with exhaustive only: bounds ask the model nothing";
        return Err(FieldError::new("max_calls", "given", expected));
    }
    if specification.splits != usual.splits && !has_bounds {
        let expected = "left out: a transformer has no bounds, all substitutions are tried";
        return Err(FieldError::new("splits", "given", expected));
    }
    Ok(())
}

/// The line of one input in the certificates file.
struct Line {
    set: usize,
    row: u64,
    certificate: Certificate,
    fair: Option<bool>,
    /// The changes of a substitution that changes the class.
    counterexample: String,
}

impl<M: Certifiable> Certification<M> {
    /// Opens and checks what `specification` names.
    ///
    /// # Errors
    /// See [`CertifyError`].
    pub fn open(
        specification: Checked<CertifySpecification>,
    ) -> Result<Certification<M>, CertifyError> {
        let mut specification = specification.into_inner();
        let case = M::open(&specification)?;
        let mut record = Record::new();
        record.sha256.clone_from(case.sha256());
        let part = specification.part;
        let data = (specification.data.as_path(), record.sha256_of("data"));
        let model = (specification.model.as_path(), record.sha256_of("model"));
        let rows = case.part(part, model, data)?;
        if rows.is_empty() {
            return Err(CertifyError::EmptyPart { part });
        }
        expect_used(&specification, case.has_bounds()).map_err(AuditError::from)?;
        specification.protected = case.protected().to_vec();
        let sets = estimated_sets(case.protected()).into_iter();
        let sets = sets.map(|names| {
            let rows = case.varying(&names, &rows)?;
            Ok((names, rows))
        });
        Ok(Certification {
            sets: sets.collect::<Result<_, AuditError>>()?,
            rows,
            specification,
            record,
            case,
        })
    }

    /// The specification, resolved.
    pub fn specification(&self) -> &CertifySpecification {
        &self.specification
    }

    /// The record of what was opened.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// The number of sets of protected attributes that are certified.
    pub fn sets(&self) -> usize {
        self.sets.len()
    }

    /// Certifies everything; `observe` is told how many sets are done.
    fn certify(
        &self,
        observe: &mut dyn FnMut(usize),
    ) -> Result<(Vec<CertifiedSet>, Vec<Line>), CertifyError> {
        let mut sets = Vec::new();
        let mut lines = Vec::new();
        for (number, (names, rows)) in self.sets.iter().enumerate() {
            observe(number);
            let started = Instant::now();
            let by_bounds = match self.case.has_bounds() {
                true => Some(self.case.certify(names, rows, self.specification.splits)?),
                false => None,
            };
            let seconds = by_bounds.as_ref().map(|_| started.elapsed().as_secs_f64());
            let seconds = seconds.unwrap_or_default();
            let tried = match self.specification.exhaustive || by_bounds.is_none() {
                true => Some(
                    self.case
                        .enumerate(names, rows, self.specification.max_calls)?,
                ),
                false => None,
            };
            let exhaustive_seconds = started.elapsed().as_secs_f64() - seconds;
            let of = rows.len() as u64;
            let fair: Option<Vec<Option<bool>>> = tried
                .as_ref()
                .map(|all| all.tried.iter().map(|tried| tried.is_fair()).collect());
            let is_bounded = by_bounds.is_some();
            let by_trying = |fair: &Option<bool>| match fair {
                Some(true) => Certificate::Tried,
                _ => Certificate::None,
            };
            let certificates = by_bounds.unwrap_or_else(|| {
                let fair = fair.iter().flatten();
                fair.map(by_trying).collect()
            });
            let share = |is: &dyn Fn(Certificate) -> bool| {
                let is_such = certificates.iter().filter(|certificate| is(**certificate));
                Share::new(is_such.count() as u64, of)
            };
            let refuted = |fair: &Vec<Option<bool>>| {
                let pairs = certificates.iter().zip(fair);
                let is_refuted = pairs
                    .filter(|(certificate, fair)| certificate.holds() && **fair == Some(false));
                is_refuted.count() as u64
            };
            let tried_are = |is: Option<bool>| {
                let count = |all: &Enumeration| all.count(|tried| tried.is_fair() == is);
                tried.as_ref().map(count)
            };
            sets.push(CertifiedSet {
                protected: names.clone(),
                inputs: of,
                one_box: share(&|certificate| certificate == Certificate::OneBox),
                certified: share(&Certificate::holds),
                seconds,
                fair: tried_are(Some(true)).map(|count| Share::new(count, of)),
                unfair: tried_are(Some(false)),
                undecided: tried_are(None),
                calls: tried.as_ref().map(|all| all.calls),
                refuted: fair.as_ref().filter(|_| is_bounded).map(refuted),
                exhaustive_seconds: fair.as_ref().map(|_| exhaustive_seconds),
            });
            for (place, (&row, &certificate)) in rows.iter().zip(&certificates).enumerate() {
                let tried = tried.as_ref().map(|all| all.tried[place]);
                lines.push(Line {
                    set: number,
                    row: self.case.number(row),
                    certificate,
                    fair: tried.and_then(Tried::is_fair),
                    counterexample: match tried {
                        Some(Tried::Unfair { variant }) => {
                            self.case.changed(names, row, variant)?
                        }
                        _ => String::new(),
                    },
                });
            }
        }
        Ok((sets, lines))
    }

    /// Certifies everything and writes the run to `run`; `observe` is told how many sets are done.
    ///
    /// # Errors
    /// See [`CertifyError`].
    pub fn run(
        &self,
        run: &RunDirectory,
        observe: &mut dyn FnMut(usize),
    ) -> Result<CertifySummary, CertifyError> {
        let specification = &self.specification;
        run.write_run(specification, &self.record)?;
        let (sets, lines) = self.certify(observe)?;
        run.expect_in_place()?;
        write_with(&run.file(CERTIFICATES), |writer| {
            let mut csv = csv::Writer::from_writer(writer);
            csv.write_record(["protected", "row", "certificate", "fair", "counterexample"])?;
            for line in &lines {
                csv.write_record([
                    &*safe(&sets[line.set].protected.join("+")),
                    &line.row.to_string(),
                    line.certificate.name(),
                    line.fair.map_or("", |fair| if fair { "yes" } else { "no" }),
                    &*safe(&line.counterexample),
                ])?;
            }
            csv.flush()
        })?;
        let summary = CertifySummary {
            schema_version: 1,
            command: "certify".to_owned(),
            modality: M::NAME,
            probity_version: env!("CARGO_PKG_VERSION").to_owned(),
            model_sha256: self.record.sha256_of("model").to_owned(),
            inputs_sha256: self.record.sha256_of("data").to_owned(),
            data: self.case.counts().cloned(),
            unknown: self.case.unknown(&self.rows)?,
            decides_alike: self.case.decides_alike(&self.rows)?,
            part: specification.part,
            splits: specification.splits,
            sets,
            fail_below: specification.fail_below,
        };
        run.write_summary(&summary)?;
        Ok(summary)
    }
}
