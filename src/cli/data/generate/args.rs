//! Arguments of `probity data generate`, and where its rows go.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::ensure;
use clap::{Args, ValueEnum};

use crate::cli::numbers::{MOST_ROWS, seed, whole};
use crate::cli::out::Force;
use crate::cli::output::print;
use probity::data::compressed;
use probity::fairness::opened::open_lexicon;
use probity::fairness::text::preset::Preset;
use probity::text::lexicon::Lexicon;

/// Arguments of `probity data generate`.
#[derive(Debug, Args)]
#[command(
    after_help = "Row i depends on --seed and i alone: more --rows add some and change none."
)]
pub(in crate::cli::data) struct GenerateArgs {
    /// What to generate
    #[arg(value_enum)]
    pub(super) name: Generated,
    /// People or comments to write [default: 20000]
    #[arg(long, value_name = "N", value_parser = whole::<u32>(1..=MOST_ROWS), allow_hyphen_values = true)]
    rows: Option<u32>,
    /// People: hired by a rule that never sees sex, which yet moves what the rule sees
    #[arg(long)]
    hidden: bool,
    /// Hidden people: how much sex moves, from 0 (nothing) to 1 [default: 1]
    #[arg(long, value_name = "SHARE", value_parser = effect, requires = "hidden", allow_hyphen_values = true)]
    effect: Option<f64>,
    /// Hidden people: file of what each would have been as somebody of the other sex
    #[arg(long, value_name = "FILE", requires = "hidden")]
    counterfactuals: Option<PathBuf>,
    /// Seed of everything random about people and comments [default: 1]
    #[arg(long, value_name = "N", value_parser = seed(), allow_hyphen_values = true)]
    seed: Option<u64>,
    /// Templates: lexicon whose terms they hold (TOML), or paper for that of the ADF paper
    /// [default: the one that ships]
    #[arg(long, value_name = "FILE")]
    lexicon: Option<PathBuf>,
    /// Templates: attributes of the lexicon [default: all that are not protected by name only]
    #[arg(long, value_name = "ATTRIBUTE,…", value_delimiter = ',')]
    pub(super) protected: Vec<String>,
    /// CSV file; compressed if its name ends in .gz or .xz [default: stdout]
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
}

/// A number from 0 to 1.
fn effect(text: &str) -> Result<f64, String> {
    let effect: Option<f64> = text.parse().ok();
    let effect = effect.filter(|effect| (0.0..=1.0).contains(effect));
    effect.ok_or_else(|| "it must be a number from 0 to 1".to_owned())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Generated {
    /// A census of people, whose income depends on sex and origin
    People,
    /// Short comments with identity terms, labelled toxic (1) or not (0)
    Comments,
    /// Texts from templates with every term of protected attributes, rude (1) or not (0)
    Templates,
}

impl GenerateArgs {
    /// Refuses options that say nothing of what is generated.
    pub(super) fn expect_fitting(&self) -> anyhow::Result<()> {
        let is_templates = self.name == Generated::Templates;
        ensure!(
            !self.hidden || self.name == Generated::People,
            "--hidden is given, but has no meaning for anything but people; leave it out"
        );
        for (option, is_given, fits) in [
            ("--rows", self.rows.is_some(), !is_templates),
            ("--seed", self.seed.is_some(), !is_templates),
            ("--lexicon", self.lexicon.is_some(), is_templates),
            ("--protected", !self.protected.is_empty(), is_templates),
        ] {
            ensure!(
                !is_given || fits,
                "{option} is given, but has no meaning for {}; leave it out",
                if is_templates {
                    "templates: they are the same each time"
                } else {
                    "generated data without a lexicon"
                }
            );
        }
        Ok(())
    }

    /// Rows to write.
    pub(super) fn rows(&self) -> u32 {
        self.rows.unwrap_or(20_000)
    }

    /// Seed of everything random.
    pub(super) fn seed(&self) -> u64 {
        self.seed.unwrap_or(1)
    }

    /// How much sex moves of people who are hired without it; nothing for other people.
    pub(super) fn hidden(&self) -> Option<f64> {
        self.hidden.then(|| self.effect.unwrap_or(1.0))
    }

    /// The file of counterfactuals that was asked for.
    pub(super) fn counterfactuals(&self) -> Option<&PathBuf> {
        self.counterfactuals.as_ref()
    }

    /// Writes rows to `file`, compressed as its name says.
    pub(super) fn write_to(
        &self,
        file: &PathBuf,
        rows: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
    ) -> anyhow::Result<()> {
        let own: Vec<&Path> = self.out.iter().map(PathBuf::as_path).collect();
        if let Some(out) = self.force.open(Some(file), &own)? {
            out.write_with(|writer| compressed::write_as(out.path(), writer, rows))?;
        }
        Ok(())
    }

    /// The lexicon that was asked for.
    pub(super) fn lexicon(&self) -> anyhow::Result<Lexicon> {
        let file = self.lexicon.as_deref();
        Ok(open_lexicon(file, Preset::default())?.value)
    }

    /// Writes rows to the file that was asked for, or else to stdout; says whether to the file.
    pub(super) fn write(
        &self,
        rows: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
    ) -> anyhow::Result<Option<&PathBuf>> {
        let read: Vec<&Path> = self.lexicon.iter().map(PathBuf::as_path).collect();
        let out = self.force.open(self.out.as_ref(), &read)?;
        match &out {
            Some(out) => {
                out.write_with(|writer| compressed::write_as(out.path(), writer, rows))?;
            }
            None => {
                let mut text = Vec::new();
                rows(&mut text)?;
                print(&String::from_utf8_lossy(&text))?;
            }
        }
        Ok(self.out.as_ref().filter(|_| out.is_some()))
    }
}
