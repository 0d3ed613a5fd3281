//! Work in separate threads, which does not delay the screen.

use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread::Builder;

#[derive(Debug)]
pub(super) struct Task<T>(Receiver<T>);

impl<T: Send + 'static> Task<T> {
    pub(super) fn start(
        name: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<Self, String> {
        let (sender, receiver) = channel();
        // A send fails if the session has ended.
        let thread = Builder::new().name(name.to_owned()).spawn(move || drop(sender.send(work())));
        thread.map(|_| Self(receiver)).map_err(|error| format!("cannot start a thread: {error}"))
    }
}

/// Removes a task that has ended. Its result is `None` if the thread has panicked.
pub(super) fn take_ended<T>(task: &mut Option<Task<T>>) -> Option<Option<T>> {
    let result = match task.as_ref()?.0.try_recv() {
        Err(TryRecvError::Empty) => return None,
        ended => ended.ok(),
    };
    *task = None;
    Some(result)
}
