//! Gossip and multi-scatter in two phases (sections 3.4 and 3.5).
//!
//! On a cycle with all ports and k = q: (n/2q + q/2) alpha + (n/2 + q^2/2 - q/2) delta, and 3n/2 m
//! beta for a gossip (3.5), (n^2/8 + (q+1) n/2) m beta for a multi-scatter (3.8). On d dimensions d
//! times the first two, and the last times (N-1)/(d (n-1)) for a gossip (3.7), n^(d-1) for a
//! multi-scatter (printed: as the gossip's).
//!
//! | symbol | here | meaning |
//! | --- | --- | --- |
//! | n | `n` | nodes of a cycle |
//! | k | `k` | virtual cycles it is divided into |
//! | p | `p` | nodes of a cycle that is gossiped on: n/k in phase 1, k in phase 2 |
//! | q | `q` | circuits that a directed link carries |
//!
//! Phase 1 is on k virtual cycles of every k-th node, whose circuits are k links long; phase 2 on
//! cycles of k neighbours, closed by a circuit of k - 1 links back over the same links. A torus
//! takes a dimension after another, in lanes as the broadcast does.
//!
//! **What the thesis says, and what holds.** It takes k = q virtual cycles with all ports, and "q =
//! about k/2" with one port. With k = 2q a link carries q + 1 circuits in a one-port phase 1, not
//! q: within q circuits it is k = 2q - 2, or 2q - 1 where that divides n. Here k is the divisor of
//! n that takes the fewest rounds within q circuits; `cycles=K` sets it. Where nothing divides n,
//! or q = 1, that is the plain cycle, k = 1. The block for the node opposite, where there is one,
//! goes forwards only, which halves the last round (formulas 3.5 to 3.9 send it both ways or don't
//! say).

use crate::ring::Method;
use crate::torus::{Torus, Variant};
use crate::{Collected, TORUS};
use swapmeet_sdk::{
    About, Axis, Blocks, Collective, ParamInfo, Planned, Problem, Route, Schedule, Set, Stop,
    Symmetry, words,
};

const ALL_THREE: [(&str, Variant); 3] =
    [("one-port", Variant::OnePort), ("hybrid", Variant::Hybrid), ("all-ports", Variant::AllPorts)];

const VARIANT: ParamInfo = ParamInfo::choice(
    "variant",
    &words(&ALL_THREE),
    "",
    "ports a node uses: one-port, hybrid or all-ports; as the machine's ports when not given",
);
const CYCLES: ParamInfo = ParamInfo::number(
    "cycles",
    "",
    "virtual cycles of the first phase (k), a divisor of every dimension; when not given, the one of fewest rounds within the machine's virtual channels",
);

/// What both have in common.
const ALL_TO_ALL: Collected =
    Collected { about: TORUS, variants: &ALL_THREE, check: |_| Ok(()), plan };

pub(crate) const GOSSIP: Collected = Collected {
    about: About {
        name: "torus-gossip",
        title: "All-to-all on circuits: k virtual cycles, then cycles of k neighbours",
        collectives: &[Collective::AllGather],
        params: &[VARIANT, CYCLES],
        ..TORUS
    },
    ..ALL_TO_ALL
};

pub(crate) const MULTISCATTER: Collected = Collected {
    about: About {
        name: "torus-multiscatter",
        title: "All-to-all personalized on circuits: k virtual cycles, then cycles of k neighbours",
        collectives: &[Collective::AllToAll],
        params: &[VARIANT, CYCLES],
        ..TORUS
    },
    ..ALL_TO_ALL
};

