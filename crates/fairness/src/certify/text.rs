//! Certificates for texts, by the definition of the audit: one exchange of a protected value at a
//! time, as [`crate::text::source`] says.
//!
//! What the exchanges of one site make of a run of tokens is one box for each place and length of
//! that run; a text is certified when all of its boxes keep its class. A model cuts texts at its
//! length, also those that an exchange made longer or shorter: a box is what it then reads. An
//! exchange counts where the first token that it changes is read. (Certifying that all may be made
//! *together* would prove more than the audit asks, of fewer texts.)
//!
//! No bounds are known of a transformer that would say anything: its texts are certified by trying
//! all exchanges ([`super::enumerate`]).

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use rayon::prelude::*;

use super::Certificate;
use super::enumerate::{Enumeration, enumerate};
use super::parts::{Dealer, Inputs, Part, PartError, texts_of};
use super::run::{Certifiable, CertifySpecification};
use crate::audit_error::AuditError;
use crate::domain::Domain;
use crate::modality::{Change, TextSubject};
use crate::opened::{by_role, open_lexicon, open_texts};
use crate::scored::AnyTextModel;
use crate::text::domain::TextDomain;
use crate::text::edits::Tokens;
use crate::text::network::SourcedNetwork;
use crate::text::protected::Protected;
use crate::text::source::{Source, Stretch};
use crate::text::vocabulary::open_reader;
use probity_data::read::RowNumbers;
use probity_data::table::ReadCounts;
use probity_nn::alike::DecidedAlike;
use probity_nn::decision::{Decided, Decision};
use probity_nn::interval::recurrent::{IntervalKernels, Substituted};
use probity_nn::modality::ModalityName;
use probity_nn::recurrent::kernels::{EmbeddingTable, Kernels};
use probity_nn::recurrent::network::RecurrentWeights;
use probity_nn::{Classifier, Rows};
use probity_tensor::device::ComputeDevice;

/// Number of boxes that are bounded at a time.
const BLOCK: usize = 4096;

/// A box of a text.
struct Open<'a> {
    text: usize,
    what: Substituted<'a>,
}

/// A network of texts, its protected terms, and texts.
pub struct CertifiableTexts {
    subject: TextSubject<'static>,
    decision: Decision,
    protected: Protected,
    file: PathBuf,
    /// The texts as they are written.
    written: Vec<String>,
    /// The texts, as far as they may be read.
    texts: Vec<Source>,
    /// The texts that are not English, in order.
    foreign: Vec<u32>,
    /// The numbers of the rows of the file where the texts stand.
    rows: RowNumbers,
    /// The counts of what was left out of the file, if anything was.
    counts: Option<ReadCounts>,
    sha256: BTreeMap<String, String>,
}

/// The part of the text `source` that `subject` may read. How many words the pieces of a
/// transformer are of is not known.
fn window(subject: &TextSubject<'_>, source: Source) -> Source {
    match subject {
        TextSubject::Words(model) => source.window(model.reader.max_length),
        TextSubject::Asked(_) => source,
    }
}

impl CertifiableTexts {
    /// The texts `rows`, with the exchanges of the attributes `names`.
    fn only(&self, names: &[String], rows: &[u32]) -> Vec<Source> {
        let attributes = self.protected.attributes();
        let texts = rows.iter().map(|&row| &self.texts[row as usize]);
        texts
            .map(|text| text.only(|site| names.contains(&attributes[site.attribute])))
            .collect()
    }

    /// The model as a classifier of the rows of `domain`, which are the texts `rows`.
    fn of_rows(
        &self,
        domain: &TextDomain,
        rows: &[u32],
    ) -> Result<Decided<Box<dyn Classifier + '_>>, AuditError> {
        let model: Box<dyn Classifier + '_> = match &self.subject {
            TextSubject::Words(model) => {
                let network = model.network(domain.tokens(), &ComputeDevice::flex())?;
                Box::new(SourcedNetwork::new(network))
            }
            TextSubject::Asked(asked) => {
                let written = rows.iter().map(|&row| self.written[row as usize].clone());
                Box::new(asked.of_rows(domain, &Arc::new(written.collect())))
            }
        };
        let decision = self.decision.clone();
        Ok(Decided { model, decision })
    }
}

impl Certifiable for CertifiableTexts {
    const NAME: ModalityName = ModalityName::Text;

