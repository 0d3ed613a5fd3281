//! Chapter 3: Table 3.2, and the formulas on a cycle that it is made of.

use super::{Costs, Round, Torus, Why, bounds, compare, log};
use crate::bench::{Bench, ReproduceError};
use crate::report::Table;

/// A row of Tables 3.1 and 3.2.
#[derive(Debug)]
pub(super) struct Operation {
    /// The thesis's name of it.
    pub name: &'static str,
    /// `one-port`, `hybrid` or `all-ports`.
    pub model: &'static str,
    /// The machine's ports.
    pub ports: &'static str,
    algorithm: &'static str,
    workload: &'static str,
    formula: fn(Torus, Round) -> Costs,
    why: Why,
}

const ALL_PORTS: Why = &[
    (
        "switching",
        "circuits of all rounds add up to (n-1)/2 a dimension where n is a power of 2q+1; elsewhere sections are uneven and the longest counts",
    ),
    UNEVEN,
];
const ONE_PORT: Why = &[
    (
        "switching",
        "n/2 a dimension takes a first circuit to the neighbour, which only q = 1 and a power of two allow: with one port a circuit reaches past the sections on its side",
    ),
    UNEVEN,
];
const UNEVEN: (&str, &str) = (
    "propagation",
    "sections are as even as n allows, and the largest counts; where the last are of one node, fewer than q circuits share a link",
);
const FEWER: (&str, &str) = (
    "rounds",
    "k is the divisor of n of fewest rounds within q circuits a link: the thesis's k = 2q puts q + 1 circuits on a link in phase 1, and its q = k in phase 2 needs n/q whole",
);
const CIRCUITS: (&str, &str) = ("switching", "follows from that k");
const GOSSIP: Why =
    &[FEWER, CIRCUITS, ("propagation", "follows from that k; and the block for the node opposite goes one way only")];
const MULTI: Why = &[
    FEWER,
    CIRCUITS,
    (
        "propagation",
        "bundles keep their size from dimension to dimension, so the factor is d n^(d-1) with one port and n^(d-1) otherwise, not (N-1)/(n-1) and a d-th of it; on a cycle the block for the node opposite goes one way only",
    ),
];

