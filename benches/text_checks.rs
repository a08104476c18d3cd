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

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use probity::fairness::check::{Wanted, check_all, check_until_flip};
use probity::fairness::domain::Domain;
use probity::fairness::text::domain::{TextDomain, text_of};
use probity::fairness::text::edits::Tokens;
use probity::fairness::text::network::SourcedNetwork;
use probity::fairness::text::preset::Preset;
use probity::fairness::text::protected::Protected;
use probity::fairness::text::source::Source;
use probity::nn::recurrent::kernels::Kernels;
use probity::nn::recurrent::network::CellKind;
use probity::nn::text::TextNetwork;
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
        let protected =
            Protected::new(&Lexicon::shipped(), &names, &model.reader, Preset::English)?;
        let tokens = Tokens::new(&model.reader);
        let mut sources = Vec::new();
        for text in &texts {
            let source = protected.read(&tokens, &model.reader.encode(text)?)?.source;
            sources.extend(Some(source).filter(Source::can_vary));
        }
        let plain = TextDomain::from_sources(sources.clone())?;
        let network = model.network(plain.tokens(), &ComputeDevice::flex())?;
        let shared = SourcedNetwork::new(model.network(plain.tokens(), &ComputeDevice::flex())?);
        let flips = flips(&shared, &plain, protected.numbers())?;
        sources.iter_mut().for_each(|source| source.rank(&flips));
        let ranked = TextDomain::from_sources(sources)?;
        let whole = WholeTexts {
            kernels: Kernels::new(&model.recurrent),
            network: &network,
        };
        let ways: [(&str, &dyn Classifier, &TextDomain); 4] = [
            ("whole texts, lexicon order", &whole, &plain),
            ("whole texts, by influence", &whole, &ranked),
            ("shared prefixes, lexicon order", &shared, &plain),
            ("shared prefixes, by influence", &shared, &ranked),
        ];
        let mut best = [f64::INFINITY; 4];
        let mut flipped = [0; 4];
        for _ in 0..ROUNDS {
            for (way, (_, model, domain)) in ways.iter().enumerate() {
                let started = Instant::now();
                flipped[way] = check(*model, domain)?;
                best[way] = best[way].min(started.elapsed().as_secs_f64());
            }
        }
        assert!(
            flipped.iter().all(|&count| count == flipped[0]),
            "{flipped:?}"
        );
        println!(
            "{cell:?}: {} texts, {} discriminatory",
            plain.inputs().len(),
            flipped[0]
        );
        for ((name, ..), seconds) in ways.iter().zip(best) {
            println!(
                "  {name:32} {:9.0} checks/s",
                plain.inputs().len() as f64 / seconds
            );
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
        1 + self.network.width()
    }

    fn classes(&self) -> usize {
        self.network.classes()
    }

    fn logits(&self, rows: Rows<'_>) -> Result<Vec<f32>, ModelError> {
        let texts: Vec<&[i32]> = rows.iter().map(text_of).collect();
        Ok(self.kernels.logits(self.network.table(), &texts))
    }
}

/// A network for generated comments, and the comments.
fn trained(cell: CellKind) -> Result<(TextModel, Vec<String>), Failure> {
    let generator = CommentGenerator::new(1);
    let comments = (0..COMMENTS).map(|item| generator.comment(item));
    let (texts, labels): (Vec<String>, Vec<u32>) =
        comments.map(|c| (c.text, u32::from(c.toxic))).unzip();
    let corpus = TextCorpus {
        texts: texts.clone(),
        labels,
        classes: vec!["0".to_owned(), "1".to_owned()],
        ..TextCorpus::default()
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
        &ComputeDevice::flex(),
        None,
        &mut |_, _| ControlFlow::Continue(()),
    )?;
    let model = set.model(&trained, &split.train, options.network.max_length)?;
    Ok((model, texts))
}

/// How often what is put into 64 of the texts flips them, by its number.
fn flips(model: &dyn Classifier, domain: &TextDomain, numbers: usize) -> Result<Vec<f32>, Failure> {
    let texts = domain.inputs().iter().take(64);
    let codes: Vec<i32> = texts.flat_map(|&text| domain.row(text)).collect();
    let rows = Rows::new(&codes, domain.width());
    let mut flips = vec![0.0; numbers];
    for (row, check) in rows.iter().zip(check_all(model, domain, rows)?) {
        for flip in &check.checked.flips {
            if let Some((_, exchange)) = domain.exchange(row, flip.variant as usize) {
                flips[exchange.number as usize] += 1.0;
            }
        }
    }
    Ok(flips)
}

/// Checks all texts until their first flip; how many have one.
fn check(model: &dyn Classifier, domain: &TextDomain) -> Result<usize, Failure> {
    let counts: Vec<usize> = domain
        .inputs()
        .par_chunks(CHUNK)
        .map(|texts| {
            let codes: Vec<i32> = texts.iter().flat_map(|&text| domain.row(text)).collect();
            let hints = vec![0; texts.len()];
            let rows = Rows::new(&codes, domain.width());
            let checks = check_until_flip(model, domain, rows, &hints, Wanted::Logits)
                .map_err(|error| error.to_string())?;
            Ok(checks
                .iter()
                .filter(|check| !check.flips.is_empty())
                .count())
        })
        .collect::<Result<_, String>>()?;
    Ok(counts.iter().sum())
}
