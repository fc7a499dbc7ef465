//! Allocation, access, pinning and what is known about pointers.

use crate::{Open, pattern, read, write};
use hsa_core::Error;
use hsa_core::memory::PointerType;
use hsa_core::pool::PoolKind;
use std::sync::atomic::{AtomicU64, Ordering};

#[test]
fn memory_of_every_pool_is_usable_and_comes_back() {
    let rt = Open::new("gfx90a");
    let kinds = [
        (rt.cpu(), PoolKind::SystemFine),
        (rt.cpu(), PoolKind::SystemKernarg),
        (rt.cpu(), PoolKind::SystemCoarse),
        (rt.gpu(0), PoolKind::VramCoarse),
        (rt.gpu(0), PoolKind::VramFine),
    ];
    for (agent, kind) in kinds {
        let pool = rt.pool(agent, kind);
        for bytes in [1_u64, 4096, 5000, 1 << 20, (2 << 20) + 1, 8 << 20] {
            let address = rt.allocate(pool, bytes, 0).unwrap();
            assert_eq!(address % 4096, 0);
            let data = pattern(usize::try_from(bytes).unwrap(), 3);
            write(address, &data);
            assert_eq!(read(address, data.len()), data);
            let info = rt.pointer_info(address).unwrap();
            assert_eq!(
                (info.pointer_type, info.agent_base, info.host_base),
                (PointerType::Hsa, address, address)
            );
            assert_eq!(
                (info.size, info.agent_owner, info.global_flags),
                (bytes, agent.handle(), pool.global_flags())
            );
            rt.free(address).unwrap();
            assert_eq!(
                rt.pointer_info(address).unwrap().pointer_type,
                PointerType::Unknown
            );
            assert_eq!(rt.free(address).unwrap_err(), Error::InvalidAllocation);
        }
    }
}

#[test]
fn bad_requests_are_refused_as_amd_does() {
    let rt = Open::new("gfx90a");
    let vram = rt.pool(rt.gpu(0), PoolKind::VramCoarse);
    let lds = rt.pool(rt.gpu(0), PoolKind::Group);
    assert_eq!(rt.allocate(vram, 0, 0).unwrap_err(), Error::InvalidArgument);
    assert_eq!(
        rt.allocate(vram, vram.alloc_max_size + 1, 0).unwrap_err(),
        Error::InvalidAllocation
    );
    assert_eq!(
        rt.allocate(lds, 4096, 0).unwrap_err(),
        Error::InvalidAllocation
    );
    assert_eq!(rt.free(0), Ok(()));
    assert_eq!(rt.free(0x1234).unwrap_err(), Error::InvalidAllocation);
    let buffer = rt.allocate(vram, 8192, 0).unwrap();
    assert_eq!(
        rt.free(buffer + 4096).unwrap_err(),
        Error::InvalidAllocation
    );
    assert_eq!(
        rt.allow_access(&[], buffer).unwrap_err(),
        Error::InvalidArgument
    );
    let local = 7;
    assert_eq!(
        rt.allow_access(&[rt.gpu(0)], &raw const local as u64)
            .unwrap_err(),
        Error::Generic
    );
}

#[test]
fn pointer_info_knows_interior_addresses_and_not_one_past_the_end() {
    let rt = Open::new("gfx1030");
    let vram = rt.pool(rt.gpu(0), PoolKind::VramCoarse);
    let buffer = rt.allocate(vram, 10_000, 0).unwrap();
    for offset in [0, 1, 4096, 9_999] {
        let info = rt.pointer_info(buffer + offset).unwrap();
        assert_eq!(
            (info.pointer_type, info.agent_base, info.size),
            (PointerType::Hsa, buffer, 10_000)
        );
    }
    assert_eq!(
        rt.pointer_info(buffer + 10_000).unwrap().pointer_type,
        PointerType::Unknown
    );
    let stack = 1_u8;
    assert_eq!(
        rt.pointer_info(&raw const stack as u64)
            .unwrap()
            .pointer_type,
        PointerType::Unknown
    );
    assert_eq!(
        rt.pointer_info(0).unwrap().pointer_type,
        PointerType::Unknown
    );
    rt.set_pointer_userdata(buffer + 5, 77).unwrap();
    assert_eq!(rt.pointer_info(buffer).unwrap().user_data, 77);
    assert_eq!(
        rt.set_pointer_userdata(0x10, 1).unwrap_err(),
        Error::InvalidArgument
    );
}

