//! Gathers for networks on which all nodes are equivalent: each translation of a grid maps links to
//! links of the same bandwidth, so one node is planned and the others do the same. A *shift* is the
//! translation from the start of a link to its end. The *offset* of a block at a node is the
//! translation from the origin of the block to this node. The number of a translation is that of
//! the node to which it moves node 0.

use crate::gather::lower_bound;
use crate::network::LinkGraph;
use swapmeet_flows::Random;

pub(crate) struct Translations {
    radices: Vec<u64>,
    /// The translations from a link's start to its end, one for each link of a node.
    pub shifts: Vec<u32>,
}

impl Translations {
    /// Returns `None` if a translation does not map links to links.
    pub(crate) fn of(network: &LinkGraph, radices: &[u64]) -> Option<Self> {
        let nodes = network.nodes as u64;
        let equal = network.bandwidth.iter().all(|bandwidth| *bandwidth == 1.0);
        if network.has_switches() || !equal || radices.iter().product::<u64>() != nodes || nodes < 2
        {
            return None;
        }
        let shifts = network.links.out(0).map(|link| network.links.head[link]).collect();
        let group = Self { radices: radices.to_vec(), shifts };
        let mut ends = Vec::new();
        for node in 0..nodes as u32 {
            ends.clear();
            ends.extend(group.shifts.iter().map(|shift| group.add(node, *shift)));
            ends.sort_unstable();
            let links = network.links.out(node as usize);
            if !links.map(|link| network.links.head[link]).eq(ends.iter().copied()) {
                return None;
            }
        }
        Some(group)
    }

    pub(crate) fn nodes(&self) -> usize {
        self.radices.iter().product::<u64>() as usize
    }

    /// Returns the axis along which a shift moves by one, as on a torus.
    pub(crate) fn axis(&self, shift: u32) -> Option<usize> {
        let (mut rest, mut axes) = (u64::from(shift), Vec::new());
        for (axis, &radix) in self.radices.iter().enumerate().rev() {
            let by = rest % radix;
            axes.extend((by > 0).then_some((axis, by == 1 || by + 1 == radix)));
            rest /= radix;
        }
        if let [(axis, true)] = axes[..] { Some(axis) } else { None }
    }

    pub(crate) fn axes(&self) -> usize {
        self.radices.len()
    }

    pub(crate) fn add(&self, a: u32, b: u32) -> u32 {
        self.combine(a, b, |a, b, radix| (a + b) % radix)
    }

    pub(crate) fn subtract(&self, a: u32, b: u32) -> u32 {
        self.combine(a, b, |a, b, radix| (a + radix - b) % radix)
    }

    fn combine(&self, a: u32, b: u32, along: impl Fn(u64, u64, u64) -> u64) -> u32 {
        let (mut a, mut b, mut sum, mut stride) = (u64::from(a), u64::from(b), 0, 1);
        for &radix in self.radices.iter().rev() {
            sum += along(a % radix, b % radix, radix) * stride;
            (a, b, stride) = (a / radix, b / radix, stride * radix);
        }
        sum as u32
    }

    pub(crate) fn reversed(&self) -> Self {
        let shifts = self.shifts.iter().map(|shift| self.subtract(0, *shift)).collect();
        Self { radices: self.radices.clone(), shifts }
    }
}

/// The moves of each step. A move has the index of a shift, and the offset of the block at its
/// receiver.
pub(crate) type OffsetSteps = Vec<Vec<(usize, u32)>>;

/// Returns the shortest of up to `tries` gathers. In each step, each shift brings every node a
/// block whose offset is new. The block comes from its origin, or from a node that has received it
/// before.
pub(crate) fn gather(
    network: &LinkGraph,
    group: &Translations,
    tries: u64,
    random: &mut Random,
) -> OffsetSteps {
    let bound = lower_bound(&network.reversed().0, network.nodes, &vec![1; network.nodes]);
    let mut best: Option<OffsetSteps> = None;
    for _ in 0..tries {
        let next = one_gather(network.nodes, group, random);
        if best.as_ref().is_none_or(|best| next.len() < best.len()) {
            best = Some(next);
        }
        if best.as_ref().is_some_and(|best| best.len() <= bound) {
            break;
        }
    }
    best.unwrap_or_default()
}

fn one_gather(nodes: usize, group: &Translations, random: &mut Random) -> OffsetSteps {
    let mut reached = vec![false; nodes];
    reached[0] = true;
    let mut left = nodes - 1;
    let mut steps: OffsetSteps = Vec::new();
    // For each shift, a list of the offsets of the blocks that nodes can receive over it. If a
    // block with a drawn offset has already arrived over another shift, the offset is skipped.
    let mut candidates: Vec<Vec<u32>> = group.shifts.iter().map(|shift| vec![*shift]).collect();
    let mut order: Vec<usize> = (0..group.shifts.len()).collect();
    while left > 0 {
        let mut step = Vec::new();
        random.shuffle(&mut order);
        for &shift in &order {
            let waiting = &mut candidates[shift];
            while !waiting.is_empty() {
                let offset = waiting.swap_remove(random.below(waiting.len()));
                if !std::mem::replace(&mut reached[offset as usize], true) {
                    step.push((shift, offset));
                    left -= 1;
                    break;
                }
            }
        }
        for &(_, offset) in &step {
            for (waiting, shift) in candidates.iter_mut().zip(&group.shifts) {
                let next = group.add(offset, *shift);
                if !reached[next as usize] {
                    waiting.push(next);
                }
            }
        }
        step.sort_unstable();
        steps.push(step);
    }
    steps
}
