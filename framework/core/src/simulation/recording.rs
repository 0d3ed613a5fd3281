//! Recordings of the sends that a plugin plans for some nodes. They are used to verify a claimed
//! symmetry. In a normal run, the plugin plans only one node of each orbit, its representative, and
//! the sends of all other nodes are derived from the symmetry. For the verification, the plugin
//! also plans other nodes, and these sends are compared with those of the representatives.
//!
//! A recording stores one number per step, the sum of the fingerprints (hashes) of its sends. Each
//! send is first mapped to the representative of its sender. So in a symmetric schedule, the sends
//! of the representatives and the sends of any of their images have the same sum.
//!
//! If all nodes are recorded, the fingerprints of each image are multiplied by a factor that
//! differs from image to image. Otherwise the sum would not change if one node lacked a send and
//! another node had it twice. Sums of different sends are equal with a probability of about 2^-60.

mod difference;

use super::Task;
use crate::delivery::boxes::{Axis, Layout, NodeSet, RunLayout, Side};
use crate::delivery::exchange::{Division, Rule};
use crate::delivery::fault::{Fault, SendFault};
use crate::delivery::placement::Placement;
use crate::limits;
use crate::network::symmetry::Group;
use crate::network::topology::Route;

/// The nodes whose sends are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recorded {
    /// The image of the representatives under an element of the group. The number identifies the
    /// element; 0 stands for the representatives themselves.
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

/// The number of the last step for which there is a sum. To limit the number of sums, the sends of
/// all later steps are added to the sum of this step.
const LAST_STEP: u64 = 1 << 20;

/// The recorded sends of some nodes, as one sum of fingerprints for each step.
#[derive(Debug)]
pub struct Recording {
    /// The error of a send that selects blocks by origins, and of a send that selects blocks by
    /// destinations. `None` if the collective permits this selection.
    set_errors: [Option<String>; 2],
    layout: RunLayout,
    what: RecordingTask,
    /// The element of the group that maps the representatives to the recorded nodes; 0 if all nodes
    /// are recorded.
    element: u64,
    /// The sum of the factors of all images that are recorded.
    factors: u64,
    step: u64,
    /// The number of recorded sends.
    sends: u64,
    /// For each step up to the last step with a send, the sum of the fingerprints of its sends.
    sums: Vec<u64>,
    /// The stored sends of `RecordingTask::kept_step`.
    kept: Vec<RecordedSend>,
    /// Whether the plugin can plan every image of the representatives under an element of the
    /// group.
    can_start_anywhere: bool,
    /// The sender of the previous send.
    last_sender: Sender,
}

/// A sender, with its relation to the representative of its orbit. The default is node 0, which
/// represents its own orbit.
#[derive(Debug, Clone, Copy, Default)]
struct Sender {
    node: u64,
    /// The index of the representative among all representatives.
    index: u64,
    representative: u64,
    /// The element that maps the representative to the sender, and its inverse.
    element: u64,
    inverse: u64,
}

/// A send, stored for error messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct RecordedSend {
    from: u64,
    to: u64,
    /// The receiver, after the send was mapped to the representative of its sender.
    mapped_to: u64,
    /// The fingerprint, after the send was mapped to the representative of its sender.
    fingerprint: u64,
}

impl Recording {
    pub(super) fn new(
        task: &Task,
        (placement, division): (&Placement, Division),
        group: &Group,
        what: RecordingTask,
        can_start_anywhere: bool,
    ) -> Result<Self, Fault> {
        placement.check()?;
        let kind = task.collective.kind();
        let [by_origin, by_destination] = division.distinguishes(kind);
        let layout = RunLayout::new(
            placement.grid().clone(),
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

    /// Returns whether the plugin can plan every image of the representatives under an element of
    /// the group.
    pub fn can_start_anywhere(&self) -> bool {
        self.can_start_anywhere
    }

    pub(super) fn step(&self) -> u64 {
        self.step
    }

    pub(super) fn begin_step(&mut self) {
        self.step += 1;
    }

    /// Records that every node rearranges its data after the current step.
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
        // Check the sender and the receiver.
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
        // Map the send to the representative of its sender.
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
        if let Some(Route { signs, order, path }) = route {
            signs.iter().for_each(|sign| fingerprint.add(*sign as u64));
            order.iter().for_each(|axis| fingerprint.add(1 << 32 | u64::from(*axis)));
            path.iter().for_each(|node| fingerprint.add(1 << 40 | group.moved(*node, inverse)));
        }
        // Add the fingerprint to the sum of the step.
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
    /// for all nodes, the number of the node plus 1 for one node, and otherwise a fingerprint.
    ///
    /// Errors if the set does not fit the grid. Also returns the error `set_error`, if there is one
    /// and the set is not [`NodeSet::All`].
    ///
    /// `images` has the sender and the receiver, each with its image. Most sets consist of one of
    /// these two nodes, so that no image need be computed for them.
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

    /// Returns a number that describes a set of segments: 0 for all segments, and otherwise a
    /// fingerprint. Errors if the set does not fit the number of segments per block.
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

/// Returns the factor for the fingerprints of one image of the representatives. The factor is odd,
/// so that different fingerprints have different products modulo 2^64.
fn factor(element: u64) -> u64 {
    mixed(element, 0x2545_f491_4f6c_dd1d) | 1
}

/// A running fingerprint of the numbers that describe a send.
struct Fingerprint(u64);

impl Fingerprint {
    fn add(&mut self, number: u64) {
        self.0 = mixed(self.0, number);
    }

    /// Adds two numbers to the fingerprint with a single multiplication.
    fn add_pair(&mut self, first: u64, second: u64) {
        self.0 = mixed(self.0 ^ first, second.rotate_left(32));
    }
}
