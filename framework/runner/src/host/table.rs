//! The table of functions that the host passes to a plugin.

use super::context::with;
use super::network::{demand, links, token_bytes, token_receivers, uniform, vertices};
use super::read::values;
use crate::plugin::text;
use smallvec::SmallVec;
use std::ffi::c_void;
use swapmeet_abi::{
    Growing, SWM_BYTE_COUNTS, SWM_FIXED, SWM_IN_PARTS, SWM_LOG_NOTE, SWM_LOG_WARN, SWM_SHIFT,
    SWM_STOPPED, SWM_XOR, SwmBlocks, SwmBucket, SwmBytes, SwmHost, SwmLayout, SwmRedistribution,
    SwmStr, SwmSymmetry, read_sized,
};
use swapmeet_core::delivery::byte_counts::{ByteCountUnits, Redistribution};
use swapmeet_core::delivery::exchange::Division;
use swapmeet_core::delivery::fault::Fault;
use swapmeet_core::limits;
use swapmeet_core::network::symmetry::Symmetry;

/// The table of functions. Its context pointer is null here; it is set for each call of the plugin.
pub(super) const TABLE: SwmHost = SwmHost {
    size: size_of::<SwmHost>() as u32,
    reserved: 0,
    ctx: std::ptr::null_mut(),
    fail: Some(fail),
    log: Some(log),
    block_bytes: Some(block_bytes),
    pair_bytes: Some(pair_bytes),
    ports: Some(ports),
    virtual_channels: Some(virtual_channels),
    element_bytes: Some(element_bytes),
    destination: Some(destination),
    startup_us: Some(startup_us),
    hop_us: Some(hop_us),
    byte_us: Some(byte_us),
    layout: Some(layout),
    place: Some(place),
    phase: Some(phase),
    step: Some(step),
    send_blocks: Some(send_blocks),
    rearrange: Some(rearrange),
    redistribute: Some(redistribute),
    send_bucket: Some(send_bucket),
    send_bytes: Some(send_bytes),
    symmetric: Some(symmetric),
    symmetric_from: Some(symmetric_from),
    vertices: Some(vertices),
    links: Some(links),
    uniform: Some(uniform),
    demand: Some(demand),
    token_bytes: Some(token_bytes),
    token_receivers: Some(token_receivers),
};

unsafe extern "C" fn fail(ctx: *mut c_void, reason: SwmStr) {
    // SAFETY: the ABI requires that a plugin passes the context pointer of the table and readable
    // texts. The same holds for all functions below.
    unsafe {
        with(ctx, (), |host| {
            host.reason = Some(text(reason).unwrap_or_else(|why| format!("its reason {why}")));
        });
    }
}

unsafe extern "C" fn log(ctx: *mut c_void, level: u32, line: SwmStr) {
    // SAFETY: for the reason given in `fail`.
    unsafe {
        with(ctx, (), |host| {
            let line = text(line).unwrap_or_else(|why| format!("a line {why}"));
            if level == SWM_LOG_NOTE {
                host.notes.push(line.clone());
            }
            let word = if level == SWM_LOG_WARN { "warning: " } else { "" };
            host.log.push(format!("{word}{line}"));
        });
    }
}

/// Defines functions that return an input of the plan, and record that the plugin requests it.
macro_rules! inputs {
    ($($name:ident -> $type:ty, default $default:literal, request $request:ident;)+) => {$(
        unsafe extern "C" fn $name(ctx: *mut c_void) -> $type {
            // SAFETY: for the reason given in `fail`.
            unsafe {
                with(ctx, $default, |host| {
                    host.requested.$request = true;
                    host.inputs.$name
                })
            }
        }
    )+};
}

inputs! {
    block_bytes -> u64, default 0, request bytes;
    ports -> u64, default 1, request ports;
    virtual_channels -> u64, default 1, request virtual_channels;
    startup_us -> f64, default 0.0, request startup_us;
    hop_us -> f64, default 0.0, request hop_us;
    byte_us -> f64, default 0.0, request byte_us;
}

unsafe extern "C" fn pair_bytes(ctx: *mut c_void, from: u64, to: u64) -> u64 {
    // SAFETY: for the reason given in `fail`.
    unsafe {
        with(ctx, 0, |host| {
            host.requested.bytes = true;
            let nodes = host.task.topology.nodes();
            if from >= nodes || to >= nodes {
                return 0;
            }
            host.task.sizes.as_ref().map_or(host.inputs.block_bytes, |sizes| sizes.bytes(from, to))
        })
    }
}

unsafe extern "C" fn destination(ctx: *mut c_void, from: u64) -> u64 {
    // SAFETY: for the reason given in `fail`.
    unsafe {
        with(ctx, from, |host| {
            let images = host.task.collective.images().unwrap_or_default();
            usize::try_from(from)
                .ok()
                .and_then(|from| images.get(from))
                .map_or(from, |to| u64::from(*to))
        })
    }
}

