//! Compares and class tests.

#![expect(
    clippy::cast_possible_truncation,
    reason = "lane values narrower than 64 bits sit in the low bits"
)]

use amdgpu_isa::{Inst, Op, Target};

use super::kernel::{Compare, Entry};
use super::plan::{Ty, flag};
use crate::float::class;
use crate::float::half::f16_to_f32;
use crate::step::TranslateEnv;

macro_rules! compare {
    ($env:expr, $ctor:ident, $wide:literal, $ty:ident, $read:expr, |$a:ident, $b:ident| $body:expr) => {{
        struct C;
        impl Compare for C {
            #[inline(always)]
            fn test(a: u64, b: u64) -> bool {
                let ($a, $b) = ($read(a), $read(b));
                $body
            }
        }
        Some(compare!(@ $ctor, $env, $wide, $ty))
    }};
    (@ hot, $env:expr, $wide:literal, $ty:ident) => {
        Entry::compare::<C, $wide>($env.level, Ty::$ty)
    };
    (@ rare, $env:expr, $wide:literal, $ty:ident) => {
        Entry::rare_compare::<C, $wide>($env.level, [Ty::$ty, Ty::$ty])
    };
}

/// Conditions of an integer type, by the mnemonic's condition.
macro_rules! integers {
    ($name:ident, $ctor:ident, $wide:literal, $ty:ident, $read:expr) => {
        fn $name(condition: &str, env: &TranslateEnv) -> Option<Entry> {
            match condition {
                "F" => compare!(env, rare, $wide, $ty, $read, |_a, _b| false),
                "LT" => compare!(env, $ctor, $wide, $ty, $read, |a, b| a < b),
                "EQ" => compare!(env, $ctor, $wide, $ty, $read, |a, b| a == b),
                "LE" => compare!(env, $ctor, $wide, $ty, $read, |a, b| a <= b),
                "GT" => compare!(env, $ctor, $wide, $ty, $read, |a, b| a > b),
                "NE" => compare!(env, $ctor, $wide, $ty, $read, |a, b| a != b),
                "GE" => compare!(env, $ctor, $wide, $ty, $read, |a, b| a >= b),
                "T" => compare!(env, rare, $wide, $ty, $read, |_a, _b| true),
                _ => None,
            }
        }
    };
}

/// Conditions of a float type.
macro_rules! floats {
    ($name:ident, $ctor:ident, $wide:literal, $ty:ident, $read:expr) => {
        #[expect(
            clippy::neg_cmp_op_on_partial_ord,
            reason = "the negated conditions are true for NaN"
        )]
        fn $name(condition: &str, env: &TranslateEnv) -> Option<Entry> {
            match condition {
                "F" => compare!(env, rare, $wide, $ty, $read, |_a, _b| false),
                "LT" => compare!(env, $ctor, $wide, $ty, $read, |a, b| a < b),
                "EQ" => compare!(env, $ctor, $wide, $ty, $read, |a, b| a == b),
                "LE" => compare!(env, $ctor, $wide, $ty, $read, |a, b| a <= b),
                "GT" => compare!(env, $ctor, $wide, $ty, $read, |a, b| a > b),
                "LG" => compare!(env, $ctor, $wide, $ty, $read, |a, b| a < b || a > b),
                "GE" => compare!(env, $ctor, $wide, $ty, $read, |a, b| a >= b),
                "O" => compare!(env, $ctor, $wide, $ty, $read, |a, b| a == a && b == b),
                "U" => compare!(env, $ctor, $wide, $ty, $read, |a, b| a != a || b != b),
                "NGE" => compare!(env, $ctor, $wide, $ty, $read, |a, b| !(a >= b)),
                "NLG" => compare!(env, $ctor, $wide, $ty, $read, |a, b| !(a < b || a > b)),
                "NGT" => compare!(env, $ctor, $wide, $ty, $read, |a, b| !(a > b)),
                "NLE" => compare!(env, $ctor, $wide, $ty, $read, |a, b| !(a <= b)),
                "NEQ" => compare!(env, $ctor, $wide, $ty, $read, |a, b| a != b),
                "NLT" => compare!(env, $ctor, $wide, $ty, $read, |a, b| !(a < b)),
                "TRU" => compare!(env, rare, $wide, $ty, $read, |_a, _b| true),
                _ => None,
            }
        }
    };
}

