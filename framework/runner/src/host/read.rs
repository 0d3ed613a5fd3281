//! Reading what a plugin hands over: nothing is believed before it is checked, as far as a pointer can be.

use smallvec::SmallVec;
use swapmeet_abi::{SWM_ALL, SWM_AXES, SWM_BITS, SWM_NODE, SWM_RANGE, SwmAxis, SwmRoute, SwmSet};
use swapmeet_core::boxes::{Axis, NodeSet};
use swapmeet_core::topology::Way;

/// No topology has more axes; a larger count is a sign of a wrong struct.
pub(super) const MOST_AXES: u32 = 64;

/// # Safety
/// Pointers in `set` must be null or valid for the counts beside them.
pub(super) unsafe fn node_set<'a, 'b: 'a>(
    set: &SwmSet,
    axes: &'a mut SmallVec<[Axis<'b>; 8]>,
) -> Result<NodeSet<'a>, &'static str> {
    match set.kind {
        SWM_ALL => Ok(NodeSet::All),
        SWM_NODE => Ok(NodeSet::One(set.node)),
        SWM_AXES if set.axes.is_null() || set.axis_count > MOST_AXES => Err("has no axes, or over 64"),
        SWM_AXES => {
            for i in 0..set.axis_count as usize {
                // SAFETY: the caller promises `axis_count` axes.
                axes.push(unsafe { axis(&*set.axes.add(i)) }?);
            }
            Ok(NodeSet::Axes(axes))
        }
        _ => Err("is of an unknown kind"),
    }
}

/// # Safety
/// As [`node_set`].
pub(super) unsafe fn axis<'a>(raw: &SwmAxis) -> Result<Axis<'a>, &'static str> {
    const MOST_WORDS: u32 = 1 << 17;
    match raw.kind {
        SWM_ALL => Ok(Axis::All),
        SWM_RANGE => Ok(Axis::Range { first: raw.first, stride: raw.stride, count: raw.count }),
        SWM_BITS if raw.words.is_null() || raw.count > MOST_WORDS => Err("has an axis of no bits, or far too many"),
        // SAFETY: the caller promises `count` words.
        SWM_BITS => Ok(Axis::Bits(unsafe { std::slice::from_raw_parts(raw.words, raw.count as usize) })),
        _ => Err("has an axis of an unknown kind"),
    }
}

/// # Safety
/// `route` must point to a route whose pointers are null or valid for the counts beside them.
pub(super) unsafe fn read_way(route: *const SwmRoute, way: &mut Way) -> Result<(), &'static str> {
    /// The longest path a message may name.
    const LONGEST: u64 = 1 << 24;
    // SAFETY: the caller promises a route.
    let raw = unsafe { read_sized(route) };
    if raw.dim_count > MOST_AXES || raw.path_len > LONGEST {
        return Err("are far too many");
    }
    way.signs.clear();
    way.order.clear();
    way.path.clear();
    // SAFETY: the caller promises `dim_count` signs and directions and `path_len` nodes.
    unsafe {
        way.signs.extend_from_slice(slice(raw.signs, raw.dim_count as usize));
        way.order.extend_from_slice(slice(raw.order, raw.dim_count as usize));
        way.path.extend_from_slice(slice(raw.path, raw.path_len as usize));
    }
    Ok(())
}

/// # Safety
/// `ptr` must be null or point to `len` values.
pub(super) unsafe fn slice<'a, T>(ptr: *const T, len: usize) -> &'a [T] {
    // SAFETY: the caller promises what is needed.
    if ptr.is_null() { &[] } else { unsafe { std::slice::from_raw_parts(ptr, len) } }
}

/// Reads a struct that begins with its size: what the plugin's version lacks is zero.
///
/// # Safety
/// `ptr` must point to a struct that begins with its size in bytes, and zero must be a valid value of every field of `T`.
pub(super) unsafe fn read_sized<T: Copy>(ptr: *const T) -> T {
    // SAFETY: the caller promises both.
    unsafe {
        let size = ptr.cast::<u32>().read() as usize;
        if size >= size_of::<T>() {
            return ptr.read();
        }
        let mut local = std::mem::MaybeUninit::<T>::zeroed();
        std::ptr::copy_nonoverlapping(ptr.cast::<u8>(), local.as_mut_ptr().cast::<u8>(), size);
        local.assume_init()
    }
}
