//! A whole certification as one call: options → inputs → certificates → run directory.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::parts::{Part, PartError, rows_of, texts_of};
use super::table::certify_rows;
use super::text::certify_texts;
use super::{Certificate, exhaustive};
use crate::audit::{AuditError, expect_hash};
use crate::case::positions;
use crate::domain::TabularDomain;
use crate::estimate::{clopper_pearson, estimated_sets};
use crate::text::domain::TextDomain;
use crate::text::protected::{ProtectedTerms, open_lexicon};
use probity_data::schema::Outside;
use probity_data::table::{Labels, Table};
use probity_nn::fnn::Fnn;
use probity_nn::model::Model;
use probity_nn::text_model::{EncodedText, TextModel};
use probity_nn::{ModelError, Rows};
use probity_run::run_directory::{RUN, RunDirectory, RunError, file_sha256, write_with};
use probity_tensor::device::ComputeDevice;
use probity_text::corpus::{TextColumns, read_texts};

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

/// Everything that determines a certification: `run.toml`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CertifyOptions {
    /// Always `certify`.
    pub command: String,
    /// Version that made the run.
    pub probity_version: String,
    /// Model directory.
    pub model: PathBuf,
    /// SHA-256 of the model.
    pub model_sha256: String,
    /// The table, for a model of tables.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<PathBuf>,
    /// The texts, for a model of texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub texts: Option<PathBuf>,
    /// SHA-256 of that file.
    pub inputs_sha256: String,
    /// What is done with missing and outside values of a table, where the schema expects any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outside: Option<Outside>,
    /// Column of the texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text_column: Option<String>,
    /// Lexicon file; the shipped lexica without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lexicon: Option<PathBuf>,
    /// SHA-256 of the protected terms of texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lexicon_sha256: Option<String>,
    /// Names of the protected attributes.
    pub protected: Vec<String>,
    /// Part of the data.
    pub part: Part,
    /// Splits an input at most.
    pub splits: u32,
    /// Whether all substitutions are tried as well.
    pub exhaustive: bool,
    /// Bound on the certified share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail_below: Option<f64>,
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

/// Inputs, loaded and checked; nothing is written yet.
pub struct PreparedCertify {
    options: CertifyOptions,
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

impl PreparedCertify {
    /// Loads and checks what `options` name.
    ///
    /// # Errors
    /// See [`CertifyError`].
    pub fn new(options: CertifyOptions) -> Result<PreparedCertify, CertifyError> {
        if let Some(bound) = options.fail_below
            && !(0.0..=1.0).contains(&bound)
        {
            return Err(CertifyError::from(AuditError::Option {
                option: "--fail-below",
                value: bound.to_string(),
                expected: "a share from 0 to 1",
            }));
        }
        let inputs = match (&options.texts, &options.data) {
            (Some(texts), _) => read_text_inputs(&options, texts)?,
            (None, Some(data)) => read_table_inputs(&options, data)?,
            (None, None) => {
                return Err(CertifyError::from(AuditError::Option {
                    option: "--data",
                    value: "missing".into(),
                    expected: "given, or --texts",
                }));
            }
        };
        let prepared = PreparedCertify { options, inputs };
        for names in prepared.sets() {
            prepared.check(&names)?;
        }
        Ok(prepared)
    }

    /// The options, resolved.
    pub fn options(&self) -> &CertifyOptions {
        &self.options
    }

