//! The blocks of a collective, as boxes, and their loads.

use crate::delivery::boxes::{BitLayout, Layout, Side, without};
use crate::delivery::collective::{
    BlockSizes, Blocks, Collective, CollectiveKind, FinalBlocks, set_error,
};
use crate::delivery::exchange::Rule;
use crate::delivery::fault::{Block, Fault};
use crate::delivery::grid::Embedding;
use crate::delivery::holdings::Holdings;
use crate::delivery::traced::Contents;
use crate::limits;
use crate::network::symmetry::Group;
use std::sync::Arc;

/// The division of blocks. A *unit* is a segment of a block. If blocks are divided into parts, it
/// is a segment of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Division {
    /// Whether each block is divided into parts, one for each node of the machine. The destination
    /// in a box then stands for the part, so the collective must not distinguish blocks by
    /// destination.
    pub in_parts: bool,
    /// The number of segments of each block, or of each part.
    pub segments: u32,
}

impl Division {
    /// Blocks that are not divided.
    pub const WHOLE: Self = Self { in_parts: false, segments: 1 };

    pub(crate) fn distinguishes(self, kind: &CollectiveKind) -> [bool; 2] {
        let by = |side| kind.distinguishes(side);
        [by(Side::Origins), by(Side::Destinations) || self.in_parts]
    }

    pub(crate) fn set_error(self, kind: &CollectiveKind, side: Side) -> Option<String> {
        let is_part = side == Side::Destinations && self.in_parts;
        if is_part { None } else { set_error(kind, side) }
    }
}

#[derive(Debug)]
pub(crate) struct Inventory<L: Layout = BitLayout> {
    pub collective: Collective,
    pub embedding: Embedding,
    pub layout: L,
    pub division: Division,
    pub sizes: Option<Arc<dyn BlockSizes>>,
    homes: Vec<Vec<L::Element>>,
}

impl Inventory {
    pub(crate) fn layout(
        collective: &Collective,
        division: Division,
        embedding: &Embedding,
    ) -> BitLayout {
        let [by_origin, by_destination] = division.distinguishes(collective.kind());
        BitLayout::new(embedding.grid().clone(), by_origin, by_destination, division.segments)
    }

    pub(crate) fn least_bytes(layout: &BitLayout) -> u64 {
        layout.grid().nodes().saturating_mul(layout.elements() as u64 * 16)
    }

    pub(super) fn check_memory(layout: &BitLayout) -> Result<(), Fault> {
        let least = Self::least_bytes(layout);
        if least <= limits::HELD_BYTES {
            return Ok(());
        }
        Err(Fault::Refused(format!(
            "its sets of {} nodes on axes of {:?} need {} GiB, more than the limit of {} GiB: a grid with more, shorter axes needs less",
            layout.grid().nodes(),
            layout.grid().radices(),
            least >> 30,
            limits::HELD_BYTES >> 30
        )))
    }
}

impl<L: Layout> Inventory<L> {
    pub(super) fn new(
        collective: Collective,
        embedding: Embedding,
        division: Division,
        sizes: Option<Arc<dyn BlockSizes>>,
        layout: L,
    ) -> Self {
        let homes = home_boxes(&layout, &embedding);
        let mut inventory = Self { collective, embedding, layout, division, sizes: None, homes };
        let units = inventory.units();
        inventory.sizes = match sizes {
            Some(blocks) if units > 1 => Some(Arc::new(UnitSizes { blocks, units })),
            sizes => sizes,
        };
        inventory
    }

    pub(super) fn planned_nodes(&self) -> u64 {
        self.layout.group().map_or(self.embedding.machine_nodes(), Group::representatives)
    }

    pub(super) fn initial(&self, physical: u64) -> Vec<Vec<L::Element>> {
        self.boxes_of(self.collective.initial(physical))
    }

    pub(super) fn required(&self, physical: u64) -> Vec<Vec<L::Element>> {
        self.boxes_of(self.collective.required(physical))
    }

    fn boxes_of(&self, blocks: Blocks) -> Vec<Vec<L::Element>> {
        match blocks {
            Blocks::None | Blocks::ReceivedBy(_) => Vec::new(),
            Blocks::All => self.homes.clone(),
            Blocks::From(physical) => self.narrowed(Side::Origins, self.embedding.home(physical)),
            Blocks::For(physical) => {
                self.narrowed(Side::Destinations, self.embedding.home(physical))
            }
        }
    }

