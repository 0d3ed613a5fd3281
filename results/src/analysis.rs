//! Analysis of many cases, for `compare`, `plot`, `report` and the dashboard.
//!
//! Groups of cases that differ only in the algorithm ([`compare`](crate::compare)) are arranged
//! along an [`Axis`] ([`families`]). Each [`Family`] has a [`Curve`] of times for each algorithm.
//! Its [`Envelope`] is the lowest curve at each x. It consists of ranges, in each of which one
//! algorithm is the fastest, and of the [`Crossover`]s between them. Crossovers are computed from
//! times, even if a figure shows another quantity.

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
