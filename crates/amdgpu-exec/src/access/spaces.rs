//! What a lane's access does in each kind of memory.

use super::{Denied, Space, kind, rmw};
use crate::api::{Access, AccessFault, FaultReason};
use crate::context::Context;
use crate::memory::{Refusal, guard};
use crate::wave::aperture;

/// The GPU's address space.
pub(crate) struct Global;
/// LDS, by byte offset.
pub(crate) struct Local;
/// Private memory of the lane, by byte offset.
pub(crate) struct Private;
/// One of the three, by aperture.
pub(crate) struct Flat;

fn not_present(gpu_va: u64, access: Access) -> Denied {
    Denied::Fault(AccessFault {
        gpu_va,
        access,
        reason: FaultReason::NotPresent,
    })
}

/// A host page behind a granted address is gone.
#[inline(always)]
fn check(fault: u64, gpu_va: u64, access: Access) -> Result<(), Denied> {
    if fault == 0 {
        Ok(())
    } else {
        Err(not_present(gpu_va, access))
    }
}

#[inline(always)]
fn aligned(address: u64, bytes: u64) -> Result<(), Denied> {
    if address.is_multiple_of(bytes) {
        Ok(())
    } else {
        Err(Denied::Aperture(address))
    }
}

/// Loads an element at a host address.
///
/// # Safety
/// The bytes are granted for reading.
#[inline(always)]
#[expect(
    clippy::cast_possible_truncation,
    reason = "splits dwords of wider loads"
)]
pub(crate) unsafe fn load_host<const K: u8>(host: u64, fault: &mut u64) -> [u32; 4] {
    let mut value = [0; 4];
    match kind::bytes(K) {
        // SAFETY: the caller's promise, here and below.
        1 => value[0] = u32::from(unsafe { guard::load8(host, fault) }),
        // SAFETY: as above.
        2 => value[0] = u32::from(unsafe { guard::load16(host, fault) }),
        // SAFETY: as above.
        4 => value[0] = unsafe { guard::load32(host, fault) },
        bytes => {
            // SAFETY: as above.
            let low = unsafe { guard::load64(host, fault) };
            value[0] = low as u32;
            value[1] = (low >> 32) as u32;
            if bytes == 12 {
                // SAFETY: as above.
                value[2] = unsafe { guard::load32(host + 8, fault) };
            } else if bytes == 16 {
                // SAFETY: as above.
                let high = unsafe { guard::load64(host + 8, fault) };
                value[2] = high as u32;
                value[3] = (high >> 32) as u32;
            }
        }
    }
    value
}

/// Stores an element at a host address.
///
/// # Safety
/// The bytes are granted for writing.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "stores the low bytes")]
pub(crate) unsafe fn store_host<const K: u8>(host: u64, value: [u32; 4], fault: &mut u64) {
    let pair = |i: usize| u64::from(value[i]) | u64::from(value[i + 1]) << 32;
    match kind::bytes(K) {
        // SAFETY: the caller's promise, here and below.
        1 => unsafe { guard::store8(host, value[0] as u8, fault) },
        // SAFETY: as above.
        2 => unsafe { guard::store16(host, value[0] as u16, fault) },
        // SAFETY: as above.
        4 => unsafe { guard::store32(host, value[0], fault) },
        bytes => {
            // SAFETY: as above.
            unsafe { guard::store64(host, pair(0), fault) };
            if bytes == 12 {
                // SAFETY: as above.
                unsafe { guard::store32(host + 8, value[2], fault) };
            } else if bytes == 16 {
                // SAFETY: as above.
                unsafe { guard::store64(host + 8, pair(2), fault) };
            }
        }
    }
}

fn to_bytes(value: [u32; 4]) -> [u8; 16] {
    let mut bytes = [0; 16];
    for (place, dword) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(value) {
        *place = dword.to_le_bytes();
    }
    bytes
}

fn from_bytes(bytes: [u8; 16]) -> [u32; 4] {
    let mut value = [0; 4];
    for (dword, place) in value.iter_mut().zip(bytes.as_chunks::<4>().0) {
        *dword = u32::from_le_bytes(*place);
    }
    value
}

/// An element whose bytes lie in differently mapped ranges.
#[cold]
fn load_split<const K: u8>(
    context: &mut Context<'_>,
    pc: u64,
    address: u64,
) -> Result<[u32; 4], Denied> {
    let mut bytes = [0; 16];
    let part = &mut bytes[..kind::bytes(K)];
    context
        .port
        .read(pc, address, part)
        .map_err(Denied::Fault)?;
    Ok(from_bytes(bytes))
}