    /// Each attribute alone and, if there are several, all of them.
    fn sets(&self) -> Vec<Vec<String>> {
        estimated_sets(&self.options.protected)
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
                        file: self.options.texts.clone().unwrap_or_default(),
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
        let splits = self.options.splits;
        match &self.inputs {
            Inputs::Table { model, table, rows } => {
                let protected = positions(&model.schema, names).map_err(AuditError::from)?;
                let part = table.select(rows);
                let inputs = Rows::new(part.codes(), part.width());
                let certificates =
                    certify_rows(&model.network, &model.schema, &protected, inputs, splits)?;
                let bounded = started.elapsed().as_secs_f64();
                let fair = if self.options.exhaustive {
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
                let fair = if self.options.exhaustive {
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

fn read_table_inputs(
    options: &CertifyOptions,
    data: &std::path::Path,
) -> Result<Inputs, CertifyError> {
    let model = Model::load(&options.model).map_err(AuditError::from)?;
    expect_hash(
        &options.model.display().to_string(),
        model.sha256(),
        &options.model_sha256,
    )?;
    let schema = match options.outside {
        Some(outside) => model.schema.clone().with_outside(outside),
        None => model.schema.clone(),
    };
    let mut pairs = model.schema.attributes.iter().zip(&schema.attributes);
    if pairs.any(|(own, read)| read.domain().1 > own.domain().1) {
        return Err(CertifyError::from(AuditError::Option {
            option: "--outside",
            value: "level".into(),
            expected: "clip, skip or reject: this model was trained without such a level",
        }));
    }
    let sha256 = file_sha256(data)?;
    expect_hash(
        &data.display().to_string(),
        sha256.clone(),
        &options.inputs_sha256,
    )?;
    let table = Table::read(data, &schema, Labels::Optional).map_err(AuditError::from)?;
    let rows = rows_of(options.part, &options.model, (data, &sha256), table.rows())?;
    not_empty(options.part, &rows)?;
    Ok(Inputs::Table {
        model: Box::new(model),
        table,
        rows,
    })
}

fn read_text_inputs(
    options: &CertifyOptions,
    file: &std::path::Path,
) -> Result<Inputs, CertifyError> {
    let model = TextModel::load(&options.model).map_err(AuditError::from)?;
    let now = model.sha256().map_err(AuditError::from)?;
    expect_hash(
        &options.model.display().to_string(),
        now,
        &options.model_sha256,
    )?;
    let sha256 = file_sha256(file)?;
    expect_hash(
        &file.display().to_string(),
        sha256.clone(),
        &options.inputs_sha256,
    )?;
    let (lexicon, lexicon_sha256) =
        open_lexicon(options.lexicon.as_deref()).map_err(AuditError::from)?;
    let then = options.lexicon_sha256.as_deref().unwrap_or_default();
    expect_hash("the lexicon", lexicon_sha256, then)?;
    let protected = ProtectedTerms::new(&lexicon, &options.protected, &model)?;
    let columns = TextColumns {
        text: options.text_column.clone(),
        label: None,
    };
    let corpus = read_texts(file, &columns).map_err(AuditError::from)?;
    let texts: Vec<EncodedText> = corpus
        .texts
        .par_iter()
        .map(|text| model.encode(text))
        .collect::<Result<_, _>>()
        .map_err(AuditError::from)?;
    let rows = texts_of(options.part, &options.model, (file, &sha256), texts.len())?;
    not_empty(options.part, &rows)?;
    Ok(Inputs::Texts {
        model: Box::new(model),
        protected: Box::new(protected),
        texts,
        rows,
    })
}

fn not_empty(part: Part, rows: &[u32]) -> Result<(), CertifyError> {
    if rows.is_empty() {
        return Err(CertifyError::EmptyPart { part });
    }
    Ok(())
}

/// Certifies what was `prepared` and writes the run to `run`.
///
/// # Errors
/// See [`CertifyError`].
pub fn certify(
    prepared: &PreparedCertify,
    run: &RunDirectory,
    observe: &mut dyn FnMut(usize),
) -> Result<CertifySummary, CertifyError> {
    let options = &prepared.options;
    run.write_toml(RUN, options)?;
    let (sets, lines) = prepared.certify(observe)?;
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
        command: options.command.clone(),
        probity_version: env!("CARGO_PKG_VERSION").to_owned(),
        model_sha256: options.model_sha256.clone(),
        inputs_sha256: options.inputs_sha256.clone(),
        part: options.part,
        splits: options.splits,
        sets,
        fail_below: options.fail_below,
    };
    run.write_summary(&summary)?;
    Ok(summary)
}
