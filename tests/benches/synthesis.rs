//! Measures the search for schedules. `cargo bench --bench synthesis` prints a line for each
//! network, or for the networks whose names contain an argument. The line has the number of steps of
//! the schedule, its excess over a lower bound, and the processor time and memory of the plan. For an
//! allgather, the bound is the number of blocks that a node receives, divided by the number of its
//! links. Otherwise, it is the certified lower end of the optimum. The host of this benchmark only
//! counts steps. Each row is measured in its own process, because the kernel reports only the peak
//! memory of a whole process.

#![expect(clippy::unwrap_used, reason = "a benchmark stops at the first error")]

#[path = "networks.rs"]
mod networks;

use networks::{cpu_seconds, random, without};
use std::process::Command;
use std::sync::Arc;
use swapmeet_core::cost::machine::Machine;
use swapmeet_core::delivery::collective::{ALL_TO_ALL, Collective};
use swapmeet_core::network::topology::{self, parse};
use swapmeet_core::simulation::Task;
use swapmeet_optimum::network::{PortRule, Ports};
use swapmeet_optimum::optimum::{problem, solve_problem};
use swapmeet_optimum::{MachineTask, Options};
use swapmeet_sdk::abi::hosting::{
    Claim, Functions, Host, Network, Passed, Problem, Room, Text, Unreadable,
};
use swapmeet_sdk::abi::{
    SWM_ALLGATHER, SWM_ALLTOALL, SWM_OK, SwmAlgorithm, SwmBlocks, SwmBucket, SwmByteCount,
    SwmBytes, SwmLayout, SwmLink, SwmRedistribution,
};

const ROW: &str = "SWAPMEET_BENCH_ROW";

struct Row {
    spec: &'static str,
    /// The number of removed edges, which are pairs of links in opposite directions.
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

    fn topology(&self) -> Arc<topology::Network> {
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

fn measure(row: &Row) {
    let topology = row.topology();
    let name = if row.gathers { "greedy-allgather" } else { "flow" };
    let mut host = Counter::new(topology.as_ref(), row.ports);
    let start = cpu_seconds();
    host.plan(topology.as_ref(), name, row.gathers);
    let (seconds, megabytes) = (cpu_seconds() - start, peak_megabytes());
    let lower = if row.gathers {
        let links = host.links.iter().map(Vec::len).min().unwrap();
        (topology.nodes() - 1) as f64 / links as f64
    } else {
        // Compute the optimum only after the memory of the plan was read, because this needs
        // memory, too.
        let task = Task::new(Arc::clone(&topology), Collective::of(&ALL_TO_ALL));
        let rates = Machine::parse("free:byte_us=1,ports=all").unwrap().network_rates().unwrap();
        let mut problem = problem(&MachineTask { task: &task, unit_bytes: 1.0, rates }).unwrap();
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

struct Counter {
    links: Vec<Vec<SwmLink>>,
    ports: u64,
    steps: u64,
    /// Whether the current step has no sends yet. Steps without sends are not counted.
    is_new: bool,
    reason: String,
}

impl Counter {
    fn new(topology: &topology::Network, ports: u64) -> Self {
        let mut links = vec![Vec::new(); (topology.nodes() + topology.switches()) as usize];
        for (from, to) in (0..topology.link_slots()).filter_map(|link| topology.link_ends(link)) {
            links[from as usize].push(SwmLink { to, bandwidth: 1.0, latency: 1.0 });
        }
        links.iter_mut().for_each(|links| links.sort_by_key(|link| link.to));
        Self { links, ports, steps: 0, is_new: false, reason: String::new() }
    }

    fn plan(&mut self, topology: &topology::Network, name: &str, gathers: bool) {
        let spec = topology.spec();
        let (nodes, dims) = (topology.nodes(), topology.radices());
        let problem = Problem {
            collective: if gathers { SWM_ALLGATHER } else { SWM_ALLTOALL },
            network: Network { kind: topology.kind(), spec: &spec, nodes, dims },
            base: None,
            root: 0,
            params: &[],
            permutation: None,
        };
        let code = algorithm(name).plan(&problem, self);
        assert!(code == SWM_OK, "{spec}: {}", self.reason);
    }
}

fn algorithm(name: &str) -> Functions<'static> {
    // SAFETY: the table of a linked plugin is valid for the life of the process.
    let plugin = unsafe { Passed::new(swapmeet_plugin_synthesis::plugin_table()) };
    let is_named = |algorithm: &Passed<'_, *const SwmAlgorithm>| {
        algorithm.read().unwrap().name().bytes() == name.as_bytes()
    };
    let algorithm = plugin.read().unwrap().algorithms().parts().find(is_named);
    algorithm.unwrap().functions().unwrap()
}

macro_rules! unused {
    ($($name:ident($($argument:ty),*) -> $result:ty;)+) => {
        $(fn $name(&mut self $(, _: $argument)*) -> $result {
            unreachable!("the search for schedules does not call `{}`", stringify!($name))
        })+
    };
}

impl Host for Counter {
    type Refusal = Unreadable;

    fn answer(&mut self, work: impl FnOnce(&mut Self) -> Result<(), Unreadable>) -> bool {
        work(self).is_ok()
    }

    fn fail(&mut self, reason: Text<'_>) {
        self.reason = String::from_utf8_lossy(reason.bytes()).into_owned();
    }

    fn log(&mut self, _: u32, _: Text<'_>) {}

    fn ports(&mut self) -> u64 {
        self.ports
    }

    fn vertices(&mut self) -> u64 {
        self.links.len() as u64
    }

    fn can_reduce(&mut self, _: u64) -> bool {
        false
    }

    fn uniform(&mut self) -> bool {
        true
    }

    fn links(&mut self, vertex: u64, links: Room<'_, SwmLink>) -> Result<(), Unreadable> {
        links.write(&self.links[vertex as usize])
    }

    fn layout(&mut self, _: Passed<'_, *const SwmLayout>) -> Result<(), Unreadable> {
        Ok(())
    }

    fn symmetric(&mut self, claim: Claim<'_>) -> Result<(), Unreadable> {
        claim.write(claim.axes().iter().map(|axis| 0..axis.unit))
    }

    fn phase(&mut self, _: Text<'_>) -> Result<(), Unreadable> {
        Ok(())
    }

    fn step(&mut self) -> Result<(), Unreadable> {
        self.is_new = true;
        Ok(())
    }

    fn send_blocks(&mut self, _: Passed<'_, *const SwmBlocks>) -> Result<(), Unreadable> {
        self.steps += u64::from(std::mem::take(&mut self.is_new));
        Ok(())
    }

    unused! {
        block_bytes() -> u64;
        pair_bytes(u64, u64) -> u64;
        virtual_channels() -> u64;
        element_bytes() -> u64;
        destination(u64) -> u64;
        startup_us() -> f64;
        hop_us() -> f64;
        byte_us() -> f64;
        shares_routes() -> bool;
        demand(u64, Room<'_, SwmByteCount>) -> Result<(), Unreadable>;
        token_bytes(u64, Room<'_, u64>) -> Result<(), Unreadable>;
        token_receivers(u64, u64, Room<'_, u64>) -> Result<(), Unreadable>;
        place(u64, u64, bool) -> Result<(), Unreadable>;
        send_bucket(Passed<'_, *const SwmBucket>) -> Result<(), Unreadable>;
        send_bytes(Passed<'_, *const SwmBytes>) -> Result<(), Unreadable>;
        redistribute(Passed<'_, *const SwmRedistribution>) -> Result<(), Unreadable>;
        rearrange() -> Result<(), Unreadable>;
    }
}

fn peak_megabytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}
