//! Sets written out, node by node.

use swapmeet_abi::{SWM_ALL, SWM_AXES, SWM_BITS, SWM_NODE, SWM_RANGE, SwmAxis, SwmSet};

const OUTSIDE: &str = "outside the grid";
const UNKNOWN: &str = "of an unknown kind";

/// The nodes of a set in a grid, in order; `Err` says why it is none of this grid.
///
/// # Safety
/// What the set points to must be readable for the counts beside it.
pub(super) unsafe fn nodes(radices: &[u64], set: &SwmSet) -> Result<Vec<u64>, &'static str> {
    let count: u64 = radices.iter().product();
    match set.kind {
        SWM_NODE if set.node >= count => Err(OUTSIDE),
        SWM_NODE => Ok(vec![set.node]),
        SWM_AXES if set.axis_count as usize != radices.len() => Err(OUTSIDE),
        SWM_AXES => {
            // SAFETY: the caller promises as many axes as the set says.
            let axes = unsafe { std::slice::from_raw_parts(set.axes, radices.len()) };
            let mut nodes = vec![0];
            for (axis, radix) in axes.iter().zip(radices) {
                // SAFETY: as above.
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

/// The coordinates of an axis's subset, in order; `Err` says why it doesn't fit the axis.
///
/// # Safety
/// As [`nodes`].
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
            // SAFETY: the caller promises as many words as the axis says.
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
