//! Whose decisions an audit of a table asks about: rows of the data, or of another file.

use std::path::Path;

use crate::audit_error::AuditError;
use crate::certify::parts::{Part, positions_of};
use crate::domain::TabularDomain;
use crate::opened::Opened;
use crate::population::{People, Source};
use crate::specification::AuditSpecification;
use probity_data::schema::Schema;
use probity_data::table::Table;
use probity_run::specification::FieldError;
use probity_run::stream::{Purpose, permutation};

/// Rows, and the class that is good to get.
#[derive(Default)]
pub(super) struct Population {
    /// The file of the rows, where it is not the data.
    file: Option<Opened<Table>>,
    part: Part,
    /// Rows that there are, where not all of these or of the data are asked about.
    chosen: Option<(u64, Vec<u32>)>,
    favourable: usize,
}

impl Population {
    /// That which `specification` asks for of a model whose inputs `schema` describes: rows of
    /// `data`, read from a file of that hash, or of `file`.
    pub(super) fn new(
        specification: &AuditSpecification,
        schema: &Schema,
        model_sha256: &str,
        data: (&Table, &str),
        file: Option<Opened<Table>>,
    ) -> Result<Population, AuditError> {
        let asked = &specification.population;
        let favourable = favourable(asked.favourable.as_deref(), &schema.label.classes)?;
        let part = asked.part;
        let mut chosen = None;
        let mut rows = file.as_ref().map_or(data.0, |file| &file.value).rows();
        if part != Part::All {
            let model = specification.model.as_deref().unwrap_or(Path::new(""));
            let model = (model, model_sha256);
            let of = positions_of(part, model, (&specification.data, data.1), rows)?;
            if of.is_empty() {
                return Err(AuditError::EmptyPart { part });
            }
            rows = of.len();
            chosen = Some(of);
        }
        let most = asked.most(specification.predictor.source.is_some());
        let most = most.and_then(|most| usize::try_from(most).ok());
        if let Some(most) = most.filter(|&most| most < rows) {
            let mut drawn =
                permutation(specification.seed, Purpose::PopulationRows, 0, rows as u32);
            drawn.truncate(most);
            drawn.sort_unstable();
            chosen = Some(match chosen {
                Some(of) => drawn.into_iter().map(|place| of[place as usize]).collect(),
                None => drawn,
            });
        }
        Ok(Population {
            file,
            part,
            chosen: chosen.map(|chosen| (rows as u64, chosen)),
            favourable,
        })
    }

    /// All rows of the data; the last class of `schema` is good to get.
    pub(super) fn all(schema: &Schema) -> Population {
        Population {
            favourable: schema.label.classes.len().saturating_sub(1),
            ..Population::default()
        }
    }

    /// SHA-256 of the file of the rows, where it is not the data.
    pub(super) fn sha256(&self) -> Option<&str> {
        self.file.as_ref().map(|file| file.sha256.as_str())
    }

    /// The people of these rows, where `data` are the data.
    pub(super) fn people<'a>(
        &self,
        (schema, domain): (&Schema, &'a TabularDomain),
        data: &Table,
    ) -> Result<People<'a>, AuditError> {
        let table = self.file.as_ref().map_or(data, |file| &file.value);
        let file = self.file.as_ref();
        let file = file.map(|file| (file.sha256.clone(), file.value.counts.clone()));
        let (rows, chosen) = match &self.chosen {
            Some((rows, chosen)) => (*rows, chosen.clone()),
            None => (table.rows() as u64, (0..table.rows() as u32).collect()),
        };
        let part = self.part;
        let source = Source { part, file, rows };
        let rows = chosen.iter().map(|&row| table.row(row as usize));
        Ok(People::new(
            (schema, domain),
            (source, rows),
            self.favourable,
        )?)
    }
}

/// The number of the class that is good to get: the one that is `named`, or the last one.
fn favourable(named: Option<&str>, classes: &[String]) -> Result<usize, FieldError> {
    let Some(named) = named else {
        return Ok(classes.len().saturating_sub(1));
    };
    let place = classes.iter().position(|class| class == named);
    place.ok_or_else(|| {
        let expected = format!("one of the classes {}", classes.join(", "));
        FieldError::new("population.favourable", format!("'{named}'"), expected)
    })
}
