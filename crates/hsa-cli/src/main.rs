//! The `hsa` command.

fn main() {}
