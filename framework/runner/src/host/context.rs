//! Access to the host through the context pointer that a plugin passes to each function of the
//! host.

use super::Host;
use crate::defect;
use std::ffi::c_void;

/// Calls `work` with the host to which `ctx` points, and returns its result. If an assertion fails
/// in `work`, records it in the host and returns `or`. The panic must not unwind into the plugin,
/// which has not caused it.
///
/// # Safety
///
/// `ctx` must be the pointer from the host's table, and the call must occur during the plugin's
/// `supports` or `plan`, on the same thread.
pub(super) unsafe fn with<R>(ctx: *mut c_void, or: R, work: impl FnOnce(&mut Host<'_>) -> R) -> R {
    // SAFETY: the caller promises that this is the host, and that nothing else borrows it.
    let Some(host) = (unsafe { ctx.cast::<Host<'_>>().as_mut() }) else { return or };
    defect::catch(|| work(host)).unwrap_or_else(|defect| {
        // SAFETY: the caller promises that this is the host; the first borrow ended with the panic.
        if let Some(host) = unsafe { ctx.cast::<Host<'_>>().as_mut() } {
            host.defect.get_or_insert(defect);
        }
        or
    })
}
