//! The step of the schedule for each part of an operation. In the file, a thread block is a list of
//! operations. An operation waits for the one before it in the thread block, for the one that it
//! names as its dependency and, if it receives, for its message. Sends do not wait for the
//! receiver. If an operation sends and the next operation of the thread block receives, both can
//! happen in the same step, as on hardware. These rules determine the earliest step of the schedule
//! for each send and receive. A cycle of waits is a deadlock.

use super::{StepLocation, invalid};
use std::collections::BTreeMap;
use swapmeet_interchange::msccl::{Program, Step};
use swapmeet_sdk::Stop;

/// A part of an operation. An operation that receives and then sends has two parts; all others have
/// one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct OperationPart {
    pub(super) op: usize,
    pub(super) forwards: bool,
}

pub(super) struct Order<'a> {
    pub(super) ops: Vec<(StepLocation, &'a Step)>,
    pub(super) sender_of: Vec<Option<usize>>,
    /// Each part with its step. Within a step, local operations follow the messages.
    pub(super) parts: Vec<(u64, OperationPart)>,
}

/// The parts that a part waits for. For each, the number is the smallest number of steps between
/// the two.
type Waits = Vec<(usize, u64)>;

impl<'a> Order<'a> {
    pub(super) fn new(program: &'a Program) -> Result<Self, Stop> {
        let mut ops: Vec<(StepLocation, &Step)> = Vec::new();
        let mut first = Vec::new();
        for (gpu, blocks) in (0..).zip(&program.gpus) {
            let mut starts = Vec::new();
            for (block, steps) in (0..).zip(&blocks.blocks) {
                starts.push(ops.len());
                let at = |step: u64, line| StepLocation { gpu, block, step, line };
                ops.extend(
                    (0..).zip(&steps.steps).map(|(number, step)| (at(number, step.line), step)),
                );
            }
            first.push(starts);
        }
        let sender_of = match_messages(program, &ops)?;
        let mut waits: Vec<Waits> = vec![Vec::new(); 2 * ops.len()];
        let last = |op: usize| 2 * op + usize::from(forwards(ops[op].1));
        for (op, (at, step)) in ops.iter().enumerate() {
            let moves = u64::from(step.kind.receives || step.kind.sends);
            let own_waits = &mut waits[2 * op];
            if at.step > 0 {
                let before = ops[op - 1].1.kind;
                let at_once = step.kind.receives && before.sends;
                own_waits.push((last(op - 1), if at_once { 0 } else { moves }));
            }
            if let Some((block, number)) = step.dependency {
                let gpu = &program.gpus[at.gpu as usize];
                let there = gpu
                    .blocks
                    .get(block as usize)
                    .is_some_and(|block| number < block.steps.len() as u64);
                if !there {
                    let what = format!(
                        "{at} waits for thread block {block}, step {number}, which does not exist"
                    );
                    return Err(invalid(at.line, what));
                }
                own_waits
                    .push((last(first[at.gpu as usize][block as usize] + number as usize), moves));
            }
            if let Some(sender) = sender_of[op] {
                own_waits.push((last(sender), 0));
            }
            if forwards(step) {
                waits[2 * op + 1].push((2 * op, 1));
            }
        }
        let (sequence, levels) = sort_parts(&waits, &ops)?;
        let part = |at: usize| OperationPart { op: at / 2, forwards: at % 2 == 1 };
        let there = sequence
            .into_iter()
            .map(|at| (levels[at], part(at)))
            .filter(|(_, p)| !p.forwards || forwards(ops[p.op].1));
        let mut parts: Vec<(u64, OperationPart)> = there.collect();
        parts.sort_by_key(|(level, part)| {
            let kind = ops[part.op].1.kind;
            let turn = match (kind.receives && !part.forwards, kind.sends) {
                (true, _) => 1,
                (false, true) => 0,
                (false, false) => 2,
            };
            (*level, turn)
        });
        Ok(Self { ops, sender_of, parts })
    }
}

fn forwards(step: &Step) -> bool {
    step.kind.receives && step.kind.sends
}

