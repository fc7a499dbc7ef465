//! Named values of immediate fields.

use crate::target::{Family, Target};

/// The counters of `s_waitcnt`; those at their maximum are left out unless all are.
pub(super) fn wait_counts(target: Target, value: u32) -> String {
    let split = value & 15 | value >> 10 & 0x30;
    let (memory, export, scalar, scalar_max) = match target.family() {
        Family::Gfx9 => (split, value >> 4 & 7, value >> 8 & 15, 15),
        Family::Gfx10 => (split, value >> 4 & 7, value >> 8 & 63, 63),
        _ => (value >> 10, value & 7, value >> 4 & 63, 63),
    };
    let counters = [
        ("vmcnt", memory, 63),
        ("expcnt", export, 7),
        ("lgkmcnt", scalar, scalar_max),
    ];
    let all = counters.iter().all(|&(_, count, max)| count == max);
    let shown: Vec<String> = counters
        .iter()
        .filter(|&&(_, count, max)| all || count != max)
        .map(|(name, count, _)| format!("{name}({count})"))
        .collect();
    shown.join(" ")
}

/// The fields of `s_waitcnt_depctr`, or the plain number if other bits are set.
pub(super) fn dependency_counts(value: u32) -> String {
    const FIELDS: [(&str, u32, u32); 7] = [
        ("depctr_hold_cnt", 7, 1),
        ("depctr_sa_sdst", 0, 1),
        ("depctr_va_vdst", 12, 15),
        ("depctr_va_sdst", 9, 7),
        ("depctr_va_ssrc", 8, 1),
        ("depctr_va_vcc", 1, 1),
        ("depctr_vm_vsrc", 2, 7),
    ];
    let known = FIELDS
        .iter()
        .fold(0, |bits, (_, low, max)| bits | max << low);
    if value & !known != 0 {
        return format!("{value:#x}");
    }
    let all = value == known;
    let shown: Vec<String> = FIELDS
        .iter()
        .map(|&(name, low, max)| (name, value >> low & max, max))
        .filter(|&(_, count, max)| all || count != max)
        .map(|(name, count, _)| format!("{name}({count})"))
        .collect();
    shown.join(" ")
}

/// The fields of `s_delay_alu`: on what the next instruction waits, how many to skip, and on what
/// the one behind them waits. A plain number if one of them is reserved.
pub(super) fn delay(value: u32) -> String {
    const INSTRUCTION: [&str; 12] = [
        "",
        "VALU_DEP_1",
        "VALU_DEP_2",
        "VALU_DEP_3",
        "VALU_DEP_4",
        "TRANS32_DEP_1",
        "TRANS32_DEP_2",
        "TRANS32_DEP_3",
        "FMA_ACCUM_CYCLE_1",
        "SALU_CYCLE_1",
        "SALU_CYCLE_2",
        "SALU_CYCLE_3",
    ];
    const SKIP: [&str; 6] = ["", "NEXT", "SKIP_1", "SKIP_2", "SKIP_3", "SKIP_4"];
    let fields: [(&str, u32, &[&str]); 3] = [
        ("instid0", value & 15, &INSTRUCTION),
        ("instskip", value >> 4 & 7, &SKIP),
        ("instid1", value >> 7 & 15, &INSTRUCTION),
    ];
    let mut shown = Vec::new();
    for (field, number, names) in fields {
        let name = usize::try_from(number).ok().and_then(|at| names.get(at));
        match name {
            Some(&"") => {}
            Some(name) => shown.push(format!("{field}({name})")),
            None => return format!("{value:#x}"),
        }
    }
    if shown.is_empty() {
        return "0".to_owned();
    }
    shown.join(" | ")
}

/// The operand of `s_set_gpr_idx_on` and `s_set_gpr_idx_mode`.
pub(super) fn gpr_index(value: u32) -> String {
    if value > 15 {
        return format!("{value:#x}");
    }
    let names = ["SRC0", "SRC1", "SRC2", "DST"];
    let shown: Vec<&str> = names
        .iter()
        .enumerate()
        .filter(|(bit, _)| value >> bit & 1 != 0)
        .map(|(_, name)| *name)
        .collect();
    format!("gpr_idx({})", shown.join(","))
}

/// The offset of `ds_swizzle_b32`. LLVM knows names of FFT and rotation since it prints gfx11.
pub(super) fn swizzle(target: Target, value: u32) -> String {
    const FFT: u32 = 0xe000;
    const ROTATE: u32 = 0xc000;
    if target.is_gfx11_plus() && value >= FFT {
        return format!("swizzle(FFT,{})", value & 31);
    }
    if target.is_gfx11_plus() && value >= ROTATE {
        return format!("swizzle(ROTATE,{},{})", value >> 10 & 1, value >> 5 & 31);
    }
    if value & 0xff00 == 0x8000 {
        let lane = |index: u32| value >> (2 * index) & 3;
        return format!(
            "swizzle(QUAD_PERM,{},{},{},{})",
            lane(0),
            lane(1),
            lane(2),
            lane(3)
        );
    }
    if value & 0x8000 != 0 {
        return value.to_string();
    }
    let (and, or, xor) = (value & 31, value >> 5 & 31, value >> 10 & 31);
    if and == 31 && or == 0 && xor.is_power_of_two() {
        return format!("swizzle(SWAP,{xor})");
    }
    if and == 31 && or == 0 && xor > 0 && (xor + 1).is_power_of_two() {
        return format!("swizzle(REVERSE,{})", xor + 1);
    }
    let group = 32 - and;
    if group > 1 && group.is_power_of_two() && or < group && xor == 0 {
        return format!("swizzle(BROADCAST,{group},{or})");
    }
    format!("swizzle(BITMASK_PERM,\"{}\")", lane_mask(and, or, xor))
}

