//! One page about one run or several: `probity report`.
//!
//! Three steps, each a value. *Read*: run directories become a [`Report`], plain data that
//! `--format json` prints. *Compose*: a report becomes a document of sections, tables and charts,
//! in plain words; what a run has no data for is left out or said to be absent, never made up.
//! *Render*: a document becomes HTML ([`Report::to_html`]), Markdown ([`Report::to_markdown`])
//! or plain text ([`Report::to_plain`]), which is what the command prints of a run;
//! the fragment of a model card ([`Report::to_model_card`]) is made from the report itself, and so are
//! the bounds that runs declared, for machines ([`bounds`]: SARIF, JUnit). What rules and registers
//! ask for is made from both. All forms are in one list, [`Form`].
//!
//! **What is depended on.** The module reads what docs/file-formats.md documents, `run.toml`,
//! `summary.json`, samples and verdicts, through small structures of its own ([`model`]), never
//! through the types of the analysers that wrote them. So the analysers may change inside without
//! the report, and a report can be made of a run whose model and data are gone. A `schema_version`
//! or a command that is not known is refused. Of the rest of the crate it needs
//! [`probity_data::read`] alone, the one reader of tables.
//!
//! **Charts** ([`chart`]) are drawn once: as parts of a page, and as files of their own, which
//! [`plots::write`] puts into a run directory from its summary.
//!
//! **The page** is a single file under [`LARGEST_PAGE`] bytes without references to anything
//! outside. It works without JavaScript, which only filters and sorts; all text from the data is
//! escaped, and characters that cannot be seen are shown by number. It has one `style` and one
//! `script` element, whose hashes [`content_security`] gives for a strict content-security policy.
//! The same runs give the same bytes: dates come from the runs.

pub mod bounds;
mod change;
pub mod chart;
mod compose;
mod conclusion;
mod document;
mod error;
mod evidence;
mod form;
mod html;
mod markdown;
pub mod model;
mod model_card;
mod pairs;
pub mod pdf;
mod plain;
pub mod plots;
mod read;
pub mod text;
mod verdict;

pub use change::Change;
pub use conclusion::{Conclusion, verdict};
pub use error::PageError;
pub use form::Form;
pub use html::{CHART_STYLE, ContentSecurity, content_security};
pub use model::Report;
pub use pairs::{
    AttributeFlips, Difference, Gaps, NewPair, PairChanges, PairFindings, Searched, ShownInputs,
    ShownPair, Together, pair_changes,
};
pub use plain::{Extent, Medium};
pub use read::KNOWN_RUNS;

/// Bytes of a page at most.
pub const LARGEST_PAGE: usize = 2_000_000;