/// Matches the k-th send on each channel between two GPUs with the k-th receive on it.
fn match_messages(
    program: &Program,
    ops: &[(StepLocation, &Step)],
) -> Result<Vec<Option<usize>>, Stop> {
    #[derive(Default)]
    struct ChannelUse {
        sends: Vec<usize>,
        receives: Vec<usize>,
    }
    let mut channels: BTreeMap<(u64, u64, u64), ChannelUse> = BTreeMap::new();
    for (op, (at, step)) in ops.iter().enumerate() {
        let block = &program.gpus[at.gpu as usize].blocks[at.block as usize];
        let peer = |peer: Option<u64>, key: &str| match peer {
            Some(peer) if peer == at.gpu => {
                Err(invalid(block.line, format!("{at}: its thread block has its own GPU as {key}")))
            }
            Some(peer) if peer < program.gpus.len() as u64 => Ok(peer),
            Some(peer) => Err(invalid(
                block.line,
                format!("{key}=\"{peer}\", expected a GPU below {}", program.gpus.len()),
            )),
            None => Err(invalid(
                at.line,
                format!("{at} has no partner: its thread block has {key}=\"-1\""),
            )),
        };
        if step.kind.sends {
            let to = peer(block.send, "send")?;
            channels.entry((at.gpu, to, block.channel)).or_default().sends.push(op);
        }
        if step.kind.receives {
            let from = peer(block.receive, "recv")?;
            channels.entry((from, at.gpu, block.channel)).or_default().receives.push(op);
        }
    }
    let mut sender_of = vec![None; ops.len()];
    for ((from, to, channel), line) in &channels {
        for (list, does) in [(&line.sends, "send"), (&line.receives, "receive")] {
            let Some(first) = list.first().map(|op| ops[*op].0) else { continue };
            if let Some((other, _)) =
                list.iter().map(|op| ops[*op]).find(|(at, _)| at.block != first.block)
            {
                let what = format!(
                    "{other} and {first} both {does} on channel {channel} between GPUs {from} and {to}, expected one thread block there"
                );
                return Err(invalid(other.line, what));
            }
        }
        let (sends, receives) = (line.sends.len(), line.receives.len());
        if sends != receives {
            let op = if sends > receives { line.sends[receives] } else { line.receives[sends] };
            let (at, _) = ops[op];
            let does =
                if sends > receives { "has no matching receive" } else { "has no matching send" };
            let what = format!(
                "{at} {does}: on channel {channel} GPU {from} sends {sends} times to GPU {to}, which receives {receives} times"
            );
            return Err(invalid(at.line, what));
        }
        for (send, receive) in line.sends.iter().zip(&line.receives) {
            let ((sent, s), (received, r)) = (ops[*send], ops[*receive]);
            if s.count != r.count {
                let what = format!(
                    "{received} receives {} chunks, expected the {} that {sent} (line {}) sends",
                    r.count, s.count, sent.line
                );
                return Err(invalid(received.line, what));
            }
            sender_of[*receive] = Some(*send);
        }
    }
    Ok(sender_of)
}

/// Returns the parts in topological order, with their earliest steps. The error names the parts of
/// a cycle.
fn sort_parts(
    waits: &[Waits],
    ops: &[(StepLocation, &Step)],
) -> Result<(Vec<usize>, Vec<u64>), Stop> {
    #[derive(Clone, Copy, PartialEq)]
    enum VisitState {
        Unvisited,
        Open,
        Finished,
    }
    let (mut seen, mut sequence, mut levels) =
        (vec![VisitState::Unvisited; waits.len()], Vec::new(), vec![0; waits.len()]);
    for root in 0..waits.len() {
        // The stack of a depth-first search. Each part in it waits for the part after it. The
        // second number is the index of the wait that is visited next.
        let mut open: Vec<(usize, usize)> = Vec::new();
        if seen[root] == VisitState::Unvisited {
            seen[root] = VisitState::Open;
            open.push((root, 0));
        }
        while let Some((part, next)) = open.last_mut() {
            let Some((other, _)) = waits[*part].get(*next) else {
                let kind = ops[*part / 2].1.kind;
                let earliest = u64::from(kind.receives || kind.sends);
                let after = waits[*part].iter().map(|(other, more)| levels[*other] + more);
                levels[*part] = after.max().unwrap_or(0).max(earliest);
                seen[*part] = VisitState::Finished;
                sequence.push(*part);
                open.pop();
                continue;
            };
            *next += 1;
            match seen[*other] {
                VisitState::Finished => {}
                VisitState::Unvisited => {
                    seen[*other] = VisitState::Open;
                    let other = *other;
                    open.push((other, 0));
                }
                VisitState::Open => {
                    let begun = open.iter().position(|(part, _)| part == other).unwrap_or(0);
                    let mut cycle: Vec<StepLocation> =
                        open[begun..].iter().map(|(part, _)| ops[part / 2].0).collect();
                    cycle.dedup();
                    return Err(deadlock(&cycle));
                }
            }
        }
    }
    Ok((sequence, levels))
}

fn deadlock(cycle: &[StepLocation]) -> Stop {
    const MAX_NAMED: usize = 6;
    let named: Vec<String> =
        cycle.iter().take(MAX_NAMED).map(|at| format!("{at} (line {})", at.line)).collect();
    let rest = match cycle.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        more => format!(", and so on through {more} more"),
    };
    let first = cycle.first().copied().unwrap_or_default();
    let what = format!(
        "deadlock: {} waits for {}{rest}, which waits for the first",
        named[0],
        match &named[1..] {
            [] => "itself".to_owned(),
            others => others.join(", which waits for "),
        }
    );
    invalid(first.line, what)
}
