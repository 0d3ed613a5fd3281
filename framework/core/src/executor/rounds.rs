//! Work on many parts, round by round, by whoever has time for it: some hundred thousand rounds a
//! second, so those who wait look, rather than be woken.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{panicking, yield_now};

/// On cache lines of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Apart<T>(pub T);

/// Parts that are gone through in rounds: a round begins once all parts of the one before it are
/// done. Who comes late finds less to do, and who never comes is not missed.
#[derive(Debug)]
pub(crate) struct Rounds {
    rounds: usize,
    /// For each part, how many rounds of it somebody has taken on.
    taken: Vec<Apart<AtomicUsize>>,
    /// Parts done, of all rounds; which those who wait look at all the time.
    done: Apart<AtomicUsize>,
    /// The first round that is not to begin.
    end: AtomicUsize,
    /// Whether a part will never be done.
    is_off: AtomicBool,
}

impl Rounds {
    pub(crate) fn of(rounds: usize, parts: usize) -> Self {
        Self {
            rounds,
            taken: (0..parts.max(1)).map(|_| Apart::default()).collect(),
            done: Apart::default(),
            end: AtomicUsize::new(rounds),
            is_off: AtomicBool::new(false),
        }
    }

    /// No round after this one begins.
    pub(crate) fn end_with(&self, round: usize) {
        self.end.fetch_min(round + 1, Ordering::AcqRel);
    }

    /// Does what there is to do, from the part `home` on, until all rounds are done: `work(round,
    /// part)`. While others do what is left of a round, `meanwhile` may do something else; it says
    /// whether there was anything.
    pub(crate) fn go_through(
        &self,
        home: usize,
        mut work: impl FnMut(usize, usize),
        mut meanwhile: impl FnMut() -> bool,
    ) {
        /// So many looks, some tens of microseconds; then whoever else wants the core has it
        /// between two of them.
        const LOOKS: u32 = 1000;
        let _present = Present(self);
        let parts = self.taken.len();
        loop {
            let round = self.done.0.load(Ordering::Acquire) / parts;
            if round >= self.rounds || round >= self.end.load(Ordering::Acquire) {
                return;
            }
            for part in (home..parts).chain(0..home.min(parts)) {
                if self.takes(part, round) {
                    work(round, part);
                    self.done.0.fetch_add(1, Ordering::AcqRel);
                }
            }
            let mut looks = 0;
            while self.done.0.load(Ordering::Acquire) < (round + 1) * parts {
                if self.is_off.load(Ordering::Relaxed) {
                    return;
                }
                if meanwhile() {
                    continue;
                }
                looks += 1;
                if looks < LOOKS { spin_loop() } else { yield_now() }
            }
        }
    }

    /// Whether this part of a round is the caller's to do.
    fn takes(&self, part: usize, round: usize) -> bool {
        let taken = &self.taken[part].0;
        // A look costs less than a try.
        taken.load(Ordering::Relaxed) == round
            && taken.compare_exchange(round, round + 1, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }
}

/// Held by whoever takes parts: should it panic, nobody waits for it.
struct Present<'a>(&'a Rounds);

impl Drop for Present<'_> {
    fn drop(&mut self) {
        if panicking() {
            self.0.is_off.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::thread;

    /// Adds to each of five parts in each of a thousand rounds, on three threads.
    fn added(rounds: &Rounds) -> Vec<usize> {
        let parts: Vec<AtomicUsize> = (0..5).map(|_| AtomicUsize::new(0)).collect();
        thread::scope(|scope| {
            for home in 0..3 {
                let (rounds, parts) = (&rounds, &parts);
                scope.spawn(move || {
                    let work = |round, part: usize| {
                        let before: usize =
                            parts.iter().map(|part| part.load(Ordering::Relaxed)).sum();
                        assert!(
                            (5 * round..5 * round + 5).contains(&before),
                            "all parts of a round before the next"
                        );
                        parts[part].fetch_add(1, Ordering::Relaxed);
                        if round == 700 && part == 2 {
                            rounds.end_with(round);
                        }
                    };
                    rounds.go_through(home, work, || false);
                });
            }
        });
        parts.into_iter().map(AtomicUsize::into_inner).collect()
    }

    #[test]
    fn every_part_is_done_once_a_round_and_none_before_the_last_round_is_done() {
        assert_eq!(added(&Rounds::of(300, 5)), [300; 5]);
    }

    #[test]
    fn a_round_that_is_said_to_be_the_last_is_done_by_all() {
        assert_eq!(added(&Rounds::of(1000, 5)), [701; 5]);
    }

    #[test]
    fn who_waits_does_something_else() {
        let rounds = Rounds::of(1, 2);
        let other = AtomicBool::new(false);
        let until_done = |_, _| {
            while !other.load(Ordering::Relaxed) {
                spin_loop();
            }
        };
        thread::scope(|scope| {
            scope.spawn(|| rounds.go_through(0, until_done, || false));
            scope.spawn(|| {
                while rounds.taken[0].0.load(Ordering::Relaxed) == 0 {
                    spin_loop();
                }
                rounds.go_through(1, |_, _| {}, || !other.swap(true, Ordering::Relaxed));
            });
        });
        assert!(other.into_inner());
    }

    #[test]
    fn nobody_waits_for_one_that_panicked() {
        let rounds = Rounds::of(2, 2);
        let go = |home| rounds.go_through(home, |_, part| assert_ne!(part, 0), || false);
        thread::scope(|scope| {
            let other = scope.spawn(|| {
                while rounds.taken[0].0.load(Ordering::Relaxed) == 0 {
                    spin_loop();
                }
                go(1);
            });
            assert!(catch_unwind(AssertUnwindSafe(|| go(0))).is_err());
            other.join().unwrap();
        });
    }
}
