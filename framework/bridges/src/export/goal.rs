//! GOAL text, as LogGOPSim and ATLAHS read it (`txt2bin.re` of LogGOPSim is the grammar).
//!
//! A rank begins a step once it has ended the one before: its sends and receives of a step wait for a `calc` of no time that waits for those of
//! the step before, so that there are as many dependencies as operations. Between ranks only messages wait, told apart by the step's number.

use super::spool::{Piece, Spool};
use super::{Export, Folder, Step, unwritten};
use std::fmt::Write as _;
use std::io::Write as _;
use swapmeet_interchange::schedule::Head;

pub(super) const FILE: &str = "schedule.goal";

pub(super) struct Goal {
    folder: Folder,
    spool: Spool,
    ranks: Vec<Rank>,
    text: String,
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
}

impl Goal {
    pub(super) fn new(head: &Head, folder: Folder) -> Result<Self, String> {
        let spool = Spool::new(&folder.0, head.nodes).map_err(unwritten)?;
        Ok(Self { folder, spool, ranks: vec![Rank::default(); head.nodes as usize], text: String::new() })
    }

    /// One operation of a rank in this step.
    fn operation(&mut self, rank: u64, step: u64, is_send: bool, peer: u64, bytes: u64) -> Result<(), String> {
        let known = self.ranks.get_mut(rank as usize).ok_or_else(|| format!("there is no rank {rank}"))?;
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
        // LogGOPSim counts G for all bytes but one: a message of none would come out as one of 2^64 - 1.
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
        for message in &step.messages {
            self.operation(message.from, step.number, true, message.to, message.bytes)?;
        }
        for message in &step.messages {
            self.operation(message.to, step.number, false, message.from, message.bytes)?;
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
