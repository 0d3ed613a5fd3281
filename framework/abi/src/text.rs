/// A text in UTF-8, without a NUL at its end. `ptr` may be null if `len` is 0.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SwmStr {
    /// Pointer to the first of the `len` bytes.
    pub ptr: *const u8,
    /// Length in bytes, not in characters.
    pub len: usize,
}

impl SwmStr {
    /// Returns a text that is valid as long as `text` is.
    pub const fn new(text: &str) -> Self {
        Self { ptr: text.as_ptr(), len: text.len() }
    }

    /// The empty text, for texts that may be left out.
    pub const EMPTY: Self = Self { ptr: core::ptr::null(), len: 0 };

    /// Returns the bytes of the text, or no bytes for a null pointer.
    ///
    /// # Safety
    /// `ptr` must be null or point to `len` readable bytes that stay unchanged for `'a`.
    pub const unsafe fn bytes<'a>(self) -> &'a [u8] {
        if self.ptr.is_null() {
            return &[];
        }
        // SAFETY: the caller guarantees `len` readable bytes that stay unchanged.
        unsafe { core::slice::from_raw_parts(self.ptr, self.len) }
    }
}
