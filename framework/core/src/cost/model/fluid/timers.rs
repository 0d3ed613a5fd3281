//! When each of many things happens: the least moment is at hand, and a change costs little.

/// A winner tree over numbered things: the least moment stands at its root. A change goes up only
/// as far as it changes a minimum, two levels as a rule.
#[derive(Debug)]
pub(super) struct Timers {
    size: usize,
    tree: Vec<f64>,
}

impl Timers {
    pub(super) fn new(things: usize) -> Self {
        let size = things.next_power_of_two();
        Self { size, tree: vec![f64::INFINITY; 2 * size] }
    }

    /// Makes room for so many.
    pub(super) fn reach(&mut self, things: usize) {
        if things <= self.size {
            return;
        }
        let mut larger = Self::new(things);
        larger.tree[larger.size..larger.size + self.size].copy_from_slice(&self.tree[self.size..]);
        for parent in (1..larger.size).rev() {
            larger.tree[parent] = larger.tree[2 * parent].min(larger.tree[2 * parent + 1]);
        }
        *self = larger;
    }

    /// When it happens.
    pub(super) fn of(&self, thing: usize) -> f64 {
        self.tree[self.size + thing]
    }

    /// The same for other things: when each of them happens is when the one happens that it was of.
    pub(super) fn spread(&self, of: &[usize]) -> Self {
        let mut others = Self::new(of.len());
        (0..).zip(of).for_each(|(thing, was)| others.set(thing, self.of(*was)));
        others
    }

    pub(super) fn least(&self) -> f64 {
        self.tree[1]
    }

    pub(super) fn set(&mut self, thing: usize, moment: f64) {
        let mut at = self.size + thing;
        self.tree[at] = moment;
        while at > 1 {
            at /= 2;
            let least = self.tree[2 * at].min(self.tree[2 * at + 1]);
            if self.tree[at] == least {
                break;
            }
            self.tree[at] = least;
        }
    }

    /// Takes out the first in number of those that happen no later than `limit`.
    pub(super) fn pop(&mut self, limit: f64) -> Option<usize> {
        if self.tree[1] > limit || self.tree[1] == f64::INFINITY {
            return None;
        }
        let mut at = 1;
        while at < self.size {
            at = 2 * at + usize::from(self.tree[2 * at] > limit);
        }
        let thing = at - self.size;
        self.set(thing, f64::INFINITY);
        Some(thing)
    }
}
