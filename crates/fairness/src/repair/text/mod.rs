//! Repairs of classifiers of texts (ADF, Table XIII).
//!
//! Networks are trained with the options, vocabulary and parts of the training that made the model;
//! what differs between kinds of networks is behind [`TextLearner`]: [`RecurrentLearner`] and
//! [`TransformerLearner`]. What is measured, on the part that no training saw:
//! * the share of an *independent set* that is no longer discriminatory: what the same search finds
//!   in the model from the test texts;
//! * the share of the test texts with a protected term that is certified fair ([`crate::certify`]),
//!   and that is fair: the same of a transformer, which is certified by trying all exchanges;
//! * quality.

mod figures;
mod found;
mod learner;
mod opening;
mod recurrent;
mod training_set;
mod transformer;

use std::path::Path;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

pub use self::figures::{TextDetails, TextFigures};
pub use self::found::{FoundRun, FoundText, Written, open_audit};
use self::found::{Reader, search};
pub use self::learner::{LearnerParts, RepairTexts, TextLearner};
use self::opening::{open_training, protected_of};
pub use self::recurrent::RecurrentLearner;
use self::training_set::mix;
pub use self::transformer::TransformerLearner;
use super::error::RepairError;
use super::labels::{LabelRule, majority};
use super::pool::{Pool, one_decision};
use super::repairable::{ObserveEpoch, Remedy, Repairable, TrainingSet};
use super::specification::{RepairSpecification, TextRepairOptions};
use super::summary::PartSizes;
use crate::audit::{AuditError, AuditSpecification};
use crate::certify::enumerate::{Tried, enumerate};
use crate::domain::Domain;
use crate::modality::TextParts;
use crate::opened::{Opened, open_lexicon};
use crate::specification::DecisionSpecification;
use crate::statistics::Share;
use crate::strategies::StrategyName;
use crate::text::domain::TextDomain;
use crate::text::edits::Tokens;
use crate::text::protected::Protected;
use crate::text::source::Source;
use probity_nn::decision::{Decided, Decision};
use probity_nn::metrics::{Metrics, Quality};
use probity_nn::modality::ModalityName;
use probity_nn::provenance::Provenance;
use probity_nn::train::Split;
use probity_nn::train::options::Learning;
use probity_nn::{Classifier, ModelError, Rows};
use probity_run::specification::file::Record;
use probity_tensor::device::ComputeDevice;
use probity_text::corpus::{TextColumns, TextCorpus, read_texts_hashed};

/// A classifier of texts to repair.
pub struct TextRepair<L = RecurrentLearner> {
    specification: RepairSpecification,
    options: TextRepairOptions,
    protected: Vec<String>,
    /// The way in which decisions are made: the specification, and the gap beyond which scores
    /// differ, where they are compared.
    decides: (DecisionSpecification, Option<f64>),
    /// The class that is good to get, where the audits were told one.
    favourable: Option<String>,
    decision: Decision,
    label: LabelRule,
    learner: L,
    learning: Learning,
    split: Split,
    epochs: u32,
    provenance: Provenance,
    protection: Protected,
    corpus: TextCorpus,
    /// The sources of the model's texts: what may be exchanged in each.
    sources: Vec<Source>,
    /// Test texts with a protected term.
    test_texts: Vec<Written>,
    pools: Vec<Pool<FoundText>>,
}

/// The finds of the searches of a repair.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Searched {
    /// The finds from the training texts, to learn from.
    pub samples: Option<Vec<FoundText>>,
    /// The finds from the test texts: the independent set.
    pub independent: Option<Vec<Written>>,
}

