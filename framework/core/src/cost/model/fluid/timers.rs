//! Timers with fast access to the earliest one.

/// A tournament tree of timers. Every inner node has the minimum of its two children, so the root
/// has the earliest time. An update stops at the first inner node whose minimum does not change,
/// which is after two levels on average. Timers that are not set are infinite.
#[derive(Debug, Clone)]
pub(super) struct Timers {
    size: usize,
    tree: Vec<f64>,
}

impl Timers {
    pub(super) fn new(count: usize) -> Self {
        let size = count.next_power_of_two();
        Self { size, tree: vec![f64::INFINITY; 2 * size] }
    }

    /// Grows to at least `count` timers.
    pub(super) fn grow(&mut self, count: usize) {
        if count <= self.size {
            return;
        }
        let mut larger = Self::new(count);
        larger.tree[larger.size..larger.size + self.size].copy_from_slice(&self.tree[self.size..]);
        for parent in (1..larger.size).rev() {
            larger.tree[parent] = larger.tree[2 * parent].min(larger.tree[2 * parent + 1]);
        }
        *self = larger;
    }

    pub(super) fn get(&self, timer: usize) -> f64 {
        self.tree[self.size + timer]
    }

    /// Returns new timers. Each new timer copies the time of an old timer, whose number is in `of`.
    pub(super) fn remap(&self, of: &[usize]) -> Self {
        let mut new = Self::new(of.len());
        of.iter().enumerate().for_each(|(timer, old)| new.set(timer, self.get(*old)));
        new
    }

    pub(super) fn earliest(&self) -> f64 {
        self.tree[1]
    }

    /// Calls `each` with every time that is not later than `limit`.
    pub(super) fn each_before(&self, limit: f64, each: &mut impl FnMut(f64)) {
        self.each_below(1, limit, each);
    }

    fn each_below(&self, at: usize, limit: f64, each: &mut impl FnMut(f64)) {
        if self.tree[at] > limit || self.tree[at] == f64::INFINITY {
            return;
        }
        if at >= self.size {
            return each(self.tree[at]);
        }
        self.each_below(2 * at, limit, each);
        self.each_below(2 * at + 1, limit, each);
    }

    pub(super) fn set(&mut self, timer: usize, time: f64) {
        let mut at = self.size + timer;
        self.tree[at] = time;
        while at > 1 {
            at /= 2;
            let least = self.tree[2 * at].min(self.tree[2 * at + 1]);
            if self.tree[at] == least {
                break;
            }
            self.tree[at] = least;
        }
    }

    /// Finds the timers whose time is at most `limit`. Unsets the one with the smallest number and
    /// returns this number.
    pub(super) fn pop(&mut self, limit: f64) -> Option<usize> {
        if self.tree[1] > limit || self.tree[1] == f64::INFINITY {
            return None;
        }
        let mut at = 1;
        while at < self.size {
            at = 2 * at + usize::from(self.tree[2 * at] > limit);
        }
        let timer = at - self.size;
        self.set(timer, f64::INFINITY);
        Some(timer)
    }
}
