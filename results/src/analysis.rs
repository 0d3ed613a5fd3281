//! Analysis of many cases. `compare`, `plot`, `report` and the dashboard all use this module to
//! find families of cases, the fastest algorithms and the crossovers.
//!
//! [`compare`](crate::compare) divides the rows into groups. The cases of a group differ only in
//! the algorithm. [`families`] arranges groups along an [`Axis`]. A [`Family`] has a [`Curve`] of
//! times for each algorithm. The [`Envelope`] of a family is the lowest of its curves at each x. It
//! consists of ranges, in each of which one algorithm is the fastest, and of the [`Crossover`]s
//! between ranges. Crossovers are always computed from times, even if a figure shows another
//! quantity.
//!
//! [`overlaps`] compares jobs that ran at the same time with the same jobs one after the other.
//!
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
