//! Rewrites the generated tables of this crate from `src/tables/*.txt`.

use std::path::Path;

fn main() -> std::io::Result<()> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for (path, text) in amdgpu_isa::tablegen::generate(amdgpu_isa::tablegen::Input::CHECKED_IN) {
        std::fs::write(source.join(path), text)?;
    }
    Ok(())
}
