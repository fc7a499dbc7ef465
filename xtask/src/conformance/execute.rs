//! Runs one program on one virtual GPU under a time limit and judges how it ended.

use std::fs::File;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::compile::Programs;
use super::report::Progress;
use super::suite::{Case, Ends};

/// What became of a case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// It did all that it must.
    Passed,
    /// It did not.
    Failed,
    /// It could not be run here.
    Skipped,
}

/// A verdict with its reason and duration.
pub(crate) struct Outcome {
    pub(crate) verdict: Verdict,
    pub(crate) reason: String,
    pub(crate) seconds: f64,
}

/// What runs a program, on which GPU, and where its output is kept.
pub(crate) struct Place<'a> {
    pub(crate) hsa: &'a Path,
    pub(crate) gpu: &'a str,
    pub(crate) folder: &'a Path,
}

impl Place<'_> {
    fn log(&self, case: &Case, stream: &str) -> PathBuf {
        self.folder
            .join(format!("{}.{}.{stream}", case.name, self.gpu))
    }
}

/// Runs all cases; the results are in the order of the cases.
pub(crate) fn all(
    place: &Place<'_>,
    cases: &[&Case],
    programs: &Programs,
    progress: &Progress,
) -> Vec<Outcome> {
    in_parallel(cases, |case| {
        let start = Instant::now();
        let result = match programs.get(&case.name) {
            Some(Ok(program)) => run(place, case, program),
            Some(Err(message)) => Err(format!(
                "does not compile: {}",
                message.lines().next().unwrap_or("")
            )),
            None => Err("was not compiled".into()),
        };
        progress.step(&case.name);
        let verdict = if result.is_ok() {
            Verdict::Passed
        } else {
            Verdict::Failed
        };
        Outcome {
            verdict,
            reason: result.err().unwrap_or_default(),
            seconds: start.elapsed().as_secs_f64(),
        }
    })
}

/// Applies `body` to each item on as many threads as there are cores; keeps the order.
pub(crate) fn in_parallel<T: Sync, R: Send>(items: &[T], body: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index) else { break };
                    let result = body(item);
                    results
                        .lock()
                        .unwrap_or_else(std::sync::PoisonError::into_inner)
                        .push((index, result));
                }
            });
        }
    });
    let mut results = results
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

fn run(place: &Place<'_>, case: &Case, program: &Path) -> Result<(), String> {
    let file = |stream: &str| {
        let path = place.log(case, stream);
        File::create(&path).map_err(|e| format!("{}: {e}", path.display()))
    };
    let child = Command::new(place.hsa)
        .args([
            "run",
            "--gpu",
            place.gpu,
            "--count",
            &case.count.to_string(),
            "--",
        ])
        .arg(program)
        .stdin(Stdio::null())
        .stdout(file("stdout")?)
        .stderr(file("stderr")?)
        .process_group(0)
        .spawn()
        .map_err(|error| format!("{}: {error}", place.hsa.display()))?;
    let status = wait(child, Duration::from_secs(case.limit_s))?;
    let read = |stream: &str| {
        let bytes = std::fs::read(place.log(case, stream)).map_err(|e| e.to_string())?;
        Ok::<_, String>(String::from_utf8_lossy(&bytes).into_owned())
    };
    judge(case, status, &read("stdout")?, &read("stderr")?)
}

/// Waits for the process, or ends its whole group when the time is up.
fn wait(mut child: Child, limit: Duration) -> Result<ExitStatus, String> {
    let start = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) if start.elapsed() < limit => std::thread::sleep(Duration::from_millis(5)),
            Ok(None) => {
                let killed = Command::new("kill")
                    .args(["-KILL", "--", &format!("-{}", child.id())])
                    .status();
                let reaped = child.wait();
                return Err(format!(
                    "hangs: no end within {} s ({killed:?}, {reaped:?})",
                    limit.as_secs()
                ));
            }
            Err(error) => return Err(error.to_string()),
        }
    }
}

fn judge(case: &Case, status: ExitStatus, stdout: &str, stderr: &str) -> Result<(), String> {
    let last = |text: &str| text.lines().last().unwrap_or("").to_owned();
    match case.ends {
        Ends::Pass if !status.success() || last(stdout) != "PASS" => {
            return Err(format!(
                "{status}; stdout ends {:?}, stderr ends {:?}",
                last(stdout),
                last(stderr)
            ));
        }
        Ends::Success if !status.success() => {
            return Err(format!("{status}; stderr ends {:?}", last(stderr)));
        }
        Ends::Abort if status.signal() != Some(6) => {
            return Err(format!(
                "{status} instead of SIGABRT; stdout ends {:?}",
                last(stdout)
            ));
        }
        Ends::Pass | Ends::Success | Ends::Abort => {}
    }
    for (patterns, text, name) in [
        (&case.stdout, stdout, "stdout"),
        (&case.stderr, stderr, "stderr"),
    ] {
        for pattern in patterns {
            let found = regex::Regex::new(pattern)
                .map_err(|e| e.to_string())?
                .is_match(text);
            if !found {
                return Err(format!(
                    "{name} does not match {pattern:?}; it ends {:?}",
                    last(text)
                ));
            }
        }
    }
    Ok(())
}
