//! Expected values are arithmetic on what the tests put into memory. Descriptors are put together
//! here from the field positions of the ISA manuals.

use amdgpu_isa::{Op, Target, opcodes};

use crate::api::{Access, FaultReason, Stop};
use crate::step::HostLevel;
use crate::testing::{StoppedWave, TestGpu, assemble};
use crate::wave::Wave;

/// Selectors of a descriptor: X, Y, Z, W.
const XYZW: u32 = 4 | 5 << 3 | 6 << 6 | 7 << 9;

/// An image to describe; sizes in texels.
#[derive(Clone, Copy)]
struct Picture {
    /// Number of the type: 8 1D, 9 2D, 10 3D, 12 1D array, 13 2D array.
    kind: u32,
    /// gfx10's number; gfx9 takes `split`.
    format: u32,
    /// gfx9's data and number format.
    split: (u32, u32),
    select: u32,
    width: u32,
    height: u32,
    depth: u32,
    /// Texels from row to row; multiples of 256 bytes.
    pitch: u32,
}

const RGBA8: Picture = Picture {
    kind: 9,
    format: 56,
    split: (10, 0),
    select: XYZW,
    width: 4,
    height: 3,
    depth: 1,
    pitch: 64,
};

const R32F: Picture = Picture {
    format: 22,
    split: (4, 7),
    ..RGBA8
};

const R32UI: Picture = Picture {
    format: 20,
    split: (4, 4),
    ..RGBA8
};

impl Picture {
    fn words(&self, target: Target, base: u64) -> [u32; 8] {
        let part = |shift: u32| u32::try_from(base >> shift & 0xffff_ffff).unwrap_or(0);
        let (low, high) = (part(8), part(40));
        let last = |size: u32| size - 1;
        let (width, height) = (last(self.width), last(self.height));
        let three = self.select | self.kind << 28;
        let single = self.kind == 8 || self.kind == 9;
        if target.is_gfx9() {
            let format = self.split.0 << 20 | self.split.1 << 26;
            let four = last(self.depth) | last(self.pitch) << 13;
            return [
                low,
                high | format,
                width | height << 14,
                three,
                four,
                0,
                0,
                0,
            ];
        }
        let four = if single {
            last(self.pitch)
        } else {
            last(self.depth)
        };
        let one = high | self.format << 20 | (width & 3) << 30;
        [low, one, width >> 2 | height << 14, three, four, 0, 0, 0]
    }
}

/// Clamp code for all axes, linear filter or not.
const fn sampler(clamp: u32, linear: bool, unnormalised: bool) -> [u32; 4] {
    let filter = if linear { 1 << 20 | 1 << 22 } else { 0 };
    let clamps = clamp | clamp << 3 | clamp << 6 | (unnormalised as u32) << 15;
    [clamps, 0xfff << 12, filter, 0]
}

const WRAP: u32 = 0;
const MIRROR: u32 = 1;
const EDGE: u32 = 2;
const BORDER: u32 = 6;

/// A GPU with one image whose memory is filled with dwords by a function of x and y.
struct Bench {
    gpu: TestGpu,
    picture: Picture,
    base: u64,
}

impl Bench {
    fn new(target: Target, picture: Picture, fill: impl Fn(u32, u32) -> u32) -> Self {
        let gpu = TestGpu::new(target);
        let base = gpu.memory.allocate(0x4000, true, false);
        for y in 0..picture.height * picture.depth {
            for x in 0..picture.width {
                let at = base + u64::from(4 * (y * picture.pitch + x));
                gpu.memory.write32(at, &[fill(x, y)]);
            }
        }
        Self { gpu, picture, base }
    }

    /// Runs an instruction; `registers[i]` are the lanes of VGPR i.
    fn try_run(
        &self,
        asm: &str,
        sampler: [u32; 4],
        registers: &[&[u32]],
    ) -> Option<Result<Wave, Box<StoppedWave>>> {
        let lanes = if self.gpu.target.is_gfx9() { 64 } else { 32 };
        let code = assemble(self.gpu.target, lanes, asm)?;
        let words = self.picture.words(self.gpu.target, self.base);
        let level = HostLevel::detect();
        let result = self.gpu.run_wave(&code, lanes, level, |wave, _| {
            for (index, word) in (0u8..).zip(words.into_iter().chain(sampler)) {
                wave.set_scalar(index, word);
            }
            let count = registers.first().map_or(1, |lanes| lanes.len());
            wave.set_exec((1 << count) - 1);
            for (register, values) in (0u16..).zip(registers) {
                for (lane, value) in values.iter().enumerate() {
                    wave.set_lane(register, lane, *value);
                }
            }
        });
        Some(result.map(|(wave, _)| wave))
    }

