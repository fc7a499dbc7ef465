//! SDMA packets (opcodes and dword layouts of SDMA 4.x and 5.x): encoders and a decoder.
