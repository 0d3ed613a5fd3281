//! Measures the search for schedules: `cargo bench --bench synthesis` prints a line for each
//! network. The line contains the number of steps of the schedule, the excess of this number over a
//! lower bound, and the processor time and memory of the plan. The bound is the certified lower end
//! of the optimum. For an allgather, it is the number of blocks that a node receives, divided by
//! the number of its links. The host of this benchmark only counts steps, so verification is not
//! included. An argument selects the networks whose names contain it.
//!
//! Each row is measured in its own process, because the kernel reports only the peak memory of a
//! whole process.

#![expect(clippy::unwrap_used, reason = "a benchmark stops at the first error")]

#[path = "networks.rs"]
mod networks;

use networks::{cpu_seconds, random, without};
use std::ffi::c_void;
use std::process::Command;
use std::sync::Arc;
use swapmeet_core::cost::machine::Machine;
use swapmeet_core::delivery::collective::{ALL_TO_ALL, Collective};
use swapmeet_core::network::topology::{Topology, parse};
use swapmeet_core::simulation::Task;
use swapmeet_optimum::network::{PortRule, Ports};
use swapmeet_optimum::optimum::{problem, solve_problem};
use swapmeet_optimum::{Options, Question};
use swapmeet_sdk::abi::{
    SWM_ALLGATHER, SWM_ALLTOALL, SWM_OK, SwmAlgorithm, SwmBlocks, SwmHost, SwmLayout, SwmLink,
    SwmProblem, SwmStr, SwmSymmetry, SwmTopology,
};

/// The environment variable that tells a child process which row to measure.
const ROW: &str = "SWAPMEET_BENCH_ROW";

/// A network and a collective to measure.
struct Row {
    spec: &'static str,
    /// The number of edges that are removed from the network. An edge is a pair of links in
    /// opposite directions.
    without: usize,
    ports: u64,
    gathers: bool,
}

const fn row(spec: &'static str, without: usize, ports: u64, gathers: bool) -> Row {
    Row { spec, without, ports, gathers }
}

const ROWS: [Row; 19] = [
    row("mesh:8x8", 0, u64::MAX, false),
    row("mesh:16x16", 0, u64::MAX, false),
    row("mesh:16x32", 0, u64::MAX, false),
    row("torus:8x8x8", 8, u64::MAX, false),
    row("random:512,6", 0, u64::MAX, false),
    row("random:1024,6", 0, u64::MAX, false),
    row("mesh:32x32", 0, u64::MAX, false),
    row("torus:8x8x16", 10, u64::MAX, false),
    row("mesh:8x8", 0, 1, false),
    row("torus:8x8", 0, 1, false),
    row("random:64,4", 0, 1, false),
    row("mesh:8x8", 0, u64::MAX, true),
    row("torus:16x16", 0, u64::MAX, true),
    row("mesh:32x32", 0, u64::MAX, true),
    row("torus:32x32", 0, u64::MAX, true),
    row("torus:32x32", 10, u64::MAX, true),
    row("random:1024,6", 0, u64::MAX, true),
    row("torus:64x64", 10, u64::MAX, true),
    row("random:4096,6", 0, u64::MAX, true),
];

impl Row {
    fn name(&self) -> String {
        let without = match self.without {
            0 => String::new(),
            links => format!(" without {links} links"),
        };
        let ports = if self.ports == 1 { ", one port" } else { "" };
        let task = if self.gathers { ", allgather" } else { "" };
        format!("{}{without}{ports}{task}", self.spec)
    }

    fn topology(&self) -> Arc<dyn Topology> {
        match self.spec.strip_prefix("random:").and_then(|rest| rest.split_once(',')) {
            Some((nodes, degree)) => random(nodes.parse().unwrap(), degree.parse().unwrap()),
            None if self.without > 0 => without(self.spec, self.without),
            None => parse(self.spec).unwrap(),
        }
    }
}

