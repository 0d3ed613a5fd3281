//! Computes the division of the demand among the paths of the network that minimizes the largest
//! load, if data can be divided without limit. The load of a resource (a link, or a port of a node)
//! is the number of steps that it needs for its data. The method is that of
//! [`swapmeet_flows::solve`].

use crate::Deadline;
use crate::demand::Demand;
use crate::network::Network;
use crate::resources::{LONGEST, Resources};
use swapmeet_flows::{BestCut, Options, Prices, Problem, Random, Solution};

/// The effort of the search. An interval with a relative width of 1 % is narrow enough, because a
/// schedule of whole blocks is less precise.
const OPTIONS: Options =
    Options { gap: 0.01, stale_checks: 8, bisections: 7, early_checks: 3, exact: false };

/// The demand, and the resources that limit its data.
struct Load<'a> {
    demand: &'a Demand,
    resources: &'a Resources,
}

impl swapmeet_flows::Demand for Load<'_> {
    fn amounts(&self, source: usize) -> impl Iterator<Item = (u32, u64)> {
        let segments = u64::from(self.demand.segments);
        self.demand.rows[source].iter().map(move |(to, size)| (*to, u64::from(*size) * segments))
    }

    fn set_lengths(
        &self,
        _: Prices,
        values: &[f32],
        resources: &mut [u32],
        links: &mut [u32],
    ) -> u128 {
        // All capacities are 1, so that prices need no conversion.
        self.resources.set_lengths(values, resources, links).into()
    }
}

/// Finds a flow whose largest load is close to the smallest possible.
pub(crate) fn solve(
    network: &Network,
    resources: &Resources,
    demand: &Demand,
    random: &mut Random,
    deadline: Deadline,
) -> Solution {
    // Cuts are examined only if all pairs have the same demand, and only if ports are not limited.
    let has_cuts = demand.is_even(network.nodes) && resources.ports.is_none();
    let cut = || BestCut::new(&network.links, &resources.quota, network.nodes as u32);
    let problem = Problem {
        links: &network.links,
        sources: &demand.sources,
        demand: &Load { demand, resources },
        capacities: &vec![1.0; resources.count],
        columns: &resources.columns,
        longest: LONGEST,
        unit: resources.slowest_steps,
        cut: has_cuts.then(|| (cut(), demand.segments.into())),
        lower: resources.bound_of_nodes(network, demand),
    };
    let draw = |most| random.below(most);
    let solution = swapmeet_flows::solve(problem, OPTIONS, draw, |_, _| !deadline.has_passed());
    solution.unwrap_or_else(|_| unreachable!("the network is connected"))
}
