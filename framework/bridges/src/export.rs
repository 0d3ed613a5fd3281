//! Exports of schedules for other programs. Each format is one file and one entry of [`FORMATS`].
//! At most one step is in memory. In some formats, all operations of one rank precede those of the
//! next rank. These formats collect the text of each rank in a `spool::Spool`.

use counts::ByteCounts;
use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};
use std::collections::BTreeMap;
use std::fs::File;
use std::hash::BuildHasher;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use swapmeet_core::liveness::Deadlock;
use swapmeet_interchange::schedule::{
    BlockSet, DocumentEvent, EventHandler, HandlerError, Header, Layout, Runs, Send, distinct_sums,
    is_reduction, merge_runs,
};

mod chakra;
mod counts;
mod goal;
pub mod mpi;
mod msccl;
mod simgrid;
mod spool;

#[derive(Debug)]
pub struct Format {
    pub name: &'static str,
    pub help: &'static str,
    pub output: OutputKind,
    pub wants_sizes: bool,
    /// Whether the format needs the vertices of each route. Otherwise, [`Part::path`] may be empty.
    pub wants_routes: bool,
    pub over: Over,
    start: Start,
}

type Start = fn(&Header, OutputFolder) -> Result<Box<dyn Export>, ExportError>;

impl Format {
    /// Returns whether the format needs the blocks or sums in a message, in addition to its bytes.
    pub fn wants_blocks(&self) -> bool {
        self.wants_sizes || self.name == "msccl"
    }
}

