//! Recordings of the sends that a plugin plans for some nodes, to verify a claimed symmetry. In a
//! normal run, the plugin plans only the representative of each orbit, and the sends of all other
//! nodes follow from the symmetry. For the verification, the plugin also plans other nodes. Their
//! sends are compared with those of the representatives.
//!
//! A recording stores one number per step, the sum of the fingerprints (hashes) of its sends. Each
//! send is first mapped to the representative of its sender. So in a symmetric schedule, the sends
//! of the representatives and those of their images have the same sum.
//!
//! If all nodes are recorded, the fingerprints of each image are multiplied by a factor of its own.
//! Without these factors, the sum would not change if one node lacked a send and another node had
//! it twice. Sums of different sends are equal with a probability of about 2^-60.

use super::Task;
use crate::delivery::boxes::{Axis, Layout, NodeSet, RunLayout, Side};
use crate::delivery::exchange::{Division, Rule};
use crate::delivery::fault::{Fault, SendFault};
use crate::delivery::grid::Embedding;
use crate::limits;
use crate::network::symmetry::Group;
use crate::network::topology::Route;
use std::collections::BTreeMap;

/// The nodes whose sends are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recorded {
    /// The images of the representatives under the group element with this number. Element 0 is the
    /// identity, so number 0 means the representatives themselves.
    Image(u64),
    /// All nodes.
    AllNodes,
}

/// The nodes to record, and the step whose sends are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordingTask {
    /// The nodes whose sends are recorded.
    pub nodes: Recorded,
    /// The step whose sends are stored one by one; `None` to store no sends.
    pub kept_step: Option<u64>,
}

/// The last step with a sum of its own. All later steps share a sum, which limits the number of
/// sums.
const LAST_STEP: u64 = 1 << 20;

/// The recorded sends of some nodes, as one sum of fingerprints for each step.
#[derive(Debug)]
pub struct Recording {
    set_errors: [Option<String>; 2],
    layout: RunLayout,
    what: RecordingTask,
    element: u64,
    factors: u64,
    step: u64,
    sends: u64,
    sums: Vec<u64>,
    kept: Vec<RecordedSend>,
    can_start_anywhere: bool,
    last_sender: Sender,
}

#[derive(Debug, Clone, Copy, Default)]
struct Sender {
    node: u64,
    index: u64,
    representative: u64,
    element: u64,
    inverse: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct RecordedSend {
    from: u64,
    to: u64,
    mapped_to: u64,
    fingerprint: u64,
}

impl Recording {
    pub(super) fn new(
        task: &Task,
        (embedding, division): (&Embedding, Division),
        group: &Group,
        what: RecordingTask,
        can_start_anywhere: bool,
    ) -> Result<Self, Fault> {
        embedding.check()?;
        let kind = task.collective.kind();
        let [by_origin, by_destination] = division.distinguishes(kind);
        let layout = RunLayout::new(
            embedding.grid().clone(),
            group.clone(),
            by_origin,
            by_destination,
            division.segments,
        );
        let (element, factors) = match what.nodes {
            Recorded::Image(number) => (group.element(number), 1),
            Recorded::AllNodes => (0, group.elements().map(factor).fold(0, u64::wrapping_add)),
        };
        Ok(Self {
            set_errors: [Side::Origins, Side::Destinations]
                .map(|side| division.set_error(kind, side)),
            layout,
            what,
            element,
            factors,
            step: 0,
            sends: 0,
            sums: Vec::new(),
            kept: Vec::new(),
            can_start_anywhere,
            last_sender: Sender::default(),
        })
    }

    /// Returns the number of recorded sends.
    pub fn sends(&self) -> u64 {
        self.sends
    }

    /// Returns the group under which the schedule claims to be invariant.
    pub fn group(&self) -> &Group {
        self.layout.orbit_group()
    }

    /// Returns the number of recorded nodes.
    pub fn nodes(&self) -> u64 {
        match self.what.nodes {
            Recorded::Image(_) => self.group().representatives(),
            Recorded::AllNodes => self.layout.grid().nodes(),
        }
    }

    /// Returns whether the plugin can plan every image of the representatives.
    pub fn can_start_anywhere(&self) -> bool {
        self.can_start_anywhere
    }

    pub(super) fn step(&self) -> u64 {
        self.step
    }

    pub(super) fn begin_step(&mut self) {
        self.step += 1;
    }

    pub(super) fn rearrange(&mut self) {
        let all = mixed(u64::MAX, self.step).wrapping_mul(self.factors);
        self.add(all);
    }

