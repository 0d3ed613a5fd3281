//! A test oracle: the simplest form of the model `fluid`. At each event, all rates are computed by
//! progressive filling, which repeatedly fills the most constrained link. Times are in µs, not
//! whole picoseconds.

use crate::cost::model::test_steps::Sends;
use crate::network::topology::{Network, Run, parse};

/// A message, or a background flow (`ends` is `None`).
struct Flow {
    ends: Option<[usize; 2]>,
    step: usize,
    shares: f64,
    left: f64,
    weight: f64,
    links: Vec<usize>,
}

/// Returns the time at which each rank ends `steps` of messages (sender, receiver, bytes). If
/// `weighted` is set, the weight of a flow is 1 / latency of its route.
pub(in crate::cost::model) fn ends(
    topology: &str,
    costs: [f64; 2],
    weighted: bool,
    steps: &[Vec<(u32, u32, u64)>],
    background: &[(u32, u32, u64)],
) -> Vec<f64> {
    ends_of_late(topology, costs, weighted, steps, background, &|_| 0.0)
}

pub(super) fn ends_of_late(
    topology: &str,
    [byte_us, hop_us]: [f64; 2],
    weighted: bool,
    steps: &[Vec<(u32, u32, u64)>],
    background: &[(u32, u32, u64)],
    enters: &dyn Fn(usize) -> f64,
) -> Vec<f64> {
    let topology = parse(topology).unwrap();
    let nodes = topology.nodes() as usize;
    let flow = |ends, now: f64, (from, to, bytes): (u32, u32, u64)| {
        let links = links_of(topology.as_ref(), from, to);
        let latency = links.len() as f64 * hop_us;
        let weight = if weighted && latency > 0.0 { 1.0 / latency } else { 1.0 };
        Flow { ends, step: 0, shares: now + latency, left: bytes as f64, weight, links }
    };
    let capacities = vec![1.0 / byte_us; topology.link_slots() as usize];
    let mut flows: Vec<Flow> = background.iter().map(|of| flow(None, 0.0, *of)).collect();
    let (mut at, mut left, mut ended, mut now) =
        (vec![0; nodes], vec![0; nodes], vec![0.0; nodes], 0.0);
    let mut begun: Vec<Vec<bool>> = steps.iter().map(|step| vec![false; step.len()]).collect();
    loop {
        for rank in (0..nodes).filter(|rank| enters(*rank) <= now) {
            while left[rank] == 0 && at[rank] <= steps.len() {
                at[rank] += 1;
                let mine = |(from, to, _): &&(u32, u32, u64)| [*from, *to].contains(&(rank as u32));
                left[rank] =
                    steps.get(at[rank] - 1).map_or(0, |step| step.iter().filter(mine).count());
            }
        }
        for (number, step) in steps.iter().enumerate() {
            for (i, of) in step.iter().enumerate() {
                let ends = [of.0 as usize, of.1 as usize];
                if !begun[number][i] && ends.iter().all(|end| at[*end] == number + 1) {
                    begun[number][i] = true;
                    flows.push(flow(Some(ends), now, *of));
                }
            }
        }
        let later = (0..nodes).map(enters).filter(|enters| *enters > now);
        let next_entry = later.fold(f64::INFINITY, f64::min);
        if flows.iter().all(|flow| flow.ends.is_none()) && next_entry.is_infinite() {
            return ended;
        }
        let rates = rates(&flows, now, &capacities);
        let next = flows.iter().zip(&rates).map(|(flow, rate)| {
            if flow.shares > now { flow.shares } else { now + flow.left / rate }
        });
        let next = next.fold(next_entry, f64::min);
        for (flow, rate) in flows.iter_mut().zip(&rates).filter(|(flow, _)| flow.shares <= now) {
            flow.left -= rate * (next - now);
        }
        now = next;
        flows.retain(|flow| {
            let is_there = flow.left <= 1e-9;
            for end in flow.ends.into_iter().flatten().filter(|_| is_there) {
                left[end] -= 1;
                ended[end] = now;
            }
            !is_there
        });
    }
}

fn links_of(topology: &Network, from: u32, to: u32) -> Vec<usize> {
    let mut links = Vec::new();
    let add = &mut |run: Run| links.extend(run.links().map(|link| link as usize));
    topology.route(from.into(), to.into(), None, add).unwrap();
    links
}

