//! Predictors of texts: what only answers, asked by texts as they are written.

mod asking;
mod process;
pub mod protocol;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use probity_nn::text_classifier::TextClassifier;
use serde::Serialize;

use self::asking::{Answering, Asking, Pace, shown};
use self::process::{TextCommand, TextProcess};
use self::protocol::Reply;
use super::command::words;
use super::error::PredictorError;
use super::process::Ender;
use super::source::{Named, PredictorSource, files_of, identity_hash};
use super::stability::softmax;

/// Texts that a predictor is asked about twice before anything is concluded from it.
const TWICE: usize = 16;

/// Everything that determines a predictor of texts, and how it is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct TextPredictorOptions {
    /// Where it is.
    pub source: PredictorSource,
    /// The folder that a command is started in.
    pub directory: PathBuf,
    /// Time that an answer may take.
    pub timeout: Duration,
    /// Texts of a request at most.
    pub texts: usize,
    /// Its classes, where they are given.
    pub classes: Option<Vec<String>>,
    /// Requests at a time.
    pub concurrency: usize,
    /// Texts a second at most.
    pub rate: Option<f64>,
    /// How often a text is asked about again that got no answer.
    pub retries: u32,
    /// Answers to each text, of which the class counts that most give.
    pub votes: u32,
    /// How far two probabilities of one text may lie apart.
    pub tolerance: f32,
}

/// A predictor of texts that is ready to answer.
pub struct OpenTextPredictor {
    /// It.
    pub classifier: Arc<dyn TextClassifier>,
    /// Its classes.
    pub classes: Vec<String>,
    /// What ends its processes.
    pub ender: Ender,
    /// The largest difference between two probabilities of one text.
    pub instability: f32,
}

/// What [`TextPredictorOptions::sha256`] is the hash of.
#[derive(Serialize)]
struct Identity<'a> {
    kind: &'static str,
    version: u32,
    classes: Option<&'a [String]>,
    votes: u32,
    files: Vec<Named>,
}

impl TextPredictorOptions {
    /// Starts it, and asks about some of `texts` twice.
    ///
    /// # Errors
    /// When it cannot be started or cannot answer, or gives other answers to the same text.
    pub fn open(&self, texts: &[&str]) -> Result<OpenTextPredictor, PredictorError> {
        let PredictorSource::Command(line) = &self.source else {
            return Err(PredictorError::NotOfTexts(self.source.to_string()));
        };
        let mut command = TextCommand {
            words: words(line)?,
            directory: self.directory.clone(),
            timeout: self.timeout,
            classes: self.classes.clone(),
            texts: self.texts,
        };
        let ender = Ender::default();
        let first = command.start(&ender)?;
        let (classes, order) = (first.welcome.classes.clone(), first.welcome.order.clone());
        let most = first.welcome.texts_at_most.unwrap_or(self.texts);
        // The others must say the same of themselves.
        command.classes = Some(classes.clone());
        let mut first = Some(first);
        let answering = (0..self.concurrency.max(1)).map(|_| {
            let answering = Restarted {
                command: command.clone(),
                ender: ender.clone(),
                process: first.take(),
            };
            Box::new(answering) as Box<dyn Answering>
        });
        let pace = Pace {
            texts: most.min(self.texts),
            rate: self.rate,
            retries: self.retries,
            votes: self.votes.max(1),
        };
        let asking = Asking::of(
            (answering.collect(), ender.clone()),
            (classes.clone(), order),
            pace,
        );
        let instability = self.check_stability(&asking, &classes, texts)?;
        Ok(OpenTextPredictor {
            classifier: Arc::new(asking),
            classes,
            ender,
            instability,
        })
    }

    /// Asks about some texts together, then about each alone, from the last to the first. One vote
    /// must give the same probabilities, several the same class.
    fn check_stability(
        &self,
        asking: &Asking,
        classes: &[String],
        texts: &[&str],
    ) -> Result<f32, PredictorError> {
        let texts = &texts[..texts.len().min(TWICE)];
        let first = asking.ask_anew(texts)?;
        let mut largest = 0.0f32;
        for (text, one) in texts.iter().zip(first.chunks_exact(classes.len())).rev() {
            let other = asking.ask_anew(&[text])?;
            let (one, other) = (softmax(one), softmax(&other));
            let class_of = |probabilities| probity_nn::predicted_class(probabilities);
            let is_other_class = class_of(&one) != class_of(&other);
            for (class, (&one, &other)) in one.iter().zip(&other).enumerate() {
                let apart = (one - other).abs();
                let is_unstable = match self.votes {
                    0 | 1 => apart > self.tolerance,
                    _ => is_other_class,
                };
                if is_unstable {
                    return Err(PredictorError::UnstableText {
                        text: shown(text),
                        class: classes[class].clone(),
                        first: one,
                        second: other,
                    });
                }
                largest = largest.max(apart);
            }
        }
        Ok(largest)
    }

    /// SHA-256, in hex, of what can be known about what it computes with, as for a predictor of
    /// rows ([`super::source::PredictorOptions::sha256`]).
    ///
    /// # Errors
    /// When a file that it names cannot be read.
    pub fn sha256(&self) -> Result<String, PredictorError> {
        identity_hash(&Identity {
            kind: "text predictor",
            version: 1,
            classes: self.classes.as_deref(),
            votes: self.votes,
            files: files_of(&self.source, &self.directory)?,
        })
    }
}

/// A process that is started when it is needed, and anew when it has ended.
struct Restarted {
    command: TextCommand,
    ender: Ender,
    process: Option<TextProcess>,
}

impl Answering for Restarted {
    fn ask(&mut self, texts: &[&str]) -> Result<Reply, PredictorError> {
        let process = match self.process.take() {
            Some(process) => process,
            None => self.command.start(&self.ender)?,
        };
        self.process.insert(process).ask(texts)
    }

    fn begin_anew(&mut self) {
        self.process = None;
    }
}
