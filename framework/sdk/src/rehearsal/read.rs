//! Functions that copy a plugin's C structs: sets (written out as lists of nodes), routes and
//! lists.

use super::record::RehearsedRoute;
use swapmeet_abi::{SWM_ALL, SWM_AXES, SWM_BITS, SWM_NODE, SWM_RANGE, SwmAxis, SwmRoute, SwmSet};

const OUTSIDE: &str = "outside the grid";
const UNKNOWN: &str = "of an unknown kind";

/// Returns the nodes of a set in ascending order. The error describes why the set does not fit the
/// grid.
///
/// # Safety
///
/// The pointers of the set must be readable for the counts given with them.
pub(super) unsafe fn nodes(radices: &[u64], set: &SwmSet) -> Result<Vec<u64>, &'static str> {
    let count: u64 = radices.iter().product();
    match set.kind {
        SWM_NODE if set.node >= count => Err(OUTSIDE),
        SWM_NODE => Ok(vec![set.node]),
        SWM_AXES if set.axis_count as usize != radices.len() => Err(OUTSIDE),
        SWM_AXES => {
            // SAFETY: the caller guarantees as many axes as the grid has.
            let axes = unsafe { std::slice::from_raw_parts(set.axes, radices.len()) };
            let mut nodes = vec![0];
            for (axis, radix) in axes.iter().zip(radices) {
                // SAFETY: the caller guarantees readable pointers in each axis.
                let coordinates = unsafe { coordinates(axis, *radix) }?;
                nodes = nodes
                    .iter()
                    .flat_map(|n| coordinates.iter().map(move |c| n * radix + c))
                    .collect();
            }
            Ok(nodes)
        }
        SWM_ALL => Ok((0..count).collect()),
        _ => Err(UNKNOWN),
    }
}

/// Returns the coordinates of a subset in ascending order. The error describes why the subset does
/// not fit the axis.
///
/// # Safety
///
/// The pointer `axis.words` must be readable for `axis.count` words if the axis is a bit set.
pub(super) unsafe fn coordinates(axis: &SwmAxis, radix: u64) -> Result<Vec<u64>, &'static str> {
    let (first, stride, count) = (axis.first, axis.stride, axis.count);
    let mut coordinates: Vec<u64> = match axis.kind {
        SWM_RANGE if first >= radix || count > radix => return Err(OUTSIDE),
        SWM_RANGE => {
            let around = |i: u64| {
                (u128::from(first) + u128::from(i) * u128::from(stride)) % u128::from(radix)
            };
            (0..count).map(|i| around(i) as u64).collect()
        }
        SWM_BITS => {
            // SAFETY: the caller guarantees as many words as the axis states.
            let words = unsafe { std::slice::from_raw_parts(axis.words, count as usize) };
            let is_set =
                |c: u64| words.get((c / 64) as usize).is_some_and(|word| word >> (c % 64) & 1 == 1);
            if (radix..count * 64).any(is_set) {
                return Err(OUTSIDE);
            }
            (0..radix).filter(|c| is_set(*c)).collect()
        }
        SWM_ALL => (0..radix).collect(),
        _ => return Err(UNKNOWN),
    };
    coordinates.sort_unstable();
    let twice = coordinates.windows(2).any(|pair| pair[0] == pair[1]);
    if twice { Err("that names a coordinate twice") } else { Ok(coordinates) }
}

/// Copies a route.
///
/// # Safety
/// `route` must be null or point to a route whose pointers are null or readable for the counts
/// given with them.
pub(super) unsafe fn route(route: *const SwmRoute) -> RehearsedRoute {
    // SAFETY: the caller guarantees a route, or null.
    unsafe {
        let Some(route) = route.as_ref() else { return RehearsedRoute::default() };
        RehearsedRoute {
            signs: list(route.signs, route.dim_count as usize),
            order: list(route.order, route.dim_count as usize),
            path: list(route.path, route.path_len as usize),
        }
    }
}

/// Copies a list. A null pointer is an empty list.
///
/// # Safety
///
/// `ptr` must be null or point to `len` readable values.
pub(super) unsafe fn list<T: Copy>(ptr: *const T, len: usize) -> Vec<T> {
    if ptr.is_null() {
        return Vec::new();
    }
    // SAFETY: the caller guarantees `len` readable values.
    unsafe { std::slice::from_raw_parts(ptr, len) }.to_vec()
}
