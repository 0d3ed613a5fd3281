//! Figures and pages from result rows.
//!
//! Rows become a [`Figure`] of panels and curves, which knows nothing of pixels ([`Figure::of`]); the module `draw` lays it out as marks on a page, and
//! writes those as SVG, PNG or PDF.

mod data;
mod draw;
mod figure;
mod page;
mod quantity;
mod stacked;
mod style;
mod winners;

pub use draw::{DrawError, Drawn, Length, Paper, Picture};
pub use figure::{Crossing, Curve, Figure, FigureError, Panel, Point, Wanted};
pub use page::{PageWanted, page};
pub use quantity::{Log, Y};
pub use stacked::{Bar, Bars, Stacked};
pub use style::Styles;
pub use winners::Winners;
