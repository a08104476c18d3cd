use super::*;
use std::collections::BTreeMap;

/// An answering side that gives a text the score 1/length; it leaves the texts in `open` without an
/// answer, each so many times, and notes what it is asked.
#[derive(Clone, Default)]
struct Scores {
    open: BTreeMap<&'static str, u32>,
    asked: Arc<Mutex<Vec<String>>>,
    noise: bool,
}

impl Backend for Scores {
    fn receive(&mut self, texts: &[&str]) -> Result<Unread, PredictorError> {
        let mut asked = self.asked.lock().unwrap();
        let mut score = |text: &&str| {
            let before = asked.iter().filter(|other| other == text).count();
            asked.push((*text).to_owned());
            if (before as u32) < self.open.get(text).copied().unwrap_or(0) {
                return None;
            }
            let score = match self.noise {
                true => f64::from(u8::from(before % 3 != 1)) * 0.5 + 0.25,
                false => 1.0 / text.len() as f64,
            };
            Some(smallvec::smallvec![1.0 - score, score])
        };
        let reply = Reply {
            probabilities: texts.iter().map(&mut score).collect(),
            retry_after: Some(Duration::from_millis(1)),
            reason: "not now".to_owned(),
        };
        Ok(Box::new(|| Ok(reply)))
    }

    fn begin_anew(&mut self) {}
}

fn asking(scores: &Scores, at_once: usize, pace: Pace) -> Asking {
    let answering = (0..at_once).map(|_| Box::new(scores.clone()) as Box<dyn Backend>);
    let classes = ["no", "yes"].map(str::to_owned).to_vec();
    let answering = (answering.collect(), KillHandle::default());
    Asking::new(answering, (classes, vec![0, 1]), pace)
}

const PACE: Pace = Pace {
    texts: 3,
    least: 1,
    rate: None,
    retries: 3,
    votes: 1,
    probabilities: Sums::Exact,
};

#[test]
fn what_several_ask_is_asked_once() {
    let texts: Vec<String> = (1..60).map(|length| "x".repeat(length)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let mut answers = Vec::new();
    for at_once in [1, 4] {
        let scores = Scores::default();
        let asking = asking(&scores, at_once, PACE);
        let logits = thread::scope(|scope| {
            let ask = || scope.spawn(|| asking.logits(&texts).unwrap());
            let asked = [ask(), ask(), ask()];
            asked.map(|thread| thread.join().unwrap())
        });
        assert!(logits.iter().all(|other| *other == logits[0]));
        assert_eq!(scores.asked.lock().unwrap().len(), texts.len());
        asking.ask_anew(&texts[..2]).unwrap();
        assert_eq!(scores.asked.lock().unwrap().len(), texts.len() + 2);
        answers.push(logits[0].clone());
    }
    assert_eq!(answers[0], answers[1]);
    assert!((f64::from(answers[0][3]).exp() - 0.5).abs() < 1e-6);
}

#[test]
fn what_gets_no_answer_is_asked_again_but_not_for_ever() {
    let open = BTreeMap::from([("later", 2), ("never", 9)]);
    let scores = Scores {
        open,
        ..Scores::default()
    };
    let asking = asking(&scores, 2, PACE);
    let logits = asking.logits(&["now", "later", "now"]).unwrap();
    assert!((f64::from(logits[3]).exp() - 0.2).abs() < 1e-6);
    let asked = |text: &str| {
        let asked = scores.asked.lock().unwrap();
        asked.iter().filter(|other| *other == text).count()
    };
    assert_eq!((asked("now"), asked("later")), (1, 3));
    for _ in 0..2 {
        let error = asking.logits(&["never"]).unwrap_err();
        let cause = std::error::Error::source(&error).unwrap().to_string();
        assert!(cause.contains("\"never\" in 4 tries"), "{cause}");
        assert!(cause.ends_with("not now"), "{cause}");
    }
    assert_eq!(asked("never"), 4);
}

#[test]
fn most_votes_count() {
    let scores = Scores {
        noise: true,
        ..Scores::default()
    };
    // 0.75, 0.25, 0.75: the mean of those that say yes.
    let logits = asking(&scores, 2, Pace { votes: 3, ..PACE })
        .logits(&["a"])
        .unwrap();
    assert!(
        (f64::from(logits[1]).exp() - 0.75).abs() < 1e-6,
        "{logits:?}"
    );
    assert_eq!(scores.asked.lock().unwrap().len(), 3);
}

#[test]
fn no_more_are_asked_in_a_second_than_allowed() {
    let scores = Scores::default();
    let pace = Pace {
        rate: Some(100.0),
        ..PACE
    };
    let texts = ["a", "bb", "ccc", "dddd", "eeeee"];
    asking(&scores, 4, pace.clone()).logits(&texts).unwrap();
    // Here nobody answers: what may be asked, and when, goes by a clock of the test's own.
    let asking = asking(&scores, 0, pace);
    let mut state = asking.shared.state();
    for length in 1..31 {
        state.enqueue(&"x".repeat(length));
    }
    let hundredth = Duration::from_millis(10);
    let (start, mut asked) = (state.free_at, 0);
    while !state.ready.is_empty() {
        // The first request is sent at once, each other one when those before have had their time.
        let now = state.due().unwrap();
        assert_eq!(now, start + hundredth * asked);
        asked += asking.shared.share(&mut state, now).len() as u32;
    }
    assert_eq!(asked, 30);
    // Time in which nothing was asked is not made up for.
    let late = start + Duration::from_secs(5);
    state.enqueue("y");
    asking.shared.share(&mut state, late);
    assert_eq!(state.free_at, late + hundredth);
}
