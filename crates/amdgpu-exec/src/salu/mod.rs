//! Scalar ALU and program control.

mod hwreg;
mod message;
pub(crate) mod operand;
mod sop1;
mod sop2;
mod sopc;
mod sopk;
mod sopp;

use amdgpu_isa::{Encoding, Inst};

use crate::step::{Step, TranslateEnv};

use hwreg::write_mode;
pub(crate) use sopp::{ends_block, is_dropped, nothing};

/// Translates a scalar ALU or control instruction; `None` if there is no code for it.
pub(crate) fn translate(inst: &Inst, pc: u64, env: &TranslateEnv) -> Option<Step> {
    match inst.encoding {
        Encoding::Sop1 => sop1::translate(inst, pc, env),
        Encoding::Sop2 => sop2::translate(inst, pc, env),
        Encoding::Sopk => sopk::translate(inst, pc, env),
        Encoding::Sopc => sopc::translate(inst, pc, env),
        Encoding::Sopp => sopp::translate(inst, pc, env),
        _ => None,
    }
}

/// Defines a step with two scalar sources read as `$read`; the body yields the value that `$write`
/// stores. All four register/constant combinations are compiled.
macro_rules! binary {
    ($inst:ident, $pc:ident, $env:ident, $bits:literal, $read:ident, $write:ident, |$wave:ident, $a:ident, $b:ident| $body:expr) => {{
        fn run<const A: bool, const B: bool>(
            $wave: &mut $crate::wave::Wave,
            _: &mut $crate::context::Context<'_>,
            step: &$crate::step::Step,
        ) -> $crate::step::Flow {
            let $a = operand::$read::<A>($wave, step, 0);
            let $b = operand::$read::<B>($wave, step, 1);
            let value = $body;
            operand::$write($wave, step, value);
            $crate::step::Flow::Next
        }
        let mut step = $crate::step::Step::new(run::<false, false>, $inst, $pc);
        step.dst = u16::from(operand::destination($inst.dst, $env.target)?);
        let a = operand::place(&mut step, 0, operand::source($inst, 0, $bits, $env)?);
        let b = operand::place(&mut step, 1, operand::source($inst, 1, $bits, $env)?);
        step.run = match (a, b) {
            (false, false) => run::<false, false>,
            (false, true) => run::<false, true>,
            (true, false) => run::<true, false>,
            (true, true) => run::<true, true>,
        };
        Some(step)
    }};
}

/// Like `binary` with one source.
macro_rules! unary {
    ($inst:ident, $pc:ident, $env:ident, $bits:literal, $read:ident, $write:ident, |$wave:ident, $step:ident, $a:ident| $body:expr) => {{
        fn run<const A: bool>(
            $wave: &mut $crate::wave::Wave,
            _: &mut $crate::context::Context<'_>,
            $step: &$crate::step::Step,
        ) -> $crate::step::Flow {
            let $a = operand::$read::<A>($wave, $step, 0);
            let value = $body;
            operand::$write($wave, $step, value);
            $crate::step::Flow::Next
        }
        let mut step = $crate::step::Step::new(run::<false>, $inst, $pc);
        step.dst = u16::from(operand::destination($inst.dst, $env.target)?);
        if operand::place(&mut step, 0, operand::source($inst, 0, $bits, $env)?) {
            step.run = run::<true>;
        }
        Some(step)
    }};
}

pub(crate) use {binary, unary};
