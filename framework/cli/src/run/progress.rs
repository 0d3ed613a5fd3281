//! Shows the progress of a run on standard error. On a terminal, there is a bar for the run and a
//! line for each schedule that is being made. Elsewhere, lines of text are printed from time to
//! time.

use crate::say::say;
use crate::streams;
use indicatif::{HumanDuration, MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::{Duration, Instant};
use swapmeet_results::Record;
use swapmeet_runner::case::Case;
use swapmeet_runner::forecast::Forecast;
use swapmeet_runner::schedule_progress::{ScheduleProgress, StepCounts};

pub(super) struct Progress {
    shown: Shown,
    done: u64,
    cases: u64,
    forecast: Forecast,
    lengths: StepCounts,
    began: Instant,
    /// The schedules that are being made, by the index of their first case.
    running: BTreeMap<usize, Running>,
}

enum Shown {
    Quiet,
    Lines {
        /// When the last line was printed, as the time since the start of the run.
        last: Duration,
    },
    Bars {
        all: MultiProgress,
        sweep: ProgressBar,
    },
}

/// The minimum time between two lines of text, if the second one is printed when a case ends.
const BETWEEN_CASES: Duration = Duration::from_secs(10);
/// The minimum time between two lines of text, if the second one is printed while cases run.
const WITHIN_CASES: Duration = Duration::from_secs(30);

struct Running {
    bar: Option<ProgressBar>,
    /// When the schedule was started, as the time since the start of the run.
    since: Duration,
    what: String,
    pace: ScheduleProgress,
    /// The number of steps of the schedule. It is known if an earlier case had the same schedule.
    length: Option<u64>,
    /// How many of the cases that share this schedule have not ended.
    open: usize,
}

impl Progress {
    /// `cases` counts all cases, including those with a row. `open` are the cases without a row.
    pub(super) fn new(cases: usize, open: &[Case], quiet: bool) -> Self {
        let (cases, done) = (cases as u64, (cases - open.len()) as u64);
        let shown = if quiet {
            Shown::Quiet
        } else if streams::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none() {
            let all = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
            let sweep = all.add(ProgressBar::new(cases));
            sweep.set_style(style("{bar:20} {pos}/{len} cases{msg}"));
            sweep.set_position(done);
            Shown::Bars { all, sweep }
        } else {
            Shown::Lines { last: Duration::ZERO }
        };
        Self {
            shown,
            done,
            cases,
            forecast: Forecast::new(open),
            lengths: StepCounts::default(),
            began: Instant::now(),
            running: BTreeMap::new(),
        }
    }

    /// Shows that a schedule was started, which `cases` share. `first` is the first of them.
    pub(super) fn started(&mut self, cases: Range<usize>, first: &Case) {
        let more =
            if cases.len() > 1 { format!(" and {} more", cases.len() - 1) } else { String::new() };
        let what =
            format!("{} on {}, {}{more}", first.algorithm, first.topology.spec(), first.workload);
        let bar = match &self.shown {
            Shown::Bars { all, .. } => {
                let bar = all.add(ProgressBar::new_spinner());
                bar.set_style(style("  {elapsed:>4}  {msg}"));
                bar.set_message(cut(&what, BESIDE_ELAPSED));
                bar.enable_steady_tick(Duration::from_millis(250));
                Some(bar)
            }
            Shown::Quiet | Shown::Lines { .. } => None,
        };
        let running = Running {
            bar,
            since: self.began.elapsed(),
            what,
            pace: ScheduleProgress::default(),
            length: self.lengths.steps_of(first),
            open: cases.len(),
        };
        self.running.insert(cases.start, running);
    }

    pub(super) fn steps(&mut self, case: usize, steps: u64, messages: u64) {
        let now = self.began.elapsed();
        if let Some(running) = self.running.get_mut(&case).filter(|_| steps > 0) {
            let Running { bar, what, pace, length, .. } = running;
            pace.reached(steps, messages, now);
            if let Some(bar) = bar {
                // The end of a long line is cut, so the progress precedes the name of the schedule.
                let words = format!("{}: {what}", pace.in_words(*length));
                bar.set_message(cut(&words, BESIDE_ELAPSED));
            }
        }
        self.tick();
    }

    /// Updates the remaining time, or prints a line if the last one was printed long ago.
    pub(super) fn tick(&mut self) {
        if let Shown::Bars { sweep, .. } = &self.shown {
            let left = self.left(self.began.elapsed());
            sweep.set_message(left.map(|left| format!(", {left} left")).unwrap_or_default());
        }
        if let Some(line) = self.line_within_cases(self.began.elapsed()) {
            say!("{line}");
        }
    }

    /// Returns a line about the run and the schedule that has been running longest. Returns `None`
    /// if the last line was printed less than [`WITHIN_CASES`] before `now`, the time since the
    /// start of the run.
    fn line_within_cases(&mut self, now: Duration) -> Option<String> {
        let line = self.line(now, WITHIN_CASES)?;
        let Some(oldest) = self.running.values().min_by_key(|running| running.since) else {
            return Some(line);
        };
        let elapsed = HumanDuration(Duration::from_secs((now - oldest.since).as_secs()));
        let steps = match oldest.pace.in_words(oldest.length) {
            words if words.is_empty() => words,
            words => format!(", {words}"),
        };
        let others = match self.running.len() {
            1 => String::new(),
            running => format!(", and {} more", running - 1),
        };
        Some(format!("{line}; running for {elapsed}: {}{steps}{others}", oldest.what))
    }

    /// Returns a line about the run, or `None` if the last one was printed less than `pause` ago.
    fn line(&mut self, now: Duration, pause: Duration) -> Option<String> {
        let left = self.left(now).map(|left| format!(", about {left} left")).unwrap_or_default();
        let Shown::Lines { last } = &mut self.shown else { return None };
        if now.saturating_sub(*last) < pause {
            return None;
        }
        *last = now;
        Some(format!("{} of {} cases{left}", self.done, self.cases))
    }

    fn left(&self, now: Duration) -> Option<HumanDuration> {
        let left = self.forecast.left(now)?;
        Some(HumanDuration(Duration::from_secs(left.as_secs_f64().ceil() as u64)))
    }

    pub(super) fn finished(&mut self, case: usize, what: &Case, row: &Record) {
        let now = self.began.elapsed();
        self.done += 1;
        self.forecast.ended(case, now);
        self.lengths.ended(what, row);
        // A key is a schedule's first case. A case belongs to the largest key that is not above it.
        if let Some((&first, running)) = self.running.range_mut(..=case).next_back() {
            running.open -= 1;
            if running.open == 0 {
                if let (Shown::Bars { all, .. }, Some(bar)) = (&self.shown, &running.bar) {
                    bar.finish_and_clear();
                    all.remove(bar);
                }
                self.running.remove(&first);
            }
        }
        if let Shown::Bars { sweep, .. } = &self.shown {
            sweep.inc(1);
        }
        if let Some(line) = self.line(now, BETWEEN_CASES) {
            say!("{line}");
        }
    }

    pub(super) fn say(&self, line: &str) {
        match &self.shown {
            Shown::Quiet => {}
            Shown::Lines { .. } => say!("{line}"),
            Shown::Bars { all, .. } => {
                // Errors are ignored, because the run does not need the terminal.
                let _ = all.println(line);
            }
        }
    }

    pub(super) fn finish(&self) {
        if let Shown::Bars { all, sweep } = &self.shown {
            for bar in self.running.values().filter_map(|running| running.bar.as_ref()) {
                bar.finish_and_clear();
                all.remove(bar);
            }
            sweep.finish_and_clear();
            all.remove(sweep);
        }
    }
}

/// Columns that stay free for the elapsed time and the terminal's `^C`, so that no line wraps.
const BESIDE_ELAPSED: usize = 12;

/// Cuts a text to `taken` columns less than the width of the terminal.
fn cut(text: &str, taken: usize) -> String {
    let columns = crossterm::terminal::size().map_or(80, |(columns, _)| usize::from(columns));
    let room = columns.saturating_sub(taken);
    if text.chars().count() <= room {
        return text.to_owned();
    }
    text.chars().take(room.saturating_sub(1)).chain(['…']).collect()
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_cases_are_described_every_thirty_seconds() {
        let mut progress = Progress::new(7, &[], false);
        progress.shown = Shown::Lines { last: Duration::ZERO };
        progress.done = 3;
        let mut pace = ScheduleProgress::default();
        pace.reached(3, 5_600_000, Duration::from_secs(2));
        let running = |since, what: &str, pace| Running {
            bar: None,
            since: Duration::from_secs(since),
            what: what.to_owned(),
            pace,
            length: Some(66),
            open: 1,
        };
        progress.running.insert(4, running(2, "pex on torus:64x64, uniform:64", pace));
        let mut at = |seconds| progress.line_within_cases(Duration::from_secs(seconds));
        let line = "3 of 7 cases; running for 30 seconds: pex on torus:64x64, uniform:64, step 3 of 66, 2.8 M messages/s";
        assert_eq!((at(29), at(32).as_deref(), at(61)), (None, Some(line), None));
        progress.running.insert(5, running(9, "bruck on ring:4, uniform:64", pace));
        let line = progress.line_within_cases(Duration::from_secs(62)).unwrap();
        assert!(line.ends_with("2.8 M messages/s, and 1 more"), "{line}");
        progress.shown = Shown::Quiet;
        assert_eq!(progress.line_within_cases(Duration::from_secs(100)), None);
    }
}
