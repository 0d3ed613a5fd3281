//! Table II and the theorems behind it.

use super::{Time, time};
use crate::bench::{Bench, ReproduceError};
use crate::report::{Table, Verdict};
use std::sync::Arc;
use swapmeet_core::network::topology::{Topology, parse};

/// A pattern of Table II: its name there, ours, and the algorithms on cubes and dual-nets.
struct Pattern {
    name: &'static str,
    collective: &'static str,
    cube: &'static str,
    rdn: &'static str,
    /// Which theorem gives its time.
    theorem: &'static str,
}

const PATTERNS: [Pattern; 4] = [
    Pattern {
        name: "One2All_B",
        collective: "broadcast",
        cube: "hypercube-broadcast",
        rdn: "rdn-broadcast",
        theorem: "Theorem 3",
    },
    Pattern {
        name: "One2All_P",
        collective: "scatter",
        cube: "hypercube-scatter",
        rdn: "rdn-scatter",
        theorem: "Theorem 4",
    },
    Pattern {
        name: "All2All_B",
        collective: "allgather",
        cube: "hypercube-allgather",
        rdn: "rdn-allgather",
        theorem: "Theorem 5",
    },
    Pattern {
        name: "All2All_P",
        collective: "alltoall",
        cube: "hypercube-alltoall",
        rdn: "rdn-alltoall",
        theorem: "Theorem 6",
    },
];

/// A network of Table II, with start-ups and words of each pattern there.
struct Network {
    name: &'static str,
    spec: &'static str,
    /// Levels; 0 for a cube.
    k: u32,
    paper: [(u64, u128); 4],
}

const NETWORKS: [Network; 4] = [
    Network { name: "7-cube", spec: "hypercube:7", k: 0, paper: [(7, 7), (7, 127), (7, 127), (7, 448)] },
    Network { name: "RDN^1(B)", spec: "rdn:1(hypercube:3)", k: 1, paper: [(8, 8), (8, 127), (8, 134), (8, 512)] },
    Network {
        name: "15-cube",
        spec: "hypercube:15",
        k: 0,
        paper: [(15, 15), (15, 32_767), (15, 32_767), (15, 245_760)],
    },
    Network {
        name: "RDN^2(B)",
        spec: "rdn:2(hypercube:3)",
        k: 2,
        paper: [(18, 18), (18, 33_783), (18, 33_925), (18, 294_912)],
    },
];

/// Nodes of the base, a 3-cube.
const N_0: u64 = 8;

/// A cell of Table II.
struct Cell {
    pattern: &'static Pattern,
    network: &'static Network,
    paper: Time,
    printed: Time,
    /// `None` on cubes, whose algorithms are as the paper cites them.
    lean: Option<Time>,
    bound: Time,
    /// Words of the base's own algorithm for blocks of one word.
    base: Time,
}

/// All that Table II and the theorems need.
pub struct Measured {
    cells: Vec<Cell>,
}

impl Measured {
    /// Runs the schedules.
    pub fn run(bench: &Bench<'_>) -> Result<Self, ReproduceError> {
        let mut cells: Vec<Cell> = Vec::new();
        for network in &NETWORKS {
            let topology = parse(network.spec).ok();
            for (pattern, (startups, words)) in PATTERNS.iter().zip(network.paper) {
                let base = time(bench, "hypercube:3", pattern.cube, pattern.collective, 1)?;
                let run = |algorithm: &str| time(bench, network.spec, algorithm, pattern.collective, 1);
                let mut lean = None;
                let printed = if network.k == 0 {
                    run(pattern.cube)?
                } else {
                    lean = Some(run(pattern.rdn)?);
                    run(&format!("{}:variant=printed", pattern.rdn))?
                };
                cells.push(Cell {
                    pattern,
                    network,
                    paper: Time { startups, words },
                    printed,
                    lean,
                    bound: bound(topology.as_ref(), pattern),
                    base,
                });
            }
        }
        Ok(Self { cells })
    }
}

/// n_k over a 3-cube.
fn nodes(k: u32) -> u64 {
    (0..k).fold(N_0, |n, _| 2 * n * n)
}

/// What no schedule with one port beats: hops to the farthest node; what a node must send or receive, or the links its blocks must cross.
fn bound(topology: Option<&Arc<dyn Topology>>, pattern: &Pattern) -> Time {
    let Some(topology) = topology else { return Time { startups: 0, words: 0 } };
    let startups = topology.diameter();
    let words = match pattern.collective {
        "broadcast" => startups,
        "alltoall" => topology.distance_sum().unwrap_or(0),
        _ => topology.nodes() - 1,
    };
    Time { startups, words: words.into() }
}

