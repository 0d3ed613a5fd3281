//! Work that can be done side by side. This crate starts no threads: who runs a case hands in whoever has some.
//!
//! What is divided is divided by who owns it (nodes, steps), so that whatever the number of threads everything is added up to the same.

mod meeting;

pub(crate) use meeting::{Apart, Meeting, Present};

use std::fmt::Debug;
use std::sync::Arc;

/// Somebody who has threads: the caller's, and a crew of others.
pub trait Executor: Debug + Send + Sync {
    /// How many there are in the crew; 0 where there is nobody but the caller.
    fn crew(&self) -> usize;

    /// Does this behind the caller, who goes on at once, on one of the crew.
    fn behind(&self, work: Box<dyn FnOnce() + Send>);

    /// Called by what is done behind: each of the crew calls `work` with its own number, all at the same time, so that they may wait for each other; comes back once all
    /// have.
    fn together(&self, work: &(dyn Fn(usize) + Sync));

    /// So many sends are worth handing over to them: some milliseconds' work, beside which waking them is nothing.
    fn enough(&self) -> usize {
        1 << 14
    }
}

/// One thread, that of the caller.
#[derive(Debug, Clone, Copy, Default)]
pub struct Alone;

impl Executor for Alone {
    fn crew(&self) -> usize {
        0
    }

    fn behind(&self, work: Box<dyn FnOnce() + Send>) {
        work();
    }

    fn together(&self, work: &(dyn Fn(usize) + Sync)) {
        work(0);
    }
}

/// The caller's thread alone.
pub fn alone() -> Arc<dyn Executor> {
    Arc::new(Alone)
}
