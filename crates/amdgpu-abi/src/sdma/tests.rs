//! Round trips, and packets as AMD's own software writes them.

use super::*;
use proptest::prelude::*;

fn generation() -> impl Strategy<Value = Generation> {
    prop_oneof![
        Just(Generation::V4_0),
        Just(Generation::V4_4),
        Just(Generation::V5_0),
        Just(Generation::V5_2),
    ]
}

fn window(z_bits: u32) -> impl Strategy<Value = Window> {
    let xy = 0u32..1 << RECT_XY_BITS;
    (
        any::<u64>(),
        xy.clone(),
        xy,
        0u32..1 << z_bits,
        1u32..=1 << 19,
        1u32..=1 << 28,
    )
        .prop_map(|(addr, x, y, z, pitch, slice_pitch)| Window {
            addr,
            origin: [x, y, z],
            pitch,
            slice_pitch,
        })
}

fn rect(z_bits: u32) -> impl Strategy<Value = CopyRect> {
    let extent = (1u32..=1 << 14, 1u32..=1 << 14, 1u32..=1 << z_bits);
    (0u8..=4, window(z_bits), window(z_bits), extent).prop_map(|(element_log2, src, dst, e)| {
        CopyRect {
            element_log2,
            src,
            dst,
            extent: [e.0, e.1, e.2],
        }
    })
}

fn poll() -> impl Strategy<Value = Poll> {
    let space = prop_oneof![
        Just(PollSpace::Memory),
        Just(PollSpace::Register),
        Just(PollSpace::HdpFlush)
    ];
    (
        space,
        any::<u64>(),
        0u8..=6,
        any::<(u32, u32, u16)>(),
        0u16..=0xfff,
    )
        .prop_map(
            |(space, addr, func, (reference, mask, interval), retry_count)| Poll {
                space,
                addr,
                func: PollFunc(func),
                reference,
                mask,
                interval,
                retry_count,
            },
        )
}

fn atomic() -> impl Strategy<Value = Atomic> {
    (0u8..0x80, any::<(u64, u64, u64, bool)>()).prop_map(|(op, (addr, src, cmp, repeat))| Atomic {
        op: AtomicOp(op),
        addr,
        src,
        cmp,
        repeat,
    })
}

fn fill_size() -> impl Strategy<Value = FillSize> {
    prop_oneof![
        Just(FillSize::Byte),
        Just(FillSize::Word),
        Just(FillSize::Dword)
    ]
}

fn packet(g: Generation) -> impl Strategy<Value = Packet<'static>> {
    let copy = (any::<(u64, u64, Option<u64>)>(), 1..=g.max_copy_bytes()).prop_map(
        |((src, dst, dst2), bytes)| Packet::Copy {
            src,
            dst,
            dst2,
            bytes,
        },
    );
    let write =
        (any::<u64>(), prop::collection::vec(any::<u32>(), 1..40)).prop_map(|(dst, data)| {
            Packet::Write {
                dst,
                data: Vec::leak(data),
            }
        });
    let fill = (any::<(u64, u32)>(), fill_size(), 1..=g.max_fill_bytes()).prop_map(
        |((dst, value), size, bytes)| Packet::Fill {
            dst,
            value,
            size,
            bytes,
        },
    );
    prop_oneof![
        (1u32..=1 << 14).prop_map(|dwords| Packet::Nop { dwords }),
        copy,
        rect(g.rect_z_bits()).prop_map(Packet::CopyRect),
        write,
        fill,
        any::<(u64, u32)>().prop_map(|(addr, value)| Packet::Fence { addr, value }),
        (0u32..1 << 28).prop_map(|context| Packet::Trap { context }),
        poll().prop_map(Packet::Poll),
        atomic().prop_map(Packet::Atomic),
        any::<u64>().prop_map(|addr| Packet::Timestamp { addr }),
        (any::<u64>(), 0u32..1 << 20).prop_map(|(addr, dwords)| Packet::Indirect { addr, dwords }),
    ]
}

