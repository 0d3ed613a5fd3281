//! Work that can be done side by side. This crate starts no threads: who runs a case hands in
//! whoever has some.
//!
//! What is divided is divided by who owns it (nodes, steps), so that whatever the number of threads
//! everything is added up to the same.

mod rounds;

pub(crate) use rounds::{Apart, Rounds};

use std::fmt::Debug;
use std::sync::Arc;

/// Somebody who has threads: the caller's, and others.
pub trait Executor: Debug + Send + Sync {
    /// How many there are, the caller's among them.
    fn threads(&self) -> usize;

    /// Does this behind the caller, who goes on once another thread has begun with it.
    fn behind(&self, work: Box<dyn FnOnce() + Send>);

    /// Called by what is done behind: calls `work`, each time with a number below
    /// [`Executor::threads`], on this thread and on all others that have nothing to do or come to
    /// have nothing to do, never twice at a time with the same number; comes back once all these
    /// calls have.
    fn together(&self, work: &(dyn Fn(usize) + Sync));

    /// Called by whoever put something behind itself, and waits: does some of what is done
    /// together, if there is any.
    fn help(&self) -> bool;

    /// So many bytes accounts of all links may take that threads have for themselves; one has an
    /// account in any case.
    fn room(&self) -> u64 {
        1 << 28
    }

    /// So many sends are worth handing over to them: some milliseconds' work, beside which waking
    /// them is nothing.
    fn enough(&self) -> usize {
        1 << 14
    }
}

/// One thread, that of the caller.
#[derive(Debug, Clone, Copy, Default)]
pub struct Alone;

impl Executor for Alone {
    fn threads(&self) -> usize {
        1
    }

    fn behind(&self, work: Box<dyn FnOnce() + Send>) {
        work();
    }

    fn together(&self, work: &(dyn Fn(usize) + Sync)) {
        work(0);
    }

    fn help(&self) -> bool {
        false
    }
}

/// The caller's thread alone.
pub fn alone() -> Arc<dyn Executor> {
    Arc::new(Alone)
}
