//! Certificates for rows of a table.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::Certificate;
use super::enumerate::{Enumeration, enumerate};
use super::parts::{Dealer, Inputs, Part, PartError, rows_of};
use super::run::{Certifiable, CertifySpecification};
use crate::audit_error::AuditError;
use crate::domain::{Domain, TabularDomain};
use crate::modality::TableColumns;
use crate::opened::{by_role, positions, protected_or_marked};
use crate::population::Unknown;
use crate::table_model::TableNetwork;
use probity_data::schema::Schema;
use probity_data::table::ReadCounts;
use probity_data::table::{Labels, Table};
use probity_nn::alike::DecidedAlike;
use probity_nn::decision::{Decided, Decision};
use probity_nn::fnn::{Fnn, Network};
use probity_nn::interval::fnn::{CodeSet, FnnBounds};
use probity_nn::modality::ModalityName;
use probity_nn::model::Model;
use probity_nn::{Classifier, ModelError, Rows};
use probity_tensor::device::ComputeDevice;

/// Number of rows that a thread takes at a time.
const CHUNK: usize = 256;

/// A network of tables and the rows of its data.
pub struct CertifiableTable {
    model: Model,
    decision: Decision,
    table: Table,
    protected: Vec<String>,
    sha256: BTreeMap<String, String>,
}

