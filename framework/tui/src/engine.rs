//! Runs cases behind the screen's back: a list of cases goes in, events come out, and it can be told to stop.
//!
//! Rows are written by the thread that makes them, before the screen hears of them: whatever happens to the screen, the file has them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use swapmeet_core::step::{Listener, Step};
use swapmeet_results::{Record, Sink};
use swapmeet_runner::case::Case;
use swapmeet_runner::session::run_group;

/// What happens to a batch of cases. Cases are named by their place in the list.
#[derive(Debug)]
pub enum Event {
    /// A case has begun.
    Started(usize),
    /// A case has come to this step of its schedule.
    Progress(usize, u64),
    /// A case has ended.
    Finished(usize, Box<Record>),
    /// Something to be told.
    Log(String),
    /// No more will come.
    Done,
}

/// Where rows go as they come, shared by all batches of a session.
pub type Rows = Arc<Mutex<dyn Sink + Send>>;

/// Cases on their way.
#[derive(Debug)]
pub struct Batch {
    events: Receiver<Event>,
    cancelled: Arc<AtomicBool>,
}

impl Batch {
    /// Starts to run cases, in order; `rows` gets each row first.
    pub fn start(cases: Vec<Case>, rows: Option<Rows>) -> Self {
        let (sender, events) = channel();
        let cancelled = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&cancelled);
        let failed = sender.clone();
        let thread = std::thread::Builder::new().name("cases".to_owned());
        if let Err(error) = thread.spawn(move || work(&cases, rows.as_ref(), &sender, &flag)) {
            // The receiver is right here.
            let _ = failed.send(Event::Log(format!("error: no thread to run cases in: {error}")));
            let _ = failed.send(Event::Done);
        }
        Self { events, cancelled }
    }

    /// The next event, if there is one already. A worker that is gone is done.
    pub fn try_next(&self) -> Option<Event> {
        use std::sync::mpsc::TryRecvError;
        match self.events.try_recv() {
            Ok(event) => Some(event),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(Event::Done),
        }
    }

    /// Begins no more cases; those that run come to their end.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        self.cancel();
    }
}

fn work(cases: &[Case], rows: Option<&Rows>, events: &Sender<Event>, cancelled: &AtomicBool) {
    // Nobody listens any more once the session has ended: rows still go to the file.
    let tell = |event| drop(events.send(event));
    let mut first = 0;
    while first < cases.len() && !cancelled.load(Ordering::Relaxed) {
        let same = cases[first..].iter().take_while(|case| case.shares_plan_with(&cases[first])).count();
        (first..first + same).for_each(|index| tell(Event::Started(index)));
        let mut pulse = Pulse { index: first, events, last: Instant::now() };
        let records = run_group(&cases[first..first + same], &mut [&mut pulse]);
        for (index, record) in (first..).zip(records) {
            if let Some(Err(error)) = rows.and_then(|rows| rows.lock().ok()).map(|mut sink| sink.record(&record)) {
                tell(Event::Log(format!("error: writing rows: {error}")));
            }
            tell(Event::Finished(index, Box::new(record)));
        }
        first += same;
    }
    tell(Event::Done);
}

/// Says now and then how far a schedule is.
struct Pulse<'a> {
    index: usize,
    events: &'a Sender<Event>,
    last: Instant,
}

impl Listener for Pulse<'_> {
    fn step(&mut self, step: &Step<'_>) {
        const EVERY: Duration = Duration::from_millis(100);
        if self.last.elapsed() >= EVERY {
            self.last = Instant::now();
            drop(self.events.send(Event::Progress(self.index, step.number)));
        }
    }
}
