//! What exists, as boxes: the blocks of a collective between the nodes of the machine, each with its load.

use crate::delivery::boxes::{Layout, Side};
use crate::delivery::collective::{BlockSizes, Blocks, Collective};
use crate::delivery::fault::{Block, Fault};
use crate::delivery::holdings::Holdings;
use crate::delivery::placement::Placement;
use crate::limits;
use std::sync::Arc;

/// The blocks of a collective.
#[derive(Debug)]
pub(super) struct Inventory {
    pub collective: Collective,
    pub placement: Placement,
    pub layout: Layout,
    pub segments: u64,
    pub sizes: Option<Arc<dyn BlockSizes>>,
    /// Boxes of all homes on both sides: what exists at all.
    homes: Vec<Vec<u64>>,
}

impl Inventory {
    pub(super) fn new(
        collective: Collective,
        placement: Placement,
        segments: u32,
        sizes: Option<Arc<dyn BlockSizes>>,
    ) -> Result<Self, Fault> {
        placement.check()?;
        let tells = |side| collective.kind().tells_apart(side);
        let layout = Layout::new(placement.grid().clone(), tells(Side::Origins), tells(Side::Destinations), segments);
        let nodes = placement.grid().nodes();
        let least = nodes.saturating_mul(layout.words() as u64 * 16);
        if least > limits::HELD_BYTES {
            return Err(Fault::Refused(format!(
                "its sets over {nodes} nodes in axes of {:?} would take {} GiB, at most {} may: a grid of more, shorter axes takes less",
                placement.grid().radices(),
                least >> 30,
                limits::HELD_BYTES >> 30
            )));
        }
        let homes = home_boxes(&layout, &placement);
        Ok(Self { collective, placement, layout, segments: u64::from(segments.max(1)), sizes, homes })
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
            Blocks::For(physical) => self.narrowed(Side::Destinations, self.placement.home(physical)),
        }
    }

    /// All that exists with `node` on `side`.
    fn narrowed(&self, side: Side, node: u64) -> Vec<Vec<u64>> {
        let mut one = self.layout.full().to_vec();
        self.layout.narrow_to(side, node, &mut one);
        let mut inner = vec![0; self.layout.words()];
        let within = |b: &Vec<u64>| self.layout.intersect(b, &one, &mut inner).then(|| inner.clone());
        self.homes.iter().filter_map(within).collect()
    }

    /// The load of a box of `count` segments of blocks. Loads are in segments (of blocks, or of bytes), so that they stay whole numbers.
    pub(super) fn load(&self, bits: &[u64], count: u64) -> u64 {
        let Some(sizes) = &self.sizes else { return count };
        let physical = |side: Side| -> Vec<u64> {
            // Blocks that are not told apart by this side are all from the root, or all for it.
            if !self.layout.has(side) {
                return self.collective.root().into_iter().collect();
            }
            let nodes = self.layout.nodes_of(side, bits).into_iter();
            let mut nodes: Vec<u64> = nodes.map(|node| self.placement.physical(node)).collect();
            nodes.sort_unstable();
            nodes
        };
        let bytes = sizes.total(&physical(Side::Origins), &physical(Side::Destinations));
        bytes.saturating_mul(self.layout.segments_of(bits))
    }

    /// The first block of a box, by nodes of the machine.
    pub(super) fn first_block(&self, bits: &[u64]) -> Block {
        let side = |side| self.layout.has(side).then(|| self.placement.physical(self.layout.first_of(side, bits)));
        Block {
            origin: side(Side::Origins),
            destination: side(Side::Destinations),
            segment: (self.segments > 1).then(|| self.layout.first_of(Side::Segments, bits)),
        }
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
        let mut homes: Vec<u64> = (0..placement.machine_nodes()).map(|physical| placement.home(physical)).collect();
        homes.sort_unstable();
        for home in homes {
            layout.narrow_to(side, home, &mut one);
            list.insert_box(layout, 0, &one);
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
