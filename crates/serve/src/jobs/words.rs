//! The values of options that are words, for the OpenAPI document and for the command line: both from one definition.

use clap::ValueEnum;
use utoipa::openapi::schema::{Object, ObjectBuilder, Type};

use probity_fairness::audit::StrategyName;
use probity_fairness::repair::labels::LabelRule;
use probity_fairness::repair::specification::RepairMethod;
use probity_fairness::samples::SamplesFormat;
use probity_nn::Objective;
use probity_nn::fnn::Activation;
use probity_nn::recurrent::network::CellKind;

/// The word that stands for `value` on the command line.
pub(super) fn word<T: ValueEnum>(value: T) -> String {
    value
        .to_possible_value()
        .map_or_else(String::new, |possible| possible.get_name().to_owned())
}

/// A string that is one of the words for the values of `T`, with what they mean.
fn words<T: ValueEnum>() -> Object {
    words_of(T::value_variants())
}

/// A string that is one of the words for `values`, with what they mean.
fn words_of<T: ValueEnum>(values: &[T]) -> Object {
    let possible: Vec<_> = values
        .iter()
        .filter_map(ValueEnum::to_possible_value)
        .collect();
    let meanings: Vec<String> = possible
        .iter()
        .filter_map(|value| Some(format!("`{}`: {}", value.get_name(), value.get_help()?)))
        .collect();
    ObjectBuilder::new()
        .schema_type(Type::String)
        .enum_values(Some(
            possible.iter().map(|value| value.get_name().to_owned()),
        ))
        .description(Some(meanings.join("; ")))
        .build()
}

/// Search strategies for tables.
pub(super) fn strategies() -> Object {
    words_of(&StrategyName::OF_TABLES)
}

/// Search strategies for texts.
pub(super) fn text_strategies() -> Object {
    words_of(&StrategyName::OF_TEXTS)
}

/// What is differentiated.
pub(super) fn objectives() -> Object {
    words::<Objective>()
}

/// Functions between layers.
pub(super) fn activations() -> Object {
    words::<Activation>()
}

/// Kinds of recurrent cells.
pub(super) fn cells() -> Object {
    words::<CellKind>()
}

/// Forms of the samples file.
pub(super) fn samples_formats() -> Object {
    words::<SamplesFormat>()
}

/// By what models are repaired.
pub(super) fn methods() -> Object {
    words::<RepairMethod>()
}

/// How samples are labelled.
pub(super) fn label_rules() -> Object {
    words::<LabelRule>()
}
