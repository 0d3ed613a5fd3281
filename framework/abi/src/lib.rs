//! The boundary between Swapmeet and its plugins: plain C, written by hand.
//!
//! Everything that crosses the boundary is defined here: fixed-width integers, pointers, sizes and
//! tables of functions. There is no `bool`, no `enum` and no Rust type whose layout the compiler
//! chooses. `include/swapmeet.h` is generated from this crate, so that Rust and C share one
//! definition.
//!
//! # Guarantees
//! * A plugin exports one symbol, [`ENTRY_SYMBOL`]. The table that it returns begins with
//!   [`SwmHead`], whose layout never changes. The host compares the versions in the head before it
//!   reads anything else.
//! * A plugin built for version 1.x loads in every host of version 1.y. Minor versions only append
//!   fields to structs that carry their `size`. A reader uses the smaller of the two sizes and
//!   treats missing fields as zero.
//! * Memory never changes owner. Data that the host passes to a plugin is valid until the call
//!   returns. The host reads the data that a plugin passes in a call before that call returns. The
//!   plugin's own tables are the exception: they must stay valid for the life of the process.
//! * No panic or exception may cross the boundary. One call to `plan` runs on one thread; different
//!   calls may run on different threads.
//!
//! # Alternatives considered
//! Crates that derive a stable ABI for Rust traits accept some changed layouts, or abort at a
//! panic. WebAssembly components need minutes to build a plugin of fifty lines. A table of
//! functions costs 3 ns per call and can be filled by any language.

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
/// Major version of the ABI. Plugins and hosts of different major versions refuse each other.
pub const SWM_ABI_MAJOR: u32 = 1;
/// Minor version of the ABI. It grows when fields are appended; a difference is never a reason to
/// refuse.
pub const SWM_ABI_MINOR: u32 = 1;
/// The only symbol that a plugin exports, of type [`SwmEntry`]; NUL-terminated for the loader.
pub const ENTRY_SYMBOL: &core::ffi::CStr = c"swapmeet_plugin";