/// Computes rates by filling the link with the smallest share per weight again and again.
fn rates(flows: &[Flow], now: f64, capacities: &[f64]) -> Vec<f64> {
    let mut rates = vec![0.0; flows.len()];
    let mut open: Vec<usize> = (0..flows.len()).filter(|flow| flows[*flow].shares <= now).collect();
    let (links, mut free) = (capacities.len(), capacities.to_vec());
    while !open.is_empty() {
        let mut weights = vec![0.0; links];
        open.iter().for_each(|flow| {
            flows[*flow].links.iter().for_each(|link| weights[*link] += flows[*flow].weight);
        });
        let level = |link: &usize| free[*link] / weights[*link];
        let tightest = (0..links)
            .filter(|link| weights[*link] > 0.0)
            .min_by(|a, b| level(a).total_cmp(&level(b)));
        let tightest = tightest.unwrap();
        let level = level(&tightest);
        open.retain(|flow| {
            let Flow { links, weight, .. } = &flows[*flow];
            let is_bound = links.contains(&tightest);
            if is_bound {
                rates[*flow] = weight * level;
                links.iter().for_each(|link| free[*link] = (free[*link] - weight * level).max(0.0));
            }
            !is_bound
        });
    }
    rates
}

#[derive(Debug)]
pub(super) struct ByData {
    pub startup_us: f64,
    pub byte_us: f64,
    pub hop_us: f64,
    pub injection_byte_us: f64,
    pub reduce_byte_us: f64,
    pub ports: usize,
    pub weighted: bool,
    pub late: Vec<(usize, f64)>,
}

#[derive(Clone, Default)]
struct RankByData {
    sends: Vec<(usize, u32, u64, usize)>,
    begun: usize,
    in_flight: usize,
    enters: f64,
    startup: Option<f64>,
    reduction: Option<f64>,
    /// For each step, the number of messages that have not arrived. `unreduced` has, for each step,
    /// the bytes that the rank has not begun to reduce.
    missing: Vec<u32>,
    unreduced: Vec<u64>,
    available: usize,
    ended: f64,
}

/// Times that differ by less (in µs) are equal, apart from rounding.
const EQUAL_US: f64 = 1e-9;
/// Below this difference (in µs), the order of events depends on the rounding to picoseconds.
const NEAR_US: f64 = 1e-4;

