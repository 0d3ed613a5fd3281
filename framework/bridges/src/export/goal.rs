//! GOAL text, as LogGOPSim and ATLAHS read it (`txt2bin.re` of LogGOPSim is the grammar).
//!
//! A rank begins a step once it has ended the one before: its sends and receives of a step wait for
//! a `calc` of no time that waits for those of the step before, so that there are as many
//! dependencies as operations. Between ranks only messages wait, told apart by the step's number.
//!
//! For a machine with `order=data` a rank makes its sends one after another, and one that passes on
//! what came to it waits, by a `calc`, for all that its rank receives up to the step in which the
//! last of it came; receives wait for nothing.

use super::spool::{Piece, Spool};
use super::{Export, Folder, Message, Step, unwritten};
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::Write as _;
use swapmeet_interchange::schedule::Head;

pub(super) const FILE: &str = "schedule.goal";

pub(super) struct Goal {
    folder: Folder,
    spool: Spool,
    ranks: Vec<Rank>,
    text: String,
    /// Whether sends wait for data alone.
    by_data: bool,
}

/// How many labels of each kind a rank has used.
#[derive(Clone, Default)]
struct Rank {
    /// The step in which it last did something.
    step: u64,
    sends: u64,
    receives: u64,
    joins: u64,
    /// The first send and the first receive of that step.
    since: (u64, u64),
    /// With `order=data`: the steps of the receives that no `calc` has joined.
    open: VecDeque<u64>,
}

impl Goal {
    pub(super) fn new(head: &Head, folder: Folder) -> Result<Self, String> {
        let spool = Spool::new(&folder.0, head.nodes).map_err(unwritten)?;
        let ranks = vec![Rank::default(); head.nodes as usize];
        let by_data = head.machine.split([':', ',']).any(|word| word == "order=data");
        Ok(Self { folder, spool, ranks, text: String::new(), by_data })
    }

    /// A send or receive of a rank in this step, where sends wait for data alone.
    fn by_data(
        &mut self,
        rank: u64,
        step: u64,
        (is_send, peer): (bool, u64),
        message: &Message,
    ) -> Result<(), String> {
        let known =
            self.ranks.get_mut(rank as usize).ok_or_else(|| format!("there is no rank {rank}"))?;
        self.text.clear();
        let (text, bytes) = (&mut self.text, message.bytes.max(1));
        if !is_send {
            known.receives += 1;
            known.open.push_back(step);
            let _ = writeln!(text, "r{}: recv {bytes}b from {peer} tag {step}", known.receives);
            return self.spool.append(rank, self.text.as_bytes()).map_err(unwritten);
        }
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
        known.sends += 1;
        let send = known.sends;
        let _ = writeln!(text, "s{send}: send {bytes}b to {peer} tag {step}");
        if send > 1 {
            let _ = writeln!(text, "s{send} irequires s{}", send - 1);
        }
        if joined > 0 {
            let _ = writeln!(text, "s{send} requires j{}", known.joins);
        }
        self.spool.append(rank, self.text.as_bytes()).map_err(unwritten)
    }

    /// One operation of a rank in this step.
    fn operation(
        &mut self,
        rank: u64,
        step: u64,
        is_send: bool,
        peer: u64,
        bytes: u64,
    ) -> Result<(), String> {
        let known =
            self.ranks.get_mut(rank as usize).ok_or_else(|| format!("there is no rank {rank}"))?;
        // Labels are written before they are named, or `txt2bin` refuses them.
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
        // LogGOPSim counts G for all bytes but one: a message of none would come out as one of 2^64
        // - 1.
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
        self.spool.append(rank, self.text.as_bytes()).map_err(unwritten)
    }
}

impl Export for Goal {
    fn step(&mut self, step: &Step) -> Result<(), String> {
        if step.number > u64::from(u32::MAX) {
            return Err("it has over 2^32 - 1 steps, more than GOAL has tags".to_owned());
        }
        for (is_send, message) in
            [true, false].into_iter().flat_map(|is| step.messages.iter().map(move |m| (is, m)))
        {
            let (rank, peer) =
                if is_send { (message.from, message.to) } else { (message.to, message.from) };
            if self.by_data {
                self.by_data(rank, step.number, (is_send, peer), message)?;
            } else {
                self.operation(rank, step.number, is_send, peer, message.bytes)?;
            }
        }
        Ok(())
    }

    fn finish(self: Box<Self>, _: &[(&str, String)]) -> Result<(), String> {
        let mut out = self.folder.create(FILE)?;
        let write = || {
            writeln!(out, "num_ranks {}", self.ranks.len())?;
            self.spool.finish(|rank, piece| match piece {
                Piece::Begin => write!(out, "\nrank {rank} {{\n"),
                Piece::Text(text) => out.write_all(text),
                Piece::End => writeln!(out, "}}"),
            })?;
            out.flush()
        };
        write().map_err(unwritten)
    }
}
