//! Shows the progress of a run on standard error. On a terminal, it shows a bar for the whole run
//! and a line for each running case. Otherwise, it prints a line of text at regular intervals.

use crate::say::say;
use indicatif::{HumanDuration, MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::collections::BTreeMap;
use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};
use swapmeet_results::Record;
use swapmeet_runner::case::Case;
use swapmeet_runner::forecast::Forecast;
use swapmeet_runner::schedule_progress::{ScheduleProgress, StepCounts};

/// The progress display. It shows nothing if the user disables it.
pub(super) struct Progress {
    shown: Shown,
    done: u64,
    cases: u64,
    forecast: Forecast,
    lengths: StepCounts,
    began: Instant,
}

enum Shown {
    Quiet,
    /// A line of text at regular intervals.
    Lines {
        last: Instant,
    },
    /// A bar for the whole run, and a line for each schedule in progress. A schedule is identified
    /// by the index of its first case.
    Bars {
        all: MultiProgress,
        sweep: ProgressBar,
        running: BTreeMap<usize, Running>,
    },
}

/// Running cases that share a schedule.
struct Running {
    bar: ProgressBar,
    what: String,
    pace: ScheduleProgress,
    /// The number of steps of the schedule, if an earlier case has shown it.
    length: Option<u64>,
    /// The cases of this schedule that have not ended.
    open: Vec<usize>,
}

impl Progress {
    /// Creates a display for a run of `cases` cases. `open` contains the cases that have no row
    /// yet.
    pub(super) fn new(cases: usize, open: &[Case], quiet: bool) -> Self {
        let (cases, done) = (cases as u64, (cases - open.len()) as u64);
        let shown = if quiet {
            Shown::Quiet
        } else if io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none() {
            let all = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
            let sweep = all.add(ProgressBar::new(cases));
            sweep.set_style(style("{bar:20} {pos}/{len} cases{msg}"));
            sweep.set_position(done);
            Shown::Bars { all, sweep, running: BTreeMap::new() }
        } else {
            Shown::Lines { last: Instant::now() }
        };
        Self {
            shown,
            done,
            cases,
            forecast: Forecast::new(open),
            lengths: StepCounts::default(),
            began: Instant::now(),
        }
    }

    /// Shows that cases which share a schedule have started. `first` is the first of these cases.
    pub(super) fn started(&mut self, cases: &[usize], first: &Case) {
        if let Shown::Bars { all, running, .. } = &mut self.shown {
            let bar = all.add(ProgressBar::new_spinner());
            bar.set_style(style("  {elapsed:>4}  {msg}"));
            let more = if cases.len() > 1 {
                format!(" and {} more", cases.len() - 1)
            } else {
                String::new()
            };
            let what = format!(
                "{} on {}, {}{more}",
                first.algorithm,
                first.topology.spec(),
                first.workload
            );
            bar.set_message(cut(&what, BESIDE_ELAPSED));
            bar.enable_steady_tick(Duration::from_millis(250));
            let length = self.lengths.of(first);
            running.insert(
                cases[0],
                Running {
                    bar,
                    what,
                    pace: ScheduleProgress::default(),
                    length,
                    open: cases.to_vec(),
                },
            );
        }
    }

    /// Shows the number of steps and messages of a schedule so far.
    pub(super) fn steps(&mut self, case: usize, steps: u64, messages: u64) {
        if let Shown::Bars { running, .. } = &mut self.shown
            && let Some(Running { bar, what, pace, length, .. }) =
                running.get_mut(&case).filter(|_| steps > 0)
        {
            pace.reached(steps, messages, bar.elapsed());
            // The progress precedes the name of the case, because the terminal may cut the end of
            // the line.
            bar.set_message(cut(&format!("{}: {what}", pace.in_words(*length)), BESIDE_ELAPSED));
        }
    }

    pub(super) fn tick(&self) {
        if let Shown::Bars { sweep, .. } = &self.shown {
            sweep.set_message(self.left().map(|left| format!(", {left} left")).unwrap_or_default());
        }
    }

    /// Returns the estimated remaining time, if there is an estimate.
    fn left(&self) -> Option<HumanDuration> {
        let left = self.forecast.left(self.began.elapsed())?;
        Some(HumanDuration(Duration::from_secs(left.as_secs_f64().ceil() as u64)))
    }

    /// Shows that a case has ended with this row.
    pub(super) fn finished(&mut self, case: usize, what: &Case, row: &Record) {
        /// The time between two lines of text.
        const PAUSE: Duration = Duration::from_secs(10);
        self.done += 1;
        self.forecast.ended(case, self.began.elapsed());
        self.lengths.ended(what, row);
        let left = self.left().map(|left| format!(", about {left} left")).unwrap_or_default();
        match &mut self.shown {
            Shown::Quiet => {}
            Shown::Bars { all, sweep, running } => {
                sweep.inc(1);
                running.retain(|_, Running { bar, open, .. }| {
                    open.retain(|other| *other != case);
                    if open.is_empty() {
                        bar.finish_and_clear();
                        all.remove(bar);
                    }
                    !open.is_empty()
                });
            }
            Shown::Lines { last } if last.elapsed() >= PAUSE => {
                *last = Instant::now();
                say!("{} of {} cases{left}", self.done, self.cases);
            }
            Shown::Lines { .. } => {}
        }
    }

    /// Prints a line above the bars.
    pub(super) fn say(&self, line: &str) {
        match &self.shown {
            Shown::Quiet => {}
            Shown::Lines { .. } => say!("{line}"),
            Shown::Bars { all, .. } => {
                // Errors are ignored, because the run can continue without a terminal.
                let _ = all.println(line);
            }
        }
    }

    /// Removes the bars.
    pub(super) fn finish(&self) {
        if let Shown::Bars { all, sweep, running } = &self.shown {
            for Running { bar, .. } in running.values() {
                bar.finish_and_clear();
                all.remove(bar);
            }
            sweep.finish_and_clear();
            all.remove(sweep);
        }
    }
}

/// The number of columns that the description of a case cannot use. They are needed for its elapsed
/// time and for the `^C` that a terminal echoes. If `^C` did not fit, the line would wrap, and the
/// bar could not be removed from the screen.
const BESIDE_ELAPSED: usize = 12;

/// Cuts a text to the width of the terminal minus `taken` columns.
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
