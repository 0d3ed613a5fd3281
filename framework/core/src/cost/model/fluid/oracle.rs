//! A test oracle: the model `fluid` in its simplest form. After each event, all rates are computed
//! from the beginning by progressive filling, which repeatedly fills the most constrained link.

use crate::network::topology::parse;

/// A message, or a background flow (`ends` is `None`).
struct Flow {
    ends: Option<[usize; 2]>,
    /// The time at which the flow's latency ends, so that the flow begins to share links.
    shares: f64,
    left: f64,
    weight: f64,
    links: Vec<usize>,
}

/// Returns the time at which each rank ends `steps`, which consist of messages (sender, receiver,
/// bytes). The flows of `background` start at time 0. If `weighted`, the weight of a flow is the
/// inverse of its latency.
pub(in crate::cost::model) fn ends(
    topology: &str,
    [byte_us, hop_us]: [f64; 2],
    weighted: bool,
    steps: &[Vec<(u32, u32, u64)>],
    background: &[(u32, u32, u64)],
) -> Vec<f64> {
    let topology = parse(topology).unwrap();
    let nodes = topology.nodes() as usize;
    // After its latency, a flow shares the links of its route.
    let flow = |ends, now: f64, (from, to, bytes): (u32, u32, u64)| {
        let mut links = Vec::new();
        let add = &mut |run: crate::network::topology::Run| {
            links.extend(run.links().map(|link| link as usize));
        };
        topology.route(from.into(), to.into(), None, add).unwrap();
        let latency = links.len() as f64 * hop_us;
        let weight = if weighted && latency > 0.0 { 1.0 / latency } else { 1.0 };
        Flow { ends, shares: now + latency, left: bytes as f64, weight, links }
    };
    let mut flows: Vec<Flow> = background.iter().map(|of| flow(None, 0.0, *of)).collect();
    let (mut at, mut left, mut ended, mut now) =
        (vec![0; nodes], vec![0; nodes], vec![0.0; nodes], 0.0);
    let mut begun: Vec<Vec<bool>> = steps.iter().map(|step| vec![false; step.len()]).collect();
    loop {
        // A rank skips the steps in which it has no messages, and posts all messages of the
        // following step.
        for rank in 0..nodes {
            while left[rank] == 0 && at[rank] <= steps.len() {
                at[rank] += 1;
                let mine = |(from, to, _): &&(u32, u32, u64)| [*from, *to].contains(&(rank as u32));
                left[rank] =
                    steps.get(at[rank] - 1).map_or(0, |step| step.iter().filter(mine).count());
            }
        }
        // A message starts when its sender and its receiver are in its step.
        for (number, step) in steps.iter().enumerate() {
            for (i, of) in step.iter().enumerate() {
                let ends = [of.0 as usize, of.1 as usize];
                if !begun[number][i] && ends.iter().all(|end| at[*end] == number + 1) {
                    begun[number][i] = true;
                    flows.push(flow(Some(ends), now, *of));
                }
            }
        }
        if flows.iter().all(|flow| flow.ends.is_none()) {
            return ended;
        }
        // Advance to the next event: either a flow begins to share links, or it has sent all of its
        // bytes.
        let rates = rates(&flows, now, topology.link_slots() as usize, 1.0 / byte_us);
        let next = flows.iter().zip(&rates).map(|(flow, rate)| {
            if flow.shares > now { flow.shares } else { now + flow.left / rate }
        });
        let next = next.fold(f64::INFINITY, f64::min);
        for (flow, rate) in flows.iter_mut().zip(&rates).filter(|(flow, _)| flow.shares <= now) {
            flow.left -= rate * (next - now);
        }
        now = next;
        // A message that has ended is complete at its sender and its receiver.
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

/// Returns the max-min fair rates of all flows. Repeatedly selects the link with the smallest share
/// per weight, and divides its remaining capacity among its flows without a rate.
fn rates(flows: &[Flow], now: f64, links: usize, capacity: f64) -> Vec<f64> {
    let mut rates = vec![0.0; flows.len()];
    let mut open: Vec<usize> = (0..flows.len()).filter(|flow| flows[*flow].shares <= now).collect();
    let mut free = vec![capacity; links];
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
