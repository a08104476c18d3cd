//! Opening a case of texts: reads the files, and finds what may be exchanged in the texts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use super::kept::{KeptText, naming};
use super::looked::Looked;
use super::subject::TextSubject;
use super::{TextCase, TextCounts};
use crate::audit_error::AuditError;
use crate::finds::DataClusters;
use crate::opened::{Opened, by_role, open_encoder, open_fluency_model, open_lexicon, open_texts};
use crate::specification::{AuditSpecification, TextSpecification};
use crate::text::domain::TextDomain;
use crate::text::edits::Tokens;
use crate::text::encoder::Encoder;
use crate::text::protected::Protected;
use crate::text::source::Source;
use crate::text::values::{ExchangedValues, TextValues, left_out, named, unnamed};
use probity_data::read::BadRows;
use probity_data::read::RowNumbers;
use probity_nn::decision::Decision;
use probity_nn::text_reader::TextReader;
use probity_nn::transformer_model::MaskedLanguageModel;
use probity_run::run_directory::file_sha256;
use probity_run::specification::FieldError;
use probity_tensor::device::ComputeDevice;
use probity_text::corpus::TextCorpus;
use probity_text::lexicon::Lexicon;
use probity_text::ngrams::NgramModel;

/// The opened parts that a case of texts is made of.
pub struct TextParts<'m, 't> {
    /// The model.
    pub model: Opened<TextSubject<'m>>,
    /// The directory of the model, if it has one: the neighbours of its words are kept there.
    pub directory: Option<&'t Path>,
    /// The protected terms, with the hash of the lexicon.
    pub protected: Opened<Protected>,
    /// The texts that seeds come from.
    pub texts: Opened<Vec<&'t str>>,
    /// The numbers of the rows of their file where the texts stand.
    pub rows: RowNumbers,
    /// The rows of the file that were left out.
    pub bad_rows: BadRows,
    /// The text, by its place among these, that a search begins at in place of several from clusters.
    pub begin_at: Option<usize>,
    /// The encoder that judges whether a changed text means the same.
    pub encoder: Option<Opened<Encoder>>,
    /// The model that measures fluency in place of n-grams.
    pub fluency_model: Option<Opened<MaskedLanguageModel>>,
}

/// Opens and checks everything that `specification` names, for a search on `device`: one that begins
/// at the text of the number `row`, if one is given.
pub(super) fn open<'m>(
    specification: &AuditSpecification,
    row: Option<u64>,
    device: &ComputeDevice,
) -> Result<TextCase<'m>, AuditError> {
    let options = &specification.text;
    let lexicon = open_lexicon(options.lexicon.as_deref(), options.preset)?;
    let skip = specification.skip_bad_rows;
    let corpus = open_texts(&specification.data, options.column.as_deref(), skip)?;
    let begin_at = row.map(|row| place_of(row, &corpus.value)).transpose()?;
    let model = TextSubject::open(specification, None, &corpus.value.texts, &lexicon.value)?;
    let encoder = options.encoder.as_deref().map(open_encoder).transpose()?;
    let fluency_model = options.fluency_model.as_deref().map(open_fluency_model);
    let protected = protected_of(specification, &lexicon, model.value.reader())?;
    let parts = TextParts {
        model,
        directory: specification.model.as_deref(),
        protected,
        texts: Opened {
            value: corpus.value.texts.iter().map(String::as_str).collect(),
            sha256: corpus.sha256,
        },
        rows: corpus.value.rows.clone(),
        bad_rows: corpus.value.bad_rows.clone(),
        begin_at,
        encoder,
        fluency_model: fluency_model.transpose()?,
    };
    TextCase::new(specification, parts, &|_| true, device)
}

/// The place of the text of the number `row` in `corpus`.
fn place_of(row: u64, corpus: &TextCorpus) -> Result<usize, FieldError> {
    let texts = corpus.texts.len();
    let place = corpus.rows.index_of(row).filter(|&place| place < texts);
    place.ok_or_else(|| {
        let last = texts
            .checked_sub(1)
            .map_or(0, |last| corpus.rows.number(last));
        let expected = format!("a text of the file, from 1 to {last}, that was not left out");
        FieldError::new("row", row, expected)
    })
}

/// The protected terms of `lexicon`, as `reader` splits them, with the hash of the lexicon.
pub(super) fn protected_of(
    specification: &AuditSpecification,
    lexicon: &Opened<Lexicon>,
    reader: &TextReader,
) -> Result<Opened<Protected>, AuditError> {
    let (named, preset) = (&specification.protected, specification.text.preset);
    Ok(Opened {
        value: Protected::new(&lexicon.value, named, reader, preset)?,
        sha256: lexicon.sha256.clone(),
    })
}

