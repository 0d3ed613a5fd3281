//! A text file with the schedule, and a C program that executes such files with MPI ([`PROGRAM`]).
//! The file lists the sends and receives of each rank, with blocks, sums or byte counts. It begins
//! with the positions of the lines of each rank, so that a rank reads only its own lines. The
//! program derives the expected blocks from the collective and compares the received blocks with
//! them, so it also finds errors in the file.

use super::spool::{Spool, SpoolItem, state_of};
use super::{BlockTransfer, Export, ExportError, OutputFolder, Part, Step};
use std::fmt::Write as _;
use std::io::Write as _;
use swapmeet_interchange::append;
use swapmeet_interchange::schedule::{BlockSet, Header, Runs};
use swapmeet_interchange::text::append_list;

pub const PROGRAM: &str = include_str!("mpi/replay.c");
const FILE: &str = "schedule.txt";

pub(super) struct Mpi {
    folder: OutputFolder,
    spool: Spool,
    head: Header,
    segments: u64,
    /// Whether the schedule counts bytes instead of blocks.
    counts: bool,
    /// For each rank, the step of its last line, and the total bytes of its lines.
    ranks: Vec<(u64, u64)>,
    /// The blocks or byte counts of each message of the step, as text for the lines of both ranks.
    contents: Vec<String>,
    text: String,
}

impl Mpi {
    pub(super) fn new(head: &Header, folder: OutputFolder) -> Result<Self, ExportError> {
        let spool = Spool::new(&folder.0, head.nodes)?;
        let ranks = vec![(0, 0); head.nodes as usize];
        Ok(Self {
            folder,
            spool,
            head: head.clone(),
            segments: 1,
            counts: false,
            ranks,
            contents: Vec::new(),
            text: String::new(),
        })
    }

    fn line(
        &mut self,
        rank: u64,
        step: u64,
        letter: char,
        peer: u64,
        index: usize,
    ) -> Result<(), ExportError> {
        let known = state_of(&mut self.ranks, rank)?;
        let text = &mut self.text;
        text.clear();
        if known.0 != step {
            known.0 = step;
            append!(text, "t ", step, "\n");
        }
        let contents = self.contents.get(index).map_or("", |contents| contents);
        append!(text, letter, " ", peer, contents, "\n");
        known.1 += text.len() as u64;
        Ok(self.spool.append(rank, text.as_bytes())?)
    }

    fn preamble(&self, row: &[(&str, String)]) -> Result<String, String> {
        let Header { collective, nodes, root, permutation, block_bytes, sizes, tokens, .. } =
            &self.head;
        // If there are several communicators, all their ranks follow the number of members.
        let ranks = self.head.communicators.concat();
        let members = if ranks.is_empty() { String::new() } else { format!(" {}", spaced(&ranks)) };
        let mut text = format!(
            "swapmeet-mpi 2\ncollective {collective}\ncounts-bytes {}\nnodes {nodes}{members}\nsegments {}\nroot {}\n",
            u8::from(self.counts),
            self.segments,
            root.unwrap_or(0)
        );
        if !permutation.is_empty() {
            let _ = writeln!(text, "permutation {}", spaced(permutation));
        }
        // Each line describes a node. It has the number of the node's classes (tokens with the same
        // receivers), and for each class its bytes, the number of its receivers, and the receivers.
        for classes in tokens {
            let _ = write!(text, "tokens {}", classes.len());
            for (bytes, receivers) in classes {
                let _ = write!(text, " {bytes} {} {}", receivers.len(), spaced(receivers));
            }
            text.push('\n');
        }
        let _ = match (block_bytes, sizes.is_empty()) {
            (Some(bytes), _) => writeln!(text, "bytes {bytes}"),
            (None, false) => writeln!(text, "bytes {}", spaced(sizes)),
            (None, true) => return Err("the sizes of its blocks are missing".to_owned()),
        };
        let (names, fields): (Vec<&str>, Vec<String>) =
            row.iter().map(|(name, field)| (*name, quoted(field))).unzip();
        let _ = writeln!(text, "columns {}\nrow {}", names.join(","), fields.join(","));
        Ok(text)
    }
}

fn quoted(field: &str) -> String {
    let field = field.replace(['\n', '\r'], " ");
    if field.contains([',', '"']) { format!("\"{}\"", field.replace('"', "\"\"")) } else { field }
}

fn spaced(numbers: &[u64]) -> String {
    let mut text = String::new();
    append_list(&mut text, " ", numbers, |text, number| append!(text, *number));
    text
}

/// Appends runs of numbers, such as `0-3,5`. If the collective does not distinguish blocks by this
/// number, `runs` is `None` and 0 is appended.
fn append_runs(text: &mut String, runs: &Option<Runs>) {
    let runs = runs.as_deref().unwrap_or(&[(0, 0)]);
    append_list(text, ",", runs, |text, (first, last)| {
        append!(text, *first);
        if first != last {
            append!(text, "-", *last);
        }
    });
}

impl Export for Mpi {
    fn segments(&mut self, segments: u64) -> Result<(), ExportError> {
        self.segments = segments;
        Ok(())
    }

    fn part(&mut self, part: Part<'_>) -> Result<(), ExportError> {
        self.counts |= part.blocks.is_none();
        let text = &mut self.text;
        text.clear();
        for BlockTransfer { set: BlockSet { origins, destinations, segments }, keeps, adds } in
            part.blocks.iter().flatten()
        {
            append!(text, if *keeps { " keep" } else { " move" }, if *adds { "-add" } else { "" });
            for runs in [origins, destinations, segments] {
                text.push(' ');
                append_runs(text, runs);
            }
        }
        for (destination, bytes) in &part.counts {
            append!(text, " ", *destination, " ", *bytes);
        }
        match self.contents.get_mut(part.message) {
            Some(earlier) => earlier.push_str(text),
            None => self.contents.push(text.clone()),
        }
        Ok(())
    }

    fn step(&mut self, step: &Step) -> Result<(), ExportError> {
        for (index, message) in step.messages.iter().enumerate() {
            self.line(message.from, step.number, 's', message.to, index)?;
            self.line(message.to, step.number, 'r', message.from, index)?;
        }
        self.contents.clear();
        Ok(())
    }

    fn finish(self: Box<Self>, row: &[(&str, String)]) -> Result<(), ExportError> {
        std::fs::write(self.folder.0.join("replay.c"), PROGRAM)?;
        let preamble = self.preamble(row)?;
        // Positions have a fixed length, because a longer one would shift all other positions.
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
                SpoolItem::Begin => writeln!(out, "rank {rank}"),
                SpoolItem::Text(text) => out.write_all(text),
                SpoolItem::End => writeln!(out, "end"),
            })?;
            out.flush()
        };
        Ok(write()?)
    }
}
