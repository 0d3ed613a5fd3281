//! Sets of nodes. A set is a product of one subset of coordinates for each axis.

use std::marker::PhantomData;
use swapmeet_abi::{SWM_AXES, SWM_BITS, SWM_NODE, SwmAxis, SwmSet};

/// A subset of the coordinates of one axis. The constructors do not allocate memory.
///
/// ```
/// # use swapmeet_sdk::{About, Algorithm, Axis, Problem, Rehearsal, Schedule, Blocks, Set, Stop};
/// # struct Show;
/// # impl Algorithm for Show {
/// #     fn about(&self) -> About { About { name: "show", ..About::DEFAULT } }
/// #     fn plan(&self, _: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
/// #         schedule.step()?;
/// // Subsets of an axis of ten coordinates.
/// let subsets = [
///     Axis::one(7),                     // 7
///     Axis::range(8, 4),                // 8, 9, 0, 1: cyclic
///     Axis::stride(1, 4, 3),            // 1, 5, 9
///     Axis::bits(&[0b11_0000_0011]),    // 0, 1, 8, 9
///     Axis::ALL,
/// ];
/// #         for axis in subsets {
/// #             schedule.send(&Blocks::new(0, 1).destinations(Set::product(&[axis])))?;
/// #         }
/// #         Ok(())
/// #     }
/// # }
/// # let steps = Rehearsal::on("ring", &[10]).plan(&Show).unwrap();
/// # let sets: Vec<&[u64]> = steps[0].sends.iter().map(|send| &send.destinations[..]).collect();
/// # assert_eq!(sets[..4], [&[7][..], &[0, 1, 8, 9], &[1, 5, 9], &[0, 1, 8, 9]]);
/// # assert_eq!(sets[4].len(), 10);
/// ```
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Axis<'a> {
    raw: SwmAxis,
    words: PhantomData<&'a [u64]>,
}

impl<'a> Axis<'a> {
    /// The subset of all coordinates of the axis.
    pub const ALL: Self = Self::from_raw(SwmAxis::ALL);

    const fn from_raw(raw: SwmAxis) -> Self {
        Self { raw, words: PhantomData }
    }

    /// Selects the coordinate `c`, which must be below the axis's radix.
    pub const fn one(c: u64) -> Self {
        Self::from_raw(SwmAxis::range(c, 1, 1))
    }

    /// Selects `count` consecutive coordinates from `first` on, modulo the radix. `first` must be
    /// less than the radix, and `count` must not exceed it.
    pub const fn range(first: u64, count: u64) -> Self {
        Self::from_raw(SwmAxis::range(first, 1, count))
    }

    /// Selects `count` distinct coordinates: `first`, `first + stride`, etc., modulo the radix.
    pub const fn stride(first: u64, stride: u64, count: u64) -> Self {
        Self::from_raw(SwmAxis::range(first, stride, count))
    }

    /// Selects the coordinates whose bits are set: bit `c % 64` of word `c / 64` is coordinate `c`.
    pub const fn bits(words: &'a [u64]) -> Self {
        Self::from_raw(SwmAxis {
            kind: SWM_BITS,
            reserved: 0,
            first: 0,
            stride: 0,
            count: words.len() as u64,
            words: words.as_ptr(),
        })
    }

    pub(crate) const fn raw(self) -> SwmAxis {
        self.raw
    }
}

/// Returns the words for [`Axis::bits`] that select coordinates of an axis with this radix.
///
/// ```
/// # use swapmeet_sdk::bit_words;
/// assert_eq!(bit_words(100, [0, 3, 64]), [0b1001, 1]);
/// ```
pub fn bit_words(radix: u64, coordinates: impl IntoIterator<Item = u64>) -> Vec<u64> {
    let mut words = vec![0; radix.div_ceil(64) as usize];
    coordinates.into_iter().for_each(|c| words[(c / 64) as usize] |= 1 << (c % 64));
    words
}

/// A set of nodes of the schedule's grid: all nodes, one node, or a product of one [`Axis`] per
/// dimension.
///
/// ```
/// # use swapmeet_sdk::{About, Algorithm, Axis, Problem, Rehearsal, Schedule, Blocks, Set, Stop};
/// # struct Show;
/// # impl Algorithm for Show {
/// #     fn about(&self) -> About { About { name: "show", ..About::DEFAULT } }
/// #     fn plan(&self, _: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
/// #         schedule.step()?;
/// // Sets in a grid of 3 x 4 nodes, numbered row by row.
/// let column_2 = [Axis::ALL, Axis::one(2)];
/// let corner = [Axis::range(1, 2), Axis::range(2, 2)];
/// let sets = [
///     Set::one(5),                    // row 1, column 1
///     Set::product(&column_2),        // 2, 6, 10
///     Set::product(&corner),          // 6, 7, 10, 11
///     Set::ALL,
/// ];
/// #         for set in sets {
/// #             schedule.send(&Blocks::new(0, 1).origins(set))?;
/// #         }
/// #         Ok(())
/// #     }
/// # }
/// # let steps = Rehearsal::on("mesh", &[3, 4]).plan(&Show).unwrap();
/// # let sets: Vec<&[u64]> = steps[0].sends.iter().map(|send| &send.origins[..]).collect();
/// # assert_eq!(sets[..3], [&[5][..], &[2, 6, 10], &[6, 7, 10, 11]]);
/// # assert_eq!(sets[3].len(), 12);
/// ```
#[derive(Clone, Copy)]
pub struct Set<'a> {
    raw: SwmSet,
    axes: PhantomData<&'a [Axis<'a>]>,
}

impl<'a> Set<'a> {
    /// The set of all nodes of the grid.
    pub const ALL: Self = Self { raw: SwmSet::ALL, axes: PhantomData };

    /// Selects one node.
    pub const fn one(node: u64) -> Self {
        Self {
            raw: SwmSet { kind: SWM_NODE, axis_count: 0, node, axes: std::ptr::null() },
            axes: PhantomData,
        }
    }

    /// Selects the nodes whose coordinate on each axis is in the subset for this axis, in `axes`.
    pub const fn product(axes: &'a [Axis<'a>]) -> Self {
        // `Axis` is a transparent wrapper of `SwmAxis`, so the pointer cast is valid.
        let raw = SwmSet {
            kind: SWM_AXES,
            axis_count: axes.len() as u32,
            node: 0,
            axes: axes.as_ptr().cast(),
        };
        Self { raw, axes: PhantomData }
    }

    pub(crate) const fn raw(self) -> SwmSet {
        self.raw
    }
}
