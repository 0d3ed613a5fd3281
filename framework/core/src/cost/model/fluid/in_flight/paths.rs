//! The critical paths to the starts of messages in flight.

use crate::cost::model::path::Path;

/// The critical paths to the starts of messages in flight. Messages that start one after another
/// often have the same path, which is then stored once.
#[derive(Debug, Clone, Default)]
pub(super) struct Paths {
    /// Each path, and the number of messages in flight that have this path.
    paths: Vec<(Path, u32)>,
    /// The indices of unused entries of `paths`.
    free: Vec<u32>,
    /// The index of the path that was added last.
    last: u32,
}

impl Paths {
    /// Adds the critical path to the start of a message. Returns the index of the path.
    pub(super) fn add(&mut self, path: Path) -> u32 {
        match self.paths.get_mut(self.last as usize) {
            Some((last, messages)) if *messages > 0 && *last == path => *messages += 1,
            _ => {
                self.last = self.free.pop().unwrap_or(self.paths.len() as u32);
                match self.paths.get_mut(self.last as usize) {
                    Some(unused) => *unused = (path, 1),
                    None => self.paths.push((path, 1)),
                }
            }
        }
        self.last
    }

    pub(super) fn get(&self, number: u32) -> Path {
        self.paths[number as usize].0
    }

    /// Returns the path of a message that ends. If no other message has this path, the entry of the
    /// path becomes unused.
    pub(super) fn remove(&mut self, number: u32) -> Path {
        let (path, messages) = &mut self.paths[number as usize];
        *messages -= 1;
        if *messages == 0 {
            self.free.push(number);
        }
        *path
    }
}
