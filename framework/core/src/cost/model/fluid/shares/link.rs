//! A link that flows share. The module [`super`] defines levels, open flows, and links that bind
//! flows.

/// Levels whose relative difference is smaller than this are equal.
pub(super) const TOLERANCE: f64 = 1e-9;

#[derive(Debug, Clone)]
pub(super) struct Link {
    pub capacity: f64,
    /// Sum of the rates of the flows that use the link.
    pub used: f64,
    /// Sum of the weights of the open flows on the link. Open flows have no rate yet.
    pub open: f64,
    /// Number of open flows on the link.
    pub opened: u32,
    /// Sum of the weights of the flows that the link binds, that is, whose rates it limits.
    pub binds: f64,
    /// Number of flows that the link binds.
    pub bound: u32,
    /// The level of all flows that the link binds.
    pub level: f64,
    /// The level at which the link is in the queue of the sweep; infinity if it is not queued.
    pub key: f64,
    /// The number of the first solve after the most recent end of a flow on this link.
    pub dirty: u64,
    /// Whether the link is in the list [`super::Shares::pending`].
    pub is_pending: bool,
    /// The indices in [`super::Shares::hops`] of all hops of flows over this link.
    pub on: Vec<u32>,
}

impl Link {
    pub(super) fn new(capacity: f64) -> Self {
        Self {
            capacity,
            used: 0.0,
            open: 0.0,
            opened: 0,
            binds: 0.0,
            bound: 0,
            level: 0.0,
            key: f64::INFINITY,
            dirty: 0,
            is_pending: false,
            on: Vec::new(),
        }
    }

    /// Returns the level at which the link becomes full if all flows that are bound by other links
    /// keep their rates. Those rates may fall, so the final level may be higher.
    pub(super) fn share(&self) -> f64 {
        ((self.capacity - self.used + self.level * self.binds) / (self.open + self.binds)).max(0.0)
    }

    pub(super) fn is_overfull(&self) -> bool {
        self.used > self.capacity * (1.0 + TOLERANCE)
    }

    /// Returns the lowest level at which the rates of the link's flows may change. Returns `None`
    /// if these rates do not change.
    pub(super) fn next_change(&self) -> Option<f64> {
        if self.bound == 0 {
            return if self.opened > 0 {
                Some(self.share())
            } else {
                self.is_overfull().then_some(0.0)
            };
        }
        let share = self.share();
        let stays = self.opened == 0 && (share - self.level).abs() <= TOLERANCE * self.level;
        (!stays).then(|| share.min(self.level))
    }
}
