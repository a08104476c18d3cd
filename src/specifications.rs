//! Every kind of specification, in one list: for whatever holds of all of them.

use probity_data::specification::CheckSpecification;
use probity_fairness::explain::specification::ExplainSpecification;
use probity_fairness::predictions::specification::{
    EvaluateSpecification, PredictSpecification as ClassifySpecification,
};
use probity_knn::specification::PredictSpecification;
use probity_privacy::specification::ExactSpecification;
use probity_run::specification::Specification;
use probity_text::glove::GloveOptions;
use probity_unlearning::kmeans::specification::{AssignSpecification, RetrainingSpecification};

/// Calls the macro `$with` with the types of all kinds that leave runs: whatever is made of this list
/// does not compile where one of them is not provided for.
#[macro_export]
macro_rules! run_kinds {
    ($with:ident) => {
        $with! {
            $crate::nn::train::TrainSpecification,
            $crate::nn::import_run::ImportSpecification,
            $crate::fairness::specification::AuditSpecification,
            $crate::fairness::specification::CompareSpecification,
            $crate::fairness::repair::RepairSpecification,
            $crate::fairness::group::specification::GroupsSpecification,
            $crate::indirect::counterparts::specification::CounterpartsSpecification,
            $crate::indirect::proxies::specification::ProxiesSpecification,
            $crate::indirect::situations::specification::SituationsSpecification,
            $crate::fairness::certify::specification::CertifySpecification,
            $crate::fairness::prove::specification::ProveSpecification,
            $crate::knn::specification::RobustnessSpecification,
            $crate::unlearning::kmeans::specification::FitSpecification,
            $crate::unlearning::kmeans::specification::BenchSpecification,
            $crate::unlearning::spn::specification::FitSpecification,
            $crate::unlearning::spn::specification::BenchSpecification,
            $crate::privacy::specification::CountSpecification,
            $crate::privacy::specification::SubspacesSpecification,
        }
    };
}

/// Visits the types of a list.
macro_rules! visit {
    ($($kind:ty,)*) => {
        /// Shows `visitor` every kind that leaves runs.
        fn each_run(visitor: &mut impl Visitor) {
            $(visitor.visit::<$kind>();)*
        }
    };
}

run_kinds!(visit);

/// Something to be done with every kind.
pub trait Visitor {
    /// Does it with the specifications of one kind.
    fn visit<S: Specification>(&mut self);
}

/// Shows `visitor` every kind.
pub fn each(visitor: &mut impl Visitor) {
    each_run(visitor);
    visitor.visit::<CheckSpecification>();
    visitor.visit::<GloveOptions>();
    visitor.visit::<ClassifySpecification>();
    visitor.visit::<ExplainSpecification>();
    visitor.visit::<EvaluateSpecification>();
    visitor.visit::<PredictSpecification>();
    visitor.visit::<RetrainingSpecification>();
    visitor.visit::<AssignSpecification>();
    visitor.visit::<ExactSpecification>();
}
