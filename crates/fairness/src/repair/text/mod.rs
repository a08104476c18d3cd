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
use std::sync::Arc;

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
use crate::modality::TextParts;
use crate::opened::{Opened, open_terms, open_text_model, open_texts};
use crate::statistics::Share;
use crate::strategies::StrategyName;
use crate::text::domain::TextDomain;
use crate::text::protected::ProtectedTerms;
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
    terms: ProtectedTerms,
    /// Texts of the model's length, and as much longer as a substitution may make them.
    domain: TextDomain,
    /// Test texts with a protected term.
    test_texts: Vec<Vec<i32>>,
    pools: Vec<Pool<FoundText>>,
}

/// What the searches of a repair found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Searched {
    /// From the training texts, to learn from.
    pub samples: Option<Vec<FoundText>>,
    /// From the test texts: the independent set.
    pub independent: Option<Vec<Vec<i32>>>,
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
    /// What a search from `corpus` is made of.
    fn parts_of<'a>(&'a self, corpus: &'a TextCorpus) -> TextParts<'a, 'a> {
        TextParts {
            model: Opened::unnamed(Cow::Borrowed(&self.model)),
            directory: Some(&self.specification.model),
            terms: Opened::unnamed(self.terms.clone()),
            texts: Opened::unnamed(corpus.texts.iter().map(String::as_str).collect()),
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

    /// How many of `rows` are not discriminatory.
    fn fair(&self, asked: &TextNetwork, rows: &[i32]) -> Result<Share, ModelError> {
        let rows = Rows::new(rows, self.domain.width());
        let fair = exhaustive(asked, &self.domain, rows)?;
        let count = fair.iter().filter(|fair| **fair).count();
        Ok(Share::new(count as u64, rows.len() as u64))
    }

    /// What `asked` answers to the texts `items`.
    fn logits(&self, asked: &TextNetwork, items: &[u32]) -> Result<Vec<f32>, ModelError> {
        let texts = self.set.labelled().texts;
        let rows: Vec<i32> = items
            .iter()
            .flat_map(|&item| self.domain.row(self.read(&texts[item as usize])))
            .collect();
        asked.logits(Rows::new(&rows, self.domain.width()))
    }

    /// The tokens of a text that are read.
    fn read<'t>(&self, text: &'t [i32]) -> &'t [i32] {
        &text[..text.len().min(self.model.max_length)]
    }

    fn quality(&self, asked: &TextNetwork, items: &[u32]) -> Result<Metrics, ModelError> {
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
    type Asked = TextNetwork;
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
            value: terms,
            sha256: lexicon_sha256,
        } = open_terms(options.lexicon.as_deref(), &protected, &model)?;
        let (provenance, set) = open_training(specification, &model_sha256, device, record)?;
        for (role, sha256) in [("model", &model_sha256), ("lexicon", &lexicon_sha256)] {
            record.sha256.insert(role.to_owned(), sha256.clone());
        }
        let is_own = model.recurrent.shape.inputs == set.table().dimension
            && model.table.vectors().len() == set.table().values.len();
        if !is_own {
            return Err(RepairError::OtherVocabulary {
                model: specification.model.clone(),
            });
        }
        let trained = provenance.specification.text_options();
        let corpus_size = set.labelled().texts.len();
        let split = trained.split(corpus_size);
        let width = terms.terms().room(model.max_length);
        let domain = TextDomain::new(width, Arc::new(terms.terms().clone()), Arc::default())?;
        let reader = Reader {
            model: (&model, &specification.model),
            model_sha256: &model_sha256,
            texts_sha256: record.sha256_of("data"),
            lexicon_sha256: &lexicon_sha256,
            split: &split,
            labels: set.labelled().labels,
            domain: &domain,
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
        let texts = set.labelled().texts;
        let test_texts = split
            .test
            .iter()
            .map(|&text| &texts[text as usize])
            .map(|text| terms.terms().window(text, model.max_length).to_vec())
            .filter(|text| terms.terms().can_vary_within(text, model.max_length))
            .collect();
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
            terms,
            domain,
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
        let column = &self.provenance.specification.text_column;
        let corpus = open_texts(&self.specification.data, column.as_deref())?.value;
        let mut search = |strategy, part: (&[u32], &'static str)| {
            let specification = self.search_specification(strategy);
            let labels = self.set.labelled().labels;
            search(specification, self.parts_of(&corpus), part, labels, observe)
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
            let texts = found.into_iter().map(|text| {
                let [own, _] = text.texts;
                own
            });
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
            embeddings: Some(self.model.table.vectors().to_vec()),
            history: Vec::new(),
            finished: true,
        }
    }

    fn ask(&self, network: &TrainedText) -> Result<TextNetwork, RepairError> {
        let asked = TextNetwork::new(
            network.weights.clone(),
            self.vectors(network).to_vec(),
            self.domain.width(),
            &ComputeDevice::flex(),
        )?;
        Ok(asked.reading(self.model.max_length))
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
                let samples = samples.iter();
                let individuals: Vec<_> = samples
                    .map(|sample| (self.domain.row(&sample.texts[0]).into(), sample.truth))
                    .collect();
                majority(voters, &self.domain, &individuals)
            }
        }
    }

    fn training_set(&self, remedy: &Remedy<'_, FoundText>, _: u32) -> TrainingSet<RepairTexts> {
        let own = self.set.labelled();
        let (inputs, variants) = mix(own, &self.split, self.terms.terms(), remedy);
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

    fn has_collapsed(&self, asked: &TextNetwork) -> Result<bool, RepairError> {
        let logits = self.logits(asked, &self.split.train)?;
        let mut classes = logits.chunks_exact(asked.classes()).map(predicted_class);
        let first = classes.next();
        Ok(classes.all(|class| Some(class) == first))
    }

    fn validation_accuracy(&self, asked: &TextNetwork) -> Result<Option<f64>, RepairError> {
        let validation = &self.split.validation;
        match validation.is_empty() {
            true => Ok(None),
            false => Ok(Some(self.quality(asked, validation)?.accuracy)),
        }
    }

    fn discriminatory(&self, asked: &TextNetwork, left: &[&FoundText]) -> Result<f64, RepairError> {
        if left.is_empty() {
            return Ok(0.0);
        }
        let rows: Vec<i32> = left
            .iter()
            .flat_map(|sample| self.domain.row(&sample.texts[0]))
            .collect();
        Ok(1.0 - self.fair(asked, &rows)?.share)
    }

    fn figures(
        &self,
        network: &TrainedText,
        asked: &TextNetwork,
        searched: &Searched,
    ) -> Result<TextFigures, RepairError> {
        let weights: &RecurrentWeights = &network.weights;
        let table = EmbeddingTable {
            values: self.vectors(network),
            dimension: weights.shape.inputs,
        };
        let (terms, splits) = (self.terms.terms(), self.options.splits);
        let (reads, texts) = (self.model.max_length, &self.test_texts);
        let certificates = certify_texts(weights, table, reads, terms, texts, splits);
        let certified = certificates.iter().filter(|c| c.holds()).count();
        let rows = |texts: &[Vec<i32>]| -> Vec<i32> {
            texts
                .iter()
                .flat_map(|text| self.domain.row(text))
                .collect()
        };
        let independent = rows(searched.independent.as_deref().unwrap_or_default());
        Ok(TextFigures {
            protected: self.protected.clone(),
            repaired: self.fair(asked, &independent)?,
            certified: Share::new(certified as u64, self.test_texts.len() as u64),
            fair: self.fair(asked, &rows(&self.test_texts))?,
            held_out: self.quality(asked, &self.split.test)?,
        })
    }

    fn store(&self, network: &TrainedText) -> TrainedText {
        network.clone()
    }

    fn is_stored(&self, stored: &TrainedText) -> bool {
        let own = &self.model.recurrent;
        let vectors = self.model.table.vectors().len();
        let (weights, learned) = (&stored.weights, stored.embeddings.as_ref());
        let is_finite = |values: &Vec<f32>| values.iter().all(|value| value.is_finite());
        weights.shape == own.shape
            && weights.values.len() == own.values.len()
            && is_finite(&weights.values)
            && learned.is_none_or(|learned| learned.len() == vectors && is_finite(learned))
    }

    fn is_searched(&self, searched: &Searched) -> bool {
        let (width, classes) = (self.domain.width(), self.model.classes.len());
        let dimension = self.model.recurrent.shape.inputs;
        let tokens = self.model.table.vectors().len() / dimension.max(1);
        let is_token = |&id: &i32| usize::try_from(id).is_ok_and(|id| id < tokens);
        let is_text = |ids: &Vec<i32>| ids.len() <= width && ids.iter().all(is_token);
        let is_class = |class: u32| (class as usize) < classes;
        let mut samples = searched.samples.iter().flatten();
        let mut independent = searched.independent.iter().flatten();
        independent.all(is_text)
            && samples
                .all(|found| found.texts.iter().all(is_text) && found.truth.is_none_or(is_class))
    }

    fn restore(&self, stored: &TrainedText) -> TrainedText {
        stored.clone()
    }

    fn save(&self, network: &TrainedText, directory: &Path) -> Result<String, RepairError> {
        let length = self.model.max_length;
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
