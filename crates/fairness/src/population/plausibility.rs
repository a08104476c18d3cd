//! The plausibility of an individual: whether there are real rows that are no likelier.
//!
//! A sum-product network gives each individual, a row without its protected part, a density; the
//! protected attributes, and whatever else the network knows, are summed out exactly. The
//! *plausibility* of an individual is the share of the real rows whose density is no higher: 0.05
//! for one that is as likely as the least likely twentieth of them, 0 for one that is less likely
//! than all. It says how near an individual is to where the data are, and nothing of whether it
//! could exist: a network smooths, and data have their own gaps.

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use thiserror::Error;

use probity_data::schema::{Attribute, Encoded, Encoder, Kind, Schema};
use probity_unlearning::spn::model::SpnModelError;
use probity_unlearning::spn::{
    Dataset, Domain, LeafFamily, Network, SpnError, SpnParameters, Variable,
};

/// The plausibility that an individual must reach to be called plausible.
pub(crate) const PLAUSIBLE: f32 = 0.05;

/// Number of bins of the plausibilities.
pub(super) const BINS: usize = 20;

/// Largest number of values that are counted one by one; more are counted in bins.
const MOST_VALUES: usize = 12;

/// Number of inputs that a network which was learnt elsewhere is asked for before it is used.
const TRIED: u64 = 1000;

/// The number of drawn inputs among which at least one must be an input of the model.
const MOST_OUTSIDE: u64 = 10;

/// Largest number of draws for one input; no network that is used needs nearly as many.
const DRAWS: u64 = 1000;

/// Number of bits that number the inputs; the draws for one are numbered above them.
const INPUT_BITS: u32 = 40;

/// A reason why individuals cannot be graded.
#[derive(Debug, Error)]
pub enum PlausibilityError {
    /// There is no network.
    #[error("{0}")]
    Model(#[from] SpnModelError),
    /// No network can be learnt.
    #[error("{0}")]
    Learning(#[from] SpnError),
    /// The network is of other columns.
    #[error("the network in {} was not learnt from the attribute '{attribute}'", directory.display())]
    NoAttribute {
        /// The directory of the network.
        directory: PathBuf,
        /// The attribute.
        attribute: String,
    },
    /// The network hardly ever gives an input of the model.
    #[error("of what is drawn from the network in {}, less than a tenth is in the domains of the model's attributes", directory.display())]
    Outside {
        /// The directory of the network.
        directory: PathBuf,
    },
    /// The network is of other values.
    #[error("the network in {} does not know '{value}' of the attribute '{attribute}'", directory.display())]
    NoValue {
        /// The directory of the network.
        directory: PathBuf,
        /// The attribute.
        attribute: String,
        /// The value.
        value: String,
    },
}

/// An attribute as a variable of a network.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    attribute: usize,
    /// The number of the variable.
    pub variable: usize,
    /// The least code.
    pub min: i32,
    /// The variable's value of each code.
    pub values: Vec<f64>,
    /// The attribute that reads the variable's values as they are written; `None` where they are
    /// codes.
    attribute_of: Option<Attribute>,
}

impl Column {
    /// The code of the `value` of `variable`; nothing for one outside the attribute's domain.
    fn code(&self, variable: &Variable, value: f64) -> Option<i32> {
        let value = match variable.domain() {
            Domain::Integer { .. } => value.round(),
            Domain::Categorical { .. } | Domain::Real { .. } => value,
        };
        let Some(attribute) = &self.attribute_of else {
            let place = self.values.iter().position(|known| *known == value)?;
            return Some(self.min + place as i32);
        };
        match Encoder::new(attribute).encode(&variable.text(value)) {
            Ok(Encoded::Code(code)) => Some(code),
            _ => None,
        }
    }
}

/// The attributes `free` of `schema` as variables of the `network` in a directory, which was learnt
/// from columns of these names.
///
/// # Errors
/// When it does not know one of them, or a value of one.
pub(crate) fn columns(
    (network, directory): (&Network, &Path),
    schema: &Schema,
    free: &[usize],
) -> Result<Vec<Column>, PlausibilityError> {
    let column = |&place: &usize| {
        let attribute = &schema.attributes[place];
        let named = |one: &Variable| one.name() == attribute.name;
        let unknown = || PlausibilityError::NoAttribute {
            directory: directory.to_owned(),
            attribute: attribute.name.clone(),
        };
        let variable = network.variables().iter().position(named);
        let variable = variable.ok_or_else(unknown)?;
        let (min, max) = attribute.domain();
        let value = |code| {
            let value = attribute.decode(code);
            let known = network.variables()[variable].parse(&value);
            known.ok_or_else(|| PlausibilityError::NoValue {
                directory: directory.to_owned(),
                attribute: attribute.name.clone(),
                value,
            })
        };
        Ok(Column {
            attribute: place,
            variable,
            min,
            values: (min..=max).map(value).collect::<Result<_, _>>()?,
            attribute_of: Some(attribute.clone()),
        })
    };
    free.iter().map(column).collect()
}

/// A network and the densities of real rows.
#[derive(Debug, Clone)]
pub struct Plausibility {
    network: Network,
    columns: Vec<Column>,
    /// The densities of the real rows, ascending.
    pub(super) real: Vec<f64>,
}

impl Plausibility {
    /// The plausibility by a network learnt from `rows` by the attributes `free` of `schema`.
    ///
    /// # Errors
    /// When nothing can be learnt.
    pub fn learnt(
        schema: &Schema,
        free: &[usize],
        rows: &[&[i32]],
        seed: u64,
    ) -> Result<Plausibility, PlausibilityError> {
        let variables = free.iter().map(|&attribute| {
            let attribute = &schema.attributes[attribute];
            let (min, max) = attribute.domain();
            let is_counted = matches!(attribute.kind, Kind::Categorical { .. })
                || attribute.levels() <= MOST_VALUES;
            let family = match is_counted {
                true => LeafFamily::Categorical,
                false => LeafFamily::Histogram,
            };
            Variable::new(attribute.name.clone(), Domain::Integer { min, max }, family)
        });
        let variables = variables.collect::<Result<Vec<_>, _>>()?;
        let cells = rows
            .iter()
            .flat_map(|row| free.iter().map(|&place| row[place]));
        let values: Vec<f64> = cells.map(f64::from).collect();
        let ids: Vec<u64> = (0..rows.len() as u64).collect();
        let data = Dataset::new(variables, &ids, &[], &values)?;
        let network = SpnParameters::default().seed(seed).learn(data)?.network();
        let columns = free.iter().enumerate().map(|(variable, &attribute)| {
            let (min, max) = schema.attributes[attribute].domain();
            Column {
                attribute,
                variable,
                min,
                values: (min..=max).map(f64::from).collect(),
                attribute_of: None,
            }
        });
        Ok(Plausibility::with(network, columns.collect(), rows))
    }

