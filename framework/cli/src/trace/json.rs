//! Writes a complete schedule for other programs, with all block sets, routes and byte counts. The
//! result is one JSON document with one event per line (`docs/trace.md`).

use super::selection::SendSelection;
use super::times::Timetable;
use super::writer::Writer;
use serde_json::{Map, Value, json};
use std::io::{self, Write};
use swapmeet_core::delivery::boxes::{Layout, Side};
use swapmeet_core::delivery::byte_counts::{ALL_BYTES, ByteSelection, ByteSend};
use swapmeet_core::delivery::payload::Proof;
use swapmeet_core::simulation::listener::{Interests, Listener, ScheduleEvent, Sent};
use swapmeet_results::Record;
use swapmeet_runner::case::Case;

/// The version of the format. Later versions may add fields, but they never change the meaning of
/// an existing field.
const VERSION: u32 = 1;

/// Begins the document with a description of the case.
pub(crate) fn head(out: &mut dyn Write, case: &Case) -> io::Result<()> {
    let head = json!({
        "format": "swapmeet-schedule",
        "version": VERSION,
        "topology": case.topology.spec(),
        "nodes": case.topology.nodes(),
        "algorithm": case.algorithm.to_string(),
        "workload": case.workload.to_string(),
        "collective": case.workload.collective().word,
        "root": case.workload.root(),
        "machine": case.machine.to_string(),
        "seed": case.seed,
    });
    writeln!(out, "{{\"schedule\":{head},\n\"events\":[")
}

/// Ends the document with the outcome of the case.
pub(crate) fn outcome(out: &mut dyn Write, record: Option<&Record>) -> io::Result<()> {
    let outcome = record.map(|record| {
        json!({
            "status": record.status.to_string(),
            "reason": record.reason,
            "verified": record.verified.to_string(),
            "steps": record.steps,
            "messages": record.messages,
        })
    });
    writeln!(out, "],\n\"outcome\":{}}}", outcome.unwrap_or(Value::Null))?;
    out.flush()
}

/// Writes the events of a schedule as JSON. This runs in the worker that makes the schedule.
pub(crate) struct Json<W: Write> {
    out: W,
    selection: SendSelection,
    /// The number of bytes of a block, if all blocks have the same size.
    block_bytes: Option<u64>,
    /// The numbers of bytes that the next send transfers to each destination. This is only set if
    /// the schedule counts bytes instead of blocks.
    share: Option<Value>,
    laid_out: bool,
    first: bool,
}

impl<W: Write> Json<W> {
    pub(super) fn new(out: W, selection: SendSelection, case: &Case) -> Self {
        let block_bytes = case.workload.is_uniform().then(|| case.workload.block_bytes());
        Self { out, selection, block_bytes, share: None, laid_out: false, first: true }
    }

    fn put(&mut self, text: &str) {
        // A failed write is ignored here. The main process prints the text, and it notices when its
        // output is closed.
        drop(writeln!(self.out, "{text}"));
    }

    fn event(&mut self, event: &Value) {
        let comma = if std::mem::replace(&mut self.first, false) { "" } else { "," };
        self.put(&format!("{comma}{event}"));
    }

    /// Writes a layout event before the first send. The event contains the number of segments per
    /// block. If the schedule has its own grid, the event also contains the placement of this grid
    /// on the machine.
    fn lay_out(&mut self, sent: &Sent<'_>) {
        if std::mem::replace(&mut self.laid_out, true) {
            return;
        }
        let mut layout = Map::new();
        layout.insert("segments".to_owned(), sent.layout.segments().into());
        if sent.in_parts {
            layout.insert("in_parts".to_owned(), true.into());
        }
        if !sent.placement.is_identity() {
            let virtual_nodes = 0..sent.placement.grid().nodes();
            let placement: Value =
                virtual_nodes.map(|node| sent.placement.physical(node)).collect();
            let homes: Value =
                (0..sent.topology.nodes()).map(|node| sent.placement.home(node)).collect();
            layout.insert("placement".to_owned(), placement);
            layout.insert("homes".to_owned(), homes);
        }
        self.event(&json!({ "layout": layout }));
    }

    /// Converts a load to bytes. The unit of a load is a segment of a block, or a byte if blocks
    /// differ in size.
    fn bytes(&self, load: u64, segments: u64) -> u64 {
        self.block_bytes.map_or(load, |bytes| load.saturating_mul(bytes.div_ceil(segments.max(1))))
    }
}

impl<W: Write> Writer for Json<W> {
    fn ended(&mut self, _: bool, times: Option<Result<Timetable, String>>) {
        // If there are no times, add a row with the reason.
        if let Some(Ok(times)) = times {
            self.put("],\n\"times\":[");
            self.first = true;
            times.objects(self.selection).for_each(|times| self.event(&times));
        }
        drop(self.out.flush());
    }
}

impl<W: Write> Listener for Json<W> {
    fn interests(&self) -> Interests {
        Interests { sends: true, arrivals: true, ..Interests::SCHEDULE }
    }

    fn notify(&mut self, event: ScheduleEvent<'_>) {
        let is_all = self.selection.is_all();
        match event {
            ScheduleEvent::Phase(name) if is_all => self.event(&json!({ "phase": name })),
            ScheduleEvent::Rearrangement { .. } if is_all => {
                self.event(&json!({ "rearrange": true }));
            }
            ScheduleEvent::Redistribution(r) if is_all => {
                let (node, buckets, cycle, first) = (r.node, r.buckets, r.cycle, r.first);
                let event = json!({ "node": node, "buckets": buckets, "cycle": cycle, "first": first, "starts": r.starts, "firsts": r.firsts });
                self.event(&json!({ "redistribute": event }));
            }
            ScheduleEvent::ByteSend(share) => self.share(share),
            ScheduleEvent::Sent(sent) => self.sent(sent),
            ScheduleEvent::Step(step) => {
                if is_all {
                    self.event(&json!({ "end_of_step": step.number }));
                }
                drop(self.out.flush());
            }
            _ => {}
        }
    }
}

