//! How fast texts are checked: with and without shared prefixes, and with the replacements in the
//! order of the lexicon or by their influence on the model.
//!
//! A network of 3 × 10 units is trained on generated comments with the shipped vectors; then the
//! comments with a country in them are checked until the first flip. The four ways take turns; the
//! fastest round of each counts.
//!
//! ```text
//! cargo bench --bench text_checks
//! ```

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use probity::fairness::check::{check_all, check_until_flip};
use probity::fairness::domain::Domain;
use probity::fairness::text::domain::{Terms, TextDomain};
use probity::fairness::text::protected::ProtectedTerms;
use probity::nn::recurrent::kernels::Kernels;
use probity::nn::recurrent::network::CellKind;
use probity::nn::text::{TextNetwork, without_padding};
use probity::nn::text_model::TextModel;
use probity::nn::train::options::TextOptions;
use probity::nn::train::text::train_text;
use probity::nn::train::text_set::TextSet;
use probity::nn::{Classifier, ModelError, Rows};
use probity::tensor::device::ComputeDevice;
use probity::text::comments::CommentGenerator;
use probity::text::corpus::TextCorpus;
use probity::text::embeddings::shipped;
use probity::text::lexicon::Lexicon;
use rayon::prelude::*;

const COMMENTS: u64 = 6000;
const ROUNDS: usize = 5;
/// Texts that one thread checks at a time.
const CHUNK: usize = 64;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    for cell in [CellKind::Lstm, CellKind::Gru] {
        let (model, texts) = trained(cell)?;
        let names = vec!["country".to_owned()];
        let protected = ProtectedTerms::new(&Lexicon::shipped(), &names, &model)?;
        let texts: Vec<Vec<i32>> = texts.into_iter().filter(|t| protected.is_in(t)).collect();
        let width = model.max_length + protected.terms().growth();
        let network = model.network(width, &ComputeDevice::flex())?;
        let plain = domain(width, protected.terms().clone(), &texts)?;
        let ranked = domain(width, ranked_terms(&network, &plain, &texts)?, &texts)?;
        let whole = WholeTexts {
            kernels: Kernels::new(&model.recurrent),
            network: &network,
        };
        let ways: [(&str, &dyn Classifier, &TextDomain); 4] = [
            ("whole texts, lexicon order", &whole, &plain),
            ("whole texts, by influence", &whole, &ranked),
            ("shared prefixes, lexicon order", &network, &plain),
            ("shared prefixes, by influence", &network, &ranked),
        ];
        let mut best = [f64::INFINITY; 4];
        let mut flipped = [0; 4];
        for _ in 0..ROUNDS {
            for (way, (_, model, domain)) in ways.iter().enumerate() {
                let started = Instant::now();
                flipped[way] = check(*model, domain, &texts)?;
                best[way] = best[way].min(started.elapsed().as_secs_f64());
            }
        }
        assert!(
            flipped.iter().all(|&count| count == flipped[0]),
            "{flipped:?}"
        );
        println!(
            "{cell:?}: {} texts, {} discriminatory",
            texts.len(),
            flipped[0]
        );
        for ((name, ..), seconds) in ways.iter().zip(best) {
            println!("  {name:32} {:9.0} checks/s", texts.len() as f64 / seconds);
        }
    }
    Ok(())
}

/// The network without shared prefixes.
struct WholeTexts<'a> {
    kernels: Kernels,
    network: &'a TextNetwork,
}

impl Classifier for WholeTexts<'_> {
    fn width(&self) -> usize {
        self.network.width()
    }

    fn classes(&self) -> usize {
        self.network.classes()
    }

    fn logits(&self, rows: Rows<'_>) -> Result<Vec<f32>, ModelError> {
        let texts: Vec<&[i32]> = rows.iter().map(without_padding).collect();
        Ok(self.kernels.logits(self.network.table(), &texts))
    }
}

/// A network for generated comments, and the comments as tokens.
fn trained(cell: CellKind) -> Result<(TextModel, Vec<Vec<i32>>), Failure> {
    let generator = CommentGenerator::new(1);
    let comments = (0..COMMENTS).map(|item| generator.comment(item));
    let (texts, labels) = comments.map(|c| (c.text, u32::from(c.toxic))).unzip();
    let corpus = TextCorpus {
        texts,
        labels,
        classes: vec!["0".to_owned(), "1".to_owned()],
    };
    let set = TextSet::new(corpus, &shipped()?, Path::new("shipped"), usize::MAX)?;
    let mut options = TextOptions::default();
    options.network.cell = cell;
    let split = options.split(COMMENTS as usize);
    let trained = train_text(
        set.labelled(),
        set.table(),
        &split,
        &options,
        None,
        &mut |_, _| ControlFlow::Continue(()),
    )?;
    let model = set.model(&trained, &split.train, options.network.max_length)?;
    Ok((model, set.labelled().texts.to_vec()))
}

fn domain(width: usize, terms: Terms, texts: &[Vec<i32>]) -> Result<TextDomain, Failure> {
    Ok(TextDomain::new(
        width,
        Arc::new(terms),
        Arc::new(texts.to_vec()),
    )?)
}

/// The terms by how often they flip 64 of the texts.
fn ranked_terms(
    model: &dyn Classifier,
    domain: &TextDomain,
    texts: &[Vec<i32>],
) -> Result<Terms, Failure> {
    let codes: Vec<i32> = texts
        .iter()
        .take(64)
        .flat_map(|text| domain.row(text))
        .collect();
    let rows = Rows::new(&codes, domain.width());
    let mut flips: HashMap<u32, f32> = HashMap::new();
    for (row, check) in rows.iter().zip(check_all(model, domain, rows)?) {
        for flip in &check.checked.flips {
            if let Some(replacement) = domain.replacement(row, flip.variant as usize) {
                *flips.entry(replacement.by).or_default() += 1.0;
            }
        }
    }
    let mut terms = domain.terms().clone();
    let influence: Vec<f32> = (0..terms.all().len() as u32)
        .map(|term| flips.get(&term).copied().unwrap_or_default())
        .collect();
    terms.rank(&influence);
    Ok(terms)
}

/// Checks all texts until their first flip; how many have one.
fn check(
    model: &dyn Classifier,
    domain: &TextDomain,
    texts: &[Vec<i32>],
) -> Result<usize, Failure> {
    let counts: Vec<usize> = texts
        .par_chunks(CHUNK)
        .map(|texts| {
            let codes: Vec<i32> = texts.iter().flat_map(|text| domain.row(text)).collect();
            let hints = vec![0; texts.len()];
            let rows = Rows::new(&codes, domain.width());
            let checks =
                check_until_flip(model, domain, rows, &hints).map_err(|error| error.to_string())?;
            Ok(checks
                .iter()
                .filter(|check| !check.flips.is_empty())
                .count())
        })
        .collect::<Result<_, String>>()?;
    Ok(counts.iter().sum())
}