#[cold]
fn store_split<const K: u8>(
    context: &mut Context<'_>,
    pc: u64,
    address: u64,
    value: [u32; 4],
) -> Result<(), Denied> {
    let bytes = to_bytes(value);
    context
        .port
        .write(pc, address, &bytes[..kind::bytes(K)])
        .map_err(Denied::Fault)
}

impl Space for Global {
    #[inline(always)]
    fn load<const K: u8>(
        context: &mut Context<'_>,
        pc: u64,
        address: u64,
        _: usize,
    ) -> Result<[u32; 4], Denied> {
        let host = match context
            .port
            .locate::<false>(pc, address, kind::bytes(K) as u64)
        {
            Ok(host) => host,
            Err(Refusal::Fault(fault)) => return Err(Denied::Fault(fault)),
            Err(Refusal::Split) => return load_split::<K>(context, pc, address),
        };
        let mut fault = 0;
        // SAFETY: the port granted the bytes for reading.
        let value = unsafe { load_host::<K>(host, &mut fault) };
        check(
            fault,
            address.wrapping_add(fault.wrapping_sub(host)),
            Access::Read,
        )?;
        Ok(value)
    }

    #[inline(always)]
    fn store<const K: u8>(
        context: &mut Context<'_>,
        pc: u64,
        address: u64,
        _: usize,
        value: [u32; 4],
    ) -> Result<(), Denied> {
        let host = match context
            .port
            .locate::<true>(pc, address, kind::bytes(K) as u64)
        {
            Ok(host) => host,
            Err(Refusal::Fault(fault)) => return Err(Denied::Fault(fault)),
            Err(Refusal::Split) => return store_split::<K>(context, pc, address, value),
        };
        let mut fault = 0;
        // SAFETY: the port granted the bytes for writing.
        unsafe { store_host::<K>(host, value, &mut fault) };
        check(
            fault,
            address.wrapping_add(fault.wrapping_sub(host)),
            Access::Write,
        )
    }

    #[inline(always)]
    fn atomic32<const OP: u8>(
        context: &mut Context<'_>,
        pc: u64,
        address: u64,
        _: usize,
        data: u32,
        compare: u32,
    ) -> Result<u32, Denied> {
        aligned(address, 4)?;
        let host = context
            .port
            .locate::<true>(pc, address, 4)
            .map_err(|r| refused(r, address))?;
        let mut fault = 0;
        let old = match OP {
            // SAFETY: the port granted the aligned bytes for writing, here and below.
            rmw::ADD => unsafe { guard::add32(host, data, &mut fault) },
            // SAFETY: as above.
            rmw::SUB => unsafe { guard::add32(host, data.wrapping_neg(), &mut fault) },
            // SAFETY: as above.
            rmw::SWAP => unsafe { guard::swap32(host, data, &mut fault) },
            // SAFETY: as above.
            rmw::CMPSWAP => unsafe { guard::compare_swap32(host, compare, data, &mut fault) },
            // SAFETY: as above.
            _ => unsafe { loop32::<OP>(host, data, compare, &mut fault) },
        };
        check(fault, address, Access::Write)?;
        Ok(old)
    }

    #[inline(always)]
    fn atomic64<const OP: u8>(
        context: &mut Context<'_>,
        pc: u64,
        address: u64,
        _: usize,
        data: u64,
        compare: u64,
    ) -> Result<u64, Denied> {
        aligned(address, 8)?;
        let host = context
            .port
            .locate::<true>(pc, address, 8)
            .map_err(|r| refused(r, address))?;
        let mut fault = 0;
        let old = match OP {
            // SAFETY: the port granted the aligned bytes for writing, here and below.
            rmw::ADD => unsafe { guard::add64(host, data, &mut fault) },
            // SAFETY: as above.
            rmw::SUB => unsafe { guard::add64(host, data.wrapping_neg(), &mut fault) },
            // SAFETY: as above.
            rmw::SWAP => unsafe { guard::swap64(host, data, &mut fault) },
            // SAFETY: as above.
            rmw::CMPSWAP => unsafe { guard::compare_swap64(host, compare, data, &mut fault) },
            // SAFETY: as above.
            _ => unsafe { loop64::<OP>(host, data, compare, &mut fault) },
        };
        check(fault, address, Access::Write)?;
        Ok(old)
    }
}

