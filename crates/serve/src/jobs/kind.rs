//! The kinds of jobs: one list, from which everything is made that goes by kinds.

use probity_report::text::listed;
use probity_run::runner::RunKind;
use probity_run::specification::Specification;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::asked::Asked;

/// Makes, of the list of all kinds, whatever has a part for each. `$d` is a dollar sign, for the
/// macros that it makes.
macro_rules! kinds {
    (($d:tt) $($(#[$doc:meta])* $name:ident($specification:ty),)*) => {
        /// The command that a job runs.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
        #[serde(rename_all = "lowercase")]
        pub enum JobKind {
            $($(#[$doc])* $name,)*
        }

        impl JobKind {
            /// All kinds, in the order in which they are listed.
            pub const ALL: &[JobKind] = &[$(JobKind::$name,)*];
        }

        /// The specification of a kind that the service runs.
        #[derive(Debug, Clone, PartialEq)]
        pub(super) enum RunSpecification {
            $($name(Box<$specification>),)*
        }

        impl RunSpecification {
            /// The kind of the specification.
            pub fn kind(&self) -> JobKind {
                match self {
                    $(RunSpecification::$name(_) => JobKind::$name,)*
                }
            }
        }

        $(impl From<$specification> for RunSpecification {
            fn from(specification: $specification) -> RunSpecification {
                RunSpecification::$name(Box::new(specification))
            }
        })*

        /// Evaluates the same expression with the specification of any kind.
        macro_rules! whichever {
            ($d asked:expr, $d one:ident => $d result:expr) => {
                match $d asked {
                    $(crate::jobs::kind::RunSpecification::$name($d one) => $d result,)*
                }
            };
        }

        /// Evaluates the same expression with the type of the specifications of a kind.
        macro_rules! of_kind {
            ($d kind:expr, $d one:ident => $d result:expr) => {
                match $d kind {
                    $(crate::jobs::kind::JobKind::$name => {
                        type $d one = $specification;
                        $d result
                    })*
                }
            };
        }
    };
}

kinds! {
    ($)
    /// `probity train`.
    Train(probity_nn::train::TrainSpecification),
    /// `probity audit`.
    Audit(probity_fairness::specification::AuditSpecification),
    /// `probity repair`.
    Repair(probity_fairness::repair::RepairSpecification),
    /// `probity counterparts`.
    Counterparts(probity_indirect::counterparts::specification::CounterpartsSpecification),
    /// `probity situations`.
    Situations(probity_indirect::situations::specification::SituationsSpecification),
    /// `probity proxies`.
    Proxies(probity_indirect::proxies::specification::ProxiesSpecification),
}
pub(super) use {of_kind, whichever};

impl JobKind {
    /// The name of the kind, as in JSON.
    pub fn name(self) -> &'static str {
        of_kind!(self, S => S::KIND)
    }

    /// The kind that is called `name`, if there is one.
    pub fn called(name: &str) -> Option<JobKind> {
        let mut all = JobKind::ALL.iter().copied();
        all.find(|kind| kind.name() == name)
    }

    /// The names of all kinds, such as `train, audit or repair`.
    pub fn names() -> String {
        let names = JobKind::ALL.iter().map(|kind| kind.name().to_owned());
        listed(&names.collect::<Vec<_>>(), "or")
    }

    /// What a job does, in a word or two that begin a sentence.
    pub fn title(self) -> &'static str {
        of_kind!(self, S => S::TITLE)
    }

    /// Whether a job that was stopped goes on where it was; else it begins anew.
    pub fn goes_on(self) -> bool {
        of_kind!(self, S => S::GOES_ON)
    }

    /// Whether a job makes a model.
    pub fn makes_model(self) -> bool {
        matches!(self, JobKind::Train | JobKind::Repair)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use probity_report::KNOWN_RUNS;

    #[test]
    fn kinds_are_called_in_json_as_the_command_calls_them() {
        for &kind in JobKind::ALL {
            let written = serde_json::to_value(kind).unwrap();
            assert_eq!(written, kind.name());
            assert_eq!(JobKind::called(kind.name()), Some(kind));
        }
        assert_eq!(JobKind::called("Audit"), None);
        assert!(JobKind::names().starts_with("train, audit, repair, "));
        assert!(JobKind::names().contains(" or "));
    }

    #[test]
    fn there_are_reports_on_jobs_of_every_kind() {
        let mut all = JobKind::ALL.iter();
        assert!(all.all(|kind| KNOWN_RUNS.contains(&kind.name())));
    }
}
