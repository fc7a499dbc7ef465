//! User queues and doorbells: creation, refusals, work by plain store and by the direct ring.

#![allow(clippy::unwrap_used, reason = "a failed set-up is a failed test")]

mod common;

use std::sync::atomic::{AtomicI64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use amdgpu_abi::aql::{Barrier, Header, PACKET_BYTES, packet_type};
use common::*;
use hsakmt_sys::{Errno, ioctl, kfd, newer};

const AQL: u32 = kfd::KFD_IOC_QUEUE_TYPE_COMPUTE_AQL;
const SDMA: u32 = kfd::KFD_IOC_QUEUE_TYPE_SDMA;
const SDMA_BY_ENGINE: u32 = newer::KFD_IOC_QUEUE_TYPE_SDMA_BY_ENG_ID;
const PACKETS: u64 = 64;

type CreateArgs = newer::kfd_ioctl_create_queue_args;

/// One AQL queue with its memory: ring, `amd_queue_t` and one signal.
struct Queue<'c, 'k> {
    client: &'c Client<'k>,
    base: u64,
    id: u32,
    doorbell: *mut u64,
}

/// Offsets in the queue's shared memory.
const QUEUE_T: u64 = 0x2000;
const WPTR: u64 = QUEUE_T + 0x38;
const RPTR: u64 = QUEUE_T + 0x80;
const SIGNAL: u64 = 0x4000;

fn create_args(client: &Client<'_>, gpu: usize, base: u64, queue_type: u32) -> CreateArgs {
    CreateArgs {
        ring_base_address: base,
        ring_size: 4096,
        read_pointer_address: base + RPTR,
        write_pointer_address: base + WPTR,
        gpu_id: client.gpu_ids[gpu],
        queue_type,
        queue_percentage: 100,
        queue_priority: 7,
        ..Default::default()
    }
}

impl<'c, 'k> Queue<'c, 'k> {
    fn new(client: &'c Client<'k>, gpu: usize) -> Self {
        let base = client.shared(0x8000).address;
        for packet in 0..PACKETS {
            cell(base + packet * PACKET_BYTES as u64)
                .store(packet_type::INVALID.into(), Ordering::Relaxed);
        }
        // read_dispatch_id_field_base_byte_offset, by which the processor finds the block.
        cell(base + QUEUE_T + 0x88).store(0x80, Ordering::Relaxed);
        let mut args = create_args(client, gpu, base, AQL);
        client.create_queue(&mut args).unwrap();
        let slice = client
            .mmap(client.kfd, args.doorbell_offset & !0x1fff, 8192)
            .unwrap();
        let doorbell =
            slice.wrapping_byte_add(usize::try_from(args.doorbell_offset & 0x1fff).unwrap());
        Self {
            client,
            base,
            id: args.queue_id,
            doorbell,
        }
    }

    fn signal(&self) -> &AtomicI64 {
        // SAFETY: `value` of the `amd_signal_t` in the queue's memory.
        unsafe { AtomicI64::from_ptr((self.base + SIGNAL + 8) as *mut i64) }
    }

    /// Publishes a barrier packet that decrements the signal; gives its index.
    fn submit(&self) -> u64 {
        let header = Header::new(packet_type::BARRIER_AND, true, 2, 2);
        let packet = Barrier {
            dep_signals: [0; 5],
            completion_signal: self.base + SIGNAL,
        }
        .encode(header);
        let index = cell(self.base + WPTR).fetch_add(1, Ordering::AcqRel);
        let place = self.base + index % PACKETS * PACKET_BYTES as u64;
        for word in (1..8).chain([0]) {
            let at = word * 8;
            let bytes: [u8; 8] = packet.0[at..at + 8].try_into().unwrap();
            cell(place + at as u64).store(u64::from_le_bytes(bytes), Ordering::Release);
        }
        index
    }

    fn ring_by_store(&self, index: u64) {
        // SAFETY: a live doorbell mapping.
        unsafe { self.doorbell.write_volatile(index) };
    }

    fn ring_directly(&self, index: u64) {
        // SAFETY: a live doorbell mapping.
        unsafe { self.client.kernel.ring_doorbell(self.doorbell, index) };
    }

    fn wait_for(&self, value: i64) {
        let start = Instant::now();
        while self.signal().load(Ordering::Acquire) != value {
            assert!(start.elapsed() < Duration::from_secs(20), "the queue hangs");
            thread::yield_now();
        }
    }
}

impl Drop for Queue<'_, '_> {
    fn drop(&mut self) {
        if !thread::panicking() {
            self.client.destroy_queue(self.id).unwrap();
        }
    }
}

#[test]
fn plain_stores_wake_a_resting_queue_again_and_again() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    let queue = Queue::new(&client, 0);
    for round in 0..20 {
        queue.signal().store(1, Ordering::Release);
        queue.ring_by_store(queue.submit());
        queue.wait_for(0);
        // Long enough for the page to be armed again in some rounds.
        thread::sleep(Duration::from_millis(round % 4 * 2));
    }
}