integers!(compare_u32, hot, false, B32, |v: u64| v as u32);
integers!(compare_i32, hot, false, B32, |v: u64| v as i32);
integers!(compare_u16, rare, false, B16, |v: u64| v as u16);
integers!(compare_i16, rare, false, B16, |v: u64| v as i16);
integers!(compare_u64, hot, true, B64, |v: u64| v);
integers!(compare_i64, hot, true, I64, |v: u64| v.cast_signed());
floats!(compare_f32, hot, false, F32, |v: u64| f32::from_bits(
    v as u32
));
floats!(compare_f64, hot, true, F64, |v: u64| f64::from_bits(v));
floats!(compare_f16, rare, false, F16, |v: u64| f16_to_f32(v as u16));

struct Class16;

impl Compare for Class16 {
    #[inline(always)]
    fn test(a: u64, b: u64) -> bool {
        class::f16(a as u16) & b as u32 != 0
    }
}

struct Class32;

impl Compare for Class32 {
    #[inline(always)]
    fn test(a: u64, b: u64) -> bool {
        class::f32(a as u32) & b as u32 != 0
    }
}

struct Class64;

impl Compare for Class64 {
    #[inline(always)]
    fn test(a: u64, b: u64) -> bool {
        class::f64(a) & b as u32 != 0
    }
}

/// Table entry of a compare. CMPX writes EXEC; on gfx9 also the mask operand.
pub(super) fn entry(inst: &Inst, env: &TranslateEnv) -> Option<Entry> {
    let name = inst.op.name();
    let (exec, rest) = match strip(name, "v_cmpx_") {
        Some(rest) => (true, rest),
        None => (false, strip(name, "v_cmp_")?),
    };
    let (condition, ty) = rest.rsplit_once('_')?;
    let mut entry = by_name(
        &condition.to_ascii_uppercase(),
        &ty.to_ascii_uppercase(),
        env,
    )?;
    if exec {
        entry.flags |= flag::EXEC_OUT;
    }
    if !exec || env.target == Target::Gfx90a {
        entry.flags |= flag::MASK_OUT;
    }
    Some(entry)
}

fn strip<'a>(name: &'a str, prefix: &str) -> Option<&'a str> {
    let head = name.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix)
        .then(|| &name[prefix.len()..])
}

fn by_name(condition: &str, ty: &str, env: &TranslateEnv) -> Option<Entry> {
    if condition == "CLASS" {
        return class_entry(ty, env);
    }
    match ty {
        "U32" => compare_u32(condition, env),
        "I32" => compare_i32(condition, env),
        "U16" => compare_u16(condition, env),
        "I16" => compare_i16(condition, env),
        "U64" => compare_u64(condition, env),
        "I64" => compare_i64(condition, env),
        "F32" => compare_f32(condition, env),
        "F64" => compare_f64(condition, env),
        "F16" => compare_f16(condition, env),
        _ => None,
    }
}

fn class_entry(ty: &str, env: &TranslateEnv) -> Option<Entry> {
    Some(match ty {
        "F16" => Entry::rare_compare::<Class16, false>(env.level, [Ty::F16, Ty::B16]),
        "F32" => Entry::rare_compare::<Class32, false>(env.level, [Ty::F32, Ty::B32]),
        "F64" => Entry::rare_compare::<Class64, true>(env.level, [Ty::F64, Ty::B32]),
        _ => return None,
    })
}

/// The operation's name is a compare.
pub(super) fn is_compare(op: Op) -> bool {
    strip(op.name(), "v_cmp").is_some()
}
