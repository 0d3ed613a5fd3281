//! A flow problem in the form that the solver needs: all links, the amounts of the sources, and the
//! resources with limited capacity.

use crate::demand::Demand;
use crate::network::{Network, PortRule, Speeds};
use swapmeet_flows::{Links, NONE};

/// Returns the links of the whole network. Also returns, for each of them, the index of the link in
/// `network` of which it is an image under a translation (a shift of all coordinates of a grid).
pub(crate) fn expand(network: &Network) -> (Links, Vec<u32>) {
    let mut links = Links::default();
    let mut images = Vec::with_capacity(network.link_count() as usize);
    if network.translations.is_empty() {
        let mut next = network.links.iter().zip(0..).peekable();
        for vertex in 0..network.vertices {
            while let Some((link, index)) = next.next_if(|(link, _)| link.from == vertex) {
                links.push(link.to);
                images.push(index);
            }
            links.end_vertex();
        }
        return (links, images);
    }
    let sides = &network.translations;
    let coordinates = |vertex: u32| {
        let mut at = vec![0; sides.len()];
        let mut rest = vertex;
        for (coordinate, side) in at.iter_mut().zip(sides).rev() {
            *coordinate = rest % side;
            rest /= side;
        }
        at
    };
    let shifts: Vec<Vec<u32>> = network.links.iter().map(|link| coordinates(link.to)).collect();
    let mut at = vec![0; sides.len()];
    for _ in 0..network.vertices {
        for (shift, index) in shifts.iter().zip(0..) {
            let mut head = 0;
            for ((at, shift), side) in at.iter().zip(shift).zip(sides) {
                let moved = at + shift;
                head = head * side + if moved >= *side { moved - side } else { moved };
            }
            links.push(head);
            images.push(index);
        }
        links.end_vertex();
        // Advance to the next vertex of the grid. The last axis varies fastest.
        for (coordinate, side) in at.iter_mut().zip(sides).rev() {
            *coordinate += 1;
            if *coordinate < *side {
                break;
            }
            *coordinate = 0;
        }
    }
    (links, images)
}

/// The amount of data that each source has for each vertex.
pub(super) struct Amounts {
    nodes: u32,
    pub sources: Vec<u32>,
    /// The receivers of each source, with the amounts. The list is empty if every source has the
    /// amount `even` for every other node.
    pub rows: Vec<Vec<(u32, u64)>>,
    pub even: u64,
}

impl Amounts {
    pub(super) fn of(network: &Network, demand: &Demand) -> Self {
        let one = !network.translations.is_empty();
        let nodes = network.nodes;
        match demand {
            Demand::Even(even) => Self {
                nodes,
                sources: (0..if one { 1 } else { nodes }).collect(),
                rows: Vec::new(),
                even: *even,
            },
            Demand::Pairs(rows) => {
                let (sources, rows) = rows.iter().cloned().unzip();
                Self { nodes, sources, rows, even: 0 }
            }
            // All other kinds of demands are solved by packings of trees, without flows.
            _ => Self { nodes, sources: Vec::new(), rows: Vec::new(), even: 0 },
        }
    }

    /// Sets `amounts` to the amount of data that the source with this index has for each vertex.
    pub(super) fn fill(&self, index: usize, amounts: &mut [f32]) {
        match self.rows.get(index) {
            None => {
                amounts[..self.nodes as usize].fill(self.even as f32);
                amounts[self.nodes as usize..].fill(0.0);
                amounts[self.sources[index] as usize] = 0.0;
            }
            Some(row) => {
                amounts.fill(0.0);
                row.iter().for_each(|(to, amount)| amounts[*to as usize] = *amount as f32);
            }
        }
    }

    /// Returns the sum of amounts times distances for the source with this index. The error is a
    /// receiver to which there is no path from the source.
    pub(super) fn weighted(&self, index: usize, distance: &[u32]) -> Result<u128, u32> {
        let mut sum = 0;
        match self.rows.get(index) {
            None => {
                let nodes = &distance[..self.nodes as usize];
                if let Some(lost) = nodes.iter().position(|distance| *distance == NONE) {
                    return Err(lost as u32);
                }
                sum += u128::from(self.even) * nodes.iter().map(|d| u128::from(*d)).sum::<u128>();
            }
            Some(row) => {
                for &(to, amount) in row {
                    if distance[to as usize] == NONE {
                        return Err(to);
                    }
                    sum += u128::from(amount) * u128::from(distance[to as usize]);
                }
            }
        }
        Ok(sum)
    }
}

/// The resources with limited capacity: links and ports.
pub(super) struct Resources {
    /// The capacity of each resource. All images of a link under translations are one resource.
    pub capacities: Vec<u64>,
    /// One column for each kind of resource. A column has one entry for each link: the index of the
    /// resource of this kind that the link uses. If the link uses no such resource, the entry is
    /// the number of all resources, which is not a valid index.
    pub columns: Vec<Vec<u32>>,
    /// The column of ports that are in use for the time on a link, if there is one.
    pub timed: Option<Timed>,
    /// The capacities of the links, if the solver should search for cuts; otherwise empty.
    pub cut_capacities: Vec<u64>,
    pub nodes: u32,
}

/// A column of [`Resources`] with the rule [`PortRule::SharedTime`].
pub(super) struct Timed {
    pub column: usize,
    /// The index of the resource.
    pub resource: usize,
    pub speeds: Speeds,
    /// The capacity of each link.
    pub capacities: Vec<u64>,
}

impl Resources {
    pub(super) fn of(network: &Network, links: &Links, images: Vec<u32>) -> Self {
        let one = !network.translations.is_empty();
        let mut capacities: Vec<u64> = network.links.iter().map(|link| link.capacity).collect();
        let of_links = images.iter().map(|image| capacities[*image as usize]).collect();
        let mut timed =
            Timed { column: 0, resource: 0, speeds: network.speeds(), capacities: of_links };
        let mut columns = vec![images];
        for ports in &network.ports {
            let first = capacities.len() as u32;
            let nodes = if one { 1 } else { network.nodes };
            match ports.rule {
                PortRule::Ends => {}
                PortRule::Shared | PortRule::SharedTime => {
                    capacities.push(ports.capacity * u64::from(nodes));
                    if ports.rule == PortRule::SharedTime {
                        (timed.column, timed.resource) = (columns.len(), first as usize);
                    }
                    columns.push(vec![first; links.head.len()]);
                }
                PortRule::EveryHop => {
                    capacities.extend(vec![ports.capacity; 2 * nodes as usize]);
                    let port = |vertex: &u32, side: u32| match *vertex {
                        switch if switch >= network.nodes => NONE,
                        vertex => first + side * nodes + if one { 0 } else { vertex },
                    };
                    columns.push(links.tail.iter().map(|tail| port(tail, 0)).collect());
                    columns.push(links.head.iter().map(|head| port(head, 1)).collect());
                }
            }
        }
        let none = capacities.len() as u32;
        columns.iter_mut().flatten().for_each(|resource| *resource = (*resource).min(none));
        let only_links = columns.len() == 1 && !one;
        let cut_capacities = if only_links { capacities.clone() } else { Vec::new() };
        let timed = (timed.column > 0).then_some(timed);
        Self { capacities, columns, timed, cut_capacities, nodes: network.nodes }
    }
}
