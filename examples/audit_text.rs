//! Audits a network of texts: trains one on generated comments whose bias is known, and shows the
//! comments that it judges differently when another country is named.
//!
//! ```text
//! cargo run --release --example audit_text
//! ```

use std::error::Error;
use std::ops::ControlFlow;
use std::path::Path;

use probity::nn::train::options::TextOptions;
use probity::nn::train::text::train_text;
use probity::nn::train::text_set::TextSet;
use probity::tensor::device::ComputeDevice;
use probity::text::comments::CommentGenerator;
use probity::text::corpus::TextCorpus;
use probity::text::embeddings::{SHIPPED, shipped};
use probity::{Audit, TextModel};

const COMMENTS: u64 = 4_000;

fn main() -> Result<(), Box<dyn Error>> {
    let generator = CommentGenerator::new(1);
    let comments = (0..COMMENTS).map(|item| generator.comment(item));
    let (texts, labels): (Vec<String>, Vec<u32>) = comments
        .map(|comment| (comment.text, u32::from(comment.toxic)))
        .unzip();
    // Or TextModel::load("models/comments").
    let model = trained(&texts, labels)?;

    let audit = Audit::new(&model, &texts)
        .protected(["country"])
        .seeds(100)
        .local(20)
        .run()?;
    println!("Of the texts with a protected term: {}", audit.share());
    for pair in audit.pairs().take(5) {
        println!("{}\n{}", pair.left(), pair.right());
        for change in pair.changed() {
            println!("    {change}");
        }
    }
    Ok(())
}

/// A network of one layer over the words of `texts`.
fn trained(texts: &[String], labels: Vec<u32>) -> Result<TextModel, Box<dyn Error>> {
    let corpus = TextCorpus {
        texts: texts.to_vec(),
        labels,
        classes: vec!["fine".to_owned(), "toxic".to_owned()],
        ..TextCorpus::default()
    };
    let set = TextSet::new(corpus, &shipped()?, Path::new(SHIPPED), 0)?;
    let mut options = TextOptions::default();
    options.network.layers = 1;
    options.network.train_embeddings = true;
    let split = options.split(texts.len());
    let trained = train_text(
        set.labelled(),
        set.table(),
        &split,
        &options,
        &ComputeDevice::flex(),
        None,
        &mut |_, _| ControlFlow::Continue(()),
    )?;
    Ok(set.model(&trained, &split.train, options.network.max_length)?)
}