    /// Register `first` and its successors of each lane after an instruction.
    fn run<const N: usize>(
        &self,
        asm: &str,
        sampler: [u32; 4],
        registers: &[&[u32]],
        first: u16,
    ) -> Option<Vec<[u32; N]>> {
        let wave = match self.try_run(asm, sampler, registers)? {
            Ok(wave) => wave,
            Err(stopped) => panic!("{:?} in {asm}", stopped.0),
        };
        let lanes = 0..registers[0].len();
        Some(
            lanes
                .map(|lane| {
                    let mut register = first..;
                    [0; N].map(|_: u32| wave.lane(register.next().unwrap_or(0), lane))
                })
                .collect(),
        )
    }

    fn texel(&self, x: u32, y: u32) -> u32 {
        let at = self.base + u64::from(4 * (y * self.picture.pitch + x));
        self.gpu.memory.read32(at, 1)[0]
    }
}

fn floats<const N: usize>(values: [f32; N]) -> [u32; N] {
    values.map(f32::to_bits)
}

/// Modifiers: the dimension where instructions name it, texel coordinates, others.
fn mods(target: Target, dim: &str, others: &str) -> String {
    if target.is_gfx9() {
        let array = if dim.ends_with("ARRAY") { " da" } else { "" };
        format!(" unorm{others}{array}")
    } else {
        format!(" dim:SQ_RSRC_IMG_{dim} unorm{others}")
    }
}

const TARGETS: [Target; 3] = [Target::Gfx906, Target::Gfx90a, Target::Gfx1030];

#[test]
fn loads_convert_and_zero_outside() {
    for target in TARGETS {
        let bench = Bench::new(target, RGBA8, |x, y| 0xff00_0000 | y << 8 | x);
        let asm = format!(
            "image_load v[4:7], v[0:1], s[0:7] dmask:0xf{}",
            mods(target, "2D", "")
        );
        let x: &[u32] = &[0, 3, 4, 0, u32::MAX];
        let y: &[u32] = &[0, 2, 0, 3, 0];
        let Some(lanes) = bench.run::<4>(&asm, [0; 4], &[x, y], 4) else {
            return;
        };
        assert_eq!(lanes[0], floats([0.0, 0.0, 0.0, 1.0]));
        assert_eq!(lanes[1], floats([3.0 / 255.0, 2.0 / 255.0, 0.0, 1.0]));
        assert_eq!(lanes[2..], [[0; 4]; 3], "{target:?}");
    }
}

#[test]
fn dmask_packs_components_and_the_status_follows() {
    let bench = Bench::new(Target::Gfx1030, RGBA8, |x, _| 0x1122_3300 | x);
    let load = "image_load v[4:6], [v9, v0], s[0:7] dmask:0xa dim:SQ_RSRC_IMG_2D tfe";
    let lanes: &[u32] = &[1];
    let unset: &[u32] = &[77];
    let registers = [
        lanes,
        unset,
        unset,
        unset,
        unset,
        unset,
        unset,
        unset,
        unset,
        &[2],
    ];
    let Some(loaded) = bench.run::<3>(load, [0; 4], &registers, 4) else {
        return;
    };
    // Green and alpha of the texel at (2, 1).
    let expected = [(51f32 / 255.0).to_bits(), (17f32 / 255.0).to_bits(), 0];
    assert_eq!(loaded[0], expected);
}

#[test]
fn sixteen_bit_addresses_and_data() {
    let bench = Bench::new(Target::Gfx1030, RGBA8, |x, y| 0xff_0000 | y << 8 | x);
    let asm = "image_load v[4:5], v0, s[0:7] dmask:0xf dim:SQ_RSRC_IMG_2D a16 d16";
    let Some(loaded) = bench.run::<2>(asm, [0; 4], &[&[2 << 16 | 3]], 4) else {
        return;
    };
    let half = |value: f32| u32::from(half::f16::from_f32(value).to_bits());
    let expected = [half(3.0 / 255.0) | half(2.0 / 255.0) << 16, half(1.0)];
    assert_eq!(loaded[0], expected);
}