    fn open(specification: &CertifySpecification) -> Result<CertifiableTexts, AuditError> {
        let text = &specification.text;
        let model = AnyTextModel::open(&specification.model)?;
        let lexicon = open_lexicon(text.lexicon.as_deref(), text.preset)?;
        let skip = specification.skip_bad_rows;
        let corpus = open_texts(&specification.data, text.column.as_deref(), skip)?;
        let written = corpus.value.texts;
        // Nothing is replaced but protected terms: of which vectors the words have, nothing hangs.
        let read_by = || open_reader(None, &written, &lexicon.value, usize::MAX);
        let subject = TextSubject::of_network(model.value, read_by)?;
        let named = &specification.protected;
        let reader = subject.reader();
        let protected = Protected::new(&lexicon.value, named, reader, text.preset)?;
        let (rows, bad_rows) = (corpus.value.rows, corpus.value.bad_rows);
        let tokens = Tokens::new(reader);
        let texts = written.par_iter().map(|text| {
            let text = reader.encode_whole(text)?;
            let read = protected.read(&tokens, &text)?;
            let is_foreign = !read.is_english && !text.words.is_empty();
            Ok((window(&subject, read.source), is_foreign))
        });
        let texts: Vec<(Source, bool)> = texts.collect::<Result<_, AuditError>>()?;
        let (texts, is_foreign): (Vec<Source>, Vec<bool>) = texts.into_iter().unzip();
        let foreign = (0..).zip(is_foreign).filter(|(_, is_foreign)| *is_foreign);
        let decision = specification.deciding().of_texts(subject.classes())?;
        Ok(CertifiableTexts {
            decision,
            rows,
            counts: ReadCounts::of_bad_rows(texts.len(), bad_rows),
            foreign: foreign.map(|(text, _)| text).collect(),
            written,
            texts,
            subject,
            protected,
            file: specification.data.clone(),
            sha256: by_role([
                ("model", model.sha256),
                ("lexicon", lexicon.sha256),
                ("data", corpus.sha256),
            ]),
        })
    }

    fn sha256(&self) -> &BTreeMap<String, String> {
        &self.sha256
    }

    fn protected(&self) -> &[String] {
        self.protected.attributes()
    }

    fn inputs(&self) -> usize {
        self.texts.len()
    }

    fn part(&self, part: Part, model: Dealer<'_>, file: Inputs<'_>) -> Result<Vec<u32>, PartError> {
        let texts = (&self.rows, self.texts.len());
        texts_of(part, (model, self.subject.classes()), file, texts)
    }

    fn number(&self, row: u32) -> u64 {
        self.rows.number(row as usize)
    }

    fn counts(&self) -> Option<&ReadCounts> {
        self.counts.as_ref()
    }

    fn has_bounds(&self) -> bool {
        matches!(self.subject, TextSubject::Words(_))
    }

    fn decides_alike(&self, rows: &[u32]) -> Result<Option<DecidedAlike>, AuditError> {
        let texts = rows.iter().map(|&row| self.texts[row as usize].clone());
        let domain = TextDomain::from_sources(texts.collect())?;
        let network = self.of_rows(&domain, rows)?;
        let codes = domain.rows();
        let rows = Rows::new(&codes, domain.width());
        let names = self.decision.names(self.subject.classes());
        Ok(DecidedAlike::detect(&network, &names, rows)?)
    }

    fn varying(&self, names: &[String], rows: &[u32]) -> Result<Vec<u32>, AuditError> {
        let texts = self.only(names, rows);
        let varying = rows.iter().zip(&texts).filter(|(_, text)| text.can_vary());
        let varying: Vec<u32> = varying.map(|(row, _)| *row).collect();
        if varying.is_empty() {
            let foreign = rows
                .iter()
                .filter(|row| self.foreign.binary_search(row).is_ok());
            return Err(AuditError::NoProtectedTerm {
                file: self.file.clone(),
                texts: rows.len(),
                foreign: foreign.count() as u64,
                attributes: names.join(", "),
            });
        }
        Ok(varying)
    }

