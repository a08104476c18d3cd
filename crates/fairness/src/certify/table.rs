//! Certificates for rows of a table.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::enumerate::{Enumeration, enumerate};
use super::run::{Certifiable, CertifySpecification};
use super::{Certificate, keeps};
use crate::audit_error::AuditError;
use crate::domain::{Domain, TabularDomain};
use crate::modality::TableColumns;
use crate::opened::{open_model, open_table, positions, protected_or_marked, reading_schema};
use probity_data::schema::Schema;
use probity_data::table::ReadCounts;
use probity_data::table::{Labels, Table};
use probity_nn::alike::DecidedAlike;
use probity_nn::fnn::{Fnn, Network};
use probity_nn::interval::fnn::{CodeSet, FnnBounds};
use probity_nn::modality::ModalityName;
use probity_nn::model::Model;
use probity_nn::{Classifier, ModelError, Rows, predicted_class};
use probity_tensor::device::ComputeDevice;

/// Rows a thread takes at a time.
const CHUNK: usize = 256;

/// A network of tables and the rows of its data.
pub struct CertifiableTable {
    model: Model,
    table: Table,
    protected: Vec<String>,
    sha256: BTreeMap<String, String>,
}

impl CertifiableTable {
    fn domain(&self, names: &[String]) -> Result<TabularDomain, AuditError> {
        let schema = &self.model.schema;
        let protected = positions(schema, names)?;
        Ok(TabularDomain::new(
            schema,
            &self.model.network.layout,
            &protected,
        )?)
    }
}

impl Certifiable for CertifiableTable {
    const NAME: ModalityName = ModalityName::Table;

    fn open(specification: &CertifySpecification) -> Result<CertifiableTable, AuditError> {
        let model = open_model(&specification.model)?;
        let schema = reading_schema(
            &model.value.schema,
            specification.out_of_domain,
            specification.skip_bad_rows,
        )?;
        let data = open_table(&specification.data, &schema, Labels::Optional)?;
        let hashes = [("model", model.sha256), ("data", data.sha256)];
        Ok(CertifiableTable {
            protected: protected_or_marked(&specification.protected, &model.value.schema),
            model: model.value,
            table: data.value,
            sha256: hashes.map(|(role, hash)| (role.to_owned(), hash)).into(),
        })
    }

    fn sha256(&self) -> &BTreeMap<String, String> {
        &self.sha256
    }

    fn protected(&self) -> &[String] {
        &self.protected
    }

    fn inputs(&self) -> usize {
        self.table.rows()
    }

    fn counts(&self) -> Option<&ReadCounts> {
        Some(&self.table.counts)
    }

    fn decides_alike(&self, rows: &[u32]) -> Result<Option<DecidedAlike>, AuditError> {
        let part = self.table.select(rows);
        let rows = Rows::new(part.codes(), part.width());
        let fnn = Fnn::new(&self.model.network, &ComputeDevice::flex());
        Ok(DecidedAlike::of(
            &fnn,
            &self.model.schema.label.classes,
            rows,
        )?)
    }

    fn varying(&self, names: &[String], rows: &[u32]) -> Result<Vec<u32>, AuditError> {
        self.domain(names)?;
        Ok(rows.to_vec())
    }

    fn certify(
        &self,
        names: &[String],
        rows: &[u32],
        splits: u32,
    ) -> Result<Vec<Certificate>, AuditError> {
        let Model { schema, network } = &self.model;
        let protected = positions(schema, names)?;
        let part = self.table.select(rows);
        let rows = Rows::new(part.codes(), part.width());
        Ok(certify_rows(network, schema, &protected, rows, splits)?)
    }

    fn enumerate(
        &self,
        names: &[String],
        rows: &[u32],
        most: Option<u64>,
    ) -> Result<Enumeration, AuditError> {
        let part = self.table.select(rows);
        let rows = Rows::new(part.codes(), part.width());
        let fnn = Fnn::new(&self.model.network, &ComputeDevice::flex());
        Ok(enumerate(&fnn, &self.domain(names)?, rows, most)?)
    }

    fn changed(&self, names: &[String], row: u32, variant: u32) -> Result<String, AuditError> {
        let (part, domain) = (self.table.select(&[row]), self.domain(names)?);
        let mut other = Vec::with_capacity(part.width());
        domain.write_variant(part.codes(), variant as usize, &mut other);
        let columns = TableColumns::new(&self.model.schema, &domain);
        let changes = columns.changes(part.codes(), &other);
        let changes: Vec<String> = changes.iter().map(ToString::to_string).collect();
        Ok(changes.join("; "))
    }
}

