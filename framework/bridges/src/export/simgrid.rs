//! An export for SimGrid. It consists of a platform with the routes of the schedule, a list of
//! messages, and a C++ program that sends these messages ([`PROGRAM`]).
//!
//! The platform lists all hosts, links and routes. It does not use SimGrid's built-in torus,
//! because the built-in torus may choose a different route of the same length.
//!
//! For a torus, there is also a second platform, `cluster.xml`, which uses the built-in torus. It
//! lists the dimensions in reverse order, because SimGrid's first dimension varies fastest. Node
//! numbers are then the same in both platforms.
//!
//! All latencies are zero. With positive latencies, the bandwidth that SimGrid gives to a message
//! would depend on the round-trip time.

use super::spool::state_of;
use super::{Export, ExportError, OutputFolder, Part, Step};
use hashbrown::DefaultHashBuilder;
use hashbrown::hash_map::{Entry, HashMap};
use std::fs::File;
use std::hash::BuildHasher;
use std::io::{self, BufWriter, Seek, Write};
use std::iter;
use swapmeet_interchange::append;
use swapmeet_interchange::schedule::Header;

/// The name of the link that messages between two ranks of a node use. In the model `fluid`, such a
/// message uses no link of the network and has the bandwidth of a link for itself.
const WITHIN_NODE: &str = "within-node";

const PROGRAM: &str = include_str!("simgrid/replay.cpp");

pub(super) struct SimGrid {
    folder: OutputFolder,
    nodes: u64,
    /// The bandwidth of the machine's links, in bytes per second.
    bandwidth: f64,
    torus: Option<Vec<String>>,
    messages: BufWriter<File>,
    /// A temporary file with the routes. The platform file must list links before routes, but all
    /// links are known only at the end.
    routes: BufWriter<File>,
    /// For each sender, its receivers with a hash of the route to each. SimGrid allows only one
    /// route per pair, and the hash shows whether a message uses another route.
    known: Vec<HashMap<u64, u64>>,
    hashes: DefaultHashBuilder,
    /// The links, each with its bandwidth divided by the bandwidth of the machine.
    links: HashMap<(u64, u64), f64>,
    text: String,
    connects_ranks_of_a_node: bool,
}

impl SimGrid {
    pub(super) fn new(head: &Header, folder: OutputFolder) -> Result<Self, ExportError> {
        let byte_us = head.byte_us.filter(|us| *us > 0.0);
        let byte_us = byte_us
            .ok_or("the machine has no `byte_us` above 0, which gives the bandwidth of links: choose a --machine with one")?;
        let mut messages = folder.create("messages.txt")?;
        writeln!(messages, "swapmeet-simgrid 1\nnodes {}", head.nodes)?;
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
            links,
            text: String::new(),
            connects_ranks_of_a_node: false,
        })
    }

    fn route(&mut self, &Part { from, to, path, bandwidths, .. }: &Part<'_>) -> io::Result<()> {
        let text = &mut self.text;
        text.clear();
        append!(text, "    <route src=\"n", from, "\" dst=\"n", to, "\" symmetrical=\"NO\">");
        let bandwidths = bandwidths.iter().copied().chain(iter::repeat(1.0));
        for (ends, bandwidth) in path.windows(2).zip(bandwidths) {
            self.links.insert((ends[0], ends[1]), bandwidth);
            append!(text, "<link_ctn id=\"l", ends[0], "-", ends[1], "\"/>");
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
            for ((from, to), bandwidth) in links {
                writeln!(
                    out,
                    "    <link id=\"l{from}-{to}\" bandwidth=\"{:.6}Bps\" latency=\"0s\"/>",
                    bandwidth * self.bandwidth
                )?;
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
                "{HEADING}\n  <zone id=\"world\" routing=\"Full\">\n    <cluster id=\"t\" topology=\"TORUS\" topo_parameters=\"{}\" prefix=\"n\" radical=\"0-{}\" suffix=\"\" speed=\"1Gf\" bw=\"{:.6}Bps\" lat=\"0s\"/>\n  </zone>\n</platform>",
                reversed.join(","),
                self.nodes - 1,
                self.bandwidth
            )?;
            out.flush()
        };
        Ok(write()?)
    }
}

const HEADING: &str = "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">";

impl Export for SimGrid {
    fn part(&mut self, part: Part<'_>) -> Result<(), ExportError> {
        let Part { step, from, to, path, .. } = part;
        if path.is_empty() {
            return Err(format!(
                "step {step}: the route of the message from {from} to {to} is unknown"
            )
            .into());
        }
        let route = self.hashes.hash_one(path);
        match state_of(&mut self.known, from)?.entry(to) {
            Entry::Vacant(unknown) => {
                unknown.insert(route);
                Ok(self.route(&part)?)
            }
            Entry::Occupied(known) if *known.get() == route => Ok(()),
            Entry::Occupied(_) => Err(format!(
                "step {step}: the message from {from} to {to} takes another route than an earlier one, but SimGrid has one route for each pair"
            )
            .into()),
        }
    }

    fn step(&mut self, step: &Step) -> Result<(), ExportError> {
        for message in &step.messages {
            let (text, from, to) = (&mut self.text, message.from, message.to);
            text.clear();
            append!(text, step.number, " ", from, " ", to, " ", message.bytes, "\n");
            self.messages.write_all(text.as_bytes())?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>, _: &[(&str, String)]) -> Result<(), ExportError> {
        self.messages.flush()?;
        self.platform()?;
        if let Some(sides) = &self.torus {
            self.cluster(sides)?;
        }
        Ok(std::fs::write(self.folder.0.join("replay.cpp"), PROGRAM)?)
    }
}
