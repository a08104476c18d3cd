//! Why a predictor cannot be used.

use thiserror::Error;

/// Why a predictor cannot be used. Cheap to copy: every thread that waits for a predictor that
/// failed gets the same error.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum PredictorError {
    /// A predictor is named in no known way.
    #[error(
        "the predictor '{0}' is neither onnx:FILE nor command:COMMAND LINE, such as \"command:python3 predict.py\""
    )]
    Source(String),
    /// The command line cannot be split into words.
    #[error("the command line '{0}' has a quote that is not closed, or no words")]
    Words(String),
    /// The process cannot be started.
    #[error("cannot start the predictor '{command}': {reason}")]
    Start {
        /// The command line.
        command: String,
        /// What the system says.
        reason: String,
    },
    /// The process ended while an answer was expected.
    #[error("the predictor ended ({status}) after {answered} answered batches{errors}")]
    Ended {
        /// Its exit status.
        status: String,
        /// Batches that it answered before.
        answered: u64,
        /// The end of what it wrote to its standard error.
        errors: String,
    },
    /// The process closed one of its streams and goes on running.
    #[error(
        "the predictor closed its standard {stream} after {answered} answered batches; it must read and answer until the input ends{errors}"
    )]
    Closed {
        /// `input` or `output`.
        stream: &'static str,
        /// Batches that it answered before.
        answered: u64,
        /// The end of what it wrote to its standard error.
        errors: String,
    },
    /// No answer in time.
    #[error(
        "the predictor gave no answer to {} within {seconds} s; allow more in predictor.timeout{errors}",
        asked(*rows)
    )]
    Slow {
        /// Rows asked for; 0 for the greeting.
        rows: usize,
        /// The limit.
        seconds: f64,
        /// The end of what it wrote to its standard error.
        errors: String,
    },
    /// The answer is not what the protocol asks for.
    #[error(
        "line {line} of the predictor's output is no answer: {problem}: {excerpt}; its standard output is for answers only, anything else belongs on standard error"
    )]
    Garbage {
        /// Line of its output, from 1.
        line: u64,
        /// What is wrong.
        problem: String,
        /// The place, quoted.
        excerpt: String,
    },
    /// A line that never ends.
    #[error(
        "line {line} of the predictor's output has more than {bytes} bytes, more than any answer to {rows} rows needs"
    )]
    TooLong {
        /// Line of its output, from 1.
        line: u64,
        /// The limit.
        bytes: usize,
        /// Rows asked for.
        rows: usize,
    },
    /// Output that nobody asked for.
    #[error(
        "line {line} of the predictor's output came unasked: {excerpt}; it must write one line for each line that it reads"
    )]
    Unasked {
        /// Line of its output, from 1.
        line: u64,
        /// Its beginning.
        excerpt: String,
    },
    /// The process says that it cannot answer.
    #[error("the predictor reports: {0}")]
    Reported(String),
    /// No function of this process has the name.
    #[error(
        "no model of this process is called '{0}'; it can be asked only where it was registered"
    )]
    Absent(String),
    /// Another function of this process has the name.
    #[error("there is another model of the name '{0}' in this process")]
    Taken(String),
    /// A function of this process failed.
    #[error("the model raised an exception: {0}")]
    Raised(String),
    /// A function of this process gave another number of probabilities.
    #[error(
        "the model gave {numbers} numbers for {rows} rows of {classes} classes; it must give one for each class of each row"
    )]
    Shape {
        /// Numbers given.
        numbers: usize,
        /// Rows asked for.
        rows: usize,
        /// Classes of the schema.
        classes: usize,
    },
    /// The process speaks another version of the protocol.
    #[error("the predictor speaks version {theirs} of the protocol; this program speaks {ours}")]
    Protocol {
        /// The process's version.
        theirs: u64,
        /// Ours.
        ours: u64,
    },
    /// The process knows other classes.
    #[error(
        "the predictor's classes are {theirs}, but the schema's label has {ours}; they must be the same, in any order"
    )]
    Classes {
        /// The process's classes.
        theirs: String,
        /// Those of the schema.
        ours: String,
    },
    /// Nobody has said what the classes are called.
    #[error(
        "the predictor does not say its classes; name them in predictor.classes, in the order of its probabilities"
    )]
    NoClasses,
    /// A predictor of texts names its classes otherwise, or too few.
    #[error(
        "the predictor's classes are {theirs}; they must be two or more different ones, and the same as in predictor.classes, where they are named ({ours})"
    )]
    TextClasses {
        /// The predictor's classes.
        theirs: String,
        /// Those of the specification.
        ours: String,
    },
    /// A text was asked about again and again without an answer.
    #[error(
        "the predictor gave no answer to {text} in {tries} tries (predictor.retries sets how many more than one): {reason}"
    )]
    Unanswered {
        /// The text.
        text: String,
        /// How often it was asked.
        tries: u32,
        /// What it says.
        reason: String,
    },
    /// The same text, another answer.
    #[error(
        "the predictor is not a function of the text: it gave {first} and then {second} as the probability of '{class}', for {text}; make it repeatable, or have it asked several times (predictor.votes), or allow small differences (predictor.tolerance)"
    )]
    UnstableText {
        /// The text.
        text: String,
        /// The class.
        class: String,
        /// The first answer.
        first: f32,
        /// The other answer.
        second: f32,
    },
    /// Another number of answers than of rows.
    #[error("the predictor answered {found} rows where {asked} were asked for (batch {batch})")]
    Rows {
        /// Number of the batch, from 1.
        batch: u64,
        /// Rows asked for.
        asked: usize,
        /// Rows answered.
        found: usize,
    },
    /// What a regressor gives is no finite number in 32 bits.
    #[error("the predictor gave {value}, which is no finite number in 32 bits, for {row}")]
    Number {
        /// What was asked.
        row: String,
        /// What it gave.
        value: f64,
    },
    /// Another number of probabilities than of classes.
    #[error("the predictor gave {found} numbers where there are {classes} classes, for {row}")]
    Width {
        /// The row.
        row: String,
        /// Classes of the schema.
        classes: usize,
        /// Numbers given.
        found: usize,
    },
    /// A number that is no probability.
    #[error("the predictor gave {value} as the probability of '{class}', for {row}")]
    Value {
        /// The row.
        row: String,
        /// The class.
        class: String,
        /// The number.
        value: f64,
    },
    /// Probabilities that do not sum to one.
    #[error("the predictor's probabilities sum to {sum}, not to 1, for {row}; {advice}")]
    Sum {
        /// The row.
        row: String,
        /// Their sum.
        sum: f64,
        /// What they may be, and what to do then.
        advice: &'static str,
    },
    /// A regressor that gives the same row another number.
    #[error(
        "the predictor gave {row} the number {first}, and then {second}; it must always answer alike"
    )]
    UnstableNumber {
        /// The row.
        row: String,
        /// The first answer.
        first: f32,
        /// The other answer.
        second: f32,
    },
    /// The same row, another answer.
    #[error(
        "the predictor is not a function of the row: it gave {first} and then {second} as the probability of '{class}', for {row}; fix its random seed, and let no row influence another"
    )]
    Unstable {
        /// The row.
        row: String,
        /// The class.
        class: String,
        /// The first answer.
        first: f32,
        /// The other answer.
        second: f32,
    },
    /// An ONNX graph whose inputs or outputs do not fit the schema.
    #[error("{file}: {problem}")]
    Graph {
        /// The file.
        file: String,
        /// What is wrong, what was expected.
        problem: String,
    },
    /// An ONNX file cannot be used.
    #[error("{0}")]
    Onnx(String),
    /// What identifies the predictor has no form to be hashed.
    #[error("the schema of the predictor cannot be written: {0}")]
    Identity(String),
    /// A file that identifies the predictor cannot be read.
    #[error("cannot read {file}: {reason}")]
    Read {
        /// The file.
        file: String,
        /// What the system says.
        reason: String,
    },
}

/// What was asked.
fn asked(rows: usize) -> String {
    match rows {
        0 => "the greeting".to_owned(),
        rows => format!("a batch of {rows} rows (predictor.rows sets how many)"),
    }
}

impl PredictorError {
    /// Whether trying again may help: the process ended or was too slow, rather than wrong.
    pub fn is_circumstance(&self) -> bool {
        matches!(
            self,
            PredictorError::Ended { .. }
                | PredictorError::Closed { .. }
                | PredictorError::Slow { .. }
                | PredictorError::Raised(_)
                | PredictorError::Unanswered { .. }
        )
    }
}
