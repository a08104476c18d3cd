//! The witness that reads the texts of a samples file, and re-checks its pairs.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;

use super::open::{decision_of, protected_of};
use super::subject::TextSubject;
use crate::audit_error::AuditError;
use crate::modality::{Answers, Sample, SampleInputs, Witness};
use crate::opened::{by_role, open_lexicon};
use crate::samples::read_samples;
use crate::specification::AuditSpecification;
use crate::text::edits::Tokens;
use crate::text::protected::Protected;
use crate::text::source::Source;
use probity_data::read::ReadError;
use probity_nn::decision::Decision;
use probity_nn::text::TextNetwork;
use probity_nn::text_classifier::TextClassifier;
use probity_nn::text_reader::TextReader;
use probity_nn::{Classifier, ModelError, Rows};
use probity_predictor::KillHandle;
use probity_tensor::device::ComputeDevice;
use probity_text::tokenizer::Tokenizer;

/// Reads texts from a samples file, as the ids of their tokens.
pub struct TextInputs<'a> {
    tokenizer: &'a Tokenizer,
}

impl<'a> TextInputs<'a> {
    /// A reader of texts by `tokenizer`.
    pub fn new(tokenizer: &'a Tokenizer) -> TextInputs<'a> {
        TextInputs { tokenizer }
    }
}

impl SampleInputs for TextInputs<'_> {
    fn columns(&self, side: &str) -> Vec<String> {
        vec![side.to_owned()]
    }

    fn read(
        &self,
        cells: &[&str],
        _refuse: &dyn Fn(usize, String) -> ReadError,
    ) -> Result<Vec<i32>, AuditError> {
        let tokens = self.tokenizer.tokens(cells.first().unwrap_or(&""))?;
        Ok(tokens.iter().map(|token| token.id as i32).collect())
    }

    fn text(&self, cells: &[&str]) -> String {
        cells.first().copied().unwrap_or_default().to_owned()
    }
}

/// Reads the texts of a samples file as they are written, and no words of them.
pub(crate) struct AsWritten;

impl SampleInputs for AsWritten {
    fn columns(&self, side: &str) -> Vec<String> {
        vec![side.to_owned()]
    }

    fn read(
        &self,
        _cells: &[&str],
        _refuse: &dyn Fn(usize, String) -> ReadError,
    ) -> Result<Vec<i32>, AuditError> {
        Ok(Vec::new())
    }

    fn text(&self, cells: &[&str]) -> String {
        cells.first().copied().unwrap_or_default().to_owned()
    }
}

/// The texts in the file `samples`, each once. A vocabulary that is made of them tells the same of
/// their words apart as that of the audit, which was made of all texts: those need not be there.
fn written(samples: &Path) -> Result<Vec<String>, AuditError> {
    let mut texts = BTreeSet::new();
    read_samples(samples, &AsWritten, |pair| {
        texts.extend(pair.origin);
        texts.extend(pair.texts);
        Ok::<_, AuditError>(())
    })?;
    Ok(texts.into_iter().collect())
}

/// The texts that those of a samples file are said to be made of, each read anew once.
#[derive(Default)]
pub struct Origins {
    read: Mutex<HashMap<String, Arc<Source>>>,
}

impl Origins {
    fn source(
        &self,
        (reader, protected): (&TextReader, &Protected),
        origin: &str,
    ) -> Result<Arc<Source>, AuditError> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(source) = read.get(origin) {
            return Ok(Arc::clone(source));
        }
        let text = reader.encode(origin)?;
        let source = Arc::new(protected.read(&Tokens::new(reader), &text)?.source);
        read.insert(origin.to_owned(), Arc::clone(&source));
        Ok(source)
    }

    /// The text x of `pair` with what may be exchanged in it.
    ///
    /// # Errors
    /// The reason why x' is not x after one exchange, as a sentence.
    pub fn pair_source(
        &self,
        read_by: (&TextReader, &Protected),
        pair: &Sample,
    ) -> Result<Source, String> {
        let origin = pair.origin.as_deref();
        let origin = origin.ok_or("the file does not say which text x was made of")?;
        let source = self.source(read_by, origin);
        let source = source.map_err(|error| error.to_string())?;
        let (row, other) = (&pair.row, &pair.other);
        let mut fixed = source.fixed.iter().cloned();
        if row.len() != source.ids.len() || fixed.any(|at| row[at.clone()] != source.ids[at]) {
            return Err("x was not made of its text by replacing words that are free".into());
        }
        if row == other {
            return Err("both texts have the same words".into());
        }
        let is_variant = |number| {
            source.exchange(number).is_some_and(|(_, exchange)| {
                let mut variant = Vec::with_capacity(other.len());
                exchange.write(row, &mut variant);
                variant == *other
            })
        };
        match (0..source.exchanges()).any(is_variant) {
            true => Ok(Source {
                ids: row.clone(),
                ..Source::clone(&source)
            }),
            false => Err("the texts differ in more than one exchange of a protected value".into()),
        }
    }
}