    fn narrowed(&self, side: Side, node: u64) -> Vec<Vec<L::Element>> {
        let mut selected = self.layout.full().to_vec();
        self.layout.narrow_to(side, node, &mut selected);
        let mut inner = selected.clone();
        let within = |home: &Vec<L::Element>| {
            self.layout.intersect(home, &selected, &mut inner).then(|| inner.clone())
        };
        self.homes.iter().filter_map(within).collect()
    }

    /// Returns whether the sender keeps the data. In a dispatch, it always does, so no send may
    /// return a token to a node that has had it.
    pub(crate) fn copies(&self, rule: &Rule<'_>) -> bool {
        rule.copy || self.collective.kind().required == FinalBlocks::Received
    }

    pub(super) fn sums(&self) -> bool {
        self.collective.kind().sums
    }

    /// Returns the number of units per block. Loads count units or, for explicit sizes, bytes.
    pub(super) fn units(&self) -> u64 {
        let parts = if self.division.in_parts { self.embedding.machine_nodes() } else { 1 };
        parts * u64::from(self.division.segments.max(1))
    }

    pub(super) fn check_total(&self, total: u128) -> Result<(), Fault> {
        const MAX_TOTAL_LOAD: u128 = 1 << 63;
        if total <= MAX_TOTAL_LOAD {
            return Ok(());
        }
        let segments = self.units();
        Err(Fault::Refused(format!(
            "the total load of its blocks exceeds 2^63 (segments per block: {segments})"
        )))
    }

    pub(super) fn load(&self, a: &[L::Element], count: u64) -> u64 {
        let Some(sizes) = &self.sizes else { return count };
        if count == 1 {
            let [origin, destination] =
                [Side::Origins, Side::Destinations].map(|side| match self.identifies(side) {
                    true => self.embedding.physical(self.layout.first_of(side, a)),
                    false => self.collective.shared_end(),
                });
            return sizes.bytes(origin, destination);
        }
        let [origins, destinations] = self.ends(a);
        let bytes = sizes.total(&origins, &destinations);
        let parts =
            if self.division.in_parts { self.layout.members_of(Side::Destinations, a) } else { 1 };
        bytes.saturating_mul(parts).saturating_mul(self.layout.segments_of(a))
    }

    /// Returns whether the nodes on this side distinguish blocks (or values of a reduction). If
    /// not, the boxes may still have this side for contributions or parts.
    fn identifies(&self, side: Side) -> bool {
        self.layout.has(side)
            && match side {
                Side::Origins => !self.sums(),
                Side::Destinations => !self.division.in_parts,
                Side::Segments => false,
            }
    }

    /// Returns the origins and the destinations of a box. If a side does not distinguish blocks,
    /// returns [`Collective::shared_end`] for it.
    fn ends(&self, a: &[L::Element]) -> [Vec<u64>; 2] {
        [Side::Origins, Side::Destinations].map(|side| {
            if !self.identifies(side) {
                return vec![self.collective.shared_end()];
            }
            let mut nodes = self.layout.nodes_of(side, a);
            if !self.embedding.is_identity() {
                nodes.iter_mut().for_each(|node| *node = self.embedding.physical(*node));
                nodes.sort_unstable();
            }
            nodes
        })
    }

    pub(super) fn contents(&self, a: &[L::Element]) -> Contents {
        let parts = match self.division.in_parts {
            true => self.layout.members_of(Side::Destinations, a),
            false => 1,
        };
        let fraction = (parts * self.layout.segments_of(a)) as f64 / self.units() as f64;
        if let Some(sizes) = &self.sizes {
            let [origins, destinations] = self.ends(a);
            let pairs = origins.iter().flat_map(|o| destinations.iter().map(move |d| (*o, *d)));
            let mut blocks = pairs.filter(|(o, d)| sizes.bytes(*o, *d) > 0);
            let Some((origin, destination)) = blocks.next() else { return Contents::NOTHING };
            return match blocks.count() {
                0 => Contents::one(origin, destination, fraction),
                more => Contents::several(fraction * (more + 1) as f64),
            };
        }
        let sides = [Side::Origins, Side::Destinations];
        let members = sides.map(|side| match self.identifies(side) {
            true => self.layout.members_of(side, a),
            false => 1,
        });
        if members != [1, 1] {
            return Contents::several(fraction * members[0] as f64 * members[1] as f64);
        }
        let [origin, destination] = sides.map(|side| match self.identifies(side) {
            true => self.layout.first_of(side, a),
            false => 0,
        });
        Contents::one(origin, destination, fraction)
    }

