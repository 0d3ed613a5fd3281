//! Figures and pages from result rows.
//!
//! Rows become a [`Figure`] of panels and curves, which knows nothing of pixels ([`Figure::of`]); the module `draw` lays it out as marks on a page, and
//! writes those as SVG, PNG or PDF.

mod data;
mod draw;
mod figure;
mod page;
mod quantity;
mod style;

pub use draw::{DrawError, Length, Paper};
pub use figure::{Crossing, Curve, Figure, FigureError, Panel, Point, Wanted};
pub use page::{PageWanted, page};
pub use quantity::{Log, Y};
pub use style::Styles;