/// Per lane-number bit: constant, preserved or inverted.
fn lane_mask(and: u32, or: u32, xor: u32) -> String {
    let low = or ^ xor;
    let high = (and | or) ^ xor;
    (0..5)
        .rev()
        .map(|bit| match (low >> bit & 1, high >> bit & 1) {
            (0, 0) => '0',
            (1, 1) => '1',
            (0, _) => 'p',
            _ => 'i',
        })
        .collect()
}

/// DPP_CTRL.
pub(super) fn dpp_control(target: Target, ctrl: u16) -> String {
    let amount = ctrl & 15;
    match ctrl {
        0..=0xff => {
            let lane = |index: u16| ctrl >> (2 * index) & 3;
            format!(
                "quad_perm:[{},{},{},{}]",
                lane(0),
                lane(1),
                lane(2),
                lane(3)
            )
        }
        0x101..=0x10f => format!("row_shl:{amount}"),
        0x111..=0x11f => format!("row_shr:{amount}"),
        0x121..=0x12f => format!("row_ror:{amount}"),
        0x130 => "wave_shl:1".to_owned(),
        0x134 => "wave_rol:1".to_owned(),
        0x138 => "wave_shr:1".to_owned(),
        0x13c => "wave_ror:1".to_owned(),
        0x140 => "row_mirror".to_owned(),
        0x141 => "row_half_mirror".to_owned(),
        0x142 => "row_bcast:15".to_owned(),
        0x143 => "row_bcast:31".to_owned(),
        0x150..=0x15f if target.is_gfx9() => format!("row_newbcast:{amount}"),
        0x150..=0x15f => format!("row_share:{amount}"),
        _ => format!("row_xmask:{amount}"),
    }
}

/// The format of a typed buffer access; the default is not printed.
pub(super) fn buffer_format(target: Target, value: u8) -> Option<String> {
    if target.is_gfx9() {
        split_format(value)
    } else {
        unified_format(target, value)
    }
}

/// gfx9: data format in bits 3:0, number format in bits 6:4.
fn split_format(value: u8) -> Option<String> {
    const DATA: [&str; 16] = [
        "INVALID",
        "8",
        "16",
        "8_8",
        "32",
        "16_16",
        "10_11_11",
        "11_11_10",
        "10_10_10_2",
        "2_10_10_10",
        "8_8_8_8",
        "32_32",
        "16_16_16_16",
        "32_32_32",
        "32_32_32_32",
        "RESERVED_15",
    ];
    const NUMBER: [&str; 8] = [
        "UNORM",
        "SNORM",
        "USCALED",
        "SSCALED",
        "UINT",
        "SINT",
        "RESERVED_6",
        "FLOAT",
    ];
    let data = format!("BUF_DATA_FORMAT_{}", DATA[usize::from(value & 15)]);
    let number = format!("BUF_NUM_FORMAT_{}", NUMBER[usize::from(value >> 4 & 7)]);
    Some(match (value & 15, value >> 4 & 7) {
        (1, 0) => return None,
        (_, 0) => format!("[{data}]"),
        (1, _) => format!("[{number}]"),
        _ => format!("[{data},{number}]"),
    })
}

const INTEGER: &[&str] = &["UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT"];
const SMALL: &[&str] = &[
    "UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "FLOAT",
];
const WORD: &[&str] = &["UINT", "SINT", "FLOAT"];

/// Number formats of the layouts that gfx11 cut down: the two of 11 and 10 bits, and 10_10_10_2.
const fn packed_numbers(target: Target) -> (&'static [&'static str], &'static [&'static str]) {
    if target.is_gfx11_plus() {
        (&["FLOAT"], &["UNORM", "SNORM", "UINT", "SINT"])
    } else {
        (SMALL, INTEGER)
    }
}

/// From gfx10 on: one number for both; the layouts follow each other with their number formats.
fn unified_format(target: Target, value: u8) -> Option<String> {
    let (eleven, ten) = packed_numbers(target);
    let layouts: [(&str, &[&str]); 14] = [
        ("8", INTEGER),
        ("16", SMALL),
        ("8_8", INTEGER),
        ("32", WORD),
        ("16_16", SMALL),
        ("10_11_11", eleven),
        ("11_11_10", eleven),
        ("10_10_10_2", ten),
        ("2_10_10_10", INTEGER),
        ("8_8_8_8", INTEGER),
        ("32_32", WORD),
        ("16_16_16_16", SMALL),
        ("32_32_32", WORD),
        ("32_32_32_32", WORD),
    ];
    let mut left = usize::from(match value {
        0 => return Some("[BUF_FMT_INVALID]".to_owned()),
        1 => return None,
        _ => value - 1,
    });
    for (layout, numbers) in layouts {
        if let Some(number) = numbers.get(left) {
            return Some(format!("[BUF_FMT_{layout}_{number}]"));
        }
        left -= numbers.len();
    }
    Some(value.to_string())
}
