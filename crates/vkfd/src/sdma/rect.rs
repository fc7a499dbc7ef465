//! Rectangle copies: row by row.

use amdgpu_abi::sdma::{CopyRect, Window};

use super::{Fault, Flow, PIECE, Result};
use crate::guest::Guest;

/// Copies rows from `progress` (rows done before) on, about [`PIECE`] bytes of them.
pub(super) fn copy(guest: &Guest, rect: &CopyRect, progress: u64) -> Result<Flow> {
    let [width, height, depth] = rect.extent.map(u64::from);
    let element = 1u64 << rect.element_log2;
    check(&rect.src, rect)?;
    check(&rect.dst, rect)?;
    let row_bytes = width * element;
    let rows = height * depth;
    let end = rows.min(progress + (PIECE / row_bytes).max(1));
    for row in progress..end {
        let (y, z) = (row % height, row / height);
        copy_row(
            guest,
            at(&rect.src, y, z, element),
            at(&rect.dst, y, z, element),
            row_bytes,
        )?;
    }
    Ok(if end == rows {
        Flow::Done
    } else {
        Flow::Partial(end)
    })
}

/// A row that is wider than its pitch would overlap the next one.
fn check(window: &Window, rect: &CopyRect) -> Result<()> {
    let rows = rect.extent[1] > 1 || rect.extent[2] > 1;
    if rows && window.pitch < rect.extent[0] {
        return Err(Fault::Refused(format!(
            "rectangle of width {} in a pitch of {} elements",
            rect.extent[0], window.pitch
        )));
    }
    Ok(())
}

fn at(window: &Window, y: u64, z: u64, element: u64) -> u64 {
    let [x0, y0, z0] = window.origin.map(u64::from);
    let index = x0 + (y0 + y) * u64::from(window.pitch) + (z0 + z) * u64::from(window.slice_pitch);
    window.addr.wrapping_add(index * element)
}

fn copy_row(guest: &Guest, src: u64, dst: u64, bytes: u64) -> Result<()> {
    let mut done = 0;
    while done < bytes {
        done += guest.transfer(
            src.wrapping_add(done),
            dst.wrapping_add(done),
            bytes - done,
            false,
        )?;
    }
    Ok(())
}
