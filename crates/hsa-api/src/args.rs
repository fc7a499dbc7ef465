//! Arguments as C passes them: pointers that a body can only use through a checked method.
//!
//! [`hsa_export!`](crate::entry) builds these from the raw arguments; its callers promise what the
//! header demands (null, or valid for the access). So the one place that has to believe the caller
//! is here, and bodies stay safe code. Reads and writes do not demand alignment, as AMD's do not.

use crate::status::Error;
use hsa_core::Error as Core;
use hsa_core::Result as CoreResult;
use std::ffi::{CStr, c_char, c_void};

/// A type that an exported function takes.
pub(crate) trait FromC {
    /// What C passes.
    type C;
    /// Wraps the raw argument.
    ///
    /// # Safety
    /// A pointer is null or valid for what the function does with it.
    unsafe fn from_c(raw: Self::C) -> Self;
}

/// Types that C and a body see alike.
pub(crate) trait Plain: Copy {}

impl<T: Plain> FromC for T {
    type C = T;
    unsafe fn from_c(raw: T) -> T {
        raw
    }
}

macro_rules! plain {
    ($($ty:ty),* $(,)?) => { $(impl Plain for $ty {})* };
}
pub(crate) use plain;

plain!(bool, u8, u16, u32, i32, u64, i64, usize);
impl<T> Plain for *mut T {}
impl<T> Plain for *const T {}
impl<F: Copy> Plain for Option<F> {}

/// `T*` that receives a result.
pub(crate) struct Out<T>(*mut T);

impl<T> FromC for Out<T> {
    type C = *mut T;
    unsafe fn from_c(raw: *mut T) -> Self {
        Self(raw)
    }
}

impl<T> Out<T> {
    /// Refuses null before any work is done.
    pub(crate) fn required(self) -> CoreResult<Checked<T>> {
        if self.0.is_null() {
            Err(Core::InvalidArgument)
        } else {
            Ok(Checked(self.0))
        }
    }

    /// A result that the caller may not want.
    pub(crate) fn optional(self) -> Option<Checked<T>> {
        (!self.0.is_null()).then_some(Checked(self.0))
    }
}

/// An [`Out`] that is not null.
pub(crate) struct Checked<T>(*mut T);

impl<T> Checked<T> {
    /// Delivers the result; the last thing that a body does.
    pub(crate) fn write(self, value: T) -> Result<(), Error> {
        // SAFETY: not null, so valid for a write by the contract of `FromC::from_c`.
        unsafe { self.0.write_unaligned(value) };
        Ok(())
    }

    /// Delivers `values` to an array; the caller of the C function vouches for its length.
    pub(crate) fn write_all(self, values: impl IntoIterator<Item = T>) -> Result<(), Error> {
        for (index, value) in values.into_iter().enumerate() {
            let at = self.0.wrapping_add(index);
            // SAFETY: element `index` is inside of the array that the caller promised.
            unsafe { at.write_unaligned(value) };
        }
        Ok(())
    }

    /// The same memory as input, for arrays that are both.
    pub(crate) fn as_input(&self) -> In<T> {
        In(self.0)
    }

    pub(crate) fn address(&self) -> *mut T {
        self.0
    }
}

/// `void* value` of a `*_get_info` function.
pub(crate) struct Value(*mut u8);

impl FromC for Value {
    type C = *mut c_void;
    unsafe fn from_c(raw: *mut c_void) -> Self {
        Self(raw.cast())
    }
}

/// Proof that an attribute was answered; only [`Checked`] values make one.
pub(crate) struct Written(());

impl Value {
    /// Refuses null before any work is done.
    pub(crate) fn required(self) -> CoreResult<ValuePtr> {
        if self.0.is_null() {
            Err(Core::InvalidArgument)
        } else {
            Ok(ValuePtr(self.0))
        }
    }
}

/// A [`Value`] that is not null.
#[derive(Clone, Copy)]
pub(crate) struct ValuePtr(*mut u8);

impl ValuePtr {
    /// Writes a value of the attribute's C type.
    pub(crate) fn put<T: Copy>(self, value: T) -> Written {
        // SAFETY: not null, so valid for the attribute's size by the contract of `from_c`.
        unsafe { self.0.cast::<T>().write_unaligned(value) };
        Written(())
    }

    /// Writes `text` into `char[N]`, cut to N - 1 bytes and filled up with zeros.
    pub(crate) fn text<const N: usize>(self, text: &str) -> Written {
        let mut field = [0_u8; N];
        let length = text.len().min(N - 1);
        field[..length].copy_from_slice(&text.as_bytes()[..length]);
        self.put(field)
    }

