//! How far a run has come, on stderr: a bar for the sweep and a line a running case on a terminal, a plain line now and then elsewhere.

use crate::say::say;
use indicatif::{HumanDuration, MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::collections::BTreeMap;
use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};
use swapmeet_runner::batch::forecast::Forecast;
use swapmeet_runner::case::Case;

/// Shows progress, or does nothing at all.
pub struct Progress {
    shown: Shown,
    done: u64,
    cases: u64,
    forecast: Forecast,
    began: Instant,
}

enum Shown {
    /// Nothing.
    Quiet,
    /// A line now and then.
    Lines { last: Instant },
    /// A bar, and a line for each case that runs.
    Bars { all: MultiProgress, sweep: ProgressBar, running: BTreeMap<usize, ProgressBar> },
}

impl Progress {
    /// For so many cases, of which these are still to be run.
    pub fn new(cases: usize, open: &[Case], quiet: bool) -> Self {
        let (cases, done) = (cases as u64, (cases - open.len()) as u64);
        let shown = if quiet {
            Shown::Quiet
        } else if io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none() {
            let all = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
            let sweep = all.add(ProgressBar::new(cases));
            sweep.set_style(style("{bar:30} {pos}/{len} cases{msg}"));
            sweep.set_position(done);
            Shown::Bars { all, sweep, running: BTreeMap::new() }
        } else {
            Shown::Lines { last: Instant::now() }
        };
        Self { shown, done, cases, forecast: Forecast::new(open), began: Instant::now() }
    }

    /// Work on a case has begun, and on so many that share its schedule.
    pub fn started(&mut self, case: usize, what: &Case, together: usize) {
        if let Shown::Bars { all, running, .. } = &mut self.shown {
            let bar = all.add(ProgressBar::new_spinner());
            bar.set_style(style("  {elapsed:>4}  {prefix}{msg}"));
            let more = if together > 1 { format!(" and {} more", together - 1) } else { String::new() };
            bar.set_prefix(format!("{} on {}, {}{more}", what.algorithm, what.topology.spec(), what.workload));
            bar.enable_steady_tick(Duration::from_millis(250));
            running.insert(case, bar);
        }
    }

    /// A case's schedule has come so far.
    pub fn steps(&self, case: usize, steps: u64) {
        if let Shown::Bars { running, .. } = &self.shown
            && let Some(bar) = running.get(&case).filter(|_| steps > 0)
        {
            bar.set_message(format!(": {steps} steps"));
        }
    }

    /// Time has passed.
    pub fn tick(&self) {
        if let Shown::Bars { sweep, .. } = &self.shown {
            sweep.set_message(self.left().map(|left| format!(", {left} left")).unwrap_or_default());
        }
    }

    /// The time left, once there is something to judge it by.
    fn left(&self) -> Option<HumanDuration> {
        let left = self.forecast.left(self.began.elapsed())?;
        Some(HumanDuration(Duration::from_secs(left.as_secs_f64().ceil() as u64)))
    }

    /// A case has ended.
    pub fn finished(&mut self, case: usize) {
        /// Between two plain lines.
        const PAUSE: Duration = Duration::from_secs(10);
        self.done += 1;
        self.forecast.ended(case);
        let left = self.left().map(|left| format!(", about {left} left")).unwrap_or_default();
        match &mut self.shown {
            Shown::Quiet => {}
            Shown::Bars { all, sweep, running } => {
                sweep.inc(1);
                if let Some(bar) = running.remove(&case) {
                    bar.finish_and_clear();
                    all.remove(&bar);
                }
            }
            Shown::Lines { last } if last.elapsed() >= PAUSE => {
                *last = Instant::now();
                say!("{} of {} cases{left}", self.done, self.cases);
            }
            Shown::Lines { .. } => {}
        }
    }

    /// A line for the reader, above the bars.
    pub fn say(&self, line: &str) {
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
    pub fn finish(&self) {
        if let Shown::Bars { all, .. } = &self.shown {
            let _ = all.clear();
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
