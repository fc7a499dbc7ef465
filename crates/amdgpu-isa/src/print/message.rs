//! The operand of `s_sendmsg`.

use crate::target::Target;

/// The operand of `s_sendmsg`.
pub(super) fn message(target: Target, value: u32) -> String {
    if target.is_gfx11_plus() {
        return plain_message(target, value);
    }
    let (id, operation, stream) = (value & 15, value >> 4 & 7, value >> 8 & 3);
    if let Some(name) = simple_message(target, id)
        && operation == 0
        && stream == 0
    {
        return format!("sendmsg({name})");
    }
    if let Some(text) = geometry_message(id, operation, stream) {
        return text;
    }
    if let (15, Some(name), 0) = (id, system_operation(operation), stream) {
        return format!("sendmsg(MSG_SYSMSG, {name})");
    }
    if id | operation << 4 | stream << 8 == value {
        return format!("sendmsg({id}, {operation}, {stream})");
    }
    value.to_string()
}

/// gfx11 and later: eight bits, without operation and stream.
fn plain_message(target: Target, value: u32) -> String {
    let id = value & 0xff;
    let name = match id {
        1 => "MSG_INTERRUPT",
        2 => "MSG_HS_TESSFACTOR",
        3 => "MSG_DEALLOC_VGPRS",
        5 if !target.is_gfx12() => "MSG_STALL_WAVE_GEN",
        6 if !target.is_gfx12() => "MSG_HALT_WAVES",
        9 => "MSG_GS_ALLOC_REQ",
        128 => "MSG_RTN_GET_DOORBELL",
        129 => "MSG_RTN_GET_DDID",
        130 => "MSG_RTN_GET_TMA",
        131 => "MSG_RTN_GET_REALTIME",
        132 => "MSG_RTN_SAVE_WAVE",
        133 => "MSG_RTN_GET_TBA",
        134 => "MSG_RTN_GET_TBA_TO_PC",
        135 if target.is_gfx12() => "MSG_RTN_GET_SE_AID_ID",
        _ if id == value => return format!("sendmsg({id}, 0, 0)"),
        _ => return value.to_string(),
    };
    format!("sendmsg({name})")
}

const fn simple_message(target: Target, id: u32) -> Option<&'static str> {
    Some(match id {
        1 => "MSG_INTERRUPT",
        4 => "MSG_SAVEWAVE",
        5 => "MSG_STALL_WAVE_GEN",
        6 => "MSG_HALT_WAVES",
        7 => "MSG_ORDERED_PS_DONE",
        8 => "MSG_EARLY_PRIM_DEALLOC",
        9 => "MSG_GS_ALLOC_REQ",
        10 => "MSG_GET_DOORBELL",
        11 if target.is_rdna() => "MSG_GET_DDID",
        _ => return None,
    })
}

fn geometry_message(id: u32, operation: u32, stream: u32) -> Option<String> {
    let name = match id {
        2 => "MSG_GS",
        3 => "MSG_GS_DONE",
        _ => return None,
    };
    let operation = match operation {
        0 if id == 3 && stream == 0 => return Some(format!("sendmsg({name}, GS_OP_NOP)")),
        1 => "GS_OP_CUT",
        2 => "GS_OP_EMIT",
        3 => "GS_OP_EMIT_CUT",
        _ => return None,
    };
    Some(format!("sendmsg({name}, {operation}, {stream})"))
}

const fn system_operation(operation: u32) -> Option<&'static str> {
    Some(match operation {
        1 => "SYSMSG_OP_ECC_ERR_INTERRUPT",
        2 => "SYSMSG_OP_REG_RD",
        4 => "SYSMSG_OP_TTRACE_PC",
        _ => return None,
    })
}