    fn add(&mut self, fingerprint: u64) {
        let slot = self.step.min(LAST_STEP) as usize;
        if slot >= self.sums.len() {
            self.sums.resize(slot + 1, 0);
        }
        self.sums[slot] = self.sums[slot].wrapping_add(fingerprint);
    }

    pub(super) fn send(&mut self, rule: &Rule<'_>, route: Option<&Route>) -> Result<(), Fault> {
        let (group, nodes) = (self.layout.orbit_group(), self.layout.grid().nodes());
        Fault::check_ends(self.step, (rule.from, rule.to), nodes)?;
        if rule.from != self.last_sender.node {
            let (index, element) = group.home(rule.from);
            self.last_sender = Sender {
                node: rule.from,
                index: index as u64,
                representative: group.representative(index),
                element,
                inverse: group.inverse(element),
            };
        }
        let sender = self.last_sender;
        let records_all = self.what.nodes == Recorded::AllNodes;
        if sender.element != self.element && !records_all {
            let requested = group.moved(sender.representative, self.element);
            return Err(Fault::Send(
                self.step,
                SendFault::NotRequested { from: rule.from, requested },
            ));
        }
        let (from, to, inverse) = (rule.from, rule.to, sender.inverse);
        let mapped_to = group.moved(to, inverse);
        let images = [(from, sender.representative), (to, mapped_to)];
        let step = self.step;
        let bad = |side| move |what| Fault::Send(step, SendFault::BadSet { from, to, side, what });
        let [by_origins, by_destinations] = &self.set_errors;
        let origins = self.described(rule.origins, by_origins, inverse, images);
        let destinations = self.described(rule.destinations, by_destinations, inverse, images);
        let flags = [rule.strict, rule.copy, rule.combine, rule.local];
        let flags = flags.iter().fold(0, |bits, flag| bits << 1 | u64::from(*flag));
        let mut fingerprint = Fingerprint(flags);
        fingerprint.add_pair(self.step, sender.index);
        fingerprint.add_pair(mapped_to, origins.map_err(bad("origins"))?);
        fingerprint.add_pair(
            destinations.map_err(bad("destinations"))?,
            self.described_segments(rule.segments).map_err(bad("segments"))?,
        );
        if let Some(Route { signs, order, path, .. }) = route {
            signs.iter().for_each(|sign| fingerprint.add(*sign as u64));
            order.iter().for_each(|axis| fingerprint.add(1 << 32 | u64::from(*axis)));
            path.iter().for_each(|node| fingerprint.add(1 << 40 | group.moved(*node, inverse)));
        }
        let fingerprint = fingerprint.0;
        self.sends += 1;
        let factor = if records_all { factor(sender.element) } else { 1 };
        self.add(fingerprint.wrapping_mul(factor));
        if self.what.kept_step == Some(self.step.min(LAST_STEP))
            && (self.kept.len() as u64) < limits::COMPARED_SENDS
        {
            self.kept.push(RecordedSend { from, to, mapped_to, fingerprint });
        }
        Ok(())
    }

    /// Returns a number that describes the image of a set of nodes under an element of the group: 0
    /// for all nodes, the node's number plus 1 for one node, otherwise a fingerprint. Errors if the
    /// set does not fit the grid. If there is a `set_error`, all sets but [`NodeSet::All`] give
    /// this error. `images` has the sender and the receiver, each with its image. They are given,
    /// because most sets are one of these two nodes.
    fn described(
        &self,
        set: NodeSet<'_>,
        set_error: &Option<String>,
        element: u64,
        images: [(u64, u64); 2],
    ) -> Result<u64, String> {
        if let NodeSet::All = set {
            return Ok(0);
        }
        if let Some(error) = set_error {
            return Err(error.clone());
        }
        if let NodeSet::One(one) = set
            && let Some((_, image)) = images.iter().find(|(node, _)| *node == one)
        {
            return Ok(image + 1);
        }
        let (mut words, mut last, mut fingerprint) = (0, 0, Fingerprint(0));
        self.layout.describe(set, element, |word| {
            (words, last) = (words + 1, word);
            fingerprint.add(word);
        })?;
        Ok(match words {
            0 => 0,
            1 => last + 1,
            _ => 1 << 63 | fingerprint.0,
        })
    }

