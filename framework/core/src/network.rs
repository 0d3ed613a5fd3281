//! The network: topologies, routes over their links, what maps its nodes onto each other, and the
//! load that messages put on links.

pub(crate) mod adjacency;
pub mod links;
pub mod multipath;
pub mod survey;
pub mod symmetry;
pub mod topology;
pub(crate) mod transfer;
