//! The population that a sum-product network was fitted to, as a mixture of products of what is not
//! protected.
//!
//! A network is the mixture of its induced trees ([`probity_unlearning::spn::mixture`]), each a
//! product of distributions of single variables. The protected attributes, the label and whatever
//! else is no attribute of the model are summed out. What is left is a distribution of points, given
//! that they lie in the part of the domain that is decided: with w_c the weight of component c and
//! p_ci the mass that it gives to a value of attribute i,
//!
//! P(x) = Σ_c w_c Π_i p_ci(x_i) / Z,  Z = Σ_c w_c Π_i Σ_v p_ci(v).
//!
//! The measure that is counted lies below P at every point: weights and masses are taken at the
//! lower ends of their bounds, Z at its upper one. So what is counted is proven of P itself, and what
//! roundings take away is left undecided.

use std::path::Path;

use serde::Serialize;
use thiserror::Error;

use super::measure::{Measure, Product};
use super::network::SumNetwork;
use crate::opened::{Opened, open_spn};
use crate::population::{Column, DensityError, columns};
use probity_data::schema::{Attribute, Kind, Schema};
use probity_unlearning::spn::mixture::{Bounds, Component, added, product};
use probity_unlearning::spn::{Domain, Network, Variable};

/// Largest number of components that a population may have: every box is counted once for each.
const MOST_COMPONENTS: usize = 4_096;

/// A reason why no share can be proved of a population.
#[derive(Debug, Error)]
pub enum FittedError {
    /// There is no network, or it is of other columns.
    #[error("{0}")]
    Network(#[from] DensityError),
    /// The values are of another kind.
    #[error("its values of the attribute '{attribute}' are {found}")]
    Kind {
        /// The attribute.
        attribute: String,
        /// The kind of values that the network has of it.
        found: &'static str,
    },
    /// The population has too many components.
    #[error(
        "it has {count} components, and {MOST_COMPONENTS} at most can be counted; one that is fitted with a larger min_rows has fewer"
    )]
    Components {
        /// Number of components.
        count: String,
    },
    /// The network gives no point of the part that is decided.
    #[error("nothing that it gives lies in the part of the domain that is decided")]
    Outside,
}

/// The statements of a summary about a fitted population.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PopulationDetails {
    /// Number of products that the population is a mixture of, over what is not protected.
    pub components: u64,
    /// Share of what the network gives that lies in the part of the domain that is decided: the
    /// population is that part of it.
    pub inside: f64,
}

/// A fitted population as the measure that is counted by.
pub(super) struct Fitted {
    pub measure: Measure,
    pub details: PopulationDetails,
}

/// The population of the network in `directory`, over what is not protected of the rows of
/// `network`, whose attributes `schema` describes.
///
/// # Errors
/// See [`FittedError`].
pub(super) fn open_population(
    directory: &Path,
    schema: &Schema,
    network: &SumNetwork,
) -> Result<Opened<Fitted>, FittedError> {
    let opened = open_spn(directory)?;
    Ok(Opened {
        value: of_network(&opened.value, directory, schema, network)?,
        sha256: opened.sha256,
    })
}

/// The population of the network `fitted`, which is called as its directory is.
///
/// # Errors
/// See [`FittedError`].
pub(super) fn of_network(
    fitted: &Network,
    directory: &Path,
    schema: &Schema,
    network: &SumNetwork,
) -> Result<Fitted, FittedError> {
    let free: Vec<usize> = network.free.iter().map(|free| free.attribute).collect();
    let columns = columns((fitted, directory), schema, &free)?;
    let mut cells = vec![None; fitted.variables().len()];
    for (column, free) in columns.iter().zip(&network.free) {
        let variable = &fitted.variables()[column.variable];
        let attribute = &schema.attributes[free.attribute];
        let own = free
            .codes
            .iter()
            .map(|&code| cell(code, column, attribute, variable));
        cells[column.variable] = Some(own.collect::<Result<Vec<_>, _>>()?);
    }
    let components = fitted.mixture(&cells, MOST_COMPONENTS);
    let components = components.map_err(|count| FittedError::Components {
        count: match count {
            u128::MAX => "more than can be counted".to_owned(),
            count => count.to_string(),
        },
    })?;
    let (measure, inside) = measure(&components, &columns)?;
    Ok(Fitted {
        measure,
        details: PopulationDetails {
            components: components.len() as u64,
            inside: inside.min(1.0),
        },
    })
}

/// The values of `variable` that `code` of `attribute` stands for, from the first to below the second.
fn cell(
    code: i32,
    column: &Column,
    attribute: &Attribute,
    variable: &Variable,
) -> Result<[f64; 2], FittedError> {
    let other = |found| FittedError::Kind {
        attribute: attribute.name.clone(),
        found,
    };
    let place = (code - column.min) as usize;
    let is_word = matches!(attribute.kind, Kind::Categorical { .. });
    if !is_word && code > attribute.ordered_domain().1 {
        return Err(other(
            "none outside of its domain, for which the model has a level",
        ));
    }
    let Kind::Numeric { bins, .. } = &attribute.kind else {
        return match variable.domain() {
            Domain::Real { .. } => Err(other("real numbers")),
            // Around a whole number or the number of a word; densities are rounded to them.
            _ => Ok([-0.5, 0.5].map(|half| column.values[place] + half)),
        };
    };
    let (from, to, is_last) = (bins[place], bins[place + 1], place + 2 == bins.len());
    match variable.domain() {
        Domain::Real { .. } => Ok([from, to]),
        Domain::Categorical { .. } => Err(other("words")),
        // The last bin holds its upper edge.
        Domain::Integer { .. } if is_last => Ok([from.ceil() - 0.5, to.floor() + 0.5]),
        Domain::Integer { .. } => Ok([from.ceil() - 0.5, to.ceil() - 0.5]),
    }
}

/// The measure that `components` are, from below, and the share of them that lies within the
/// domain.
fn measure(components: &[Component], columns: &[Column]) -> Result<(Measure, f64), FittedError> {
    let masses = |component: &Component| -> Vec<Vec<Bounds>> {
        let own = columns
            .iter()
            .map(|column| component.masses[column.variable].as_deref());
        own.map(|masses| masses.cloned().unwrap_or_default())
            .collect()
    };
    let inside = components.iter().fold([0.0; 2], |all, component| {
        let sums = masses(component);
        let sums = sums
            .iter()
            .map(|own| own.iter().fold([0.0; 2], |sum, &mass| added(sum, mass)));
        added(all, sums.fold(component.weight, product))
    });
    if inside[0] <= 0.0 {
        return Err(FittedError::Outside);
    }
    let mut products: Vec<Product> = components
        .iter()
        .map(|component| {
            let shares = masses(component);
            let shares = shares
                .iter()
                .map(|own| own.iter().map(|mass| mass[0]).collect());
            Product {
                weight: component.weight[0] / inside[1] * (1.0 - 4.0 * f64::EPSILON),
                shares: shares.collect(),
            }
        })
        .collect();
    products.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    Ok((Measure::Mixture(products), inside[0]))
}
