//! Records the sends of a schedule, and the node with the most messages in a step.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use swapmeet_core::delivery::boxes::{BitLayout, Layout, Side};
use swapmeet_core::delivery::fault::{Count, PlacedNode};
use swapmeet_core::delivery::traced::Proof;
use swapmeet_core::simulation::listener::{EmptySend, Interests, Listener, ScheduleEvent, Sent};
use swapmeet_core::simulation::step::Step;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct BusiestNode {
    pub messages: u64,
    /// The number of the step, counted from 1. Steps without messages are not counted.
    pub step: u64,
    pub node: u64,
    /// Whether the node sends these messages. If it is false, the node receives them.
    pub sends: bool,
    /// The first three nodes from which the messages come or to which they are sent.
    pub peers: Vec<u64>,
}

impl fmt::Display for BusiestNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { messages, step, node, .. } = self;
        let (verb, preposition) = if self.sends { ("sends", "to") } else { ("receives", "from") };
        let mut peers: Vec<String> = self.peers.iter().map(u64::to_string).collect();
        if *messages > self.peers.len() as u64 {
            peers.push("..".to_owned());
        }
        write!(
            f,
            "in step {step} node {node} {verb} {messages} messages, {preposition} {}",
            peers.join(", ")
        )
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct RecordedSend {
    step: u64,
    from: u64,
    to: u64,
    load: u64,
    what: u64,
    /// A hash of the set of blocks, however the send lists it, and of the route; 0 if not compared.
    blocks: u64,
}

#[derive(Default)]
pub(crate) struct Watch {
    /// The keys of this hash are constant, so that hashes of two processes can be compared.
    all: DefaultHasher,
    /// The first [`Self::SENDS`] sends, in the order of the schedule.
    sends: Vec<RecordedSend>,
    steps: Vec<u64>,
    busiest_node: BusiestNode,
    /// Sends without data, because the sender holds no data that the send selects.
    idle: IneffectiveSends,
    /// Sends after which the sender keeps a copy of the data.
    copied: IneffectiveSends,
    /// Sends of data that the receiver already has.
    redundant: IneffectiveSends,
    /// Sends of a reduction that replace a value which the receiver had received but not used.
    replacing: IneffectiveSends,
    unused_values: UnusedValues,
    /// Whether sets of blocks are hashed, so that it does not matter how a plan lists them.
    by_blocks: bool,
}

#[derive(Default)]
struct IneffectiveSends {
    /// The beginning of a sentence about the first send of this kind, with its step and its nodes.
    first: Option<String>,
    more: u64,
}

impl IneffectiveSends {
    fn note(&mut self, first: impl FnOnce() -> String) {
        match self.first {
            None => self.first = Some(first()),
            Some(_) => self.more += 1,
        }
    }

    fn in_words(&self, what: &str) -> Option<String> {
        let more = if self.more > 0 {
            format!("; {} more", Count(self.more, "such send"))
        } else {
            String::new()
        };
        Some(format!("{} {what}{more}", self.first.as_ref()?))
    }
}

impl Watch {
    /// The maximum number of recorded sends. Schedules usually differ near their beginning.
    const SENDS: usize = 1 << 17;
    const STEPS: usize = 256;

    /// Also compares the sets of blocks of sends, which two plans may list in different ways.
    pub(crate) fn by_blocks(self) -> Self {
        Self { by_blocks: true, ..self }
    }

    /// Returns the first difference from `by_orbits`, which follows from one node of each orbit.
    pub(crate) fn breaks_symmetry(&self, by_orbits: &Self) -> Option<String> {
        let by_blocks = |send: &RecordedSend| RecordedSend { what: 0, ..*send };
        let sorted = |sends: &[RecordedSend]| {
            let mut sorted: Vec<RecordedSend> = sends.iter().map(by_blocks).collect();
            sorted.sort_unstable();
            sorted
        };
        let (every, followed) = (sorted(&self.sends), sorted(&by_orbits.sends));
        if let Some(at) =
            (0..every.len().max(followed.len())).find(|i| every.get(*i) != followed.get(*i))
        {
            return match (every.get(at), followed.get(at)) {
                (Some(own), other) if other.is_none_or(|other| own < other) => {
                    let RecordedSend { step, from, to, .. } = own;
                    Some(format!("in step {step} node {from} sends node {to} data that follows from no other node's send"))
                }
                (_, follows) => follows.map(|RecordedSend { step, from, to, .. }| {
                    format!("in step {step} node {from} should send node {to} the data that follows from another node's send, but sends other data")
                }),
            };
        }
        // A plan visits the nodes of a step in ascending order, so the order of sends is compared.
        let ordered = |sends: &[RecordedSend]| sends.iter().map(by_blocks).collect::<Vec<_>>();
        let (every, followed) = (ordered(&self.sends), ordered(&by_orbits.sends));
        let at = every.iter().zip(&followed).position(|(own, follows)| own != follows)?;
        let RecordedSend { step, from, .. } = every[at];
        Some(format!(
            "in step {step} node {from} sends out of order: in each step, a plan visits each requested node once, in ascending order"
        ))
    }

