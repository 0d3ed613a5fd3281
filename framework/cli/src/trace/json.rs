//! Writes a schedule as one JSON document, with one event per line (`docs/trace.md`).

use super::Writer;
use super::selection::{Image, Omitted, SendSelection};
use super::times::objects;
use serde_json::{Map, Value, json};
use std::io::{self, Write};
use std::sync::Arc;
use swapmeet_bridges::append;
use swapmeet_bridges::text::{TextPart, append_list};
use swapmeet_core::delivery::boxes::{Layout, Side};
use swapmeet_core::delivery::byte_counts::{ALL_BYTES, ByteSelection, ByteSend};
use swapmeet_core::delivery::traced::Proof;
use swapmeet_core::network::communicators::Communicators;
use swapmeet_core::network::topology::{Network, Route, Switch};
use swapmeet_core::simulation::listener::{Interests, Listener, ScheduleEvent, Sent};
use swapmeet_results::Record;
use swapmeet_runner::case::Case;
use swapmeet_runner::step_record::ScheduleRecord;

/// Later versions may add fields, but must not change the meaning of existing ones.
const VERSION: u32 = 1;

pub(crate) fn head(out: &mut dyn Write, case: &Case) -> io::Result<()> {
    let mut head = json!({
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
    let communicators = case.workload.all_communicators(&case.topology).unwrap_or_default();
    if !communicators.is_empty() {
        head["communicators"] = communicators.iter().flat_map(|all| all.all()).collect();
    }
    writeln!(out, "{{\"schedule\":{head},\n\"events\":[")
}

/// Writes the times of ranks, if there are any, after the events and before the outcome.
pub(super) fn times(
    out: &mut dyn Write,
    record: &ScheduleRecord,
    selection: SendSelection,
) -> io::Result<()> {
    if record.ranks.is_none() {
        return Ok(());
    }
    writeln!(out, "],\n\"times\":[")?;
    let mut comma = "";
    objects(record, selection)
        .try_for_each(|times| writeln!(out, "{}{times}", std::mem::replace(&mut comma, ",")))
}

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

/// An observer that writes the events of a schedule. It runs in the worker that makes the schedule.
pub(crate) struct Json<W: Write> {
    out: W,
    text: String,
    selection: SendSelection,
    omitted: Omitted,
    /// All communicators that run the schedule. `None` if all ranks are one communicator, or if
    /// only the sends of one communicator are written.
    communicators: Option<Arc<Communicators>>,
    /// The number of communicators of earlier schedules, if communicators have different ones.
    before: u64,
    /// The bytes of a block, if all blocks have the same size.
    block_bytes: Option<u64>,
    /// The byte counts of the next send, as JSON; `None` if the schedule counts blocks.
    share: Option<String>,
    laid_out: bool,
    first: bool,
}

impl<W: Write> Json<W> {
    pub(super) fn new(
        out: W,
        selection: SendSelection,
        omitted: Omitted,
        communicators: Option<Arc<Communicators>>,
        case: &Case,
    ) -> Self {
        let block_bytes = case.workload.is_uniform().then(|| case.workload.block_bytes());
        Self {
            out,
            text: String::new(),
            selection,
            omitted,
            communicators,
            before: 0,
            block_bytes,
            share: None,
            laid_out: false,
            first: true,
        }
    }

    fn put(&mut self, text: &str) {
        // A failed write is ignored, because the main process then stops the worker.
        drop(writeln!(self.out, "{text}"));
    }

    fn event(&mut self, event: &Value) {
        let comma = if std::mem::replace(&mut self.first, false) { "" } else { "," };
        self.put(&format!("{comma}{event}"));
    }

    /// Before the first send, writes a layout event. It has the number of segments of a block and,
    /// if the schedule has its own grid, the physical node of each node of the grid.
    fn lay_out(&mut self, sent: &Sent<'_>) {
        if std::mem::replace(&mut self.laid_out, true) {
            return;
        }
        let mut layout = Map::new();
        layout.insert("segments".to_owned(), sent.layout.segments().into());
        if sent.in_parts {
            layout.insert("in_parts".to_owned(), true.into());
        }
        if !sent.embedding.is_identity() {
            let virtual_nodes = 0..sent.embedding.grid().nodes();
            let placement: Value =
                virtual_nodes.map(|node| sent.embedding.physical(node)).collect();
            let homes: Value =
                (0..sent.topology.nodes()).map(|node| sent.embedding.home(node)).collect();
            layout.insert("placement".to_owned(), placement);
            layout.insert("homes".to_owned(), homes);
        }
        self.event(&json!({ "layout": layout }));
    }

    /// Converts to bytes a load that counts segments of a block, or bytes if blocks differ.
    fn bytes(&self, load: u64, segments: u64) -> u64 {
        self.block_bytes.map_or(load, |bytes| load.saturating_mul(bytes.div_ceil(segments.max(1))))
    }
}

impl<W: Write> Writer for Json<W> {
    fn ended(&mut self, _: bool) {
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
            ScheduleEvent::Communicators(all) => self.begin(all),
            ScheduleEvent::Phase(name) if is_all => self.event(&json!({ "phase": name })),
            ScheduleEvent::Rearrangement { .. } if is_all => {
                self.event(&json!({ "rearrange": true }));
            }
            ScheduleEvent::Redistribution(r) if is_all && !self.omitted.contents => {
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
    fn begin(&mut self, all: &Arc<Communicators>) {
        self.before += self.communicators.as_ref().map_or(0, |all| all.count());
        self.event(&json!({ "communicators": [self.before, self.before + all.count() - 1] }));
        self.communicators = Some(Arc::clone(all));
        self.laid_out = false;
    }

    fn share(&mut self, share: &ByteSend<'_>) {
        self.share = Some(match share.what {
            ByteSelection::Bucket(bucket) => format!("{{\"bucket\":{bucket}}}"),
            ByteSelection::Listed(byte_counts) => {
                let mut text = "{\"byte_counts\":".to_owned();
                push_list(&mut text, byte_counts, |text, (destination, bytes)| {
                    append!(text, "[", *destination, ",");
                    match *bytes {
                        ALL_BYTES => text.push_str("\"all\"]"),
                        bytes => append!(text, bytes, "]"),
                    }
                });
                text.push('}');
                text
            }
        });
    }

    fn sent(&mut self, sent: &Sent<'_>) {
        // The layout event is written even if the user has not selected this send.
        self.lay_out(sent);
        let share = self.share.take();
        match self.communicators.clone() {
            None => self.image(sent, &Image::of(sent, None), share.as_deref()),
            Some(all) => (0..all.count()).for_each(|number| {
                self.image(sent, &Image::of(sent, Some((&*all, number))), share.as_deref());
            }),
        }
    }

    fn image(&mut self, sent: &Sent<'_>, image: &Image<'_>, share: Option<&str>) {
        let [from, to] = image.ends(sent);
        if !self.selection.includes(sent.step, [from, to]) {
            return;
        }
        // If the schedule counts bytes, the load is in bytes. Otherwise, it is converted to bytes.
        let segments = if sent.proof == Proof::ByteCounts { 1 } else { sent.segments };
        let load = if sent.proof == Proof::ByteCounts {
            sent.load
        } else {
            self.bytes(sent.load, segments)
        };
        self.text.clear();
        if !std::mem::replace(&mut self.first, false) {
            self.text.push(',');
        }
        // Keys are in alphabetical order, as in all our JSON. A copy within a node has no route.
        let mut event = Fields { text: &mut self.text, is_empty: true };
        let network = image.network;
        // If a switch adds or copies the data, this message covers only a section of its path, and
        // other messages cover the rest. The whole path is written.
        let route = image.route.as_deref();
        let switch = route.and_then(|route| route.switch);
        let whole = route.map(|route| Route { section: None, ..route.clone() });
        let route = whole.as_ref();
        let ends = (from, to);
        let uses_own_path = || {
            route.is_none()
                || path(network, ends, route).vertices == path(network, ends, None).vertices
        };
        let is_local = from == to && switch.is_none();
        let Path { vertices: path, bandwidths, latencies } =
            match is_local || self.omitted.routes && uses_own_path() {
                true => Path::default(),
                false => path(network, ends, route),
            };
        if sent.latest_arrival > 0 {
            event.set("after", sent.latest_arrival);
        }
        let list = |numbers: &[f64]| serde_json::to_string(numbers).unwrap_or_default();
        if !path.is_empty() && network.bandwidths().is_some() {
            event.set("bandwidths", list(&bandwidths).as_str());
        }
        if share.is_none() || self.omitted.contents {
            let boxes = if self.omitted.contents { &[][..] } else { &sent.boxes[..] };
            push_list(event.key("blocks"), boxes, |text, bits| {
                push_block_set(text, sent, image, bits);
            });
        }
        event.set("bytes", load);
        if sent.combine {
            event.set("combine", true);
        }
        if let Some((_, number)) = image.communicator {
            event.set("communicator", self.before + number);
        }
        if sent.copy {
            event.set("copy", true);
        }
        event.set("from", from);
        if !path.is_empty() && network.latencies().is_some() {
            event.set("latencies", list(&latencies).as_str());
        }
        if !is_local && route.is_none() {
            event.set("own_route", true);
        }
        if let Some(Switch::Multicaster(vertex)) = switch {
            event.set("multicaster", vertex);
        }
        if !path.is_empty() {
            push_list(event.key("path"), &path, |text, vertex| append!(text, *vertex));
        }
        if let Some(Switch::Reducer(vertex)) = switch {
            event.set("reducer", vertex);
        }
        if let Some(share) = share.filter(|_| !self.omitted.contents) {
            event.set("share", share);
        }
        // The directions (`signs`) determine which of two links between the same vertices is used.
        if let Some(route) = route.filter(|route| !is_local && !route.signs.is_empty()) {
            push_list(event.key("signs"), &route.signs, |text, sign| {
                text.push_str(&sign.to_string());
            });
        }
        event.set("step", sent.step);
        event.set("to", to);
        // A schedule with its own grid also has the node numbers of that grid.
        if !sent.embedding.is_identity() {
            event.set("virtual_from", sent.from.virtual_node);
            event.set("virtual_to", sent.to.virtual_node);
        }
        self.text.push_str("}\n");
        drop(self.out.write_all(self.text.as_bytes()));
    }
}

struct Fields<'a> {
    text: &'a mut String,
    is_empty: bool,
}

impl Fields<'_> {
    fn key(&mut self, key: &str) -> &mut String {
        let begin = if std::mem::replace(&mut self.is_empty, false) { "{\"" } else { ",\"" };
        self.text.push_str(begin);
        self.text.push_str(key);
        self.text.push_str("\":");
        self.text
    }

    fn set(&mut self, key: &str, value: impl TextPart) {
        value.append_to(self.key(key));
    }
}

fn push_list<T>(
    text: &mut String,
    items: impl IntoIterator<Item = T>,
    push_item: impl FnMut(&mut String, T),
) {
    text.push('[');
    append_list(text, ",", items, push_item);
    text.push(']');
}

#[derive(Default)]
pub(crate) struct Path {
    /// The vertices (`Network::endpoint`), including the source and the destination.
    pub vertices: Vec<u64>,
    /// The bandwidth of each link. Empty if all links of the network have the same bandwidth.
    pub bandwidths: Vec<f64>,
    /// The latency of each link. Empty if all links of the network have the same latency.
    pub latencies: Vec<f64>,
}

/// Returns the route between two nodes. If the network refuses it, it has only the source.
pub(crate) fn path(topology: &Network, (from, to): (u64, u64), route: Option<&Route>) -> Path {
    let start = topology.endpoint(from);
    // The route lists links in ascending order, but a message may cross them in another order. So
    // the path follows the vertices that each link connects.
    let mut path = Path { vertices: Vec::with_capacity(64), ..Path::default() };
    path.vertices.push(start);
    let has_bandwidths = topology.bandwidths().is_some();
    let has_latencies = topology.latencies().is_some();
    let routed = topology.route(from, to, route, &mut |run| {
        let at = path.vertices.last().copied().unwrap_or(start);
        let is_ascending = topology.link_ends(run.first).is_none_or(|(from, _)| from == at);
        for i in 0..run.len {
            let i = if is_ascending { i } else { run.len - 1 - i };
            let link = run.first + i * run.stride;
            path.vertices.extend(topology.link_ends(link).map(|(_, to)| to));
            path.bandwidths.extend(has_bandwidths.then(|| topology.bandwidth(link)));
            path.latencies.extend(has_latencies.then(|| topology.latency(link)));
        }
    });
    match routed {
        Ok(_) => path,
        Err(_) => Path { vertices: vec![start], ..Path::default() },
    }
}

/// Writes a set of blocks as ranges of the physical nodes of their origins and destinations. If the
/// schedule does not distinguish blocks by one of these, its ranges are left out.
fn push_block_set(text: &mut String, sent: &Sent<'_>, image: &Image<'_>, bits: &[u64]) {
    let mut set = Fields { text, is_empty: true };
    for (side, key) in [(Side::Destinations, "destinations"), (Side::Origins, "origins")] {
        if sent.layout.has(side) {
            let mut nodes = sent.layout.nodes_of(side, bits);
            nodes.iter_mut().for_each(|node| *node = image.rank(sent.embedding.physical(*node)));
            push_runs(set.key(key), nodes);
        }
    }
    if sent.layout.segments() > 1 {
        let segments = sent.layout.coordinates_of(Side::Segments, bits).concat();
        push_runs(set.key("segments"), segments);
    }
    let end = if set.is_empty { "{}" } else { "}" };
    set.text.push_str(end);
}

fn push_runs(text: &mut String, mut numbers: Vec<u64>) {
    numbers.sort_unstable();
    push_list(text, numbers.chunk_by(|a, b| a + 1 == *b), |text, run| {
        append!(text, "[", run[0], ",", run[run.len() - 1], "]");
    });
}