impl<L: TextLearner> TextRepair<L> {
    /// The parts that a search from the texts is made of.
    fn search_parts(&self) -> TextParts<'_, '_> {
        TextParts {
            model: Opened::unnamed(self.learner.subject()),
            directory: Some(&self.specification.model),
            protected: Opened::unnamed(self.protection.clone()),
            texts: Opened::unnamed(self.corpus.texts.iter().map(String::as_str).collect()),
            rows: self.corpus.rows.clone(),
            bad_rows: self.corpus.bad_rows.clone(),
            begin_at: None,
            encoder: None,
            fluency_model: None,
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
            decision: self.decides.0.clone(),
            gap: self.decides.1,
            ..AuditSpecification::default()
        };
        let favourable = &mut specification.population.favourable;
        favourable.clone_from(&self.favourable);
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

    /// Works with `asked` as a classifier of the rows of `texts`, one each.
    fn on_rows<T>(
        &self,
        voters: &[&L::Asked],
        texts: &[&Written],
        work: impl FnOnce(&[&dyn Classifier], &TextDomain) -> Result<T, ModelError>,
    ) -> Result<T, ModelError> {
        let sources = texts.iter().map(|text| text.source.clone()).collect();
        let domain = TextDomain::from_sources(sources).map_err(ModelError::predictor)?;
        let voters = voters.iter();
        let voters = voters.map(|asked| Decided {
            model: self.learner.of_rows(asked, &domain, texts),
            decision: self.decision.clone(),
        });
        let voters: Vec<_> = voters.collect();
        let voters: Vec<&dyn Classifier> = voters.iter().map(|voter| voter as _).collect();
        work(&voters, &domain)
    }

    /// The number of `texts` that are not discriminatory.
    fn fair(&self, asked: &L::Asked, texts: &[&Written]) -> Result<Share, RepairError> {
        let all = self.on_rows(&[asked], texts, |voters, domain| {
            let rows = domain.rows();
            let rows = Rows::new(&rows, domain.width());
            enumerate(voters[0], domain, rows, None)
        })?;
        let fair = all.count(|tried| tried == Tried::Fair);
        Ok(Share::new(fair, texts.len() as u64))
    }

    fn decided(&self, logits: &[f32]) -> Vec<u32> {
        let texts = logits.chunks_exact(self.learner.labelled().classes.max(1));
        texts
            .map(|logits| self.decision.decide(&[], logits))
            .collect()
    }

    fn quality(&self, asked: &L::Asked, items: &[u32]) -> Result<Quality, ModelError> {
        let logits = self.learner.logits(asked, items)?;
        let texts = self.learner.labelled();
        let labels: Vec<u32> = items
            .iter()
            .map(|&item| texts.labels[item as usize])
            .collect();
        let decided = self.decided(&logits);
        let metrics = Metrics::of_decided((&logits, &decided), texts.classes, &labels);
        Ok(Quality::Classes(metrics))
    }
}

impl<L: TextLearner> Repairable for TextRepair<L> {
    const MODALITY: ModalityName = ModalityName::Text;
    type Network = L::Network;
    type Stored = L::Network;
    type Sample = FoundText;
    type Label = u32;
    type Searched = Searched;
    type Inputs = RepairTexts;
    type Asked = L::Asked;
    type Figures = TextFigures;
    type Details = TextDetails;

