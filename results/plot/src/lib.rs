//! Figures and pages from result rows.
//!
//! Rows become a [`Figure`] of panels and curves, which knows nothing of pixels ([`Figure::of`]); [`Figure::svg`] and [`Figure::png`] draw it. All that
//! is known of the plotting library is in the module `draw`.

mod case;
mod crossover;
mod curve;
mod draw;
mod figure;
mod page;
mod quantity;
mod style;

pub use crossover::Crossover;
pub use curve::{Curve, Point};
pub use draw::DrawError;
pub use figure::{Figure, FigureError, Panel, Wanted};
pub use page::{PageWanted, page};
pub use quantity::{Log, X, Y};
