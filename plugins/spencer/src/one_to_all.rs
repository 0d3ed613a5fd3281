//! Broadcast, scatter and gather (sections 3.2 and 3.3).
//!
//! With d dimensions of n nodes and all ports, alpha a round, delta a link, beta (the thesis's tau)
//! a byte: a broadcast d log_(2q+1) n alpha + d n/2 delta + q log_(2q+1) n m beta (3.2), a scatter
//! or gather d log_(2q+1) n alpha + d n/2 delta + (N - 1)/2d m beta (3.4); with one port log_(q+1),
//! and 2d and d times the last terms (Table 3.2).
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | d | `cycles.len()` | dimensions |
//! | n, N | | nodes of a dimension, of the torus: N = n^d |
//! | (m_1, .., m_d) | `lanes` | which part of each message is sent in which dimension |
//!
//! A cycle is divided into 2q+1 equal sections (q+1 with one port) around whoever is informed; it
//! informs the others' middles, and so on in each section. A torus takes a dimension after another;
//! with all ports the message is in d parts, each of which takes the dimensions in an order of its
//! own, so that all links are used: (1, 2, .., d), (2, .., d, 1), .. A scatter sends bundles that
//! shrink from round to round, a gather is a scatter read backwards.
//!
//! | | rounds | switching | propagation |
//! | --- | --- | --- | --- |
//! | broadcast, 3.2 | d log_(2q+1) n | d n/2 | q log_(2q+1) n |
//! | scatter, 3.4 | d log_(2q+1) n | d n/2 | (N-1) / 2d |
//!
//! The logarithms are rounded up where n is no power of 2q+1, and where it is, switching is d
//! (n-1)/2.

use crate::torus::{Torus, Variant};
use crate::tree::{Carries, Circuit, divide, one_port_start};
use crate::{Collected, ONE_AND_ALL, TORUS};
use swapmeet_sdk::{About, Axis, Blocks, Collective, Problem, Route, Schedule, Set, Stop};

/// What the three have in common.
const ONE_TO_ALL: Collected =
    Collected { about: TORUS, variants: &ONE_AND_ALL, check: |_| Ok(()), plan };

pub(crate) const BROADCAST: Collected = Collected {
    about: About {
        name: "torus-broadcast",
        title: "One-to-all on circuits: every cycle in 2q+1 sections, again and again",
        collectives: &[Collective::Broadcast],
        ..TORUS
    },
    ..ONE_TO_ALL
};

pub(crate) const SCATTER: Collected = Collected {
    about: About {
        name: "torus-scatter",
        title: "One-to-all personalized on circuits: the broadcast's, with shrinking bundles",
        collectives: &[Collective::Scatter],
        ..TORUS
    },
    ..ONE_TO_ALL
};

pub(crate) const GATHER: Collected = Collected {
    about: About {
        name: "torus-gather",
        title: "All-to-one personalized on circuits: a scatter read backwards",
        collectives: &[Collective::Gather],
        ..TORUS
    },
    ..ONE_TO_ALL
};

/// A cycle as seen from the root: it lies `before` nodes after the cut.
struct Cycle {
    n: u64,
    cut: u64,
    rounds: Vec<Vec<Circuit>>,
}

impl Cycle {
    fn new(torus: &Torus, dim: usize, root: u64, carries: Carries) -> Self {
        let n = torus.dims[dim];
        let at = if torus.variant == Variant::OnePort { one_port_start(n, torus.q) } else { n / 2 };
        let cut = (torus.coordinate(root, dim) + n - at) % n;
        Self { n, cut, rounds: divide(n, at, torus.q, torus.variant, carries) }
    }

    fn coordinate(&self, place: u64) -> u64 {
        (self.cut + place) % self.n
    }
}

/// The schedule of a broadcast, a scatter or a gather.
fn plan(problem: &Problem<'_>, torus: &Torus, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
    let lanes = torus.lanes();
    schedule.layout(&torus.dims, lanes.len() as u32)?;
    let root = problem.root();
    let carries = if problem.collective() == Collective::Broadcast {
        Carries::Message
    } else {
        Carries::Bundle
    };
    let cycles: Vec<Cycle> =
        (0..torus.dims.len()).map(|dim| Cycle::new(torus, dim, root, carries)).collect();
    let backwards = problem.collective() == Collective::Gather;
    let in_order =
        |count: usize| (0..count).map(move |i| if backwards { count - 1 - i } else { i });
    for stage in in_order(torus.cycles.len()) {
        schedule.phase(&format!("dimension {} of each lane's order", stage + 1))?;
        let rounds = lanes.iter().map(|order| cycles[order[stage]].rounds.len()).max().unwrap_or(0);
        let lines: Vec<Vec<u64>> =
            lanes.iter().map(|order| torus.span(root, &order[..stage])).collect();
        for round in in_order(rounds) {
            schedule.step()?;
            for (lane, order) in lanes.iter().enumerate() {
                let dim = order[stage];
                let Some(circuits) = cycles[dim].rounds.get(round) else { continue };
                for circuit in circuits {
                    inform(
                        torus,
                        schedule,
                        problem.collective(),
                        &cycles[dim],
                        dim,
                        circuit,
                        (lane as u64, &lines[lane]),
                    )?;
                }
            }
        }
    }
    Ok(())
}

/// One circuit of a cycle, in every line of the dimension that has been reached.
fn inform(
    torus: &Torus,
    schedule: &mut Schedule<'_>,
    collective: Collective,
    cycle: &Cycle,
    dim: usize,
    circuit: &Circuit,
    (lane, lines): (u64, &[u64]),
) -> Result<(), Stop> {
    let (from, to) = (cycle.coordinate(circuit.from), cycle.coordinate(circuit.to));
    let plus = (circuit.to > circuit.from) != (collective == Collective::Gather);
    let signs = torus.along(dim, plus);
    let route = Route::signs(&signs);
    let mut section = vec![Axis::ALL; torus.dims.len()];
    section[dim] = Axis::range(cycle.coordinate(circuit.first), circuit.count);
    for line in lines {
        let (from, to) = (torus.moved(*line, dim, from), torus.moved(*line, dim, to));
        let send = if collective == Collective::Gather {
            Blocks::new(to, from)
        } else {
            Blocks::new(from, to)
        };
        let send = send.segments(Axis::one(lane)).route(&route);
        schedule.send(&match collective {
            Collective::Broadcast => send.copy(),
            Collective::Scatter => send.destinations(Set::product(&section)),
            // All it holds: its section's.
            _ => send,
        })?;
    }
    Ok(())
}
