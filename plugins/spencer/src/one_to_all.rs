//! Broadcast, scatter and gather (sections 3.2 and 3.3).
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | (m_1, .., m_d) | `lanes` | the d segments of a message, each of which uses the dimensions in a different order |
//!
//! In each round, each section of a cycle (at first the whole cycle) is divided into 2q+1 equal
//! sections (q+1 with one port). The informed node in the middle of one of them informs the middle
//! nodes of the others. A gather is a scatter in reverse. A torus uses one dimension after another.
//! With all ports, each of d segments uses the dimensions in a different order, (1, 2, .., d), (2,
//! .., d, 1), etc., so that all links are used.
//!
//! Costs with all ports, L tau being the time of one message on a link:
//!
//! | | rounds (alpha) | switching (delta) | propagation (L tau) |
//! | --- | --- | --- | --- |
//! | broadcast, formula 3.2 | d log_(2q+1) n | d n/2 | q log_(2q+1) n |
//! | scatter and gather, formula 3.4 | d log_(2q+1) n | d n/2 | (N-1) / 2d |
//!
//! With one port, the base of the logarithm is q+1, and the propagation is 2d times (broadcast) or
//! d times (scatter) the value in the table (Table 3.2). If n is not a power of 2q+1, logarithms
//! are rounded up; otherwise switching is d (n-1)/2.

use crate::torus::{Torus, Variant};
use crate::tree::{Circuit, Payload, divide, one_port_start};
use crate::{CircuitCollective, PORT_VARIANTS, TORUS};
use swapmeet_sdk::{About, Axis, Blocks, Collective, Problem, Route, Schedule, Set, Stop};

const ONE_TO_ALL: CircuitCollective =
    CircuitCollective { about: TORUS, variants: &PORT_VARIANTS, check: |_| Ok(()), plan };

pub(crate) const BROADCAST: CircuitCollective = CircuitCollective {
    about: About {
        name: "torus-broadcast",
        title: "Broadcast on circuits, by repeated division",
        collectives: &[Collective::Broadcast],
        ..TORUS
    },
    ..ONE_TO_ALL
};

pub(crate) const SCATTER: CircuitCollective = CircuitCollective {
    about: About {
        name: "torus-scatter",
        title: "Scatter on circuits, by repeated division",
        collectives: &[Collective::Scatter],
        ..TORUS
    },
    ..ONE_TO_ALL
};

pub(crate) const GATHER: CircuitCollective = CircuitCollective {
    about: About {
        name: "torus-gather",
        title: "Gather on circuits: a scatter in reverse",
        collectives: &[Collective::Gather],
        ..TORUS
    },
    ..ONE_TO_ALL
};

/// The circuits of each round in one dimension. The cycle is cut open to a line at the coordinate
/// `cut`, so that the root is at the place where the division of the line begins.
struct Cycle {
    n: u64,
    cut: u64,
    rounds: Vec<Vec<Circuit>>,
}

impl Cycle {
    fn new(torus: &Torus, dim: usize, root: u64, payload: Payload) -> Self {
        let n = torus.dims[dim];
        let at = if torus.variant == Variant::OnePort { one_port_start(n, torus.q) } else { n / 2 };
        let cut = (torus.coordinate(root, dim) + n - at) % n;
        Self { n, cut, rounds: divide(n, at, torus.q, torus.variant, payload) }
    }

    fn coordinate(&self, place: u64) -> u64 {
        (self.cut + place) % self.n
    }
}

fn plan(problem: &Problem<'_>, torus: &Torus, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
    let lanes = torus.lanes();
    schedule.layout(&torus.dims, lanes.len() as u32)?;
    let root = problem.root();
    let payload = if problem.collective() == Collective::Broadcast {
        Payload::Message
    } else {
        Payload::Bundle
    };
    let cycles: Vec<Cycle> =
        (0..torus.dims.len()).map(|dim| Cycle::new(torus, dim, root, payload)).collect();
    let backwards = problem.collective() == Collective::Gather;
    let in_order =
        |count: usize| (0..count).map(move |i| if backwards { count - 1 - i } else { i });
    for stage in in_order(torus.cycles.len()) {
        schedule.phase(&format!("dimension number {} of each lane", stage + 1))?;
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
            _ => send,
        })?;
    }
    Ok(())
}
