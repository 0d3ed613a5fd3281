use crate::appearance::UnknownLabel;
use swapmeet_results::{CompareError, UnknownParameter};

const MOST_PANELS: usize = 12;
/// The maximum number of curves. In a grey print, markers and dashes can distinguish this number.
pub(crate) const MOST_CURVES: usize = 24;

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FigureError {
    #[error(transparent)]
    Rows(#[from] CompareError),
    /// No row has the values that the figure shows. The text states which values are missing.
    #[error("{0}")]
    Nothing(String),
    #[error("the rows make {count} panels, a figure has room for {most}: choose among their {differ}", most = MOST_PANELS)]
    ManyPanels { count: usize, differ: String },
    /// The name is neither that of a column nor that of a number in the specs.
    #[error("no column is called `{}`, and {error}", .error.names().0)]
    NoColumn { error: UnknownParameter },
    #[error("an axis has {count} values, a heat map has room for {most}: choose some rows")]
    ManyCells { count: usize, most: usize },
    #[error(transparent)]
    Label(#[from] UnknownLabel),
    /// A lower bound was requested, but the figure does not show completion times.
    #[error("a lower bound can only be shown with completion times, not with {0}")]
    BoundOfTimes(&'static str),
    #[error("the rows have {0} algorithms, a figure has room for {most}: choose some with --algorithm", most = MOST_CURVES)]
    ManyCurves(usize),
}

/// `differ` names the columns in which panels differ.
pub(crate) fn check_panels(count: usize, differ: &str) -> Result<(), FigureError> {
    match count > MOST_PANELS {
        true => Err(FigureError::ManyPanels { count, differ: differ.to_owned() }),
        false => Ok(()),
    }
}
