//! What a demonstration makes, trains, searches and says.

use probity::fairness::audit::AuditSpecification;
use probity::nn::train::TrainSpecification;

/// The share of discriminatory inputs that was planted, by names of protected attributes.
pub(super) type Planted = Box<dyn Fn(&[String]) -> anyhow::Result<f64>>;

/// A demonstration whose data are made.
pub(super) struct Demonstration {
    /// The command, as its summary names it.
    pub command: &'static str,
    /// The training on the data, which leads to a model that the audit is given.
    pub training: TrainSpecification,
    /// The search, but for the model.
    pub audit: AuditSpecification,
    pub planted: Planted,
    /// Options of an audit to try next.
    pub next_audit: &'static str,
    /// Commands for data of one's own.
    pub own_data: &'static str,
}
