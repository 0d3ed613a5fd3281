//! Reading of structs that may grow. The host reads the structs of plugins this way, and the SDK
//! those of the host.

use crate::*;
use core::mem::{MaybeUninit, size_of};

/// A struct that contains its own size in bytes, so that later minor versions can append fields.
///
/// # Safety
/// The struct must have a `u32` at offset `SIZE_AT` that is its size in bytes, in every version.
/// All zero must be a valid value of it.
pub unsafe trait Growing: Copy {
    /// Size in bytes in version 1.0. No valid struct is smaller.
    const SIZE_1_0: usize;
    /// Offset of the size field in bytes.
    const SIZE_AT: usize = 0;
}

macro_rules! grows {
    ($($type:ident: $size:literal $(, size @ $at:literal)?;)+) => {$(
        // The two sizes are equal until a minor version appends fields.
        const _: () = assert!(size_of::<$type>() == $size || SWM_ABI_MINOR > 0 && size_of::<$type>() > $size);
        // SAFETY: the frozen layout has the size field at this offset; numbers, nullable pointers
        // and nullable functions may all be zero.
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

/// Copies a struct of any minor version. Fields that its version lacks are zero; fields that only
/// its version has are ignored.
///
/// # Errors
/// Returns the struct's own size if that is smaller than in version 1.0.
///
/// # Safety
/// `ptr` must point, aligned or not, to at least as many readable bytes as the struct's size field
/// says, and to a readable size field.
pub unsafe fn read_sized<T: Growing>(ptr: *const T) -> Result<T, usize> {
    let mut own = MaybeUninit::<T>::zeroed();
    // SAFETY: the caller guarantees that the bytes are readable. No more bytes are copied than both
    // structs have, and zero is a valid value.
    unsafe {
        let size = ptr.byte_add(T::SIZE_AT).cast::<u32>().read_unaligned() as usize;
        if size < T::SIZE_1_0 {
            return Err(size);
        }
        ptr.cast::<u8>().copy_to_nonoverlapping(own.as_mut_ptr().cast(), size.min(size_of::<T>()));
        Ok(own.assume_init())
    }
}