impl CertifiableTable {
    /// The network together with its rule of decision.
    fn asked(&self) -> Decided<Fnn> {
        Decided {
            model: Fnn::new(&self.model.network, &ComputeDevice::flex()),
            decision: self.decision.clone(),
        }
    }

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
        let reading = specification.reading();
        let network = TableNetwork::open(&specification.model, reading)?;
        let data = network.read(&specification.data, Labels::Unneeded)?;
        let model = network.model;
        let schema = &model.value.schema;
        let classes = &schema.label.classes;
        let favourable = classes.len().saturating_sub(1);
        let asked = specification.deciding();
        Ok(CertifiableTable {
            decision: asked.among(classes, favourable, Some(schema))?,
            protected: protected_or_marked(&specification.protected, schema),
            model: model.value,
            table: data.value,
            sha256: by_role([("model", model.sha256), ("data", data.sha256)]),
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

    fn part(&self, part: Part, model: Dealer<'_>, file: Inputs<'_>) -> Result<Vec<u32>, PartError> {
        rows_of(part, (model, &self.model.schema), file, &self.table)
    }

    fn counts(&self) -> Option<&ReadCounts> {
        Some(&self.table.counts)
    }

    fn decides_alike(&self, rows: &[u32]) -> Result<Option<DecidedAlike>, AuditError> {
        let part = self.table.select(rows);
        let rows = Rows::new(part.codes(), part.width());
        let names = self.decision.names(&self.model.schema.label.classes);
        Ok(DecidedAlike::detect(&self.asked(), &names, rows)?)
    }

    fn varying(&self, names: &[String], rows: &[u32]) -> Result<Vec<u32>, AuditError> {
        self.domain(names)?;
        // Whoever is on no side by one attribute is on none by the others, as in audits.
        let joint = self.domain(&self.protected)?;
        let rows = rows.iter().copied();
        let (known, _) = Unknown::divide((&self.model.schema, &joint), &self.table, rows)?;
        Ok(known)
    }

    fn unknown(&self, rows: &[u32]) -> Result<Option<Unknown>, AuditError> {
        let joint = self.domain(&self.protected)?;
        let rows = rows.iter().copied();
        let (_, unknown) = Unknown::divide((&self.model.schema, &joint), &self.table, rows)?;
        Ok(Some(unknown).filter(|unknown| unknown.rows > 0))
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
        let certifier = RowCertifier::new(network, &self.decision);
        Ok(certifier.certify(schema, &protected, rows, splits)?)
    }

    fn enumerate(
        &self,
        names: &[String],
        rows: &[u32],
        most: Option<u64>,
    ) -> Result<Enumeration, AuditError> {
        let part = self.table.select(rows);
        let rows = Rows::new(part.codes(), part.width());
        Ok(enumerate(&self.asked(), &self.domain(names)?, rows, most)?)
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

/// Certifies rows of a network, whose answers are turned into decisions by a rule.
pub struct RowCertifier<'a> {
    fnn: Fnn,
    bounds: FnnBounds,
    decision: &'a Decision,
}

impl<'a> RowCertifier<'a> {
    /// A certifier for `network` and `decision`.
    pub fn new(network: &Network, decision: &'a Decision) -> RowCertifier<'a> {
        RowCertifier {
            fnn: Fnn::new(network, &ComputeDevice::flex()),
            bounds: FnnBounds::new(network),
            decision,
        }
    }

    /// Certifies `rows` over all combinations of values of the attributes at `protected` that are
    /// known, as those of the rows must be, with at most `splits` splits a row.
    ///
    /// # Errors
    /// When the model cannot answer.
    pub fn certify(
        &self,
        schema: &Schema,
        protected: &[usize],
        rows: Rows<'_>,
        splits: u32,
    ) -> Result<Vec<Certificate>, ModelError> {
        let domains = protected.iter().map(|&attribute| {
            let described = &schema.attributes[attribute];
            let ((min, _), known) = (described.domain(), described.known_levels() as i32);
            CodeSet {
                attribute,
                codes: (min..min + known).collect(),
            }
        });
        let domains: Vec<CodeSet> = domains.collect();
        let classes = self.fnn.classes();
        let parts = rows.codes.par_chunks(CHUNK * rows.width.max(1));
        let parts = parts.map(|codes| {
            let rows = Rows::new(codes, rows.width);
            let logits = self.fnn.logits(rows)?;
            let certify = |own| self.certify_row(own, &domains, splits);
            let answers = rows.iter().zip(logits.chunks_exact(classes));
            answers.map(certify).collect()
        });
        let parts: Vec<Vec<Certificate>> = parts.collect::<Result<_, ModelError>>()?;
        Ok(parts.concat())
    }

    /// Certifies a row, depth first, the lower part of a split first. A box of one combination that
    /// the bounds leave open, which takes a tie within their margin, is decided by the network
    /// itself.
    fn certify_row(
        &self,
        own: (&[i32], &[f32]),
        domains: &[CodeSet],
        splits: u32,
    ) -> Result<Certificate, ModelError> {
        let decided = self.decision.decide(own.0, own.1);
        let leading = self.decision.leading(decided, own.1.len());
        let keeps = |sets: &[CodeSet]| {
            let leads = leading.iter();
            let leads = leads.map(|&label| self.bounds.lead_bounds(own.0, sets, label));
            let leads: Vec<Vec<f64>> = leads.collect();
            let leads: Vec<&[f64]> = leads.iter().map(Vec::as_slice).collect();
            self.decision.is_kept(decided, own.1, &leads)
        };
        let mut open = vec![domains.to_vec()];
        let mut done = 0;
        while let Some(sets) = open.pop() {
            if keeps(&sets) {
                continue;
            }
            match halves(&self.bounds, &sets) {
                Some(parts) if done < splits => {
                    done += 1;
                    open.extend(parts);
                }
                None if !self.differs(own, &sets)? => {}
                _ => return Ok(Certificate::None),
            }
        }
        Ok(Certificate::from_splits(true, done))
    }

    /// Whether another decision is made on the row `own` than on the same row with the first codes
    /// of `sets`.
    fn differs(&self, own: (&[i32], &[f32]), sets: &[CodeSet]) -> Result<bool, ModelError> {
        let mut changed = own.0.to_vec();
        for set in sets {
            changed[set.attribute] = set.codes[0];
        }
        let logits = self.fnn.logits(Rows::new(&changed, changed.len()))?;
        Ok(self.decision.contrast(own, (&changed, &logits)).is_some())
    }
}

/// The two halves of the box, along the attribute that moves the first layer most; `None` for a
/// single combination.
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
    use probity_nn::decision::{Gap, Score, Thresholds};
    use probity_nn::encoding::{Encoding, InputLayout};
    use probity_nn::fnn::Activation;

    #[test]
    fn certified_rows_are_fair_and_full_splitting_finds_all_fair_rows() {
        let schema = builtin::schema("adf-census").unwrap().unwrap();
        let protected = ["sex", "race"].map(|name| schema.index_of(name).unwrap());
        let (mut one_box, mut split, mut unfair) = (0, 0, 0);
        let of_women = vec![None, Some(Thresholds::of_two(1, 0.6))];
        let by_sex = Thresholds::of_two(1, 0.4).with_values((protected[0], 0), of_women);
        let decisions = [
            Decision::Largest,
            Decision::Thresholds(Thresholds::of_two(1, 0.6)),
            Decision::Largest,
            Decision::Abstention {
                class: 1,
                low: 0.4,
                high: 0.55,
            },
            Decision::Gap(Gap {
                score: Score::Probability(0),
                most: 0.1,
            }),
            Decision::Largest,
            Decision::Thresholds(by_sex),
        ];
        for seed in 0..56 {
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
            let decision = decisions[seed as usize % decisions.len()].clone();
            let certifier = RowCertifier::new(&network, &decision);
            let model = Fnn::new(&network, &ComputeDevice::flex());
            let decision = decision.clone();
            let tried = enumerate(&Decided { model, decision }, &domain, rows, None);
            let tried = tried.unwrap().tried;
            let certify = |splits| {
                certifier
                    .certify(&schema, &protected, rows, splits)
                    .unwrap()
            };
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
