//! Sums: a GPU may have several of one segment, in different chunks, where the host knows one a
//! node. So each GPU has a virtual node for each that it has at once, a *slot*; the first is at
//! home where the GPU's own contribution is, and where its result is to be.

use super::execution::{Act, Execution, Id};
use super::shape::Shape;
use super::{At, at_home, products};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;
use swapmeet_interchange::msccl::Collective;
use swapmeet_sdk::{Blocks, Schedule, Stop};

/// What the host has of a sum in one slot.
struct Slot {
    /// How often what is there is still to be read.
    reads: u32,
    /// Whose contributions are there; `None` where nothing is.
    has: Option<Rc<[u64]>>,
}

/// What one message takes from one slot to another.
#[derive(PartialEq, Eq, PartialOrd, Ord, Clone, Copy)]
struct Passing {
    from: u64,
    to: u64,
    keeps: bool,
    adds: bool,
}

/// What goes from one GPU to another, or within one: who says so, both ends, and which sums go
/// which way.
type Sends = (At, u64, u64, BTreeMap<Passing, Vec<u64>>);

/// Sends of one step of the host's.
#[derive(Default)]
struct Batch(Vec<Sends>);

struct Slots<'a> {
    execution: &'a Execution,
    /// Of each GPU and sum.
    slots: HashMap<(u64, u64), Vec<Slot>>,
    slot_of: Vec<usize>,
    batches: Vec<Batch>,
    /// Of each GPU and sum, after which step of the host's it was last touched within the GPU,
    /// since the last messages.
    touched: HashMap<(u64, u64), usize>,
    /// How many steps of the host's there were with the last messages.
    since: usize,
}

pub(super) fn hand_on(
    shape: &Shape,
    execution: &Execution,
    schedule: &mut Schedule<'_>,
) -> Result<(), Stop> {
    let slot_of = vec![0; execution.values.len()];
    let mut slots = Slots {
        execution,
        slots: HashMap::new(),
        slot_of,
        batches: Vec::new(),
        touched: HashMap::new(),
        since: 0,
    };
    for id in &execution.own {
        slots.put(*id);
    }
    let mut acts = execution.acts.iter().peekable();
    while let Some(act) = acts.next() {
        match act {
            Act::Message { step, .. } => {
                let mut messages = vec![act];
                while let Some(more) = acts
                    .next_if(|act| matches!(act, Act::Message { step: other, .. } if other == step))
                {
                    messages.push(more);
                }
                slots.messages(&messages)?;
            }
            Act::Copied(list) => {
                for (from, to) in list {
                    slots.read(*from);
                    // What is equal needs one slot, until something is added to it.
                    slots.slot_of[*to] = slots.slot_of[*from];
                    slots.slot(*to).reads += execution.values[*to].reads;
                }
            }
            Act::Added(at, list) => slots.added(*at, list),
        }
    }
    slots.results();
    let Slots { slots, batches, .. } = slots;
    let most = slots.values().map(Vec::len).max().unwrap_or(1) as u64;
    let segments = u32::try_from(shape.segments).unwrap_or(u32::MAX);
    if most == 1 {
        schedule.layout(&[shape.gpus], segments)?;
    } else {
        schedule.layout(&[most, shape.gpus], segments)?;
        for (slot, gpu) in (0..most).flat_map(|slot| (0..shape.gpus).map(move |gpu| (slot, gpu))) {
            schedule.place(slot * shape.gpus + gpu, gpu, slot == 0)?;
        }
    }
    for Batch(sends) in batches {
        schedule.step()?;
        for (at, from, to, passings) in sends {
            let label = format!("{at}, line {}", at.line);
            for (passing, whats) in passings {
                for [_, destinations, segments] in products(shape, whats.into_iter()) {
                    let mut axes = Vec::new();
                    let (from, to) =
                        (passing.from * shape.gpus + from, passing.to * shape.gpus + to);
                    let mut send = Blocks::new(from, to)
                        .segments(segments.axis())
                        .strict()
                        .local()
                        .label(&label);
                    if shape.collective == Collective::ReduceScatter {
                        send = send.destinations(at_home(&destinations, most, &mut axes));
                    }
                    send = if passing.keeps { send.copy() } else { send };
                    schedule.send(&if passing.adds { send.combine() } else { send })?;
                }
            }
        }
    }
    Ok(())
}

