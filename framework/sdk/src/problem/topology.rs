//! The network of a problem.

use super::{copy_struct, text};
use crate::grid::Grid;
use crate::stop::Stop;
use std::marker::PhantomData;
use swapmeet_abi::SwmTopology;

/// The network that connects the nodes of the machine.
#[derive(Clone, Copy)]
pub struct Topology<'a> {
    raw: SwmTopology,
    /// The lifetime of the call, during which the host keeps the data that `raw` points to.
    call: PhantomData<&'a SwmTopology>,
}

impl<'a> Topology<'a> {
    pub(super) fn new(raw: SwmTopology) -> Self {
        Self { raw, call: PhantomData }
    }

    /// Returns the family: `torus`, `mesh`, `ring`, `hypercube`, `fully-connected`, etc.
    pub fn kind(&self) -> &'a str {
        text(self.raw.kind)
    }

    /// Returns the whole topology spec in canonical form, such as `torus:16x16`.
    pub fn spec(&self) -> &'a str {
        text(self.raw.spec)
    }

    /// Returns the number of nodes. They are numbered from 0.
    pub fn nodes(&self) -> u64 {
        self.raw.nodes
    }

    /// Returns the radix of each axis, first axis first. Nodes are numbered row-major: the last
    /// axis varies fastest.
    pub fn dims(&self) -> &'a [u64] {
        if self.raw.dims.is_null() {
            return &[];
        }
        // SAFETY: the host keeps `dim_count` radices for the duration of the call.
        unsafe { std::slice::from_raw_parts(self.raw.dims, self.raw.dim_count as usize) }
    }

    /// Returns the nodes as a grid with the radices of [`Topology::dims`].
    ///
    /// # Errors
    ///
    /// [`Stop::Unsupported`] if the number of nodes exceeds `u64`. No correct host causes this
    /// error.
    pub fn grid(&self) -> Result<Grid, Stop> {
        Grid::new(self.dims())
    }

    /// Returns the base topology of a dual-net and the number of levels above it; `None` for other
    /// topologies. A dual-net connects copies of its base on several levels.
    pub fn base(&self) -> Option<(Self, u64)> {
        // SAFETY: the host keeps the base, if there is one, for the duration of the call.
        let base = unsafe { copy_struct(self.raw.base, "base") }.ok()?;
        Some((Self::new(base), self.raw.levels))
    }
}
