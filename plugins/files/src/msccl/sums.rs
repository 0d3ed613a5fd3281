//! Passes the messages of an algorithm with reductions to the host. A GPU can have several partial
//! sums of a segment, in different chunks; a node of the host's schedule has only one. A GPU is
//! therefore several virtual nodes, its *slots*, one for each partial sum at a time. Slot 0 is the
//! home of the GPU: it has the GPU's contribution at the start, and its result at the end.

use super::buffers::Buffers;
use super::execution::{Action, Execution, ValueId};
use super::{StepLocation, home_set, products};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;
use swapmeet_interchange::msccl::Collective;
use swapmeet_sdk::{Blocks, Schedule, Stop};

struct Slot {
    reads: u32,
    /// The contributing GPUs, as bits. `None` if the slot is empty.
    contributions: Option<Rc<[u64]>>,
}

/// A transfer of data from a slot of the sender to a slot of the receiver ([`SlotMessage`]).
#[derive(PartialEq, Eq, PartialOrd, Ord, Clone, Copy)]
struct Transfer {
    from: u64,
    to: u64,
    keeps: bool,
    adds: bool,
}

/// The operation, the sender, the receiver (possibly the same GPU), and the sums that each transfer
/// moves.
type SlotMessage = (StepLocation, u64, u64, BTreeMap<Transfer, Vec<u64>>);

#[derive(Default)]
struct StepSends(Vec<SlotMessage>);

struct Slots<'a> {
    execution: &'a Execution,
    /// For each pair of a GPU and a sum, the content of each slot of the GPU.
    slots: HashMap<(u64, u64), Vec<Slot>>,
    slot_of: Vec<usize>,
    steps: Vec<StepSends>,
    /// For each pair of a GPU and a sum, the step in which the next local transfer of the sum can
    /// be. A step with messages clears the map.
    touched: HashMap<(u64, u64), usize>,
    /// The number of steps of the schedule up to the last one with messages.
    since: usize,
}

pub(super) fn pass_on(
    buffers: &Buffers,
    execution: &Execution,
    schedule: &mut Schedule<'_>,
) -> Result<(), Stop> {
    let slot_of = vec![0; execution.values.len()];
    let mut slots = Slots {
        execution,
        slots: HashMap::new(),
        slot_of,
        steps: Vec::new(),
        touched: HashMap::new(),
        since: 0,
    };
    for id in &execution.initial {
        slots.put(*id);
    }
    let mut actions = execution.actions.iter().peekable();
    while let Some(action) = actions.next() {
        match action {
            Action::Message { step, .. } => {
                let mut messages = vec![action];
                while let Some(more) = actions.next_if(
                    |action| matches!(action, Action::Message { step: other, .. } if other == step),
                ) {
                    messages.push(more);
                }
                slots.messages(&messages)?;
            }
            Action::Copied(list) => {
                for (from, to) in list {
                    slots.read(*from);
                    // Equal values share a slot until something is added to one of them.
                    slots.slot_of[*to] = slots.slot_of[*from];
                    slots.slot(*to).reads += execution.values[*to].reads;
                }
            }
            Action::Added(at, list) => slots.added(*at, list),
        }
    }
    slots.results();
    let Slots { slots, steps, .. } = slots;
    let most = slots.values().map(Vec::len).max().unwrap_or(1) as u64;
    let segments = u32::try_from(buffers.segments).unwrap_or(u32::MAX);
    if most == 1 {
        schedule.layout(&[buffers.gpus], segments)?;
    } else {
        schedule.layout(&[most, buffers.gpus], segments)?;
        for (slot, gpu) in (0..most).flat_map(|slot| (0..buffers.gpus).map(move |gpu| (slot, gpu)))
        {
            schedule.place(slot * buffers.gpus + gpu, gpu, slot == 0)?;
        }
    }
    for StepSends(sends) in steps {
        schedule.step()?;
        for (at, from, to, transfers) in sends {
            let label = format!("{at}, line {}", at.line);
            for (transfer, ids) in transfers {
                for [_, destinations, segments] in products(buffers, ids.into_iter()) {
                    let mut axes = Vec::new();
                    let (from, to) =
                        (transfer.from * buffers.gpus + from, transfer.to * buffers.gpus + to);
                    let mut send = Blocks::new(from, to)
                        .segments(segments.axis())
                        .strict()
                        .local()
                        .label(&label);
                    if buffers.collective == Collective::ReduceScatter {
                        send = send.destinations(home_set(&destinations, most, &mut axes));
                    }
                    send = if transfer.keeps { send.copy() } else { send };
                    schedule.send(&if transfer.adds { send.combine() } else { send })?;
                }
            }
        }
    }
    Ok(())
}