    fn open(
        specification: &RepairSpecification,
        device: &ComputeDevice,
        record: &mut Record,
    ) -> Result<TextRepair<L>, RepairError> {
        L::expect_fitting(specification)?;
        let options = specification.text();
        let model = L::open_model(&specification.model)?;
        let protected = protected_of(specification)?;
        let lexicon = open_lexicon(options.lexicon.as_deref(), options.preset)?;
        let (provenance, set) =
            open_training::<L::Set>(specification, &model.sha256, device, record)?;
        for (role, sha256) in [("model", &model.sha256), ("lexicon", &lexicon.sha256)] {
            record.sha256.insert(role.to_owned(), sha256.clone());
        }
        let trained = &provenance.specification;
        // As the training reads them: without a label a text is none that it deals.
        let columns = TextColumns {
            text: trained.text_column.clone(),
            label: trained.label_column.clone(),
            label_threshold: trained.label_threshold,
            skip_bad_rows: trained.skip_bad_rows,
            classes: Vec::new(),
        };
        let corpus = read_texts_hashed(&specification.data, &columns);
        let corpus = corpus.map_err(AuditError::from)?.value;
        let runs = specification.runs.iter();
        let runs = runs.map(|run| {
            let model = (&*specification.model, &*model.sha256);
            FoundRun::read(run, model, &lexicon.sha256)
        });
        let runs: Vec<FoundRun> = runs.collect::<Result<_, _>>()?;
        let (learning, pace) = specification
            .training
            .apply_to(&trained.training)
            .settled(ModalityName::Text, corpus.texts.len());
        let split = trained.split(corpus.texts.len());
        let learner = L::new(LearnerParts {
            specification,
            model: model.value,
            set,
            trained,
            learning: &learning,
            texts: &corpus.texts,
            runs: &runs,
            lexicon: &lexicon.value,
        })?;
        let mut deciding = specification.deciding();
        let mut favourable = None;
        let mut decisions = Vec::new();
        let subject = learner.subject();
        for run in &runs {
            deciding = run.specification.deciding();
            let (population, classes) = (&run.specification.population, subject.classes());
            favourable.clone_from(&population.favourable);
            let good = population.favourable_of(classes)?;
            decisions.push(deciding.among(classes, good, None)?);
        }
        let of_runs = runs.iter().map(|run| Some(run.directory()));
        let decision = match runs.is_empty() {
            true => deciding.of_texts(subject.classes())?,
            false => one_decision(of_runs.zip(&decisions))?,
        };
        drop(subject);
        let decides = deciding.said();
        let reader = learner.reader();
        let protection = Protected::new(&lexicon.value, &protected, reader, options.preset)?;
        let tokens = Tokens::new(reader);
        let sources = corpus.texts.par_iter().map(|text| {
            let text = learner.encode(text).map_err(AuditError::from)?;
            let source = protection.read(&tokens, &text)?.source;
            Ok(learner.window(source))
        });
        let sources: Vec<Source> = sources.collect::<Result<_, RepairError>>()?;
        let reader = Reader {
            texts_sha256: record.sha256_of("data"),
            split: &split,
            labels: learner.labelled().labels,
            rows: learner.rows(),
            read_by: (reader, &protection),
        };
        let pools = runs.into_iter().map(|run| reader.pool(run));
        let pools = pools.collect::<Result<Vec<_>, _>>()?;
        let lacks_truth =
            |pool: &&Pool<FoundText>| pool.samples.iter().any(|text| text.truth.is_none());
        if let Some(pool) = pools.iter().find(lacks_truth)
            && specification.label() == LabelRule::Seed
        {
            return Err(RepairError::NoTruth {
                run: pool.run.clone().unwrap_or_default(),
            });
        }
        let test_texts = split.test.iter().map(|&text| text as usize);
        let test_texts = test_texts.filter(|&text| sources[text].can_vary());
        let test_texts = test_texts.map(|text| Written {
            source: sources[text].clone(),
            text: corpus.texts[text].clone(),
        });
        Ok(TextRepair {
            test_texts: test_texts.collect(),
            decision,
            decides,
            favourable,
            learner,
            sources,
            learning,
            epochs: pace.epochs,
            label: specification.label(),
            specification: specification.clone(),
            options,
            protected,
            split,
            provenance,
            protection,
            corpus,
            pools,
        })
    }

