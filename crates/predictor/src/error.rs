//! Errors of predictors.

use thiserror::Error;

/// The reason why a predictor cannot be used. Cheap to copy: every thread that waits for a
/// predictor that failed gets the same error.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum PredictorError {
    /// The name of a predictor has no known form.
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
        /// The error message of the system.
        reason: String,
    },
    /// The process ended while an answer was expected.
    #[error("the predictor ended ({status}) after {answered} answered batches{errors}")]
    Ended {
        /// The exit status of the process.
        status: String,
        /// The number of batches that the process answered before.
        answered: u64,
        /// The last lines that the process wrote to its standard error.
        errors: String,
    },
    /// The process closed one of its streams and goes on running.
    #[error(
        "the predictor closed its standard {stream} after {answered} answered batches; it must read and answer until the input ends{errors}"
    )]
    Closed {
        /// The name of the stream, `input` or `output`.
        stream: &'static str,
        /// The number of batches that the process answered before.
        answered: u64,
        /// The last lines that the process wrote to its standard error.
        errors: String,
    },
    /// The process did not answer in time.
    #[error(
        "the predictor gave no answer to {} within {seconds} s; allow more in predictor.timeout{errors}",
        asked(*rows)
    )]
    Slow {
        /// The number of rows asked for; 0 for the greeting.
        rows: usize,
        /// The time limit in seconds.
        seconds: f64,
        /// The last lines that the process wrote to its standard error.
        errors: String,
    },
    /// The answer is not what the protocol asks for.
    #[error(
        "line {line} of the predictor's output is no answer: {problem}: {excerpt}; its standard output is for answers only, anything else belongs on standard error"
    )]
    Garbage {
        /// The number of the output line, from 1.
        line: u64,
        /// The problem with the line.
        problem: String,
        /// The place of the problem, quoted.
        excerpt: String,
    },
    /// A line is longer than any answer needs to be.
    #[error(
        "line {line} of the predictor's output has more than {bytes} bytes, more than any answer to {rows} rows needs"
    )]
    TooLong {
        /// The number of the output line, from 1.
        line: u64,
        /// The limit in bytes.
        bytes: usize,
        /// The number of rows asked for.
        rows: usize,
    },
    /// The process wrote a line that answers no request.
    #[error(
        "line {line} of the predictor's output came unasked: {excerpt}; it must write one line for each line that it reads"
    )]
    Unasked {
        /// The number of the output line, from 1.
        line: u64,
        /// The beginning of the line.
        excerpt: String,
    },
    /// The process says that it cannot answer.
    #[error("the predictor reports: {0}")]
    Reported(String),
    /// No function of this process is registered under the name.
    #[error(
        "no model of this process is called '{0}'; it can be asked only where it was registered"
    )]
    Absent(String),
    /// Another function of this process is registered under the name.
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
        /// The count of numbers given.
        numbers: usize,
        /// The number of rows asked for.
        rows: usize,
        /// The number of classes of the schema.
        classes: usize,
    },
    /// The process speaks another version of the protocol.
    #[error("the predictor speaks version {theirs} of the protocol; this program speaks {ours}")]
    Protocol {
        /// The version that the process speaks.
        theirs: u64,
        /// The version that this program speaks.
        ours: u64,
    },
    /// The process knows other classes.
    #[error(
        "the predictor's classes are {theirs}, but the schema's label has {ours}; they must be the same, in any order"
    )]
    Classes {
        /// The process's classes.
        theirs: String,
        /// The classes of the schema.
        ours: String,
    },
    /// Neither the predictor nor the user has named the classes.
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
        /// The classes of the specification.
        ours: String,
    },
    /// A text was asked about again and again without an answer.
    #[error(
        "the predictor gave no answer to {text} in {tries} tries (predictor.retries sets how many more than one): {reason}"
    )]
    Unanswered {
        /// The text.
        text: String,
        /// The number of times that the text was asked about.
        tries: u32,
        /// The reason that the predictor gives.
        reason: String,
    },
    /// The predictor gave two different answers to the same text.
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
    /// The number of answers differs from the number of rows.
    #[error("the predictor answered {found} rows where {asked} were asked for (batch {batch})")]
    Rows {
        /// The number of the batch, from 1.
        batch: u64,
        /// The number of rows asked for.
        asked: usize,
        /// The number of rows answered.
        found: usize,
    },
    /// A regressor's answer is no finite number in 32 bits.
    #[error("the predictor gave {value}, which is no finite number in 32 bits, for {row}")]
    Number {
        /// The row that was asked about, in words.
        row: String,
        /// The number that the regressor gave.
        value: f64,
    },
    /// The number of probabilities differs from the number of classes.
    #[error("the predictor gave {found} numbers where there are {classes} classes, for {row}")]
    Width {
        /// The row.
        row: String,
        /// The number of classes of the schema.
        classes: usize,
        /// The count of numbers given.
        found: usize,
    },
    /// A number that is no probability.
    #[error("the predictor gave {value} as the probability of '{class}', for {row}{}", of_value(*value))]
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
        /// The sum of the probabilities.
        sum: f64,
        /// The sums that are allowed, and advice on what to do.
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
    /// The predictor gave two different answers to the same row.
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
        /// The problem, and what was expected.
        problem: String,
    },
    /// An ONNX file cannot be used.
    #[error("{0}")]
    Onnx(String),
    /// The identity of the predictor has no form that can be hashed.
    #[error("the schema of the predictor cannot be written: {0}")]
    Identity(String),
    /// A file that identifies the predictor cannot be read.
    #[error("cannot read {file}: {reason}")]
    Read {
        /// The file.
        file: String,
        /// The error message of the system.
        reason: String,
    },
}

/// Describes in words what was asked.
fn asked(rows: usize) -> String {
    match rows {
        0 => "the greeting".to_owned(),
        rows => format!("a batch of {rows} rows (predictor.rows sets how many)"),
    }
}

impl PredictorError {
    /// Returns whether trying again may help: the process ended or was too slow, rather than wrong.
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

/// Returns what a number that is no probability may come of.
fn of_value(value: f64) -> &'static str {
    match value {
        value if value.is_nan() => {
            "; a missing number enters as NaN, which the model has to expect"
        }
        value if !(0.0..=1.0).contains(&value) => {
            "; if the output of an ONNX graph is logits, say --onnx-gives logits"
        }
        _ => "",
    }
}
