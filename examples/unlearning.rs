//! Deletes people from a clustering and from a sum-product network: what is left is, bit for bit, what learning without
//! them gives.
//!
//! ```text
//! cargo run --release --example unlearning
//! ```

use std::error::Error;

use probity::unlearning::kmeans::{KMeans, Points};
use probity::unlearning::spn::{Dataset, Domain, LeafFamily, SpnParameters, Variable};

fn main() -> Result<(), Box<dyn Error>> {
    // Age and income of people 1 to 6, between declared bounds.
    let values = [
        23., 21e3, 27., 24e3, 31., 26e3, 58., 81e3, 61., 90e3, 64., 85e3,
    ];
    let people = Points::from_values((1..=6).collect(), &values, &[(0., 120.), (0., 200e3)])?;
    let kmeans = KMeans::new(2).seed(1);
    let mut model = kmeans.fit(&people)?;
    model.delete(&[3, 5])?;
    let retrained = kmeans.fit(&people.without(&[3, 5])?)?;
    println!(
        "k-means as if learnt without: {}",
        model.to_bytes()? == retrained.to_bytes()?
    );

    let age = Domain::Integer { min: 0, max: 120 };
    let smokes = Domain::Categorical {
        levels: vec!["no".into(), "yes".into()],
    };
    let variables = vec![
        Variable::new("age".into(), age, LeafFamily::Gaussian)?,
        Variable::new("smokes".into(), smokes, LeafFamily::Categorical)?,
    ];
    let values = [23., 1., 27., 1., 31., 0., 58., 0., 61., 0., 64., 1.];
    let people = Dataset::new(variables, &[1, 2, 3, 4, 5, 6], &[], &values)?;
    let mut spn = SpnParameters::default().min_rows(2).seed(1).learn(people)?;
    spn.delete(&[3, 5])?;
    println!(
        "SPN as if learnt without: {}",
        spn.to_bytes()? == spn.retrained()?.to_bytes()?
    );
    let smokes_at_25 = spn.network().posterior(1, &[Some(25.), None])?[1];
    println!("P(smokes | 25) = {smokes_at_25:.2}");
    Ok(())
}