/// Table 3.2.
pub(super) const OPERATIONS: &[Operation] = &[
    Operation {
        name: "broadcast",
        model: "one-port",
        ports: "1",
        algorithm: "torus-broadcast",
        workload: "broadcast/uniform:1",
        formula: |torus, round| {
            let [d, n, q, _] = torus.figures();
            let rounds = round(log(q + 1.0, n));
            Costs { rounds: d * rounds, switching: d * n / 2.0, propagation: d * q * rounds }
        },
        why: ONE_PORT,
    },
    Operation {
        name: "broadcast",
        model: "all-ports",
        ports: "all",
        algorithm: "torus-broadcast",
        workload: "broadcast/uniform:1",
        formula: |torus, round| {
            let [d, n, q, _] = torus.figures();
            let rounds = round(log(2.0 * q + 1.0, n));
            Costs { rounds: d * rounds, switching: d * n / 2.0, propagation: q * rounds }
        },
        why: ALL_PORTS,
    },
    Operation {
        name: "scatter",
        model: "one-port",
        ports: "1",
        algorithm: "torus-scatter",
        workload: "scatter/uniform:1",
        formula: scatter_one_port,
        why: ONE_PORT,
    },
    Operation {
        name: "scatter",
        model: "all-ports",
        ports: "all",
        algorithm: "torus-scatter",
        workload: "scatter/uniform:1",
        formula: scatter_all_ports,
        why: ALL_PORTS,
    },
    Operation {
        name: "gather",
        model: "one-port",
        ports: "1",
        algorithm: "torus-gather",
        workload: "gather/uniform:1",
        formula: scatter_one_port,
        why: ONE_PORT,
    },
    Operation {
        name: "gather",
        model: "all-ports",
        ports: "all",
        algorithm: "torus-gather",
        workload: "gather/uniform:1",
        formula: scatter_all_ports,
        why: ALL_PORTS,
    },
    Operation {
        name: "gossip",
        model: "one-port",
        ports: "1",
        algorithm: "torus-gossip",
        workload: "allgather/uniform:1",
        formula: |torus, _| {
            let [d, n, q, nodes] = torus.figures();
            let blocks = 2.0 * n - n / (2.0 * q) - q - 1.0;
            Costs { propagation: blocks * (nodes - 1.0) / (n - 1.0), ..two_phases(torus, d * (n / 2.0 + q * q)) }
        },
        why: GOSSIP,
    },
    Operation {
        name: "gossip",
        model: "hybrid",
        ports: "all",
        algorithm: "torus-gossip:variant=hybrid",
        workload: "allgather/uniform:1",
        formula: |torus, _| {
            let [d, n, q, nodes] = torus.figures();
            let blocks = 1.5 * n + n / (2.0 * q) - q - 1.0;
            let switching = d * (n / 2.0 + 2.0 * q * q - q);
            Costs { propagation: blocks * (nodes - 1.0) / (d * (n - 1.0)), ..two_phases(torus, switching) }
        },
        why: GOSSIP,
    },
    Operation {
        name: "gossip",
        model: "all-ports",
        ports: "all",
        algorithm: "torus-gossip",
        workload: "allgather/uniform:1",
        formula: |torus, _| {
            let [d, n, _, nodes] = torus.figures();
            Costs { propagation: 1.5 * n * (nodes - 1.0) / (d * (n - 1.0)), ..all_ports_phases(torus) }
        },
        why: GOSSIP,
    },
    Operation {
        name: "multi-scatter",
        model: "one-port",
        ports: "1",
        algorithm: "torus-multiscatter",
        workload: "uniform:1",
        formula: |torus, _| {
            let [d, n, q, nodes] = torus.figures();
            let blocks = (q + 1.0) / q * n * n / 8.0 + 0.75 * q * n;
            Costs { propagation: blocks * (nodes - 1.0) / (n - 1.0), ..two_phases(torus, d * (n / 2.0 + q * q)) }
        },
        why: MULTI,
    },
    Operation {
        name: "multi-scatter",
        model: "hybrid",
        ports: "all",
        algorithm: "torus-multiscatter:variant=hybrid",
        workload: "uniform:1",
        formula: |torus, _| {
            let [d, n, q, nodes] = torus.figures();
            let blocks = (q + 1.0) / q * n * n / 8.0 + (q + 1.0) * n / 2.0;
            let switching = d * (n / 2.0 + 2.0 * q * q - q);
            Costs { propagation: blocks * (nodes - 1.0) / (d * (n - 1.0)), ..two_phases(torus, switching) }
        },
        why: MULTI,
    },
    Operation {
        name: "multi-scatter",
        model: "all-ports",
        ports: "all",
        algorithm: "torus-multiscatter",
        workload: "uniform:1",
        formula: |torus, _| {
            let [d, n, q, nodes] = torus.figures();
            let blocks = n * n / 8.0 + (q + 1.0) * n / 2.0;
            Costs { propagation: blocks * (nodes - 1.0) / (d * (n - 1.0)), ..all_ports_phases(torus) }
        },
        why: MULTI,
    },
];

fn scatter_one_port(torus: Torus, round: Round) -> Costs {
    let [d, n, q, nodes] = torus.figures();
    Costs { rounds: d * round(log(q + 1.0, n)), switching: d * n / 2.0, propagation: nodes - 1.0 }
}

fn scatter_all_ports(torus: Torus, round: Round) -> Costs {
    let [d, n, q, nodes] = torus.figures();
    let rounds = d * round(log(2.0 * q + 1.0, n));
    Costs { rounds, switching: d * n / 2.0, propagation: (nodes - 1.0) / (2.0 * d) }
}

/// Rounds with k = 2q virtual cycles.
fn two_phases(torus: Torus, switching: f64) -> Costs {
    let [d, n, q, _] = torus.figures();
    Costs { rounds: d * (n / (4.0 * q) + q), switching, propagation: 0.0 }
}

/// Rounds and switching with k = q virtual cycles.
fn all_ports_phases(torus: Torus) -> Costs {
    let [d, n, q, _] = torus.figures();
    let switching = d * (n / 2.0 + q * q / 2.0 - q / 2.0);
    Costs { rounds: d * (n / (2.0 * q) + q / 2.0), switching, propagation: 0.0 }
}

