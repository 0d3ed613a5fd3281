//! Topologies, node sets, the exchange and the cost models of Swapmeet.
//!
//! Pure: no files, no threads, no terminal, no plugins. Data flows one way: a schedule's sends go into the exchange, which knows who
//! holds what; what really moved in a step is measured on the links of a topology; the measured facts are priced by models.

pub mod amounts;
pub mod bound;
pub mod boxes;
pub mod collective;
pub mod exchange;
pub mod fault;
pub mod goods;
pub mod grid;
pub mod holdings;
pub mod limits;
pub mod links;
pub mod machine;
mod messages;
pub mod meter;
pub mod model;
pub mod placement;
pub mod spec;
pub mod step;
pub mod topology;
pub mod walk;
