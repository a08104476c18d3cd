//! A whole certification as one call: specification → inputs → certificates → run directory.

use std::sync::Arc;
use std::time::Instant;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::parts::{Part, PartError, positions_of};
pub use super::specification::CertifySpecification;
use super::table::certify_rows;
use super::text::certify_texts;
use super::{Certificate, exhaustive};
use crate::audit_error::AuditError;
use crate::domain::TabularDomain;
use crate::estimate::{clopper_pearson, estimated_sets};
use crate::modality::{ModalityName, named_or_all};
use crate::opened::{
    open_lexicon, open_model, open_table, open_text_model, open_texts, positions,
    protected_or_marked, reading_schema,
};
use crate::text::domain::TextDomain;
use crate::text::protected::ProtectedTerms;
use probity_data::table::{Labels, Table};
use probity_nn::fnn::Fnn;
use probity_nn::model::Model;
use probity_nn::text_model::{EncodedText, TextModel};
use probity_nn::{ModelError, Rows};
use probity_run::run_directory::{RunDirectory, RunError, write_with};
use probity_run::specification::Checked;
use probity_run::specification::file::{Record, SpecificationError};
use probity_tensor::device::ComputeDevice;

/// Name of the file with the certificate of every input.
pub const CERTIFICATES: &str = "certificates.csv";

/// Why nothing can be certified.
#[derive(Debug, Error)]
pub enum CertifyError {
    /// Model, data or protected set cannot be used.
    #[error(transparent)]
    Audit(Box<AuditError>),
    /// The part of the data cannot be told.
    #[error(transparent)]
    Part(#[from] PartError),
    /// The model cannot answer.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The run directory cannot be used.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The run cannot be written.
    #[error(transparent)]
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

/// A share of the inputs, with its 95 % interval (Clopper and Pearson).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// Inputs of that kind.
    pub count: u64,
    /// Their share.
    pub share: f64,
    /// 95 % interval of the share in what the inputs were drawn from.
    pub ci95: [f64; 2],
}

impl Share {
    /// `count` of `of` inputs.
    pub fn new(count: u64, of: u64) -> Share {
        Share {
            count,
            share: count as f64 / of.max(1) as f64,
            ci95: clopper_pearson(count, of, 0.05),
        }
    }
}

/// What became of the inputs for one set of protected attributes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CertifiedSet {
    /// The attributes: jointly for a table, one term at a time for texts.
    pub protected: Vec<String>,
    /// Inputs; for texts, those with a protected term that has a replacement.
    pub inputs: u64,
    /// Certified by one box.
    pub one_box: Share,
    /// Certified, by splitting too.
    pub certified: Share,
    /// Seconds of the bounds.
    pub seconds: f64,
    /// Fair, as trying all substitutions says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fair: Option<Share>,
    /// Certified inputs that trying all substitutions refutes: 0, or there is a defect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refuted: Option<u64>,
    /// Seconds of trying all substitutions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exhaustive_seconds: Option<f64>,
}

/// `summary.json` of a certification.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CertifySummary {
    /// Version of this layout.
    pub schema_version: u32,
    /// Always `certify`.
    pub command: String,
    /// What was certified: rows of a table, or texts.
    pub modality: ModalityName,
    /// Version that made the run.
    pub probity_version: String,
    /// SHA-256 of the model.
    pub model_sha256: String,
    /// SHA-256 of the data or texts.
    pub inputs_sha256: String,
    /// Part of the data.
    pub part: Part,
    /// Splits an input at most.
    pub splits: u32,
    /// Set by set: each attribute alone and, if there are several, all of them.
    pub sets: Vec<CertifiedSet>,
    /// Bound on the certified share of the last set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail_below: Option<f64>,
}

/// A certification whose inputs are opened and checked; nothing is written yet.
pub struct Certification {
    specification: CertifySpecification,
    record: Record,
    inputs: Inputs,
}

enum Inputs {
    Table {
        model: Box<Model>,
        table: Table,
        rows: Vec<u32>,
    },
    Texts {
        model: Box<TextModel>,
        protected: Box<ProtectedTerms>,
        texts: Vec<EncodedText>,
        rows: Vec<u32>,
    },
}

/// One input's line of the certificates file.
struct Line {
    set: usize,
    row: u32,
    certificate: Certificate,
    fair: Option<bool>,
}

