//! ONNX graphs that read texts in pieces: the data for their inputs, and the tokenizer that splits
//! texts for them.
//!
//! Inputs are `input_ids`, and where the graph asks for them `attention_mask`, `token_type_ids` and
//! `position_ids`, `[texts, pieces]` of any number type. Texts are filled up to one length off the
//! mask.

use std::path::{Path, PathBuf};
use std::{fs, io};

use probity_nn::model::StoreError;
use probity_nn::text_model::TOKENIZER;
use probity_nn::transformer_model::{PieceTokenizer, Pieces, TokenizerSettings};
use probity_run::pipe::expect_rereadable;
use probity_tensor::onnx::{Numbers, Port, Tensor};
use thiserror::Error;

/// The number of pieces of a text that are read when nothing sets a limit.
const DEFAULT_LIMIT: usize = 512;
/// The largest number of pieces that a graph may be fixed to: they are fed for every text, however
/// short.
const MOST_PIECES: usize = 1 << 16;

/// The reason why a graph does not read texts in pieces.
#[derive(Debug, Error)]
pub enum PieceGraphError {
    /// The tokenizer file does not exist.
    #[error("{path}: no such file; put the tokenizer.json of the model beside it or name it")]
    NoTokenizer {
        /// The path where the tokenizer was looked for.
        path: PathBuf,
    },
    /// The tokenizer cannot be read.
    #[error("{path}: cannot be read: {source}")]
    Read {
        /// The path of the tokenizer.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The tokenizer cannot be used.
    #[error("{0}")]
    Tokenizer(#[from] StoreError),
    /// The limit leaves no room for a word.
    #[error(
        "{path}: texts are cut to {limit} tokens, but {added} are added to each; raise the limit in `truncation`, `max_length`"
    )]
    Limit {
        /// The tokenizer.
        path: PathBuf,
        /// The largest number of pieces of a text.
        limit: usize,
        /// The number of pieces that mark begin and end.
        added: usize,
    },
    /// The graph asks for an input that a text does not give.
    #[error(
        "{path}: the input `{name}` is none that a text gives: input_ids, attention_mask, token_type_ids, position_ids"
    )]
    Input {
        /// The ONNX file.
        path: PathBuf,
        /// The input.
        name: String,
    },
    /// The graph does not read pieces.
    #[error("{path}: no input is named `input_ids`, so the graph does not read tokens")]
    NoIds {
        /// The ONNX file.
        path: PathBuf,
    },
    /// The shape of an input is not that of texts.
    #[error(
        "{path}: the input `{name}` has shape {shape}; expected [texts, tokens], the same for all inputs, with at most 65,536 tokens"
    )]
    InputShape {
        /// The ONNX file.
        path: PathBuf,
        /// The input.
        name: String,
        /// The declared shape of the input.
        shape: String,
    },
    /// The graph is fixed to a number of pieces, and cannot tell padding from text.
    #[error(
        "{path}: the graph reads exactly {length} tokens and has no `attention_mask`; export it with a free number of tokens"
    )]
    Padding {
        /// The ONNX file.
        path: PathBuf,
        /// The fixed number of pieces.
        length: usize,
    },
}

/// The role of an input of the graph: the data that it is fed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Ids,
    Mask,
    Segments,
    Positions,
}

impl Role {
    fn from_name(name: &str) -> Option<Self> {
        match name {
            "input_ids" => Some(Self::Ids),
            "attention_mask" => Some(Self::Mask),
            "token_type_ids" => Some(Self::Segments),
            "position_ids" => Some(Self::Positions),
            _ => None,
        }
    }
}

/// The inputs of a graph that reads texts in pieces.
pub(crate) struct PieceInputs {
    roles: Vec<Role>,
    /// The number of texts of a run, where the graph fixes it.
    pub height: Option<usize>,
    /// The number of pieces of every text, where the graph fixes it.
    pub length: Option<usize>,
}

impl PieceInputs {
    /// Determines the roles of the `inputs` of the graph in the file `path`.
    pub(crate) fn new(path: &Path, inputs: &[Port]) -> Result<PieceInputs, PieceGraphError> {
        let mut found = PieceInputs {
            roles: Vec::new(),
            height: None,
            length: None,
        };
        for input in inputs {
            let role = Role::from_name(&input.name).ok_or_else(|| PieceGraphError::Input {
                path: path.to_path_buf(),
                name: input.name.clone(),
            })?;
            found.roles.push(role);
            let refused = |shape: &[Option<usize>]| PieceGraphError::InputShape {
                path: path.to_path_buf(),
                name: input.name.clone(),
                shape: shown(shape),
            };
            match input.shape.as_deref() {
                None => {}
                Some(shape @ [height, length]) => {
                    let is_possible = fix(&mut found.height, *height)
                        && fix(&mut found.length, *length)
                        && found.length.unwrap_or(0) <= MOST_PIECES
                        && found.height.unwrap_or(1) > 0;
                    is_possible.then_some(()).ok_or_else(|| refused(shape))?;
                }
                Some(shape) => return Err(refused(shape)),
            }
        }
        if !found.roles.contains(&Role::Ids) {
            return Err(PieceGraphError::NoIds {
                path: path.to_path_buf(),
            });
        }
        match found.length {
            Some(length) if !found.has_mask() => Err(PieceGraphError::Padding {
                path: path.to_path_buf(),
                length,
            }),
            _ => Ok(found),
        }
    }

