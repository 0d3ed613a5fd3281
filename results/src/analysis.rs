//! Analysis of many cases, for `compare`, `plot`, `report` and the dashboard.
//!
//! The groups of a [`compare`](crate::compare), whose cases differ only in the algorithm, are
//! arranged along an [`Axis`] ([`families`]). A [`Family`] has a [`Curve`] of times for each
//! algorithm. Its [`Envelope`] is the lowest of its curves at each x: ranges, in each of which one
//! algorithm is the fastest, and the [`Crossover`]s between them. Crossovers are computed from
//! times, even if a figure shows another quantity.
//!
//! [`overlaps`] compares jobs that ran at the same time with the same jobs one after the other, and
//! [`link_costs`] finds what the loss of each link of a network costs.

mod axis;
mod crossover_interval;
mod envelope;
mod family;
mod link_costs;
mod overlap;
mod overview;
mod winner_map;

pub use crate::compare::{Margin, RunnerUp, Winner};
pub use axis::{Axis, AxisPosition, CommonSettings};
pub use crossover_interval::crossover_interval;
pub use envelope::{Crossover, Envelope, FastestRange};
pub use family::{Curve, Families, Family, Point, families};
pub use link_costs::{DISCONNECTS, LinkCost, LinkCosts, link_costs};
pub use overlap::{Overlap, Overlaps, overlaps};
pub use overview::{Factors, Overview, Place, Standing, WonRange};
pub use winner_map::{MapCell, RowAxis, WinnerMap, WinnerMaps, winner_maps, winner_maps_over};
