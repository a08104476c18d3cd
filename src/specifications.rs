//! Every kind of specification, in one list: for whatever holds of all of them.

use probity_data::specification::CheckSpecification;
use probity_fairness::certify::specification::CertifySpecification;
use probity_fairness::explain::specification::ExplainSpecification;
use probity_fairness::group::specification::GroupsSpecification;
use probity_fairness::predictions::specification::{
    EvaluateSpecification, PredictSpecification as ClassifySpecification,
};
use probity_fairness::prove::specification::ProveSpecification;
use probity_fairness::repair::RepairSpecification;
use probity_fairness::specification::{AuditSpecification, CompareSpecification};
use probity_knn::specification::{PredictSpecification, RobustnessSpecification};
use probity_nn::import_run::ImportSpecification;
use probity_nn::train::TrainSpecification;
use probity_privacy::specification::{
    CountSpecification, ExactSpecification, SubspacesSpecification,
};
use probity_run::specification::Specification;
use probity_text::glove::GloveOptions;
use probity_unlearning::{kmeans, spn};

/// Something to be done with every kind.
pub trait Visitor {
    /// Does it with the specifications of one kind.
    fn visit<S: Specification>(&mut self);
}

/// Shows `visitor` every kind.
pub fn each(visitor: &mut impl Visitor) {
    visitor.visit::<CheckSpecification>();
    visitor.visit::<GloveOptions>();
    visitor.visit::<TrainSpecification>();
    visitor.visit::<ImportSpecification>();
    visitor.visit::<AuditSpecification>();
    visitor.visit::<CompareSpecification>();
    visitor.visit::<RepairSpecification>();
    visitor.visit::<CertifySpecification>();
    visitor.visit::<ProveSpecification>();
    visitor.visit::<GroupsSpecification>();
    visitor.visit::<ClassifySpecification>();
    visitor.visit::<ExplainSpecification>();
    visitor.visit::<EvaluateSpecification>();
    visitor.visit::<RobustnessSpecification>();
    visitor.visit::<PredictSpecification>();
    visitor.visit::<kmeans::specification::FitSpecification>();
    visitor.visit::<kmeans::specification::RetrainingSpecification>();
    visitor.visit::<kmeans::specification::AssignSpecification>();
    visitor.visit::<kmeans::specification::BenchSpecification>();
    visitor.visit::<spn::specification::FitSpecification>();
    visitor.visit::<spn::specification::BenchSpecification>();
    visitor.visit::<CountSpecification>();
    visitor.visit::<SubspacesSpecification>();
    visitor.visit::<ExactSpecification>();
}
