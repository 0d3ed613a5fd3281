use crate::failure::INTERRUPTED;
use crate::streams;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use swapmeet_runner::system;

/// Returns a flag that Ctrl-C or a request to terminate sets. A second signal ends the program
/// immediately. A signal that is ignored stays ignored, as with `nohup`.
pub(crate) fn interrupts() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    if streams::is_test() {
        // The signals of a test's process belong to the test program.
        return flag;
    }
    for signal in [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|s| !system::is_ignored(*s)) {
        // If no handler can be installed, the signal ends the program, which is the default action.
        let _ = flag::register_conditional_shutdown(signal, INTERRUPTED.into(), Arc::clone(&flag))
            .and_then(|_| flag::register(signal, Arc::clone(&flag)));
    }
    flag
}
