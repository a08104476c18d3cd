//! The population of an audit of a table, whose decisions are asked about: rows of the data, or of
//! another file.

use std::path::Path;
use std::sync::Arc;

use crate::audit_error::AuditError;
use crate::certify::parts::{Part, rows_of};
use crate::domain::TabularDomain;
use crate::opened::{Opened, open_spn};
use crate::population::{People, Plausibility, PopulationRows, Source, Unknown};
use crate::specification::{AuditSpecification, FIT};
use crate::strategies::Bound;
use probity_data::schema::Schema;
use probity_data::table::{CellNumbers, Table};
use probity_run::stream::{Purpose, drawn};

/// Rows, and the class that is good to get.
#[derive(Default)]
pub(super) struct Population {
    /// The file of the rows, where it is not the data.
    file: Option<Opened<Table>>,
    /// The numbers that the rows of the file, or of the data, have there, where a predictor is asked
    /// about rows with these.
    pub(super) numbers: CellNumbers,
    part: Part,
    /// The number of rows that exist with protected values that are known, and the chosen ones, where
    /// not all of these or of the data are asked about.
    chosen: Option<(u64, Vec<u32>)>,
    /// The rows that are not asked about, since a protected value is not known.
    unknown: Unknown,
    favourable: usize,
    /// The plausibility that grades individuals.
    plausibility: Option<Arc<Plausibility>>,
    /// The least plausibility that searches must keep to, if they must.
    least: Option<f32>,
}

impl Population {
    /// The population that `specification` asks for, for a model whose inputs `schema` describes:
    /// rows of `data`, read from a file of that hash, or of `file`.
    pub(super) fn new(
        specification: &AuditSpecification,
        (schema, domain): (&Schema, &TabularDomain),
        model_sha256: &str,
        data: (&Table, &str),
        file: Option<Opened<Table>>,
    ) -> Result<Population, AuditError> {
        let asked = &specification.population;
        let favourable = asked.favourable_of(&schema.label.classes)?;
        let part = asked.part;
        let mut chosen = None;
        let table = file.as_ref().map_or(data.0, |file| &file.value);
        if part != Part::All {
            let model = specification.model.as_deref().unwrap_or(Path::new(""));
            let model = (model, model_sha256);
            let file = (specification.data.as_path(), data.1);
            let of = rows_of(part, (model, schema), file, table)?;
            if of.is_empty() {
                return Err(AuditError::EmptyPart { part });
            }
            chosen = Some(of);
        }
        let all = 0..table.rows() as u32;
        let (known, unknown) = match &chosen {
            Some(of) => Unknown::divide((schema, domain), table, of.iter().copied()),
            None => Unknown::divide((schema, domain), table, all),
        }?;
        let rows = known.len();
        if chosen.is_some() || unknown.rows > 0 {
            chosen = Some(known);
        }
        let most = asked.most(specification.predictor.source.is_some());
        let most = most.and_then(|most| usize::try_from(most).ok());
        if let Some(most) = most.filter(|&most| most < rows) {
            let purpose = Purpose::PopulationRows;
            let drawn = drawn(specification.seed, purpose, 0, rows as u32, most);
            chosen = Some(match chosen {
                Some(of) => drawn.into_iter().map(|place| of[place as usize]).collect(),
                None => drawn,
            });
        }
        Ok(Population {
            file,
            numbers: CellNumbers::default(),
            part,
            chosen: chosen.map(|chosen| (rows as u64, chosen)),
            unknown,
            favourable,
            plausibility: None,
            least: None,
        })
    }

    /// All rows of `data` whose protected values are known; the last class of `schema` is good to get.
    pub(super) fn all((schema, domain): (&Schema, &TabularDomain), data: &Table) -> Population {
        let rows = data.rows() as u32;
        // Where there is none it is said when they are asked about.
        let divided = Unknown::divide((schema, domain), data, 0..rows);
        let (known, unknown) = divided.unwrap_or_default();
        let is_part = known.len() < rows as usize;
        Population {
            chosen: is_part.then_some((known.len() as u64, known)),
            unknown,
            favourable: schema.label.classes.len().saturating_sub(1),
            ..Population::default()
        }
    }

    /// The number of the class that is good to get.
    pub(super) fn favourable(&self) -> usize {
        self.favourable
    }

    /// SHA-256 of the file of the rows, where it is not the data.
    pub(super) fn sha256(&self) -> Option<&str> {
        self.file.as_ref().map(|file| file.sha256.as_str())
    }

    /// The people of these rows, where `data` are the data.
    pub(super) fn people<'a>(
        &'a self,
        (schema, domain): (&Schema, &'a TabularDomain),
        data: &'a Table,
    ) -> Result<People<'a>, AuditError> {
        let (rows, chosen) = self.rows(data);
        if chosen.codes.is_empty() {
            Unknown::divide((schema, domain), data, 0..data.rows() as u32)?;
        }
        let file = self.file.as_ref();
        let file = file.map(|file| (file.sha256.clone(), file.value.counts.clone()));
        let part = self.part;
        let source = Source {
            part,
            file,
            rows,
            unknown: self.unknown.clone(),
        };
        let rows = (source, chosen);
        Ok(People::new((schema, domain), rows, self.favourable)?)
    }

    /// The number of rows that exist, and those that are asked about.
    fn rows<'t>(&'t self, data: &'t Table) -> (u64, PopulationRows<'t>) {
        let table = self.file.as_ref().map_or(data, |file| &file.value);
        let places = self.numbers.places();
        let of = |rows: &mut dyn Iterator<Item = usize>| {
            let mut chosen = PopulationRows {
                places,
                ..PopulationRows::default()
            };
            for row in rows {
                chosen.codes.push(table.row(row));
                if !places.is_empty() {
                    chosen.numbers.push(self.numbers.row(row));
                }
            }
            chosen
        };
        match &self.chosen {
            Some((rows, chosen)) => (*rows, of(&mut chosen.iter().map(|&row| row as usize))),
            None => (table.rows() as u64, of(&mut (0..table.rows()))),
        }
    }

    /// Returns this population so that it grades individuals by these rows as `specification` asks
    /// for; and the hash of the network that it names.
    pub(super) fn grading(
        mut self,
        specification: &AuditSpecification,
        (schema, domain): (&Schema, &TabularDomain),
        data: &Table,
    ) -> Result<(Population, Option<String>), AuditError> {
        let Some(network) = &specification.population.plausibility else {
            return Ok((self, None));
        };
        let (_, rows) = self.rows(data);
        let rows = rows.codes;
        let (free, mut sha256) = (domain.free(), None);
        let plausibility = if network == Path::new(FIT) {
            Plausibility::learnt(schema, free, &rows, specification.seed)
        } else {
            let opened = open_spn(network)?;
            sha256 = Some(opened.sha256);
            Plausibility::of_network((opened.value, network.clone()), schema, free, &rows)
        }?;
        self.plausibility = Some(Arc::new(plausibility));
        self.least = specification.population.stays_above();
        Ok((self, sha256))
    }

    /// The plausibility that grades individuals.
    pub(super) fn plausibility(&self) -> Option<&Arc<Plausibility>> {
        self.plausibility.as_ref()
    }

    /// The bound on where searches may go, if there is one.
    pub(super) fn bound(&self) -> Option<Bound<'_>> {
        let (plausibility, least) = (self.plausibility.as_deref()?, self.least?);
        Some(Bound {
            plausibility,
            least,
        })
    }
}