    /// The plausibility by the `network` in the directory `name`, which was learnt from columns of
    /// these names.
    ///
    /// # Errors
    /// When it does not know an attribute of `free`, or a value of one.
    pub fn of_network(
        (network, directory): (Network, PathBuf),
        schema: &Schema,
        free: &[usize],
        rows: &[&[i32]],
    ) -> Result<Plausibility, PlausibilityError> {
        let columns = columns((&network, &directory), schema, free)?;
        let plausibility = Plausibility::with(network, columns, rows);
        let inside = (0..TRIED).filter(|&item| plausibility.drawn(0, item).is_some());
        match inside.count() as u64 * MOST_OUTSIDE < TRIED {
            true => Err(PlausibilityError::Outside { directory }),
            false => Ok(plausibility),
        }
    }

    fn with(network: Network, columns: Vec<Column>, rows: &[&[i32]]) -> Plausibility {
        let mut graded = Plausibility {
            network,
            columns,
            real: Vec::new(),
        };
        let mut real = graded.densities(rows);
        real.sort_unstable_by(f64::total_cmp);
        graded.real = real;
        graded
    }

    /// The values that are not protected of input number `item` that is drawn from the network with
    /// `seed`: each attribute and its code. Draws that are no input of the model are made again.
    pub fn draw(&self, seed: u64, item: u64) -> Option<Vec<(usize, i32)>> {
        let mut draws = (0..DRAWS).map(|draw| item | draw << INPUT_BITS);
        draws.find_map(|item| self.drawn(seed, item))
    }

    fn drawn(&self, seed: u64, item: u64) -> Option<Vec<(usize, i32)>> {
        let nothing = vec![None; self.network.variables().len()];
        let values = self.network.sample(&nothing, seed, item).ok()?;
        let code = |column: &Column| {
            let variable = &self.network.variables()[column.variable];
            let code = column.code(variable, values[column.variable])?;
            Some((column.attribute, code))
        };
        self.columns.iter().map(code).collect()
    }

    /// The logarithm of the density of each of `rows` without its protected part.
    pub fn densities(&self, rows: &[&[i32]]) -> Vec<f64> {
        let density = |row: &&[i32]| {
            let mut evidence = vec![None; self.network.variables().len()];
            for column in &self.columns {
                let level = i64::from(row[column.attribute]) - i64::from(column.min);
                let value = usize::try_from(level).ok();
                evidence[column.variable] = value.and_then(|at| column.values.get(at)).copied();
            }
            self.network.log_density(&evidence)
        };
        rows.par_iter().map(density).collect()
    }

    /// The plausibility of each of `rows`: the share of the real rows that are no likelier.
    pub fn grades(&self, rows: &[&[i32]]) -> Vec<f32> {
        let share = |density: f64| {
            let below = self
                .real
                .partition_point(|real| real.total_cmp(&density).is_le());
            (below as f64 / self.real.len().max(1) as f64) as f32
        };
        self.densities(rows).into_iter().map(share).collect()
    }
}