/// The model that answers when pairs of texts are re-checked.
enum WitnessModel {
    /// A network, by the tokens of each side alone.
    Network(TextNetwork),
    /// A classifier of texts, by both sides as they stand in the file.
    Texts(Arc<dyn TextClassifier>),
}

/// Re-checks pairs of texts from the texts alone, which are split into tokens anew.
pub struct TextWitness {
    subject: TextSubject<'static>,
    protected: Protected,
    answering: WitnessModel,
    origins: Origins,
    decision: Decision,
    /// The names of the possible decisions.
    classes: Vec<String>,
    sha256: BTreeMap<String, String>,
}

impl TextWitness {
    /// Opens the witness for the pairs in the file `samples`, with the model that `specification`
    /// names, which is in the place `model` if it has moved.
    pub(super) fn open(
        specification: &AuditSpecification,
        model: Option<&Path>,
        samples: &Path,
    ) -> Result<TextWitness, AuditError> {
        let text = &specification.text;
        let lexicon = open_lexicon(text.lexicon.as_deref(), text.preset)?;
        let texts = match TextSubject::is_asked(specification, model)? {
            false => Vec::new(),
            true => written(samples)?,
        };
        let opened = TextSubject::open(specification, model, &texts, &lexicon.value)?;
        let subject = opened.value;
        let protected = protected_of(specification, &lexicon, subject.reader())?;
        let answering = match &subject {
            TextSubject::Words(model) => {
                let width = model.reader.max_length;
                WitnessModel::Network(model.network(width, &ComputeDevice::flex())?)
            }
            TextSubject::Asked(asked) => WitnessModel::Texts(Arc::clone(&asked.classifier)),
        };
        let (decision, classes) = decision_of(specification, subject.classes())?;
        Ok(TextWitness {
            decision,
            classes,
            subject,
            protected: protected.value,
            answering,
            origins: Origins::default(),
            sha256: by_role([("model", opened.sha256), ("lexicon", protected.sha256)]),
        })
    }
}

impl Witness for TextWitness {
    fn inputs(&self) -> Box<dyn SampleInputs + '_> {
        Box::new(TextInputs::new(&self.subject.reader().tokenizer))
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn sha256(&self) -> &BTreeMap<String, String> {
        &self.sha256
    }

    fn ender(&self) -> Option<&KillHandle> {
        self.subject.ender()
    }

    fn are_variants(&self, pair: &Sample) -> Result<(), String> {
        let read_by = (self.subject.reader(), &self.protected);
        self.origins.pair_source(read_by, pair).map(|_| ())
    }

    fn answers(&self, samples: &[&Sample]) -> Result<Vec<Answers>, ModelError> {
        let contrast = |x: &[f32], other: &[f32]| self.decision.contrast((&[], x), (&[], other));
        let decided: Vec<Option<[u32; 2]>> = match &self.answering {
            WitnessModel::Network(network) => {
                let alone = |text: &[i32]| network.logits(Rows::new(text, text.len()));
                let pairs = samples.par_iter();
                let pairs =
                    pairs.map(|pair| Ok(contrast(&alone(&pair.row)?, &alone(&pair.other)?)));
                pairs.collect::<Result<_, ModelError>>()?
            }
            WitnessModel::Texts(classifier) => {
                let sides = samples.iter().flat_map(|pair| &pair.texts);
                let texts: Vec<&str> = sides.map(String::as_str).collect();
                let logits = classifier.logits(&texts)?;
                let classes = classifier.classes();
                let pairs = logits.chunks_exact(2 * classes);
                let pairs = pairs.map(|pair| pair.split_at(classes));
                pairs.map(|(x, other)| contrast(x, other)).collect()
            }
        };
        let answers = decided.into_iter().map(|decided| Answers {
            decided,
            by_rounding: false,
        });
        Ok(answers.collect())
    }
}
