//! `swapmeet trace`: a schedule as it goes by, a line a message, as the papers print theirs.

use crate::args::{PluginArgs, ScheduleArgs, TraceArgs, TraceFormat};
use crate::failure::{Failure, INTERRUPTED, SOME_FAILED};
use crate::run::{self, Lists};
use crate::say::say;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use swapmeet_core::delivery::boxes::Side;
use swapmeet_core::delivery::fault::Count;
use swapmeet_core::delivery::fault::Place;
use swapmeet_core::delivery::payload::Proof;
use swapmeet_core::network::topology::Route;
use swapmeet_core::simulation::step::{Listener, LocalCopy, Sent, Step, Summed, Unsent};
use swapmeet_results::{Record, Status, Verified};
use swapmeet_runner::case::Case;
use swapmeet_runner::host;
use swapmeet_runner::watch::{Event, watch};
use swapmeet_runner::worker::{Say, Watch, Watcher};

mod json;
mod only;
mod times;

use json::Json;
use only::Only;
use times::Times;

/// Prints the schedule of one algorithm on one topology.
pub(crate) fn trace(args: &TraceArgs) -> Result<ExitCode, Failure> {
    let cases = cases(&args.schedule, args.timeout, &args.plugins)?;
    if let (Some(node), Some(case)) = (args.node, cases.first())
        && node >= case.topology.nodes()
    {
        let nodes = case.topology.nodes();
        return Err(Failure::Usage(format!("--node: there is no node {node}, expected a number below {nodes}")));
    }
    if args.times {
        times::can_be_told(&cases)?;
    }
    let TraceArgs { summary, step, node, times, .. } = *args;
    let asked = Asked { json: args.format == TraceFormat::Json, summary, step, node, times };
    let mut out = BufWriter::new(io::stdout());
    let (record, written) = match (args.format, cases.first()) {
        (TraceFormat::Json, Some(case)) => document(case, &args.plugins, &asked, &mut out)?,
        (TraceFormat::Json | TraceFormat::Text, _) => said(&cases, &args.plugins, &asked, &mut out)?,
    };
    written.map_err(|e| Failure::printing(&e))?;
    let Some(record) = record else { return Ok(ExitCode::from(INTERRUPTED)) };
    match record.status {
        Status::Ok => {
            say!(
                "{} on {}: every {} verified; {}, {}, busiest link {}",
                record.algorithm,
                record.topology,
                if record.verified == Verified::Amounts { "byte" } else { "block" },
                Count(record.steps.unwrap_or(0), "step"),
                Count(record.messages.unwrap_or(0), "message"),
                record.max_link_messages.unwrap_or(0)
            );
            Ok(ExitCode::SUCCESS)
        }
        status => Ok(not_made(&record, status)),
    }
}

/// The schedule that is asked for: of each size where a range is given.
pub(crate) fn cases(of: &ScheduleArgs, timeout: Option<f64>, plugins: &PluginArgs) -> Result<Vec<Case>, Failure> {
    let lists = Lists {
        topologies: std::slice::from_ref(&of.topology),
        algorithms: std::slice::from_ref(&of.algorithm),
        workloads: std::slice::from_ref(&of.workload),
        machines: of.machine.as_slice(),
    };
    run::cases_of(lists, of.seed, timeout, plugins)
}

/// Says why there is no schedule: that one can't run there is an answer, all else a failure.
pub(crate) fn not_made(record: &Record, status: Status) -> ExitCode {
    say!("{} on {}: {status}: {}", record.algorithm, record.topology, record.reason);
    if status == Status::Unsupported { ExitCode::SUCCESS } else { ExitCode::from(SOME_FAILED) }
}

/// The row of a schedule, `None` where it was interrupted, and whether all that was said of it could be written.
type Traced = (Option<Box<Record>>, io::Result<()>);

/// A schedule as a JSON document.
pub(crate) fn as_json(case: &Case, plugins: &PluginArgs, out: &mut dyn Write) -> Result<Traced, Failure> {
    document(case, plugins, &Asked { json: true, ..Asked::default() }, out)
}

