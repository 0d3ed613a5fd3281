//! The parameters of a machine that plugins can read.

use crate::cost::parameter::{PORTS, PortLimit, VIRTUAL_CHANNELS};
use crate::cost::settings::parameters;

parameters! {
    /// The parameters that planning reads. Plugins can request them, whatever the model.
    #[derive(Copy)]
    pub struct Planning {
        ports: PortLimit = PORTS,
        virtual_channels: u64 = VIRTUAL_CHANNELS,
    }
}

impl Planning {
    /// Returns the limit on the number of messages that a node sends at a time, and on the number
    /// that it receives at a time.
    pub fn ports(&self) -> PortLimit {
        self.ports
    }

    /// Returns the number of circuits that a directed link carries at a time.
    pub fn virtual_channels(&self) -> u64 {
        self.virtual_channels
    }
}
