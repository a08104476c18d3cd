//! Sequence classifiers that are ONNX files, with the `tokenizer.json` that they were trained with.
//!
//! **Runs.** Texts of about the same length are computed together. A run always has the height that
//! belongs to its length, filled up with copies of a text, and a text's length is a function of the
//! text alone: so its answer is the same alone and in any batch. Where the graph scales the numbers
//! of a whole run by one factor (dynamic quantization), each text is a run of its own.
//!
//! **Outputs.** `[texts, classes]`; for two classes also `[texts, 1]` or `[texts]`, the second one's.

use std::path::Path;
use std::sync::Arc;

use probity_nn::decision::probabilities;
use probity_nn::transformer_model::{ElsewhereConfig, Pieces, TokenizerSettings};
use probity_tensor::onnx::{OnnxFile, OnnxModel, Output};

use super::TextGraph;
use super::asking::{Backend, Unread, shown};
use super::protocol::{Reply, expect_classes};
use crate::error::PredictorError;
use crate::graph::OutputKind;
use crate::onnx::output_name;
use crate::piece_graph::{PieceInputs, PieceReader};
use crate::probabilities::{SUM_TOLERANCE, of_score};

/// The approximate number of pieces of a run; the next constant is the largest number of texts.
const RUN: usize = 128;
const MOST_TEXTS: usize = 4;
/// The number that lengths are multiples of where a graph can tell padding from text.
const STEP: usize = 8;
/// The approximate number of pieces of one request to a worker, whose time is limited.
const REQUEST: usize = 4096;
/// The number of pieces of the longest text that the graph is tried with when it is opened.
const TRIED: usize = 512;
/// The operators that scale the numbers of a run by their largest.
const QUANTIZING: [&str; 1] = ["DynamicQuantizeLinear"];
/// The name of the output in the exports of Hugging Face.
const LOGITS: &str = "logits";

/// An ONNX graph that classifies texts.
pub(super) struct OnnxTexts {
    graph: OnnxModel,
    file: String,
    inputs: PieceInputs,
    reader: PieceReader,
    padding: i32,
    classes: usize,
    gives: OutputKind,
    /// Whether texts of one run change each other's answers.
    is_mixing: bool,
}

impl OnnxTexts {
    /// Opens the graph in `file`, used as `options` say, and returns it with the names of its
    /// classes, which are `named` if they are given.
    pub(super) fn open(
        file: &Path,
        options: &TextGraph,
        named: Option<&[String]>,
    ) -> Result<(OnnxTexts, Vec<String>), PredictorError> {
        let path = file;
        let name = file.display().to_string();
        let fail = |problem: String| PredictorError::Graph {
            file: name.clone(),
            problem,
        };
        let failed = |error: &dyn std::error::Error| PredictorError::Onnx(error.to_string());
        let beside = ElsewhereConfig::beside(path);
        let config = match beside.exists() {
            true => ElsewhereConfig::read(&beside).map_err(|error| failed(&error))?,
            false => ElsewhereConfig::default(),
        };
        let file = OnnxFile::read(path).map_err(|error| failed(&error))?;
        let outputs = file.outputs();
        let usual = outputs.iter().any(|port| port.name == LOGITS);
        let output = options.output.as_deref().or(usual.then_some(LOGITS));
        let output = output_name(&outputs, output).map_err(fail)?;
        let graph = file.model(&output).map_err(|error| failed(&error))?;
        let inputs = PieceInputs::new(path, graph.inputs()).map_err(|error| failed(&error))?;
        let place = PieceReader::place(path, options.tokenizer.as_deref());
        let longest = inputs.length.into_iter().chain(config.longest).min();
        let settings = TokenizerSettings::beside(&place).map_err(|error| failed(&error))?;
        let reader = PieceReader::open(&place, longest, config.vocabulary, &settings);
        let reader = reader.map_err(|error| failed(&error))?;
        let classes = classes(config.classes, named).map_err(|problem| match problem {
            Some(problem) => fail(problem),
            None => PredictorError::NoClasses,
        })?;
        expect_classes(&classes, named)?;
        let opened = OnnxTexts {
            is_mixing: file.has_operator(&QUANTIZING),
            padding: config.padding.unwrap_or(reader.tokenizer.padding()),
            gives: options.gives.unwrap_or(OutputKind::Logits),
            classes: classes.len(),
            file: name,
            graph,
            inputs,
            reader,
        };
        opened.try_out(options.gives.is_none())?;
        Ok((opened, classes))
    }