fn main() {
    let selected: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    if let Some(number) = std::env::var(ROW).ok().and_then(|row| row.parse::<usize>().ok()) {
        measure(&ROWS[number]);
        return;
    }
    println!(
        "{:<40} {:>10} {:>6} {:>8} {:>8} {:>6}",
        "network", "lower end", "steps", "above", "CPU s", "MB"
    );
    for (number, row) in ROWS.iter().enumerate() {
        let name = row.name();
        if !selected.is_empty() && !selected.iter().any(|part| name.contains(part)) {
            continue;
        }
        let mut own = Command::new(std::env::current_exe().unwrap());
        own.env(ROW, number.to_string()).status().unwrap();
    }
}

/// Makes the schedule of a row and prints its line of the table.
fn measure(row: &Row) {
    let topology = row.topology();
    let name = if row.gathers { "greedy-allgather" } else { "flow" };
    let mut host = Counter::new(topology.as_ref(), row.ports);
    let start = cpu_seconds();
    host.plan(topology.as_ref(), name, row.gathers);
    let (seconds, megabytes) = (cpu_seconds() - start, peak_megabytes());
    let lower = if row.gathers {
        // Each node receives the blocks of all other nodes over its own links.
        let links = host.links.iter().map(Vec::len).min().unwrap();
        (topology.nodes() - 1) as f64 / links as f64
    } else {
        // Compute the optimum after the memory of the plan has been read, because it needs memory
        // too.
        let task = Task::new(Arc::clone(&topology), Collective::of(&ALL_TO_ALL));
        let rates = Machine::parse("free:byte_us=1,ports=all").unwrap().network_rates().unwrap();
        let mut problem = problem(&Question { task: &task, unit_bytes: 1.0, rates }).unwrap();
        if row.ports == 1 {
            // A schedule in steps stores every block at every node on its path.
            problem.0.ports.push(Ports { rule: PortRule::EveryHop, capacity: 1 });
        }
        let options = &mut Options { gap: 0.005, progress: &mut |_, _| true };
        solve_problem(problem, options).unwrap().lower_us
    };
    let above = (host.steps as f64 / lower.ceil() - 1.0) * 100.0;
    println!(
        "{:<40} {lower:>10.1} {:>6} {above:>6.2} % {seconds:>8.2} {megabytes:>6}",
        row.name(),
        host.steps
    );
}

/// A host that counts the steps of a schedule.
struct Counter {
    /// For each vertex, the links that leave it.
    links: Vec<Vec<SwmLink>>,
    ports: u64,
    steps: u64,
    /// Whether the current step has no send yet. Steps without sends are not counted.
    is_new: bool,
    reason: String,
}

impl Counter {
    fn new(topology: &dyn Topology, ports: u64) -> Self {
        let mut links = vec![Vec::new(); (topology.nodes() + topology.switches()) as usize];
        for (from, to) in (0..topology.link_slots()).filter_map(|link| topology.link_ends(link)) {
            links[from as usize].push(SwmLink { to, bandwidth: 1.0, latency: 1.0 });
        }
        links.iter_mut().for_each(|links| links.sort_by_key(|link| link.to));
        Self { links, ports, steps: 0, is_new: false, reason: String::new() }
    }

    fn plan(&mut self, topology: &dyn Topology, name: &str, gathers: bool) {
        let spec = topology.spec();
        let described = SwmTopology {
            size: size_of::<SwmTopology>() as u32,
            dim_count: topology.radices().len() as u32,
            kind: SwmStr::new(topology.kind()),
            spec: SwmStr::new(&spec),
            nodes: topology.nodes(),
            dims: topology.radices().as_ptr(),
            base: std::ptr::null(),
            levels: 0,
        };
        let problem = SwmProblem {
            size: size_of::<SwmProblem>() as u32,
            collective: if gathers { SWM_ALLGATHER } else { SWM_ALLTOALL },
            topology: &raw const described,
            root: 0,
            params: std::ptr::null(),
            param_count: 0,
            permutation: SwmStr::EMPTY,
        };
        let table = SwmHost { ctx: std::ptr::from_mut(self).cast(), ..host_table() };
        let algorithm = algorithm(name);
        // SAFETY: the table belongs to the linked plugin. Problem and host outlive the call.
        let code =
            unsafe { (*algorithm).plan.unwrap()(algorithm, &raw const problem, &raw const table) };
        assert!(code == SWM_OK, "{spec}: {}", self.reason);
    }
}