impl<W: Write> Json<W> {
    fn share(&mut self, share: &ByteSend<'_>) {
        self.share = Some(match share.what {
            ByteSelection::Bucket(bucket) => json!({ "bucket": bucket }),
            ByteSelection::Listed(byte_counts) => {
                let pair = |(destination, bytes): &(u64, u64)| {
                    json!([
                        destination,
                        if *bytes == ALL_BYTES { Value::from("all") } else { (*bytes).into() }
                    ])
                };
                json!({ "byte_counts": byte_counts.iter().map(pair).collect::<Value>() })
            }
        });
    }

    fn sent(&mut self, sent: &Sent<'_>) {
        // Write the layout before the first send, even if the user has not selected that send.
        self.lay_out(sent);
        let share = self.share.take();
        if !self.selection.includes(sent.step, sent.from, sent.to) {
            return;
        }
        // Each node is identified by its physical number. If the schedule has its own grid, the
        // number of the node in this grid is added.
        let mut event = Map::new();
        let mut set = |key: &str, value: Value| event.insert(key.to_owned(), value);
        set("step", sent.step.into());
        set("from", sent.from.physical.into());
        set("to", sent.to.physical.into());
        if !sent.placement.is_identity() {
            set("virtual_from", sent.from.virtual_node.into());
            set("virtual_to", sent.to.virtual_node.into());
        }
        // If the schedule counts bytes, the load of a send is in bytes. If it counts blocks,
        // multiply the load by the block size.
        let segments = if sent.proof == Proof::ByteCounts { 1 } else { sent.segments };
        let load = if sent.proof == Proof::ByteCounts {
            sent.load
        } else {
            self.bytes(sent.load, segments)
        };
        set("bytes", load.into());
        if sent.latest_arrival > 0 {
            set("after", sent.latest_arrival.into());
        }
        if sent.copy {
            set("copy", true.into());
        }
        if sent.combine {
            set("combine", true.into());
        }
        if sent.from.physical != sent.to.physical {
            let (path, bandwidths) = path(sent);
            set("path", path.into());
            match sent.route {
                None => set("own_route", true.into()),
                // If two links connect the same vertices, the directions determine which of the two
                // links the message uses.
                Some(route) if !route.signs.is_empty() => set("signs", route.signs.clone().into()),
                Some(_) => None,
            };
            // On most networks, all links have the same bandwidth, which the machine defines. Write
            // a list of bandwidths only for other networks.
            if sent.topology.bandwidths().is_some() {
                set("bandwidths", bandwidths.into());
            }
        }
        // The last field is the content of the message: the number of bytes per destination, or
        // sets of blocks.
        match share {
            Some(share) => set("share", share),
            None => set("blocks", sent.boxes.iter().map(|bits| block_set(sent, bits)).collect()),
        };
        self.event(&Value::Object(event));
    }
}

/// Returns the vertices of a route (`Topology::endpoint`), including its source and destination,
/// and the bandwidth of each link.
fn path(sent: &Sent<'_>) -> (Vec<u64>, Vec<f64>) {
    let (topology, from) = (sent.topology, sent.from.physical);
    let start = topology.endpoint(from);
    // A route consists of runs of links. The links of a run are in ascending order, even if the
    // message passes them in descending order. To find the order in which the message passes the
    // links, follow the vertices that the links connect.
    let mut links = Vec::new();
    let routed = topology.route(from, sent.to.physical, sent.route, &mut |run| {
        links.push((0..run.len).map(|i| run.first + i * run.stride).collect::<Vec<_>>());
    });
    let (mut path, mut bandwidths) = (vec![start], Vec::new());
    if routed.is_err() {
        return (path, bandwidths);
    }
    for run in links {
        let link = |link| Some((topology.link_ends(link)?, topology.bandwidth(link)));
        let mut ends: Vec<_> = run.into_iter().filter_map(link).collect();
        let at = path.last().copied().unwrap_or(start);
        if ends.first().is_some_and(|((from, _), _)| *from != at) {
            ends.reverse();
        }
        for ((_, to), bandwidth) in ends {
            path.push(to);
            bandwidths.push(bandwidth);
        }
    }
    (path, bandwidths)
}

/// Returns the blocks of a box as ranges of physical origins and destinations. A range consists of
/// its first and its last node. If the schedule does not distinguish blocks by origin, the origins
/// are left out; the same is true for destinations.
fn block_set(sent: &Sent<'_>, bits: &[u64]) -> Value {
    let mut set = Map::new();
    for (side, key) in [(Side::Origins, "origins"), (Side::Destinations, "destinations")] {
        if sent.layout.has(side) {
            let nodes = sent
                .layout
                .nodes_of(side, bits)
                .into_iter()
                .map(|node| sent.placement.physical(node));
            set.insert(key.to_owned(), runs(nodes.collect()));
        }
    }
    if sent.layout.segments() > 1 {
        let segments = sent.layout.coordinates_of(Side::Segments, bits).concat();
        set.insert("segments".to_owned(), runs(segments));
    }
    Value::Object(set)
}

fn runs(mut numbers: Vec<u64>) -> Value {
    numbers.sort_unstable();
    numbers
        .chunk_by(|a, b| a + 1 == *b)
        .filter_map(|run| Some(json!([run.first()?, run.last()?])))
        .collect()
}
