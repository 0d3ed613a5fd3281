//! What exists, as boxes: the blocks of a collective between the nodes of the machine, each with
//! its load.

use crate::delivery::boxes::{Layout, Side};
use crate::delivery::collective::{BlockSizes, Blocks, Collective};
use crate::delivery::fault::{Block, Fault};
use crate::delivery::holdings::{Holdings, without};
use crate::delivery::placement::Placement;
use crate::limits;
use std::sync::Arc;

/// How a schedule cuts blocks up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Division {
    /// Whether into one part for each node of the machine, which is known by its destination: where
    /// the collective tells no blocks apart by that.
    pub in_parts: bool,
    /// Into how many segments each block, or part, is split.
    pub segments: u32,
}

impl Division {
    /// Blocks that stay whole: one part, one segment.
    pub const WHOLE: Self = Self { in_parts: false, segments: 1 };
}

/// The blocks of a collective.
#[derive(Debug)]
pub(crate) struct Inventory {
    pub collective: Collective,
    pub placement: Placement,
    pub layout: Layout,
    pub division: Division,
    /// Of a segment of each block, or of a part.
    pub sizes: Option<Arc<dyn BlockSizes>>,
    /// Boxes of all homes on both sides: what exists at all.
    homes: Vec<Vec<u64>>,
}

impl Inventory {
    pub(super) fn new(
        collective: Collective,
        placement: Placement,
        division: Division,
        sizes: Option<Arc<dyn BlockSizes>>,
    ) -> Result<Self, Fault> {
        placement.check()?;
        let layout = Self::layout(&collective, division, &placement);
        let nodes = placement.grid().nodes();
        let least = Self::least_bytes(&layout);
        if least > limits::HELD_BYTES {
            return Err(Fault::Refused(format!(
                "its sets over {nodes} nodes in axes of {:?} would take {} GiB, at most {} may: a grid of more, shorter axes takes less",
                placement.grid().radices(),
                least >> 30,
                limits::HELD_BYTES >> 30
            )));
        }
        let homes = home_boxes(&layout, &placement);
        let mut inventory = Self { collective, placement, layout, division, sizes: None, homes };
        let units = inventory.units();
        inventory.sizes = match sizes {
            Some(whole) if units > 1 => Some(Arc::new(UnitSizes { whole, units })),
            sizes => sizes,
        };
        Ok(inventory)
    }

    /// Whether blocks are told apart by their origins, and by their destinations.
    pub(crate) fn tells_apart(collective: &Collective, division: Division) -> [bool; 2] {
        let tells = |side| collective.kind().tells_apart(side);
        [tells(Side::Origins), tells(Side::Destinations) || division.in_parts]
    }

    /// How boxes lie in memory.
    pub(crate) fn layout(
        collective: &Collective,
        division: Division,
        placement: &Placement,
    ) -> Layout {
        let [by_origin, by_destination] = Self::tells_apart(collective, division);
        Layout::new(placement.grid().clone(), by_origin, by_destination, division.segments)
    }

    /// What the sets of a box or two a node take.
    pub(crate) fn least_bytes(layout: &Layout) -> u64 {
        layout.grid().nodes().saturating_mul(layout.words() as u64 * 16)
    }

    /// Boxes of what a node of the machine holds at the start.
    pub(super) fn before(&self, physical: u64) -> Vec<Vec<u64>> {
        self.boxes_of(self.collective.before(physical))
    }

    /// Boxes of what a node of the machine is to hold at the end.
    pub(super) fn after(&self, physical: u64) -> Vec<Vec<u64>> {
        self.boxes_of(self.collective.after(physical))
    }

    fn boxes_of(&self, blocks: Blocks) -> Vec<Vec<u64>> {
        match blocks {
            Blocks::None => Vec::new(),
            Blocks::All => self.homes.clone(),
            Blocks::From(physical) => self.narrowed(Side::Origins, self.placement.home(physical)),
            Blocks::For(physical) => {
                self.narrowed(Side::Destinations, self.placement.home(physical))
            }
        }
    }

    /// All that exists with `node` on `side`.
    fn narrowed(&self, side: Side, node: u64) -> Vec<Vec<u64>> {
        let mut one = self.layout.full().to_vec();
        self.layout.narrow_to(side, node, &mut one);
        let mut inner = vec![0; self.layout.words()];
        let within =
            |b: &Vec<u64>| self.layout.intersect(b, &one, &mut inner).then(|| inner.clone());
        self.homes.iter().filter_map(within).collect()
    }

    /// Whether what comes from different nodes is summed.
    pub(super) fn sums(&self) -> bool {
        self.collective.kind().sums
    }