/// An aligned element never crosses a mapping: mappings begin and end at pages.
fn refused(refusal: Refusal, address: u64) -> Denied {
    match refusal {
        Refusal::Fault(fault) => Denied::Fault(fault),
        Refusal::Split => not_present(address, Access::Write),
    }
}

/// An operation by compare and exchange.
///
/// # Safety
/// The aligned bytes are granted for writing.
#[inline(always)]
unsafe fn loop32<const OP: u8>(host: u64, data: u32, compare: u32, fault: &mut u64) -> u32 {
    // SAFETY: the caller's promise.
    let mut old = unsafe { guard::load32(host, fault) };
    loop {
        let new = rmw::apply32::<OP>(old, data, compare);
        // SAFETY: the caller's promise.
        let seen = unsafe { guard::compare_swap32(host, old, new, fault) };
        if seen == old || *fault != 0 {
            return old;
        }
        old = seen;
    }
}

/// The same for 64 bits.
///
/// # Safety
/// The aligned bytes are granted for writing.
#[inline(always)]
unsafe fn loop64<const OP: u8>(host: u64, data: u64, compare: u64, fault: &mut u64) -> u64 {
    // SAFETY: the caller's promise.
    let mut old = unsafe { guard::load64(host, fault) };
    loop {
        let new = rmw::apply64::<OP>(old, data, compare);
        // SAFETY: the caller's promise.
        let seen = unsafe { guard::compare_swap64(host, old, new, fault) };
        if seen == old || *fault != 0 {
            return old;
        }
        old = seen;
    }
}

/// LDS addresses have 32 bits; instructions whose address wraps are out of range.
#[inline(always)]
fn local(address: u64) -> u32 {
    u32::try_from(address).unwrap_or(u32::MAX)
}

impl Space for Local {
    #[inline(always)]
    fn load<const K: u8>(
        context: &mut Context<'_>,
        _: u64,
        address: u64,
        _: usize,
    ) -> Result<[u32; 4], Denied> {
        let address = local(address);
        let lds = &context.lds;
        let mut value = [0; 4];
        match kind::bytes(K) {
            1 => value[0] = u32::from(lds.read::<1>(address)[0]),
            2 => value[0] = u32::from(u16::from_le_bytes(lds.read(address))),
            bytes => {
                // All or nothing: out of range is decided for the whole element.
                if let Some(span) = lds.span(address, bytes) {
                    for (dword, part) in value.iter_mut().zip(span.as_chunks::<4>().0) {
                        *dword = u32::from_le_bytes(*part);
                    }
                }
            }
        }
        Ok(value)
    }

    #[inline(always)]
    fn store<const K: u8>(
        context: &mut Context<'_>,
        _: u64,
        address: u64,
        _: usize,
        value: [u32; 4],
    ) -> Result<(), Denied> {
        let bytes = kind::bytes(K);
        let value = to_bytes(value);
        if let Some(span) = context.lds.span_mut(local(address), bytes) {
            span.copy_from_slice(&value[..bytes]);
        }
        Ok(())
    }

    #[inline(always)]
    fn atomic32<const OP: u8>(
        context: &mut Context<'_>,
        _: u64,
        address: u64,
        _: usize,
        data: u32,
        compare: u32,
    ) -> Result<u32, Denied> {
        let address = local(address);
        let old = context.lds.read32(address);
        context
            .lds
            .write32(address, rmw::apply32::<OP>(old, data, compare));
        Ok(old)
    }

    #[inline(always)]
    fn atomic64<const OP: u8>(
        context: &mut Context<'_>,
        _: u64,
        address: u64,
        _: usize,
        data: u64,
        compare: u64,
    ) -> Result<u64, Denied> {
        let address = local(address);
        let old = u64::from_le_bytes(context.lds.read(address));
        let new = rmw::apply64::<OP>(old, data, compare);
        context.lds.write(address, new.to_le_bytes());
        Ok(old)
    }
}

/// Offset of a private access, if all bytes exist.
#[inline(always)]
fn private(
    context: &Context<'_>,
    address: u64,
    bytes: usize,
    access: Access,
) -> Result<u32, Denied> {
    match (u32::try_from(address), u32::try_from(bytes)) {
        (Ok(offset), Ok(bytes)) if context.scratch.holds(offset, bytes) => Ok(offset),
        _ => Err(not_present(
            aperture::PRIVATE_BASE.wrapping_add(address),
            access,
        )),
    }
}

