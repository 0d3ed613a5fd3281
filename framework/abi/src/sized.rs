//! Structs that may grow, and how they are read: by the host where a plugin fills them in, by the
//! SDK where the host does.

use crate::*;
use core::mem::{MaybeUninit, size_of};

/// A struct that says how many bytes it has, so that later minor versions can append to it.
///
/// # Safety
/// The struct has a `u32` at `SIZE_AT` that is its size in bytes, in every version; all zero is a
/// valid value of it.
pub unsafe trait Growing: Copy {
    /// Its bytes in version 1.0: fewer has none that was ever filled in.
    const SIZE_1_0: usize;
    /// Where its size is.
    const SIZE_AT: usize = 0;
}

macro_rules! grows {
    ($($type:ident: $size:literal $(, size @ $at:literal)?;)+) => {$(
        // Until something is appended the two are the same.
        const _: () = assert!(size_of::<$type>() == $size || SWM_ABI_MINOR > 0 && size_of::<$type>() > $size);
        // SAFETY: the layout is frozen with its size where it says; numbers, nullable pointers and
        // functions may be zero.
        unsafe impl Growing for $type {
            const SIZE_1_0: usize = $size;
            $(const SIZE_AT: usize = $at;)?
        }
    )+};
}

// Never to be changed: a plugin or host of 1.0 has these for ever.
grows! {
    SwmRoute: 40;
    SwmBlocks: 136;
    SwmBucket: 40;
    SwmBytes: 48;
    SwmRedistribution: 64;
    SwmLayout: 24;
    SwmTopology: 72;
    SwmProblem: 56;
    SwmHost: 184;
    SwmParamInfo: 72;
    SwmAlgorithm: 128;
    SwmPlugin: 88, size @ 16;
}

/// A copy of a struct of whatever minor version: what that version lacks is zero, what it has more
/// is left where it is.
///
/// # Errors
/// The struct's own size, if it is below that of 1.0.
///
/// # Safety
/// `ptr` must point, aligned or not, to as many readable bytes as the struct says it has, those of
/// its size at least.
pub unsafe fn read_sized<T: Growing>(ptr: *const T) -> Result<T, usize> {
    let mut own = MaybeUninit::<T>::zeroed();
    // SAFETY: the caller promises that the bytes are there; no more are copied than both have; zero
    // is a valid value.
    unsafe {
        let size = ptr.byte_add(T::SIZE_AT).cast::<u32>().read_unaligned() as usize;
        if size < T::SIZE_1_0 {
            return Err(size);
        }
        ptr.cast::<u8>().copy_to_nonoverlapping(own.as_mut_ptr().cast(), size.min(size_of::<T>()));
        Ok(own.assume_init())
    }
}
