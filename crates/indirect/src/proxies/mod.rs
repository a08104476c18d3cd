//! Proxies: how well do the columns other than a protected attribute tell its value?
//!
//! A model that is not given the attribute can still act by it where other columns tell it. Here the
//! attribute is what is predicted, one group against everybody else:
//!
//! ```text
//! people ──► rows by content ──► folds ──► networks ──► area under the ROC curve, accuracy
//!                                 │            ├──────► impact   (how unequal decisions can be)
//!                                 │            └──────► explained (of a model's score)
//!                                 ├──► column by column
//!                                 └──► selection ──► the smallest set that was found
//! ```
//!
//! Every figure is of networks and frequencies that never saw the row. It tells how well *these*
//! tell; what the best predictor could do is at least that. So it can be shown that the columns tell a
//! group, and how unequal their decisions can be, but never that they do not: what is printed then is
//! the upper end of an interval.

mod auc;
mod column;
mod error;
mod explained;
mod folds;
mod impact;
mod measure;
mod network;
pub mod run;
mod selection;
pub mod specification;

pub use self::auc::{Estimate, auc};
pub use self::column::{LEAST_PEOPLE, MOST_RANGES};
pub use self::error::ProxiesError;
pub use self::explained::{Explained, explained};
pub use self::folds::{EqualRows, Folds};
pub use self::impact::{Balanced, Called, DecidedImpact, Guarantee, Impact, least_ratio};
pub use self::measure::{ColumnProxy, Columns, GroupProxies, ProxiesOptions, SmallestSet, Sorted};
pub use self::network::{MOST_TAUGHT, UNITS};

#[cfg(test)]
mod tests;
