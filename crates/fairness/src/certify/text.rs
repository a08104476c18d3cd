//! Certificates for texts, by the definition of the audit: one protected term is replaced at a
//! time.
//!
//! Replacements of one term that have equally many tokens are one box; a text is certified when the
//! boxes of all of its terms keep its class. A model cuts texts at its length, also those that a
//! replacement made longer or shorter: a box is what it then reads. A term counts where its first
//! token is read. (Certifying that all terms may change *together* would
//! prove more than the audit asks, of fewer texts.)

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use rayon::prelude::*;

use super::run::{Certifiable, CertifySpecification};
use super::{Certificate, exhaustive, keeps};
use crate::audit_error::AuditError;
use crate::opened::{open_terms, open_text_model, open_texts};
use crate::text::domain::{Occurrence, Terms, TextDomain};
use crate::text::protected::ProtectedTerms;
use probity_data::table::ReadCounts;
use probity_nn::alike::DecidedAlike;
use probity_nn::interval::recurrent::{IntervalKernels, Substituted};
use probity_nn::modality::ModalityName;
use probity_nn::recurrent::kernels::{EmbeddingTable, Kernels};
use probity_nn::recurrent::network::RecurrentWeights;
use probity_nn::text::{PADDING, TextNetwork};
use probity_nn::text_model::TextModel;
use probity_nn::{Rows, predicted_class};
use probity_tensor::device::ComputeDevice;

/// Boxes that are bounded at a time.
const BLOCK: usize = 4096;

/// A box of a text.
struct Open<'a> {
    text: usize,
    what: Substituted<'a>,
}

/// A network of texts, its protected terms, and texts.
pub struct CertifiableTexts {
    model: TextModel,
    protected: ProtectedTerms,
    file: PathBuf,
    /// As many tokens of each text as may be read.
    texts: Vec<Vec<i32>>,
    sha256: BTreeMap<String, String>,
}

impl CertifiableTexts {
    /// The tokens of the texts `rows`.
    fn tokens(&self, rows: &[u32]) -> Vec<Vec<i32>> {
        let texts = rows.iter().map(|&row| &self.texts[row as usize]);
        texts.cloned().collect()
    }

    /// The network, for texts into which protected terms are put.
    fn network(&self) -> Result<TextNetwork, AuditError> {
        Ok(self.model.network(self.width(), &ComputeDevice::flex())?)
    }

    fn width(&self) -> usize {
        self.protected.terms().room(self.model.max_length)
    }
}

impl Certifiable for CertifiableTexts {
    const NAME: ModalityName = ModalityName::Text;

