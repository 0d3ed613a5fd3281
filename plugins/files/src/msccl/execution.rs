//! Executes an algorithm with names instead of data. For each chunk, the executor knows the block
//! in it, or the sum in it with its contributions.

use super::buffers::Buffers;
use super::order::Order;
use super::{StepLocation, invalid};
use std::collections::HashMap;
use std::rc::Rc;
use swapmeet_interchange::msccl::{ChunkLocation, Program, StepKind};
use swapmeet_sdk::Stop;

pub(super) type ValueId = usize;

/// A value that is written to a chunk, or only passed on to another GPU.
#[derive(Clone)]
pub(super) struct NamedValue {
    pub(super) gpu: u64,
    pub(super) what: u64,
    /// The contributing GPUs, as bits; empty if the collective has no sums.
    pub(super) terms: Rc<[u64]>,
    pub(super) reads: u32,
}

pub(super) enum Action {
    Message {
        step: u64,
        sender: StepLocation,
        receiver: StepLocation,
        chunks: Vec<MessageChunk>,
    },
    /// For each copied value, the source and the new value.
    Copied(Vec<(ValueId, ValueId)>),
    /// The operation and, for each addition, the source, the value to which it is added, and the
    /// new value.
    Added(StepLocation, Vec<(ValueId, ValueId, ValueId)>),
}

/// A chunk of a message: the sent value, the value of the receiver to which it is added, if any,
/// and the result.
#[derive(Clone, Copy)]
pub(super) struct MessageChunk {
    pub(super) sent: ValueId,
    pub(super) added: Option<ValueId>,
    pub(super) arrived: ValueId,
}

pub(super) struct Execution {
    pub(super) values: Vec<NamedValue>,
    pub(super) actions: Vec<Action>,
    pub(super) initial: Vec<ValueId>,
    /// The final values. Missing and wrong values are left out.
    pub(super) results: Vec<ValueId>,
    pub(super) wrong: Option<Stop>,
}

pub(super) fn execute(
    program: &Program,
    buffers: &Buffers,
    order: &Order<'_>,
) -> Result<Execution, Stop> {
    let mut run =
        Executor { buffers, values: Vec::new(), at: HashMap::new(), terms: HashMap::new() };
    let mut initial = Vec::new();
    for gpu in 0..buffers.gpus {
        let terms = run.own_terms(gpu);
        for (chunk, what) in buffers.begins_with(gpu) {
            let id = run.value(gpu, what, Rc::clone(&terms));
            run.at.insert((gpu, chunk), id);
            initial.push(id);
        }
    }
    let mut received: HashMap<usize, Vec<ValueId>> = HashMap::new();
    let mut in_flight: HashMap<usize, Vec<ValueId>> = HashMap::new();
    let mut actions = Vec::new();
    for (step, part) in &order.parts {
        let (at, op) = order.ops[part.op];
        if op.kind.sends && (part.forwards || !op.kind.receives) {
            let sent = if part.forwards {
                received.remove(&part.op).unwrap_or_default()
            } else {
                run.read(at, op.kind, op.source, op.count)?
            };
            in_flight.insert(part.op, sent);
        } else if op.kind.receives {
            let sender = order.sender_of[part.op].unwrap_or(part.op);
            let sent = in_flight.remove(&sender).unwrap_or_default();
            let added =
                if op.kind.adds { Some(run.read(at, op.kind, op.source, op.count)?) } else { None };
            let mut chunks = Vec::new();
            for (i, sent) in sent.into_iter().enumerate() {
                let added = added.as_ref().map(|list| list[i]);
                let arrived = run.receive(at, sent, added)?;
                chunks.push(MessageChunk { sent, added, arrived });
            }
            let arrived: Vec<ValueId> = chunks.iter().map(|chunk| chunk.arrived).collect();
            if op.kind.stores {
                run.write(at, op.kind, op.target, &arrived)?;
            }
            if op.kind.sends {
                received.insert(part.op, arrived);
            }
            actions.push(Action::Message {
                step: *step,
                sender: order.ops[sender].0,
                receiver: at,
                chunks,
            });
        } else if op.kind == StepKind::COPY {
            let copied: Vec<(ValueId, ValueId)> = run
                .read(at, op.kind, op.source, op.count)?
                .into_iter()
                .map(|id| {
                    (id, run.value(at.gpu, run.values[id].what, Rc::clone(&run.values[id].terms)))
                })
                .collect();
            run.write(
                at,
                op.kind,
                op.target,
                &copied.iter().map(|(_, id)| *id).collect::<Vec<_>>(),
            )?;
            copied.iter().for_each(|(id, _)| run.values[*id].reads += 1);
            actions.push(Action::Copied(copied));
        } else if op.kind == StepKind::ADD {
            let (more, to) = (
                run.read(at, op.kind, op.source, op.count)?,
                run.read(at, op.kind, op.target, op.count)?,
            );
            let mut added = Vec::new();
            for (more, to) in more.into_iter().zip(to) {
                if more == to {
                    return Err(invalid(at.line, format!("{at} adds a chunk to itself")));
                }
                added.push((more, to, run.receive(at, more, Some(to))?));
            }
            run.write(
                at,
                op.kind,
                op.target,
                &added.iter().map(|(.., id)| *id).collect::<Vec<_>>(),
            )?;
            actions.push(Action::Added(at, added));
        }
    }
    let (results, wrong) = run.results(program);
    Ok(Execution { values: run.values, actions, initial, results, wrong })
}

