//! In which step each part of the algorithm takes place.
//!
//! A step of a thread block waits for the one before it and for the step that it names, a receive
//! for its message. Nobody waits to send: what arrives early waits at its receiver. A message that
//! a thread block sends and the one that it receives next go at once, as they do on hardware. From
//! these alone each send and receive has the earliest step that it can have; a wait in a circle is
//! a deadlock.

use super::{At, wrong};
use std::collections::BTreeMap;
use swapmeet_interchange::msccl::{Program, Step};
use swapmeet_sdk::Stop;

/// One step of a thread block, or the sending half of one that receives first.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    /// Its operation, as [`Order::ops`] counts them.
    pub(super) op: usize,
    /// Whether it is the half that sends, of an operation that receives first.
    pub(super) forwards: bool,
}

/// All operations, and when each part of them takes place.
pub(super) struct Order<'a> {
    /// All steps of all thread blocks.
    pub(super) ops: Vec<(At, &'a Step)>,
    /// For each operation that receives, the one that sends it what.
    pub(super) sender_of: Vec<Option<usize>>,
    /// Parts with their steps, in an order in which each follows all that it waits for. What is
    /// local takes place after a step's messages.
    pub(super) parts: Vec<(u64, Part)>,
}

/// What a part waits for, and how many steps later it is then at least.
type Waits = Vec<(usize, u64)>;

