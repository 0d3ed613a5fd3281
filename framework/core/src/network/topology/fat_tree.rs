//! k-ary fat trees of L levels (k-ary n-trees: F. Petrini, M. Vanneschi, *k-ary n-trees: High
//! Performance Networks for Massively Parallel Architectures*, 1997).
//!
//! There are k^L nodes, below L levels of k^(L-1) switches each. Each switch has k links down and,
//! except at the top level, k links up. The label of a switch is a number of L - 1 digits in base
//! k. A switch of level l and a switch of level l + 1 are linked if their labels agree in all
//! digits except digit l. A message moves up until it is above its destination, and then down. At
//! level l, it moves up on the link that is given by digit l of the destination's number. So
//! messages to different destinations use different switches, and if all nodes send to nodes at the
//! same distance in node numbers, no two messages share a link. With `reduce=switch`, every switch
//! can add and copy data.
//!
//! The links between nodes and switches count as hops, too. All links up are numbered before all
//! links down. Within each direction, links are sorted by level, starting at the nodes. Within a
//! level, they are sorted by the switch (or node) at their lower end, and then by the digit.

use super::switched::{FamilyArgs, REDUCE, reduce_argument};
use super::{Automorphisms, AxisSymmetry, Bisection, Family, Parsed, Properties, Run};
use crate::limits;
use crate::spec::Spec;
use std::sync::Arc;

#[derive(Debug, Clone)]
struct FatTree {
    properties: Properties,
    k: u64,
    levels: u64,
    nodes: u64,
    reduces: bool,
}

pub(super) fn parse(spec: &Spec) -> Parsed {
    const EXPECTED: &str = "links down per switch and levels, as in `fat-tree:4x3`";
    let args = FamilyArgs::of(spec, EXPECTED, &[REDUCE])?;
    let (arg, reduces) = (args.word, args.reduces()?);
    let [k, levels] = spec.dims_array(arg, EXPECTED)?;
    let nodes =
        u32::try_from(levels).ok().and_then(|l| k.checked_pow(l)).filter(|n| *n <= limits::NODES);
    match nodes {
        Some(_) if k >= 2 => Ok(Arc::new(FatTree::new(k, levels as u32, reduces))),
        Some(_) => Err(spec.bad_value(arg, "at least 2 links down per switch")),
        None => Err(spec.bad_value(
            arg,
            &format!(
                "at most {} nodes, which are links down to the power of levels",
                limits::NODES
            ),
        )),
    }
}

impl FatTree {
    /// [`super::parse`] checks that there are at most 2^31 nodes, and that k is at least 2.
    fn new(k: u64, levels: u32, reduces: bool) -> Self {
        let (nodes, height) = (k.pow(levels), u64::from(levels));
        // One side of the cut has half of the subtrees below the top level. A subtree has as many
        // links to the top level as it has nodes.
        let side = k / 2 * (nodes / k);
        // With routes of 2 l hops, which turn at a switch of level l, a node reaches `(k - 1) k^(l
        // - 1)` nodes that are not reached with fewer hops.
        let distances = (1..=levels).map(|l| 2 * u64::from(l) * (k - 1) * k.pow(l - 1));
        let properties = Properties {
            spec: format!("fat-tree:{k}x{levels}{}", reduce_argument(reduces)),
            kind: "fat-tree",
            nodes,
            switches: height * (nodes / k),
            radices: vec![k; levels as usize],
            link_slots: 2 * height * nodes,
            degree: Some(1),
            diameter: 2 * height,
            bisection: Some(Bisection { side, links: side, exact: k.is_multiple_of(2) }),
            distance_sum: Some(distances.sum()),
            ..Properties::default()
        };
        Self { properties, k, levels: height, nodes, reduces }
    }

    fn digit(&self, number: u64, index: u32) -> u64 {
        number / self.k.pow(index) % self.k
    }

    fn with_digit(&self, number: u64, index: u32, digit: u64) -> u64 {
        number - self.digit(number, index) * self.k.pow(index) + digit * self.k.pow(index)
    }

