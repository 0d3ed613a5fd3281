//! The threads of a case: those that do side by side what of a step can be done so.

use rayon_core::{ThreadPool, ThreadPoolBuilder};
use std::sync::Arc;
use swapmeet_core::executor::{Alone, Executor};

/// More do a step no sooner: they meet once in each, and one alone plans.
pub const MOST: usize = 16;

/// What each takes of a process's address space at most, on top of what it works on: its stack, and C's own heap for it.
pub(crate) const ROOM: u64 = STACK as u64 + (128 << 20);

const STACK: usize = 1 << 20;

/// Threads that wait for work behind the one that has them.
#[derive(Debug)]
struct Threads(ThreadPool);

/// How many threads work behind the one that plans, where so many are to share a case. Of two it would have most of the work to itself: planning waits for it.
pub(crate) fn crew(count: usize) -> usize {
    match count.min(MOST) {
        0 | 1 => 0,
        count => (count - 1).max(2),
    }
}

/// So many threads, this one among them, which plans; where they can't be started this one alone, and why.
pub fn start(count: usize) -> (Arc<dyn Executor>, Option<String>) {
    start_with(count, STACK)
}

fn start_with(count: usize, stack: usize) -> (Arc<dyn Executor>, Option<String>) {
    let crew = crew(count);
    if crew == 0 {
        return (Arc::new(Alone), None);
    }
    let pool = ThreadPoolBuilder::new().num_threads(crew).stack_size(stack).build();
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
    fn crew(&self) -> usize {
        self.0.current_num_threads()
    }

    fn behind(&self, work: Box<dyn FnOnce() + Send>) {
        self.0.spawn(work);
    }

    fn together(&self, work: &(dyn Fn(usize) + Sync)) {
        // The same part on the same thread every time: what it works on lies near that one.
        self.0.broadcast(|thread| work(thread.index()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;
    use std::sync::{Barrier, Mutex};

    /// On a thread of its own: each can be in one pool only.
    fn on_a_thread<R: Send>(work: impl FnOnce() -> R + Send) -> R {
        std::thread::scope(|scope| scope.spawn(work).join().unwrap())
    }

    /// Each waits for the others: none may do the work of two.
    #[test]
    fn all_of_the_crew_work_at_the_same_time_behind_the_caller() {
        on_a_thread(|| {
            let (threads, why) = start(2);
            assert_eq!((threads.crew(), why), (2, None), "one beside this, and one for what planning leaves of it");
            let (told, done) = channel();
            let crew = Arc::clone(&threads);
            threads.behind(Box::new(move || {
                let all = Barrier::new(3);
                let numbers = Mutex::new(Vec::new());
                std::thread::scope(|scope| {
                    scope.spawn(|| all.wait());
                    crew.together(&|number| {
                        all.wait();
                        numbers.lock().unwrap().push(number);
                    });
                });
                told.send(numbers.into_inner().unwrap()).unwrap();
            }));
            let mut numbers = done.recv().unwrap();
            numbers.sort_unstable();
            assert_eq!(numbers, [0, 1]);
        });
    }

    /// No process has room for such a stack.
    #[test]
    fn where_no_thread_can_be_started_one_does_all_and_says_so() {
        on_a_thread(|| {
            let (threads, why) = start_with(3, 1 << 50);
            assert_eq!(threads.crew(), 0);
            assert!(why.unwrap().starts_with("no 3 threads could be started, one does all: "));
        });
    }
}
