//! The model, its texts and the audits of a repair, loaded and checked.

use std::sync::Arc;

use super::error::TextRepairError;
use super::found::{FoundRun, Reader};
use super::options::TextRepairOptions;
use crate::audit::AuditError;
use crate::opened::open_lexicon;
use crate::record::expect_hash;
use crate::repair::labels::LabelRule;
use crate::repair::summary::RunSummary;
use crate::text::domain::TextDomain;
use crate::text::protected::ProtectedTerms;
use probity_nn::text_model::TextModel;
use probity_nn::text_training_run::TextSet;
use probity_nn::train::Split;

/// Texts and model, loaded and checked; nothing is written yet.
pub struct PreparedTextRepair {
    pub(super) options: TextRepairOptions,
    pub(super) model: TextModel,
    pub(super) set: TextSet,
    pub(super) split: Split,
    pub(super) protected: ProtectedTerms,
    /// The audits whose texts are learnt from; empty where a search finds them.
    pub(super) runs: Vec<FoundRun>,
}

impl PreparedTextRepair {
    /// Loads and checks what `options` name.
    ///
    /// # Errors
    /// See [`TextRepairError`].
    pub fn new(options: TextRepairOptions) -> Result<PreparedTextRepair, TextRepairError> {
        options.check()?;
        let model = TextModel::load(&options.model).map_err(AuditError::from)?;
        let now = model.sha256().map_err(AuditError::from)?;
        expect_hash(
            &options.model.display().to_string(),
            now,
            &options.model_sha256,
        )?;
        let lexicon = open_lexicon(options.lexicon.as_deref())?;
        expect_hash("the lexicon", lexicon.sha256, &options.lexicon_sha256)?;
        let protected = ProtectedTerms::new(&lexicon.value, &options.protected, &model)?;
        let set = TextSet::read(&options.training)?;
        let is_own = model.recurrent.shape.inputs == set.table().dimension
            && model.table.vectors().len() == set.table().values.len();
        if !is_own {
            return Err(TextRepairError::OtherVocabulary {
                model: options.model.clone(),
            });
        }
        let split = Split::new(
            set.labelled().texts.len(),
            &options.training.options.learning(),
        );
        for (rows, part) in [(&split.validation, "validation"), (&split.test, "test")] {
            if rows.is_empty() {
                return Err(TextRepairError::NoPart { part });
            }
        }
        let domain = domain_of(&model, &protected)?;
        let reader = Reader {
            model: (&model, &options.model),
            model_sha256: &options.model_sha256,
            texts_sha256: &options.texts_sha256,
            lexicon_sha256: &options.lexicon_sha256,
            split: &split,
            labels: set.labelled().labels,
            domain: &domain,
        };
        let runs = options
            .runs
            .iter()
            .map(|run| reader.read(run))
            .collect::<Result<Vec<_>, _>>()?;
        let lacks_truth = |run: &&FoundRun| run.samples.iter().any(|text| text.truth.is_none());
        if let Some(run) = runs.iter().find(lacks_truth)
            && options.label == LabelRule::Seed
        {
            return Err(TextRepairError::NoTruth {
                run: run.directory.clone(),
            });
        }
        Ok(PreparedTextRepair {
            options,
            model,
            set,
            split,
            protected,
            runs,
        })
    }

    /// The options, resolved.
    pub fn options(&self) -> &TextRepairOptions {
        &self.options
    }

    /// The audits whose texts are learnt from.
    pub fn runs(&self) -> Vec<RunSummary> {
        self.runs
            .iter()
            .map(|run| RunSummary {
                run: run.directory.clone(),
                protected: run.protected.clone(),
                samples: run.samples.len() as u64,
                held_out: run.held_out,
            })
            .collect()
    }

    /// Texts of the model's length, and as much longer as a substitution may make them.
    pub(super) fn domain(&self) -> Result<TextDomain, AuditError> {
        domain_of(&self.model, &self.protected)
    }
}

fn domain_of(model: &TextModel, protected: &ProtectedTerms) -> Result<TextDomain, AuditError> {
    let width = model.max_length + protected.terms().growth();
    let terms = Arc::new(protected.terms().clone());
    Ok(TextDomain::new(width, terms, Arc::default())?)
}
