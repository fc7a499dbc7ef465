//! Arguments whose C struct ends in an array of any length.

use crate::ioctl::{self, Request};
use crate::kfd::{kfd_ioctl_svm_args, kfd_ioctl_svm_attribute};
use std::ffi::c_void;

/// Most attributes of one SVM call: the code has 14 bits for the size.
pub const MAX_SVM_ATTRIBUTES: usize =
    (0x3fff - size_of::<kfd_ioctl_svm_args>()) / size_of::<kfd_ioctl_svm_attribute>();

/// Argument of the SVM ioctl with its attributes behind the header.
///
/// Kept as words: three of 64 bits for the header, one for each `{type, value}` pair.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SvmArgs {
    words: Vec<u64>,
}

const HEADER_WORDS: usize = 3;
const _: () = assert!(size_of::<kfd_ioctl_svm_args>() == 8 * HEADER_WORDS);
const _: () = assert!(size_of::<kfd_ioctl_svm_attribute>() == 8);

const fn pair(low: u32, high: u32) -> u64 {
    low as u64 | (high as u64) << 32
}

impl SvmArgs {
    /// Builds the argument; `None` if there are more than [`MAX_SVM_ATTRIBUTES`].
    pub fn new(
        start_addr: u64,
        size_bytes: u64,
        op: u32,
        attributes: &[kfd_ioctl_svm_attribute],
    ) -> Option<Self> {
        if attributes.len() > MAX_SVM_ATTRIBUTES {
            return None;
        }
        let count = u32::try_from(attributes.len()).ok()?;
        let mut words = vec![start_addr, size_bytes, pair(op, count)];
        words.extend(attributes.iter().map(|a| pair(a.type_, a.value)));
        Some(Self { words })
    }

    /// The code for this number of attributes.
    pub fn request(&self) -> Request {
        ioctl::SVM.with_size(size_of_val(self.words.as_slice()))
    }

    /// Pointer to pass to the kernel, valid while `self` is.
    pub fn as_mut_ptr(&mut self) -> *mut c_void {
        self.words.as_mut_ptr().cast()
    }

    /// The attributes, as the kernel left them.
    pub fn attributes(&self) -> impl Iterator<Item = kfd_ioctl_svm_attribute> + '_ {
        self.words[HEADER_WORDS..].iter().map(|word| {
            let [low, high] = halves(*word);
            kfd_ioctl_svm_attribute {
                type_: low,
                value: high,
            }
        })
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "splits a word into its halves"
)]
const fn halves(word: u64) -> [u32; 2] {
    [word as u32, (word >> 32) as u32]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_grows_by_eight_bytes_per_attribute() {
        let attribute = kfd_ioctl_svm_attribute {
            type_: 5,
            value: 0x51,
        };
        let args = SvmArgs::new(0x1000, 0x2000, 1, &[attribute; 3]).unwrap();
        assert_eq!(args.request().code(), 0xc018_4b20 + (24 << 16));
    }

    #[test]
    fn attributes_come_back_as_given() {
        let given = [(1, 0xffff_ffff), (2, 50149)]
            .map(|(type_, value)| kfd_ioctl_svm_attribute { type_, value });
        let args = SvmArgs::new(0x1000, 0x1000, 0, &given).unwrap();
        let back: Vec<_> = args.attributes().map(|a| (a.type_, a.value)).collect();
        assert_eq!(back, [(1, 0xffff_ffff), (2, 50149)]);
        assert_eq!(
            args.words,
            [
                0x1000,
                0x1000,
                2 << 32,
                0xffff_ffff_0000_0001,
                50149 << 32 | 2
            ]
        );
    }

    #[test]
    fn more_attributes_than_the_code_can_say_are_refused() {
        let attribute = kfd_ioctl_svm_attribute { type_: 0, value: 0 };
        assert!(SvmArgs::new(0, 0x1000, 0, &vec![attribute; MAX_SVM_ATTRIBUTES]).is_some());
        assert!(SvmArgs::new(0, 0x1000, 0, &vec![attribute; MAX_SVM_ATTRIBUTES + 1]).is_none());
    }
}
