//! Recordings of the sends that a plugin plans for some nodes. They are used to verify a claimed
//! symmetry. In a normal run, the plugin plans only one node of each orbit, its representative, and
//! the sends of all other nodes are derived from the symmetry. For the verification, the plugin
//! also plans other nodes, and these sends are compared with those of the representatives.
//!
//! A recording stores one number per step, the sum of the fingerprints (hashes) of its sends. Each
//! send is first mapped to the representative of its sender. So in a symmetric schedule, the sends
//! of the representatives and the sends of any of their images have the same sum.
//!
//! If all nodes are recorded, the fingerprints of each image are multiplied by a different factor.
//! Otherwise the sum would not change if one node lacked a send and another node had it twice. Sums
//! of different sends are equal with a probability of about 2^-60.

mod difference;

use super::Task;
use crate::delivery::boxes::{Axis, BitLayout, Layout, NodeSet, RunLayout, Selection, Side};
use crate::delivery::exchange::{Division, Inventory, Rule};
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
    Everyone,
}

/// The nodes to record, and the step whose sends are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordingTask {
    /// The nodes whose sends are recorded.
    pub nodes: Recorded,
    /// The step whose sends are stored one by one, if there is one.
    pub kept_step: Option<u64>,
}

/// The number of the last step that has its own sum. All later steps are added to this sum, to
/// limit the number of sums.
const LAST_STEP: u64 = 1 << 20;

