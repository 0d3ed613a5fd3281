//! Chakra execution traces, which ASTRA-sim reads as custom collectives: for each rank, a file of
//! protobuf messages, each preceded by its length.
//! A send or receive depends on all operations of the rank's previous step. Message sizes are in
//! the file, so each block size needs its own export. Only those fields of the schema
//! (`et_def.proto`) are written that ASTRA-sim's feeder reads.
//! If several communicators run the schedule, there is one trace for each member of a communicator,
//! and the peers in it are members, too. ASTRA-sim reads the trace of a rank's position in its
//! communicator, and replaces members by ranks (`CustomAlgorithm.cc`). The communicators are in a
//! file for `--comm-group-configuration` (`Workload::initialize_comm_groups`).

use super::spool::{Spool, SpoolItem, state_of};
use super::{Export, ExportError, OutputFolder, Step};
use std::io::Write as _;
use swapmeet_interchange::append;
use swapmeet_interchange::schedule::Header;
use swapmeet_interchange::text::append_list;

/// Node types of the schema, where a node is an operation, and wire types of the protobuf encoding.
const COMM_SEND: u64 = 5;
const COMM_RECV: u64 = 6;
const VARINT: u64 = 0;
const BYTES: u64 = 2;

const GROUPS: &str = "comm_group.json";

pub(super) struct Chakra {
    folder: OutputFolder,
    spool: Spool,
    ranks: Vec<Rank>,
    node: Vec<u8>,
    /// A buffer for encoding one field of the message in `node`, or the length of this message.
    field: Vec<u8>,
    name: String,
}

/// A rank. In a trace, its operations are called nodes, and they are numbered from 1.
#[derive(Clone, Default)]
struct Rank {
    nodes: u64,
    step: u64,
    /// The operations of the previous step: the first number, and the one after the last.
    before: (u64, u64),
    begun: u64,
}

impl Chakra {
    pub(super) fn new(head: &Header, folder: OutputFolder) -> Result<Self, ExportError> {
        let too_large = |what: &str, most: u64| {
            format!("it has over {most} {what}: ASTRA-sim has 32 bits for them")
        };
        if head.nodes > i32::MAX as u64 {
            return Err(too_large("ranks", i32::MAX as u64).into());
        }
        // ASTRA-sim takes positions from the sorted list of a communicator's ranks, but ranks from
        // the list in the order of the file (`CommunicatorGroup.cc`).
        if head.communicators.iter().any(|ranks| !ranks.is_sorted()) {
            return Err("its communicators list ranks in another order than by number, in which ASTRA-sim counts members: name the axes of `over=` in the order of `mesh=`".into());
        }
        if !head.communicators.is_empty() {
            let mut out = folder.create(GROUPS)?;
            writeln!(out, "{}", groups(&head.communicators))?;
            out.flush()?;
        }
        let mut spool = Spool::new(&folder.0, head.nodes)?;
        // Field 1 of `GlobalMetadata` is the version.
        let (mut metadata, mut delimited) = (Vec::new(), Vec::new());
        text(&mut metadata, 1, b"0.0.4");
        varint(&mut delimited, metadata.len() as u64);
        delimited.extend_from_slice(&metadata);
        for rank in 0..head.nodes {
            spool.append(rank, &delimited)?;
        }
        let ranks = vec![Rank::default(); head.nodes as usize];
        Ok(Self { folder, spool, ranks, node: Vec::new(), field: Vec::new(), name: String::new() })
    }

    fn node(
        &mut self,
        rank: u64,
        step: u64,
        kind: u64,
        (from, to): (u64, u64),
        bytes: u64,
    ) -> Result<(), ExportError> {
        let known = state_of(&mut self.ranks, rank)?;
        let id = known.nodes + 1;
        known.nodes = id;
        if known.step != step {
            (known.before, known.begun, known.step) = ((known.begun, id), id, step);
        }
        let Self { spool, node, field, name, .. } = self;
        let word = if kind == COMM_SEND { "send" } else { "recv" };
        name.clear();
        append!(name, word, " b(", from, ",", to, ")");
        node.clear();
        number(node, 1, id);
        text(node, 2, name.as_bytes());
        number(node, 3, kind);
        if known.before.0 > 0 {
            field.clear();
            (known.before.0..known.before.1).for_each(|id| varint(field, id));
            text(node, 5, field);
        }
        // In ASTRA-sim's feeder, attribute field 27 has the type bool, 9 has int64, 7 has int32.
        for (name, kind, value) in [
            ("is_cpu_op", 27, 0),
            ("comm_size", 9, bytes),
            ("comm_src", 7, from),
            ("comm_dst", 7, to),
            ("comm_tag", 7, step),
        ] {
            field.clear();
            text(field, 1, name.as_bytes());
            number(field, kind, value);
            text(node, 10, field);
        }
        field.clear();
        varint(field, node.len() as u64);
        spool.append(rank, field)?;
        Ok(spool.append(rank, node)?)
    }
}

impl Export for Chakra {
    fn step(&mut self, step: &Step) -> Result<(), ExportError> {
        if step.number > i32::MAX as u64 {
            return Err("it has over 2^31 - 1 steps, more than Chakra has tags".into());
        }
        for message in &step.messages {
            let ends = (message.from, message.to);
            self.node(message.from, step.number, COMM_SEND, ends, message.bytes)?;
        }
        for message in &step.messages {
            let ends = (message.from, message.to);
            self.node(message.to, step.number, COMM_RECV, ends, message.bytes)?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>, _: &[(&str, String)]) -> Result<(), ExportError> {
        let Self { folder, spool, .. } = *self;
        let mut out = None;
        spool.finish(|rank, piece| {
            match piece {
                SpoolItem::Begin => out = Some(folder.create(&format!("schedule.{rank}.et"))?),
                SpoolItem::Text(bytes) => {
                    out.as_mut().map_or(Ok(()), |out| out.write_all(bytes))?;
                }
                SpoolItem::End => out.as_mut().map_or(Ok(()), |out| out.flush())?,
            }
            Ok(())
        })?;
        Ok(())
    }
}

/// Returns JSON with the ranks of each communicator, by number from 1 (0 means all in ASTRA-sim).
fn groups(communicators: &[Vec<u64>]) -> String {
    let mut text = "{".to_owned();
    append_list(&mut text, ",", (1..).zip(communicators), |text, (number, ranks): (u64, _)| {
        append!(text, "\"", number, "\":[");
        append_list(text, ",", ranks, |text, rank| append!(text, *rank));
        text.push(']');
    });
    text + "}"
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn number(out: &mut Vec<u8>, field: u64, value: u64) {
    varint(out, field << 3 | VARINT);
    varint(out, value);
}

/// Writes a field of a protobuf message: a text, an embedded message or packed numbers.
fn text(out: &mut Vec<u8>, field: u64, content: &[u8]) {
    varint(out, field << 3 | BYTES);
    varint(out, content.len() as u64);
    out.extend_from_slice(content);
}
