//! An export for SimGrid: a platform with the routes of the schedule, a list of messages, and a C++
//! program that sends them ([`PROGRAM`]).
//! The platform lists all routes, because SimGrid's built-in torus may choose other routes of the
//! same length. If the network is a torus, a second platform (`cluster.xml`) uses the built-in
//! torus. Its dimensions are in reverse order, because SimGrid's first dimension varies fastest.
//!
//! The simulated times are those of the model `fluid`. The platform has bandwidths and latencies,
//! and the list has start-ups, reductions, barriers, late ranks and background traffic. In both
//! SimGrid and `fluid`, messages share the bandwidth of links. A list that has only messages,
//! without start-ups, has version 1.

use super::spool::state_of;
use super::{Export, ExportError, Flow, OutputFolder, Part, Step};
use hashbrown::DefaultHashBuilder;
use hashbrown::hash_map::{Entry, HashMap};
use std::collections::BTreeSet;
use std::fs::File;
use std::hash::BuildHasher;
use std::io::{self, BufWriter, Seek, Write};
use std::iter;
use swapmeet_interchange::append;
use swapmeet_interchange::schedule::{Header, Timing};

/// The link for messages between ranks of the same node. As in `fluid`, each message has the whole
/// bandwidth of this link.
const WITHIN_NODE: &str = "within-node";

const PROGRAM: &str = include_str!("simgrid/replay.cpp");

pub(super) struct SimGrid {
    folder: OutputFolder,
    nodes: u64,
    /// The bandwidth of the machine's links, in bytes per second.
    bandwidth: f64,
    torus: Option<Vec<String>>,
    messages: BufWriter<File>,
    /// A temporary file for the routes, because in the platform, all links must precede the routes.
    routes: BufWriter<File>,
    /// By sender, a hash of its route to each receiver. SimGrid allows only one route per pair.
    known: Vec<HashMap<u64, u64>>,
    hashes: DefaultHashBuilder,
    timing: Timing,
    /// Bandwidth and latency of each link, relative to those of the machine.
    links: HashMap<(u64, u64), (f64, f64)>,
    /// The nodes whose rate is limited by an additional link (`injection_byte_us`).
    injecting: BTreeSet<u64>,
    text: String,
    connects_ranks_of_a_node: bool,
}

impl SimGrid {
    pub(super) fn new(head: &Header, folder: OutputFolder) -> Result<Self, ExportError> {
        let byte_us = head.byte_us.filter(|us| *us > 0.0);
        let byte_us = byte_us
            .ok_or("the machine has no `byte_us` above 0, which gives the bandwidth of links: choose a --machine with one")?;
        let timing = head.timing.clone();
        let mut messages = folder.create("messages.txt")?;
        let version = if is_only_links(&timing) { 1 } else { 2 };
        writeln!(messages, "swapmeet-simgrid {version}\nnodes {}", head.nodes)?;
        write_settings(&timing, &mut messages)?;
        let sides = head
            .topology
            .strip_prefix("torus:")
            .map(|sides| sides.split('x').map(str::to_owned).collect());
        let whole = |sides: &Vec<String>| sides.iter().all(|side| side.parse::<u64>().is_ok());
        let torus = sides.filter(whole);
        let routes = BufWriter::new(tempfile::tempfile_in(&folder.0)?);
        let (known, links) = (vec![HashMap::new(); head.nodes as usize], HashMap::new());
        Ok(Self {
            folder,
            nodes: head.nodes,
            bandwidth: 1e6 / byte_us,
            torus,
            messages,
            routes,
            known,
            hashes: DefaultHashBuilder::default(),
            timing,
            links,
            injecting: BTreeSet::new(),
            text: String::new(),
            connects_ranks_of_a_node: false,
        })
    }