struct Executor<'a> {
    buffers: &'a Buffers,
    values: Vec<NamedValue>,
    at: HashMap<(u64, u64), ValueId>,
    /// Sets of contributions that are equal share their memory.
    terms: HashMap<Rc<[u64]>, Rc<[u64]>>,
}

impl Executor<'_> {
    fn value(&mut self, gpu: u64, what: u64, terms: Rc<[u64]>) -> ValueId {
        self.values.push(NamedValue { gpu, what, terms, reads: 0 });
        self.values.len() - 1
    }

    fn own_terms(&mut self, gpu: u64) -> Rc<[u64]> {
        if !self.buffers.sums {
            return self.terms(Vec::new());
        }
        let mut words = vec![0; self.buffers.gpus.div_ceil(64) as usize];
        words[(gpu / 64) as usize] = 1 << (gpu % 64);
        self.terms(words)
    }

    fn terms(&mut self, words: Vec<u64>) -> Rc<[u64]> {
        let words: Rc<[u64]> = words.into();
        Rc::clone(self.terms.entry(Rc::clone(&words)).or_insert(words))
    }

    fn read(
        &mut self,
        at: StepLocation,
        kind: StepKind,
        place: ChunkLocation,
        count: u64,
    ) -> Result<Vec<ValueId>, Stop> {
        let chunks = self.buffers.chunks(at, kind, place, count)?;
        let list = (0..).zip(chunks).map(|(i, chunk)| {
            let from = ChunkLocation { offset: place.offset + i, ..place };
            self.at.get(&(at.gpu, chunk)).copied().ok_or_else(|| {
                invalid(
                    at.line,
                    format!("{at} ({}) reads {from}, to which nothing was written", kind.word),
                )
            })
        });
        list.collect()
    }

    fn write(
        &mut self,
        at: StepLocation,
        kind: StepKind,
        place: ChunkLocation,
        list: &[ValueId],
    ) -> Result<(), Stop> {
        for (chunk, id) in self.buffers.chunks(at, kind, place, list.len() as u64)?.zip(list) {
            self.at.insert((at.gpu, chunk), *id);
        }
        Ok(())
    }

    /// Makes the value that results when a GPU receives `id` and, if `added` is given, adds it to
    /// this value of its own. Counts one read of each.
    fn receive(
        &mut self,
        at: StepLocation,
        id: ValueId,
        added: Option<ValueId>,
    ) -> Result<ValueId, Stop> {
        self.values[id].reads += 1;
        let (what, mut terms) = (self.values[id].what, Rc::clone(&self.values[id].terms));
        if let Some(initial) = added {
            if !self.buffers.sums {
                return Err(invalid(
                    at.line,
                    format!("{at} adds values in a collective without sums"),
                ));
            }
            self.values[initial].reads += 1;
            if self.values[initial].what != what {
                let names = [what, self.values[initial].what].map(|what| self.buffers.name(what));
                return Err(invalid(at.line, format!("{at} adds {} to {}", names[0], names[1])));
            }
            let both = terms.iter().zip(&*self.values[initial].terms).map(|(a, b)| a | b).collect();
            terms = self.terms(both);
        }
        Ok(self.value(at.gpu, what, terms))
    }

    fn results(&mut self, program: &Program) -> (Vec<ValueId>, Option<Stop>) {
        let (mut results, mut first) = (Vec::new(), None);
        let all = self.buffers.all_terms();
        for gpu in 0..self.buffers.gpus {
            for (place, chunk, what) in self.buffers.ends_with(gpu) {
                let found = self.at.get(&(gpu, chunk)).copied();
                let value = found.map(|id| &self.values[id]);
                if let (Some(id), true) =
                    (found, value.is_some_and(|value| value.what == what && *value.terms == *all))
                {
                    self.values[id].reads += 1;
                    results.push(id);
                    continue;
                }
                let has = match value {
                    None => "nothing".to_owned(),
                    Some(value) if value.what != what => self.buffers.name(value.what),
                    Some(value) => {
                        let has =
                            |gpu: &u64| value.terms[(gpu / 64) as usize] >> (gpu % 64) & 1 == 1;
                        let missing =
                            (0..self.buffers.gpus).find(|gpu| !has(gpu)).unwrap_or_default();
                        format!("{} without GPU {missing}'s contribution", self.buffers.name(what))
                    }
                };
                first.get_or_insert_with(|| {
                    let line = program.gpus[gpu as usize].line;
                    invalid(
                        line,
                        format!(
                            "GPU {gpu} ends with {has} in {place}, expected {}",
                            self.buffers.name(what)
                        ),
                    )
                });
            }
        }
        (results, first)
    }
}
