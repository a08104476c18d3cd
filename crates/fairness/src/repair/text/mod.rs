//! Repairs of classifiers of texts (ADF, Table XIII).
//!
//! Networks are trained with the options, vocabulary and parts of the training that made the model.
//! What is measured, on the part that no training saw:
//! * the share of an *independent set* that is no longer discriminatory: what the same search finds
//!   in the model from the test texts;
//! * the share of the test texts with a protected term that is certified fair ([`crate::certify`]),
//!   and that is fair;
//! * quality.

mod figures;
mod found;
mod training_set;

use std::borrow::Cow;
use std::path::Path;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

pub use self::figures::TextFigures;
pub use self::found::{FoundText, open_audit};
use self::found::{Reader, search};
pub use self::training_set::RepairTexts;
use self::training_set::mix;
use super::change::{Details, Measure};
use super::error::RepairError;
use super::labels::{LabelRule, majority};
use super::pool::Pool;
use super::repairable::{ObserveEpoch, Remedy, Repairable, TrainingSet};
use super::run::PROVENANCE_ROLE;
use super::specification::{RepairSpecification, TextRepairOptions};
use super::summary::PartSizes;
use crate::audit::{AuditError, AuditSpecification};
use crate::certify::exhaustive;
use crate::certify::text::certify_texts;
use crate::domain::{Domain, DomainError};
use crate::modality::{TextParts, TextSubject};
use crate::opened::{Opened, open_protected, open_text_model, open_texts};
use crate::statistics::Share;
use crate::strategies::StrategyName;
use crate::text::domain::{PADDING, TextDomain};
use crate::text::edits::Tokens;
use crate::text::network::SourcedNetwork;
use crate::text::protected::Protected;
use crate::text::source::Source;
use probity_data::source::Hashed;
use probity_nn::metrics::Metrics;
use probity_nn::modality::ModalityName;
use probity_nn::provenance::Provenance;
use probity_nn::recurrent::kernels::EmbeddingTable;
use probity_nn::recurrent::network::RecurrentWeights;
use probity_nn::text::TextNetwork;
use probity_nn::text_model::TextModel;
use probity_nn::train::Split;
use probity_nn::train::course::Course;
use probity_nn::train::options::TextOptions;
use probity_nn::train::run::{Trainable, TrainingError};
use probity_nn::train::text::{
    CertifiedLoss, LabelledTexts, TrainedText, train_text, train_text_certified,
};
use probity_nn::train::text_set::TextSet;
use probity_nn::{Classifier, ModelError, Rows, predicted_class};
use probity_run::specification::file::Record;
use probity_tensor::device::ComputeDevice;
use probity_text::corpus::TextCorpus;

/// A classifier of texts to repair.
pub struct TextRepair {
    specification: RepairSpecification,
    options: TextRepairOptions,
    protected: Vec<String>,
    label: LabelRule,
    course: Course,
    model: TextModel,
    set: TextSet,
    split: Split,
    training: TextOptions,
    epochs: u32,
    provenance: Provenance,
    protection: Protected,
    corpus: TextCorpus,
    /// What may be exchanged in each of the model's texts.
    sources: Vec<Source>,
    /// Test texts with a protected term.
    test_texts: Vec<Source>,
    pools: Vec<Pool<FoundText>>,
}

/// What the searches of a repair found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Searched {
    /// From the training texts, to learn from.
    pub samples: Option<Vec<FoundText>>,
    /// From the test texts: the independent set.
    pub independent: Option<Vec<Source>>,
}

/// What the summary of a repair of a classifier of texts says besides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TextDetails {
    /// Protected attributes.
    pub protected: Vec<String>,
    /// Distinct discriminatory texts that may be learnt from.
    pub found: u64,
    /// Size of the independent set: found from the test texts.
    pub independent: u64,
    /// Test texts with a protected term.
    pub test_texts: u64,
}

impl Details for TextDetails {
    /// Texts have no groups.
    fn gaps(&self) -> Vec<(Measure, Measure)> {
        Vec::new()
    }
}

impl TextRepair {
    /// What a search from the texts is made of.
    fn search_parts(&self) -> TextParts<'_, '_> {
        TextParts {
            model: Opened::unnamed(TextSubject::Words(Box::new(Cow::Borrowed(&self.model)))),
            directory: Some(&self.specification.model),
            protected: Opened::unnamed(self.protection.clone()),
            texts: Opened::unnamed(self.corpus.texts.iter().map(String::as_str).collect()),
            rows: self.corpus.rows.clone(),
            bad_rows: self.corpus.bad_rows.clone(),
            encoder: None,
        }
    }