/// The events of a schedule as such a document has them, a line each.
pub(crate) fn events(case: &Case, plugins: &PluginArgs, out: &mut dyn Write) -> Result<Traced, Failure> {
    said(std::slice::from_ref(case), plugins, &Asked { json: true, ..Asked::default() }, out)
}

fn document(case: &Case, plugins: &PluginArgs, asked: &Asked, out: &mut dyn Write) -> Result<Traced, Failure> {
    let headed = json::head(out, case);
    let (record, written) = said(std::slice::from_ref(case), plugins, asked, out)?;
    let written = headed.and(written).and_then(|()| json::outcome(out, record.as_deref()));
    Ok((record, written))
}

/// Writes what a worker says of the cases' one schedule.
fn said(cases: &[Case], plugins: &PluginArgs, asked: &Asked, out: &mut dyn Write) -> Result<Traced, Failure> {
    let workers = run::workers((Some(1), Some(1)), None, 1, plugins)?;
    let asked = serde_json::to_value(asked).map_err(|e| Failure::Output(e.to_string()))?;
    let (mut record, mut written) = (None, Ok(()));
    let stop = run::interrupts();
    watch(cases, &workers, (WATCH.name, asked), &stop, &mut |event| match event {
        // What is known is written, whatever becomes of the rest.
        Event::Seen { value: Value::String(text) } if written.is_ok() => {
            written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
            stop.store(written.is_err(), Ordering::Relaxed);
        }
        Event::Finished { record: row, .. } => record = Some(row),
        Event::Log { line } => say!("{line}"),
        Event::Seen { .. } | Event::Started { .. } | Event::Progress { .. } => {}
    });
    Ok((record, written))
}

/// What a worker is to say of the schedule.
#[derive(Default, Serialize, Deserialize)]
struct Asked {
    json: bool,
    summary: bool,
    step: Option<u64>,
    node: Option<u64>,
    times: bool,
}

/// The schedule in words, made in the worker.
pub(crate) const WATCH: Watch = Watch {
    name: "trace",
    start: |case, asked, say| {
        let Asked { json, summary, step, node, times } = Asked::deserialize(asked).map_err(|e| e.to_string())?;
        let (out, only) = (Spoken { text: Vec::new(), say }, Only { step, node });
        let times = if times { Times::new(case, node) } else { None };
        Ok(match json {
            true => Box::new(Json::new(out, only, case, times)),
            false => {
                let tracer = Tracer::new(out, only, summary, !case.workload.is_uniform());
                Box::new(Tracer { times, radices: case.topology.radices().to_vec(), ..tracer })
            }
        })
    },
};

/// Text that is said whole lines at a time: what comes before a crash can be read.
struct Spoken {
    text: Vec<u8>,
    say: Say,
}

impl Write for Spoken {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        /// So much is said at a time.
        const ENOUGH: usize = 1 << 16;
        self.text.extend_from_slice(bytes);
        if self.text.len() > ENOUGH && self.text.ends_with(b"\n") {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.text.is_empty() {
            (self.say)(String::from_utf8_lossy(&std::mem::take(&mut self.text)).into());
        }
        Ok(())
    }
}

impl<W: Write> Watcher for Tracer<W> {
    fn ended(&mut self, record: &Record, _: host::Asked) {
        if record.status == Status::Ok {
            self.put_what_stays(u64::MAX);
        } else {
            self.put_unfinished();
        }
        self.put_rearrangements();
        self.put_legend();
        if record.status == Status::Ok {
            self.put_times();
        }
        drop(self.out.flush());
    }
}

struct Tracer<W: Write> {
    out: W,
    only: Only,
    summary: bool,
    /// Whether loads are bytes because blocks differ in size.
    bytes: bool,
    /// The name of the phase under way, until something of it is printed.
    phase: Option<String>,
    /// Rearrangements before the next step: they are printed under its phase.
    rearrangements: u32,
    /// Whether some node of the schedule's own grid is a virtual one, run by a node of the machine.
    has_virtual: bool,
    /// Messages of the step under way, and the schedule's number of the step: they are printed under the step's own line.
    lines: Vec<(u64, String)>,
    /// The schedule's own numbers of the steps so far in which something left a node: their places are what is printed.
    steps: Vec<u64>,
    times: Option<Times>,
    /// The sides of the machine.
    radices: Vec<u64>,
}

