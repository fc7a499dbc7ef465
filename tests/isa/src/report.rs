//! A line per family and per failure, and a record per case.

use amdgpu_isa::Target;
use serde::Serialize;

use crate::case::Case;

/// Failures that are printed in a family.
const PRINTED: usize = 12;

/// Results so far.
#[derive(Default)]
pub(crate) struct Report {
    records: Vec<Record>,
    /// Failed cases.
    pub(crate) failed: usize,
}

#[derive(Serialize)]
struct Record {
    gpu: &'static str,
    family: &'static str,
    case: String,
    passed: bool,
    reason: String,
}

impl Report {
    /// Adds and prints the results of a target.
    pub(crate) fn add(&mut self, target: Target, cases: &[Case], results: Vec<Result<(), String>>) {
        let first = self.records.len();
        for (case, result) in cases.iter().zip(results) {
            self.records.push(Record {
                gpu: target.name(),
                family: case.family,
                case: case.name.clone(),
                passed: result.is_ok(),
                reason: result.err().unwrap_or_default(),
            });
        }
        for family in self.records[first..].chunk_by(|a, b| a.family == b.family) {
            let failures: Vec<_> = family.iter().filter(|record| !record.passed).collect();
            self.failed += failures.len();
            println!(
                "isa {} {:<28} {} cases, {} passed",
                target.name(),
                family[0].family,
                family.len(),
                family.len() - failures.len()
            );
            for failure in failures.iter().take(PRINTED) {
                println!("  FAILED {}: {}", failure.case, failure.reason);
            }
            if failures.len() > PRINTED {
                println!("  and {} more", failures.len() - PRINTED);
            }
        }
    }

    /// The records as a JSON array.
    ///
    /// # Errors
    /// Never in practice; serialisation is total for these types.
    pub(crate) fn json(&self) -> Result<String, String> {
        serde_json::to_string_pretty(&self.records).map_err(|error| error.to_string())
    }
}
