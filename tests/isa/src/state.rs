//! What a case's kernel can see and change: the state before it, and the state that must follow.

/// Vector registers that a case can use: v0 to v31.
pub(crate) const VGPRS: usize = 32;
/// First scalar register that a case can use.
pub(crate) const FIRST_SGPR: usize = 16;
/// Scalar registers that a case can use: s16 to s31.
pub(crate) const SGPRS: usize = 16;
/// Dwords of the buffer at `s[8:9]`.
pub(crate) const MEMORY: usize = 1024;

/// Bits of MODE (ISA manuals, "Mode register").
pub(crate) mod mode {
    /// f32 and f16/f64 keep denormals, round to nearest even; DX10 clamp; no IEEE.
    pub(crate) const PLAIN: u32 = 0x1f0;
    /// IEEE mode.
    pub(crate) const IEEE: u32 = 1 << 9;
    /// Clamp turns NaN into zero.
    pub(crate) const DX10_CLAMP: u32 = 1 << 8;
}

/// Registers and memory.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct State {
    /// `v[register][lane]`.
    pub(crate) v: Vec<[u32; 64]>,
    /// s16 and following.
    pub(crate) s: [u32; SGPRS],
    pub(crate) vcc: u64,
    pub(crate) exec: u64,
    pub(crate) scc: bool,
    pub(crate) m0: u32,
    pub(crate) mode: u32,
    /// The buffer at `s[8:9]`.
    pub(crate) memory: Vec<u32>,
}

impl State {
    /// Every register holds something else, so that a wrong one shows.
    pub(crate) fn new() -> Self {
        let fill = |register: u32| {
            std::array::from_fn(|lane| mix(register << 8 | u32::try_from(lane).unwrap_or(0)))
        };
        Self {
            v: (0u32..).take(VGPRS).map(fill).collect(),
            s: std::array::from_fn(|i| mix(0x5000 + u32::try_from(i).unwrap_or(0))),
            vcc: 0x0123_4567_89ab_cdef,
            exec: u64::MAX,
            scc: false,
            m0: 0x7a5a_5a01,
            mode: mode::PLAIN,
            memory: Vec::new(),
        }
    }

    /// Register pair `register` of a lane.
    pub(crate) fn wide(&self, register: usize, lane: usize) -> u64 {
        u64::from(self.v[register][lane]) | u64::from(self.v[register + 1][lane]) << 32
    }

    /// Writes a register pair of a lane.
    pub(crate) fn set_wide(&mut self, register: usize, lane: usize, value: u64) {
        self.v[register][lane] = low(value);
        self.v[register + 1][lane] = high(value);
    }

    /// Scalar register by its number.
    pub(crate) fn sgpr(&self, register: usize) -> u32 {
        self.s[register - FIRST_SGPR]
    }

    /// Writes a scalar register.
    pub(crate) fn set_sgpr(&mut self, register: usize, value: u32) {
        self.s[register - FIRST_SGPR] = value;
    }

    /// Scalar register pair by its number.
    pub(crate) fn sgpr64(&self, register: usize) -> u64 {
        u64::from(self.sgpr(register)) | u64::from(self.sgpr(register + 1)) << 32
    }

    /// Writes a scalar register pair.
    pub(crate) fn set_sgpr64(&mut self, register: usize, value: u64) {
        self.set_sgpr(register, low(value));
        self.set_sgpr(register + 1, high(value));
    }

    /// Writes a lane mask: a pair in wave64, one register in wave32.
    pub(crate) fn set_mask(&mut self, register: usize, lanes: u8, value: u64) {
        if lanes == 64 {
            self.set_sgpr64(register, value);
        } else {
            self.set_sgpr(register, low(value));
        }
    }

    /// True if a lane is active.
    pub(crate) fn active(&self, lane: usize) -> bool {
        self.exec >> lane & 1 != 0
    }
}

/// A well mixed word (the finaliser of MurmurHash3).
pub(crate) fn mix(seed: u32) -> u32 {
    let mut x = seed.wrapping_add(0x9e37_79b9);
    x = (x ^ x >> 16).wrapping_mul(0x85eb_ca6b);
    x = (x ^ x >> 13).wrapping_mul(0xc2b2_ae35);
    x ^ x >> 16
}

/// The low dword.
#[expect(clippy::cast_possible_truncation, reason = "that is its purpose")]
pub(crate) const fn low(value: u64) -> u32 {
    value as u32
}

/// The high dword.
pub(crate) const fn high(value: u64) -> u32 {
    low(value >> 32)
}
