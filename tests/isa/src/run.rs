//! Runs cases on the engine and compares what they leave.

use amdgpu_exec::Outcome;
use amdgpu_exec::testing::{TestGpu, TestKernel};
use amdgpu_isa::Target;

use crate::case::{Case, Expected, Rule};
use crate::kernel;
use crate::state::{FIRST_SGPR, MEMORY, State};

/// Code bytes of a kernel at most.
const CODE_BYTES: usize = 1 << 16;
/// Mismatches that a failure lists.
const LISTED: usize = 3;

/// A virtual GPU with the buffers that a kernel needs.
pub(crate) struct Rig {
    gpu: TestGpu,
    before: u64,
    after: u64,
    memory: u64,
    arguments: u64,
    /// Kernel objects for waves of 32 and 64 lanes.
    objects: [u64; 2],
    prologue: Vec<u8>,
    epilogue: Vec<u8>,
}

impl Rig {
    /// Buffers, and the code around the snippets.
    pub(crate) fn new(target: Target, prologue: Vec<u8>, epilogue: Vec<u8>) -> Self {
        let gpu = TestGpu::new(target);
        let bytes = kernel::STATE_BYTES as u64;
        let [before, after, memory, arguments] = [bytes, bytes, MEMORY as u64 * 4, 64]
            .map(|bytes| gpu.memory.allocate(bytes, true, false));
        for (i, address) in [before, after, memory].into_iter().enumerate() {
            gpu.memory
                .write(arguments + 8 * i as u64, &address.to_le_bytes());
        }
        let objects = [32, 64].map(|lanes| gpu.load(&kernel_for(lanes)));
        Self {
            gpu,
            before,
            after,
            memory,
            arguments,
            objects,
            prologue,
            epilogue,
        }
    }

    /// Runs a case.
    ///
    /// # Errors
    /// What is not as expected.
    pub(crate) fn run(&self, case: &Case, code: &[u8]) -> Result<(), String> {
        let object = self.objects[usize::from(case.lanes == 64)];
        let code = [&self.prologue, code, &self.epilogue].concat();
        if code.len() > CODE_BYTES {
            return Err(format!("{} bytes of code are too many", code.len()));
        }
        let memory = &self.gpu.memory;
        memory.write(object + 256, &code);
        memory.write(self.before, &kernel::encode(&case.before));
        memory.write(self.after, &[0xcd; kernel::STATE_BYTES]);
        let mut contents = case.before.memory.clone();
        contents.resize(MEMORY, 0);
        memory.write32(self.memory, &contents);
        let lanes = case.lanes;
        let mut dispatch = self.gpu.dispatch(object, lanes.into(), lanes.into());
        dispatch.kernarg_va = self.arguments;
        let outcome = self.gpu.run(&dispatch);
        self.judge(case, &outcome)
    }

    fn judge(&self, case: &Case, outcome: &Outcome) -> Result<(), String> {
        match (&case.expected, outcome) {
            (Expected::State(wanted, rules), Outcome::Complete(_)) => {
                let memory = &self.gpu.memory;
                let mut got = kernel::decode(&memory.read32(self.after, kernel::STATE_BYTES / 4));
                got.memory = memory.read32(self.memory, MEMORY);
                compare(case, wanted, rules, &got)
            }
            (Expected::Stop(wanted), Outcome::Stopped { stop, .. })
                if wanted.matches(stop, self.memory) =>
            {
                Ok(())
            }
            (Expected::Stop(wanted), other) => Err(format!("{other:?} instead of {wanted:?}")),
            (_, stopped) => Err(format!("{stopped:?}")),
        }
    }
}

/// A kernel that asks for its argument pointer in `s[0:1]` and 128 VGPRs.
fn kernel_for(lanes: u8) -> TestKernel {
    const KERNARG_POINTER: u16 = 1 << 3;
    const WAVE32: u16 = 1 << 10;
    let mut kernel = TestKernel::new(vec![0; CODE_BYTES]);
    kernel.rsrc2 = 2 << 1;
    kernel.properties = KERNARG_POINTER | if lanes == 32 { WAVE32 } else { 0 };
    kernel.vgprs = 128;
    kernel
}

/// Collects what differs.
struct Differences(Vec<String>);

impl Differences {
    fn check(&mut self, what: impl FnOnce() -> String, wanted: u64, got: u64) {
        if wanted != got {
            let text = format!("{}: want {wanted:#x}, got {got:#x}", what());
            self.0.push(text);
        }
    }
}