    fn open(specification: &CertifySpecification) -> Result<CertifiableTexts, AuditError> {
        let model = open_text_model(&specification.model)?;
        let text = &specification.text;
        let named = &specification.protected;
        let protected = open_terms(text.lexicon.as_deref(), named, &model.value)?;
        let corpus = open_texts(&specification.data, text.column.as_deref())?;
        let texts = corpus.value.texts.par_iter();
        let (terms, reads) = (protected.value.terms(), model.value.max_length);
        let texts = texts.map(|text| {
            let tokens = model.value.tokens(text)?;
            Ok(terms.window(&tokens, reads).to_vec())
        });
        let texts: Vec<Vec<i32>> = texts.collect::<Result<_, AuditError>>()?;
        let hashes = [
            ("model", model.sha256),
            ("lexicon", protected.sha256),
            ("data", corpus.sha256),
        ];
        Ok(CertifiableTexts {
            texts,
            model: model.value,
            protected: protected.value,
            file: specification.data.clone(),
            sha256: hashes.map(|(role, hash)| (role.to_owned(), hash)).into(),
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

    fn counts(&self) -> Option<&ReadCounts> {
        None
    }

    fn decides_alike(&self, rows: &[u32]) -> Result<Option<DecidedAlike>, AuditError> {
        let (width, network) = (self.width(), self.network()?);
        let row = |mut text: Vec<i32>| {
            text.resize(width, PADDING);
            text
        };
        let codes: Vec<i32> = self.tokens(rows).into_iter().flat_map(row).collect();
        let rows = Rows::new(&codes, width);
        Ok(DecidedAlike::of(&network, &self.model.classes, rows)?)
    }

    fn varying(&self, names: &[String], rows: &[u32]) -> Result<Vec<u32>, AuditError> {
        let terms = self.protected.only(names);
        let reads = self.model.max_length;
        let can_vary = |row: &u32| terms.can_vary_within(&self.texts[*row as usize], reads);
        let varying: Vec<u32> = rows.iter().copied().filter(can_vary).collect();
        if varying.is_empty() {
            return Err(AuditError::NoProtectedTerm {
                file: self.file.clone(),
                texts: rows.len(),
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
        let terms = self.protected.only(names);
        let (network, texts) = (self.network()?, self.tokens(rows));
        let (weights, table, reads) = (network.weights(), network.table(), network.reads());
        Ok(certify_texts(weights, table, reads, &terms, &texts, splits))
    }

    fn fair(&self, names: &[String], rows: &[u32]) -> Result<Vec<bool>, AuditError> {
        let terms = self.protected.only(names);
        let (network, width) = (self.network()?, self.width());
        let domain = TextDomain::new(width, Arc::new(terms), Arc::default())?;
        let texts = self.tokens(rows);
        let codes: Vec<i32> = texts.iter().flat_map(|text| domain.row(text)).collect();
        Ok(exhaustive(&network, &domain, Rows::new(&codes, width))?)
    }
}

/// The terms that may stand in the place of an occurrence, by number of tokens.
pub fn replacements<'a>(terms: &'a Terms, occurrence: &Occurrence) -> Vec<Vec<&'a [i32]>> {
    let mut groups: BTreeMap<usize, Vec<&[i32]>> = BTreeMap::new();
    for &other in &terms.all()[occurrence.term as usize].others {
        let tokens = &terms.all()[other as usize].tokens[..];
        groups.entry(tokens.len()).or_default().push(tokens);
    }
    groups.into_values().collect()
}

/// The boxes of a text of which `reads` tokens are read, after a replacement as before: for each
/// protected term that begins among them and each number of tokens that may replace it.
pub fn boxes<'a>(terms: &'a Terms, text: &'a [i32], reads: usize) -> Vec<Substituted<'a>> {
    let mut boxes = Vec::new();
    for occurrence in terms.find(text) {
        let (before, rest) = text.split_at(occurrence.start);
        let left = reads.saturating_sub(before.len());
        if left == 0 {
            break;
        }
        let after = &rest[occurrence.length..];
        for mut by in replacements(terms, &occurrence) {
            by.iter_mut()
                .for_each(|tokens| *tokens = &tokens[..tokens.len().min(left)]);
            let length = by.first().map_or(0, |tokens| tokens.len());
            let after = &after[..after.len().min(left - length)];
            boxes.push(Substituted { before, by, after });
        }
    }
    boxes
}

/// Certifies `texts`, whose tokens are below the number of embeddings, with at most `splits` splits
/// a text. The network reads the first `reads` tokens of a text; of a longer one,
/// [`Terms::window`] has to be given.
pub fn certify_texts(
    weights: &RecurrentWeights,
    table: EmbeddingTable<'_>,
    reads: usize,
    terms: &Terms,
    texts: &[Vec<i32>],
    splits: u32,
) -> Vec<Certificate> {
    let read = |text: &'_ Vec<i32>| text.len().min(reads);
    let tokens: Vec<&[i32]> = texts.iter().map(|text| &text[..read(text)]).collect();
    let logits = Kernels::new(weights).logits(table, &tokens);
    let labels: Vec<u32> = logits
        .chunks_exact(weights.shape.classes)
        .map(predicted_class)
        .collect();
    let kernels = IntervalKernels::new(weights);
    let mut kept = vec![true; texts.len()];
    let mut done = vec![0u32; texts.len()];
    let mut open: Vec<Open<'_>> = texts
        .iter()
        .enumerate()
        .flat_map(|(text, tokens)| {
            let boxes = boxes(terms, tokens, reads).into_iter();
            boxes.map(move |what| Open { text, what })
        })
        .collect();
    while !open.is_empty() {
        let mut next = Vec::new();
        for block in open.chunks(BLOCK) {
            let items: Vec<_> = block
                .iter()
                .map(|open| (open.what.clone(), labels[open.text]))
                .collect();
            let bounds = kernels.lead_bounds(table, &items);
            for (open, leads) in block.iter().zip(bounds.chunks_exact(weights.shape.classes)) {
                let text = open.text;
                if keeps(leads) || !kept[text] {
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
        .map(|(kept, done)| Certificate::of(kept, done))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rand::RngExt;

    use super::super::exhaustive;
    use super::*;
    use crate::text::domain::{Term, TextDomain};
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
            value: number.to_string(),
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
            let domain = TextDomain::new(16, Arc::new(terms.clone()), Arc::default()).unwrap();
            let codes: Vec<i32> = texts.iter().flat_map(|text| domain.row(text)).collect();
            let fair = exhaustive(&network, &domain, Rows::new(&codes, 16)).unwrap();
            let windows: Vec<Vec<i32>> = texts
                .iter()
                .map(|text| terms.window(text, reads).to_vec())
                .collect();
            let (weights, table) = (network.weights(), network.table());
            let certify = |splits| certify_texts(weights, table, reads, &terms, &windows, splits);
            let (few, all) = (certify(0), certify(1000));
            for ((&fair, few), all) in fair.iter().zip(few).zip(all) {
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
