//! Selections: boxes to select by, narrowed axis by axis from sets as schedules name them, and what
//! they cut out of other boxes.

use super::{Field, Layout, Side};
use crate::delivery::grid::Grid;

/// A subset of the coordinates of one axis.
#[derive(Debug, Clone, Copy, Hash)]
pub enum Axis<'a> {
    /// Every coordinate of the axis.
    All,
    /// `first`, `first + stride`, .. (`count` of them), modulo the radix.
    Range {
        /// The first one, below the radix.
        first: u32,
        /// What is added from one to the next, at least 1.
        stride: u32,
        /// How many there are, none twice.
        count: u32,
    },
    /// The coordinates whose bits are set.
    Bits(&'a [u64]),
}

/// A set of nodes of the schedule's grid.
#[derive(Debug, Clone, Copy, Hash)]
pub enum NodeSet<'a> {
    /// Every node of the grid.
    All,
    /// This node of the grid alone.
    One(u64),
    /// The product of one subset an axis.
    Axes(&'a [Axis<'a>]),
}

impl NodeSet<'_> {
    /// `Err` says why it is no set of a grid's nodes.
    pub(crate) fn check(&self, grid: &Grid) -> Result<(), String> {
        match self {
            Self::All => Ok(()),
            Self::One(node) if *node < grid.nodes() => Ok(()),
            Self::One(node) => {
                Err(format!("names node {node} of a grid of {} nodes", grid.nodes()))
            }
            Self::Axes(axes) if axes.len() != grid.radices().len() => {
                Err(format!("has {} axes, the grid has {}", axes.len(), grid.radices().len()))
            }
            Self::Axes(axes) => {
                for (number, (axis, radix)) in axes.iter().zip(grid.radices()).enumerate() {
                    axis.check(*radix)
                        .map_err(|what| format!("is wrong in axis {number}: it {what}"))?;
                }
                Ok(())
            }
        }
    }
}

impl Axis<'_> {
    /// `Err` says why it is no subset of so many coordinates.
    pub(crate) fn check(&self, radix: u64) -> Result<(), String> {
        match *self {
            Axis::All => Ok(()),
            Axis::Range { first, stride, count } => {
                if u64::from(first) >= radix {
                    return Err(format!("starts at {first}, expected below {radix}"));
                }
                if count == 0 || (count > 1 && stride == 0) {
                    return Err(format!(
                        "has {count} members {stride} apart, expected at least one, at least 1 apart"
                    ));
                }
                let span = u64::from(count - 1) * u64::from(stride);
                if u64::from(count) > radix
                    || (span >= radix && wraps_onto_itself(radix as u32, stride, count))
                {
                    return Err(format!(
                        "names a coordinate twice ({count} members {stride} apart, modulo {radix})"
                    ));
                }
                Ok(())
            }
            Axis::Bits(words) => {
                let expected = radix.div_ceil(64);
                if words.len() as u64 != expected {
                    return Err(format!("has {} words of bits, expected {expected}", words.len()));
                }
                let spare = (expected * 64 - radix) as u32;
                if words[words.len() - 1].leading_zeros() < spare {
                    return Err(format!("has bits set beyond coordinate {}", radix - 1));
                }
                if words.iter().all(|w| *w == 0) {
                    return Err("is empty".to_owned());
                }
                Ok(())
            }
        }
    }
}

/// A box to select by, which remembers in which axes it says anything.
#[derive(Debug, Clone)]
pub struct Selection {
    bits: Vec<u64>,
    narrowed: Vec<usize>,
    count: u64,
}

impl Selection {
    /// The selection as a box.
    pub fn bits(&self) -> &[u64] {
        &self.bits
    }

    /// Blocks (or segments of blocks) in it, held by anybody or not.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Of so many coordinates only so many are left.
    fn keep(&mut self, (kept, of): (u64, u64)) {
        if kept < of {
            self.count = self.count / of * kept;
        }
    }
}

/// What a selection takes of a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// Nothing of the box lies within the sets.
    Nothing,
    /// All of the box lies within them.
    Whole,
    /// A part, with so many blocks.
    Part(u64),
}

impl Layout {
    pub(crate) fn select_all(&self) -> Selection {
        Selection { bits: self.full.clone(), narrowed: Vec::new(), count: self.full_count }
    }

    /// Makes a selection one of everything again.
    pub(crate) fn widen(&self, selection: &mut Selection) {
        for index in selection.narrowed.drain(..) {
            self.fill(index, &mut selection.bits);
        }
        selection.count = self.full_count;
    }

