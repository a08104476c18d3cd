//! The lines that Probity and a process that classifies texts exchange: those of
//! [`crate::protocol`], with texts in the place of rows.
//!
//! ```text
//! → {"probity":"text predictor","protocol":1,"classes":null,"texts_at_most":4096}
//! ← {"protocol":1,"classes":["polite","rude"]}
//! → {"batch":1,"texts":["a text","another one"]}
//! ← {"batch":1,"probabilities":[[0.9,0.1],null],"retry_after":2.5,"reason":"too many requests"}
//! ```
//!
//! `null` is a text about which nothing can be said now; it is asked about again.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::error::PredictorError;
use crate::probabilities::of_score;
use crate::protocol::{VERSION, check_batch, expect_version, garbage, parse};

/// The first line that a process gets.
#[derive(Debug, Serialize)]
pub struct Greeting<'a> {
    /// The kind of the conversation, always `text predictor`.
    pub probity: &'static str,
    /// The version of the protocol.
    pub protocol: u64,
    /// The classes in the order in which scores are read; `null` where the process says them.
    pub classes: Option<&'a [String]>,
    /// The largest number of texts of a batch.
    pub texts_at_most: usize,
}

impl<'a> Greeting<'a> {
    /// Creates the greeting of a process whose classes are `classes`, if they are given.
    pub fn new(classes: Option<&'a [String]>, texts_at_most: usize) -> Greeting<'a> {
        Greeting {
            probity: "text predictor",
            protocol: VERSION,
            classes,
            texts_at_most,
        }
    }
}

/// The answer to the greeting.
#[derive(Debug, Deserialize)]
struct Line {
    protocol: Option<u64>,
    classes: Option<Vec<String>>,
    texts_at_most: Option<usize>,
    error: Option<String>,
}

/// The description that a process gives of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Welcome {
    /// The classes, by number.
    pub classes: Vec<String>,
    /// For each class, the place of its probability among the process's numbers.
    pub order: Vec<usize>,
    /// The largest number of texts that the process wants at a time.
    pub texts_at_most: Option<usize>,
}

impl Welcome {
    /// Reads the description in `line`, of a process whose classes are `given`, if they are.
    ///
    /// # Errors
    /// When the line is no welcome or of another version, or the classes are not known or others.
    pub fn read(
        line: &[u8],
        number: u64,
        given: Option<&[String]>,
    ) -> Result<Welcome, PredictorError> {
        let read: Line = parse(line, number)?;
        if let Some(error) = read.error {
            return Err(PredictorError::Reported(error));
        }
        expect_version(read.protocol, line, number)?;
        if read.texts_at_most == Some(0) {
            let problem = "\"texts_at_most\" must be 1 or more".to_owned();
            return Err(garbage(line, number, problem, 0));
        }
        let classes = match (given, &read.classes) {
            (Some(given), _) => given.to_vec(),
            (None, Some(theirs)) => theirs.clone(),
            (None, None) => return Err(PredictorError::NoClasses),
        };
        let theirs = read.classes.unwrap_or_else(|| classes.clone());
        let place = |class| theirs.iter().position(|other| other == class);
        let order: Option<Vec<usize>> = classes.iter().map(place).collect();
        match order {
            Some(order) if theirs.len() == classes.len() => {
                expect_classes(&classes, given)?;
                Ok(Welcome {
                    classes,
                    order,
                    texts_at_most: read.texts_at_most,
                })
            }
            _ => Err(wrong_classes(&theirs, given)),
        }
    }
}

/// Refuses classes that are not two or more different ones; `given` are those that were asked for.
pub(super) fn expect_classes(
    classes: &[String],
    given: Option<&[String]>,
) -> Result<(), PredictorError> {
    let mut again = (0..classes.len()).filter(|&place| classes[..place].contains(&classes[place]));
    match classes.len() > 1 && again.next().is_none() {
        true => Ok(()),
        false => Err(wrong_classes(classes, given)),
    }
}

fn wrong_classes(theirs: &[String], given: Option<&[String]>) -> PredictorError {
    PredictorError::TextClasses {
        theirs: theirs.join(", "),
        ours: given.unwrap_or_default().join(", "),
    }
}

/// The probabilities of a text.
pub type Probabilities = SmallVec<[f64; 4]>;

/// The answer of a process about some texts.
#[derive(Debug, Default, PartialEq)]
pub struct Reply {
    /// For each text, its probabilities in the process's order, or nothing where the process has no
    /// answer yet.
    pub probabilities: Vec<Option<Probabilities>>,
    /// The time to leave the process alone before texts without an answer are asked about again.
    pub retry_after: Option<Duration>,
    /// The reason why some texts have no answer.
    pub reason: String,
}

