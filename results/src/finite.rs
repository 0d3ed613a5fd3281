//! Figures that cannot be written.

/// A time that is no finite number: prices or sizes beyond what a double holds.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("column `{column}` is {value}, expected a finite number")]
pub struct NotFinite {
    /// The first column that is not finite.
    pub column: &'static str,
    pub value: f64,
}
