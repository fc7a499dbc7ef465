//! Table entries from lane expressions.

/// A 32-bit operation: `op32!(env, constructor, [source types] => type, |a, b, c| value)`.
macro_rules! op32 {
    ($env:expr, $ctor:ident, [$($ty:ident),*] => $dst:ident, |$a:pat_param, $b:pat_param, $c:pat_param| $body:expr) => {{
        struct L;
        impl $crate::valu::kernel::Lane32 for L {
            #[inline(always)]
            fn lane($a: u32, $b: u32, $c: u32) -> u32 {
                $body
            }
        }
        $crate::valu::kernel::Entry::$ctor::<L>(
            $env.level,
            &[$($crate::valu::plan::Ty::$ty),*],
            $crate::valu::plan::Ty::$dst,
        )
    }};
}

/// An operation with 64-bit operands.
macro_rules! op64 {
    ($env:expr, [$($ty:ident),*] => $dst:ident, |$a:pat_param, $b:pat_param, $c:pat_param| $body:expr) => {{
        struct L;
        impl $crate::valu::kernel::Lane64 for L {
            #[inline(always)]
            fn lane($a: u64, $b: u64, $c: u64) -> u64 {
                $body
            }
        }
        $crate::valu::kernel::Entry::lane64::<L>(
            $env.level,
            &[$($crate::valu::plan::Ty::$ty),*],
            $crate::valu::plan::Ty::$dst,
        )
    }};
}

/// The same, compiled for the base level only.
macro_rules! rare64 {
    ($env:expr, [$($ty:ident),*] => $dst:ident, |$a:pat_param, $b:pat_param, $c:pat_param| $body:expr) => {{
        struct L;
        impl $crate::valu::kernel::Lane64 for L {
            #[inline(always)]
            fn lane($a: u64, $b: u64, $c: u64) -> u64 {
                $body
            }
        }
        $crate::valu::kernel::Entry::rare64::<L>(
            $env.level,
            &[$($crate::valu::plan::Ty::$ty),*],
            $crate::valu::plan::Ty::$dst,
        )
    }};
}

/// A carry chain: `carry!(env, mask flags, type, |a, b, carry| (value, carry))`.
macro_rules! carry {
    ($env:expr, $flags:expr, $ty:ident, |$a:pat_param, $b:pat_param, $c:pat_param| $body:expr) => {{
        struct L;
        impl $crate::valu::kernel::Carry for L {
            #[inline(always)]
            fn lane($a: u32, $b: u32, $c: bool) -> (u32, bool) {
                $body
            }
        }
        $crate::valu::kernel::Entry::carry::<L>($env.level, $crate::valu::plan::Ty::$ty, $flags)
    }};
}

pub(super) use {carry, op32, op64, rare64};

/// An f32 operation: `f32op!(env, constructor, sources, |a, b, c| value)` on f32 values.
macro_rules! f32op {
    ($env:expr, $ctor:ident, [$($ty:ident),*], |$a:pat_param, $b:pat_param, $c:pat_param| $body:expr) => {{
        struct L;
        impl $crate::valu::kernel::Lane32 for L {
            const FLOAT: bool = true;
            #[inline(always)]
            fn lane(a: u32, b: u32, c: u32) -> u32 {
                let ($a, $b, $c) = (f32::from_bits(a), f32::from_bits(b), f32::from_bits(c));
                f32::to_bits($body)
            }
        }
        $crate::valu::kernel::Entry::$ctor::<L>(
            $env.level,
            &[$($crate::valu::plan::Ty::$ty),*],
            $crate::valu::plan::Ty::F32,
        )
    }};
}

/// An f64 operation on f64 values.
macro_rules! f64op {
    ($env:expr, [$($ty:ident),*], |$a:pat_param, $b:pat_param, $c:pat_param| $body:expr) => {{
        struct L;
        impl $crate::valu::kernel::Lane64 for L {
            const FLOAT: bool = true;
            #[inline(always)]
            fn lane(a: u64, b: u64, c: u64) -> u64 {
                let ($a, $b, $c) = (f64::from_bits(a), f64::from_bits(b), f64::from_bits(c));
                f64::to_bits($body)
            }
        }
        $crate::valu::kernel::Entry::lane64::<L>(
            $env.level,
            &[$($crate::valu::plan::Ty::$ty),*],
            $crate::valu::plan::Ty::F64,
        )
    }};
}

/// Software floating point: `soft!(env, sources => result, |rounding, a, b, c| bits)`. The rounding
/// is f32's if the result is f32, else the one of f16 and f64.
macro_rules! soft {
    ($env:expr, [$($ty:ident),*] => $dst:ident, |$r:pat_param, $a:pat_param, $b:pat_param, $c:pat_param| $body:expr) => {{
        struct K;
        impl $crate::valu::pipeline::Kernel for K {
            fn run(rows: &$crate::valu::pipeline::Rows<'_>, out: &mut $crate::valu::pipeline::Out) {
                let $r = $crate::valu::soften::rounding(rows.mode, $crate::valu::plan::Ty::$dst);
                $crate::valu::soften::each_lane(rows, out, |$a, $b, $c| $body);
            }
        }
        $crate::valu::kernel::Entry::kernel::<K>(
            $env.level,
            &[$($crate::valu::plan::Ty::$ty),*],
            $crate::valu::plan::Ty::$dst,
        )
    }};
}

pub(super) use {f32op, f64op, soft};
