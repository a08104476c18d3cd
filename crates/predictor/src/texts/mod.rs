//! Predictors of texts: models that can only be asked, by texts as they are written.

mod asking;
mod callable;
#[cfg(feature = "onnx")]
mod onnx;
mod process;
pub mod protocol;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use probity_nn::decision::probabilities;
use probity_nn::predicted_class;
use probity_nn::text_classifier::TextClassifier;
use probity_nn::text_model::TOKENIZER;
use probity_nn::transformer_model::ElsewhereConfig;
use probity_run::stream::{Purpose, drawn};
use serde::Serialize;

use self::asking::{Asking, Backend, Cuts, Pace, Unread, shown};
use self::callable::CallableBackend;
#[cfg(feature = "onnx")]
use self::onnx::{GraphBackend, OnnxTexts};
use self::process::{TextCommand, TextProcess, request};
use self::protocol::expect_classes;
use super::command::words;
use super::error::PredictorError;
pub use super::graph::TextGraph;
use super::probabilities::Probabilities;
use super::process::KillHandle;
use super::source::{Named, PredictorSource, files_of, identity_hash};

/// The number of texts that a predictor is asked about twice before anything is concluded from it.
const TWICE: usize = 16;
/// The number of texts of a request to an ONNX graph, where there are so many: enough for runs of
/// one length.
#[cfg(feature = "onnx")]
const GRAPH_TEXTS: std::ops::Range<usize> = 32..256;

/// Everything that determines a predictor of texts, and how it is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct TextPredictorOptions {
    /// The source of the predictor.
    pub source: PredictorSource,
    /// The folder that a command is started in.
    pub directory: PathBuf,
    /// The time that an answer may take.
    pub timeout: Duration,
    /// The largest number of texts of a request.
    pub texts: usize,
    /// The classes, where they are given.
    pub classes: Option<Vec<String>>,
    /// The number of requests at a time.
    pub concurrency: usize,
    /// The largest number of texts a second.
    pub rate: Option<f64>,
    /// The number of times that a text without an answer is asked about again.
    pub retries: u32,
    /// The number of answers to each text, of which the class that most give counts.
    pub votes: u32,
    /// The largest difference between two probabilities of one text.
    pub tolerance: f32,
    /// The rule for the sums of the probabilities.
    pub probabilities: Probabilities,
    /// The options for the use of an ONNX graph.
    pub graph: TextGraph,
}

/// A predictor of texts that is ready to answer.
pub struct OpenTextPredictor {
    /// The classifier that asks for the answers.
    asking: Arc<Asking>,
    /// The classes of the predictor.
    pub classes: Vec<String>,
    /// A handle that ends the predictor's processes.
    pub ender: KillHandle,
    votes: u32,
    tolerance: f32,
}

/// The data that [`TextPredictorOptions::sha256`] hashes.
#[derive(Serialize)]
struct Identity<'a> {
    kind: &'static str,
    version: u32,
    classes: Option<&'a [String]>,
    votes: u32,
    files: Vec<Named>,
    #[serde(skip_serializing_if = "Option::is_none")]
    graph: Option<&'a TextGraph>,
    #[serde(skip_serializing_if = "Probabilities::is_exact")]
    probabilities: Probabilities,
}

/// The sides that answer, and what they say of themselves.
struct Answerers {
    answering: Vec<Box<dyn Backend>>,
    classes: Vec<String>,
    /// For each class, the place of its probability among their numbers.
    order: Vec<usize>,
    /// The largest number of texts of a request.
    texts: usize,
    /// The least number of texts of a request where as many wait.
    least: usize,
    /// The check whether a text is longer than the part that is read, where that is known.
    cuts: Option<Box<Cuts>>,
}

impl TextPredictorOptions {
    /// Starts the predictor.
    ///
    /// # Errors
    /// When it cannot be started, or does not say what its classes are.
    pub fn open(&self) -> Result<OpenTextPredictor, PredictorError> {
        let ender = KillHandle::default();
        let answerers = match &self.source {
            PredictorSource::Command(line) => self.processes(line, &ender)?,
            PredictorSource::Onnx(file) => self.graphs(file)?,
            PredictorSource::Memory(name) => self.callable(name)?,
        };
        let pace = Pace {
            texts: answerers.texts,
            least: answerers.least,
            rate: self.rate,
            // What fails here fails again.
            retries: match self.source {
                PredictorSource::Command(_) => self.retries,
                PredictorSource::Onnx(_) | PredictorSource::Memory(_) => 0,
            },
            votes: self.votes.max(1),
            probabilities: self.probabilities,
        };
        let asking = Asking::new(
            (answerers.answering, ender.clone()),
            (answerers.classes.clone(), answerers.order),
            pace,
        );
        let asking = match answerers.cuts {
            Some(cuts) => asking.with_cuts(cuts),
            None => asking,
        };
        Ok(OpenTextPredictor {
            asking: Arc::new(asking),
            classes: answerers.classes,
            ender,
            votes: self.votes,
            tolerance: self.tolerance,
        })
    }

