use crate::appearance::UnknownLabel;
use swapmeet_results::{CompareError, UnknownParameter};

const MOST_PANELS: usize = 12;
/// The maximum number of curves that marker and dashes distinguish in a grey print.
pub(crate) const MOST_CURVES: usize = 24;

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FigureError {
    #[error(transparent)]
    Rows(#[from] CompareError),
    /// No row has what the figure shows. The text says what is missing.
    #[error("{0}")]
    Nothing(String),
    #[error("the rows make {count} panels, a figure has room for {most}: choose among their {differ}", most = MOST_PANELS)]
    ManyPanels { count: usize, differ: String },
    /// A name is neither that of a column nor that of a number of a spec.
    #[error("no column is called `{}`, and {error}", .error.names().0)]
    NoColumn { error: UnknownParameter },
    #[error("an axis has {count} values, a heat map has room for {most}: choose some rows")]
    ManyCells { count: usize, most: usize },
    #[error(transparent)]
    Label(#[from] UnknownLabel),
    /// A lower bound was requested, but the figure shows a quantity other than time.
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
