//! Repairs of transformers: over the words of the texts, which the network reads in pieces.

use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;

use super::found::{FoundText, Written};
use super::learner::{LearnerParts, RepairTexts, TextLearner};
use crate::audit::AuditError;
use crate::domain::Domain;
use crate::modality::TextSubject;
use crate::opened::Opened;
use crate::repair::error::RepairError;
use crate::repair::repairable::ObserveEpoch;
use crate::repair::specification::{RepairMethod, RepairSpecification, TextRepairOptions};
use crate::specification::TextSpecification;
use crate::text::asked::{AskedClassifier, RenderedRows};
use crate::text::domain::{PADDING, TextDomain};
use crate::text::source::Source;
use crate::text::vocabulary::open_reader;
use probity_data::read::RowNumbers;
use probity_nn::decision::Decision;
use probity_nn::text_reader::{EncodedText, TextReader};
use probity_nn::train::Split;
use probity_nn::train::options::TransformerTraining;
use probity_nn::train::text::LabelledTexts;
use probity_nn::train::transformer::train_transformer;
use probity_nn::train::transformer_set::TransformerSet;
use probity_nn::transformer::shape::TransformerWeights;
use probity_nn::transformer_model::{TransformerModel, TransformerNetwork};
use probity_nn::{Classifier, ModelError, Rows};
use probity_run::specification::FieldError;
use probity_text::tokenizer::TokenizerError;

/// A transformer with its training.
pub struct TransformerLearner {
    /// The model as searches ask it.
    asked: AskedClassifier<'static>,
    /// The parameters of the model.
    own: Vec<f32>,
    set: TransformerSet,
    training: TransformerTraining,
}

impl TransformerLearner {
    /// The model whose last parameters are `learnt`, and whose others are those before a training.
    fn model(&self, learnt: &[f32]) -> TransformerModel {
        let begun = self.set.model();
        let kept = begun.weights.values.len().saturating_sub(learnt.len());
        TransformerModel {
            classes: begun.classes.clone(),
            max_length: begun.max_length,
            family: begun.family,
            tokenizer: begun.tokenizer.clone(),
            weights: TransformerWeights {
                shape: begun.weights.shape,
                values: [&begun.weights.values[..kept], learnt].concat(),
            },
            masked: None,
        }
    }
}

/// Whether `model` is one that trainings of `begun` can give.
fn is_trained_from(model: &TransformerModel, begun: &TransformerModel) -> bool {
    model.classes == begun.classes
        && model.max_length == begun.max_length
        && model.family == begun.family
        && model.weights.shape == begun.weights.shape
        && model.tokenizer.json() == begun.tokenizer.json()
}

impl TextLearner for TransformerLearner {
    type Model = TransformerModel;
    type Set = TransformerSet;
    /// The last parameters of a network, those that learnt: all, or of its head alone.
    type Network = Vec<f32>;
    type Asked = Arc<TransformerNetwork>;

    fn expect_fitting(specification: &RepairSpecification) -> Result<(), FieldError> {
        if specification.method() == RepairMethod::Certified {
            let expected = "samples: a transformer has no interval bounds to be trained by";
            return Err(FieldError::new("method", "certified", expected));
        }
        if specification.text().splits != TextRepairOptions::default().splits {
            let expected =
                "left out: texts are certified for a transformer by trying all exchanges";
            return Err(FieldError::new("text.splits", "given", expected));
        }
        Ok(())
    }

    fn open_model(directory: &Path) -> Result<Opened<TransformerModel>, RepairError> {
        let value = TransformerModel::load(directory)?;
        Ok(Opened {
            sha256: value.sha256(),
            value,
        })
    }

    fn new(parts: LearnerParts<'_, Self>) -> Result<TransformerLearner, RepairError> {
        let (model, set) = (parts.model, parts.set);
        if !is_trained_from(&model, set.model()) {
            return Err(RepairError::OtherVocabulary {
                model: parts.specification.model.clone(),
            });
        }
        // The words of the audits too, which may have been of other texts and word vectors.
        let found = parts.runs.iter().flat_map(|run| run.texts());
        let texts: Vec<String> = parts.texts.iter().chain(found).cloned().collect();
        let runs = parts.runs.iter();
        let reads = runs.map(|run| run.specification.text.reads());
        let reads = reads.fold(TextSpecification::default().reads(), usize::max);
        let reader = open_reader(None, &texts, parts.lexicon, reads)?;
        let own = model.weights.values.clone();
        let classes = model.classes.clone();
        let network = Arc::new(TransformerNetwork::new(model)?);
        let asked = AskedClassifier::of_transformer(network, classes, reader)?;
        let mut training = parts.trained.transformer_options();
        training.learning = parts.learning.clone();
        Ok(TransformerLearner {
            asked,
            own,
            set,
            training,
        })
    }