unsafe extern "C" fn layout(ctx: *mut c_void, layout: *const SwmLayout) -> i32 {
    // SAFETY: for the reason given in `fail`.
    unsafe {
        with(ctx, SWM_STOPPED, |host| {
            host.drive(|host| {
                if layout.is_null() {
                    return Err(Fault::BadGrid("the plugin gives none".to_owned()));
                }
                if host.placed {
                    return Err(Fault::OutOfOrder(
                        "the schedule sets its grid after it has placed a node",
                    ));
                }
                let Ok(raw) = read_sized(layout) else {
                    return Err(Fault::BadGrid(
                        "its `size` is below 24: set it to sizeof(SwmLayout)".to_owned(),
                    ));
                };
                if u64::from(raw.axis_count) > limits::AXES {
                    return Err(Fault::BadGrid(format!(
                        "it has {} axes, expected at most {}",
                        raw.axis_count,
                        limits::AXES
                    )));
                }
                if raw.radices.is_null() && raw.axis_count > 0 {
                    return Err(Fault::BadGrid(format!(
                        "it has null for the radices of {} axes",
                        raw.axis_count
                    )));
                }
                let radices: SmallVec<[u64; 8]> =
                    values(raw.radices, raw.axis_count as usize).collect();
                if raw.flags & !(SWM_BYTE_COUNTS | SWM_IN_PARTS) != 0 {
                    return Err(Fault::BadGrid(
                        "it has flags that this program does not know".to_owned(),
                    ));
                }
                let byte_counts = (raw.flags & SWM_BYTE_COUNTS != 0).then(|| {
                    // The number of elements in a bucket depends on the block size, so the plan
                    // depends on it too.
                    host.requested.bytes = true;
                    ByteCountUnits {
                        block_bytes: host.inputs.block_bytes,
                        element_bytes: host.inputs.element_bytes,
                    }
                });
                let division =
                    Division { in_parts: raw.flags & SWM_IN_PARTS != 0, segments: raw.segments };
                let simulation = host.simulation.as_mut().expect("the schedule has begun");
                simulation.layout(&radices, division, byte_counts)
            })
        })
    }
}

unsafe extern "C" fn place(ctx: *mut c_void, virtual_node: u64, physical: u64, home: u32) -> i32 {
    // SAFETY: for the reason given in `fail`.
    unsafe {
        with(ctx, SWM_STOPPED, |host| {
            host.placed = true;
            host.simulation(|simulation| simulation.place(virtual_node, physical, home != 0))
        })
    }
}

unsafe extern "C" fn symmetric(
    ctx: *mut c_void,
    axes: *const SwmSymmetry,
    axis_count: u64,
    planned: *mut u64,
) -> i32 {
    // SAFETY: for the reason given in `fail`.
    unsafe { declare_symmetry(ctx, (axes, axis_count), None, planned) }
}

unsafe extern "C" fn symmetric_from(
    ctx: *mut c_void,
    axes: *const SwmSymmetry,
    axis_count: u64,
    first: *mut u64,
    planned: *mut u64,
) -> i32 {
    // SAFETY: for the reason given in `fail`.
    unsafe { declare_symmetry(ctx, (axes, axis_count), Some(first), planned) }
}

/// Declares a symmetry. For each axis, writes the number of coordinates that the plugin must plan
/// to `planned`. If `first` is not `None`, also writes the first of these coordinates to it; the
/// plugin can then start at any coordinate.
///
/// # Safety
///
/// `axes`, `first` and `planned` must be null or point to `axis_count` values.
unsafe fn declare_symmetry(
    ctx: *mut c_void,
    (axes, axis_count): (*const SwmSymmetry, u64),
    first: Option<*mut u64>,
    planned: *mut u64,
) -> i32 {
    // SAFETY: for the reason given in `fail`.
    unsafe {
        with(ctx, SWM_STOPPED, |host| {
            let (mut claims, mut is_used) = (false, false);
            let code = host.simulation(|simulation| {
                let bad = |what: &str| Fault::BadSymmetry(what.to_owned());
                if axis_count > limits::AXES {
                    return Err(bad("it is one of over 64 axes"));
                }
                if axis_count > 0
                    && (axes.is_null() || planned.is_null() || first.is_some_and(<*mut _>::is_null))
                {
                    return Err(bad("the plugin passes null for its axes or for the limits of the nodes to plan"));
                }
                let symmetries = values(axes, axis_count as usize).map(|axis| match axis.kind {
                    SWM_FIXED => Ok(Symmetry::Fixed),
                    SWM_SHIFT => Ok(Symmetry::Shift(axis.unit)),
                    SWM_XOR => Ok(Symmetry::Xor(axis.unit)),
                    other => Err(bad(&format!("an axis is of kind {other}, expected 0 to 2"))),
                });
                let symmetries: Vec<Symmetry> = symmetries.collect::<Result<_, _>>()?;
                claims = symmetries.iter().any(|symmetry| *symmetry != Symmetry::Fixed);
                let ranges = simulation.symmetric(&symmetries, first.is_some())?;
                is_used = simulation.relies_on_symmetry();
                // There is one range for each of the `axis_count` axes, and the plugin's arrays
                // have one value for each axis.
                for (axis, range) in ranges.into_iter().enumerate() {
                    if let Some(first) = first {
                        first.add(axis).write_unaligned(range.start);
                    }
                    planned.add(axis).write_unaligned(range.end - range.start);
                }
                Ok(())
            });
            host.claims_symmetry |= claims;
            host.relies_on_symmetry |= is_used;
            code
        })
    }
}