    /// Narrows `side` of a selection, which must be full on that side, down to `set`. `Err` says
    /// what is wrong with the set.
    pub fn narrow(&self, side: Side, set: NodeSet<'_>, out: &mut Selection) -> Result<(), String> {
        set.check(&self.grid)?;
        match set {
            NodeSet::All => {}
            NodeSet::One(node) => {
                if self.has(side) {
                    out.narrowed.extend(self.range(side));
                    out.count /= self.grid.nodes();
                    self.narrow_to(side, node, &mut out.bits);
                }
            }
            NodeSet::Axes(axes) => {
                let mut kept = (1, 1);
                for (index, axis) in self.range(side).zip(axes) {
                    self.narrow_field(index, *axis, out, &mut kept);
                }
                out.keep(kept);
            }
        }
        Ok(())
    }

    /// Narrows the segments of a selection down to `axis`.
    pub(crate) fn narrow_segments(
        &self,
        axis: Axis<'_>,
        out: &mut Selection,
    ) -> Result<(), String> {
        axis.check(self.segments()).map_err(|what| format!("is wrong: it {what}"))?;
        let mut kept = (1, 1);
        self.narrow_field(self.segments.start, axis, out, &mut kept);
        out.keep(kept);
        Ok(())
    }

    /// Narrows a field down to `axis`, which fits it, and multiplies up how many of how many
    /// coordinates are kept.
    fn narrow_field(
        &self,
        index: usize,
        axis: Axis<'_>,
        out: &mut Selection,
        kept: &mut (u64, u64),
    ) {
        let f = self.fields[index];
        match axis {
            Axis::All => return,
            Axis::Range { first, stride, count } => {
                let radix = f.radix;
                self.clear(index, &mut out.bits);
                if stride == 1 || count == 1 {
                    let head = count.min(radix - first);
                    fill_run(&f, first, head, &mut out.bits);
                    if head < count {
                        fill_run(&f, 0, count - head, &mut out.bits);
                    }
                } else {
                    let (mut c, stride) = (u64::from(first), u64::from(stride % radix));
                    for _ in 0..count {
                        self.insert(index, c, &mut out.bits);
                        c += stride;
                        if c >= u64::from(radix) {
                            c -= u64::from(radix);
                        }
                    }
                }
            }
            Axis::Bits(words) => {
                self.clear(index, &mut out.bits);
                for (i, word) in words.iter().enumerate() {
                    out.bits[f.word + i] |= word << f.shift;
                }
            }
        }
        out.narrowed.push(index);
        *kept = (kept.0 * self.members(&f, &out.bits), kept.1 * u64::from(f.radix));
    }

    /// What a selection takes of a box of `count` blocks; a part is written to `out`. Looks only at
    /// the axes in which the selection says anything: most rules say something in one.
    pub fn cut(&self, a: &[u64], count: u64, selection: &Selection, out: &mut [u64]) -> Cut {
        let mut whole = true;
        for &index in &selection.narrowed {
            let f = &self.fields[index];
            let range = f.word..f.word + f.words;
            let (mut any, mut lost) = (0, 0);
            for (word, chosen) in a[range.clone()].iter().zip(&selection.bits[range]) {
                any |= word & f.mask & chosen;
                lost |= word & f.mask & !chosen;
            }
            if any == 0 {
                return Cut::Nothing;
            }
            whole &= lost == 0;
        }
        if whole {
            return Cut::Whole;
        }
        out.copy_from_slice(a);
        // Of so many coordinates so many: dividing once is quicker than an axis at a time.
        let (mut kept, mut of) = (1, 1);
        for &index in &selection.narrowed {
            let f = &self.fields[index];
            of *= self.members(f, out);
            let range = f.word..f.word + f.words;
            for (word, chosen) in out[range.clone()].iter_mut().zip(&selection.bits[range]) {
                *word &= chosen | !f.mask;
            }
            kept *= self.members(f, out);
        }
        Cut::Part(count / of * kept)
    }
}

/// Sets `count` bits from coordinate `first` on, without wrapping.
fn fill_run(f: &Field, first: u32, count: u32, out: &mut [u64]) {
    let (mut bit, mut left) = (f.shift + first, count);
    while left > 0 {
        let (word, low) = ((bit / 64) as usize, bit % 64);
        let here = left.min(64 - low);
        out[f.word + word] |= (u64::MAX >> (64 - here)) << low;
        bit += here;
        left -= here;
    }
}

/// Whether `count` members `stride` apart come up twice modulo `radix`.
fn wraps_onto_itself(radix: u32, stride: u32, count: u32) -> bool {
    // The walk first returns to its start after radix / gcd(radix, stride) members.
    let (mut a, mut b) = (radix, stride);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    count > radix / a
}
