//! Audits a decision of one's own: anything that scores rows can be searched and estimated; it
//! gives no gradients, so the search takes a strategy that needs none.
//!
//! ```text
//! cargo run --release --example own_classifier
//! ```

use std::error::Error;

use probity::data::table::Labels;
use probity::fairness::strategies::StrategyName;
use probity::nn::{Classifier, ModelError, Rows};
use probity::{Audit, Schema, Table};

/// Hires by skill and experience, but asks women for more skill.
struct Hiring;

impl Classifier for Hiring {
    fn width(&self) -> usize {
        3
    }

    fn classes(&self) -> usize {
        2
    }

    /// Scores are as good as logits or probabilities: the larger one decides.
    fn logits(&self, rows: Rows<'_>) -> Result<Vec<f32>, ModelError> {
        let score = |row: &[i32]| {
            let asked = if row[2] == 0 { 9.5 } else { 8.5 };
            row[0] as f32 + 0.5 * row[1] as f32 - asked
        };
        Ok(rows.iter().flat_map(|row| [0.0, score(row)]).collect())
    }
}

const SCHEMA: &str = r#"
    name = "hiring"
    [label]
    name = "hired"
    classes = ["no", "yes"]
    [[attribute]]
    name = "skill"
    kind = "integer"
    min = 1
    max = 10
    [[attribute]]
    name = "years"
    kind = "integer"
    min = 0
    max = 20
    [[attribute]]
    name = "sex"
    kind = "categorical"
    levels = ["female", "male"]
    protected = true
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let schema = Schema::from_toml(SCHEMA)?;
    let directory = tempfile::tempdir()?;
    let file = directory.path().join("people.csv");
    std::fs::write(
        &file,
        "skill,years,sex\n3,2,female\n7,3,male\n9,0,female\n2,15,male\n",
    )?;
    let people = Table::read(&file, &schema, Labels::Optional)?;

    let audit = Audit::new(&Hiring, (&schema, &people))
        .strategy(StrategyName::AdfZeroOrder)
        .run()?;
    println!("Of the rows: {}", audit.share());
    for pair in audit.pairs().take(5) {
        println!("{} → {}", pair.left(), pair.right());
    }

    let refused = Audit::new(&Hiring, (&schema, &people))
        .strategy(StrategyName::Adf)
        .run();
    if let Err(why) = refused {
        println!("{why}");
    }
    Ok(())
}