impl<'a> Order<'a> {
    pub(super) fn of(program: &'a Program) -> Result<Self, Stop> {
        let mut ops: Vec<(At, &Step)> = Vec::new();
        let mut first = Vec::new();
        for (gpu, blocks) in (0..).zip(&program.gpus) {
            let mut starts = Vec::new();
            for (block, steps) in (0..).zip(&blocks.blocks) {
                starts.push(ops.len());
                let at = |step: u64, line| At { gpu, block, step, line };
                ops.extend(
                    (0..).zip(&steps.steps).map(|(number, step)| (at(number, step.line), step)),
                );
            }
            first.push(starts);
        }
        let sender_of = matched(program, &ops)?;
        let mut waits: Vec<Waits> = vec![Vec::new(); 2 * ops.len()];
        // An operation has ended with its last part.
        let last = |op: usize| 2 * op + usize::from(forwards(ops[op].1));
        for (op, (at, step)) in ops.iter().enumerate() {
            let moves = u64::from(step.kind.receives || step.kind.sends);
            let of_it = &mut waits[2 * op];
            if at.step > 0 {
                let before = ops[op - 1].1.kind;
                let at_once = step.kind.receives && before.sends;
                of_it.push((last(op - 1), if at_once { 0 } else { moves }));
            }
            if let Some((block, number)) = step.after {
                let gpu = &program.gpus[at.gpu as usize];
                let there = gpu
                    .blocks
                    .get(block as usize)
                    .is_some_and(|block| number < block.steps.len() as u64);
                if !there {
                    let what = format!(
                        "{at} waits for thread block {block}, step {number}, expected one that there is"
                    );
                    return Err(wrong(at.line, what));
                }
                of_it.push((last(first[at.gpu as usize][block as usize] + number as usize), moves));
            }
            if let Some(sender) = sender_of[op] {
                of_it.push((last(sender), 0));
            }
            if forwards(step) {
                waits[2 * op + 1].push((2 * op, 1));
            }
        }
        let (sequence, levels) = sorted(&waits, &ops)?;
        let part = |at: usize| Part { op: at / 2, forwards: at % 2 == 1 };
        let there = sequence
            .into_iter()
            .map(|at| (levels[at], part(at)))
            .filter(|(_, p)| !p.forwards || forwards(ops[p.op].1));
        let mut parts: Vec<(u64, Part)> = there.collect();
        // Sends take what is there before a step, receives bring what is there after it.
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

/// For each operation that receives the one that sends: on a channel between two GPUs the k-th send
/// is what the k-th receive takes.
fn matched(program: &Program, ops: &[(At, &Step)]) -> Result<Vec<Option<usize>>, Stop> {
    #[derive(Default)]
    struct Line {
        sends: Vec<usize>,
        receives: Vec<usize>,
    }
    let mut lines: BTreeMap<(u64, u64, u64), Line> = BTreeMap::new();
    for (op, (at, step)) in ops.iter().enumerate() {
        let block = &program.gpus[at.gpu as usize].blocks[at.block as usize];
        let peer = |peer: Option<u64>, does: &str, key: &str| match peer {
            Some(peer) if peer == at.gpu => Err(wrong(block.line, format!("{at} {does} itself"))),
            Some(peer) if peer < program.gpus.len() as u64 => Ok(peer),
            Some(peer) => Err(wrong(
                block.line,
                format!("{key}=\"{peer}\", expected a GPU below {}", program.gpus.len()),
            )),
            None => Err(wrong(
                at.line,
                format!("{at} {does} nobody: its thread block has {key}=\"-1\""),
            )),
        };
        if step.kind.sends {
            let to = peer(block.send, "sends", "send")?;
            lines.entry((at.gpu, to, block.channel)).or_default().sends.push(op);
        }
        if step.kind.receives {
            let from = peer(block.receive, "receives from", "recv")?;
            lines.entry((from, at.gpu, block.channel)).or_default().receives.push(op);
        }
    }
    let mut sender_of = vec![None; ops.len()];
    for ((from, to, channel), line) in &lines {
        for (list, does) in [(&line.sends, "send"), (&line.receives, "receive")] {
            let Some(first) = list.first().map(|op| ops[*op].0) else { continue };
            if let Some((other, _)) =
                list.iter().map(|op| ops[*op]).find(|(at, _)| at.block != first.block)
            {
                let what = format!(
                    "{other} and {first} both {does} on channel {channel} between GPUs {from} and {to}, expected one thread block there"
                );
                return Err(wrong(other.line, what));
            }
        }
        let (sends, receives) = (line.sends.len(), line.receives.len());
        if sends != receives {
            let op = if sends > receives { line.sends[receives] } else { line.receives[sends] };
            let (at, _) = ops[op];
            let does = if sends > receives {
                "sends what nobody receives"
            } else {
                "receives what nobody sends"
            };
            let what = format!(
                "{at} {does}: on channel {channel} GPU {from} sends {sends} times to GPU {to}, which receives {receives} times, expected as often"
            );
            return Err(wrong(at.line, what));
        }
        for (send, receive) in line.sends.iter().zip(&line.receives) {
            let ((sent, s), (received, r)) = (ops[*send], ops[*receive]);
            if s.count != r.count {
                let what = format!(
                    "{received} receives {} chunks, expected the {} that {sent} (line {}) sends",
                    r.count, s.count, sent.line
                );
                return Err(wrong(received.line, what));
            }
            sender_of[*receive] = Some(*send);
        }
    }
    Ok(sender_of)
}

/// Parts in an order in which each follows all that it waits for, and the earliest step of each; or
/// who waits for whom in a circle.
fn sorted(waits: &[Waits], ops: &[(At, &Step)]) -> Result<(Vec<usize>, Vec<u64>), Stop> {
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        Not,
        Open,
        Done,
    }
    let (mut seen, mut sequence, mut levels) =
        (vec![Seen::Not; waits.len()], Vec::new(), vec![0; waits.len()]);
    for root in 0..waits.len() {
        // What is looked at, each waiting for the one after it, and which of its waits is next.
        let mut open: Vec<(usize, usize)> = Vec::new();
        if seen[root] == Seen::Not {
            seen[root] = Seen::Open;
            open.push((root, 0));
        }
        while let Some((part, next)) = open.last_mut() {
            let Some((other, _)) = waits[*part].get(*next) else {
                let kind = ops[*part / 2].1.kind;
                let earliest = u64::from(kind.receives || kind.sends);
                let after = waits[*part].iter().map(|(other, more)| levels[*other] + more);
                levels[*part] = after.max().unwrap_or(0).max(earliest);
                seen[*part] = Seen::Done;
                sequence.push(*part);
                open.pop();
                continue;
            };
            *next += 1;
            match seen[*other] {
                Seen::Done => {}
                Seen::Not => {
                    seen[*other] = Seen::Open;
                    let other = *other;
                    open.push((other, 0));
                }
                Seen::Open => {
                    let begun = open.iter().position(|(part, _)| part == other).unwrap_or(0);
                    let mut circle: Vec<At> =
                        open[begun..].iter().map(|(part, _)| ops[part / 2].0).collect();
                    circle.dedup();
                    return Err(deadlock(&circle));
                }
            }
        }
    }
    Ok((sequence, levels))
}

fn deadlock(circle: &[At]) -> Stop {
    /// How many of a circle are named.
    const NAMED: usize = 6;
    let named: Vec<String> =
        circle.iter().take(NAMED).map(|at| format!("{at} (line {})", at.line)).collect();
    let rest = match circle.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(", and so on through {more} more"),
    };
    let first = circle.first().copied().unwrap_or_default();
    let what = format!(
        "deadlock: {} waits for {}{rest}, which waits for the first",
        named[0],
        match &named[1..] {
            [] => "itself".to_owned(),
            others => others.join(", which waits for "),
        }
    );
    wrong(first.line, what)
}
