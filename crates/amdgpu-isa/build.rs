//! Turns `src/tables/*.txt` into the Rust tables that `src/tables.rs` and `src/op.rs` include.

#[path = "build/tablegen.rs"]
mod tablegen;

use std::error::Error;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let source = Path::new("src/tables");
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed={}", source.display());
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    for (file, text) in tablegen::generate(source)? {
        std::fs::write(out.join(file), text)?;
    }
    Ok(())
}
