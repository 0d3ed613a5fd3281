//! How far a run has come, on stderr: a bar for the sweep and a line a running case on a terminal,
//! a plain line now and then elsewhere.

use crate::say::say;
use indicatif::{HumanDuration, MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::collections::BTreeMap;
use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};
use swapmeet_results::Record;
use swapmeet_runner::case::Case;
use swapmeet_runner::forecast::Forecast;
use swapmeet_runner::schedule_progress::{ScheduleProgress, StepCounts};

/// Shows progress, or does nothing at all.
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
    /// A line now and then.
    Lines {
        last: Instant,
    },
    /// A bar, and a line for each schedule that is worked on, by the first of its cases.
    Bars {
        all: MultiProgress,
        sweep: ProgressBar,
        running: BTreeMap<usize, Running>,
    },
}

/// Cases that share a schedule.
struct Running {
    bar: ProgressBar,
    what: String,
    pace: ScheduleProgress,
    /// Of how many steps it is, as far as is known.
    length: Option<u64>,
    /// Those that have not ended.
    open: Vec<usize>,
}

impl Progress {
    /// For so many cases, of which these are still to be run.
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

    /// Work on a case has begun, and on so many that share its schedule.
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

    /// A case's schedule has come so far.
    pub(super) fn steps(&mut self, case: usize, steps: u64, messages: u64) {
        if let Shown::Bars { running, .. } = &mut self.shown
            && let Some(Running { bar, what, pace, length, .. }) =
                running.get_mut(&case).filter(|_| steps > 0)
        {
            pace.reached(steps, messages, bar.elapsed());
            // First what changes: the line may be cut.
            bar.set_message(cut(&format!("{}: {what}", pace.in_words(*length)), BESIDE_ELAPSED));
        }
    }

    pub(super) fn tick(&self) {
        if let Shown::Bars { sweep, .. } = &self.shown {
            sweep.set_message(self.left().map(|left| format!(", {left} left")).unwrap_or_default());
        }
    }

    /// The time left, once there is something to judge it by.
    fn left(&self) -> Option<HumanDuration> {
        let left = self.forecast.left(self.began.elapsed())?;
        Some(HumanDuration(Duration::from_secs(left.as_secs_f64().ceil() as u64)))
    }

    /// A case has ended, with this row.
    pub(super) fn finished(&mut self, case: usize, what: &Case, row: &Record) {
        /// Between two plain lines.
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

    /// A line for the reader, above the bars.
    pub(super) fn say(&self, line: &str) {
        match &self.shown {
            Shown::Quiet => {}
            Shown::Lines { .. } => say!("{line}"),
            Shown::Bars { all, .. } => {
                // A terminal that is gone is no reason to stop.
                let _ = all.println(line);
            }
        }
    }

    /// No more to come: the bars go.
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

/// Columns beside a case's text: its time, and room for the `^C` that a terminal shows, which would
/// else begin a line of its own and leave the bar behind.
const BESIDE_ELAPSED: usize = 12;

/// A text that fits into the terminal's line, so many columns of which are taken.
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
