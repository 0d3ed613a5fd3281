//! What of a step is shown.

/// What is drawn of links or nodes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Quantity {
    #[default]
    Messages,
    Bytes,
    /// Bytes held by nodes.
    Held,
}

impl Quantity {
    pub(super) fn next(self) -> Self {
        match self {
            Self::Messages => Self::Bytes,
            Self::Bytes => Self::Held,
            Self::Held => Self::Messages,
        }
    }
}

/// What of a step is shown.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct View {
    pub(super) quantity: Quantity,
    /// Which plane of three dimensions.
    pub(super) plane: usize,
    /// How often planes were turned: along which of three dimensions they are counted.
    pub(super) turned: usize,
}