    /// The search by `strategy` from some of the texts of the training.
    fn search_specification(&self, strategy: StrategyName) -> AuditSpecification {
        let options = &self.options;
        let mut specification = AuditSpecification {
            modality: ModalityName::Text,
            model: Some(self.specification.model.clone()),
            data: self.specification.data.clone(),
            protected: self.protected.clone(),
            strategy: Some(strategy),
            seed: self.specification.seed,
            ..AuditSpecification::default()
        };
        let column = &self.provenance.specification.text_column;
        specification.text.column.clone_from(column);
        specification.text.lexicon.clone_from(&options.lexicon);
        specification.text.preset = options.preset;
        specification.search.objective = Some(options.objective);
        specification.search.seeds = options.seeds;
        specification.search.max_iter = options.max_iter;
        specification.search.local = options.local;
        specification.budget.max_found = Some(options.max_found);
        specification
    }

    fn vectors<'t>(&'t self, network: &'t TrainedText) -> &'t [f32] {
        let own = network.embeddings.as_deref();
        own.unwrap_or(self.set.table().values)
    }

    /// How many of `texts` are not discriminatory.
    fn fair(&self, asked: &SourcedNetwork, texts: &[&Source]) -> Result<Share, RepairError> {
        let texts: Vec<Source> = texts.iter().map(|&text| text.clone()).collect();
        let domain = TextDomain::of(texts).map_err(AuditError::from)?;
        let rows = domain.rows();
        let rows = Rows::new(&rows, domain.width());
        let fair = exhaustive(asked, &domain, rows)?;
        let count = fair.iter().filter(|fair| **fair).count();
        Ok(Share::new(count as u64, rows.len() as u64))
    }

    /// What `asked` answers to the texts `items`.
    fn logits(&self, asked: &SourcedNetwork, items: &[u32]) -> Result<Vec<f32>, ModelError> {
        let texts = self.set.labelled().texts;
        let width = 1 + self.model.reader.max_length;
        let mut rows: Vec<i32> = Vec::with_capacity(items.len() * width);
        for &item in items {
            let text = &texts[item as usize];
            rows.push(item as i32);
            rows.extend_from_slice(&text[..text.len().min(self.model.reader.max_length)]);
            rows.resize(rows.len().next_multiple_of(width), PADDING);
        }
        asked.logits(Rows::new(&rows, width))
    }

    fn quality(&self, asked: &SourcedNetwork, items: &[u32]) -> Result<Metrics, ModelError> {
        let logits = self.logits(asked, items)?;
        let labels = self.set.labelled().labels;
        let labels: Vec<u32> = items.iter().map(|&item| labels[item as usize]).collect();
        Ok(Metrics::new(&logits, asked.classes(), &labels))
    }
}

/// The attributes that `specification` names, or those of its audits.
fn protected_of(specification: &RepairSpecification) -> Result<Vec<String>, RepairError> {
    let mut protected = specification.protected.clone();
    for run in &specification.runs {
        for name in open_audit(run)?.1.protected {
            if !protected.contains(&name) {
                protected.push(name);
            }
        }
    }
    if protected.is_empty() {
        return Err(AuditError::from(DomainError::NothingProtected).into());
    }
    Ok(protected)
}

/// How the model of that hash was trained, and its texts, which must be those of `specification`.
fn open_training(
    specification: &RepairSpecification,
    model_sha256: &str,
    device: &ComputeDevice,
    record: &mut Record,
) -> Result<(Provenance, TextSet), RepairError> {
    let Some(Hashed {
        value: mut provenance,
        sha256,
    }) = Provenance::read_hashed(&specification.model, model_sha256)?
    else {
        return Err(RepairError::NotTrained {
            model: specification.model.clone(),
        });
    };
    record.sha256.insert(PROVENANCE_ROLE.to_owned(), sha256);
    let trained_on = provenance.specification.data.clone();
    provenance
        .specification
        .data
        .clone_from(&specification.data);
    let mut opened = Record::new();
    let set = TextSet::open(&provenance.specification, device, &mut opened)?;
    for (role, now) in opened.sha256 {
        let then = provenance.sha256.get(&role).cloned().unwrap_or_default();
        if role == "data" && now != then {
            return Err(RepairError::OtherData {
                data: specification.data.clone(),
                trained_on,
                given: now,
                trained: then,
            });
        }
        if now != then {
            let file = provenance.specification.text_options().network.embeddings;
            return Err(TrainingError::Changed { file, now, then }.into());
        }
        record.sha256.insert(role, now);
    }
    Ok((provenance, set))
}