    fn certify(
        &self,
        names: &[String],
        rows: &[u32],
        splits: u32,
    ) -> Result<Vec<Certificate>, AuditError> {
        let TextSubject::Words(model) = &self.subject else {
            return Ok(vec![Certificate::None; rows.len()]);
        };
        let (texts, reads) = (self.only(names, rows), model.reader.max_length);
        let network = model.network(reads, &ComputeDevice::flex())?;
        let (weights, table) = (network.weights(), network.table());
        let network = (weights, table, reads);
        Ok(certify_texts(network, &self.decision, &texts, splits))
    }

    fn enumerate(
        &self,
        names: &[String],
        rows: &[u32],
        most: Option<u64>,
    ) -> Result<Enumeration, AuditError> {
        let domain = TextDomain::from_sources(self.only(names, rows))?;
        let network = self.of_rows(&domain, rows)?;
        let rows = domain.rows();
        let rows = Rows::new(&rows, domain.width());
        Ok(enumerate(&network, &domain, rows, most)?)
    }

    fn changed(&self, names: &[String], row: u32, variant: u32) -> Result<String, AuditError> {
        let domain = TextDomain::from_sources(self.only(names, &[row]))?;
        let exchange = domain.exchange(&domain.row(0), variant as usize);
        let change = exchange.map(|(site, exchange)| Change {
            attribute: self.protected.attributes()[site.attribute].clone(),
            from: site.from.clone(),
            to: exchange.to.clone(),
        });
        Ok(change.unwrap_or_default().to_string())
    }
}

/// The boxes of `text`, which the exchanges turn into the `stretches`; `reads` tokens are read of
/// it, after an exchange as before.
pub fn boxes<'a>(text: &'a Source, stretches: &'a [Stretch], reads: usize) -> Vec<Substituted<'a>> {
    let boxed = stretches.iter().filter_map(|stretch| {
        let (before, rest) = text.ids.split_at(stretch.tokens.start);
        let left = reads.checked_sub(before.len()).filter(|&left| left > 0)?;
        let by = stretch.by.iter();
        let by: Vec<&[i32]> = by.map(|tokens| &tokens[..tokens.len().min(left)]).collect();
        let length = by.first().map_or(0, |tokens| tokens.len());
        let after = &rest[stretch.tokens.len()..];
        let after = &after[..after.len().min(left - length)];
        Some(Substituted { before, by, after })
    });
    boxed.collect()
}

