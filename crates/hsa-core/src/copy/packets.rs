//! SDMA packets of a copy: wait, time, copy, time, complete.

use crate::memory::{Memory, raw};
use crate::signal::{COPY_END, COPY_START, Signal};
use amdgpu_abi::sdma::{Generation, encode};
use std::sync::atomic::Ordering;

/// Dwords after which packets go to the ring as a batch of their own.
const BATCH: usize = 8192;

/// One linear copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Piece {
    pub(super) dst: u64,
    pub(super) src: u64,
    pub(super) bytes: u64,
}

impl Piece {
    /// With the host's addresses of pinned memory.
    pub(super) fn for_host(self, memory: &Memory) -> Self {
        Self {
            dst: memory.host_address(self.dst),
            src: memory.host_address(self.src),
            ..self
        }
    }

    /// Copies on the calling thread.
    pub(super) fn copy(self) {
        // SAFETY: `async_copy`'s caller promised that both ranges are valid until completion, which
        // comes after this.
        unsafe { raw::copy(self.dst, self.src, self.bytes) }
    }
}

/// The packets of a copy, in batches that each fit a ring.
pub(super) fn build(
    generation: Generation,
    pieces: &[Piece],
    deps: &[Signal],
    completion: Option<Signal>,
    profiled: bool,
) -> Vec<Vec<u32>> {
    let mut batches = Vec::new();
    let mut words = Vec::new();
    for dep in deps {
        wait_for(&mut words, *dep);
    }
    let times = completion.filter(|_| profiled);
    if generation.has_cache_control() {
        words.extend(encode::cache_control());
    }
    if let Some(signal) = times {
        words.extend(encode::timestamp(signal.handle() + COPY_START));
    }
    for piece in pieces {
        copy(&mut words, &mut batches, generation, *piece);
    }
    if generation.has_cache_control() {
        words.extend(encode::cache_control());
    }
    if let Some(signal) = times {
        words.extend(encode::timestamp(signal.handle() + COPY_END));
    }
    if let Some(signal) = completion {
        complete(&mut words, signal);
    }
    batches.push(words);
    batches
}

fn copy(words: &mut Vec<u32>, batches: &mut Vec<Vec<u32>>, generation: Generation, piece: Piece) {
    let mut done = 0;
    while done < piece.bytes {
        let bytes = (piece.bytes - done).min(generation.max_copy_bytes());
        words.extend(encode::copy_linear(
            generation,
            piece.src + done,
            piece.dst + done,
            bytes,
        ));
        done += bytes;
        if words.len() >= BATCH {
            batches.push(std::mem::take(words));
        }
    }
}

/// Waits until the signal's value is 0: its two dwords, as the engine compares 32 bits.
fn wait_for(words: &mut Vec<u32>, signal: Signal) {
    let Ok(value) = signal.value_address() else {
        return;
    };
    if signal.load(Ordering::Acquire) == 0 {
        return;
    }
    words.extend(encode::poll_equal(value + 4, 0));
    words.extend(encode::poll_equal(value, 0));
}

/// Decrements the signal and raises its event.
fn complete(words: &mut Vec<u32>, signal: Signal) {
    let Ok(value) = signal.value_address() else {
        return;
    };
    words.extend(encode::atomic_add64(value, u64::MAX));
    if let Some((mailbox, id)) = signal.mailbox() {
        words.extend(encode::fence(mailbox, id));
        words.extend(encode::trap(id));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use amdgpu_abi::sdma::Packet;

    fn decode(words: &[u32], generation: Generation) -> Vec<Packet<'_>> {
        let mut rest = words;
        let mut packets = Vec::new();
        while !rest.is_empty() {
            let (packet, used) = Packet::decode(rest, generation).unwrap();
            packets.push(packet);
            rest = &rest[used..];
        }
        packets
    }

    #[test]
    fn a_large_copy_is_cut_at_the_engines_limit() {
        let limit = Generation::V4_0.max_copy_bytes();
        let piece = Piece {
            dst: 0x1_0000_0000,
            src: 0x2_0000_0000,
            bytes: 2 * limit + 3,
        };
        let batches = build(Generation::V4_0, &[piece], &[], None, false);
        let packets = decode(&batches[0], Generation::V4_0);
        let expected: Vec<_> = [(0, limit), (limit, limit), (2 * limit, 3)]
            .map(|(at, bytes)| Packet::Copy {
                src: piece.src + at,
                dst: piece.dst + at,
                dst2: None,
                bytes,
            })
            .into();
        assert_eq!(packets, expected);
    }

    #[test]
    fn many_rows_make_several_batches_that_together_are_the_copy() {
        let pieces: Vec<Piece> = (0..5000)
            .map(|i| Piece {
                dst: i * 8,
                src: (1 << 40) + i * 8,
                bytes: 7,
            })
            .collect();
        let batches = build(Generation::V4_4, &pieces, &[], None, false);
        assert!(batches.len() > 1 && batches.iter().all(|b| b.len() < BATCH + 64));
        let count: usize = batches
            .iter()
            .map(|b| decode(b, Generation::V4_4).len())
            .sum();
        assert_eq!(count, pieces.len());
    }
}
