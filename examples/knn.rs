//! Asks of k-NN predictions whether a few poisoned training rows could have changed them.
//!
//! ```text
//! cargo run --release --example knn
//! ```

use std::error::Error;

use probity::knn::{Analysis, Deadline, Method, Parameters, TrainingSet, Verdict};

fn main() -> Result<(), Box<dyn Error>> {
    // One column: a group around 0, one around 5.
    let features = vec![0.0, 0.1, 0.2, 0.3, 0.4, 5.0, 5.1, 5.2, 5.3, 5.4];
    let training = TrainingSet::new(features, 1, vec![0, 0, 0, 0, 0, 1, 1, 1, 1, 1])?;
    let parameters = Parameters::default().folds(5).seed(7);
    let system = parameters.candidates(1, 3).poison(1).learn(training)?;
    let analysis = Analysis::new(&system);
    for input in [0.15, 2.6, 2.7, 5.0] {
        let decision = analysis.decide(&[input], Method::Auto, Deadline::never())?;
        match decision.verdict {
            Verdict::Certified(_) => {
                println!("{input}: class {} whichever row is wrong", decision.label)
            }
            Verdict::Falsified(violation) => {
                println!(
                    "{input}: class {}, but not without rows {:?}",
                    decision.label, violation.removal
                );
            }
            Verdict::Unknown => println!("{input}: class {}; not decided", decision.label),
        }
    }
    Ok(())
}