    /// Starts as many processes as are asked at a time.
    fn processes(&self, line: &str, ender: &KillHandle) -> Result<Answerers, PredictorError> {
        let mut command = TextCommand {
            words: words(line)?,
            directory: self.directory.clone(),
            timeout: self.timeout,
            classes: self.classes.clone(),
            texts: self.texts,
        };
        let first = command.start(ender)?;
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
            Box::new(answering) as Box<dyn Backend>
        });
        Ok(Answerers {
            answering: answering.collect(),
            classes,
            order,
            texts: most.min(self.texts),
            least: 1,
            cuts: None,
        })
    }

    /// Opens the graph in `file`, to be asked by as many threads as there are.
    #[cfg(feature = "onnx")]
    fn graphs(&self, file: &Path) -> Result<Answerers, PredictorError> {
        let mut options = self.graph.clone();
        options.tokenizer = options.tokenizer.map(|place| self.directory.join(place));
        let file = self.directory.join(file);
        let (graph, classes) = OnnxTexts::open(&file, &options, self.classes.as_deref())?;
        let graph = Arc::new(graph);
        let answering = (0..rayon::current_num_threads().max(1))
            .map(|_| Box::new(GraphBackend(Arc::clone(&graph))) as Box<dyn Backend>);
        Ok(Answerers {
            answering: answering.collect(),
            order: (0..classes.len()).collect(),
            classes,
            texts: GRAPH_TEXTS.end,
            least: GRAPH_TEXTS.start,
            cuts: Some(Box::new(move |text| graph.cuts(text))),
        })
    }

    #[cfg(not(feature = "onnx"))]
    fn graphs(&self, file: &Path) -> Result<Answerers, PredictorError> {
        Err(super::graph::no_onnx(file))
    }

    /// Finds the function `memory:NAME`, which is asked by one thread.
    fn callable(&self, name: &str) -> Result<Answerers, PredictorError> {
        let classes = self.classes.clone().ok_or(PredictorError::NoClasses)?;
        expect_classes(&classes, None)?;
        let answering = CallableBackend::find(name, classes.len())?;
        Ok(Answerers {
            answering: vec![Box::new(answering)],
            order: (0..classes.len()).collect(),
            classes,
            texts: self.texts,
            least: 1,
            cuts: None,
        })
    }

    /// Returns what can be known about the files that the predictor computes with, a graph's
    /// tokenizer and configuration among them.
    fn files(&self) -> Result<Vec<Named>, PredictorError> {
        let PredictorSource::Onnx(file) = &self.source else {
            return files_of(&self.source, &self.directory);
        };
        let file = self.directory.join(file);
        let tokenizer = match &self.graph.tokenizer {
            Some(place) => self.directory.join(place),
            None => file.with_file_name(TOKENIZER),
        };
        let others = [tokenizer, ElsewhereConfig::beside(&file)];
        let others = others.iter().map(|place| Named::of_file(place));
        let mut files = files_of(&PredictorSource::Onnx(file), &self.directory)?;
        files.extend(others.collect::<Result<Vec<_>, _>>()?);
        Ok(files)
    }

    /// Returns the SHA-256, in hex, of what can be known about what the predictor computes with, as
    /// for a predictor of rows ([`super::source::PredictorOptions::sha256`]).
    ///
    /// # Errors
    /// When a file that it names cannot be read.
    pub fn sha256(&self) -> Result<String, PredictorError> {
        identity_hash(&Identity {
            kind: "text predictor",
            version: 1,
            classes: self.classes.as_deref(),
            votes: self.votes,
            files: self.files()?,
            graph: match &self.source {
                PredictorSource::Onnx(_) => Some(&self.graph),
                PredictorSource::Command(_) | PredictorSource::Memory(_) => None,
            },
            probabilities: self.probabilities,
        })
    }
}

impl OpenTextPredictor {
    /// Returns the predictor as a classifier of texts.
    pub fn classifier(&self) -> Arc<dyn TextClassifier> {
        Arc::clone(&self.asking) as Arc<dyn TextClassifier>
    }

    /// Asks about some texts, drawn from all, together, then about each alone, from the last to the
    /// first, and returns the largest difference between two probabilities of one text. One vote
    /// must give the same probabilities, several the same class.
    ///
    /// # Errors
    /// When they are others, or it cannot answer.
    pub fn check_stability(&self, texts: &[&str]) -> Result<f32, PredictorError> {
        let drawn = drawn(0, Purpose::LookedAt, 0, texts.len() as u32, TWICE);
        let texts: Vec<&str> = drawn.iter().map(|&text| texts[text as usize]).collect();
        // What is said first is remembered: whoever asks about these texts next has their answers.
        let first = self.asking.ask_once(&texts)?;
        let mut largest = 0.0f32;
        for (text, one) in texts
            .iter()
            .zip(first.chunks_exact(self.classes.len()))
            .rev()
        {
            let other = self.asking.ask_anew(&[text])?;
            let is_other_class = predicted_class(one) != predicted_class(&other);
            let (one, other) = (probabilities(one), probabilities(&other));
            for (class, (one, other)) in one.into_iter().zip(other).enumerate() {
                let (one, other) = (one as f32, other as f32);
                let apart = (one - other).abs();
                let is_unstable = match self.votes {
                    0 | 1 => apart > self.tolerance,
                    _ => is_other_class,
                };
                if is_unstable {
                    return Err(PredictorError::UnstableText {
                        text: shown(text),
                        class: self.classes[class].clone(),
                        first: one,
                        second: other,
                    });
                }
                largest = largest.max(apart);
            }
        }
        Ok(largest)
    }
}

