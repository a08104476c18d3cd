//! Audits a network of tables: trains one on a synthetic census in which discrimination is planted,
//! saves it, loads it and shows whom it treats differently for their sex alone.
//!
//! ```text
//! cargo run --release --example audit_table
//! ```

use std::error::Error;
use std::ops::ControlFlow;

use probity::data::{builtin, synthetic::synthetic_census};
use probity::nn::train::{options::TableOptions, table::train};
use probity::tensor::device::ComputeDevice;
use probity::{Audit, Model};

fn main() -> Result<(), Box<dyn Error>> {
    // Of one's own: Table::read("people.csv", &schema, Labels::Required), or Table::from_arrow.
    let schema = builtin::schema("synthetic-census")?.ok_or("no such schema")?;
    let table = synthetic_census(&schema, 10_000, 1);
    let (options, flex) = (TableOptions::default(), ComputeDevice::flex());
    let network = train(&table, &schema, &options, &flex, None, &mut |_, _| {
        ControlFlow::Continue(())
    })?
    .network;
    let directory = tempfile::tempdir()?;
    Model { schema, network }.save(directory.path())?;

    let model = Model::load(directory.path())?;
    let audit = Audit::new(&model, &table)
        .protected(["sex", "age"])
        .seeds(200)
        .local(100)
        .run()?;
    println!("Of the rows: {}", audit.share());
    for share in audit.shares() {
        let by = share.protected.join(" + ");
        println!("Of random inputs, by {by}: {share}");
    }
    for pair in audit.pairs().take(5) {
        println!("{}\n{}", pair.left(), pair.right());
        for change in pair.changed() {
            println!("    {change}");
        }
    }
    Ok(())
}