    pub(crate) fn fingerprint(&self) -> u64 {
        self.all.finish()
    }

    pub(crate) fn steps(&self) -> &[u64] {
        &self.steps
    }

    pub(crate) fn busiest_node(&self) -> &BusiestNode {
        &self.busiest_node
    }

    /// Describes wasteful sends. A kept copy is only waste if each block has one destination.
    pub(crate) fn waste(&self, has_one_place: bool) -> impl Iterator<Item = String> {
        let idle = self.idle.in_words("selects nothing that it holds");
        let copied = self
            .copied
            .in_words("keeps a copy of what it sends, although the data can only be in one place");
        let redundant = self.redundant.in_words("receives what it already has");
        let replacing =
            self.replacing.in_words("replaces a value that the receiver has received and not used");
        [idle, copied.filter(|_| has_one_place), redundant, replacing].into_iter().flatten()
    }

    /// Describes the first difference between the recorded sends. Returns `None` if there is none.
    pub(crate) fn first_difference(&self, other: &Self) -> Option<String> {
        let at = (0..self.sends.len().max(other.sends.len()))
            .find(|i| self.sends.get(*i) != other.sends.get(*i))?;
        let say = |send: Option<&RecordedSend>| match send {
            Some(RecordedSend { step, from, to, .. }) => {
                format!("in step {step} node {from} sends to node {to}")
            }
            None => "it has ended".to_owned(),
        };
        let (first, second) = (self.sends.get(at), other.sends.get(at));
        let ends = |send: &RecordedSend| (send.step, send.from, send.to);
        Some(match (first, second) {
            (Some(one), Some(two)) if ends(one) == ends(two) => {
                let (RecordedSend { step, from, to, load, .. }, unlike) = (*one, two.load);
                if load == unlike {
                    format!(
                        "in step {step} node {from} sends node {to} other data, or by another route"
                    )
                } else {
                    format!(
                        "in step {step} node {from} sends node {to} a load of {unlike}, the first time {load}"
                    )
                }
            }
            (Some(_) | None, _) => format!("{}, where the first time {}", say(second), say(first)),
        })
    }
}

fn send_of(step: u64, from: PlacedNode, to: PlacedNode) -> String {
    format!("in step {step}, sending to {to}, {from}")
}

/// Returns a hash of the blocks of a send. It does not depend on how the send lists them.
fn blocks(sent: &Sent<'_>) -> u64 {
    let of = |side, bits: &[u64]| {
        if sent.layout.has(side) { sent.layout.nodes_of(side, bits) } else { vec![0] }
    };
    let mut all = 0_u64;
    for bits in &sent.boxes {
        let sides = [Side::Origins, Side::Destinations, Side::Segments].map(|side| of(side, bits));
        for origin in &sides[0] {
            for destination in &sides[1] {
                for segment in &sides[2] {
                    let mut one = DefaultHasher::new();
                    (origin, destination, segment).hash(&mut one);
                    all = all.wrapping_add(one.finish());
                }
            }
        }
    }
    let mut what = DefaultHasher::new();
    (all, sent.copy, sent.combine, sent.route).hash(&mut what);
    what.finish()
}

impl Listener for Watch {
    fn interests(&self) -> Interests {
        Interests { sends: true, ..Interests::SCHEDULE }
    }

    fn notify(&mut self, event: ScheduleEvent<'_>) {
        match event {
            ScheduleEvent::Sent(sent) => self.sent(sent),
            ScheduleEvent::EmptySend(send) => self.empty_send(send),
            ScheduleEvent::RedundantBlock { step, node, block } => {
                self.redundant.note(|| format!("in step {step} {node} is sent {block}, and"));
            }
            ScheduleEvent::Redistribution(redistribution) => redistribution.hash(&mut self.all),
            ScheduleEvent::ByteSend(share) => share.hash(&mut self.all),
            ScheduleEvent::Step(step) => self.step(step),
            ScheduleEvent::Rearrangement { most, segments } => {
                (most, segments).hash(&mut self.all);
            }
            _ => {}
        }
    }
}

