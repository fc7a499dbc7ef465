//! Kernels compiled by hipcc, end to end.

use std::path::Path;
use std::process::Command;

use amdgpu_exec::testing::{TestGpu, TestKernel};
use amdgpu_exec::{Config, Outcome};
use amdgpu_isa::Target::{self, Gfx90a, Gfx1030};
use object::{Object, ObjectSegment, ObjectSymbol};

/// A code object in a GPU's memory.
struct Program {
    gpu: TestGpu,
    base: u64,
    elf: Vec<u8>,
}

/// Compiles HIP source; `None` (with a printed reason) without hipcc.
fn compile(target: Target, source: &str) -> Option<Vec<u8>> {
    let directory = tempfile::tempdir().unwrap();
    let (input, output) = (
        directory.path().join("k.hip"),
        directory.path().join("k.hsaco"),
    );
    std::fs::write(&input, format!("#include <hip/hip_runtime.h>\n{source}")).unwrap();
    if !Path::new("/usr/bin/hipcc").exists() {
        eprintln!("skipped: hipcc is not installed");
        return None;
    }
    let arch = target.name();
    let run = Command::new("hipcc")
        .env("TMPDIR", directory.path())
        .args(["--genco", "-O2", &format!("--offload-arch={arch}"), "-o"])
        .args([&output, &input])
        .output()
        .unwrap();
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    Some(unbundle(&std::fs::read(output).unwrap(), arch))
}

/// The entry of clang's offload bundle for an architecture: magic, count, then offset, size and
/// id of each entry.
fn unbundle(bundle: &[u8], arch: &str) -> Vec<u8> {
    let number = |at: usize| {
        usize::try_from(u64::from_le_bytes(bundle[at..at + 8].try_into().unwrap())).unwrap()
    };
    let mut at = 32;
    for _ in 0..number(24) {
        let (offset, size, id) = (number(at), number(at + 8), number(at + 16));
        let name = std::str::from_utf8(&bundle[at + 24..at + 24 + id]).unwrap();
        if name.contains(arch) {
            return bundle[offset..offset + size].to_vec();
        }
        at += 24 + id;
    }
    panic!("no entry for {arch}");
}

impl Program {
    fn load(target: Target, config: Config, source: &str) -> Option<Self> {
        let elf = compile(target, source)?;
        let gpu = TestGpu::with_config(target, config);
        let file = object::File::parse(&*elf).unwrap();
        let end = file
            .segments()
            .map(|s| s.address() + s.size())
            .max()
            .unwrap();
        let base = gpu.memory.allocate(end, true, true);
        for segment in file.segments() {
            gpu.memory
                .write(base + segment.address(), segment.data().unwrap());
        }
        Some(Self { gpu, base, elf })
    }

    /// Runs a kernel with its explicit arguments, each aligned to its own size.
    fn run(&self, kernel: &str, grid: [u32; 3], workgroup: [u16; 3], arguments: &[Argument]) {
        let file = object::File::parse(&*self.elf).unwrap();
        let name = format!("{kernel}.kd");
        let symbol = file
            .dynamic_symbols()
            .find(|s| s.name() == Ok(&name))
            .unwrap();
        let mut bytes = Vec::new();
        for argument in arguments {
            let (value, size) = argument.parts();
            bytes.resize(bytes.len().next_multiple_of(size), 0);
            bytes.extend(&value.to_le_bytes()[..size]);
        }
        let kernarg = self
            .gpu
            .memory
            .allocate(bytes.len() as u64 + 256, false, false);
        self.gpu.memory.write(kernarg, &bytes);
        let packet = self.gpu.memory.allocate(64, false, false);
        let mut words = [0u32; 16];
        words[1] = u32::from(workgroup[0]) | u32::from(workgroup[1]) << 16;
        words[2] = u32::from(workgroup[2]);
        (words[3], words[4], words[5]) = (grid[0], grid[1], grid[2]);
        // Setup, then workgroup sizes at byte 4.
        self.gpu.memory.write32(packet, &words);
        let mut dispatch = self.gpu.dispatch(self.base + symbol.address(), 1, 1);
        dispatch.grid = grid;
        dispatch.workgroup = workgroup;
        dispatch.kernarg_va = kernarg;
        dispatch.packet_va = packet;
        dispatch.group_segment_bytes =
            u32::from_le_bytes(dispatch.descriptor[..4].try_into().unwrap());
        dispatch.private_segment_bytes =
            u32::from_le_bytes(dispatch.descriptor[4..8].try_into().unwrap()).max(1024);
        match self.gpu.run(&dispatch) {
            Outcome::Complete(_) => {}
            stopped => panic!("{kernel}: {stopped:?}"),
        }
    }
}

enum Argument {
    Pointer(u64),
    Int(i32),
}

impl Argument {
    fn parts(&self) -> (u64, usize) {
        match self {
            Self::Pointer(value) => (*value, 8),
            Self::Int(value) => (u64::from(value.cast_unsigned()), 4),
        }
    }
}

use Argument::{Int, Pointer};