    pub(super) fn values<'a>(
        &self,
        boxes: &(impl Iterator<Item = &'a [L::Element]> + Clone),
    ) -> (u64, u64)
    where
        L::Element: 'a,
    {
        let measure = |a: &[L::Element]| {
            let count = self.layout.values(a);
            (count, self.load(a, count))
        };
        let mut first = boxes.clone();
        if let (Some(only), None) = (first.next(), first.next()) {
            return measure(only);
        }
        let each = self.all_contributions(boxes.clone());
        each.iter().map(|a| measure(a)).fold((0, 0), |sum, a| (sum.0 + a.0, sum.1 + a.1))
    }

    pub(super) fn all_contributions<'a>(
        &self,
        boxes: impl Iterator<Item = &'a [L::Element]>,
    ) -> Vec<Vec<L::Element>>
    where
        L::Element: 'a,
    {
        let layout = &self.layout;
        let mut found: Vec<Vec<L::Element>> = Vec::new();
        for a in boxes {
            let all = vec![layout.with_all_origins(a)];
            let new = without(layout, all, found.iter().map(Vec::as_slice));
            found.extend(new);
        }
        found
    }

    /// If the given disjoint boxes contain all contributions to their values, returns
    /// [`Self::all_contributions`].
    pub(super) fn complete_values<'a>(
        &self,
        boxes: &(impl Iterator<Item = &'a [L::Element]> + Clone),
    ) -> Option<Vec<Vec<L::Element>>>
    where
        L::Element: 'a,
    {
        let layout = &self.layout;
        let held: u64 = boxes.clone().map(|a| layout.count(a)).sum();
        // If none is missing, `held` is a multiple of the number of contributions to one value.
        let contributions = layout.members_of(Side::Origins, layout.full());
        if !held.is_multiple_of(contributions) {
            return None;
        }
        let all = self.all_contributions(boxes.clone());
        (all.iter().map(|a| layout.count(a)).sum::<u64>() == held).then_some(all)
    }

    pub(super) fn first_block(&self, a: &[L::Element]) -> Block {
        let first = |side| {
            self.layout.has(side).then(|| self.embedding.physical(self.layout.first_of(side, a)))
        };
        let destination = first(Side::Destinations);
        let segment = self.layout.first_of(Side::Segments, a);
        let has_tokens = self.collective.tokens().is_some();
        Block {
            origin: first(Side::Origins),
            destination: destination.filter(|_| !self.division.in_parts),
            part: destination.filter(|_| self.division.in_parts),
            segment: Some(segment).filter(|_| self.division.segments > 1 && !has_tokens),
            token: Some(segment).filter(|_| has_tokens),
            is_summed: self.sums(),
        }
    }
}

#[derive(Debug)]
struct UnitSizes {
    blocks: Arc<dyn BlockSizes>,
    units: u64,
}

impl BlockSizes for UnitSizes {
    fn bytes(&self, origin: u64, destination: u64) -> u64 {
        self.blocks.bytes(origin, destination).div_ceil(self.units)
    }

    fn largest(&self) -> u64 {
        self.blocks.largest().div_ceil(self.units)
    }
}

fn home_boxes<L: Layout>(layout: &L, embedding: &Embedding) -> Vec<Vec<L::Element>> {
    if embedding.is_identity() {
        return vec![layout.full().to_vec()];
    }
    let on = |side: Side| -> Vec<Vec<L::Element>> {
        if !layout.has(side) {
            return vec![layout.full().to_vec()];
        }
        let mut list = Holdings::new(layout, 1);
        let mut one = layout.full().to_vec();
        let mut homes: Vec<u64> =
            (0..embedding.machine_nodes()).map(|physical| embedding.home(physical)).collect();
        homes.sort_unstable();
        for home in homes {
            layout.narrow_to(side, home, &mut one);
            list.insert_box(layout, 0, &one, 0);
        }
        list.of(0).map(<[L::Element]>::to_vec).collect()
    };
    let (origins, destinations) = (on(Side::Origins), on(Side::Destinations));
    let mut inner = layout.full().to_vec();
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
