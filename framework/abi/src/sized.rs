//! Reads structs to which later minor versions of the ABI may append fields. The host reads the
//! structs of plugins with this module, and the SDK reads the structs of the host.

use crate::*;
use core::mem::{MaybeUninit, size_of};

/// A struct that contains its own size in bytes, so that later minor versions can append fields.
///
/// # Safety
/// In every version, the struct must have a `u32` at offset `SIZE_AT` that is its size in bytes. A
/// struct of zeros must be a valid value.
pub unsafe trait Growing: Copy {
    /// Size in bytes in version 1.0. No valid struct is smaller.
    const SIZE_1_0: usize;
    /// Offset of the size field in bytes.
    const SIZE_AT: usize = 0;
}

macro_rules! grows {
    ($($type:ident: $size:literal $(, size @ $at:literal)?;)+) => {$(
        // `$size` is the size in version 1.0. The current size is larger only if a minor version
        // has appended fields.
        const _: () = assert!(size_of::<$type>() == $size || SWM_ABI_MINOR > 0 && size_of::<$type>() > $size);
        // SAFETY: the frozen layout has the size field at this offset. All fields are numbers,
        // nullable pointers and nullable functions, which may all be zero.
        unsafe impl Growing for $type {
            const SIZE_1_0: usize = $size;
            $(const SIZE_AT: usize = $at;)?
        }
    )+};
}

// These sizes must never change: existing plugins and hosts of version 1.0 use them.
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

/// Copies a struct of any minor version of the ABI. Fields that the version of the struct lacks are
/// zero in the copy. Returns the stated size if it is smaller than in version 1.0.
///
/// # Safety
/// The size field at `ptr` must be readable, and `ptr` must point to at least as many readable
/// bytes as the size field states. `ptr` need not be aligned.
pub unsafe fn read_sized<T: Growing>(ptr: *const T) -> Result<T, usize> {
    // SAFETY: the caller guarantees that the bytes are readable. At most `size_of::<T>()` bytes are
    // copied, and the fields that are not copied are zero, which is a valid value.
    unsafe {
        let size = ptr.byte_add(T::SIZE_AT).cast::<u32>().read_unaligned() as usize;
        if size < T::SIZE_1_0 {
            return Err(size);
        }
        // Case 1: the struct has all fields that this program knows, so the number of bytes is a
        // constant.
        if size >= size_of::<T>() {
            return Ok(ptr.read_unaligned());
        }
        // Case 2: an earlier minor version, which lacks some fields.
        let mut own = MaybeUninit::<T>::zeroed();
        ptr.cast::<u8>().copy_to_nonoverlapping(own.as_mut_ptr().cast(), size);
        Ok(own.assume_init())
    }
}
