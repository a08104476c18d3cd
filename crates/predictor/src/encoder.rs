//! Sentence encoders: a text becomes one vector of length 1, and two texts are as alike as the
//! cosine of theirs. The network is an ONNX file that the user names, with the `tokenizer.json`
//! that it was trained with.
//!
//! **Which output.** `sentence_embedding` where the file has one; else the first output with three
//! dimensions, `[1, tokens, d]`, whose vectors are averaged over the text's tokens; else the first
//! output, `[1, d]`. A `pooler_output` beside the vectors of the tokens is thus never taken: it was
//! trained to tell whether two sentences follow each other, not what they say.
//!
//! **Which inputs.** `input_ids`, and where the graph asks for them `attention_mask`,
//! `token_type_ids` and `position_ids`, of any number type. A graph for a fixed number of tokens
//! is fed padding off the mask.
//!
//! A text is embedded alone and by one thread, so its vector depends on nothing else.

mod error;

use std::path::{Path, PathBuf};

use tokenizers::{Encoding, PostProcessor, Tokenizer, TruncationDirection};

use probity_run::guard::guarded;
use probity_tensor::onnx::{Numbers, OnnxFile, OnnxModel, Port, Tensor};

pub use error::EncoderError;

/// Tokens of a text that are read when the tokenizer sets no limit.
const DEFAULT_LIMIT: usize = 512;
/// Tokens that a graph may be fixed to: they are fed for every text, however short.
const MOST_TOKENS: usize = 1 << 16;

/// What an input of the graph is fed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Ids,
    Mask,
    Types,
    Positions,
}

impl Role {
    fn of(name: &str) -> Option<Self> {
        match name {
            "input_ids" => Some(Self::Ids),
            "attention_mask" => Some(Self::Mask),
            "token_type_ids" => Some(Self::Types),
            "position_ids" => Some(Self::Positions),
            _ => None,
        }
    }
}

/// A sentence encoder.
pub struct SentenceEncoder {
    path: PathBuf,
    reader: Reader,
    graph: OnnxModel,
    roles: Vec<Role>,
    /// Tokens of every input, where the graph fixes them.
    length: Option<usize>,
    width: usize,
}

impl SentenceEncoder {
    /// Reads the ONNX file `model` and its tokenizer, the file `tokenizer.json` beside the model
    /// unless another is named, and embeds one text to see that they work.
    ///
    /// # Errors
    /// When a file cannot be read, when the graph cannot be run here, or when it is no sentence
    /// encoder.
    pub fn open(model: &Path, tokenizer: Option<&Path>) -> Result<Self, EncoderError> {
        let file = OnnxFile::read(model)?;
        let graph = file.model(&sentence_output(model, &file.outputs())?)?;
        let (roles, length) = read_inputs(model, graph.inputs())?;
        let beside = model.with_file_name("tokenizer.json");
        let reader = read_tokenizer(tokenizer.unwrap_or(&beside), length)?;
        let mut encoder = Self {
            path: model.to_path_buf(),
            reader,
            graph,
            roles,
            length,
            width: 0,
        };
        encoder.width = encoder.embed("a text")?.len();
        Ok(encoder)
    }

    /// The width `d` of an embedding.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Tokens of a text that are read, at most, those that mark begin and end among them: what
    /// `truncation` in the tokenizer says, else 512, and no more than the graph takes.
    pub fn limit(&self) -> usize {
        self.reader.limit
    }

    /// Whether `text` is longer than [`Self::limit`], so that its end (or, where the tokenizer
    /// says so, its beginning) has no part in its embedding.
    ///
    /// # Errors
    /// When the text cannot be split into tokens.
    pub fn is_cut(&self, text: &str) -> Result<bool, EncoderError> {
        Ok(self.tokens(text)?.1)
    }

