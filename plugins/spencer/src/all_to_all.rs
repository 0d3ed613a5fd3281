//! Gossip (allgather) and multi-scatter (all-to-all) in two phases (sections 3.4 and 3.5).
//!
//! | symbol, in addition to those of the crate | here | meaning |
//! | --- | --- | --- |
//! | k | `k` | number of virtual cycles |
//! | p | `p` | number of nodes of a cycle of one phase: n/k in phase 1, k in phase 2 |
//! | m beta | | time of one block on a link (L tau in the thesis) |
//!
//! Phase 1 uses k virtual cycles. Each consists of every k-th node of the cycle, so its circuits
//! are k links long. Phase 2 uses cycles of k neighbouring nodes, each closed by a circuit of k - 1
//! links that leads back. A torus uses one dimension after another, and each message is split into
//! segments, the lanes, which use the dimensions in different orders.
//!
//! The time on one cycle, with all ports and k = q, is `(n/2q + q/2) alpha + (n/2 + q^2/2 - q/2)
//! delta` plus that of the transfers:
//! * `3n/2 m beta` for a gossip (formula 3.5);
//! * `(n^2/8 + (q+1) n/2) m beta` for a multi-scatter (formula 3.8).
//!
//! In d dimensions, the terms with alpha and delta are multiplied by d, and the time of the
//! transfers by `(N-1)/(d (n-1))` for a gossip (formula 3.7) or `n^(d-1)` for a multi-scatter, for
//! which the thesis prints the factor of the gossip.
//!
//! Remarks on the thesis:
//! * The thesis uses k = q with all ports, and "q = about k/2" with one port. With one port and
//!   k = 2q, however, a link carries q + 1 circuits in phase 1 if n/k is even. So that a link
//!   carries at most q circuits, an even k can then be at most 2q - 2, and an odd k at most 2q - 1.
//!   If n/k is odd, k can be at most q. The plugin chooses the divisor of n with the fewest rounds,
//!   unless the user sets `cycles=K`. With k = 1, which q = 1 implies, the cycle is not divided.
//! * If n is even, the block for the opposite node is sent forwards only, so that the last round
//!   has half as many blocks. Formulas 3.5 to 3.9 send it in both directions or leave this open.

use crate::ring::Method;
use crate::torus::{Torus, Variant};
use crate::{CircuitCollective, TORUS};
use std::ops::Range;
use swapmeet_sdk::{
    About, Axis, Blocks, Collective, ParamInfo, Planned, Problem, Route, Schedule, Set, Stop,
    Symmetry, bit_words, words,
};

const VARIANTS: [(&str, Variant); 3] =
    [("one-port", Variant::OnePort), ("hybrid", Variant::Hybrid), ("all-ports", Variant::AllPorts)];

const VARIANT: ParamInfo = ParamInfo::choice(
    "variant",
    &words(&VARIANTS),
    "",
    "ports that a node uses; by default those of the machine (one-port or all-ports)",
);
const CYCLES: ParamInfo = ParamInfo::number(
    "cycles",
    "",
    "number of virtual cycles in phase 1 (k), a divisor of every dimension; by default the one with the fewest rounds",
);

const ALL_TO_ALL: CircuitCollective =
    CircuitCollective { about: TORUS, variants: &VARIANTS, check: |_| Ok(()), plan };

pub(crate) const GOSSIP: CircuitCollective = CircuitCollective {
    about: About {
        name: "torus-gossip",
        title: "Allgather on circuits, in virtual cycles",
        collectives: &[Collective::AllGather],
        params: &[VARIANT, CYCLES],
        ..TORUS
    },
    ..ALL_TO_ALL
};

