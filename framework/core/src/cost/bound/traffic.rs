//! What must be moved, as far as bounds look at it.

use crate::delivery::collective::{After, Before, Busiest};
use crate::network::topology::Topology;
use crate::simulation::Task;

/// What must be moved. Sizes in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Traffic {
    /// The most that one node must send.
    pub sent: f64,
    /// The most that one node must receive.
    pub received: f64,
    /// Whether one and the same node sends and receives the most.
    pub by_one: bool,
    /// What must cross a cut.
    pub across: Across,
    /// Size of a block that every node has for every other, each an own one; 0 if there are no such blocks, or of unlike sizes.
    pub pair_bytes: f64,
    /// The most others that some node has something for, or that have something for it.
    pub peers: u64,
    /// Hops between two nodes of which one has something for the other; those farthest apart, as far as that is known.
    pub farthest: u64,
    /// Bytes times hops, over all blocks, each by its shortest way; 0 where they aren't added up.
    pub hop_bytes: f64,
}

/// What must cross a cut of the nodes, one way.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Across {
    /// A block of this size for every pair of nodes on different sides.
    EachPair(f64),
    /// A block of this size from every node, once: who has it can copy it.
    EachNode(f64),
    /// Not known.
    #[default]
    Unknown,
}

impl Traffic {
    /// Of a task; `block_bytes` is the size of uniform blocks. `None` where nothing is known.
    pub fn of(task: &Task, block_bytes: u64) -> Option<Self> {
        let (topology, kind) = (task.topology.as_ref(), task.collective.kind());
        let nodes = topology.nodes();
        let farthest = task.collective.root().map_or_else(|| topology.diameter(), |root| topology.farthest_from(root));
        let root = task.collective.root().unwrap_or(0);
        if let Some(sizes) = &task.sizes {
            let (busiest, all) = match (kind.before, kind.after) {
                (Before::EachItsOwn, After::EachWhatIsForIt) => (sizes.busiest(nodes), nodes * (nodes - 1)),
                (Before::RootAll, After::EachWhatIsForIt) => {
                    (of_root(nodes, |node| sizes.bytes(root, node), root), nodes - 1)
                }
                (Before::EachItsOwn, After::RootAll) => {
                    let backwards = of_root(nodes, |node| sizes.bytes(node, root), root);
                    (Busiest { sent: backwards.received, received: backwards.sent, ..backwards }, nodes - 1)
                }
                (Before::RootAll, After::RootAll) | (_, After::EachAll | After::EachItsSendersOwn) => return None,
            };
            let Busiest { sent, received, peers, pairs } = busiest;
            // Of which pairs have nothing for each other no more is known than that some have.
            let farthest = if pairs == all { farthest } else { peers.min(1) };
            return Some(Self { sent: sent as f64, received: received as f64, peers, farthest, ..Self::default() });
        }
        let m = block_bytes as f64;
        let everything = (nodes - 1) as f64 * m;
        let each = Self { sent: m, received: m, peers: nodes - 1, farthest, ..Self::default() };
        Some(match (kind.before, kind.after) {
            // Who deals out byte counts need not send what is empty.
            (Before::EachItsOwn, After::EachWhatIsForIt) if block_bytes == 0 => Self::default(),
            (Before::EachItsOwn, After::EachWhatIsForIt) => Self {
                sent: everything,
                received: everything,
                by_one: true,
                across: Across::EachPair(m),
                pair_bytes: m,
                ..each
            },
            (Before::RootAll, After::EachWhatIsForIt | After::EachItsSendersOwn) => Self { sent: everything, ..each },
            (Before::EachItsOwn, After::RootAll) => Self { received: everything, ..each },
            (Before::EachItsOwn, After::EachAll) => {
                Self { received: everything, by_one: true, across: Across::EachNode(m), ..each }
            }
            (Before::RootAll, After::EachAll) => each,
            (Before::RootAll, After::RootAll) => Self::default(),
            (Before::EachItsOwn, After::EachItsSendersOwn) => {
                let (farthest, hops) = routes(topology, task.collective.images()?)?;
                Self { by_one: true, peers: farthest.min(1), farthest, hop_bytes: hops as f64 * m, ..each }
            }
        })
    }
}

/// What the root of a scatter sends, as the busiest of senders, and the most that one node gets.
fn of_root(nodes: u64, bytes: impl Fn(u64) -> u64, root: u64) -> Busiest {
    let mut busiest = Busiest::default();
    for bytes in (0..nodes).filter(|node| *node != root).map(bytes) {
        busiest.sent += bytes;
        busiest.received = busiest.received.max(bytes);
        busiest.peers += u64::from(bytes > 0);
    }
    Busiest { pairs: busiest.peers, ..busiest }
}

/// Hops of the block of a permutation that goes farthest, and of all together; each by the topology's own way, which is a shortest one.
fn routes(topology: &dyn Topology, to: &[u32]) -> Option<(u64, u64)> {
    let (mut farthest, mut hops) = (0, 0);
    for (from, to) in (0..).zip(to) {
        let here = topology.route(from, u64::from(*to), None, &mut |_| {}).ok()?;
        farthest = farthest.max(here);
        hops += here;
    }
    Some((farthest, hops))
}
