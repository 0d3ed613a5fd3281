//! The threads of a case: those that do side by side what of a step can be done so.

use rayon_core::{ThreadPool, ThreadPoolBuilder};
use std::sync::Arc;
use swapmeet_core::executor::{Alone, Executor};

/// More do a step no sooner: each looks through all messages once.
pub const MOST: usize = 16;

/// What each takes of a process's address space at most, on top of what it works on: its stack, and C's own heap for it.
pub(crate) const ROOM: u64 = STACK as u64 + (128 << 20);

const STACK: usize = 1 << 20;

/// Threads that wait for work.
#[derive(Debug)]
struct Threads(ThreadPool);

/// So many threads, this one among them; where they can't be started this one alone, and why.
pub fn start(count: usize) -> (Arc<dyn Executor>, Option<String>) {
    start_with(count, STACK)
}

fn start_with(count: usize, stack: usize) -> (Arc<dyn Executor>, Option<String>) {
    if count <= 1 {
        return (Arc::new(Alone), None);
    }
    let pool = ThreadPoolBuilder::new().num_threads(count.min(MOST)).stack_size(stack).use_current_thread().build();
    match pool {
        Ok(pool) => {
            // So that all that they need to begin with is there.
            pool.broadcast(|_| drop(std::hint::black_box(Box::new(0_u8))));
            (Arc::new(Threads(pool)), None)
        }
        Err(error) => (Arc::new(Alone), Some(format!("no {count} threads could be started, one does all: {error}"))),
    }
}

impl Executor for Threads {
    fn threads(&self) -> usize {
        self.0.current_num_threads()
    }

    fn run(&self, parts: usize, work: &(dyn Fn(usize) + Sync)) {
        // The same part on the same thread every time: what it works on lies near that one.
        self.0.broadcast(|thread| (thread.index()..parts).step_by(thread.num_threads()).for_each(work));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    /// On a thread of its own: each can be in one pool only.
    fn on_a_thread<R: Send>(work: impl FnOnce() -> R + Send) -> R {
        std::thread::scope(|scope| scope.spawn(work).join().unwrap())
    }

    #[test]
    fn every_part_is_done_once() {
        on_a_thread(|| {
            let (threads, why) = start(3);
            assert_eq!((threads.threads(), why), (3, None));
            for parts in [0, 1, 2, 100] {
                let done = Mutex::new(Vec::new());
                threads.run(parts, &|part| done.lock().unwrap().push(part));
                let mut done = done.into_inner().unwrap();
                done.sort_unstable();
                assert_eq!(done, (0..parts).collect::<Vec<_>>());
            }
        });
    }

    /// No process has room for such a stack.
    #[test]
    fn where_no_thread_can_be_started_one_does_all_and_says_so() {
        on_a_thread(|| {
            let (threads, why) = start_with(3, 1 << 50);
            assert_eq!(threads.threads(), 1);
            assert!(why.unwrap().starts_with("no 3 threads could be started, one does all: "));
        });
    }
}
