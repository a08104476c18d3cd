//! The source of a predictor: how it is named, opened, and recognised when a run goes on.

use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::callable::{self, CallablePredictor};
use super::command::{CommandPredictor, words};
use super::error::PredictorError;
pub use super::graph::{Categories, GraphOptions, OutputKind};
#[cfg(feature = "onnx")]
use super::onnx::OnnxPredictor;
use super::own_numbers::Predictor;
use super::probabilities::{Probabilities, Taken};
use super::process::KillHandle;
use super::spread::{SpreadPredictor, SpreadRows};
use probity_data::schema::Schema;
use probity_nn::encoding::InputLayout;
use probity_run::pipe::expect_rereadable;
use probity_run::run_directory::{RunError, file_sha256, hex};
use probity_run::specification::canonical_json;

/// Where a predictor is: `onnx:FILE`, `command:COMMAND LINE`, or `memory:NAME` in the process that
/// has registered it ([`super::callable`]).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub enum PredictorSource {
    /// An ONNX file.
    Onnx(PathBuf),
    /// A process, by its command line.
    Command(String),
    /// A function of this process, by its name.
    Memory(String),
}

impl FromStr for PredictorSource {
    type Err = PredictorError;

    fn from_str(text: &str) -> Result<PredictorSource, PredictorError> {
        match text.split_once(':') {
            Some(("onnx", file)) if !file.is_empty() => Ok(PredictorSource::Onnx(file.into())),
            Some(("memory", name)) if !name.is_empty() => {
                Ok(PredictorSource::Memory(name.to_owned()))
            }
            Some(("command", line)) => {
                words(line)?;
                Ok(PredictorSource::Command(line.to_owned()))
            }
            _ => Err(PredictorError::Source(text.to_owned())),
        }
    }
}

impl TryFrom<String> for PredictorSource {
    type Error = String;

    /// Parses a source. The error is what else the text must be, as the message about a field goes
    /// on.
    fn try_from(text: String) -> Result<PredictorSource, String> {
        text.parse().map_err(|error| match error {
            PredictorError::Source(_) => "onnx:FILE or command:COMMAND LINE, such as \
                                          \"command:python3 predict.py\""
                .to_owned(),
            other => format!("a command line: {other}"),
        })
    }
}

impl From<PredictorSource> for String {
    fn from(source: PredictorSource) -> String {
        source.to_string()
    }
}

impl std::fmt::Display for PredictorSource {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PredictorSource::Onnx(file) => write!(formatter, "onnx:{}", file.display()),
            PredictorSource::Command(line) => write!(formatter, "command:{line}"),
            PredictorSource::Memory(name) => write!(formatter, "memory:{name}"),
        }
    }
}

/// Everything that determines a predictor: the table `[predictor]` of a `run.toml`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PredictorOptions {
    /// The source of the predictor.
    pub source: PredictorSource,
    /// The folder that a command is started in.
    pub directory: PathBuf,
    /// The time in seconds that an answer may take.
    pub timeout_seconds: f64,
    /// The largest number of rows of a request.
    pub rows: usize,
    /// The options for the use of an ONNX graph.
    #[serde(default)]
    pub graph: GraphOptions,
    /// The rule for the sums of the probabilities.
    #[serde(default, skip_serializing_if = "Probabilities::is_exact")]
    pub probabilities: Probabilities,
    /// The inputs and classes of the predictor.
    pub schema: Schema,
}

/// A predictor that is ready to answer.
pub struct OpenPredictor {
    /// The predictor.
    pub predictor: Box<dyn Predictor>,
    /// A handle that ends the predictor's process, if it has one.
    pub ender: Option<KillHandle>,
    /// The way in which the probabilities are taken.
    pub taken: Taken,
}

