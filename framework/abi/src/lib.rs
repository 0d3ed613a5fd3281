//! The ABI: the binary interface between Swapmeet, the host, and its plugins. It is plain C,
//! written by hand: fixed-width integers, pointers, sizes and tables of functions. There is no
//! `bool`, no `enum` and no Rust type whose layout the compiler chooses. `include/swapmeet.h` is
//! generated from this crate, so that Rust and C share one definition.
//!
//! # Guarantees
//! * A plugin exports one symbol, [`ENTRY_SYMBOL`], a function that returns a table. The table
//!   begins with [`SwmHead`], whose layout never changes. The host compares the versions in the
//!   head before it reads anything else.
//! * A plugin built for version 1.x loads in every host of version 1.y. A minor version may only
//!   append fields, and only to structs that have a field `size`. A reader uses the smaller of this
//!   size and the size that it knows, and treats missing fields as zero.
//! * Memory never changes owner. Data that the host or a plugin passes in a call is valid until the
//!   call returns. Only the plugin's tables must stay valid for the life of the process.
//! * No panic or exception may leave a function of the plugin or of the host. One call to `plan`
//!   runs on one thread; different calls may run on different threads.
//!
//! # Alternatives considered
//! Some crates derive a stable ABI for Rust traits. They accept some changed layouts without an
//! error, or abort the process at a panic. With WebAssembly components, a plugin of fifty lines
//! takes minutes to build. A table of functions costs 3 ns per call, and any language can fill it.

#![no_std]
#![warn(missing_docs)]

pub mod collective;
mod grid;
mod host;
#[cfg(feature = "host")]
pub mod hosting;
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

/// The first eight bytes of every plugin's table: `"SWAPMEET"` in ASCII, with the first letter in
/// the lowest byte.
pub const SWM_MAGIC: u64 = 0x5445_454D_5041_5753;
const _: () = assert!(SWM_MAGIC == u64::from_le_bytes(*b"SWAPMEET"));
/// Major version of the ABI. Plugins and hosts of different major versions refuse each other.
pub const SWM_ABI_MAJOR: u32 = 1;
/// Minor version of the ABI, which grows when fields are appended. All minor versions work
/// together.
pub const SWM_ABI_MINOR: u32 = 2;
/// The only symbol that a plugin exports, of type [`SwmEntry`]; NUL-terminated for the loader.
pub const ENTRY_SYMBOL: &core::ffi::CStr = c"swapmeet_plugin";
