//! What many cases say together: the one place where `compare`, `plot`, `report` and the dashboard
//! learn what is a family of cases, who is fastest where, and from where on another is.
//!
//! [`compare`](crate::compare) makes groups of rows: cases that differ in nothing but the
//! algorithm. [`families`] lays groups along an [`Axis`]: a [`Family`] has a [`Curve`] of times for
//! each algorithm. Its [`Envelope`] is the lowest of them: who is fastest from where to where, by
//! how much, and the [`Crossover`]s between. Whatever a figure shows, what crosses is times.

mod axis;
mod envelope;
mod family;
mod winner_map;

pub use crate::compare::{Margin, RunnerUp, Winner};
pub use axis::{Axis, AxisPosition};
pub use envelope::{Crossover, Envelope, FastestRange};
pub use family::{Curve, Families, Family, Point, families};
pub use winner_map::{MapCell, RowAxis, WinnerMap, winner_maps};