/// The way in which decisions are made between `classes`, of which the last one is good to get unless
/// `specification` names another, and the names of the possible decisions.
pub(super) fn decision_of(
    specification: &AuditSpecification,
    classes: &[String],
) -> Result<(Decision, Vec<String>), AuditError> {
    let favourable = specification.population.favourable_of(classes)?;
    let decision = specification.deciding().among(classes, favourable, None)?;
    let names = decision.names(classes);
    Ok((decision, names))
}

/// The parts of a case of texts that are the same wherever a search begins.
pub(super) struct Texts<'m> {
    pub(super) subject: TextSubject<'m>,
    /// The directory of the model, if it has one.
    pub(super) directory: Option<PathBuf>,
    pub(super) protected: Protected,
    pub(super) values: TextValues,
    pub(super) decision: Decision,
    /// The names of the possible decisions.
    pub(super) classes: Vec<String>,
    /// The number of the class that is good to get, or of the last one where nobody says which is.
    pub(super) favourable: usize,
    pub(super) counts: TextCounts,
    /// All texts with a protected term, in the order of the file.
    pub(super) texts: Arc<Vec<String>>,
    /// The place of each text in the file, from 1.
    pub(super) rows: Vec<u64>,
    /// The texts, with a term or without, that name a value which nothing takes the place of.
    pub(super) kept: Vec<KeptText>,
    /// The text that a search begins at in place of several from clusters.
    pub(super) begin_at: Option<u32>,
    pub(super) encoder: Option<Encoder>,
    /// The n-gram model that measures fluency, where that is asked for.
    pub(super) ngrams: Option<Arc<NgramModel>>,
    /// The number of texts that the n-gram model was fitted to, 0 where the only one was not fit for it;
    /// nothing where it was read, or fluency is not measured by one.
    pub(super) fluency_texts: Option<u64>,
    /// The masked language model that measures fluency in place of n-grams.
    pub(super) masked: Option<Arc<MaskedLanguageModel>>,
    pub(super) sha256: BTreeMap<String, String>,
    /// The clusters of the texts, made where they are first asked for.
    pub(super) clusters: OnceLock<DataClusters>,
}

impl<'m> Texts<'m> {
    /// The texts of `parts` whose positions `keep` takes, as if there were no others, and the
    /// domain of what may be exchanged in them.
    ///
    /// # Errors
    /// When none of them holds a protected term, or the model cannot read them.
    pub(super) fn new(
        specification: &AuditSpecification,
        parts: TextParts<'m, '_>,
        keep: &dyn Fn(usize) -> bool,
    ) -> Result<(Texts<'m>, TextDomain), AuditError> {
        let options = &specification.text;
        let (subject, protected) = (parts.model.value, parts.protected.value);
        subject.expect_embeddings(options.neighbours_from)?;
        let reader = subject.reader();
        let mut sha256 = by_role([
            ("model", parts.model.sha256),
            ("lexicon", parts.protected.sha256),
            ("data", parts.texts.sha256),
        ]);
        if let TextSubject::Asked(asked) = &subject
            && !asked.vectors_sha256.is_empty()
        {
            sha256.insert("embeddings".to_owned(), asked.vectors_sha256.clone());
        }
        let encoder = parts.encoder.map(|encoder| {
            sha256.insert("encoder".to_owned(), encoder.sha256);
            encoder.value
        });
        let texts = parts.texts.value;
        let kept: Vec<usize> = (0..texts.len()).filter(|&text| keep(text)).collect();
        let tokens = Tokens::new(reader);
        let looked: Vec<Looked> = kept
            .par_iter()
            .map(|&text| Looked::at(texts[text], &tokens, (&subject, &protected)))
            .collect::<Result<_, AuditError>>()?;
        let sources = looked.iter().filter_map(|looked| looked.source.as_ref());
        let unnamed = unnamed(&protected, sources);
        let left_out = match options.exchanged_values() {
            ExchangedValues::Occurring => left_out(&protected, &unnamed),
            ExchangedValues::All => BTreeSet::new(),
        };
        let looked = looked.into_iter().map(|looked| looked.without(&left_out));
        let looked: Vec<Looked> = looked.collect();
        let values = TextValues {
            left_out: named(&protected, &left_out),
            unnamed: named(
                &protected,
                &unnamed.difference(&left_out).copied().collect(),
            ),
        };
        let protected = protected.without(left_out);
        let refused = parts.begin_at.map(|text| {
            let mut looked = kept.iter().zip(&looked);
            match looked.find(|(other, _)| **other == text) {
                Some((_, looked)) => protected.no_term(&looked.named, looked.is_foreign),
                None => protected.no_term(&[], false),
            }
        });
        let counts = TextCounts::count(&looked, &protected, parts.bad_rows);
        if counts.with_protected_term == 0 {
            if let Some(refused) = refused {
                return Err(refused);
            }
            return Err(AuditError::NoProtectedTerm {
                file: specification.data.clone(),
                texts: kept.len(),
                foreign: counts.foreign,
                attributes: protected.attributes().join(", "),
            });
        }
        // A text that is explained by itself says nothing of other words that may stand in it.
        let is_alone = parts.begin_at.is_some() && kept.len() == 1;
        let is_measured = options.least_fluency().is_some() && parts.fluency_model.is_none();
        let is_fitted = is_measured && options.ngrams.is_none();
        if let Some(least) = options.min_fluency.filter(|least| *least > 0.0)
            && is_fitted
            && is_alone
        {
            let expected = "left out: there are no texts besides, and neither text.ngrams nor \
                            text.fluency_model, by which fluency could be measured";
            return Err(FieldError::new("text.min_fluency", least, expected).into());
        }
        let ngrams = match is_measured && !(is_fitted && is_alone) {
            true => Some(open_ngrams(options, &looked, &mut sha256)?),
            false => None,
        };
        let fluency_texts = is_fitted.then_some(match is_alone {
            true => 0,
            false => kept.len() as u64,
        });
        let whole = kept.iter().zip(&looked);
        let unexchanged = whole.filter_map(|(&text, looked)| KeptText::new(texts[text], looked));
        let unexchanged = unexchanged.collect();
        let with_term = kept.iter().zip(looked);
        let (has_term, sources): (Vec<usize>, Vec<Source>) = with_term
            .filter_map(|(&text, looked)| Some((text, looked.source?)))
            .unzip();
        let domain = domain_of(reader, sources)?;
        let masked = parts.fluency_model.map(|model| {
            sha256.insert("fluency_model".to_owned(), model.sha256);
            Arc::new(model.value)
        });
        let (decision, classes) = decision_of(specification, subject.classes())?;
        let favourable = specification.population.favourable_of(subject.classes())?;
        let begin_at = refused.zip(parts.begin_at).map(|(refused, text)| {
            let place = has_term.iter().position(|&other| other == text);
            place.ok_or(refused)
        });
        let made_of = has_term.iter().map(|&text| texts[text].to_owned());
        let texts = Texts {
            texts: Arc::new(made_of.collect()),
            rows: has_term
                .iter()
                .map(|&text| parts.rows.number(text))
                .collect(),
            kept: unexchanged,
            directory: parts.directory.map(Path::to_owned),
            begin_at: begin_at.transpose()?.map(|place| place as u32),
            ngrams: ngrams.map(Arc::new),
            fluency_texts,
            clusters: OnceLock::new(),
            subject,
            protected,
            values,
            decision,
            classes,
            favourable,
            counts,
            encoder,
            masked,
            sha256,
        };
        Ok((texts, domain))
    }

