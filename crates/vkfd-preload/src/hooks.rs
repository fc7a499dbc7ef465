//! The exported names. Each asks whether the call is for the device and else calls the real
//! function; what is done for the device stands elsewhere.

mod directory;
mod file;
mod link;
mod memory;
mod open;
mod stat;