    /// The embedding of `text`, `[d]`, with length 1.
    ///
    /// # Errors
    /// When the text has no token or one that the model does not know, or when the output is not
    /// an embedding: of another shape, not finite, or zero.
    pub fn embed(&self, text: &str) -> Result<Vec<f32>, EncoderError> {
        let (tokens, _) = self.tokens(text)?;
        let found = tokens.get_ids().len();
        if found == 0 {
            return Err(EncoderError::Empty {
                text: text.to_owned(),
            });
        }
        let fed = self.length.unwrap_or(found);
        let input = |role: &Role| self.input(*role, &tokens, fed);
        let inputs = self.roles.iter().map(input).collect();
        let result = self.graph.run(inputs);
        let (shape, values) = result.map_err(|source| EncoderError::Run {
            text: beginning(text),
            tokens: found,
            source,
        })?;
        // The mean's direction is the sum's, and only the direction is kept.
        let sum = match shape[..] {
            [1, _] => values.iter().map(|value| f64::from(*value)).collect(),
            [1, rows, width] if rows == fed => total(&values, found, width),
            _ => {
                return Err(EncoderError::OutputShape {
                    path: self.path.clone(),
                    name: self.graph.output().to_owned(),
                    shape,
                    tokens: fed,
                });
            }
        };
        self.normalised(&sum, text)
    }

    /// The cosine of the embeddings of two texts: 1 for equal ones, at least −1.
    ///
    /// # Errors
    /// When [`Self::embed`] fails on one of them.
    pub fn similarity(&self, first: &str, second: &str) -> Result<f32, EncoderError> {
        Ok(cosine(&self.embed(first)?, &self.embed(second)?))
    }

    /// The tokens that are fed, and whether the text had more.
    ///
    /// The tokenizer's own truncation may stop reading before it knows whether there is more, so
    /// the text is split whole, cut, and only then given its marks of begin and end.
    fn tokens(&self, text: &str) -> Result<(Encoding, bool), EncoderError> {
        let failed = |error: tokenizers::Error| EncoderError::Text {
            text: beginning(text),
            reason: error.to_string(),
        };
        let marked = guarded(|| {
            let mut tokens = self.reader.tokenizer.encode(text, false)?;
            let room = self.reader.limit - self.reader.added;
            let cut = tokens.len() > room;
            tokens.truncate(room, 0, self.reader.direction);
            let marked = self.reader.tokenizer.post_process(tokens, None, true)?;
            Ok::<_, tokenizers::Error>((marked, cut))
        });
        marked
            .unwrap_or_else(|panic| Err(panic.into()))
            .map_err(failed)
    }

    /// One input: the values of the tokens, then those of padding up to `fed`.
    fn input(&self, role: Role, tokens: &Encoding, fed: usize) -> Tensor {
        let found = tokens.get_ids().len();
        let (mut values, padding) = match role {
            Role::Ids => (signed(tokens.get_ids()), signed(&[self.reader.padding])[0]),
            Role::Mask => (vec![1; found], 0),
            Role::Types => (signed(tokens.get_type_ids()), 0),
            Role::Positions => ((0..).take(fed).collect(), 0),
        };
        values.resize(fed, padding);
        Tensor {
            shape: vec![1, fed],
            values: Numbers::Integers(values),
        }
    }

    fn normalised(&self, vector: &[f64], text: &str) -> Result<Vec<f32>, EncoderError> {
        let length = vector.iter().map(|value| value * value).sum::<f64>().sqrt();
        let fault = match length {
            0.0 => "zero",
            _ if length.is_finite() => {
                return Ok(vector.iter().map(|value| (value / length) as f32).collect());
            }
            _ => "not finite",
        };
        Err(EncoderError::NotUsable {
            path: self.path.clone(),
            text: beginning(text),
            fault,
        })
    }
}

/// The cosine of two embeddings of one encoder, `[d]` each: 1 for equal ones, at least −1.
pub fn cosine(first: &[f32], second: &[f32]) -> f32 {
    let product = |a: &[f32], b: &[f32]| {
        let terms = a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b));
        terms.sum::<f64>()
    };
    let lengths = (product(first, first) * product(second, second)).sqrt();
    (product(first, second) / lengths).clamp(-1.0, 1.0) as f32
}

/// Numbers of tokens as the runtime takes them; one that no table has stays one that no table has.
fn signed(values: &[u32]) -> Vec<i32> {
    let signed = values
        .iter()
        .map(|value| i32::try_from(*value).unwrap_or(i32::MAX));
    signed.collect()
}