#[test]
fn a_store_of_the_same_value_is_noticed() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    let queue = Queue::new(&client, 0);
    for _ in 0..5 {
        queue.signal().store(1, Ordering::Release);
        queue.submit();
        queue.ring_by_store(7);
        queue.wait_for(0);
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn direct_rings_and_plain_stores_mix() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    let queue = Queue::new(&client, 0);
    for round in 0..2000 {
        queue.signal().store(1, Ordering::Release);
        let index = queue.submit();
        if round % 3 == 0 {
            queue.ring_by_store(index)
        } else {
            queue.ring_directly(index)
        }
        queue.wait_for(0);
    }
}

#[test]
fn a_thousand_packets_from_several_threads_all_complete() {
    let device = device("gfx90a*2");
    let client = Client::new(&*device);
    let (first, second) = (Queue::new(&client, 0), Queue::new(&client, 1));
    for queue in [&first, &second] {
        queue.signal().store(48, Ordering::Release);
    }
    let addresses =
        [&first, &second].map(|queue| (queue.base, queue.doorbell.expose_provenance(), queue.id));
    thread::scope(|scope| {
        for (base, doorbell, id) in addresses {
            for _ in 0..3 {
                let client = &client;
                scope.spawn(move || {
                    let queue = Queue {
                        client,
                        base,
                        id,
                        doorbell: std::ptr::with_exposed_provenance_mut(doorbell),
                    };
                    for _ in 0..16 {
                        queue.ring_by_store(queue.submit());
                    }
                    std::mem::forget(queue);
                });
            }
        }
    });
    first.wait_for(0);
    second.wait_for(0);
}

#[test]
fn suspended_queue_keeps_its_packets() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    let queue = Queue::new(&client, 0);
    let mut update = kfd::kfd_ioctl_update_queue_args {
        ring_base_address: queue.base,
        queue_id: queue.id,
        ring_size: 4096,
        queue_percentage: 0,
        queue_priority: 7,
    };
    let mut state = kfd::kfd_ioctl_get_queue_wave_state_args {
        queue_id: queue.id,
        ..Default::default()
    };
    assert_eq!(
        client.ioctl(ioctl::GET_QUEUE_WAVE_STATE, &mut state),
        Err(EINVAL),
        "it is active"
    );
    client.ioctl(ioctl::UPDATE_QUEUE, &mut update).unwrap();
    client
        .ioctl(ioctl::GET_QUEUE_WAVE_STATE, &mut state)
        .unwrap();
    queue.signal().store(1, Ordering::Release);
    queue.ring_by_store(queue.submit());
    thread::sleep(Duration::from_millis(20));
    assert_eq!(queue.signal().load(Ordering::Acquire), 1);
    update.queue_percentage = 100;
    client.ioctl(ioctl::UPDATE_QUEUE, &mut update).unwrap();
    queue.wait_for(0);
    update.queue_id = 99;
    assert_eq!(client.ioctl(ioctl::UPDATE_QUEUE, &mut update), Err(EINVAL));
}