#[test]
fn access_is_replaced_and_the_owner_always_keeps_it() {
    let rt = Open::new("gfx90a*2");
    let (a, b) = (rt.gpu(0), rt.gpu(1));
    let accessible = |address| rt.pointer_info(address).unwrap().accessible;
    for bytes in [4096, 4 << 20] {
        let buffer = rt.device_buffer(a, bytes);
        assert_eq!(accessible(buffer), [a.handle()]);
        rt.allow_access(&[b], buffer + 100).unwrap();
        assert_eq!(accessible(buffer), [a.handle(), b.handle()]);
        rt.allow_access(&[a], buffer).unwrap();
        assert_eq!(accessible(buffer), [a.handle()]);
        rt.free(buffer).unwrap();
    }
    let host = rt.host_buffer(4096);
    assert_eq!(
        accessible(host),
        [rt.cpu().handle(), a.handle(), b.handle()]
    );
    rt.allow_access(&[b], host).unwrap();
    assert_eq!(accessible(host), [rt.cpu().handle(), b.handle()]);
}

#[test]
fn pinned_memory_has_a_second_address_with_the_same_offset() {
    let rt = Open::new("gfx90a");
    let data = vec![5_u8; 100_000];
    let host = data.as_ptr() as u64 + 17;
    // SAFETY: `data` lives until after the unlock.
    let alias = unsafe { rt.lock(host, 50_000, &[], None, 0) }.unwrap();
    assert_ne!(alias, host);
    assert_eq!(alias % 4096, host % 4096);
    for address in [host, host + 49_999, alias, alias + 49_999] {
        let info = rt.pointer_info(address).unwrap();
        assert_eq!(info.pointer_type, PointerType::Locked, "{address:#x}");
        assert_eq!(
            (info.agent_base, info.host_base, info.size),
            (alias, host, 50_000)
        );
        assert_eq!(info.agent_owner, rt.cpu().handle());
        assert!(info.registered);
    }
    assert_eq!(
        rt.pointer_info(host + 50_000).unwrap().pointer_type,
        PointerType::Unknown
    );
    // SAFETY: as above.
    let again = unsafe { rt.lock(host, 50_000, &[rt.gpu(0)], None, 0) }.unwrap();
    assert_eq!(again, alias);
    rt.unlock(host).unwrap();
    assert_eq!(
        rt.pointer_info(host).unwrap().pointer_type,
        PointerType::Locked,
        "locked twice"
    );
    rt.unlock(host).unwrap();
    assert_eq!(
        rt.pointer_info(host).unwrap().pointer_type,
        PointerType::Unknown
    );
    rt.unlock(host).unwrap();
    assert_eq!(
        // SAFETY: refused before anything is touched.
        unsafe { rt.lock(0, 10, &[], None, 0) }.unwrap_err(),
        Error::InvalidArgument
    );
    assert_eq!(
        // SAFETY: as above.
        unsafe { rt.lock(host, 0, &[], None, 0) }.unwrap_err(),
        Error::InvalidArgument
    );
}

#[test]
fn overlapping_pins_are_kept_apart() {
    let rt = Open::new("gfx1030");
    let data = vec![0_u8; 64 << 10];
    let host = data.as_ptr() as u64;
    // SAFETY: `data` lives until after the unlocks.
    let whole = unsafe { rt.lock(host, 64 << 10, &[], None, 0) }.unwrap();
    // SAFETY: as above.
    let part = unsafe { rt.lock(host + 8192, 4096, &[], None, 0) }.unwrap();
    rt.unlock(host + 8192).unwrap();
    let info = rt.pointer_info(host + 9000).unwrap();
    assert_eq!(
        (info.pointer_type, info.agent_base),
        (PointerType::Locked, whole)
    );
    assert_ne!(part, 0);
    rt.unlock(host).unwrap();
    assert_eq!(
        rt.pointer_info(host + 9000).unwrap().pointer_type,
        PointerType::Unknown
    );
}

#[test]
fn locking_pool_memory_keeps_its_address() {
    let rt = Open::new("gfx90a");
    let buffer = rt
        .allocate(rt.pool(rt.cpu(), PoolKind::SystemCoarse), 4096, 0)
        .unwrap();
    assert_eq!(
        // SAFETY: the buffer is not freed before the unlock.
        unsafe { rt.lock(buffer, 4096, &[rt.gpu(0)], None, 0) },
        Ok(buffer)
    );
    assert!(
        rt.pointer_info(buffer)
            .unwrap()
            .accessible
            .contains(&rt.gpu(0).handle())
    );
    rt.unlock(buffer).unwrap();
    assert_eq!(
        rt.pointer_info(buffer).unwrap().pointer_type,
        PointerType::Hsa
    );
}

