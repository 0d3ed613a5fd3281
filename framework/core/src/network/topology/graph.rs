//! Networks from a list of edges. [`edge_list`] describes the file.
//!
//! Each vertex of the file is a node, unless the file states a number of ranks for the vertex. Such
//! a vertex is a switch, and each of its ranks is a node. Nodes are numbered in the order of the
//! file's vertices, and the ranks of a switch are numbered at the position of the switch. The
//! numbers of switches follow after those of all nodes. An edge is one link in each direction.
//!
//! Routes have the smallest number of hops. If there are several shortest routes, each vertex
//! forwards to the neighbour with the lowest number. If m parallel links lead to this neighbour,
//! they are numbered from 0 to m - 1, and a message uses link `(sender + receiver) modulo m`. A
//! table stores the next link for each destination, which limits the size of graphs.

use super::adjacency::Adjacency;
use super::properties::{common, extremes};
use super::routing_table::RoutingTable;
use super::{Family, Network, Parsed, Properties, ReadFile, Run};
use crate::spec::Spec;
use edge_list::EdgeList;
use std::sync::Arc;

mod edge_list;

/// An error in a file of edges.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct GraphError {
    /// The line number, from 1.
    pub line: usize,
    /// What is wrong and what was expected.
    pub message: String,
}

/// A network given by a list of edges.
#[derive(Debug, Clone)]
pub struct Graph {
    properties: Properties,
    table: RoutingTable,
    /// The bandwidth and the latency of each link.
    speeds: Vec<(f64, f64)>,
    /// Whether any two vertices have parallel links.
    parallel: bool,
}

pub(super) fn parse(spec: &Spec, read: ReadFile<'_>) -> Parsed {
    let arg = spec.only_word("a file of edges, as in `graph:edges.txt`")?;
    let wrong = |what: String| spec.error(arg.value_at(), arg.value().len(), &what);
    let content = read(arg.value()).map_err(wrong)?;
    Ok(Arc::new(Graph::read(arg.value(), &content).map_err(|e| wrong(e.to_string()))?))
}

impl Graph {
    /// The maximum number of vertices: nodes and switches together.
    pub const MAX_NODES: u64 = RoutingTable::MAX_VERTICES;
    /// The maximum number of edges. With this number, all routes are found within seconds.
    pub(crate) const MAX_EDGES: usize = 1 << 18;
    /// The largest bandwidth of a link, as a multiple of the machine's bandwidth. The smallest
    /// bandwidth is the inverse of this number.
    pub(crate) const MAX_BANDWIDTH: f64 = 1e6;

    /// Reads the network of a list of edges. `file` is the name of the file in the topology's spec.
    pub fn parse(file: &str, content: &str) -> Result<Network, GraphError> {
        Ok(Network::of(Arc::new(Self::read(file, content)?)))
    }

    fn read(file: &str, content: &str) -> Result<Self, GraphError> {
        let EdgeList { nodes, switches, mut links } = EdgeList::read(content)?;
        links.sort_by_key(|link| (link.from, link.to));
        let mut ends = vec![Vec::new(); (nodes + switches) as usize];
        links.iter().for_each(|link| ends[link.from as usize].push(link.to));
        let network = Adjacency::from_neighbours(&ends);
        if let Some(lost) = network.unreached_from(0) {
            let from_there = links.iter().find(|link| u64::from(link.from) == lost);
            let (line, vertex) = from_there.map_or((1, lost), |link| (link.line, link.vertex));
            let message =
                format!("nothing connects node {vertex} with node 0, expected a connected network");
            return Err(GraphError { line, message });
        }
        let table = RoutingTable::find(network, nodes);
        let parallel =
            links.windows(2).any(|pair| (pair[0].from, pair[0].to) == (pair[1].from, pair[1].to));
        let reach = || (0..nodes).map(|node| table.distances(node));
        let count = table.network().link_count() as u64;
        let properties = Properties {
            spec: format!("graph:{file}"),
            kind: "graph",
            nodes,
            switches,
            radices: vec![nodes],
            link_slots: count,
            max_links: Some(count),
            degree: common((0..nodes).map(|node| table.network().range(node).len() as u64)),
            diameter: reach().map(|(farthest, _)| farthest).max().unwrap_or(0),
            distance_sum: common(reach()).map(|(_, sum)| sum),
            hops_of_all_pairs: Some(reach().map(|(_, sum)| u128::from(sum)).sum()),
            bandwidths: extremes(links.iter().map(|link| link.bandwidth)),
            latencies: extremes(links.iter().map(|link| link.latency)),
            ..Properties::default()
        };
        let speeds = links.iter().map(|link| (link.bandwidth, link.latency)).collect();
        Ok(Self { properties, table, speeds, parallel })
    }

    /// Returns the link that messages from node `from` to node `to` use, among the parallel links
    /// from vertex `at` to a neighbour. `first` is the first of these parallel links.
    fn among_parallel(&self, (from, to): (u64, u64), at: u64, first: usize) -> usize {
        let network = self.table.network();
        let end = network.end(first);
        let parallel = (first..network.range(at).end).take_while(|link| network.end(*link) == end);
        let count = parallel.count();
        first + (from + to) as usize % count.max(1)
    }
}

