//! Texts: corpora, word vectors and their cache, lexica.

use std::path::Path;

use probity_data::source::DataFile;
use probity_text::corpus::{TextColumns, read_texts};
use probity_text::embeddings::{Cache, EmbeddingTable, LoadOptions};
use probity_text::lexicon::Lexicon;
use probity_text::ngrams::NgramModel;
use probity_text::tokenizer::{ForeignTokenizer, Tokenizer};
use xxhash_rust::xxh3::xxh3_64;

use super::fixtures::{Make, comments, vectors};
use super::seals::seal;
use crate::target::{Execution, Input, Seen, Target, read};

pub const ALL: &[(&str, Make)] = &[
    ("corpus", corpus),
    ("lines", lines),
    ("embeddings", embeddings),
    ("embeddings-cache", cache),
    ("lexicon", lexicon),
    ("ngrams", ngrams),
    ("tokenizer", tokenizer),
];

fn corpus(_: &Path) -> anyhow::Result<Target> {
    let (texts, labels) = comments(6);
    let rows = texts.iter().zip(labels);
    let rows = rows.map(|(text, label)| format!("\"{}\",{label}\n", text.replace('"', "\"\"")));
    let whole = format!("text,toxic\n{}", rows.collect::<String>());
    let seeds = vec![
        Input::one("texts.csv", whole),
        Input::one("texts.csv", "toxic,text\nyes,a b\nno,\"c\nd\"\n"),
    ];
    let check = |execution: &Execution<'_>| {
        let columns = TextColumns {
            text: Some("text".to_owned()),
            label: Some("toxic".to_owned()),
            label_threshold: None,
            skip_bad_rows: execution.bytes().len() % 2 == 1,
            classes: Vec::new(),
        };
        let Ok(corpus) = read_texts(&execution.file(), &columns) else {
            return Ok(Seen::Refused);
        };
        let known = corpus.classes.len();
        let fits = corpus.texts.len() == corpus.labels.len()
            && corpus.labels.iter().all(|&label| (label as usize) < known);
        match fits {
            true => Ok(Seen::Accepted),
            false => Err("texts, labels and classes do not fit".to_owned()),
        }
    };
    Ok(Target::new("corpus", seeds, check).words(&["text", "toxic"]))
}

fn lines(_: &Path) -> anyhow::Result<Target> {
    let seeds = vec![Input::one("texts.txt", comments(6).0.join("\n"))];
    let splitter = Tokenizer::without_vocabulary()?;
    let check = move |execution: &Execution<'_>| {
        let Ok(corpus) = read_texts(&execution.file(), &TextColumns::default()) else {
            return Ok(Seen::Refused);
        };
        for text in &corpus.texts {
            let tokens = splitter.tokens(text).map_err(|error| error.to_string())?;
            if tokens
                .iter()
                .any(|token| text.get(token.bytes.clone()).is_none())
            {
                return Err("a token is not a part of its text".to_owned());
            }
        }
        Ok(Seen::Accepted)
    };
    Ok(Target::new("lines", seeds, check))
}

/// A target that reads word vectors: vectors that were read can be written in the same format, and
/// read again as the same.
fn embeddings(_: &Path) -> anyhow::Result<Target> {
    let own = vectors(&comments(3).0);
    let words = own.split(|&byte| byte == b'\n').count() - 1;
    let mut headed = format!("{words} 3\n").into_bytes();
    headed.extend(&own);
    let tabs = String::from_utf8_lossy(&own).replace(' ', "\t");
    let seeds = vec![
        Input::one("vectors.txt", own),
        Input::one("vectors.txt", headed),
        Input::one("vectors.txt", tabs),
    ];
    let check = |execution: &Execution<'_>| {
        let Ok(table) = EmbeddingTable::load(&execution.file(), &LoadOptions::default()) else {
            return Ok(Seen::Refused);
        };
        let rows = (table.words().len() + 1) * table.width();
        match table.vectors().len() == rows && table.vectors().iter().all(|x| !x.is_nan()) {
            true => Ok(Seen::Accepted),
            false => Err("it has not a vector of numbers for each word".to_owned()),
        }
    };
    // A number is two bytes of text at least; blocks of lines are read at a time.
    Ok(Target::new("embeddings", seeds, check).words(&["1000000000000", "5 3\n", " ", "\u{a0}"]))
}

const TEXT: &str = "vectors.txt";
const COPY: &str = "copy";