impl Certification {
    /// Opens and checks what `specification` names.
    ///
    /// # Errors
    /// See [`CertifyError`].
    pub fn open(
        specification: Checked<CertifySpecification>,
    ) -> Result<Certification, CertifyError> {
        let mut specification = specification.into_inner();
        let (inputs, record) = match specification.modality {
            ModalityName::Text => open_text_inputs(&mut specification)?,
            ModalityName::Table => open_table_inputs(&mut specification)?,
        };
        let certification = Certification {
            specification,
            record,
            inputs,
        };
        for names in certification.sets() {
            certification.check(&names)?;
        }
        Ok(certification)
    }

    /// The specification, resolved.
    pub fn specification(&self) -> &CertifySpecification {
        &self.specification
    }

    /// Each attribute alone and, if there are several, all of them.
    fn sets(&self) -> Vec<Vec<String>> {
        estimated_sets(&self.specification.protected)
    }

    /// Whether there is something to certify for `names`.
    fn check(&self, names: &[String]) -> Result<(), CertifyError> {
        match &self.inputs {
            Inputs::Table { model, .. } => {
                let protected = positions(&model.schema, names).map_err(AuditError::from)?;
                TabularDomain::new(&model.schema, &model.network.layout, &protected)
                    .map_err(AuditError::from)?;
            }
            Inputs::Texts {
                protected,
                texts,
                rows,
                ..
            } => {
                let terms = protected.only(names);
                if !rows
                    .iter()
                    .any(|&row| terms.can_vary(&texts[row as usize].ids))
                {
                    return Err(CertifyError::from(AuditError::NoProtectedTerm {
                        file: self.specification.data.clone(),
                        texts: rows.len(),
                        attributes: names.join(", "),
                    }));
                }
            }
        }
        Ok(())
    }

    /// Certifies everything; `observe` is told how many sets are done.
    fn certify(
        &self,
        observe: &mut dyn FnMut(usize),
    ) -> Result<(Vec<CertifiedSet>, Vec<Line>), CertifyError> {
        let mut sets = Vec::new();
        let mut lines = Vec::new();
        for (number, names) in self.sets().into_iter().enumerate() {
            observe(number);
            let (rows, certificates, fair, seconds) = self.certify_set(&names)?;
            let of = rows.len() as u64;
            let count = |is: &dyn Fn(Certificate) -> bool| {
                Share::new(certificates.iter().filter(|c| is(**c)).count() as u64, of)
            };
            let fair_count = |fair: &Vec<bool>| fair.iter().filter(|fair| **fair).count() as u64;
            let refuted = |fair: &Vec<bool>| {
                let pairs = certificates.iter().zip(fair);
                pairs.filter(|(c, fair)| c.holds() && !**fair).count() as u64
            };
            sets.push(CertifiedSet {
                protected: names,
                inputs: of,
                one_box: count(&|c| c == Certificate::OneBox),
                certified: count(&Certificate::holds),
                seconds: seconds[0],
                fair: fair.as_ref().map(|fair| Share::new(fair_count(fair), of)),
                refuted: fair.as_ref().map(refuted),
                exhaustive_seconds: fair.as_ref().map(|_| seconds[1]),
            });
            for (place, (&row, &certificate)) in rows.iter().zip(&certificates).enumerate() {
                lines.push(Line {
                    set: number,
                    row: row + 1,
                    certificate,
                    fair: fair.as_ref().map(|fair| fair[place]),
                });
            }
        }
        Ok((sets, lines))
    }

    /// Rows, their certificates, whether they are fair where that is asked, and seconds of both.
    #[allow(clippy::type_complexity)] // used once, and named nowhere else
    fn certify_set(
        &self,
        names: &[String],
    ) -> Result<(Vec<u32>, Vec<Certificate>, Option<Vec<bool>>, [f64; 2]), CertifyError> {
        let started = Instant::now();
        let splits = self.specification.splits;
        match &self.inputs {
            Inputs::Table { model, table, rows } => {
                let protected = positions(&model.schema, names).map_err(AuditError::from)?;
                let part = table.select(rows);
                let inputs = Rows::new(part.codes(), part.width());
                let certificates =
                    certify_rows(&model.network, &model.schema, &protected, inputs, splits)?;
                let bounded = started.elapsed().as_secs_f64();
                let fair = if self.specification.exhaustive {
                    let layout = &model.network.layout;
                    let domain = TabularDomain::new(&model.schema, layout, &protected)
                        .map_err(AuditError::from)?;
                    let fnn = Fnn::new(&model.network, &ComputeDevice::flex());
                    Some(exhaustive(&fnn, &domain, inputs)?)
                } else {
                    None
                };
                let all = started.elapsed().as_secs_f64();
                Ok((rows.clone(), certificates, fair, [bounded, all - bounded]))
            }
            Inputs::Texts {
                model,
                protected,
                texts,
                rows,
            } => {
                let terms = protected.only(names);
                let rows: Vec<u32> = rows
                    .iter()
                    .copied()
                    .filter(|&row| terms.can_vary(&texts[row as usize].ids))
                    .collect();
                let ids: Vec<Vec<i32>> = rows
                    .iter()
                    .map(|&row| texts[row as usize].ids.clone())
                    .collect();
                let width = model.max_length + terms.growth();
                let network = model
                    .network(width, &ComputeDevice::flex())
                    .map_err(AuditError::from)?;
                let certificates =
                    certify_texts(network.weights(), network.table(), &terms, &ids, splits);
                let bounded = started.elapsed().as_secs_f64();
                let fair = if self.specification.exhaustive {
                    let domain = TextDomain::new(width, Arc::new(terms), Arc::default())
                        .map_err(AuditError::from)?;
                    let codes: Vec<i32> = ids.iter().flat_map(|text| domain.row(text)).collect();
                    Some(exhaustive(&network, &domain, Rows::new(&codes, width))?)
                } else {
                    None
                };
                let all = started.elapsed().as_secs_f64();
                Ok((rows, certificates, fair, [bounded, all - bounded]))
            }
        }
    }
}

