//! The algorithm carried out with names instead of data: which block, or whose contributions to
//! which sum, every chunk of every buffer has when.

use super::order::Order;
use super::shape::Shape;
use super::{At, wrong};
use std::collections::HashMap;
use std::rc::Rc;
use swapmeet_interchange::msccl::{Kind, Place, Program};
use swapmeet_sdk::Stop;

/// A value, as [`Execution::values`] counts them.
pub(super) type Id = usize;

/// What is written to one chunk of a buffer, or only passed on.
#[derive(Clone)]
pub(super) struct Value {
    pub(super) gpu: u64,
    /// Which block, or which sum ([`Shape::name`]).
    pub(super) what: u64,
    /// Whose contributions are in it: a bit for each GPU; none where nothing is summed.
    pub(super) terms: Rc<[u64]>,
    /// How often it is read.
    pub(super) reads: u32,
}

/// What happens, in order.
pub(super) enum Act {
    /// A message goes in this step: what is sent, what of the receiver's own is added to it, what
    /// it has then.
    Message { step: u64, sender: At, receiver: At, chunks: Vec<Passed> },
    /// Values of a GPU are copied: which, and what they are then.
    Copied(Vec<(Id, Id)>),
    /// Values of a GPU are added to others: which, to which, and what they are then.
    Added(At, Vec<(Id, Id, Id)>),
}

/// One chunk of a message.
#[derive(Clone, Copy)]
pub(super) struct Passed {
    pub(super) sent: Id,
    pub(super) added: Option<Id>,
    pub(super) arrived: Id,
}

/// What comes of the algorithm.
pub(super) struct Execution {
    pub(super) values: Vec<Value>,
    pub(super) acts: Vec<Act>,
    /// What each GPU begins with.
    pub(super) own: Vec<Id>,
    /// What it ends with, where something is asked of it.
    pub(super) results: Vec<Id>,
    /// What is wrong with what it ends with.
    pub(super) wrong: Option<Stop>,
}

pub(super) fn execute(
    program: &Program,
    shape: &Shape,
    order: &Order<'_>,
) -> Result<Execution, Stop> {
    let mut run = Run { shape, values: Vec::new(), at: HashMap::new(), terms: HashMap::new() };
    let mut own = Vec::new();
    for gpu in 0..shape.gpus {
        let terms = run.own_terms(gpu);
        for (chunk, what) in shape.begins_with(gpu) {
            let id = run.value(gpu, what, Rc::clone(&terms));
            run.at.insert((gpu, chunk), id);
            own.push(id);
        }
    }
    // What an operation has received, and what one has sent that is not received yet.
    let mut received: HashMap<usize, Vec<Id>> = HashMap::new();
    let mut on_its_way: HashMap<usize, Vec<Id>> = HashMap::new();
    let mut acts = Vec::new();
    for (step, part) in &order.parts {
        let (at, op) = order.ops[part.op];
        if op.kind.sends && (part.forwards || !op.kind.receives) {
            let sent = if part.forwards {
                received.remove(&part.op).unwrap_or_default()
            } else {
                run.read(at, op.kind, op.source, op.count)?
            };
            on_its_way.insert(part.op, sent);
        } else if op.kind.receives {
            let sender = order.sender_of[part.op].unwrap_or(part.op);
            let sent = on_its_way.remove(&sender).unwrap_or_default();
            let added =
                if op.kind.adds { Some(run.read(at, op.kind, op.source, op.count)?) } else { None };
            let mut chunks = Vec::new();
            for (i, sent) in sent.into_iter().enumerate() {
                let added = added.as_ref().map(|list| list[i]);
                let arrived = run.arrives(at, sent, added)?;
                chunks.push(Passed { sent, added, arrived });
            }
            let arrived: Vec<Id> = chunks.iter().map(|passed| passed.arrived).collect();
            if op.kind.stores {
                run.write(at, op.kind, op.target, &arrived)?;
            }
            if op.kind.sends {
                received.insert(part.op, arrived);
            }
            acts.push(Act::Message {
                step: *step,
                sender: order.ops[sender].0,
                receiver: at,
                chunks,
            });
        } else if op.kind == Kind::COPY {
            let copied: Vec<(Id, Id)> = run
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
            acts.push(Act::Copied(copied));
        } else if op.kind == Kind::ADD {
            let (more, to) = (
                run.read(at, op.kind, op.source, op.count)?,
                run.read(at, op.kind, op.target, op.count)?,
            );
            let mut added = Vec::new();
            for (more, to) in more.into_iter().zip(to) {
                if more == to {
                    return Err(wrong(at.line, format!("{at} adds a chunk to itself")));
                }
                added.push((more, to, run.arrives(at, more, Some(to))?));
            }
            run.write(
                at,
                op.kind,
                op.target,
                &added.iter().map(|(.., id)| *id).collect::<Vec<_>>(),
            )?;
            acts.push(Act::Added(at, added));
        }
    }
    let (results, wrong) = run.results(program);
    Ok(Execution { values: run.values, acts, own, results, wrong })
}