    /// The domain of what may be exchanged in the texts, read anew: a search orders it as its seeds
    /// say, and two orders take much memory.
    ///
    /// # Errors
    /// When the texts cannot be split.
    pub(super) fn domain(&self) -> Result<TextDomain, AuditError> {
        let reader = self.subject.reader();
        let tokens = Tokens::new(reader);
        let sources = self.texts.par_iter().map(|text| {
            let encoded = reader.encode(text)?;
            Ok(self.protected.read(&tokens, &encoded)?.source)
        });
        domain_of(reader, sources.collect::<Result<_, AuditError>>()?)
    }
}

/// The domain of all of `sources`.
fn domain_of(reader: &TextReader, sources: Vec<Source>) -> Result<TextDomain, AuditError> {
    let inputs = (0u32..).take(sources.len()).collect();
    let sources = Arc::new(sources);
    Ok(TextDomain::new(
        reader.max_length,
        sources,
        Arc::new(inputs),
    )?)
}

impl TextCounts {
    /// Counts the texts that were `looked` at for values of `protected` by what became of them, of a
    /// file without these `bad_rows`.
    fn count(looked: &[Looked], protected: &Protected, bad_rows: BadRows) -> TextCounts {
        let count = |of: fn(&Looked) -> bool| looked.iter().filter(|text| of(text)).count() as u64;
        TextCounts {
            texts: looked.len() as u64,
            with_protected_term: count(|text| text.source.is_some()),
            without_protected_term: count(|text| text.source.is_none()),
            truncated: count(|text| text.is_truncated),
            // A text without a word is in no language.
            foreign: count(|text| text.is_foreign && !text.is_blank()),
            blank: count(Looked::is_blank),
            kept: count(|text| text.source.is_none() && !text.named.is_empty()),
            naming: naming(looked, protected),
            bad_rows,
        }
    }
}

/// The n-gram model that `options` name, or one fitted to the texts.
fn open_ngrams(
    options: &TextSpecification,
    texts: &[Looked],
    sha256: &mut BTreeMap<String, String>,
) -> Result<NgramModel, AuditError> {
    let Some(file) = &options.ngrams else {
        let texts = texts.iter().map(|text| text.words.iter());
        let fitted = NgramModel::fit(texts.map(|words| words.map(String::as_str)), 1);
        return Ok(fitted?);
    };
    sha256.insert("ngrams".to_owned(), file_sha256(file)?);
    Ok(NgramModel::read(file)?)
}
