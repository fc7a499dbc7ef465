//! Configuration: which GPUs exist, and how they are run. From code or from `VKFD_*` variables.

use std::sync::Arc;

use crate::profile::{NAMES, Profile, ProfileError};

/// Most GPUs of one process: DRM has 64 render minors, and access masks have 64 bits.
pub const MAX_GPUS: usize = 64;

/// What a [`crate::VirtualKfd`] is made of.
#[derive(Clone, Debug)]
pub struct Config {
    /// The GPUs, in node order.
    pub gpus: Vec<Arc<Profile>>,
    /// Worker threads; `None` means all cores.
    pub threads: Option<usize>,
    /// Seed of scheduling decisions.
    pub seed: u64,
    /// Device memory per GPU in bytes, if not the profile's.
    pub vram_bytes: Option<u64>,
    /// Print each ioctl and packet to stderr.
    pub trace: bool,
}

/// Why the variables cannot be followed.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A profile cannot be used.
    #[error("VKFD_GPUS: {0}")]
    Profile(#[from] ProfileError),
    /// `profile*count` with a bad count.
    #[error("VKFD_GPUS: {item:?} has no valid count (1 to {MAX_GPUS})")]
    Count {
        /// The list's item.
        item: String,
    },
    /// The list names no or too many GPUs.
    #[error("VKFD_GPUS: {count} GPUs, possible are 1 to {MAX_GPUS}; known profiles: {}", NAMES.join(", "))]
    Amount {
        /// How many it names.
        count: usize,
    },
    /// A variable is not what it should be.
    #[error("{variable}: {value:?} is not {expected}")]
    Value {
        /// Variable.
        variable: &'static str,
        /// Its value.
        value: String,
        /// What is accepted.
        expected: &'static str,
    },
}

impl Config {
    /// One configuration of the listed GPUs (the syntax of `VKFD_GPUS`) with defaults otherwise.
    ///
    /// # Errors
    /// As [`Config::from_env`].
    pub fn of_gpus(list: &str) -> Result<Self, ConfigError> {
        Ok(Self {
            gpus: parse_gpus(list)?,
            threads: None,
            seed: 0,
            vram_bytes: None,
            trace: false,
        })
    }

    /// Reads `VKFD_GPUS` and its companions; `None` if `VKFD_GPUS` is not set.
    ///
    /// # Errors
    /// A variable with a bad value; the message names what is accepted.
    pub fn from_env() -> Result<Option<Self>, ConfigError> {
        Self::from_variables(|name| {
            std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
        })
    }

    /// [`Config::from_env`] with another source of variables.
    ///
    /// # Errors
    /// As [`Config::from_env`].
    pub fn from_variables(
        get: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<Self>, ConfigError> {
        let Some(list) = get("VKFD_GPUS") else {
            return Ok(None);
        };
        let variable = |name| get(name).filter(|value| !value.is_empty());
        check_engine(variable("VKFD_ENGINE"))?;
        let seed = variable("VKFD_SEED").map(parse_seed).transpose()?;
        let threads = variable("VKFD_THREADS").map(parse_threads).transpose()?;
        Ok(Some(Self {
            gpus: parse_gpus(&list)?,
            // Who asks for an order gets one: several threads have none.
            threads: threads.or(seed.map(|_| 1)),
            seed: seed.unwrap_or(0),
            vram_bytes: variable("VKFD_VRAM").map(parse_vram).transpose()?,
            trace: variable("VKFD_TRACE").is_some_and(|value| value != "0"),
        }))
    }
}

fn parse_gpus(list: &str) -> Result<Vec<Arc<Profile>>, ConfigError> {
    let mut gpus = Vec::new();
    for item in list
        .split(',')
        .map(str::trim)
        .filter(|item| !item.is_empty())
    {
        let (name, count) = split_count(item)?;
        let profiles = Profile::load(name)?;
        for _ in 0..count {
            gpus.extend(profiles.iter().cloned());
        }
    }
    if gpus.is_empty() || gpus.len() > MAX_GPUS {
        return Err(ConfigError::Amount { count: gpus.len() });
    }
    Ok(gpus)
}

fn split_count(item: &str) -> Result<(&str, usize), ConfigError> {
    let Some((name, count)) = item.rsplit_once('*') else {
        return Ok((item, 1));
    };
    match count.trim().parse() {
        Ok(count) if (1..=MAX_GPUS).contains(&count) => Ok((name.trim(), count)),
        _ => Err(ConfigError::Count {
            item: item.to_owned(),
        }),
    }
}

fn parse_threads(value: String) -> Result<usize, ConfigError> {
    const EXPECTED: &str = "a number of threads from 1 to 1024";
    let threads = value
        .parse()
        .ok()
        .filter(|threads| (1..=1024).contains(threads));
    threads.ok_or(ConfigError::Value {
        variable: "VKFD_THREADS",
        value,
        expected: EXPECTED,
    })
}

fn parse_seed(value: String) -> Result<u64, ConfigError> {
    let seed = value.parse().ok();
    seed.ok_or(ConfigError::Value {
        variable: "VKFD_SEED",
        value,
        expected: "a number of 64 bits",
    })
}

fn parse_vram(value: String) -> Result<u64, ConfigError> {
    const EXPECTED: &str = "a size of at least 64M (bytes, or with K, M, G, T)";
    let bytes = parse_bytes(&value).filter(|bytes| (64 << 20..=1 << 44).contains(bytes));
    bytes.ok_or(ConfigError::Value {
        variable: "VKFD_VRAM",
        value,
        expected: EXPECTED,
    })
}

fn parse_bytes(value: &str) -> Option<u64> {
    let (digits, shift) = match value.bytes().last()?.to_ascii_uppercase() {
        b'K' => (&value[..value.len() - 1], 10),
        b'M' => (&value[..value.len() - 1], 20),
        b'G' => (&value[..value.len() - 1], 30),
        b'T' => (&value[..value.len() - 1], 40),
        _ => (value, 0),
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

fn check_engine(value: Option<String>) -> Result<(), ConfigError> {
    match value.as_deref() {
        None | Some("interp") => Ok(()),
        Some(_) => Err(ConfigError::Value {
            variable: "VKFD_ENGINE",
            value: value.unwrap_or_default(),
            expected: "an engine of this build; it has: interp",
        }),
    }
}
