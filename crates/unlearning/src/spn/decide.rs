//! The choice of an operation by LearnSPN, and its revision after a change of rows.
//!
//! The order of questions is that of Algorithm 1: constant variables first (all: NF, some: SU),
//! then
//! |X| ≤ t (NF), independences (SV), clusters (SD), else NF. Definition 3 lists for each old operation what the
//! new one can be; asking the same questions again, with |X'| where its fourth case for NF prints
//! |X|, decides the same, and stays right for rows that come. What makes the revision cheap is that
//! the answers come from statistics that the change has updated: moments, tables, the trace of the
//! clustering.

use super::clustering::Clustering;
use super::context::LearningContext;
use super::independence::components::Components;
use super::independence::gtest::Tables;
use super::independence::rdc;
use super::moments::Moments;
use super::parameters::Independence;
use super::row_delta::{RowDelta, places};
use super::structure::{Dependence, Inner, Operation, Part, Spares, Uninformative};

/// A decision: the parts that the children are of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Plan {
    /// A product over these scopes, ordered by their smallest variables.
    Product(Vec<Vec<u32>>),
    /// A sum over these clusters.
    Sum(Vec<u8>),
}

impl Plan {
    /// Returns the parts that the children are of, in their order.
    pub(super) fn parts(self) -> Vec<Part> {
        match self {
            Plan::Product(scopes) => scopes.into_iter().map(Part::Scope).collect(),
            Plan::Sum(clusters) => clusters.into_iter().map(Part::Cluster).collect(),
        }
    }
}

impl Inner {
    /// Creates a node over `rows` that has decided nothing yet.
    pub(super) fn new(rules: &LearningContext, scope: Vec<u32>, key: u64, rows: Vec<u32>) -> Inner {
        let moments = scope
            .iter()
            .map(|&variable| {
                let column = rules.data.column(variable);
                let mut moments = Moments::default();
                for &row in &rows {
                    moments.add(column[row as usize]);
                }
                moments
            })
            .collect();
        Inner {
            scope,
            key,
            rows,
            moments,
            uninformative: Uninformative::None,
            dependence: None,
            clustering: None,
            operation: Operation::NaiveFactorization,
            children: Vec::new(),
            spares: Spares::default(),
        }
    }

    /// Updates rows, moments and tables; the decision comes after that.
    pub(super) fn apply(&mut self, rules: &LearningContext, change: &RowDelta) {
        // Counting all rows takes 64 at a time.
        if change.len() > self.rows.len() / 32 {
            self.dependence = None;
        }
        // From the last place to the first, so that no row that is still to leave moves.
        for place in places(&self.rows, &change.left).into_iter().rev() {
            let row = self.rows.swap_remove(place);
            for (moments, &variable) in self.moments.iter_mut().zip(&self.scope) {
                moments.remove(rules.data.column(variable)[row as usize]);
            }
            if let Some(Dependence::Gtest(tables)) = &mut self.dependence {
                tables.remove(&rules.gtest, &self.scope, row);
            }
        }
        for &row in &change.came {
            self.rows.push(row);
            for (moments, &variable) in self.moments.iter_mut().zip(&self.scope) {
                moments.add(rules.data.column(variable)[row as usize]);
            }
            if let Some(Dependence::Gtest(tables)) = &mut self.dependence {
                tables.add(&rules.gtest, &self.scope, row);
            }
        }
        // The coefficient is no sum over rows.
        if let Some(Dependence::Rdc(_)) = self.dependence {
            self.dependence = None;
        }
    }

    /// Makes LearnSPN's decision for the rows that are there. Where the decision asks for clusters,
    /// `cluster` must put a clustering of these rows in place; else there is none afterwards.
    pub(super) fn decide(
        &mut self,
        rules: &LearningContext,
        cluster: impl FnOnce(&mut Inner),
    ) -> Plan {
        let mut constant = Vec::new();
        let mut informative = Vec::new();
        for (&variable, moments) in self.scope.iter().zip(&self.moments) {
            if moments.is_constant(self.rows.len()) {
                constant.push(variable);
            } else {
                informative.push(variable);
            }
        }
        self.uninformative = match (constant.is_empty(), informative.is_empty()) {
            (true, _) => Uninformative::None,
            (false, false) => Uninformative::Some,
            (false, true) => Uninformative::All,
        };
        let few = self.rows.len() <= rules.parameters.min_rows;
        if self.uninformative != Uninformative::None || few {
            self.dependence = None;
            self.clustering = None;
            if self.uninformative != Uninformative::Some {
                return self.naive();
            }
            let mut scopes: Vec<Vec<u32>> = constant.iter().map(|&v| vec![v]).collect();
            scopes.push(informative);
            scopes.sort_unstable_by_key(|scope| scope[0]);
            return self.product(Operation::SplitUninformative, scopes);
        }
        let dependence = self.dependence.take().unwrap_or_else(|| self.test(rules));
        let mut components = dependence.components(rules, &self.scope);
        self.dependence = Some(dependence);
        if components.groups() > 1 {
            self.clustering = None;
            let scopes = components.split(&self.scope);
            return self.product(Operation::SplitVariables, scopes);
        }
        cluster(self);
        let occupied = self.clustering.as_ref().map(Clustering::occupied);
        match occupied {
            Some(clusters) if clusters.len() > 1 => {
                self.operation = Operation::SplitData;
                Plan::Sum(clusters)
            }
            _ => self.naive(),
        }
    }

    /// Puts a new clustering of the rows in place.
    pub(super) fn cluster(&mut self, rules: &LearningContext) {
        let space = rules.space(&self.scope, self.key);
        self.clustering = Some(Clustering::new(space, &self.rows));
    }

    /// Drops the tables and the trace of the clustering.
    pub(super) fn forget_state(&mut self) {
        self.dependence = None;
        if let Some(clustering) = &mut self.clustering {
            clustering.forget_trace();
        }
    }

    fn naive(&mut self) -> Plan {
        let scopes = self.scope.iter().map(|&variable| vec![variable]).collect();
        self.product(Operation::NaiveFactorization, scopes)
    }

    fn product(&mut self, operation: Operation, scopes: Vec<Vec<u32>>) -> Plan {
        self.operation = operation;
        Plan::Product(scopes)
    }

    /// Returns the test of independence on the rows that are there.
    fn test(&self, rules: &LearningContext) -> Dependence {
        match rules.parameters.independence {
            Independence::Gtest => {
                let (proposer, rows) = (rules.data.proposer(), &self.rows);
                Dependence::Gtest(Tables::count(&rules.gtest, &self.scope, rows, proposer))
            }
            Independence::Rdc => {
                let mut rows = self.rows.clone();
                rows.sort_unstable();
                let parameters = &rules.parameters;
                let (seed, threshold) = (parameters.seed, rules.choice.threshold);
                let groups = rdc::components(&rules.data, seed, threshold, &self.scope, &rows);
                Dependence::Rdc(groups)
            }
        }
    }
}

impl Dependence {
    fn components(&self, rules: &LearningContext, scope: &[u32]) -> Components {
        match self {
            Dependence::Gtest(tables) => tables.components(&rules.gtest, scope),
            Dependence::Rdc(components) => components.clone(),
        }
    }
}