#[test]
fn creation_checks_its_arguments() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    let base = client.shared(0x8000).address;
    let create = |change: fn(&mut CreateArgs)| {
        let mut args = create_args(&client, 0, base, AQL);
        change(&mut args);
        client.create_queue(&mut args).map(|()| args.queue_id)
    };
    assert_eq!(create(|args| args.queue_percentage = 101), Err(EINVAL));
    assert_eq!(create(|args| args.queue_priority = 16), Err(EINVAL));
    assert_eq!(create(|args| args.ring_size = 4095), Err(EINVAL));
    assert_eq!(create(|args| args.gpu_id = 3), Err(EINVAL));
    assert_eq!(create(|args| args.queue_type = 9), Err(Errno(524)));
    assert_eq!(
        create(|args| args.ring_base_address = u64::MAX),
        Err(EFAULT)
    );
    assert_eq!(
        create(|args| args.read_pointer_address = 1 << 63),
        Err(EFAULT)
    );
    assert_eq!(
        create(|args| args.write_pointer_address = 1 << 63),
        Err(EFAULT)
    );
    assert_eq!(
        create(|args| args.eop_buffer_address = 1 << 63),
        Err(EFAULT)
    );
    assert_eq!(
        create(|args| args.read_pointer_address = 0x1000_0000),
        Err(EFAULT),
        "not mapped"
    );
    assert_eq!(
        create(|args| args.ring_size = 1 << 20),
        Err(EFAULT),
        "longer than its memory"
    );
    assert_eq!(
        create(|args| args.queue_percentage = 0),
        Ok(0),
        "a suspended queue"
    );
    assert_eq!(client.destroy_queue(1), Err(EINVAL));
    client.destroy_queue(0).unwrap();
    assert_eq!(client.destroy_queue(0), Err(EINVAL));
    let mut unbound = create_args(&client, 0, base, AQL);
    let other = self::device("gfx90a");
    let bare = Client::without_vm(&*other);
    assert_eq!(bare.create_queue(&mut unbound), Err(Errno(libc::ESRCH)));
}

#[test]
fn sdma_queues_spread_over_engines_and_run_out() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    let base = client.shared(0x8000).address;
    let mut ids = Vec::new();
    // Two engines of eight queues each.
    for number in 0..16u64 {
        let mut args = create_args(&client, 0, base, SDMA);
        client.create_queue(&mut args).unwrap();
        let doorbell = args.doorbell_offset & 0x1fff;
        let (engine, queue) = (number % 2, number / 2);
        assert_eq!(
            doorbell / 8,
            0x100 + 0xa * engine + (queue & 1) * 512 + (queue >> 1)
        );
        ids.push(args.queue_id);
    }
    assert_eq!(
        client.create_queue(&mut create_args(&client, 0, base, SDMA)),
        Err(ENOMEM)
    );
    let mut named = create_args(&client, 0, base, SDMA_BY_ENGINE);
    named.sdma_engine_id = 5;
    assert_eq!(
        client.create_queue(&mut named),
        Err(EINVAL),
        "the chip has engines 0 to 4"
    );
    for id in ids {
        client.destroy_queue(id).unwrap();
    }
    named.sdma_engine_id = 1;
    client.create_queue(&mut named).unwrap();
    assert_eq!((named.doorbell_offset & 0x1fff) / 8, 0x10a);
}

#[test]
fn queue_ids_and_doorbells_run_out_and_come_back() {
    let device = device("gfx1030");
    let client = Client::new(&*device);
    let base = client.shared(0x8000).address;
    let mut suspended = create_args(&client, 0, base, AQL);
    suspended.queue_percentage = 0;
    for _ in 0..127 {
        client.create_queue(&mut suspended).unwrap();
    }
    assert_eq!(
        client.create_queue(&mut suspended),
        Err(Errno(libc::ENOSPC))
    );
    client.destroy_queue(42).unwrap();
    client.create_queue(&mut suspended).unwrap();
    assert_eq!(suspended.queue_id, 42);
}

#[test]
fn cu_masks_are_checked_per_chip() {
    let device = device("gfx90a,gfx1030");
    let client = Client::new(&*device);
    let base = client.shared(0x8000).address;
    let set = |queue_id, mask: &[u32], bits| {
        let cu_mask_ptr = mask.as_ptr() as u64;
        let mut args = kfd::kfd_ioctl_set_cu_mask_args {
            queue_id,
            num_cu_mask: bits,
            cu_mask_ptr,
        };
        client.ioctl(ioctl::SET_CU_MASK, &mut args)
    };
    let queues = [0, 1].map(|gpu| {
        let mut args = create_args(&client, gpu, base, AQL);
        client.create_queue(&mut args).unwrap();
        args.queue_id
    });
    assert_eq!(set(queues[0], &[0x5], 32), Ok(()));
    assert_eq!(
        set(queues[1], &[0x5], 32),
        Err(EINVAL),
        "gfx10 hands out pairs"
    );
    assert_eq!(set(queues[1], &[0xf], 32), Ok(()));
    assert_eq!(set(queues[0], &[1], 0), Err(EINVAL));
    assert_eq!(set(queues[0], &[1], 33), Err(EINVAL));
    assert_eq!(set(99, &[1], 32), Err(EINVAL));
}

