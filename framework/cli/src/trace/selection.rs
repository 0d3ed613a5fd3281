use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use swapmeet_core::network::communicators::Communicators;
use swapmeet_core::network::topology::{Network, Route};
use swapmeet_core::simulation::listener::Sent;

/// Selects sends by step and by node. If neither is set, all sends are selected.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SendSelection {
    pub step: Option<u64>,
    pub node: Option<u64>,
}

impl SendSelection {
    /// `ends` are the sender and the receiver.
    pub(super) fn includes(&self, step: u64, ends: [u64; 2]) -> bool {
        self.step.is_none_or(|selected| selected == step)
            && self.node.is_none_or(|selected| ends.contains(&selected))
    }

    pub(super) fn is_all(&self) -> bool {
        self.step.is_none() && self.node.is_none()
    }
}

/// A send in any communicator. The schedule is made for one, and its sends have images in all.
pub(super) struct Image<'a> {
    pub network: &'a Network,
    /// The route that the algorithm requested, in this network; `None` for the network's own route.
    pub route: Option<Cow<'a, Route>>,
    /// All communicators, and the number of the image's; `None` if all ranks are one communicator.
    pub communicator: Option<(&'a Communicators, u64)>,
}

impl<'a> Image<'a> {
    pub(super) fn of(sent: &'a Sent<'_>, communicator: Option<(&'a Communicators, u64)>) -> Self {
        let Some((all, number)) = communicator else {
            let route = sent.route.map(Cow::Borrowed);
            return Self { network: sent.topology, route, communicator };
        };
        let moved = |route| {
            let moved = all.route(number, sent.from.physical, route);
            moved.unwrap_or_else(|e| unreachable!("this message was routed before: {e}"))
        };
        let route = sent.route.map(|route| Cow::Owned(moved(route)));
        Self { network: all.network(), route, communicator }
    }

    pub(super) fn rank(&self, node: u64) -> u64 {
        self.communicator.map_or(node, |(all, number)| all.rank(number, node))
    }

    pub(super) fn ends(&self, sent: &Sent<'_>) -> [u64; 2] {
        [sent.from, sent.to].map(|node| self.rank(node.physical))
    }
}

/// Fields that the receiver of the events does not need. Without them, steps are much smaller.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Omitted {
    /// Whether the path of a message is omitted if it is the network's own route.
    pub routes: bool,
    /// Whether blocks, byte counts and redistributions are omitted.
    pub contents: bool,
}