#[test]
fn small_allocations_share_blocks_and_blocks_come_back() {
    let rt = Open::new("gfx90a");
    let gpu = rt.gpu(0);
    let free = rt.memory_available(gpu).unwrap();
    let buffers: Vec<u64> = (0..2000).map(|_| rt.device_buffer(gpu, 4096)).collect();
    let used = free - rt.memory_available(gpu).unwrap();
    assert!(
        (8 << 20..16 << 20).contains(&used),
        "{used} bytes for 2000 pages"
    );
    let mut sorted = buffers.clone();
    sorted.sort_unstable();
    assert!(
        sorted.windows(2).all(|w| w[1] - w[0] >= 4096),
        "allocations overlap"
    );
    for buffer in buffers {
        rt.free(buffer).unwrap();
    }
    assert_eq!(rt.memory_available(gpu).unwrap(), free);
}

#[test]
fn memory_that_runs_out_is_an_error_and_comes_back() {
    let rt = Open::new("gfx1030");
    let gpu = rt.gpu(0);
    let pool = rt.pool(gpu, PoolKind::VramCoarse);
    let half = (pool.size / 2) & !0xfff;
    let first = rt.allocate(pool, half, 0).unwrap();
    let second = rt.allocate(pool, half + (64 << 20), 0);
    assert_eq!(second.unwrap_err(), Error::OutOfResources);
    rt.free(first).unwrap();
    let again = rt.allocate(pool, half, 0).unwrap();
    rt.free(again).unwrap();
}

static FREED: AtomicU64 = AtomicU64::new(0);

unsafe extern "C-unwind" fn note(ptr: *mut std::ffi::c_void, data: *mut std::ffi::c_void) {
    FREED.store(ptr as u64 + data as u64, Ordering::SeqCst);
}

#[test]
fn a_deallocation_callback_runs_once_when_its_buffer_is_freed() {
    let rt = Open::new("gfx1030");
    let buffer = rt.device_buffer(rt.gpu(0), 4096);
    // SAFETY: `note` takes any two numbers.
    unsafe { rt.register_deallocation_callback(buffer + 8, note, 5) }.unwrap();
    rt.free(buffer).unwrap();
    assert_eq!(FREED.load(Ordering::SeqCst), buffer + 13);
    FREED.store(0, Ordering::SeqCst);
    let buffer = rt.device_buffer(rt.gpu(0), 4096);
    // SAFETY: as above.
    unsafe { rt.register_deallocation_callback(buffer, note, 5) }.unwrap();
    rt.deregister_deallocation_callback(buffer, note).unwrap();
    assert_eq!(
        rt.deregister_deallocation_callback(buffer, note)
            .unwrap_err(),
        Error::InvalidArgument
    );
    rt.free(buffer).unwrap();
    assert_eq!(FREED.load(Ordering::SeqCst), 0);
}

#[test]
fn copy_and_fill_reach_host_device_and_pinned_memory() {
    let rt = Open::new("gfx90a");
    let (host, vram) = (rt.host_buffer(10_000), rt.device_buffer(rt.gpu(0), 10_000));
    let data = pattern(9_999, 1);
    write(host, &data);
    // SAFETY: both buffers have 10,000 bytes.
    unsafe { rt.copy(vram + 1, host, 9_999) }.unwrap();
    assert_eq!(read(vram + 1, 9_999), data);
    // SAFETY: as above.
    unsafe { rt.fill(vram, 0xdead_beef, 2_000) }.unwrap();
    assert!(
        read(vram, 8_000)
            .chunks(4)
            .all(|c| c == 0xdead_beef_u32.to_ne_bytes())
    );
    assert_eq!(read(vram + 8_000, 100), data[7_999..8_099]);
    assert_eq!(
        // SAFETY: refused before anything is written.
        unsafe { rt.fill(vram + 2, 0, 1) }.unwrap_err(),
        Error::InvalidArgument
    );
    let mut pinned = vec![0_u8; 5_000];
    // SAFETY: `pinned` lives until the unlock.
    let alias = unsafe { rt.lock(pinned.as_mut_ptr() as u64, 5_000, &[], None, 0) }.unwrap();
    // SAFETY: both ranges have 5,000 bytes.
    unsafe { rt.copy(alias, host, 5_000) }.unwrap();
    rt.unlock(pinned.as_ptr() as u64).unwrap();
    assert_eq!(pinned, data[..5_000]);
}