/// What is exported if several communicators run the schedule at the same time (`over=`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// The messages of all communicators, between ranks of the network.
    AllMessages,
    /// The schedule of one communicator, between its members, and the ranks of each communicator.
    OneCommunicator,
    Unsupported,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputKind {
    File(&'static str),
    Folder,
}

pub static FORMATS: [Format; 5] = [
    Format {
        name: "goal",
        help: "GOAL text of LogGOPSim and ATLAHS, one file",
        output: OutputKind::File(goal::FILE),
        wants_sizes: false,
        wants_routes: false,
        over: Over::AllMessages,
        start: |head, folder| Ok(Box::new(goal::Goal::new(head, folder)?)),
    },
    Format {
        name: "chakra",
        help: "Chakra execution traces of ASTRA-sim's custom collectives, one file for each rank",
        output: OutputKind::Folder,
        wants_sizes: false,
        wants_routes: false,
        over: Over::OneCommunicator,
        start: |head, folder| Ok(Box::new(chakra::Chakra::new(head, folder)?)),
    },
    Format {
        name: "mpi",
        help: "a list of all messages and their blocks, and the C program that executes it under MPI-3 and writes measured rows",
        output: OutputKind::Folder,
        wants_sizes: true,
        wants_routes: false,
        over: Over::OneCommunicator,
        start: |head, folder| Ok(Box::new(mpi::Mpi::new(head, folder)?)),
    },
    Format {
        name: "msccl",
        help: "XML of the MSCCL runtime and RCCL, one file",
        output: OutputKind::File(msccl::FILE),
        wants_sizes: false,
        wants_routes: false,
        over: Over::Unsupported,
        start: |head, folder| Ok(Box::new(msccl::Msccl::new(head, folder)?)),
    },
    Format {
        name: "simgrid",
        help: "a SimGrid platform with the schedule's routes, the messages, and the program that plays them",
        output: OutputKind::Folder,
        wants_sizes: false,
        wants_routes: true,
        over: Over::AllMessages,
        start: |head, folder| Ok(Box::new(simgrid::SimGrid::new(head, folder)?)),
    },
];

pub const JSON: (&str, &str) = ("json", "the whole schedule, as `trace --format json` prints it");
pub const SCHEDULE_FILE: &str = "schedule.json";

pub fn format(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The format cannot represent the schedule, for this reason.
    #[error("{0}")]
    Unsupported(String),
    #[error(transparent)]
    Write(io::Error),
}

impl From<String> for ExportError {
    fn from(reason: String) -> Self {
        Self::Unsupported(reason)
    }
}

impl From<&str> for ExportError {
    fn from(reason: &str) -> Self {
        Self::Unsupported(reason.to_owned())
    }
}

impl From<io::Error> for ExportError {
    fn from(error: io::Error) -> Self {
        error.downcast().unwrap_or_else(Self::Write)
    }
}

pub trait Export {
    /// Sets the number of segments of each block. This is called before the first step.
    fn segments(&mut self, _segments: u64) -> Result<(), ExportError> {
        Ok(())
    }

    /// Receives a flow of background traffic, before the first step. Most formats ignore flows.
    fn background(&mut self, _flow: &Flow) -> Result<(), ExportError> {
        Ok(())
    }

    /// Receives the route and the data of a send, which is a part of a message of the current step.
    /// An implementation stores only what its format needs, because a step may have millions of
    /// messages.
    fn part(&mut self, _part: Part<'_>) -> Result<(), ExportError> {
        Ok(())
    }

    fn step(&mut self, step: &Step) -> Result<(), ExportError>;

    /// Returns a deadlock due to FIFOs that are too small in the target. Called after the last
    /// step.
    fn deadlock(&self) -> Option<Deadlock> {
        None
    }

    /// Ends the export of a verified schedule. `row` is a row for the case. Its placeholders
    /// (`@NAME@`, `@REPETITION@`, `@TIME@`, `@FIRST@`, `@MEAN@`) are for the values that a program
    /// measures when it executes the schedule.
    fn finish(self: Box<Self>, row: &[(&str, String)]) -> Result<(), ExportError>;
}

#[derive(Debug, Default)]
pub struct Step {
    /// The number of the step, from 1. Steps without messages between nodes are not counted.
    pub number: u64,
    /// The messages between different nodes, merged if sender, receiver and route are the same.
    pub messages: Vec<Message>,
    /// The bytes that each node reduces at the end of the step. Other nodes have no entry.
    pub reduced: BTreeMap<u64, u64>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Flow {
    pub from: u64,
    pub to: u64,
    pub bytes: u64,
    pub path: Vec<u64>,
    pub bandwidths: Vec<f64>,
    pub latencies: Vec<f64>,
}

#[derive(Debug)]
pub struct Message {
    pub from: u64,
    pub to: u64,
    pub bytes: u64,
    /// The latest step in which the sender received any of the data; 0 if it had all from the
    /// start.
    pub after: u64,
    /// A hash of the route. The routes of all messages would take too much memory.
    route: u64,
}

#[derive(Debug)]
pub struct Part<'a> {
    pub step: u64,
    /// The index of the message in [`Step::messages`].
    pub message: usize,
    pub from: u64,
    pub to: u64,
    /// The vertices of the route, including the sender and the receiver.
    pub path: &'a [u64],
    /// The bandwidth of each link of the route, relative to the machine's; empty if all are 1.
    pub bandwidths: &'a [f64],
    /// The latency of each link of the route, relative to the machine's; empty if all are 1.
    pub latencies: &'a [f64],
    /// The sent blocks; `None` in a schedule that counts bytes instead of blocks.
    pub blocks: Option<Vec<BlockTransfer>>,
    /// Pairs of a destination and its bytes, if bytes are counted and the format needs sizes.
    pub counts: Vec<(u64, u64)>,
}

/// A set of blocks in a message. In a reduction, these are sums, and each sum is listed once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockTransfer {
    /// The blocks. If the schedule divides blocks into parts, the set's segments are these parts.
    pub set: BlockSet,
    pub keeps: bool,
    /// Whether the receiver adds the blocks to the values that it already has.
    pub adds: bool,
}

#[derive(Debug, Clone)]
pub struct OutputFolder(PathBuf);

impl OutputFolder {
    fn create(&self, name: &str) -> io::Result<BufWriter<File>> {
        File::create(self.0.join(name)).map(BufWriter::new)
    }
}