    /// Adds a route to the platform. Errors if this pair of ranks already has a different route.
    fn add_route(&mut self, route: &Route<'_>) -> Result<(), ExportError> {
        let Route { step, from, to, path, .. } = *route;
        if path.is_empty() {
            return Err(format!(
                "step {step}: the route of the message from {from} to {to} is unknown"
            )
            .into());
        }
        let hash = self.hashes.hash_one(path);
        match state_of(&mut self.known, from)?.entry(to) {
            Entry::Vacant(unknown) => {
                unknown.insert(hash);
                Ok(self.write_route(route)?)
            }
            Entry::Occupied(known) if *known.get() == hash => Ok(()),
            Entry::Occupied(_) => Err(format!(
                "step {step}: the message from {from} to {to} takes another route than an earlier one, but SimGrid has one route for each pair"
            )
            .into()),
        }
    }

    fn write_route(&mut self, route: &Route<'_>) -> io::Result<()> {
        let Route { from, to, path, bandwidths, latencies, .. } = *route;
        let text = &mut self.text;
        text.clear();
        append!(text, "    <route src=\"n", from, "\" dst=\"n", to, "\" symmetrical=\"NO\">");
        // If nodes limit their rate, each route also has a link of the sender and of the receiver.
        let (first, last) = (path[0], path[path.len() - 1]);
        let is_limited = self.timing.injection_byte_us > 0.0 && path.len() > 1;
        if is_limited {
            self.injecting.extend([first, last]);
            append!(text, "<link_ctn id=\"out", first, "\"/>");
        }
        let bandwidths = bandwidths.iter().copied().chain(iter::repeat(1.0));
        let latencies = latencies.iter().copied().chain(iter::repeat(1.0));
        for (ends, properties) in path.windows(2).zip(bandwidths.zip(latencies)) {
            self.links.insert((ends[0], ends[1]), properties);
            append!(text, "<link_ctn id=\"l", ends[0], "-", ends[1], "\"/>");
        }
        if is_limited {
            append!(text, "<link_ctn id=\"in", last, "\"/>");
        }
        if path.len() == 1 {
            self.connects_ranks_of_a_node = true;
            append!(text, "<link_ctn id=\"", WITHIN_NODE, "\"/>");
        }
        text.push_str("</route>\n");
        self.routes.write_all(text.as_bytes())
    }

    fn platform(&mut self) -> Result<(), ExportError> {
        let mut out = self.folder.create("platform.xml")?;
        let mut write = || {
            writeln!(out, "{HEADING}\n  <zone id=\"world\" routing=\"Full\">")?;
            for node in 0..self.nodes {
                writeln!(out, "    <host id=\"n{node}\" speed=\"1Gf\"/>")?;
            }
            let mut links: Vec<_> = self.links.drain().collect();
            links.sort_unstable_by_key(|(ends, _)| *ends);
            for ((from, to), (bandwidth, latency)) in links {
                writeln!(
                    out,
                    "    <link id=\"l{from}-{to}\" bandwidth=\"{:.6}Bps\" latency=\"{}s\"/>",
                    bandwidth * self.bandwidth,
                    seconds(latency * self.timing.hop_us)
                )?;
            }
            for node in &self.injecting {
                let bandwidth = 1e6 / self.timing.injection_byte_us;
                for way in ["out", "in"] {
                    writeln!(
                        out,
                        "    <link id=\"{way}{node}\" bandwidth=\"{bandwidth:.6}Bps\" latency=\"0s\"/>"
                    )?;
                }
            }
            if self.connects_ranks_of_a_node {
                writeln!(
                    out,
                    "    <link id=\"{WITHIN_NODE}\" bandwidth=\"{:.6}Bps\" latency=\"0s\" sharing_policy=\"FATPIPE\"/>",
                    self.bandwidth
                )?;
            }
            self.routes.flush()?;
            self.routes.rewind()?;
            io::copy(self.routes.get_mut(), &mut out)?;
            writeln!(out, "  </zone>\n</platform>")?;
            out.flush()
        };
        Ok(write()?)
    }

