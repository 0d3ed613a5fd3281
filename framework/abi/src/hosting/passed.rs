//! Reads the data that a plugin passes, and writes to lists of the plugin. Addresses need not be
//! aligned.

use super::Functions;
use crate::*;
use core::fmt;
use core::marker::PhantomData;
use core::ops::{Deref, Range};

/// A value that a plugin has passed. Each pointer in it is null or points to as many values as the
/// count next to it states, which are readable and do not change during `'a`.
#[derive(Debug, Clone, Copy)]
pub struct Passed<'a, T> {
    value: T,
    memory: PhantomData<&'a ()>,
}

impl<'a, T> Passed<'a, T> {
    /// Marks a value as passed by a plugin.
    ///
    /// # Safety
    ///
    /// The value must meet the conditions of [`Passed`], and so must all values to which it leads.
    /// The functions of a table must be callable during `'a`.
    pub const unsafe fn new(value: T) -> Self {
        Self { value, memory: PhantomData }
    }

    const fn part<U>(&self, part: U) -> Passed<'a, U> {
        Passed { value: part, memory: PhantomData }
    }

    fn list<U>(&self, ptr: *const U, count: u64) -> List<'a, U> {
        List { ptr: self.part(ptr), count }
    }
}

impl<T> Deref for Passed<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

pub type Text<'a> = Passed<'a, SwmStr>;

impl<'a> Text<'a> {
    /// Returns the bytes of the text, or no bytes for a null pointer.
    pub const fn bytes(self) -> &'a [u8] {
        // SAFETY: the bytes of a passed text are readable during `'a`.
        unsafe { self.value.bytes() }
    }
}

/// The reason why data of a plugin cannot be read or written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unreadable {
    /// A pointer is null.
    Null,
    /// A struct states this size in bytes, which is below its size in version 1.0.
    Small(usize),
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("is null"),
            Self::Small(size) => write!(f, "has a `size` of {size}"),
        }
    }
}

impl<'a, T: Growing> Passed<'a, *const T> {
    /// Copies the struct to which the pointer points, which may be of any minor version
    /// ([`read_sized`]).
    pub fn read(self) -> Result<Passed<'a, T>, Unreadable> {
        if self.value.is_null() {
            return Err(Unreadable::Null);
        }
        // SAFETY: a passed pointer that is not null points to as many bytes as the struct states.
        let value = unsafe { read_sized(self.value) }.map_err(Unreadable::Small)?;
        Ok(self.part(value))
    }
}

/// A list of a plugin: a pointer, which may be null, and the number of values that the plugin
/// states.
#[derive(Clone, Copy)]
pub struct List<'a, T> {
    ptr: Passed<'a, *const T>,
    count: u64,
}

impl<'a, T: Copy> List<'a, T> {
    /// Returns the stated number of values, even if the pointer is null.
    pub fn count(self) -> u64 {
        self.count
    }

    pub fn is_null(self) -> bool {
        self.ptr.value.is_null()
    }

    pub fn is_aligned(self) -> bool {
        self.ptr.value.is_aligned()
    }

    /// Returns the values; none if the pointer is null.
    pub fn iter(self) -> impl ExactSizeIterator<Item = T> {
        let count = if self.is_null() { 0 } else { self.count as usize };
        // SAFETY: a passed list has as many values as its count states.
        (0..count).map(move |i| unsafe { self.ptr.value.add(i).read_unaligned() })
    }

    /// Returns the values as [`List::iter`] does, for values that contain pointers.
    pub fn parts(self) -> impl ExactSizeIterator<Item = Passed<'a, T>> {
        self.iter().map(move |value| self.ptr.part(value))
    }

    /// Returns the values without copying them; `None` if the pointer is null or not aligned.
    pub fn slice(self) -> Option<&'a [T]> {
        if self.is_null() || !self.is_aligned() {
            return None;
        }
        // SAFETY: a passed list has as many values as its count states, and its address is aligned.
        Some(unsafe { core::slice::from_raw_parts(self.ptr.value, self.count as usize) })
    }
}

/// A buffer of a plugin for the first values of a list, and for the length of the whole list.
pub struct Room<'a, T> {
    list: Passed<'a, *mut T>,
    room: u64,
    count: *mut u64,
}

impl<T: Copy> Room<'_, T> {
    /// # Safety
    ///
    /// `list` must be null or have room for `room` values, and `count` must be null or writable.
    pub(super) unsafe fn new(list: *mut T, room: u64, count: *mut u64) -> Self {
        // SAFETY: the caller promises writable pointers.
        Self { list: unsafe { Passed::new(list) }, room, count }
    }

    /// Writes as many of `items` as there is room for, and the number of all items.
    pub fn write(self, items: &[T]) -> Result<(), Unreadable> {
        let list = self.list.value;
        if self.count.is_null() || list.is_null() && self.room > 0 {
            return Err(Unreadable::Null);
        }
        // SAFETY: neither pointer is null where it is used, and there is room for `room` values.
        unsafe {
            for (i, item) in items.iter().take(self.room as usize).enumerate() {
                list.add(i).write_unaligned(*item);
            }
            self.count.write_unaligned(items.len() as u64);
        }
        Ok(())
    }
}