/// Returns the time at which each rank ends `steps` with `order=data`, and whether a near tie may
/// have decided one of these times. At the end of a step, every rank reduces the bytes in `sums`.
pub(super) fn ends_by_data(
    topology: &Network,
    machine: &ByData,
    steps: &Sends,
    sums: &[Vec<u64>],
) -> (Vec<f64>, bool) {
    let (nodes, slots) = (topology.nodes() as usize, topology.link_slots() as usize);
    let mut capacities: Vec<f64> = (0..slots as u64)
        .map(|link| topology.link_ends(link).map_or(1.0, |_| topology.bandwidth(link)))
        .map(|bandwidth| bandwidth / machine.byte_us)
        .collect();
    capacities.resize(slots + 2 * nodes, 1.0 / machine.injection_byte_us);
    let flow = |now: f64, from: usize, (step, to, bytes, _): (usize, u32, u64, usize)| {
        let mut links = links_of(topology, from as u32, to);
        let latency = links.len() as f64 * machine.hop_us;
        if machine.injection_byte_us > 0.0 {
            links.extend([slots + from, slots + nodes + to as usize]);
        }
        let weight = if machine.weighted && latency > 0.0 { 1.0 / latency } else { 1.0 };
        let ends = Some([from, to as usize]);
        Flow { ends, step, shares: now + latency, left: bytes as f64, weight, links }
    };
    let (mut now, mut has_near_tie) = (0.0, false);
    let mut ranks = vec![RankByData { missing: vec![0; steps.len()], ..Default::default() }; nodes];
    for (number, step) in steps.iter().enumerate() {
        for &(from, to, bytes, after) in step {
            ranks[from as usize].sends.push((number, to, bytes, after as usize));
            ranks[to as usize].missing[number] += 1;
        }
        for (rank, r) in ranks.iter_mut().enumerate() {
            let of = sums.get(number).filter(|of| !of.is_empty());
            r.unreduced.push(of.map_or(0, |of| of[rank]));
        }
    }
    machine.late.iter().for_each(|(rank, us)| ranks[*rank].enters = *us);
    let (mut flows, mut held) = (Vec::new(), Vec::new());
    loop {
        for r in &mut ranks {
            if r.enters > 0.0 && (r.enters - now).abs() < EQUAL_US {
                r.ended = now;
            }
            if r.reduction.is_some_and(|end| end <= now + EQUAL_US) {
                (r.reduction, r.ended) = (None, now);
            }
        }
        for (rank, r) in ranks.iter_mut().enumerate() {
            if r.startup.is_some_and(|end| end <= now + EQUAL_US) {
                (r.startup, r.ended) = (None, now);
                held.push((rank, r.sends[r.begun - 1]));
                r.in_flight += 1;
            }
        }
        let may_start = |(_, (_, to, ..)): &mut (usize, (usize, u32, u64, usize))| {
            ranks[*to as usize].enters <= now + EQUAL_US
        };
        let started = held.extract_if(.., may_start);
        flows.extend(started.map(|(from, send)| flow(now, from, send)));
        let mut arrives = false;
        flows.retain(|flow| {
            let is_there = flow.shares <= now + EQUAL_US && flow.left <= 1e-9;
            if let (true, Some([from, to])) = (is_there, flow.ends) {
                arrives = true;
                ranks[from].in_flight -= 1;
                ranks[to].missing[flow.step] -= 1;
                (ranks[from].ended, ranks[to].ended) = (now, now);
            }
            !is_there
        });
        let mut begins = false;
        for (rank, r) in ranks.iter_mut().enumerate().filter(|(_, r)| r.enters <= now + EQUAL_US) {
            let received = r.missing.iter().position(|missing| *missing > 0);
            let received = received.unwrap_or(steps.len());
            if r.reduction.is_none() {
                let bytes: u64 = r.unreduced[..received].iter().sum();
                r.available =
                    r.unreduced[..received].iter().position(|b| *b > 0).unwrap_or(received);
                let lasts = bytes as f64 * machine.reduce_byte_us;
                r.unreduced[..received].fill(0);
                if lasts > 0.0 {
                    r.reduction = Some(now + lasts);
                } else {
                    r.available = received;
                }
            }
            while let Some(send) = r.sends.get(r.begun).copied()
                && r.startup.is_none()
                && r.in_flight < machine.ports
                && send.3 <= r.available
            {
                r.begun += 1;
                if machine.startup_us > 0.0 {
                    r.startup = Some(now + machine.startup_us);
                } else {
                    r.in_flight += 1;
                    held.push((rank, send));
                    begins = true;
                }
            }
        }
        if begins || arrives {
            continue;
        }
        let rates = rates(&flows, now + EQUAL_US, &capacities);
        let of_flows = flows.iter().zip(&rates).map(|(flow, rate)| {
            if flow.shares > now + EQUAL_US {
                (flow.shares, false)
            } else {
                (now + flow.left / rate, true)
            }
        });
        let of_ranks = ranks.iter().flat_map(|r| [Some(r.enters), r.startup, r.reduction]);
        let of_ranks = of_ranks.flatten().filter(|at| *at > now + EQUAL_US).map(|at| (at, false));
        let mut events: Vec<(f64, bool)> = of_flows.chain(of_ranks).collect();
        events.sort_by(|a, b| a.0.total_cmp(&b.0));
        let Some((next, _)) = events.first().copied() else {
            assert!(ranks.iter().all(|r| r.begun == r.sends.len()), "ranks wait for each other");
            return (ranks.iter().map(|r| r.ended).collect(), has_near_tie);
        };
        let near = events.partition_point(|event| event.0 < next + NEAR_US);
        let near = &events[..near];
        has_near_tie |= near.len() > 1
            && (near.iter().any(|event| event.1) || near[near.len() - 1].0 > next + EQUAL_US);
        for (flow, rate) in flows.iter_mut().zip(&rates) {
            flow.left -= rate * (next - now);
        }
        now = next;
    }
}
