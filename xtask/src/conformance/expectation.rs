//! Known failures: `tests/expectations/SUITE.toml`. A case that is listed and passes is an error
//! too, so that the lists only shrink.

use serde::Deserialize;

use crate::{Result, shell};

/// The known failures of a suite.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expectations {
    #[serde(default, rename = "failure")]
    failures: Vec<Failure>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Failure {
    case: String,
    /// Profile, or all of them.
    gpu: Option<String>,
    reason: String,
}

impl Expectations {
    /// Why this case is known to fail on this GPU.
    pub(crate) fn reason(&self, case: &str, gpu: &str) -> Option<&str> {
        let matches = |f: &&Failure| f.case == case && f.gpu.as_deref().is_none_or(|g| g == gpu);
        self.failures
            .iter()
            .find(matches)
            .map(|f| f.reason.as_str())
    }
}

/// The list of a suite; a suite without a file has none.
///
/// # Errors
/// If the file is there but wrong.
pub(crate) fn load(suite: &str) -> Result<Expectations> {
    let path = shell::root()
        .join("tests/expectations")
        .join(suite)
        .with_extension("toml");
    match std::fs::read_to_string(&path) {
        Ok(text) => {
            Ok(toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?)
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Expectations::default()),
        Err(error) => Err(format!("{}: {error}", path.display()).into()),
    }
}