#[test]
fn stores_convert_swap_and_drop() {
    // Blue first in memory.
    let picture = Picture {
        select: 6 | 5 << 3 | 4 << 6 | 7 << 9,
        ..RGBA8
    };
    for target in TARGETS {
        let bench = Bench::new(target, picture, |_, _| 0x5555_5555);
        let asm = format!(
            "image_store v[2:5], v[0:1], s[0:7] dmask:0xf{}",
            mods(target, "2D", "")
        );
        let [one, half, zero] = [1f32, 0.5, 0.0].map(|v| [v.to_bits(); 2]);
        let registers: [&[u32]; 6] = [&[1, 4], &[2, 0], &one, &half, &zero, &one];
        if bench.run::<1>(&asm, [0; 4], &registers, 0).is_none() {
            return;
        }
        assert_eq!(bench.texel(1, 2), 0xffff_8000, "{target:?}");
        assert_eq!(bench.texel(0, 0), 0x5555_5555);
        // The texel behind the last one of row 0 belongs to nothing.
        assert_eq!(bench.texel(4, 0), 0);
    }
}

#[test]
fn atomics_change_one_texel() {
    for target in TARGETS {
        let bench = Bench::new(target, R32UI, |x, y| 100 * y + x);
        let mods = mods(target, "2D", " glc");
        let add = format!("image_atomic_add v2, v[0:1], s[0:7] dmask:0x1 {mods}");
        // Lanes 0 and 1 hit the same texel, lane 2 none.
        let registers: [&[u32]; 3] = [&[3, 3, 9], &[1, 1, 0], &[5, 6, 7]];
        let Some(old) = bench.run::<1>(&add, [0; 4], &registers, 2) else {
            return;
        };
        assert_eq!(old, [[103], [108], [0]], "{target:?}");
        assert_eq!(bench.texel(3, 1), 114);
        let swap = format!("image_atomic_cmpswap v[2:3], v[0:1], s[0:7] dmask:0x3 {mods}");
        let registers: [&[u32]; 4] = [&[3, 0], &[1, 0], &[1, 2], &[114, 9]];
        let old = bench.run::<1>(&swap, [0; 4], &registers, 2);
        assert_eq!(old, Some(vec![[114], [0]]));
        assert_eq!((bench.texel(3, 1), bench.texel(0, 0)), (1, 0));
    }
}

#[test]
fn wide_atomics_take_two_registers() {
    let picture = Picture {
        format: 62,
        pitch: 32,
        width: 2,
        ..RGBA8
    };
    let bench = Bench::new(Target::Gfx1030, picture, |_, _| 0);
    let asm = "image_atomic_add v[2:3], v[0:1], s[0:7] dmask:0x3 dim:SQ_RSRC_IMG_2D";
    let registers: [&[u32]; 4] = [&[1, 1], &[0, 0], &[u32::MAX, 1], &[0, 0]];
    if bench.run::<1>(asm, [0; 4], &registers, 0).is_some() {
        assert_eq!(bench.gpu.memory.read32(bench.base + 8, 2), [0, 1]);
    }
}

#[test]
fn sizes() {
    let picture = Picture {
        kind: 13,
        depth: 5,
        ..RGBA8
    };
    for target in TARGETS {
        let bench = Bench::new(target, picture, |_, _| 0);
        let asm = format!(
            "image_get_resinfo v[4:7], v0, s[0:7] dmask:0xf{}",
            mods(target, "2D_ARRAY", "")
        );
        let Some(lanes) = bench.run::<4>(&asm, [0; 4], &[&[0, 1]], 4) else {
            return;
        };
        assert_eq!(lanes, [[4, 3, 5, 1], [0, 0, 0, 1]], "{target:?}");
    }
}

#[test]
fn slices_follow_each_other() {
    let picture = Picture {
        kind: 13,
        depth: 4,
        ..R32UI
    };
    for target in TARGETS {
        // Rows of all slices are numbered on.
        let bench = Bench::new(target, picture, |x, y| 100 * y + x);
        let asm = format!(
            "image_load v4, v[0:2], s[0:7] dmask:0x1{}",
            mods(target, "2D_ARRAY", "")
        );
        let registers: [&[u32]; 3] = [&[1, 1], &[2, 2], &[3, 4]];
        let Some(lanes) = bench.run::<1>(&asm, [0; 4], &registers, 4) else {
            return;
        };
        // Slice 3 starts at row 9; slice 4 does not exist.
        assert_eq!(lanes, [[1101], [0]], "{target:?}");
    }
}

