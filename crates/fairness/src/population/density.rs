//! The density of rows of codes: a sum-product network whose variables are attributes of a schema.
//!
//! It is learnt from rows of codes, or read from a directory, where it was learnt from columns of the
//! same names. Whatever is not said of a row is summed out exactly; rows are drawn given what is said
//! of them.

use std::path::{Path, PathBuf};

use thiserror::Error;

use probity_data::schema::{Attribute, Encoded, Encoder, Kind, Schema};
use probity_unlearning::spn::model::SpnModelError;
use probity_unlearning::spn::{
    Dataset, Domain, LeafFamily, Network, SpnError, SpnParameters, Variable,
};

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

/// A reason why there is no density of rows.
#[derive(Debug, Error)]
pub enum DensityError {
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
) -> Result<Vec<Column>, DensityError> {
    let column = |&place: &usize| {
        let attribute = &schema.attributes[place];
        let named = |one: &Variable| one.name() == attribute.name;
        let unknown = || DensityError::NoAttribute {
            directory: directory.to_owned(),
            attribute: attribute.name.clone(),
        };
        let variable = network.variables().iter().position(named);
        let variable = variable.ok_or_else(unknown)?;
        let (min, max) = attribute.domain();
        let value = |code| {
            let value = attribute.decode(code);
            let known = network.variables()[variable].parse(&value);
            known.ok_or_else(|| DensityError::NoValue {
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

/// A code of an attribute: the attribute's place in the schema, and the code.
pub type Cell = (usize, i32);

/// The density of rows of codes.
#[derive(Debug, Clone)]
pub struct Density {
    network: Network,
    columns: Vec<Column>,
}

impl Density {
    /// The density of a network that is learnt from `rows` by the attributes `places` of `schema`.
    ///
    /// # Errors
    /// When nothing can be learnt.
    pub fn learnt(
        schema: &Schema,
        places: &[usize],
        rows: &[&[i32]],
        seed: u64,
    ) -> Result<Density, DensityError> {
        let variables = places.iter().map(|&attribute| {
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
            .flat_map(|row| places.iter().map(|&place| row[place]));
        let values: Vec<f64> = cells.map(f64::from).collect();
        let ids: Vec<u64> = (0..rows.len() as u64).collect();
        let data = Dataset::new(variables, &ids, &[], &values)?;
        let network = SpnParameters::default().seed(seed).learn(data)?.network();
        let columns = places.iter().enumerate().map(|(variable, &attribute)| {
            let (min, max) = schema.attributes[attribute].domain();
            Column {
                attribute,
                variable,
                min,
                values: (min..=max).map(f64::from).collect(),
                attribute_of: None,
            }
        });
        Ok(Density {
            network,
            columns: columns.collect(),
        })
    }

    /// The density of the `network` in a directory, which was learnt from columns of these names, of
    /// the attributes `places` of `schema`.
    ///
    /// # Errors
    /// When it does not know one of them or a value of one, or hardly ever gives an input of the model.
    pub fn of_network(
        (network, directory): (Network, PathBuf),
        schema: &Schema,
        places: &[usize],
    ) -> Result<Density, DensityError> {
        let columns = columns((&network, &directory), schema, places)?;
        let density = Density { network, columns };
        let nothing = density.evidence(&[]);
        let inside = (0..TRIED).filter(|&item| density.drawn(&nothing, 0, item).is_some());
        match inside.count() as u64 * MOST_OUTSIDE < TRIED {
            true => Err(DensityError::Outside { directory }),
            false => Ok(density),
        }
    }

    /// The codes of input number `item`, below 2^40, that is drawn with `seed` given the cells `known`,
    /// and is `wanted`. Draws that are no input of the model, or not wanted, are made again; nothing
    /// where the network gives none.
    pub fn draw(
        &self,
        known: &[Cell],
        (seed, item): (u64, u64),
        wanted: impl Fn(&[Cell]) -> bool,
    ) -> Option<Vec<Cell>> {
        let evidence = self.evidence(known);
        let mut draws = (0..DRAWS).map(|draw| item | draw << INPUT_BITS);
        draws.find_map(|item| {
            let drawn = self.drawn(&evidence, seed, item)?;
            wanted(&drawn).then_some(drawn)
        })
    }

    /// The logarithm of the density of the `cells`; whatever they do not name is summed out.
    pub fn log_density(&self, cells: &[Cell]) -> f64 {
        self.network.log_density(&self.evidence(cells))
    }

    /// The logarithm of the density of `row`, by the attributes that the density is of.
    pub(super) fn of_row(&self, row: &[i32]) -> f64 {
        let cells = self.columns.iter();
        let cells: Vec<Cell> = cells
            .map(|column| (column.attribute, row[column.attribute]))
            .collect();
        self.log_density(&cells)
    }

    fn drawn(&self, evidence: &[Option<f64>], seed: u64, item: u64) -> Option<Vec<Cell>> {
        let values = self.network.sample(evidence, seed, item).ok()?;
        let code = |column: &Column| {
            let variable = &self.network.variables()[column.variable];
            let code = column.code(variable, values[column.variable])?;
            Some((column.attribute, code))
        };
        self.columns.iter().map(code).collect()
    }

    fn evidence(&self, known: &[Cell]) -> Vec<Option<f64>> {
        let mut evidence = vec![None; self.network.variables().len()];
        for column in &self.columns {
            let code = known.iter().find(|(place, _)| *place == column.attribute);
            let level = code.map(|(_, code)| i64::from(*code) - i64::from(column.min));
            let level = level.and_then(|level| usize::try_from(level).ok());
            evidence[column.variable] = level.and_then(|at| column.values.get(at)).copied();
        }
        evidence
    }
}
