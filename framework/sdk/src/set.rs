//! Sets of nodes: products of per-axis coordinate subsets.

use std::marker::PhantomData;
use swapmeet_abi::{SWM_AXES, SWM_BITS, SWM_NODE, SwmAxis, SwmSet};

/// A subset of the coordinates of one axis. Costs nothing to make.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Axis<'a> {
    raw: SwmAxis,
    words: PhantomData<&'a [u64]>,
}

impl<'a> Axis<'a> {
    /// Every coordinate.
    pub const ALL: Self = Self::from_raw(SwmAxis::ALL);

    const fn from_raw(raw: SwmAxis) -> Self {
        Self { raw, words: PhantomData }
    }

    /// The one coordinate `c`.
    pub const fn one(c: u32) -> Self {
        Self::from_raw(SwmAxis::range(c, 1, 1))
    }

    /// `count` coordinates from `first` on, modulo the radix.
    pub const fn range(first: u32, count: u32) -> Self {
        Self::from_raw(SwmAxis::range(first, 1, count))
    }

    /// `first`, `first + stride`, .. (`count` of them), modulo the radix; no coordinate may come up twice.
    pub const fn stride(first: u32, stride: u32, count: u32) -> Self {
        Self::from_raw(SwmAxis::range(first, stride, count))
    }

    /// The coordinates whose bits are set: bit `c % 64` of word `c / 64` is coordinate `c`.
    pub const fn bits(words: &'a [u64]) -> Self {
        Self::from_raw(SwmAxis {
            kind: SWM_BITS,
            first: 0,
            stride: 0,
            count: words.len() as u32,
            words: words.as_ptr(),
        })
    }

    pub(crate) const fn raw(self) -> SwmAxis {
        self.raw
    }
}

/// A set of nodes of the schedule's grid.
#[derive(Clone, Copy)]
pub struct Set<'a> {
    raw: SwmSet,
    axes: PhantomData<&'a [Axis<'a>]>,
}

impl<'a> Set<'a> {
    /// Every node.
    pub const ALL: Self = Self { raw: SwmSet::ALL, axes: PhantomData };

    /// The one node `node`.
    pub const fn one(node: u64) -> Self {
        Self { raw: SwmSet { kind: SWM_NODE, axis_count: 0, node, axes: std::ptr::null() }, axes: PhantomData }
    }

    /// The nodes whose every coordinate is in its axis's subset; one subset an axis of the grid, first axis first.
    pub const fn product(axes: &'a [Axis<'a>]) -> Self {
        // `Axis` is a transparent wrapper, so a slice of one is a slice of the other.
        let raw = SwmSet { kind: SWM_AXES, axis_count: axes.len() as u32, node: 0, axes: axes.as_ptr().cast() };
        Self { raw, axes: PhantomData }
    }

    pub(crate) const fn raw(self) -> SwmSet {
        self.raw
    }
}