/// Table II, cell by cell.
pub fn table_2(measured: &Measured) -> Table {
    let mut table = Table::new(
        "Table II",
        "Start-ups and words of each pattern: the paper's beside the algorithm as printed; then what our lean variant takes, and what no one-port schedule beats. \
         The base B is a 3-cube; cubes run the algorithms of Kumar et al. that the paper cites.",
    );
    for cell in &measured.cells {
        let name = format!("{} on {}", cell.pattern.name, cell.network.name);
        table.add(
            (&name, "start-ups"),
            cell.paper.startups,
            cell.printed.startups,
            Verdict::exactly(&cell.paper.startups, &cell.printed.startups),
            "",
        );
        table.add(
            (&name, "words"),
            cell.paper.words,
            cell.printed.words,
            Verdict::exactly(&cell.paper.words, &cell.printed.words),
            why(cell),
        );
        if let Some(lean) = cell.lean {
            let start = if lean.startups == cell.printed.startups { "in as many start-ups" } else { "" };
            table.add((&name, "words, lean"), "", lean.words, Verdict::NotGiven, start);
        }
        table.add(
            (&name, "least words"),
            "",
            cell.bound.words,
            Verdict::NotGiven,
            match (cell.paper.words < cell.bound.words, cell.pattern.collective) {
                (true, _) => "the paper's figure is below it: no schedule has so few words",
                (false, "alltoall") => "the distances from a node to all others",
                (false, "broadcast") => "the diameter",
                (false, _) => "a block for, or from, each other node",
            },
        );
    }
    table
}

/// Why a cell of the paper's isn't what its algorithm takes.
fn why(cell: &Cell) -> &'static str {
    let slip = match (cell.pattern.collective, cell.network.k) {
        ("allgather", 1) => "134 drops the own block from the last message alone",
        ("scatter", 2) => "32767 - 128 - 8 + 1024 + 128 - 8 + 8: the first 8 counts words of messages of 128",
        ("allgather", 2) => "the own block is dropped everywhere but in the second call for RDN^1(B)",
        ("alltoall", 1) => "both crossings are charged 64 words; the one in the middle carries 127",
        ("alltoall", 2) => "16384 words for each of 18 steps; the crossings in the middle carry more",
        _ => "",
    };
    if cell.paper == cell.printed { "" } else { slip }
}

/// Theorems 3 to 6 over a 3-cube, beside the runs.
pub fn theorems(measured: &Measured) -> Table {
    let mut table = Table::new(
        "Theorems 3 to 6",
        "Words of the algorithms as printed over a 3-cube, whose own T(0, m) are runs: the theorem's formula, the run, and our correction of the formula. \
         Theorems 4 to 6 say *approximately*.",
    );
    for cell in measured.cells.iter().filter(|cell| cell.network.k > 0) {
        let (k, base) = (cell.network.k, cell.base);
        let (n_0, n_k) = (u128::from(N_0), u128::from(nodes(k)));
        let name = format!("{}, k = {k}", cell.pattern.theorem);
        let startups = (1 << (k + 1)) - 2 + (1 << k) * base.startups;
        table.add(
            (&name, "start-ups"),
            startups,
            cell.printed.startups,
            Verdict::exactly(&startups, &cell.printed.startups),
            "",
        );
        // r = (2 n_0)^(2^k - 1) / 2^k
        let r = (2 * n_0).pow((1 << k) - 1) >> k;
        let bases = r * base.words + r / n_0 * base.words + ((1 << k) - 2) * base.words;
        let (printed, corrected, what) = match cell.pattern.collective {
            "broadcast" => (startups.into(), startups.into(), "as printed"),
            "alltoall" => {
                let bases = (1 << k) * (n_k / n_0) * base.words;
                let terms = 3 * ((1 << k) - 1) * n_k / 2;
                (3 * (1 << k) * n_k + bases, terms + bases, "(3/2) (2^k - 1) n_k in place of 3 * 2^k n_k")
            }
            _ => (n_k + bases, n_k - (n_k >> k) + bases, "(1 - 2^-k) n_k in place of n_k"),
        };
        table.add(
            (&name, "words"),
            printed,
            cell.printed.words,
            Verdict::measured(printed as f64, cell.printed.words as f64, 0),
            "",
        );
        if corrected != printed {
            table.add(
                (&name, "words, corrected"),
                corrected,
                cell.printed.words,
                Verdict::measured(corrected as f64, cell.printed.words as f64, 0),
                what,
            );
        }
    }
    table
}
