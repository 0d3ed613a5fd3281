//! Figures and report pages from rows of results. [`Figure::from_rows`] converts rows to panels and
//! curves. `draw` lays these out as marks on a page, and `marks` writes the marks as SVG, PNG or
//! PDF.

mod appearance;
mod draw;
mod error;
mod figure;
mod format;
#[cfg(test)]
mod geometry;
mod heat;
mod marks;
mod page;
mod pgfplots;
mod quantity;
mod screen;
mod stacked;
mod style;
mod titles;
mod winners;

pub use appearance::{Appearance, Labels, LegendPlace, UnknownLabel};
pub use draw::Drawable;
pub use error::FigureError;
pub use figure::{Curve, DrawnCrossover, Figure, FigureOptions, Panel, Reference};
pub use format::FigureFormat;
pub use heat::{HeatColumns, HeatFigure, HeatLabel, HeatPanel};

pub use marks::scene::Colour;
pub use marks::{DrawError, Length, Paper, Picture};
pub use page::{Link, Page, PageOptions};
pub use quantity::{LogAxes, Point, Quantity};
pub use screen::{ScreenPicture, ScreenRun};

pub use stacked::{Bar, BarPanel, Scales, StackKind, StackedBars};
pub use style::Styles;
pub use winners::WinnerFigure;