impl Space for Private {
    #[inline]
    fn load<const K: u8>(
        context: &mut Context<'_>,
        _: u64,
        address: u64,
        lane: usize,
    ) -> Result<[u32; 4], Denied> {
        let size = kind::bytes(K);
        let offset = private(context, address, size, Access::Read)?;
        let mut bytes = [0; 16];
        for (at, byte) in (offset..).zip(&mut bytes[..size]) {
            *byte = context.scratch.byte(at, lane);
        }
        Ok(from_bytes(bytes))
    }

    #[inline]
    fn store<const K: u8>(
        context: &mut Context<'_>,
        _: u64,
        address: u64,
        lane: usize,
        value: [u32; 4],
    ) -> Result<(), Denied> {
        let size = kind::bytes(K);
        let offset = private(context, address, size, Access::Write)?;
        let bytes = to_bytes(value);
        for (at, byte) in (offset..).zip(&bytes[..size]) {
            context.scratch.set_byte(at, lane, *byte);
        }
        Ok(())
    }

    #[inline]
    fn atomic32<const OP: u8>(
        context: &mut Context<'_>,
        pc: u64,
        address: u64,
        lane: usize,
        data: u32,
        compare: u32,
    ) -> Result<u32, Denied> {
        let [old, ..] = Self::load::<{ kind::B32 }>(context, pc, address, lane)?;
        let new = rmw::apply32::<OP>(old, data, compare);
        Self::store::<{ kind::B32 }>(context, pc, address, lane, [new, 0, 0, 0])?;
        Ok(old)
    }

    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "splits a value into its halves"
    )]
    fn atomic64<const OP: u8>(
        context: &mut Context<'_>,
        pc: u64,
        address: u64,
        lane: usize,
        data: u64,
        compare: u64,
    ) -> Result<u64, Denied> {
        let [low, high, ..] = Self::load::<{ kind::B64 }>(context, pc, address, lane)?;
        let old = u64::from(low) | u64::from(high) << 32;
        let new = rmw::apply64::<OP>(old, data, compare);
        let value = [new as u32, (new >> 32) as u32, 0, 0];
        Self::store::<{ kind::B64 }>(context, pc, address, lane, value)?;
        Ok(old)
    }
}

/// Which memory a flat address means.
#[inline(always)]
pub(crate) fn is_shared(address: u64) -> bool {
    address.wrapping_sub(aperture::SHARED_BASE) <= aperture::LIMIT
}

/// True in the private aperture.
#[inline(always)]
pub(crate) fn is_private(address: u64) -> bool {
    address.wrapping_sub(aperture::PRIVATE_BASE) <= aperture::LIMIT
}

/// Runs a space's function by the aperture of `$address`.
macro_rules! by_aperture {
    ($function:ident::<$generic:ident>, $context:ident, $pc:ident, $address:ident $(, $more:ident)*) => {
        if is_shared($address) {
            let offset = $address - aperture::SHARED_BASE;
            Local::$function::<$generic>($context, $pc, offset $(, $more)*)
        } else if is_private($address) {
            let offset = $address - aperture::PRIVATE_BASE;
            Private::$function::<$generic>($context, $pc, offset $(, $more)*)
        } else {
            Global::$function::<$generic>($context, $pc, $address $(, $more)*)
        }
    };
}

impl Space for Flat {
    #[inline(always)]
    fn load<const K: u8>(
        context: &mut Context<'_>,
        pc: u64,
        address: u64,
        lane: usize,
    ) -> Result<[u32; 4], Denied> {
        by_aperture!(load::<K>, context, pc, address, lane)
    }

    #[inline(always)]
    fn store<const K: u8>(
        context: &mut Context<'_>,
        pc: u64,
        address: u64,
        lane: usize,
        value: [u32; 4],
    ) -> Result<(), Denied> {
        by_aperture!(store::<K>, context, pc, address, lane, value)
    }

    #[inline(always)]
    fn atomic32<const OP: u8>(
        context: &mut Context<'_>,
        pc: u64,
        address: u64,
        lane: usize,
        data: u32,
        compare: u32,
    ) -> Result<u32, Denied> {
        by_aperture!(atomic32::<OP>, context, pc, address, lane, data, compare)
    }

    #[inline(always)]
    fn atomic64<const OP: u8>(
        context: &mut Context<'_>,
        pc: u64,
        address: u64,
        lane: usize,
        data: u64,
        compare: u64,
    ) -> Result<u64, Denied> {
        by_aperture!(atomic64::<OP>, context, pc, address, lane, data, compare)
    }
}
