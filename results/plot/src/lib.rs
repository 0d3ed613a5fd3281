//! Figures and pages from result rows.
//!
//! Rows become a [`Figure`] of panels and curves, which knows nothing of pixels ([`Figure::of`]);
//! the module `draw` lays it out as marks on a page, and `marks` writes those as SVG, PNG or PDF.

mod data;
mod draw;
mod figure;
mod labels;
mod marks;
mod page;
mod quantity;
mod stack;
mod stacked;
mod style;
mod table;
mod winners;

pub use draw::Drawn;
pub use figure::{Crossing, Curve, Figure, FigureError, Panel, Point, Wanted};
pub use labels::{Labels, UnknownLabel};
pub use marks::{DrawError, Length, Paper, Picture};
pub use page::{PageWanted, page};
pub use quantity::{Log, Y};
pub use stack::Stack;
pub use stacked::{Bar, Bars, Stacked};
pub use style::Styles;
pub use winners::Winners;
