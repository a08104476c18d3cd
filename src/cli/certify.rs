//! `probity certify`

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;

use super::inputs::{OutsideArg, absolute, new_run, with_outside};
use super::output::Output;
use super::render::{count, interval, percent, table};
use probity::fairness::certify::parts::Part;
use probity::fairness::certify::run::{
    CertifyOptions, CertifySummary, PreparedCertify, Share, certify,
};
use probity::fairness::text::protected::open_lexicon;
use probity::nn::model::Model;
use probity::nn::text_model::{TextModel, is_text_model};
use probity::run::run_directory::file_sha256;
use probity::tensor::device::use_threads;

/// Arguments of `probity certify`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples: probity certify --model models/census --data census.csv --protected sex,race --part test\n\
                  \x20         probity certify --model models/toxic --texts comments.csv --text-column comment --protected religion --exhaustive\n\
                  An input without a certificate need not be unfair; --exhaustive counts the fair ones."
)]
pub(super) struct CertifyArgs {
    /// Model directory, as `probity train`, `repair` or `import` writes it
    #[arg(long)]
    model: PathBuf,
    /// Table whose rows are certified; read by the model's schema
    #[arg(long, required_unless_present = "texts")]
    data: Option<PathBuf>,
    /// Protected attributes, alone and jointly; for texts, of the lexicon [default: those marked in the model's schema, or all of the lexicon]
    #[arg(long, value_delimiter = ',')]
    protected: Vec<String>,
    /// Missing and outside values, where the model's schema expects any
    #[arg(long, value_enum, conflicts_with = "texts")]
    outside: Option<OutsideArg>,
    /// Texts that are certified: a text a line (.txt), or a table with --text-column
    #[arg(long, conflicts_with = "data", help_heading = "Texts")]
    texts: Option<PathBuf>,
    /// Column of --texts that holds the text
    #[arg(long, requires = "texts", help_heading = "Texts")]
    text_column: Option<String>,
    /// Lexicon of protected terms (TOML) [default: the shipped ones]
    #[arg(long, requires = "texts", help_heading = "Texts")]
    lexicon: Option<PathBuf>,
    /// Part of the data, by the split of the training that made the model
    #[arg(long, value_enum, default_value_t)]
    part: Part,
    /// How often the boxes of an input may be split where one over all substitutions proves nothing
    #[arg(long, default_value_t = 64, value_name = "N")]
    splits: u32,
    /// Try all substitutions as well, to count the inputs that are fair
    #[arg(long)]
    exhaustive: bool,
    /// Exit with 1 unless at least this share of the inputs is certified for all protected attributes
    #[arg(long, value_name = "SHARE")]
    fail_below: Option<f64>,
    /// Run directory [default: the next free runs/certify-N]
    #[arg(long)]
    out: Option<PathBuf>,
    /// CPU threads [default: one a core]; no influence on results
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), help_heading = "Hardware")]
    threads: Option<u16>,
}

/// Runs `probity certify`.
pub(super) fn run(args: CertifyArgs, output: &Output) -> anyhow::Result<ExitCode> {
    use_threads(args.threads.map(usize::from))?;
    // Everything that can be wrong with the input is found before anything is written.
    let prepared = PreparedCertify::new(args.options()?)?;
    let directory = new_run(args.out.as_ref(), "certify")?;
    let bar = output.progress(0, "certify {spinner} {msg}, {elapsed}");
    let summary = certify(&prepared, &directory, &mut |set| {
        bar.set_message(format!("set {}", set + 1));
        bar.tick();
    })
    .with_context(|| format!("certifying with {}", args.model.display()))?;
    bar.finish_and_clear();
    let mut text = render(&summary);
    text.push_str(&format!("Run: {}\n", directory.path().display()));
    output.result(&summary, &text)?;
    let refuted: u64 = summary.sets.iter().filter_map(|set| set.refuted).sum();
    if refuted > 0 {
        bail!("{refuted} certificates are false; please report this as a defect of probity");
    }
    let joint = summary.sets.last().map_or(0.0, |set| set.certified.share);
    let failed = summary.fail_below.is_some_and(|bound| joint < bound);
    Ok(ExitCode::from(u8::from(failed)))
}

impl CertifyArgs {
    fn options(&self) -> anyhow::Result<CertifyOptions> {
        let is_text = is_text_model(&self.model);
        let file = match (&self.texts, &self.data) {
            (Some(texts), _) if is_text => texts,
            (None, Some(data)) if !is_text => data,
            (Some(_), _) => bail!(
                "{} classifies tables, not texts; give --data instead of --texts",
                self.model.display()
            ),
            _ => bail!(
                "{} classifies texts, not tables; give --texts instead of --data",
                self.model.display()
            ),
        };
        let mut options = CertifyOptions {
            command: "certify".to_owned(),
            probity_version: env!("CARGO_PKG_VERSION").to_owned(),
            model: absolute(&self.model),
            model_sha256: String::new(),
            data: self.data.as_deref().map(absolute),
            texts: self.texts.as_deref().map(absolute),
            inputs_sha256: file_sha256(file)?,
            outside: self.outside.map(Into::into),
            text_column: self.text_column.clone(),
            lexicon: self.lexicon.as_deref().map(absolute),
            lexicon_sha256: None,
            protected: self.protected.clone(),
            part: self.part,
            splits: self.splits,
            exhaustive: self.exhaustive,
            fail_below: self.fail_below,
        };
        let all_of = |names: &mut dyn Iterator<Item = String>| {
            if self.protected.is_empty() {
                names.collect()
            } else {
                self.protected.clone()
            }
        };
        if is_text {
            let (lexicon, sha256) = open_lexicon(self.lexicon.as_deref())?;
            options.lexicon_sha256 = Some(sha256);
            options.model_sha256 = TextModel::load(&self.model)?.sha256()?;
            let mut names = lexicon
                .attributes()
                .iter()
                .map(|attribute| attribute.name.clone());
            options.protected = all_of(&mut names);
        } else {
            let model = Model::load(&self.model)?;
            if let Some(outside) = self.outside {
                with_outside(model.schema.clone(), outside)?;
            }
            options.model_sha256 = model.sha256();
            let marked = model.schema.protected().into_iter();
            let mut names = marked.map(|place| model.schema.attributes[place].name.clone());
            options.protected = all_of(&mut names);
        }
        Ok(options)
    }
}

fn share(share: &Share) -> String {
    format!("{} ({})", count(share.count), percent(share.share))
}

fn render(summary: &CertifySummary) -> String {
    let rows: Vec<Vec<String>> = summary
        .sets
        .iter()
        .map(|set| {
            vec![
                set.protected.join(" + "),
                count(set.inputs),
                share(&set.one_box),
                share(&set.certified),
                interval(set.certified.ci95),
                set.fair.as_ref().map_or("not counted".to_owned(), share),
                format!("{:.2}", set.seconds),
            ]
        })
        .collect();
    table(
        &[
            "protected",
            "inputs",
            "certified by one box",
            "certified",
            "95 % interval",
            "fair",
            "seconds",
        ],
        &rows,
    )
}
