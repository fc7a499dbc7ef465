//! Names of hardware registers.

use crate::target::{Family, Target};

/// Name of a hardware register of `s_getreg` and `s_setreg`.
pub(super) const fn hwreg(target: Target, id: u32) -> Option<&'static str> {
    match target.family() {
        Family::Gfx9 | Family::Gfx10 => older(!target.is_gfx9(), id),
        Family::Gfx11 => gfx11(id),
        Family::Gfx12 => gfx12(id),
    }
}

const fn older(gfx10: bool, id: u32) -> Option<&'static str> {
    Some(match id {
        4 if !gfx10 => "HW_REG_HW_ID",
        16 => "HW_REG_TBA_LO",
        17 => "HW_REG_TBA_HI",
        18 => "HW_REG_TMA_LO",
        19 => "HW_REG_TMA_HI",
        25 if gfx10 => "HW_REG_POPS_PACKER",
        20..=29 if !gfx10 => return None,
        _ => return common(id),
    })
}

const fn common(id: u32) -> Option<&'static str> {
    Some(match id {
        1 => "HW_REG_MODE",
        2 => "HW_REG_STATUS",
        3 => "HW_REG_TRAPSTS",
        5 => "HW_REG_GPR_ALLOC",
        6 => "HW_REG_LDS_ALLOC",
        7 => "HW_REG_IB_STS",
        15 => "HW_REG_SH_MEM_BASES",
        20 => "HW_REG_FLAT_SCR_LO",
        21 => "HW_REG_FLAT_SCR_HI",
        23 => "HW_REG_HW_ID1",
        24 => "HW_REG_HW_ID2",
        29 => "HW_REG_SHADER_CYCLES",
        _ => return None,
    })
}

const fn gfx11(id: u32) -> Option<&'static str> {
    Some(match id {
        18 => "HW_REG_PERF_SNAPSHOT_PC_LO",
        19 => "HW_REG_PERF_SNAPSHOT_PC_HI",
        27 => "HW_REG_PERF_SNAPSHOT_DATA",
        _ => return common(id),
    })
}

const fn gfx12(id: u32) -> Option<&'static str> {
    Some(match id {
        1 => "HW_REG_WAVE_MODE",
        2 => "HW_REG_WAVE_STATUS",
        4 => "HW_REG_WAVE_STATE_PRIV",
        5 => "HW_REG_WAVE_GPR_ALLOC",
        6 => "HW_REG_WAVE_LDS_ALLOC",
        7 => "HW_REG_IB_STS",
        10 => "HW_REG_PERF_SNAPSHOT_DATA",
        11 => "HW_REG_PERF_SNAPSHOT_PC_LO",
        12 => "HW_REG_PERF_SNAPSHOT_PC_HI",
        15 => "HW_REG_PERF_SNAPSHOT_DATA1",
        16 => "HW_REG_PERF_SNAPSHOT_DATA2",
        17 => "HW_REG_WAVE_EXCP_FLAG_PRIV",
        18 => "HW_REG_WAVE_EXCP_FLAG_USER",
        19 => "HW_REG_WAVE_TRAP_CTRL",
        20 => "HW_REG_WAVE_SCRATCH_BASE_LO",
        21 => "HW_REG_WAVE_SCRATCH_BASE_HI",
        23 => "HW_REG_WAVE_HW_ID1",
        24 => "HW_REG_WAVE_HW_ID2",
        26 => "HW_REG_WAVE_SCHED_MODE",
        29 => "HW_REG_SHADER_CYCLES_LO",
        30 => "HW_REG_SHADER_CYCLES_HI",
        31 => "HW_REG_WAVE_DVGPR_ALLOC_LO",
        32 => "HW_REG_WAVE_DVGPR_ALLOC_HI",
        _ => return None,
    })
}