fn compare(case: &Case, wanted: &State, rules: &[Rule], got: &State) -> Result<(), String> {
    let mut differences = Differences(Vec::new());
    compare_vectors(case, wanted, rules, got, &mut differences);
    for (i, (wanted, got)) in wanted.s.iter().zip(&got.s).enumerate() {
        let name = || format!("s{}", FIRST_SGPR + i);
        differences.check(name, (*wanted).into(), (*got).into());
    }
    let mask = u64::MAX >> (64 - case.lanes);
    for (name, wanted, got) in [
        ("vcc", wanted.vcc & mask, got.vcc & mask),
        ("exec", wanted.exec & mask, got.exec & mask),
        ("scc", wanted.scc.into(), got.scc.into()),
        ("m0", wanted.m0.into(), got.m0.into()),
        (
            "mode",
            (wanted.mode & 0xff).into(),
            (got.mode & 0xff).into(),
        ),
    ] {
        differences.check(|| name.into(), wanted, got);
    }
    for (i, got) in got.memory.iter().enumerate() {
        let wanted = wanted.memory.get(i).copied().unwrap_or(0);
        differences.check(|| format!("memory[{i}]"), wanted.into(), (*got).into());
    }
    let differences = differences.0;
    if differences.is_empty() {
        return Ok(());
    }
    let more = differences.len().saturating_sub(LISTED);
    let listed = &differences[..differences.len() - more];
    let more = if more > 0 {
        format!("; {more} more")
    } else {
        String::new()
    };
    Err(format!("{}{more}", listed.join("; ")))
}

fn compare_vectors(
    case: &Case,
    wanted: &State,
    rules: &[Rule],
    got: &State,
    differences: &mut Differences,
) {
    for lane in 0..usize::from(case.lanes) {
        for register in 0..wanted.v.len() {
            let (w, g) = (wanted.v[register][lane], got.v[register][lane]);
            if w == g || allowed(rules, register, lane, (w, g), got) {
                continue;
            }
            let inputs: Vec<_> = (0..6)
                .map(|r| format!("{:x}", case.before.v[r][lane]))
                .collect();
            let name = || format!("v{register} lane {lane} (v0.. = {})", inputs.join(" "));
            differences.check(name, w.into(), g.into());
        }
    }
}

/// True if rules that hold cover all bits that differ.
fn allowed(rules: &[Rule], register: usize, lane: usize, bits: (u32, u32), got: &State) -> bool {
    let mut differing = bits.0 ^ bits.1;
    for rule in rules.iter().filter(|rule| rule.lane == lane) {
        let registers = if rule.format.bits() == 64 { 2 } else { 1 };
        let covers = (rule.register..rule.register + registers).contains(&register);
        let value = match rule.format.bits() {
            64 => got.wide(rule.register, lane),
            32 => u64::from(got.v[rule.register][lane]),
            _ => u64::from(got.v[rule.register][lane] >> rule.shift & 0xffff),
        };
        if covers && rule.allowed.permits(rule.format, value) {
            differing &= if rule.format.bits() == 16 {
                !(0xffff << rule.shift)
            } else {
                0
            };
        }
    }
    differing == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Allowed, Cases};
    use crate::model::float::Format;

    /// A case of no instruction, which expects what `model` makes of the state.
    fn compared(model: impl FnOnce(&mut State, &mut Vec<Rule>)) -> Result<(), String> {
        let mut cases = Cases::new(Target::Gfx90a);
        cases.add("", "", State::new(), model);
        let case = &cases.list[0];
        let Expected::State(wanted, rules) = &case.expected else {
            return Err("no state".into());
        };
        let mut got = State::new();
        got.memory.resize(MEMORY, 0);
        compare(case, wanted, rules, &got)
    }

    #[test]
    fn every_part_of_the_state_is_compared() {
        assert_eq!(compared(|_, _| {}), Ok(()));
        assert!(compared(|state, _| state.v[31][63] ^= 1).is_err());
        assert!(compared(|state, _| state.s[15] ^= 1).is_err());
        assert!(compared(|state, _| state.vcc ^= 1 << 63).is_err());
        assert!(compared(|state, _| state.exec ^= 1).is_err());
        assert!(compared(|state, _| state.scc = true).is_err());
        assert!(compared(|state, _| state.m0 ^= 1).is_err());
        assert!(compared(|state, _| state.memory = vec![1]).is_err());
    }

    #[test]
    fn a_rule_allows_only_what_it_covers() {
        let rule = |allowed| Rule {
            register: 3,
            lane: 5,
            shift: 0,
            format: Format::F32,
            allowed,
        };
        let number = Format::F32.to_f64(u64::from(State::new().v[3][5]));
        let changed = |register: usize, allowed| {
            compared(move |state, rules| {
                state.v[register][5] ^= 1;
                rules.push(rule(allowed));
            })
        };
        assert_eq!(changed(3, Allowed::Between(number, number)), Ok(()));
        assert!(changed(4, Allowed::Between(number, number)).is_err());
        assert!(changed(3, Allowed::QuietNan).is_err());
    }
}
