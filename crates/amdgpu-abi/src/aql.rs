//! AQL packets (HSA runtime specification 1.2, "Architected Queuing Language"; hsa_ext_amd.h for
//! the vendor packets): 64 bytes each, little endian.

/// Bytes of a packet.
pub const PACKET_BYTES: usize = 64;

/// Packet types, bits 7:0 of the header.
pub mod packet_type {
    /// AMD vendor packet; byte 2 holds the format, see [`super::vendor`].
    pub const VENDOR_SPECIFIC: u8 = 0;
    /// Slot that has not been published yet.
    pub const INVALID: u8 = 1;
    /// Kernel dispatch.
    pub const KERNEL_DISPATCH: u8 = 2;
    /// Barrier: all dependencies.
    pub const BARRIER_AND: u8 = 3;
    /// Agent dispatch (soft queues).
    pub const AGENT_DISPATCH: u8 = 4;
    /// Barrier: any dependency.
    pub const BARRIER_OR: u8 = 5;
}

/// Vendor packet formats (hsa_ext_amd.h `hsa_amd_packet_type_t`, and ROCr's PM4 format).
pub mod vendor {
    /// PM4 indirect buffer.
    pub const PM4_IB: u8 = 1;
    /// Barrier on one signal value with mask and condition.
    pub const BARRIER_VALUE: u8 = 2;
}

/// A packet header (16 bits).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header(pub u16);

impl Header {
    /// Composes a header. Scopes: 0 none, 1 agent, 2 system.
    pub const fn new(packet_type: u8, barrier: bool, acquire: u8, release: u8) -> Self {
        Self(
            packet_type as u16
                | (barrier as u16) << 8
                | (acquire as u16) << 9
                | (release as u16) << 11,
        )
    }
    /// Packet type, see [`packet_type`].
    pub const fn packet_type(self) -> u8 {
        self.0.to_le_bytes()[0]
    }
    /// Barrier bit: all earlier packets complete before this one starts.
    pub const fn barrier(self) -> bool {
        self.0 & 1 << 8 != 0
    }
    /// Acquire fence scope: 0 none, 1 agent, 2 system.
    pub const fn acquire_scope(self) -> u8 {
        (self.0 >> 9 & 3) as u8
    }
    /// Release fence scope: 0 none, 1 agent, 2 system.
    pub const fn release_scope(self) -> u8 {
        (self.0 >> 11 & 3) as u8
    }
}

/// A packet's 64 bytes, copied out of the ring.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C, align(64))]
pub struct Packet(pub [u8; PACKET_BYTES]);

impl Packet {
    /// A packet of zeros.
    pub const fn zeroed() -> Self {
        Self([0; PACKET_BYTES])
    }
    /// Header (offset 0).
    pub fn header(&self) -> Header {
        Header(self.u16_at(0))
    }
    /// Little-endian value at a byte offset.
    pub fn u16_at(&self, at: usize) -> u16 {
        u16::from_le_bytes([self.0[at], self.0[at + 1]])
    }
    /// Little-endian value at a byte offset.
    pub fn u32_at(&self, at: usize) -> u32 {
        u32::from(self.u16_at(at)) | u32::from(self.u16_at(at + 2)) << 16
    }
    /// Little-endian value at a byte offset.
    pub fn u64_at(&self, at: usize) -> u64 {
        u64::from(self.u32_at(at)) | u64::from(self.u32_at(at + 4)) << 32
    }
    /// Stores a little-endian value at a byte offset.
    pub fn set_u16(&mut self, at: usize, value: u16) {
        self.0[at..at + 2].copy_from_slice(&value.to_le_bytes());
    }
    /// Stores a little-endian value at a byte offset.
    pub fn set_u32(&mut self, at: usize, value: u32) {
        self.0[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }
    /// Stores a little-endian value at a byte offset.
    pub fn set_u64(&mut self, at: usize, value: u64) {
        self.0[at..at + 8].copy_from_slice(&value.to_le_bytes());
    }
    /// Completion signal handle (offset 56 in every packet type).
    pub fn completion_signal(&self) -> u64 {
        self.u64_at(56)
    }
}

/// `hsa_kernel_dispatch_packet_t`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct KernelDispatch {
    /// Dimensions in bits 1:0 of `setup`.
    pub setup: u16,
    /// Work-items per group.
    pub workgroup_size: [u16; 3],
    /// Work-items per grid.
    pub grid_size: [u32; 3],
    /// Scratch bytes per work-item.
    pub private_segment_size: u32,
    /// LDS bytes per group.
    pub group_segment_size: u32,
    /// Address of the kernel descriptor.
    pub kernel_object: u64,
    /// Address of the kernel arguments.
    pub kernarg_address: u64,
    /// Correlation id of profilers.
    pub reserved2: u64,
    /// Signal handle or 0.
    pub completion_signal: u64,
}