impl<W: Write> Tracer<W> {
    fn new(out: W, only: Only, summary: bool, bytes: bool) -> Self {
        let (lines, steps, radices) = (Vec::new(), Vec::new(), Vec::new());
        let (phase, times) = (None, None);
        Self { out, only, summary, bytes, phase, rearrangements: 0, has_virtual: false, lines, steps, times, radices }
    }

    fn put(&mut self, text: &str) {
        // Nobody listening any more is found out where it is printed.
        drop(writeln!(self.out, "{text}"));
    }

    /// Prints what was sent in the step that a fault ended.
    fn put_unfinished(&mut self) {
        if !self.lines.is_empty() {
            self.put_phase();
            self.put("  a step that was not finished");
        }
        for (_, line) in std::mem::take(&mut self.lines) {
            self.put(&line);
        }
    }
}

impl<W: Write> Tracer<W> {
    /// Prints what was sent before the schedule's step `before`, in steps in which nothing left a node.
    fn put_what_stays(&mut self, before: u64) {
        let (stays, rest) =
            std::mem::take(&mut self.lines).into_iter().partition::<Vec<_>, _>(|(step, _)| *step < before);
        self.lines = rest;
        if !stays.is_empty() {
            self.put_phase();
            self.put("  within nodes only");
        }
        for (_, line) in stays {
            self.put(&line);
        }
    }

    /// Prints what ranks did when.
    fn put_times(&mut self) {
        let Some(times) = self.times.take() else { return };
        let lines = match times.told() {
            Ok(told) => told.lines(
                self.only,
                self.summary,
                |step| self.printed(step),
                |rank| name(&coordinates(rank as u64, &self.radices)),
            ),
            Err(why) => vec![why],
        };
        lines.iter().for_each(|line| self.put(line));
    }

    /// The number under which a step is printed.
    fn printed(&self, schedule_step: u64) -> usize {
        self.steps.partition_point(|step| *step <= schedule_step)
    }

    fn put_phase(&mut self) {
        if let Some(name) = self.phase.take() {
            self.put(&name);
        }
    }

    fn put_rearrangements(&mut self) {
        for _ in 0..std::mem::take(&mut self.rearrangements) {
            self.put("  every node rearranges what it holds");
        }
    }

    fn put_legend(&mut self) {
        if self.has_virtual {
            self.put("\n* a virtual node: one of the schedule's own grid that has no node of the machine to itself; named by the node that runs it");
        }
    }

    fn noun(&self, proof: Proof) -> &'static str {
        match proof {
            Proof::Contributions if !self.bytes => "value",
            Proof::Blocks if !self.bytes => "block",
            Proof::Blocks | Proof::Contributions | Proof::ByteCounts => "byte",
        }
    }
}

impl<W: Write> Listener for Tracer<W> {
    fn wants_sends(&self) -> bool {
        !self.summary
    }

    fn wants_after(&self) -> bool {
        !self.summary || self.times.is_some()
    }

    fn summed(&mut self, summed: Summed<'_>) {
        if let Some(times) = &mut self.times {
            times.summed(summed);
        }
    }

    fn local_copy(&mut self, copy: LocalCopy) {
        if let Some(times) = &mut self.times {
            times.local_copy(copy);
        }
    }

    fn phase(&mut self, name: &str) {
        self.put_what_stays(u64::MAX);
        self.phase = Some(name.to_owned());
    }

    fn sent(&mut self, sent: &Sent<'_>) {
        if !self.only.has(sent.step, sent.from, sent.to) {
            return;
        }
        let names = Names::new(sent);
        self.has_virtual |= names.is_virtual(sent.from) || names.is_virtual(sent.to);
        let mut line = format!("    {:>9} -> {:<9}", names.node(sent.from), names.node(sent.to));
        line += &format!(" {:>7} ", amount(sent.load, self.noun(sent.proof)));
        if sent.from.physical == sent.to.physical {
            line += " local copy";
        }
        if sent.combine {
            line += " combined";
        }
        if let Some(route) = sent.route {
            line += &direction(route);
        }
        for (i, bits) in sent.boxes.iter().enumerate() {
            line += if i == 0 { " " } else { ", " };
            line += &names.selection(bits);
        }
        if sent.after > 0 {
            line += &format!(" (after step {})", self.printed(sent.after));
        }
        self.lines.push((sent.step, line.trim_end().to_owned()));
    }