    /// Writes the bytes of `text` without a final zero: the length is another attribute.
    pub(crate) fn bytes(self, text: &[u8]) -> Written {
        // SAFETY: the caller made room for the length that the length attribute reports.
        unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), self.0, text.len()) };
        Written(())
    }

    /// Writes several records, one behind the other.
    pub(crate) fn records<T: Copy>(self, records: &[T]) -> Written {
        for (index, record) in records.iter().enumerate() {
            let at = self.0.cast::<T>().wrapping_add(index);
            // SAFETY: the caller made room for the count that the count attribute reports.
            unsafe { at.write_unaligned(*record) };
        }
        Written(())
    }

    /// Writes the first `length` bytes of `table`, or all of it.
    pub(crate) fn prefix_of<T>(self, table: &T, length: usize) -> Written {
        let length = length.min(size_of::<T>());
        // SAFETY: the caller's structure has `length` bytes, and `table` has at least as many.
        unsafe { std::ptr::copy_nonoverlapping(std::ptr::from_ref(table).cast(), self.0, length) };
        Written(())
    }
}

/// `const T*` that points at one or more elements.
pub(crate) struct In<T>(*const T);

impl<T> FromC for In<T> {
    type C = *const T;
    unsafe fn from_c(raw: *const T) -> Self {
        Self(raw)
    }
}

impl<T: Copy> In<T> {
    /// Copies one element; null is refused.
    pub(crate) fn read(&self) -> CoreResult<T> {
        Ok(self.array(1)?[0])
    }

    /// Copies `count` elements; null is refused unless `count` is 0.
    pub(crate) fn array(&self, count: usize) -> CoreResult<Vec<T>> {
        if count == 0 {
            return Ok(Vec::new());
        }
        if self.0.is_null() {
            return Err(Core::InvalidArgument);
        }
        let element = |index| {
            // SAFETY: element `index` is inside of the array that the caller promised.
            unsafe { self.0.wrapping_add(index).read_unaligned() }
        };
        Ok((0..count).map(element).collect())
    }

    pub(crate) fn is_null(&self) -> bool {
        self.0.is_null()
    }
}

/// `T*` that is only read, though the header does not say const.
pub(crate) struct InMut<T>(pub(crate) In<T>);

impl<T> FromC for InMut<T> {
    type C = *mut T;
    unsafe fn from_c(raw: *mut T) -> Self {
        Self(In(raw))
    }
}

/// `const char*`, zero-terminated.
pub(crate) struct Text(*const c_char);

impl FromC for Text {
    type C = *const c_char;
    unsafe fn from_c(raw: *const c_char) -> Self {
        Self(raw)
    }
}

impl Text {
    /// The text; null is refused. Bytes that are not UTF-8 are replaced, which no name matches.
    pub(crate) fn required(&self) -> CoreResult<String> {
        self.optional().ok_or(Core::InvalidArgument)
    }

    /// The text, or `None` for null.
    pub(crate) fn optional(&self) -> Option<String> {
        if self.0.is_null() {
            return None;
        }
        // SAFETY: not null, so zero-terminated by the contract of `FromC::from_c`.
        let text = unsafe { CStr::from_ptr(self.0) };
        Some(text.to_string_lossy().into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_null_out_pointer_is_refused_before_any_work() {
        assert_eq!(
            Out::<u32>(std::ptr::null_mut()).required().err(),
            Some(Core::InvalidArgument)
        );
        assert!(Out::<u32>(std::ptr::null_mut()).optional().is_none());
    }

    #[test]
    fn a_result_is_written_to_an_unaligned_place() {
        let mut bytes = [0_u8; 9];
        let out = Out(bytes[1..].as_mut_ptr().cast::<u64>());
        out.required()
            .unwrap()
            .write(0x0102_0304_0506_0708)
            .unwrap();
        assert_eq!(bytes, [0, 8, 7, 6, 5, 4, 3, 2, 1]);
    }

    #[test]
    fn a_text_that_is_too_long_is_cut_and_terminated() {
        let mut field = [0xff_u8; 4];
        Value(field.as_mut_ptr())
            .required()
            .unwrap()
            .text::<4>("gfx90a");
        assert_eq!(&field, b"gfx\0");
    }

    #[test]
    fn an_empty_array_may_be_null() {
        let none = In::<u32>(std::ptr::null());
        assert_eq!(none.array(0), Ok(Vec::new()));
        assert_eq!(none.array(1), Err(Core::InvalidArgument));
    }
}