/// How one dimension is done.
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

    /// The k of the fewest rounds within q circuits a link; the least of those that tie.
    pub(crate) fn within(n: u64, q: u64, variant: Variant) -> Self {
        let fits = (1..=n.min(2 * q))
            .filter(|k| n.is_multiple_of(*k))
            .map(|k| Self::new(n, k, variant))
            .filter(|t| t.circuits() <= q);
        fits.min_by_key(|t| (t.rounds(0) + t.rounds(1), t.k))
            .unwrap_or_else(|| Self::new(n, 1, variant))
    }

    /// Nodes of a cycle in phase 1 or 2.
    fn p(&self, phase: usize) -> u64 {
        if phase == 0 { self.n / self.k } else { self.k }
    }

    fn rounds(&self, phase: usize) -> u64 {
        self.methods[phase].rounds(self.p(phase))
    }

    /// By multiples of what coordinates may be shifted and all else shifts with them: k takes every
    /// cycle of phase 2 to the next one, and every node of phase 1 one on, which where nodes pair
    /// up must be two.
    fn period(&self) -> u64 {
        let pairs = self.methods[0] == Method::Pairs && self.rounds(0) > 0;
        if pairs { 2 * self.k } else { self.k }
    }

    /// The most circuits on a directed link.
    pub(crate) fn circuits(&self) -> u64 {
        let k = self.k;
        let first = match self.methods[0] {
            _ if self.n == k => 0,
            Method::Pairs if k == 1 => 1,
            // Neighbouring virtual cycles begin with edges of different colour.
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

/// How each dimension of the torus is done; `cycles` is the user's k, if given.
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

/// The schedule of a gossip or a multi-scatter.
fn plan(problem: &Problem<'_>, torus: &Torus, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
    let two_phase = choose(torus, problem.given("cycles")?)?;
    let lanes = torus.lanes();
    schedule.layout(&torus.dims, lanes.len() as u32)?;
    let periods: Vec<u64> = two_phase.iter().map(TwoPhase::period).collect();
    let planned = schedule
        .symmetric(&periods.iter().map(|period| Symmetry::shift(*period)).collect::<Vec<_>>())?;
    let coordinates = if planned.is_everyone() { &torus.dims } else { &periods };
    for stage in 0..torus.cycles.len() {
        for phase in 0..2 {
            let rounds =
                lanes.iter().map(|order| two_phase[order[stage]].rounds(phase)).max().unwrap_or(0);
            if rounds > 0 {
                schedule.phase(&format!(
                    "dimension {} of each lane's order, phase {}",
                    stage + 1,
                    phase + 1
                ))?;
            }
            for round in 1..=rounds {
                schedule.step()?;
                let under_way = (0..).zip(&lanes).map(|(lane, order)| (lane, order[stage]));
                let under_way = under_way.filter(|(_, dim)| round <= two_phase[*dim].rounds(phase));
                let hops = |(lane, dim): (u64, usize)| {
                    (
                        lane,
                        dim,
                        hops(&two_phase[dim], coordinates[dim], phase, round, problem.collective()),
                    )
                };
                send_all(
                    torus,
                    schedule,
                    &planned,
                    &under_way.map(hops).collect::<Vec<_>>(),
                    problem.collective(),
                )?;
            }
        }
    }
    Ok(())
}

/// What the node at a coordinate of a cycle sends in a round.
struct Hop {
    to: u64,
    plus: bool,
    origins: Vec<u64>,
    destinations: Vec<u64>,
}

/// What the first nodes of a cycle, so many, send in a round, by their coordinates.
fn hops(
    cycle: &TwoPhase,
    nodes: u64,
    phase: usize,
    round: u64,
    collective: Collective,
) -> Vec<Vec<Hop>> {
    let (n, k, p) = (cycle.n, cycle.k, cycle.p(phase));
    let gossip = collective == Collective::AllGather;
    (0..nodes)
        .map(|x| {
            // On its cycle it is node `place`; which cycle, is the rest of its coordinate. In phase
            // 2 the circuits that close a cycle share its links: a gossip's first round, which has
            // one message and not two, is theirs.
            let (place, colour) =
                if phase == 0 { (x / k, x % k) } else { (x % k, u64::from(gossip)) };
            let moves = cycle.methods[phase].moves(p, round, place, colour, gossip);
            let at_place = |i: u64| if phase == 0 { i * k + x % k } else { x / k * k + i };
            let sends = moves.into_iter().map(|m| {
                let next = if m.forwards { (place + 1) % p } else { (place + p - 1) % p };
                // In phase 1 circuits wrap around the cycle; in phase 2 the one that closes it
                // comes back.
                let plus = if phase == 0 { m.forwards } else { next > place };
                // Blocks from node i of a cycle, after phase 1: those of all its virtual cycle.
                // Blocks for it, in phase 1: those for k neighbours.
                let from = |c: u64| if phase == 0 { c / k } else { c % k };
                Hop {
                    to: at_place(next),
                    plus,
                    origins: bits(n, |c| m.origins.contains(from(c), p)),
                    destinations: bits(n, |c| m.destinations.contains(from(c), p)),
                }
            });
            sends.collect()
        })
        .collect()
}

fn bits(n: u64, contains: impl Fn(u64) -> bool) -> Vec<u64> {
    let mut words = vec![0; n.div_ceil(64) as usize];
    for c in (0..n).filter(|c| contains(*c)) {
        words[(c / 64) as usize] |= 1 << (c % 64);
    }
    words
}

/// What a lane carries along a dimension in a round, by coordinates there.
type Carried = (u64, usize, Vec<Vec<Hop>>);

/// Every node that is planned for sends what its coordinates say, lane by lane.
fn send_all(
    torus: &Torus,
    schedule: &mut Schedule<'_>,
    nodes: &Planned,
    lanes: &[Carried],
    collective: Collective,
) -> Result<(), Stop> {
    let signs: Vec<[Vec<i8>; 2]> = lanes
        .iter()
        .map(|(_, dim, _)| [torus.along(*dim, false), torus.along(*dim, true)])
        .collect();
    let (mut origins, mut destinations) =
        (vec![Axis::ALL; torus.dims.len()], vec![Axis::ALL; torus.dims.len()]);
    for from in nodes {
        for ((lane, dim, hops), signs) in lanes.iter().zip(&signs) {
            for hop in &hops[torus.coordinate(from, *dim) as usize] {
                origins[*dim] = Axis::bits(&hop.origins);
                destinations[*dim] = Axis::bits(&hop.destinations);
                let route = Route::signs(&signs[usize::from(hop.plus)]);
                let send =
                    Blocks::new(from, torus.moved(from, *dim, hop.to)).segments(Axis::one(*lane));
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