    fn unsent(&mut self, unsent: &Unsent) {
        if unsent.is_refused {
            let line = format!("    {:>9} -> {:<9} breaks a rule", unsent.from.physical, unsent.to.physical);
            self.lines.push((unsent.step, line));
        }
    }

    fn step(&mut self, step: &Step<'_>) {
        self.steps.push(step.schedule_step);
        if let Some(times) = &mut self.times {
            times.step(step);
        }
        if self.lines.is_empty() && !self.only.is_all() {
            return;
        }
        let now = self.lines.last().map_or(0, |(step, _)| *step);
        self.put_what_stays(now);
        self.put_phase();
        self.put_rearrangements();
        let facts = &step.facts;
        let parts = if step.segments > 1 && step.proof != Proof::ByteCounts {
            format!(" of 1/{}", step.segments)
        } else {
            String::new()
        };
        self.put(&format!(
            "  step {}: {}, longest {}{parts} over {}, busiest link {}",
            step.number,
            amount(facts.messages, "message"),
            amount(facts.max_load, self.noun(step.proof)),
            amount(facts.max_hops, "hop"),
            amount(facts.max_link_messages, "message"),
        ));
        for (_, line) in std::mem::take(&mut self.lines) {
            self.put(&line);
        }
        drop(self.out.flush());
    }

    fn rearranged(&mut self, _: u64, _: u64) {
        self.put_what_stays(u64::MAX);
        self.rearrangements += u32::from(self.only.is_all());
    }
}

fn amount(n: u64, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// Names nodes and sets in the machine's own coordinates, whatever the schedule's grid.
struct Names<'a> {
    sent: &'a Sent<'a>,
    radices: &'a [u64],
}

impl<'a> Names<'a> {
    fn new(sent: &'a Sent<'a>) -> Self {
        Self { sent, radices: sent.topology.radices() }
    }

    fn coordinates(&self, physical: u64) -> Vec<u64> {
        coordinates(physical, self.radices)
    }

    /// A node by the one of the machine that runs it; a virtual one is marked.
    fn node(&self, place: Place) -> String {
        let name = name(&self.coordinates(place.physical));
        if self.is_virtual(place) { format!("{name}*") } else { name }
    }

    /// Whether it runs on a node of the machine that owns another node of the grid.
    fn is_virtual(&self, place: Place) -> bool {
        self.sent.placement.home(place.physical) != place.virtual_node
    }