/// Nearest texels of a row of four under each clamp mode.
#[test]
fn nearest_filter_wraps_as_told() {
    let u = floats([0.0, 0.3, 0.999, 1.0, 1.3, -0.1, -0.3, 2.6]);
    let rows = [
        (WRAP, [10.0, 11.0, 13.0, 10.0, 11.0, 13.0, 12.0, 12.0]),
        (MIRROR, [10.0, 11.0, 13.0, 13.0, 12.0, 10.0, 11.0, 12.0]),
        (EDGE, [10.0, 11.0, 13.0, 13.0, 13.0, 10.0, 10.0, 13.0]),
        (BORDER, [10.0, 11.0, 13.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
        (3, [10.0, 11.0, 13.0, 13.0, 13.0, 10.0, 11.0, 13.0]),
        (7, [10.0, 11.0, 13.0, 0.0, 0.0, 10.0, 11.0, 0.0]),
    ];
    for target in [Target::Gfx906, Target::Gfx1030] {
        let bench = Bench::new(target, R32F, |x, _| (10.0 + x as f32).to_bits());
        let asm = format!(
            "image_sample_lz v4, v[0:1], s[0:7], s[8:11] dmask:0x1{}",
            if target.is_gfx9() {
                ""
            } else {
                " dim:SQ_RSRC_IMG_2D"
            }
        );
        for (clamp, expected) in rows {
            let registers: [&[u32]; 2] = [&u, &[0; 8]];
            let Some(lanes) = bench.run::<1>(&asm, sampler(clamp, false, false), &registers, 4)
            else {
                return;
            };
            let values: Vec<f32> = lanes.iter().map(|[v]| f32::from_bits(*v)).collect();
            assert_eq!(values, expected, "{target:?} clamp {clamp}");
        }
    }
}

#[test]
fn linear_filter_weighs_four_texels() {
    let bench = Bench::new(Target::Gfx1030, R32F, |x, y| {
        (1000.0 * y as f32 + 100.0 * x as f32).to_bits()
    });
    let asm = "image_sample_lz v4, v[0:1], s[0:7], s[8:11] dmask:0x1 dim:SQ_RSRC_IMG_2D";
    // In texels: a centre, a quarter to the right of it, the middle of four, left of the image.
    let x = floats([1.5, 1.75, 2.0, 0.0]);
    let y = floats([0.5, 0.5, 1.0, 0.5]);
    let registers: [&[u32]; 2] = [&x, &y];
    let Some(lanes) = bench.run::<1>(asm, sampler(EDGE, true, true), &registers, 4) else {
        return;
    };
    let expected = [100.0, 125.0, 650.0, 0.0].map(|v: f32| [v.to_bits()]);
    assert_eq!(lanes, expected);
    // With a black border half of the leftmost sample is border.
    let registers: [&[u32]; 2] = [&floats([0.0]), &floats([1.5])];
    let lanes = bench.run::<1>(asm, sampler(BORDER, true, true), &registers, 4);
    assert_eq!(lanes, Some(vec![[500f32.to_bits()]]));
}

#[test]
fn fractions_have_eight_bits() {
    let bench = Bench::new(Target::Gfx1030, R32F, |x, _| (256.0 * x as f32).to_bits());
    let asm = "image_sample_lz v4, v[0:1], s[0:7], s[8:11] dmask:0x1 dim:SQ_RSRC_IMG_2D";
    // Fractions of 1/512 and 3/512 are ties: they go to 0 and 2 steps of 256.
    let x = floats([0.5 + 1.0 / 512.0, 0.5 + 3.0 / 512.0, 0.5 + 1.1 / 512.0]);
    let registers: [&[u32]; 2] = [&x, &floats([0.5; 3])];
    let lanes = bench.run::<1>(asm, sampler(EDGE, true, true), &registers, 4);
    let Some(lanes) = lanes else { return };
    assert_eq!(lanes, [0.0, 2.0, 1.0].map(|v: f32| [v.to_bits()]));
}

#[test]
fn volumes_filter_in_z() {
    let picture = Picture {
        kind: 10,
        depth: 2,
        ..R32F
    };
    // The second slice starts at row 3.
    let bench = Bench::new(Target::Gfx1030, picture, |_, y| {
        if y < 3 { 0 } else { 8f32.to_bits() }
    });
    let asm = "image_sample_l v4, v[0:3], s[0:7], s[8:11] dmask:0x1 dim:SQ_RSRC_IMG_3D";
    let half = floats([0.5; 3]);
    let z = floats([0.25, 0.5, 0.625]);
    let registers: [&[u32]; 4] = [&half, &half, &z, &[0; 3]];
    let Some(lanes) = bench.run::<1>(asm, sampler(EDGE, true, false), &registers, 4) else {
        return;
    };
    assert_eq!(lanes, [0.0, 4.0, 6.0].map(|v: f32| [v.to_bits()]));
}

#[test]
fn array_coordinates_round_to_a_slice() {
    let picture = Picture {
        kind: 13,
        depth: 3,
        ..R32F
    };
    let bench = Bench::new(Target::Gfx1030, picture, |_, y| ((y / 3) as f32).to_bits());
    let asm = "image_sample_lz v4, v[0:2], s[0:7], s[8:11] dmask:0x1 dim:SQ_RSRC_IMG_2D_ARRAY";
    let slice = floats([0.4, 0.6, 1.5, 9.0, -1.0]);
    let half = floats([0.5; 5]);
    let registers: [&[u32]; 3] = [&half, &half, &slice];
    let Some(lanes) = bench.run::<1>(asm, sampler(EDGE, true, false), &registers, 4) else {
        return;
    };
    assert_eq!(lanes, [0.0, 1.0, 2.0, 2.0, 0.0].map(|v: f32| [v.to_bits()]));
}

#[test]
fn gather_goes_round_from_the_lower_left() {
    let bench = Bench::new(Target::Gfx1030, R32F, |x, y| {
        ((10 * y + x) as f32).to_bits()
    });
    let asm = "image_gather4_lz v[4:7], v[0:1], s[0:7], s[8:11] dmask:0x1 dim:SQ_RSRC_IMG_2D";
    let registers: [&[u32]; 2] = [&floats([2.0]), &floats([1.0])];
    let lanes = bench.run::<4>(asm, sampler(EDGE, false, true), &registers, 4);
    let Some(lanes) = lanes else { return };
    assert_eq!(lanes[0], floats([11.0, 12.0, 2.0, 1.0]));
    // An offset of (1, -1) in texels.
    let asm = "image_gather4_lz_o v[4:7], v[0:2], s[0:7], s[8:11] dmask:0x1 dim:SQ_RSRC_IMG_2D";
    let registers: [&[u32]; 3] = [&[0x3f01], &floats([2.0]), &floats([2.0])];
    let lanes = bench.run::<4>(asm, sampler(EDGE, false, true), &registers, 4);
    assert_eq!(lanes, Some(vec![floats([12.0, 13.0, 3.0, 2.0])]));
}

#[test]
fn comparisons_filter_their_results() {
    let bench = Bench::new(Target::Gfx1030, R32F, |x, _| (x as f32).to_bits());
    let asm = "image_sample_c_lz v4, v[0:2], s[0:7], s[8:11] dmask:0x1 dim:SQ_RSRC_IMG_2D";
    // Between texels 1 and 2, of which the reference 1.5 exceeds one.
    let registers: [&[u32]; 3] = [&floats([1.5, 0.0]), &floats([2.0; 2]), &floats([0.5; 2])];
    let mut state = sampler(EDGE, true, true);
    state[0] |= 4 << 12;
    let Some(lanes) = bench.run::<1>(asm, state, &registers, 4) else {
        return;
    };
    assert_eq!(lanes, [0.5, 0.0].map(|v: f32| [v.to_bits()]));
}

#[test]
fn derivatives_choose_the_filter() {
    let bench = Bench::new(Target::Gfx1030, R32F, |x, _| (x as f32).to_bits());
    let asm = "image_sample_d v8, v[0:5], s[0:7], s[8:11] dmask:0x1 dim:SQ_RSRC_IMG_2D";
    // Linear if magnified, nearest if minified.
    let mut state = sampler(EDGE, true, false);
    state[2] = 1 << 20;
    // Derivatives of half a texel and of two texels in x.
    let zero = floats([0.0; 2]);
    let registers: [&[u32]; 6] = [
        &floats([0.125, 0.5]),
        &zero,
        &zero,
        &zero,
        &floats([0.5; 2]),
        &floats([0.5; 2]),
    ];
    let Some(lanes) = bench.run::<1>(asm, state, &registers, 8) else {
        return;
    };
    assert_eq!(lanes, [1.5, 2.0].map(|v: f32| [v.to_bits()]));
}

#[test]
fn faults_name_lane_and_address() {
    let mut bench = Bench::new(Target::Gfx1030, R32UI, |_, _| 0);
    bench.base = bench.gpu.memory.allocate(0x1000, false, false);
    let asm = "image_store v2, v[0:1], s[0:7] dmask:0x1 dim:SQ_RSRC_IMG_2D";
    // Lane 0 stores nothing.
    let registers: [&[u32]; 3] = [&[4, 3], &[0, 1], &[1, 1]];
    let Some(Err(stopped)) = bench.try_run(asm, [0; 4], &registers) else {
        return;
    };
    let (Stop::MemoryFault(fault), at) = (&stopped.0, &stopped.1) else {
        panic!("{:?}", stopped.0);
    };
    assert_eq!(fault.gpu_va, bench.base + 256 + 12);
    assert_eq!(
        (fault.access, fault.reason),
        (Access::Write, FaultReason::ReadOnly)
    );
    assert_eq!(at.lane, 1);
}

#[test]
fn tiled_images_stop_by_name() {
    let picture = Picture {
        select: XYZW | 27 << 20,
        ..R32F
    };
    let bench = Bench::new(Target::Gfx1030, picture, |_, _| 0);
    let asm = "image_load v2, v[0:1], s[0:7] dmask:0x1 dim:SQ_RSRC_IMG_2D";
    let Some(Err(stopped)) = bench.try_run(asm, [0; 4], &[&[0], &[0]]) else {
        return;
    };
    let Stop::Unsupported { text } = &stopped.0 else {
        panic!("{:?}", stopped.0);
    };
    assert_eq!(
        text,
        "image_load: swizzle mode 64KB_R_X (only linear images)"
    );
}

#[test]
fn zero_descriptors_have_no_texels() {
    let bench = Bench::new(Target::Gfx1030, R32UI, |_, _| 7);
    let asm = "s_mov_b64 s[0:1], 0\ns_mov_b64 s[2:3], 0\ns_mov_b64 s[4:5], 0\n\
        image_load v[4:5], v[0:1], s[0:7] dmask:0x9 dim:SQ_RSRC_IMG_2D";
    let lanes = bench.run::<2>(asm, [0; 4], &[&[0], &[0], &[1], &[1], &[1], &[1]], 4);
    assert!(lanes.is_none_or(|lanes| lanes == [[0, 0]]));
}

/// Operations that compute code does not contain (docs/decode-exceptions.md says why).
fn is_refused(op: Op) -> bool {
    let name = op.name();
    name.contains("_pck")
        || name.contains("_bvh")
        || matches!(name, "image_msaa_load" | "image_gather4h" | "image_get_lod")
        // Not among the read-modify-write operations yet.
        || name == "image_atomic_pk_add_bf16"
}

#[test]
fn every_image_operation_runs_or_is_refused_on_purpose() {
    use amdgpu_isa::{Encoding, Inst, Operand};
    let env = crate::step::TranslateEnv {
        target: Target::Gfx1030,
        lanes: 32,
        level: HostLevel::Base,
        mode: 0,
    };
    // Any instruction will do as a start.
    let nop = [0, 0, 0x80, 0xbf];
    let start: Inst = amdgpu_isa::decode(Target::Gfx1030, &nop).unwrap_or_else(|e| panic!("{e}"));
    let mut count = 0;
    for &target in Target::ALL {
        for (_, _, op) in opcodes(target).filter(|(_, _, op)| op.name().starts_with("image_")) {
            let mut inst = start;
            inst.op = op;
            inst.encoding = Encoding::Mimg;
            inst.mods.format = if op.name().ends_with("cmpswap") { 3 } else { 1 };
            inst.dst = Operand::Vgpr(0);
            inst.src = [
                Operand::Vgpr(0),
                Operand::None,
                Operand::Scalar(0),
                Operand::Scalar(8),
            ];
            let runs = super::translate(&inst, 0, &env).is_some();
            assert_eq!(runs, !is_refused(op), "{op:?}");
            count += 1;
        }
    }
    assert!(count > 350);
}