impl KernelDispatch {
    /// Reads the fields of a packet.
    pub fn parse(p: &Packet) -> Self {
        Self {
            setup: p.u16_at(2),
            workgroup_size: [p.u16_at(4), p.u16_at(6), p.u16_at(8)],
            grid_size: [p.u32_at(12), p.u32_at(16), p.u32_at(20)],
            private_segment_size: p.u32_at(24),
            group_segment_size: p.u32_at(28),
            kernel_object: p.u64_at(32),
            kernarg_address: p.u64_at(40),
            reserved2: p.u64_at(48),
            completion_signal: p.completion_signal(),
        }
    }

    /// The packet with `header`.
    pub fn encode(&self, header: Header) -> Packet {
        let mut p = Packet::zeroed();
        p.set_u16(0, header.0);
        p.set_u16(2, self.setup);
        for (i, &size) in self.workgroup_size.iter().enumerate() {
            p.set_u16(4 + 2 * i, size);
        }
        for (i, &size) in self.grid_size.iter().enumerate() {
            p.set_u32(12 + 4 * i, size);
        }
        p.set_u32(24, self.private_segment_size);
        p.set_u32(28, self.group_segment_size);
        p.set_u64(32, self.kernel_object);
        p.set_u64(40, self.kernarg_address);
        p.set_u64(48, self.reserved2);
        p.set_u64(56, self.completion_signal);
        p
    }
}

/// `hsa_barrier_and_packet_t` and `hsa_barrier_or_packet_t`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Barrier {
    /// Signal handles; 0 entries are ignored. A dependency is met when the signal's value is 0.
    pub dep_signals: [u64; 5],
    /// Signal handle or 0.
    pub completion_signal: u64,
}

impl Barrier {
    /// Reads the fields of a packet.
    pub fn parse(p: &Packet) -> Self {
        Self {
            dep_signals: std::array::from_fn(|i| p.u64_at(8 + 8 * i)),
            completion_signal: p.completion_signal(),
        }
    }

    /// The packet with `header` (its type says AND or OR).
    pub fn encode(&self, header: Header) -> Packet {
        let mut p = Packet::zeroed();
        p.set_u16(0, header.0);
        for (i, &signal) in self.dep_signals.iter().enumerate() {
            p.set_u64(8 + 8 * i, signal);
        }
        p.set_u64(56, self.completion_signal);
        p
    }
}

/// `hsa_amd_barrier_value_packet_t`: waits until `(signal & mask) cond value`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BarrierValue {
    /// Signal handle; 0 is met at once.
    pub signal: u64,
    /// Right-hand side.
    pub value: i64,
    /// Bits of the signal's value that count.
    pub mask: i64,
    /// `hsa_signal_condition32_t`: 0 EQ, 1 NE, 2 LT, 3 GTE.
    pub cond: u32,
    /// Signal handle or 0.
    pub completion_signal: u64,
}

impl BarrierValue {
    /// Reads the fields of a packet.
    pub fn parse(p: &Packet) -> Self {
        Self {
            signal: p.u64_at(8),
            value: p.u64_at(16).cast_signed(),
            mask: p.u64_at(24).cast_signed(),
            cond: p.u32_at(32),
            completion_signal: p.completion_signal(),
        }
    }
}