pub struct Exporter {
    format: &'static Format,
    folder: OutputFolder,
    export: Option<Box<dyn Export>>,
    head: Header,
    /// The number of segments of a block, and whether the schedule divides blocks into parts.
    layout: Layout,
    /// The bytes that each node holds for each destination; `None` if they are not needed.
    counts: Option<ByteCounts>,
    /// The number of the current step in the schedule, which also counts steps without messages.
    current: u64,
    /// The numbers of the earlier steps that had messages between nodes.
    earlier_steps: Vec<u64>,
    step: Step,
    /// For each sender, the indices of its messages in the current step, by receiver and hash of
    /// the route. Each sender has its own table, because a small table stays in the processor's
    /// cache.
    by_route: Vec<HashTable<usize>>,
    hashes: DefaultHashBuilder,
}

impl Exporter {
    pub fn new(format: &'static Format, folder: &Path) -> Self {
        Self {
            format,
            folder: OutputFolder(folder.to_owned()),
            export: None,
            head: Header::default(),
            layout: Layout { segments: 1, in_parts: false },
            counts: None,
            current: 0,
            earlier_steps: Vec::new(),
            step: Step { number: 1, ..Step::default() },
            by_route: Vec::new(),
            hashes: DefaultHashBuilder::default(),
        }
    }

    /// Passes on a flow of background traffic, which must precede the first step.
    pub fn background(&mut self, flow: &Flow) -> Result<(), ExportError> {
        self.export()?.background(flow)
    }

    /// Ends the export of a verified schedule. Returns a deadlock that can occur in the target.
    pub fn finish(mut self, row: &[(&str, String)]) -> Result<Option<Deadlock>, ExportError> {
        self.end_step()?;
        let export = self.export.ok_or("it has no schedule")?;
        let deadlock = export.deadlock();
        export.finish(row)?;
        Ok(deadlock)
    }

    fn export(&mut self) -> Result<&mut Box<dyn Export>, ExportError> {
        self.export.as_mut().ok_or_else(|| "its events come before its head".into())
    }

    fn end_step(&mut self) -> Result<(), ExportError> {
        if let Some(counts) = &mut self.counts {
            counts.arrive();
        }
        // A step without messages between nodes is not exported and gets no number.
        if self.step.messages.is_empty() {
            return Ok(());
        }
        let export = self.export.as_mut().ok_or("its events come before its head")?;
        export.step(&self.step)?;
        self.earlier_steps.push(self.current);
        self.step.number += 1;
        self.step.reduced.clear();
        for message in self.step.messages.drain(..) {
            if let Some(by_route) = self.by_route.get_mut(message.from as usize) {
                by_route.clear();
            }
        }
        Ok(())
    }