/// Returns the table of the algorithm with this name.
fn algorithm(name: &str) -> *const SwmAlgorithm {
    // SAFETY: the table of a linked plugin is valid for the life of the process.
    unsafe {
        let plugin = &*swapmeet_plugin_synthesis::plugin_table();
        let algorithms = (0..plugin.algorithm_count as usize).map(|i| *plugin.algorithms.add(i));
        algorithms
            .into_iter()
            .find(|algorithm| (**algorithm).name.bytes() == name.as_bytes())
            .unwrap()
    }
}

/// Returns the host to which the context pointer points.
///
/// # Safety
/// `ctx` must be the context of a host made by [`Counter::plan`].
unsafe fn counter<'a>(ctx: *mut c_void) -> &'a mut Counter {
    // SAFETY: the caller guarantees that `ctx` points to a host. The plugin uses only one thread.
    unsafe { &mut *ctx.cast::<Counter>() }
}

fn host_table() -> SwmHost {
    unsafe extern "C" fn fail(ctx: *mut c_void, reason: SwmStr) {
        // SAFETY: `ctx` is the context of the table, and texts are readable during the call. Both
        // conditions are true for all functions below.
        unsafe { counter(ctx).reason = String::from_utf8_lossy(reason.bytes()).into_owned() };
    }
    unsafe extern "C" fn ports(ctx: *mut c_void) -> u64 {
        // SAFETY: see `fail`.
        unsafe { counter(ctx).ports }
    }
    unsafe extern "C" fn vertices(ctx: *mut c_void) -> u64 {
        // SAFETY: see `fail`.
        unsafe { counter(ctx).links.len() as u64 }
    }
    unsafe extern "C" fn uniform(_: *mut c_void) -> u32 {
        1
    }
    unsafe extern "C" fn links(
        ctx: *mut c_void,
        vertex: u64,
        list: *mut SwmLink,
        room: u64,
        count: *mut u64,
    ) -> i32 {
        // SAFETY: see `fail`; the list has room for `room` links.
        unsafe {
            let links = &counter(ctx).links[vertex as usize];
            (0..room as usize).zip(links).for_each(|(i, link)| list.add(i).write(*link));
            count.write(links.len() as u64);
        }
        SWM_OK
    }
    unsafe extern "C" fn layout(_: *mut c_void, _: *const SwmLayout) -> i32 {
        SWM_OK
    }
    unsafe extern "C" fn phase(_: *mut c_void, _: SwmStr) -> i32 {
        SWM_OK
    }
    unsafe extern "C" fn step(ctx: *mut c_void) -> i32 {
        // SAFETY: see `fail`.
        unsafe { counter(ctx).is_new = true };
        SWM_OK
    }
    unsafe extern "C" fn send_blocks(ctx: *mut c_void, _: *const SwmBlocks) -> i32 {
        // SAFETY: see `fail`.
        let counter = unsafe { counter(ctx) };
        counter.steps += u64::from(std::mem::take(&mut counter.is_new));
        SWM_OK
    }
    unsafe extern "C" fn symmetric_from(
        _: *mut c_void,
        axes: *const SwmSymmetry,
        axis_count: u64,
        first: *mut u64,
        planned: *mut u64,
    ) -> i32 {
        for axis in 0..axis_count as usize {
            // SAFETY: the lists have one entry for each axis.
            unsafe {
                first.add(axis).write(0);
                planned.add(axis).write((*axes.add(axis)).unit);
            }
        }
        SWM_OK
    }
    // SAFETY: numbers, nullable pointers and nullable functions may all be zero.
    let empty: SwmHost = unsafe { std::mem::zeroed() };
    SwmHost {
        size: size_of::<SwmHost>() as u32,
        fail: Some(fail),
        ports: Some(ports),
        layout: Some(layout),
        phase: Some(phase),
        step: Some(step),
        send_blocks: Some(send_blocks),
        symmetric_from: Some(symmetric_from),
        vertices: Some(vertices),
        links: Some(links),
        uniform: Some(uniform),
        ..empty
    }
}

/// Returns the peak memory of this process.
fn peak_megabytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}
