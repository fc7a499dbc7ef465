//! `hsa info`: what a program sees, a few lines per agent.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use hsa_sys::{
    HSA_AGENT_INFO_DEVICE, HSA_AGENT_INFO_NAME, HSA_AGENT_INFO_WAVEFRONT_SIZE,
    HSA_AMD_AGENT_INFO_BDFID, HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, HSA_AMD_AGENT_INFO_DOMAIN,
    HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY, HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU,
    HSA_AMD_AGENT_INFO_PRODUCT_NAME, HSA_AMD_AGENT_INFO_UUID,
    HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, HSA_AMD_MEMORY_POOL_INFO_SEGMENT,
    HSA_AMD_MEMORY_POOL_INFO_SIZE, HSA_DEVICE_TYPE_GPU, HSA_ISA_INFO_NAME, hsa_agent_t,
    hsa_amd_memory_pool_t,
};

use crate::library;
use crate::run::Error;
use crate::runtime::Runtime;

/// What `hsa info` takes.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Virtual GPUs, as VKFD_GPUS takes them; without it the environment counts.
    #[arg(long, value_name = "PROFILES")]
    gpu: Option<String>,
}

/// Prints all agents.
///
/// # Errors
/// If the runtime cannot be loaded or does not initialise.
pub(crate) fn run(options: &Options) -> Result<(), Error> {
    if let Some(gpus) = &options.gpu {
        return again_with(gpus);
    }
    let runtime = Runtime::load(&library::folder()?.join(library::RUNTIME))?;
    runtime.init()?;
    for (index, agent) in runtime.agents()?.into_iter().enumerate() {
        println!("agent {index}: {}", title(&runtime, agent)?);
        details(&runtime, agent)?;
    }
    runtime.shut_down()
}

/// The runtime reads its variables from the process's environment, so the command starts itself
/// once more with VKFD_GPUS set.
fn again_with(gpus: &str) -> Result<(), Error> {
    vkfd::Config::of_gpus(gpus)?;
    let here = std::env::current_exe().map_err(Error::OwnPath)?;
    let source: io::Error = Command::new(&here)
        .arg("info")
        .env("VKFD_GPUS", gpus)
        .exec();
    Err(Error::Start {
        program: here.into(),
        source,
    })
}

fn title(runtime: &Runtime, agent: hsa_agent_t) -> Result<String, Error> {
    let name = runtime.agent_text::<64>(agent, HSA_AGENT_INFO_NAME.0)?;
    let product = runtime.agent_text::<64>(agent, HSA_AMD_AGENT_INFO_PRODUCT_NAME.0)?;
    let kind = if is_gpu(runtime, agent)? {
        "GPU"
    } else {
        "CPU"
    };
    Ok(if product == name {
        format!("{kind} {name}")
    } else {
        format!("{kind} {name}, {product}")
    })
}

fn is_gpu(runtime: &Runtime, agent: hsa_agent_t) -> Result<bool, Error> {
    Ok(runtime.agent_u32(agent, HSA_AGENT_INFO_DEVICE.0)? == HSA_DEVICE_TYPE_GPU.0)
}

fn details(runtime: &Runtime, agent: hsa_agent_t) -> Result<(), Error> {
    let number = |attribute| runtime.agent_u32(agent, attribute);
    let units = number(HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT.0)?;
    let clock = number(HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY.0)?;
    println!("  {units} compute units, {clock} MHz");
    if is_gpu(runtime, agent)? {
        let (wave, simds) = (
            number(HSA_AGENT_INFO_WAVEFRONT_SIZE.0)?,
            number(HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU.0)?,
        );
        println!("  wavefronts of {wave} lanes, {simds} SIMDs per compute unit");
        let (domain, bdf) = (
            number(HSA_AMD_AGENT_INFO_DOMAIN.0)?,
            number(HSA_AMD_AGENT_INFO_BDFID.0)?,
        );
        let uuid = runtime.agent_text::<21>(agent, HSA_AMD_AGENT_INFO_UUID.0)?;
        println!(
            "  PCI {domain:04x}:{:02x}:{:02x}.{}, {uuid}",
            bdf >> 8,
            bdf >> 3 & 31,
            bdf & 7
        );
    }
    for isa in runtime.isas(agent)? {
        println!("  ISA {}", runtime.isa_text(isa, HSA_ISA_INFO_NAME.0)?);
    }
    for pool in runtime.pools(agent)? {
        println!("  memory {}", describe_pool(runtime, pool)?);
    }
    Ok(())
}

fn describe_pool(runtime: &Runtime, pool: hsa_amd_memory_pool_t) -> Result<String, Error> {
    /// `hsa_amd_segment_t`: 0 global, 3 group.
    const GROUP: u32 = 3;
    let size = human(runtime.pool_u64(pool, HSA_AMD_MEMORY_POOL_INFO_SIZE.0)?);
    if runtime.pool_u32(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT.0)? == GROUP {
        return Ok(format!("{size} group (LDS per workgroup)"));
    }
    let flags = runtime.pool_u32(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS.0)?;
    let names = [
        (1, "kernel arguments"),
        (2, "fine grained"),
        (4, "coarse grained"),
        (8, "extended scope fine grained"),
    ];
    let set: Vec<_> = names
        .iter()
        .filter(|(bit, _)| flags & bit != 0)
        .map(|(_, name)| *name)
        .collect();
    Ok(format!("{size} {}", set.join(", ")))
}

/// Bytes in the largest binary unit that keeps three digits.
fn human(bytes: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let step = (0..units.len() - 1)
        .take_while(|step| bytes >> (10 * step) >= 1024)
        .count();
    let tenths = (u128::from(bytes) * 10) >> (10 * step);
    format!("{}.{} {}", tenths / 10, tenths % 10, units[step])
}

#[cfg(test)]
mod tests {
    use super::human;

    #[test]
    fn sizes_use_the_largest_unit_that_fits() {
        assert_eq!(human(0), "0.0 B");
        assert_eq!(human(1023), "1023.0 B");
        assert_eq!(human(65536), "64.0 KiB");
        assert_eq!(human(68_702_699_520), "63.9 GiB");
        assert_eq!(human(3 << 40), "3.0 TiB");
    }
}
