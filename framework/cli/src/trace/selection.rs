//! The selection of the sends that a trace prints, and of their fields.

use serde::{Deserialize, Serialize};
use swapmeet_core::delivery::fault::PlacedNode;

/// Selects sends by step and node. All sends are selected if neither is given.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SendSelection {
    pub step: Option<u64>,
    pub node: Option<u64>,
}

impl SendSelection {
    pub(super) fn includes(&self, step: u64, from: PlacedNode, to: PlacedNode) -> bool {
        self.step.is_none_or(|selected| selected == step)
            && self.node.is_none_or(|selected| [from.physical, to.physical].contains(&selected))
    }

    pub(super) fn is_all(&self) -> bool {
        self.step.is_none() && self.node.is_none()
    }
}

/// The fields of sends that the reader of a trace does not need. A step with many messages is much
/// smaller without them.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Omitted {
    /// The path of each message that passes the same vertices as the topology's own route.
    pub routes: bool,
    /// The blocks or the byte counts of each message, and redistributions.
    pub contents: bool,
}