    /// Returns whether the graph can tell padding from text.
    pub(crate) fn has_mask(&self) -> bool {
        self.roles.contains(&Role::Mask)
    }

    /// Returns the input tensors for `texts`, each filled up with `padding` to `fed` pieces.
    pub(crate) fn tensors(&self, texts: &[&Pieces], fed: usize, padding: i32) -> Vec<Tensor> {
        let input = |role: &Role| {
            let mut values = Vec::with_capacity(texts.len() * fed);
            for text in texts {
                let end = values.len() + fed;
                let filling = match role {
                    Role::Ids => {
                        values.extend_from_slice(&text.ids);
                        padding
                    }
                    Role::Mask => {
                        values.resize(values.len() + text.ids.len(), 1);
                        0
                    }
                    Role::Segments => {
                        values.extend_from_slice(&text.segments);
                        0
                    }
                    Role::Positions => {
                        values.extend((0..).take(fed));
                        0
                    }
                };
                values.resize(end, filling);
            }
            Tensor {
                shape: vec![texts.len(), fed],
                values: Numbers::Integers(values),
            }
        };
        self.roles.iter().map(input).collect()
    }
}

/// Sets `known` to `size` where it is not known yet, and returns whether the two agree.
fn fix(known: &mut Option<usize>, size: Option<usize>) -> bool {
    let is_same = size.is_none() || known.is_none() || *known == size;
    *known = known.or(size);
    is_same
}

fn shown(shape: &[Option<usize>]) -> String {
    let sizes = shape
        .iter()
        .map(|size| size.map_or("any".to_owned(), |size| size.to_string()));
    format!("[{}]", sizes.collect::<Vec<_>>().join(", "))
}

/// A reader that splits texts into the pieces that a graph reads of them.
pub(crate) struct PieceReader {
    pub tokenizer: PieceTokenizer,
    /// The largest number of pieces of a text, with those that mark begin and end.
    pub limit: usize,
}

impl PieceReader {
    /// Returns the path of the tokenizer of the graph in the file `graph`: `named`, or else the
    /// file beside the graph.
    pub(crate) fn place(graph: &Path, named: Option<&Path>) -> PathBuf {
        named.map_or_else(|| graph.with_file_name(TOKENIZER), Path::to_owned)
    }

    /// Opens the tokenizer in the file `path`, for a graph that reads `longest` pieces of a text at
    /// most, as far as that is known, and has a table of `vocabulary` rows. Where the tokenizer
    /// says nothing about it either, 512 pieces are read. `settings` are what else is said of it.
    pub(crate) fn open(
        path: &Path,
        longest: Option<usize>,
        vocabulary: Option<usize>,
        settings: &TokenizerSettings,
    ) -> Result<PieceReader, PieceGraphError> {
        if !path.exists() {
            return Err(PieceGraphError::NoTokenizer {
                path: path.to_path_buf(),
            });
        }
        let unread = |source| PieceGraphError::Read {
            path: path.to_path_buf(),
            source,
        };
        expect_rereadable(path).map_err(unread)?;
        let json = fs::read(path).map_err(unread)?;
        let vocabulary = vocabulary.unwrap_or(usize::MAX);
        let (tokenizer, kept) = PieceTokenizer::from_json(&json, path, vocabulary, settings)?;
        let known = settings.most_pieces().or(kept);
        let known = known.into_iter().chain(longest).min();
        let reader = PieceReader {
            tokenizer,
            limit: known.unwrap_or(DEFAULT_LIMIT),
        };
        match reader.tokenizer.marks() {
            added if reader.limit <= added => Err(PieceGraphError::Limit {
                path: path.to_path_buf(),
                limit: reader.limit,
                added,
            }),
            _ => Ok(reader),
        }
    }

    /// Returns the pieces of `text` that the graph reads.
    ///
    /// # Errors
    /// The reason why it cannot be split.
    pub(crate) fn read(&self, text: &str) -> Result<Pieces, String> {
        let read = self.tokenizer.read(text, self.limit);
        read.map_err(|error| error.to_string())
    }
}