    fn cluster(&self, sides: &[String]) -> Result<(), ExportError> {
        let mut out = self.folder.create("cluster.xml")?;
        let reversed: Vec<&str> = sides.iter().rev().map(String::as_str).collect();
        let mut write = || {
            writeln!(
                out,
                "{HEADING}\n  <zone id=\"world\" routing=\"Full\">\n    <cluster id=\"t\" topology=\"TORUS\" topo_parameters=\"{}\" prefix=\"n\" radical=\"0-{}\" suffix=\"\" speed=\"1Gf\" bw=\"{:.6}Bps\" lat=\"{}s\"/>\n  </zone>\n</platform>",
                reversed.join(","),
                self.nodes - 1,
                self.bandwidth,
                seconds(self.timing.hop_us)
            )?;
            out.flush()
        };
        Ok(write()?)
    }
}

struct Route<'a> {
    step: u64,
    from: u64,
    to: u64,
    path: &'a [u64],
    bandwidths: &'a [f64],
    latencies: &'a [f64],
}

/// Formats the time with the shortest decimal number that is read back as the same value.
fn seconds(us: f64) -> String {
    if us == 0.0 { "0".to_owned() } else { format!("{:e}", us / 1e6) }
}

/// Returns whether messages only spend time on links, so that version 1 of the list suffices.
fn is_only_links(timing: &Timing) -> bool {
    let Timing { hop_us, injection_byte_us, rendezvous_bytes, .. } = *timing;
    *timing == Timing { hop_us, injection_byte_us, rendezvous_bytes, ..Timing::default() }
}

fn write_settings(timing: &Timing, out: &mut dyn Write) -> io::Result<()> {
    if timing.weight_bytes > 0.0 {
        writeln!(out, "config network/weight-S:{}", timing.weight_bytes)?;
    }
    for (key, factor) in
        [("latency", timing.latency_factor), ("bandwidth", timing.bandwidth_factor)]
    {
        if let Some(factor) = factor {
            writeln!(out, "config network/{key}-factor:{factor}")?;
        }
    }
    if let Some(us) = timing.barrier_us {
        writeln!(out, "barrier {us}")?;
    }
    timing.late.iter().try_for_each(|(rank, us)| writeln!(out, "late {rank} {us}"))
}

const HEADING: &str = "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">";

impl Export for SimGrid {
    fn background(&mut self, flow: &Flow) -> Result<(), ExportError> {
        let Flow { from, to, bytes, path, bandwidths, latencies } = flow;
        let (from, to) = (*from, *to);
        self.add_route(&Route { step: 0, from, to, path, bandwidths, latencies })?;
        Ok(writeln!(self.messages, "background {from} {to} {bytes}")?)
    }

    fn part(&mut self, part: Part<'_>) -> Result<(), ExportError> {
        let Part { step, from, to, path, bandwidths, latencies, .. } = part;
        self.add_route(&Route { step, from, to, path, bandwidths, latencies })
    }

    fn step(&mut self, step: &Step) -> Result<(), ExportError> {
        let Timing { startup_us, rendezvous_bytes, rendezvous_us, eager_byte_us, .. } = self.timing;
        for message in &step.messages {
            let (text, from, to) = (&mut self.text, message.from, message.to);
            text.clear();
            append!(text, step.number, " ", from, " ", to, " ", message.bytes);
            let bytes = message.bytes as f64;
            let protocol_us =
                if bytes > rendezvous_bytes { rendezvous_us } else { eager_byte_us * bytes };
            if startup_us + protocol_us > 0.0 {
                text.push(' ');
                text.push_str(&(startup_us + protocol_us).to_string());
            }
            text.push('\n');
            self.messages.write_all(text.as_bytes())?;
        }
        for (node, bytes) in &step.reduced {
            let us = *bytes as f64 * self.timing.reduce_byte_us;
            if us > 0.0 {
                writeln!(self.messages, "reduce {} {node} {us}", step.number)?;
            }
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>, _: &[(&str, String)]) -> Result<(), ExportError> {
        self.messages.flush()?;
        self.platform()?;
        // SimGrid's own torus has no links that limit the speed of a node.
        if let Some(sides) = self.torus.as_ref().filter(|_| self.injecting.is_empty()) {
            self.cluster(sides)?;
        }
        Ok(std::fs::write(self.folder.0.join("replay.cpp"), PROGRAM)?)
    }
}
