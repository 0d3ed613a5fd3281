//! The language GOAL (`txt2bin.re` of LogGOPSim), which LogGOPSim and ATLAHS read. The tag of a
//! message is its step.
//!
//! A rank begins a step when it has finished its previous one. A `calc` operation without duration
//! separates the two: it waits for all operations of the previous step, and the operations of the
//! next step wait for it. So the number of dependencies is proportional to the number of
//! operations.
//!
//! With `order=data`, the sends of a rank start in order, and its receives wait for nothing. A send
//! that forwards data waits for a `calc` operation. This operation waits for all receives up to the
//! step in which the last of the data arrived.

use super::spool::{Spool, SpoolItem, state_of};
use super::{Export, ExportError, Message, OutputFolder, Step};
use std::collections::VecDeque;
use std::io::Write as _;
use swapmeet_interchange::append;
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

#[derive(Clone, Default)]
struct Rank {
    step: u64,
    sends: u64,
    receives: u64,
    joins: u64,
    /// The values of `sends` and `receives` before the step with the number in `step`.
    since: (u64, u64),
    /// With `order=data`, the steps of the receives for which no `calc` waits yet.
    open: VecDeque<u64>,
}

impl Goal {
    pub(super) fn new(head: &Header, folder: OutputFolder) -> Result<Self, ExportError> {
        let spool = Spool::new(&folder.0, head.nodes)?;
        let ranks = vec![Rank::default(); head.nodes as usize];
        let is_data_ordered = head.machine.split([':', ',']).any(|word| word == "order=data");
        Ok(Self { folder, spool, ranks, text: String::new(), is_data_ordered })
    }

    fn data_ordered_operation(
        &mut self,
        rank: u64,
        step: u64,
        (is_send, peer): (bool, u64),
        message: &Message,
    ) -> Result<(), ExportError> {
        let known = state_of(&mut self.ranks, rank)?;
        self.text.clear();
        let (text, bytes) = (&mut self.text, message.bytes.max(1));
        // A receive starts at once. It remains in `open` until a `calc` waits for it.
        if !is_send {
            known.receives += 1;
            known.open.push_back(step);
            append_operation(text, (false, known.receives), peer, bytes, step);
            return Ok(self.spool.append(rank, self.text.as_bytes())?);
        }
        // A send waits for a join, a `calc` without duration, which waits for the previous join and
        // for the receives up to `message.after` since then.
        let joined = known.open.iter().take_while(|step| **step <= message.after).count() as u64;
        if joined > 0 {
            known.joins += 1;
            let (join, first) = (known.joins, known.receives - known.open.len() as u64);
            append!(text, "j", join, ": calc 0\n");
            for receive in first + 1..=first + joined {
                append!(text, "j", join, " requires r", receive, "\n");
            }
            if join > 1 {
                append!(text, "j", join, " requires j", join - 1, "\n");
            }
            known.open.drain(..joined as usize);
        }
        // The sends of a rank start in order (`irequires`), but can end in any order.
        known.sends += 1;
        let send = known.sends;
        append_operation(text, (true, send), peer, bytes, step);
        if send > 1 {
            append!(text, "s", send, " irequires s", send - 1, "\n");
        }
        if joined > 0 {
            append!(text, "s", send, " requires j", known.joins, "\n");
        }
        Ok(self.spool.append(rank, self.text.as_bytes())?)
    }

    fn operation(
        &mut self,
        rank: u64,
        step: u64,
        is_send: bool,
        peer: u64,
        bytes: u64,
    ) -> Result<(), ExportError> {
        let known = state_of(&mut self.ranks, rank)?;
        // `txt2bin` requires that a label is defined before it is used.
        self.text.clear();
        let text = &mut self.text;
        if known.step != step {
            if known.step > 0 {
                known.joins += 1;
                let join = known.joins;
                append!(text, "j", join, ": calc 0\n");
                for send in known.since.0 + 1..=known.sends {
                    append!(text, "j", join, " requires s", send, "\n");
                }
                for receive in known.since.1 + 1..=known.receives {
                    append!(text, "j", join, " requires r", receive, "\n");
                }
            }
            known.step = step;
            known.since = (known.sends, known.receives);
        }
        // LogGOPSim charges G only for `bytes - 1` bytes, so an empty message is sent as one byte.
        let bytes = bytes.max(1);
        let count = if is_send { &mut known.sends } else { &mut known.receives };
        *count += 1;
        append_operation(text, (is_send, *count), peer, bytes, step);
        if known.joins > 0 {
            let letter = if is_send { "s" } else { "r" };
            append!(text, letter, *count, " requires j", known.joins, "\n");
        }
        Ok(self.spool.append(rank, self.text.as_bytes())?)
    }
}

/// If it is a send, `number` counts the sends of the rank, otherwise its receives.
fn append_operation(
    text: &mut String,
    (is_send, number): (bool, u64),
    peer: u64,
    bytes: u64,
    step: u64,
) {
    let [letter, word, to] = if is_send { ["s", "send", "to"] } else { ["r", "recv", "from"] };
    append!(text, letter, number, ": ", word, " ", bytes, "b ", to, " ", peer, " tag ", step, "\n");
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
