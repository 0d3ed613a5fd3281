//! Functions that read and validate the data that a plugin passes by pointer.

use smallvec::SmallVec;
use swapmeet_abi::{
    SWM_ALL, SWM_AXES, SWM_BITS, SWM_NODE, SWM_RANGE, SwmAxis, SwmBytes, SwmRoute, SwmSet,
    read_sized,
};
use swapmeet_core::delivery::boxes::{Axis, NodeSet};
use swapmeet_core::limits;
use swapmeet_core::network::topology::Route;

/// Reads a set of nodes.
///
/// # Safety
///
/// Each pointer in `set` must be null or point to as many readable values as the count next to it
/// states.
pub(super) unsafe fn node_set<'a, 'b: 'a>(
    set: &SwmSet,
    axes: &'a mut SmallVec<[Axis<'b>; 8]>,
) -> Result<NodeSet<'a>, &'static str> {
    match set.kind {
        SWM_ALL => Ok(NodeSet::All),
        SWM_NODE => Ok(NodeSet::One(set.node)),
        SWM_AXES if u64::from(set.axis_count) > limits::AXES => Err("has over 64 axes"),
        SWM_AXES if set.axes.is_null() => Err("has null for its axes"),
        SWM_AXES => {
            for i in 0..set.axis_count as usize {
                // SAFETY: the caller promises `axis_count` axes.
                axes.push(unsafe { axis(&set.axes.add(i).read_unaligned()) }?);
            }
            Ok(NodeSet::Axes(axes))
        }
        _ => Err("is of an unknown kind"),
    }
}

/// Reads a subset of the coordinates of an axis.
///
/// # Safety
///
/// The requirements are those of [`node_set`].
pub(super) unsafe fn axis<'a>(raw: &SwmAxis) -> Result<Axis<'a>, &'static str> {
    match raw.kind {
        SWM_ALL => Ok(Axis::All),
        SWM_RANGE => {
            let small =
                |number| u32::try_from(number).map_err(|_| "has a range of numbers over 2^32 - 1");
            Ok(Axis::Range {
                first: small(raw.first)?,
                stride: small(raw.stride)?,
                count: small(raw.count)?,
            })
        }
        SWM_BITS if raw.count > limits::AXIS_WORDS => {
            Err("has an axis with over 131072 words of bits")
        }
        SWM_BITS if raw.words.is_null() => Err("has an axis with null for its bits"),
        SWM_BITS if !raw.words.is_aligned() => {
            Err("has an axis whose bits are at an address that is not a multiple of 8")
        }
        SWM_BITS => {
            // SAFETY: the caller promises `count` words, and the address is aligned.
            Ok(Axis::Bits(unsafe { std::slice::from_raw_parts(raw.words, raw.count as usize) }))
        }
        _ => Err("has an axis of an unknown kind"),
    }
}

/// Reads a route.
///
/// # Safety
///
/// `route` must point to a route. Each pointer in it must be null or point to as many readable
/// values as the count next to it states.
pub(super) unsafe fn read_route(
    raw: *const SwmRoute,
    route: &mut Route,
) -> Result<(), &'static str> {
    // SAFETY: the caller promises a route.
    let Ok(raw) = (unsafe { read_sized(raw) }) else {
        return Err("the plugin's route has a `size` below 40: set it to sizeof(SwmRoute)");
    };
    if u64::from(raw.dim_count) > limits::AXES {
        return Err("the plugin's route has over 64 dimensions");
    }
    if raw.path_len > limits::PATH {
        return Err("the plugin's route has a path of over 16777216 nodes");
    }
    route.signs.clear();
    route.order.clear();
    route.path.clear();
    // SAFETY: the caller promises `dim_count` signs and dimensions and `path_len` nodes.
    unsafe {
        route.signs.extend(values(raw.signs, raw.dim_count as usize));
        route.order.extend(values(raw.order, raw.dim_count as usize));
        route.path.extend(values(raw.path, raw.path_len as usize));
    }
    Ok(())
}

/// Reads the byte counts of a send: pairs of a destination and a number of bytes.
///
/// # Safety
///
/// The send's `counts` must be null or point to as many readable values as the count next to it
/// states.
pub(super) unsafe fn read_byte_counts(
    send: &SwmBytes,
    byte_counts: &mut Vec<(u64, u64)>,
) -> Result<(), &'static str> {
    if send.count > limits::BYTE_COUNTS {
        return Err("has over 134217728 byte counts");
    }
    if send.counts.is_null() && send.count > 0 {
        return Err("has null for its byte counts");
    }
    // SAFETY: the caller promises `count` byte counts.
    byte_counts.extend(
        unsafe { values(send.counts, send.count as usize) }.map(|a| (a.destination, a.bytes)),
    );
    Ok(())
}

/// Returns an iterator over the `len` values at an address with any alignment. It is empty for a
/// null pointer.
///
/// # Safety
///
/// `ptr` must be null or point to `len` values that stay readable until the iterator is dropped.
pub(super) unsafe fn values<T: Copy>(
    ptr: *const T,
    len: usize,
) -> impl ExactSizeIterator<Item = T> {
    let len = if ptr.is_null() { 0 } else { len };
    // SAFETY: the caller promises `len` values.
    (0..len).map(move |i| unsafe { ptr.add(i).read_unaligned() })
}
