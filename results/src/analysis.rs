//! Analysis of many cases. `compare`, `plot`, `report` and the dashboard all use this module to
//! find families of cases, the fastest algorithms and the crossovers.
//!
//! [`compare`](crate::compare) makes groups of rows: cases that differ only in the algorithm.
//! [`families`] arranges groups along an [`Axis`]; a [`Family`] has a [`Curve`] of times for each
//! algorithm. The [`Envelope`] of a family is its lowest curve: the fastest algorithm in each
//! range, its margin, and the [`Crossover`]s between ranges. Crossovers are always computed from
//! times, even in a figure that shows something else.

mod axis;
mod envelope;
mod family;
mod winner_map;

pub use crate::compare::{Margin, RunnerUp, Winner};
pub use axis::{Axis, AxisPosition};
pub use envelope::{Crossover, Envelope, FastestRange};
pub use family::{Curve, Families, Family, Point, families};
pub use winner_map::{MapCell, RowAxis, WinnerMap, WinnerMaps, winner_maps};
