//! Texts of `hsa_status_string` against AMD's library.

use crate::library::Library;
use std::ffi::{CStr, c_char};

/// Statuses that AMD's libraries (5.2.3; 7.2.4 lacks the last two) have no text for.
const OURS_ONLY: [u32; 3] = [0x2d, 0x2e, 0x2f];

fn text(library: Library, status: u32) -> Option<String> {
    let mut text: *const c_char = std::ptr::null();
    let out = (&raw mut text).expose_provenance();
    let answer = library.call("hsa_status_string", &[status as usize, out]);
    if answer != 0 {
        return None;
    }
    // SAFETY: success leaves a static text.
    let text = unsafe { CStr::from_ptr(text) };
    Some(text.to_string_lossy().into_owned())
}

#[test]
fn every_status_has_amds_text() {
    let Some(theirs) = Library::open("libhsa-runtime64.so.1") else {
        println!("skipped: libhsa-runtime64.so.1 is not installed");
        return;
    };
    let ours = Library::ours();
    for status in (0..0x5000).filter(|status| !OURS_ONLY.contains(status)) {
        assert_eq!(text(ours, status), text(theirs, status), "{status:#x}");
    }
    for status in OURS_ONLY {
        assert!(text(ours, status).is_some(), "{status:#x}");
    }
}

#[test]
fn a_number_that_is_no_status_is_an_invalid_argument() {
    let mut text: *const c_char = std::ptr::null();
    let out = (&raw mut text).expose_provenance();
    assert_eq!(
        Library::ours().call("hsa_status_string", &[0x9999, out]),
        0x1001
    );
    assert!(text.is_null(), "a refused call leaves the result alone");
    assert_eq!(Library::ours().call("hsa_status_string", &[0, 0]), 0x1001);
}
