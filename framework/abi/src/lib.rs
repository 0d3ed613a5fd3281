//! The boundary between Swapmeet and its plugins: plain C, written by hand.
//!
//! Everything that crosses is here: fixed-width integers, pointers, sizes and function tables; no
//! `bool`, no `enum`, no Rust type whose layout the compiler chooses. `include/swapmeet.h` is
//! generated from this crate, so that Rust and C read one definition.
//!
//! # What is promised
//! * A plugin exports one symbol, [`ENTRY_SYMBOL`]. What it returns begins with [`SwmHead`], whose
//!   layout is frozen for ever; the host reads nothing else before it has compared the versions in
//!   it.
//! * A plugin built for 1.x loads in every host 1.y. Minor versions only append fields to structs
//!   that carry their `size`; a reader takes the smaller of the two sizes and treats what is
//!   missing as zero.
//! * Memory never changes owner. What the host hands to a plugin is valid until the call returns;
//!   what a plugin hands to the host in a call is read before that call returns, except the
//!   plugin's own tables, which must stay for the life of the process.
//! * No unwinding crosses. One call to `plan` happens on one thread; different calls may happen on
//!   different threads.
//!
//! Rejected: crates that derive a stable ABI for Rust traits (they let changed layouts through or
//! abort at a panic), WebAssembly components (minutes of build for a plugin of fifty lines). A
//! table of functions costs 3 ns a call and any language can fill it.

#![no_std]
#![warn(missing_docs)]

mod grid;
mod host;
mod layout;
mod plugin;
mod problem;
mod send;
mod set;
mod sized;
mod text;

pub use grid::*;
pub use host::*;
pub use plugin::*;
pub use problem::*;
pub use send::*;
pub use set::*;
pub use sized::{Growing, read_sized};
pub use text::*;

/// `"SWAPMEET"` in ASCII, first byte lowest: the first eight bytes of every plugin's table.
pub const SWM_MAGIC: u64 = 0x5445_454D_5041_5753;
const _: () = assert!(SWM_MAGIC == u64::from_le_bytes(*b"SWAPMEET"));
/// Plugins and hosts of different major versions refuse each other.
pub const SWM_ABI_MAJOR: u32 = 1;
/// Grows when fields are appended; never a reason to refuse.
pub const SWM_ABI_MINOR: u32 = 0;
/// The one symbol a plugin exports, of type [`SwmEntry`]; NUL-terminated for the loader.
pub const ENTRY_SYMBOL: &core::ffi::CStr = c"swapmeet_plugin";