    fn described_segments(&self, set: Axis<'_>) -> Result<u64, String> {
        let mut fingerprint = Fingerprint(0);
        if !matches!(set, Axis::All) {
            self.layout.describe_segments(set, |word| fingerprint.add(word))?;
        }
        Ok(fingerprint.0)
    }
}

/// Mixes two numbers into one (the multiplication of wyhash, by Wang Yi).
fn mixed(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ 0x9e37_79b9_7f4a_7c15) * u128::from(b ^ 0xd6e8_feb8_6659_fd93);
    (product >> 64) as u64 ^ product as u64
}

/// Returns the factor for the fingerprints of the nodes that are images under a group element. It is
/// odd, so different fingerprints still differ after the multiplication modulo 2^64.
fn factor(element: u64) -> u64 {
    mixed(element, 0x2545_f491_4f6c_dd1d) | 1
}

struct Fingerprint(u64);

impl Fingerprint {
    fn add(&mut self, number: u64) {
        self.0 = mixed(self.0, number);
    }

    fn add_pair(&mut self, first: u64, second: u64) {
        self.0 = mixed(self.0 ^ first, second.rotate_left(32));
    }
}

impl Recording {
    /// Returns the first step in which this recording of the representatives differs from another.
    pub fn first_different_step(&self, other: &Self) -> Option<u64> {
        let sum = |of: &Self, step: usize| of.sums.get(step).copied().unwrap_or(0);
        (0..self.sums.len().max(other.sums.len()))
            .find(|step| sum(self, *step).wrapping_mul(other.factors) != sum(other, *step))
            .map(|step| step as u64)
    }

    /// Returns whether two recordings have the same grid, group and number of segments per block.
    pub fn has_layout_of(&self, other: &Self) -> bool {
        self.group() == other.group()
            && self.layout.grid().radices() == other.layout.grid().radices()
            && self.layout.segments() == other.layout.segments()
    }

    /// Describes the first difference between the stored sends of the representatives and of other
    /// nodes.
    pub fn describe_difference(&self, other: &Self) -> String {
        let (mut expected, mut own): (BTreeMap<u64, Vec<_>>, BTreeMap<u64, Vec<_>>) =
            Default::default();
        self.kept.iter().for_each(|send| expected.entry(send.from).or_default().push(send));
        other.kept.iter().for_each(|send| own.entry(send.from).or_default().push(send));
        let group = self.group();
        let step = match self.what.kept_step {
            Some(LAST_STEP) => format!("after step {}", LAST_STEP - 1),
            step => format!("step {}", step.unwrap_or(0)),
        };
        let differs = other.recorded_nodes().into_iter().find_map(|node| {
            let (index, element) = group.home(node);
            let representative = group.representative(index);
            let expected = expected.get(&representative).map_or(&[][..], Vec::as_slice);
            let own = own.get(&node).map_or(&[][..], Vec::as_slice);
            let image = |to| group.moved(to, element);
            difference((representative, expected), (node, own), image)
        });
        match differs {
            Some(what) => format!("{step}: {what}"),
            None => format!("{step}: not all nodes rearrange their data the same number of times"),
        }
    }

    fn recorded_nodes(&self) -> Vec<u64> {
        let group = self.group();
        match self.what.nodes {
            Recorded::AllNodes => (0..self.layout.grid().nodes()).collect(),
            Recorded::Image(_) => {
                let representatives = 0..group.representatives() as usize;
                let image = |index| group.moved(group.representative(index), self.element);
                let mut nodes: Vec<u64> = representatives.map(image).collect();
                nodes.sort_unstable();
                nodes
            }
        }
    }
}

fn difference(
    (representative, expected): (u64, &[&RecordedSend]),
    (node, own): (u64, &[&RecordedSend]),
    image: impl Fn(u64) -> u64,
) -> Option<String> {
    let mut unmatched = own.to_vec();
    for send in expected {
        let same = unmatched.iter().position(|own| own.fingerprint == send.fingerprint);
        if let Some(same) = same {
            unmatched.remove(same);
            continue;
        }
        let to = image(send.to);
        return Some(if unmatched.iter().any(|own| own.to == to) {
            format!(
                "node {node} sends node {to} something other than the image of what node {representative} sends node {}",
                send.to
            )
        } else {
            format!(
                "node {node} does not send to node {to}, although node {representative} sends to node {}",
                send.to
            )
        });
    }
    let extra = unmatched.first()?;
    Some(if expected.iter().any(|send| send.to == extra.mapped_to) {
        format!(
            "node {node} sends to node {} more often than node {representative} to node {}",
            extra.to, extra.mapped_to
        )
    } else {
        format!(
            "node {node} sends to node {}, although node {representative} does not send to node {}",
            extra.to, extra.mapped_to
        )
    })
}
