//! The resources that limit the data of a step: links, and ports of nodes.

use crate::demand::Demand;
use crate::network::LinkGraph;
use swapmeet_flows::Column;

/// Prices are scaled such that the most expensive links have about this length.
pub(crate) const LONGEST: u32 = 4000;

/// The load of a resource is the number of steps that it needs.
pub(crate) struct Resources {
    pub count: usize,
    /// The links, the sending ports and the receiving ports. Weights are the steps for a unit of
    /// data.
    pub columns: Vec<Column>,
    pub quota: Vec<u64>,
    /// Messages that a node may send, and may receive, in a step; `None` if it can use all links.
    pub ports: Option<u64>,
    pub slowest_steps: f64,
}

impl Resources {
    pub(crate) fn of(network: &LinkGraph, quota: u64, ports: u64) -> Self {
        let (links, nodes) = (network.links.count(), network.nodes as u32);
        let quota: Vec<u64> =
            network.bandwidth.iter().map(|factor| (quota as f64 * factor) as u64).collect();
        let steps =
            |share: f32| quota.iter().map(|quota| f64::from(1.0 / *quota as f32 / share)).collect();
        // A limit on ports has no effect if it is at least the degree of every vertex.
        let degree = (0..network.links.vertices()).map(|v| network.links.out(v).len() as u64);
        let into = network.links.reversed().0;
        let degree = degree.chain((0..network.links.vertices()).map(|v| into.out(v).len() as u64));
        let ports = Some(ports).filter(|ports| degree.max().unwrap_or(0) > *ports);
        let mut columns = Vec::new();
        let mut count = 0;
        // With one port, a node uses one link at a time, so the limit of the port implies those of
        // the links.
        if ports != Some(1) {
            columns.push(Column { resource: (0..links as u32).collect(), weight: steps(1.0) });
            count += links as u32;
        }
        if let Some(ports) = ports {
            for (ends, first) in
                [(&network.links.tail, count), (&network.links.head, count + nodes)]
            {
                let resource = ends.iter().map(|end| end + first).collect();
                columns.push(Column { resource, weight: steps(ports as f32) });
            }
            count += 2 * nodes;
        }
        let slowest_steps = columns.iter().flat_map(|c| &c.weight).copied().fold(0.0, f64::max);
        Self { count: count as usize, columns, quota, ports, slowest_steps }
    }

    /// Converts the prices to whole numbers, and computes the length of each link from the
    /// resources that it uses. Returns the sum of the prices.
    pub(crate) fn set_lengths(&self, prices: &[f32], whole: &mut [u32], length: &mut [u32]) -> u64 {
        let most = prices.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
        let scale = LONGEST as f32 / self.columns.len() as f32 / most;
        let mut sum = 0;
        for (whole, price) in whole.iter_mut().zip(prices) {
            *whole = 1 + (price * scale) as u32;
            sum += u64::from(*whole);
        }
        let unit = 1.0 / self.slowest_steps as f32;
        length.fill(0);
        for column in &self.columns {
            let uses = column.resource.iter().zip(&column.weight);
            for (length, (resource, steps)) in length.iter_mut().zip(uses) {
                // `steps * unit` is at most 1, and `scale` divides `LONGEST` among the columns, so
                // a link is about `LONGEST` long at most.
                *length += (whole[*resource as usize] as f32 * (*steps as f32 * unit)) as u32;
            }
        }
        length.iter_mut().for_each(|length| *length = (*length).max(1));
        sum
    }

    /// Returns the number of steps that a node needs for its data, over all its links and ports,
    /// for the node that needs the most.
    pub(crate) fn bound_of_nodes(&self, network: &LinkGraph, demand: &Demand) -> f64 {
        let (mut sent, mut received) = (vec![0.0; network.nodes], vec![0.0; network.nodes]);
        for (source, row) in demand.sources.iter().zip(&demand.rows) {
            for (to, size) in row {
                let size = f64::from(*size) * f64::from(demand.segments);
                sent[*source as usize] += size;
                received[*to as usize] += size;
            }
        }
        let mut bound = 0.0_f64;
        for (network, amounts) in [(network, &sent), (&network.reversed().0, &received)] {
            for (vertex, amount) in amounts.iter().enumerate().filter(|(_, amount)| **amount > 0.0)
            {
                let factors = network.links.out(vertex).map(|link| network.bandwidth[link]);
                let mut quotas: Vec<u64> =
                    factors.map(|factor| (demand.quota as f64 * factor) as u64).collect();
                quotas.sort_unstable_by_key(|quota| std::cmp::Reverse(*quota));
                let most = self.ports.unwrap_or(u64::MAX).min(quotas.len() as u64) as usize;
                bound = bound.max(amount / quotas[..most].iter().sum::<u64>() as f64);
            }
        }
        bound
    }
}