    fn parts(&self) -> PartSizes {
        PartSizes::new(&self.split)
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
            let labels = self.learner.labelled().labels;
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
            let texts = found.into_iter().map(|text| text.written);
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

    fn own(&self) -> L::Network {
        self.learner.own()
    }

    fn ask(&self, network: &L::Network) -> Result<L::Asked, RepairError> {
        self.learner.ask(network)
    }

    fn labels(
        &self,
        _: usize,
        samples: &[&FoundText],
        voters: &[L::Asked],
    ) -> Result<Vec<u32>, ModelError> {
        if self.label == LabelRule::Seed {
            // Every sample has one: see `open`.
            return Ok(samples.iter().filter_map(|sample| sample.truth).collect());
        }
        let texts: Vec<&Written> = samples.iter().map(|sample| &sample.written).collect();
        let voters: Vec<&L::Asked> = voters.iter().collect();
        self.on_rows(&voters, &texts, |voters, domain| {
            let individuals: Vec<_> = (0u32..)
                .zip(samples)
                .map(|(number, sample)| (domain.row(number).into(), sample.truth))
                .collect();
            majority(voters, domain, &individuals)
        })
    }

    fn training_set(
        &self,
        remedy: &Remedy<'_, FoundText, u32>,
        _: u32,
    ) -> Result<TrainingSet<RepairTexts>, RepairError> {
        let (inputs, variants) = mix(&self.learner, &self.split, &self.sources, remedy)?;
        Ok(TrainingSet { inputs, variants })
    }

    fn train(
        &self,
        set: &TrainingSet<RepairTexts>,
        seed: u64,
        observe: &mut ObserveEpoch<'_>,
    ) -> Result<Option<L::Network>, RepairError> {
        self.learner.train(&set.inputs, seed, observe)
    }

    fn has_collapsed(&self, asked: &L::Asked) -> Result<bool, RepairError> {
        let logits = self.learner.logits(asked, &self.split.train)?;
        let decided = self.decided(&logits);
        Ok(decided.iter().all(|class| *class == decided[0]))
    }

    fn validation_accuracy(&self, asked: &L::Asked) -> Result<Option<f64>, RepairError> {
        let validation = &self.split.validation;
        match validation.is_empty() {
            true => Ok(None),
            false => Ok(self.quality(asked, validation)?.in_short()),
        }
    }

    fn discriminatory(&self, asked: &L::Asked, left: &[&FoundText]) -> Result<f64, RepairError> {
        if left.is_empty() {
            return Ok(0.0);
        }
        let texts: Vec<&Written> = left.iter().map(|sample| &sample.written).collect();
        Ok(1.0 - self.fair(asked, &texts)?.share)
    }

    fn figures(
        &self,
        network: &L::Network,
        asked: &L::Asked,
        searched: &Searched,
    ) -> Result<TextFigures, RepairError> {
        let independent = searched.independent.iter().flatten();
        let independent: Vec<&Written> = independent.collect();
        let tested: Vec<&Written> = self.test_texts.iter().collect();
        let fair = self.fair(asked, &tested)?;
        let bounded = self.learner.certified(network, &self.decision, &tested);
        let certified = bounded.map(|count| Share::new(count, tested.len() as u64));
        Ok(TextFigures {
            protected: self.protected.clone(),
            repaired: self.fair(asked, &independent)?,
            certified: certified.unwrap_or(fair),
            fair,
            held_out: self.quality(asked, &self.split.test)?,
        })
    }

    fn store(&self, network: &L::Network) -> L::Network {
        network.clone()
    }

    fn is_stored(&self, stored: &L::Network) -> bool {
        self.learner.is_network(stored)
    }

    fn is_searched(&self, searched: &Searched) -> bool {
        let reader = self.learner.reader();
        let (most, classes) = (reader.max_length, self.learner.labelled().classes);
        let tokens = reader.table.vectors().len() / reader.dimension().max(1);
        let is_token = |&id: &i32| usize::try_from(id).is_ok_and(|id| id < tokens);
        // What is written has as many words: a text is said to be made of it word by word.
        let is_text = |text: &Written| {
            let source = &text.source;
            let written = reader.encode(&text.text);
            source.ids.len() <= most
                && source.is_sound(&is_token)
                && written.is_ok_and(|written| written.ids.len() == source.ids.len())
        };
        let is_class = |class: u32| (class as usize) < classes;
        let is_found = |found: &FoundText| {
            is_text(&found.written)
                && found.other.iter().all(is_token)
                && found.truth.is_none_or(is_class)
        };
        let mut samples = searched.samples.iter().flatten();
        let mut independent = searched.independent.iter().flatten();
        independent.all(is_text) && samples.all(is_found)
    }

    fn restore(&self, stored: &L::Network) -> L::Network {
        stored.clone()
    }

    fn save(&self, network: &L::Network, directory: &Path) -> Result<String, RepairError> {
        let sha256 = self.learner.save(network, &self.split, directory)?;
        let mut provenance = self.provenance.clone();
        provenance.model_sha256.clone_from(&sha256);
        provenance.specification.training = self.learning.clone();
        provenance.write(directory)?;
        Ok(sha256)
    }

    fn details(&self, _: &L::Network, searched: &Searched) -> Result<TextDetails, RepairError> {
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
