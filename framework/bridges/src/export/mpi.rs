//! A schedule for real ranks: a text file, and the one C program that carries any such file out
//! under MPI ([`PROGRAM`]).
//!
//! The file says who sends whom which blocks or sums, or how many bytes for whom, rank by rank,
//! each rank's lines found by their place, so that no rank reads another's. What blocks there are,
//! who has them and who is to have them the program knows from the collective: it checks delivery
//! by itself.

use super::spool::{Piece, Spool};
use super::{Export, Folder, Message, Moved, Step, unwritten};
use std::fmt::Write as _;
use std::io::Write as _;
use swapmeet_interchange::schedule::{BlockSet, Head, Runs};

/// The program's source: the same for every schedule.
pub const PROGRAM: &str = include_str!("mpi/replay.c");
const FILE: &str = "schedule.txt";

pub(super) struct Mpi {
    folder: Folder,
    spool: Spool,
    head: Head,
    segments: u64,
    /// Whether it moves bytes that are counted.
    counts: bool,
    /// For each rank the step of its last line, and how many bytes its lines have.
    ranks: Vec<(u64, u64)>,
    text: String,
}

impl Mpi {
    pub(super) fn new(head: &Head, folder: Folder) -> Result<Self, String> {
        let spool = Spool::new(&folder.0, head.nodes).map_err(unwritten)?;
        let ranks = vec![(0, 0); head.nodes as usize];
        Ok(Self {
            folder,
            spool,
            head: head.clone(),
            segments: 1,
            counts: false,
            ranks,
            text: String::new(),
        })
    }

    fn line(
        &mut self,
        rank: u64,
        step: u64,
        letter: char,
        peer: u64,
        message: &Message,
    ) -> Result<(), String> {
        let known =
            self.ranks.get_mut(rank as usize).ok_or_else(|| format!("there is no rank {rank}"))?;
        self.text.clear();
        if known.0 != step {
            known.0 = step;
            let _ = writeln!(self.text, "t {step}");
        }
        let _ = write!(self.text, "{letter} {peer}");
        self.counts |= message.blocks.is_none();
        for Moved { set: BlockSet { origins, destinations, segments }, keeps, adds } in
            message.blocks.iter().flatten()
        {
            let (word, add) =
                (if *keeps { "keep" } else { "move" }, if *adds { "-add" } else { "" });
            let _ = write!(
                self.text,
                " {word}{add} {} {} {}",
                runs(origins),
                runs(destinations),
                runs(segments)
            );
        }
        for (destination, bytes) in &message.counts {
            let _ = write!(self.text, " {destination} {bytes}");
        }
        self.text.push('\n');
        known.1 += self.text.len() as u64;
        self.spool.append(rank, self.text.as_bytes()).map_err(unwritten)
    }

    /// What stands before the ranks' own lines.
    fn preamble(&self, row: &[(&str, String)]) -> Result<String, String> {
        let Head { collective, nodes, root, permutation, block_bytes, sizes, .. } = &self.head;
        let mut text = format!(
            "swapmeet-mpi 2\ncollective {collective}\ncounts-bytes {}\nnodes {nodes}\nsegments {}\nroot {}\n",
            u8::from(self.counts),
            self.segments,
            root.unwrap_or(0)
        );
        if !permutation.is_empty() {
            let _ = writeln!(text, "permutation {}", spaced(permutation));
        }
        let _ = match (block_bytes, sizes.is_empty()) {
            (Some(bytes), _) => writeln!(text, "bytes {bytes}"),
            (None, false) => writeln!(text, "bytes {}", spaced(sizes)),
            (None, true) => return Err("it does not say how many bytes its blocks have".to_owned()),
        };
        let (names, fields): (Vec<&str>, Vec<String>) =
            row.iter().map(|(name, field)| (*name, quoted(field))).unzip();
        let _ = writeln!(text, "columns {}\nrow {}", names.join(","), fields.join(","));
        Ok(text)
    }
}

/// A field of a row in CSV.
fn quoted(field: &str) -> String {
    let field = field.replace(['\n', '\r'], " ");
    if field.contains([',', '"']) { format!("\"{}\"", field.replace('"', "\"\"")) } else { field }
}

fn spaced(numbers: &[u64]) -> String {
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(" ")
}

/// Runs as `0-3,5`; there is only number 0 of what blocks are not told apart by.
fn runs(runs: &Option<Runs>) -> String {
    let Some(runs) = runs else { return "0".to_owned() };
    let one = |(first, last): &(u64, u64)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    runs.iter().map(one).collect::<Vec<_>>().join(",")
}

impl Export for Mpi {
    fn segments(&mut self, segments: u64) -> Result<(), String> {
        self.segments = segments;
        Ok(())
    }

    fn step(&mut self, step: &Step) -> Result<(), String> {
        for message in &step.messages {
            self.line(message.from, step.number, 's', message.to, message)?;
            self.line(message.to, step.number, 'r', message.from, message)?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>, row: &[(&str, String)]) -> Result<(), String> {
        std::fs::write(self.folder.0.join("replay.c"), PROGRAM).map_err(unwritten)?;
        let preamble = self.preamble(row)?;
        // Places have a fixed width, so that where the first rank's lines begin does not depend on
        // them.
        const DIGITS: usize = 18;
        let mut at = (preamble.len() + "ranks".len() + (1 + DIGITS) * self.ranks.len() + 1) as u64;
        let mut out = self.folder.create(FILE)?;
        let write = || {
            write!(out, "{preamble}ranks")?;
            for (rank, (_, bytes)) in self.ranks.iter().enumerate() {
                write!(out, " {at:0DIGITS$}")?;
                at += (format!("rank {rank}\n").len() + "end\n".len()) as u64 + bytes;
            }
            writeln!(out)?;
            self.spool.finish(|rank, piece| match piece {
                Piece::Begin => writeln!(out, "rank {rank}"),
                Piece::Text(text) => out.write_all(text),
                Piece::End => writeln!(out, "end"),
            })?;
            out.flush()
        };
        write().map_err(unwritten)
    }
}