impl Slots<'_> {
    fn slot(&mut self, id: Id) -> &mut Slot {
        let value = &self.execution.values[id];
        let slots = self.slots.entry((value.gpu, value.what)).or_default();
        let at = self.slot_of[id];
        while slots.len() <= at {
            slots.push(Slot { reads: 0, has: None });
        }
        &mut slots[at]
    }

    /// One reading of a value less; whether its slot is to be read again.
    fn read(&mut self, id: Id) -> bool {
        let slot = self.slot(id);
        slot.reads = slot.reads.saturating_sub(1);
        slot.reads > 0
    }

    /// A slot for a value that is new: one in which nothing is that is still read, and nothing that
    /// would be lost.
    fn put(&mut self, id: Id) {
        let value = &self.execution.values[id];
        let slots = self.slots.entry((value.gpu, value.what)).or_default();
        let within =
            |has: &Rc<[u64]>| has.iter().zip(&*value.terms).all(|(has, new)| has & !new == 0);
        let found =
            slots.iter().position(|slot| slot.reads == 0 && slot.has.as_ref().is_none_or(within));
        let at = found.unwrap_or_else(|| {
            slots.push(Slot { reads: 0, has: None });
            slots.len() - 1
        });
        slots[at] = Slot { reads: value.reads, has: Some(Rc::clone(&value.terms)) };
        self.slot_of[id] = at;
    }

    /// A value takes the slot of the one to which something was added.
    fn becomes(&mut self, old: Id, new: Id) {
        let value = &self.execution.values[new];
        self.slot_of[new] = self.slot_of[old];
        *self.slot(new) = Slot { reads: value.reads, has: Some(Rc::clone(&value.terms)) };
    }

    fn messages(&mut self, messages: &[&Act]) -> Result<(), Stop> {
        let mut batch = Batch::default();
        // What is sent is taken before anything arrives.
        let mut keeps = Vec::new();
        for act in messages {
            let Act::Message { chunks, .. } = act else { continue };
            for passed in chunks {
                let kept = self.read(passed.sent);
                if !kept {
                    self.slot(passed.sent).has = None;
                }
                keeps.push((self.slot_of[passed.sent], kept));
            }
        }
        let mut keeps = keeps.into_iter();
        let mut arrived = HashSet::new();
        for act in messages {
            let Act::Message { sender, receiver, chunks, .. } = act else { continue };
            let mut passings: BTreeMap<Passing, Vec<u64>> = BTreeMap::new();
            for (passed, (from, kept)) in chunks.iter().zip(keeps.by_ref()) {
                match passed.added {
                    None => self.put(passed.arrived),
                    Some(own) => {
                        if self.read(own) {
                            if arrived.contains(&own) {
                                return Err(Stop::unsupported(format!(
                                    "line {}: {receiver} adds to what arrives in the same step and is read elsewhere, too: let one wait for the other",
                                    receiver.line
                                )));
                            }
                            self.apart(*receiver, own, passed.arrived);
                        } else {
                            self.becomes(own, passed.arrived);
                        }
                    }
                }
                arrived.insert(passed.arrived);
                let to = self.slot_of[passed.arrived] as u64;
                let passing =
                    Passing { from: from as u64, to, keeps: kept, adds: passed.added.is_some() };
                passings
                    .entry(passing)
                    .or_default()
                    .push(self.execution.values[passed.arrived].what);
            }
            batch.0.push((*sender, sender.gpu, receiver.gpu, passings));
        }
        self.batches.push(batch);
        self.touched.clear();
        self.since = self.batches.len();
        Ok(())
    }

    /// A value is copied to a slot of its own before something is added to it, for it is read again
    /// as it is.
    fn apart(&mut self, at: At, own: Id, new: Id) {
        let from = self.slot_of[own];
        let value = &self.execution.values[new];
        // A slot that nobody has used: one that is emptied in this very step would still be full.
        let slots = self.slots.entry((value.gpu, value.what)).or_default();
        slots.push(Slot { reads: value.reads, has: Some(Rc::clone(&value.terms)) });
        self.slot_of[new] = slots.len() - 1;
        let passing =
            Passing { from: from as u64, to: self.slot_of[new] as u64, keeps: true, adds: false };
        self.local(at, passing, self.execution.values[own].what);
    }

    /// What is done within a GPU: in a step of the host's in which nothing is sent, together with
    /// what others do meanwhile.
    fn local(&mut self, at: At, passing: Passing, what: u64) {
        let next = self.touched.entry((at.gpu, what)).or_insert(self.since);
        if *next == self.batches.len() {
            self.batches.push(Batch::default());
        }
        self.batches[*next].0.push((at, at.gpu, at.gpu, BTreeMap::from([(passing, vec![what])])));
        *next += 1;
    }

    fn added(&mut self, at: At, list: &[(Id, Id, Id)]) {
        for (more, to, new) in list {
            if self.read(*to) {
                self.apart(at, *to, *new);
            } else {
                self.becomes(*to, *new);
            }
            let from = self.slot_of[*more];
            let keeps = self.read(*more);
            if !keeps {
                self.slot(*more).has = None;
            }
            let passing =
                Passing { from: from as u64, to: self.slot_of[*new] as u64, keeps, adds: true };
            self.local(at, passing, self.execution.values[*new].what);
        }
    }

    /// Results go home.
    fn results(&mut self) {
        for id in &self.execution.results {
            let value = &self.execution.values[*id];
            let from = self.slot_of[*id] as u64;
            if from > 0 {
                let at = At { gpu: value.gpu, ..At::default() };
                self.local(at, Passing { from, to: 0, keeps: false, adds: false }, value.what);
            }
        }
    }
}