    /// Refuses a graph that cannot take the longest text or the last piece of the tokenizer, or
    /// whose numbers look like probabilities where nobody has said what they are.
    fn try_out(&self, is_guess: bool) -> Result<(), PredictorError> {
        let longest = self.reader.limit.min(TRIED);
        let last = self.reader.tokenizer.last();
        let text = Pieces {
            ids: vec![last; longest],
            segments: vec![0; longest],
            bytes: Vec::new(),
            is_truncated: false,
        };
        let tried = self.numbers(&[&text]);
        tried.map_err(|error| match error {
            PredictorError::Onnx(reason) => self.fail(format!(
                "it fails on {longest} pieces of the number {last}, which tokenizer and \
                 configuration allow: the tokenizer.json is of another model, or its `truncation` \
                 keeps more pieces than the graph has positions for: {reason}"
            )),
            other => other,
        })?;
        let read = |text: &str| self.read(text);
        let some = [
            "a text",
            "Another, longer one: who knows what it says?",
            "no",
        ]
        .map(read);
        let some = some.into_iter().collect::<Result<Vec<_>, _>>()?;
        let outputs = self.numbers(&some.iter().collect::<Vec<_>>())?;
        let is_share = |numbers: &Vec<f32>| {
            let within = numbers.iter().all(|number| (0.0..=1.0).contains(number));
            let sum: f64 = numbers.iter().copied().map(f64::from).sum();
            within && (numbers.len() == 1 || (sum - 1.0).abs() < SUM_TOLERANCE)
        };
        if is_guess && outputs.iter().all(is_share) {
            let problem = format!(
                "the numbers of the output '{}' look like probabilities; say which they are in \
                 predictor.gives: probabilities or logits",
                self.graph.output()
            );
            return Err(self.fail(problem));
        }
        Ok(())
    }

    fn fail(&self, problem: String) -> PredictorError {
        PredictorError::Graph {
            file: self.file.clone(),
            problem,
        }
    }

    /// Returns the pieces of `text` that are read.
    fn read(&self, text: &str) -> Result<Pieces, PredictorError> {
        let refused = |problem: String| self.fail(format!("{}: {problem}", shown(text)));
        let pieces = self.reader.read(text).map_err(refused)?;
        match pieces.ids.is_empty() {
            true => Err(refused("the tokenizer finds no piece in it".to_owned())),
            false => Ok(pieces),
        }
    }

    /// Returns whether `text` has more pieces than are read.
    pub(super) fn cuts(&self, text: &str) -> Result<bool, PredictorError> {
        Ok(self.read(text)?.is_truncated)
    }

    /// Returns the probabilities of the classes for each of `texts`.
    fn probabilities(&self, texts: &[&str]) -> Result<Vec<Vec<f64>>, PredictorError> {
        let pieces = texts.iter().map(|text| self.read(text));
        let pieces = pieces.collect::<Result<Vec<_>, _>>()?;
        let numbers = self.numbers(&pieces.iter().collect::<Vec<_>>())?;
        Ok(numbers.iter().map(|row| self.shares(row)).collect())
    }

    fn shares(&self, given: &[f32]) -> Vec<f64> {
        match (self.gives, given) {
            (OutputKind::Logits, [one]) => probabilities(&[0.0, *one]),
            (OutputKind::Logits, _) => probabilities(given),
            (OutputKind::Probabilities, [score]) => of_score(f64::from(*score)).to_vec(),
            (OutputKind::Probabilities, _) => given.iter().map(|&p| f64::from(p)).collect(),
        }
    }

    /// Returns the number of pieces that a text of `own` pieces is filled up to.
    fn fed(&self, own: usize) -> usize {
        match self.inputs.length {
            Some(length) => length,
            None if self.is_mixing || !self.inputs.has_mask() => own,
            None => own.next_multiple_of(STEP).min(self.reader.limit),
        }
    }