#[derive(Debug, Deserialize)]
struct Answer {
    batch: Option<u64>,
    probabilities: Option<Vec<Option<Probabilities>>>,
    scores: Option<Vec<Option<f64>>>,
    retry_after: Option<f64>,
    reason: Option<String>,
    error: Option<String>,
}

impl Reply {
    /// Reads line `number`, the answer to `batch`, about `texts` texts.
    ///
    /// # Errors
    /// When it is no such answer. The probabilities themselves are not looked at.
    pub fn read(
        line: &[u8],
        number: u64,
        batch: u64,
        texts: usize,
    ) -> Result<Reply, PredictorError> {
        let answer: Answer = parse(line, number)?;
        if let Some(error) = answer.error {
            return Err(PredictorError::Reported(error));
        }
        check_batch(answer.batch, batch, line, number)?;
        let probabilities = match (answer.probabilities, answer.scores) {
            (Some(probabilities), None) => probabilities,
            (None, Some(scores)) => {
                let both =
                    |score: Option<f64>| score.map(|score| SmallVec::from_slice(&of_score(score)));
                scores.into_iter().map(both).collect()
            }
            _ => {
                let problem = "it must have either \"probabilities\" or \"scores\"".to_owned();
                return Err(garbage(line, number, problem, 0));
            }
        };
        if probabilities.len() != texts {
            return Err(PredictorError::Rows {
                batch,
                asked: texts,
                found: probabilities.len(),
            });
        }
        let wait = answer.retry_after.map(Duration::try_from_secs_f64);
        let retry_after = wait.transpose().map_err(|_| {
            let problem = "\"retry_after\" must be a number of seconds".to_owned();
            garbage(line, number, problem, 0)
        })?;
        Ok(Reply {
            probabilities,
            retry_after,
            reason: answer.reason.unwrap_or_default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn welcomes_name_the_classes() {
        let given = ["rude", "polite"].map(str::to_owned);
        let read = |line: &str, given| Welcome::read(line.as_bytes(), 1, given);
        let own = read(
            r#"{"protocol":1,"classes":["a","b"],"texts_at_most":1}"#,
            None,
        )
        .unwrap();
        assert_eq!((own.order, own.texts_at_most), (vec![0, 1], Some(1)));
        let turned = read(
            r#"{"protocol":1,"classes":["polite","rude"]}"#,
            Some(&given),
        )
        .unwrap();
        assert_eq!((turned.classes, turned.order), (given.to_vec(), vec![1, 0]));
        for (line, given, needle) in [
            (r#"{"protocol":1}"#, None, "predictor.classes"),
            (
                r#"{"protocol":1,"classes":["a","b"],"texts_at_most":0}"#,
                None,
                "texts_at_most",
            ),
            (r#"{"protocol":2,"classes":["a","b"]}"#, None, "version 2"),
            (r#"{"protocol":1,"classes":["a"]}"#, None, "are a"),
            (r#"{"protocol":1,"classes":["a","a"]}"#, None, "a, a"),
            (
                r#"{"protocol":1,"classes":["x","y"]}"#,
                Some(&given[..]),
                "rude, polite",
            ),
            (r#"{"error":"no model"}"#, None, "no model"),
            ("Loading", None, "'Loading'"),
        ] {
            let error = read(line, given).unwrap_err().to_string();
            assert!(error.contains(needle), "{error}");
        }
    }

    #[test]
    fn replies_may_leave_texts_open() {
        let read = |line: &str| Reply::read(line.as_bytes(), 2, 3, 2);
        let reply = read(r#"{"batch":3,"scores":[0.25,null],"retry_after":1.5}"#).unwrap();
        assert_eq!(
            reply.probabilities,
            [Some(Probabilities::from_slice(&[0.75, 0.25])), None]
        );
        assert_eq!(reply.retry_after, Some(Duration::from_millis(1500)));
        for (line, needle) in [
            (r#"{"batch":3,"scores":[0.5]}"#, "answered 1 rows where 2"),
            (r#"{"batch":2,"scores":[1,1]}"#, "it answers batch 2"),
            (
                r#"{"batch":3,"scores":[null,null],"retry_after":-1}"#,
                "retry_after",
            ),
            (r#"{"batch":3,"probabilities":[[NaN],[1]]}"#, "NaN"),
            (r#"{"batch":3}"#, "either"),
        ] {
            let error = read(line).unwrap_err().to_string();
            assert!(error.contains(needle), "{error}");
        }
    }
}
