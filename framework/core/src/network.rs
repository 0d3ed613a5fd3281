//! The network: topologies, routes over their links, and the load that messages put on links.

pub(crate) mod adjacency;
pub mod links;
pub mod spread;
pub mod topology;