impl Slots<'_> {
    fn slot(&mut self, id: ValueId) -> &mut Slot {
        let value = &self.execution.values[id];
        let slots = self.slots.entry((value.gpu, value.what)).or_default();
        let at = self.slot_of[id];
        while slots.len() <= at {
            slots.push(Slot { reads: 0, contributions: None });
        }
        &mut slots[at]
    }

    fn read(&mut self, id: ValueId) -> bool {
        let slot = self.slot(id);
        slot.reads = slot.reads.saturating_sub(1);
        slot.reads > 0
    }

    /// Assigns a slot to a value. This is a slot whose content is not read again and is part of the
    /// value, or a new one.
    fn put(&mut self, id: ValueId) {
        let value = &self.execution.values[id];
        let slots = self.slots.entry((value.gpu, value.what)).or_default();
        let within = |contributions: &Rc<[u64]>| {
            contributions
                .iter()
                .zip(&*value.terms)
                .all(|(contributions, new)| contributions & !new == 0)
        };
        let found = slots
            .iter()
            .position(|slot| slot.reads == 0 && slot.contributions.as_ref().is_none_or(within));
        let at = found.unwrap_or_else(|| {
            slots.push(Slot { reads: 0, contributions: None });
            slots.len() - 1
        });
        slots[at] = Slot { reads: value.reads, contributions: Some(Rc::clone(&value.terms)) };
        self.slot_of[id] = at;
    }

    fn replace(&mut self, old: ValueId, new: ValueId) {
        let value = &self.execution.values[new];
        self.slot_of[new] = self.slot_of[old];
        *self.slot(new) = Slot { reads: value.reads, contributions: Some(Rc::clone(&value.terms)) };
    }

    fn messages(&mut self, messages: &[&Action]) -> Result<(), Stop> {
        let mut step_sends = StepSends::default();
        // Values that are sent for the last time leave their slots before anything arrives.
        let mut keeps = Vec::new();
        for action in messages {
            let Action::Message { chunks, .. } = action else { continue };
            for chunk in chunks {
                let kept = self.read(chunk.sent);
                if !kept {
                    self.slot(chunk.sent).contributions = None;
                }
                keeps.push((self.slot_of[chunk.sent], kept));
            }
        }
        // A received value gets a slot of its own, or replaces the value that it is added to.
        let mut keeps = keeps.into_iter();
        let mut arrived = HashSet::new();
        for action in messages {
            let Action::Message { sender, receiver, chunks, .. } = action else { continue };
            let mut transfers: BTreeMap<Transfer, Vec<u64>> = BTreeMap::new();
            for (chunk, (from, kept)) in chunks.iter().zip(keeps.by_ref()) {
                match chunk.added {
                    None => self.put(chunk.arrived),
                    Some(own) => {
                        if self.read(own) {
                            if arrived.contains(&own) {
                                return Err(Stop::unsupported(format!(
                                    "line {}: {receiver} adds to what arrives in the same step and is read elsewhere, too: let one wait for the other",
                                    receiver.line
                                )));
                            }
                            self.copy_apart(*receiver, own, chunk.arrived);
                        } else {
                            self.replace(own, chunk.arrived);
                        }
                    }
                }
                arrived.insert(chunk.arrived);
                let to = self.slot_of[chunk.arrived] as u64;
                let transfer =
                    Transfer { from: from as u64, to, keeps: kept, adds: chunk.added.is_some() };
                transfers
                    .entry(transfer)
                    .or_default()
                    .push(self.execution.values[chunk.arrived].what);
            }
            step_sends.0.push((*sender, sender.gpu, receiver.gpu, transfers));
        }
        self.steps.push(step_sends);
        self.touched.clear();
        self.since = self.steps.len();
        Ok(())
    }

    /// Copies `own` to a new slot before something is added to it, because `own` will be read
    /// again.
    fn copy_apart(&mut self, at: StepLocation, own: ValueId, new: ValueId) {
        let from = self.slot_of[own];
        let value = &self.execution.values[new];
        // Append a slot, because a slot that this step empties stays occupied until the end of the
        // step.
        let slots = self.slots.entry((value.gpu, value.what)).or_default();
        slots.push(Slot { reads: value.reads, contributions: Some(Rc::clone(&value.terms)) });
        self.slot_of[new] = slots.len() - 1;
        let transfer =
            Transfer { from: from as u64, to: self.slot_of[new] as u64, keeps: true, adds: false };
        self.local(at, transfer, self.execution.values[own].what);
    }

    /// Adds a transfer between two slots of one GPU, in a step that has only local transfers.
    fn local(&mut self, at: StepLocation, transfer: Transfer, what: u64) {
        let next = self.touched.entry((at.gpu, what)).or_insert(self.since);
        if *next == self.steps.len() {
            self.steps.push(StepSends::default());
        }
        self.steps[*next].0.push((at, at.gpu, at.gpu, BTreeMap::from([(transfer, vec![what])])));
        *next += 1;
    }

    fn added(&mut self, at: StepLocation, list: &[(ValueId, ValueId, ValueId)]) {
        for (more, to, new) in list {
            if self.read(*to) {
                self.copy_apart(at, *to, *new);
            } else {
                self.replace(*to, *new);
            }
            let from = self.slot_of[*more];
            let keeps = self.read(*more);
            if !keeps {
                self.slot(*more).contributions = None;
            }
            let transfer =
                Transfer { from: from as u64, to: self.slot_of[*new] as u64, keeps, adds: true };
            self.local(at, transfer, self.execution.values[*new].what);
        }
    }

    fn results(&mut self) {
        for id in &self.execution.results {
            let value = &self.execution.values[*id];
            let from = self.slot_of[*id] as u64;
            if from > 0 {
                let at = StepLocation { gpu: value.gpu, ..StepLocation::default() };
                self.local(at, Transfer { from, to: 0, keeps: false, adds: false }, value.what);
            }
        }
    }
}
