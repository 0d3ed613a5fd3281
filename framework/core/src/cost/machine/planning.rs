//! The parameters of a machine that plugins can read.

use crate::cost::parameter::{PORTS, PortLimit, VIRTUAL_CHANNELS};
use crate::cost::settings::parameters;

parameters! {
    /// The parameters of a machine that plugins can read when they plan a schedule. Machines of all
    /// models have these parameters.
    #[derive(Copy)]
    pub struct Planning {
        ports: PortLimit = PORTS,
        virtual_channels: u64 = VIRTUAL_CHANNELS,
    }
}

impl Planning {
    /// Returns the limit on the number of messages that a node sends at the same time. The same
    /// limit applies to the messages that the node receives.
    pub fn ports(&self) -> PortLimit {
        self.ports
    }

    /// Returns the number of circuits that a directed link carries at the same time.
    pub fn virtual_channels(&self) -> u64 {
        self.virtual_channels
    }
}