/// Certifies `texts`, whose tokens are below the number of embeddings, with at most `splits` splits
/// a text, where `decision` is the rule that turns the answers of the network into decisions. It
/// reads the first `reads` tokens of a text; of a longer one, [`Source::window`] has to be given.
pub fn certify_texts(
    (weights, table, reads): (&RecurrentWeights, EmbeddingTable<'_>, usize),
    decision: &Decision,
    texts: &[Source],
    splits: u32,
) -> Vec<Certificate> {
    let classes = weights.shape.classes;
    let read = |text: &Source| text.ids.len().min(reads);
    let tokens: Vec<&[i32]> = texts.iter().map(|text| &text.ids[..read(text)]).collect();
    let stretches: Vec<Vec<Stretch>> = texts.iter().map(Source::stretches).collect();
    let logits = Kernels::new(weights).logits(table, &tokens);
    let logits: Vec<&[f32]> = logits.chunks_exact(classes).collect();
    let decided = logits.iter().map(|logits| decision.decide(&[], logits));
    let decided: Vec<u32> = decided.collect();
    let kernels = IntervalKernels::new(weights);
    let mut kept = vec![true; texts.len()];
    let mut done = vec![0u32; texts.len()];
    let mut open: Vec<Open<'_>> = texts
        .iter()
        .zip(&stretches)
        .enumerate()
        .flat_map(|(text, (source, stretches))| {
            let boxes = boxes(source, stretches, reads).into_iter();
            boxes.map(move |what| Open { text, what })
        })
        .collect();
    while !open.is_empty() {
        let mut next = Vec::new();
        for block in open.chunks(BLOCK) {
            let leading = block.iter().flat_map(|open| {
                let leading = decision.leading(decided[open.text], classes).into_iter();
                leading.map(|label| (open.what.clone(), label))
            });
            let bounds = kernels.lead_bounds(table, &leading.collect::<Vec<_>>());
            let mut bounds = bounds.chunks_exact(classes);
            for open in block {
                let text = open.text;
                let leading = decision.leading(decided[text], classes).len();
                let leads: Vec<&[f64]> = bounds.by_ref().take(leading).collect();
                let is_kept = decision.is_kept(decided[text], logits[text], &leads);
                if is_kept || !kept[text] {
                    continue;
                }
                if open.what.by.len() < 2 || done[text] >= splits {
                    kept[text] = false;
                    continue;
                }
                done[text] += 1;
                let parts = kernels.split(table, &open.what);
                next.extend(parts.map(|what| Open { text, what }));
            }
        }
        next.retain(|open| kept[open.text]);
        open = next;
    }
    kept.into_iter()
        .zip(done)
        .map(|(kept, done)| Certificate::from_splits(kept, done))
        .collect()
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::certify::enumerate::Tried;
    use crate::text::terms::{Term, Terms};
    use probity_nn::Rows;
    use probity_nn::recurrent::network::{CellKind, Shape};
    use probity_nn::text::TextNetwork;
    use probity_run::stream::{Purpose, stream};
    use probity_tensor::device::ComputeDevice;

    /// Terms of tokens 0 to 11, and three of two tokens.
    fn terms() -> Terms {
        let count = 15;
        let term = |number: u32| Term {
            attribute: 0,
            value: number,
            spelled: number.to_string(),
            tokens: if number < 12 {
                vec![number as i32]
            } else {
                vec![number as i32, 11]
            },
            others: (0..count).filter(|&other| other != number).collect(),
        };
        Terms::new((0..count).map(term).collect())
    }

    #[test]
    fn certified_texts_are_fair_and_full_splitting_finds_all_fair_texts() {
        let terms = terms();
        let (mut one_box, mut split, mut unfair) = (0, 0, 0);
        for number in 0..60u64 {
            let mut draw = stream(number, Purpose::UniformInput, 5, 0);
            let shape = Shape {
                cell: [CellKind::Lstm, CellKind::Gru][number as usize % 2],
                inputs: 6,
                units: 5,
                layers: 1 + number as usize % 3,
                bidirectional: number % 5 == 0,
                classes: 2,
            };
            let mut weights = RecurrentWeights::random(shape, number);
            let scale = [1.0, 2.0, 6.0][number as usize % 3];
            weights.values.iter_mut().for_each(|value| *value *= scale);
            let embeddings: Vec<f32> = (0..40 * 6).map(|_| draw.random_range(-1.0..1.0)).collect();
            let texts: Vec<Vec<i32>> = (0..40)
                .map(|_| {
                    let length = draw.random_range(1..14);
                    let mut text: Vec<i32> =
                        (0..length).map(|_| draw.random_range(12..40)).collect();
                    for _ in 0..2 {
                        let place = draw.random_range(0..text.len());
                        text[place] = draw.random_range(0..11);
                    }
                    text
                })
                .collect();
            let network =
                TextNetwork::new(weights, embeddings, 16, &ComputeDevice::flex()).unwrap();
            // Half of the networks read all of a text, the others cut most texts.
            let reads = [16, 1 + number as usize % 9][number as usize / 2 % 2];
            let network = network.reading(reads);
            let texts = texts.into_iter();
            let texts = texts.map(|text| Source::new(text.clone(), terms.sites(&text), Vec::new()));
            let texts: Vec<Source> = texts.collect();
            let domain = TextDomain::from_sources(texts.clone()).unwrap();
            let (weights, table) = (network.weights().clone(), network.table());
            let windows: Vec<Source> = texts.iter().map(|text| text.window(reads)).collect();
            let certify = |splits| {
                let network = (&weights, table, reads);
                certify_texts(network, &Decision::Largest, &windows, splits)
            };
            let (few, all) = (certify(0), certify(1000));
            let rows = domain.rows();
            let rows = Rows::new(&rows, domain.width());
            let tried = enumerate(&SourcedNetwork::new(network), &domain, rows, None).unwrap();
            let fair = tried.tried.iter().map(|&tried| tried == Tried::Fair);
            for ((fair, few), all) in fair.zip(few).zip(all) {
                assert!(fair || !all.holds(), "a false certificate");
                assert!(!few.holds() || all == Certificate::OneBox);
                assert_eq!(fair, all.holds());
                one_box += usize::from(few.holds());
                split += usize::from(all == Certificate::Split);
                unfair += usize::from(!fair);
            }
        }
        assert!(
            one_box > 300 && split > 100 && unfair > 100,
            "{one_box} {split} {unfair}"
        );
    }
}