/// Opens the model and the table that `specification` names, and fills in what it leaves to them.
fn open_table_inputs(
    specification: &mut CertifySpecification,
) -> Result<(Inputs, Record), CertifyError> {
    let model = open_model(&specification.model)?;
    let protected = protected_or_marked(&specification.protected, &model.value.schema);
    let schema = reading_schema(&model.value.schema, specification.out_of_domain)?;
    let data = open_table(&specification.data, &schema, Labels::Optional)?;
    let (file, part) = (&specification.data, specification.part);
    let count = data.value.rows();
    let rows = positions_of(part, &specification.model, (file, &data.sha256), count)?;
    not_empty(part, &rows)?;
    specification.protected = protected;
    let record = Record::new()
        .opened("model", model.sha256)
        .opened("data", data.sha256);
    let inputs = Inputs::Table {
        model: Box::new(model.value),
        table: data.value,
        rows,
    };
    Ok((inputs, record))
}

/// The same for a model of texts, its lexicon and the texts.
fn open_text_inputs(
    specification: &mut CertifySpecification,
) -> Result<(Inputs, Record), CertifyError> {
    let model = open_text_model(&specification.model)?;
    let lexicon = open_lexicon(specification.text.lexicon.as_deref())?;
    let attributes = named_or_all(&specification.protected, &lexicon.value);
    let protected = ProtectedTerms::new(&lexicon.value, &attributes, &model.value)?;
    let corpus = open_texts(&specification.data, specification.text.column.as_deref())?;
    let texts = corpus.value.texts.par_iter();
    let texts: Vec<EncodedText> = texts
        .map(|text| model.value.encode(text))
        .collect::<Result<_, _>>()
        .map_err(AuditError::from)?;
    let (file, part) = (&specification.data, specification.part);
    let rows = positions_of(
        part,
        &specification.model,
        (file, &corpus.sha256),
        texts.len(),
    )?;
    not_empty(part, &rows)?;
    specification.protected = attributes;
    let record = Record::new()
        .opened("model", model.sha256)
        .opened("lexicon", lexicon.sha256)
        .opened("data", corpus.sha256);
    let inputs = Inputs::Texts {
        model: Box::new(model.value),
        protected: Box::new(protected),
        texts,
        rows,
    };
    Ok((inputs, record))
}

fn not_empty(part: Part, rows: &[u32]) -> Result<(), CertifyError> {
    if rows.is_empty() {
        return Err(CertifyError::EmptyPart { part });
    }
    Ok(())
}

impl Certification {
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
        write_with(&run.file(CERTIFICATES), |writer| {
            let mut csv = csv::Writer::from_writer(writer);
            csv.write_record(["protected", "row", "certificate", "fair"])?;
            for line in &lines {
                csv.write_record([
                    sets[line.set].protected.join("+").as_str(),
                    &line.row.to_string(),
                    line.certificate.name(),
                    line.fair.map_or("", |fair| if fair { "yes" } else { "no" }),
                ])?;
            }
            csv.flush()
        })?;
        let summary = CertifySummary {
            schema_version: 1,
            command: "certify".to_owned(),
            modality: specification.modality,
            probity_version: env!("CARGO_PKG_VERSION").to_owned(),
            model_sha256: self.record.sha256_of("model").to_owned(),
            inputs_sha256: self.record.sha256_of("data").to_owned(),
            part: specification.part,
            splits: specification.splits,
            sets,
            fail_below: specification.fail_below,
        };
        run.write_summary(&summary)?;
        Ok(summary)
    }
}
