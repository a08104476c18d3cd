//! The space in which rows are clustered.

use std::sync::OnceLock;

use super::brought::Brought;
use crate::spn::Dataset;

/// The positions of the columns of a scope in the space of the clustering.
#[derive(Debug)]
pub struct Geometry {
    pub(super) coordinates: Vec<Vec<i32>>,
    pub(super) indicators: Vec<Option<usize>>,
    /// The rows on the device that proposes, once they are needed there.
    brought: OnceLock<Option<Brought>>,
}

impl Geometry {
    /// Creates the geometry of all variables of `data`.
    pub fn new(data: &Dataset) -> Geometry {
        Geometry {
            coordinates: data.coordinates(),
            indicators: data.variables().iter().map(|v| v.indicators()).collect(),
            brought: OnceLock::new(),
        }
    }

    /// Drops the rows on the device that proposed, so that another one or none is used.
    pub(in crate::spn) fn leave_device(&mut self) {
        self.brought = OnceLock::new();
    }

    /// Returns the first axis of each variable of `scope`, and at the end the number of axes.
    pub(super) fn axes(&self, scope: &[u32]) -> Vec<usize> {
        let mut axes = Vec::with_capacity(scope.len() + 1);
        let mut next = 0;
        for &variable in scope {
            axes.push(next);
            next += self.indicators[variable as usize].unwrap_or(1);
        }
        axes.push(next);
        axes
    }
}

/// The inputs of a clustering: the geometry, and the columns and draws of a node.
#[derive(Debug, Clone, Copy)]
pub struct Space<'a> {
    /// The geometry of all variables.
    pub geometry: &'a Geometry,
    /// The rows, with their ids.
    pub data: &'a Dataset,
    /// The columns of the node.
    pub scope: &'a [u32],
    /// The key of the node's draws.
    pub key: u64,
    /// The number of clusters asked for.
    pub clusters: usize,
}

impl Space<'_> {
    /// Returns the squared distances of the rows at `positions` to some centroids (`[centroids,
    /// axes]`), by centroid, then by place, from the device that proposes; nothing where none is
    /// asked or it failed. `terms` is the number of terms that the reference would add up for each
    /// row.
    pub(super) fn distances_on_device(
        self,
        axes: &[usize],
        centroids: &[i64],
        positions: &[u32],
        terms: usize,
    ) -> Option<Vec<Vec<i64>>> {
        let proposer = self.data.proposer();
        let device = proposer.device_for(terms * positions.len())?;
        let bring = || {
            Brought::new(
                &self.geometry.coordinates,
                &self.geometry.indicators,
                device,
            )
        };
        let brought = self.geometry.brought.get_or_init(bring).as_ref()?;
        brought.distances(self.scope, axes, centroids, positions)
    }
}
