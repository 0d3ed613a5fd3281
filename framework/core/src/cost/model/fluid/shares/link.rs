//! A link that flows share: what it carries, and the level at which it is full.

/// Two levels closer than this are one.
pub(super) const TOLERANCE: f64 = 1e-9;

#[derive(Debug, Clone)]
pub(super) struct Link {
    pub capacity: f64,
    /// Rates of its flows that have one.
    pub used: f64,
    /// Weights of its open flows, and how many they are.
    pub open: f64,
    pub opened: u32,
    /// Weights of the flows that it binds, how many they are, and their level.
    pub binds: f64,
    pub bound: u32,
    pub level: f64,
    /// Where it is queued; infinity if it is not.
    pub key: f64,
    /// The solve before which one of its flows has gone.
    pub dirty: u64,
    pub is_pending: bool,
    /// Its flows, as numbers of hops.
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

    /// The level at which it is full, if the flows that it neither binds nor has open keep their
    /// rates: a lower bound, since these may be cut.
    pub(super) fn share(&self) -> f64 {
        ((self.capacity - self.used + self.level * self.binds) / (self.open + self.binds)).max(0.0)
    }

    pub(super) fn is_overfull(&self) -> bool {
        self.used > self.capacity * (1.0 + TOLERANCE)
    }

    /// At which level it first differs from what it was, if anywhere.
    pub(super) fn wants(&self) -> Option<f64> {
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
