//! What the commands on networks share: arguments that are no fields of a specification, and where
//! a threshold is from.

use std::collections::BTreeMap;

use clap::Args;

use crate::cli::fields::Fields;
use probity::run::specification::Specification;
use probity::unlearning::spn::{Independence, LeafFamily, SpnParameters};

/// Families of leaves, which the command line has a short form for.
#[derive(Debug, Args)]
#[command(next_help_heading = "Table")]
pub(super) struct LeafArgs {
    /// Family of a column's leaves: COLUMN=categorical|gaussian|poisson|histogram; may be repeated
    #[arg(id = "table.leaves", long = "leaf", value_name = "COLUMN=FAMILY", value_parser = leaf)]
    leaves: Vec<(String, LeafFamily)>,
}

impl LeafArgs {
    /// Gives them to `fields`.
    pub fn set<S: Specification>(self, fields: &mut Fields<S>) -> anyhow::Result<()> {
        let leaves: BTreeMap<String, LeafFamily> = self.leaves.into_iter().collect();
        if !leaves.is_empty() {
            fields.set("table.leaves", serde_json::to_value(leaves)?);
        }
        Ok(())
    }
}

fn leaf(text: &str) -> Result<(String, LeafFamily), String> {
    let named = text.rsplit_once('=').and_then(|(column, family)| {
        let mut families = LeafFamily::ALL.into_iter();
        let family = families.find(|known| known.name().eq_ignore_ascii_case(family))?;
        Some((column.to_owned(), family))
    });
    named.ok_or_else(|| "a column and a family such as age=gaussian are expected".to_owned())
}

/// Where the threshold of a network with these parameters is from.
pub(super) fn origin(parameters: &SpnParameters) -> &'static str {
    match (parameters.threshold, parameters.independence) {
        (Some(_), _) => "given",
        (None, Independence::Gtest) => "chosen on rows held out",
        (None, Independence::Rdc) => "the usual one",
    }
}