const SOURCE: &str = r#"
extern "C" __global__ void vadd(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
extern "C" __global__ void reduce(const int* in, int* out) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  __syncthreads();
  for (int d = 128; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) atomicAdd(out, s[0]);
}
__device__ __attribute__((noinline)) int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
extern "C" __global__ void recurse(int* out) {
  int i = threadIdx.x;
  out[i] = fib(i % 12);
}
extern "C" __global__ void divide(const long* a, const long* b, long* q, long* r) {
  int i = threadIdx.x;
  q[i] = a[i] / b[i];
  r[i] = a[i] % b[i];
}
extern "C" __global__ void shuffle(int* out) {
  int v = threadIdx.x * 3;
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor(v, d, 32);
  out[threadIdx.x] = v;
}
"#;

fn program(target: Target) -> Option<Program> {
    Program::load(
        target,
        Config {
            threads: 2,
            seed: 0,
        },
        SOURCE,
    )
}

#[test]
fn vector_add_and_lds_reduction() {
    for target in [Gfx90a, Gfx1030] {
        let Some(program) = program(target) else {
            return;
        };
        let memory = &program.gpu.memory;
        let n = 5000u16;
        let [a, b, c] = [0; 3].map(|_: i32| memory.allocate(4 * 5120, true, false));
        let first: Vec<u32> = (0..n).map(|i| f32::from(i).to_bits()).collect();
        let second: Vec<u32> = (0..n).map(|i| (0.5 * f32::from(i)).to_bits()).collect();
        memory.write32(a, &first);
        memory.write32(b, &second);
        let arguments = [Pointer(a), Pointer(b), Pointer(c), Int(i32::from(n))];
        program.run("vadd", [5120, 1, 1], [256, 1, 1], &arguments);
        let sums = memory.read32(c, 5120);
        for (i, &sum) in (0..5120u16).zip(&sums) {
            let expected = if i < n { 1.5 * f32::from(i) } else { 0.0 };
            assert_eq!(f32::from_bits(sum), expected);
        }
        let input: Vec<u32> = (0..2560).collect();
        memory.write32(a, &input);
        memory.write32(c, &[0]);
        program.run(
            "reduce",
            [2560, 1, 1],
            [256, 1, 1],
            &[Pointer(a), Pointer(c)],
        );
        assert_eq!(memory.read32(c, 1), [2560 * 2559 / 2]);
    }
}

#[test]
fn recursion_uses_private_memory() {
    let fib = [0u32, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89];
    for target in [Gfx90a, Gfx1030] {
        let Some(program) = program(target) else {
            return;
        };
        let out = program.gpu.memory.allocate(1024, true, false);
        program.run("recurse", [128, 1, 1], [128, 1, 1], &[Pointer(out)]);
        let values = program.gpu.memory.read32(out, 128);
        for (i, &value) in values.iter().enumerate() {
            assert_eq!(value, fib[i % 12]);
        }
    }
}

#[test]
fn signed_division_of_64_bits() {
    for target in [Gfx90a, Gfx1030] {
        let Some(program) = program(target) else {
            return;
        };
        let memory = &program.gpu.memory;
        let a: Vec<i64> = (0..64).map(|i| (i - 30) * 0x1234_5678_9abc + i).collect();
        let b: Vec<i64> = (0..64)
            .map(|i| if i % 2 == 0 { i + 1 } else { -(i << 33) })
            .collect();
        let bytes = |values: &[i64]| {
            values
                .iter()
                .flat_map(|v| v.to_le_bytes())
                .collect::<Vec<_>>()
        };
        let [pa, pb, pq, pr] = [0; 4].map(|_: i32| memory.allocate(512, true, false));
        memory.write(pa, &bytes(&a));
        memory.write(pb, &bytes(&b));
        let arguments = [pa, pb, pq, pr].map(Pointer);
        program.run("divide", [64, 1, 1], [64, 1, 1], &arguments);
        let quotients: Vec<i64> = a.iter().zip(&b).map(|(a, b)| a / b).collect();
        let remainders: Vec<i64> = a.iter().zip(&b).map(|(a, b)| a % b).collect();
        assert_eq!(memory.read(pq, 512), bytes(&quotients));
        assert_eq!(memory.read(pr, 512), bytes(&remainders));
    }
}

#[test]
fn shuffles_sum_across_lanes() {
    for target in [Gfx90a, Gfx1030] {
        let Some(program) = program(target) else {
            return;
        };
        let out = program.gpu.memory.allocate(1024, true, false);
        program.run("shuffle", [64, 1, 1], [64, 1, 1], &[Pointer(out)]);
        let values = program.gpu.memory.read32(out, 64);
        let sum = |from: u32| (from..from + 32).map(|i| 3 * i).sum::<u32>();
        for (lane, &value) in (0u32..64).zip(&values) {
            assert_eq!(value, sum(lane / 32 * 32), "lane {lane}");
        }
    }
}

/// The descriptor builder of the snippets agrees with the compiler's layout.
#[test]
fn the_test_descriptor_parses_as_meant() {
    let bytes = TestKernel::new(Vec::new()).descriptor(Gfx90a);
    let descriptor = amdgpu_abi::descriptor::KernelDescriptor::parse(&bytes);
    assert_eq!(descriptor.kernel_code_entry_byte_offset, 256);
    assert_eq!(descriptor.compute_pgm_rsrc1 & 0x3f, 7);
}
