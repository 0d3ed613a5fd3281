//! What plugins may ask of a machine.

use crate::cost::parameter::{PORTS, PortLimit, VIRTUAL_CHANNELS};
use crate::cost::settings::parameters;

parameters! {
    /// What planning reads, whatever the model: plugins may ask for it.
    #[derive(Copy)]
    pub struct Planning {
        ports: PortLimit = PORTS,
        virtual_channels: u64 = VIRTUAL_CHANNELS,
    }
}

impl Planning {
    /// Messages a node may send, and receive, at a time.
    pub fn ports(&self) -> PortLimit {
        self.ports
    }

    /// Circuits a directed link carries at a time.
    pub fn virtual_channels(&self) -> u64 {
        self.virtual_channels
    }
}