impl Watch {
    fn sent(&mut self, sent: &Sent<'_>) {
        let mut what = DefaultHasher::new();
        (
            sent.from.virtual_node,
            sent.from.physical,
            sent.to.virtual_node,
            sent.to.physical,
            sent.load,
        )
            .hash(&mut what);
        sent.boxes.hash(&mut what);
        sent.route.hash(&mut what);
        let what = what.finish();
        what.hash(&mut self.all);
        if sent.copy {
            self.copied.note(|| send_of(sent.step, sent.from, sent.to));
        }
        if sent.proof == Proof::Contributions {
            self.unused_values.sent(sent);
        }
        if self.sends.len() < Self::SENDS {
            let (step, from, to) = (sent.step, sent.from.virtual_node, sent.to.virtual_node);
            let blocks = if self.by_blocks { blocks(sent) } else { 0 };
            self.sends.push(RecordedSend { step, from, to, load: sent.load, what, blocks });
        }
    }

    fn empty_send(&mut self, send: EmptySend) {
        // If the schedule's grid is larger than the network, it has virtual nodes. These normally
        // hold no data, so their empty sends do not count.
        let is_real = |place: PlacedNode| place.virtual_node == place.physical;
        if !send.is_refused && is_real(send.from) && is_real(send.to) {
            self.idle.note(|| send_of(send.step, send.from, send.to));
        }
    }

    fn step(&mut self, step: &Step<'_>) {
        (step.number, step.phase).hash(&mut self.all);
        if self.steps.len() < Self::STEPS {
            self.steps.push(self.all.finish());
        }
        let replacing = &mut self.replacing;
        self.unused_values.end_step(|step, from, to| replacing.note(|| send_of(step, from, to)));
        let most = step.facts.max_sends.max(step.facts.max_receives);
        if most <= self.busiest_node.messages {
            return;
        }
        let sends = step.facts.max_sends == most;
        let ends = |t: &swapmeet_core::simulation::step::Transfer| {
            if sends { (t.from, t.to) } else { (t.to, t.from) }
        };
        let mut peers: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        for (node, peer) in step.transfers.iter().map(ends) {
            peers.entry(node).or_default().push(peer.into());
        }
        if let Some((node, mut peers)) =
            peers.into_iter().find(|(_, peers)| peers.len() as u64 == most)
        {
            const ENOUGH: usize = 3;
            peers.truncate(ENOUGH);
            self.busiest_node =
                BusiestNode { messages: most, step: step.number, node: node.into(), sends, peers };
        }
    }
}

/// For each node, the values of a reduction that it has received but not sent since then.
#[derive(Default)]
struct UnusedValues {
    /// The layout of boxes (products of sets). It is known from the first send on.
    layout: Option<BitLayout>,
    /// By node of the schedule's grid, its unused values, as boxes with all nodes as origins.
    unused: HashMap<u64, Vec<Vec<u64>>>,
    arriving: Vec<Arriving>,
}

struct Arriving {
    step: u64,
    from: PlacedNode,
    to: PlacedNode,
    combine: bool,
    values: Vec<Vec<u64>>,
}

impl UnusedValues {
    fn sent(&mut self, sent: &Sent<'_>) {
        self.layout.get_or_insert_with(|| sent.layout.clone());
        let mut values: Vec<Vec<u64>> =
            sent.boxes.iter().map(|boxed| sent.layout.with_all_origins(boxed)).collect();
        values.dedup();
        self.remove(sent.from, &values);
        let (step, from, to, combine) = (sent.step, sent.from, sent.to, sent.combine);
        self.arriving.push(Arriving { step, from, to, combine, values });
    }

    /// Ends a step. Calls `found` for each send that replaces a value which was not used.
    fn end_step(&mut self, mut found: impl FnMut(u64, PlacedNode, PlacedNode)) {
        for arriving in std::mem::take(&mut self.arriving) {
            let Arriving { step, from, to, combine, values } = arriving;
            // If the receiver adds the new values to the old ones, the sum uses the old ones.
            let is_unused = self.remove(to, &values);
            if is_unused && !combine {
                found(step, from, to);
            }
            self.unused.entry(to.virtual_node).or_default().extend(values);
        }
    }

    /// Removes the node's unused boxes that overlap with `values`. Returns whether there were any.
    fn remove(&mut self, node: PlacedNode, values: &[Vec<u64>]) -> bool {
        let Self { layout: Some(layout), unused, .. } = self else { return false };
        let Some(unused) = unused.get_mut(&node.virtual_node) else { return false };
        let (before, mut common) = (unused.len(), layout.full().to_vec());
        unused
            .retain(|held| !values.iter().any(|value| layout.intersect(held, value, &mut common)));
        unused.len() < before
    }
}