struct Run<'a> {
    shape: &'a Shape,
    values: Vec<Value>,
    /// What is in which chunk of which GPU.
    at: HashMap<(u64, u64), Id>,
    /// Sets of contributions, each once.
    terms: HashMap<Rc<[u64]>, Rc<[u64]>>,
}

impl Run<'_> {
    fn value(&mut self, gpu: u64, what: u64, terms: Rc<[u64]>) -> Id {
        self.values.push(Value { gpu, what, terms, reads: 0 });
        self.values.len() - 1
    }

    fn own_terms(&mut self, gpu: u64) -> Rc<[u64]> {
        if !self.shape.sums {
            return self.terms(Vec::new());
        }
        let mut words = vec![0; self.shape.gpus.div_ceil(64) as usize];
        words[(gpu / 64) as usize] = 1 << (gpu % 64);
        self.terms(words)
    }

    fn terms(&mut self, words: Vec<u64>) -> Rc<[u64]> {
        let words: Rc<[u64]> = words.into();
        Rc::clone(self.terms.entry(Rc::clone(&words)).or_insert(words))
    }

    /// What is in the chunks that a step names.
    fn read(&mut self, at: At, kind: Kind, place: Place, count: u64) -> Result<Vec<Id>, Stop> {
        let chunks = self.shape.chunks(at, kind, place, count)?;
        let list = (0..).zip(chunks).map(|(i, chunk)| {
            let from = Place { offset: place.offset + i, ..place };
            self.at.get(&(at.gpu, chunk)).copied().ok_or_else(|| {
                wrong(
                    at.line,
                    format!("{at} ({}) reads {from}, to which nothing was written", kind.word),
                )
            })
        });
        list.collect()
    }

    fn write(&mut self, at: At, kind: Kind, place: Place, list: &[Id]) -> Result<(), Stop> {
        for (chunk, id) in self.shape.chunks(at, kind, place, list.len() as u64)?.zip(list) {
            self.at.insert((at.gpu, chunk), *id);
        }
        Ok(())
    }

    /// What a GPU has of what comes to it, or of one of its own that is added.
    fn arrives(&mut self, at: At, id: Id, added: Option<Id>) -> Result<Id, Stop> {
        self.values[id].reads += 1;
        let (what, mut terms) = (self.values[id].what, Rc::clone(&self.values[id].terms));
        if let Some(own) = added {
            if !self.shape.sums {
                return Err(wrong(
                    at.line,
                    format!("{at} adds, and in this collective nothing is summed"),
                ));
            }
            self.values[own].reads += 1;
            if self.values[own].what != what {
                let names = [what, self.values[own].what].map(|what| self.shape.name(what));
                return Err(wrong(at.line, format!("{at} adds {} to {}", names[0], names[1])));
            }
            let both = terms.iter().zip(&*self.values[own].terms).map(|(a, b)| a | b).collect();
            terms = self.terms(both);
        }
        Ok(self.value(at.gpu, what, terms))
    }

    /// What each GPU ends with, and the first that is not what it is to be.
    fn results(&mut self, program: &Program) -> (Vec<Id>, Option<Stop>) {
        let (mut results, mut first) = (Vec::new(), None);
        let all = self.shape.all_terms();
        for gpu in 0..self.shape.gpus {
            for (place, chunk, what) in self.shape.ends_with(gpu) {
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
                    Some(value) if value.what != what => self.shape.name(value.what),
                    Some(value) => {
                        let has =
                            |gpu: &u64| value.terms[(gpu / 64) as usize] >> (gpu % 64) & 1 == 1;
                        let missing =
                            (0..self.shape.gpus).find(|gpu| !has(gpu)).unwrap_or_default();
                        format!("{} without GPU {missing}'s contribution", self.shape.name(what))
                    }
                };
                first.get_or_insert_with(|| {
                    let line = program.gpus[gpu as usize].line;
                    wrong(
                        line,
                        format!(
                            "GPU {gpu} ends with {has} in {place}, expected {}",
                            self.shape.name(what)
                        ),
                    )
                });
            }
        }
        (results, first)
    }
}
