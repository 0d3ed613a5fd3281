//! The threads of a case: those that do side by side what of a step can be done so.

use rayon_core::{Scope, ThreadPool, ThreadPoolBuilder, Yield};
use std::sync::Arc;
use std::sync::mpsc::channel;
use swapmeet_core::executor::{Alone, Executor};

/// More do a step no sooner: they meet once in each, and one alone plans.
pub const MOST: usize = 16;

/// What each takes of a process's address space at most, on top of what it works on: its stack, and
/// C's own heap for it.
pub(crate) const ROOM: u64 = STACK as u64 + (128 << 20);

const STACK: usize = 1 << 20;

/// This thread, which plans, and those that wait for work behind it.
#[derive(Debug)]
struct Threads(ThreadPool);

/// So many threads, this one among them, which plans; where they can't be started this one alone,
/// and why. A thread can be among those of one only.
pub fn start(count: usize) -> (Arc<dyn Executor>, Option<String>) {
    start_with(count, STACK)
}

fn start_with(count: usize, stack: usize) -> (Arc<dyn Executor>, Option<String>) {
    let count = count.clamp(1, MOST);
    if count == 1 {
        return (Arc::new(Alone), None);
    }
    let pool =
        ThreadPoolBuilder::new().num_threads(count).use_current_thread().stack_size(stack).build();
    match pool {
        Ok(pool) => {
            // So that all that they need to begin with is there.
            pool.broadcast(|_| drop(std::hint::black_box(Box::new(0_u8))));
            (Arc::new(Threads(pool)), None)
        }
        Err(error) => (
            Arc::new(Alone),
            Some(format!("no {count} threads could be started, one does all: {error}")),
        ),
    }
}

impl Executor for Threads {
    fn threads(&self) -> usize {
        self.0.current_num_threads()
    }

    fn behind(&self, work: Box<dyn FnOnce() + Send>) {
        let (began, begins) = channel();
        self.0.spawn(move || {
            began.send(()).ok();
            work();
        });
        // What lies here waiting would be taken for something to help with.
        begins.recv().ok();
    }

    fn together(&self, work: &(dyn Fn(usize) + Sync)) {
        let one = |_: &Scope<'_>| {
            // Whoever finds it is one of these threads.
            if let Some(number) = self.0.current_thread_index() {
                work(number);
            }
        };
        self.0.in_place_scope(|scope| {
            (1..self.threads()).for_each(|_| scope.spawn(one));
            one(scope);
        });
    }

    fn help(&self) -> bool {
        matches!(self.0.yield_now(), Some(Yield::Executed))
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
    fn all_work_at_the_same_time_the_one_that_helps_too() {
        on_a_thread(|| {
            let (threads, why) = start(3);
            assert_eq!((threads.threads(), why), (3, None));
            assert!(!threads.help(), "there is nothing yet");
            let (told, done) = channel();
            let others = Arc::clone(&threads);
            threads.behind(Box::new(move || {
                let (all, numbers) = (Barrier::new(3), Mutex::new(Vec::new()));
                others.together(&|number| {
                    all.wait();
                    numbers.lock().unwrap().push(number);
                });
                told.send(numbers.into_inner().unwrap()).unwrap();
            }));
            while !threads.help() {}
            let mut numbers = done.recv().unwrap();
            numbers.sort_unstable();
            assert_eq!(numbers, [0, 1, 2]);
        });
    }

    /// Who plans may have no time: then the others do all.
    #[test]
    fn nobody_waits_for_one_that_does_not_help() {
        on_a_thread(|| {
            let (threads, _) = start(2);
            let (told, done) = channel();
            let others = Arc::clone(&threads);
            threads.behind(Box::new(move || {
                others.together(&|number| told.send(number).unwrap());
            }));
            assert_eq!(done.iter().next(), Some(1));
            while threads.help() {}
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
