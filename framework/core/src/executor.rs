//! Work that can be done side by side. This crate starts no threads: who runs a case hands in whoever has some.
//!
//! What is divided is divided by who owns it (nodes, messages, links), so that whatever the number of threads everything is added up to the same.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

/// Somebody who can do many parts of some work at a time.
pub trait Executor: Debug + Send + Sync {
    /// How many at a time.
    fn threads(&self) -> usize;

    /// Steps of fewer messages are done sooner by one thread than others are told of them.
    fn fewest(&self) -> usize {
        FEWEST
    }

    /// Calls `work` with each number below `parts` once, in whatever order and on whatever threads, and comes back once all is done.
    fn run(&self, parts: usize, work: &(dyn Fn(usize) + Sync));
}

/// What waking three threads some times a step takes, in messages: measured on four cores, where steps of 2,048 took longer together and steps of 16,384 two thirds of the time.
const FEWEST: usize = 8192;

/// One thread, that of the caller.
#[derive(Debug, Clone, Copy, Default)]
pub struct Alone;

impl Executor for Alone {
    fn threads(&self) -> usize {
        1
    }

    fn run(&self, parts: usize, work: &(dyn Fn(usize) + Sync)) {
        (0..parts).for_each(work);
    }
}

/// The caller's thread alone.
pub fn alone() -> Arc<dyn Executor> {
    Arc::new(Alone)
}

/// Does the same to each of these parts.
pub(crate) fn each<T: Send>(executor: &dyn Executor, parts: &mut [T], work: impl Fn(&mut T) + Sync) {
    // Nobody ever waits for one of these: a part is worked on once.
    let parts: Vec<Mutex<&mut T>> = parts.iter_mut().map(Mutex::new).collect();
    executor.run(parts.len(), &|number| {
        if let Ok(mut part) = parts[number].lock() {
            work(&mut part);
        }
    });
}

/// How many of so many things each of `parts` gets at most, in order; at least one.
pub(crate) fn share(things: usize, parts: usize) -> usize {
    things.div_ceil(parts.max(1)).max(1)
}