/// The recorded sends of some nodes.
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
    /// The number of sends.
    sends: u64,
    /// For each step up to the last step with a send, the sum of its fingerprints.
    sums: Vec<u64>,
    /// The stored sends of `RecordingTask::kept_step`.
    kept: Vec<RecordedSend>,
    /// Whether the plugin can plan every image of the representatives under an element of the
    /// group.
    can_start_anywhere: bool,
    selection: Selection<<RunLayout as Layout>::Element>,
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
        let [by_origin, by_destination] =
            Inventory::<BitLayout>::distinguishes(&task.collective, division);
        let kind = task.collective.kind();
        let of_destinations =
            if division.in_parts { None } else { kind.set_error(Side::Destinations) };
        let layout = RunLayout::new(
            placement.grid().clone(),
            group.clone(),
            by_origin,
            by_destination,
            division.segments,
        );
        let (element, factors) = match what.nodes {
            Recorded::Image(number) => (group.element(number), 1),
            Recorded::Everyone => (0, group.elements().map(factor).fold(0, u64::wrapping_add)),
        };
        Ok(Self {
            set_errors: [kind.set_error(Side::Origins), of_destinations],
            selection: layout.select_all(),
            layout,
            what,
            element,
            factors,
            step: 0,
            sends: 0,
            sums: Vec::new(),
            kept: Vec::new(),
            can_start_anywhere,
        })
    }

    /// Returns the number of recorded sends.
    pub fn sends(&self) -> u64 {
        self.sends
    }

    /// Returns the claimed group.
    pub fn group(&self) -> &Group {
        self.layout.orbit_group()
    }

    /// Returns the number of recorded nodes.
    pub fn nodes(&self) -> u64 {
        match self.what.nodes {
            Recorded::Image(_) => self.group().representatives(),
            Recorded::Everyone => self.layout.grid().nodes(),
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
        for (role, node) in [("sender", rule.from), ("receiver", rule.to)] {
            if node >= nodes {
                let fault = SendFault::UnknownNode { role, node, last: nodes - 1 };
                return Err(Fault::Send(self.step, fault));
            }
        }
        let (index, element) = group.home(rule.from);
        if element != self.element && self.what.nodes != Recorded::Everyone {
            let requested = group.moved(group.representative(index), self.element);
            return Err(Fault::Send(
                self.step,
                SendFault::NotRequested { from: rule.from, requested },
            ));
        }
        // Map the send to the representative of its sender.
        let inverse = group.inverse(element);
        let mapped_to = group.moved(rule.to, inverse);
        let mut fingerprint = Fingerprint(0);
        fingerprint.add(self.step);
        fingerprint.add(index as u64);
        fingerprint.add(mapped_to);
        let flags = [rule.strict, rule.copy, rule.combine, rule.local];
        fingerprint.add(flags.iter().fold(1, |bits, flag| bits << 1 | u64::from(*flag)));
        let (from, to) = (rule.from, rule.to);
        self.describe_sets(rule, inverse, &mut fingerprint).map_err(|(side, what)| {
            Fault::Send(self.step, SendFault::BadSet { from, to, side, what })
        })?;
        if let Some(Route { signs, order, path }) = route {
            signs.iter().for_each(|sign| fingerprint.add(*sign as u64));
            order.iter().for_each(|axis| fingerprint.add(1 << 32 | u64::from(*axis)));
            let group = self.layout.orbit_group();
            path.iter().for_each(|node| fingerprint.add(1 << 40 | group.moved(*node, inverse)));
        }
        // Add the fingerprint to the sum of the step.
        let fingerprint = fingerprint.0;
        self.sends += 1;
        let is_everyone = self.what.nodes == Recorded::Everyone;
        self.add(fingerprint.wrapping_mul(if is_everyone { factor(element) } else { 1 }));
        if self.what.kept_step == Some(self.step.min(LAST_STEP))
            && (self.kept.len() as u64) < limits::COMPARED_SENDS
        {
            self.kept.push(RecordedSend { from, to, mapped_to, fingerprint });
        }
        Ok(())
    }

    /// Adds the sets of a send to its fingerprint. If a set is invalid, the error has its name and
    /// the reason.
    fn describe_sets(
        &mut self,
        rule: &Rule<'_>,
        inverse: u64,
        fingerprint: &mut Fingerprint,
    ) -> Result<(), (&'static str, String)> {
        let Self { layout, selection, set_errors, .. } = self;
        for (number, (name, side, set)) in [
            ("origins", Side::Origins, rule.origins),
            ("destinations", Side::Destinations, rule.destinations),
        ]
        .into_iter()
        .enumerate()
        {
            // Add a marker between the two sets, so that their numbers cannot be confused.
            fingerprint.add(1 << 62 | number as u64);
            if let NodeSet::All = set {
                continue;
            }
            if let Some(error) = &set_errors[number] {
                return Err((name, error.clone()));
            }
            if let NodeSet::One(node) = set
                && node < layout.grid().nodes()
            {
                // A single node is the most frequent set, and needs no box.
                fingerprint.add(layout.orbit_group().moved(node, inverse));
                continue;
            }
            layout.widen(selection);
            layout.narrow(side, set, selection).map_err(|what| (name, what))?;
            layout.describe(side, selection.elements(), inverse, |word| fingerprint.add(word));
        }
        fingerprint.add(1 << 62 | 2);
        if let Axis::All = rule.segments {
            return Ok(());
        }
        layout.widen(selection);
        selection.narrow_segments(layout, rule.segments).map_err(|what| ("segments", what))?;
        layout.describe_segments(selection.elements(), |word| fingerprint.add(word));
        Ok(())
    }
}

/// Mixes two numbers into one (the multiplication of wyhash, by Wang Yi).
fn mixed(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ 0x9e37_79b9_7f4a_7c15) * u128::from(b ^ 0xd6e8_feb8_6659_fd93);
    (product >> 64) as u64 ^ product as u64
}

/// Returns the factor for the fingerprints of one image of the representatives. It is an odd
/// number.
fn factor(element: u64) -> u64 {
    mixed(element, 0x2545_f491_4f6c_dd1d) | 1
}

/// A running fingerprint of the numbers that describe a send.
struct Fingerprint(u64);

impl Fingerprint {
    fn add(&mut self, number: u64) {
        self.0 = mixed(self.0, number);
    }
}
