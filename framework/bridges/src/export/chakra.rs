//! Chakra execution traces, which ASTRA-sim reads as custom collectives. There is one file for each
//! rank. The file contains protobuf messages, and each message is preceded by its length.
//!
//! A send or receive depends on all operations that the same rank has in its previous step.
//! ASTRA-sim uses the message sizes in the file, not the sizes of its workload. Therefore, each
//! block size needs a separate export. The schema (`et_def.proto`) has many fields. Only the fields
//! that ASTRA-sim's feeder reads are written.

use super::spool::{Spool, SpoolItem};
use super::{Export, ExportError, OutputFolder, Step};
use std::io::Write as _;
use swapmeet_interchange::schedule::Header;

/// Node types of the schema, and wire types of the protobuf encoding.
const COMM_SEND: u64 = 5;
const COMM_RECV: u64 = 6;
const VARINT: u64 = 0;
const BYTES: u64 = 2;

pub(super) struct Chakra {
    folder: OutputFolder,
    spool: Spool,
    ranks: Vec<Rank>,
}

/// The state of a rank. In a trace, an operation is called a node. The operations of each rank are
/// numbered from 1.
#[derive(Clone, Default)]
struct Rank {
    nodes: u64,
    step: u64,
    /// The operations of the rank's previous step: the number of the first operation, and the
    /// number that follows the number of the last operation.
    before: (u64, u64),
    /// The number of the first operation in the rank's current step.
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
        let mut spool = Spool::new(&folder.0, head.nodes)?;
        // Write a `GlobalMetadata` message. Its field 1 is the version.
        let mut metadata = Vec::new();
        text(&mut metadata, 1, b"0.0.4");
        for rank in 0..head.nodes {
            spool.append(rank, &delimited(&metadata))?;
        }
        Ok(Self { folder, spool, ranks: vec![Rank::default(); head.nodes as usize] })
    }

    fn node(
        &mut self,
        rank: u64,
        step: u64,
        kind: u64,
        (from, to): (u64, u64),
        bytes: u64,
    ) -> Result<(), ExportError> {
        let known =
            self.ranks.get_mut(rank as usize).ok_or_else(|| format!("there is no rank {rank}"))?;
        let id = known.nodes + 1;
        known.nodes = id;
        if known.step != step {
            (known.before, known.begun, known.step) = ((known.begun, id), id, step);
        }
        let word = if kind == COMM_SEND { "send" } else { "recv" };
        let mut node = Vec::new();
        number(&mut node, 1, id);
        text(&mut node, 2, format!("{word} b({from},{to})").as_bytes());
        number(&mut node, 3, kind);
        if known.before.0 > 0 {
            let mut waits_for = Vec::new();
            (known.before.0..known.before.1).for_each(|id| varint(&mut waits_for, id));
            text(&mut node, 5, &waits_for);
        }
        // A value is a union of types. The feeder determines the type from the field number: 27 for
        // bool, 9 for int64 and 7 for int32.
        for (name, field, value) in [
            ("is_cpu_op", 27, 0),
            ("comm_size", 9, bytes),
            ("comm_src", 7, from),
            ("comm_dst", 7, to),
            ("comm_tag", 7, step),
        ] {
            let mut attribute = Vec::new();
            text(&mut attribute, 1, name.as_bytes());
            number(&mut attribute, field, value);
            text(&mut node, 10, &attribute);
        }
        Ok(self.spool.append(rank, &delimited(&node))?)
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

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Writes a number as field `field` of a protobuf message.
fn number(out: &mut Vec<u8>, field: u64, value: u64) {
    varint(out, field << 3 | VARINT);
    varint(out, value);
}

/// Writes a text, an embedded message or packed numbers as field `field` of a protobuf message.
fn text(out: &mut Vec<u8>, field: u64, content: &[u8]) {
    varint(out, field << 3 | BYTES);
    varint(out, content.len() as u64);
    out.extend_from_slice(content);
}

fn delimited(message: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(message.len() + 2);
    varint(&mut out, message.len() as u64);
    out.extend_from_slice(message);
    out
}