/// Certifies `rows` over all combinations of values of the attributes at `protected`, with at most
/// `splits` splits a row.
///
/// # Errors
/// When the model cannot answer.
pub fn certify_rows(
    network: &Network,
    schema: &Schema,
    protected: &[usize],
    rows: Rows<'_>,
    splits: u32,
) -> Result<Vec<Certificate>, ModelError> {
    let fnn = Fnn::new(network, &ComputeDevice::flex());
    let bounds = FnnBounds::new(network);
    let domains: Vec<CodeSet> = protected
        .iter()
        .map(|&attribute| {
            let (min, max) = schema.attributes[attribute].domain();
            CodeSet {
                attribute,
                codes: (min..=max).collect(),
            }
        })
        .collect();
    let classes = fnn.classes();
    let parts: Vec<Vec<Certificate>> = rows
        .codes
        .par_chunks(CHUNK * rows.width.max(1))
        .map(|codes| {
            let rows = Rows::new(codes, rows.width);
            let logits = fnn.logits(rows)?;
            let labels = logits.chunks_exact(classes).map(predicted_class);
            let certify = |(row, label): (&[i32], u32)| {
                certify_row(&fnn, &bounds, row, &domains, label, splits)
            };
            rows.iter().zip(labels).map(certify).collect()
        })
        .collect::<Result<_, ModelError>>()?;
    Ok(parts.concat())
}

/// Depth first, the lower part of a split first. A box of one combination that the bounds leave
/// open, which takes a tie within their margin, is decided by the network itself.
fn certify_row(
    fnn: &Fnn,
    bounds: &FnnBounds,
    row: &[i32],
    domains: &[CodeSet],
    label: u32,
    splits: u32,
) -> Result<Certificate, ModelError> {
    let mut open = vec![domains.to_vec()];
    let mut done = 0;
    while let Some(sets) = open.pop() {
        if keeps(&bounds.lead_bounds(row, &sets, label)) {
            continue;
        }
        match halves(bounds, &sets) {
            Some(parts) if done < splits => {
                done += 1;
                open.extend(parts);
            }
            None if class_of(fnn, row, &sets)? == label => {}
            _ => return Ok(Certificate::None),
        }
    }
    Ok(Certificate::of(true, done))
}

/// The class of `row` with the first codes of `sets`.
fn class_of(fnn: &Fnn, row: &[i32], sets: &[CodeSet]) -> Result<u32, ModelError> {
    let mut changed = row.to_vec();
    for set in sets {
        changed[set.attribute] = set.codes[0];
    }
    let logits = fnn.logits(Rows::new(&changed, changed.len()))?;
    Ok(predicted_class(&logits))
}

/// The box in two, along the attribute that moves the first layer most; `None` for a single
/// combination.
fn halves(bounds: &FnnBounds, sets: &[CodeSet]) -> Option<[Vec<CodeSet>; 2]> {
    let (place, set) = sets
        .iter()
        .enumerate()
        .filter(|(_, set)| set.codes.len() > 1)
        .max_by(|(_, a), (_, b)| bounds.width(a).total_cmp(&bounds.width(b)))?;
    let parts = bounds.split(set)?;
    Some(parts.map(|part| {
        let mut sets = sets.to_vec();
        sets[place] = part;
        sets
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certify::enumerate::Tried;
    use probity_data::builtin;
    use probity_nn::encoding::{Encoding, InputLayout};
    use probity_nn::fnn::Activation;

    #[test]
    fn certified_rows_are_fair_and_full_splitting_finds_all_fair_rows() {
        let schema = builtin::schema("adf-census").unwrap().unwrap();
        let protected = ["sex", "race"].map(|name| schema.index_of(name).unwrap());
        let (mut one_box, mut split, mut unfair) = (0, 0, 0);
        for seed in 0..24 {
            let encoding = if seed % 2 == 0 {
                Encoding::RAW
            } else {
                Encoding::OneHot
            };
            let layout = InputLayout::new(&schema.attributes, &[encoding; 13]);
            let activation = [Activation::Relu, Activation::Tanh][seed as usize / 2 % 2];
            let mut network = Network::random(layout, &[12, 6], 2, activation, seed);
            network.layers[0].weight.iter_mut().for_each(|w| *w *= 0.4);
            let layout = &network.layout;
            let domain = TabularDomain::new(&schema, layout, &protected).unwrap();
            let codes: Vec<i32> = (0..120)
                .flat_map(|i| domain.random_input(seed, i))
                .collect();
            let rows = Rows::new(&codes, 13);
            let fnn = Fnn::new(&network, &ComputeDevice::flex());
            let tried = enumerate(&fnn, &domain, rows, None).unwrap().tried;
            let certify =
                |splits| certify_rows(&network, &schema, &protected, rows, splits).unwrap();
            let (few, all) = (certify(0), certify(1000));
            for ((&tried, few), all) in tried.iter().zip(few).zip(all) {
                let fair = tried == Tried::Fair;
                assert!(fair || !all.holds(), "a false certificate");
                assert!(!few.holds() || all == Certificate::OneBox);
                assert!(few != Certificate::Split);
                assert_eq!(fair, all.holds());
                one_box += usize::from(few.holds());
                split += usize::from(all == Certificate::Split);
                unfair += usize::from(!fair);
            }
        }
        assert!(
            one_box > 300 && split > 100 && unfair > 100,
            "{one_box} {split} {unfair}"
        );
    }
}
