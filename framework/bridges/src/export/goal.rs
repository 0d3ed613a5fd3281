//! GOAL text for LogGOPSim and ATLAHS. Its grammar is in `txt2bin.re` of LogGOPSim.
//!
//! A rank begins a step when it has finished its previous step. For this, the sends and receives of
//! a step wait for a `calc` that takes no time, and the `calc` waits for the sends and receives of
//! the previous step. The number of dependencies is thus proportional to the number of operations.
//! Ranks synchronise only by messages, whose tag is the step number.
//!
//! For a machine with `order=data`, a rank sends one message after another. A send that forwards
//! data waits for all receives up to the step in which the last of the data arrived, again by a
//! `calc`. Receives do not wait.

use super::spool::{Spool, SpoolItem};
use super::{Export, ExportError, Message, OutputFolder, Step};
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::Write as _;
use swapmeet_interchange::schedule::Header;

pub(super) const FILE: &str = "schedule.goal";

pub(super) struct Goal {
    folder: OutputFolder,
    spool: Spool,
    ranks: Vec<Rank>,
    text: String,
    /// Whether a send waits only for the data that it forwards (`order=data`).
    is_data_ordered: bool,
}

/// The state of a rank. `sends`, `receives` and `joins` are the numbers of labels used so far.
#[derive(Clone, Default)]
struct Rank {
    /// The last step in which the rank was active.
    step: u64,
    sends: u64,
    receives: u64,
    joins: u64,
    /// The numbers of sends and receives that preceded the step `step`.
    since: (u64, u64),
    /// With `order=data`: the step of each receive for which no `calc` waits yet.
    open: VecDeque<u64>,
}

impl Goal {
    pub(super) fn new(head: &Header, folder: OutputFolder) -> Result<Self, ExportError> {
        let spool = Spool::new(&folder.0, head.nodes)?;
        let ranks = vec![Rank::default(); head.nodes as usize];
        let is_data_ordered = head.machine.split([':', ',']).any(|word| word == "order=data");
        Ok(Self { folder, spool, ranks, text: String::new(), is_data_ordered })
    }

    /// Writes a send or receive of a machine with `order=data`.
    fn data_ordered_operation(
        &mut self,
        rank: u64,
        step: u64,
        (is_send, peer): (bool, u64),
        message: &Message,
    ) -> Result<(), ExportError> {
        let known =
            self.ranks.get_mut(rank as usize).ok_or_else(|| format!("there is no rank {rank}"))?;
        self.text.clear();
        let (text, bytes) = (&mut self.text, message.bytes.max(1));
        // A receive is posted at once. It remains in `open` until a send depends on it.
        if !is_send {
            known.receives += 1;
            known.open.push_back(step);
            let _ = writeln!(text, "r{}: recv {bytes}b from {peer} tag {step}", known.receives);
            return Ok(self.spool.append(rank, self.text.as_bytes())?);
        }
        // A send waits for the data that arrived before it. A join, which is a `calc`, waits for
        // those receives for which no earlier join waits. Thus the number of dependencies grows
        // linearly.
        let joined = known.open.iter().take_while(|step| **step <= message.after).count() as u64;
        if joined > 0 {
            known.joins += 1;
            let (join, first) = (known.joins, known.receives - known.open.len() as u64);
            let _ = writeln!(text, "j{join}: calc 0");
            for receive in first + 1..=first + joined {
                let _ = writeln!(text, "j{join} requires r{receive}");
            }
            if join > 1 {
                let _ = writeln!(text, "j{join} requires j{}", join - 1);
            }
            known.open.drain(..joined as usize);
        }
        // The sends of a rank start in order (`irequires`) and end in any order.
        known.sends += 1;
        let send = known.sends;
        let _ = writeln!(text, "s{send}: send {bytes}b to {peer} tag {step}");
        if send > 1 {
            let _ = writeln!(text, "s{send} irequires s{}", send - 1);
        }
        if joined > 0 {
            let _ = writeln!(text, "s{send} requires j{}", known.joins);
        }
        Ok(self.spool.append(rank, self.text.as_bytes())?)
    }

    /// Writes a send or receive that waits for the rank's previous step.
    fn operation(
        &mut self,
        rank: u64,
        step: u64,
        is_send: bool,
        peer: u64,
        bytes: u64,
    ) -> Result<(), ExportError> {
        let known =
            self.ranks.get_mut(rank as usize).ok_or_else(|| format!("there is no rank {rank}"))?;
        // `txt2bin` requires that a label is defined before it is used.
        self.text.clear();
        let text = &mut self.text;
        if known.step != step {
            if known.step > 0 {
                known.joins += 1;
                let join = known.joins;
                let _ = writeln!(text, "j{join}: calc 0");
                for send in known.since.0 + 1..=known.sends {
                    let _ = writeln!(text, "j{join} requires s{send}");
                }
                for receive in known.since.1 + 1..=known.receives {
                    let _ = writeln!(text, "j{join} requires r{receive}");
                }
            }
            known.step = step;
            known.since = (known.sends, known.receives);
        }
        // LogGOPSim charges G for all bytes except one. For an empty message this number would wrap
        // around to 2^64 - 1, so each message has at least one byte.
        let bytes = bytes.max(1);
        let (letter, number) = if is_send {
            known.sends += 1;
            let _ = writeln!(text, "s{}: send {bytes}b to {peer} tag {step}", known.sends);
            ('s', known.sends)
        } else {
            known.receives += 1;
            let _ = writeln!(text, "r{}: recv {bytes}b from {peer} tag {step}", known.receives);
            ('r', known.receives)
        };
        if known.joins > 0 {
            let _ = writeln!(text, "{letter}{number} requires j{}", known.joins);
        }
        Ok(self.spool.append(rank, self.text.as_bytes())?)
    }
}

impl Export for Goal {
    fn step(&mut self, step: &Step) -> Result<(), ExportError> {
        if step.number > u64::from(u32::MAX) {
            return Err("it has over 2^32 - 1 steps, more than GOAL has tags".into());
        }
        for (is_send, message) in
            [true, false].into_iter().flat_map(|is| step.messages.iter().map(move |m| (is, m)))
        {
            let (rank, peer) =
                if is_send { (message.from, message.to) } else { (message.to, message.from) };
            if self.is_data_ordered {
                self.data_ordered_operation(rank, step.number, (is_send, peer), message)?;
            } else {
                self.operation(rank, step.number, is_send, peer, message.bytes)?;
            }
        }
        Ok(())
    }

    fn finish(self: Box<Self>, _: &[(&str, String)]) -> Result<(), ExportError> {
        let mut out = self.folder.create(FILE)?;
        let write = || {
            writeln!(out, "num_ranks {}", self.ranks.len())?;
            self.spool.finish(|rank, piece| match piece {
                SpoolItem::Begin => write!(out, "\nrank {rank} {{\n"),
                SpoolItem::Text(text) => out.write_all(text),
                SpoolItem::End => writeln!(out, "}}"),
            })?;
            out.flush()
        };
        Ok(write()?)
    }
}
