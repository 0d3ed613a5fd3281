//! Failed assertions of the program itself, which only a defect of Swapmeet can cause. The case
//! then ends without a time, its row names the assertion, and the other cases continue. Each
//! function that plugins call uses [`catch`], because a panic must not unwind through C code. A
//! linked plugin shares the panic hook of the program. So [`call_plugin`] ensures that panics of
//! the plugin are stored by the SDK's hook instead.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    /// Whether a panic of this thread would be stopped by [`catch`].
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
    /// The message and location of the last panic that reached [`catch`].
    static LAST: RefCell<Option<String>> = const { RefCell::new(None) };
}

static HAS_FAILED: AtomicBool = AtomicBool::new(false);

/// Runs `work`. If an assertion fails, returns a text that names the assertion and asks the user to
/// report it. The data that `work` was changing must not be used afterwards.
pub(crate) fn catch<R>(work: impl FnOnce() -> R) -> Result<R, String> {
    store_messages();
    let was_caught = IS_CAUGHT.replace(true);
    let result = catch_unwind(AssertUnwindSafe(work));
    IS_CAUGHT.set(was_caught);
    result.map_err(|panic| {
        HAS_FAILED.store(true, Ordering::Relaxed);
        // If another library has replaced the panic hook, the location of the panic is unknown.
        let message = panic.downcast_ref::<&str>().copied();
        let message = message.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        let message = LAST.take().or_else(|| message.map(str::to_owned));
        let message = message.as_deref().unwrap_or("no message");
        format!("swapmeet itself failed, please report it: {message}")
    })
}

pub(crate) fn call_plugin<R>(function: impl FnOnce() -> R) -> R {
    let was_caught = IS_CAUGHT.replace(false);
    let result = function();
    IS_CAUGHT.set(was_caught);
    result
}

/// Returns whether an assertion has failed. If so, the process should not run further jobs.
pub(crate) fn has_failed() -> bool {
    HAS_FAILED.load(Ordering::Relaxed)
}

/// Installs a panic hook that stores the messages of panics that reach [`catch`]. It must be
/// installed after the hook of linked plugins.
pub(crate) fn store_messages() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        // This call installs the SDK's hook, which must be installed first.
        #[cfg(test)]
        let _ = swapmeet_plugin_classic::plugin_table();
        let other = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !IS_CAUGHT.get() {
                return other(info);
            }
            let message = info.payload_as_str().unwrap_or("no message");
            let location = info.location().map(|at| format!(" ({}:{})", at.file(), at.line()));
            LAST.set(Some(format!("{message}{}", location.unwrap_or_default())));
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_assertion_is_returned_with_its_place_and_the_work_around_it_goes_on() {
        let line = line!() + 1;
        let inner = || assert_eq!(1 + 1, 3, "a sum");
        let outer = catch(|| (catch(inner), catch(|| 7)));
        let (failed, other) = outer.unwrap();
        let failed = failed.unwrap_err();
        assert!(
            failed.starts_with("swapmeet itself failed, please report it: assertion"),
            "{failed}"
        );
        assert!(failed.contains("a sum"), "{failed}");
        assert!(failed.ends_with(&format!("defect.rs:{line})")), "{failed}");
        assert_eq!(other, Ok(7));
        assert!(has_failed());
    }
}