    /// Returns the number of texts of a run of `fed` pieces each.
    fn height(&self, fed: usize) -> usize {
        match self.inputs.height {
            Some(height) => height,
            None if self.is_mixing => 1,
            None => (RUN / fed.max(1)).clamp(1, MOST_TEXTS),
        }
    }

    /// Returns the output of the graph for each of `texts`.
    fn numbers(&self, texts: &[&Pieces]) -> Result<Vec<Vec<f32>>, PredictorError> {
        let mut order: Vec<usize> = (0..texts.len()).collect();
        order.sort_by_key(|&text| self.fed(texts[text].ids.len()));
        let same =
            |&a: &usize, &b: &usize| self.fed(texts[a].ids.len()) == self.fed(texts[b].ids.len());
        let mut runs: Vec<(usize, &[usize])> = Vec::new();
        for alike in order.chunk_by(same) {
            let fed = alike
                .first()
                .map_or(0, |&text| self.fed(texts[text].ids.len()));
            runs.extend(alike.chunks(self.height(fed)).map(|run| (fed, run)));
        }
        let mut found = vec![Vec::new(); texts.len()];
        let mut rest = &runs[..];
        while !rest.is_empty() {
            let mut pieces = 0;
            let fits = rest.iter().take_while(|(fed, _)| {
                let fits = pieces == 0 || pieces + fed * self.height(*fed) <= REQUEST;
                pieces += fed * self.height(*fed);
                fits
            });
            let (now, later) = rest.split_at(fits.count());
            rest = later;
            let asked = now.iter().map(|&(fed, run)| {
                let own = run.iter().map(|&text| texts[text]);
                let filler = run.iter().rev().take(1).map(|&text| texts[text]).cycle();
                let filled: Vec<&Pieces> = own.chain(filler).take(self.height(fed)).collect();
                self.inputs.tensors(&filled, fed, self.padding)
            });
            let outputs = self.graph.run_each(asked.collect());
            let outputs = outputs.map_err(|error| PredictorError::Onnx(error.to_string()))?;
            for (&(fed, run), output) in now.iter().zip(outputs) {
                let rows = self.rows(self.height(fed), output)?;
                for (&text, row) in run.iter().zip(rows) {
                    found[text] = row;
                }
            }
        }
        Ok(found)
    }

    /// Returns the rows of the output of a run of `height` texts.
    fn rows(
        &self,
        height: usize,
        (shape, values): Output,
    ) -> Result<Vec<Vec<f32>>, PredictorError> {
        let width = match *shape.as_slice() {
            [found] if found == height => 1,
            [found, width] if found == height => width,
            _ => 0,
        };
        let classes = self.classes;
        if width != classes && !(width == 1 && classes == 2) {
            return Err(self.fail(format!(
                "the output '{}' has the shape {shape:?} for {height} texts; expected [texts, {classes}], a number for each class that config.json or predictor.classes names",
                self.graph.output()
            )));
        }
        let rows = values.chunks_exact(width).map(<[f32]>::to_vec);
        Ok(rows.collect())
    }
}

/// A thread that asks a graph.
pub(super) struct GraphBackend(pub(super) Arc<OnnxTexts>);

impl Backend for GraphBackend {
    fn receive(&mut self, texts: &[&str]) -> Result<Unread, PredictorError> {
        let probabilities = self.0.probabilities(texts)?.into_iter();
        let probabilities = probabilities.map(|row| Some(row.into()));
        let reply = Reply {
            probabilities: probabilities.collect(),
            ..Reply::default()
        };
        Ok(Box::new(|| Ok(reply)))
    }

    fn begin_anew(&mut self) {}
}

/// Returns the classes in the order of the output: those that are `named`, else those that are
/// `configured`.
///
/// # Errors
/// The problem with the classes, where there are some.
fn classes(
    configured: Option<Vec<String>>,
    named: Option<&[String]>,
) -> Result<Vec<String>, Option<String>> {
    let (Some(named), Some(configured)) = (named, &configured) else {
        return named.map(<[String]>::to_vec).or(configured).ok_or(None);
    };
    // The same names in another order are a mistake about the order.
    if named != configured && named.iter().all(|name| configured.contains(name)) {
        return Err(Some(format!(
            "config.json names its classes {}, in this order; leave predictor.classes out, or name \
             them so",
            configured.join(", ")
        )));
    }
    Ok(named.to_vec())
}