    fn send(&mut self, mut send: Send) -> Result<(), ExportError> {
        if send.reducer > 0 || send.multicaster > 0 {
            return Err(format!(
                "step {}: a switch adds or copies the data of the send from {} to {}, which the format `{}` cannot express",
                send.step, send.from, send.to, self.format.name
            )
            .into());
        }
        if send.step != self.current {
            self.end_step()?;
            self.current = send.step;
        }
        let counts = match &send.share {
            Some(share) if self.format.wants_sizes => {
                let counts = self.counts.get_or_insert_with(|| ByteCounts::new(&self.head));
                counts.extract(send.from, send.to, share)?
            }
            Some(_) | None => Vec::new(),
        };
        let Send { from, to, bytes, .. } = send;
        if send.combine {
            *self.step.reduced.entry(to).or_default() += bytes;
        }
        let blocks = match send.blocks.take() {
            Some(sets) => Some(self.transfers(sets, &send)?),
            None => None,
        };
        // Local copies are not exported. If the workload skips empty messages, neither are these.
        if from == to || bytes == 0 && self.head.skip_empty {
            return Ok(());
        }
        // Steps without messages are not exported and get no number. So `send.after`, a step of the
        // schedule, is replaced by the number of exported steps up to this step.
        let after = self.earlier_steps.partition_point(|step| *step <= send.after) as u64;
        // Messages between the same nodes on the same route are merged.
        let Step { number, messages, .. } = &mut self.step;
        let route = self.hashes.hash_one((&send.path, &send.signs));
        let hash = |m: &Message| self.hashes.hash_one((m.to, m.route));
        let new = Message { from, to, bytes, after, route };
        let is_same =
            |at: &usize| messages.get(*at).is_some_and(|m| (m.to, m.route) == (to, route));
        let rehash = |at: &usize| messages.get(*at).map_or(0, hash);
        let by_route = self.by_route.get_mut(from as usize);
        let by_route = by_route.ok_or_else(|| format!("there is no rank {from}"))?;
        let message = match by_route.entry(hash(&new), is_same, rehash) {
            Entry::Occupied(at) => {
                let at = *at.get();
                if let Some(first) = messages.get_mut(at) {
                    first.bytes = first.bytes.saturating_add(bytes);
                    first.after = first.after.max(after);
                }
                at
            }
            Entry::Vacant(free) => {
                free.insert(messages.len());
                messages.push(new);
                messages.len() - 1
            }
        };
        let (step, path) = (*number, &send.path);
        let (bandwidths, latencies) = (&send.bandwidths, &send.latencies);
        let part = Part { step, message, from, to, path, bandwidths, latencies, blocks, counts };
        self.export()?.part(part)
    }
}

impl Exporter {
    fn transfers(&self, sets: Vec<BlockSet>, send: &Send) -> Result<Vec<BlockTransfer>, String> {
        let is_reduction = is_reduction(&self.head.collective);
        if is_reduction && send.is_virtual && self.format.wants_blocks() {
            return Err(
                "a node holds two separate sums (virtual nodes), which this format cannot represent"
                    .to_owned(),
            );
        }
        let Layout { segments, in_parts } = self.layout;
        let sets = if is_reduction { distinct_sums(&sets, segments) } else { sets };
        let transfer = |mut set: BlockSet| {
            if in_parts {
                let parts = set
                    .destinations
                    .take()
                    .unwrap_or_else(|| vec![(0, self.head.nodes.saturating_sub(1))]);
                let of_part =
                    set.segments.take().unwrap_or_else(|| vec![(0, segments.saturating_sub(1))]);
                let numbers = parts.iter().flat_map(|(first, last)| *first..=*last);
                let runs: Runs = numbers
                    .flat_map(|part| {
                        of_part.iter().map(move |(a, b)| (part * segments + a, part * segments + b))
                    })
                    .collect();
                set.segments = Some(merge_runs(runs));
            }
            BlockTransfer { set, keeps: send.copy, adds: send.combine }
        };
        Ok(sets.into_iter().map(transfer).collect())
    }
}

impl EventHandler for Exporter {
    fn head(&mut self, head: Header) -> Result<(), HandlerError> {
        self.export = Some((self.format.start)(&head, self.folder.clone())?);
        self.by_route.resize(head.nodes as usize, HashTable::new());
        self.head = head;
        Ok(())
    }

    fn event(&mut self, event: DocumentEvent) -> Result<(), HandlerError> {
        match event {
            DocumentEvent::Layout(layout) => {
                self.layout = Layout { segments: layout.segments.max(1), ..layout };
                let parts = if layout.in_parts { self.head.nodes } else { 1 };
                let segments = self.layout.segments.saturating_mul(parts);
                Ok(self.export()?.segments(segments)?)
            }
            DocumentEvent::Send(send) => Ok(self.send(send)?),
            DocumentEvent::EndOfStep => Ok(self.end_step()?),
            DocumentEvent::Redistribute(how) if self.format.wants_sizes => {
                self.end_step()?;
                let counts = self.counts.get_or_insert_with(|| ByteCounts::new(&self.head));
                Ok(counts.redistribute(&how)?)
            }
            DocumentEvent::Phase(_) | DocumentEvent::Rearrange | DocumentEvent::Redistribute(_) => {
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests;