impl PredictorOptions {
    /// Opens the file or starts the process.
    ///
    /// # Errors
    /// See [`PredictorError`].
    pub fn open(&self) -> Result<OpenPredictor, PredictorError> {
        if self.schema.format.spread.is_empty() {
            return self.open_for(&self.schema);
        }
        let rows = SpreadRows::new(&self.schema);
        let opened = self.open_for(rows.schema())?;
        Ok(OpenPredictor {
            predictor: Box::new(SpreadPredictor::new(opened.predictor, rows)),
            ..opened
        })
    }

    /// Opens the file or starts the process for rows of `schema`.
    fn open_for(&self, schema: &Schema) -> Result<OpenPredictor, PredictorError> {
        let taken = Taken::new(self.probabilities);
        match &self.source {
            #[cfg(feature = "onnx")]
            PredictorSource::Onnx(file) => {
                let opened = OnnxPredictor::open(file, schema, &self.graph)?;
                Ok(OpenPredictor {
                    predictor: Box::new(opened.taking(taken.clone())),
                    ender: None,
                    taken,
                })
            }
            #[cfg(not(feature = "onnx"))]
            PredictorSource::Onnx(file) => Err(super::graph::no_onnx(file)),
            PredictorSource::Memory(name) => {
                let called = CallablePredictor::find(name, schema, self.rows)?;
                Ok(OpenPredictor {
                    predictor: Box::new(called.taking(taken.clone())),
                    ender: None,
                    taken,
                })
            }
            PredictorSource::Command(line) => {
                let timeout = Duration::try_from_secs_f64(self.timeout_seconds)
                    .unwrap_or(Duration::from_secs(u64::from(u32::MAX)));
                let started =
                    CommandPredictor::start(line, &self.directory, schema, timeout, self.rows)?;
                Ok(OpenPredictor {
                    ender: Some(started.ender()),
                    predictor: Box::new(started.taking(taken.clone())),
                    taken,
                })
            }
        }
    }

    /// Returns the SHA-256, in hex, of what can be known about what the predictor computes with:
    /// its schema; an ONNX file, the files beside it that hold its weights, and how it is used; a command line and every file that one of its
    /// words names; what a function of this process says of itself. Anything else that a process
    /// reads is not part of the hash.
    ///
    /// # Errors
    /// When such a file cannot be read.
    pub fn sha256(&self) -> Result<String, PredictorError> {
        identity_hash(&Identity {
            kind: "predictor",
            version: 1,
            schema: &self.schema,
            graph: match &self.source {
                PredictorSource::Onnx(_) => Some(&self.graph),
                PredictorSource::Command(_) | PredictorSource::Memory(_) => None,
            },
            files: files_of(&self.source, &self.directory)?,
            probabilities: self.probabilities,
        })
    }

    /// Returns the layout by which a search moves over the schema's inputs.
    pub fn layout(&self) -> InputLayout {
        InputLayout::unscaled(&self.schema.attributes)
    }
}

/// The data that [`PredictorOptions::sha256`] hashes.
#[derive(Serialize)]
struct Identity<'a> {
    kind: &'static str,
    version: u32,
    schema: &'a Schema,
    graph: Option<&'a GraphOptions>,
    files: Vec<Named>,
    #[serde(skip_serializing_if = "Probabilities::is_exact")]
    probabilities: Probabilities,
}

/// A word of a command line, with the hash of the file that it names, if it names one.
#[derive(Serialize)]
pub(super) struct Named {
    name: String,
    sha256: Option<String>,
}

impl Named {
    /// Names the file at `place`, whatever it is called; without a hash where there is none.
    pub(super) fn of_file(place: &Path) -> Result<Named, PredictorError> {
        Ok(Named {
            name: String::new(),
            sha256: is_file(place).then(|| hash_of(place)).transpose()?,
        })
    }
}