proptest! {
    #[test]
    fn decoding_an_encoded_packet_gives_it_back(
        (g, packet) in generation().prop_flat_map(|g| (Just(g), packet(g)))
    ) {
        let mut words = Vec::new();
        packet.encode(g, &mut words);
        let len = words.len();
        words.extend([0xdead_beef; 3]);
        prop_assert_eq!(Packet::decode(&words, g), Ok((packet, len)));
        let cut = Packet::decode(&words[..len - 1], g);
        let refused = matches!(cut, Err(DecodeError::Truncated { needed }) if needed <= len);
        prop_assert!(refused, "{:?}", cut);
    }

    #[test]
    fn any_dwords_decode_or_are_refused_within_bounds(
        g in generation(),
        words in prop::collection::vec(any::<u32>(), 0..40),
        op in 0u32..20,
    ) {
        let mut words = words;
        if let Some(first) = words.first_mut() {
            *first = *first & !0xff | op;
        }
        match Packet::decode(&words, g) {
            Ok((_, used)) => prop_assert!((1..=words.len()).contains(&used)),
            Err(DecodeError::Truncated { needed }) => prop_assert!(needed > words.len()),
            Err(_) => {}
        }
    }
}

/// ROCr's `hdp_flush_cmd` (sdma_registers.h): a register poll that always passes.
#[test]
fn hdp_flush_command_of_rocr_is_a_register_poll_that_passes() {
    let words = [0x8, 0x0, 0x8000_0000, 0x0, 0x0, 0x0];
    let Ok((Packet::Poll(poll), 6)) = Packet::decode(&words, Generation::V4_0) else {
        panic!("not a poll");
    };
    assert_eq!(poll.space, PollSpace::Register);
    assert_eq!(poll.func, PollFunc::ALWAYS);
}

/// Field positions from sdma_registers.h, put together by hand.
#[test]
fn encoders_place_fields_where_the_headers_say() {
    assert_eq!(
        encode::copy_linear(Generation::V4_0, 0x1_0000_0002, 0x3_0000_0004, 1 << 22),
        [1, 0x3f_ffff, 0, 2, 1, 4, 3]
    );
    assert_eq!(
        encode::copy_linear(Generation::V5_2, 0, 0, 1 << 30)[1],
        0x3fff_ffff
    );
    assert_eq!(
        encode::fill(Generation::V4_0, 0x5_0000_0000, 7, FillSize::Dword, 4096),
        [0x8000_000b, 0, 5, 7, 4095]
    );
    assert_eq!(
        encode::poll_equal(0x2_0000_0008, 0),
        [0xb000_0008, 8, 2, 0, u32::MAX, 0xfff_0004]
    );
    assert_eq!(
        encode::atomic_add64(0x40, u64::MAX),
        [0x5e00_000a, 0x40, 0, u32::MAX, u32::MAX, 0, 0, 0]
    );
    assert_eq!(encode::timestamp(0x20), [0x20d, 0x20, 0]);
    assert_eq!(encode::trap(9), [6, 9]);
    assert_eq!(encode::nop_header(8), 7 << 16);
}

#[test]
fn copy_limits_follow_the_generation_of_the_processor() {
    for (gfx, bits) in [
        ((9, 0, 0), 22),
        ((9, 0, 10), 30),
        ((10, 1, 0), 22),
        ((10, 3, 0), 30),
    ] {
        let g = Generation::of_gfx(gfx.0, gfx.1, gfx.2);
        assert_eq!(g.max_copy_bytes(), 1 << bits, "gfx{gfx:?}");
    }
}

#[test]
fn page_table_packets_are_refused() {
    assert_eq!(
        Packet::decode(&[12; 16], Generation::V5_2),
        Err(DecodeError::UnknownOpcode { op: 12, sub_op: 0 })
    );
}
