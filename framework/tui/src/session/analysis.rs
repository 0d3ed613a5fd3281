//! What follows from the rows, worked out again as they come.

use super::Session;
use super::comparison::Compared;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::Instant;

/// The work, in a thread of its own that takes a fifth of the time at most.
#[derive(Debug, Default)]
pub(super) struct Analysis {
    /// Whether rows or baseline have changed since.
    pub(super) is_stale: bool,
    under_way: Option<(Instant, Receiver<Compared>)>,
    /// When it may begin again.
    next: Option<Instant>,
}

impl Analysis {
    /// Whether a result is still to come.
    pub(super) fn is_due(&self) -> bool {
        self.is_stale || self.under_way.is_some()
    }
}

impl Session {
    /// Begins the work if it is time; true if its result came.
    pub(super) fn take_analysis(&mut self) -> bool {
        let analysis = &mut self.analysis;
        if analysis.is_stale
            && analysis.under_way.is_none()
            && analysis.next.is_none_or(|next| Instant::now() >= next)
        {
            analysis.is_stale = false;
            let (sender, receiver) = channel();
            let (records, baseline) = (self.queue.records(), self.baseline.clone());
            let scenario = self.what_if.scenario();
            let work = move || {
                let (records, tried) = match scenario {
                    Some(scenario) => {
                        let (records, tried) = scenario.apply(records);
                        (records, Some(tried))
                    }
                    None => (records.into_iter().map(Arc::unwrap_or_clone).collect(), None),
                };
                let compared = Compared { tried, ..Compared::of(records, baseline.as_deref()) };
                // A session that has ended meanwhile wants no comparison.
                drop(sender.send(compared));
            };
            match std::thread::Builder::new().name("comparison".to_owned()).spawn(work) {
                Ok(_) => analysis.under_way = Some((Instant::now(), receiver)),
                Err(error) => self.tell(&format!("no thread to compare rows in: {error}"), true),
            }
        }
        let Some((began, receiver)) = &self.analysis.under_way else { return false };
        let (took, result) = (began.elapsed(), receiver.try_recv());
        if matches!(result, Err(TryRecvError::Empty)) {
            return false;
        }
        self.analysis.under_way = None;
        // Whoever holds a key down waits for what follows from it.
        self.analysis.next = (!self.what_if.is_on()).then(|| Instant::now() + took * 4);
        if let Ok(compared) = result {
            if let Some(tried) = &compared.tried {
                self.what_if.tried(tried);
            }
            self.compared = compared;
        }
        true
    }
}