/// A target that reads the copy of word vectors in the cache. A damaged copy is never read; one
/// whose checksum was computed again is read as something or not at all.
fn cache(folder: &Path) -> anyhow::Result<Target> {
    let text = vectors(&comments(1).0);
    let file = folder.join(TEXT);
    std::fs::write(&file, &text)?;
    let cache = Cache::new(folder.join("cache")).smallest(0);
    let options = LoadOptions {
        width: None,
        cache: Some(cache),
    };
    let original = EmbeddingTable::load(&file, &options)?;
    let sha256 = DataFile::open(&file)?.sha256()?;
    let copy = std::fs::read(folder.join("cache").join(format!("{sha256}.vectors")))?;
    let seeds = vec![Input::one(COPY, copy)];
    let check = move |execution: &Execution<'_>| {
        let file = execution.folder.join(TEXT);
        std::fs::write(&file, &text).map_err(|error| error.to_string())?;
        let place = execution.folder.join(format!("{sha256}.vectors"));
        std::fs::rename(execution.file(), place).map_err(|error| error.to_string())?;
        let options = LoadOptions {
            width: None,
            cache: Some(Cache::new(execution.folder).smallest(0)),
        };
        match EmbeddingTable::load(&file, &options) {
            Ok(table) if table == original => Ok(Seen::Accepted),
            Ok(_) if execution.is_sealed => Ok(Seen::Accepted),
            Ok(_) => Err("a damaged copy was read".to_owned()),
            Err(error) => Err(format!("a damaged copy is an error: {error}")),
        }
    };
    Ok(Target::new("embeddings-cache", seeds, check).sealed_by(seal_copy))
}

fn seal_copy(input: &mut Input) {
    for (_, bytes) in &mut input.files {
        if let Some((body, checksum)) = bytes.split_last_chunk_mut::<8>() {
            *checksum = xxh3_64(body).to_le_bytes();
        }
    }
}

/// A target that reads a lexicon: a lexicon that was read can be written, and read again as the
/// same.
fn lexicon(_: &Path) -> anyhow::Result<Target> {
    let small = "[[attribute]]\nname = \"country\"\nvalues = [[\"norway\", \"norwegian\"], \
                 [\"chile\", \"chilean\"]]\n\n[[attribute]]\nname = \"gender\"\n\
                 terms = [\"he\", \"she\"]\n";
    let shipped = Lexicon::shipped();
    let mut seeds = vec![Input::one("lexicon.toml", small)];
    for attribute in shipped.attributes().iter().take(2) {
        let one = Lexicon::from_attribute(attribute.clone());
        seeds.push(Input::one("lexicon.toml", one.to_toml()?));
    }
    let check = |execution: &Execution<'_>| {
        let Ok(lexicon) = Lexicon::load(&execution.file()) else {
            return Ok(Seen::Refused);
        };
        let text = lexicon.to_toml().map_err(|error| error.to_string())?;
        match Lexicon::from_toml(&text) {
            Ok(again) if again == lexicon => Ok(Seen::Accepted),
            Ok(_) => Err("it is another lexicon once written".to_owned()),
            Err(error) => Err(format!("it is refused once written: {error}")),
        }
    };
    let words = &["attribute", "values", "terms", "name", "rows", "forms"];
    Ok(Target::new("lexicon", seeds, check).words(words))
}

/// A target that reads an n-gram model: a model that was read can be asked, and is written as it
/// was.
fn ngrams(_: &Path) -> anyhow::Result<Target> {
    let texts = comments(6).0;
    let mut seeds = Vec::new();
    for min_count in [1, 2] {
        let texts = texts.iter().map(|text| text.split(' '));
        let mut bytes = Vec::new();
        NgramModel::fit(texts, min_count)?.write(&mut bytes)?;
        seeds.push(Input::one("model.ngrams", bytes));
    }
    let check = |execution: &Execution<'_>| {
        let Ok(model) = NgramModel::read(&execution.file()) else {
            return Ok(Seen::Refused);
        };
        let words: Vec<&str> = model.words().iter().take(5).collect();
        let score = model.score(&words);
        if !score.is_finite() {
            return Err("a text is impossible".to_owned());
        }
        let mut bytes = Vec::new();
        let written = model.write(&mut bytes);
        written.map_err(|error| error.to_string())?;
        match bytes == execution.bytes() {
            true => Ok(Seen::Accepted),
            false => Err("it is another model once written".to_owned()),
        }
    };
    Ok(Target::new("ngrams", seeds, check).sealed_by(seal))
}

/// A target that reads the tokenizer of a model directory.
fn tokenizer(_: &Path) -> anyhow::Result<Target> {
    let words = ["she", "is", "norwegian", "."];
    let own = Tokenizer::new(words.into_iter())?.to_json()?;
    let seeds = vec![Input::one("tokenizer.json", own)];
    let check = |execution: &Execution<'_>| {
        let file = Path::new("tokenizer.json");
        if let Ok(foreign) = ForeignTokenizer::from_json(execution.bytes(), file) {
            let words = foreign.words.iter().map(String::as_str);
            if let Ok(tokenizer) = Tokenizer::splitting(&foreign.splitting, words) {
                read(tokenizer.tokens("She isn't Norwegian, is she?"))?;
            }
        }
        let tokenizer = Tokenizer::from_json(execution.bytes(), file);
        match tokenizer {
            Ok(tokenizer) => read(tokenizer.tokens("She isn't Norwegian, is she?")),
            Err(_) => Ok(Seen::Refused),
        }
    };
    let words = &[
        "normalizer",
        "pre_tokenizer",
        "Sequence",
        "Split",
        "Regex",
        "WordLevel",
        "vocab",
        "unk_token",
        "added_tokens",
        "(a+)+$",
        "post_processor",
    ];
    Ok(Target::new("tokenizer", seeds, check)
        .words(words)
        .memory(4096, 24 << 20))
}