impl Repairable for TextRepair {
    const MODALITY: ModalityName = ModalityName::Text;
    type Network = TrainedText;
    type Stored = TrainedText;
    type Sample = FoundText;
    type Searched = Searched;
    type Inputs = RepairTexts;
    type Asked = SourcedNetwork;
    type Figures = TextFigures;
    type Details = TextDetails;

    fn open(
        specification: &RepairSpecification,
        device: &ComputeDevice,
        record: &mut Record,
    ) -> Result<TextRepair, RepairError> {
        let options = specification.text();
        let Opened {
            value: model,
            sha256: model_sha256,
        } = open_text_model(&specification.model)?;
        let protected = protected_of(specification)?;
        let Opened {
            value: protection,
            sha256: lexicon_sha256,
        } = open_protected(
            options.lexicon.as_deref(),
            &protected,
            &model.reader,
            options.preset,
        )?;
        let (provenance, set) = open_training(specification, &model_sha256, device, record)?;
        for (role, sha256) in [("model", &model_sha256), ("lexicon", &lexicon_sha256)] {
            record.sha256.insert(role.to_owned(), sha256.clone());
        }
        let is_own = model.recurrent.shape.inputs == set.table().dimension
            && model.reader.table.vectors().len() == set.table().values.len();
        if !is_own {
            return Err(RepairError::OtherVocabulary {
                model: specification.model.clone(),
            });
        }
        let trained = provenance.specification.text_options();
        let corpus_size = set.labelled().texts.len();
        let split = trained.split(corpus_size);
        let column = provenance.specification.text_column.as_deref();
        let skip = provenance.specification.skip_bad_rows;
        let corpus = open_texts(&specification.data, column, skip)?.value;
        let tokens = Tokens::new(&model.reader);
        let sources = corpus.texts.par_iter().map(|text| {
            let text = model.reader.encode_whole(text).map_err(AuditError::from)?;
            let source = protection.read(&tokens, &text)?.source;
            Ok(source.window(model.reader.max_length))
        });
        let sources: Vec<Source> = sources.collect::<Result<_, RepairError>>()?;
        let reader = Reader {
            model: (&model, &specification.model),
            model_sha256: &model_sha256,
            texts_sha256: record.sha256_of("data"),
            lexicon_sha256: &lexicon_sha256,
            split: &split,
            labels: set.labelled().labels,
            rows: set.rows(),
            protected: &protection,
        };
        let pools = specification
            .runs
            .iter()
            .map(|run| reader.read(run))
            .collect::<Result<Vec<_>, _>>()?;
        let lacks_truth =
            |pool: &&Pool<FoundText>| pool.samples.iter().any(|text| text.truth.is_none());
        if let Some(pool) = pools.iter().find(lacks_truth)
            && specification.label() == LabelRule::Seed
        {
            return Err(RepairError::NoTruth {
                run: pool.run.clone().unwrap_or_default(),
            });
        }
        let test_texts = split.test.iter().map(|&text| &sources[text as usize]);
        let test_texts = test_texts.filter(|source| source.can_vary()).cloned();
        let test_texts = test_texts.collect();
        let learning = specification.training.of(&trained.learning);
        let (learning, pace) = learning.settled(ModalityName::Text, corpus_size);
        let mut training = trained;
        training.learning = learning;
        Ok(TextRepair {
            training,
            epochs: pace.epochs,
            label: specification.label(),
            course: specification.certified.unwrap_or_default(),
            specification: specification.clone(),
            options,
            protected,
            model,
            set,
            split,
            provenance,
            protection,
            corpus,
            sources,
            test_texts,
            pools,
        })
    }

    fn parts(&self) -> PartSizes {
        PartSizes::of(&self.split)
    }

    fn epochs(&self) -> u32 {
        self.epochs
    }