    /// A box in words: `from (0,0) for (*,4-7)`.
    fn selection(&self, bits: &[u64]) -> String {
        let layout = self.sent.layout;
        let side = |side: Side, word: &str| layout.has(side).then(|| format!("{word} {}", self.set(side, bits)));
        let destinations = if self.sent.in_parts { "in part" } else { "for" };
        let parts = layout.coordinates_of(Side::Segments, bits);
        let parts =
            parts.first().filter(|_| layout.segments() > 1).map(|c| format!("part {}", ranges(c, layout.segments())));
        let words = [parts, side(Side::Origins, "from"), side(Side::Destinations, destinations)];
        words.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    /// A set of nodes: a product of coordinates if it is one, else how many there are.
    fn set(&self, side: Side, bits: &[u64]) -> String {
        let nodes: Vec<u64> =
            self.sent.layout.nodes_of(side, bits).iter().map(|n| self.sent.placement.physical(*n)).collect();
        let mut axes = vec![BTreeSet::new(); self.coordinates(0).len()];
        for node in &nodes {
            for (axis, c) in axes.iter_mut().zip(self.coordinates(*node)) {
                axis.insert(c);
            }
        }
        if axes.iter().map(BTreeSet::len).product::<usize>() != nodes.len() {
            return format!("{} nodes", nodes.len());
        }
        let nodes_of_machine = [self.sent.topology.nodes()];
        let radices = if axes.len() == 1 { &nodes_of_machine[..] } else { self.radices };
        let texts: Vec<String> = axes
            .iter()
            .zip(radices)
            .map(|(axis, radix)| ranges(&axis.iter().copied().collect::<Vec<_>>(), *radix))
            .collect();
        if texts.len() == 1 { texts.concat() } else { format!("({})", texts.join(",")) }
    }
}

/// The coordinates of a node of the machine, where there are two to four; else its number.
fn coordinates(physical: u64, radices: &[u64]) -> Vec<u64> {
    if !(2..=4).contains(&radices.len()) {
        return vec![physical];
    }
    let mut rest = physical;
    let mut coordinates: Vec<u64> = radices
        .iter()
        .rev()
        .map(|radix| {
            let c = rest % radix;
            rest /= radix;
            c
        })
        .collect();
    coordinates.reverse();
    coordinates
}

/// What a node of these coordinates is called.
fn name(coordinates: &[u64]) -> String {
    let c: Vec<String> = coordinates.iter().map(u64::to_string).collect();
    if c.len() == 1 { c.join(",") } else { format!("({})", c.join(",")) }
}

fn direction(route: &Route) -> String {
    if !route.path.is_empty() {
        let path: Vec<String> = route.path.iter().map(u64::to_string).collect();
        return format!(" by {}", path.join("-"));
    }
    route
        .signs
        .iter()
        .enumerate()
        .filter(|(_, sign)| **sign != 0)
        .map(|(dim, sign)| format!(" {}dim{}", if *sign > 0 { '+' } else { '-' }, dim + 1))
        .collect()
}

/// Coordinates as ranges: `0-3`, `1,5,9`, `*` for all.
fn ranges(coordinates: &[u64], radix: u64) -> String {
    if coordinates.len() as u64 == radix && radix > 1 {
        return "*".to_owned();
    }
    let mut text = String::new();
    let mut rest = coordinates;
    while let Some(first) = rest.first() {
        let run = rest.iter().zip(*first..).take_while(|(c, expected)| **c == *expected).count();
        if !text.is_empty() {
            text.push(' ');
        }
        text += &first.to_string();
        if run > 1 {
            text += &format!("{}{}", if run == 2 { ' ' } else { '-' }, rest[run - 1]);
        }
        rest = &rest[run..];
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use swapmeet_core::delivery::boxes::{Axis, NodeSet};
    use swapmeet_core::delivery::collective::{ALL_TO_ALL, Collective};
    use swapmeet_core::delivery::exchange::Rule;
    use swapmeet_core::network::topology::parse;
    use swapmeet_core::simulation::{Simulation, Task};

    #[test]
    fn what_stays_within_nodes_stands_under_its_own_phase() {
        let mut tracer = Tracer::new(Vec::new(), Only::default(), false, false);
        let task = Task::new(parse("ring:2").unwrap(), Collective::of(&ALL_TO_ALL));
        let mut simulation = Simulation::new(task, vec![&mut tracer]).unwrap();
        for (phase, ends) in [("out", (0, 1)), ("copies", (1, 1)), ("back", (1, 0))] {
            simulation.phase(phase).unwrap();
            simulation.step().unwrap();
            let rule = Rule {
                from: ends.0,
                to: ends.1,
                origins: NodeSet::One(ends.0),
                destinations: NodeSet::One(ends.1),
                segments: Axis::All,
                strict: true,
                copy: false,
                combine: false,
                local: ends.0 == ends.1,
            };
            simulation.send(&rule, None).unwrap();
        }
        simulation.finish().unwrap();
        let text = String::from_utf8(tracer.out).unwrap();
        let headed: Vec<&str> = text.lines().filter(|line| !line.starts_with("    ")).collect();
        let step = |number| format!("  step {number}: 1 message, longest 1 block over 1 hop, busiest link 1 message");
        assert_eq!(headed, ["out", &step(1), "copies", "  within nodes only", "back", &step(2)]);
    }
}
