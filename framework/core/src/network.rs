//! Networks: topologies, routes, symmetries, and the loads of links that messages cause.

pub mod communicators;
pub mod layout;
pub mod links;
pub mod mesh;
pub mod multipath;
pub mod survey;
pub mod symmetry;
pub mod topology;
pub(crate) mod transfer;
