//! Work in a separate thread, so that it does not delay the drawing of the screen.

use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread::Builder;

/// Work that is in progress in a separate thread.
#[derive(Debug)]
pub(super) struct Task<T>(Receiver<T>);

impl<T: Send + 'static> Task<T> {
    /// Starts the work. Errors if the thread cannot be started.
    pub(super) fn start(
        name: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<Self, String> {
        let (sender, receiver) = channel();
        // Ignore a failed send. It means that the session has ended and the receiver no longer
        // exists.
        let thread = Builder::new().name(name.to_owned()).spawn(move || drop(sender.send(work())));
        thread.map(|_| Self(receiver)).map_err(|error| format!("cannot start a thread: {error}"))
    }
}

/// If the task has ended, removes it and returns its result, which is `None` if its thread has
/// panicked.
pub(super) fn take_ended<T>(task: &mut Option<Task<T>>) -> Option<Option<T>> {
    let result = match task.as_ref()?.0.try_recv() {
        Err(TryRecvError::Empty) => return None,
        ended => ended.ok(),
    };
    *task = None;
    Some(result)
}
