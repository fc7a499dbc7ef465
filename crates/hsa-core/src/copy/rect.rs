//! Rectangle copies, made row by row: any pitch, any size.

use super::packets::Piece;
use super::{Direction, PitchedPtr, RectCopy, route, run};
use crate::Result;
use crate::agent::Agent;
use crate::error::Error;
use crate::runtime::Runtime;
use crate::signal::Signal;

impl RectCopy {
    /// The rows; what is contiguous on both sides is one piece.
    fn pieces(&self) -> Vec<Piece> {
        let [x, y, z] = self.range.map(u64::from);
        let packed = |p: &PitchedPtr| p.pitch == x;
        let (rows, row_bytes) = if packed(&self.dst) && packed(&self.src) {
            (1, x * y)
        } else {
            (y, x)
        };
        let slices = 0..z;
        slices
            .flat_map(|slice| (0..rows).map(move |row| (slice, row)))
            .map(|(slice, row)| Piece {
                dst: at(&self.dst, self.dst_offset, row, slice),
                src: at(&self.src, self.src_offset, row, slice),
                bytes: row_bytes,
            })
            .collect()
    }

    /// The range of addresses that one side spans.
    fn span(side: &PitchedPtr, offset: [u32; 3], range: [u32; 3]) -> (u64, u64) {
        let [x, y, z] = range.map(u64::from);
        let first = at(side, offset, 0, 0);
        let last = at(side, offset, y.saturating_sub(1), z.saturating_sub(1)) + x;
        (first, last - first)
    }

    fn is_valid(&self) -> bool {
        let [x, y, z] = self.range.map(u64::from);
        let fits = |side: &PitchedPtr, offset: [u32; 3]| {
            let row = u64::from(offset[0]) + x;
            let rows_ok = (y <= 1 && offset[1] == 0) || side.pitch >= row;
            let slices_ok = (z <= 1 && offset[2] == 0) || side.slice >= side.pitch;
            side.base != 0 && rows_ok && slices_ok
        };
        fits(&self.dst, self.dst_offset) && fits(&self.src, self.src_offset)
    }
}

fn at(side: &PitchedPtr, offset: [u32; 3], row: u64, slice: u64) -> u64 {
    let [x, y, z] = offset.map(u64::from);
    side.base + x + (y + row) * side.pitch + (z + slice) * side.slice
}

impl Runtime {
    /// Starts a rectangle copy on `agent`'s engines (`hsa_amd_memory_async_copy_rect`).
    ///
    /// # Errors
    /// `InvalidArgument` for null bases or pitches smaller than the range.
    ///
    /// # Safety
    /// As [`Runtime::async_copy`].
    pub unsafe fn async_copy_rect(
        &self,
        rect: &RectCopy,
        agent: &Agent,
        direction: Direction,
        deps: &[Signal],
        completion: Option<Signal>,
    ) -> Result<()> {
        let live = self.live()?;
        if rect.range.contains(&0) {
            return live
                .copies
                .on_host(&live, deps, completion, Box::new(|| ()));
        }
        if !rect.is_valid() {
            return Err(Error::InvalidArgument);
        }
        let host = self.agents().iter().find(|a| !a.is_gpu()).unwrap_or(agent);
        let (src, dst) = match direction {
            Direction::HostToHost => (host, host),
            Direction::HostToDevice => (host, agent),
            Direction::DeviceToHost => (agent, host),
            Direction::DeviceToDevice => (agent, agent),
        };
        let (dst_base, dst_bytes) = RectCopy::span(&rect.dst, rect.dst_offset, rect.range);
        let (src_base, src_bytes) = RectCopy::span(&rect.src, rect.src_offset, rect.range);
        let reach = Piece {
            dst: dst_base,
            src: src_base,
            bytes: dst_bytes.min(src_bytes),
        };
        let route = route::choose(&live, src, dst, reach, None, false)?;
        run(&live, &route, rect.pieces(), deps, completion)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(base: u64, pitch: u64, slice: u64) -> PitchedPtr {
        PitchedPtr { base, pitch, slice }
    }

    #[test]
    fn every_byte_of_the_range_is_copied_once_to_its_place() {
        let rect = RectCopy {
            dst: side(1000, 7, 40),
            dst_offset: [1, 2, 1],
            src: side(5000, 11, 99),
            src_offset: [3, 0, 2],
            range: [5, 3, 2],
        };
        let mut expected = Vec::new();
        for z in 0..2 {
            for y in 0..3 {
                let dst = 1000 + 1 + (2 + y) * 7 + (1 + z) * 40;
                let src = 5000 + 3 + y * 11 + (2 + z) * 99;
                expected.push(Piece { dst, src, bytes: 5 });
            }
        }
        assert_eq!(rect.pieces(), expected);
    }

    #[test]
    fn packed_rows_are_one_piece_for_each_slice() {
        let rect = RectCopy {
            dst: side(1000, 16, 160),
            dst_offset: [0; 3],
            src: side(5000, 16, 320),
            src_offset: [0; 3],
            range: [16, 10, 2],
        };
        let pieces = rect.pieces();
        assert_eq!(pieces.len(), 2);
        assert_eq!(
            pieces[1],
            Piece {
                dst: 1160,
                src: 5320,
                bytes: 160
            }
        );
    }

    #[test]
    fn a_pitch_below_the_row_is_refused() {
        let mut rect = RectCopy {
            dst: side(1000, 4, 0),
            dst_offset: [0; 3],
            src: side(5000, 8, 0),
            src_offset: [0; 3],
            range: [8, 2, 1],
        };
        assert!(!rect.is_valid());
        rect.range[1] = 1;
        assert!(rect.is_valid());
    }
}
