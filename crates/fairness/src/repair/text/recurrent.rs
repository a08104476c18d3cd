//! Repairs of recurrent networks: over the words of the model's own vocabulary.

use std::borrow::Cow;
use std::path::Path;

use super::found::{FoundText, Written};
use super::learner::{LearnerParts, RepairTexts, TextLearner};
use crate::certify::text::certify_texts;
use crate::modality::TextSubject;
use crate::opened::{Opened, open_text_model};
use crate::repair::error::RepairError;
use crate::repair::repairable::ObserveEpoch;
use crate::repair::specification::RepairSpecification;
use crate::text::domain::{PADDING, TextDomain};
use crate::text::network::SourcedNetwork;
use crate::text::source::Source;
use probity_data::read::RowNumbers;
use probity_nn::decision::Decision;
use probity_nn::recurrent::kernels::EmbeddingTable;
use probity_nn::text::TextNetwork;
use probity_nn::text_model::TextModel;
use probity_nn::text_reader::{EncodedText, TextReader};
use probity_nn::train::Split;
use probity_nn::train::course::Course;
use probity_nn::train::options::TextOptions;
use probity_nn::train::run::TrainingError;
use probity_nn::train::text::{
    CertifiedLoss, LabelledTexts, TrainedText, train_text, train_text_certified,
};
use probity_nn::train::text_set::TextSet;
use probity_nn::{Classifier, ModelError, Rows};
use probity_run::specification::FieldError;
use probity_tensor::device::ComputeDevice;
use probity_text::tokenizer::TokenizerError;

/// A recurrent network with its training.
pub struct RecurrentLearner {
    model: TextModel,
    set: TextSet,
    training: TextOptions,
    course: Course,
    splits: u32,
}

impl RecurrentLearner {
    fn vectors<'t>(&'t self, network: &'t TrainedText) -> &'t [f32] {
        let own = network.embeddings.as_deref();
        own.unwrap_or(self.set.table().values)
    }
}

impl TextLearner for RecurrentLearner {
    type Model = TextModel;
    type Set = TextSet;
    type Network = TrainedText;
    type Asked = SourcedNetwork;

    fn expect_fitting(_: &RepairSpecification) -> Result<(), FieldError> {
        Ok(())
    }

    fn open_model(directory: &Path) -> Result<Opened<TextModel>, RepairError> {
        Ok(open_text_model(directory)?)
    }

    fn new(parts: LearnerParts<'_, Self>) -> Result<RecurrentLearner, RepairError> {
        let (model, set) = (parts.model, parts.set);
        let is_own = model.recurrent.shape.inputs == set.table().dimension
            && model.reader.table.vectors().len() == set.table().values.len();
        if !is_own {
            return Err(RepairError::OtherVocabulary {
                model: parts.specification.model.clone(),
            });
        }
        let mut training = parts.trained.text_options();
        training.learning = parts.learning.clone();
        Ok(RecurrentLearner {
            model,
            set,
            training,
            course: parts.specification.certified.unwrap_or_default(),
            splits: parts.specification.text().splits,
        })
    }

    fn reader(&self) -> &TextReader {
        &self.model.reader
    }

    fn encode(&self, text: &str) -> Result<EncodedText, TokenizerError> {
        self.model.reader.encode_whole(text)
    }

    fn window(&self, source: Source) -> Source {
        source.window(self.model.reader.max_length)
    }

    fn subject(&self) -> TextSubject<'_> {
        TextSubject::Words(Box::new(Cow::Borrowed(&self.model)))
    }

    fn labelled(&self) -> LabelledTexts<'_> {
        self.set.labelled()
    }

    fn rows(&self) -> &RowNumbers {
        self.set.rows()
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

    fn of_rows<'a>(
        &'a self,
        asked: &'a SourcedNetwork,
        _: &TextDomain,
        _: &[&Written],
    ) -> Box<dyn Classifier + 'a> {
        Box::new(asked)
    }

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

    fn read_as_learnt(&self, samples: &[&FoundText]) -> Result<Vec<[Vec<i32>; 2]>, RepairError> {
        let sides = samples.iter();
        let sides = sides.map(|sample| [sample.written.source.ids.clone(), sample.other.clone()]);
        Ok(sides.collect())
    }

    fn train(
        &self,
        set: &RepairTexts,
        seed: u64,
        observe: &mut ObserveEpoch<'_>,
    ) -> Result<Option<TrainedText>, RepairError> {
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
                train_text(
                    corpus,
                    table,
                    &set.split,
                    &options,
                    self.set.device(),
                    None,
                    observe,
                )?
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
                let options = (&options, self.set.device());
                train_text_certified(corpus, table, &set.split, options, &loss, observe)?
            }
        };
        Ok(trained.finished.then_some(trained))
    }

    fn certified(
        &self,
        network: &TrainedText,
        decision: &Decision,
        texts: &[&Written],
    ) -> Option<u64> {
        let table = EmbeddingTable {
            values: self.vectors(network),
            dimension: network.weights.shape.inputs,
        };
        let texts: Vec<Source> = texts.iter().map(|text| text.source.clone()).collect();
        let reads = self.model.reader.max_length;
        let asked = (&network.weights, table, reads);
        let certificates = certify_texts(asked, decision, &texts, self.splits);
        let certified = certificates.iter().filter(|c| c.holds()).count();
        Some(certified as u64)
    }

    fn is_network(&self, stored: &TrainedText) -> bool {
        let own = &self.model.recurrent;
        let vectors = self.model.reader.table.vectors().len();
        let (weights, learned) = (&stored.weights, stored.embeddings.as_ref());
        let is_finite = |values: &Vec<f32>| values.iter().all(|value| value.is_finite());
        weights.shape == own.shape
            && weights.values.len() == own.values.len()
            && is_finite(&weights.values)
            && learned.is_none_or(|learned| learned.len() == vectors && is_finite(learned))
    }

    fn save(
        &self,
        network: &TrainedText,
        split: &Split,
        directory: &Path,
    ) -> Result<String, RepairError> {
        let length = self.model.reader.max_length;
        let model = self.set.model(network, &split.train, length)?;
        let sha256 = model.sha256().map_err(TrainingError::from)?;
        model.save(directory)?;
        Ok(sha256)
    }
}