fn run(link: usize) -> Run {
    Run::link(link as u64)
}

impl Family for Graph {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn links_from(&self, node: u64) -> Option<u64> {
        Some(self.table.network().out(node as usize).len() as u64)
    }

    fn eccentricity(&self, node: u64) -> u64 {
        self.table.distances(node).0
    }

    fn bandwidth(&self, link: u64) -> f64 {
        self.speeds[link as usize].0
    }

    fn latency(&self, link: u64) -> f64 {
        self.speeds[link as usize].1
    }

    fn link_between(&self, from: u64, to: u64) -> Option<Run> {
        let network = self.table.network();
        network.range(from).find(|link| network.end(*link) == to).map(run)
    }

    fn own_route(&self, from: u64, to: u64, visit: &mut dyn FnMut(Run)) -> u64 {
        let (mut at, mut hops) = (from, 0);
        while at != to {
            let mut link = self.table.next_link(at, to);
            if self.parallel {
                link = self.among_parallel((from, to), at, link);
            }
            visit(run(link));
            at = self.table.network().end(link);
            hops += 1;
        }
        hops
    }

    fn link_ends(&self, link: u64) -> Option<(u64, u64)> {
        self.table.network().link_ends(link)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Route;
    use super::super::tests::link_between;
    use super::*;

    fn graph(content: &str) -> Network {
        Graph::parse("g.txt", content).unwrap()
    }

    fn error(content: &str) -> String {
        Graph::parse("g.txt", content).unwrap_err().to_string()
    }

    fn route(graph: &Network, from: u64, to: u64) -> Vec<(u64, u64)> {
        let mut links = Vec::new();
        graph
            .route(from, to, None, &mut |run| links.push(graph.link_ends(run.first).unwrap()))
            .unwrap();
        links
    }

    #[test]
    fn routes_are_shortest_with_the_lowest_neighbour_at_a_tie() {
        // A square with one more node. The route from 0 to 3 may use node 1 or node 2.
        let g = graph("# a square\n0 1\n1 3\n\n3,2 # with a tail\n2 0\n3 4\n");
        assert_eq!((g.nodes(), g.diameter(), g.degree(), g.link_slots()), (5, 3, None, 10));
        assert_eq!(route(&g, 0, 3), [(0, 1), (1, 3)]);
        assert_eq!(route(&g, 4, 0), [(4, 3), (3, 1), (1, 0)]);
        assert_eq!(route(&g, 2, 2), []);
        assert_eq!(graph("0 1\n1 2\n2 0").degree(), Some(2));
    }

    #[test]
    fn a_requested_path_must_have_links() {
        let g = graph("0 1\n1 3\n3 2\n2 0\n");
        let path = |path: &[u64]| {
            let route = Route { path: path.to_vec(), ..Route::default() };
            g.route(0, 3, Some(&route), &mut |_| {}).map_err(|e| e.to_string())
        };
        assert_eq!(path(&[2, 3]), Ok(2));
        assert_eq!(path(&[3]), Err("graph:g.txt has no link from node 0 to node 3".to_owned()));
        let signs = Route { signs: vec![1], ..Route::default() };
        assert!(g.route(0, 3, Some(&signs), &mut |_| {}).is_err());
    }

    #[test]
    fn bandwidths_apply_to_both_directions_of_an_edge() {
        let g = graph("0 1 2.5\n1 2\n");
        assert_eq!(g.bandwidths(), Some((1.0, 2.5)));
        let of = |from, to| g.bandwidth(link_between(&g, from, to).unwrap().first);
        assert_eq!((of(0, 1), of(1, 0), of(1, 2)), (2.5, 2.5, 1.0));
        assert_eq!(graph("0 1\n").bandwidths(), None);
    }

    #[test]
    fn latencies_of_edges_and_ranks_are_read() {
        let g = graph("0 1 2.5 l3\n1 2 l0.5 x2\nranks 0 2 l7\n");
        assert_eq!((g.latencies(), g.bandwidths()), (Some((0.5, 7.0)), Some((1.0, 2.5))));
        // Ranks 0 and 1 are at vertex 0 of the file, which is switch 4. Nodes 2 and 3 are vertices
        // 1 and 2.
        let of = |from, to| g.latency(link_between(&g, from, to).unwrap().first);
        assert_eq!([of(0, 4), of(4, 1), of(4, 2), of(2, 3)], [7.0, 7.0, 3.0, 0.5]);
        assert_eq!(graph("0 1 4\n").latencies(), None);
    }

    /// The same network is described twice: two switches with two nodes each, and two links between
    /// the switches. One description uses nodes with links, and the other uses ranks at the
    /// switches.
    #[test]
    fn parallel_links_between_switches_share_messages() {
        let racks = graph("switch 2 5\n0 2\n1 2\n2 5 x2 # trunk\n3 5\n4 5\n");
        assert_eq!(
            (racks.nodes(), racks.switches(), racks.diameter(), racks.degree()),
            (4, 2, 3, Some(1))
        );
        // Vertices 3 and 4 of the file are nodes 2 and 3. The switches have the numbers 4 and 5.
        assert_eq!(route(&racks, 0, 2), [(0, 4), (4, 5), (5, 2)]);
        let over = |from, to| {
            let mut links = Vec::new();
            racks.route(from, to, None, &mut |run| links.push(run.first)).unwrap();
            links[1]
        };
        assert_eq!((over(0, 2), over(0, 3)), (over(1, 3), over(1, 2)));
        assert_ne!(over(0, 2), over(0, 3));
        let ranks = graph("ranks 0 2\nranks 1 2\n0 1 x2\n");
        let all =
            |g: &Network| (0..g.link_slots()).map(|link| g.link_ends(link)).collect::<Vec<_>>();
        assert_eq!(all(&ranks), all(&racks));
    }

    #[test]
    fn ranks_at_a_vertex_have_their_own_links() {
        let g = graph("0 1 4\nranks 1 3 0.5\n2 1 4 x2\n");
        // The nodes are vertex 0, three ranks and vertex 2. The switch has the number 5.
        assert_eq!((g.nodes(), g.switches()), (5, 1));
        let of = |from, to| g.bandwidth(link_between(&g, from, to).unwrap().first);
        assert_eq!((of(0, 5), of(5, 2), of(3, 5), of(4, 5)), (4.0, 0.5, 0.5, 4.0));
        assert_eq!((g.links_from(4), g.links_from(3)), (Some(2), Some(1)));
    }

    #[test]
    fn errors_in_switch_and_rank_lines_have_line_numbers() {
        insta::assert_snapshot!(error("switch 0 1\n0 1\n"), @"line 1: all vertices are switches, expected vertices that are nodes, or `ranks` at switches");
        insta::assert_snapshot!(error("0 1\nswitch 3\n1 2\n"), @"line 2: switch 3 has no edge, expected links to it");
        insta::assert_snapshot!(error("0 1\n\nranks 2 4\n"), @"line 3: vertex 2 with 4 ranks has no edge, expected links to it");
        insta::assert_snapshot!(error("0 1\nswitch\n"), @"line 2: `switch` without numbers, expected vertex numbers");
        insta::assert_snapshot!(error("0 1\nranks 1\n"), @"line 2: 1 fields after `ranks`, expected a vertex, the number of ranks and optionally the bandwidth of their links");
        insta::assert_snapshot!(error("0 1\nranks 1 0\n"), @"line 2: `0` ranks, expected a number from 1 to 8192");
        insta::assert_snapshot!(error("0 1\nswitch 1\nranks 1 2\n"), @"line 3: vertex 1 is already declared on line 2");
        insta::assert_snapshot!(error("0 1\nranks 0 5000\nranks 1 5000\n"), @"line 3: over 8192 vertices including ranks");
        insta::assert_snapshot!(error("0 1 2 l9999999 x2\n"), @"line 1: `l9999999` is not a latency, expected l and a number from 0 to 1000000, where 1 is the machine's hop");
        insta::assert_snapshot!(error("0 1 x0\n"), @"line 1: `x0` links, expected x and a number from 1 to 262144");
    }

    #[test]
    fn errors_in_edges_have_line_numbers() {
        insta::assert_snapshot!(error(""), @"line 1: no edges, expected lines of two node numbers");
        insta::assert_snapshot!(error("0 1\n1\n"), @"line 2: 1 fields, expected two node numbers and optionally a bandwidth");
        insta::assert_snapshot!(error("0 1\n1 x\n"), @"line 2: `x` is not a node, expected a number from 0 to 8191");
        insta::assert_snapshot!(error("0 8192\n"), @"line 1: `8192` is not a node, expected a number from 0 to 8191");
        insta::assert_snapshot!(error("0 1\n2 2\n"), @"line 2: an edge from node 2 to itself, expected two different nodes");
        insta::assert_snapshot!(error("0 1\n1 2\n\n1 0 3\n"), @"line 4: the edge between 0 and 1 is already on line 1");
        insta::assert_snapshot!(error("0 1\n3 1\n"), @"line 2: node 2 has no edge, and there are nodes up to 3: expected numbers without gaps");
        insta::assert_snapshot!(error("0 1\n1 4\n2 3\n"), @"line 3: nothing connects node 2 with node 0, expected a connected network");
        let many = "0 1\n".repeat(Graph::MAX_EDGES + 1);
        insta::assert_snapshot!(error(&many), @"line 262145: more than the 262144 edges that a graph may have");
        for bad in ["0", "-1", "nan", "inf", "1e9", "fast"] {
            assert_eq!(
                error(&format!("0 1 {bad}\n")),
                format!(
                    "line 1: `{bad}` is not a bandwidth, expected a number from 0.000001 to 1000000, where 1 is the machine's"
                )
            );
        }
    }
}