/// The output that holds the embedding.
fn sentence_output(path: &Path, outputs: &[Port]) -> Result<String, EncoderError> {
    let named = outputs
        .iter()
        .find(|output| output.name == "sentence_embedding");
    let per_token = |output: &&Port| output.shape.as_ref().is_some_and(|shape| shape.len() == 3);
    let chosen = named
        .or_else(|| outputs.iter().find(per_token))
        .or(outputs.first());
    chosen
        .map(|output| output.name.clone())
        .ok_or_else(|| EncoderError::NoOutput {
            path: path.to_path_buf(),
        })
}

/// What each input is fed, and the number of tokens where the graph fixes it.
fn read_inputs(path: &Path, inputs: &[Port]) -> Result<(Vec<Role>, Option<usize>), EncoderError> {
    let mut roles = Vec::new();
    let mut length = None;
    for input in inputs {
        let role = Role::of(&input.name).ok_or_else(|| EncoderError::Input {
            path: path.to_path_buf(),
            name: input.name.clone(),
        })?;
        roles.push(role);
        match input.shape.as_deref() {
            None | Some([None | Some(1), None]) => {}
            Some([None | Some(1), Some(tokens)])
                if *tokens <= MOST_TOKENS && length.is_none_or(|one| one == *tokens) =>
            {
                length = Some(*tokens);
            }
            Some(shape) => {
                return Err(EncoderError::InputShape {
                    path: path.to_path_buf(),
                    name: input.name.clone(),
                    shape: shown(shape),
                });
            }
        }
    }
    if !roles.contains(&Role::Ids) {
        return Err(EncoderError::NoIds {
            path: path.to_path_buf(),
        });
    }
    match length {
        Some(length) if !roles.contains(&Role::Mask) => Err(EncoderError::Padding {
            path: path.to_path_buf(),
            length,
        }),
        _ => Ok((roles, length)),
    }
}

fn shown(shape: &[Option<usize>]) -> String {
    let sizes = shape
        .iter()
        .map(|size| size.map_or("any".to_owned(), |size| size.to_string()));
    format!("[{}]", sizes.collect::<Vec<_>>().join(", "))
}

/// A tokenizer, and how texts are cut.
struct Reader {
    tokenizer: Tokenizer,
    limit: usize,
    added: usize,
    direction: TruncationDirection,
    padding: u32,
}

/// The tokenizer at `path`, stripped of its own truncation and padding, for a graph that reads
/// `length` tokens or any number.
fn read_tokenizer(path: &Path, length: Option<usize>) -> Result<Reader, EncoderError> {
    if !path.exists() {
        return Err(EncoderError::NoTokenizer {
            path: path.to_path_buf(),
        });
    }
    let unusable = |error: tokenizers::Error| EncoderError::Tokenizer {
        path: path.to_path_buf(),
        reason: error.to_string(),
    };
    let read = guarded(|| Tokenizer::from_file(path)).unwrap_or_else(|panic| Err(panic.into()));
    let mut tokenizer = read.map_err(unusable)?;
    let truncation = tokenizer.get_truncation();
    let limit = truncation.map_or(DEFAULT_LIMIT, |truncation| truncation.max_length);
    let direction = truncation
        .map(|truncation| truncation.direction)
        .unwrap_or_default();
    let limit = length.map_or(limit, |length| limit.min(length));
    let processor = tokenizer.get_post_processor();
    let added = processor.map_or(0, |processor| processor.added_tokens(false));
    if limit <= added {
        return Err(EncoderError::Limit {
            path: path.to_path_buf(),
            limit,
            added,
        });
    }
    let padding = tokenizer.get_padding().map_or(0, |padding| padding.pad_id);
    tokenizer
        .with_truncation(None)
        .map_err(unusable)?
        .with_padding(None);
    Ok(Reader {
        tokenizer,
        limit,
        added,
        direction,
        padding,
    })
}

/// The sum of the first `rows` rows of a matrix of `width` columns.
fn total(values: &[f32], rows: usize, width: usize) -> Vec<f64> {
    let mut sum = vec![0.0; width];
    for row in values.chunks_exact(width.max(1)).take(rows) {
        for (total, value) in sum.iter_mut().zip(row) {
            *total += f64::from(*value);
        }
    }
    sum
}

/// The first words of a text, for a message.
fn beginning(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