    /// What a block is cut into, parts and segments: units of load, which are counted, or, where
    /// blocks differ in size, bytes of them.
    pub(super) fn units(&self) -> u64 {
        let parts = if self.division.in_parts { self.placement.machine_nodes() } else { 1 };
        parts * u64::from(self.division.segments.max(1))
    }

    /// The load of a box of `count` units.
    pub(super) fn load(&self, bits: &[u64], count: u64) -> u64 {
        let Some(sizes) = &self.sizes else { return count };
        let is_part = |side| side == Side::Destinations && self.division.in_parts;
        let physical = |side: Side| -> Vec<u64> {
            // Blocks that are not told apart by this side are all from the root, or all for it; so
            // are sums, whoever contributes.
            if !self.layout.has(side) || is_part(side) || self.sums() && side == Side::Origins {
                return vec![self.collective.root().unwrap_or(0)];
            }
            let nodes = self.layout.nodes_of(side, bits).into_iter();
            let mut nodes: Vec<u64> = nodes.map(|node| self.placement.physical(node)).collect();
            nodes.sort_unstable();
            nodes
        };
        let bytes = sizes.total(&physical(Side::Origins), &physical(Side::Destinations));
        let parts = if self.division.in_parts { self.layout.destinations_of(bits) } else { 1 };
        bytes.saturating_mul(parts).saturating_mul(self.layout.segments_of(bits))
    }

    /// The values that the blocks of these boxes are terms of, each once: how many, and their load.
    pub(super) fn values<'a>(&self, boxes: impl Iterator<Item = &'a [u64]> + Clone) -> (u64, u64) {
        let layout = &self.layout;
        let (mut values, mut load) = (0, 0);
        let mut add = |bits: &[u64]| {
            let count = layout.values(bits);
            values += count;
            load += self.load(bits, count);
        };
        let all = boxes.clone();
        for (i, bits) in boxes.enumerate() {
            let mut same = vec![0; if i > 0 { layout.words() } else { 0 }];
            let mut earlier = all
                .clone()
                .take(i)
                .filter(|other| layout.terms_of(bits, other, &mut same))
                .peekable();
            if earlier.peek().is_none() {
                add(bits);
                continue;
            }
            let earlier: Vec<Vec<u64>> =
                earlier.map(|other| layout.with_all_origins(other)).collect();
            let rest = without(
                layout,
                vec![layout.with_all_origins(bits)],
                earlier.iter().map(Vec::as_slice),
            );
            rest.iter().for_each(|bits| add(bits));
        }
        (values, load)
    }

    /// The first block of a box, by nodes of the machine.
    pub(super) fn first_block(&self, bits: &[u64]) -> Block {
        let side = |side| {
            self.layout.has(side).then(|| self.placement.physical(self.layout.first_of(side, bits)))
        };
        let destination = side(Side::Destinations);
        Block {
            origin: side(Side::Origins),
            destination: destination.filter(|_| !self.division.in_parts),
            part: destination.filter(|_| self.division.in_parts),
            segment: (self.division.segments > 1)
                .then(|| self.layout.first_of(Side::Segments, bits)),
            is_summed: self.sums(),
        }
    }
}

/// Sizes of what blocks are cut into: of each block the same, padded, since fractions of a byte
/// don't travel.
#[derive(Debug)]
struct UnitSizes {
    whole: Arc<dyn BlockSizes>,
    units: u64,
}

impl BlockSizes for UnitSizes {
    fn bytes(&self, origin: u64, destination: u64) -> u64 {
        self.whole.bytes(origin, destination).div_ceil(self.units)
    }

    fn largest(&self) -> u64 {
        self.whole.largest().div_ceil(self.units)
    }
}

/// Everything that exists, as boxes: blocks between homes.
fn home_boxes(layout: &Layout, placement: &Placement) -> Vec<Vec<u64>> {
    if placement.is_identity() {
        return vec![layout.full().to_vec()];
    }
    // Boxes of homes on one side, the other side full; then every pair of the two sides.
    let on = |side: Side| -> Vec<Vec<u64>> {
        if !layout.has(side) {
            return vec![layout.full().to_vec()];
        }
        let mut list = Holdings::new(layout, 1);
        let mut one = layout.full().to_vec();
        let mut homes: Vec<u64> =
            (0..placement.machine_nodes()).map(|physical| placement.home(physical)).collect();
        homes.sort_unstable();
        for home in homes {
            layout.narrow_to(side, home, &mut one);
            list.insert_box(layout, 0, &one, 0);
        }
        list.of(0).map(<[u64]>::to_vec).collect()
    };
    let (origins, destinations) = (on(Side::Origins), on(Side::Destinations));
    let mut inner = vec![0; layout.words()];
    let mut all = Vec::new();
    for o in &origins {
        for d in &destinations {
            if layout.intersect(o, d, &mut inner) {
                all.push(inner.clone());
            }
        }
    }
    all
}