pub(crate) const MULTISCATTER: CircuitCollective = CircuitCollective {
    about: About {
        name: "torus-multiscatter",
        title: "All-to-all on circuits, in virtual cycles",
        collectives: &[Collective::AllToAll],
        params: &[VARIANT, CYCLES],
        ..TORUS
    },
    ..ALL_TO_ALL
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TwoPhase {
    n: u64,
    k: u64,
    methods: [Method; 2],
}

impl TwoPhase {
    fn new(n: u64, k: u64, variant: Variant) -> Self {
        let method = |p: u64, all: bool| match (all, p % 2) {
            (true, _) => Method::BothWays,
            (false, 0) => Method::Pairs,
            (false, _) => Method::OneWay,
        };
        let methods =
            [method(n / k, variant == Variant::AllPorts), method(k, variant != Variant::OnePort)];
        Self { n, k, methods }
    }

    /// Returns the smallest k with the fewest rounds among those with at most q circuits on a link.
    pub(crate) fn within(n: u64, q: u64, variant: Variant) -> Self {
        let fits = (1..=n.min(2 * q))
            .filter(|k| n.is_multiple_of(*k))
            .map(|k| Self::new(n, k, variant))
            .filter(|t| t.circuits() <= q);
        fits.min_by_key(|t| (t.rounds(0) + t.rounds(1), t.k))
            .unwrap_or_else(|| Self::new(n, 1, variant))
    }

    fn p(&self, phase: usize) -> u64 {
        if phase == 0 { self.n / self.k } else { self.k }
    }

    fn rounds(&self, phase: usize) -> u64 {
        self.methods[phase].rounds(self.p(phase))
    }

    /// Returns the period of the coordinates: shifts by its multiples are symmetries. A shift by k
    /// maps each virtual cycle to itself or to the next. If nodes form pairs in phase 1, only a
    /// shift by 2k maps pairs to pairs.
    fn period(&self) -> u64 {
        let pairs = self.methods[0] == Method::Pairs && self.rounds(0) > 0;
        if pairs { 2 * self.k } else { self.k }
    }

    pub(crate) fn circuits(&self) -> u64 {
        let k = self.k;
        let first = match self.methods[0] {
            _ if self.n == k => 0,
            Method::Pairs if k == 1 => 1,
            // Neighbouring virtual cycles begin with different edges, so in a round, about half of
            // the k virtual cycles use the same link.
            Method::Pairs if k.is_multiple_of(2) => k / 2 + 1,
            Method::Pairs => k.div_ceil(2),
            Method::OneWay | Method::BothWays => k,
        };
        let second = match self.methods[1] {
            _ if k <= 2 => k - 1,
            Method::OneWay => 1,
            Method::Pairs | Method::BothWays => 2,
        };
        first.max(second)
    }
}

fn choose(torus: &Torus, cycles: Option<u64>) -> Result<Vec<TwoPhase>, Stop> {
    torus
        .dims
        .iter()
        .map(|&n| match cycles {
            None => Ok(TwoPhase::within(n, torus.q, torus.variant)),
            Some(k) if n == 1 || k > 0 && n % k == 0 => {
                Ok(TwoPhase::new(n, if n == 1 { 1 } else { k }, torus.variant))
            }
            Some(k) => Err(Stop::unsupported(format!(
                "`cycles={k}` does not divide a dimension of {n} nodes"
            ))),
        })
        .collect()
}

fn plan(problem: &Problem<'_>, torus: &Torus, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
    let two_phase = choose(torus, problem.given("cycles")?)?;
    let lanes = torus.lanes();
    schedule.layout(&torus.dims, lanes.len() as u32)?;
    let periods: Vec<u64> = two_phase.iter().map(TwoPhase::period).collect();
    let planned = schedule
        .symmetric(&periods.iter().map(|period| Symmetry::shift(*period)).collect::<Vec<_>>())?;
    for stage in 0..torus.cycles.len() {
        for phase in 0..2 {
            let rounds =
                lanes.iter().map(|order| two_phase[order[stage]].rounds(phase)).max().unwrap_or(0);
            if rounds > 0 {
                schedule.phase(&format!(
                    "dimension number {} of each lane, phase {}",
                    stage + 1,
                    phase + 1
                ))?;
            }
            for round in 1..=rounds {
                schedule.step()?;
                let active = (0..).zip(&lanes).map(|(lane, order)| (lane, order[stage]));
                let active = active.filter(|(_, dim)| round <= two_phase[*dim].rounds(phase));
                let messages = |(lane, dim): (u64, usize)| {
                    (
                        lane,
                        dim,
                        messages(
                            &two_phase[dim],
                            planned.coordinates(dim),
                            phase,
                            round,
                            problem.collective(),
                        ),
                    )
                };
                send_all(
                    torus,
                    schedule,
                    &planned,
                    &active.map(messages).collect::<Vec<_>>(),
                    problem.collective(),
                )?;
            }
        }
    }
    Ok(())
}

struct RingMessage {
    to: u64,
    plus: bool,
    origins: Vec<u64>,
    destinations: Vec<u64>,
}

fn messages(
    cycle: &TwoPhase,
    coordinates: Range<u64>,
    phase: usize,
    round: u64,
    collective: Collective,
) -> Vec<Vec<RingMessage>> {
    let (n, k, p) = (cycle.n, cycle.k, cycle.p(phase));
    let gossip = collective == Collective::AllGather;
    coordinates
        .map(|x| {
            // `place` is the number of a node on its cycle. `colour` selects the edges of the first
            // round. In phase 1, it depends on the virtual cycle. In phase 2 of a gossip, the first
            // round uses the closing circuit, because the circuit then carries one message instead
            // of two.
            let (place, colour) =
                if phase == 0 { (x / k, x % k) } else { (x % k, u64::from(gossip)) };
            let sends = cycle.methods[phase].sends(p, round, place, colour, gossip);
            let at_place = |i: u64| if phase == 0 { i * k + x % k } else { x / k * k + i };
            let ring_messages = sends.into_iter().map(|m| {
                let next = if m.forwards { (place + 1) % p } else { (place + p - 1) % p };
                // In phase 2, the closing circuit leads back over the links of the cycle.
                let plus = if phase == 0 { m.forwards } else { next > place };
                // The ranges of a message are places on the current cycle. In phase 1, place i
                // stands for k neighbouring nodes; in phase 2, for all nodes of a virtual cycle.
                let from = |c: u64| if phase == 0 { c / k } else { c % k };
                RingMessage {
                    to: at_place(next),
                    plus,
                    origins: bit_words(n, (0..n).filter(|c| m.origins.contains(from(*c), p))),
                    destinations: bit_words(
                        n,
                        (0..n).filter(|c| m.destinations.contains(from(*c), p)),
                    ),
                }
            });
            ring_messages.collect()
        })
        .collect()
}

type LaneMessages = (u64, usize, Vec<Vec<RingMessage>>);

fn send_all(
    torus: &Torus,
    schedule: &mut Schedule<'_>,
    nodes: &Planned,
    lanes: &[LaneMessages],
    collective: Collective,
) -> Result<(), Stop> {
    let signs: Vec<[Vec<i8>; 2]> = lanes
        .iter()
        .map(|(_, dim, _)| [torus.along(*dim, false), torus.along(*dim, true)])
        .collect();
    let (mut origins, mut destinations) =
        (vec![Axis::ALL; torus.dims.len()], vec![Axis::ALL; torus.dims.len()]);
    for from in nodes {
        for ((lane, dim, messages), signs) in lanes.iter().zip(&signs) {
            let c = torus.coordinate(from, *dim) - nodes.coordinates(*dim).start;
            for message in &messages[c as usize] {
                origins[*dim] = Axis::bits(&message.origins);
                destinations[*dim] = Axis::bits(&message.destinations);
                let route = Route::signs(&signs[usize::from(message.plus)]);
                let send = Blocks::new(from, torus.moved(from, *dim, message.to))
                    .segments(Axis::one(*lane));
                let send = send.origins(Set::product(&origins)).route(&route);
                schedule.send(&match collective {
                    Collective::AllGather => send.copy(),
                    _ => send.destinations(Set::product(&destinations)),
                })?;
            }
            origins[*dim] = Axis::ALL;
            destinations[*dim] = Axis::ALL;
        }
    }
    Ok(())
}
