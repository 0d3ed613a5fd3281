use crate::failure::INTERRUPTED;
use crate::streams;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use swapmeet_runner::system;

/// Returns a flag that is set by Ctrl-C or by a request to terminate. A second signal ends the
/// program immediately. If the parent process has set a signal to be ignored, as `nohup` does, it
/// stays ignored.
pub(crate) fn interrupts() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    if streams::is_test() {
        // In a test, signals are for the test program, so no handlers are installed.
        return flag;
    }
    for signal in [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|s| !system::is_ignored(*s)) {
        // If a handler cannot be installed, the signal's default action ends the program.
        let _ = flag::register_conditional_shutdown(signal, INTERRUPTED.into(), Arc::clone(&flag))
            .and_then(|_| flag::register(signal, Arc::clone(&flag)));
    }
    flag
}