#[test]
fn gws_exists_where_the_chip_has_it() {
    let device = device("gfx90a,gfx1030");
    let client = Client::new(&*device);
    let base = client.shared(0x8000).address;
    let alloc = |queue_id| {
        let mut args = kfd::kfd_ioctl_alloc_queue_gws_args {
            queue_id,
            num_gws: 64,
            first_gws: 7,
            pad: 0,
        };
        client
            .ioctl(ioctl::ALLOC_QUEUE_GWS, &mut args)
            .map(|()| args.first_gws)
    };
    for (gpu, expected) in [(0, Ok(0)), (1, Err(Errno(libc::ENODEV)))] {
        let mut args = create_args(&client, gpu, base, AQL);
        client.create_queue(&mut args).unwrap();
        assert_eq!(alloc(args.queue_id), expected);
    }
    assert_eq!(alloc(99), Err(EINVAL));
}

#[test]
fn doorbell_maps_check_length_and_gpu() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    let offset = 3 << 62 | u64::from(client.gpu_ids[0]) << 46;
    assert_eq!(client.mmap(client.kfd, offset, 4096), Err(EINVAL));
    assert_eq!(
        client.mmap(client.kfd, 3 << 62 | 5 << 46, 8192),
        Err(Errno(libc::ENODEV))
    );
    assert!(client.mmap(client.kfd, offset, 8192).is_ok());
    assert_eq!(
        client.mmap(client.kfd, u64::from(client.gpu_ids[0]) << 46, 8192),
        Err(EINVAL)
    );
    assert!(
        client
            .mmap(client.kfd, u64::from(client.gpu_ids[0]) << 46, 4096)
            .is_ok(),
        "registers"
    );
}

/// A client that frees its doorbell object unmaps the page next, which vkfd may not hear of: it
/// must not change the protection of what comes to lie there.
#[test]
fn freed_doorbell_page_is_left_alone() {
    let device = device("gfx90a");
    let client = Client::new(&*device);
    let queue = Queue::new(&client, 0);
    let page = reserve(8192);
    let (handle, _) = client
        .alloc(0, page as u64, 8192, kfd::KFD_IOC_ALLOC_MEM_FLAGS_DOORBELL)
        .unwrap();
    let offset = 3 << 62 | u64::from(client.gpu_ids[0]) << 46;
    client.mmap_at(page, client.kfd, offset, 8192).unwrap();
    client.free(handle).unwrap();
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
    // SAFETY: replaces the test's own mapping.
    let mine = unsafe { libc::mmap(page, 8192, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
    // Opens and arms the page through the queue's own mapping.
    queue.signal().store(1, Ordering::Release);
    queue.ring_by_store(queue.submit());
    queue.wait_for(0);
    thread::sleep(Duration::from_millis(10));
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let start = format!("{:x}-", mine.addr());
    let line = maps.lines().find(|line| line.starts_with(&start)).unwrap();
    assert!(line.contains(" rw-p "), "{line}");
}

/// Voluntary context switches of vkfd's threads: each is a sleep, hence a wake-up before it.
fn sleeps() -> u64 {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let count = |task: std::io::Result<std::fs::DirEntry>| {
        let path = task.ok()?.path();
        let name = std::fs::read_to_string(path.join("comm")).ok()?;
        let status = std::fs::read_to_string(path.join("status")).ok()?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
        name.starts_with("vkfd-")
            .then(|| line.trim().parse::<u64>().ok())?
    };
    tasks.filter_map(count).sum()
}

/// Runs alone (its own process in nextest; by itself under `cargo test -- idle`): other tests'
/// queues would be counted too, so it compares only once they have come to rest.
#[test]
fn idle_queues_never_wake_up() {
    let device = device("gfx90a*2");
    let client = Client::new(&*device);
    let queues = [0, 1].map(|gpu| Queue::new(&client, gpu));
    for queue in &queues {
        queue.signal().store(1, Ordering::Release);
        queue.ring_by_store(queue.submit());
        queue.wait_for(0);
    }
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let before = sleeps();
        thread::sleep(Duration::from_millis(300));
        if sleeps() == before {
            return;
        }
        assert!(Instant::now() < deadline, "an idle process keeps waking up");
    }
}