    /// Returns the link between the vertex `below` and the switch of the next level that `digit`
    /// selects. A boundary is the gap between two levels: boundary 0 is between the nodes and the
    /// lowest switches, and boundary 1 is between the two lowest levels of switches.
    fn link(&self, up: bool, boundary: u32, below: u64, digit: u64) -> Run {
        let within = if boundary == 0 { below } else { below * self.k + digit };
        let level = u64::from(boundary) + if up { 0 } else { self.levels };
        Run::link(level * self.nodes + within)
    }

    fn switch(&self, level: u64, label: u64) -> u64 {
        self.nodes + level * (self.nodes / self.k) + label
    }
}

impl Family for FatTree {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn automorphisms(&self) -> Option<&dyn Automorphisms> {
        Some(self)
    }

    fn can_reduce(&self, vertex: u64) -> bool {
        self.reduces && vertex >= self.nodes
    }

    fn link_between(&self, from: u64, to: u64) -> Option<Run> {
        // A link is identified by its lower vertex and one digit of the label of its higher vertex.
        let (up, below, above) = if from < to { (true, from, to) } else { (false, to, from) };
        let each = self.nodes / self.k;
        let boundary = match below.checked_sub(self.nodes) {
            None => 0,
            Some(switch) => (switch / each) as u32 + 1,
        };
        let label = if boundary == 0 { below } else { (below - self.nodes) % each };
        let digit = above.checked_sub(self.nodes).map(|switch| switch % each);
        let digit = digit.map(|label| self.digit(label, boundary.saturating_sub(1)));
        let run = self.link(up, boundary, label, digit?);
        (self.link_ends(run.first) == Some((from, to))).then_some(run)
    }

    fn own_route(&self, from: u64, to: u64, visit: &mut dyn FnMut(Run)) -> u64 {
        if from == to {
            return 0;
        }
        let (mut top, mut a, mut b) = (0, from / self.k, to / self.k);
        while a != b {
            (top, a, b) = (top + 1, a / self.k, b / self.k);
        }
        visit(self.link(true, 0, from, 0));
        let mut at = from / self.k;
        for level in 0..top {
            let digit = self.digit(to, level);
            visit(self.link(true, level + 1, at, digit));
            at = self.with_digit(at, level, digit);
        }
        for level in (0..top).rev() {
            let above = self.digit(at, level);
            at = self.with_digit(at, level, self.digit(to, level + 1));
            visit(self.link(false, level + 1, at, above));
        }
        visit(self.link(false, 0, to, 0));
        2 * (u64::from(top) + 1)
    }

    fn link_ends(&self, link: u64) -> Option<(u64, u64)> {
        let levels = self.levels;
        let (level, within) = (link / self.nodes, link % self.nodes);
        let (up, boundary) = (level < levels, level % levels);
        if level >= 2 * levels {
            return None;
        }
        let (below, above) = if boundary == 0 {
            (within, self.switch(0, within / self.k))
        } else {
            let (label, digit) = (within / self.k, within % self.k);
            let index = boundary as u32 - 1;
            (
                self.switch(boundary - 1, label),
                self.switch(boundary, self.with_digit(label, index, digit)),
            )
        };
        Some(if up { (below, above) } else { (above, below) })
    }
}

/// The values of each digit may be permuted, because the labels of the switches on a route consist
/// only of digits of its ends.
impl Automorphisms for FatTree {
    fn axes(&self) -> Vec<AxisSymmetry> {
        vec![AxisSymmetry::Permutations; self.levels as usize]
    }

    fn image_of_link(&self, link: u64, image: &dyn Fn(usize, u64) -> u64) -> u64 {
        let (level, within) = (link / self.nodes, link % self.nodes);
        // At a boundary b > 0, the last digit of the link number is digit `b - 1` of the receiver.
        // The other digits are the label of the lower switch. Below b, these are digits of the
        // receiver, and from b on, digits of the sender.
        let boundary = level % self.levels;
        let mut moved = 0;
        for index in 0..self.levels {
            let digit = match boundary {
                0 => index,
                _ if index == 0 => boundary - 1,
                _ if index < boundary => index - 1,
                _ => index,
            };
            let axis = (self.levels - 1 - digit) as usize;
            let at = self.digit(within, index as u32);
            moved = self.with_digit(moved, index as u32, image(axis, at));
        }
        level * self.nodes + moved
    }
}
