//! gfx12's cache policy: temporal hint and scope.

use super::Text;

/// What kind of access a policy belongs to: hints have different names.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Load,
    Store,
    Atomic,
}

/// The scope that makes hint 3 bypass caches.
const SYSTEM: u8 = 3;

/// Prints what differs from the default.
pub(super) fn print(text: &mut Text<'_>, access: Access) {
    let (hint, scope) = (text.inst.mods.th, text.inst.mods.scope);
    if hint != 0 {
        let name = match access {
            Access::Atomic => atomic(hint, scope),
            _ => plain(hint, scope, access == Access::Store),
        };
        text.modifier(&format!("th:{name}"));
    }
    const SCOPES: [&str; 4] = ["CU", "SE", "DEV", "SYS"];
    if scope != 0 {
        let name = SCOPES[usize::from(scope & 3)];
        text.modifier(&format!("scope:SCOPE_{name}"));
    }
}

fn plain(hint: u8, scope: u8, store: bool) -> String {
    let name = match hint {
        1 => "NT",
        2 => "HT",
        3 if scope == SYSTEM => "BYPASS",
        3 if store => "WB",
        3 => "LU",
        4 => "NT_RT",
        5 => "RT_NT",
        6 => "NT_HT",
        _ if store => "NT_WB",
        _ => return format!("{hint:#x}"),
    };
    let kind = if store { "STORE" } else { "LOAD" };
    format!("TH_{kind}_{name}")
}

/// Bit 0: returns, bit 1: not temporal, bit 2: cascading, which wants a wide scope.
fn atomic(hint: u8, scope: u8) -> String {
    let temporal = if hint & 2 == 0 { "RT" } else { "NT" };
    match hint {
        _ if hint & 4 != 0 && scope >= 2 => format!("TH_ATOMIC_CASCADE_{temporal}"),
        _ if hint & 4 != 0 => format!("TH_ATOMIC_{hint:#x}"),
        1 => "TH_ATOMIC_RETURN".to_owned(),
        2 => "TH_ATOMIC_NT".to_owned(),
        _ => "TH_ATOMIC_NT_RETURN".to_owned(),
    }
}