    fn reader(&self) -> &TextReader {
        &self.asked.reader
    }

    fn encode(&self, text: &str) -> Result<EncodedText, TokenizerError> {
        self.asked.reader.encode(text)
    }

    /// The whole source: how many words its pieces are of is not known.
    fn window(&self, source: Source) -> Source {
        source
    }

    fn subject(&self) -> TextSubject<'_> {
        TextSubject::Asked(self.asked.clone())
    }

    fn labelled(&self) -> LabelledTexts<'_> {
        self.set.labelled()
    }

    fn rows(&self) -> &RowNumbers {
        self.set.rows()
    }

    fn own(&self) -> Vec<f32> {
        self.own.clone()
    }

    fn ask(&self, network: &Vec<f32>) -> Result<Arc<TransformerNetwork>, RepairError> {
        Ok(Arc::new(TransformerNetwork::new(self.model(network))?))
    }

    fn of_rows<'a>(
        &'a self,
        asked: &'a Arc<TransformerNetwork>,
        domain: &TextDomain,
        texts: &[&Written],
    ) -> Box<dyn Classifier + 'a> {
        let texts = texts.iter().map(|text| text.text.clone()).collect();
        let (network, reader) = (Arc::clone(asked), Arc::clone(&self.asked.reader));
        Box::new(RenderedRows::new(network, reader, domain, Arc::new(texts)))
    }

    fn logits(
        &self,
        asked: &Arc<TransformerNetwork>,
        items: &[u32],
    ) -> Result<Vec<f32>, ModelError> {
        let own = self.set.labelled().texts;
        let texts = items.iter().map(|&item| &own[item as usize][..]);
        Ok(asked.kernels().logits(&texts.collect::<Vec<_>>()))
    }

    /// The pieces of both sides as a search writes them.
    fn read_as_learnt(&self, samples: &[&FoundText]) -> Result<Vec<[Vec<i32>; 2]>, RepairError> {
        let sources = samples.iter().map(|sample| sample.written.source.clone());
        let domain = TextDomain::from_sources(sources.collect()).map_err(AuditError::from)?;
        let made_of = samples.iter().map(|sample| sample.written.text.clone());
        let rows = RenderedRows::new(
            Arc::clone(&self.asked.classifier),
            Arc::clone(&self.asked.reader),
            &domain,
            Arc::new(made_of.collect()),
        );
        let width = domain.width();
        let mut codes: Vec<i32> = Vec::with_capacity(2 * samples.len() * width);
        for (number, sample) in (0u32..).zip(samples) {
            codes.extend(domain.row(number));
            codes.push(number as i32);
            codes.extend_from_slice(&sample.other);
            codes.resize(codes.len().next_multiple_of(width), PADDING);
        }
        let texts = rows.texts(Rows::new(&codes, width))?;
        let pieces = texts.par_iter().map(|text| {
            let pieces = self.set.model().pieces(text).map_err(AuditError::from)?;
            Ok(pieces.ids)
        });
        let pieces: Vec<Vec<i32>> = pieces.collect::<Result<_, RepairError>>()?;
        let mut pieces = pieces.into_iter();
        let mut sides = Vec::with_capacity(samples.len());
        while let (Some(x), Some(other)) = (pieces.next(), pieces.next()) {
            sides.push([x, other]);
        }
        Ok(sides)
    }

    fn train(
        &self,
        set: &RepairTexts,
        seed: u64,
        observe: &mut ObserveEpoch<'_>,
    ) -> Result<Option<Vec<f32>>, RepairError> {
        let corpus = LabelledTexts {
            texts: &set.texts,
            labels: &set.labels,
            classes: self.set.labelled().classes,
        };
        let mut options = self.training.clone();
        options.learning.seed = seed;
        let begun = (corpus, self.set.begun(seed));
        let device = self.set.device();
        let observe = &mut |_: &_, _: &dyn Fn() -> _| observe();
        let trained = train_transformer(begun, &set.split, &options, device, None, observe)?;
        let mut values = trained.weights.values;
        let learnt = values.split_off(values.len() - trained.learnt);
        Ok(trained.finished.then_some(learnt))
    }

    fn certified(&self, _: &Vec<f32>, _: &Decision, _: &[&Written]) -> Option<u64> {
        None
    }

    fn is_network(&self, stored: &Vec<f32>) -> bool {
        let weights = &self.set.model().weights;
        let learnt = match self.training.network.freeze {
            true => weights.values.len() - weights.shape.head_start(),
            false => weights.values.len(),
        };
        stored.len() == learnt && stored.iter().all(|value| value.is_finite())
    }

    fn save(&self, network: &Vec<f32>, _: &Split, directory: &Path) -> Result<String, RepairError> {
        let model = self.model(network);
        model.save(directory)?;
        Ok(model.sha256())
    }
}
