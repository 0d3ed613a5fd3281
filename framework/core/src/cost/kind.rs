//! The kinds of time, and tables with a value for each kind.

use crate::cost::settings::word_enum;
use std::ops::{AddAssign, Index, IndexMut};

word_enum! {
    /// A kind of time. All kinds but the last are parts of a completion time. A wait for a peer is
    /// no part, because the critical path then leads through the peer.
    #[derive(Hash, PartialOrd, Ord)]
    pub enum Kind {
        /// Start-ups of messages (alpha).
        Startup = "startup",
        /// Transmission of bytes (beta), as if no link were shared.
        Transmission = "transmission",
        /// Latencies of links.
        Propagation = "propagation",
        /// Rearrangement of data within nodes.
        Rearrangement = "rearrangement",
        /// Barriers, from the time at which all ranks have reached them.
        Barrier = "barrier",
        /// Additional time because messages share links or wait for ports or engines.
        Contention = "contention",
        /// Reductions of received data (gamma).
        Reduction = "reduction",
        /// Waits for another rank: for its message, for a rendezvous match, or at a barrier.
        Peer = "peer",
    }
}

impl Kind {
    /// All kinds, in the order of their declaration.
    pub const ALL: [Self; Self::WORDS.len()] = {
        let mut all = [Self::Peer; Self::WORDS.len()];
        let mut i = 0;
        while i < all.len() {
            all[i] = Self::WORDS[i].1;
            i += 1;
        }
        all
    };

    /// The parts of a completion time, in the order of the result columns.
    pub const PARTS: [Self; Self::ALL.len() - 1] = *Self::ALL.first_chunk().unwrap();

    /// Returns the name, as in the result columns.
    pub fn name(self) -> &'static str {
        Self::WORDS[self as usize].0
    }
}

/// A value for each kind of time, usually a duration in µs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Times<T = f64>(pub [T; Kind::ALL.len()]);

/// The parts of a completion time in µs. A part is `None` if the model does not have it;
/// [`Kind::Peer`] is always `None`.
pub type Parts = Times<Option<f64>>;

impl<T> Index<Kind> for Times<T> {
    type Output = T;

    fn index(&self, kind: Kind) -> &T {
        &self.0[kind as usize]
    }
}

impl<T> IndexMut<Kind> for Times<T> {
    fn index_mut(&mut self, kind: Kind) -> &mut T {
        &mut self.0[kind as usize]
    }
}

impl<T: AddAssign> AddAssign for Times<T> {
    fn add_assign(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, more)| *sum += more);
    }
}

impl<T: Copy> Times<T> {
    /// Returns the table with these values.
    pub fn from_fn(value: impl FnMut(Kind) -> T) -> Self {
        Self(Kind::ALL.map(value))
    }

    /// Returns the table with these values, and the default value for all other kinds.
    pub fn of<const N: usize>(values: [(Kind, T); N]) -> Self
    where
        T: Default,
    {
        values.into_iter().fold(Self::default(), |times, (kind, value)| times.with(kind, value))
    }

    /// Returns the table with another value for one kind.
    #[must_use]
    pub fn with(mut self, kind: Kind, value: T) -> Self {
        self[kind] = value;
        self
    }

    /// Converts each value.
    pub fn map<U>(self, convert: impl FnMut(T) -> U) -> Times<U> {
        Times(self.0.map(convert))
    }

    /// Joins the values of each kind in two tables.
    pub fn zip<U: Copy, V>(self, other: Times<U>, join: impl Fn(T, U) -> V) -> Times<V> {
        Times(Kind::ALL.map(|kind| join(self[kind], other[kind])))
    }

    /// Returns each kind with its value.
    pub fn each(&self) -> impl Iterator<Item = (Kind, T)> + use<T> {
        Kind::ALL.into_iter().zip(self.0)
    }
}

impl Times {
    /// Returns the sum of all times.
    pub fn total(&self) -> f64 {
        self.0.iter().sum()
    }

    pub(super) fn parts(&self, has: impl Fn(Kind) -> bool) -> Parts {
        Times::from_fn(|kind| (kind != Kind::Peer && has(kind)).then_some(self[kind]))
    }
}

impl Parts {
    /// Returns the completion time: the sum of all parts.
    pub fn total(&self) -> f64 {
        self.0.iter().flatten().sum()
    }
}
