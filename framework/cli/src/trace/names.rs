use super::selection::Image;
use std::collections::BTreeSet;
use swapmeet_core::delivery::boxes::{Layout, Side};
use swapmeet_core::delivery::fault::PlacedNode;
use swapmeet_core::network::topology::{Route, Switch};
use swapmeet_core::simulation::listener::Sent;

/// Names of nodes and sets, in the network's coordinates even if the schedule has its own grid.
pub(super) struct Names<'a> {
    sent: &'a Sent<'a>,
    image: &'a Image<'a>,
    radices: &'a [u64],
}

impl<'a> Names<'a> {
    pub(super) fn new(sent: &'a Sent<'a>, image: &'a Image<'a>) -> Self {
        Self { sent, image, radices: image.network.radices() }
    }

    /// Returns the name of the physical node for a node of the grid. A `*` marks a virtual node.
    pub(super) fn node(&self, place: PlacedNode) -> String {
        let name = name(self.image.rank(place.physical), self.radices);
        if self.is_virtual(place) { format!("{name}*") } else { name }
    }

    /// Returns whether a node of the grid is virtual. If a physical node executes several nodes of
    /// the grid, one of them is its home node, and the others are virtual.
    pub(super) fn is_virtual(&self, place: PlacedNode) -> bool {
        self.sent.embedding.home(place.physical) != place.virtual_node
    }

    /// Describes a box of blocks by its origins and destinations, such as `from (0,0) for (*,4-7)`.
    pub(super) fn selection(&self, bits: &[u64]) -> String {
        let layout = self.sent.layout;
        let side = |side: Side, word: &str| {
            layout.has(side).then(|| format!("{word} {}", self.set(side, bits)))
        };
        let destinations = if self.sent.in_parts { "in part" } else { "for" };
        let parts = layout.coordinates_of(Side::Segments, bits);
        let parts = parts
            .first()
            .filter(|_| layout.segments() > 1)
            .map(|c| format!("part {}", ranges(c, layout.segments())));
        let words = [parts, side(Side::Origins, "from"), side(Side::Destinations, destinations)];
        words.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    /// Describes a set by its coordinates in each dimension if it is their product, or by its size.
    fn set(&self, side: Side, bits: &[u64]) -> String {
        let nodes: Vec<u64> = self
            .sent
            .layout
            .nodes_of(side, bits)
            .iter()
            .map(|n| self.image.rank(self.sent.embedding.physical(*n)))
            .collect();
        let mut axes = vec![BTreeSet::new(); coordinates(0, self.radices).len()];
        for node in &nodes {
            for (axis, c) in axes.iter_mut().zip(coordinates(*node, self.radices)) {
                axis.insert(c);
            }
        }
        if axes.iter().map(BTreeSet::len).product::<usize>() != nodes.len() {
            return format!("{} nodes", nodes.len());
        }
        let nodes_of_machine = [self.image.network.nodes()];
        let radices = if axes.len() == 1 { &nodes_of_machine[..] } else { self.radices };
        let texts: Vec<String> = axes
            .iter()
            .zip(radices)
            .map(|(axis, radix)| ranges(&axis.iter().copied().collect::<Vec<_>>(), *radix))
            .collect();
        if texts.len() == 1 { texts.concat() } else { format!("({})", texts.join(",")) }
    }
}

/// Returns the coordinates if the network has two to four dimensions, otherwise the number.
fn coordinates(node: u64, radices: &[u64]) -> Vec<u64> {
    if !(2..=4).contains(&radices.len()) {
        return vec![node];
    }
    let stride = |axis: usize| radices[axis + 1..].iter().product::<u64>();
    radices.iter().enumerate().map(|(axis, radix)| node / stride(axis) % radix).collect()
}

pub(super) fn name(node: u64, radices: &[u64]) -> String {
    let c: Vec<String> = coordinates(node, radices).iter().map(u64::to_string).collect();
    if c.len() == 1 { c.join(",") } else { format!("({})", c.join(",")) }
}

pub(super) fn direction(route: &Route) -> String {
    match route.switch {
        Some(Switch::Reducer(vertex)) => return format!(" added in switch {vertex}"),
        Some(Switch::Multicaster(vertex)) => return format!(" copied by switch {vertex}"),
        None => {}
    }
    if !route.path.is_empty() {
        let path: Vec<String> = route.path.iter().map(u64::to_string).collect();
        return format!(" by {}", path.join("-"));
    }
    route
        .signs
        .iter()
        .enumerate()
        .filter(|(_, sign)| **sign != 0)
        .map(|(dim, sign)| format!(" {}dim{}", if *sign > 0 { '+' } else { '-' }, dim + 1))
        .collect()
}

/// Formats sorted coordinates, such as `0-3` or `1 5 9`. `*` means all coordinates.
fn ranges(coordinates: &[u64], radix: u64) -> String {
    if coordinates.len() as u64 == radix && radix > 1 {
        return "*".to_owned();
    }
    let mut text = String::new();
    let mut rest = coordinates;
    while let Some(first) = rest.first() {
        let run = rest.iter().zip(*first..).take_while(|(c, expected)| **c == *expected).count();
        if !text.is_empty() {
            text.push(' ');
        }
        text += &first.to_string();
        if run > 1 {
            text += &format!("{}{}", if run == 2 { ' ' } else { '-' }, rest[run - 1]);
        }
        rest = &rest[run..];
    }
    text
}
