//! Environment variables that AMD's runtime reads, with the meaning they have there.