unsafe extern "C" fn phase(ctx: *mut c_void, name: SwmStr) -> i32 {
    // SAFETY: for the reason given in `fail`.
    unsafe {
        with(ctx, SWM_STOPPED, |host| {
            host.simulation(|simulation| {
                let bad = |_| {
                    Fault::OutOfOrder(
                        "the schedule names a phase with text that is null, not UTF-8, or longer than 1 MiB",
                    )
                };
                simulation.phase(&text(name).map_err(bad)?)
            })
        })
    }
}

unsafe extern "C" fn step(ctx: *mut c_void) -> i32 {
    // SAFETY: for the reason given in `fail`.
    unsafe { with(ctx, SWM_STOPPED, |host| host.step()) }
}

/// Copies the struct that describes a send. Returns a fault with the text `too_small` if the size
/// that the struct states is too small.
///
/// # Safety
///
/// `send` must be null or point to as many bytes as the struct's size states.
unsafe fn sent<T: Growing>(send: *const T, too_small: &'static str) -> Result<T, Fault> {
    if send.is_null() {
        return Err(Fault::OutOfOrder("the plugin sends null"));
    }
    // SAFETY: the caller promises as many bytes as the struct states, or null.
    unsafe { read_sized(send) }.map_err(|_| Fault::OutOfOrder(too_small))
}

unsafe extern "C" fn send_blocks(ctx: *mut c_void, send: *const SwmBlocks) -> i32 {
    const TOO_SMALL: &str = "the plugin's send has a `size` below 136: set it to sizeof(SwmBlocks)";
    // SAFETY: for the reason given in `fail`.
    unsafe {
        with(ctx, SWM_STOPPED, |host| host.drive(|host| host.send_blocks(&sent(send, TOO_SMALL)?)))
    }
}

unsafe extern "C" fn send_bucket(ctx: *mut c_void, send: *const SwmBucket) -> i32 {
    const TOO_SMALL: &str = "the plugin's send has a `size` below 40: set it to sizeof(SwmBucket)";
    // SAFETY: for the reason given in `fail`.
    unsafe {
        with(ctx, SWM_STOPPED, |host| host.drive(|host| host.send_bucket(&sent(send, TOO_SMALL)?)))
    }
}

unsafe extern "C" fn send_bytes(ctx: *mut c_void, send: *const SwmBytes) -> i32 {
    const TOO_SMALL: &str = "the plugin's send has a `size` below 48: set it to sizeof(SwmBytes)";
    // SAFETY: for the reason given in `fail`.
    unsafe {
        with(ctx, SWM_STOPPED, |host| host.drive(|host| host.send_bytes(&sent(send, TOO_SMALL)?)))
    }
}

unsafe extern "C" fn rearrange(ctx: *mut c_void) -> i32 {
    // SAFETY: for the reason given in `fail`.
    unsafe { with(ctx, SWM_STOPPED, |host| host.simulation(|simulation| simulation.rearrange())) }
}

unsafe extern "C" fn element_bytes(ctx: *mut c_void) -> u64 {
    // SAFETY: for the reason given in `fail`.
    unsafe { with(ctx, 1, |host| host.inputs.element_bytes) }
}

unsafe extern "C" fn redistribute(
    ctx: *mut c_void,
    redistribution: *const SwmRedistribution,
) -> i32 {
    // SAFETY: for the reason given in `fail`.
    unsafe {
        with(ctx, SWM_STOPPED, |host| {
            host.simulation(|simulation| {
                if redistribution.is_null() {
                    return Err(Fault::OutOfOrder("the plugin redistributes null"));
                }
                let Ok(raw) = read_sized(redistribution) else {
                    return Err(Fault::OutOfOrder(
                        "the plugin's redistribution has a `size` below 64: set it to sizeof(SwmRedistribution)",
                    ));
                };
                if raw.node_count > limits::BYTE_COUNTS {
                    return Err(Fault::OutOfOrder("the plugin's redistribution is for over 134217728 destinations"));
                }
                if !raw.starts.is_aligned() || !raw.firsts.is_aligned() {
                    return Err(Fault::OutOfOrder(
                        "the plugin's redistribution has a table at an address that is not a multiple of 4",
                    ));
                }
                // SAFETY: the alignment has been checked, and the plugin promises `node_count`
                // values.
                let table = |ptr: *const u32| match ptr.is_null() {
                    true => &[][..],
                    false => std::slice::from_raw_parts(ptr, raw.node_count as usize),
                };
                simulation.redistribute(&Redistribution {
                    node: raw.node,
                    buckets: raw.buckets,
                    cycle: raw.cycle,
                    first: raw.first,
                    starts: table(raw.starts),
                    firsts: table(raw.firsts),
                })
            })
        })
    }
}
