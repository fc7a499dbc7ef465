//! Runs a test body on both drivers, and small helpers over memory that the GPU shares.

use hsakmt::{AllocFlags, AllocRequest, Kfd, LinuxKfd, MemoryKind, MemoryObject, NodeId};
use hsakmt_sys::Kernel;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Once};

/// Held by tests that count resources of the process, shared by all others.
pub(crate) static TURN: parking_lot::RwLock<()> = parking_lot::RwLock::new(());

/// Set in the child that runs over the interposer.
const CHILD: &str = "HANSA_DRIVER_CHILD";

/// Makes `embedded::name` and `interposed::name` of each `fn name(kernel: &Arc<dyn Kernel>)`. Those
/// after `alone` count what the process holds, so no other test runs beside them.
macro_rules! on_both {
    ($gpus:literal: $($name:ident)* $(; alone: $($alone:ident)*)?) => {
        mod embedded {
            $( #[test] fn $name() {
                let _turn = crate::harness::TURN.read();
                super::$name(&crate::harness::embedded($gpus));
            } )*
            $($( #[test] fn $alone() {
                let _turn = crate::harness::TURN.write();
                super::$alone(&crate::harness::embedded($gpus));
            } )*)?
        }
        mod interposed {
            crate::harness::on_both! { @interposed $gpus: $($name)* $($($alone)*)? }
        }
    };
    (@interposed $gpus:literal: $($name:ident)*) => {
        $( #[test] fn $name() {
            let test = concat!(module_path!(), "::", stringify!($name));
            crate::harness::interposed(test, $gpus, super::$name);
        } )*
    };
}
pub(crate) use on_both;

/// A virtual KFD in this process.
pub(crate) fn embedded(gpus: &str) -> Arc<dyn Kernel> {
    vkfd::VirtualKfd::new(vkfd::Config::of_gpus(gpus).unwrap()).unwrap()
}

/// Runs `body` on the operating system's calls, in a child that has the interposer.
pub(crate) fn interposed(test: &str, gpus: &str, body: fn(&Arc<dyn Kernel>)) {
    if std::env::var_os(CHILD).is_some() {
        body(&(Arc::new(LinuxKfd) as Arc<dyn Kernel>));
        return;
    }
    // The pipes to the child are descriptors of this process.
    let _turn = TURN.read();
    let (_, name) = test.split_once("::").unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args([name, "--exact", "--nocapture", "--test-threads=1"])
        .env(CHILD, "1")
        .env("LD_PRELOAD", interposer())
        .env("VKFD_GPUS", gpus)
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{}\n{out}\n{err}", output.status);
    assert!(
        out.contains("1 passed"),
        "the child ran no test:\n{out}\n{err}"
    );
}

/// The interposer of this build, made first if it is not there.
pub(crate) fn interposer() -> PathBuf {
    static BUILD: Once = Once::new();
    let profile = profile_directory();
    let path = profile.join("libvkfd_preload.so");
    BUILD.call_once(|| {
        if !path.exists() {
            build_interposer(&profile);
        }
    });
    path
}

/// `target/debug` or its like: test programs lie in `deps` below it.
fn profile_directory() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    program.parent().and_then(Path::parent).unwrap().to_owned()
}

fn build_interposer(profile: &Path) {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--package", "vkfd-preload"]);
    cargo.current_dir(env!("CARGO_MANIFEST_DIR"));
    cargo.env("CARGO_TARGET_DIR", profile.parent().unwrap());
    if profile.ends_with("release") {
        cargo.arg("--release");
    }
    assert!(
        cargo.status().unwrap().success(),
        "cannot build the interposer"
    );
}

/// The first and second GPU of a machine with one CPU node.
pub(crate) const GPU: NodeId = NodeId(1);
pub(crate) const OTHER_GPU: NodeId = NodeId(2);

pub(crate) fn open(kernel: &Arc<dyn Kernel>) -> Arc<Kfd> {
    Kfd::open(Arc::clone(kernel)).unwrap()
}

/// Memory that the host sees and every GPU of the machine may use.
pub(crate) fn shared(kfd: &Arc<Kfd>, node: NodeId, kind: MemoryKind, bytes: u64) -> MemoryObject {
    let mut flags = AllocFlags::HOST_ACCESS | AllocFlags::EXECUTABLE;
    if kind == MemoryKind::System {
        flags |= AllocFlags::COHERENT | AllocFlags::UNCACHED;
    }
    let request = AllocRequest {
        node,
        size_bytes: bytes,
        alignment: 0,
        kind,
        flags,
    };
    let memory = kfd.allocate(&request).unwrap();
    let nodes: Vec<_> = kfd.topology().gpus().map(|gpu| gpu.id).collect();
    memory.map(&nodes).unwrap();
    memory
}

/// Reads a dword of an object's host view.
pub(crate) fn read(memory: &MemoryObject, index: usize) -> u32 {
    assert!(4 * index as u64 + 4 <= memory.size_bytes());
    let at = memory.host_ptr().unwrap().add(4 * index).as_ptr::<u32>();
    // SAFETY: within the object, which is mapped for the host.
    unsafe { at.read_volatile() }
}

/// Writes a dword of an object's host view.
pub(crate) fn write(memory: &MemoryObject, index: usize, value: u32) {
    assert!(4 * index as u64 + 4 <= memory.size_bytes());
    let at = memory.host_ptr().unwrap().add(4 * index).as_ptr::<u32>();
    // SAFETY: within the object, which is mapped for the host.
    unsafe { at.write_volatile(value) }
}

/// Open descriptors and mappings of this process.
pub(crate) fn resources() -> (usize, usize) {
    let descriptors = std::fs::read_dir("/proc/self/fd").unwrap().count();
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    (descriptors, maps.lines().count())
}