    fn search(
        &self,
        searched: &mut Searched,
        save: &mut dyn FnMut(&Searched) -> Result<(), RepairError>,
        observe: &mut ObserveEpoch<'_>,
    ) -> Result<(), RepairError> {
        let strategy = self.options.strategy;
        let is_learning = self.pools.is_empty() && searched.samples.is_none();
        if !is_learning && searched.independent.is_some() {
            return Ok(());
        }
        let mut search = |strategy, part: (&[u32], &'static str)| {
            let specification = self.search_specification(strategy);
            let labels = self.set.labelled().labels;
            search(specification, self.search_parts(), part, labels, observe)
        };
        if is_learning {
            let part = (self.split.train.as_slice(), "training");
            searched.samples = Some(search(strategy, part)?);
            save(searched)?;
        }
        if searched.independent.is_none() {
            let strategy = self.options.independent.unwrap_or(strategy);
            let part = (self.split.test.as_slice(), "test");
            let found = search(strategy, part)?;
            let texts = found.into_iter().map(|text| text.source);
            searched.independent = Some(texts.collect());
            save(searched)?;
        }
        Ok(())
    }

    fn pools(&self) -> &[Pool<FoundText>] {
        &self.pools
    }

    fn searched_pool<'s>(&self, searched: &'s Searched) -> Option<&'s [FoundText]> {
        searched.samples.as_deref()
    }

    fn own(&self) -> TrainedText {
        TrainedText {
            weights: self.model.recurrent.clone(),
            embeddings: Some(self.model.reader.table.vectors().to_vec()),
            history: Vec::new(),
            finished: true,
        }
    }

    fn ask(&self, network: &TrainedText) -> Result<SourcedNetwork, RepairError> {
        let asked = TextNetwork::new(
            network.weights.clone(),
            self.vectors(network).to_vec(),
            self.model.reader.max_length,
            &ComputeDevice::flex(),
        )?;
        Ok(SourcedNetwork::new(asked))
    }

    fn labels(
        &self,
        _: usize,
        samples: &[&FoundText],
        voters: &[&dyn Classifier],
    ) -> Result<Vec<u32>, ModelError> {
        match self.label {
            // Every sample has one: see `open`.
            LabelRule::Seed => Ok(samples.iter().filter_map(|sample| sample.truth).collect()),
            _ => {
                let sources = samples.iter().map(|sample| sample.source.clone());
                let domain = TextDomain::of(sources.collect()).map_err(ModelError::predictor)?;
                let individuals: Vec<_> = (0u32..)
                    .zip(samples)
                    .map(|(number, sample)| (domain.row(number).into(), sample.truth))
                    .collect();
                majority(voters, &domain, &individuals)
            }
        }
    }

    fn training_set(&self, remedy: &Remedy<'_, FoundText>, _: u32) -> TrainingSet<RepairTexts> {
        let own = self.set.labelled();
        let (inputs, variants) = mix(own, &self.split, &self.sources, remedy);
        TrainingSet { inputs, variants }
    }

    fn train(
        &self,
        set: &TrainingSet<RepairTexts>,
        seed: u64,
        observe: &mut ObserveEpoch<'_>,
    ) -> Result<Option<TrainedText>, RepairError> {
        let set = &set.inputs;
        let corpus = LabelledTexts {
            texts: &set.texts,
            labels: &set.labels,
            classes: self.set.labelled().classes,
        };
        let table = self.set.table();
        let mut options = self.training.clone();
        options.learning.seed = seed;
        let trained = match &set.substitutions {
            None => {
                let observe = &mut |_: &_, _: &dyn Fn() -> _| observe();
                train_text(corpus, table, &set.split, &options, None, observe)?
            }
            Some(substitutions) => {
                // The word vectors stay as they were given, and all epochs run.
                options.network.train_embeddings = false;
                options.learning.patience = 0;
                let loss = CertifiedLoss {
                    substitutions,
                    course: self.course,
                };
                let observe = &mut |_: &_| observe();
                train_text_certified(corpus, table, &set.split, &options, &loss, observe)?
            }
        };
        Ok(trained.finished.then_some(trained))
    }

    fn has_collapsed(&self, asked: &SourcedNetwork) -> Result<bool, RepairError> {
        let logits = self.logits(asked, &self.split.train)?;
        let mut classes = logits.chunks_exact(asked.classes()).map(predicted_class);
        let first = classes.next();
        Ok(classes.all(|class| Some(class) == first))
    }

    fn validation_accuracy(&self, asked: &SourcedNetwork) -> Result<Option<f64>, RepairError> {
        let validation = &self.split.validation;
        match validation.is_empty() {
            true => Ok(None),
            false => Ok(Some(self.quality(asked, validation)?.accuracy)),
        }
    }

    fn discriminatory(
        &self,
        asked: &SourcedNetwork,
        left: &[&FoundText],
    ) -> Result<f64, RepairError> {
        if left.is_empty() {
            return Ok(0.0);
        }
        let texts: Vec<&Source> = left.iter().map(|sample| &sample.source).collect();
        Ok(1.0 - self.fair(asked, &texts)?.share)
    }

    fn figures(
        &self,
        network: &TrainedText,
        asked: &SourcedNetwork,
        searched: &Searched,
    ) -> Result<TextFigures, RepairError> {
        let weights: &RecurrentWeights = &network.weights;
        let table = EmbeddingTable {
            values: self.vectors(network),
            dimension: weights.shape.inputs,
        };
        let (reads, splits) = (self.model.reader.max_length, self.options.splits);
        let certificates = certify_texts(weights, table, reads, &self.test_texts, splits);
        let certified = certificates.iter().filter(|c| c.holds()).count();
        let independent = searched.independent.iter().flatten();
        let independent: Vec<&Source> = independent.collect();
        let tested: Vec<&Source> = self.test_texts.iter().collect();
        Ok(TextFigures {
            protected: self.protected.clone(),
            repaired: self.fair(asked, &independent)?,
            certified: Share::new(certified as u64, self.test_texts.len() as u64),
            fair: self.fair(asked, &tested)?,
            held_out: self.quality(asked, &self.split.test)?,
        })
    }

    fn store(&self, network: &TrainedText) -> TrainedText {
        network.clone()
    }

    fn is_stored(&self, stored: &TrainedText) -> bool {
        let own = &self.model.recurrent;
        let vectors = self.model.reader.table.vectors().len();
        let (weights, learned) = (&stored.weights, stored.embeddings.as_ref());
        let is_finite = |values: &Vec<f32>| values.iter().all(|value| value.is_finite());
        weights.shape == own.shape
            && weights.values.len() == own.values.len()
            && is_finite(&weights.values)
            && learned.is_none_or(|learned| learned.len() == vectors && is_finite(learned))
    }

    fn is_searched(&self, searched: &Searched) -> bool {
        let (most, classes) = (self.model.reader.max_length, self.model.classes.len());
        let dimension = self.model.recurrent.shape.inputs;
        let tokens = self.model.reader.table.vectors().len() / dimension.max(1);
        let is_token = |&id: &i32| usize::try_from(id).is_ok_and(|id| id < tokens);
        let is_text = |source: &Source| source.ids.len() <= most && source.is_sound(&is_token);
        let is_class = |class: u32| (class as usize) < classes;
        let is_found = |found: &FoundText| {
            is_text(&found.source)
                && found.other.iter().all(is_token)
                && found.truth.is_none_or(is_class)
        };
        let mut samples = searched.samples.iter().flatten();
        let mut independent = searched.independent.iter().flatten();
        independent.all(is_text) && samples.all(is_found)
    }

    fn restore(&self, stored: &TrainedText) -> TrainedText {
        stored.clone()
    }

    fn save(&self, network: &TrainedText, directory: &Path) -> Result<String, RepairError> {
        let length = self.model.reader.max_length;
        let model = self.set.model(network, &self.split.train, length)?;
        let sha256 = model.sha256().map_err(TrainingError::from)?;
        model.save(directory)?;
        let mut provenance = self.provenance.clone();
        provenance.model_sha256.clone_from(&sha256);
        provenance.specification.training = self.training.learning.clone();
        provenance.write(directory)?;
        Ok(sha256)
    }

    fn details(&self, _: &TrainedText, searched: &Searched) -> Result<TextDetails, RepairError> {
        let runs: usize = self.pools.iter().map(|pool| pool.samples.len()).sum();
        let own = searched.samples.as_ref().map_or(0, Vec::len);
        let independent = searched.independent.as_ref().map_or(0, Vec::len);
        Ok(TextDetails {
            protected: self.protected.clone(),
            found: (runs + own) as u64,
            independent: independent as u64,
            test_texts: self.test_texts.len() as u64,
        })
    }
}
