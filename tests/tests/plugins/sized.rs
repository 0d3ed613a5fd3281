//! A struct that may grow is read as what it says it is: older, newer, or never filled in.

use std::mem::{offset_of, size_of};
use swapmeet_abi::{
    Growing, SwmAlgorithm, SwmHead, SwmPlugin, SwmProblem, SwmTopology, read_sized,
};

/// [`SwmTopology`] as a later version might have it.
#[repr(C)]
#[derive(Clone, Copy)]
struct LaterTopology {
    now: SwmTopology,
    colour: u64,
    paint: Option<unsafe extern "C" fn()>,
}

// SAFETY: it begins with its size, and numbers and nullable functions may be zero.
unsafe impl Growing for LaterTopology {
    const SIZE_1_0: usize = SwmTopology::SIZE_1_0;
}

fn later(size: usize) -> LaterTopology {
    // SAFETY: all zero is a topology.
    let mut later: LaterTopology = unsafe { std::mem::zeroed() };
    (later.now.size, later.now.nodes, later.colour) = (size as u32, 42, 7);
    later
}

#[test]
fn a_reader_newer_than_the_struct_sees_zero_for_what_it_lacks() {
    // Beyond the 1.0 size lies what is somebody else's.
    let old = later(SwmTopology::SIZE_1_0);
    // SAFETY: all bytes it says it has are there.
    let read = unsafe { read_sized(&raw const old) }.unwrap();
    assert_eq!((read.now.nodes, read.colour, read.paint.is_none()), (42, 0, true));
    // A version between the two has the first of the fields appended.
    let between = later(offset_of!(LaterTopology, paint));
    // SAFETY: as above.
    assert_eq!(unsafe { read_sized(&raw const between) }.unwrap().colour, 7);
}

#[test]
fn a_reader_older_than_the_struct_leaves_what_it_does_not_know() {
    let new = later(size_of::<LaterTopology>());
    // SAFETY: the struct begins with a topology, and says that it is larger.
    assert_eq!(unsafe { read_sized((&raw const new).cast::<SwmTopology>()) }.unwrap().nodes, 42);
}

#[test]
fn a_struct_smaller_than_it_was_in_1_0_was_never_filled_in() {
    let none = later(SwmTopology::SIZE_1_0 - 1);
    // SAFETY: more bytes are there than it says.
    assert_eq!(unsafe { read_sized(&raw const none) }.err(), Some(SwmTopology::SIZE_1_0 - 1));
}

/// The only struct whose size does not come first.
#[test]
fn the_plugin_s_size_is_in_its_head() {
    assert_eq!(SwmPlugin::SIZE_AT, offset_of!(SwmPlugin, head) + offset_of!(SwmHead, size));
    assert_eq!(SwmAlgorithm::SIZE_AT, offset_of!(SwmAlgorithm, size));
    assert_eq!(SwmProblem::SIZE_AT, offset_of!(SwmProblem, size));
}

/// As a plugin in another language may have it.
#[test]
fn a_struct_may_be_at_any_address() {
    let mut bytes = [0_u8; size_of::<SwmTopology>() + 1];
    bytes[1] = SwmTopology::SIZE_1_0 as u8;
    bytes[1 + offset_of!(SwmTopology, nodes)] = 5;
    // SAFETY: as many bytes follow as it says.
    let read = unsafe { read_sized(bytes[1..].as_ptr().cast::<SwmTopology>()) }.unwrap();
    assert_eq!(read.nodes, 5);
}