/// A process that is started when it is needed, and again when it has ended.
struct Restarted {
    command: TextCommand,
    ender: KillHandle,
    process: Option<TextProcess>,
}

impl Restarted {
    fn process(&mut self) -> Result<&mut TextProcess, PredictorError> {
        let process = match self.process.take() {
            Some(process) => process,
            None => self.command.start(&self.ender)?,
        };
        Ok(self.process.insert(process))
    }
}

impl Backend for Restarted {
    fn request(&self, texts: &[&str]) -> Result<Vec<u8>, PredictorError> {
        request(texts)
    }

    fn send(&mut self, request: &[u8], texts: usize) -> Result<(), PredictorError> {
        self.process()?.send(request, texts)
    }

    fn receive(&mut self, texts: &[&str]) -> Result<Unread, PredictorError> {
        self.process()?.receive(texts.len())
    }

    fn begin_anew(&mut self) {
        self.process = None;
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use probity_nn::predicted_class;
    use std::fs;
    use std::path::Path;

    /// A script of a process that takes one text at a time and says `yes` to those with an x in
    /// them; in the mode `dies` its first one ends at its third batch, in `random` it says
    /// something else every time.
    const SCRIPT: &str = r#"
read -r greeting
echo '{"protocol":1,"classes":["no","yes"],"texts_at_most":1}'
batch=0
while read -r line; do
  batch=$((batch + 1))
  if [ "$1" = dies ] && [ $batch = 3 ] && ! [ -e died ]; then touch died; exit 1; fi
  case "$line" in
    *\[\"*x*) score=0.9 ;;
    *) score=0.2 ;;
  esac
  if [ "$1" = random ]; then score=0.$batch; fi
  echo "{\"batch\":$batch,\"scores\":[$score]}"
done
"#;

    fn options(folder: &Path, mode: &str) -> TextPredictorOptions {
        fs::write(folder.join("answer.sh"), SCRIPT).unwrap();
        TextPredictorOptions {
            source: format!("command:sh answer.sh {mode}").parse().unwrap(),
            directory: folder.to_owned(),
            timeout: Duration::from_secs(60),
            texts: 100,
            classes: None,
            concurrency: 2,
            rate: None,
            retries: 2,
            votes: 1,
            tolerance: 1e-5,
            probabilities: Probabilities::default(),
            graph: TextGraph::default(),
        }
    }

    const TEXTS: [&str; 5] = ["", "axe", "a\u{0}\n\u{1f600}", "one", "six"];

    #[test]
    fn processes_answer_about_texts_and_are_started_anew() {
        for mode in ["good", "dies"] {
            let folder = tempfile::tempdir().unwrap();
            let opened = options(folder.path(), mode).open().unwrap();
            assert_eq!(opened.classes, ["no", "yes"]);
            assert_eq!(opened.check_stability(&TEXTS).unwrap(), 0.0);
            let logits = opened.classifier().logits(&TEXTS).unwrap();
            let classes: Vec<u32> = logits.chunks_exact(2).map(predicted_class).collect();
            assert_eq!(classes, [0, 1, 0, 0, 1], "{mode}");
            assert_eq!(folder.path().join("died").exists(), mode == "dies");
        }
    }

    #[test]
    fn what_is_no_function_of_the_text_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let opened = options(folder.path(), "random").open().unwrap();
        let error = opened.check_stability(&TEXTS).unwrap_err().to_string();
        assert!(error.contains("not a function of the text"), "{error}");
        let mut without = options(folder.path(), "dies");
        without.retries = 0;
        let opened = without.open().unwrap();
        let error = opened.classifier().logits(&["a", "b", "c", "d", "e", "f"]);
        let error = error.unwrap_err();
        let cause = std::error::Error::source(&error).unwrap().to_string();
        assert!(cause.starts_with("the predictor ended"), "{cause}");
    }

    #[test]
    fn what_it_is_asked_for_counts_and_how_it_is_asked_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let options = options(folder.path(), "good");
        let same = options.sha256().unwrap();
        let faster = TextPredictorOptions {
            concurrency: 9,
            retries: 7,
            ..options.clone()
        };
        assert_eq!(faster.sha256().unwrap(), same);
        let votes = TextPredictorOptions {
            votes: 3,
            ..options.clone()
        };
        assert_ne!(votes.sha256().unwrap(), same);
        fs::write(folder.path().join("answer.sh"), "another").unwrap();
        assert_ne!(options.sha256().unwrap(), same);
    }
}
