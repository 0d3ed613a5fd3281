//! The messages of a step, as the network and the models see them.

use crate::network::topology::Route;

/// A message of a step. Its sender and its receiver are different nodes, unless a switch adds or
/// copies its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transfer {
    /// The sender.
    pub from: u32,
    /// The receiver.
    pub to: u32,
    /// The number of the requested route among those of the step, counted from 1. It is 0 if the
    /// message takes the topology's own route.
    pub route: u32,
    /// The number of directed links on the route, which is 0 between two ranks that share a node.
    pub hops: u32,
    /// The amount of data: in bytes if blocks have explicit sizes, otherwise in blocks or segments.
    pub load: u64,
}

impl Transfer {
    /// Returns whether the message leaves its sender, and whether it reaches its receiver. If not,
    /// it begins at a switch that copies the data of another message, or ends at a switch that adds
    /// its data to that of another message. `routes` are the routes of the step.
    pub fn ends(&self, routes: &[Route]) -> [bool; 2] {
        let route = self.route.checked_sub(1).map(|i| &routes[i as usize]);
        route.map_or([true; 2], |route| [route.leaves_sender(), route.reaches_receiver()])
    }
}