/// Where broadcasts, scatters and gathers are run: powers of 2q + 1, of q + 1, and neither.
pub(super) const TORI: [Torus; 7] = [
    Torus::new(1, 27, 1),
    Torus::new(1, 16, 1),
    Torus::new(1, 27, 2),
    Torus::new(2, 9, 1),
    Torus::new(2, 25, 2),
    Torus::new(2, 8, 2),
    Torus::new(3, 9, 1),
];

/// Where gossips and multi-scatters are run: there are no two phases with q = 1.
pub(super) const MULTI_SCATTERS: [Torus; 5] =
    [Torus::new(1, 16, 2), Torus::new(1, 32, 4), Torus::new(1, 64, 4), Torus::new(2, 8, 2), Torus::new(3, 4, 2)];

impl Operation {
    /// Whether the thesis has it in two phases.
    pub fn in_two_phases(&self) -> bool {
        matches!(self.name, "gossip" | "multi-scatter")
    }

    /// What the verified schedule takes.
    pub fn run(&self, bench: &Bench<'_>, torus: Torus) -> Result<Costs, ReproduceError> {
        torus.run(bench, (self.algorithm, self.workload), self.ports, torus.q)
    }
}

/// Table 3.2, and the same with the thesis's number of virtual cycles.
pub(super) fn tables(bench: &Bench<'_>) -> Result<Vec<Table>, ReproduceError> {
    let mut table = Table::new(
        "Table 3.2",
        "Disseminations, with formulas 3.1 to 3.4 and 3.5 to 3.9 where d is 1. Rounds; links of the longest circuits; blocks. The lower bound is Table 3.1's, mended: half of an odd cycle, and what links can carry in a multi-scatter.",
    );
    let mut cycles = Table::new(
        "Table 3.2, k = 2q",
        "Gossip and multi-scatter with one port and in the hybrid form with the thesis's k = 2q virtual cycles, on a machine that allows the q + 1 circuits a link that this takes; with all ports k = q.",
    );
    for operation in OPERATIONS {
        if !operation.in_two_phases() {
            for torus in TORI {
                let ours = operation.run(bench, torus)?;
                let row = format!("{}, {}, {}", operation.name, operation.model, torus.name());
                let bound = Some(bounds::sound(operation, torus).into());
                compare(&mut table, &row, &|round| (operation.formula)(torus, round), ours, bound, operation.why);
            }
            continue;
        }
        for torus in MULTI_SCATTERS {
            let row = format!("{}, {}, {}", operation.name, operation.model, torus.name());
            let formula = |round: Round| (operation.formula)(torus, round);
            let bound = Some(bounds::sound(operation, torus).into());
            compare(&mut table, &row, &formula, operation.run(bench, torus)?, bound, operation.why);
            let (k, channels) =
                if operation.model == "all-ports" { (torus.q, torus.q) } else { (2 * torus.q, torus.q + 1) };
            let separator = if operation.algorithm.contains(':') { ',' } else { ':' };
            let algorithm = format!("{}{separator}cycles={k}", operation.algorithm);
            let ours = torus.run(bench, (&algorithm, operation.workload), operation.ports, channels)?;
            compare(
                &mut cycles,
                &row,
                &formula,
                ours,
                None,
                if operation.name == "gossip" { GOSSIP_CYCLES } else { MULTI_CYCLES },
            );
        }
    }
    Ok(vec![table, cycles])
}

const GOSSIP_CYCLES: Why = &[
    NO_PHASE_1[0],
    NO_PHASE_1[1],
    ("propagation", "the block for the node opposite goes one way only, in both phases"),
];
const MULTI_CYCLES: Why = &[
    NO_PHASE_1[0],
    NO_PHASE_1[1],
    (
        "propagation",
        "on d dimensions the factor is d n^(d-1) with one port and n^(d-1) otherwise; on a cycle the block for the node opposite goes one way only",
    ),
];
const NO_PHASE_1: [(&str, &str); 2] =
    [("rounds", "with k = n there is no phase 1"), ("switching", "with k = n there is no phase 1")];