/// Returns what can be known about the files that `source` computes with, seen from `directory`.
pub(super) fn files_of(
    source: &PredictorSource,
    directory: &Path,
) -> Result<Vec<Named>, PredictorError> {
    let unnamed = |sha256| {
        let name = String::new();
        vec![Named {
            name,
            sha256: Some(sha256),
        }]
    };
    match source {
        // What the file is called has no influence on its answers.
        PredictorSource::Onnx(place) => {
            let mut files = unnamed(hash_of(place)?);
            let folder = place.parent().unwrap_or(Path::new(""));
            for name in weights_beside(place) {
                let sha256 = Some(hash_of(&folder.join(&name))?);
                files.push(Named { name, sha256 });
            }
            Ok(files)
        }
        PredictorSource::Memory(name) => Ok(unnamed(callable::sha256_of(name)?)),
        PredictorSource::Command(line) => {
            let words = words(line)?.into_iter();
            let named = words.map(|name| {
                let place = directory.join(&name);
                let sha256 = is_file(&place).then(|| hash_of(&place)).transpose()?;
                Ok(Named { name, sha256 })
            });
            named.collect()
        }
    }
}

/// Returns the SHA-256, in hex, of the canonical form of `identity`.
pub(super) fn identity_hash(identity: &impl Serialize) -> Result<String, PredictorError> {
    let identity = serde_json::to_value(identity)
        .map_err(|error| PredictorError::Identity(error.to_string()))?;
    Ok(hex(&Sha256::digest(canonical_json(&identity))))
}

/// Returns the names of the files beside the ONNX file at `place` that hold its weights. Whoever opens
/// a file that cannot be read says what is wrong with it.
#[cfg(feature = "onnx")]
fn weights_beside(place: &Path) -> Vec<String> {
    let read = probity_tensor::onnx::OnnxFile::read(place);
    read.map_or_else(|_| Vec::new(), |file| file.external_files())
}

/// Returns none: no ONNX file is opened.
#[cfg(not(feature = "onnx"))]
fn weights_beside(_: &Path) -> Vec<String> {
    Vec::new()
}

fn is_file(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.is_file())
}

fn hash_of(file: &Path) -> Result<String, PredictorError> {
    let unreadable = |reason: String| PredictorError::Read {
        file: file.display().to_string(),
        reason,
    };
    expect_rereadable(file).map_err(|error| unreadable(error.to_string()))?;
    file_sha256(file).map_err(|error| {
        unreadable(match &error {
            RunError::Read { source, .. } => source.to_string(),
            other => other.to_string(),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use probity_data::builtin;

    #[test]
    fn names_are_read_and_written() {
        for text in [
            "onnx:models/people.onnx",
            "command:python3 'my predict.py' --model m.joblib",
            "memory:model",
        ] {
            let source: PredictorSource = text.parse().unwrap();
            assert_eq!(source.to_string(), text);
        }
        for text in [
            "people.onnx",
            "onnx:",
            "memory:",
            "command:",
            "command:python3 'x",
            "python:x",
        ] {
            assert!(text.parse::<PredictorSource>().is_err(), "{text}");
        }
    }

    #[test]
    fn options_are_read_back_and_files_of_the_command_count() {
        let directory = tempfile::tempdir().unwrap();
        let options = PredictorOptions {
            source: "command:python3 predict.py".parse().unwrap(),
            directory: directory.path().to_owned(),
            timeout_seconds: 60.0,
            rows: 4096,
            graph: GraphOptions::default(),
            probabilities: Probabilities::default(),
            schema: builtin::schema("synthetic-census").unwrap().unwrap(),
        };
        let text = toml::to_string(&options).unwrap();
        assert_eq!(toml::from_str::<PredictorOptions>(&text).unwrap(), options);
        let script = directory.path().join("predict.py");
        let before = options.sha256().unwrap();
        fs::write(&script, "one").unwrap();
        let one = options.sha256().unwrap();
        fs::write(&script, "two").unwrap();
        let two = options.sha256().unwrap();
        assert!(before != one && one != two && before != two);
        assert_eq!(two, options.sha256().unwrap());
    }
}