/// A symmetry that a schedule claims, and room for the coordinates to plan.
pub struct Claim<'a> {
    axes: List<'a, SwmSymmetry>,
    first: Option<*mut u64>,
    planned: *mut u64,
}

impl<'a> Claim<'a> {
    /// # Safety
    ///
    /// All pointers must be null or point to `axis_count` values.
    pub(super) unsafe fn new(
        axes: *const SwmSymmetry,
        axis_count: u64,
        first: Option<*mut u64>,
        planned: *mut u64,
    ) -> Self {
        // SAFETY: the caller promises readable pointers.
        let axes = List { ptr: unsafe { Passed::new(axes) }, count: axis_count };
        Self { axes, first, planned }
    }

    /// Returns the action on each axis.
    pub fn axes(&self) -> List<'a, SwmSymmetry> {
        self.axes
    }

    /// Returns whether the plugin can plan any node of an orbit.
    pub fn can_start_anywhere(&self) -> bool {
        self.first.is_some()
    }

    /// Returns whether there are axes although a pointer is null.
    pub fn lacks_list(&self) -> bool {
        let is_null = self.axes.is_null()
            || self.planned.is_null()
            || self.first.is_some_and(<*mut _>::is_null);
        self.axes.count > 0 && is_null
    }

    /// Writes the range of coordinates to plan for each axis. If there are more ranges than axes,
    /// the rest is ignored.
    pub fn write(&self, ranges: impl IntoIterator<Item = Range<u64>>) -> Result<(), Unreadable> {
        if self.lacks_list() {
            return Err(Unreadable::Null);
        }
        for (axis, range) in (0..self.axes.count as usize).zip(ranges) {
            // SAFETY: no pointer is null, and each has room for a value for each axis.
            unsafe {
                if let Some(first) = self.first {
                    first.add(axis).write_unaligned(range.start);
                }
                self.planned.add(axis).write_unaligned(range.end - range.start);
            }
        }
        Ok(())
    }
}

/// Defines methods that return the parts of a struct that contain pointers: texts, sets and structs
/// (`name`), and lists (`name[count]`).
macro_rules! parts {
    ($($type:ident: $($name:ident $([$count:ident])? -> $part:ty),+;)+) => {$(
        impl<'a> Passed<'a, $type> {
            $(#[doc = concat!("Returns `", stringify!($name), "`.")]
            pub fn $name(&self) -> parts!(@type $part $(, $count)?) {
                parts!(@read self $name $($count)?)
            })+
        }
    )+};
    (@type $part:ty) => { Passed<'a, $part> };
    (@type $part:ty, $count:ident) => { List<'a, $part> };
    (@read $self:ident $name:ident) => { $self.part($self.value.$name) };
    (@read $self:ident $name:ident $count:ident) => {
        $self.list($self.value.$name, $self.value.$count.into())
    };
}

parts! {
    SwmAxis: words[count] -> u64;
    SwmSet: axes[axis_count] -> SwmAxis;
    SwmRoute: signs[dim_count] -> i8, order[dim_count] -> u32, path[path_len] -> u64;
    SwmBlocks: origins -> SwmSet, destinations -> SwmSet, segments -> SwmAxis,
        route -> *const SwmRoute, label -> SwmStr;
    SwmBucket: route -> *const SwmRoute;
    SwmBytes: counts[count] -> SwmByteCount, route -> *const SwmRoute;
    SwmRedistribution: starts[node_count] -> u32, firsts[node_count] -> u32;
    SwmLayout: radices[axis_count] -> u64;
    SwmParamInfo: key -> SwmStr, default_value -> SwmStr, help -> SwmStr,
        values[value_count] -> SwmStr;
    SwmAlgorithm: name -> SwmStr, title -> SwmStr, paper -> SwmStr, accepts -> SwmStr,
        params[param_count] -> *const SwmParamInfo;
    SwmPlugin: name -> SwmStr, version -> SwmStr, licence -> SwmStr,
        algorithms[algorithm_count] -> *const SwmAlgorithm;
}

impl Passed<'_, *const SwmPlugin> {
    /// Reads the head of the table, which is the same in every version, unless the pointer is null.
    pub fn head(self) -> Option<SwmHead> {
        if self.value.is_null() {
            return None;
        }
        // SAFETY: a passed pointer that is not null points to a table, which begins with its head.
        Some(unsafe { self.value.cast::<SwmHead>().read_unaligned() })
    }
}

impl<'a> Passed<'a, *const SwmAlgorithm> {
    /// Returns the functions of the algorithm; `None` if it cannot plan.
    pub fn functions(self) -> Option<Functions<'a>> {
        let table = self.read().ok()?;
        Some(Functions { table: self, supports: table.supports, plan: table.plan? })
    }
}
